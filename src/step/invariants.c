/* invariants.c - see invariants.h. */
#include "invariants.h"

#include "command/client.h"
#include "lock/invariants.h"
#include "node/policies.h"
#include "node/rules.h"

/* I18, I20: the member grants and vouches only while its lease is valid; when it is not, its clients hold no locks but kept ones. */
static const char *invariants_of_lease(const struct node *node)
{
    const struct locks *l = &node->locks;
    uint64_t acked_ms = node->acked_ms < node->now_ms ? node->acked_ms : node->now_ms;

    if (l->grants && (!node->takes_part || node->leaves || node->dropped))
        return "I18: a member grants locks, but does not take part, leaves or is dropped";
    if (l->grants && node->conf.lease_ms &&
        (node->now_ms >= node->lease_end_ms || node->lease_end_ms > acked_ms + node->conf.lease_ms))
        return "I18: a member grants locks, and its lease is not valid";
    for (size_t k = 0; !l->grants && !l->losing && !l->put_off && k < l->held_count; k++)
        if (l->held[k].claim->state == CLAIM_HELD && !l->held[k].claim->kept)
            return "I18: a client holds a lock, and its member may grant none";
    return NULL;
}

/* I24, I29: nothing is granted before all members have announced what their clients hold, nor a token beyond the limit. */
static const char *invariants_of_view(const struct node *node)
{
    const struct locks *l = &node->locks;

    if (l->open && (!node->takes_part || !node->announced || !l->told))
        return "I24: locks are open, and this member has not announced what its clients hold";
    for (uint32_t k = 0; l->open && k < node->view.count; k++)
        if (node->member[k] && node->view.member[k].incarnation && !node->member[k]->announced)
            return "I24: locks are open, and a member has not announced what its clients hold";
    if (node->policies_set != node->view.policies.set || policies_check(node))
        return "I16: a member uses other policies than its view has";
    if (rules_check(node))
        return "I34: a member uses other rights than its view has";
    if (node->takes_part && keep_is_forgetting(node) && node->keep.phase != KEEP_TELLS)
        return "I33: a member has told others what it knows, and has claims of kept sessions that it has forgotten";
    if (node->agree && l->open && l->grants && l->fence_granted >= l->fence_limit)
        return "I29: a fencing token beyond the limit was granted";
    if (node->agree && node->self.mute != !agree_incarnation_is_durable(node->agree))
        return "I26: a member speaks in an incarnation that its disk does not have, or is silent in one that it has";
    return NULL;
}

/* I33, I37: a lock of a kept session whose TTL or mode changes. `c` is its claim, or the request to change its mode. */
static const char *invariants_of_change(const struct node *node, const struct claim *c)
{
    bool request = c->state == CLAIM_UPGRADED || c->state == CLAIM_DOWNGRADED;

    if (!ring_empty(&c->in_renewed) && c->kept > node->keep.made)
        return "I33: a new TTL waits for the acknowledgement of a letter that was never made";
    if (c->shares && !c->freed && (c->state != CLAIM_HELD || c->mode != LOCK_ALONE || !c->kept))
        return "I33: a claim that is to be shared later is not exclusive now";
    if (request && (!c->other || c->other->other != c || c->other->state != CLAIM_HELD))
        return "I37: a change of the mode has been granted for a claim that is not held";
    if (request && c->session->kept && (!c->kept || c->kept > node->keep.made || ring_empty(&c->in_list)))
        return "I33: the mode of a lock of a kept session has changed, and its client is not told when all members "
               "know it";
    if (c->state == CLAIM_UPGRADED && c->kept && (c->other->after != c->fence || c->other->mode != LOCK_ALONE))
        return "I33: the record of an upgraded claim does not name the previous record";
    return NULL;
}

/* I3: a session counts its claims correctly, and waits for one of them at most. */
static const char *invariants_of_session(const struct node *node, const struct session *s, uint64_t *waiters,
                                         uint64_t *holders)
{
    uint32_t claims = 0;
    bool waits = !s->waiting;
    const char *wrong;

    for (const struct ring *r = s->claims.next; r != &s->claims; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_session);

        claims++;
        waits |= c == s->waiting;
        if (c->session != s)
            return "I3: a claim is in another session than it says";
        if (c->state == CLAIM_WAITING && c != s->waiting)
            return "I3: a session waits for two locks";
        if (c->due_slot && (c->due_slot > node->due.count || node->due.heap[c->due_slot] != c))
            return "I20: a claim has a deadline, but is not in the heap of deadlines";
        if (c->state == CLAIM_LINGERS && !c->due_slot && ring_empty(&c->in_list))
            return "I20: a claim lingers without a deadline";
        if (!session_is_forgotten(s) && (wrong = invariants_of_change(node, c)))
            return wrong;
    }
    if (!waits || claims != s->held + (s->waiting != NULL))
        return "I3: a session has miscounted its claims";
    if (s->client && s->client->session != s)
        return "I3: the client of a session has another session";
    if (node->conf.lease_ms && s->vouched_ms > node->now_ms + promise_stretch_ms(node_longest_lease_ms(node)))
        return "I20: a client was told a validity that is longer than any lease";
    *waiters += s->waiting != NULL;
    *holders += s->held;
    return NULL;
}

