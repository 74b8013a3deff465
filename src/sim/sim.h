/* sim.h - a run of an algorithm in simulated time: what is asked for, and what came out.
 *
 * A run is a function of its specification: equal seeds give equal results, to the last bit, in whatever thread (I10).
 * The specification is only read, hence several runs may share one.
 *
 * What is measured. The system starts empty, so the first `warmup` entries are not measured. Measuring begins at the
 * next moment of rest (no site is inside or waits, no message is in flight); then exactly `entries` requests are made, and
 * measuring ends when all is at rest again: every message counts, and counts once. Under a load so heavy that there is
 * no rest within another `warmup` entries, measuring begins and ends with an entry while the load goes on, and it does not
 * begin before every request that waited after the first `warmup` entries has been served. */
#ifndef DIBS_SIM_SIM_H
#define DIBS_SIM_SIM_H

#include "core/text.h"
#include "delay.h"
#include "fault.h"
#include "load.h"
#include "metrics.h"

enum sim_order { SIM_AS_NEEDED, SIM_FIFO, SIM_ANY }; /* as needed: FIFO if the algorithm relies on it, else any */

/* A step of a run, for those who watch. All pointers are good for the time of the call. */
struct sim_event {
    double at;
    dme_id site;
    const struct dme_event *event;
    const struct dme_out *out;
    uint64_t number; /* of the message received; messages are numbered as they are sent */
    uint64_t sends;  /* the number of the first message that this step sends; a broadcast takes one for each receiver */
};

struct sim_spec {
    struct dme_conf conf;
    struct load_spec load;
    struct delay delay;
    struct dist hold; /* time inside */
    struct fault_spec faults;
    enum sim_order order;
    double bound;     /* T, for timers; 0: the largest delay there is */
    uint64_t entries; /* to measure; a script ends when it ends */
    uint64_t warmup;  /* entries before that, at least */
    uint64_t seed;
    double precision; /* repeat with twice the entries until intervals are narrower than this share; 0: do not */
    bool log_entries;

    void (*observe)(void *user, const struct sim_event *event); /* every step; or null */
    void (*progress)(uint64_t done, uint64_t all);              /* entries, also to warm up; or null */
    void *user;                                                 /* of observe */
};

struct sim_entry {
    double at;
    dme_id site;
    uint32_t mode;
};

struct sim_result {
    char failure[512];            /* empty; or which promise was broken, where and when */
    uint64_t steps;               /* of nodes, the whole run */
    double end;                   /* simulated time */
    uint64_t warmup;              /* entries before measuring began */
    uint64_t asked, asked_warmup; /* of the specification; more than there if --precision has repeated the run */
    uint64_t entries;             /* measured */
    uint32_t unserved;            /* sites whose request is lost or starves: see sim_is_starved in state.h */
    uint64_t messages;            /* measured */
    uint64_t by_kind[FLIGHT_KINDS];
    double value[FIGURES], half[FIGURES]; /* half the width of the 95% interval; NAN: unknown */
    double wait_p50, wait_p95, wait_p99, wait_max;
    double response_p50, response_p95, response_p99, response_max;
    uint64_t overtakes_max;
    uint64_t switches_max; /* of the mode, that a request saw while it waited */
    double sync_max;
    uint32_t inside_max;
    bool steady;                /* the waiting times of the first batches are like those of the last */
    bool correlated;            /* those of successive batches depend on each other: intervals are widened for that */
    bool precise;               /* the intervals are as narrow as the specification wants them, if it does */
    struct fault_result faults; /* measured */
    double jain;                /* of the entries of those who ask: 1 if all are equal, 1/n if there is but one */
    struct sim_entry *log;      /* of the whole run, if asked for */
    size_t logged;
};

/* False and a line for a person if the specification cannot run. */
bool sim_can_run(const struct sim_spec *spec, struct dme_text *wrong);
/* The same, or runs it. A run whose figures would be wrong, because its times are too different, cannot run either; that
 * is noticed on the way. A broken promise is no such thing: it is told in result->failure, and the figures are not to
 * be used. */
bool sim_run(const struct sim_spec *spec, struct sim_result *result, struct dme_text *wrong);
/* Do channels keep the order of messages? */
bool sim_is_fifo(const struct sim_spec *spec);
void sim_result_free(struct sim_result *result);

#endif
