/* fingerprint.c - the search that keeps fingerprints instead of states. See search.h.
 *
 * Of a state that was reached only 128 bits remain, a hash of its numbers (see space.h), so that three or four times as
 * many fit into memory. States as such are in the queue only, from when they are found until they are looked at. The
 * price: two states may have the same fingerprint, and then the second is taken for the first and left out, with all
 * that only it leads to. Among k states the probability that this happens at all is at most k^2/2^129.
 *
 * There are no parents. If a violation is found, the exact search runs again until it has found it too, for the trace. */
#include "base/memory.h"
#include "prints.h"
#include "search.h"

#include <stdlib.h>

enum { FINGERPRINT_CHUNK = 1 << 14 }; /* numbers in a piece of the queue */
enum { FINGERPRINT_BATCH = 256 }; /* successors of a state that are looked up together, so that cache misses overlap */

/* First in, first out; pieces come and go as they are needed. */
struct fingerprint_chunk {
    struct fingerprint_chunk *next;
    uint32_t number[FINGERPRINT_CHUNK];
};

struct fingerprint_queue {
    struct fingerprint_chunk *first, *last;
    size_t begin, end; /* in these */
    size_t chunks, count;
};

struct fingerprints {
    struct search *search;
    struct prints prints;
    struct fingerprint_queue queue;
    struct search_finding finding;
    struct space_moment moment;
    uint32_t next[FINGERPRINT_BATCH][SPACE_WIDTH];
    struct print print[FINGERPRINT_BATCH];
    struct print ones, zeros; /* bits that were 1, or 0, in a fingerprint */
    uint32_t batch;
};

static void queue_put(struct fingerprint_queue *q, const uint32_t *state, uint32_t width)
{
    if (!q->last || q->end + width > FINGERPRINT_CHUNK) {
        struct fingerprint_chunk *fresh = mem_new(sizeof *fresh);

        if (q->last)
            q->last->next = fresh;
        else
            q->first = fresh;
        q->last = fresh;
        q->end = 0;
        q->chunks++;
    }
    memcpy(q->last->number + q->end, state, width * sizeof *state);
    q->end += width;
    q->count++;
}

/* There is another piece behind it, or nothing will be put into the queue again. */
static void queue_drop_first(struct fingerprint_queue *q)
{
    struct fingerprint_chunk *old = q->first;

    q->first = old->next;
    q->begin = 0;
    q->chunks--;
    free(old);
}

/* The queue is not empty. */
static void queue_take(struct fingerprint_queue *q, uint32_t *state, uint32_t width)
{
    if (q->begin + width > FINGERPRINT_CHUNK)
        queue_drop_first(q);
    memcpy(state, q->first->number + q->begin, width * sizeof *state);
    q->begin += width;
    q->count--;
}

static struct print fingerprint_print(const uint32_t *state, uint32_t width)
{
    XXH128_hash_t hash = XXH3_128bits(state, width * sizeof *state);

    return (struct print){.high = hash.high64, .low = hash.low64};
}

/* False if it was there already. */
static bool fingerprint_add(struct fingerprints *l, struct print print)
{
    l->ones.high |= print.high, l->ones.low |= print.low;
    l->zeros.high |= ~print.high, l->zeros.low |= ~print.low;
    return prints_add(&l->prints, print);
}

/* Looks the collected successors up. True on a violation. */
static bool fingerprint_flush(struct fingerprints *l)
{
    for (uint32_t k = 0; k < l->batch; k++)
        if (fingerprint_add(l, l->print[k])) {
            queue_put(&l->queue, l->next[k], space_width(&l->search->space));
            if (search_violates(l->search, l->next[k], &l->moment, &l->finding))
                return true;
        }
    l->batch = 0;
    return false;
}

/* Makes one move. True on a violation. */
static bool fingerprint_successor(struct fingerprints *l, const uint32_t *state, dme_id i, uint32_t t)
{
    struct search *s = l->search;

    s->result->transitions++;
    space_apply(&s->space, state, i, t, l->next[l->batch]);
    l->print[l->batch] = fingerprint_print(l->next[l->batch], space_width(&s->space));
    if (s->space.transition[t].fault) {
        fingerprint_add(l, l->print[l->batch]);
        l->finding = (struct search_finding){.verdict = CHECK_ERROR, .fault = s->space.transition[t].fault};
        return true;
    }
    prints_prefetch(&l->prints, l->print[l->batch]);
    return ++l->batch == FINGERPRINT_BATCH && fingerprint_flush(l);
}

/* Makes every move that is possible in this state. True on a violation. */
static bool fingerprint_expand(struct fingerprints *l, const uint32_t *state)
{
    struct space *space = &l->search->space;

    for (dme_id i = 0; i < l->search->n; i++) {
        uint32_t first, count = space_expand(space, state[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            if (space_affords(space, state, &space->transition[t]) && fingerprint_successor(l, state, i, t))
                return true;
    }
    return fingerprint_flush(l);
}

/* Notes what the search takes, which is most not at the end but where the queue is longest. True if it is too much. */
static bool fingerprint_over_limits(struct fingerprints *l)
{
    const struct check_task *task = l->search->task;
    size_t rest = l->queue.chunks * sizeof *l->queue.first + space_memory(&l->search->space);
    size_t now = prints_memory(&l->prints) + rest;

    if (l->search->result->memory < now)
        l->search->result->memory = now;
    return l->prints.count > task->limit || check_stopped(task) ||
           (task->memory && prints_memory_ahead(&l->prints) + rest > task->memory);
}

static void fingerprint_levels(struct fingerprints *l)
{
    struct search *s = l->search;
    size_t level = l->queue.count;
    uint32_t state[SPACE_WIDTH];

    for (size_t k = 0; l->queue.count; k++, level--) {
        if (level == 0) {
            s->result->depth++;
            level = l->queue.count;
        }
        if (k % FINGERPRINT_BATCH == 0 && fingerprint_over_limits(l)) {
            l->finding.verdict = CHECK_UNFINISHED;
            return;
        }
        queue_take(&l->queue, state, space_width(&s->space));
        if (fingerprint_expand(l, state))
            return;
        if (s->task->progress && k % (1u << 17) == 0)
            s->task->progress(l->prints.count, l->queue.count, search_seconds(s));
    }
}

void fingerprint_search(struct search *s, const uint32_t *start, struct search_finding *finding)
{
    struct fingerprints *l = mem_new(sizeof *l);

    l->search = s;
    prints_init(&l->prints);
    fingerprint_add(l, fingerprint_print(start, space_width(&s->space)));
    queue_put(&l->queue, start, space_width(&s->space));
    if (!search_violates(s, start, &l->moment, &l->finding))
        fingerprint_levels(l);
    fingerprint_over_limits(l);
    s->result->states = l->prints.count;
    s->result->print_bits = (uint32_t)(__builtin_popcountll(l->ones.high & l->zeros.high) +
                                       __builtin_popcountll(l->ones.low & l->zeros.low));
    *finding = l->finding;
    while (l->queue.first)
        queue_drop_first(&l->queue);
    prints_free(&l->prints);
    space_forget(&l->moment);
    free(l);
}
