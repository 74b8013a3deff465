/* What dibs lock decides about processes (src/wrap/wrap.h): when its command's processes are ended, by stories; which processes a sweep stops, and
 * which it stops again.
 * Invariant: I30. */
#include "test.h"

#include "wrap/wrap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { TICK_MS = 10, GRACE_MS = 15 };

/* A story is a row of events, 10 ms apart: c the command has ended, k it was ended by a signal, 0 nothing of the tree is left, l the lock is lost,
 * p the partner was killed, . time passes; and signals: t SIGTERM, i SIGINT, q SIGQUIT, h SIGHUP, u SIGUSR1. `then` has what follows each of
 * them: "pass" and "term" are actions, all others states that are new, and - is neither. The grace is over at the second event behind "term". */
static const struct story {
    const char *what;
    enum wrap_background background;
    bool yields;
    const char *events, *then;
} stories[] = {
    {"W1: the command ends, and nothing is left", WRAP_WAIT, false, "0", "done"},
    {"W1: the lock is kept until the rest has ended", WRAP_WAIT, false, "c..0", "rests - - done"},
    {"W1: unless it was asked for something else", WRAP_LEAVE, false, "c", "done"},
    {"W1: also if a signal has ended the command", WRAP_LEAVE, false, "k", "done"},
    {"W1: also if a signal has told the keeper to end", WRAP_LEAVE, false, "tc", "pass done"},
    {"W2: the lock is lost: the tree is ended, and killed when the grace is over", WRAP_WAIT, false, "l..0",
     "term - kills done"},
    {"W2: a tree that has ended within the grace is not killed", WRAP_WAIT, false, "l0", "term done"},
    {"W2: the lock is lost while the rest runs", WRAP_WAIT, false, "cl..", "rests term - kills"},
    {"W2: a loss that is told twice gives no more time", WRAP_WAIT, false, "ll.", "term - kills"},
    {"W2: nor does the end of the command", WRAP_WAIT, false, "lc.", "term - kills"},
    {"W2: nor does a signal, which the command gets", WRAP_WAIT, true, "lt.", "term pass kills"},
    {"W2: of what runs behind a lost lock, nothing is left alone", WRAP_LEAVE, false, "lc.0", "term - kills done"},
    {"W3: the partner was killed", WRAP_WAIT, false, "p.0", "kills - done"},
    {"W3: .. while the rest runs", WRAP_LEAVE, false, "p", "kills"},
    {"W3: .. within the grace", WRAP_WAIT, false, "lp", "term kills"},
    {"W3: .. when all is done", WRAP_WAIT, false, "0plt.", "done - - - -"},
    {"W4: the rest is ended if that was asked for", WRAP_END, false, "c..0", "term - kills done"},
    {"W4: .. or if a signal has ended the command", WRAP_WAIT, false, "k", "term"},
    {"W4: .. or if SIGTERM told the keeper to end before", WRAP_WAIT, false, "tc", "pass term"},
    {"W4: .. or SIGINT", WRAP_WAIT, false, "ic", "pass term"},
    {"W4: .. or SIGQUIT", WRAP_WAIT, false, "qc", "pass term"},
    {"W4: .. but not another signal, nor that the terminal has gone, which the command outlives", WRAP_WAIT, false,
     "uhc", "pass pass rests"},
    {"W4: SIGTERM while the rest runs", WRAP_WAIT, false, "ct", "rests term"},
    {"W4: SIGINT", WRAP_WAIT, false, "ci", "rests term"},
    {"W4: SIGQUIT", WRAP_WAIT, false, "cq", "rests term"},
    {"W4: SIGHUP", WRAP_WAIT, false, "ch", "rests term"},
    {"W4: another signal is passed on", WRAP_WAIT, false, "cu", "rests pass"},
    {"W4: with `yields` all is ended at once", WRAP_LEAVE, true, "t..0", "term - kills done"},
    {"W4: by SIGINT", WRAP_WAIT, true, "i", "term"},
    {"W4: by SIGQUIT", WRAP_WAIT, true, "q", "term"},
    {"W4: by SIGHUP", WRAP_WAIT, true, "h", "term"},
    {"W4: not by another signal", WRAP_WAIT, true, "uc", "pass rests"},
};

static enum wrap_event event_of(char c)
{
    return c == 'c'   ? WRAP_COMMAND_ENDED
           : c == 'k' ? WRAP_COMMAND_KILLED
           : c == '0' ? WRAP_EMPTY
           : c == 'l' ? WRAP_LOST
           : c == 'p' ? WRAP_PARTNER_DIED
           : c == '.' ? WRAP_TIME
                      : WRAP_SIGNAL;
}

static int signal_of(char c)
{
    return c == 't' ? SIGTERM : c == 'i' ? SIGINT : c == 'q' ? SIGQUIT : c == 'h' ? SIGHUP : SIGUSR1;
}

