/* states.c - see states.h. */
#include "states.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

void states_init(struct states *s, uint32_t width, uint32_t shards)
{
    assert(shards >= 1 && shards <= STATES_SHARDS_MAX);
    memset(s, 0, sizeof *s);
    s->width = width;
    s->shards = shards;
    for (uint32_t k = 0; k < shards; k++) {
        s->shard[k].mask = (1 << 12) - 1;
        s->shard[k].slot = mem_new((s->shard[k].mask + 1) * sizeof *s->shard[k].slot);
    }
}

void states_free(struct states *s)
{
    for (uint32_t k = 0; k < s->shards; k++) {
        free(s->shard[k].at);
        free(s->shard[k].slot);
    }
}

/* The entry of the state at this place, for its slot. Other states mostly have other bits of their hashes there, so they need not be looked at. */
static uint32_t states_entry(const struct states_shard *shard, uint64_t hash, size_t place)
{
    return ((uint32_t)(hash >> 32) & ~(uint32_t)shard->mask) | ((uint32_t)place + 1);
}

/* The slot of this state, or the free one where it belongs. */
static uint64_t states_slot(const struct states *s, const struct states_shard *shard, const uint32_t *state,
                            uint64_t hash)
{
    uint64_t at = hash & shard->mask;
    uint32_t slot;

    while ((slot = shard->slot[at])) {
        size_t place = states_place(shard, slot);

        if (slot == states_entry(shard, hash, place) &&
            memcmp(shard->at + place * (s->width + 1), state, s->width * sizeof *state) == 0)
            break;
        at = (at + 1) & shard->mask;
    }
    return at;
}

/* The table is rebuilt from the states, so the old one goes before the new one comes. */
static void states_rehash(const struct states *s, struct states_shard *shard)
{
    free(shard->slot);
    shard->mask = 2 * shard->mask + 1;
    shard->slot = mem_new((shard->mask + 1) * sizeof *shard->slot);
    for (size_t k = 0; k < shard->count; k++) {
        uint64_t hash = states_hash(s, shard->at + k * (s->width + 1)), at = hash & shard->mask;

        while (shard->slot[at])
            at = (at + 1) & shard->mask;
        shard->slot[at] = states_entry(shard, hash, k);
    }
}

static size_t states_room_next(const struct states_shard *shard)
{
    return shard->room + shard->room / 4 + 1024;
}

static size_t states_crowd(const struct states_shard *shard)
{
    return shard->mask / 5 * 4;
}

uint32_t states_add(struct states *s, const uint32_t *state, uint64_t hash, uint32_t parent)
{
    uint32_t number = states_shard_of(s, hash), *to;
    struct states_shard *shard = &s->shard[number];
    uint64_t at = states_slot(s, shard, state, hash);

    if (shard->slot[at])
        return STATES_NONE;
    if (shard->count == shard->room) {
        shard->room = states_room_next(shard);
        shard->at = mem_grow(shard->at, shard->room * (s->width + 1) * sizeof *shard->at);
    }
    to = shard->at + shard->count * (s->width + 1);
    memcpy(to, state, s->width * sizeof *state);
    to[s->width] = parent;
    number = states_number(s, number, shard->count);
    shard->slot[at] = states_entry(shard, hash, shard->count++);
    if (shard->count > states_crowd(shard))
        states_rehash(s, shard);
    return number;
}

uint32_t states_find(const struct states *s, const uint32_t *state)
{
    uint64_t hash = states_hash(s, state);
    uint32_t number = states_shard_of(s, hash);
    const struct states_shard *shard = &s->shard[number];
    uint32_t slot = shard->slot[states_slot(s, shard, state, hash)];

    return slot ? states_number(s, number, states_place(shard, slot)) : STATES_NONE;
}

size_t states_count(const struct states *s)
{
    size_t count = 0;

    for (uint32_t k = 0; k < s->shards; k++)
        count += s->shard[k].count;
    return count;
}

static size_t states_bytes(const struct states *s, size_t room, uint64_t slots)
{
    return (room * (s->width + 1) + slots) * sizeof(uint32_t);
}

size_t states_memory(const struct states *s)
{
    size_t bytes = 0;

    for (uint32_t k = 0; k < s->shards; k++)
        bytes += states_bytes(s, s->shard[k].room, s->shard[k].mask + 1);
    return bytes;
}

size_t states_memory_ahead(const struct states *s, size_t more)
{
    size_t bytes = 0;

    for (uint32_t k = 0; k < s->shards; k++) {
        struct states_shard shard = s->shard[k];

        while (shard.count + more > shard.room)
            shard.room = states_room_next(&shard);
        while (shard.count + more > states_crowd(&shard))
            shard.mask = 2 * shard.mask + 1;
        bytes += states_bytes(s, shard.room, shard.mask + 1);
    }
    return bytes;
}
