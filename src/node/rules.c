/* rules.c - see rules.h. */
#include "rules.h"

#include "agreed.h"
#include "base/memory.h"
#include "base/plain.h"
#include "member/next.h"
#include "messages.h"
#include "policies.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WISH_MS = 10000 };

/* --------------------------------------------------------------------------------------------------- the rights in use */

static void rules_print_file(struct node *node)
{
    bytes_free(&node->rules.file_text);
    rights_print(node->conf.rights, &node->rules.file_text);
    *bytes_add(&node->rules.file_text, 1) = '\0';
}

void rules_init(struct node *node)
{
    rules_print_file(node);
}

void rules_free(struct node *node)
{
    bytes_free(&node->rules.file_text);
    free(node->rules.agreed);
    node->rules.agreed = NULL;
}

static const char *rules_of_file(const struct node *node, size_t *len)
{
    *len = bytes_len(&node->rules.file_text) - 1;
    return (const char *)node->rules.file_text.at + node->rules.file_text.start;
}

const struct rights *rules_in_use(const struct node *node)
{
    return node->rules.agreed ? node->rules.agreed : node->conf.rights;
}

const char *rules_text(const struct node *node, size_t *len)
{
    if (!node->view.rights.len)
        return rules_of_file(node, len);
    *len = node->view.rights.len;
    return node->view.rights.text;
}

uint64_t rules_digest(const char *text, size_t len)
{
    return XXH3_64bits(text, len) | 1; /* 0 means that it is not known */
}

struct rights *rules_read(const struct node *node, const char *text, size_t len, char why[RIGHTS_WHY_MAX])
{
    struct rights *t = mem_new(sizeof *t);

    if (!rights_read(t, text, len, why)) {
        free(t);
        return NULL;
    }
    rights_learn_from(t, rules_in_use(node));
    return t;
}

/* Is this the canonical text of these rights? */
static bool rules_is_form(const struct rights *t, const char *text, size_t len)
{
    struct bytes b = {0};
    bool same;

    rights_print(t, &b);
    same = bytes_len(&b) == len && (len == 0 || memcmp(b.at + b.start, text, len) == 0);
    bytes_free(&b);
    return same;
}

/* The rights of a view or a request, which the caller frees; or null, with a sentence in `why`. */
static struct rights *rules_read_setting(const struct node *node, const struct settings_text *p,
                                         char why[RIGHTS_WHY_MAX])
{
    struct rights *t = rules_read(node, p->text, p->len, why);

    if (t && !rules_is_form(t, p->text, p->len)) {
        strcpy(why, "they are written in another form");
        free(t);
        return NULL;
    }
    return t;
}

/* Are these the agreed rights in use? A peer may be wrong about a view, so the text counts, not only its number. */
static bool rules_are_used(const struct node *node, const struct settings_text *p)
{
    return node->rules.set == p->set && (node->rules.agreed != NULL) == (p->len > 0) &&
           (!p->len || rules_is_form(node->rules.agreed, p->text, p->len));
}

bool rules_fit(struct node *node, const struct view *view)
{
    struct dme_text text;
    char why[RIGHTS_WHY_MAX];
    struct rights *t;

    if (!view->rights.len || rules_are_used(node, &view->rights))
        return true;
    t = rules_read_setting(node, &view->rights, why);
    if (!t) {
        dme_text_init(&text, node->unfit, sizeof node->unfit);
        dme_print(&text, "this build cannot use the rights on which the members have agreed: %.250s", why);
        return false;
    }
    free(t);
    return true;
}

/* Other rights are in use from now on. */
static void rules_begin(struct node *node)
{
    node->rules.version++;
    node->rules.unsure = rights_unsure(node->rules.agreed) != NULL;
}

void rules_install(struct node *node, const struct view *view)
{
    struct rights *before = node->rules.agreed;
    char why[RIGHTS_WHY_MAX];

    if (!settings_suits_text(&node->ruling.what, &view->rights))
        node->ruling.until_ms = 0;
    if (rules_are_used(node, &view->rights))
        return;
    node->rules.agreed =
        view->rights.len ? rules_read_setting(node, &view->rights, why) : NULL; /* rules_fit has tried */
    node->rules.set = view->rights.set;
    free(before); /* no command is being executed, so no verdict points to them */
    rules_begin(node);
}

bool rules_allow(const struct session *s, unsigned any_of, const char *name, size_t len)
{
    return s->operates || rights_decide(rules_in_use(s->node), s->proved, any_of, name, len).allowed;
}

bool rules_allow_outcome(const struct claim *c)
{
    const struct session *s = c->session;

    return c != s->waiting || (c->state != CLAIM_HELD && c->state != CLAIM_UPGRADED) ||
           rules_allow(s, c->mode == LOCK_SHARED ? RIGHT_SHARED : RIGHT_LOCK, c->name, c->name_len);
}

