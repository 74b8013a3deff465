/* dibs lock, dibs try - run a command while holding a lock.
 *
 * Three processes. This one holds the connection and watches: signals, the daemon, the end of the command. Its child is
 * a guard, and the guard's child is the command, in a process group of its own, so that all of it can be ended. The
 * guard sees to it that the command does not outlive its lock: it sleeps on a pipe of which this process has the other
 * end, and when this process dies, even by kill -9, it kills the command's group and waits until nobody is left. It has
 * the connection to the daemon open as well, so the lock is not released before. Should the guard be killed, this process
 * does the same. Should both be killed at once, as by killall, the command itself gets a signal when its parent dies; and
 * whatever it has started has inherited the connection, and with it the lock, until it ends.
 *
 * What this process does is always an answer to one of three things, and all come through poll: a signal (signalfd), the
 * daemon says something, time passes.
 *
 * A terminal obeys one process group. The command gets it at once if the terminal is all that we read from and write to;
 * else, as somebody else in a pipeline may want it (dibs lock .. | less), when it is stopped for want of it. */
#include "ask.h"

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
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOCK_NO_DAEMON = 120,
    LOCK_TIMED_OUT = 121,
    LOCK_LOST = 122,
    LOCK_REFUSED = 123,
    LOCK_NO_QUORUM = 124,
    LOCK_CANNOT_RUN = 126,
    LOCK_NOT_FOUND = 127,
    LOCK_SIGNAL = 128, /* and its number */
};

struct wrapper {
    const char *name, *group;
    struct ask_place place;
    bool shared;
    uint64_t slots;
    double wait_s, ttl_s, grace_s; /* negative: not given */
    char *const *command;

    struct dibs *daemon;
    int signals; /* signalfd */
    sigset_t before;
    uint64_t fence;
    pid_t guard, child;         /* the child's number is that of its process group, too */
    int news;                   /* a pipe from the guard: the child's number; then a byte whenever it has stopped */
    bool given;                 /* it was given the terminal */
    bool pauses;                /* when it stops, so do we: there is somebody who can let us go on */
    bool lost, interrupted;     /* we were told to pass SIGINT on */
    uint64_t renew_ms, kill_ms; /* when; 0: never */
};

static uint64_t lock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------------------------------------------------- to wait */

static int lock_ask(struct wrapper *w)
{
    const struct dibs_wish wish = {
        .mode = w->shared  ? DIBS_SHARED
                : w->group ? DIBS_GROUP
                : w->slots ? DIBS_SLOTS
                           : DIBS_EXCLUSIVE,
        .group = w->group,
        .slots = (unsigned)w->slots,
        .wait_ms = w->wait_s < 0   ? 0
                   : w->wait_s > 0 ? (uint64_t)ceil(w->wait_s * 1000)
                                   : DIBS_NO_WAIT,
        .ttl_ms = w->ttl_s > 0 ? (uint64_t)ceil(w->ttl_s * 1000) : 0,
    };

    return dibs_start_lock(w->daemon, w->name, &wish);
}

