/* agreed.c - see agreed.h. */
#include "agreed.h"

#include "base/plain.h"
#include "lease.h"
#include "member/next.h"
#include "messages.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WISH_MS = 10000, SILENT_MS_MIN = 1000 };

/* -------------------------------------------------------------------------------------------------- the configuration */

/* The lease, or the policies, can stand in the summary of a configuration as the value of the configuration itself, as a phrase that means
 * "any agreed value", or as the agreed value. */
enum agreed_said { OWN, ANY, AGREED };

/* Adds policies in the form that they have in a summary: ", policy .." for each line. */
static void agreed_add_policies(const char *text, size_t len, struct bytes *to)
{
    for (const char *end = text + len, *next; text < end; text = next + 1) {
        next = memchr(text, '\n', (size_t)(end - text));
        memcpy(bytes_add(to, 2), ", ", 2);
        memcpy(bytes_add(to, (size_t)(next - text)), text, (size_t)(next - text));
    }
}

static void agreed_add(const char *text, size_t len, struct bytes *to)
{
    if (len)
        memcpy(bytes_add(to, len), text, len);
}

/* Writes the summary of the configuration, with its lease and its policies replaced as `lease` and `policies` say. It ends with a zero byte. */
static void agreed_summarize(const struct node *node, const struct view *view, enum agreed_said lease,
                             enum agreed_said policies, bool rights, struct bytes *to)
{
    const char *summary = node->conf.summary, *at,
               *file = (const char *)node->file_policies.at + node->file_policies.start;
    size_t len = strlen(summary), tail;
    struct bytes own = {0};
    char text[40];

    agreed_add_policies(file, strlen(file), &own);
    tail = bytes_len(&own);
    if (tail && tail <= len && memcmp(summary + len - tail, own.at + own.start, tail) == 0)
        len -= tail;
    else if (policies == OWN)
        tail = 0;
    snprintf(text, sizeof text, "lease %llu ms", (unsigned long long)node->file_lease_ms);
    at = lease == OWN ? NULL : memmem(summary, len, text, strlen(text));
    if (at) {
        agreed_add(summary, (size_t)(at - summary), to);
        len -= (size_t)(at - summary) + strlen(text);
        summary = at + strlen(text);
        snprintf(text, sizeof text, "lease %u ms", (unsigned)settings_target_ms(&view->lease, 0));
        agreed_add(lease == ANY ? "an agreed lease" : text, strlen(lease == ANY ? "an agreed lease" : text), to);
    }
    agreed_add(summary, len, to);
    if (policies == ANY)
        agreed_add(", agreed policies", strlen(", agreed policies"), to);
    else if (policies == AGREED)
        agreed_add_policies(view->policies.text, view->policies.len, to);
    else if (tail)
        agreed_add((const char *)own.at + own.start, tail, to);
    if (rights)
        agreed_add(", agreed rights", strlen(", agreed rights"), to);
    *bytes_add(to, 1) = '\0';
    bytes_free(&own);
}

static uint64_t agreed_digest(const struct node *node, const struct view *view, enum agreed_said lease,
                              enum agreed_said policies, bool rights)
{
    struct bytes text = {0};
    uint64_t digest;

    agreed_summarize(node, view, lease, policies, rights, &text);
    digest = XXH3_64bits(text.at + text.start, bytes_len(&text) - 1);
    bytes_free(&text);
    return digest;
}

/* Sets what this member says of its configuration in HELLO, and which digests it accepts from others. */
static void agreed_introduce(struct node *node, const struct view *view)
{
    bool lease = view->lease.lease_ms, policies = view->policies.set, rights = view->rights.set;
    unsigned count = 0;

    memset(node->self.fits, 0, sizeof node->self.fits);
    node->self.digest = agreed_digest(node, view, lease ? ANY : OWN, policies ? ANY : OWN, rights);
    for (unsigned l = OWN; l <= (lease ? AGREED : ANY); l++)
        for (unsigned p = OWN; p <= (policies ? AGREED : ANY); p++)
            for (unsigned r = 0; r < 2; r++) {
                uint64_t digest = agreed_digest(node, view, (enum agreed_said)l, (enum agreed_said)p, r);

                if (digest != node->self.digest && count < LINK_FITS)
                    node->self.fits[count++] = digest;
            }
    bytes_free(&node->summary);
    agreed_summarize(node, view, lease ? AGREED : OWN, policies ? AGREED : OWN, false, &node->summary);
    node->self.summary = (const char *)node->summary.at + node->summary.start;
}

