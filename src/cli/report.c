/* report.c - see report.h. */
#include "report.h"

#include "spec.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *report_load(const struct sim_spec *spec, char *buf, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, buf, size);
    switch (spec->load.type) {
    case LOAD_OPEN:
        dme_print(&text, "rate:");
        dist_print_number(spec->load.rate, &text);
        break;
    case LOAD_CLOSED:
        dme_print(&text, "closed:");
        dist_print(&spec->load.think, &text);
        if (spec->load.requesters)
            dme_print(&text, " requesters:%u", spec->load.requesters);
        break;
    case LOAD_SCRIPT:
        dme_print(&text, "script");
        break;
    }
    return buf;
}

static const char *report_dist(const struct dist *dist, char *buf, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, buf, size);
    dist_print(dist, &text);
    return buf;
}

static void report_column(const struct spec_column *column, const struct sim_spec *spec, char *buf, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, buf, size);
    column->print(spec, &text);
}

static const char *report_delay(const struct sim_spec *spec, char *buf, size_t size)
{
    const struct spec_column *c = spec_columns;

    while (strcmp(c->name, "delay") != 0)
        c++;
    report_column(c, spec, buf, size);
    return buf;
}

/* Are the intervals to be trusted, and as narrow as was asked for? */
static bool report_has_converged(const struct sim_result *r)
{
    return r->steady && !r->correlated && r->precise;
}

