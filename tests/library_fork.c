/* library_fork PLACE: a child of a process that has a connection calls every function with it, and closes it; the connection of the
 * parent goes on as before. Then the parent closes it, and a child that still has the descriptor does not keep the lock. Both for a
 * session that is kept and for one that is not. At last the parent and the child are both number 1, in PID namespaces of their own, if this
 * user may make some. The key, if one is needed, is in $DIBS_KEY. Prints nothing, or which fact does not hold. */
#include <dibs.h>

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLDS(fact)                                                                                                    \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            printf("line %d: %s\n", __LINE__, #fact);                                                                  \
            fflush(stdout);                                                                                            \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int called;

static void hear(void *user, const struct dibs_event *e)
{
    (void)user;
    (void)e;
    called++;
}

/* In the child. */
static int misuse(struct dibs *d)
{
    static const char *const ping[] = {"PING"};
    struct dibs_part parts[2] = {{.name = "a"}, {.name = "b"}};
    struct dibs_reply *reply = (struct dibs_reply *)parts;
    uint64_t fence = 7;

    HOLDS(dibs_lock(d, "other", NULL, &fence) == DIBS_MISUSE && fence == 7);
    HOLDS(strstr(dibs_message(d), "open another one after fork"));
    HOLDS(dibs_lock(d, "forked", &(struct dibs_wish){.reentrant = 1}, &fence) == DIBS_MISUSE && fence == 7);
    HOLDS(dibs_try(d, "other", NULL, &fence) == DIBS_MISUSE && fence == 7);
    HOLDS(dibs_lock_many(d, parts, 2, NULL) == DIBS_MISUSE && !parts[0].fence);
    HOLDS(dibs_start_lock(d, "other", NULL) == DIBS_MISUSE);
    HOLDS(dibs_start_lock_many(d, parts, 2, NULL) == DIBS_MISUSE);
    HOLDS(dibs_lock_result(d, &fence) == DIBS_MISUSE && dibs_cancel(d) == DIBS_MISUSE);
    HOLDS(dibs_unlock(d, "forked") == DIBS_MISUSE && dibs_start_unlock(d, "forked") == DIBS_MISUSE);
    HOLDS(dibs_renew(d, "forked", 1) == DIBS_MISUSE && dibs_start_renew(d, "forked", 1) == DIBS_MISUSE);
    HOLDS(dibs_upgrade(d, "forked", 0, &fence) == DIBS_MISUSE && dibs_downgrade(d, "forked") == DIBS_MISUSE);
    HOLDS(dibs_confirm(d, "forked") == DIBS_MISUSE && dibs_fence(d, "forked") == 0);
    HOLDS(dibs_watch(d, "*", hear, NULL) == DIBS_MISUSE);
    HOLDS(dibs_ask(d, ping, 1, &reply) == DIBS_MISUSE && !reply);
    HOLDS(dibs_process(d) == DIBS_MISUSE && dibs_timeout_ms(d) == -1);
    HOLDS(called == 0);
    dibs_close(d);
    return 0;
}

static int child_did_well(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int session(const char *place, const struct dibs_options *options)
{
    struct dibs *d = NULL, *other = NULL;
    uint64_t fence = 0;
    int ends[2];
    pid_t child;

    HOLDS(dibs_connect(&d, place, options) == DIBS_OK && dibs_connect(&other, place, NULL) == DIBS_OK);
    HOLDS(dibs_lock(d, "forked", NULL, &fence) == DIBS_OK && fence);
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(misuse(d));
    HOLDS(child_did_well(child));
    HOLDS(dibs_fence(d, "forked") == fence && dibs_confirm(d, "forked") == DIBS_OK);
    HOLDS(dibs_try(other, "forked", NULL, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_lock(d, "another", NULL, NULL) == DIBS_OK && dibs_unlock(d, "another") == DIBS_OK);

    HOLDS(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], ends, 1) != 0);
    }
    dibs_close(d);
    HOLDS(dibs_lock(other, "forked", &(struct dibs_wish){.wait_ms = 5000}, NULL) == DIBS_OK);
    close(ends[0]);
    close(ends[1]);
    HOLDS(child_did_well(child));
    dibs_close(other);
    return 0;
}

/* As fork does, but the child is number 1 of a PID namespace of its own. */
static pid_t fork_apart(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int first_of_all(const char *place)
{
    struct dibs *d = NULL;
    uint64_t fence = 0;
    pid_t child;

    HOLDS(dibs_connect(&d, place, NULL) == DIBS_OK && dibs_lock(d, "forked", NULL, &fence) == DIBS_OK);
    child = fork_apart();
    if (child == 0)
        _exit(getpid() != 1 || misuse(d));
    HOLDS(getpid() == 1 && child_did_well(child));
    HOLDS(dibs_fence(d, "forked") == fence && dibs_unlock(d, "forked") == DIBS_OK);
    dibs_close(d);
    return 0;
}

static int apart(const char *place)
{
    pid_t child = fork_apart();

    if (child == 0)
        _exit(first_of_all(place));
    HOLDS(child < 0 || child_did_well(child)); /* else it is not allowed */
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    return session(argv[1], NULL) || session(argv[1], &(struct dibs_options){.keep_ms = 30000}) || apart(argv[1]);
}
