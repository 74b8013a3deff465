/* progress.c - see progress.h. A thread writes the line, so that it also appears while one piece of the work takes long. */
#include "progress.h"

#include "base/pool.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool runs;        /* the thread does */
    bool shown;       /* a line is on the terminal */
    double began, at; /* the work, and the piece of it that the estimate is for */
    const char *what;
    uint64_t done, all;
    char said[160];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static double progress_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ", about 12 s left" */
static void progress_estimate(char *text, size_t size, double now)
{
    double left = (now - progress.at) * ((double)progress.all / (double)progress.done - 1);

    if (!progress.done || progress.done >= progress.all || now - progress.at < 0.5)
        *text = 0;
    else if (left < 90)
        snprintf(text, size, ", about %.0f s left", left);
    else if (left < 5400)
        snprintf(text, size, ", about %.0f min left", left / 60);
    else
        snprintf(text, size, ", about %.1f h left", left / 3600);
}

static void progress_show(double now)
{
    char left[64];

    progress_estimate(left, sizeof left, now);
    if (progress.said[0])
        fprintf(stderr, "\r\033[K%s", progress.said);
    else
        fprintf(stderr, "\r\033[K%llu of %llu %s, %.0f s%s", (unsigned long long)progress.done,
                (unsigned long long)progress.all, progress.what, now - progress.began, left);
    fflush(stderr);
    progress.shown = true;
}

static void *progress_work(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&progress.lock);
    while (progress.runs) {
        double now = progress_now(CLOCK_MONOTONIC), wake = progress_now(CLOCK_REALTIME) + 0.2;
        struct timespec until = {.tv_sec = (time_t)wake, .tv_nsec = (long)((wake - (double)(time_t)wake) * 1e9)};

        if (now - progress.began >= 1)
            progress_show(now);
        pthread_cond_timedwait(&progress.ended, &progress.lock, &until);
    }
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

void progress_begin(const char *what, uint64_t all)
{
    if (!isatty(STDERR_FILENO))
        return;
    progress.what = what;
    progress.all = all;
    progress.done = 0;
    progress.said[0] = 0;
    progress.shown = false;
    progress.began = progress.at = progress_now(CLOCK_MONOTONIC);
    progress.runs = true;
    progress.runs = pthread_create(&progress.thread, NULL, progress_work, NULL) == 0;
}

void progress_set(uint64_t done, uint64_t all)
{
    pthread_mutex_lock(&progress.lock);
    if (all != progress.all)
        progress.at = progress_now(CLOCK_MONOTONIC);
    progress.done = done;
    progress.all = all;
    pthread_mutex_unlock(&progress.lock);
}

void progress_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pthread_mutex_lock(&progress.lock);
    vsnprintf(progress.said, sizeof progress.said, format, args);
    pthread_mutex_unlock(&progress.lock);
    va_end(args);
}

void progress_clear(void)
{
    pthread_mutex_lock(&progress.lock);
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    progress.shown = false;
    pthread_mutex_unlock(&progress.lock);
}

void progress_end(void)
{
    bool runs;

    pthread_mutex_lock(&progress.lock);
    runs = progress.runs;
    progress.runs = false;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.lock);
    if (runs)
        pthread_join(progress.thread, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ a pool */

struct counted {
    void (*job)(void *context, size_t k);
    void *context;
};

static void progress_job(void *context, size_t k)
{
    const struct counted *c = context;

    c->job(c->context, k);
    pthread_mutex_lock(&progress.lock);
    progress.done++;
    pthread_mutex_unlock(&progress.lock);
}

void progress_pool(unsigned threads, size_t count, void (*job)(void *context, size_t k), void *context,
                   const char *what)
{
    struct counted counted = {job, context};

    progress_begin(what, count);
    pool_run(threads, count, progress_job, &counted);
    progress_end();
}

/* ----------------------------------------------------------------------------------------------------------- colours */

bool has_colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *colour_of(enum verdict_colour colour)
{
    static const char *const codes[] = {"\033[32m", "\033[1;31m", "\033[33m"};

    return has_colours() ? codes[colour] : "";
}

const char *colour_end(void)
{
    return has_colours() ? "\033[0m" : "";
}
