/* demo_place.c - the directory of `dibs demo` and its processes; see demo.h. */
#include "demo.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------- a directory */

static int demo_remove(const char *path, const struct stat *what, int type, struct FTW *at)
{
    (void)what, (void)type, (void)at;
    remove(path);
    return 0;
}

/* The sweeper is in a session of its own, where no key of a terminal reaches it, and has no output, for whose end others may wait. */
static void demo_sweep(const char *dir, int pipe_end)
{
    int nothing = open("/dev/null", O_RDWR);
    char byte;

    setsid();
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    for (int fd = 0; fd <= 2; fd++)
        dup2(nothing, fd);
    while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
        ;
    nftw(dir, demo_remove, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

bool demo_open(struct demo_place *place)
{
    /* In memory, if possible: on a slow disk, daemons look dead to each other. */
    const char *const places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
    const char *const variables[] = {"DIBS_SOCKET",   "DIBS_CONNECT", "DIBS_KEY",     "DIBS_CERT",
                                     "DIBS_CERT_KEY", "DIBS_CA",      "NOTIFY_SOCKET"};
    int ends[2];
    bool made = false;

    for (unsigned k = 0; k < sizeof variables / sizeof variables[0]; k++)
        unsetenv(variables[k]); /* the daemons are those of the tour, not those of the user */
    for (unsigned k = 0; k < sizeof places / sizeof places[0] && !made; k++) {
        int len = places[k] ? snprintf(place->dir, sizeof place->dir, "%s/dibs-demo.XXXXXX", places[k]) : -1;

        made = len > 0 && (size_t)len < sizeof place->dir && !strchr(place->dir, ',') && mkdtemp(place->dir);
    }
    if (!made) {
        fprintf(stderr, "dibs: cannot make a directory in $TMPDIR, /dev/shm or /tmp: %s\n", strerror(errno));
        return false;
    }
    fflush(NULL); /* else the sweeper would have it, too */
    if (pipe(ends) != 0 || (place->sweeper = fork()) < 0)
        cli_die("cannot start a process: %s", strerror(errno));
    if (place->sweeper == 0) {
        close(ends[1]);
        demo_sweep(place->dir, ends[0]);
    }
    close(ends[0]);
    place->held = ends[1];
    return true;
}

void demo_close(struct demo_place *place)
{
    close(place->held);
    while (waitpid(place->sweeper, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* --------------------------------------------------------------------------------------------------------- processes */

static void demo_child(pid_t parent, const int in[2], const int out[2], const char *errors, const char *const *words)
{
    const char *argv[DEMO_WORDS_MAX + 2] = {"dibs"};
    unsigned count = 0;
    int error = errors ? open(errors, O_WRONLY | O_CREAT | O_APPEND, 0600) : 2;
    int from = in[0] >= 0 ? in[0] : open("/dev/null", O_RDONLY), to = out[1] >= 0 ? out[1] : error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || from < 0 || error < 0)
        _exit(127);
    dup2(from, 0);
    dup2(to, 1);
    dup2(error, 2);
    while (words[count]) {
        argv[count + 1] = words[count];
        count++;
    }
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

bool demo_start(struct demo_process *p, enum demo_io io, const char *errors, const char *const *words)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    pid_t parent = getpid();

    fflush(NULL);
    if (io == DEMO_PIPES && (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0))
        return false;
    p->pid = fork();
    if (p->pid == 0)
        demo_child(parent, in, out, errors, words);
    if (io == DEMO_PIPES) {
        close(in[0]);
        close(out[1]);
    }
    p->in = in[1];
    p->out = out[0];
    return p->pid > 0;
}

static void demo_forget(struct demo_process *p)
{
    if (p->in >= 0)
        close(p->in);
    if (p->out >= 0)
        close(p->out);
    p->pid = 0;
    p->in = p->out = -1;
}

bool demo_has_ended(struct demo_process *p)
{
    siginfo_t info = {0};

    return p->pid == 0 || (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

int demo_wait(struct demo_process *p)
{
    int status = 0;

    if (p->pid == 0)
        return 0;
    if (p->in >= 0) {
        close(p->in);
        p->in = -1;
    }
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    demo_forget(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void demo_end(struct demo_process *p)
{
    enum { PATIENCE = 500 };

    if (p->pid == 0)
        return;
    kill(p->pid, SIGTERM);
    for (unsigned k = 0; k < PATIENCE && !demo_has_ended(p); k++)
        demo_pause();
    kill(p->pid, SIGKILL);
    demo_wait(p);
}

int demo_run(char *text, size_t size, const char *errors, const char *const *words)
{
    struct demo_process p;
    size_t len = 0;
    char rest[256];
    ssize_t got;

    text[0] = 0;
    if (!demo_start(&p, DEMO_PIPES, errors, words))
        return 127;
    while (got = len < size - 1 ? read(p.out, text + len, size - 1 - len) : read(p.out, rest, sizeof rest),
           got > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && len < size - 1)
            len += (size_t)got;
    text[len] = 0;
    return demo_wait(&p);
}

void demo_pause(void)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};

    nanosleep(&moment, NULL);
}
