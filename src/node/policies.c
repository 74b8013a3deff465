/* policies.c - see policies.h. */
#include "policies.h"

#include "agreed.h"
#include "base/memory.h"
#include "base/plain.h"
#include "lock/policy.h"
#include "member/next.h"
#include "messages.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WISH_MS = 10000 };

/* ------------------------------------------------------------------------------------------------- the policies in use */

void policies_init(struct node *node)
{
    policies_print(node->conf.policy, node->conf.policies, &node->file_policies);
    *bytes_add(&node->file_policies, 1) = '\0';
}

void policies_free(struct node *node)
{
    bytes_free(&node->file_policies);
}

static const char *policies_of_file(const struct node *node, size_t *len)
{
    *len = bytes_len(&node->file_policies) - 1;
    return (const char *)node->file_policies.at + node->file_policies.start;
}

const char *policies_text(const struct node *node, size_t *len)
{
    if (!node->view.policies.set)
        return policies_of_file(node, len);
    *len = node->view.policies.len;
    return node->view.policies.text;
}

uint64_t policies_digest(const char *text, size_t len)
{
    return XXH3_64bits(text, len) | 1; /* 0 means that it is not known */
}

/* Reads the text, and hands the list to `use`. Returns false, with a line in `why`, after a mistake. */
static bool policies_read(const struct node *node, const char *text, size_t len, uint32_t members,
                          void (*use)(void *to, const struct lock_policy *policy, uint32_t count), void *to,
                          struct dme_text *why)
{
    struct policy_frame frame = {node->conf.find_algorithm, node->conf.algorithm, node->conf.slots_algorithm, members};
    struct lock_policy *policy = mem_new(LOCK_POLICIES_MAX * sizeof *policy);
    char *copy = mem_new(len + 1);
    uint32_t count;

    memcpy(copy, text, len);
    count = policies_parse(policy, copy, &frame, why);
    if (count != UINT32_MAX)
        use(to, policy, count);
    free(copy);
    free(policy);
    return count != UINT32_MAX;
}

static void policies_note(void *to, const struct lock_policy *policy, uint32_t count)
{
    policies_print(policy, count, to);
}

/* Can this member use the text, and is it in canonical form (lock/policy.h)? */
static bool policies_are_good(const struct node *node, const struct settings_text *p, uint32_t members,
                              struct dme_text *why)
{
    struct bytes list = {0};
    bool good = policies_read(node, p->text, p->len, members, policies_note, &list, why);

    if (good && (bytes_len(&list) != p->len || (p->len && memcmp(list.at + list.start, p->text, p->len) != 0))) {
        dme_print(why, "they are written in another form");
        good = false;
    }
    bytes_free(&list);
    return good;
}

/* Is this the text of the policies in use? */
static bool policies_are_used(const struct node *node, const char *text, size_t len)
{
    struct bytes b = {0};
    bool same;

    policies_print(node->locks.policy, node->locks.conf.policies, &b);
    same = bytes_len(&b) == len && (len == 0 || memcmp(b.at + b.start, text, len) == 0);
    bytes_free(&b);
    return same;
}

bool policies_fit(struct node *node, const struct view *view)
{
    char line[sizeof node->unfit - 100];
    struct dme_text why, text;

    if (!view->policies.set)
        return true;
    /* A peer may be wrong about a view, so the text counts, not only its number. */
    if (view->policies.set == node->policies_set && policies_are_used(node, view->policies.text, view->policies.len))
        return true;
    dme_text_init(&why, line, sizeof line);
    dme_print(&why, "this build does not know of agreed policies");
    if (node->conf.find_algorithm) {
        dme_text_init(&why, line, sizeof line);
        if (policies_are_good(node, &view->policies, 0, &why))
            return true;
    }
    dme_text_init(&text, node->unfit, sizeof node->unfit);
    dme_print(&text, "this build cannot use the policies on which the members have agreed: %s", line);
    return false;
}

void policies_install(struct node *node, const struct view *view)
{
    if (!settings_suits_text(&node->policing.what, &view->policies))
        node->policing.until_ms = 0;
}

static void policies_use(void *to, const struct lock_policy *policy, uint32_t count)
{
    locks_set_policies(to, policy, count);
}

void policies_begin_view(struct node *node)
{
    const struct settings_text *p = &node->view.policies;
    char line[256];
    struct dme_text why;

    if (p->set == node->policies_set && !policies_check(node))
        return;
    dme_text_init(&why, line, sizeof line);
    if (p->set)
        policies_read(node, p->text, p->len, 0, policies_use, &node->locks, &why); /* policies_fit has tried it */
    else
        policies_use(&node->locks, node->conf.policy, node->conf.policies);
    node->policies_set = p->set;
}

