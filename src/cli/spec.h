/* spec.h - a simulation as the user spells it: the options that sim, sweep and trace share. */
#ifndef DIBS_CLI_SPEC_H
#define DIBS_CLI_SPEC_H

#include "cli.h"
#include "sim/sim.h"

struct spec_words {
    uint64_t sites, requesters, entries, warmup, seed;
    double rate, zipf, bound, readers, popularity;
    bool closed;
    const char *precision, *rates, *hot, *burst, *think, *script, *delay, *hold, *rule;
    unsigned order;
    struct cli_list sets;
    const char *faults, *absence;
    double crash_rate, cut_rate, leave_rate, gap, detect;
    bool with_memory;
};

#define SPEC_WARMUP_TENTH UINT64_MAX

#define SPEC_DEFAULTS                                                                                                  \
    {                                                                                                                  \
        .sites = 10, .entries = 100000, .warmup = SPEC_WARMUP_TENTH, .seed = 1, .readers = 0.8, .delay = "const:1",    \
        .hold = "0.1"                                                                                                  \
    }

/* Rows of a table of options, for a static struct spec_words w. */
/* clang-format off */
#define SPEC_OPTIONS_WHERE(w) \
    {"--sites", CLI_COUNT, &(w).sites, "N", "simulate N sites (default 10)", 1, DME_SITES_MAX, NULL}, \
    {"--rate", CLI_REAL, &(w).rate, "R", \
     "open load: each site makes R requests per unit of time on average, as a Poisson process (no default)", 1e-12, 1e12, NULL}, \
    {"--seed", CLI_COUNT, &(w).seed, "S", "draw random numbers from seed S (default 1)", 0, 1e19, NULL}
#define SPEC_OPTION_RATES(w) \
    {"--rates", CLI_TEXT, &(w).rates, "FILE", \
     "open load: read the rate of each site from FILE, one number for each site (no default)", 0, 0, NULL}
#define SPEC_OPTION_SCRIPT(w) \
    {"--script", CLI_TEXT, &(w).script, "FILE", \
     "scripted load: read the requests from FILE, one in a line: TIME SITE [MODE] (no default)", 0, 0, NULL}
#define SPEC_OPTIONS_REQUESTERS(w) \
    {"--requesters", CLI_COUNT, &(w).requesters, "R", \
     "closed load: only the first R sites make requests (default: all sites)", 1, DME_SITES_MAX, NULL}
#define SPEC_OPTIONS_LOAD(w) \
    {"--closed", CLI_FLAG, &(w).closed, NULL, \
     "closed load: each site makes its next request after it has left the critical section", 0, 0, NULL}, \
    {"--think", CLI_TEXT, &(w).think, "S", \
     "closed load: time from leaving to the next request, a distribution as for --delay (default 0)", 0, 0, NULL}, \
    {"--zipf", CLI_REAL, &(w).zipf, "S", \
     "open load: site k makes requests in proportion to 1/(k+1)^S (default 0: all sites alike)", 0, 10, NULL}, \
    {"--hot", CLI_TEXT, &(w).hot, "P,H", \
     "open load: a share P of all requests, from 0 to 1, comes from the first H sites (default: all sites alike)", \
     0, 0, NULL}, \
    {"--burst", CLI_TEXT, &(w).burst, "F,L", \
     "open load: bursts at F times the rate, for L units of time on average, with silence between them; the mean rate " \
     "stays the same (default: no bursts)", 0, 0, NULL}
