/* check_spec.c - see check_spec.h. */
#include "check_spec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_DEFAULTS                                                                                                 \
    {                                                                                                                  \
        .sites = 3, .states = CHECK_STATES_MAX, .overtakes = UINT64_MAX, .lose = UINT64_MAX, .duplicate = UINT64_MAX,  \
        .crash = UINT64_MAX, .requests = "1", .seed = 1, .threads = 1                                                  \
    }

struct check_words check_words = CHECK_DEFAULTS;

static const char *const orders[] = {"needed", "fifo", "any", NULL};
static const char *const formats[] = {"text", "json", NULL};
static const char *const needs[] = {"nothing",   "fifo",  "reliable",  "bounded-delay",
                                    "sequenced", "alive", "detection", NULL};
static const uint32_t need_bits[] = {0,         DME_FIFO,     DME_RELIABLE, DME_BOUNDED_DELAY, DME_SEQUENCED,
                                     DME_ALIVE, DME_DETECTION};

const struct cli_option check_options[] = {
    {.name = "--sites",
     .type = CLI_COUNT,
     .value = &check_words.sites,
     .metavar = "N",
     .help = "how many sites (3)",
     .min = 1,
     .max = CHECK_SITES_RANDOM},
    {.name = "--requests",
     .type = CLI_TEXT,
     .value = &check_words.requests,
     .metavar = "K",
     .help = "how often each site may ask (1); or 2,1,1: each its own number; or unlimited"},
    {.name = "--order",
     .type = CLI_CHOICE,
     .value = &check_words.order,
     .metavar = "ORDER",
     .help = "in which messages arrive",
     .choices = orders},
    {.name = "--rule",
     .type = CLI_TEXT,
     .value = &check_words.rule,
     .metavar = "RULE",
     .help = "exclusive, shared, slots:K or group:M"},
    {.name = "--set",
     .type = CLI_LIST,
     .value = &check_words.sets,
     .metavar = "KEY=VALUE",
     .help = "an option of the algorithm; dibs list ALGORITHM shows them"},
    {.name = "--without",
     .type = CLI_CHOICE,
     .value = &check_words.without,
     .metavar = "NEED",
     .help = "take a promise of the network away and see what breaks",
     .choices = needs},
    {.name = "--lose",
     .type = CLI_COUNT,
     .value = &check_words.lose,
     .metavar = "N",
     .help = "messages that the network may lose (default 0; 1 where it is not reliable)",
     .max = CHECK_MISHAPS},
    {.name = "--duplicate",
     .type = CLI_COUNT,
     .value = &check_words.duplicate,
     .metavar = "N",
     .help = "messages that the network may duplicate (default 0; 1 where it is not reliable)",
     .max = CHECK_MISHAPS},
    {.name = "--crash",
     .type = CLI_COUNT,
     .value = &check_words.crash,
     .metavar = "N",
     .help = "crashes of sites (default 0; 1 with --without alive); with --without detection: false suspicions",
     .max = CHECK_MISHAPS},
    {.name = "--restart",
     .type = CLI_COUNT,
     .value = &check_words.restarts,
     .metavar = "N",
     .help = "crashed sites that may restart without their memory (default 0)",
     .max = CHECK_MISHAPS},
    {.name = "--resume",
     .type = CLI_COUNT,
     .value = &check_words.resumes,
     .metavar = "N",
     .help = "crashed sites that may restart with their memory (default 0)",
     .max = CHECK_MISHAPS},
    {.name = "--cut",
     .type = CLI_COUNT,
     .value = &check_words.cuts,
     .metavar = "N",
     .help = "how often the network may be cut in two (default 0)",
     .max = CHECK_MISHAPS},
    {.name = "--join",
     .type = CLI_COUNT,
     .value = &check_words.joins,
     .metavar = "N",
     .help = "sites that may join, where the algorithm has members (default 0)",
     .max = CHECK_MISHAPS},
    {.name = "--leave",
     .type = CLI_COUNT,
     .value = &check_words.leaves,
     .metavar = "N",
     .help = "sites that may leave, where the algorithm has members (default 0)",
     .max = CHECK_MISHAPS},
    {.name = "--starvation",
     .type = CLI_FLAG,
     .value = &check_words.starvation,
     .help = "look also for a site that can be kept waiting for ever (always with unlimited requests)"},
    {.name = "--overtakes",
     .type = CLI_COUNT,
     .value = &check_words.overtakes,
     .metavar = "K",
     .help = "while a site waits, others may enter at most so often",
     .max = 254},
    {.name = "--messages",
     .type = CLI_FLAG,
     .value = &check_words.messages,
     .help = "find the largest number of messages of any run"},
    {.name = "--concurrency",
     .type = CLI_FLAG,
     .value = &check_words.concurrency,
     .help = "nobody whom the rule would let in may have to wait for an exit"},
    {.name = "--plain",
     .type = CLI_FLAG,
     .value = &check_words.plain,
     .help = "leave out the algorithm's own invariants, which is faster"},
    {.name = "--fingerprints",
     .type = CLI_FLAG,
     .value = &check_words.fingerprints,
     .help = "keep 128 bits of each state: half the memory or less, and a chance of 1e-20 that one is left out"},
    {.name = "--reduce",
     .type = CLI_FLAG,
     .value = &check_words.reduce,
     .help = "leave out interleavings that lead to nothing new; keeps exclusion, deadlocks and faults"},
    {.name = "--random",
     .type = CLI_COUNT,
     .value = &check_words.runs,
     .metavar = "RUNS",
     .help = "check N random interleavings instead of all; for large systems",
     .min = 1,
     .max = 1e12},
    {.name = "--seed",
     .type = CLI_COUNT,
     .value = &check_words.seed,
     .metavar = "S",
     .help = "of the random runs (1)",
     .max = 1e18},
    {.name = "--coverage",
     .type = CLI_FLAG,
     .value = &check_words.coverage,
     .help = "tell also which event happened in which phase of a site, and which never"},
    {.name = "--save",
     .type = CLI_TEXT,
     .value = &check_words.save,
     .metavar = "FILE",
     .help = "write a counterexample as a scenario"},
    {.name = "--svg",
     .type = CLI_TEXT,
     .value = &check_words.svg,
     .metavar = "FILE",
     .help = "draw a counterexample as a space-time diagram"},
    {.name = "--threads",
     .type = CLI_COUNT,
     .value = &check_words.threads,
     .metavar = "T",
     .help = "how many search together (1); pays only where few parts make many states",
     .min = 1,
     .max = 64},
    {.name = "--memory",
     .type = CLI_COUNT,
     .value = &check_words.memory,
     .metavar = "BYTES",
     .help = "give up beyond that, as in 8G (three quarters of the machine's)",
     .min = 1e6,
     .max = 1e15},
    {.name = "--states",
     .type = CLI_COUNT,
     .value = &check_words.states,
     .metavar = "MAX",
     .help = "give up after this number of states",
     .min = 1,
     .max = 4e9},
    {.name = "--format",
     .type = CLI_CHOICE,
     .value = &check_words.format,
     .metavar = "F",
     .help = "how to print",
     .choices = formats},
    {0},
};

