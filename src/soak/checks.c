/* checks.c - what must be true of all machines together, whatever their disks forget (I23, I25, I26 of ARCHITECTURE.md):
 *   - a term of Raft has one leader;
 *   - the view with a number is the same at all members;
 *   - no two processes use the same incarnation;
 *   - a data directory that was not wiped keeps the identity that other members have heard of;
 *   - a change of the roster that an operator has requested is made at most once, and no other change is made;
 *   - a process takes part only under the id of its own journal. */
#include "world.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void checks_term(struct world *w, uint32_t i)
{
    const struct agree *agree = w->machine[i].node.agree;
    uint64_t term = agree_journal(agree)->term;
    uint64_t *seen = &w->seen.term[term % SOAK_TERMS_KEPT].term;
    uint32_t *leader = &w->seen.term[term % SOAK_TERMS_KEPT].leader;

    if (!agree_leads(agree))
        return;
    if (*seen == term && *leader != i)
        world_fail(w, "%s and %s lead in the same term, %llu", w->machine[*leader].name, w->machine[i].name,
                   (unsigned long long)term);
    *seen = term;
    *leader = i;
}

static void checks_view(struct world *w, uint32_t i)
{
    const struct view *view = &w->machine[i].node.view;
    uint64_t *number = &w->seen.view[view->number % SOAK_VIEWS_KEPT].number;
    uint64_t *digest = &w->seen.view[view->number % SOAK_VIEWS_KEPT].digest, now;
    struct bytes b = {0};

    if (!view->number || view->number < *number)
        return;
    view_encode(view, &b);
    now = XXH3_64bits(b.at + b.start, bytes_len(&b));
    bytes_free(&b);
    if (*number == view->number && *digest != now)
        world_fail(w, "%s has another view %llu than others", w->machine[i].name, (unsigned long long)view->number);
    *number = view->number;
    *digest = now;
}

/* Counts the members that are new in `next`, by their ids, and the counted members that it marks for removal. An operator must have requested
 * each of these changes. (The addition of a member that does not join is taken back without a request.) */
void checks_roster(struct world *w, const struct view *next)
{
    const struct view *before = &w->newest;

    for (uint32_t i = 0; i < w->n && before->number; i++) {
        const char *name = w->machine[i].name;
        uint32_t was = view_find_name(before, name, strlen(name)), is = view_find_name(next, name, strlen(name));
        bool goes = is == VIEW_MEMBERS_MAX || next->member[is].standing == VIEW_REMOVED;

        if (is != VIEW_MEMBERS_MAX && next->member[is].id > before->last_id &&
            ++w->seen.done[i].adds > w->seen.asked[i].adds)
            world_fail(w, "%s is added to the roster without being asked for", name);
        if (was != VIEW_MEMBERS_MAX && before->member[was].standing == VIEW_MEMBER && goes &&
            ++w->seen.done[i].removals > w->seen.asked[i].removals)
            world_fail(w, "%s is removed from the roster without being asked for", name);
    }
}

void checks_asked(struct world *w, uint32_t i, bool add, int64_t times)
{
    *(add ? &w->seen.asked[i].adds : &w->seen.asked[i].removals) += times;
}

/* Does the process take part under the id that it has? Another member with its name has another id. */
static void checks_id(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;
    uint64_t id = agree_journal(node->agree)->member;

    if (node->takes_part && id && node->view.member[node->place].id != id)
        world_fail(w, "%s takes part as member %llu, and is member %llu", w->machine[i].name,
                   (unsigned long long)node->view.member[node->place].id, (unsigned long long)id);
}

void checks_look(struct world *w, uint32_t i)
{
    if (!w->machine[i].node.agree)
        return;
    checks_term(w, i);
    checks_id(w, i);
    if (w->machine[i].view != w->machine[i].node.view.number)
        checks_view(w, i);
    w->machine[i].view = w->machine[i].node.view.number;
}

void checks_tell(struct world *w, uint32_t i)
{
    const struct soak_machine *m = &w->machine[i];

    if (m->node.self.incarnation == w->seen.told[i].incarnation && m->process != w->seen.told[i].process)
        world_fail(w, "%s says that it is incarnation %llu, as another process has said before it", m->name,
                   (unsigned long long)m->node.self.incarnation);
    if (m->node.self.disk && w->seen.told[i].disk && m->node.self.disk != w->seen.told[i].disk)
        world_fail(w, "%s tells another identity of its data directory than before", m->name);
    if (m->node.self.disk)
        w->seen.told[i].disk = m->node.self.disk;
    w->seen.told[i].incarnation = m->node.self.incarnation;
    w->seen.told[i].process = m->process;
}

void checks_wipe(struct world *w, uint32_t i)
{
    w->seen.told[i].disk = 0;
}

void checks_begin(struct world *w)
{
    w->seen = (struct soak_seen){0};
}