/* -------------------------------------------------------------------------------------------------- the lease in use */

static void agreed_use(struct node *node, uint64_t lease_ms, uint64_t promise_ms)
{
    node->conf.lease_ms = lease_ms;
    node->promised_lease_ms = promise_ms;
    node->promise_ms = promise_stretch_ms(promise_ms);
    node->beat_every_ms = lease_ms / 8;
    node->silent_ms = !lease_ms ? UINT64_MAX : lease_ms > SILENT_MS_MIN ? lease_ms : SILENT_MS_MIN;
    if (node->agree)
        agree_set_election(node->agree, lease_ms / 4);
}

void agreed_init(struct node *node)
{
    node->file_lease_ms = node->conf.lease_ms;
    agreed_use(node, node->file_lease_ms, node->file_lease_ms);
    node->earlier_ms = node->promise_ms;
    agreed_introduce(node, &node->view);
}

void agreed_begin(struct node *node)
{
    const struct settings_lease *s = &agree_view(node->agree)->lease;

    agreed_use(node, s->lease_ms ? s->lease_ms : node->file_lease_ms,
               s->lease_ms ? s->promise_ms : node->file_lease_ms);
    node->earlier_ms = node->promise_ms;
}

void agreed_free(struct node *node)
{
    bytes_free(&node->summary);
}

/* Promises become shorter from now on. Promises that were given before stay longer, and a process that starts after a crash must know that. */
static void agreed_owe(struct node *node)
{
    uint64_t until_ms = node->now_ms + node->promise_ms;

    if (node->now_ms >= node->owed_until_ms || node->owed_lease_ms < node->promised_lease_ms)
        node->owed_lease_ms = node->promised_lease_ms;
    if (node->owed_until_ms < until_ms)
        node->owed_until_ms = until_ms;
}

void agreed_install(struct node *node, const struct view *view)
{
    const struct settings_lease *s = &view->lease;
    uint64_t lease_ms = s->lease_ms ? s->lease_ms : node->file_lease_ms;
    uint64_t promise_ms = s->lease_ms ? s->promise_ms : node->file_lease_ms;

    if (s->step != node->view.lease.step)
        node->step_ms = 0;
    if (!settings_suits(&node->setting.what, s))
        node->setting.until_ms = 0;
    /* This member has skipped the view that made promises longer. Members may have acknowledged its heartbeats before that. */
    if (lease_ms > node->promised_lease_ms)
        lease_forget_acks(node);
    if (promise_ms < node->promised_lease_ms)
        agreed_owe(node);
    agreed_use(node, lease_ms, promise_ms);
    if (node->agree && agree_journal(node->agree)->lease_ms < promise_ms) {
        agree_lengthen_lease(node->agree, promise_ms);
        node->self.mute = !agree_incarnation_is_durable(node->agree);
    }
    if (s->step != node->view.lease.step || view->policies.set != node->view.policies.set ||
        (view->rights.set != 0) != (node->view.rights.set != 0) || !node->view.number)
        agreed_introduce(node, view);
}

/* ------------------------------------------------------------------------------------------------- what members can do */

bool agreed_is_able(const struct node *node, uint32_t k)
{
    const struct member *m = node->member[k];

    return k == node->place ? !node->conf.without_settings : m->able == m->link.peer_incarnation && m->able;
}

uint64_t agreed_file_ms(const struct node *node, uint32_t k)
{
    return !agreed_is_able(node, k) ? 0 : k == node->place ? node->file_lease_ms : node->member[k]->file_lease_ms;
}