static void processes_are_ended_by_the_rules(void **state)
{
    static const char *const states[] = {"runs", "rests", "ends", "kills", "done"};

    (void)state;
    for (unsigned k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        const struct story *s = &stories[k];
        struct wrap w = {.background = s->background, .yields = s->yields, .grace_ms = GRACE_MS};
        uint64_t now_ms = 1000;
        char then[200] = "";

        for (const char *c = s->events; *c; c++) {
            enum wrap_state before = w.state;
            enum wrap_action action = wrap_step(&w, event_of(*c), signal_of(*c), now_ms += TICK_MS);
            const char *what = action == WRAP_TERM   ? "term"
                               : action == WRAP_PASS ? "pass"
                               : w.state != before   ? states[w.state]
                                                     : "-";

            snprintf(then + strlen(then), sizeof then - strlen(then), "%s%s", *then ? " " : "", what);
            if (action == WRAP_TERM)
                assert_int_equal(w.state, WRAP_ENDS);
        }
        if (strcmp(then, s->then) != 0)
            fail_msg("%s: %s: %s, and not %s", s->what, s->events, then, s->then);
    }
}

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

/* Shows a process that began at this time. */
static bool see(int32_t pid, int32_t parent, int32_t group, uint64_t started)
{
    return wrap_see(&sweep, &(struct wrap_process){.pid = pid, .parent = parent, .group = group, .started = started});
}

static void a_pass_tells_whether_there_was_something_new(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    wrap_begin(&sweep, 0, 0);
    assert_false(see(10, 1, 10, 7));
    assert_true(wrap_finish(&sweep));
    wrap_begin(&sweep, 0, 0);
    see(10, 1, 10, 7);
    assert_false(wrap_finish(&sweep));
    wrap_begin(&sweep, SIGSTOP, 0); /* it may have forked until it was stopped */
    assert_true(see(10, 1, 10, 7));
    assert_true(wrap_finish(&sweep));
    wrap_begin(&sweep, SIGSTOP, 0);
    assert_false(see(10, 1, 10, 7));
    assert_false(wrap_finish(&sweep));
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1, .spare = 2};
    wrap_begin(&sweep, SIGSTOP, 0);
    assert_true(see(10, 2, 10, 7));
    assert_true(see(11, 10, 10, 7));
    assert_false(see(1, 10, 1, 3) || see(2, 1, 2, 4) ||
                 see(12, 99, 10, 7)); /* the root, the guard, a process of others */
    wrap_finish(&sweep);
    wrap_begin(&sweep, SIGSTOP, 0);
    assert_true(see(11, 1, 10, 8));   /* began later: it was not stopped */
    assert_false(see(12, 10, 10, 8)); /* process 10 has ended, and the parent is another process */
    assert_true(wrap_finish(&sweep));
    assert_int_equal(sweep.count, 1); /* process 10 is forgotten */
    assert_int_equal(sweep.seen[0].process.pid, 11);
}

static void what_has_become_of_a_process_is_remembered(void **state)
{
    struct wrap_process p = {.pid = 10, .parent = 1, .group = 10, .started = 7};

    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    wrap_begin(&sweep, SIGTERM, 10);
    assert_true(wrap_see(&sweep, &p));
    p.group = 11;
    p.ended = true;
    wrap_begin(&sweep, SIGTERM, 10);
    assert_false(wrap_see(&sweep, &p));
    assert_true(sweep.seen[0].process.group == 11 && sweep.seen[0].process.ended);
}

static void a_process_of_another_user_is_asked_once(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    assert_int_equal(pass(SIGSTOP, false), 2);
    wrap_refuse(&sweep, 11);
    assert_true(sweep.seen[1].refused && !sweep.seen[0].refused);
    wrap_continued(&sweep, 11);
    assert_int_equal(pass(SIGSTOP, false), 0);
}

static void a_process_beyond_those_that_can_be_remembered_is_killed_and_not_stopped(void **state)
{
    (void)state;
    sweep = (struct wrap_sweep){.root = 1};
    wrap_begin(&sweep, SIGSTOP, 0);
    for (int32_t k = 0; k < WRAP_SEEN_MAX; k++)
        assert_true(see(10 + k, 1, 10, 7));
    assert_false(see(10 + WRAP_SEEN_MAX, 1, 10, 7));
    sweep.signal = SIGKILL;
    assert_true(see(10 + WRAP_SEEN_MAX, 1, 10, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_ended_by_the_rules),
        cmocka_unit_test(a_pass_tells_whether_there_was_something_new),
        cmocka_unit_test(a_number_that_is_used_again_is_another_process),
        cmocka_unit_test(what_has_become_of_a_process_is_remembered),
        cmocka_unit_test(a_process_of_another_user_is_asked_once),
        cmocka_unit_test(a_process_beyond_those_that_can_be_remembered_is_killed_and_not_stopped),
        cmocka_unit_test(a_process_that_was_continued_is_stopped_again),
        cmocka_unit_test(a_process_that_stops_late_goes_on_with_the_others),
        cmocka_unit_test(a_process_that_was_stopped_before_does_not_unless_it_was_continued),
    };

    return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
