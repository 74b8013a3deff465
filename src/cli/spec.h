/* spec.h - a simulation as the user spells it: the options that sim, sweep and trace share. */
#ifndef DIBS_CLI_SPEC_H
#define DIBS_CLI_SPEC_H

#include "cli.h"
#include "sim/sim.h"

struct spec_words {
    uint64_t sites, requesters, entries, warmup, seed;
    double rate, zipf, bound, readers, popularity;
    bool closed;
    const char *rates, *hot, *burst, *think, *script, *delay, *hold, *rule;
    unsigned order;
    struct cli_list sets;
    const char *faults, *absence;
    double crash_rate, cut_rate, leave_rate, calm, detect;
    bool resume;
};

enum { SPEC_NOT_GIVEN = 99 };
#define SPEC_WARMUP_TENTH UINT64_MAX

#define SPEC_DEFAULTS                                                                                                  \
    {                                                                                                                  \
        .sites = 10, .entries = 100000, .warmup = SPEC_WARMUP_TENTH, .seed = 1, .readers = 0.8, .delay = "const:1",    \
        .hold = "0.1", .order = SPEC_NOT_GIVEN                                                                         \
    }

extern const char *const spec_orders[];

/* Rows of a table of options, for a static struct spec_words w. */
#define SPEC_OPTIONS_WHERE(w)                                                                                          \
    {"--sites", CLI_COUNT, &(w).sites, "N", "number of sites (10)", 1, DME_SITES_MAX, NULL},                           \
        {"--rate", CLI_REAL, &(w).rate, "R", "open load: Poisson demands of each site per time", 1e-12, 1e12, NULL},   \
    {                                                                                                                  \
        "--seed", CLI_COUNT, &(w).seed, "S", "of the random numbers (1)", 0, 1e19, NULL                                \
    }
#define SPEC_OPTIONS_LOAD(w)                                                                                           \
    {"--closed", CLI_FLAG, &(w).closed, NULL, "closed load: each site asks again after leaving", 0, 0, NULL},          \
        {"--think", CLI_TEXT, &(w).think, "S", "closed load: time between leaving and asking, as for --delay (0)",     \
         0,         0,        NULL},                                                                                   \
        {"--requesters", CLI_COUNT, &(w).requesters, "R", "closed load: only the first R sites ask (all)", 1,          \
         DME_SITES_MAX,  NULL},                                                                                        \
        {"--zipf", CLI_REAL, &(w).zipf, "S", "open load: site k asks in proportion to 1/(k+1)^S", 0, 10, NULL},        \
        {"--hot", CLI_TEXT, &(w).hot, "P,H", "open load: a share P of demands comes from the first H sites",           \
         0,       0,        NULL},                                                                                     \
    {                                                                                                                  \
        "--burst", CLI_TEXT, &(w).burst, "F,L",                                                                        \
            "open load: bursts of mean length L, F times as fast, with silence between", 0, 0, NULL                    \
    }
#define SPEC_OPTIONS(w)                                                                                                \
    {"--delay",                                                                                                        \
     CLI_TEXT,                                                                                                         \
     &(w).delay,                                                                                                       \
     "D",                                                                                                              \
     "of a message: const:D, uniform:A,B, exp:MEAN, lognormal:MEAN,SIGMA, matrix:FILE (const:1)",                      \
     0,                                                                                                                \
     0,                                                                                                                \
     NULL},                                                                                                            \
        {"--order", CLI_CHOICE, &(w).order, "O", "of messages between two sites (fifo where it is needed, else any)",  \
         0,         0,          spec_orders},                                                                          \
        {"--bound", CLI_REAL, &(w).bound, "T", "bound on delays that timers count in (the largest delay)",             \
         1e-12,     1e12,     NULL},                                                                                   \
        {"--hold", CLI_TEXT, &(w).hold, "E", "time inside, as for --delay (0.1)", 0, 0, NULL},                         \
        {"--entries", CLI_COUNT, &(w).entries, "K", "entries to measure (100k)", 1, 1e15, NULL},                       \
        {"--warmup", CLI_COUNT, &(w).warmup, "K", "entries before that, and on to a moment of rest (a tenth)",         \
         0,          1e15,      NULL},                                                                                 \
        {"--rule", CLI_TEXT, &(w).rule, "RULE", "exclusive, shared, slots:K or group:M", 0, 0, NULL},                  \
        {"--readers", CLI_REAL, &(w).readers, "P", "rule shared: share of demands that read (0.8)", 0, 1, NULL},       \
        {"--popularity",                                                                                               \
         CLI_REAL,                                                                                                     \
         &(w).popularity,                                                                                              \
         "S",                                                                                                          \
         "rule group: group k is asked for in proportion to 1/k^S (0)",                                                \
         0,                                                                                                            \
         10,                                                                                                           \
         NULL},                                                                                                        \
    {                                                                                                                  \
        "--set", CLI_LIST, &(w).sets, "KEY=VALUE", "an option of the algorithm; dibs list ALGORITHM shows them", 0, 0, \
            NULL                                                                                                       \
    }

#define SPEC_OPTIONS_FAULTS(w)                                                                                          \
    {                                                                                                                   \
        "--faults", CLI_TEXT, &(w).faults, "FILE", "failures from a file of lines TIME crash|restart|.. SITE",          \
        0,          0,        NULL},                                                                                    \
        {"--crash-rate", CLI_REAL, &(w).crash_rate, "R", "crashes per time, of the whole system, one at a time", 1e-12, \
         1e12,           NULL},                                                                                         \
        {"--cut-rate", CLI_REAL, &(w).cut_rate, "R", "cuts of the network in two, likewise", 1e-12, 1e12, NULL},        \
        {"--leave-rate", CLI_REAL, &(w).leave_rate, "R", "members that leave, and join again, likewise", 1e-12,         \
         1e12,           NULL},                                                                                         \
        {"--absence", CLI_TEXT, &(w).absence, "D", "how long a crash, cut or leave lasts, as for --delay (const:50)",   \
         0,           0,        NULL},                                                                                  \
        {"--calm", CLI_REAL, &(w).calm, "D", "time to recover before the next failure, at least (50 T)",                \
         1e-12,    1e12,     NULL},                                                                                     \
        {"--resume", CLI_FLAG, &(w).resume, NULL, "sites come back with their memory", 0, 0, NULL},                     \
    {                                                                                                                   \
        "--detect", CLI_REAL, &(w).detect, "D", "time until a failure is reported (the bound T)", 1e-12, 1e12, NULL     \
    }

/* The specification, or cli_die. */
struct sim_spec spec_of(const char *algorithm, const struct spec_words *words);
/* The same from a line, as it stands behind "dibs sim". */
struct sim_spec spec_parse(const char *line);
void spec_free(struct sim_spec *spec);

#endif