#define SPEC_OPTIONS(w) \
    {"--delay", CLI_TEXT, &(w).delay, "D", \
     "time that a message takes, in units of time: const:D, uniform:A,B, exp:MEAN, lognormal:MEAN,SIGMA or matrix:FILE " \
     "(default const:1)", 0, 0, NULL}, \
    {"--order", CLI_CHOICE, &(w).order, "ORDER", \
     "deliver the messages of a channel in this order (default needed: FIFO if the algorithm relies on it, any order " \
     "otherwise)", 0, 0, cli_orders}, \
    {"--bound", CLI_REAL, &(w).bound, "T", \
     "upper bound on message delays, in which the algorithm's timers count (default: the largest delay)", \
     1e-12, 1e12, NULL}, \
    {"--hold", CLI_TEXT, &(w).hold, "E", \
     "time that a site spends in the critical section, a distribution as for --delay (default 0.1)", 0, 0, NULL}, \
    {"--entries", CLI_COUNT, &(w).entries, "K", \
     "measure K entries into the critical section (default 100k)", 1, 1e15, NULL}, \
    {"--precision", CLI_TEXT, &(w).precision, "P", \
     "repeat the run with twice the entries until the intervals of messages and waiting time are at most P of the " \
     "mean, as in 1% (default: one run)", 0, 0, NULL}, \
    {"--warmup", CLI_COUNT, &(w).warmup, "K", \
     "do not measure the first K entries, nor those until the system is next at rest or all sites that wait have been " \
     "served (default: a tenth of --entries)", \
     0, 1e15, NULL}, \
    {"--rule", CLI_TEXT, &(w).rule, "RULE", \
     "rule for sharing: exclusive, shared, slots:K or group:M (default: the first that the algorithm supports)", \
     0, 0, NULL}, \
    {"--readers", CLI_REAL, &(w).readers, "P", \
     "rule shared: share of the requests that are for reading, from 0 to 1 (default 0.8)", 0, 1, NULL}, \
    {"--popularity", CLI_REAL, &(w).popularity, "S", \
     "rule group: group k is requested in proportion to 1/k^S (default 0: all groups alike)", 0, 10, NULL}, \
    {"--set", CLI_LIST, &(w).sets, "KEY=VALUE", \
     "set option KEY of the algorithm (default: as \"dibs list ALGORITHM\" shows); may be repeated", 0, 0, NULL}

#define SPEC_OPTIONS_FAULTS(w) \
    {"--faults", CLI_TEXT, &(w).faults, "FILE", \
     "read failures from FILE, one in a line: TIME crash|restart|resume|join|leave SITE, TIME cut SITE..., TIME heal " \
     "(default: none)", 0, 0, NULL}, \
    {"--crash-rate", CLI_REAL, &(w).crash_rate, "R", \
     "crashes in the whole system per unit of time, on average and never two failures at once (default 0)", \
     1e-12, 1e12, NULL}, \
    {"--cut-rate", CLI_REAL, &(w).cut_rate, "R", \
     "partitions of the network into two parts per unit of time, likewise (default 0)", 1e-12, 1e12, NULL}, \
    {"--leave-rate", CLI_REAL, &(w).leave_rate, "R", \
     "members that leave, and join again, per unit of time, likewise (default 0)", 1e-12, 1e12, NULL}, \
    {"--absence", CLI_TEXT, &(w).absence, "D", \
     "duration of a crash, partition or absence, a distribution as for --delay (default const:50)", 0, 0, NULL}, \
    {"--gap", CLI_REAL, &(w).gap, "D", \
     "least time between the end of a failure and the next failure (default: 50 times --bound)", 1e-12, 1e12, NULL}, \
    {"--with-memory", CLI_FLAG, &(w).with_memory, NULL, \
     "crashed sites restart with their memory (default: without it)", 0, 0, NULL}, \
    {"--detect", CLI_REAL, &(w).detect, "D", \
     "time from a failure until it is reported to the other sites (default: --bound)", 1e-12, 1e12, NULL}
/* clang-format on */

/* The specification, or cli_die. */
struct sim_spec spec_of(const char *algorithm, const struct spec_words *words);
/* The same from the words of "dibs sim", of which argv[0] is "sim"; and from one line, the words after "dibs sim". */
struct sim_spec spec_parse_words(int argc, char **argv);
struct sim_spec spec_parse(const char *line);
/* The options that these understand; ends with a null name. */
const struct cli_option *spec_options(void);

/* Everything that determines the result of a run, one value each, in the order of the table that dibs sweep makes. Print
 * writes nothing where the value does not apply. */
struct spec_column {
    const char *name;
    bool number;
    void (*print)(const struct sim_spec *spec, struct dme_text *text);
};
extern const struct spec_column spec_columns[]; /* ends with a null name */
void spec_free(struct sim_spec *spec);

#endif
