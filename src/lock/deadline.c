/* deadline.c - see deadline.h. */
#include "deadline.h"

#include "base/memory.h"

#include <stdlib.h>

void due_free(struct due *d)
{
    free(d->heap);
}

static void due_put(struct due *d, size_t slot, struct claim *c)
{
    d->heap[slot] = c;
    c->due_slot = slot;
}

/* Moves the claim to its right slot. All other slots are in order. */
static void due_sift(struct due *d, size_t slot, struct claim *c)
{
    for (; slot > 1 && d->heap[slot / 2]->due_ms > c->due_ms; slot /= 2)
        due_put(d, slot, d->heap[slot / 2]);
    for (size_t child; (child = 2 * slot) <= d->count; slot = child) {
        if (child < d->count && d->heap[child + 1]->due_ms < d->heap[child]->due_ms)
            child++;
        if (d->heap[child]->due_ms >= c->due_ms)
            break;
        due_put(d, slot, d->heap[child]);
    }
    due_put(d, slot, c);
}

void due_set(struct due *d, struct claim *c)
{
    if (!c->due_slot) {
        if (++d->count >= d->room) {
            d->room = d->room ? 2 * d->room : 64;
            d->heap = mem_grow(d->heap, d->room * sizeof *d->heap);
        }
        c->due_slot = d->count;
    }
    due_sift(d, c->due_slot, c);
}

void due_clear(struct due *d, struct claim *c)
{
    size_t slot = c->due_slot;

    if (!slot)
        return;
    c->due_slot = 0;
    if (slot != d->count--)
        due_sift(d, slot, d->heap[d->count + 1]);
}
