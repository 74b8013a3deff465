/* lease.c - see lease.h. The protocol is in member/README.md, and comments cite its numbers. The decisions are functions without
 * state: plan.h (which members take part next), promise.h (promises and leases) and next.h (the roster of the next view).
 *
 * `node->dropped`: this member was dropped by the leader. `member->dropped`: this member has dropped the other one
 * (protocol 4).
 *
 * When the roster changes. A lease rests on a majority of the members that were counted when it was given. After two
 * changes within the time of a lease there could be a majority of which no member has given the lease's holder a
 * promise. So the leader waits between two changes of the counted set until all leases of the previous set have run out
 * (protocol 8, I28).
 *
 * A member that has lost its lease, but was not excluded, keeps its place in the view. It has taken the locks away from its
 * clients, except those of kept sessions, and grants again when its lease is back. A member that was excluded begins a
 * new incarnation and waits to be let in. */
#include "lease.h"

#include "agreed.h"
#include "member/next.h"
#include "member/promise.h"
#include "messages.h"
#include "policies.h"
#include "roster.h"
#include "rules.h"

#include <assert.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- own lease */

/* Is the process at the other end of the link to the member at place `k` the one that takes part in the view? */
static bool lease_is_part(const struct node *node, uint32_t k)
{
    const struct view_member *m = &node->view.member[k];

    if (k == node->place)
        return node->takes_part;
    return m->incarnation && node->member[k]->link.peer_incarnation == m->incarnation;
}

void lease_begin_view(struct node *node)
{
    node->drops = 0;
    node->dropped = node->has_dropped = false;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k]) {
            node->member[k]->dropped = false;
            node->member[k]->beat_ms = 0;
        }
    lease_count_acks(node);
}

void lease_count_acks(struct node *node)
{
    uint64_t acked_ms[NODE_MEMBERS_MAX] = {0};

    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k])
            acked_ms[k] = node->member[k]->acked_ms;
    node->acked_ms = promise_lease_from(&node->view, node->place, acked_ms);
}

/* Protocol 3: no grant and no confirmation without a lease (I18). */
void lease_refresh(struct node *node)
{
    bool grants = node->takes_part && !node->leaves && !node->dropped;

    if (grants && node->conf.lease_ms) {
        node->lease_end_ms = promise_lease_end(node->acked_ms, node->now_ms, node->conf.lease_ms);
        grants = node->now_ms < node->lease_end_ms;
    } else {
        node->lease_end_ms = grants ? UINT64_MAX : 0;
    }
    if (grants)
        node->granted_ms = node->now_ms;
    if (node->agree)
        locks_set_fence_limit(&node->locks, fence_limit(&node->fence, node->view.fence, node->now_ms));
    if (!grants && node->locks.grants)
        node->lapses++;
    keep_mind_lease(node, grants);
    locks_set_grants(&node->locks, grants,
                     node->leaves                         ? LOSS_DAEMON_ENDS
                     : node->takes_part && !node->dropped ? LOSS_NO_MAJORITY
                                                          : LOSS_EXCLUDED);
}

/* -------------------------------------------------------------------------------------------------------- heartbeats */

static bool lease_hears(const struct node *node, uint32_t k)
{
    const struct member *m = node->member[k];

    return k == node->place || (m->heard_ms && node->now_ms - m->heard_ms <= node->conf.lease_ms / 2);
}

/* Has half a lease passed since `ms`? */
static bool lease_is_long_ago(const struct node *node, uint64_t ms)
{
    return node->now_ms - ms > node->conf.lease_ms / 2;
}

/* Has the incarnation that takes part in the view, if any, ended? It has if a later one is at the other end of the
 * link. */
static bool lease_is_dead(const struct node *node, uint32_t k)
{
    if (k == node->place)
        return !node->takes_part;
    return node->member[k]->link.peer_incarnation > node->view.member[k].incarnation;
}

bool lease_gave_up(const struct node *node)
{
    return (node->leaves || node->dropped) && locks_gave_up(&node->locks) && !keep_is_believed(node);
}

/* Protocol 5: is there no promise of this member that keeps the member at place `k` in the view (I18)? */
static bool lease_owes_nothing(const struct node *node, uint32_t k)
{
    if (k == node->place)
        return promise_reports_itself(node->takes_part, node->dropped && lease_gave_up(node), node->began_ms,
                                      node->earlier_ms, node->now_ms);
    return promise_owes_nothing(&(struct promise_debt){.takes_part = node->takes_part,
                                                       .dropped = node->member[k]->dropped,
                                                       .promised_ms = node->member[k]->promised_ms},
                                node->now_ms);
}