/* A signal that came, or 0. */
static int lock_signal(const struct wrapper *w)
{
    struct signalfd_siginfo info;

    return read(w->signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/* The exit status for what the library has returned, and a line. */
static int lock_failed(const struct wrapper *w, int code)
{
    fprintf(stderr, "dibs: %s\n", dibs_message(w->daemon));
    return code == DIBS_TIMEOUT     ? LOCK_TIMED_OUT
           : code == DIBS_GONE      ? LOCK_NO_DAEMON
           : code == DIBS_LOST      ? LOCK_LOST
           : code == DIBS_NO_QUORUM ? LOCK_NO_QUORUM
                                    : LOCK_REFUSED;
}

/* We stop, and all that the shell has started with us. Who has no shell to be continued by is not stopped: the system
 * knows. */
static void lock_stop(void)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    kill(0, SIGTSTP);
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

/* Until the daemon answers: 0, we have it; else the exit status. Whoever interrupts us ends the wait: the connection
 * closes, and that withdraws it. */
static int lock_wait(struct wrapper *w)
{
    int code = lock_ask(w), number;

    while (code == DIBS_OK && (code = dibs_lock_result(w->daemon, &w->fence)) == DIBS_WAITING) {
        struct pollfd polled[2] = {{.fd = dibs_fd(w->daemon), .events = dibs_events(w->daemon)},
                                   {.fd = w->signals, .events = POLLIN}};

        poll(polled, 2, dibs_timeout_ms(w->daemon));
        number = polled[1].revents ? lock_signal(w) : 0;
        if (number == SIGTSTP)
            lock_stop();
        else if (number && number != SIGCHLD)
            return LOCK_SIGNAL + number;
        dibs_process(w->daemon); /* if the daemon has gone, that is the result */
        code = DIBS_OK;
    }
    return code == DIBS_OK ? 0 : lock_failed(w, code);
}

/* -------------------------------------------------------------------------------------------------------- processes */

static void lock_exec(const struct wrapper *w, pid_t parent)
{
    char fence[24];
    int error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(LOCK_CANNOT_RUN);
    snprintf(fence, sizeof fence, "%" PRIu64, w->fence);
    setenv("DIBS_FENCE", fence, 1);
    setenv("DIBS_LOCK", w->name, 1);
    if (w->given) /* whoever reads from it before that is stopped */
        tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &w->before, NULL);
    fcntl(dibs_fd(w->daemon), F_SETFD, 0);
    execvp(w->command[0], w->command);
    error = errno;
    fprintf(stderr, "dibs: cannot run \"%s\": %s\n", w->command[0], strerror(error));
    _exit(error == ENOENT ? LOCK_NOT_FOUND : LOCK_CANNOT_RUN);
}

/* The command and all it has started, until nobody is left: also those are waited for who belong to another user, by a
 * set-user-ID program, and cannot be killed. */
static void lock_kill(pid_t group)
{
    for (unsigned k = 0; k < 5000;) {
        bool killed = kill(-group, SIGKILL) == 0;

        if (!killed && errno != EPERM)
            return;
        k += killed;
        while (waitpid(-1, NULL, WNOHANG) > 0) /* also those whose parents are gone */
            ;
        usleep(1000);
    }
}

/* The command has stopped: for want of a terminal, or because somebody wanted it to. */
static void lock_tell_stop(const struct wrapper *w, int number)
{
    const char *news = number == SIGTTIN || number == SIGTTOU ? "t" : "z";

    if (write(w->news, news, 1) < 0)
        lock_kill(w->child); /* dibs is dead */
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
        if (who == w->child)
            lock_tell_stop(w, WSTOPSIG(status));
        poll(polled, 2, -1);
        if (polled[1].revents)
            lock_signal(w);
        if (polled[0].revents) {
            lock_kill(w->child);
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
    if (w->child < 0)
        _exit(LOCK_CANNOT_RUN);
    setpgid(w->child, w->child); /* before anybody sends it a signal; or the child is first */
    if (write(w->news, &w->child, sizeof w->child) != sizeof w->child)
        lock_kill(w->child); /* dibs is dead already */
    lock_guard(w, alive[0]);
}

static void lock_cannot_start(const char *why)
{
    fprintf(stderr, "dibs: cannot start the command: %s\n", why);
    exit(LOCK_CANNOT_RUN);
}

static void lock_start(struct wrapper *w)
{
    int alive[2], news[2];

    w->pauses = isatty(STDIN_FILENO);
    w->given = w->pauses && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (pipe2(alive, O_CLOEXEC) < 0 || pipe2(news, O_CLOEXEC) < 0 || (w->guard = fork()) < 0)
        lock_cannot_start(strerror(errno));
    w->news = news[w->guard == 0];
    if (w->guard == 0)
        lock_be_guard(w, alive);
    close(alive[0]);
    close(news[1]);
    if (read(w->news, &w->child, sizeof w->child) != sizeof w->child)
        lock_cannot_start("there are too many processes");
}

static void lock_give_terminal(struct wrapper *w)
{
    if (tcgetpgrp(STDIN_FILENO) == getpgrp())
        w->given = tcsetpgrp(STDIN_FILENO, w->child) == 0;
}

/* Unless a shell has it by now. */
static void lock_take_terminal(struct wrapper *w)
{
    if (w->given && tcgetpgrp(STDIN_FILENO) == w->child)
        tcsetpgrp(STDIN_FILENO, getpgrp());
}

/* The command has stopped. If it was for want of the terminal, and we have that, it gets it. Else the user has stopped it
 * (Ctrl-Z): so are we, and the shell has the terminal, until both go on. The lock stays ours all the while, unless it is
 * on a lease. */
static void lock_pause(struct wrapper *w)
{
    char why;

    if (read(w->news, &why, 1) != 1)
        return;
    if (why != 't' || tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        lock_take_terminal(w);
        lock_stop();
        dibs_confirm(w->daemon, w->name); /* nobody has asked while we were stopped */
    }
    if (why == 't' || w->given)
        lock_give_terminal(w);
    kill(-w->child, SIGCONT);
}

/* --------------------------------------------------------------------------------------------------------- to watch */

/* The library calls this. */
static void lock_was_lost(void *user, const char *name, uint64_t fence, const char *why)
{
    struct wrapper *w = user;

    (void)name;
    (void)fence;
    fprintf(stderr, "dibs: \"%s\" is lost: %s; ending the command\n", w->name, why);
    w->lost = true;
    w->renew_ms = 0;
    w->kill_ms = lock_now_ms() + (uint64_t)(w->grace_s * 1000) + 1;
    kill(-w->child, SIGTERM);
    kill(-w->child, SIGCONT);
}

static void lock_renew(struct wrapper *w)
{
    dibs_start_renew(w->daemon, w->name, (uint64_t)ceil(w->ttl_s * 1000));
    if (w->renew_ms) /* it is not lost */
        w->renew_ms = lock_now_ms() + (uint64_t)(w->ttl_s * 1000 / 3) + 1;
}

/* Milliseconds until something is to be done; -1: nothing is. */
static int lock_patience(const struct wrapper *w)
{
    uint64_t now = lock_now_ms(), next = w->kill_ms ? w->kill_ms : w->renew_ms;
    int library_ms = w->lost ? -1 : dibs_timeout_ms(w->daemon);
    int own_ms = !next ? -1 : next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);

    return own_ms < 0 || (library_ms >= 0 && library_ms < own_ms) ? library_ms : own_ms;
}

/* Until the command has ended, and with it the guard: the exit status, as a shell tells it. */
static int lock_watch(struct wrapper *w)
{
    struct pollfd polled[3] = {{.fd = -1}, {.fd = w->signals, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    int status, number;

    while (waitpid(w->guard, &status, WNOHANG) == 0) {
        polled[0].fd = w->lost ? -1 : dibs_fd(w->daemon);
        polled[0].events = dibs_events(w->daemon);
        polled[2].fd = w->pauses ? w->news : -1;
        poll(polled, 3, lock_patience(w));
        if (!w->lost)
            dibs_process(w->daemon);
        if (polled[1].revents && (number = lock_signal(w)) && number != SIGCHLD) {
            w->pauses |= number == SIGTSTP;
            w->interrupted |= number == SIGINT;
            kill(-w->child, number);
        }
        if (polled[2].revents & POLLIN)
            lock_pause(w);
        if (w->renew_ms && lock_now_ms() >= w->renew_ms)
            lock_renew(w);
        if (w->kill_ms && lock_now_ms() >= w->kill_ms) {
            kill(-w->child, SIGKILL);
            w->kill_ms = 0;
        }
    }
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "dibs: the guard of the command was killed; ending the command\n");
    lock_kill(w->child);
    return LOCK_SIGNAL + WTERMSIG(status);
}

static void lock_end(struct wrapper *w, int status)
{
    lock_take_terminal(w);
    sigprocmask(SIG_SETMASK, &w->before, NULL); /* the daemon may not answer, and nobody has to wait for that */
    if (w->lost)
        lock_kill(w->child); /* what the command has left running, too */
    else
        dibs_unlock(w->daemon, w->name);
    /* The terminal has interrupted the command, and would have interrupted all others of the job, such as a script that
     * goes on to the next one. */
    if (status == LOCK_SIGNAL + SIGINT && w->given && !w->interrupted)
        kill(0, SIGINT);
}

/* What others see who ask for holders: "host:process command". */
static void lock_name_us(const struct wrapper *w, char *name, size_t size)
{
    const char *slash = strrchr(w->command[0], '/');
    char host[65] = "";

    gethostname(host, sizeof host - 1);
    snprintf(name, size, "%s:%d %s", host, (int)getpid(), slash ? slash + 1 : w->command[0]);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* From now on signals are an event like others. Before, they just end us, and so does a daemon that does not answer. */
static void lock_watch_signals(struct wrapper *w)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
    sigset_t watched;

    sigemptyset(&watched);
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        sigaddset(&watched, numbers[k]);
    sigprocmask(SIG_BLOCK, &watched, &w->before);
    w->signals = signalfd(-1, &watched, SFD_CLOEXEC);
}

static int lock_run(struct wrapper *w)
{
    char name[96];
    int status, connection;

    signal(SIGTTOU, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    lock_name_us(w, name, sizeof name);
    w->daemon = ask_connect(&w->place, name, LOCK_NO_DAEMON);
    lock_watch_signals(w);
    status = lock_wait(w);
    if (status == 0) {
        if (w->ttl_s > 0)
            w->renew_ms = lock_now_ms() + (uint64_t)(w->ttl_s * 1000 / 3);
        prctl(PR_SET_CHILD_SUBREAPER, 1); /* should the guard be killed */
        lock_start(w);
        dibs_on_lost(w->daemon, lock_was_lost, w);
        status = lock_watch(w);
        lock_end(w, status);
    }
    connection = dup(dibs_fd(w->daemon));
    dibs_close(w->daemon);
    if (connection >= 0)
        shutdown(connection, SHUT_RDWR); /* whatever the command has left running has it, too */
    return w->lost ? LOCK_LOST : status;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const char lock_about[] =
    "Runs COMMAND while holding the lock NAME, with DIBS_LOCK and DIBS_FENCE (the fencing token) in its environment.\n"
    "Signals end the wait, or are passed on to COMMAND. If the lock is lost (the daemon is gone, took it away, or no\n"
    "longer vouches for it), COMMAND and all it has started get TERM and, after a grace, KILL. They are killed, too,\n"
    "if dibs is. When COMMAND has ended the lock is released, even if it has left something running; and if it asks\n"
    "for the lock under which it runs, it waits for itself. T is in seconds, or has a unit: 250ms, 10s, 5m, 2h.\n\n"
    "Exit status: that of COMMAND; 120 no daemon, 121 not granted in time, 122 lost, 123 refused, 124 too few members\n"
    "are reached, 126 COMMAND cannot be run, 127 it was not found, 128+N signal N ended COMMAND, or the wait; 2 bad\n"
    "usage.";

static int lock_main(int argc, char **argv, double wait_s, const char *line)
{
    struct wrapper w = {.wait_s = wait_s, .ttl_s = -1, .grace_s = 5};
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    const struct cli_option options[] = {
        {"--shared", CLI_FLAG, &w.shared, NULL, "hold it together with others who ask for it so", 0, 0, NULL},
        {"--group", CLI_TEXT, &w.group, "G", "hold it together with others of the same group", 0, 0, NULL},
        {"--slots", CLI_COUNT, &w.slots, "K", "hold one of K slots", 1, 256, NULL},
        {"--wait", CLI_SPAN, &w.wait_s, "T", "give up after that time", 0, 1e6, NULL},
        {"--ttl", CLI_SPAN, &w.ttl_s, "T", "hold it on a lease of that time, renewed by dibs", 0.01, 1e6, NULL},
        {"--grace", CLI_SPAN, &w.grace_s, "T", "from TERM to KILL when the lock is lost (5s)", 0, 1e6, NULL},
        ASK_PLACE_OPTIONS(w.place),
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

int cmd_try(int argc, char **argv)
{
    return lock_main(argc, argv, 0, "dibs try NAME [OPTION...] -- COMMAND...");
}
