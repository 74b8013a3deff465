/* The parts of the simulator against naive ones, and its checks against algorithms that are made to break them. */
#include "test.h"

#include "core/alg.h"
#include "sim/flight.h"
#include "sim/order.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sim_result run(const struct sim_spec *spec)
{
    struct sim_result result;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (!sim_run(spec, &result, &wrong))
        fail_msg("%s", line);
    return result;
}

static struct sim_spec spec_of(const struct dme_alg *alg, uint32_t n, enum dme_rule rule, const char *delay)
{
    struct sim_spec spec = {.entries = 300, .seed = 3, .hold.a = 0.25, .load.type = LOAD_CLOSED};
    char line[256];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    dme_conf_init(&spec.conf, alg, n, rule, rule == DME_SLOTS ? n : 0);
    assert_true(dist_parse(&spec.delay.dist, delay, &wrong));
    return spec;
}

/* ------------------------------------------------------------------------------------------------ broken on purpose */

static const struct dme_kind toy_kinds[] = {{"CLAIM", 1, 0}, {"DONE", 1, 0}, {0}};

static void toy_enter(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void toy_nothing(struct dme *d, void *state)
{
    (void)d;
    (void)state;
}

static void toy_ignore(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d;
    (void)state;
    (void)m;
}

static void toy_fault(struct dme *d, void *state)
{
    (void)state;
    DME_EXPECT(d, 1 + 1 == 3);
}

static struct dme_alg toy(void (*request)(struct dme *, void *))
{
    return (struct dme_alg){.name = "toy",
                            .kinds = toy_kinds,
                            .rules = 15,
                            .request = request,
                            .receive = toy_ignore,
                            .release = toy_nothing};
}

static void broken_promises_are_told_with_step_and_seed(void **state)
{
    struct dme_alg anarchy = toy(toy_enter), silence = toy(toy_nothing), nonsense = toy(toy_fault);
    struct sim_spec spec = spec_of(&anarchy, 3, DME_EXCLUSIVE, "const:1");

    (void)state;
    assert_string_equal(
        run(&spec).failure,
        "toy: site 1: enters although the rule forbids it: exclusion is broken (time 0, step 2, seed 3)");
    spec = spec_of(&silence, 3, DME_EXCLUSIVE, "const:1");
    assert_non_null(strstr(run(&spec).failure, "it waits for ever"));
    spec = spec_of(&nonsense, 3, DME_EXCLUSIVE, "const:1");
    assert_non_null(strstr(run(&spec).failure, "site 0: 1 + 1 == 3 (time 0, step 1, seed 3)"));
    /* Two sites in turn, with nothing said between them: safe by luck, but no chain of messages carries the fence. */
    spec = spec_of(&anarchy, 2, DME_EXCLUSIVE, "const:1");
    spec.load.type = LOAD_OPEN;
    spec.load.rate = 1e-6;
    assert_non_null(strstr(run(&spec).failure, "fencing number"));
    /* A run that is wrong under one rule is right under another. */
    spec = spec_of(&anarchy, 3, DME_SLOTS, "const:1");
    assert_string_equal(run(&spec).failure, "");
}

/* ----------------------------------------------------------------------------------------------- a sequenced medium */

/* Every site sees all claims in one order, so every site keeps the same queue: two transmissions for an entry. */
struct queue {
    uint32_t queued, zero;
    dme_id site[];
};

static void queue_send(struct dme *d, uint8_t kind)
{
    dme_send_ticket(d, DME_ALL, kind, dme_claim(d, 1));
}

static void queue_request(struct dme *d, void *state)
{
    (void)state;
    queue_send(d, 0);
}

static void queue_pop(struct queue *q)
{
    memmove(q->site, q->site + 1, --q->queued * sizeof q->site[0]);
}

static void queue_release(struct dme *d, void *state)
{
    queue_pop(state);
    queue_send(d, 1);
}

static void queue_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct queue *q = state;

    if (m->kind == 0) {
        q->site[q->queued++] = m->from;
    } else if (m->from != d->self) {
        DME_EXPECT(d, q->queued && q->site[0] == m->from);
        queue_pop(q);
    }
    if (q->queued && q->site[0] == d->self && dme_waiting(d))
        dme_enter(d);
}