struct beat lease_beat(const struct node *node)
{
    struct beat beat = {.view = node->view.number,
                        .sent_ms = node->now_ms,
                        .drops = node->drops,
                        .leads = node->agree && agree_leads(node->agree),
                        .leaves = node->leaves && lease_gave_up(node),
                        .wants_view = locks_crowded(&node->locks) || keep_wants_view(node) ||
                                      fence_is_due(&node->fence, node->view.fence, node->locks.fence_granted),
                        .stray = node->agree && !agree_knows_itself(node->agree),
                        .id = node->agree                      ? agree_journal(node->agree)->member
                              : node->place < node->view.count ? node->view.member[node->place].id
                                                               : 0};

    for (uint32_t k = 0; k < node->view.count; k++) {
        if (lease_hears(node, k))
            beat.hears |= plan_bit(k);
        if (k == node->place ? node->dropped : node->member[k]->dropped)
            beat.dropped |= plan_bit(k);
        if (lease_owes_nothing(node, k))
            beat.owes_nothing |= plan_bit(k);
    }
    return beat;
}

static void lease_send_beat(struct member *m, struct beat *beat)
{
    beat->echo_ms = m->beat_incarnation == m->link.peer_incarnation ? m->beat_ms : 0;
    message_send_beat(m, beat);
}

void lease_send_beats(struct node *node)
{
    struct beat beat = lease_beat(node);

    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k])
            lease_send_beat(node->member[k], &beat);
    node->next_beat_ms = node->now_ms + node->beat_every_ms;
}

void lease_greet(struct node *node, struct member *m)
{
    struct beat beat = lease_beat(node);

    if (node->agree && !node->conf.patient)
        lease_send_beat(m, &beat);
}

/* Protocol 4. The member at place `k` gets no more acknowledgements in this view. If it is this member itself, it gives
 * up its locks, so that no other member has to wait for its lease. */
static void lease_drop(struct node *node, uint32_t k)
{
    if (k != node->place)
        node->has_dropped = node->member[k]->dropped = true;
    else if (node->takes_part && !node->dropped) {
        node->dropped = true;
        lease_refresh(node);
        node->next_beat_ms = node->now_ms;
    }
}

/* Has the clock of this machine stood still, as that of a virtual machine does while it is saved or moved? The peer
 * sent an earlier heartbeat, `span`, after it had received the one of ours that `span` acknowledges, and it sent this
 * one before now. So between the two its clock cannot have advanced by more than ours has advanced since we sent the
 * heartbeat that `span` acknowledges, times the ratio of the fastest clock to the slowest. Message delays make no
 * difference. */
static bool lease_has_stood_still(const struct node *node, const struct member *m, const struct beat *beat)
{
    return m->span.echo_ms && m->span.incarnation == m->link.peer_incarnation && beat->sent_ms > m->span.sent_ms &&
           beat->sent_ms - m->span.sent_ms > promise_stretch_ms(node->now_ms - m->span.echo_ms + 1);
}

/* The next span begins with the first heartbeat that acknowledges a newer one of ours. */
static void lease_set_span(const struct node *node, struct member *m, const struct beat *beat)
{
    if (beat->echo_ms && beat->echo_ms <= node->now_ms &&
        (beat->echo_ms > m->span.echo_ms || m->span.incarnation != m->link.peer_incarnation)) {
        m->span.sent_ms = beat->sent_ms;
        m->span.echo_ms = beat->echo_ms;
        m->span.incarnation = m->link.peer_incarnation;
    }
}

void lease_forget_acks(struct node *node)
{
    node->incarnation_ms = node->now_ms;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k])
            node->member[k]->acked_ms = 0;
    lease_count_acks(node);
}

/* Our clock has stood still, so the lease may have run out by the clocks of the others, though not by ours. We give the lease up;
 * heartbeats that we send from now on give us a new one. */
static void lease_lapse(struct node *node)
{
    node->stills++;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k])
            node->member[k]->span.echo_ms = 0;
    lease_forget_acks(node);
    lease_refresh(node);
}

