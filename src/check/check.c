/* check.c - see check.h. */
#include "check.h"

#include "lab/memory.h"
#include "space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

const char *const check_verdicts[] = {"holds", "exclusion", "deadlock", "error", "unfinished"};

enum { CHECK_BATCH = 256 }; /* successors of one state that are looked up together */

/* A state is n parts and the number of the state it was first reached from; states are numbered as they are found,
 * which is the order of a breadth-first search, so the array of states is its queue too. */
struct check {
    const struct check_task *task;
    struct check_result *result;
    struct space space;
    uint32_t n, stride;
    uint32_t *state; /* stride numbers each */
    size_t count, room;
    uint32_t *slot; /* open addressing: number + 1, 0 is free */
    uint64_t mask;
    uint32_t next[CHECK_BATCH][SPACE_SITES + 1];
    uint64_t hash[CHECK_BATCH];
    uint32_t batch;
    struct timespec began;
};

uint32_t check_needs(const struct dme_alg *alg, bool fifo)
{
    return (alg->needs & ~(uint32_t)DME_FIFO) | (fifo ? DME_FIFO : 0);
}

static const uint32_t *check_state(const struct check *c, size_t k)
{
    return c->state + k * c->stride;
}

static double check_seconds(const struct check *c)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - c->began.tv_sec) + (double)(now.tv_nsec - c->began.tv_nsec) * 1e-9;
}

/* -------------------------------------------------------------------------------------------------- the set of states
 */

static uint64_t check_hash(const struct check *c, const uint32_t *state)
{
    return XXH3_64bits(state, c->n * sizeof *state);
}

static void check_rehash(struct check *c)
{
    free(c->slot);
    c->mask = 2 * c->mask + 1;
    c->slot = mem_new((c->mask + 1) * sizeof *c->slot);
    for (size_t k = 0; k < c->count; k++) {
        uint64_t at = check_hash(c, check_state(c, k)) & c->mask;

        while (c->slot[at])
            at = (at + 1) & c->mask;
        c->slot[at] = (uint32_t)k + 1;
    }
}

/* Adds the state unless it is known. */
static bool check_add(struct check *c, const uint32_t *state, uint64_t hash, uint32_t parent)
{
    uint64_t at = hash & c->mask;

    for (; c->slot[at]; at = (at + 1) & c->mask)
        if (memcmp(check_state(c, c->slot[at] - 1), state, c->n * sizeof *state) == 0)
            return false;
    if (c->count == c->room) {
        c->room = c->room + c->room / 2 + 1024;
        c->state = mem_grow(c->state, c->room * c->stride * sizeof *c->state);
    }
    memcpy(c->state + c->count * c->stride, state, c->n * sizeof *state);
    c->state[c->count * c->stride + c->n] = parent;
    c->slot[at] = (uint32_t)++c->count;
    if (c->count > c->mask / 4 * 3)
        check_rehash(c);
    return true;
}

/* -------------------------------------------------------------------------------------------------------- the search
 */

static bool check_violation(struct check *c, const uint32_t *state)
{
    if (!space_safe(&c->space, state))
        c->result->verdict = CHECK_EXCLUSION;
    else if (space_stuck(&c->space, state))
        c->result->verdict = CHECK_DEADLOCK;
    return c->result->verdict != CHECK_HOLDS;
}

/* Looks the collected successors up, all at once so that the cache misses overlap. True on a violation. */
static bool check_flush(struct check *c, uint32_t parent)
{
    for (uint32_t k = 0; k < c->batch; k++)
        if (check_add(c, c->next[k], c->hash[k], parent) && check_violation(c, c->next[k]))
            return true;
    c->batch = 0;
    return false;
}

static bool check_successor(struct check *c, uint32_t parent, dme_id i, uint32_t t)
{
    uint32_t *next = c->next[c->batch];

    c->result->transitions++;
    space_apply(&c->space, check_state(c, parent), i, t, next);
    if (c->space.transition[t].fault) {
        c->result->verdict = CHECK_ERROR;
        c->result->fault = c->space.transition[t].fault;
        check_add(c, next, check_hash(c, next), parent);
        return true;
    }
    c->hash[c->batch] = check_hash(c, next);
    __builtin_prefetch(&c->slot[c->hash[c->batch] & c->mask]);
    return ++c->batch == CHECK_BATCH && check_flush(c, parent);
}

