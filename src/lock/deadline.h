/* deadline.h - claims in the order of their deadlines: a binary heap. A claim knows its slot in the heap, so its deadline can be
 * changed without a search. In names of functions and fields, `due` means deadline. */
#ifndef DIBS_LOCK_DEADLINE_H
#define DIBS_LOCK_DEADLINE_H

#include "lock.h"

struct due {
    struct claim **heap; /* slots 1 .. count; a claim with due_slot 0 is not in it */
    size_t count, room;
};

void due_free(struct due *d);
/* Sets the claim's deadline to c->due_ms, whether it had one before or not. */
void due_set(struct due *d, struct claim *c);
void due_clear(struct due *d, struct claim *c);
/* The claim with the earliest deadline, or null. */
static inline struct claim *due_first(const struct due *d)
{
    return d->count ? d->heap[1] : NULL;
}

#endif
