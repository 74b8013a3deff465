/* names.c - see names.h. */
#include "names.h"

#include "base/glob.h"
#include "base/memory.h"
#include "base/slab.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

uint32_t lock_group_mode(const char *name, size_t name_len, const char *group, size_t group_len)
{
    uint64_t hash = XXH3_64bits_withSeed(group, group_len, XXH3_64bits(name, name_len));

    return (uint32_t)(LOCK_SHARED + 1 + hash % (UINT32_MAX - 2 - LOCK_SHARED));
}

void names_find_home(const struct locks *l, struct lock *lock)
{
    lock->home = l->view.n ? (uint8_t)((lock->hash >> 32) % l->view.n) : 0;
}
_Static_assert(LOCK_MEMBERS_MAX <= UINT8_MAX, "the home of a name is one byte");

/* The place depends on low bits that no client can choose: clients know XXH3, and could choose many names that share a place. The product with a
 * secret odd number is universal (Dietzfelbinger and others, J. Algorithms 25, 1997). */
static struct lock **names_place(const struct locks *l, uint64_t hash)
{
    uint64_t spread = hash ^ hash * l->conf.secret >> 32;
    size_t place = spread & (2 * l->half - 1);

    return &l->table[place < l->room ? place : place - l->half];
}

struct lock *locks_find(const struct locks *l, const char *name, size_t name_len)
{
    uint64_t hash = XXH3_64bits(name, name_len);
    struct lock *lock = l->room ? *names_place(l, hash) : NULL;

    while (lock && (lock->hash != hash || lock->name_len != name_len || memcmp(lock->name, name, name_len) != 0))
        lock = lock->next;
    return lock;
}

uint8_t names_policy(const struct locks *l, const char *name, size_t name_len)
{
    uint64_t cost = 0;
    uint8_t k = 0;

    while (l->policy[k].pattern &&
           !glob_matches(l->policy[k].pattern, strlen(l->policy[k].pattern), name, name_len, &cost))
        k++;
    return k;
}

const struct dme_alg *locks_algorithm(const struct locks *l, const char *name, size_t name_len, uint32_t slots)
{
    const struct lock_policy *policy = &l->policy[names_policy(l, name, name_len)];

    return slots ? policy->slots_algorithm : policy->algorithm;
}

/* The table grows by one place at a time, so that no name has to wait until all have moved (Litwin, "Linear Hashing",
 * VLDB 1980). There are `half` to 2 * `half` - 1 places. The next one, at `room`, gets its share of the names at `room
 * - half`. */
static void names_grow(struct locks *l)
{
    size_t room = l->table_room ? 2 * l->table_room : 64;
    struct lock **table, **from, *lock, *next;

    if (l->room == l->table_room) {
        table = l->room ? mem_try_grow(l->table, room * sizeof *table) : mem_new(room * sizeof *table);
        if (!table) /* the table works without that: more names share a place */
            return;
        l->table = table;
        l->table_room = room;
    }
    if (l->swept == l->room) /* the new place has no name of an earlier view, either */
        l->swept++;
    l->table[l->room++] = NULL;
    if (l->room == 1) {
        l->half = 1;
        return;
    }
    from = &l->table[l->room - 1 - l->half];
    for (lock = *from, *from = NULL; lock; lock = next) {
        struct lock **place = names_place(l, lock->hash);

        next = lock->next;
        lock->next = *place;
        *place = lock;
    }
    if (l->room == 2 * l->half)
        l->half *= 2;
}

struct lock *names_add(struct locks *l, const char *name, size_t name_len)
{
    struct lock *lock = slab_new(sizeof *lock + name_len), **place;

    if (l->count++ >= l->room)
        names_grow(l);
    memcpy(lock->name, name, name_len);
    lock->name_len = (uint8_t)name_len;
    lock->hash = XXH3_64bits(name, name_len);
    lock->policy = names_policy(l, name, name_len);
    lock->view = l->number;
    names_find_home(l, lock);
    ring_init(&lock->waiting);
    place = names_place(l, lock->hash);
    lock->next = *place;
    *place = lock;
    return lock;
}

static void names_free_one(struct lock *lock)
{
    slab_free(lock->site);
    slab_free(lock->dormant);
    free(lock->carried);
    free(lock->reports);
    free(lock->retire);
    free(lock->convert);
    slab_free(lock);
}

void names_remove(struct locks *l, struct lock *lock)
{
    struct lock **place = names_place(l, lock->hash);

    while (*place != lock)
        place = &(*place)->next;
    *place = lock->next;
    l->count--;
    names_free_one(lock);
}

void names_free(struct locks *l)
{
    for (size_t k = 0; k < l->room; k++)
        while (l->table[k]) {
            struct lock *lock = l->table[k];

            l->table[k] = lock->next;
            names_free_one(lock);
        }
    free(l->table);
}
