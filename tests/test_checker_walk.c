/* Random runs of the checker. The same seed gives the same runs (I10), so the number of moves of many runs tells whether a move was offered
 * where it must not be, or was not where it must be. If a protocol changes, so do these numbers. */
#include "test.h"

#include "alg/list.h"
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct dme_alg name;
DIBS_ALGORITHMS(X)
#undef X

struct story {
    const char *what;
    const struct dme_alg *alg;
    enum dme_rule rule;
    uint32_t limit, n, requests, runs;
    struct check_task more; /* its mishaps and bounds; `needs`: those that the network does not keep */
    /* what comes of it */
    enum check_verdict verdict;
    uint64_t made, moves;
    uint32_t depth;
};

/* clang-format off */
static const struct story stories[] = {
    {"requests", &naimi_trehel, DME_EXCLUSIVE, 0, 5, 2, 20, {.lose = 0}, CHECK_HOLDS, 20, 871, 47},
    {"readers and writers", &joung_ra2, DME_SHARED, 0, 3, 2, 20, {.lose = 0}, CHECK_HOLDS, 20, 726, 38},
    {"groups", &joung_ra2, DME_GROUP, 2, 3, 2, 20, {.lose = 0}, CHECK_HOLDS, 20, 734, 40},
    {"another number of sites", &naimi_trehel, DME_EXCLUSIVE, 0, 4, 2, 20, {.needs = 0}, CHECK_HOLDS, 20, 683, 37},
    {"channels without order", &lamport, DME_EXCLUSIVE, 0, 4, 1, 100, {.needs = DME_FIFO}, CHECK_INVARIANT, 2, 60, 44},
    {"timers of a bound", &ricart_agrawala_implicit, DME_EXCLUSIVE, 0, 4, 2, 20, {.lose = 0}, CHECK_HOLDS, 20, 1600, 84},
    {"no bound", &ricart_agrawala_implicit, DME_EXCLUSIVE, 0, 4, 2, 20, {.needs = DME_BOUNDED_DELAY}, CHECK_EXCLUSION, 1, 6, 6},
    {"few messages", &naimi_trehel, DME_EXCLUSIVE, 0, 5, 2, 20, {.quiet = 2}, CHECK_HOLDS, 20, 908, 49},
    {"losses", &maekawa, DME_EXCLUSIVE, 0, 9, 1, 100, {.lose = 1}, CHECK_DEADLOCK, 1, 91, 91},
    {"deadlocks too", &maekawa, DME_EXCLUSIVE, 0, 4, 1, 20, {.lose = 2, .deadlocks_too = true}, CHECK_INVARIANT, 12, 209, 20},
    {"second copies", &raymond, DME_EXCLUSIVE, 0, 9, 1, 100, {.duplicate = 1}, CHECK_INVARIANT, 1, 14, 14},
    {"copies of a token", &suzuki_kasami_robust, DME_EXCLUSIVE, 0, 4, 1, 20, {.duplicate = 2}, CHECK_INVARIANT, 5, 119, 28},
    {"crashes", &suzuki_kasami_robust, DME_EXCLUSIVE, 0, 4, 2, 20, {.crash = 2}, CHECK_HOLDS, 20, 741, 49},
    {"news is not lost", &suzuki_kasami_robust, DME_EXCLUSIVE, 0, 4, 2, 20, {.crash = 2, .lose = 1, .deadlocks_too = true}, CHECK_HOLDS, 20, 695, 47},
    {"restarts", &singhal_heuristic_robust, DME_EXCLUSIVE, 0, 3, 2, 10, {.crash = 2, .restart = 1}, CHECK_HOLDS, 10, 304, 42},
    {"resumed", &singhal_heuristic_robust, DME_EXCLUSIVE, 0, 3, 2, 10, {.crash = 2, .resume = 1}, CHECK_HOLDS, 10, 304, 42},
    {"both", &singhal_heuristic_robust, DME_EXCLUSIVE, 0, 3, 3, 20, {.crash = 3, .restart = 1, .resume = 1}, CHECK_HOLDS, 20, 766, 56},
    {"cuts", &singhal_heuristic_robust, DME_EXCLUSIVE, 0, 3, 2, 10, {.cut = 2}, CHECK_HOLDS, 10, 762, 89},
    {"cuts of many sites", &naimi_trehel, DME_EXCLUSIVE, 0, 33, 1, 3, {.cut = 3}, CHECK_DEADLOCK, 1, 75, 75},
    {"members", &ricart_agrawala_robust, DME_EXCLUSIVE, 0, 4, 2, 10, {.crash = 1, .leave = 2, .join = 2}, CHECK_HOLDS, 10, 667, 83},
    {"no members", &suzuki_kasami_robust, DME_EXCLUSIVE, 0, 4, 2, 10, {.crash = 1, .leave = 1, .join = 1}, CHECK_HOLDS, 10, 561, 62},
    {"suspicions", &singhal_heuristic_robust, DME_EXCLUSIVE, 0, 4, 2, 200, {.needs = DME_DETECTION, .crash = 1}, CHECK_DEADLOCK, 4, 208, 65},
    {"no news", &naimi_trehel, DME_EXCLUSIVE, 0, 4, 1, 20, {.needs = DME_DETECTION, .crash = 1, .deadlocks_too = true}, CHECK_INVARIANT, 17, 188, 14},
    {"a token that never rests", &le_lann, DME_EXCLUSIVE, 0, 40, 2, 5, {.lose = 0}, CHECK_HOLDS, 5, 1207, 242},
    {"no invariants", &lamport, DME_EXCLUSIVE, 0, 4, 1, 100, {.needs = DME_FIFO, .plain = true}, CHECK_EXCLUSION, 5, 199, 44},
    {"a mistake that needs more", &banta_simple_as_published, DME_EXCLUSIVE, 0, 3, 2, 100, {.lose = 0}, CHECK_HOLDS, 100, 2544, 32},
    {"a flaw", &naimi_trehel_tempting, DME_EXCLUSIVE, 0, 5, 1, 100, {.lose = 0}, CHECK_DEADLOCK, 1, 15, 15},
};
/* clang-format on */

