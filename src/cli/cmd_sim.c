/* cmd_sim.c - dibs sim: run an algorithm in simulated time and tell what it cost. */
#include "cli.h"
#include "lab/diagram.h"
#include "progress.h"
#include "report.h"
#include "sim/log.h"
#include "sim/record.h"
#include "spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A run that failed is written to a log if it has at most this number of steps. */
enum { SIM_FAILURE_STEPS = 1000000 };

/* Runs the simulation, and writes a log of all steps to the file `path` unless it is null. */
static struct sim_result sim_run_logged(struct sim_spec spec, const char *path)
{
    struct sim_log log;
    struct sim_result result;
    char line[512];
    struct dme_text wrong;
    FILE *file = NULL;

    dme_text_init(&wrong, line, sizeof line);
    if (!sim_can_run(&spec, &wrong))
        cli_die("%s", line);
    if (path) {
        file = fopen(path, "w");
        if (!file)
            cli_die("--log %s: %s", path, strerror(errno));
        sim_log_begin(&log, file, &spec);
        spec.observe = sim_log_observe;
        spec.user = &log;
    }
    progress_begin("entries", spec.warmup + spec.entries);
    spec.progress = progress_set;
    if (!sim_run(&spec, &result, &wrong)) {
        progress_end();
        cli_die("%s", line);
    }
    progress_end();
    if (file) {
        sim_log_end(&log);
        if (fclose(file) != 0)
            cli_die("--log %s: %s", path, strerror(errno));
    }
    return result;
}

/* The same run once more, as a scenario and as a picture. */
static void sim_draw(struct sim_spec spec, const char *save, const char *svg)
{
    struct record record;
    struct sim_result result;
    struct moves run;
    char line[512], *text;
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    spec.observe = record_observe;
    spec.user = &record;
    record_begin(&record, &spec.conf);
    sim_run(&spec, &result, &wrong);
    if (record.full)
        cli_die("%s: a run of more than %d steps; take fewer --entries", save ? "--save" : "--svg", RECORD_MOVES_MAX);
    run = record_moves(&record, spec.order == SIM_FIFO);
    if (save) {
        snprintf(line, sizeof line, "Simulated with seed %" PRIu64 ".", spec.seed);
        text = moves_scenario(&run, line);
        cli_write_file(save, text);
        free(text);
    }
    if (svg) {
        text = diagram_make(diagram_svg, &run);
        cli_write_picture(svg, text, cli_picture_format(svg));
        free(text);
    }
    sim_result_free(&result);
    record_end(&record);
}

/* A property was violated. The run is repeated from its seed to write a log of it. */
static void sim_tell_failure(const struct sim_spec *spec, const struct sim_result *result, const char *log)
{
    char path[128];

    fprintf(stderr, "dibs: %s\n", result->failure);
    snprintf(path, sizeof path, "dibs-%s-seed-%" PRIu64 ".jsonl", spec->conf.alg->name, spec->seed);
    if (!log && result->steps <= SIM_FAILURE_STEPS) {
        struct sim_spec again = *spec;
        struct sim_result same;

        again.precision = 0;
        again.entries = result->asked;
        again.warmup = result->asked_warmup;
        same = sim_run_logged(again, path);
        sim_result_free(&same);
        log = path;
    }
    if (log)
        fprintf(stderr, "dibs: every step of the run is in %s\n", log);
}

int cmd_sim(int argc, char **argv)
{
    static struct spec_words w = SPEC_DEFAULTS;
    static const char *log, *save, *svg;
    static unsigned format;
    static const struct cli_option options[] = {
        SPEC_OPTIONS_WHERE(w),
        SPEC_OPTION_RATES(w),
        SPEC_OPTIONS_LOAD(w),
        SPEC_OPTIONS_REQUESTERS(w),
        SPEC_OPTION_SCRIPT(w),
        SPEC_OPTIONS(w),
        SPEC_OPTIONS_FAULTS(w),
        {"--log", CLI_TEXT, &log, "FILE",
         "write every step into FILE as JSON lines; the word \"entries\" prints every entry instead (default: neither)",
         0, 0, NULL},
        {"--save", CLI_TEXT, &save, "FILE",
         "write a short run into FILE as a scenario, which dibs trace draws; - is standard output (default: do not)", 0,
         0, NULL},
        {"--svg", CLI_TEXT, &svg, "FILE",
         "draw a short run into FILE as a space-time diagram, as SVG, or PDF or PNG if the name ends so; - is standard "
         "output (default: do not)",
         0, 0, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, cli_formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs sim ALGORITHM --sites N (--rate R | --closed | --script FILE) [OPTION...]",
        .about = "Runs an algorithm in simulated time and reports messages per entry, waiting times and more, with 95% "
                 "confidence intervals. Mutual exclusion and progress are checked after every step.\n"
                 "\n"
                 "The unit of time is yours to choose: all rates, delays and times are in it. One of --rate, --rates, "
                 "--closed and --script describes the load.\n"
                 "\n"
                 "Exit status: 0 success, 1 a property was violated, 2 the command line is wrong.",
        .options = options,
        .examples = {{"Measure 100 sites under full load:", "dibs sim naimi-trehel --sites 100 --closed --entries 20k"},
                     {"Measure 25 sites that rarely make a request, with exponential delays:",
                      "dibs sim maekawa --sites 25 --rate 0.001 --delay exp:1"}},
    };
    const char *algorithm = NULL;
    struct sim_spec spec;
    struct sim_result result;
    int status = CLI_OK;
    bool taken; /* standard output, by another output than the report */

    if (!cli_parse(argc, argv, &usage, &algorithm, 1))
        cli_die("no algorithm is named (usage: %s)", usage.line);
    spec = spec_of(algorithm, &w);
    spec.log_entries = log && strcmp(log, "entries") == 0;
    if (spec.log_entries)
        log = NULL;
    if (spec.precision > 0 && (log || save || svg))
        cli_die("--precision repeats the run; leave out --log, --save and --svg");
    taken = (save && strcmp(save, "-") == 0) + (svg && strcmp(svg, "-") == 0);
    if (taken && save && svg && strcmp(save, svg) == 0)
        cli_die("--save - and --svg - are two outputs for one standard output; name a file for one of them");
    cli_check_output("--log", log);
    cli_check_output("--save", save);
    cli_check_picture("--svg", svg, cli_picture_format(svg));
    result = sim_run_logged(spec, log);
    if (result.failure[0]) {
        sim_tell_failure(&spec, &result, log);
        status = CLI_FAILED;
    } else {
        report_print(taken ? stderr : stdout, (enum cli_format)format, &spec, &result);
    }
    if (save || svg)
        sim_draw(spec, save, svg);
    sim_result_free(&result);
    spec_free(&spec);
    return status;
}
