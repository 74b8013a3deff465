/* What dibs lock decides about processes (src/wrap/wrap.h): whom a sweep stops, and whom it stops again. */
#include "test.h"

#include "wrap/wrap.h"

#include <signal.h>

static struct wrap_sweep sweep;

/* A pass over the tree 1 -> 10 -> 11, that is what /proc shows. Returns how many processes get the signal. */
static unsigned pass(int number, bool stopped)
{
    struct wrap_process of;
    unsigned sent = 0;

    wrap_begin(&sweep, number, 0);
    while (wrap_next(&sweep, &of)) {
        struct wrap_process child = {
            .pid = of.pid == 1 ? 10 : 11, .parent = of.pid, .group = 10, .started = 7, .stopped = stopped};

        if (of.pid != 11)
            sent += wrap_see(&sweep, &child);
    }
    wrap_finish(&sweep);
    return sent;
}

static void a_process_that_was_continued_is_stopped_again(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    assert_int_equal(pass(SIGSTOP, false), 2);
    assert_int_equal(pass(SIGSTOP, true), 0);
    wrap_continued(&sweep, 11);
    wrap_continued(&sweep, 12);
    assert_int_equal(pass(SIGSTOP, false), 1);
    assert_int_equal(sweep.seen[1].sent, SIGSTOP);
    assert_false(sweep.seen[1].process.stopped);
    assert_int_equal(pass(SIGSTOP, false), 0);
    assert_int_equal(pass(SIGKILL, true), 2);
    wrap_continued(&sweep, 11); /* it is being killed */
    assert_int_equal(pass(SIGSTOP, false), 0);
}

/* It gets SIGSTOP, and runs for a moment before it stops. Then the system shows it as stopped in the next pass. */
static void a_process_that_stops_late_goes_on_with_the_others(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    assert_int_equal(pass(SIGSTOP, false), 2);
    wrap_continued(&sweep, 11);
    assert_int_equal(pass(SIGSTOP, true), 1);
    assert_int_equal(pass(SIGSTOP, true), 0);
    for (unsigned k = 0; k < 2; k++)
        assert_true(sweep.seen[k].sent == SIGSTOP && !sweep.seen[k].process.stopped);
}

/* A process that its user has stopped does not. But if another process has continued it since, it was to run. */
static void a_process_that_was_stopped_before_does_not_unless_it_was_continued(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    assert_int_equal(pass(SIGSTOP, true), 2);
    wrap_continued(&sweep, 11);
    assert_int_equal(pass(SIGSTOP, false), 1);
    assert_true(sweep.seen[0].process.stopped && !sweep.seen[1].process.stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_was_continued_is_stopped_again),
        cmocka_unit_test(a_process_that_stops_late_goes_on_with_the_others),
        cmocka_unit_test(a_process_that_was_stopped_before_does_not_unless_it_was_continued),
    };

    return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