void rules_renew(struct node *node, const struct rights *rights)
{
    node->conf.rights = rights;
    rules_print_file(node);
    if (!node->rules.agreed)
        rules_begin(node);
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && node->member[k]->link.state == LINK_UP)
            message_send_ability(node, node->member[k]);
}

void rules_learn(struct node *node, const struct rights_subject *learnt)
{
    if (node->rules.agreed && rights_learn(node->rules.agreed, learnt))
        rules_begin(node);
}

const char *rules_check(const struct node *node)
{
    return rules_are_used(node, &node->view.rights) ? NULL : "I34: a member uses other rights than its view has";
}

/* ------------------------------------------------------------------------------------------------- what members can do */

bool rules_is_able(const struct node *node, uint32_t k)
{
    if (!policies_is_able(node, k))
        return false;
    return k == node->place ? !node->conf.without_rights : node->member[k]->able_rights == node->member[k]->able;
}

uint64_t rules_file(const struct node *node, uint32_t k)
{
    size_t len;
    const char *own = rules_of_file(node, &len);

    return k == node->place ? rules_digest(own, len) : rules_is_able(node, k) ? node->member[k]->file_rights : 0;
}

/* The place of a member that takes part and does not know of agreed rights; or NODE_MEMBERS_MAX. */
static uint32_t rules_find_unable(const struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->view.member[k].incarnation && !rules_is_able(node, k))
            return k;
    return NODE_MEMBERS_MAX;
}

bool rules_are_changing(const struct node *node)
{
    const struct view *v = &node->view;

    if (node->ruling.until_ms)
        return true;
    for (uint32_t k = 0; v->rights.set && node->agree && k < v->count; k++)
        if (k != node->place && v->member[k].incarnation && node->member[k]->last.view < v->rights.set)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static const char *rules_object(struct node *node)
{
    uint32_t unable = rules_find_unable(node);
    struct dme_text text;

    dme_text_init(&text, node->refusal, sizeof node->refusal);
    if (!node->agree)
        return "this daemon is not part of a cluster; write the rights into its configuration, and send it a SIGHUP";
    if (node_is_removed(node))
        return "this member has been removed from the cluster; ask another one";
    if (node->ruling.until_ms)
        return "the rights are being changed already; try again in some seconds";
    if (!node->locks.grants)
        node_say_no_quorum(node, &text);
    else if (unable != NODE_MEMBERS_MAX)
        dme_print(&text, "%s is of an earlier build, which does not know of agreed rights, or has just connected",
                  node->view.member[unable].name);
    else
        return NULL;
    return node->refusal;
}

const char *rules_change(struct node *node, const struct rights *rights, const char *by)
{
    struct settings_text *wish = &node->ruling.what;
    const char *wrong = rules_object(node);
    struct bytes b = {0};
    struct dme_text why;
    size_t len;

    if (wrong)
        return wrong;
    rights_print(rights, &b);
    len = bytes_len(&b);
    memset(wish, 0, sizeof *wish);
    wish->set = node->view.rights.set;
    wish->file = !rights;
    wish->len = (uint16_t)(len <= SETTINGS_TEXT_MAX ? len : 0);
    if (wish->len)
        memcpy(wish->text, b.at + b.start, len);
    if (plain_text(by, strlen(by))) /* else no member would accept a view with it */
        memcpy(wish->by, by, strnlen(by, SETTINGS_BY_MAX));
    bytes_free(&b);
    dme_text_init(&why, node->refusal, sizeof node->refusal);
    dme_print(&why, "written in full, the rights take %zu bytes, and at most %d are possible; use fewer", len,
              SETTINGS_TEXT_MAX);
    if (len > SETTINGS_TEXT_MAX)
        return node->refusal;
    if (rights && !len)
        return "there is no rule, no limit and no login in it; to use those of each member's configuration, unset the "
               "rights";
    if (!settings_is_rights(wish))
        return "a hash has characters that cannot be shown";
    node->ruling.until_ms = node->now_ms + WISH_MS;
    node->news = true;
    return NULL;
}

void rules_mind_wish(struct node *node)
{
    if (!node->ruling.until_ms)
        return;
    if (node->now_ms > node->ruling.until_ms)
        node->ruling.until_ms = 0;
    else
        message_send_rights(node, &node->ruling.what);
}

void rules_hear_wish(struct node *node, const struct settings_text *wish)
{
    char why[RIGHTS_WHY_MAX];
    struct rights *t;

    if (!settings_suits_text(wish, &node->view.rights) || !settings_is_rights(wish) || rules_object(node))
        return;
    t = rules_read_setting(node, wish, why);
    if (!t)
        return;
    free(t);
    node->ruling.what = *wish;
    node->ruling.until_ms = node->now_ms + node->promise_ms;
    node->news = true;
}

bool rules_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next)
{
    if (!node->ruling.until_ms || !settings_suits_text(&node->ruling.what, &node->view.rights) ||
        rules_find_unable(node) != NODE_MEMBERS_MAX || !next_all_report(look, plan))
        return false;
    next->rights = node->ruling.what;
    next->rights.set = next->number;
    return true;
}
