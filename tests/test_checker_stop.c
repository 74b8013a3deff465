/* Ctrl-C (task->stop) while the checker looks at all states together: it ends, and does not say that something holds which it has not looked at. */
#include "test.h"

#include "check/check.h"
#include "check/search.h"
#include "core/alg.h"

#include <stdlib.h>
#include <string.h>

static const volatile sig_atomic_t now = 1, not_yet = 0;
static volatile sig_atomic_t late;

/* Sites 1 and 2 pass a ball to and fro for ever. Site 0 is never let in. */
static const struct dme_kind ball_kinds[] = {{"BALL", 0, 0}, {0}};

static void ball_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 2, 0);
}

static void ball_nothing(struct dme *d, void *state)
{
    (void)d, (void)state;
}

static void ball_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    dme_send(d, m->from, 0);
}

static const struct dme_alg ball = {
    .name = "ball",
    .kinds = ball_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .init = ball_init,
    .request = ball_nothing,
    .receive = ball_receive,
    .release = ball_nothing,
};

static struct check_task ball_task(void)
{
    struct check_task task = {.needs = ball.needs, .limit = 1000, .plain = true};

    dme_conf_init(&task.conf, &ball, 3, DME_EXCLUSIVE, 0);
    task.requests[0] = 1;
    return task;
}

static void stop_late(uint64_t states, uint64_t waiting, double seconds)
{
    (void)states, (void)waiting, (void)seconds;
    late = 1;
}

/* The system is so small that the search looks at the limits once, and then the task is stopped. */
static void what_was_not_looked_at_does_not_hold(void **state)
{
    (void)state;
    for (int messages = 0; messages < 2; messages++) {
        struct check_task task = ball_task();
        struct check_result r;

        task.starvation = !messages;
        task.messages = messages;
        task.progress = stop_late;
        task.stop = &late;
        late = 0;
        check_run(&task, &r);
        assert_int_equal(late, 1);
        assert_int_equal(r.verdict, CHECK_UNFINISHED);
        assert_true(r.interrupted);
        assert_int_equal(r.messages, 0);
        assert_null(r.trace);
        task.stop = &not_yet;
        check_run(&task, &r);
        assert_int_equal(r.verdict, messages ? CHECK_HOLDS : CHECK_STARVATION);
        assert_true(r.messages == (messages ? UINT64_MAX : 0));
        free(r.trace);
    }
}

/* Reaches all states of the task: the moves of the ball, and the request. */
static void reach_all(struct search *s)
{
    uint32_t from[SPACE_WIDTH], next[SPACE_WIDTH];

    space_start(&s->space, s->task->requests, from);
    memcpy(s->concrete, from, sizeof from);
    s->start = states_add(&s->states, from, states_hash(&s->states, from), STATES_NONE);
    for (uint32_t k = 0; k < states_count(&s->states); k++)
        for (dme_id i = 0; i < s->n; i++) {
            uint32_t first, count = space_expand(&s->space, states_get(&s->states, k)[i], &first);

            for (uint32_t t = first; t < first + count; t++) {
                memcpy(from, states_get(&s->states, k), s->states.width * sizeof *from);
                space_apply(&s->space, from, i, t, next);
                states_add(&s->states, next, states_hash(&s->states, next), k);
            }
        }
}

static void a_search_for_starvation_ends_when_it_is_stopped(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++) {
        struct check_task task = ball_task();
        struct check_result result = {0};
        struct search s = {.task = &task, .result = &result, .n = task.conf.n};

        task.stop = stopped ? &now : &not_yet;
        space_init(&s.space, &task.conf, task.needs);
        states_init(&s.states, space_width(&s.space), 1);
        reach_all(&s);
        assert_int_equal(states_count(&s.states), 4);
        assert_int_equal(starve_search(&s), !stopped);
        free(result.trace);
        states_free(&s.states);
        space_free(&s.space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_looked_at_does_not_hold),
        cmocka_unit_test(a_search_for_starvation_ends_when_it_is_stopped),
    };

    return cmocka_run_group_tests_name("checker_stop", tests, NULL, NULL);
}
