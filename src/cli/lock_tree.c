/* lock_tree.c - see lock_tree.h. */
#include "lock_tree.h"

#include "lock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PASSES_MAX = 100,         /* then what is stopped is killed, though there may be more: they are next */
    LOOKS = 2,                /* a process whose parent ends during the first one is seen in the second */
    CHILDREN_TEXT = 64 * 1024 /* bytes; what is beyond is seen when these have ended */
};

/* ------------------------------------------------------------------------------------------------------------- /proc */

/* Reads as much of a file as there is room for, and adds a zero byte. Returns false if the file cannot be read. */
static bool tree_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t got = -1;

    while (fd >= 0 && len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    if (fd >= 0)
        close(fd);
    return fd >= 0 && got >= 0;
}

/* Where processes of other users are hidden (/proc with hidepid=2), this one may be there all the same. A signal to it would be refused. */
static bool tree_look_hidden(int32_t pid, struct wrap_process *p)
{
    *p = (struct wrap_process){.pid = pid, .name = "hidden"};
    return kill(pid, 0) < 0 && errno == EPERM;
}

/* "812 (name) S parent group session .." with the number of its threads as the 20th word, and the time of its start as the 22nd. A name may have any
 * characters in it, also parentheses. The state is that of the first thread: if that has ended and others run, the process has not ended. */
static bool tree_look(int32_t pid, struct wrap_process *p)
{
    char path[40], text[1024], *name, *end;
    int threads;
    char state;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!tree_read(path, text, sizeof text))
        return tree_look_hidden(pid, p);
    name = strchr(text, '(');
    end = strrchr(text, ')');
    *p = (struct wrap_process){.pid = pid};
    if (!name || !end || end < name ||
        sscanf(end + 1,
               " %c %" SCNd32 " %" SCNd32 " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d %*s %" SCNu64,
               &state, &p->parent, &p->group, &threads, &p->started) != 5)
        return false;
    *end = '\0';
    snprintf(p->name, sizeof p->name, "%s", name + 1);
    for (char *c = p->name; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    p->stopped = state == 'T' || state == 't';
    p->ended = (state == 'Z' && threads < 2) || state == 'X';
    return true;
}

/* To this very process and no other: the descriptor stands for one process, and that has the start that we know. */
static void tree_send(struct wrap_sweep *s, const struct wrap_process *p)
{
    struct wrap_process now;
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0), result = 0;

    if (fd < 0 && errno == ESRCH)
        return;
    if (tree_look(p->pid, &now) && now.started == p->started)
        result = fd < 0 ? kill(p->pid, s->signal) : (int)syscall(SYS_pidfd_send_signal, fd, s->signal, NULL, 0);
    if (result < 0 && errno == EPERM)
        wrap_refuse(s, p->pid);
    if (fd >= 0)
        close(fd);
}

/* The children of one thread. */
static void tree_show_children(struct wrap_sweep *s, const struct wrap_process *of, const char *thread)
{
    static char text[CHILDREN_TEXT];
    struct wrap_process p;
    char path[64], *at = text, *end;
    long child;

    snprintf(path, sizeof path, "/proc/%d/task/%.12s/children", (int)of->pid, thread);
    if (!tree_read(path, text, sizeof text) || (of->started && (!tree_look(of->pid, &p) || p.started != of->started)))
        return;
    for (; (child = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
        if (tree_look((int32_t)child, &p)) {
            p.parent = p.parent ? p.parent : of->pid;
            if (wrap_see(s, &p))
                tree_send(s, &p);
        }
}

static void tree_show(struct wrap_sweep *s, const struct wrap_process *of)
{
    char path[32];
    struct dirent *thread;
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%d/task", (int)of->pid);
    threads = opendir(path);
    while (threads && (thread = readdir(threads)))
        if (isdigit((unsigned char)thread->d_name[0]))
            tree_show_children(s, of, thread->d_name);
    if (threads)
        closedir(threads);
}

bool tree_is_visible(void)
{
    char path[64], text[16] = "";

    errno = ENOENT;
    if (readlink("/proc/self", text, sizeof text - 1) < 0 || atoi(text) != getpid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    return tree_read(path, text, sizeof text);
}

/* ----------------------------------------------------------------------------------------------------------- signals */

static bool tree_pass(struct wrap_sweep *s, int signal)
{
    struct wrap_process of;

    wrap_begin(s, signal, 0);
    while (wrap_next(s, &of))
        tree_show(s, &of);
    return wrap_finish(s);
}

/* First all of them are looked up, then all get the signal: the children of one that the signal ends would be in another place of the tree. */
void tree_signal(struct wrap_sweep *s, int signal, int32_t group)
{
    for (unsigned k = 0; k < LOOKS && tree_pass(s, 0); k++)
        ;
    s->signal = signal;
    for (size_t k = 0; k < s->count; k++)
        if (!group || s->seen[k].process.group == group) {
            s->seen[k].sent = signal;
            tree_send(s, &s->seen[k].process);
        }
}

bool tree_is_stopped(int32_t pid)
{
    struct wrap_process now;

    return !tree_look(pid, &now) || now.stopped || now.ended;
}

void tree_stop(struct wrap_sweep *s)
{
    for (unsigned k = 0; k < PASSES_MAX && tree_pass(s, SIGSTOP); k++)
        ;
}

void tree_stop_again(struct wrap_sweep *s)
{
    struct wrap_process now;

    for (size_t k = 0; k < s->count; k++) {
        const struct wrap_process *p = &s->seen[k].process;
        bool there = tree_look(p->pid, &now) && now.started == p->started;

        if (s->seen[k].sent == SIGSTOP && !(there && (now.stopped || now.ended)))
            wrap_continued(s, p->pid);
    }
    tree_stop(s); /* those that have started new ones may have stopped again since */
}

void tree_continue(struct wrap_sweep *s)
{
    s->signal = SIGCONT;
    for (size_t k = 0; k < s->count; k++)
        if (s->seen[k].sent == SIGSTOP && !s->seen[k].process.stopped) {
            tree_send(s, &s->seen[k].process);
            s->seen[k].sent = SIGCONT;
        }
}

void tree_kill(struct wrap_sweep *s)
{
    tree_stop(s);
    tree_pass(s, SIGKILL);
}

/* ----------------------------------------------------------------------------------------------------------- messages */

void tree_name_stubborn(struct wrap_sweep *s, bool patient, const char *remark)
{
    struct wrap_process now;

    for (size_t k = 0; k < s->count; k++) {
        struct wrap_seen *seen = &s->seen[k];

        if (seen->told || (!seen->refused && patient) || !tree_look(seen->process.pid, &now) ||
            now.started != seen->process.started || now.ended)
            continue;
        lock_say("dibs: process %d (%s) %s; %s\n", (int)now.pid, now.name,
                 seen->refused ? "belongs to another user and cannot be killed" : "was killed and has not ended yet",
                 remark);
        seen->told = true;
    }
}

const char *tree_text(struct wrap_sweep *s)
{
    static char text[200];
    size_t len = 0;

    tree_pass(s, 0);
    text[0] = '\0';
    for (size_t k = 0; k < s->count && len < sizeof text; k++)
        if (!s->seen[k].process.ended)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%d (%s)", len ? ", " : "",
                                    (int)s->seen[k].process.pid, s->seen[k].process.name);
    if (len >= sizeof text)
        memcpy(text + sizeof text - 4, "...", 4);
    return text;
}
