/* lock_job.c - the command of `dibs lock`, and all processes that it starts.
 *
 * Three processes. This one, the keeper, holds the connection and watches: signals, the daemon, the command. Its child is the
 * guard, and the guard's child is the command, in a process group of its own. src/wrap/wrap.h tells what the keeper and
 * the guard are for, and decides what is ended when; here it is done.
 *
 * The guard sleeps on a pipe of which the keeper has the other end. When the keeper dies, even by kill -9, the guard kills
 * all that is below it. It has the connection to the daemon open as well, so the lock is not released before. Should the
 * guard be killed, the keeper does the same. Should both be killed at once, the command itself gets SIGKILL, as its parent
 * has died; and what it has started has inherited the connection, and with it the lock, until it ends. Only a process
 * that has closed its descriptors, as daemons do, outlives its lock then. The guard has another name than the keeper, so
 * that "killall -9 dibs" does not kill both.
 *
 * The keeper may be stopped (SIGSTOP), and the command not. Then the keeper does not hear that the lock is lost, and cannot
 * come back to its session when the daemon ends. So it tells the guard now and then that the lock is held, and for how long no other
 * client is granted it (dibs_safe_ms). If the guard has not heard that for half of the keep time, and the keeper is stopped, the guard
 * stops all that is below it. A keeper that is not stopped ends the tree when the lock is lost. It cannot while it looks up the name of a
 * daemon, and no name server answers: then the guard stops the tree at the end of the time that it was told. The tree goes on when the
 * keeper says again that the lock is held (W6 of wrap.h); a process of it that another process continues before is stopped again.
 *
 * What the keeper does is an answer to one of four things, and all come through poll: a signal (signalfd), the daemon says
 * something, the guard does, time passes.
 *
 * A terminal obeys one process group. The command gets it at once if the terminal is all that we read from and write to;
 * else, as another program of a pipeline may want it (dibs lock .. | less), when it is stopped because it does not have the terminal. */
#include "lock.h"
#include "lock_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    JOB_SWEEP_MS_MAX = 50,
    JOB_STUBBORN_MS = 1000,
    JOB_TELL_MS = 2000,
    DOUBT_TELL_MS = 2000,
    GUARD_LOOK_MS = 100,
    GUARD_AGAIN_MS = 250
};

/* What the keeper tells the guard. */
struct job_word {
    enum {
        KEEPER_CONNECTION,
        KEEPER_HOLDS,  /* the lock is held for sure */
        KEEPER_RESTS,  /* it has stopped the tree */
        KEEPER_DOUBTS, /* the tree goes on after that, and the lock is in doubt */
        KEEPER_ENDS    /* the lock is lost */
    } what;
    /* Both are times of the clock that the two processes share: the guard may hear the word late. */
    uint64_t said_ms;
    uint64_t safe_ms; /* of KEEPER_HOLDS and KEEPER_DOUBTS: no other client is granted the lock before */
};

/* What the guard tells the keeper. */
struct job_news {
    enum {
        JOB_STARTED, /* value: the command's number, which is that of its process group, too */
        JOB_STOPPED, /* value: by which signal */
        JOB_ENDED    /* value: its wait status; others of the tree still run */
    } kind;
    int32_t value;
};

struct job {
    struct lock_run *run;
    struct wrap wrap;
    pid_t guard, child; /* guard 0: it has ended */
    int news;           /* a pipe from the guard */
    int alive;          /* a socket to the guard: when it ends, the keeper has */
    int status;         /* the exit status */
    int stopped;        /* the command was, by this signal, and we have not done anything about it; or 0 */
    bool given;         /* it was given the terminal */
    bool pauses;        /* when it stops, so do we: there is a shell that can let us go on */
    bool interrupted;   /* we were told to pass SIGINT on */
    uint64_t renew_ms, tell_ms, kills_ms; /* when; 0: never. kills_ms: since when processes are being killed */
    uint64_t doubt_ms;                    /* when to tell that the lock is in doubt, and why; 0: never */
    char doubt[300];
    bool doubt_told;
    bool in_doubt;
    int told;         /* what the keeper last told the guard */
    uint64_t told_ms; /* when */
    uint64_t safe_ms; /* no other client is granted the lock before */
    uint64_t
        frozen_ms; /* since when the guard has stopped the tree, and has not told why; 0: it has, or did not stop it */
    bool frozen;   /* the guard has stopped the tree */
    pid_t keeper;
    ino_t connection;        /* the socket that the guard has, too */
    int sweep_ms;            /* until the next sweep */
    struct wrap_sweep sweep; /* the last: see lock_job */
};

