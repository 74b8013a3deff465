/* ring.h - doubly linked lists that run through the things they link: nothing is allocated, and an element can leave
 * its list without a search. */
#ifndef DIBS_BASE_RING_H
#define DIBS_BASE_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct ring {
    struct ring *next, *prev; /* in an empty ring, and in an element of no ring: the address of this struct */
};

/* The struct that has this link as its member. */
#define RING_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void ring_init(struct ring *r)
{
    r->next = r->prev = r;
}

static inline bool ring_empty(const struct ring *r)
{
    return r->next == r;
}

/* Adds `item` at the end. It must be in no ring: it is new, all zeroes, or was taken out. */
static inline void ring_push(struct ring *r, struct ring *item)
{
    assert(!item->next || item->next == item);
    item->prev = r->prev;
    item->next = r;
    r->prev->next = item;
    r->prev = item;
}

/* Moves all elements of `from` to the end of `to`. */
static inline void ring_move(struct ring *to, struct ring *from)
{
    if (ring_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    ring_init(from);
}

/* Takes `item` out of its ring, if it is in one. */
static inline void ring_cut(struct ring *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    ring_init(item);
}

#endif