static const struct dme_alg queue = {
    .name = "queue",
    .kinds = toy_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_BROADCAST | DME_SEQUENCED,
    .state_size = sizeof(struct queue),
    .peer_size = sizeof(dme_id),
    .request = queue_request,
    .receive = queue_receive,
    .release = queue_release,
};

static void a_sequenced_medium_shows_one_order_and_counts_transmissions(void **state)
{
    static const char *const delays[] = {"const:1", "uniform:0,2", "exp:1"};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct sim_spec spec = spec_of(&queue, 7, DME_EXCLUSIVE, delays[k]);
        struct sim_result r = run(&spec);

        assert_string_equal(r.failure, "");
        assert_int_equal(r.messages, 2 * r.entries);
    }
}

/* ----------------------------------------------------------------------------------------------------------- timers */

/* Ask the next site, and wait for 2T: the answer must have come before that. The timer of T is stopped, that of 3T
 * started again: neither may fire. */
struct ask {
    uint32_t answered, zero;
};

static void ask_request(struct dme *d, void *state)
{
    (void)state;
    dme_send_ticket(d, dme_after(d, d->self), 0, dme_claim(d, 1));
    dme_start(d, 0, 2);
    dme_start(d, 1, 1);
    dme_start(d, 2, 3);
}

static void ask_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ask *s = state;

    if (m->kind == 0) {
        dme_send_ticket(d, m->from, 1, m->ticket[0]);
        return;
    }
    s->answered = 1;
    dme_stop(d, 1);
    dme_start(d, 2, 3);
}

static void ask_timer(struct dme *d, void *state, unsigned timer)
{
    struct ask *s = state;

    if (timer != 0)
        return;
    DME_EXPECT(d, s->answered);
    s->answered = 0;
    dme_stop(d, 2);
    dme_enter(d);
}

static const struct dme_alg ask = {
    .name = "ask",
    .kinds = toy_kinds,
    .rules = 1 << DME_SLOTS,
    .needs = DME_BOUNDED_DELAY,
    .state_size = sizeof(struct ask),
    .request = ask_request,
    .receive = ask_receive,
    .release = toy_nothing,
    .timer = ask_timer,
};

static void timers_fire_later_than_their_bound_and_not_when_stopped(void **state)
{
    struct sim_spec spec = spec_of(&ask, 5, DME_SLOTS, "const:0.1");
    struct sim_result r;

    (void)state;
    r = run(&spec);
    assert_string_equal(r.failure, "");
    assert_int_equal(r.entries, 300);
    assert_true(r.value[FIG_WAIT] > 0.2 && r.value[FIG_WAIT] < 0.20001);
    spec = spec_of(&ask, 5, DME_SLOTS, "uniform:0,4");
    r = run(&spec);
    assert_string_equal(r.failure, "");
    assert_true(r.value[FIG_WAIT] > 8 && r.value[FIG_WAIT] < 8.0001);
}

static void a_bound_is_asked_for_where_delays_have_none(void **state)
{
    struct sim_spec spec = spec_of(&ask, 5, DME_SLOTS, "exp:1");
    struct sim_result r;
    char line[256];
    struct dme_text wrong;

    (void)state;
    dme_text_init(&wrong, line, sizeof line);
    assert_false(sim_run(&spec, &r, &wrong));
    assert_non_null(strstr(line, "relies on a bound on delays"));
}

/* ------------------------------------------------------------------------------------------------------- containers */