/* Figures that every run has; the others only where several may be inside. */
static bool report_wants(const struct sim_spec *spec, unsigned figure)
{
    if (figure == FIG_CONCURRENCY)
        return spec->conf.rule != DME_EXCLUSIVE;
    if (figure == FIG_SWITCHES)
        return spec->conf.rule == DME_SHARED || spec->conf.rule == DME_GROUP;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* Messages for members and recovery, not for requests, in what was measured. */
static uint64_t report_upkeep(const struct sim_spec *spec, const struct sim_result *r)
{
    uint64_t sum = 0;

    for (unsigned k = spec->conf.alg->upkeep; spec->conf.alg->upkeep && spec->conf.alg->kinds[k].name; k++)
        sum += r->by_kind[k];
    return sum;
}

static void report_faults(FILE *to, const struct sim_spec *spec, const struct sim_result *r)
{
    const struct fault_result *f = &r->faults;
    uint64_t failures = f->crashes + f->cuts + f->leaves;

    if (!fault_happens(&spec->faults))
        return;
    fprintf(to, "  %-26s %12" PRIu64 " (%" PRIu64 " came back)\n", "crashes", f->crashes, f->returns);
    fprintf(to, "  %-26s %12" PRIu64 "\n", "cuts", f->cuts);
    fprintf(to, "  %-26s %12" PRIu64 "\n", "leaves", f->leaves);
    fprintf(to, "  %-26s %12" PRIu64 "\n", "requests lost with a site", f->lost);
    if (f->outages)
        fprintf(to, "  %-26s %12.5g, max %.5g\n", "time without service", f->outage_sum / (double)f->outages,
                f->outage_max);
    if (failures)
        fprintf(to, "  %-26s %12.5g\n", "recovery messages, each", (double)report_upkeep(spec, r) / (double)failures);
}

/* What else was asked for: columns that apply and that the first line does not have. */
static void report_rest(FILE *to, const struct sim_spec *spec)
{
    static const char *const said[] = {"algorithm", "sites",      "rule", "load", "rate",    "think",
                                       "delay",     "requesters", "hold", "seed", "version", NULL};
    const char *between = "with ";
    char value[256];

    for (const struct spec_column *c = spec_columns; c->name; c++) {
        unsigned k = 0;

        while (said[k] && strcmp(said[k], c->name) != 0)
            k++;
        report_column(c, spec, value, sizeof value);
        if (said[k] || !*value || (strcmp(c->name, "order") == 0 && spec->order == SIM_AS_NEEDED) ||
            (strcmp(c->name, "popularity") == 0 && spec->load.popularity == 0) ||
            (strcmp(c->name, "entries") == 0 && spec->precision <= 0) || strcmp(c->name, "warmup") == 0)
            continue;
        fprintf(to, "%s%s %s", between, c->name, value);
        between = ", ";
    }
    if (*between == ',')
        fprintf(to, "\n");
}

static void report_text(FILE *to, const struct sim_spec *spec, const struct sim_result *r)
{
    const struct dme_kind *kinds = spec->conf.alg->kinds;
    char load[96], delay[96], hold[96];

    fprintf(to, "%s, %u sites, %s; load %s, delay %s, hold %s, seed %" PRIu64 "\n", spec->conf.alg->name, spec->conf.n,
            cli_rule_text(&spec->conf), report_load(spec, load, sizeof load), report_delay(spec, delay, sizeof delay),
            report_dist(&spec->hold, hold, sizeof hold), spec->seed);
    report_rest(to, spec);
    fprintf(to, "%" PRIu64 " entries measured after %" PRIu64 " to warm up; time %g\n\n", r->entries, r->warmup,
            r->end);
    for (unsigned k = 0; k < FIGURES; k++) {
        if (!report_wants(spec, k) || isnan(r->value[k]))
            continue;
        fprintf(to, "  %-26s %12.5g", metrics_figures[k].text, r->value[k]);
        if (!isnan(r->half[k]))
            fprintf(to, r->half[k] < 100 ? "  +- %.2g" : "  +- %.0f", r->half[k]);
        fprintf(to, "\n");
        for (unsigned m = 0; k == FIG_MESSAGES && kinds[m].name; m++)
            fprintf(to, "    %-24s %12.5g\n", kinds[m].name, (double)r->by_kind[m] / (double)r->entries);
    }
    fprintf(to, "  %-26s %12.5g %.5g %.5g, max %.5g\n", "waiting p50 p95 p99", r->wait_p50, r->wait_p95, r->wait_p99,
            r->wait_max);
    fprintf(to, "  %-26s %12.5g %.5g %.5g, max %.5g\n", "response p50 p95 p99", r->response_p50, r->response_p95,
            r->response_p99, r->response_max);
    fprintf(to, "  %-26s %12" PRIu64 "\n", "overtakes of one, at most", r->overtakes_max);
    if (spec->conf.rule != DME_EXCLUSIVE)
        fprintf(to, "  %-26s %12u\n", "inside together, at most", r->inside_max);
    if (report_wants(spec, FIG_SWITCHES))
        fprintf(to, "  %-26s %12" PRIu64 "\n", "switches in one wait, max", r->switches_max);
    fprintf(to, "  %-26s %12.5g\n", "fairness (Jain)", r->jain);
    report_faults(to, spec, r);
    if (!r->steady)
        fprintf(to, "\nWaiting times still change in the course of the run: it is too short, or its warm-up is.\n");
    else if (r->correlated)
        fprintf(to,
                "\nSuccessive waiting times depend on each other over much of the run. The intervals allow for that, "
                "and are wide.\nTake more --entries, or --precision.\n");
    if (!r->precise)
        fprintf(to, "\nThe precision of %g%% was not reached in the longest run that dibs makes.\n",
                100 * spec->precision);
    for (size_t k = 0; k < r->logged; k++)
        fprintf(to, "%s%u@%.3f%s", k ? " " : "\nentries: ", r->log[k].site, r->log[k].at,
                k + 1 == r->logged ? "\n" : "");
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void report_json_log(struct cli_json *j, const struct sim_result *r)
{
    json_key(j, "log");
    json_array(j);
    for (size_t k = 0; k < r->logged; k++) {
        json_array(j);
        json_real(j, r->log[k].at);
        json_count(j, r->log[k].site);
        json_count(j, r->log[k].mode);
        json_end(j, ']');
    }
    json_end(j, ']');
}

static void report_json(FILE *to, const struct sim_spec *spec, const struct sim_result *r)
{
    const struct dme_kind *kinds = spec->conf.alg->kinds;
    struct cli_json j = {.to = to};
    char value[256];

    json_object(&j);
    for (const struct spec_column *c = spec_columns; c->name; c++) {
        report_column(c, spec, value, sizeof value);
        json_key(&j, c->name);
        if (!*value)
            json_text(&j, NULL);
        else if (c->number)
            json_number(&j, value);
        else
            json_text(&j, value);
    }
    json_key(&j, "measured_from"), json_count(&j, r->warmup);
    json_key(&j, "measured"), json_count(&j, r->entries);
    json_key(&j, "messages"), json_count(&j, r->messages);
    json_key(&j, "by_kind");
    json_object(&j);
    for (unsigned k = 0; kinds[k].name; k++)
        json_key(&j, kinds[k].name), json_count(&j, r->by_kind[k]);
    json_end(&j, '}');
    for (unsigned k = 0; k < FIGURES; k++) {
        char name[64];

        snprintf(name, sizeof name, "%s_ci95", metrics_figures[k].name);
        json_key(&j, metrics_figures[k].name), json_real(&j, r->value[k]);
        json_key(&j, name), json_real(&j, r->half[k]);
    }
    json_key(&j, "wait_p50"), json_real(&j, r->wait_p50);
    json_key(&j, "wait_p95"), json_real(&j, r->wait_p95);
    json_key(&j, "wait_p99"), json_real(&j, r->wait_p99);
    json_key(&j, "wait_max"), json_real(&j, r->wait_max);
    json_key(&j, "response_p50"), json_real(&j, r->response_p50);
    json_key(&j, "response_p95"), json_real(&j, r->response_p95);
    json_key(&j, "response_p99"), json_real(&j, r->response_p99);
    json_key(&j, "response_max"), json_real(&j, r->response_max);
    json_key(&j, "overtakes_max"), json_count(&j, r->overtakes_max);
    json_key(&j, "switches_max"), json_count(&j, r->switches_max);
    json_key(&j, "sync_delay_max"), json_real(&j, r->sync_max);
    json_key(&j, "concurrency_max"), json_count(&j, r->inside_max);
    json_key(&j, "jain"), json_real(&j, r->jain);
    json_key(&j, "steady"), json_bool(&j, r->steady);
    json_key(&j, "correlated"), json_bool(&j, r->correlated);
    json_key(&j, "converged"), json_bool(&j, report_has_converged(r));
    if (fault_happens(&spec->faults)) {
        json_key(&j, "crashes"), json_count(&j, r->faults.crashes);
        json_key(&j, "returns"), json_count(&j, r->faults.returns);
        json_key(&j, "cuts"), json_count(&j, r->faults.cuts);
        json_key(&j, "leaves"), json_count(&j, r->faults.leaves);
        json_key(&j, "lost"), json_count(&j, r->faults.lost);
        json_key(&j, "outages"), json_count(&j, r->faults.outages);
        json_key(&j, "outage_mean"), json_real(&j, r->faults.outage_sum / (double)r->faults.outages);
        json_key(&j, "outage_max"), json_real(&j, r->faults.outage_max);
        json_key(&j, "upkeep_messages"), json_count(&j, report_upkeep(spec, r));
    }
    json_key(&j, "steps"), json_count(&j, r->steps);
    json_key(&j, "end_time"), json_real(&j, r->end);
    if (spec->log_entries)
        report_json_log(&j, r);
    json_end(&j, '}');
}

/* -------------------------------------------------------------------------------------------------------------- CSV */

void report_csv_head(FILE *to)
{
    for (const struct spec_column *c = spec_columns; c->name; c++)
        fprintf(to, "%s,", c->name);
    fprintf(to, "measured_from,measured,messages");
    for (unsigned k = 0; k < FIGURES; k++)
        fprintf(to, ",%s,%s_ci95", metrics_figures[k].name, metrics_figures[k].name);
    fprintf(to,
            ",wait_p50,wait_p95,wait_p99,wait_max,response_p50,response_p95,response_p99,response_max,overtakes_max,"
            "concurrency_max,jain,converged\n");
}

void report_csv_key(const struct sim_spec *spec, struct dme_text *text)
{
    for (const struct spec_column *c = spec_columns; c->name; c++) {
        char value[256];
        const char *quote;

        report_column(c, spec, value, sizeof value);
        quote = strchr(value, ',') ? "\"" : "";
        dme_print(text, "%s%s%s%s", c == spec_columns ? "" : ",", quote, value, quote);
    }
}

static void report_csv_real(FILE *to, double x)
{
    if (isfinite(x))
        fprintf(to, ",%.10g", x);
    else
        fprintf(to, ",");
}

void report_csv_values(FILE *to, const struct sim_result *r)
{
    fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, r->warmup, r->entries, r->messages);
    for (unsigned k = 0; k < FIGURES; k++) {
        report_csv_real(to, r->value[k]);
        report_csv_real(to, r->half[k]);
    }
    report_csv_real(to, r->wait_p50);
    report_csv_real(to, r->wait_p95);
    report_csv_real(to, r->wait_p99);
    report_csv_real(to, r->wait_max);
    report_csv_real(to, r->response_p50);
    report_csv_real(to, r->response_p95);
    report_csv_real(to, r->response_p99);
    report_csv_real(to, r->response_max);
    fprintf(to, ",%" PRIu64 ",%u", r->overtakes_max, r->inside_max);
    report_csv_real(to, r->jain);
    fprintf(to, report_has_converged(r) ? ",yes\n" : ",no\n");
}

static void report_csv(FILE *to, const struct sim_spec *spec, const struct sim_result *r)
{
    char key[REPORT_KEY_SIZE];
    struct dme_text text;

    dme_text_init(&text, key, sizeof key);
    report_csv_key(spec, &text);
    report_csv_head(to);
    fprintf(to, "%s", key);
    report_csv_values(to, r);
}

void report_print(FILE *to, enum cli_format format, const struct sim_spec *spec, const struct sim_result *result)
{
    switch (format) {
    case CLI_AS_TEXT:
        report_text(to, spec, result);
        break;
    case CLI_AS_JSON:
        report_json(to, spec, result);
        break;
    case CLI_AS_CSV:
        report_csv(to, spec, result);
        break;
    }
}
