/* deadline.h - claims in the order of their deadlines: a binary heap. A claim knows its slot in the heap, so its deadline can be
 * changed without a search. */
#ifndef DIBS_LOCK_DEADLINE_H
#define DIBS_LOCK_DEADLINE_H

#include "lock.h"

struct deadlines {
    struct claim **heap; /* slots 1 .. count; a claim with due_slot 0 is not in it */
    size_t count, room;
};

void deadlines_free(struct deadlines *d);
/* Sets the claim's deadline to c->due_ms, whether it had one before or not. */
void deadlines_set(struct deadlines *d, struct claim *c);
void deadlines_clear(struct deadlines *d, struct claim *c);
/* The claim with the earliest deadline, or null. */
static inline struct claim *deadlines_first(const struct deadlines *d)
{
    return d->count ? d->heap[1] : NULL;
}

#endif