/* The place of a member that takes part and does not know of agreed settings; or NODE_MEMBERS_MAX. */
static uint32_t agreed_find_unable(const struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->view.member[k].incarnation && !agreed_is_able(node, k))
            return k;
    return NODE_MEMBERS_MAX;
}

/* The place of a member that takes part and whose configuration has another lease than this member's; or NODE_MEMBERS_MAX. */
static uint32_t agreed_find_other(const struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->view.member[k].incarnation && agreed_file_ms(node, k) != node->file_lease_ms)
            return k;
    return NODE_MEMBERS_MAX;
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static const char *agreed_object(struct node *node, const struct settings_wish *wish)
{
    uint32_t unable = agreed_find_unable(node), other = wish->file ? agreed_find_other(node) : NODE_MEMBERS_MAX;
    struct dme_text text;

    dme_text_init(&text, node->refusal, sizeof node->refusal);
    if (!node->agree)
        return "this daemon is not part of a cluster; restart it with another --lease";
    if (node_is_removed(node))
        return "this member has been removed from the cluster; ask another one";
    if (node->setting.until_ms || settings_is_under_way(&node->view.lease))
        return "the lease is being changed already; try again in some seconds";
    if (!node->locks.grants)
        node_say_no_quorum(node, &text);
    else if (unable != NODE_MEMBERS_MAX)
        dme_print(&text, "%s is of an earlier build, which does not know of agreed settings, or has just connected",
                  node->view.member[unable].name);
    else if (other != NODE_MEMBERS_MAX)
        dme_print(&text, "the configurations differ: lease %llu on %s, %llu on %s; set a value",
                  (unsigned long long)node->file_lease_ms, node->conf.name,
                  (unsigned long long)agreed_file_ms(node, other), node->view.member[other].name);
    else
        return NULL;
    return node->refusal;
}

const char *agreed_change(struct node *node, const struct settings_wish *wish)
{
    const char *wrong = agreed_object(node, wish);

    if (wrong)
        return wrong;
    node->setting.what = *wish;
    if (!plain_text(wish->by, strlen(wish->by))) /* no member would accept a view with it */
        memset(node->setting.what.by, 0, sizeof node->setting.what.by);
    node->setting.what.base = node->view.lease.set;
    if (wish->file)
        node->setting.what.lease_ms = (uint32_t)node->file_lease_ms;
    if (!settings_suits(&node->setting.what, &node->view.lease))
        return "a lease is a number of milliseconds from 100 to 60000";
    node->setting.until_ms = node->now_ms + WISH_MS + 2 * node->promise_ms;
    node->news = true;
    return NULL;
}

void agreed_mind_wish(struct node *node)
{
    if (!node->setting.until_ms)
        return;
    if (node->now_ms > node->setting.until_ms)
        node->setting.until_ms = 0;
    else
        message_send_setting(node, &node->setting.what);
}

void agreed_hear_wish(struct node *node, const struct settings_wish *wish)
{
    if (settings_suits(wish, &node->view.lease) && !agreed_object(node, wish)) {
        node->setting.what = *wish;
        node->setting.until_ms = node->now_ms + node->promise_ms;
        node->news = true;
    }
}

/* Since `step_ms` every member that takes part has installed a view with the present step. From then on promises are given for the
 * longer lease, and, if leases become shorter, no member counts the longer one. */
bool agreed_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next)
{
    if (!next_all_report(look, plan))
        return false;
    if (settings_is_under_way(&node->view.lease)) {
        if (!node->step_ms)
            node->step_ms = node->now_ms;
        if (!promise_old_leases_are_over(node->step_ms, node->promise_ms, node->now_ms))
            return false;
        settings_finish(&next->lease, next->number);
        return true;
    }
    if (!node->setting.until_ms || !settings_suits(&node->setting.what, &node->view.lease) ||
        agreed_find_unable(node) != NODE_MEMBERS_MAX)
        return false;
    settings_begin(&next->lease, &node->setting.what, (uint32_t)node->file_lease_ms, next->number);
    return true;
}
