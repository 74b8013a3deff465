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

/* The summary of the configuration, with this text in the place of its lease. */
static void agreed_summarize(const struct node *node, const char *lease, struct bytes *to)
{
    const char *summary = node->conf.summary, *at;
    char own[40];

    snprintf(own, sizeof own, "lease %llu ms", (unsigned long long)node->file_lease_ms);
    at = memmem(summary, strlen(summary), own, strlen(own));
    if (at) {
        size_t head = (size_t)(at - summary), len = strlen(lease);
        uint8_t *text = bytes_add(to, head + len);

        memcpy(text, summary, head);
        memcpy(text + head, lease, len);
        summary = at + strlen(own);
    }
    memcpy(bytes_add(to, strlen(summary) + 1), summary, strlen(summary) + 1);
}

static uint64_t agreed_digest(const struct node *node, const char *lease)
{
    struct bytes text = {0};
    uint64_t digest;

    agreed_summarize(node, lease, &text);
    digest = XXH3_64bits(text.at + text.start, bytes_len(&text) - 1);
    bytes_free(&text);
    return digest;
}

/* What this member says of its configuration in HELLO. */
static void agreed_introduce(struct node *node, const struct settings_lease *s)
{
    uint64_t own = XXH3_64bits(node->conf.summary, strlen(node->conf.summary));
    uint64_t but_lease = agreed_digest(node, "an agreed lease");
    char lease[40];

    snprintf(lease, sizeof lease, "lease %u ms", (unsigned)settings_target_ms(s, 0));
    node->self.digest = s->lease_ms ? but_lease : own;
    node->self.fits[0] = s->lease_ms ? own : but_lease;
    node->self.fits[1] = s->lease_ms ? agreed_digest(node, lease) : 0;
    bytes_free(&node->summary);
    if (s->lease_ms)
        agreed_summarize(node, lease, &node->summary);
    node->self.summary = s->lease_ms ? (const char *)node->summary.at + node->summary.start : node->conf.summary;
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
    agreed_introduce(node, &node->view.lease);
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

/* Promises become shorter. Those that were given are not, and a process that starts after a crash must know that. */
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
    if (s->step != node->view.lease.step || !node->view.number)
        agreed_introduce(node, s);
}

/* ------------------------------------------------------------------------------------------------- what members can do */

bool agreed_is_able(const struct node *node, uint32_t k)
{
    const struct member *m = node->member[k];

    return k == node->place ? !node->conf.unsettled : m->able == m->link.peer_incarnation && m->able;
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
        return "this is a cluster of one without a data directory; restart it with another --lease";
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
