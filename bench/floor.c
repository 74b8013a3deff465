/* floor.c - a simulator that can do one thing: Ricart and Agrawala's algorithm under full load. No metrics, no
 * checks, no other algorithm; everything is a constant or an array. How much slower is the one that can do everything?
 *
 *     floor SITES ENTRIES const|exp      prints the number of messages and the seconds of processor time */
#include "base/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REQUEST, REPLY, EXIT };
enum { IDLE, WAITING, INSIDE };

struct event {
    double at;
    uint32_t order, clock;
    uint16_t from, to;
    uint32_t kind;
};

static struct event *heap;
static uint32_t count, room, order;

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void push(double at, uint32_t kind, uint32_t from, uint32_t to, uint32_t clock)
{
    struct event e = {at, order++, clock, (uint16_t)from, (uint16_t)to, kind};
    uint32_t hole = count++;

    if (count > room)
        heap = realloc(heap, (room = 2 * room + 1024) * sizeof *heap);
    for (; hole && before(&e, &heap[(hole - 1) / 4]); hole = (hole - 1) / 4)
        heap[hole] = heap[(hole - 1) / 4];
    heap[hole] = e;
}

static struct event pop(void)
{
    struct event first = heap[0], last = heap[--count];
    uint32_t hole = 0, child;

    while ((child = 4 * hole + 1) < count) {
        uint32_t end = child + 4 < count ? child + 4 : count;

        for (uint32_t k = child + 1; k < end; k++)
            if (before(&heap[k], &heap[child]))
                child = k;
        if (!before(&heap[child], &last))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = last;
    return first;
}

static uint32_t n;
static uint64_t messages;
static bool exponential;
static struct random stream;
static struct site {
    uint32_t highest, mine, missing, phase;
} * site;
static uint8_t *deferred; /* site x site */
static double *arrival;   /* FIFO: of the last message of a channel */

static void send(double now, uint32_t kind, uint32_t from, uint32_t to, uint32_t clock)
{
    double at = now + (exponential ? random_exp(&stream, 1) : 1);

    if (exponential) {
        double *last = &arrival[(size_t)from * n + to];

        at = *last = at < *last ? *last : at;
    }
    messages++;
    push(at, kind, from, to, clock);
}

static void ask(double now, uint32_t i)
{
    site[i].mine = ++site[i].highest;
    site[i].phase = WAITING;
    site[i].missing = n - 1;
    for (uint32_t j = 0; j < n; j++)
        if (j != i)
            send(now, REQUEST, i, j, site[i].mine);
}

static void happen(const struct event *e, uint64_t *entries)
{
    struct site *s = &site[e->to];

    switch (e->kind) {
    case REQUEST:
        if (s->highest < e->clock)
            s->highest = e->clock;
        if (s->phase != IDLE && (s->mine < e->clock || (s->mine == e->clock && e->to < e->from)))
            deferred[(size_t)e->to * n + e->from] = 1;
        else
            send(e->at, REPLY, e->to, e->from, 0);
        break;
    case REPLY:
        if (--s->missing == 0) {
            s->phase = INSIDE;
            ++*entries;
            push(e->at + 0.1, EXIT, e->to, e->to, 0);
        }
        break;
    case EXIT:
        s->phase = IDLE;
        for (uint32_t j = 0; j < n; j++)
            if (deferred[(size_t)e->to * n + j]) {
                deferred[(size_t)e->to * n + j] = 0;
                send(e->at, REPLY, e->to, j, 0);
            }
        ask(e->at, e->to);
        break;
    }
}

int main(int argc, char **argv)
{
    uint64_t entries = 0, wanted;
    struct timespec from, to;

    if (argc != 4)
        return 2;
    n = (uint32_t)atoi(argv[1]);
    wanted = strtoull(argv[2], NULL, 10);
    exponential = strcmp(argv[3], "exp") == 0;
    site = calloc(n, sizeof *site);
    deferred = calloc(n, n);
    arrival = calloc((size_t)n * n, sizeof *arrival);
    random_seed(&stream, 1, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (uint32_t i = 0; i < n; i++)
        ask(0, i);
    while (entries < wanted) {
        struct event e = pop();

        happen(&e, &entries);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("%llu %f\n", (unsigned long long)messages,
           (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    return 0;
}
