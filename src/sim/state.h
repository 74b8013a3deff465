/* state.h - a run in progress: shared by sim.c, which begins and ends it, and loop.c, which makes it happen. */
#ifndef DIBS_SIM_STATE_H
#define DIBS_SIM_STATE_H

#include "agenda.h"
#include "lab/world.h"
#include "order.h"
#include "sim.h"

struct sim_site {
    double asked;           /* the current request: when */
    uint64_t entries_then;  /* of all sites when it was made */
    uint64_t switches_then; /* of the mode, likewise */
    uint64_t rounds_then;   /* of messages, likewise */
    uint32_t waiting_then;  /* other requests that waited */
    uint32_t backlog;       /* demands that queue at this site */
    uint64_t entries;       /* measured */
};

struct sim {
    const struct sim_spec *spec;
    struct dme_conf conf;
    double now;
    uint64_t order; /* of scheduling */

    unsigned char *nodes;
    size_t node_size; /* of each; or 0: */
    size_t *node_at;  /* where each begins */
    struct dme_out *out;
    struct sim_site *site;

    struct flight flight;
    struct agenda agenda;
    struct load load;
    struct delay delay;
    struct random delays, holds;
    double bound;          /* T */
    uint32_t *timer_start; /* site x DME_TIMERS: how often started or stopped; or null */
    double *medium;        /* sequenced medium: when a site has heard the last transmission; or null */
    uint32_t timers;       /* that run */

    struct order waiting;
    uint32_t inside;
    uint32_t mode;     /* of those inside, or of the last who was */
    uint64_t requests; /* made */
    uint64_t entries;
    uint64_t steps_then;    /* when a site last entered, was inside, or when no site waited; see sim_look_for_unrest */
    size_t flight_most;     /* messages in flight at once, the most since then */
    uint64_t rounds;        /* see sim_count_round */
    uint64_t round_end;     /* the present round ends when all messages with lower numbers have arrived, */
    size_t round_left;      /* and this many of them have not */
    uint64_t round_entries; /* entries when it began */
    double finest;          /* the shortest of the mean times of the specification; INFINITY: all are 0 */
    uint64_t crashes_before, cuts_before; /* measuring began */
    char refused[256];                    /* empty, or why the figures of this run would be wrong */
    uint64_t switches;                    /* entries in another mode than the one before */
    uint64_t fence;                       /* of the last entry */
    bool fences;                          /* must they grow? */
    bool done;

    double changed; /* when `inside` last changed */
    double last_exit;
    bool exit_awaited; /* a site waited at the last exit, and none has entered since */
    bool measuring, began_at_rest;
    bool batches;            /* there are enough entries for them */
    uint64_t entries_before; /* measuring began */
    uint64_t requests_before;
    uint64_t next_mark; /* the number of measured entries after which the next batch begins */
    struct metrics *metrics;
    struct sim_result *result;

    struct random failures;
    uint32_t side;       /* of a cut: see lab/world.h */
    uint32_t planned;    /* returns and news that are still to come: a site may wait for them */
    bool out_of_service; /* something has failed, and no site has entered since */
    double outage;       /* since when a site has waited; INFINITY: none has */
};

static inline struct dme_node *sim_node(const struct sim *s, dme_id site)
{
    return (struct dme_node *)(s->nodes + (s->node_at ? s->node_at[site] : site * s->node_size));
}

/* What began at rest ends at rest, and as many requests are made as are measured. */
static inline bool sim_is_closing(const struct sim *s)
{
    return s->measuring && s->began_at_rest && s->requests - s->requests_before == s->spec->entries;
}

/* Has this site waited so long that its request is lost or starves? Ten times as many entries as there are sites have been
 * made since, and the messages of 2n + 10 rounds have arrived: a site that enters again and again before any message
 * can arrive is no evidence. */
static inline bool sim_is_starved(const struct sim *s, dme_id i)
{
    const struct sim_site *site = &s->site[i];

    return sim_node(s, i)->phase == DME_WAITING && s->entries - site->entries_then >= 10 * (uint64_t)s->conf.n &&
           s->rounds - site->rounds_then >= 2 * (uint64_t)s->conf.n + 10;
}

/* Do what the node wants done after a step: send, start timers, enter. */
void sim_obey(struct sim *s, dme_id self);
/* Puts the next demand of an open or scripted load on the agenda. */
void sim_expect_demand(struct sim *s);
/* The warm-up is over. */
void sim_measure(struct sim *s, bool at_rest);
/* An event that is no message; and one that is, or is news. */
void sim_happen(struct sim *s, dme_id self, enum dme_event_type type, uint32_t arg);
void sim_receive(struct sim *s, const struct dme_msg *m, uint64_t number);
/* The next demand of an idle site, if it has one. */
void sim_request(struct sim *s, dme_id self);
/* The time since the last change of how many are inside goes into the metrics. */
void sim_account(struct sim *s);
/* Until everything is measured, or at rest, or a promise is broken. */
void sim_loop(struct sim *s);

/* fail.c */
void sim_fail_begin(struct sim *s);
void sim_fail_happen(struct sim *s, const struct agenda_item *item);
void sim_fail_hear(struct sim *s, const struct agenda_item *item);
void sim_fail_entered(struct sim *s);

#endif
