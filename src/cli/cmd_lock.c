/* dibs lock, dibs try - run a command while holding a lock.
 *
 * Three processes. This one holds the connection and watches: signals, the daemon, the end of the command. Its child is
 * a guard, and the guard's child is the command, in a process group of its own, so that all of it can be ended. The
 * guard sees to it that the command does not outlive its lock: it sleeps on a pipe of which this process has the other
 * end, and when this process dies, even by kill -9, it kills the command's group and waits until nobody is left. It has
 * the connection to the daemon open as well, so the lock is not released before. (Should the guard be killed too, the
 * command itself still gets a signal when its parent dies.)
 *
 * What this process does is always an answer to one of three things, and all come through poll: a signal (signalfd), the
 * daemon says something, time passes. */
#include "ask.h"
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOCK_NO_DAEMON = 120,
    LOCK_TIMED_OUT = 121,
    LOCK_LOST = 122,
    LOCK_REFUSED = 123,
    LOCK_CANNOT_RUN = 126,
    LOCK_NOT_FOUND = 127,
    LOCK_SIGNAL = 128, /* and its number */
};

struct wrapper {
    const char *name, *group, *path;
    bool shared;
    uint64_t slots;
    double wait_s, ttl_s, grace_s; /* negative: not given */
    char *const *command;

    struct dibs daemon;
    int signals; /* signalfd */
    sigset_t before;
    uint64_t fence;
    pid_t guard, child; /* the child's number is that of its process group, too */
    int news;           /* a pipe from the guard: the child's number; then a byte whenever it has stopped */
    bool foreground;    /* we have a terminal to give */
    bool lost;
    uint64_t renew_ms, kill_ms; /* when; 0: never */
};

static uint64_t lock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------------------------------------------------- to wait */

