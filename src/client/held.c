/* held.c - see held.h. */
#include "held.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_ROOM_MIN = 16 };

/* FNV-1a. */
uint64_t held_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;

    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 0x100000001b3;
    return hash ^ hash >> 32;
}

static struct conn_lock **held_chain(const struct held *h, uint64_t hash)
{
    assert(h->room && !(h->room & (h->room - 1)));
    return &h->chain[hash & (h->room - 1)];
}

struct conn_lock *held_find(const struct held *h, const char *name)
{
    uint64_t hash = held_hash(name);
    struct conn_lock *lock = h->room ? *held_chain(h, hash) : NULL;

    while (lock && (lock->hash != hash || strcmp(lock->name, name) != 0))
        lock = lock->next;
    return lock;
}

static void held_grow(struct held *h)
{
    struct held wide = {.room = h->room ? 2 * h->room : HELD_ROOM_MIN, .count = h->count, .lost = h->lost};

    wide.chain = calloc(wide.room, sizeof *wide.chain);
    if (!wide.chain)
        return;
    for (size_t k = 0; k < h->room; k++)
        for (struct conn_lock *lock = h->chain[k], *next; lock; lock = next) {
            struct conn_lock **chain = held_chain(&wide, lock->hash);

            next = lock->next;
            lock->next = *chain;
            *chain = lock;
        }
    free(h->chain);
    *h = wide;
}

struct conn_lock *held_add(struct held *h, const char *name, uint64_t fence)
{
    size_t size = strlen(name) + 1;
    struct conn_lock *lock = malloc(sizeof *lock + size), **chain;

    assert(!held_find(h, name)); /* else the older one would be found no more */
    if (h->count >= h->room)
        held_grow(h);
    if (!lock || !h->room) {
        free(lock);
        return NULL;
    }
    *lock = (struct conn_lock){.hash = held_hash(name), .fence = fence};
    memcpy(lock->name, name, size);
    chain = held_chain(h, lock->hash);
    lock->next = *chain;
    *chain = lock;
    h->count++;
    return lock;
}

void held_lose(struct held *h, struct conn_lock *lock)
{
    assert(h->lost < h->count || lock->lost);
    h->lost += !lock->lost;
    lock->lost = true;
}

void held_remove(struct held *h, const struct conn_lock *lock)
{
    struct conn_lock **place = lock ? held_chain(h, lock->hash) : NULL, *gone;

    if (!lock)
        return;
    while (*place != lock) {
        assert(*place);
        place = &(*place)->next;
    }
    assert(h->count && h->lost <= h->count);
    gone = *place;
    *place = gone->next;
    h->count--;
    h->lost -= gone->lost;
    free(gone);
}

struct conn_lock *held_next(const struct held *h, const struct conn_lock *last)
{
    size_t k = last ? (last->hash & (h->room - 1)) + 1 : 0;
    struct conn_lock *next = last ? last->next : NULL;

    for (; !next && k < h->room; k++)
        next = h->chain[k];
    return next;
}

void held_free(struct held *h)
{
    for (size_t k = 0; k < h->room; k++)
        while (h->chain[k])
            held_remove(h, h->chain[k]);
    free(h->chain);
}
