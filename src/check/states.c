/* states.c - see states.h. */
#include "states.h"

#include "lab/memory.h"

#include <stdlib.h>

void states_init(struct states *s, uint32_t width)
{
    memset(s, 0, sizeof *s);
    s->width = width;
    s->mask = (1 << 12) - 1;
    s->slot = mem_new((s->mask + 1) * sizeof *s->slot);
}

void states_free(struct states *s)
{
    free(s->at);
    free(s->slot);
}

/* The slot of this state, or the free one where it belongs. */
static uint64_t states_slot(const struct states *s, const uint32_t *state, uint64_t hash)
{
    uint64_t at = hash & s->mask;

    while (s->slot[at] && memcmp(states_get(s, s->slot[at] - 1), state, s->width * sizeof *state) != 0)
        at = (at + 1) & s->mask;
    return at;
}

/* The table is rebuilt from the states, so the old one goes before the new one comes. */
static void states_rehash(struct states *s)
{
    free(s->slot);
    s->mask = 2 * s->mask + 1;
    s->slot = mem_new((s->mask + 1) * sizeof *s->slot);
    for (size_t k = 0; k < s->count; k++) {
        uint64_t at = states_hash(s, states_get(s, k)) & s->mask;

        while (s->slot[at])
            at = (at + 1) & s->mask;
        s->slot[at] = (uint32_t)k + 1;
    }
}

static size_t states_room_next(const struct states *s)
{
    return s->room + s->room / 4 + 1024;
}

static bool states_crowded(const struct states *s)
{
    return s->count > s->mask / 5 * 4;
}

bool states_add(struct states *s, const uint32_t *state, uint64_t hash, uint32_t parent)
{
    uint64_t at = states_slot(s, state, hash);
    uint32_t *to;

    if (s->slot[at])
        return false;
    if (s->count == s->room) {
        s->room = states_room_next(s);
        s->at = mem_grow(s->at, s->room * (s->width + 1) * sizeof *s->at);
    }
    to = s->at + s->count * (s->width + 1);
    memcpy(to, state, s->width * sizeof *state);
    to[s->width] = parent;
    s->slot[at] = (uint32_t)++s->count;
    if (states_crowded(s))
        states_rehash(s);
    return true;
}

uint32_t states_find(const struct states *s, const uint32_t *state)
{
    return s->slot[states_slot(s, state, states_hash(s, state))] - 1; /* a free slot gives STATES_NONE */
}

static size_t states_bytes(const struct states *s, size_t room, uint64_t slots)
{
    return room * (s->width + 1) * sizeof *s->at + slots * sizeof *s->slot;
}

size_t states_memory(const struct states *s)
{
    return states_bytes(s, s->room, s->mask + 1);
}

size_t states_memory_next(const struct states *s)
{
    bool table = s->count + 1024 > s->mask / 5 * 4;
    bool room = s->count + 1024 > s->room;

    return states_bytes(s, room ? states_room_next(s) : s->room, (s->mask + 1) << table);
}
