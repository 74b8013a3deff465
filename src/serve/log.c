/* log.c - see log.h. */
#include "log.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = LOG_LINE_MAX, STACK = 1 << 17, END_MS = 200, LOOK_MS = 500 };

/* Positions grow without end; byte k is at k % size. */
struct log {
    pthread_mutex_t mutex;
    pthread_cond_t filled, written;
    struct log *next;
    const char *path; /* or null */
    log_gap *gap;
    void *user;
    int fd;
    bool runs, reopen;
    uint64_t in, out; /* bytes put into the buffer, and written */
    uint64_t dropped;
    uint64_t untold; /* lines that were dropped, and of which the file does not say so yet */
    uint64_t gap_at; /* it will, before this byte */
    int error;       /* why the last line was dropped: the errno of the file, or 0: there was no room */
    size_t size;
    char room[];
};

/* What the thread writes at once: the rest of a line whose beginning is in the file; a line about lines that were dropped; and
 * whole lines of the buffer. */
struct log_piece {
    size_t rest, gap, len; /* where the three parts end */
    uint64_t told;         /* the number of dropped lines in the second part */
    char bytes[2 * LOG_LINE_MAX + PIECE];
};

static struct log *logs; /* all of this process */

static int log_open_path(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
}

static bool log_is_to_reopen(struct log *log)
{
    bool reopen;

    pthread_mutex_lock(&log->mutex);
    reopen = log->reopen;
    pthread_mutex_unlock(&log->mutex);
    return reopen;
}

/* Writes the bytes, and waits for as long as that takes, unless the file is to be opened again. Returns how many bytes were written.
 * *error becomes the reason why not all were, or 0. */
static size_t log_write(struct log *log, const char *bytes, size_t len, int *error)
{
    size_t done = 0;

    *error = 0;
    while (done < len) {
        ssize_t some = write(log->fd, bytes + done, len - done);
        struct pollfd full = {.fd = log->fd, .events = POLLOUT};

        if (some > 0) {
            done += (size_t)some;
        } else if (some < 0 && errno == EAGAIN) {
            if (poll(&full, 1, LOOK_MS) == 0 && log_is_to_reopen(log))
                return done;
        } else if (some < 0 && errno != EINTR) {
            *error = errno;
            return done;
        }
    }
    return done;
}

/* Takes whole lines from the buffer, behind the rest that the piece has. They stay in the buffer until they are written. */
static void log_take(const struct log *log, struct log_piece *piece)
{
    uint64_t end = log->in - log->out < PIECE ? log->in : log->out + PIECE;

    piece->gap = piece->len = piece->rest;
    piece->told = 0;
    if (log->out == log->in)
        return;
    if (log->untold && log->gap_at > log->out && log->gap_at < end)
        end = log->gap_at;
    while (log->room[(end - 1) % log->size] != '\n')
        end--;
    if (log->untold && log->gap_at <= log->out) {
        piece->told = log->untold;
        piece->gap += log->gap(log->user, log->untold, piece->bytes + piece->rest);
    }
    piece->len = piece->gap;
    for (uint64_t k = log->out; k < end; k++)
        piece->bytes[piece->len++] = log->room[k % log->size];
}

static void log_drop(struct log *log, uint64_t lines, uint64_t at, int error)
{
    if (!log->untold || at < log->gap_at)
        log->gap_at = at;
    log->dropped += lines;
    log->untold += lines;
    log->error = error;
}

/* The file has taken the first `done` bytes of the piece. If it has the beginning of a line, the rest of that line is written next,
 * and so the file has whole lines only. After an error, the lines behind that one are dropped. */
static void log_note_written(struct log *log, struct log_piece *piece, size_t done, int error)
{
    size_t begun = done, lines;
    uint64_t lost = 0;

    while (begun < piece->rest || (begun && begun < piece->len && piece->bytes[begun - 1] != '\n'))
        begun++;
    if (begun >= piece->gap)
        log->untold -= piece->told;
    lines = begun > piece->gap ? begun : piece->gap;
    for (size_t k = lines; error && k < piece->len; k++)
        lost += piece->bytes[k] == '\n';
    log->out += (error ? piece->len : lines) - piece->gap;
    if (lost)
        log_drop(log, lost, log->out, error);
    memmove(piece->bytes, piece->bytes + done, begun - done);
    piece->rest = begun - done;
}