void lease_hear(struct node *node, uint32_t place, const struct beat *beat)
{
    struct member *m = node->member[place];
    bool unheard = !lease_hears(node, place), unanswered = !m->beat_ms;

    if (lease_has_stood_still(node, m, beat))
        lease_lapse(node);
    m->heard_ms = node->now_ms;
    m->last = *beat;
    lease_set_span(node, m, beat);
    if (beat->leads && beat->view == node->view.number)
        for (uint32_t k = 0; k < node->view.count; k++)
            if (beat->drops & plan_bit(k))
                lease_drop(node, k);
    /* Protocol 2: acknowledge its heartbeat, and give the promise that belongs to the acknowledgement. */
    if (promise_is_given(node->takes_part, lease_is_part(node, place), m->dropped)) {
        m->beat_ms = beat->sent_ms;
        m->beat_incarnation = m->link.peer_incarnation;
        if (m->promised_ms < node->now_ms + node->promise_ms)
            m->promised_ms = node->now_ms + node->promise_ms;
    } else {
        m->beat_ms = 0;
    }
    /* The sender acknowledges a heartbeat of ours. It counts if our present incarnation has sent that heartbeat. */
    if (node->takes_part && lease_is_part(node, place) && beat->echo_ms > node->incarnation_ms &&
        beat->echo_ms <= node->now_ms && beat->echo_ms > m->acked_ms) {
        m->acked_ms = beat->echo_ms;
        lease_count_acks(node);
    }
    /* Protocol 1: the leader waits to hear that this member hears the sender; or the sender waits for its lease. */
    if (unheard && !node->conf.patient)
        node->next_beat_ms = node->now_ms;
    else if (unanswered && m->beat_ms)
        lease_greet(node, m);
}

/* Returns the end of the promise that ends first, of those to members whose heartbeats this member no longer acknowledges. A member that
 * does not take part acknowledges none. */
uint64_t lease_due_ms(const struct node *node)
{
    uint64_t due = UINT64_MAX;

    for (uint32_t k = 0; k < node->view.count; k++) {
        const struct member *m = node->member[k];

        if (m && (m->dropped || !node->takes_part) && node->view.member[k].incarnation &&
            m->promised_ms > node->now_ms && m->promised_ms < due)
            due = m->promised_ms;
    }
    return due;
}

/* ---------------------------------------------------------------------------------------------------------- the leader
 */

/* Collects what the leader knows of all members. Its own heartbeat is in `own`, to which the result points. */
static struct plan_in lease_look(const struct node *node, struct beat *own)
{
    struct plan_in in = {
        .view = &node->view,
        .self = node->place,
        .drops = node->drops,
        .looks = lease_is_long_ago(node, node->installed_ms) && lease_is_long_ago(node, node->led_ms),
        .patient = node->now_ms - node->whole_ms <= node->conf.lease_ms * 3 / 2,
    };

    *own = lease_beat(node);
    for (uint32_t k = 0; k < node->view.count; k++) {
        const struct member *m = node->member[k];
        bool self = k == node->place;

        if (self)
            in.said[k] = own;
        else if (lease_hears(node, k) && m->last.view == node->view.number)
            in.said[k] = &m->last;
        if (node->view.member[k].standing == VIEW_REMOVED || (self ? node->leaves : m->last.leaves))
            in.unwilling |= plan_bit(k);
        if (lease_is_dead(node, k))
            in.renewed |= plan_bit(k);
        if (lease_is_part(node, k))
            in.present |= plan_bit(k);
    }
    return in;
}

/* Protocol 8. When every member that takes part has reported this view, none computes its lease with an earlier set of counted members any more. After
 * the time of a promise, all leases that were computed with an earlier set have run out. */
static bool lease_change_roster(struct node *node, const struct plan_in *look, const struct plan *p, struct view *next)
{
    struct next_wish wish = {node->wish.add, node->wish.force, node->wish.name, node->wish.address};
    struct next_in in = {.look = look, .plan = p, .wish = node->wish.until_ms ? &wish : NULL};

    if (!next_all_report(look, p))
        return false;
    if (!node->counted_ms)
        node->counted_ms = node->now_ms;
    in.old_leases_over = promise_old_leases_are_over(node->counted_ms, node->promise_ms, node->now_ms);
    for (uint32_t k = 0; k < next->count; k++) {
        if (agree_has_forgotten(node->agree, next->member[k].id))
            in.forgotten |= plan_bit(k);
        if (agree_has_caught_up(node->agree, next->member[k].id))
            in.caught_up |= plan_bit(k);
    }
    in.taken_back = roster_taken_back(node, next);
    return next_change_roster(&in, next);
}

/* May there be a new view with the same members now? On average there is one such view in half a lease. But when a member has ended, its
 * clients come to other members one after the other, and wait until their sessions have moved. So up to QUICK such views may follow each other
 * quickly if there were none for a while; the first of them comes at once. */
