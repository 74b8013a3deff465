/* states.h - the set of states that were reached.
 *
 * A state is n numbers (see space.h), stored whole, and the number of the state it was first reached from; so the way
 * back along the parents is a shortest one, if the search was breadth first. The hash table holds only numbers of
 * states: a state costs 4n + 4 bytes, and 5 to 11 for its slot.
 *
 * The set may be cut into shards by the states' hashes, so that several threads can add states at once, each to its own
 * shard. Within a shard states are numbered as they are found; with one shard the array of states is thus the queue of
 * a breadth-first search too. */
#ifndef DIBS_CHECK_STATES_H
#define DIBS_CHECK_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { STATES_SHARDS_MAX = 64 };
#define STATES_NONE UINT32_MAX
#define STATES_MAX (UINT32_MAX - 65536) /* in all shards together */

/* Each shard has cache lines of its own: its thread counts the states that it adds, and no other thread is to wait for that line. */
enum { STATES_LINE = 128 }; /* two lines of 64 bytes, which processors read together */

struct states_shard {
    _Alignas(STATES_LINE) uint32_t *at; /* width + 1 numbers each: the state, and its parent */
    size_t count, room;
    uint32_t *
        slot; /* open addressing, 0 is free; in the bits of the mask: place in at[] + 1; in the others: bits of the hash */
    uint64_t mask;
};

struct states {
    uint32_t width; /* numbers in a state */
    uint32_t shards;
    struct states_shard shard[STATES_SHARDS_MAX];
};

void states_init(struct states *s, uint32_t width, uint32_t shards);
void states_free(struct states *s);

/* A state's number is its place in its shard, times the number of shards, plus the number of its shard. */
static inline uint32_t states_number(const struct states *s, uint32_t shard, size_t place)
{
    return (uint32_t)place * s->shards + shard;
}

static inline const uint32_t *states_get(const struct states *s, uint32_t number)
{
    const struct states_shard *shard = &s->shard[s->shards == 1 ? 0 : number % s->shards];

    return shard->at + (size_t)(s->shards == 1 ? number : number / s->shards) * (s->width + 1);
}

static inline uint32_t states_parent(const struct states *s, uint32_t number)
{
    return states_get(s, number)[s->width];
}

static inline uint64_t states_hash(const struct states *s, const uint32_t *state)
{
    return XXH3_64bits(state, s->width * sizeof *state);
}

static inline uint32_t states_shard_of(const struct states *s, uint64_t hash)
{
    return s->shards == 1 ? 0 : (uint32_t)(hash >> 40) % s->shards;
}

/* The place in the shard of the state that a slot has. */
static inline size_t states_place(const struct states_shard *shard, uint32_t slot)
{
    return (slot & (uint32_t)shard->mask) - 1;
}

/* First the slot of a state is read ahead, then what is there. */
static inline void states_prefetch(const struct states *s, uint64_t hash)
{
    const struct states_shard *shard = &s->shard[states_shard_of(s, hash)];

    __builtin_prefetch(&shard->slot[hash & shard->mask]);
}

static inline void states_prefetch_state(const struct states *s, uint64_t hash)
{
    const struct states_shard *shard = &s->shard[states_shard_of(s, hash)];
    uint32_t slot = shard->slot[hash & shard->mask];

    if (slot)
        __builtin_prefetch(shard->at + states_place(shard, slot) * (s->width + 1));
}

/* Adds the state unless it is known: its number, or STATES_NONE if it was known. The parent of a state that has none is STATES_NONE. */
uint32_t states_add(struct states *s, const uint32_t *state, uint64_t hash, uint32_t parent);
/* The number of a state, or STATES_NONE if it was not reached. */
uint32_t states_find(const struct states *s, const uint32_t *state);

size_t states_count(const struct states *s);
size_t states_memory(const struct states *s);
/* The memory that it will take when each shard has `more` states more. */
size_t states_memory_ahead(const struct states *s, size_t more);

#endif
