/* dibs check - every interleaving of a small system; see src/check/check.h. */
#include "check_all.h"
#include "check_report.h"
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECK_EXIT_UNFINISHED = 3 };
enum { CHECK_STATES_MAX = 4000000000u, CHECK_STATES_ALL = 3000000 };

static void check_progress(uint64_t states, uint64_t waiting, double seconds)
{
    fprintf(stderr, "\r%12llu states, %llu to look at, %.1f s ", (unsigned long long)states,
            (unsigned long long)waiting, seconds);
}

/* "2", "2,1,1" or "unlimited": as often may each site ask. */
static void check_requests(const char *text, uint32_t n, uint8_t *requests)
{
    const char *at = text;

    if (strcmp(text, "unlimited") == 0) {
        memset(requests, CHECK_UNLIMITED, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        char *end;
        unsigned long x = strtoul(at, &end, 10);

        if (*at < '0' || *at > '9' || x > 250)
            cli_die("--requests %s: it takes a number from 0 to 250, one for each site as in 2,1,1, or unlimited",
                    text);
        requests[i] = (uint8_t)x;
        if (i == 0 && !*end) {
            memset(requests, (int)x, n);
            return;
        }
        if (*end != (i + 1 < n ? ',' : 0))
            cli_die("--requests %s: there are %u sites, so it takes %u numbers", text, n, n);
        at = end + 1;
    }
}

/* For tables: one number for all sites, and not too many states. */
static uint8_t check_same(const char *text)
{
    uint8_t requests[2];

    check_requests(text, 2, requests);
    return requests[0];
}

static uint64_t states_all(uint64_t states)
{
    return states < CHECK_STATES_MAX ? states : CHECK_STATES_ALL;
}

/* How often a mishap may happen, if the user has not said: UINT64_MAX. */
static uint8_t check_mishaps(const struct check_task *task, uint64_t said)
{
    return said != UINT64_MAX ? (uint8_t)said : !(task->needs & DME_RELIABLE);
}

/* The algorithm relies on a network without mishaps. Its invariants may then break at once; what comes of it is told. */
static bool check_breaks_promise(const struct check_task *task)
{
    return (task->conf.alg->needs & DME_RELIABLE && (task->lose || task->duplicate)) ||
           (task->conf.alg->needs & DME_ALIVE && check_fails(task)) ||
           (task->conf.alg->needs & ~task->needs & DME_DETECTION);
}

int cmd_check(int argc, char **argv)
{
    static const char *const orders[] = {"needed", "fifo", "any", NULL};
    static const char *const formats[] = {"text", "json", NULL};
    static uint64_t sites = 3, states = CHECK_STATES_MAX;
    static const char *rule, *requests = "1";
    static const char *const needs[] = {"nothing",   "fifo",  "reliable",  "bounded-delay",
                                        "sequenced", "alive", "detection", NULL};
    static const uint32_t need_bits[] = {0,         DME_FIFO,     DME_RELIABLE, DME_BOUNDED_DELAY, DME_SEQUENCED,
                                         DME_ALIVE, DME_DETECTION};
    static unsigned order, format, without;
    static uint64_t memory, overtakes = UINT64_MAX, lose = UINT64_MAX, duplicate = UINT64_MAX;
    static uint64_t crash = UINT64_MAX, restarts, resumes, cuts, joins, leaves;
    static bool starvation, messages, concurrency, coverage, plain, fingerprints, reduce;
    static uint64_t runs, seed = 1, threads = 1;
    static const char *save, *svg;
    static struct cli_list sets;
    static const struct cli_option options[] = {
        {.name = "--sites",
         .type = CLI_COUNT,
         .value = &sites,
         .metavar = "N",
         .help = "how many sites (3)",
         .min = 1,
         .max = CHECK_SITES_RANDOM},
        {.name = "--requests",
         .type = CLI_TEXT,
         .value = &requests,
         .metavar = "K",
         .help = "how often each site may ask (1); or 2,1,1: each its own number; or unlimited"},
        {.name = "--order",
         .type = CLI_CHOICE,
         .value = &order,
         .metavar = "ORDER",
         .help = "in which messages arrive",
         .choices = orders},
        {.name = "--rule",
         .type = CLI_TEXT,
         .value = &rule,
         .metavar = "RULE",
         .help = "exclusive, shared, slots:K or group:M"},
        {.name = "--set",
         .type = CLI_LIST,
         .value = &sets,
         .metavar = "KEY=VALUE",
         .help = "an option of the algorithm; dibs list ALGORITHM shows them"},
        {.name = "--without",
         .type = CLI_CHOICE,
         .value = &without,
         .metavar = "NEED",
         .help = "take a promise of the network away and see what breaks",
         .choices = needs},
        {.name = "--lose",
         .type = CLI_COUNT,
         .value = &lose,
         .metavar = "N",
         .help = "the network may lose so many messages (0; 1 where it is not reliable)",
         .max = CHECK_MISHAPS},
        {.name = "--duplicate",
         .type = CLI_COUNT,
         .value = &duplicate,
         .metavar = "N",
         .help = "and duplicate so many (0; 1 where it is not reliable)",
         .max = CHECK_MISHAPS},
        {.name = "--crash",
         .type = CLI_COUNT,
         .value = &crash,
         .metavar = "N",
         .help = "so many sites may stop (0; 1 without alive), or, without detection, be taken to have stopped",
         .max = CHECK_MISHAPS},
        {.name = "--restart",
         .type = CLI_COUNT,
         .value = &restarts,
         .metavar = "N",
         .help = "so many may begin again, without their memory (0)",
         .max = CHECK_MISHAPS},
        {.name = "--resume",
         .type = CLI_COUNT,
         .value = &resumes,
         .metavar = "N",
         .help = "so many may begin again, with their memory (0)",
         .max = CHECK_MISHAPS},
        {.name = "--cut",
         .type = CLI_COUNT,
         .value = &cuts,
         .metavar = "N",
         .help = "the network may be cut in two so often (0)",
         .max = CHECK_MISHAPS},
        {.name = "--join",
         .type = CLI_COUNT,
         .value = &joins,
         .metavar = "N",
         .help = "where the algorithm knows of members, so many sites may want to join (0)",
         .max = CHECK_MISHAPS},
        {.name = "--leave",
         .type = CLI_COUNT,
         .value = &leaves,
         .metavar = "N",
         .help = "and so many to leave (0)",
         .max = CHECK_MISHAPS},
        {.name = "--starvation",
         .type = CLI_FLAG,
         .value = &starvation,
         .help = "look also for a site that can be kept waiting for ever (always with unlimited requests)"},
        {.name = "--overtakes",
         .type = CLI_COUNT,
         .value = &overtakes,
         .metavar = "K",
         .help = "while a site waits, others may enter at most so often",
         .max = 254},
        {.name = "--messages",
         .type = CLI_FLAG,
         .value = &messages,
         .help = "find the largest number of messages of any run"},
        {.name = "--concurrency",
         .type = CLI_FLAG,
         .value = &concurrency,
         .help = "nobody whom the rule would let in may have to wait for an exit"},
        {.name = "--plain",
         .type = CLI_FLAG,
         .value = &plain,
         .help = "leave out the algorithm's own invariants, which is faster"},
        {.name = "--fingerprints",
         .type = CLI_FLAG,
         .value = &fingerprints,
         .help = "keep 128 bits of each state: half the memory or less, and a chance of 1e-20 that one is left out"},
        {.name = "--reduce",
         .type = CLI_FLAG,
         .value = &reduce,
         .help = "leave out interleavings that lead to nothing new; keeps exclusion, deadlocks and faults"},
        {.name = "--random",
         .type = CLI_COUNT,
         .value = &runs,
         .metavar = "RUNS",
         .help = "instead of every interleaving so many random ones, also for more sites",
         .min = 1,
         .max = 1e12},
        {.name = "--seed",
         .type = CLI_COUNT,
         .value = &seed,
         .metavar = "S",
         .help = "of the random runs (1)",
         .max = 1e18},
        {.name = "--coverage",
         .type = CLI_FLAG,
         .value = &coverage,
         .help = "tell also which event happened in which phase of a site, and which never"},
        {.name = "--save",
         .type = CLI_TEXT,
         .value = &save,
         .metavar = "FILE",
         .help = "write a counterexample as a scenario"},
        {.name = "--svg",
         .type = CLI_TEXT,
         .value = &svg,
         .metavar = "FILE",
         .help = "draw a counterexample as a space-time diagram"},
        {.name = "--threads",
         .type = CLI_COUNT,
         .value = &threads,
         .metavar = "T",
         .help = "how many search together (1); pays only where few parts make many states",
         .min = 1,
         .max = 64},
        {.name = "--memory",
         .type = CLI_COUNT,
         .value = &memory,
         .metavar = "BYTES",
         .help = "give up beyond that, as in 8G (three quarters of the machine's)",
         .min = 1e6,
         .max = 1e15},
        {.name = "--states",
         .type = CLI_COUNT,
         .value = &states,
         .metavar = "MAX",
         .help = "give up after so many",
         .min = 1,
         .max = 4e9},
        {.name = "--format",
         .type = CLI_CHOICE,
         .value = &format,
         .metavar = "F",
         .help = "how to print",
         .choices = formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs check ALGORITHM|all|mistakes [--sites N] [--requests K] [OPTION...]",
        .about =
            "Tries every interleaving of requests, arrivals and exits, and says whether the rule always holds and\n"
            "nobody is stuck; if not, shows a shortest schedule that goes wrong. Exit status 0: holds, 1: violated,\n"
            "2: bad usage, 3: unfinished. \"all\" makes the table of everything that was verified, \"mistakes\" that "
            "of the\n"
            "published mistakes with the smallest system that shows each.",
        .options = options,
    };
    const char *name;
    struct check_task task = {0};
    struct check_result result;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("check needs an algorithm, as in \"dibs check ricart-agrawala\" (dibs list shows all)");
    if (strcmp(name, "all") == 0)
        return check_all((uint32_t)(sites > CHECK_SITES ? CHECK_SITES : sites), check_same(requests),
                         states_all(states));
    if (strcmp(name, "mistakes") == 0)
        return check_all_mistakes(states_all(states));
    if (sites > CHECK_SITES && !runs)
        cli_die("--sites %llu is too many for every interleaving, which takes at most %u; --random RUNS tries some",
                (unsigned long long)sites, CHECK_SITES);
    task.conf = cli_conf(name, sites, rule, &sets);
    task.needs = check_needs(task.conf.alg, order ? order == 1 : task.conf.alg->needs & DME_FIFO);
    task.needs &= ~need_bits[without];
    task.lose = check_mishaps(&task, lose);
    task.duplicate = check_mishaps(&task, duplicate);
    task.crash = crash != UINT64_MAX ? (uint8_t)crash : need_bits[without] == DME_ALIVE;
    task.restart = (uint8_t)restarts;
    task.resume = (uint8_t)resumes;
    task.cut = (uint8_t)cuts;
    task.join = (uint8_t)joins;
    task.leave = (uint8_t)leaves;
    task.limit = states;
    task.threads = (uint32_t)threads;
    task.memory = memory ? memory : (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    check_requests(requests, task.conf.n, task.requests);
    task.starvation = starvation || memchr(task.requests, CHECK_UNLIMITED, task.conf.n);
    task.plain = plain || check_breaks_promise(&task);
    task.concurrency = concurrency;
    task.messages = messages;
    task.overtaking = overtakes != UINT64_MAX;
    task.overtakes = (uint32_t)overtakes;
    if (isatty(STDERR_FILENO))
        task.progress = check_progress;
    task.fingerprints = fingerprints;
    task.reduce = reduce;
    task.plain |= reduce;
    if (reduce && (runs || fingerprints || !check_reducible(&task)))
        cli_die(
            "--reduce keeps exclusion, deadlocks and faults only, and only where the network has no bounds, sequence "
            "or mishaps, and not with --random or --fingerprints; leave it out");
    if (fingerprints && (runs || messages || task.starvation))
        cli_die("--fingerprints does not go together with --random, --messages, --starvation and unlimited requests: "
                "these need the states themselves, or none; leave it out");
    if (runs && memchr(task.requests, CHECK_UNLIMITED, task.conf.n))
        cli_die("--random and --requests unlimited do not go together: a run must end");
    if (runs)
        check_random(&task, runs, seed, &result);
    else
        check_run(&task, &result);
    if (task.progress)
        fprintf(stderr, "\r%60s\r", "");
    if (format == CLI_AS_JSON)
        check_print_json(&task, &result);
    else
        check_print_text(&task, &result);
    if (coverage && !runs && format == CLI_AS_TEXT)
        check_print_coverage(&result);
    if (save && result.trace)
        check_save(&task, &result, save);
    if (svg && result.trace)
        check_draw(&task, &result, svg);
    free(result.trace);
    return result.verdict == CHECK_HOLDS        ? CLI_OK
           : result.verdict == CHECK_UNFINISHED ? CHECK_EXIT_UNFINISHED
                                                : CLI_FAILED;
}
