/* deadline.c - see deadline.h. */
#include "deadline.h"

#include "base/memory.h"

#include <stdlib.h>

void deadlines_free(struct deadlines *d)
{
    free(d->heap);
}

static void deadlines_put(struct deadlines *d, size_t slot, struct claim *c)
{
    d->heap[slot] = c;
    c->due_slot = slot;
}

/* Moves the claim to its right slot. All other slots are in order. */
static void deadlines_sift(struct deadlines *d, size_t slot, struct claim *c)
{
    for (; slot > 1 && d->heap[slot / 2]->due_ms > c->due_ms; slot /= 2)
        deadlines_put(d, slot, d->heap[slot / 2]);
    for (size_t child; (child = 2 * slot) <= d->count; slot = child) {
        if (child < d->count && d->heap[child + 1]->due_ms < d->heap[child]->due_ms)
            child++;
        if (d->heap[child]->due_ms >= c->due_ms)
            break;
        deadlines_put(d, slot, d->heap[child]);
    }
    deadlines_put(d, slot, c);
}

void deadlines_set(struct deadlines *d, struct claim *c)
{
    if (!c->due_slot) {
        if (++d->count >= d->room) {
            d->room = d->room ? 2 * d->room : 64;
            d->heap = mem_grow(d->heap, d->room * sizeof *d->heap);
        }
        c->due_slot = d->count;
    }
    deadlines_sift(d, c->due_slot, c);
}

void deadlines_clear(struct deadlines *d, struct claim *c)
{
    size_t slot = c->due_slot;

    if (!slot)
        return;
    c->due_slot = 0;
    if (slot != d->count--)
        deadlines_sift(d, slot, d->heap[d->count + 1]);
}
