/* states.h - the set of states that were reached, in the order in which they were found.
 *
 * A state is n numbers (see space.h), stored whole, and the number of the state it was first reached from. States are
 * numbered as they are found, which is the order of a breadth-first search: the array is its queue too, and the way
 * back along the parents is a shortest one. The hash table holds only numbers of states, so a state costs 4n + 4 bytes
 * and 5 to 11 for its slot. */
#ifndef DIBS_CHECK_STATES_H
#define DIBS_CHECK_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct states {
    uint32_t width; /* numbers in a state */
    uint32_t *at;   /* width + 1 numbers each: the state, and its parent */
    size_t count, room;
    uint32_t *slot; /* open addressing: number + 1, 0 is free */
    uint64_t mask;
};

#define STATES_MAX (UINT32_MAX - 1024)

void states_init(struct states *s, uint32_t width);
void states_free(struct states *s);

static inline const uint32_t *states_get(const struct states *s, size_t k)
{
    return s->at + k * (s->width + 1);
}

static inline uint32_t states_parent(const struct states *s, size_t k)
{
    return states_get(s, k)[s->width];
}

static inline uint64_t states_hash(const struct states *s, const uint32_t *state)
{
    return XXH3_64bits(state, s->width * sizeof *state);
}

static inline void states_prefetch(const struct states *s, uint64_t hash)
{
    __builtin_prefetch(&s->slot[hash & s->mask]);
}

/* Adds the state unless it is known: true if it is new. */
bool states_add(struct states *s, const uint32_t *state, uint64_t hash, uint32_t parent);
/* The number of a state, or STATES_NONE if it was not reached. */
#define STATES_NONE UINT32_MAX
uint32_t states_find(const struct states *s, const uint32_t *state);

size_t states_memory(const struct states *s);
/* What it will take when the next state does not fit any more. */
size_t states_memory_next(const struct states *s);

#endif
