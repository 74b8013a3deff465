/* cmd_sim.c - dibs sim: run an algorithm in simulated time and tell what it cost. */
#include "cli.h"
#include "core/text.h"
#include "report.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

struct sim_words {
    uint64_t sites, entries, warmup, seed;
    double rate, bound, readers;
    bool closed;
    const char *think, *script, *delay, *hold, *rule, *log;
    unsigned order, format;
    struct cli_list sets;
};

static const char *const sim_orders[] = {"fifo", "any", NULL};
enum { SIM_WORDS_NONE = 99 }; /* an option that was not given */

/* "dibs: --delay ...: what is wrong", unless all is fine. */
static void sim_insist(bool fine, const char *option, const char *wrong)
{
    if (!fine)
        cli_die("%s: %s", option, wrong);
}

static void sim_spec_load(struct sim_spec *spec, const struct sim_words *w)
{
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if ((w->rate > 0) + w->closed + (w->script != NULL) != 1)
        cli_die("what is the load? One of --rate R, --closed and --script FILE");
    if (w->think && !w->closed)
        cli_die("--think goes with --closed");
    spec->load.readers = w->readers;
    if (w->rate > 0) {
        spec->load.type = LOAD_OPEN;
        spec->load.rate = w->rate;
    } else if (w->closed) {
        spec->load.type = LOAD_CLOSED;
        sim_insist(dist_parse(&spec->load.think, w->think ? w->think : "0", &wrong), "--think", line);
    } else {
        spec->load.type = LOAD_SCRIPT;
        sim_insist(load_read_script(&spec->load, w->script, &spec->conf, &wrong), "--script", line);
        if (w->warmup && w->warmup != UINT64_MAX)
            cli_die("--warmup does not go with --script: all of a script is measured");
        spec->entries = spec->load.lines;
        spec->warmup = 0;
    }
}

static struct sim_spec sim_spec_of(const char *algorithm, const struct sim_words *w)
{
    struct sim_spec spec = {.conf = cli_conf(algorithm, w->sites, w->rule, &w->sets)};
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    spec.entries = w->entries;
    spec.warmup = w->warmup == UINT64_MAX ? w->entries / 10 : w->warmup;
    spec.seed = w->seed;
    spec.bound = w->bound;
    spec.order = w->order == SIM_WORDS_NONE ? SIM_AS_NEEDED : w->order == 0 ? SIM_FIFO : SIM_ANY;
    sim_insist(delay_parse(&spec.delay, w->delay, spec.conf.n, &wrong), "--delay", line);
    sim_insist(dist_parse(&spec.hold, w->hold, &wrong), "--hold", line);
    sim_spec_load(&spec, w);
    if (w->log && strcmp(w->log, "entries") != 0)
        cli_die("--log %s: it takes \"entries\"", w->log);
    spec.log_entries = w->log != NULL;
    return spec;
}

int cmd_sim(int argc, char **argv)
{
    static struct sim_words w = {.sites = 10,
                                 .entries = 100000,
                                 .warmup = UINT64_MAX,
                                 .seed = 1,
                                 .readers = 0.8,
                                 .delay = "const:1",
                                 .hold = "0.1",
                                 .order = SIM_WORDS_NONE};
    static const struct cli_option options[] = {
        {"--sites", CLI_COUNT, &w.sites, "N", "number of sites (10)", 1, DME_SITES_MAX, NULL},
        {"--rate", CLI_REAL, &w.rate, "R", "open load: Poisson demands of each site per time", 1e-12, 1e12, NULL},
        {"--closed", CLI_FLAG, &w.closed, NULL, "closed load: each site asks again after leaving", 0, 0, NULL},
        {"--think", CLI_TEXT, &w.think, "S", "closed load: time between leaving and asking (0)", 0, 0, NULL},
        {"--script", CLI_TEXT, &w.script, "FILE", "load from a file of lines TIME SITE [MODE]", 0, 0, NULL},
        {"--delay", CLI_TEXT, &w.delay, "D",
         "of a message: const:D, uniform:A,B, exp:MEAN, lognormal:MEAN,SIGMA, matrix:FILE (const:1)", 0, 0, NULL},
        {"--order", CLI_CHOICE, &w.order, "O", "of messages between two sites (fifo where it is needed, else any)", 0,
         0, sim_orders},
        {"--bound", CLI_REAL, &w.bound, "T", "bound on delays that timers count in (the largest delay)", 1e-12, 1e12,
         NULL},
        {"--hold", CLI_TEXT, &w.hold, "E", "time inside, as for --delay (0.1)", 0, 0, NULL},
        {"--entries", CLI_COUNT, &w.entries, "K", "entries to measure (100k)", 1, 1e15, NULL},
        {"--warmup", CLI_COUNT, &w.warmup, "K", "entries before that, and on to a moment of rest (a tenth)", 0, 1e15,
         NULL},
        {"--seed", CLI_COUNT, &w.seed, "S", "of the random numbers (1)", 0, 1e19, NULL},
        {"--rule", CLI_TEXT, &w.rule, "RULE", "exclusive, shared, slots:K or group:M", 0, 0, NULL},
        {"--readers", CLI_REAL, &w.readers, "P", "rule shared: share of demands that read (0.8)", 0, 1, NULL},
        {"--set", CLI_LIST, &w.sets, "KEY=VALUE", "an option of the algorithm; dibs list ALGORITHM shows them", 0, 0,
         NULL},
        {"--log", CLI_TEXT, &w.log, "entries", "tell time, site and mode of every entry", 0, 0, NULL},
        {"--format", CLI_CHOICE, &w.format, "F", "how to print", 0, 0, cli_formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs sim ALGORITHM --sites N (--rate R | --closed | --script FILE) [OPTION...]",
        .about = "Runs an algorithm in simulated time and tells messages per entry, waiting times and more, with 95%\n"
                 "confidence intervals. The rules are checked after every step; status 1 if one is broken.",
        .options = options,
    };
    const char *algorithm = NULL;
    struct sim_spec spec;
    struct sim_result result;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (!cli_parse(argc, argv, &usage, &algorithm, 1))
        cli_die("which algorithm? (usage: %s)", usage.line);
    spec = sim_spec_of(algorithm, &w);
    if (!sim_run(&spec, &result, &wrong))
        cli_die("%s", line);
    if (result.failure[0])
        fprintf(stderr, "dibs: %s\n", result.failure);
    else
        report_print(stdout, (enum cli_format)w.format, &spec, &result);
    sim_result_free(&result);
    load_spec_free(&spec.load);
    delay_free(&spec.delay);
    return result.failure[0] ? CLI_FAILED : CLI_OK;
}
