/* Searches that may be asked of the checker together: which searches can be reduced, which have canonical forms, and which do not end. */
#include "test.h"

#include "check/check.h"
#include "core/alg.h"

#include <stdlib.h>
#include <string.h>

extern const struct dme_alg ricart_agrawala, ricart_agrawala_implicit, suzuki_kasami, le_lann;

static struct check_task plain_task(void)
{
    struct check_task task = {.needs = DME_RELIABLE | DME_ALIVE, .limit = 1000};

    dme_conf_init(&task.conf, &ricart_agrawala, 3, DME_EXCLUSIVE, 0);
    memset(task.requests, 1, 3);
    return task;
}

static bool is_reducible_with(void (*change)(struct check_task *))
{
    struct check_task task = plain_task();

    change(&task);
    return check_reducible(&task);
}

#define WITH(what)                                                                                                     \
    static void with_##what(struct check_task *t)                                                                      \
    {                                                                                                                  \
        t->what = 1;                                                                                                   \
    }
WITH(quiet)
WITH(lose)
WITH(duplicate)
WITH(crash)
WITH(restart)
WITH(resume)
WITH(cut)
WITH(join)
WITH(leave)
WITH(starvation)
WITH(messages)
WITH(overtaking)
WITH(concurrency)
WITH(canonical)

static void with_bounds(struct check_task *t)
{
    t->needs |= DME_BOUNDED_DELAY;
}

static void with_sequence(struct check_task *t)
{
    t->needs |= DME_SEQUENCED;
}

static void with_nothing(struct check_task *t)
{
    (void)t;
}

/* Each of them makes moves that the reduction leaves out visible, so each alone forbids it. */
static void a_search_is_reduced_only_if_nothing_sees_the_order_of_moves(void **state)
{
    void (*const seen[])(struct check_task *) = {
        with_quiet,       with_lose,      with_duplicate, with_crash,      with_restart,  with_resume,
        with_cut,         with_join,      with_leave,     with_starvation, with_messages, with_overtaking,
        with_concurrency, with_canonical, with_bounds,    with_sequence,
    };

    (void)state;
    assert_true(is_reducible_with(with_nothing));
    for (size_t k = 0; k < sizeof seen / sizeof seen[0]; k++)
        assert_false(is_reducible_with(seen[k]));
}

/* A canonical form is for unlimited requests; messages that are lost or doubled, and sites that fail, are counted in a state. */
static void a_search_has_canonical_forms_only_without_mishaps(void **state)
{
    void (*const refused[])(struct check_task *) = {with_lose,   with_duplicate, with_crash, with_restart,
                                                    with_resume, with_cut,       with_join,  with_leave};
    struct check_task task = plain_task();

    (void)state;
    memset(task.requests, CHECK_UNLIMITED, 3);
    assert_true(check_may_be_canonical(&task));
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        task = plain_task();
        memset(task.requests, CHECK_UNLIMITED, 3);
        refused[k](&task);
        assert_false(check_may_be_canonical(&task));
    }
}

/* Two sites and the others: the algorithm says what the others may do, for numbers without bounds, and nothing fails. */
static void a_proof_for_any_number_of_sites_is_for_some_tasks(void **state)
{
    void (*const refused[])(struct check_task *) = {with_lose,   with_duplicate, with_crash, with_restart,
                                                    with_resume, with_cut,       with_join,  with_leave};
    const struct dme_option *o = ricart_agrawala.options;
    struct dme_alg alone = ricart_agrawala;
    struct check_task task = plain_task();

    (void)state;
    assert_true(check_may_be_any_number(&task));
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        task = plain_task();
        refused[k](&task);
        assert_false(check_may_be_any_number(&task));
    }
    task = plain_task();
    task.conf.rule = DME_SLOTS;
    assert_false(check_may_be_any_number(&task));
    alone.crowd = NULL;
    task = plain_task();
    task.conf.alg = &alone;
    assert_false(check_may_be_any_number(&task));
    assert_true(o && o[0].key && !o[0].choices);
    task = plain_task();
    task.conf.option[0]++;
    assert_false(check_may_be_any_number(&task));
}

/* ------------------------------------------------------------------------------------------------------------ threads */

static void assert_threads_agree(struct check_task task)
{
    struct check_result one, more;

    task.limit = 20000;
    check_run(&task, &one);
    assert_int_equal(one.verdict, CHECK_HOLDS);
    for (task.threads = 2; task.threads <= 3; task.threads++) {
        check_run(&task, &more);
        assert_int_equal(more.verdict, CHECK_HOLDS);
        assert_int_equal(more.states, one.states);
        assert_int_equal(more.transitions, one.transitions);
        assert_int_equal(more.overtaken, one.overtaken);
        assert_int_equal(more.messages, one.messages);
    }
}