static int job_exit_status(int status)
{
    return WIFSIGNALED(status) ? LOCK_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* poll counts no time while the machine sleeps, and lock_now_ms does. So no process of ours waits longer than this for a moment that may pass
 * meanwhile. */
enum { JOB_POLL_MS = 1000 };

/* The earlier of two times: `a_ms` from now, -1 for never, and `at_ms`, 0 for never. As milliseconds from now, JOB_POLL_MS at most; -1: never. */
static int job_earlier(int a_ms, uint64_t at_ms)
{
    uint64_t now = lock_now_ms();
    int b_ms = !at_ms ? -1 : at_ms <= now ? 0 : at_ms - now > JOB_POLL_MS ? JOB_POLL_MS : (int)(at_ms - now);
    int ms = a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;

    return ms < JOB_POLL_MS ? ms : JOB_POLL_MS;
}

/* A sweep, while the tree is to be killed. Returns how many milliseconds later the next one is due. */
static int job_sweep(struct job *j)
{
    char remark[400];

    if (!j->kills_ms)
        j->kills_ms = lock_now_ms();
    tree_kill(&j->sweep);
    snprintf(remark, sizeof remark,
             j->run->lost ? "the lock %s is lost, and others may be granted it meanwhile"
                          : "the lock %s is not released before it has ended",
             lock_label(j->run));
    tree_name_stubborn(&j->sweep, lock_now_ms() - j->kills_ms < JOB_STUBBORN_MS, remark);
    j->sweep_ms = j->sweep_ms == 0 ? 1 : j->sweep_ms < JOB_SWEEP_MS_MAX ? 2 * j->sweep_ms : JOB_SWEEP_MS_MAX;
    return j->sweep_ms;
}

/* ------------------------------------------------------------------------------------------------------ the command */

/* Returns false if the keeper does not hear it. If it is dead, the socket that tells so is read next. */
static bool guard_tell(const struct job *j, int kind, int32_t value)
{
    const struct job_news news = {.kind = kind, .value = value};

    return write(j->news, &news, sizeof news) == sizeof news;
}

/* In the child of vfork(), which shares the memory of the guard and changes none of it. The guard does not run before the
 * command does. So the child itself tells the keeper its number: should the child be stopped, or the file of the command be on
 * a network that does not answer, the keeper still hears signals and the daemon. */
static void job_exec(const struct job *j, pid_t parent)
{
    const struct lock_run *run = j->run;
    int error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !guard_tell(j, JOB_STARTED, getpid()))
        _exit(LOCK_CANNOT_RUN); /* the keeper would not watch it */
    if (j->given)               /* a process that reads from it before that is stopped */
        tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, lock_ignores(run, SIGTTOU) ? SIG_IGN : SIG_DFL);
    signal(SIGPIPE, lock_ignores(run, SIGPIPE) ? SIG_IGN : SIG_DFL);
    signal(SIGXFSZ, lock_ignores(run, SIGXFSZ) ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
    fcntl(dibs_fd(run->daemon), F_SETFD, 0);
    execvp(run->command[0], run->command);
    error = errno;
    fprintf(stderr, "dibs: cannot run \"%s\": %s%s\n", run->command[0], strerror(error),
            error == ENOENT && run->undivided ? "; if it is the name of a second lock, write -- before the command"
                                              : "");
    _exit(error == ENOENT ? LOCK_NOT_FOUND : LOCK_CANNOT_RUN);
}

/* -------------------------------------------------------------------------------------------------------- the guard */

/* The command was continued, and the keeper was not: a user has stopped both (Ctrl-Z) and continues the command by its number. The
 * command must not run while the keeper cannot hear that the lock is lost. */
static void guard_continue_keeper(const struct job *j)
{
    if (getppid() == j->keeper && tree_is_stopped(j->keeper))
        kill(j->keeper, SIGCONT);
}

