/* roster.c - see roster.h. */
#include "roster.h"

#include "member/next.h"
#include "messages.h"

#include <string.h>

enum { WISH_MS = 10000 };

/* Prints the names of the members that are counted and do not take part. */
static void roster_name_absent(const struct view *v, uint32_t place, struct dme_text *to)
{
    const char *before = "";

    for (uint32_t k = 0; k < v->count; k++)
        if (k != place && view_counts(v, k) && !v->member[k].incarnation) {
            dme_print(to, "%s%s", before, v->member[k].name);
            before = ", ";
        }
}

static const char *roster_refuse_minority(struct node *node, uint32_t place)
{
    struct dme_text text;

    dme_text_init(&text, node->refusal, sizeof node->refusal);
    dme_print(&text, "without %s, the members that take part would be no majority; first start or remove ",
              node->view.member[place].name);
    roster_name_absent(&node->view, place, &text);
    dme_print(&text, " (or use --force)");
    return node->refusal;
}

static const char *roster_refuse_second(struct node *node, const struct node_wish *first)
{
    struct dme_text text;

    dme_text_init(&text, node->refusal, sizeof node->refusal);
    dme_print(&text, "\"member %s %s\" has been asked for and is under way; try again in some seconds",
              first->add ? "add" : "remove", first->name);
    return node->refusal;
}

bool roster_suits(const struct node_wish *wish, const struct view *v)
{
    uint32_t k = view_find_name(v, wish->name, strlen(wish->name));
    bool there = k != VIEW_MEMBERS_MAX && v->member[k].standing != VIEW_REMOVED;

    return wish->add ? k == VIEW_MEMBERS_MAX && v->last_id == wish->id : there && v->member[k].id == wish->id;
}

/* Returns why no view will ever have this addition, or null. The place and the address of a member that is being removed become free. */
static const char *roster_refuse_addition(struct node *node, const struct node_wish *wish)
{
    const struct view *v = &node->view;
    uint32_t members = 0;

    for (uint32_t k = 0; k < v->count; k++) {
        if (v->member[k].standing == VIEW_REMOVED)
            continue;
        members++;
        if (strcmp(v->member[k].address, wish->address) == 0) {
            struct dme_text text;

            dme_text_init(&text, node->refusal, sizeof node->refusal);
            dme_print(&text, "%s is at %s already; choose another address, or remove %s first", v->member[k].name,
                      wish->address, v->member[k].name);
            return node->refusal;
        }
    }
    return members < VIEW_MEMBERS_MAX ? NULL : "there are 64 members already, and more are not possible";
}

const char *node_change_roster(struct node *node, const struct node_wish *wish)
{
    uint32_t k = view_find_name(&node->view, wish->name, strlen(wish->name));
    struct node_wish *slot = !wish->add && next_is_awaited(&node->view, k) ? &node->recall : &node->wish;
    const char *wrong;

    if (!node->agree)
        return "this daemon has no list of members, and cannot get one while it runs; restart it with --members";
    if (node_is_removed(node))
        return "this member has been removed from the cluster; ask another one";
    if (slot->until_ms)
        return roster_refuse_second(node, slot);
    if (!wish->name[0])
        return "a name has 1 to 63 bytes, an address at most 71";
    if (wish->add && k != VIEW_MEMBERS_MAX)
        return "there is a member of this name already; remove it first, or choose another name";
    if (wish->add && node->conf.objects && (wrong = node->conf.objects(node->conf.user, wish->name, wish->address)))
        return wrong;
    if (wish->add && (wrong = roster_refuse_addition(node, wish)))
        return wrong;
    if (!wish->add && (k == VIEW_MEMBERS_MAX || node->view.member[k].standing == VIEW_REMOVED))
        return "there is no such member; dibs member list shows all";
    if (!wish->add && node->view.member[k].standing == VIEW_MEMBER && view_staying(&node->view) <= 1)
        return "the last member cannot be removed";
    if (!wish->add && !wish->force && !next_keeps_majority(&node->view, k))
        return roster_refuse_minority(node, k);
    node->news = true;
    *slot = *wish;
    slot->id = wish->add ? node->view.last_id : node->view.member[k].id;
    slot->until_ms = node->now_ms + WISH_MS + 2 * node->promise_ms;
    return NULL;
}

static void roster_mind(const struct node *node, struct node_wish *wish)
{
    if (!wish->until_ms)
        return;
    if (node->now_ms > wish->until_ms)
        wish->until_ms = 0;
    else
        message_send_wish(node, wish);
}

/* Forgets the wish if it has been granted, or if the roster was changed in another way. `v` may have added a member of another name: if `v` comes right
 * after `last`, no other view can have granted the wish. Then the wish stays, and names the last id of `v`. */
static void roster_follow_one(struct node_wish *wish, const struct view *v, const struct view *last)
{
    if (wish->until_ms && wish->add && v->number == last->number + 1 && wish->id == last->last_id)
        wish->id = v->last_id;
    if (!roster_suits(wish, v))
        wish->until_ms = 0;
}

void roster_follow(struct node *node, const struct view *v)
{
    roster_follow_one(&node->wish, v, &node->view);
    roster_follow_one(&node->recall, v, &node->view);
}

void roster_mind_wishes(struct node *node)
{
    roster_mind(node, &node->wish);
    roster_mind(node, &node->recall);
}

/* An added member that takes part is about to be counted and stays. An added member that does not take part can be
 * removed at once. */
uint64_t roster_taken_back(struct node *node, const struct view *view)
{
    uint64_t join_ms = node->conf.join_ms ? node->conf.join_ms : ROSTER_JOIN_MS;

    for (uint32_t k = 0; k < view->count; k++) {
        const struct view_member *m = &view->member[k];

        if (!next_is_awaited(view, k))
            continue;
        if (node->awaited != m->id) {
            node->awaited = m->id;
            node->awaited_ms = node->now_ms;
        }
        if (node->now_ms - node->awaited_ms > join_ms || (node->recall.until_ms && node->recall.id == m->id))
            return plan_bit(k);
        return 0;
    }
    node->awaited = 0;
    return 0;
}
