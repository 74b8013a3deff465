/* Real processes, which are stopped while the keeper of their lock is (src/cli/lock_tree.h). */
#include "test.h"

#include "cli/lock_tree.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int news[2]; /* a pipe to the test */

static void tell(pid_t pid)
{
    if (write(news[1], &pid, sizeof pid) != sizeof pid)
        _exit(1);
}

static pid_t hear(void)
{
    pid_t pid = 0;

    assert_int_equal(read(news[0], &pid, sizeof pid), sizeof pid);
    return pid;
}

/* Starts a process, and stops again at once. */
static void go_on(int number)
{
    pid_t child = fork();

    (void)number;
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (child == 0)
        pause();
    tell(child);
    raise(SIGSTOP);
}

static bool stops(pid_t pid)
{
    for (unsigned k = 0; k < 1000 && !tree_is_stopped(pid); k++)
        usleep(10000);
    return tree_is_stopped(pid);
}

static void what_a_process_has_started_while_it_was_continued_is_stopped(void **state)
{
    static struct wrap_sweep sweep;
    pid_t parent, child;

    (void)state;
    assert_true(pipe(news) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    parent = fork();
    if (parent == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCONT, go_on);
        tell(getpid());
        for (;;)
            pause();
    }
    assert_int_equal(hear(), parent);
    sweep.root = getpid();
    tree_stop(&sweep);
    assert_true(stops(parent));
    kill(parent, SIGCONT); /* by another process */
    child = hear();
    assert_true(stops(parent));
    assert_false(tree_is_stopped(child));
    tree_stop_again(&sweep);
    assert_true(stops(child));
    kill(child, SIGKILL);
    kill(parent, SIGKILL);
    while (wait(NULL) > 0)
        ;
}

/* Each parent ends at once, and its child gets another one. */
static void the_children_of_processes_that_a_signal_ends_get_it_too(void **state)
{
    enum { PARENTS = 50 };
    static struct wrap_sweep sweep;
    unsigned ended = 0;

    (void)state;
    assert_true(pipe(news) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    for (unsigned k = 0; k < PARENTS; k++)
        if (fork() == 0) {
            pid_t child = fork();

            alarm(60);
            if (child == 0)
                tell(getpid());
            for (;;)
                pause();
        }
    for (unsigned k = 0; k < PARENTS; k++)
        hear();
    sweep.root = getpid();
    tree_signal(&sweep, SIGTERM, 0);
    for (unsigned k = 0; k < 1000 && ended < 2 * PARENTS; k++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ended++;
        usleep(10000);
    }
    assert_int_equal(ended, 2 * PARENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_children_of_processes_that_a_signal_ends_get_it_too),
        cmocka_unit_test(what_a_process_has_started_while_it_was_continued_is_stopped),
    };

    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
