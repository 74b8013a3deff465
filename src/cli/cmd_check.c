/* dibs check - every interleaving of a small system; see src/check/check.h. */
#include "check/check.h"
#include "cli.h"
#include "core/text.h"
#include "lab/diagram.h"
#include "lab/moves.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECK_EXIT_UNFINISHED = 3 };

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

static struct moves check_moves(const struct check_task *task, const struct check_result *r)
{
    return (struct moves){.conf = task->conf,
                          .fifo = task->needs & DME_FIFO,
                          .move = r->trace,
                          .count = r->trace_length,
                          .loop = r->verdict == CHECK_STARVATION ? r->loop : r->trace_length};
}

/* The counterexample as a file that "dibs scenario" plays. */
static void check_save(const struct check_task *task, const struct check_result *r, const char *path)
{
    struct moves run = check_moves(task, r);
    char title[256], *scenario;

    snprintf(title, sizeof title, "%s, %u sites: %s, in %u moves.", task->conf.alg->name, task->conf.n,
             check_verdicts[r->verdict], r->trace_length);
    scenario = moves_scenario(&run, title);
    cli_write_file(path, scenario);
    free(scenario);
}

/* And as a picture. */
static void check_draw(const struct check_task *task, const struct check_result *r, const char *path)
{
    struct moves run = check_moves(task, r);
    char *svg = diagram_svg(&run);

    cli_write_file(path, svg);
    free(svg);
}

static void check_print_text(const struct check_task *task, const struct check_result *r)
{
    static const char *const says[] = {
        "holds: no two incompatible holders, and nobody waits with nothing under way",
        "EXCLUSION BROKEN: incompatible holders are inside together",
        "DEADLOCK: nobody is inside, nothing is under way, and somebody waits for ever",
        "ERROR: a site met what the protocol rules out",
        "STARVATION: a site can be kept waiting for ever, though every message arrives and everyone leaves",
        "OVERTAKING: while a site waited, others entered more often than --overtakes allows",
        "INVARIANT BROKEN: what the algorithm says is always so is not",
        "UNFINISHED: there are more states than --states or --memory allows; so far all is well",
    };

    printf("%s, %u sites, %s, %s\n", task->conf.alg->name, task->conf.n, cli_rule_text(&task->conf),
           task->needs & DME_FIFO ? "fifo" : "any order");
    printf("%llu states, %llu transitions, depth %u, %.2f s, %.0f k states/s, %.0f bytes per state\n",
           (unsigned long long)r->states, (unsigned long long)r->transitions, r->depth, r->seconds,
           (double)r->states / r->seconds / 1e3, (double)r->memory / (double)r->states);
    printf("%s%s\n", says[r->verdict],
           task->starvation && r->verdict == CHECK_HOLDS ? "; no site can be kept waiting for ever" : "");
    if (task->overtaking)
        printf("a site that waits is overtaken at most %u times%s\n", r->overtaken,
               r->verdict == CHECK_HOLDS ? "" : ", as far as was looked");
    if (task->messages && r->verdict == CHECK_HOLDS) {
        if (r->messages == UINT64_MAX)
            printf("there are runs without end\n");
        else
            printf("no run sends more than %llu messages, and one sends so many\n", (unsigned long long)r->messages);
    }
    if (r->fault)
        printf("it should be so that %s\n", r->fault);
    if (r->verdict == CHECK_STARVATION)
        printf("it is site %u that waits; a way there and round:\n", r->victim);
    else if (r->trace)
        printf("the shortest way there, in %u moves:\n", r->trace_length);
    if (r->trace) {
        struct moves run = check_moves(task, r);

        moves_print(stdout, &run);
    }
}