const char *policies_check(const struct node *node)
{
    size_t len;
    const char *text = policies_text(node, &len);

    return policies_are_used(node, text, len) ? NULL : "I16: a member uses other policies than its view has";
}

/* ------------------------------------------------------------------------------------------------- what members can do */

bool policies_is_able(const struct node *node, uint32_t k)
{
    if (!agreed_is_able(node, k))
        return false;
    return k == node->place ? node->conf.find_algorithm && !node->conf.without_policies
                            : node->member[k]->file_policies && node->member[k]->able == node->member[k]->able_policies;
}

uint64_t policies_file(const struct node *node, uint32_t k)
{
    size_t len;
    const char *own = policies_of_file(node, &len);

    return k == node->place            ? policies_digest(own, len)
           : policies_is_able(node, k) ? node->member[k]->file_policies
                                       : 0;
}

/* Says why the members that take part cannot use these policies. Returns false if they can. */
static bool policies_miss_ability(const struct node *node, bool file, struct dme_text *text)
{
    for (uint32_t k = 0; k < node->view.count; k++) {
        const char *name = node->view.member[k].name;

        if (!node->view.member[k].incarnation)
            continue;
        if (!policies_is_able(node, k))
            dme_print(text, "%s is of an earlier build, which does not know of agreed policies, or has just connected",
                      name);
        else if (k != node->place && node->member[k]->algorithms != node->conf.algorithms)
            dme_print(text, "%s is of another build, which has other algorithms; upgrade all members first", name);
        else if (file && policies_file(node, k) != policies_file(node, node->place))
            dme_print(text, "the policies in the configurations of %s and %s differ; set them from a file",
                      node->conf.name, name);
        else
            continue;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static const char *policies_object(struct node *node, bool file)
{
    struct dme_text text;

    dme_text_init(&text, node->refusal, sizeof node->refusal);
    if (!node->agree)
        return "this daemon is not part of a cluster; restart it with other policies";
    if (node_is_removed(node))
        return "this member has been removed from the cluster; ask another one";
    if (node->policing.until_ms)
        return "the policies are being changed already; try again in some seconds";
    if (!node->locks.grants) {
        node_say_no_quorum(node, &text);
        return node->refusal;
    }
    return policies_miss_ability(node, file, &text) ? node->refusal : NULL;
}

const char *policies_change(struct node *node, const char *text, size_t len, const char *by)
{
    struct settings_text *wish = &node->policing.what;
    const char *wrong = policies_object(node, !text);
    struct bytes list = {0};
    struct dme_text why;
    bool file = !text;

    if (wrong)
        return wrong;
    if (file)
        text = policies_of_file(node, &len);
    dme_text_init(&why, node->refusal, sizeof node->refusal);
    if (!policies_read(node, text, len, node->view.count, policies_note, &list, &why)) {
        bytes_free(&list);
        return node->refusal;
    }
    memset(wish, 0, sizeof *wish);
    wish->set = node->view.policies.set;
    wish->file = file;
    len = bytes_len(&list);
    if (len && len <= SETTINGS_TEXT_MAX)
        memcpy(wish->text, list.at + list.start, len);
    if (plain_text(by, strlen(by))) /* without a plain name, since no member would accept a view with another one */
        memcpy(wish->by, by, strnlen(by, SETTINGS_BY_MAX));
    bytes_free(&list);
    dme_print(&why, "written in full, the policies take %zu bytes, and at most %d are possible; use fewer", len,
              SETTINGS_TEXT_MAX);
    if (len > SETTINGS_TEXT_MAX)
        return node->refusal;
    wish->len = (uint16_t)len;
    if (!settings_is_text(wish->text, len))
        return "a pattern has characters that cannot be shown";
    node->policing.until_ms = node->now_ms + WISH_MS;
    node->news = true;
    return NULL;
}

void policies_mind_wish(struct node *node)
{
    if (!node->policing.until_ms)
        return;
    if (node->now_ms > node->policing.until_ms)
        node->policing.until_ms = 0;
    else
        message_send_policies(node, &node->policing.what);
}

void policies_hear_wish(struct node *node, const struct settings_text *wish)
{
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (!settings_suits_text(wish, &node->view.policies) || policies_object(node, wish->file) ||
        !policies_are_good(node, wish, node->view.count, &why))
        return;
    node->policing.what = *wish;
    node->policing.until_ms = node->now_ms + node->promise_ms;
    node->news = true;
}

bool policies_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next)
{
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (!node->policing.until_ms || !settings_suits_text(&node->policing.what, &node->view.policies) ||
        policies_miss_ability(node, false, &why) || !next_all_report(look, plan))
        return false;
    next->policies = node->policing.what;
    next->policies.set = next->number;
    return true;
}
