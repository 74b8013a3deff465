/* stats.h - what a member counts. node/metrics.h prints it.
 *
 * Counting costs a few additions for each event and a fixed amount of memory. Times are differences of the times that
 * the driver tells the node, in milliseconds. A duration of less than a millisecond counts as 0. */
#ifndef DIBS_LOCK_STATS_H
#define DIBS_LOCK_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct dme_alg;

enum { STATS_AUDITS = 16 }; /* at least as many as there are sorts of audit records (node/audit.h) */
enum { STATS_BUCKETS = 14, STATS_KINDS_MAX = 32, STATS_ALGS_MAX = 64 };

/* The upper bounds of the buckets, in milliseconds and as text in seconds. */
extern const struct stats_bound {
    uint64_t ms;
    const char *seconds;
} stats_bound[STATS_BUCKETS];

struct stats_times {
    uint64_t bucket[STATS_BUCKETS + 1]; /* the last one: longer than every bound */
    uint64_t sum_ms;
};

/* Messages of an algorithm between members, by kind. */
struct stats_alg {
    const struct dme_alg *alg;
    uint64_t sent[STATS_KINDS_MAX], received[STATS_KINDS_MAX];
};

struct stats_messages {
    struct stats_alg alg[STATS_ALGS_MAX];
    unsigned algs;
};

struct stats {
    uint64_t releases, timeouts, refusals; /* grants and losses are in the node */
    uint64_t waiters, holders;             /* now */
    struct stats_times wait, hold, handover;
    /* Counted by the driver, which owns the disk, the loop, the log and the memory. */
    struct stats_times disk, turn, turn_cpu;
    uint64_t memory, memory_max;   /* bytes in use, and their bound; 0: no bound */
    uint64_t log_dropped;          /* lines */
    uint64_t connections[2];       /* of clients, now: to the Unix socket; over TCP */
    uint64_t cpu_ms;               /* processor time of the process */
    int64_t began_s;               /* when the process began, since 1970; 0: not known */
    int64_t certificate_ends_s;    /* 0: there is none */
    uint64_t audits[STATS_AUDITS]; /* what the audit trail is told, by sort */
};

void stats_add_time(struct stats_times *t, uint64_t ms);
/* The numbers of this algorithm's messages; or null: there are too many algorithms. */
struct stats_alg *stats_of_alg(struct stats_messages *m, const struct dme_alg *alg);

#endif