/* Children that have ended, stopped or gone on. The command is one of them; the others' parents have ended. */
static void guard_reap(struct job *j)
{
    int status;
    pid_t who;

    while ((who = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (who != j->child)
            continue;
        if (WIFCONTINUED(status)) {
            guard_continue_keeper(j);
            if (j->frozen)
                tree_stop_again(&j->sweep);
        } else if (!WIFSTOPPED(status)) {
            j->child = 0;
            j->status = status;
        } else if (!j->frozen) {
            guard_tell(j, JOB_STOPPED, WSTOPSIG(status));
        }
    }
    if (who < 0 && errno == ECHILD)
        wrap_step(&j->wrap, WRAP_EMPTY, 0, 0);
    else if (!j->child && j->wrap.state == WRAP_RUNS) {
        wrap_step(&j->wrap, WRAP_COMMAND_ENDED, 0, 0); /* the keeper decides what becomes of the rest */
        guard_tell(j, JOB_ENDED, j->status);
    }
}

/* A descriptor goes to the guard. Returns false if there is no room for it now: the guard does not read before the command has begun (job_exec), and
 * the file of the command may be on a network that does not answer. */
static bool guard_give(int alive, int fd)
{
    struct job_word word = {.what = KEEPER_CONNECTION};
    struct iovec one = {&word, sizeof word};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof fd)];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct msghdr message = {
        .msg_iov = &one, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};

    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    return sendmsg(alive, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* The keeper holds the lock, or has to end the tree: so the tree goes on if it was stopped. */
static void guard_hear(struct job *j, const struct job_word *word)
{
    if (word->what == KEEPER_CONNECTION)
        return;
    j->told = word->what;
    j->told_ms = word->said_ms;
    if (word->what == KEEPER_HOLDS || word->what == KEEPER_DOUBTS)
        j->safe_ms = word->safe_ms;
    if (j->frozen && (((word->what == KEEPER_HOLDS || word->what == KEEPER_DOUBTS) && lock_now_ms() < j->safe_ms) ||
                      word->what == KEEPER_ENDS)) {
        j->frozen = false;
        j->frozen_ms = 0;
        tree_continue(&j->sweep);
    }
}

/* The guard keeps the descriptor open, in place of the one that it got before. Returns false if the keeper has ended. */
static bool guard_take(struct job *j, int alive, int *kept)
{
    struct job_word word = {.what = KEEPER_CONNECTION};
    struct iovec one = {&word, sizeof word};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &one, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t got = recvmsg(alive, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    if (head && head->cmsg_type == SCM_RIGHTS) {
        close(*kept);
        memcpy(kept, CMSG_DATA(head), sizeof *kept);
    }
    if (got > 0)
        guard_hear(j, &word);
    return got > 0 || (got < 0 && errno == EINTR);
}

/* The keeper does not say that the lock is held, nor that it is lost: it waits for something else. Returns as guard_mind does. */
static int guard_tell_frozen(struct job *j, uint64_t now_ms)
{
    if (!j->frozen_ms)
        return -1;
    if (now_ms < j->frozen_ms + JOB_STUBBORN_MS)
        return job_earlier(-1, j->frozen_ms + JOB_STUBBORN_MS);
    j->frozen_ms = 0;
    lock_say("dibs: the process %d cannot confirm %s in time; its command is stopped until it has\n", (int)j->keeper,
             lock_label(j->run));
    return -1;
}

/* Stops the tree if the keeper cannot; and also if the keeper itself has stopped it (KEEPER_RESTS), since another process may continue a part of it.
 * Returns for how many milliseconds there is nothing to do; -1: for ever. */
static int guard_mind(struct job *j)
{
    uint64_t keep_ms = j->run->place.keep_ms, now_ms = lock_now_ms(), look_ms = j->told_ms + keep_ms / 2;
    bool stopped;

    if (j->frozen) {
        tree_stop_again(&j->sweep);
        return job_earlier(guard_tell_frozen(j, now_ms), now_ms + GUARD_AGAIN_MS);
    }
    if (!keep_ms || j->told == KEEPER_ENDS)
        return -1;
    if (j->safe_ms < look_ms)
        look_ms = j->safe_ms;
    if (now_ms < look_ms)
        return job_earlier(-1, look_ms);
    stopped = tree_is_stopped(j->keeper);
    if (!stopped && now_ms < j->safe_ms)
        return job_earlier(GUARD_LOOK_MS, j->safe_ms);
    j->frozen = true;
    tree_stop(&j->sweep);
    j->frozen_ms = j->told == KEEPER_RESTS ? 0 : now_ms;
    if (stopped && j->frozen_ms) {
        lock_say("dibs: the process %d, which holds %s, is stopped; so is its command until the lock is confirmed\n",
                 (int)j->keeper, lock_label(j->run));
        j->frozen_ms = 0;
    }
    return job_earlier(guard_tell_frozen(j, now_ms), now_ms + GUARD_AGAIN_MS);
}

static void guard_watch(struct job *j, int alive)
{
    struct pollfd polled[2] = {{.fd = alive, .events = POLLIN}, {.fd = j->run->signals, .events = POLLIN}};
    int kept = dibs_fd(j->run->daemon);

    for (;;) {
        guard_reap(j);
        if (j->wrap.state == WRAP_DONE)
            _exit(job_exit_status(j->status));
        if (j->wrap.state == WRAP_KILLS) {
            usleep((useconds_t)job_sweep(j) * 1000);
            continue;
        }
        polled[0].revents = polled[1].revents = 0;
        poll(polled, 2, guard_mind(j));
        if (polled[1].revents)
            lock_signal(j->run);
        if (polled[0].revents && !guard_take(j, alive, &kept))
            wrap_step(&j->wrap, WRAP_PARTNER_DIED, 0, 0);
    }
}

static void guard_be(struct job *j, const int *alive, const int *news)
{
    pid_t self = getpid(), child;

    close(alive[1]);
    close(news[0]);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "lock-guard");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    j->sweep.root = self;
    if (j->wrap.background == WRAP_END)
        j->wrap.background = WRAP_WAIT;
    child = vfork(); /* no page is copied for a process that runs another program at once */
    if (child == 0)
        job_exec(j, self);
    if (child < 0)
        _exit(LOCK_CANNOT_RUN);
    j->child = child;
    guard_watch(j, alive[0]);
}

/* ------------------------------------------------------------------------------------------------------- the terminal */

static void job_give_terminal(struct job *j)
{
    if (tcgetpgrp(STDIN_FILENO) == getpgrp())
        j->given = tcsetpgrp(STDIN_FILENO, j->child) == 0;
}

/* Unless a shell has it by now. */
static void job_take_terminal(struct job *j)
{
    if (j->given && tcgetpgrp(STDIN_FILENO) == j->child)
        tcsetpgrp(STDIN_FILENO, getpgrp());
}

static void job_tell_guard(struct job *j, int what)
{
    const uint64_t now_ms = lock_now_ms(); /* before dibs_safe_ms looks at the clock: the sum is not too late */
    const uint64_t rest_ms = dibs_safe_ms(j->run->daemon);
    const struct job_word word = {
        .what = what, .said_ms = now_ms, .safe_ms = now_ms + (rest_ms < INT32_MAX ? rest_ms : INT32_MAX)};

    if (send(j->alive, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof word)
        j->told = what;
    j->told_ms = now_ms;
}

/* Often enough for the keep time: job_patience sees to that. */
static void job_mind_guard(struct job *j)
{
    uint64_t keep_ms = j->run->place.keep_ms;

    if (!keep_ms || !j->guard)
        return;
    if (j->run->lost && j->told != KEEPER_ENDS)
        job_tell_guard(j, KEEPER_ENDS);
    else if (!j->run->lost && j->in_doubt && j->told == KEEPER_RESTS)
        job_tell_guard(j, KEEPER_DOUBTS);
    else if (!j->run->lost && !j->in_doubt && (j->told != KEEPER_HOLDS || lock_now_ms() - j->told_ms >= keep_ms / 16))
        job_tell_guard(j, KEEPER_HOLDS);
}

/* We are stopped, and cannot hear that the lock is lost: so all of the tree is stopped before, and goes on when we have asked.
 * The lock stays ours all the while, unless it is on a lease. The caller tells the guard (job_mind_guard) when the tree goes on. */
static void job_suspend(struct job *j)
{
    job_tell_guard(j, KEEPER_RESTS);
    tree_stop(&j->sweep);
    lock_suspend();
    dibs_confirm(j->run->daemon, j->run->part[0].name); /* the answer is about all */
    tree_continue(&j->sweep);
}

/* The command has stopped. If it needs the terminal, and dibs has the terminal, the command gets it. Else the user has stopped it
 * (Ctrl-Z): so are we, and the shell has the terminal, until both go on. */
static void job_pause(struct job *j)
{
    bool wants = j->stopped == SIGTTIN || j->stopped == SIGTTOU;

    j->stopped = 0;
    if (!wants || tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        job_take_terminal(j);
        job_suspend(j);
    }
    if (wants || j->given)
        job_give_terminal(j);
    tree_signal(&j->sweep, SIGCONT, j->child);
    job_mind_guard(j);
}

/* -------------------------------------------------------------------------------------------------------- the keeper */

static void job_step(struct job *j, enum wrap_event event, int number)
{
    switch (wrap_step(&j->wrap, event, number, lock_now_ms())) {
    case WRAP_PASS:
        tree_signal(&j->sweep, number, j->child);
        break;
    case WRAP_TERM:
        tree_signal(&j->sweep, SIGTERM, 0);
        tree_signal(&j->sweep, SIGCONT, 0);
        break;
    case WRAP_NOTHING:
        break;
    }
}

/* The library calls this. */
static void job_was_lost(void *user, const char *name, uint64_t fence, const char *why)
{
    struct job *j = user;

    (void)fence;
    lock_say("dibs: \"%s\" is lost: %s%s\n", ask_clean(name), why, j->run->lost ? "" : "; ending the command");
    if (j->run->lost)
        return;
    j->run->lost = true;
    j->renew_ms = 0;
    job_step(j, WRAP_LOST, 0);
}

static void job_tell_doubt(struct job *j)
{
    lock_say("dibs: %s is in doubt: %s; the command goes on, and dibs connects again\n", lock_label(j->run), j->doubt);
    j->doubt_ms = 0;
    j->doubt_told = true;
}

/* The library calls this, too. When a daemon is restarted, the lock is in doubt for a moment, of which only --verbose
 * tells. */
static void job_is_in_doubt(void *user, int in_doubt, const char *why)
{
    struct job *j = user;

    j->in_doubt = in_doubt;
    j->doubt_ms = in_doubt && !j->run->quiet ? lock_now_ms() + DOUBT_TELL_MS : 0;
    snprintf(j->doubt, sizeof j->doubt, "%s", why);
    if (in_doubt && j->run->verbose)
        job_tell_doubt(j);
    if (in_doubt)
        return;
    if (j->doubt_told)
        lock_say("dibs: %s is held again\n", lock_label(j->run));
    j->doubt_told = false;
}

/* When the library has made a new connection, the guard gets it as well, so that its end is not the end of the session while
 * the guard lives. If it cannot be given now, the next turn tries again. */
static void job_share_connection(struct job *j)
{
    int fd = dibs_fd(j->run->daemon);
    struct stat socket;

    if (fd < 0 || fstat(fd, &socket) != 0 || socket.st_ino == j->connection)
        return;
    if (!j->connection || guard_give(j->alive, fd))
        j->connection = socket.st_ino;
}

static void job_renew(struct job *j)
{
    for (size_t k = 0; k < j->run->count && !j->run->lost; k++)
        dibs_start_renew(j->run->daemon, j->run->part[k].name, (uint64_t)ceil(j->run->ttl_s * 1000));
    if (j->renew_ms) /* it is not lost */
        j->renew_ms = lock_now_ms() + (uint64_t)(j->run->ttl_s * 1000 / 3) + 1;
}

static void job_signalled(struct job *j, int number)
{
    if (lock_ignores(j->run, number)) { /* the command ignores it, too, unless it has chosen otherwise */
        if (j->wrap.state == WRAP_RUNS)
            tree_signal(&j->sweep, number, j->child);
        return;
    }
    if (number == SIGTSTP && j->wrap.state == WRAP_RESTS) {
        job_suspend(j);
        job_mind_guard(j);
        return;
    }
    j->pauses |= number == SIGTSTP;
    j->interrupted |= number == SIGINT;
    job_step(j, WRAP_SIGNAL, number);
}

static void job_hear(struct job *j)
{
    struct job_news news;

    if (read(j->news, &news, sizeof news) != sizeof news) {
        close(j->news); /* the guard has ended */
        j->news = -1;
    } else if (news.kind == JOB_STOPPED) {
        j->stopped = news.value;
    } else if (news.kind == JOB_ENDED) {
        job_take_terminal(j);
        j->status = job_exit_status(news.value);
        j->tell_ms = lock_now_ms() + JOB_TELL_MS;
        job_step(j, WIFSIGNALED(news.value) ? WRAP_COMMAND_KILLED : WRAP_COMMAND_ENDED, 0);
    }
}

static void job_reap(struct job *j)
{
    int status;
    pid_t who;

    while ((who = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
        if (who == j->guard && WIFSTOPPED(status)) {
            kill(j->guard, SIGCONT); /* without it, the end of the command is not noticed */
        } else if (who == j->guard) {
            j->guard = j->sweep.spare = 0;
            j->status = job_exit_status(status);
            if (!WIFSIGNALED(status))
                continue;
            lock_say("dibs: the guard of the command was killed; ending the command\n");
            job_step(j, WRAP_PARTNER_DIED, 0);
        }
    if (who < 0 && errno == ECHILD)
        job_step(j, WRAP_EMPTY, 0);
    else if (!j->guard)
        job_step(j, WRAP_COMMAND_ENDED, 0); /* it was asked to leave the rest */
}

/* Milliseconds until something is to be done; -1: nothing is. */
static int job_patience(const struct job *j)
{
    int ms = j->run->lost ? -1 : dibs_timeout_ms(j->run->daemon);

    ms = job_earlier(job_earlier(ms, j->renew_ms), j->doubt_ms);
    if (j->run->place.keep_ms && j->guard && !j->run->lost && !j->in_doubt)
        ms = job_earlier(ms, j->told_ms + j->run->place.keep_ms / 8);
    if (j->wrap.state == WRAP_RESTS)
        ms = job_earlier(ms, j->tell_ms);
    if (j->wrap.state == WRAP_ENDS)
        ms = job_earlier(ms, j->wrap.kill_ms);
    if (j->wrap.state == WRAP_KILLS)
        ms = job_earlier(ms, lock_now_ms() + (uint64_t)j->sweep_ms);
    return ms;
}

/* Does what is due: renews the TTL, tells about processes that still run, ends those whose grace is over. */
static void job_advance(struct job *j)
{
    if (j->renew_ms && lock_now_ms() >= j->renew_ms)
        job_renew(j);
    if (j->doubt_ms && lock_now_ms() >= j->doubt_ms)
        job_tell_doubt(j);
    if (j->wrap.state == WRAP_RESTS && j->tell_ms && lock_now_ms() >= j->tell_ms) {
        j->tell_ms = 0;
        lock_say("dibs: the command has ended; lock %s is held until what it has left running ends: %s\n",
                 lock_label(j->run), tree_text(&j->sweep));
    }
    job_step(j, WRAP_TIME, 0);
    if (j->wrap.state == WRAP_KILLS)
        job_sweep(j);
}

/* Until nothing of the tree is left. */
static void job_watch(struct job *j)
{
    struct pollfd polled[3] = {{.fd = -1}, {.fd = j->run->signals, .events = POLLIN}, {.events = POLLIN}};
    int number;

    job_share_connection(j);
    for (job_reap(j); j->wrap.state != WRAP_DONE; job_reap(j)) {
        polled[0].fd = j->run->lost ? -1 : dibs_fd(j->run->daemon);
        polled[0].events = dibs_events(j->run->daemon);
        polled[2].fd = j->news;
        polled[0].revents = polled[1].revents = polled[2].revents = 0;
        poll(polled, 3, job_patience(j));
        if (!j->run->lost)
            dibs_process(j->run->daemon);
        if (!j->run->lost)
            job_share_connection(j);
        job_mind_guard(j);
        if (polled[1].revents && (number = lock_signal(j->run)) && number != SIGCHLD)
            job_signalled(j, number);
        if (polled[2].revents)
            job_hear(j);
        if (j->stopped && j->pauses)
            job_pause(j);
        job_advance(j);
    }
}

static int job_cannot_start(const char *why)
{
    fprintf(stderr, "dibs: cannot start the command: %s\n", why);
    return LOCK_CANNOT_RUN;
}

static int job_start(struct job *j)
{
    int alive[2], news[2];
    struct job_news first;

    j->pauses = isatty(STDIN_FILENO);
    j->given = j->pauses && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* should the guard be killed */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, alive) < 0 || pipe2(news, O_CLOEXEC) < 0)
        return job_cannot_start(strerror(errno));
    /* A sweep needs three descriptors at a time (lock_tree.c). Here is one, and each process closes two of these four. */
    if (!tree_is_visible())
        return job_cannot_start(
            errno == ENOENT
                ? "nothing tells which processes it starts; /proc has to be mounted, in the PID namespace of dibs, "
                  "and the kernel needs CONFIG_PROC_CHILDREN"
                : strerror(errno));
    j->keeper = getpid();
    j->told = KEEPER_HOLDS;
    j->told_ms = lock_now_ms();
    j->safe_ms = j->told_ms + dibs_safe_ms(j->run->daemon);
    lock_set_environment(j->run); /* not in the guard, in which each page that it touches would be mapped again */
    if ((j->guard = _Fork()) < 0) /* fork() prepares the child for threads, and touches pages for that */
        return job_cannot_start(strerror(errno));
    j->news = news[j->guard == 0];
    if (j->guard == 0)
        guard_be(j, alive, news);
    close(alive[0]);
    close(news[1]);
    j->alive = alive[1];
    j->sweep.root = getpid();
    j->sweep.spare = j->guard;
    if (read(j->news, &first, sizeof first) != sizeof first)
        return job_cannot_start("there are too many processes, or its guard was killed");
    j->child = first.value;
    return 0;
}

/* If there is no connection just now, the lock is released as soon as there is one: other clients wait for that. */
static void job_unlock(const struct job *j)
{
    static const char *const ping[] = {"PING"};
    struct dibs *d = j->run->daemon;
    struct dibs_reply *reply = NULL;
    uint64_t until_ms = lock_now_ms() + j->run->place.keep_ms;
    int code = DIBS_OK;

    for (size_t k = 0; k < j->run->count; k++) {
        int one = dibs_unlock(d, j->run->part[k].name);

        code = one == DIBS_IN_DOUBT ? one : code;
    }
    while (code == DIBS_IN_DOUBT && lock_now_ms() < until_ms &&
           (code = dibs_ask(d, ping, 1, &reply)) == DIBS_IN_DOUBT) {
        struct pollfd polled = {.fd = dibs_fd(d), .events = dibs_events(d)};

        poll(&polled, 1, job_earlier(dibs_timeout_ms(d), until_ms));
        dibs_process(d);
    }
    dibs_free(reply);
}

int lock_job(struct lock_run *run)
{
    static struct job job;
    struct job *j = &job;
    int status;

    /* The table of processes is large, and needed only if the command is to be ended: its pages are not touched before. */
    memset(j, 0, offsetof(struct job, sweep) + offsetof(struct wrap_sweep, seen));
    j->run = run;
    j->wrap = (struct wrap){
        .background = run->background, .yields = run->yields, .grace_ms = (uint64_t)(run->grace_s * 1000) + 1};
    j->renew_ms = run->ttl_s > 0 ? lock_now_ms() + (uint64_t)(run->ttl_s * 1000 / 3) : 0;
    status = job_start(j);
    if (status)
        return status;
    dibs_on_lost(run->daemon, job_was_lost, j);
    dibs_on_doubt(run->daemon, job_is_in_doubt, j);
    job_watch(j);
    job_take_terminal(j);
    sigprocmask(SIG_SETMASK, &run->before, NULL); /* the daemon may not answer; a signal may end the wait for it */
    if (!run->lost)
        job_unlock(j);
    /* The terminal has interrupted the command, and would have interrupted all others of the job, such as a script that
     * goes on to the next one. */
    if (j->status == LOCK_SIGNAL + SIGINT && j->given && !j->interrupted)
        kill(0, SIGINT);
    return run->lost ? LOCK_LOST : j->status;
}