/* Forms, overtaking, messages, time and failures are for one thread, whatever the task allows. */
static void what_several_threads_cannot_do_is_done_by_one(void **state)
{
    struct check_task task = plain_task();

    (void)state;
    dme_conf_init(&task.conf, &ricart_agrawala, 2, DME_EXCLUSIVE, 0);
    memset(task.requests, CHECK_UNLIMITED, 2);
    task.canonical = true;
    assert_threads_agree(task);
    task = plain_task();
    task.overtaking = true;
    task.overtakes = 254;
    assert_threads_agree(task);
    task = plain_task();
    task.messages = true; /* several threads may give the first state another number than 0 */
    for (uint8_t requests = 1; requests < 5; requests++) {
        dme_conf_init(&task.conf, &ricart_agrawala, 2, DME_EXCLUSIVE, 0);
        memset(task.requests, requests, 2);
        assert_threads_agree(task);
    }
    task = plain_task();
    task.needs = ricart_agrawala_implicit.needs;
    dme_conf_init(&task.conf, &ricart_agrawala_implicit, 2, DME_EXCLUSIVE, 0);
    assert_true(task.needs & DME_BOUNDED_DELAY);
    assert_threads_agree(task);
    task = plain_task();
    dme_conf_init(&task.conf, &suzuki_kasami, 2, DME_EXCLUSIVE, 0);
    task.crash = 1;
    task.deadlocks_too = task.plain = true;
    assert_threads_agree(task);
}

/* --------------------------------------------------------------------------------------------------------- overtaking */

/* Site 0 asks site 1, which enters as often as it likes before it answers. */
enum { ASK, GO };
static const struct dme_kind polite_kinds[] = {{"ASK", 0, 0}, {"GO", 0, 0}, {0}};

static void polite_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        dme_send(d, 1, ASK);
    else
        dme_enter(d);
}

static void polite_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    if (m->kind == ASK)
        dme_send(d, m->from, GO);
    else
        dme_enter(d);
}

static void polite_release(struct dme *d, void *state)
{
    (void)d, (void)state;
}

static const struct dme_alg polite = {
    .name = "polite",
    .kinds = polite_kinds,
    .rules = 1 << DME_SLOTS,
    .needs = DME_RELIABLE | DME_ALIVE,
    .request = polite_request,
    .receive = polite_receive,
    .release = polite_release,
};

static struct check_result overtaken_at_most(uint32_t overtakes, uint8_t requests, uint8_t cuts)
{
    struct check_task task = plain_task();
    struct check_result r;

    dme_conf_init(&task.conf, &polite, 2, DME_SLOTS, 2);
    task.requests[0] = 1;
    task.requests[1] = requests;
    task.overtaking = task.deadlocks_too = true;
    task.overtakes = overtakes;
    task.cut = cuts;
    check_run(&task, &r);
    free(r.trace);
    return r;
}

static void a_site_is_overtaken_as_often_as_others_enter(void **state)
{
    struct check_result r;

    (void)state;
    for (uint8_t requests = 0; requests <= 4; requests++) {
        r = overtaken_at_most(requests, requests, 0);
        assert_int_equal(r.verdict, CHECK_HOLDS);
        assert_int_equal(r.overtaken, requests);
        r = overtaken_at_most(requests, requests, 1);
        assert_int_equal(r.verdict, CHECK_HOLDS);
        assert_int_equal(r.overtaken, requests);
        if (requests)
            assert_int_equal(overtaken_at_most(requests - 1u, requests, 0).verdict, CHECK_OVERTAKING);
    }
}

/* Site 1 alone, where the network may be cut: no site waits. */
static void no_site_is_kept_out_where_the_network_is_cut(void **state)
{
    struct check_task task = plain_task();
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &polite, 2, DME_SLOTS, 2);
    task.requests[0] = 0;
    task.concurrency = true;
    task.cut = 1;
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
}

/* ------------------------------------------------------------------------------------------------------ without an end */

/* Sites that count their requests, and enter in one way or another. */
enum way { AT_ONCE, BY_MESSAGES, BY_TIMERS, WITH_A_FAULT, NEVER };
static struct {
    enum way way;
    dme_id counts;   /* the site that counts */
    uint64_t modulo; /* 0: none */
} counter;

struct count {
    uint64_t requests, fired;
};

static void counter_request(struct dme *d, void *state)
{
    struct count *s = state;

    DME_EXPECT(d, d->conf->rule != DME_GROUP || dme_claim(d, 0).mode == 1); /* the first of the groups */
    s->requests += d->self == counter.counts;
    s->requests = counter.modulo ? s->requests % counter.modulo : s->requests;
    switch (counter.way) {
    case AT_ONCE:
        dme_enter(d);
        break;
    case BY_MESSAGES:
        dme_send(d, (d->self + 1) % d->n, ASK);
        break;
    case BY_TIMERS:
    case NEVER:
        dme_start(d, 0, 0);
        break;
    case WITH_A_FAULT:
        dme_enter(d);
        DME_EXPECT(d, false);
        break;
    }
}

static void counter_timer(struct dme *d, void *state, unsigned timer)
{
    struct count *s = state;

    s->fired = counter.way == NEVER ? s->fired + 1 : !s->fired;
    if (s->fired)
        dme_start(d, timer, 0);
    else
        dme_enter(d);
}

