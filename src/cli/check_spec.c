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

static const char *const ignores[] = {"nothing", "deadlock", NULL};
static const char *const formats[] = {"text", "json", NULL};
static const char *const needs[] = {"nothing",   "fifo",  "reliable",  "bounded-delay",
                                    "sequenced", "alive", "detection", NULL};
static const uint32_t need_bits[] = {0,         DME_FIFO,     DME_RELIABLE, DME_BOUNDED_DELAY, DME_SEQUENCED,
                                     DME_ALIVE, DME_DETECTION};

const struct cli_option check_options[] = {
    {"--sites", CLI_COUNT, &check_words.sites, "N",
     "check a system of N sites (default 3; at most 8, or 64 with --random)", 1, CHECK_SITES_RANDOM, NULL},
    {"--any-sites", CLI_FLAG, &check_words.any_sites, NULL,
     "check mutual exclusion for any number of sites and of requests, where the algorithm allows it: two sites, and "
     "all others as one that may send anything",
     0, 0, NULL},
    {"--requests", CLI_TEXT, &check_words.requests, "K",
     "let each site request the critical section K times (default 1); 2,1,1 gives each site its own number; "
     "\"unlimited\" sets no limit",
     0, 0, NULL},
    {"--order", CLI_CHOICE, &check_words.order, "ORDER",
     "deliver the messages of a channel in this order (default needed: FIFO if the algorithm relies on it, any order "
     "otherwise)",
     0, 0, cli_orders},
    {"--rule", CLI_TEXT, &check_words.rule, "RULE",
     "rule for sharing: exclusive, shared, slots:K or group:M (default: the first that the algorithm "
     "supports)",
     0, 0, NULL},
    {"--set", CLI_LIST, &check_words.sets, "KEY=VALUE",
     "set option KEY of the algorithm (default: as \"dibs list ALGORITHM\" shows); may be repeated", 0, 0, NULL},
    {"--without", CLI_SOME, &check_words.without, "NEED",
     "withdraw a guarantee on which the algorithm relies and search for what goes wrong (default nothing); may be "
     "repeated",
     0, 0, needs},
    {"--lose", CLI_COUNT, &check_words.lose, "N",
     "let the network lose up to N messages in a run (default 0; 1 with --without reliable)", 0, CHECK_MISHAPS, NULL},
    {"--duplicate", CLI_COUNT, &check_words.duplicate, "N",
     "let the network duplicate up to N messages in a run (default 0; 1 with --without reliable)", 0, CHECK_MISHAPS,
     NULL},
    {"--crash", CLI_COUNT, &check_words.crash, "N",
     "allow up to N crashes of sites in a run (default 0; 1 with --without alive); with --without detection, also "
     "false suspicions count",
     0, CHECK_MISHAPS, NULL},
    {"--restart", CLI_COUNT, &check_words.restarts, "N",
     "let crashed sites restart without their memory, up to N times in a run (default 0)", 0, CHECK_MISHAPS, NULL},
    {"--resume", CLI_COUNT, &check_words.resumes, "N",
     "let crashed sites restart with their memory, up to N times in a run (default 0)", 0, CHECK_MISHAPS, NULL},
    {"--cut", CLI_COUNT, &check_words.cuts, "N",
     "let the network be partitioned into two parts up to N times in a run (default 0)", 0, CHECK_MISHAPS, NULL},
    {"--join", CLI_COUNT, &check_words.joins, "N",
     "let sites join up to N times in a run, if the algorithm has members (default 0)", 0, CHECK_MISHAPS, NULL},
    {"--leave", CLI_COUNT, &check_words.leaves, "N",
     "let sites leave up to N times in a run, if the algorithm has members (default 0)", 0, CHECK_MISHAPS, NULL},
    {"--in-flight", CLI_COUNT, &check_words.quiet, "K",
     "let sites make requests only while fewer than K messages are in flight (default: always); bounds the channels "
     "where requests are unlimited",
     1, 1000, NULL},
    {"--starvation", CLI_FLAG, &check_words.starvation, NULL,
     "search also for a site that can wait for ever (always on with unlimited requests)", 0, 0, NULL},
    {"--overtakes", CLI_COUNT, &check_words.overtakes, "K",
     "report a violation if, while a site waits, other sites enter more than K times (default: not checked)", 0, 254,
     NULL},
    {"--messages", CLI_FLAG, &check_words.messages, NULL, "report the largest number of messages that a run can send",
     0, 0, NULL},
    {"--concurrency", CLI_FLAG, &check_words.concurrency, NULL,
     "report a violation if a site that the rule would admit has to wait until another one leaves", 0, 0, NULL},
    {"--ignore", CLI_CHOICE, &check_words.ignore, "WHAT",
     "do not report this and search on: nothing or deadlock (default nothing), for systems in which a deadlock is "
     "expected",
     0, 0, ignores},
    {"--plain", CLI_FLAG, &check_words.plain, NULL, "do not check the algorithm's own invariants, which is faster", 0,
     0, NULL},
    {"--fingerprints", CLI_FLAG, &check_words.fingerprints, NULL,
     "store 128 bits of each state instead of the state: half the memory or less, with a probability of about 1e-20 "
     "that a state is missed",
     0, 0, NULL},
    {"--reduce", CLI_FLAG, &check_words.reduce, NULL,
     "leave out interleavings that lead to no new outcome; checks exclusion, deadlock and faults only", 0, 0, NULL},
    {"--random", CLI_COUNT, &check_words.runs, "RUNS",
     "try RUNS random interleavings instead of all, for systems that are too large (default: all)", 1, 1e12, NULL},
    {"--seed", CLI_COUNT, &check_words.seed, "S", "draw random numbers from seed S (default 1)", 0, 1e19, NULL},
    {"--coverage", CLI_FLAG, &check_words.coverage, NULL,
     "report also how often each event happened in each phase of a site", 0, 0, NULL},
    {"--save", CLI_TEXT, &check_words.save, "FILE",
     "write the counterexample into FILE as a scenario; - is standard output (default: do not)", 0, 0, NULL},
    {"--svg", CLI_TEXT, &check_words.svg, "FILE",
     "draw the counterexample into FILE as a space-time diagram, as SVG, or PDF or PNG if the name ends so; - is "
     "standard output (default: do not)",
     0, 0, NULL},
    {"--threads", CLI_COUNT, &check_words.threads, "T",
     "search with T threads (default 1); more are faster only if few states of sites combine into many states", 1, 64,
     NULL},
    {"--memory", CLI_COUNT, &check_words.memory, "BYTES",
     "stop the search when it uses BYTES of memory, as in 8G (default: three quarters of the machine's memory)", 1e6,
     1e15, NULL},
    {"--states", CLI_COUNT, &check_words.states, "N",
     "stop the search after N states (default 4G; 3M with \"all\" and \"mistakes\")", 1, 4e9, NULL},
    {"--format", CLI_CHOICE, &check_words.format, "F", "print in format F (default text)", 0, 0, formats},
    {0},
};

