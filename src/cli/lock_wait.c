/* lock_wait.c - see lock.h. */
#include "lock.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int wait_ask(struct lock_run *run)
{
    const struct dibs_wish wish = {
        .mode = run->shared  ? DIBS_SHARED
                : run->group ? DIBS_GROUP
                : run->slots ? DIBS_SLOTS
                             : DIBS_EXCLUSIVE,
        .group = run->group,
        .slots = (unsigned)run->slots,
        .wait_ms = run->wait_s < 0   ? 0
                   : run->wait_s > 0 ? (uint64_t)ceil(run->wait_s * 1000)
                                     : DIBS_NO_WAIT,
        .ttl_ms = run->ttl_s > 0 ? (uint64_t)ceil(run->ttl_s * 1000) : 0,
    };

    return dibs_start_lock(run->daemon, run->name, &wish);
}

/* The exit status for what the library has returned, and a line. */
static int wait_failed(const struct lock_run *run, int code)
{
    fprintf(stderr, "dibs: %s\n", dibs_message(run->daemon));
    return code == DIBS_TIMEOUT     ? LOCK_TIMED_OUT
           : code == DIBS_GONE      ? LOCK_NO_DAEMON
           : code == DIBS_LOST      ? LOCK_LOST
           : code == DIBS_NO_QUORUM ? LOCK_NO_QUORUM
                                    : LOCK_REFUSED;
}

/* A signal ends the wait: the connection closes, and that withdraws the request. */
static int wait_for_answer(struct lock_run *run)
{
    int code = wait_ask(run), number;

    while (code == DIBS_OK && (code = dibs_lock_result(run->daemon, &run->fence)) == DIBS_WAITING) {
        struct pollfd polled[2] = {{.fd = dibs_fd(run->daemon), .events = dibs_events(run->daemon)},
                                   {.fd = run->signals, .events = POLLIN}};

        poll(polled, 2, dibs_timeout_ms(run->daemon));
        number = polled[1].revents ? lock_signal(run) : 0;
        if (number == SIGTSTP)
            lock_suspend();
        else if (number && number != SIGCHLD)
            return LOCK_SIGNAL + number;
        dibs_process(run->daemon); /* if the daemon has gone, that is the result */
        code = DIBS_OK;
    }
    return code == DIBS_OK ? 0 : wait_failed(run, code);
}

/* What others see who ask for holders: "host:process command". */
static void wait_name_us(const struct lock_run *run, char *name, size_t size)
{
    const char *slash = strrchr(run->command[0], '/');
    char host[65] = "";

    gethostname(host, sizeof host - 1);
    snprintf(name, size, "%s:%d %s", host, (int)getpid(), slash ? slash + 1 : run->command[0]);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* From now on signals are an event like others. Before, they just end us, and so does a daemon that does not answer. */
static void wait_watch_signals(struct lock_run *run)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
    sigset_t watched;

    sigemptyset(&watched);
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        sigaddset(&watched, numbers[k]);
    sigprocmask(SIG_BLOCK, &watched, &run->before);
    run->signals = signalfd(-1, &watched, SFD_CLOEXEC);
}

int lock_wait(struct lock_run *run)
{
    char name[96];

    wait_name_us(run, name, sizeof name);
    run->daemon = ask_connect(&run->place, name, LOCK_NO_DAEMON);
    wait_watch_signals(run);
    return wait_for_answer(run);
}