static bool counter_grows(enum way way, dme_id counts, uint64_t modulo, enum dme_rule rule)
{
    static const struct dme_alg alg = {
        .name = "counter",
        .kinds = polite_kinds,
        .rules = 1 << DME_EXCLUSIVE | 1 << DME_GROUP,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = sizeof(struct count),
        .request = counter_request,
        .receive = polite_receive,
        .release = polite_release,
        .timer = counter_timer,
    };
    struct check_task task = plain_task();

    counter.way = way, counter.counts = counts, counter.modulo = modulo;
    dme_conf_init(&task.conf, &alg, 2, rule, rule == DME_GROUP);
    return check_grows(&task);
}

/* 256 entries of each site are tried, and the states behind them compared. */
static void sites_that_count_grow_without_end(void **state)
{
    (void)state;
    assert_false(counter_grows(AT_ONCE, DME_NONE, 0, DME_EXCLUSIVE));
    for (dme_id i = 0; i < 2; i++) {
        assert_true(counter_grows(AT_ONCE, i, 0, DME_EXCLUSIVE));
        assert_true(counter_grows(AT_ONCE, i, 0, DME_GROUP));
        assert_true(counter_grows(BY_MESSAGES, i, 0, DME_EXCLUSIVE));
        assert_true(counter_grows(BY_TIMERS, i, 0, DME_EXCLUSIVE));
        assert_true(counter_grows(AT_ONCE, i, 256, DME_EXCLUSIVE));
        assert_false(counter_grows(AT_ONCE, i, 255, DME_EXCLUSIVE));
        assert_false(counter_grows(WITH_A_FAULT, i, 0, DME_EXCLUSIVE));
        assert_false(counter_grows(NEVER, i, 0, DME_EXCLUSIVE)); /* that says nothing */
    }
}

/* Sites enter whenever they like, and the first one tells the others. Nothing in the sites grows, but what is in flight to a site that is late does. */
static void teller_request(struct dme *d, void *state)
{
    (void)state;
    for (dme_id j = 1; d->self == 0 && j < d->n; j++)
        dme_send(d, j, 0);
    dme_enter(d);
}

static void teller_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d, (void)state, (void)m;
}

static void teller_release(struct dme *d, void *state)
{
    (void)d, (void)state;
}

static void messages_that_are_not_awaited_grow_without_end(void **state)
{
    static const struct dme_kind kinds[] = {{"NOTE", 0, 0}, {0}};
    static const struct dme_alg teller = {
        .name = "teller",
        .kinds = kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .request = teller_request,
        .receive = teller_receive,
        .release = teller_release,
    };
    struct check_task task = plain_task();

    (void)state;
    for (uint32_t n = 1; n <= 3; n++) {
        dme_conf_init(&task.conf, &teller, n, DME_EXCLUSIVE, 0);
        assert_int_equal(check_grows(&task), n > 1);
    }
    task.needs |= DME_BOUNDED_DELAY; /* no message is late for ever */
    assert_false(check_grows(&task));
}

/* The last site tells the first one. */
static void last_teller_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self == d->n - 1)
        dme_send(d, 0, 0);
    dme_enter(d);
}

static void messages_to_the_first_site_grow_without_end(void **state)
{
    static const struct dme_alg teller = {
        .name = "teller",
        .kinds = polite_kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .request = last_teller_request,
        .receive = teller_receive,
        .release = teller_release,
    };
    struct check_task task = plain_task();

    (void)state;
    dme_conf_init(&task.conf, &teller, 2, DME_EXCLUSIVE, 0);
    assert_true(check_grows(&task));
}

/* The token of le-lann is always under way or held, so there is never a moment without messages at which a site may request. */
static void a_search_in_which_no_site_can_request_is_told(void **state)
{
    struct check_task task = plain_task();
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &le_lann, 3, DME_EXCLUSIVE, 0);
    for (task.quiet = 0; task.quiet < 3; task.quiet++) {
        check_run(&task, &r);
        assert_int_equal(r.verdict, CHECK_HOLDS);
        assert_int_equal(r.vacuous, task.quiet == 1);
        free(r.trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_is_reduced_only_if_nothing_sees_the_order_of_moves),
        cmocka_unit_test(a_search_has_canonical_forms_only_without_mishaps),
        cmocka_unit_test(a_proof_for_any_number_of_sites_is_for_some_tasks),
        cmocka_unit_test(what_several_threads_cannot_do_is_done_by_one),
        cmocka_unit_test(a_site_is_overtaken_as_often_as_others_enter),
        cmocka_unit_test(no_site_is_kept_out_where_the_network_is_cut),
        cmocka_unit_test(sites_that_count_grow_without_end),
        cmocka_unit_test(messages_that_are_not_awaited_grow_without_end),
        cmocka_unit_test(messages_to_the_first_site_grow_without_end),
        cmocka_unit_test(a_search_in_which_no_site_can_request_is_told),
    };

    return cmocka_run_group_tests_name("checker_tasks", tests, NULL, NULL);
}
