/* spec.c - see spec.h. */
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_orders[] = {"needed", "fifo", "any", NULL};

/* "dibs: --delay: what is wrong", unless all is fine. */
static void spec_insist(bool fine, const char *option, const char *wrong)
{
    if (!fine)
        cli_die("%s: %s", option, wrong);
}

/* "0.5,2" */
static bool spec_pair(const char *text, double *a, double *b)
{
    char *end;

    *a = strtod(text, &end);
    if (end == text || *end != ',' || !isfinite(*a))
        return false;
    text = end + 1;
    *b = strtod(text, &end);
    return end != text && !*end && isfinite(*b);
}

static void spec_open(struct sim_spec *spec, const struct spec_words *w)
{
    uint32_t n = spec->conf.n;
    double share, hot;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    spec->load.type = LOAD_OPEN;
    spec->load.rate = w->rate;
    if ((w->rates != NULL) + (w->zipf > 0) + (w->hot != NULL) > 1)
        cli_die("one of --rates, --zipf and --hot says how demands are spread over the sites, not two");
    if (w->rates)
        spec_insist(load_read_rates(&spec->load, w->rates, n, &wrong), "--rates", line);
    if (w->zipf > 0) {
        struct dme_text spread;

        spec->load.weight = pick_zipf(n, w->zipf);
        dme_text_init(&spread, spec->load.spread, sizeof spec->load.spread);
        dme_print(&spread, "zipf:");
        dist_print_number(w->zipf, &spread);
    }
    if (w->hot) {
        if (!spec_pair(w->hot, &share, &hot) || share < 0 || share > 1 || hot < 1 || hot != floor(hot) || hot >= n)
            cli_die("--hot %s is not possible; it takes SHARE,SITES, as in 0.5,1, with fewer sites than there are",
                    w->hot);
        load_hot_spot(&spec->load, n, share, (uint32_t)hot);
        snprintf(spec->load.spread, sizeof spec->load.spread, "hot:%.40s", w->hot);
    }
    if (w->burst && (!spec_pair(w->burst, &spec->load.burst, &spec->load.burst_length) || spec->load.burst <= 1 ||
                     spec->load.burst_length <= 0))
        cli_die("--burst %s is not possible; it takes FACTOR,LENGTH, as in 5,20, with a factor above 1", w->burst);
}

static void spec_load(struct sim_spec *spec, const struct spec_words *w)
{
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if ((w->rate > 0) + (w->rates != NULL) + w->closed + (w->script != NULL) != 1)
        cli_die("no load is given: it takes one of --rate R, --rates FILE, --closed and --script FILE");
    if ((w->think || w->requesters) && !w->closed)
        cli_die("--think and --requesters go with --closed");
    if (w->requesters > spec->conf.n)
        cli_die("--requesters %llu is not possible with %u sites", (unsigned long long)w->requesters, spec->conf.n);
    if ((w->zipf > 0 || w->hot || w->burst) && (w->closed || w->script))
        cli_die("--zipf, --hot and --burst go with --rate");
    spec->load.readers = w->readers;
    spec->load.popularity = w->popularity;
    if (w->closed) {
        spec->load.type = LOAD_CLOSED;
        spec->load.requesters = (uint32_t)w->requesters;
        spec_insist(dist_parse(&spec->load.think, w->think ? w->think : "0", &wrong), "--think", line);
    } else if (w->script) {
        spec->load.type = LOAD_SCRIPT;
        spec_insist(load_read_script(&spec->load, w->script, &spec->conf, &wrong), "--script", line);
        if (w->warmup && w->warmup != SPEC_WARMUP_TENTH)
            cli_die("--warmup does not go with --script: all of a script is measured");
        spec->entries = spec->load.lines;
        spec->warmup = 0;
    } else {
        spec_open(spec, w);
    }
}

static void spec_faults(struct sim_spec *spec, const struct spec_words *w)
{
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (w->faults && (w->crash_rate > 0 || w->cut_rate > 0 || w->leave_rate > 0))
        cli_die("failures come from --faults FILE or from rates, not from both");
    if (w->cut_rate > 0 && spec->conf.n > 32)
        cli_die("--cut-rate takes at most 32 sites");
    spec->faults.crash_rate = w->crash_rate;
    spec->faults.cut_rate = w->cut_rate;
    spec->faults.leave_rate = w->leave_rate;
    spec->faults.resumes = w->with_memory;
    spec->faults.detect = w->detect;
    spec->faults.gap = w->gap;
    spec_insist(dist_parse(&spec->faults.absence, w->absence ? w->absence : "50", &wrong), "--absence", line);
    if (w->faults)
        spec_insist(fault_read_script(&spec->faults, w->faults, spec->conf.n, &wrong), "--faults", line);
}

/* "1%" or "0.01" */
static double spec_precision(const char *text)
{
    char *end;
    double x = strtod(text, &end);

    if (end != text && *end == '%') {
        x /= 100;
        end++;
    }
    if (end == text || *end || !(x >= 1e-6 && x < 1))
        cli_die("--precision %s is not possible; it takes a share such as 1%% or 0.01, below 1", text);
    return x;
}

struct sim_spec spec_of(const char *algorithm, const struct spec_words *w)
{
    struct sim_spec spec = {.conf = cli_conf(algorithm, w->sites, w->rule, &w->sets)};
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    spec.entries = w->entries;
    spec.warmup = w->warmup == SPEC_WARMUP_TENTH ? w->entries / 10 : w->warmup;
    spec.seed = w->seed;
    spec.precision = w->precision ? spec_precision(w->precision) : 0;
    spec.bound = w->bound;
    spec.order = w->order == 0 ? SIM_AS_NEEDED : w->order == 1 ? SIM_FIFO : SIM_ANY;
    spec_insist(delay_parse(&spec.delay, w->delay, spec.conf.n, &wrong), "--delay", line);
    spec_insist(dist_parse(&spec.hold, w->hold, &wrong), "--hold", line);
    spec_load(&spec, w);
    spec_faults(&spec, w);
    return spec;
}

static struct spec_words spec_words;

const struct cli_option *spec_options(void)
{
    static const struct cli_option options[] = {SPEC_OPTIONS_WHERE(spec_words),  SPEC_OPTION_RATES(spec_words),
                                                SPEC_OPTIONS_LOAD(spec_words),   SPEC_OPTIONS_REQUESTERS(spec_words),
                                                SPEC_OPTION_SCRIPT(spec_words),  SPEC_OPTIONS(spec_words),
                                                SPEC_OPTIONS_FAULTS(spec_words), {0}};

    return options;
}

struct sim_spec spec_parse_words(int argc, char **argv)
{
    static const struct spec_words defaults = SPEC_DEFAULTS;
    const struct cli_usage usage = {.line = "dibs sim", .about = "", .options = spec_options()};
    const char *algorithm = NULL;

    spec_words = defaults;
    if (!cli_parse(argc, argv, &usage, &algorithm, 1))
        cli_die("no algorithm is named");
    return spec_of(algorithm, &spec_words);
}

struct sim_spec spec_parse(const char *line)
{
    char words[512], *argv[64], *save;
    int argc = 1;

    argv[0] = NULL; /* the command's name, which is not read */
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &save); word && argc < 64; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    return spec_parse_words(argc, argv);
}

void spec_free(struct sim_spec *spec)
{
    load_spec_free(&spec->load);
    fault_spec_free(&spec->faults);
    delay_free(&spec->delay);
}
