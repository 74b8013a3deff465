/* ricart_agrawala_robust.h - the state of ricart-agrawala-robust, and names: what its two files share.
 * ricart_agrawala_robust.c tells the story, and has requests and failures; ricart_agrawala_members.c has those who come
 * and go. */
#ifndef DIBS_ALG_RICART_AGRAWALA_ROBUST_H
#define DIBS_ALG_RICART_AGRAWALA_ROBUST_H

#include "core/alg.h"

enum {
    REQUEST,
    REPLY,
    ARE_YOU_THERE,
    YES_I_AM_HERE,
    JOIN,
    REFUSE,
    NEW,
    NEW_ACK,
    INIT,
    LEAVE,
    LEAVE_ACK,
    FAILED,
    RESTART,
    QUERY,
    ANSWER
};

enum { OPTION_MEMBERS, OPTION_HIGHEST, OPTION_HOLD, OPTION_INTERVAL, OPTION_PATIENCE, OPTION_TIMER, OPTION_JOIN };
enum { TIMER_RESTARTED, TIMER_KEPT };
enum { BY_SPONSOR, BY_BROADCAST };
enum { JOINS_UNACKNOWLEDGED, REPLIES_UNNUMBERED, PROBE_IS_NO_REQUEST, INCLUDED_UNACKNOWLEDGED };
enum { ACKNOWLEDGED, ASKED, HEARD_ALL, HEARD_SPAN, WAITED, HEARD_FOUR };
enum {
    TIMER_LATE /* answers */,
    TIMER_GONE /* then a silent site has failed */,
    TIMER_OUT /* of a site that is no member */
};
enum {
    OUT,
    JOINING,
    SYNC /* a member that does not know the highest number */,
    IN,
    LEAVING,
    GONE,
    INCLUDING /* all are asked to */
};
enum { NOTHING, APP, ADMIN };

struct rr {
    uint64_t highest, own; /* own is 0 unless it asks or is inside */
    uint64_t best;         /* sponsor: of the acknowledgements. Newcomer: the first number heard */
    uint8_t role;
    uint8_t activity; /* for whom the critical section is asked for, or held */
    uint8_t granted, resigns /* wants to leave */, forgotten /* it is up, but others believe it is not */, zero[3];
    dme_id sponsor; /* newcomer: the site that it asked last */
    dme_id sponsee; /* sponsor: the site that it lets in */
    struct {
        uint64_t deferred; /* number of the request that is not answered yet; 0: none */
        uint32_t incarnation;
        uint8_t member, removed;
        uint8_t missing; /* its answer to the present question: REQUEST, NEW, LEAVE or QUERY */
        uint8_t probed;  /* it was asked once more and nothing was heard yet */
        uint8_t sponsee, heard /* newcomer: number of REQUESTs */, zero[6];
    } peer[];
};

/* ------------------------------------------------------------------------------------------------------------- names */

static inline struct dme_ticket rr_name(const struct rr *s, dme_id j, uint64_t number)
{
    return (struct dme_ticket){.clock = number, .mode = s->peer[j].incarnation, .site = j};
}

static inline struct dme_msg *rr_send(struct dme *d, struct rr *s, dme_id to, uint8_t kind, uint64_t number)
{
    struct dme_msg *m = dme_send(d, to, kind);

    s->peer[d->self].incarnation = d->node->incarnation;
    m->ticket[0] = rr_name(s, d->self, number);
    m->ticket[1] = rr_name(s, to, 0);
    return m;
}

static inline void rr_send_about(struct dme *d, struct rr *s, dme_id to, uint8_t kind, struct dme_ticket name)
{
    rr_send(d, s, to, kind, 0)->ticket[2] = name;
}

static inline void rr_forget(struct rr *s, dme_id j)
{
    s->peer[j].member = s->peer[j].missing = s->peer[j].probed = s->peer[j].sponsee = 0;
    s->peer[j].heard = 0;
    s->peer[j].deferred = 0;
    s->peer[j].removed = 1;
}

/* A message is from a name, or about one. Returns false if the name is an earlier incarnation of that site. A new
 * incarnation replaces the earlier one. */
static inline bool rr_is_present(struct rr *s, struct dme_ticket name)
{
    if (name.mode < s->peer[name.site].incarnation)
        return false;
    if (name.mode > s->peer[name.site].incarnation) {
        rr_forget(s, name.site);
        s->peer[name.site].removed = 0;
        s->peer[name.site].incarnation = name.mode;
    }
    return true;
}

static inline bool rr_runs(const struct dme *d, unsigned timer)
{
    return d->node->armed & 1u << timer;
}

static inline bool rr_any(const struct dme *d, const uint8_t *first, size_t stride)
{
    for (dme_id j = 0; j < d->n; j++)
        if (first[j * stride])
            return true;
    return false;
}

static inline bool rr_misses(const struct dme *d, const struct rr *s)
{
    return rr_any(d, &s->peer[0].missing, sizeof s->peer[0]);
}

/* -------------------------------------------------------------------------------------------- requests and questions */

/* Sends the question of the present activity (REQUEST, NEW, LEAVE or QUERY) to one site, or to all members. */
void rr_put(struct dme *d, struct rr *s, dme_id j, bool again);
void rr_put_all(struct dme *d, struct rr *s);
/* No answer is awaited any more. */
void rr_done(struct dme *d);
/* Is the last answer here? Then goes on. */
void rr_test(struct dme *d, struct rr *s);
/* Begins what is next, if nothing is under way. */
void rr_kick(struct dme *d, struct rr *s);
/* The critical section is left. */
void rr_finish(struct dme *d, struct rr *s);

/* ----------------------------------------------------------------------------------------------------------- members */

/* Sponsor. */
dme_id rr_next_sponsee(const struct dme *d, const struct rr *s);
void rr_admit(struct dme *d, struct rr *s);
void rr_admitted(struct dme *d, struct rr *s);
void rr_send_list(struct dme *d, struct rr *s, dme_id to, uint64_t highest);
void rr_named(struct dme *d, struct rr *s, dme_id from, struct dme_ticket name);
/* Newcomer. */
void rr_join(struct dme *d, struct rr *s);
void rr_initiated(struct dme *d, struct rr *s, const struct dme_msg *m);
void rr_include(struct dme *d, struct rr *s, const struct dme_msg *m);
void rr_sync(struct dme *d, struct rr *s);
void rr_listen(struct dme *d, struct rr *s, dme_id j, uint64_t number);
void rr_waited(struct dme *d, struct rr *s);
void rr_in(struct dme *d, struct rr *s);
bool rr_heard_enough(const struct dme *d, const struct rr *s);
void rr_start_over(struct dme *d, struct rr *s);
/* Forgets all others and the activity in progress, but not the highest number and the incarnations of the others. */
void rr_reset(struct dme *d, struct rr *s);
/* Leaver. */
void rr_leave_group(struct dme *d, struct rr *s);
void rr_left(struct dme *d, struct rr *s);

#endif