static void messages_arrive_by_time_and_then_in_order_of_sending(void **state)
{
    struct dme_alg alg = toy(toy_nothing);
    struct dme_conf conf;
    uint64_t seed = 1;

    (void)state;
    dme_conf_init(&conf, &alg, 4, DME_EXCLUSIVE, 0);
    for (unsigned equal = 0; equal < 2; equal++) {
        struct flight f;
        uint64_t order = 0;
        double now = 0;
        flight_key last = 0;

        flight_init(&f, &conf, equal);
        for (unsigned k = 0; k < 20000 || f.count; k++) {
            struct {
                struct dme_msg m;
                struct dme_ticket t;
            } msg = {.m = {.from = 1, .count = 1, .fence = order}, .t = {.clock = order}};

            if (k < 20000 && test_below(&seed, 20) < (k / 1000 % 2 ? 9u : 11u)) {
                double delay = equal ? 1 : (double)test_below(&seed, 8);

                flight_post(&f, now + delay, order++, &msg.m, 2);
            } else if (f.count) {
                flight_key key = flight_take(&f);
                struct dme_msg *m = flight_msg(&f, key);

                assert_true(last < key);
                assert_int_equal(m->to, 2);
                assert_int_equal(m->ticket[0].clock, (uint64_t)key >> FLIGHT_SLOT_BITS);
                last = key;
                now = flight_time(key);
                flight_release(&f, m);
            }
        }
        assert_true(f.used < 20000); /* slots are used again */
        flight_destroy(&f);
    }
}

static void order_counts_as_a_plain_list_does(void **state)
{
    enum { SITES = 50 };
    struct order o;
    dme_id list[SITES];
    uint32_t count = 0;
    uint64_t seed = 2;
    bool in[SITES] = {0};

    (void)state;
    order_init(&o, SITES);
    for (unsigned step = 0; step < 20000; step++) {
        dme_id site = test_below(&seed, SITES);

        if (!in[site]) {
            order_join(&o, site);
            list[count++] = site;
        } else {
            uint32_t k = 0;

            while (list[k] != site)
                k++;
            assert_int_equal(order_leave(&o, site), k);
            memmove(list + k, list + k + 1, (--count - k) * sizeof list[0]);
        }
        in[site] = !in[site];
        assert_int_equal(o.waiting, count);
    }
    order_destroy(&o);
}

static void quantiles_are_exact_to_one_percent(void **state)
{
    struct hist *h = calloc(1, sizeof *h);

    (void)state;
    assert_true(isnan(hist_quantile(h, 0.5)));
    for (unsigned k = 1; k <= 100000; k++)
        hist_add(h, k * 0.01);
    assert_true(fabs(hist_quantile(h, 0.5) / 500 - 1) < 0.01);
    assert_true(fabs(hist_quantile(h, 0.99) / 990 - 1) < 0.01);
    assert_true(h->max == 1000);
    memset(h, 0, sizeof *h);
    hist_add(h, 0);
    hist_add(h, 1.1);
    hist_add(h, 1.1);
    assert_true(hist_quantile(h, 0.2) == 0 && hist_quantile(h, 0.5) == 1.1 && hist_quantile(h, 1) == 1.1);
    free(h);
}

/* ------------------------------------------------------------------------------------------------------------- load */

static void sites_are_picked_by_weight(void **state)
{
    static const double weight[] = {1, 0, 2, 5, 0.5};
    unsigned count[5] = {0};
    struct pick pick;
    struct random r;

    (void)state;
    random_seed(&r, 4, 0);
    pick_init(&pick, 5, weight);
    for (unsigned k = 0; k < 170000; k++)
        count[pick_draw(&pick, &r)]++;
    pick_destroy(&pick);
    assert_int_equal(count[1], 0);
    for (unsigned k = 0; k < 5; k++)
        assert_true(fabs(count[k] - 20000 * weight[k]) < 1000);
}