/* Makes every move that is possible in this state. True on a violation. */
static bool check_expand(struct check *c, uint32_t k)
{
    for (dme_id i = 0; i < c->n; i++) {
        uint32_t first, count = space_expand(&c->space, check_state(c, k)[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            if (check_successor(c, k, i, t))
                return true;
    }
    return check_flush(c, k);
}

static void check_search(struct check *c)
{
    size_t level_end = c->count;

    for (size_t k = 0; k < c->count; k++) {
        if (k == level_end) {
            c->result->depth++;
            level_end = c->count;
        }
        if (check_expand(c, (uint32_t)k))
            break;
        if (c->count > c->task->limit || c->count >= UINT32_MAX - CHECK_BATCH) {
            c->result->verdict = CHECK_UNFINISHED;
            break;
        }
        if (c->task->progress && k % (1u << 17) == 0)
            c->task->progress(c->count, c->count - k, check_seconds(c));
    }
}

/* --------------------------------------------------------------------------------------------------------- the trace
 */

/* The move that leads from state a to state b, as one in the world, which has come to a. */
static struct world_move check_move(struct check *c, const struct world *w, uint32_t a, uint32_t b)
{
    uint32_t next[SPACE_SITES];

    for (dme_id i = 0; i < c->n; i++) {
        uint32_t first, count = space_expand(&c->space, check_state(c, a)[i], &first);

        for (uint32_t t = first; t < first + count; t++) {
            space_apply(&c->space, check_state(c, a), i, t, next);
            if (memcmp(next, check_state(c, b), c->n * sizeof *next) == 0)
                return space_move(&c->space, w, i, t);
        }
    }
    assert(!"some move leads there");
    return (struct world_move){0};
}

/* The way to the last state that was found: back along the parents, then forward in a world. */
static void check_trace(struct check *c)
{
    struct world *w = world_new(&c->task->conf);
    uint32_t last = (uint32_t)c->count - 1, length = 0, *way;

    for (uint32_t k = last; k; k = check_state(c, k)[c->n])
        length++;
    way = mem_new((length + 1) * sizeof *way);
    for (uint32_t k = last, m = length; m; k = check_state(c, k)[c->n])
        way[m--] = k;
    c->result->trace = mem_new((length + 1) * sizeof *c->result->trace);
    c->result->trace_length = length;
    for (uint32_t m = 0; m < length; m++) {
        c->result->trace[m] = check_move(c, w, way[m], way[m + 1]);
        if (world_move(w, &c->result->trace[m]) != NULL)
            assert(!"the world makes every move of the trace");
    }
    free(way);
    world_free(w);
}

void check_run(const struct check_task *task, struct check_result *result)
{
    struct check *c = mem_new(sizeof *c);
    uint32_t start[SPACE_SITES];

    memset(result, 0, sizeof *result);
    c->task = task;
    c->result = result;
    c->n = task->conf.n;
    c->stride = c->n + 1;
    c->mask = (1 << 16) - 1;
    c->slot = mem_new((c->mask + 1) * sizeof *c->slot);
    clock_gettime(CLOCK_MONOTONIC, &c->began);
    space_init(&c->space, &task->conf, task->needs);

    space_start(&c->space, task->requests, start);
    check_add(c, start, check_hash(c, start), 0);
    if (!check_violation(c, start))
        check_search(c);
    if (result->verdict != CHECK_HOLDS && result->verdict != CHECK_UNFINISHED)
        check_trace(c);

    result->states = c->count;
    result->steps = c->space.steps;
    result->seconds = check_seconds(c);
    result->memory = c->room * c->stride * sizeof *c->state + (c->mask + 1) * sizeof *c->slot + space_memory(&c->space);
    space_free(&c->space);
    free(c->state);
    free(c->slot);
    free(c);
}