static struct check_task task_of(const struct story *s)
{
    struct check_task task = s->more;

    dme_conf_init(&task.conf, s->alg, s->n, s->rule, s->limit);
    task.needs = s->alg->needs & ~s->more.needs;
    memset(task.requests, (int)s->requests, s->n);
    return task;
}

/* The trace is the run that ends with the violation. */
static void assert_trace_shows(const struct check_task *task, const struct check_result *r)
{
    struct lab_world *w = world_new(&task->conf);

    for (uint32_t k = 0; k < r->trace_length; k++) {
        assert_true(world_safe(w) && !w->out->fault);
        assert_null(world_move(w, &r->trace[k]));
    }
    assert_true(r->verdict != CHECK_EXCLUSION || !world_safe(w));
    assert_true(r->verdict != CHECK_DEADLOCK || world_stuck(w));
    if (r->verdict == CHECK_ERROR)
        assert_string_equal(w->out->fault, r->fault);
    if (r->verdict == CHECK_INVARIANT)
        assert_string_equal(world_broken(w), r->fault);
    world_free(w);
}

static void the_same_seed_gives_the_same_runs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        const struct story *s = &stories[k];
        struct check_task task = task_of(s);
        struct check_result r;

        check_random(&task, s->runs, 7, &r);
        if (r.verdict != s->verdict || r.runs != s->made || r.transitions != s->moves || r.depth != s->depth)
            fail_msg("%s: %s, %d runs, %d moves, %d in one", s->what, check_verdicts[r.verdict], (int)r.runs,
                     (int)r.transitions, (int)r.depth);
        assert_false(r.interrupted);
        assert_int_equal(r.trace != NULL, r.verdict != CHECK_HOLDS);
        if (r.trace)
            assert_trace_shows(&task, &r);
        free(r.trace);
    }
}

static void random_runs_end_when_they_are_stopped(void **state)
{
    static const volatile sig_atomic_t now = 1, not_yet = 0;
    struct check_task task = task_of(&stories[0]);
    struct check_result r;

    (void)state;
    task.stop = &now;
    check_random(&task, 3, 7, &r);
    assert_true(r.interrupted && r.runs == 0 && r.verdict == CHECK_HOLDS);
    task.stop = &not_yet;
    check_random(&task, 3, 7, &r);
    assert_true(!r.interrupted && r.runs == 3 && r.verdict == CHECK_HOLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_runs),
        cmocka_unit_test(random_runs_end_when_they_are_stopped),
    };

    return cmocka_run_group_tests_name("checker_walk", tests, NULL, NULL);
}
