/* dibs lock, dibs try - run a command while holding a lock. See lock.h. */
#include "lock.h"

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

uint64_t lock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now); /* as libdibs: it goes on while the machine sleeps */
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int lock_signal(const struct lock_run *run)
{
    struct signalfd_siginfo info;

    return read(run->signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

bool lock_ignores(const struct lock_run *run, int number)
{
    return number > 0 && sigismember(&run->ignored, number) == 1;
}

static void say_interrupt(int number)
{
    (void)number;
}

void lock_say(const char *format, ...)
{
    enum { SAY_NS = 100000000 };
    const struct sigaction interrupts = {.sa_handler = say_interrupt}; /* without SA_RESTART: it ends a write */
    const struct itimerspec often = {{0, SAY_NS}, {0, SAY_NS}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
    struct sigaction action;
    sigset_t urgent, mask;
    timer_t timer;
    char text[1200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) <
        0) { /* the user's processes have too many signals pending (ulimit -i) */
        struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};

        if (poll(&polled, 1, SAY_NS / 1000000) == 1 && write(STDERR_FILENO, text, strlen(text)) < 0)
            text[0] = '\0';
        return;
    }
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigaction(SIGURG, &interrupts, &action);
    sigprocmask(SIG_UNBLOCK, &urgent, &mask);
    timer_settime(timer, 0, &often, NULL);
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        text[0] = '\0'; /* a message that cannot be written changes nothing */
    timer_delete(timer);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGURG, &action, NULL);
}

void lock_suspend(void)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    kill(0, SIGTSTP);
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

