/* held.h - the locks of a connection, by name: what a program holds, and what it has lost and not yet unlocked.
 *
 * A hash table with a chain in each place, at most one lock in a chain on average: adding, finding and removing a lock cost the
 * same however many there are. If there is no memory for a larger table, the chains grow instead. */
#ifndef DIBS_CLIENT_HELD_H
#define DIBS_CLIENT_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lock that is held; or that was lost, until the program has unlocked it. */
struct conn_lock {
    struct conn_lock *next; /* in its chain */
    uint64_t hash, fence;
    unsigned again; /* how many more times the program has requested it than unlocked it */
    int mode;       /* enum dibs_mode: the mode in which it is held */
    uint64_t sort;  /* DIBS_GROUP: a hash of the group's name; DIBS_SLOTS: the number of slots; else 0 */
    bool lost;
    bool untold;  /* it was lost, and the program has yet to be told */
    bool resumed; /* the daemon has said that the session, which is being resumed, holds it */
    /* The program waits for its upgrade, and the connection may break before the answer: then RESUMED shows the result. */
    bool upgrades;
    char name[];
};

struct held {
    struct conn_lock **chain;
    size_t room, count; /* chains, a power of 2; locks */
    size_t lost;        /* number of locks that are lost */
};

uint64_t held_hash(const char *name);
struct conn_lock *held_find(const struct held *h, const char *name);
/* Adds a lock that is not there yet. Returns null if there is no memory. */
struct conn_lock *held_add(struct held *h, const char *name, uint64_t fence);
void held_lose(struct held *h, struct conn_lock *lock);
void held_remove(struct held *h, const struct conn_lock *lock); /* null: nothing */
/* Iterates over all locks: begin with null, ends with null. No lock may be added or removed meanwhile. */
struct conn_lock *held_next(const struct held *h, const struct conn_lock *last);
void held_free(struct held *h);

#endif