static void check_print_json(const struct check_task *task, const struct check_result *r)
{
    struct cli_json j = {.to = stdout};
    struct world *w = world_new(&task->conf);

    json_object(&j);
    json_key(&j, "algorithm"), json_text(&j, task->conf.alg->name);
    json_key(&j, "sites"), json_count(&j, task->conf.n);
    json_key(&j, "rule"), json_text(&j, cli_rule_text(&task->conf));
    json_key(&j, "order"), json_text(&j, task->needs & DME_FIFO ? "fifo" : "any");
    json_key(&j, "verdict"), json_text(&j, check_verdicts[r->verdict]);
    json_key(&j, "states"), json_count(&j, r->states);
    json_key(&j, "transitions"), json_count(&j, r->transitions);
    json_key(&j, "steps"), json_count(&j, r->steps);
    json_key(&j, "depth"), json_count(&j, r->depth);
    json_key(&j, "seconds"), json_real(&j, r->seconds);
    json_key(&j, "memory"), json_count(&j, r->memory);
    json_key(&j, "fault"), json_text(&j, r->fault);
    if (task->overtaking)
        json_key(&j, "overtaken"), json_count(&j, r->overtaken);
    if (task->messages && r->verdict == CHECK_HOLDS && r->messages != UINT64_MAX)
        json_key(&j, "messages_max"), json_count(&j, r->messages);
    if (r->verdict == CHECK_STARVATION) {
        json_key(&j, "victim"), json_count(&j, r->victim);
        json_key(&j, "loop"), json_count(&j, r->loop);
    }
    json_key(&j, "trace"), json_array(&j);
    for (uint32_t k = 0; k < r->trace_length; k++) {
        char move[128];
        struct dme_text text;

        dme_text_init(&text, move, sizeof move);
        world_print_move(w, &r->trace[k], &text);
        json_text(&j, move);
    }
    json_end(&j, ']');
    json_end(&j, '}');
    world_free(w);
}

int cmd_check(int argc, char **argv)
{
    static const char *const orders[] = {"needed", "fifo", "any", NULL};
    static const char *const formats[] = {"text", "json", NULL};
    static uint64_t sites = 3, states = 4000000000u;
    static const char *rule, *requests = "1";
    static const char *const needs[] = {"nothing", "fifo", "bounded-delay", "sequenced", NULL};
    static const uint32_t need_bits[] = {0, DME_FIFO, DME_BOUNDED_DELAY, DME_SEQUENCED};
    static unsigned order, format, without;
    static uint64_t memory, overtakes = UINT64_MAX;
    static bool starvation, messages;
    static const char *save, *svg;
    static struct cli_list sets;
    static const struct cli_option options[] = {
        {.name = "--sites",
         .type = CLI_COUNT,
         .value = &sites,
         .metavar = "N",
         .help = "how many sites (3)",
         .min = 1,
         .max = CHECK_SITES},
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
        .line = "dibs check ALGORITHM [--sites N] [--requests K] [OPTION...]",
        .about =
            "Tries every interleaving of requests, arrivals and exits, and says whether the rule always holds and\n"
            "nobody is stuck; if not, shows a shortest schedule that goes wrong. Exit status 0: holds, 1: violated,\n"
            "2: bad usage, 3: unfinished.",
        .options = options,
    };
    const char *name;
    struct check_task task = {0};
    struct check_result result;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("check needs an algorithm, as in \"dibs check ricart-agrawala\" (dibs list shows all)");
    task.conf = cli_conf(name, sites, rule, &sets);
    task.needs = check_needs(task.conf.alg, order ? order == 1 : task.conf.alg->needs & DME_FIFO);
    task.needs &= ~need_bits[without];
    task.limit = states;
    task.memory = memory ? memory : (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    check_requests(requests, task.conf.n, task.requests);
    task.starvation = starvation || memchr(task.requests, CHECK_UNLIMITED, task.conf.n);
    task.messages = messages;
    task.overtaking = overtakes != UINT64_MAX;
    task.overtakes = (uint32_t)overtakes;
    if (isatty(STDERR_FILENO))
        task.progress = check_progress;
    check_run(&task, &result);
    if (task.progress)
        fprintf(stderr, "\r%60s\r", "");
    if (format == CLI_AS_JSON)
        check_print_json(&task, &result);
    else
        check_print_text(&task, &result);
    if (save && result.trace)
        check_save(&task, &result, save);
    if (svg && result.trace)
        check_draw(&task, &result, svg);
    free(result.trace);
    return result.verdict == CHECK_HOLDS        ? CLI_OK
           : result.verdict == CHECK_UNFINISHED ? CHECK_EXIT_UNFINISHED
                                                : CLI_FAILED;
}
