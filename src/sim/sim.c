/* sim.c - a run from its specification to its result. What happens in between is in loop.c. */
#include "sim.h"

#include "base/memory.h"
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of the longest run that --precision makes. */
static const uint64_t SIM_PRECISE_MAX = 200000000;

static void sim_make_nodes(struct sim *s)
{
    uint32_t n = s->conf.n;
    size_t all = 0;

    if (s->conf.alg->records) {
        s->node_at = mem_new(n * sizeof *s->node_at);
        for (dme_id i = 0; i < n; i++) {
            s->node_at[i] = all;
            all += dme_node_size(&s->conf, i);
        }
    } else {
        s->node_size = dme_node_size(&s->conf, 0);
        all = n * s->node_size;
    }
    s->nodes = mem_new(all);
    s->out = mem_new(dme_out_size(&s->conf));
    dme_out_init(s->out, dme_out_size(&s->conf));
    s->site = mem_new(n * sizeof *s->site);
    if (s->conf.alg->timer)
        s->timer_start = mem_new((size_t)n * DME_TIMERS * sizeof *s->timer_start);
    if (s->conf.alg->needs & DME_SEQUENCED)
        s->medium = mem_new(n * sizeof *s->medium);
}

/* T, the bound on delays. */
static double sim_bound(const struct sim_spec *spec)
{
    return spec->bound > 0 ? spec->bound : delay_bound(&spec->delay);
}

bool sim_is_fifo(const struct sim_spec *spec)
{
    return spec->order == SIM_FIFO || spec->conf.alg->needs & DME_FIFO;
}

bool sim_can_run(const struct sim_spec *spec, struct dme_text *wrong)
{
    const struct dme_alg *alg = spec->conf.alg;
    double bound = sim_bound(spec);

    if (spec->order == SIM_ANY && alg->needs & DME_FIFO) {
        dme_print(wrong, "%s relies on FIFO channels; leave out --order any", alg->name);
        return false;
    }
    if (alg->needs & DME_BOUNDED_DELAY && (isinf(bound) || bound < delay_bound(&spec->delay))) {
        dme_print(wrong, "%s relies on a bound on delays; take const:D or uniform:A,B, and a bound T that they keep",
                  alg->name);
        return false;
    }
    if (fault_happens(&spec->faults) && spec->conf.n < 2) {
        dme_print(wrong, "failures need at least two sites, so that one of them is left");
        return false;
    }
    if (spec->faults.leave_rate > 0 && !alg->leave) {
        dme_print(wrong, "%s knows of no members; leave out --leave-rate", alg->name);
        return false;
    }
    return delay_fits(&spec->delay, spec->conf.n, sim_is_fifo(spec), wrong);
}

static uint32_t sim_requesters(const struct sim *s)
{
    uint32_t asked = s->spec->load.requesters;

    return asked ? asked : s->conf.n;
}

static void sim_begin(struct sim *s)
{
    const struct sim_spec *spec = s->spec;

    random_seed(&s->delays, spec->seed, 3);
    random_seed(&s->holds, spec->seed, 4);
    load_begin(&s->load, &spec->load, &s->conf, spec->seed);
    flight_init(&s->flight, &s->conf, delay_is_constant(&s->delay));
    order_init(&s->waiting, s->conf.n);
    sim_make_nodes(s);
    s->metrics = mem_new(sizeof *s->metrics);
    s->fences =
        s->conf.rule == DME_EXCLUSIVE && !(s->conf.alg->needs & DME_BOUNDED_DELAY) && !fault_happens(&spec->faults);
    s->batches = spec->entries >= METRICS_BATCHES * METRICS_BATCH_MIN;
    for (dme_id i = 0; i < s->conf.n; i++) {
        s->site[i].asked = -1;
        dme_init(&s->conf, sim_node(s, i), i, s->out);
        sim_obey(s, i);
    }
    if (fault_happens(&spec->faults))
        sim_fail_begin(s);
    if (spec->warmup == 0)
        sim_measure(s, true);
    if (spec->load.type != LOAD_CLOSED)
        sim_expect_demand(s);
    for (dme_id i = 0; spec->load.type == LOAD_CLOSED && i < sim_requesters(s); i++)
        agenda_add(&s->agenda,
                   &(struct agenda_item){
                       .at = load_think(&s->load, 0), .order = s->order++, .type = AGENDA_DEMAND, .site = i});
}

static double sim_jain(const struct sim *s)
{
    uint32_t n = s->spec->load.type == LOAD_CLOSED ? sim_requesters(s) : s->conf.n;
    double sum = 0, squares = 0;

    for (dme_id i = 0; i < n; i++) {
        double x = (double)s->site[i].entries;

        sum += x;
        squares += x * x;
    }
    return sum * sum / (squares * n);
}

/* Sites that asked before measuring began and wait still, while the others were served ten times and more. */
static uint32_t sim_unserved(const struct sim *s)
{
    uint32_t count = 0;

    if (s->result->entries < 10 * (uint64_t)s->conf.n)
        return 0;
    for (dme_id i = 0; i < s->conf.n; i++)
        count += sim_is_starved(s, i) && s->site[i].entries_then <= s->entries_before;
    return count;
}