static const char *invariants_of_sessions(const struct node *node)
{
    uint64_t waiters = 0, holders = 0;
    uint32_t discarding = 0, holding = 0;
    const char *wrong;

    for (const struct ring *r = node->sessions.next; r != &node->sessions; r = r->next) {
        const struct session *s = RING_OF((struct ring *)r, struct session, in_node);

        if ((wrong = invariants_of_session(node, s, &waiters, &holders)))
            return wrong;
        discarding += s->task == SESSION_DISCARDS;
        holding += s->held && !s->orphan;
        if ((s->held && !s->orphan) == ring_empty(&s->in_holding))
            return "I31: the list of clients that hold locks is wrong (DRAIN)";
    }
    if (holding != node->holding_count)
        return "I31: a member has miscounted its clients that hold locks";
    if (discarding != node->keep.discarding)
        return "I33: a member has miscounted the sessions that it has forgotten, and whose claims it discards";
    if (waiters != node->stats.waiters || holders != node->stats.holders)
        return "I3: a member has miscounted the claims of its clients";
    for (size_t k = 2; k <= node->due.count; k++)
        if (node->due.heap[k / 2]->due_ms > node->due.heap[k]->due_ms)
            return "I20: deadlines are not in order";
    return ring_empty(&node->locks.outcomes) ? NULL : "I17: a claim has an outcome, and its client was not told";
}

/* I33: how many claims of this kept session other members have records of, as the member counts them. */
static uint32_t invariants_count_recorded(const struct keep_session *e)
{
    uint32_t count = 0;

    for (const struct ring *r = e->session->claims.next; r != &e->session->claims; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_session);

        count += c->kept && !c->freed;
    }
    return count;
}

/* I33: kept sessions, and what is known of them. A member that has miscounted those that are to move would ask for views without end, or for none. */
static const char *invariants_of_keep(const struct node *node)
{
    const struct keep *k = &node->keep;
    size_t all = 0, own = 0, moving = 0, claims = 0, records = 0;

    for (const struct ring *r = k->all.next; r != &k->all; r = r->next) {
        const struct keep_session *e = RING_OF((struct ring *)r, struct keep_session, in_all);

        if (r == &k->walk)
            continue;
        all++;
        own += !ring_empty(&e->in_own);
        moving += e->session && e->moves_to;
        claims += e->session ? e->claims : 0;
        records += e->count;
        if (e->session && (e->count || e->session->kept != e || e->claims != invariants_count_recorded(e)))
            return "I33: a member has miscounted the claims of a kept session, or has records of its own session";
    }
    for (const struct ring *r = k->doomed.next; r != &k->doomed; r = r->next)
        records += RING_OF((struct ring *)r, struct keep_session, in_all)->count;
    if (all != k->count || own != k->own_count || claims != k->claims || records != k->records)
        return "I33: a member has miscounted kept sessions, or what they hold";
    return moving == k->moving ? NULL : "I33: a member has miscounted the kept sessions that are to move";
}

/* I31: every client that waits for a later turn is in the list of those that get one. */
static const char *invariants_of_turn(const struct node *node)
{
    const struct node_turn *turn = &node->turn;
    uint32_t hungry = 0;

    for (const struct ring *r = turn->hungry.next; r != &turn->hungry; r = r->next)
        hungry++;
    for (unsigned k = 0; k < CLIENT_URGENCIES; k++)
        for (const struct ring *r = turn->news[k].next; r != &turn->news[k]; r = r->next)
            if (RING_OF((struct ring *)r, struct client, in_news)->urgency != k)
                return "I17: a client is noted with another urgency than its own";
    for (const struct ring *r = turn->clients.next; r != &turn->clients; r = r->next) {
        const struct client *c = RING_OF((struct ring *)r, struct client, in_node);

        if (client_has_more(c) && ring_empty(&c->in_hungry))
            return "I31: a client has commands left, and gets no turn";
        if (c->urgency && ring_empty(&c->in_news))
            return "I17: a client has lost or gained a lock, and is not told";
    }
    return hungry == turn->hungry_count ? NULL : "I31: a member has miscounted the clients that wait for a turn";
}

const char *node_check(const struct node *node)
{
    const char *wrong = locks_check(&node->locks);

    if (!wrong)
        wrong = invariants_of_lease(node);
    if (!wrong)
        wrong = invariants_of_view(node);
    if (!wrong)
        wrong = invariants_of_sessions(node);
    if (!wrong)
        wrong = invariants_of_keep(node);
    return wrong ? wrong : invariants_of_turn(node);
}