static bool lease_may_renew(struct node *node)
{
    enum { QUICK = 8, PAUSE = 32 };
    uint64_t half_ms = node->conf.lease_ms / 2 + 1, ahead_ms = node->conf.patient ? 0 : QUICK * half_ms;
    uint64_t used_ms = node->renewals_ms > node->now_ms ? node->renewals_ms : node->now_ms;
    uint64_t due_ms = used_ms > node->now_ms ? node->installed_ms + node->conf.lease_ms / PAUSE : 0;

    if (due_ms < used_ms - ahead_ms && used_ms > node->now_ms + ahead_ms)
        due_ms = used_ms - ahead_ms;
    if (due_ms > node->now_ms) {
        node->renew_ms = node->conf.patient ? 0 : due_ms;
        return false;
    }
    node->renewals_ms = used_ms + half_ms;
    return true;
}

/* Is a new view with the same members due, because a member remembers too many names, has used half of the view's fencing tokens,
 * or has a kept session that is to move to another member? */
static bool lease_is_used_up(struct node *node, const struct plan_in *in, const struct plan *p)
{
    bool wanted = false;

    for (uint32_t k = 0; k < node->view.count; k++) {
        if (p->stay & plan_bit(k) && !in->said[k])
            return false;
        wanted = wanted || (p->stay & plan_bit(k) && in->said[k]->wants_view);
    }
    return wanted && lease_may_renew(node);
}

/* Returns a fence base above all fencing tokens of this view and of earlier ones (fence.h). If no ceiling is known, the
 * calendar time may be higher. This clock may be too fast by a twentieth, and tokens must not overtake the calendar. */
static uint64_t lease_next_fence(const struct node *node)
{
    uint64_t base = fence_next_base(&node->fence, node->view.fence, node->now_ms);
    uint64_t calendar = node->conf.fence ? node->conf.fence + 950 * (node->now_ms - node->began_ms) : 0;

    return node->fence.known || calendar < base ? base : calendar;
}

/* Protocol 6 and 7. */
static void lease_let_in(const struct node *node, const struct plan *p, struct view *next)
{
    uint64_t incarnation[NODE_MEMBERS_MAX] = {0}, disk[NODE_MEMBERS_MAX] = {0};

    for (uint32_t k = 0; k < node->view.count; k++) {
        incarnation[k] = k == node->place ? node->self.incarnation : node->member[k]->link.peer_incarnation;
        disk[k] = k == node->place ? node->self.disk : node->member[k]->link.disk_seen;
    }
    next_let_in(p, incarnation, disk, next);
}

/* For half a lease after it has begun to lead, a leader waits for all members, so that a new cluster has one view, not many. */
static bool lease_waits_for_more(const struct node *node, const struct plan *p)
{
    uint32_t there = 0;

    for (uint32_t k = 0; k < node->view.count; k++)
        there += (p->come | p->stay) >> k & 1;
    return there < node->view.count && node->now_ms - node->led_ms < node->conf.lease_ms / 2;
}

void lease_lead(struct node *node)
{
    struct plan_in in;
    struct plan p;
    struct beat own;
    struct view next;
    bool changed;

    node->renew_ms = 0;
    if (!node->agree || !agree_leads(node->agree)) {
        node->led_ms = node->counted_ms = node->step_ms = node->awaited = 0;
        return;
    }
    if (!node->led_ms)
        node->led_ms = node->now_ms;
    if (agree_view(node->agree)->number != node->view.number || agree_is_proposing(node->agree))
        return;
    if (node->leaves && agree_hand_over(node->agree)) /* else the others would have to wait for an election */
        return;
    in = lease_look(node, &own);
    plan_make(&in, &p);
    if (p.whole)
        node->whole_ms = node->now_ms;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (p.leave & plan_bit(k) && !(node->drops & plan_bit(k))) {
            node->drops |= plan_bit(k);
            node->next_beat_ms = node->now_ms; /* the heartbeat tells all members at once */
            lease_drop(node, k);
        }
    if (p.leave ? !plan_is_due(&in, &p) : p.come && lease_waits_for_more(node, &p))
        return;
    next = node->view;
    next.number++;
    changed = p.leave || p.come;
    lease_let_in(node, &p, &next);
    if (!changed)
        changed = lease_change_roster(node, &in, &p, &next) || agreed_next(node, &in, &p, &next) ||
                  policies_next(node, &in, &p, &next) || rules_next(node, &in, &p, &next) ||
                  lease_is_used_up(node, &in, &p);
    next.fence = lease_next_fence(node);
    assert(view_counted_changes(&node->view, &next) <= 1); /* protocol 8, I28 */
    if (view_counted_changes(&node->view, &next))
        next.counted_since = next.number;
    if (changed)
        agree_propose(node->agree, &next);
    else if (node->place < node->view.count && node->view.member[node->place].standing == VIEW_REMOVED)
        agree_hand_over(node->agree); /* a leader does not remove itself */
}
