/* spec_columns.c - a specification as columns: everything that determines the result of a simulation, one value each. A column
 * that does not apply is empty. Files are told by a fingerprint of what they say, so a table remembers which matrix it was. */
#include "spec.h"

#include <inttypes.h>
#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

static void columns_number(struct dme_text *text, bool applies, double x)
{
    if (applies)
        dist_print_number(x, text);
}

static void columns_digest(struct dme_text *text, const char *name, const void *data, size_t len)
{
    dme_print(text, "%s:%016" PRIx64, name, (uint64_t)XXH3_64bits(data, len));
}

static bool columns_is_open(const struct sim_spec *s)
{
    return s->load.type == LOAD_OPEN;
}

static bool columns_is_closed(const struct sim_spec *s)
{
    return s->load.type == LOAD_CLOSED;
}

/* Failures by rates, which have a length and a pause. */
static bool columns_fails(const struct sim_spec *s)
{
    return s->faults.crash_rate > 0 || s->faults.cut_rate > 0 || s->faults.leave_rate > 0;
}

static void columns_algorithm(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%s", s->conf.alg->name);
}

static void columns_options(const struct sim_spec *s, struct dme_text *text)
{
    const struct dme_option *o = s->conf.alg->options;
    const char *between = "";

    for (unsigned k = 0; o && o[k].key; k++) {
        if (s->conf.option[k] == o[k].initial)
            continue;
        dme_print(text, "%s%s=", between, o[k].key);
        if (o[k].choices)
            dme_print(text, "%s", o[k].choices[s->conf.option[k]]);
        else
            dme_print(text, "%" PRIu64, s->conf.option[k]);
        between = " ";
    }
}

static void columns_sites(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%u", s->conf.n);
}

static void columns_rule(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%s", cli_rule_text(&s->conf));
}

static void columns_load(const struct sim_spec *s, struct dme_text *text)
{
    static const char *const names[] = {[LOAD_OPEN] = "open", [LOAD_CLOSED] = "closed"};
    uint64_t digest = 0;

    if (s->load.type != LOAD_SCRIPT) {
        dme_print(text, "%s", names[s->load.type]);
        return;
    }
    for (size_t k = 0; k < s->load.lines; k++) {
        const struct load_line *l = &s->load.line[k];

        digest = XXH3_64bits_withSeed(&l->at, sizeof l->at, digest);
        digest = XXH3_64bits_withSeed(&l->site, sizeof l->site, digest);
        digest = XXH3_64bits_withSeed(&l->mode, sizeof l->mode, digest);
    }
    dme_print(text, "script:%016" PRIx64, digest);
}

static void columns_rate(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, columns_is_open(s), s->load.rate);
}

static void columns_spread(const struct sim_spec *s, struct dme_text *text)
{
    if (s->load.spread[0])
        dme_print(text, "%s", s->load.spread);
    else if (s->load.weight)
        columns_digest(text, "rates", s->load.weight, s->conf.n * sizeof *s->load.weight);
}

static void columns_burst(const struct sim_spec *s, struct dme_text *text)
{
    if (columns_is_open(s) && s->load.burst > 1) {
        dist_print_number(s->load.burst, text);
        dme_print(text, ",");
        dist_print_number(s->load.burst_length, text);
    }
}

static void columns_think(const struct sim_spec *s, struct dme_text *text)
{
    if (columns_is_closed(s))
        dist_print(&s->load.think, text);
}

static void columns_requesters(const struct sim_spec *s, struct dme_text *text)
{
    if (columns_is_closed(s))
        dme_print(text, "%u", s->load.requesters ? s->load.requesters : s->conf.n);
}

static void columns_readers(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->conf.rule == DME_SHARED && s->load.type != LOAD_SCRIPT, s->load.readers);
}

static void columns_popularity(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->conf.rule == DME_GROUP && s->load.type != LOAD_SCRIPT, s->load.popularity);
}