static void sim_fail_unserved(struct sim *s)
{
    dme_id first = 0;

    while (!sim_is_starved(s, first))
        first++;
    snprintf(s->result->failure, sizeof s->result->failure,
             "%s: %u of %u sites wait for ever: site %u has waited since time %.6g, and %" PRIu64
             " entries of others came before (time %.6g, step %" PRIu64 ", seed %" PRIu64 ")",
             s->conf.alg->name, s->result->unserved, s->conf.n, first, s->site[first].asked,
             s->entries - s->site[first].entries_then, s->now, s->result->steps, s->spec->seed);
}

static void sim_report(struct sim *s)
{
    struct sim_result *r = s->result;
    const struct metrics *m = s->metrics;

    r->end = s->now;
    r->warmup = s->entries_before;
    if (r->failure[0] || s->refused[0])
        return;
    r->entries = (uint64_t)metrics_total(m, SUM_ENTRIES);
    for (unsigned k = 0; k < FLIGHT_KINDS; k++) {
        r->by_kind[k] = m->by_kind[k] - m->by_kind_before[k];
        r->messages += r->by_kind[k];
    }
    for (unsigned k = 0; k < FIGURES; k++) {
        r->value[k] = metrics_value(m, (enum metrics_figure_id)k);
        r->half[k] = metrics_half(m, (enum metrics_figure_id)k);
    }
    r->wait_p50 = hist_quantile(&m->wait, 0.5);
    r->wait_p95 = hist_quantile(&m->wait, 0.95);
    r->wait_p99 = hist_quantile(&m->wait, 0.99);
    r->wait_max = m->wait.max;
    r->response_p50 = hist_quantile(&m->response, 0.5);
    r->response_p95 = hist_quantile(&m->response, 0.95);
    r->response_p99 = hist_quantile(&m->response, 0.99);
    r->response_max = m->response.max;
    r->overtakes_max = m->overtakes_max;
    r->switches_max = m->switches_max;
    r->sync_max = m->sync_max;
    r->inside_max = m->inside_max;
    r->steady = metrics_is_steady(m, FIG_WAIT) && metrics_is_mixed(m);
    r->correlated = metrics_is_correlated(m, FIG_WAIT);
    r->jain = sim_jain(s);
    r->unserved = sim_unserved(s);
    if (r->unserved)
        sim_fail_unserved(s);
}

static void sim_end(struct sim *s)
{
    order_destroy(&s->waiting);
    flight_destroy(&s->flight);
    load_end(&s->load);
    delay_end(&s->delay);
    free(s->agenda.item);
    free(s->metrics);
    free(s->medium);
    free(s->timer_start);
    free(s->site);
    free(s->out);
    free(s->nodes);
    free(s->node_at);
}

/* The shortest of the times that are not 0: of a message, inside, and from leaving to the next request. */
static double sim_finest(const struct sim_spec *spec)
{
    double times[] = {delay_mean(&spec->delay), dist_mean(&spec->hold),
                      spec->load.type == LOAD_CLOSED ? dist_mean(&spec->load.think) : 0};
    double finest = INFINITY;

    for (unsigned k = 0; k < sizeof times / sizeof times[0]; k++)
        if (times[k] > 0 && times[k] < finest)
            finest = times[k];
    return finest;
}

static bool sim_run_once(const struct sim_spec *spec, struct sim_result *result, struct dme_text *wrong)
{
    struct sim s = {.spec = spec, .conf = spec->conf, .delay = spec->delay, .result = result};

    memset(result, 0, sizeof *result);
    s.bound = sim_bound(spec);
    if (isinf(s.bound))
        s.bound = 1; /* no algorithm that can run here relies on it, but a timer has to fire some time */
    s.finest = sim_finest(spec);
    delay_begin(&s.delay, spec->conf.n, sim_is_fifo(spec));
    sim_begin(&s);
    sim_loop(&s);
    if (s.began_at_rest && !s.done)
        metrics_mark(s.metrics, s.last_exit);
    sim_report(&s);
    sim_end(&s);
    if (s.refused[0])
        dme_print(wrong, "%s", s.refused);
    return !s.refused[0];
}

/* Is every interval that --precision is about narrow enough, and can it be trusted? */
static bool sim_is_precise(const struct sim_spec *spec, const struct sim_result *r)
{
    static const enum metrics_figure_id figures[] = {FIG_MESSAGES, FIG_WAIT};

    for (unsigned k = 0; k < sizeof figures / sizeof figures[0]; k++)
        if (!(r->half[figures[k]] <= spec->precision * r->value[figures[k]]))
            return false;
    return r->steady && !r->correlated;
}

bool sim_run(const struct sim_spec *spec, struct sim_result *result, struct dme_text *wrong)
{
    struct sim_spec longer = *spec;

    memset(result, 0, sizeof *result);
    if (!sim_can_run(spec, wrong))
        return false;
    for (;;) {
        if (!sim_run_once(&longer, result, wrong))
            return false;
        result->precise = spec->precision <= 0 || sim_is_precise(spec, result);
        result->asked = longer.entries;
        result->asked_warmup = longer.warmup;
        if (result->failure[0] || result->precise || spec->load.type == LOAD_SCRIPT ||
            longer.entries > SIM_PRECISE_MAX / 2)
            return true;
        sim_result_free(result);
        longer.entries *= 2;
        longer.warmup *= 2;
    }
}

void sim_result_free(struct sim_result *result)
{
    free(result->log);
    result->log = NULL;
}
