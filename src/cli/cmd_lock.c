/* dibs lock, dibs try - run a command while holding a lock. See lock.h. */
#include "lock.h"

#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t lock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int lock_signal(const struct lock_run *run)
{
    struct signalfd_siginfo info;

    return read(run->signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
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

static int lock_all(struct lock_run *run)
{
    int status, connection;

    signal(SIGTTOU, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (lock_wait(run, &status))
        status = lock_job(run);
    connection = dup(dibs_fd(run->daemon));
    dibs_close(run->daemon);
    if (connection >= 0)
        shutdown(connection, SHUT_RDWR); /* what the command was allowed to leave running has it, too */
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const char lock_about[] =
    "Runs COMMAND while holding the lock NAME, with DIBS_LOCK and DIBS_FENCE (the fencing token) in its environment.\n"
    "Signals end the wait, or are passed on to COMMAND. If the lock is lost (the daemon is gone, took it away, or no\n"
    "longer vouches for it), COMMAND and all processes that it has started get TERM and, after a grace, KILL, "
    "whatever\n"
    "process group or session they are in. They are killed, too, if dibs is. When COMMAND has ended, but not all that\n"
    "it has started, the lock is held until they have ended. Choose with --background to have them ended (TERM,\n"
    "grace, KILL), or left running without the lock; they are ended, too, if a signal has ended COMMAND or tells\n"
    "dibs to end. If COMMAND asks for the lock under which it runs, it waits for itself. T is in seconds, or has a\n"
    "unit: 250ms, 10s, 5m, 2h.\n\n"
    "With --wait dibs also waits for a daemon and for a majority of the members. Without it, it waits for holders and "
    "for\n"
    "a majority without a limit, and not for a daemon.\n\n"
    "Exit status: that of COMMAND, or\n"
#define LOCK_STATUS(name, number, text) "  " #number " " text "\n"
    LOCK_STATUSES(LOCK_STATUS)
#undef LOCK_STATUS
        "  2 the command line is wrong";

static int lock_main(int argc, char **argv, double wait_s, const char *line)
{
    struct lock_run w = {.wait_s = wait_s, .not_granted = LOCK_NOT_GRANTED, .ttl_s = -1, .grace_s = 5};
    static const char *const backgrounds[] = {"wait", "end", "leave", NULL}; /* enum wrap_background */
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    const struct cli_option options[] = {
        {"--shared", CLI_FLAG, &w.shared, NULL, "hold it together with others who ask for it so", 0, 0, NULL},
        {"--group", CLI_TEXT, &w.group, "G", "hold it together with others of the same group", 0, 0, NULL},
        {"--slots", CLI_COUNT, &w.slots, "K", "hold one of K slots", 1, 256, NULL},
        {"--wait", CLI_SPAN, &w.wait_s, "T", "give up after that time", 0, 1e6, NULL},
        {"--exit-status", CLI_COUNT, &w.not_granted, "N", "the exit status if the lock is not granted in time (112)", 0,
         255, NULL},
        {"--quiet", CLI_FLAG, &w.quiet, NULL, "say nothing if the lock is not granted in time", 0, 0, NULL},
        {"--verbose", CLI_FLAG, &w.verbose, NULL,
         "tell who holds the lock if that takes some seconds, as at a terminal", 0, 0, NULL},
        {"--ttl", CLI_SPAN, &w.ttl_s, "T", "hold it on a lease of that time, renewed by dibs", 0.01, 1e6, NULL},
        {"--grace", CLI_SPAN, &w.grace_s, "T", "from TERM to KILL when the lock is lost (5s)", 0, 1e6, NULL},
        {"--background", CLI_CHOICE, &w.background, "B", "what becomes of what COMMAND leaves running (wait)", 0, 0,
         backgrounds},
        ASK_PLACE_OPTIONS(w.place),
        {0},
    };
    const struct cli_usage usage = {line, lock_about, options};
    int count = words ? cli_parse(argc, argv, &usage, words, argc) : 0, status;

    if (count < 2)
        cli_die("%s? (usage: %s)", count ? "which command" : "which lock", line);
    if (w.quiet && w.verbose)
        cli_die("only one of --quiet and --verbose is possible");
    if (w.shared + (w.group != NULL) + (w.slots != 0) > 1)
        cli_die("only one of --shared, --group and --slots is possible");
    w.name = words[0];
    w.command = (char *const *)(words + 1);
    status = lock_all(&w);
    free(words);
    return status;
}

int cmd_lock(int argc, char **argv)
{
    return lock_main(argc, argv, -1, "dibs lock NAME [OPTION...] -- COMMAND...");
}

int cmd_try(int argc, char **argv)
{
    return lock_main(argc, argv, 0, "dibs try NAME [OPTION...] -- COMMAND...");
}
