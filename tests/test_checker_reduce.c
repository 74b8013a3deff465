/* What a reduced search must not leave out, and the table that it keeps its claims in. Each algorithm has one order of two moves that
 * violates something. */
#include "test.h"

#include "check/check.h"
#include "check/intern.h"
#include "core/alg.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

extern const struct dme_alg ricart_agrawala;

enum { STOP, NEWS };
static const struct dme_kind kinds[] = {{"STOP", 0, 0}, {"NEWS", 0, 0}, {0}};

static void toy_nothing(struct dme *d, void *state)
{
    (void)d, (void)state;
}

/* The verdict of a reduced search, and of one that is not: one that finds more than the other is wrong. */
static void assert_verdict(const struct dme_alg *alg, uint32_t n, dme_id asks, enum check_verdict verdict)
{
    for (int reduce = 0; reduce < 2; reduce++) {
        struct check_task task = {.needs = alg->needs, .limit = 1000000, .deadlocks_too = true};
        struct check_result r;

        dme_conf_init(&task.conf, alg, n, DME_EXCLUSIVE, 0);
        task.requests[asks] = 1;
        task.reduce = task.plain = reduce;
        check_run(&task, &r);
        free(r.trace);
        assert_int_equal(r.verdict, verdict);
    }
}

/* Site 1 starts a timer and asks site 0 to stop it. A timer that fires before that is a fault. */
static void hurry_request(struct dme *d, void *state)
{
    (void)state;
    dme_start(d, 0, 0);
    dme_send(d, 0, NEWS);
}

static void hurry_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    if (m->kind == STOP)
        dme_stop(d, 0);
    else
        dme_send(d, m->from, STOP);
}

static void hurry_timer(struct dme *d, void *state, unsigned timer)
{
    (void)state, (void)timer;
    DME_EXPECT(d, false);
}

static void a_message_that_stops_a_timer_may_be_late(void **state)
{
    static const struct dme_alg hurry = {
        .name = "hurry",
        .kinds = kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .request = hurry_request,
        .receive = hurry_receive,
        .release = toy_nothing,
        .timer = hurry_timer,
    };

    (void)state;
    assert_verdict(&hurry, 2, 1, CHECK_ERROR);
}

/* A message is in flight from the beginning. That of a site that asks must not arrive before it. */
struct first {
    uint64_t heard;
};

static void first_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 0, NEWS);
}

static void first_request(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, 0, NEWS);
}

static void first_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct first *s = state;

    DME_EXPECT(d, m->from == 1 || s->heard);
    s->heard = 1;
}

static const struct dme_alg first = {
    .name = "first",
    .kinds = kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct first),
    .init = first_init,
    .request = first_request,
    .receive = first_receive,
    .release = toy_nothing,
};

static void the_initial_state_is_looked_at_again(void **state)
{
    (void)state;
    assert_verdict(&first, 3, 2, CHECK_ERROR);
}

/* Two messages to site 0, one after the other, and then its request is a fault: a reduced search makes these moves first. A shortest way to a
 * violation is that sites 1 and 2 enter. */
struct count {
    uint64_t heard;
};

static void count_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 0, NEWS);
}

static void count_request(struct dme *d, void *state)
{
    struct count *s = state;

    if (d->self)
        dme_enter(d);
    else
        DME_EXPECT(d, s->heard < 2);
}

static void count_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct count *s = state;

    if (d->self)
        dme_send(d, m->from, STOP);
    else if (++s->heard == 1)
        dme_send(d, 1, NEWS);
}

/* The reduced search has found it; the other one, which would show it, has more states than the limit after its first look. */
static void a_fault_is_told_though_there_is_no_trace(void **state)
{
    struct check_task task = {.needs = first.needs, .limit = 2, .deadlocks_too = true, .reduce = true, .plain = true};
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &first, 3, DME_EXCLUSIVE, 0);
    task.requests[2] = 1;
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_ERROR);
    assert_non_null(r.fault);
    assert_null(r.trace);
}

static void a_trace_and_its_verdict_are_of_one_search(void **state)
{
    static const struct dme_alg count = {
        .name = "count",
        .kinds = kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = sizeof(struct count),
        .init = count_init,
        .request = count_request,
        .receive = count_receive,
        .release = toy_nothing,
    };
    struct check_task task = {.needs = count.needs, .limit = 1000000, .deadlocks_too = true, .reduce = true};
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &count, 3, DME_EXCLUSIVE, 0);
    task.plain = true;
    task.requests[0] = 1;
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_ERROR);
    assert_non_null(r.fault);
    assert_int_equal(r.trace_length, 4);
    free(r.trace);
    memset(task.requests, 1, 3);
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_EXCLUSION);
    assert_null(r.fault);
    assert_int_equal(r.trace_length, 2);
    assert_int_equal(r.trace[0].type, DME_REQUEST);
    assert_int_equal(r.trace[1].type, DME_REQUEST);
    free(r.trace);
}

static void a_reduced_search_keeps_to_its_limits(void **state)
{
    static const volatile sig_atomic_t now = 1;
    struct check_task task = {.needs = check_needs(&ricart_agrawala, false), .limit = 1, .reduce = true};
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &ricart_agrawala, 3, DME_EXCLUSIVE, 0);
    task.plain = true;
    memset(task.requests, 1, 3);
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_false(r.interrupted);
    task.limit = 1000000;
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    task.stop = &now;
    check_run(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_true(r.interrupted);
}

static void a_table_has_what_was_set_last(void **state)
{
    enum { MANY = 5000 };
    struct memo m;

    (void)state;
    memset(&m, 0xa5, sizeof m);
    memo_init(&m);
    assert_int_equal(memo_memory(&m), 1024 * 12);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t k = 0; k < MANY; k++) {
            memo_set(&m, k, k % 3, k + round);
            assert_int_equal(memo_get(&m, k, k % 3), k + round);
        }
    for (uint32_t k = 0; k < MANY; k++)
        assert_int_equal(memo_get(&m, k, k % 3), k + 1);
    assert_int_equal(m.count, MANY);
    memo_free(&m);
}

static void equal_bytes_have_one_number(void **state)
{
    enum { MANY = 5000 };
    struct intern in;

    (void)state;
    memset(&in, 0xa5, sizeof in);
    intern_init(&in);
    assert_int_equal(intern_memory(&in), 1024 * sizeof(uint32_t));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t k = 0; k < MANY; k++) {
            uint32_t bytes[4] = {k, 1, 2, 3}, id = intern_put(&in, bytes, k % 4 * 4 + 4);

            assert_int_equal(id, k);
            assert_memory_equal(intern_get(&in, id), bytes, k % 4 * 4 + 4);
        }
    assert_int_equal(in.count, MANY);
    intern_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_stops_a_timer_may_be_late),
        cmocka_unit_test(the_initial_state_is_looked_at_again),
        cmocka_unit_test(a_fault_is_told_though_there_is_no_trace),
        cmocka_unit_test(a_trace_and_its_verdict_are_of_one_search),
        cmocka_unit_test(a_reduced_search_keeps_to_its_limits),
        cmocka_unit_test(a_table_has_what_was_set_last),
        cmocka_unit_test(equal_bytes_have_one_number),
    };

    return cmocka_run_group_tests_name("checker_reduce", tests, NULL, NULL);
}
