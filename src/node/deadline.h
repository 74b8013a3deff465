/* deadline.h - claims in the order in which their time runs out: a binary heap in which everybody knows its place. */
#ifndef DIBS_NODE_DEADLINE_H
#define DIBS_NODE_DEADLINE_H

#include "lock/lock.h"

struct due {
    struct claim **heap; /* slots 1 .. count; a claim with due_slot 0 is not in it */
    size_t count, room;
};

void due_free(struct due *d);
/* The claim's time runs out at c->due_ms, whatever it was before. */
void due_set(struct due *d, struct claim *c);
void due_clear(struct due *d, struct claim *c);
/* The claim whose time runs out first, or null. */
struct claim *due_first(const struct due *d);

#endif