int lock_all(struct lock_run *run)
{
    int status;

    sigemptyset(&run->ignored);
    if (signal(SIGTTOU, SIG_IGN) == SIG_IGN)
        sigaddset(&run->ignored, SIGTTOU);
    if (signal(SIGPIPE, SIG_IGN) == SIG_IGN)
        sigaddset(&run->ignored, SIGPIPE);
    if (signal(SIGXFSZ, SIG_IGN) == SIG_IGN) /* a message for a file that may not grow (ulimit -f) */
        sigaddset(&run->ignored, SIGXFSZ);
    signal(
        SIGCHLD,
        SIG_DFL); /* else, if the caller ignores it, the system tells nothing of a child: neither its end nor its status */
    if (lock_wait(run, &status))
        status = lock_job(run);
    dibs_close(run->daemon);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const char lock_about[] =
    "Runs COMMAND while holding the lock NAME, with the lock's name in DIBS_LOCK and the fencing token in "
    "DIBS_FENCE.\n\n"
    "With several NAMEs, all locks are granted or none is; the -- before COMMAND is necessary then, and --wait limits "
    "the wait for all together. --shared, --group and --slots after a NAME are for that lock; before the first NAME "
    "they are for all locks without a mode of their own. Commands that name all their locks at once never wait for "
    "each other in a circle. DIBS_LOCK has a name in each line then, and DIBS_FENCE_x the token of lock x: in the "
    "variable's name, an underscore takes the place of all but letters and digits. DIBS_LOCKS lists the tokens and "
    "names of all locks under which COMMAND runs, also those of an outer dibs lock.\n\n"
    "dibs passes signals on to COMMAND; while it waits for the lock, a signal ends the wait, unless the caller "
    "ignores it (nohup). If the lock is lost (the daemon has ended, has revoked the lock or no longer vouches for "
    "it), COMMAND and all processes that it has started get TERM and, after --grace, KILL, also in other process "
    "groups and sessions. They are killed, too, if dibs is killed.\n\n"
    "When the daemon is restarted or, in a cluster, crashes or is cut off, the lock is kept for --keep, and COMMAND "
    "goes on. dibs connects again, to the same place or the next one of --connect, and goes on holding the lock. If "
    "that takes longer, the lock is lost.\n\n"
    "If COMMAND ends and leaves processes running, dibs holds the lock until they have ended, or as --background "
    "says. They are ended with TERM and KILL if a signal has ended COMMAND or tells dibs to end. If COMMAND requests "
    "a lock under which it runs, by dibs lock, that is refused.\n\n"
    "With --wait dibs also waits for a daemon and for a majority of the members. Without --wait, dibs lock waits for "
    "holders and for a majority without limit, and for --keep for a daemon that has gone meanwhile; dibs try does not "
    "wait. A time T is in seconds, or has a unit: 250ms, 10s, 5m, 2h.\n\n"
    "Exit status: that of COMMAND, or\n"
#define LOCK_STATUS(name, number, text) #number "\t" text "\n"
    LOCK_STATUSES(LOCK_STATUS)
#undef LOCK_STATUS
        "2\tthe command line is wrong";

/* A lock with a TTL is free when no connection has renewed it for that long, although its session is kept. The command must not run on
 * in doubt after that: so a session is kept for half of the TTL at most. (The lock is renewed every third of it; the rest is for clocks
 * that drift.) */
static void lock_choose_keep(struct lock_run *w)
{
    double most = w->ttl_s > 0 ? w->ttl_s / 2 : 3600;

    if (w->keep_s > most)
        cli_die("--keep is longer than half of --ttl: the lock could be granted to another client before the command "
                "has ended; choose a shorter --keep, or a longer --ttl");
    if (w->keep_s < 0)
        w->keep_s = most < 1 ? 0 : most < 60 ? most : 60;
    if (w->keep_s > 0 && w->keep_s < 1)
        cli_die("--keep is 0, or from 1s to 1h");
    w->place.keep_ms = (uint64_t)(w->keep_s * 1000);
}

static int lock_main(int argc, char **argv, double wait_s, const char *line, const struct cli_example *examples)
{
    struct lock_run w = {.wait_s = wait_s, .not_granted = LOCK_NOT_GRANTED, .ttl_s = -1, .keep_s = -1, .grace_s = 5};
    static const char *const backgrounds[] = {"wait", "end", "leave", NULL}; /* enum wrap_background */
    _Static_assert(sizeof backgrounds / sizeof backgrounds[0] == WRAP_LEAVE + 2, "a way to treat processes has a name");
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    struct lock_modes modes = {0};
    int names = -1; /* the words before --, if there is one */
    const struct cli_option options[] = {
        {"--shared", CLI_FLAGS, &modes.shared, NULL,
         "hold the lock together with other clients that request it as shared", 0, 0, NULL},
        {"--group", CLI_TEXTS, &modes.group, "G",
         "hold the lock together with other clients that request it for group G (default: no group)", 0, 0, NULL},
        {"--slots", CLI_COUNTS, &modes.slots, "K",
         "hold one of K slots of the lock (default: exclusive, or as the daemon's policy says)", 1, 256, NULL},
        {"--wait", CLI_SPAN, &w.wait_s, "T",
         wait_s < 0 ? "give up when the lock is not granted within T (default: no limit)"
                    : "give up when the lock is not granted within T (default 0s)",
         0, 1e6, NULL},
        {"--priority", CLI_COUNT, &w.priority, "N",
         "pass requests with smaller priorities that wait at the same daemon: at most 64 of them for each step of "
         "priority, from 0 to 9, so that none waits forever (default 0)",
         0, 9, NULL},
        {"--exit-status", CLI_COUNT, &w.not_granted, "N",
         "end with status N if the lock is not granted in time (default 112)", 0, 255, NULL},
        {"--quiet", CLI_FLAG, &w.quiet, NULL, "print nothing if the lock is not granted in time", 0, 0, NULL},
        {"--verbose", CLI_FLAG, &w.verbose, NULL,
         "print which clients hold the lock if the wait takes more than two seconds (default: only at a terminal), and "
         "when the connection to the daemon is made again",
         0, 0, NULL},
        {"--ttl", CLI_SPAN, &w.ttl_s, "T",
         "let the daemon revoke the lock when dibs has not renewed it for T (default: no such limit)", 0.01, 1e6, NULL},
        {"--keep", CLI_SPAN, &w.keep_s, "T",
         "let the members keep the lock for T while there is no connection to a daemon, from 1s to 1h; 0: the lock is "
         "lost with the connection; at most half of --ttl (default 60s)",
         0, 3600, NULL},
        {"--grace", CLI_SPAN, &w.grace_s, "T", "time from TERM to KILL when processes are ended (default 5s)", 0, 1e6,
         NULL},
        {"--background", CLI_CHOICE, &w.background, "B",
         "what to do with processes that COMMAND leaves running: wait for them, end them, or leave them running "
         "without the lock (default wait)",
         0, 0, backgrounds},
        ASK_PLACE_OPTIONS(w.place),
        {0},
    };
    const struct cli_usage usage = {line, lock_about, options, {examples[0], examples[1], examples[2]}};
    int count = words ? cli_parse_before(argc, argv, &usage, words, argc, &names) : 0, status;

    if (!words)
        cli_die("out of memory");
    w.undivided = names < 0;
    names = w.undivided ? 1 : names;
    if (names < 1 || count <= names)
        cli_die("no %s (usage: %s)", count && names ? "command is given" : "lock is named", line);
    if (w.quiet && w.verbose)
        cli_die("only one of --quiet and --verbose is possible");
    lock_choose_keep(&w);
    lock_name(&w, words, (size_t)names, &modes);
    w.command = (char *const *)(words + names);
    status = lock_all(&w);
    free(words);
#ifdef DIBS_ENDS_AT_ONCE
    _exit(status); /* nothing is left to be written, and what libraries do at the end touches a dozen pages */
#endif
    return status;
}

int cmd_lock(int argc, char **argv)
{
    static const struct cli_example examples[3] = {
        {"Run a backup that must not run twice at a time:", "dibs lock backup -- ./backup.sh"},
        {"Run at most four builds at a time, and give up after ten seconds:",
         "dibs lock builds --slots 4 --wait 10 -- make all"},
        {"Hold two locks, one of them shared:", "dibs lock report source --shared -- ./report.sh"}};

    return lock_main(argc, argv, -1, "dibs lock NAME... [OPTION...] -- COMMAND...", examples);
}

int cmd_try(int argc, char **argv)
{
    static const struct cli_example examples[3] = {
        {"Run a backup unless one is running:", "dibs try backup -- ./backup.sh"},
        {"Do so in a cron job, which succeeds without a word if another machine is at work:",
         "dibs try backup --quiet --exit-status 0 -- ./backup.sh"}};

    return lock_main(argc, argv, 0, "dibs try NAME... [OPTION...] -- COMMAND...", examples);
}
