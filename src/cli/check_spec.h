/* check_spec.h - a task of the checker as the user spells it. */
#ifndef DIBS_CLI_CHECK_SPEC_H
#define DIBS_CLI_CHECK_SPEC_H

#include "check/check.h"
#include "cli.h"

enum { CHECK_STATES_MAX = 4000000000u };

struct check_words {
    uint64_t sites, states, memory, overtakes, lose, duplicate;
    uint64_t quiet;
    uint64_t crash, restarts, resumes, cuts, joins, leaves;
    uint64_t runs, seed, threads;
    const char *rule, *requests, *save, *svg;
    unsigned order, format, without, ignore;
    bool any_sites;
    bool starvation, messages, concurrency, coverage, plain, fingerprints, reduce;
    struct cli_list sets;
};

extern struct check_words check_words; /* the values of the options; the defaults before cli_parse */
extern const struct cli_option check_options[];

/* Parses the number of requests of each site: "2", "2,1,1" (one number for each site) or "unlimited". */
void check_requests(const char *text, uint32_t n, uint8_t *requests);
/* The task of the words, or cli_die. */
struct check_task check_task_of(const char *algorithm);
/* The same from one line, the words after "dibs check". */
struct check_task check_parse(const char *line);

#endif
