/* flight.c - see flight.h. */
#include "flight.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void flight_init(struct flight *f, const struct dme_conf *conf, bool equal)
{
    unsigned kinds = dme_kinds(conf->alg);

    assert(kinds <= FLIGHT_KINDS);
    memset(f, 0, sizeof *f);
    f->ring = equal;
    f->room = 64;
    f->key = mem_new(f->room * sizeof *f->key);
    f->used = 1; /* slot 0 is no slot */
    f->pool_room = 256;
    f->pool = mem_new((size_t)f->pool_room * FLIGHT_UNIT);
    for (unsigned k = 0; k < kinds; k++) {
        f->units[k] = (uint32_t)((dme_msg_size(conf, k) + FLIGHT_UNIT - 1) / FLIGHT_UNIT);
        while (f->units[f->list[k]] != f->units[k])
            f->list[k]++;
    }
}

void flight_destroy(struct flight *f)
{
    free(f->key);
    free(f->pool);
}

/* ------------------------------------------------------------------------------------------------------------ slots */

static void flight_too_many(void)
{
    fprintf(stderr, "dibs: more than 4 GB of messages are in flight; try fewer sites or less load\n");
    exit(2);
}

static uint32_t flight_grow_pool(struct flight *f, uint32_t units)
{
    uint32_t slot = f->used;

    if (units > (1u << FLIGHT_SLOT_BITS) - f->used)
        flight_too_many();
    f->used += units;
    if (f->used > f->pool_room) {
        while (f->pool_room < f->used)
            f->pool_room *= 2;
        f->pool = mem_grow(f->pool, (size_t)f->pool_room * FLIGHT_UNIT);
    }
    return slot;
}

static inline uint32_t flight_new_slot(struct flight *f, unsigned kind)
{
    uint32_t *free_slot = &f->free[f->list[kind]], slot = *free_slot;

    if (!slot)
        return flight_grow_pool(f, f->units[kind]);
    memcpy(free_slot, f->pool + (size_t)slot * FLIGHT_UNIT, sizeof *free_slot);
    return slot;
}

void flight_release(struct flight *f, struct dme_msg *m)
{
    uint32_t *free_slot = &f->free[f->list[m->kind]];
    uint32_t slot = (uint32_t)(((unsigned char *)m - f->pool) / FLIGHT_UNIT);

    memcpy(m, free_slot, sizeof *free_slot);
    *free_slot = slot;
}

/* ------------------------------------------------------------------------------------------------------------- keys */

static void flight_grow_keys(struct flight *f)
{
    f->key = mem_grow(f->key, 2 * f->room * sizeof *f->key);
    /* A ring that wraps goes on behind its old end. */
    memcpy(f->key + f->room, f->key, f->head * sizeof *f->key);
    f->room *= 2;
}

static inline void flight_sift_up(struct flight *f, flight_key key)
{
    size_t hole = f->count;

    while (hole) {
        size_t parent = (hole - 1) / 4;

        if (f->key[parent] < key)
            break;
        f->key[hole] = f->key[parent];
        hole = parent;
    }
    f->key[hole] = key;
}

void flight_post(struct flight *f, double at, uint64_t order, const struct dme_msg *m, dme_id to)
{
    uint32_t slot = flight_new_slot(f, m->kind);
    struct dme_msg *copy = (struct dme_msg *)(f->pool + (size_t)slot * FLIGHT_UNIT);
    flight_key key = flight_make_key(at, order, slot);

    memcpy(copy, m, sizeof *m);
    for (uint32_t k = 0; k < m->count; k++)
        copy->ticket[k] = m->ticket[k];
    copy->to = to;
    if (f->count == f->room)
        flight_grow_keys(f);
    if (f->ring)
        f->key[(f->head + f->count) & (f->room - 1)] = key;
    else
        flight_sift_up(f, key);
    f->count++;
}

/* The last key of the heap sinks from the top to where it belongs. */
static inline void flight_sift_down(struct flight *f)
{
    flight_key *heap = f->key, key = heap[f->count];
    size_t hole = 0, child;

    while ((child = 4 * hole + 1) < f->count) {
        size_t last = child + 4 < f->count ? child + 4 : f->count;

        for (size_t k = child + 1; k < last; k++)
            if (heap[k] < heap[child])
                child = k;
        if (key < heap[child])
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = key;
}

flight_key flight_take(struct flight *f)
{
    flight_key first = f->key[f->head];

    f->count--;
    if (f->ring)
        f->head = (f->head + 1) & (f->room - 1);
    else
        flight_sift_down(f);
    return first;
}
