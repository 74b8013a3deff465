/* log.c - see log.h. */
#include "log.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096, STACK = 1 << 17, END_MS = 200 };

/* A process has one standard error, so there is one of it. Positions grow without end; byte k is at k % LOG_ROOM. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled, written;
    bool runs;
    uint64_t in, out; /* bytes put into the buffer, and written */
    uint64_t dropped, untold;
    char room[LOG_ROOM];
} log_ = {.mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .written = PTHREAD_COND_INITIALIZER};

/* Writes all bytes and waits as long as that takes. After an error the rest is given up. */
static void log_write(const char *bytes, size_t len)
{
    while (len) {
        ssize_t some = write(STDERR_FILENO, bytes, len);
        struct pollfd full = {.fd = STDERR_FILENO, .events = POLLOUT};

        if (some < 0 && errno == EAGAIN)
            poll(&full, 1, -1);
        else if (some < 0 && errno != EINTR)
            return;
        if (some > 0) {
            bytes += some;
            len -= (size_t)some;
        }
    }
}

static void *log_run(void *unused)
{
    char piece[PIECE];

    pthread_mutex_lock(&log_.mutex);
    for (;;) {
        size_t len = log_.in - log_.out < PIECE ? log_.in - log_.out : PIECE;

        for (size_t k = 0; k < len; k++)
            piece[k] = log_.room[(log_.out + k) % LOG_ROOM];
        if (len == 0) {
            pthread_cond_wait(&log_.filled, &log_.mutex);
            continue;
        }
        pthread_mutex_unlock(&log_.mutex);
        log_write(piece, len);
        pthread_mutex_lock(&log_.mutex);
        log_.out += len;
        pthread_cond_signal(&log_.written);
    }
    return unused;
}

void log_begin(void)
{
    pthread_t thread;
    pthread_attr_t small;
    sigset_t all, before;

    sigfillset(&all);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are delivered to the loop's thread */
    log_.runs = pthread_create(&thread, &small, log_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    if (log_.runs)
        atexit(log_end);
}

/* Returns false if the line does not fit. */
static bool log_put(const char *line, size_t len)
{
    assert(log_.out <= log_.in && log_.in - log_.out <= LOG_ROOM);
    if (len > LOG_ROOM - (log_.in - log_.out))
        return false;
    for (size_t k = 0; k < len; k++)
        log_.room[(log_.in + k) % LOG_ROOM] = line[k];
    log_.in += len;
    return true;
}

void log_line(const char *line, size_t len)
{
    char told[128];

    if (!log_.runs) {
        log_write(line, len);
        return;
    }
    pthread_mutex_lock(&log_.mutex);
    if (log_.untold) {
        int told_len =
            snprintf(told, sizeof told, "dibs: %llu lines of this log were dropped, as nothing has read it\n",
                     (unsigned long long)log_.untold);

        if (LOG_ROOM - (log_.in - log_.out) >= (size_t)told_len + len && log_put(told, (size_t)told_len))
            log_.untold = 0;
    }
    if (log_.untold || !log_put(line, len)) {
        log_.dropped++;
        log_.untold++;
    }
    pthread_cond_signal(&log_.filled);
    pthread_mutex_unlock(&log_.mutex);
}

uint64_t log_dropped(void)
{
    return log_.dropped; /* only the loop changes it */
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
    pthread_mutex_lock(&log_.mutex);
    while (log_.runs && log_.out < log_.in && pthread_cond_timedwait(&log_.written, &log_.mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&log_.mutex);
}