/* "2", "2,1,1" or "unlimited": how many times each site may request the critical section. */
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

/* The limit of a mishap; UINT64_MAX if the user has given none. */
static uint8_t check_mishaps(const struct check_task *task, uint64_t said)
{
    return said != UINT64_MAX ? (uint8_t)said : !(task->needs & DME_RELIABLE);
}

/* Does the task break a promise on which the algorithm relies? Its invariants may then fail at once, so they are not
 * checked: the report is about the consequences. */
static bool check_breaks_promise(const struct check_task *task)
{
    return (task->conf.alg->needs & DME_RELIABLE && (task->lose || task->duplicate)) ||
           (task->conf.alg->needs & DME_ALIVE && check_fails(task)) ||
           (task->conf.alg->needs & ~task->needs & DME_DETECTION);
}

/* The guarantees that are withdrawn. */
static uint32_t check_withdrawn(void)
{
    uint32_t bits = 0;

    for (unsigned k = 0; k < sizeof need_bits / sizeof need_bits[0]; k++)
        bits |= check_words.without >> k & 1 ? need_bits[k] : 0;
    return bits;
}

/* A check of something that cannot happen would hold for any algorithm: it is refused, with the reason. */
static void check_refuse_empty(const struct check_task *task)
{
    const struct dme_alg *alg = task->conf.alg;
    uint32_t n = task->conf.n, strange;
    bool asks = false;

    for (uint32_t i = 0; i < n; i++)
        asks |= task->requests[i];
    if (!asks)
        cli_die("--requests %s: no site requests the critical section, so nothing would be checked",
                check_words.requests);
    strange = check_withdrawn() & ~alg->needs & (DME_FIFO | DME_BOUNDED_DELAY | DME_SEQUENCED | DME_DETECTION);
    for (unsigned k = 0; k < sizeof need_bits / sizeof need_bits[0]; k++)
        if (strange & need_bits[k])
            cli_die("--without %s: %s does not rely on that (\"dibs list %s\" shows its needs)", needs[k], alg->name,
                    alg->name);
    if ((task->join && !alg->join) || (task->leave && !alg->leave))
        cli_die("--%s: %s has no members that join or leave; leave the option out", task->join ? "join" : "leave",
                alg->name);
    if (n == 1 && (task->cut || (check_words.lose != UINT64_MAX && task->lose) ||
                   (check_words.duplicate != UINT64_MAX && task->duplicate)))
        cli_die("--lose, --duplicate and --cut: one site has no network; take more --sites");
    if (task->crash > n + task->restart + task->resume)
        cli_die("--crash %u: %u sites cannot crash that often without --restart or --resume", task->crash, n);
    if (task->restart > task->crash || task->resume > task->crash)
        cli_die("--%s %u: sites come back only after a crash; give --crash the same number at least",
                task->restart > task->crash ? "restart" : "resume",
                task->restart > task->crash ? task->restart : task->resume);
    if (task->concurrency &&
        (task->conf.rule == DME_EXCLUSIVE || (task->conf.rule == DME_SLOTS && task->conf.limit < 2)))
        cli_die("--concurrency: the rule %s never admits two sites together; choose another --rule",
                cli_rule_text(&task->conf));
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
    task.needs &= ~check_withdrawn();
    task.lose = check_mishaps(&task, w->lose);
    task.duplicate = check_mishaps(&task, w->duplicate);
    task.crash = w->crash != UINT64_MAX ? (uint8_t)w->crash : (check_withdrawn() & DME_ALIVE) != 0;
    task.restart = (uint8_t)w->restarts;
    task.resume = (uint8_t)w->resumes;
    task.cut = (uint8_t)w->cuts;
    task.join = (uint8_t)w->joins;
    task.leave = (uint8_t)w->leaves;
    task.quiet = (uint32_t)w->quiet;
    task.limit = w->states;
    task.threads = (uint32_t)w->threads;
    task.memory = w->memory ? w->memory : (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    check_requests(w->requests, task.conf.n, task.requests);
    task.canonical = memchr(task.requests, CHECK_UNLIMITED, task.conf.n) && check_may_be_canonical(&task);
    task.starvation = w->starvation || memchr(task.requests, CHECK_UNLIMITED, task.conf.n);
    task.plain = w->plain || check_breaks_promise(&task);
    task.concurrency = w->concurrency;
    task.deadlocks_too = w->ignore;
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
    if (w->runs && (w->starvation || w->messages || w->concurrency || task.overtaking))
        cli_die(
            "--random does not look for what --starvation, --messages, --concurrency and --overtakes ask for; leave "
            "them out");
    if (w->any_sites && (w->runs || w->starvation || w->messages || w->concurrency || task.overtaking ||
                         task.deadlocks_too || task.quiet || w->reduce || w->fingerprints || w->coverage))
        cli_die("--any-sites shows mutual exclusion only, by two sites and the others: leave out --starvation, "
                "--overtakes, --concurrency, --messages, --coverage, --ignore, --in-flight, --random, --reduce and "
                "--fingerprints");
    check_refuse_empty(&task);
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