/* In the thread, which owns the descriptor. The disk may take its time, and the mutex is free meanwhile. */
static void log_open_again(struct log *log, struct log_piece *piece)
{
    int fd;

    log->reopen = false;
    pthread_mutex_unlock(&log->mutex);
    fd = log_open_path(log->path);
    if (fd >= 0) {
        close(log->fd);
        log->fd = fd;
    }
    pthread_mutex_lock(&log->mutex);
    if (fd >= 0 && piece->rest) { /* the old file has the beginning of that line */
        piece->rest = 0;
        log_drop(log, 1, log->out, 0);
    }
}

static void *log_run(void *user)
{
    struct log *log = user;
    struct log_piece piece = {.rest = 0};

    pthread_mutex_lock(&log->mutex);
    for (;;) {
        size_t done;
        int error;

        log_take(log, &piece);
        if (piece.len == piece.rest && !log->reopen) {
            pthread_cond_wait(&log->filled, &log->mutex);
            continue;
        }
        pthread_mutex_unlock(&log->mutex);
        done = log_write(log, piece.bytes, piece.len, &error);
        pthread_mutex_lock(&log->mutex);
        log_note_written(log, &piece, done, error);
        if (log->reopen)
            log_open_again(log, &piece);
        pthread_cond_signal(&log->written);
    }
    return NULL;
}

struct log *log_open(int fd, const char *path, size_t room, log_gap *gap, void *user)
{
    struct log *log;
    pthread_t thread;
    pthread_attr_t small;
    sigset_t all, before;

    if (path && (fd = log_open_path(path)) < 0)
        return NULL;
    log = mem_new(sizeof *log + room);
    *log = (struct log){.next = logs, .path = path, .gap = gap, .user = user, .fd = fd, .size = room};
    pthread_mutex_init(&log->mutex, NULL);
    pthread_cond_init(&log->filled, NULL);
    pthread_cond_init(&log->written, NULL);
    sigfillset(&all);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are delivered to the loop's thread */
    log->runs = pthread_create(&thread, &small, log_run, log) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    if (path && !log->runs) { /* to write to it at once would block */
        close(fd);
        free(log);
        errno = EAGAIN;
        return NULL;
    }
    if (!logs)
        atexit(log_end);
    return logs = log;
}

/* Returns false if the line does not fit. */
static bool log_put(struct log *log, const char *line, size_t len)
{
    assert(log->out <= log->in && log->in - log->out <= log->size);
    if (len > log->size - (log->in - log->out))
        return false;
    for (size_t k = 0; k < len; k++)
        log->room[(log->in + k) % log->size] = line[k];
    log->in += len;
    return true;
}

void log_line(struct log *log, const char *line, size_t len)
{
    int error;

    assert(len && len <= LOG_LINE_MAX && line[len - 1] == '\n');
    if (!log->runs) {
        log_write(log, line, len, &error);
        return;
    }
    pthread_mutex_lock(&log->mutex);
    if (!log_put(log, line, len))
        log_drop(log, 1, log->in, 0);
    pthread_cond_signal(&log->filled);
    pthread_mutex_unlock(&log->mutex);
}

uint64_t log_dropped(struct log *log, int *error)
{
    uint64_t dropped;

    pthread_mutex_lock(&log->mutex);
    dropped = log->dropped;
    *error = log->error;
    pthread_mutex_unlock(&log->mutex);
    return dropped;
}

void log_reopen(struct log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->reopen = true;
    pthread_cond_signal(&log->filled);
    pthread_mutex_unlock(&log->mutex);
}

void log_end(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += END_MS * 1000000L;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    for (struct log *log = logs; log; log = log->next) {
        pthread_mutex_lock(&log->mutex);
        while (log->runs && log->out < log->in && pthread_cond_timedwait(&log->written, &log->mutex, &until) == 0)
            ;
        pthread_mutex_unlock(&log->mutex);
    }
}