/* "2", "2,1,1" or "unlimited": as often may each site ask. */
void check_requests(const char *text, uint32_t n, uint8_t *requests)
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

struct check_task check_task_of(const char *algorithm)
{
    const struct check_words *w = &check_words;
    struct check_task task = {0};

    if (w->sites > CHECK_SITES && !w->runs)
        cli_die("--sites %llu is too many for every interleaving, which takes at most %u; --random RUNS tries some",
                (unsigned long long)w->sites, CHECK_SITES);
    task.conf = cli_conf(algorithm, w->sites, w->rule, &w->sets);
    task.needs = check_needs(task.conf.alg, w->order ? w->order == 1 : task.conf.alg->needs & DME_FIFO);
    task.needs &= ~need_bits[w->without];
    task.lose = check_mishaps(&task, w->lose);
    task.duplicate = check_mishaps(&task, w->duplicate);
    task.crash = w->crash != UINT64_MAX ? (uint8_t)w->crash : need_bits[w->without] == DME_ALIVE;
    task.restart = (uint8_t)w->restarts;
    task.resume = (uint8_t)w->resumes;
    task.cut = (uint8_t)w->cuts;
    task.join = (uint8_t)w->joins;
    task.leave = (uint8_t)w->leaves;
    task.limit = w->states;
    task.threads = (uint32_t)w->threads;
    task.memory = w->memory ? w->memory : (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    check_requests(w->requests, task.conf.n, task.requests);
    task.starvation = w->starvation || memchr(task.requests, CHECK_UNLIMITED, task.conf.n);
    task.plain = w->plain || check_breaks_promise(&task);
    task.concurrency = w->concurrency;
    task.messages = w->messages;
    task.overtaking = w->overtakes != UINT64_MAX;
    task.overtakes = (uint32_t)w->overtakes;
    task.fingerprints = w->fingerprints;
    task.reduce = w->reduce;
    task.plain |= w->reduce;
    if (w->reduce && (w->runs || w->fingerprints || !check_reducible(&task)))
        cli_die(
            "--reduce keeps exclusion, deadlocks and faults only, and only where the network has no bounds, sequence "
            "or mishaps, and not with --random or --fingerprints; leave it out");
    if (w->fingerprints && (w->runs || w->messages || task.starvation))
        cli_die("--fingerprints does not go together with --random, --messages, --starvation and unlimited requests: "
                "these need the states themselves, or none; leave it out");
    if (w->runs && memchr(task.requests, CHECK_UNLIMITED, task.conf.n))
        cli_die("--random and --requests unlimited do not go together: a run must end");
    return task;
}

struct check_task check_parse(const char *line)
{
    static const struct cli_usage usage = {.line = "dibs check", .about = "", .options = check_options};
    char words[512], *argv[64], *save;
    const char *algorithm = NULL;
    int argc = 1;

    check_words = (struct check_words)CHECK_DEFAULTS;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &save); word && argc < 64; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    if (!cli_parse(argc, argv, &usage, &algorithm, 1))
        cli_die("\"%s\" names no algorithm", line);
    return check_task_of(algorithm);
}