/* Demands per time, and how much their number in an interval of 10 varies (1 for a Poisson process). */
static double load_rate(const struct load_spec *spec, double *variation)
{
    struct dme_alg alg = toy(toy_nothing);
    double now = 0, squares = 0, sum = 0;
    struct dme_conf conf;
    struct load load;
    unsigned count = 0;
    dme_id site;

    dme_conf_init(&conf, &alg, 4, DME_EXCLUSIVE, 0);
    load_begin(&load, spec, &conf, 8);
    for (double end = 10; end <= 200000; end += 10, count = 0) {
        while (now <= end) {
            count++;
            assert_true(load_next(&load, now, &now, &site) && site < 4);
        }
        sum += count;
        squares += (double)count * count;
    }
    load_end(&load);
    *variation = (squares / 20000 - sum * sum / 4e8) / (sum / 20000);
    return sum / 200000;
}

static void bursts_keep_the_mean_rate(void **state)
{
    struct load_spec plain = {.type = LOAD_OPEN, .rate = 0.5}, bursts = plain;
    double variation;

    (void)state;
    bursts.burst = 5;
    bursts.burst_length = 3;
    assert_true(fabs(load_rate(&plain, &variation) / 2 - 1) < 0.01);
    assert_true(fabs(variation - 1) < 0.05);
    assert_true(fabs(load_rate(&bursts, &variation) / 2 - 1) < 0.03);
    assert_true(variation > 5);
}

/* ---------------------------------------------------------------------------------------------------------- scripts */

static const char *script_error(const char *text, char *line, size_t size)
{
    struct dme_alg alg = toy(toy_nothing);
    struct load_spec load = {0};
    struct dme_conf conf;
    struct dme_text wrong;
    FILE *file = fopen("build/bad.script", "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    dme_conf_init(&conf, &alg, 3, DME_SHARED, 0);
    dme_text_init(&wrong, line, size);
    if (load_read_script(&load, "build/bad.script", &conf, &wrong))
        snprintf(line, size, "%zu lines", load.lines);
    load_spec_free(&load);
    unlink("build/bad.script");
    return line;
}

static void mistakes_in_a_script_are_named_with_their_line(void **state)
{
    char line[256];

    (void)state;
    assert_string_equal(script_error("# nothing\n\n1 0\n0.5 2 1 # a reader\n", line, sizeof line), "2 lines");
    assert_non_null(strstr(script_error("1 0\n2 3\n", line, sizeof line), "bad.script:2: there is no such site"));
    assert_non_null(strstr(script_error("x 0\n", line, sizeof line), "bad.script:1: a line is TIME SITE [MODE]"));
    assert_non_null(strstr(script_error("-1 0\n", line, sizeof line), "bad.script:1: a line is"));
    assert_non_null(strstr(script_error("\n1 0 2\n", line, sizeof line), "bad.script:2: the rule has no such mode"));
    assert_non_null(strstr(script_error("1 0 1 1\n", line, sizeof line), "bad.script:1: too many words"));
    assert_non_null(strstr(script_error("1\n", line, sizeof line), "bad.script:1: there is no such site"));
    assert_non_null(strstr(script_error("# empty\n", line, sizeof line), "no demand in it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_promises_are_told_with_step_and_seed),
        cmocka_unit_test(a_sequenced_medium_shows_one_order_and_counts_transmissions),
        cmocka_unit_test(timers_fire_later_than_their_bound_and_not_when_stopped),
        cmocka_unit_test(a_bound_is_asked_for_where_delays_have_none),
        cmocka_unit_test(messages_arrive_by_time_and_then_in_order_of_sending),
        cmocka_unit_test(order_counts_as_a_plain_list_does),
        cmocka_unit_test(quantiles_are_exact_to_one_percent),
        cmocka_unit_test(sites_are_picked_by_weight),
        cmocka_unit_test(bursts_keep_the_mean_rate),
        cmocka_unit_test(mistakes_in_a_script_are_named_with_their_line),
    };

    return cmocka_run_group_tests_name("sim_parts", tests, NULL, NULL);
}
