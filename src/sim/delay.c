/* delay.c - see delay.h. */
#include "delay.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of one line into the matrix, from number k on. Returns the new k, or SIZE_MAX if a word is no delay. */
static size_t delay_read_line(struct delay *delay, char *line, size_t k)
{
    size_t all = (size_t)delay->n * delay->n;
    char *save;

    line[strcspn(line, "#")] = 0;
    for (char *word = strtok_r(line, " \t\r\n,", &save); word; word = strtok_r(NULL, " \t\r\n,", &save)) {
        char *end;
        double x = strtod(word, &end);

        if (*end || !dist_is_time(x))
            return SIZE_MAX;
        if (k < all)
            delay->matrix[k] = x;
        k++;
    }
    return k;
}

static bool delay_read(struct delay *delay, FILE *file, const char *path, struct dme_text *wrong)
{
    size_t all = (size_t)delay->n * delay->n, k = 0, room = 0;
    unsigned number = 0;
    char *line = NULL;

    while (k != SIZE_MAX && getline(&line, &room, file) >= 0) {
        size_t before = k;

        number++;
        k = delay_read_line(delay, line, k);
        if (k != SIZE_MAX && k != before && k != before + delay->n) {
            dme_print(wrong, "%s:%u: a row of %zu numbers; there are %u sites", path, number, k - before, delay->n);
            free(line);
            return false;
        }
    }
    free(line);
    if (k == SIZE_MAX)
        dme_print(wrong, "%s:%u: a delay is 0 or a number from %g to %g", path, number, DIST_MIN, DIST_MAX);
    else if (k != all)
        dme_print(wrong, "%s: %zu rows; %u sites need %u", path, k / delay->n, delay->n, delay->n);
    return k == all;
}

bool delay_parse(struct delay *delay, const char *text, uint32_t n, struct dme_text *wrong)
{
    static const char prefix[] = "matrix:";
    const char *path = text + sizeof prefix - 1;
    FILE *file;
    bool fine;

    *delay = (struct delay){.n = n};
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) {
        if (dist_parse(&delay->dist, text, wrong))
            return true;
        dme_print(wrong, ", or matrix:FILE");
        return false;
    }
    file = fopen(path, "r");
    if (!file) {
        dme_print(wrong, "%s: %s", path, strerror(errno));
        return false;
    }
    delay->matrix = mem_new((size_t)n * n * sizeof *delay->matrix);
    fine = delay_read(delay, file, path, wrong);
    fclose(file);
    if (!fine)
        delay_free(delay);
    return fine;
}

void delay_free(struct delay *delay)
{
    free(delay->matrix);
    delay->matrix = NULL;
}

/* Equal delays keep the order by themselves. */
static bool delay_must_watch_order(const struct delay *delay, bool fifo)
{
    return fifo && !delay->matrix && delay->dist.type != DIST_CONST;
}

bool delay_fits(const struct delay *delay, uint32_t n, bool fifo, struct dme_text *wrong)
{
    if (!delay_must_watch_order(delay, fifo) || n <= DELAY_FIFO_SITES_MAX)
        return true;
    dme_print(wrong, "random delays on FIFO channels are possible for up to %u sites; take a constant delay",
              DELAY_FIFO_SITES_MAX);
    return false;
}

void delay_begin(struct delay *delay, uint32_t n, bool fifo)
{
    delay->n = n;
    delay->last = NULL;
    if (delay_must_watch_order(delay, fifo))
        delay->last = mem_new((size_t)n * n * sizeof *delay->last);
}

void delay_end(struct delay *delay)
{
    free(delay->last);
    delay->last = NULL;
}

double delay_mean(const struct delay *delay)
{
    double min = INFINITY;

    if (!delay->matrix)
        return dist_mean(&delay->dist);
    for (size_t k = 0; k < (size_t)delay->n * delay->n; k++)
        if (delay->matrix[k] > 0)
            min = fmin(min, delay->matrix[k]);
    return isinf(min) ? 0 : min;
}

double delay_bound(const struct delay *delay)
{
    double max = 0;

    if (!delay->matrix)
        return dist_max(&delay->dist);
    for (size_t k = 0; k < (size_t)delay->n * delay->n; k++)
        max = fmax(max, delay->matrix[k]);
    return max;
}

double delay_arrival_slow(struct delay *delay, struct random *r, double now, dme_id from, dme_id to)
{
    size_t channel = (size_t)from * delay->n + to;
    double at = now + (delay->matrix ? delay->matrix[channel] : dist_draw_random(&delay->dist, r));

    if (delay->last) {
        if (at < delay->last[channel])
            at = delay->last[channel];
        delay->last[channel] = at;
    }
    return at;
}