static void columns_delay(const struct sim_spec *s, struct dme_text *text)
{
    if (s->delay.matrix)
        columns_digest(text, "matrix", s->delay.matrix, (size_t)s->conf.n * s->conf.n * sizeof *s->delay.matrix);
    else
        dist_print(&s->delay.dist, text);
}

static void columns_order(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%s", sim_is_fifo(s) ? "fifo" : "any");
}

static void columns_bound(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->bound > 0, s->bound);
}

static void columns_hold(const struct sim_spec *s, struct dme_text *text)
{
    dist_print(&s->hold, text);
}

static void columns_faults(const struct sim_spec *s, struct dme_text *text)
{
    uint64_t digest = 0;

    for (size_t k = 0; k < s->faults.lines; k++) {
        const struct fault_line *l = &s->faults.line[k];

        digest = XXH3_64bits_withSeed(&l->at, sizeof l->at, digest);
        digest = XXH3_64bits_withSeed(&l->type, sizeof l->type, digest);
        digest = XXH3_64bits_withSeed(&l->site, sizeof l->site, digest);
        digest = XXH3_64bits_withSeed(&l->arg, sizeof l->arg, digest);
    }
    if (s->faults.lines)
        dme_print(text, "script:%016" PRIx64, digest);
}

static void columns_crash_rate(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->faults.crash_rate > 0, s->faults.crash_rate);
}

static void columns_cut_rate(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->faults.cut_rate > 0, s->faults.cut_rate);
}

static void columns_leave_rate(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->faults.leave_rate > 0, s->faults.leave_rate);
}

static void columns_absence(const struct sim_spec *s, struct dme_text *text)
{
    if (columns_fails(s))
        dist_print(&s->faults.absence, text);
}

static void columns_gap(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, columns_fails(s) && s->faults.gap > 0, s->faults.gap);
}

static void columns_with_memory(const struct sim_spec *s, struct dme_text *text)
{
    if (s->faults.crash_rate > 0)
        dme_print(text, "%s", s->faults.resumes ? "yes" : "no");
}

static void columns_detect(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, fault_happens(&s->faults) && s->faults.detect > 0, s->faults.detect);
}

static void columns_entries(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%" PRIu64, s->entries);
}

static void columns_warmup(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%" PRIu64, s->warmup);
}

static void columns_precision(const struct sim_spec *s, struct dme_text *text)
{
    columns_number(text, s->precision > 0, s->precision);
}

static void columns_seed(const struct sim_spec *s, struct dme_text *text)
{
    dme_print(text, "%" PRIu64, s->seed);
}

static void columns_version(const struct sim_spec *s, struct dme_text *text)
{
    (void)s;
    dme_print(text, "%s", DIBS_VERSION);
}

const struct spec_column spec_columns[] = {
    {"algorithm", false, columns_algorithm},
    {"options", false, columns_options},
    {"sites", true, columns_sites},
    {"rule", false, columns_rule},
    {"load", false, columns_load},
    {"rate", true, columns_rate},
    {"spread", false, columns_spread},
    {"burst", false, columns_burst},
    {"think", false, columns_think},
    {"requesters", true, columns_requesters},
    {"readers", true, columns_readers},
    {"popularity", true, columns_popularity},
    {"delay", false, columns_delay},
    {"order", false, columns_order},
    {"bound", true, columns_bound},
    {"hold", false, columns_hold},
    {"faults", false, columns_faults},
    {"crash_rate", true, columns_crash_rate},
    {"cut_rate", true, columns_cut_rate},
    {"leave_rate", true, columns_leave_rate},
    {"absence", false, columns_absence},
    {"gap", true, columns_gap},
    {"with_memory", false, columns_with_memory},
    {"detect", true, columns_detect},
    {"entries", true, columns_entries},
    {"warmup", true, columns_warmup},
    {"precision", true, columns_precision},
    {"seed", true, columns_seed},
    {"version", false, columns_version},
    {0},
};