static void lock_ask(struct wrapper *w)
{
    const char *words[10] = {"LOCK", w->name};
    char slots[24], wait[24], ttl[24];
    size_t count = 2;

    if (w->shared)
        words[count++] = "SHARED";
    if (w->group) {
        words[count++] = "GROUP";
        words[count++] = w->group;
    }
    if (w->slots) {
        snprintf(slots, sizeof slots, "%" PRIu64, w->slots);
        words[count++] = "SLOTS";
        words[count++] = slots;
    }
    if (w->wait_s >= 0) {
        snprintf(wait, sizeof wait, "%.0f", ceil(w->wait_s * 1000));
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    if (w->ttl_s > 0) {
        snprintf(ttl, sizeof ttl, "%.0f", ceil(w->ttl_s * 1000));
        words[count++] = "TTL";
        words[count++] = ttl;
    }
    dibs_send(&w->daemon, words, count); /* if the daemon has gone, we shall read so */
}

/* A signal that came, or 0. */
static int lock_signal(const struct wrapper *w)
{
    struct signalfd_siginfo info;

    return read(w->signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/* What the daemon has answered: 0, we have it; else the exit status, and a line has been written. */
static int lock_answer(struct wrapper *w, const struct dibs_reply *r)
{
    if (r->type == DIBS_LIST && r->count == 2) {
        w->fence = r->item[1]->number;
        return 0;
    }
    if (r->type == DIBS_NULL) {
        fprintf(stderr, "dibs: \"%s\" was not to be had in time\n", w->name);
        return LOCK_TIMED_OUT;
    }
    fprintf(stderr, "dibs: %s\n", r->type == DIBS_ERROR ? r->text : "the daemon speaks in riddles");
    return LOCK_REFUSED;
}

/* Until the daemon answers. Whoever interrupts us ends the wait: the connection closes, and that withdraws it. */
static int lock_wait(struct wrapper *w)
{
    struct pollfd polled[2] = {{.fd = w->daemon.fd, .events = POLLIN}, {.fd = w->signals, .events = POLLIN}};
    struct dibs_reply *r;
    int status, number;

    while (!dibs_has_reply(&w->daemon)) {
        poll(polled, 2, -1);
        if (polled[1].revents && (number = lock_signal(w)) && number != SIGCHLD)
            return LOCK_SIGNAL + number;
        if (polled[0].revents && !dibs_fill(&w->daemon)) {
            fprintf(stderr, "dibs: the daemon has gone while we waited for \"%s\"\n", w->name);
            return LOCK_NO_DAEMON;
        }
    }
    r = dibs_read(&w->daemon);
    status = lock_answer(w, r);
    dibs_free(r);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- processes */

static void lock_exec(const struct wrapper *w, pid_t parent)
{
    char fence[24];

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(LOCK_CANNOT_RUN);
    snprintf(fence, sizeof fence, "%" PRIu64, w->fence);
    setenv("DIBS_FENCE", fence, 1);
    setenv("DIBS_LOCK", w->name, 1);
    if (w->foreground) /* a terminal obeys one process group, and whoever reads from it before it does is stopped */
        tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &w->before, NULL);
    execvp(w->command[0], w->command);
    fprintf(stderr, "dibs: cannot run %s: %s\n", w->command[0], strerror(errno));
    _exit(errno == ENOENT ? LOCK_NOT_FOUND : LOCK_CANNOT_RUN);
}

/* Until the command has ended, or dibs has: its end of the pipe is then closed. */
static void lock_guard(const struct wrapper *w, int alive)
{
    struct pollfd polled[2] = {{.fd = alive, .events = POLLIN}, {.fd = w->signals, .events = POLLIN}};
    int status;

    for (;;) {
        pid_t who = waitpid(w->child, &status, WNOHANG | WUNTRACED);

        if (who == w->child && !WIFSTOPPED(status))
            break;
        if (who == w->child && write(w->news, "z", 1) < 0)
            _exit(LOCK_CANNOT_RUN);
        poll(polled, 2, -1);
        if (polled[1].revents)
            lock_signal(w);
        if (polled[0].revents) {
            for (unsigned k = 0; k < 5000 && kill(-w->child, SIGKILL) == 0; k++) {
                while (waitpid(-1, NULL, WNOHANG) > 0) /* also those whose parents are gone */
                    ;
                usleep(1000);
            }
            _exit(0);
        }
    }
    _exit(WIFSIGNALED(status) ? LOCK_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status));
}

static void lock_be_guard(struct wrapper *w, const int *alive)
{
    pid_t self = getpid();

    close(alive[1]);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    w->child = fork();
    if (w->child == 0)
        lock_exec(w, self);
    if (w->child < 0 || write(w->news, &w->child, sizeof w->child) != sizeof w->child)
        _exit(LOCK_CANNOT_RUN);
    setpgid(w->child, w->child); /* whoever is first */
    lock_guard(w, alive[0]);
}

static void lock_start(struct wrapper *w)
{
    int alive[2], news[2];

    if (pipe2(alive, O_CLOEXEC) < 0 || pipe2(news, O_CLOEXEC) < 0 || (w->guard = fork()) < 0)
        cli_die("cannot start the command: %s", strerror(errno));
    w->news = news[w->guard == 0];
    if (w->guard == 0)
        lock_be_guard(w, alive);
    close(alive[0]);
    close(news[1]);
    if (read(w->news, &w->child, sizeof w->child) != sizeof w->child)
        cli_die("cannot start the command");
    setpgid(w->child, w->child);
}

/* The user has stopped the command (Ctrl-Z): so are we, and the shell has the terminal. Then both go on. The lock stays
 * ours all the while, unless it is on a lease. */
static void lock_pause(struct wrapper *w)
{
    char byte;

    if (read(w->news, &byte, 1) != 1)
        return;
    tcsetpgrp(STDIN_FILENO, getpgrp());
    raise(SIGSTOP);
    if (tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetpgrp(STDIN_FILENO, w->child);
    kill(-w->child, SIGCONT);
}

/* --------------------------------------------------------------------------------------------------------- to watch */

static void lock_was_lost(struct wrapper *w, const char *why)
{
    if (w->lost)
        return;
    fprintf(stderr, "dibs: \"%s\" is lost: %s; ending the command\n", w->name, why);
    w->lost = true;
    w->renew_ms = 0;
    w->kill_ms = lock_now_ms() + (uint64_t)(w->grace_s * 1000) + 1;
    kill(-w->child, SIGTERM);
    kill(-w->child, SIGCONT);
}

/* The daemon says something: news, or an answer to RENEW. */
static void lock_hear(struct wrapper *w)
{
    if (!dibs_fill(&w->daemon)) {
        lock_was_lost(w, "the daemon has gone");
        return;
    }
    while (dibs_has_reply(&w->daemon)) {
        struct dibs_reply *r = dibs_read(&w->daemon);

        if (r->type == DIBS_NEWS)
            lock_was_lost(w, "it was taken away");
        else if (r->type == DIBS_ERROR)
            lock_was_lost(w, r->text);
        dibs_free(r);
    }
}

static void lock_renew(struct wrapper *w)
{
    char ttl[24];
    const char *words[] = {"RENEW", w->name, "TTL", ttl};

    snprintf(ttl, sizeof ttl, "%.0f", ceil(w->ttl_s * 1000));
    if (!dibs_send(&w->daemon, words, 4))
        lock_was_lost(w, "the daemon has gone");
    w->renew_ms = lock_now_ms() + (uint64_t)(w->ttl_s * 1000 / 3) + 1;
}

/* Milliseconds until something is to be done; -1: nothing is. */
static int lock_patience(const struct wrapper *w)
{
    uint64_t now = lock_now_ms(), next = w->kill_ms ? w->kill_ms : w->renew_ms;

    return !next ? -1 : next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);
}

/* Until the command has ended, and with it the guard: the exit status, as a shell tells it. */
static int lock_watch(struct wrapper *w)
{
    struct pollfd polled[3] = {{.fd = w->daemon.fd, .events = POLLIN},
                               {.fd = w->signals, .events = POLLIN},
                               {.fd = w->foreground ? w->news : -1, .events = POLLIN}};
    int status, number;

    while (waitpid(w->guard, &status, WNOHANG) == 0) {
        polled[0].fd = w->lost ? -1 : w->daemon.fd;
        poll(polled, 3, lock_patience(w));
        if (polled[0].revents && !w->lost)
            lock_hear(w);
        if (polled[1].revents && (number = lock_signal(w)) && number != SIGCHLD)
            kill(-w->child, number);
        if (polled[2].revents & POLLIN)
            lock_pause(w);
        if (w->renew_ms && lock_now_ms() >= w->renew_ms)
            lock_renew(w);
        if (w->kill_ms && lock_now_ms() >= w->kill_ms) {
            kill(-w->child, SIGKILL);
            w->kill_ms = 0;
        }
    }
    return WIFSIGNALED(status) ? LOCK_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static void lock_end(struct wrapper *w)
{
    const char *words[] = {"UNLOCK", w->name};

    if (w->lost)
        kill(-w->child, SIGKILL); /* what the command has left running, too */
    else if (dibs_send(&w->daemon, words, 2))
        dibs_free(dibs_read(&w->daemon));
    if (w->foreground)
        tcsetpgrp(STDIN_FILENO, getpgrp());
}

static int lock_run(struct wrapper *w)
{
    sigset_t watched;
    int status;

    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGQUIT);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &w->before);
    signal(SIGTTOU, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    w->foreground = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    w->signals = signalfd(-1, &watched, SFD_CLOEXEC);
    cli_connect(&w->daemon, w->path, LOCK_NO_DAEMON);
    lock_ask(w);
    status = lock_wait(w);
    if (status == 0) {
        if (w->ttl_s > 0)
            w->renew_ms = lock_now_ms() + (uint64_t)(w->ttl_s * 1000 / 3);
        lock_start(w);
        status = lock_watch(w);
        lock_end(w);
    }
    dibs_close(&w->daemon);
    return w->lost ? LOCK_LOST : status;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const char lock_about[] =
    "Runs COMMAND while holding the lock NAME, with DIBS_LOCK and DIBS_FENCE (the fencing token) in its environment.\n"
    "Signals end the wait, or are passed on to COMMAND. If the lock is lost (the daemon is gone, or took it away),\n"
    "COMMAND and all it has started get TERM and, after a grace, KILL. They are killed, too, if dibs is.\n\n"
    "Exit status: that of COMMAND; 120 no daemon, 121 not granted in time, 122 lost, 123 refused, 126 COMMAND cannot\n"
    "be run, 127 it was not found, 128+N signal N ended COMMAND, or the wait; 2 bad usage.";

static int lock_main(int argc, char **argv, double wait_s, const char *line)
{
    struct wrapper w = {.wait_s = wait_s, .ttl_s = -1, .grace_s = 5};
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    const struct cli_option options[] = {
        {"--shared", CLI_FLAG, &w.shared, NULL, "hold it together with others who ask for it so", 0, 0, NULL},
        {"--group", CLI_TEXT, &w.group, "G", "hold it together with others of the same group", 0, 0, NULL},
        {"--slots", CLI_COUNT, &w.slots, "K", "hold one of K slots", 1, 256, NULL},
        {"--wait", CLI_REAL, &w.wait_s, "T", "give up after so many seconds", 0, 1e6, NULL},
        {"--ttl", CLI_REAL, &w.ttl_s, "T", "hold it on a lease of so many seconds, renewed by dibs", 0.01, 1e6, NULL},
        {"--grace", CLI_REAL, &w.grace_s, "T", "seconds from TERM to KILL when the lock is lost (5)", 0, 1e6, NULL},
        {"--socket", CLI_TEXT, &w.path, "PATH", "of the daemon ($DIBS_SOCKET, ...)", 0, 0, NULL},
        {0},
    };
    const struct cli_usage usage = {line, lock_about, options};
    int count = words ? cli_parse(argc, argv, &usage, words, argc) : 0, status;

    if (count < 2)
        cli_die("%s? (usage: %s)", count ? "which command" : "which lock", line);
    if (w.shared + (w.group != NULL) + (w.slots != 0) > 1)
        cli_die("only one of --shared, --group and --slots is possible");
    w.name = words[0];
    w.command = (char *const *)(words + 1);
    status = lock_run(&w);
    free(words);
    return status;
}

int cmd_lock(int argc, char **argv)
{
    return lock_main(argc, argv, -1, "dibs lock NAME [OPTION...] -- COMMAND...");
}

/* Other members have to be asked, so "at once" is not possible: they get a moment to answer. */
int cmd_try(int argc, char **argv)
{
    return lock_main(argc, argv, 0.25, "dibs try NAME [OPTION...] -- COMMAND...");
}
