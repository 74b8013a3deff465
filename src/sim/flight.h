/* flight.h - the messages in flight, in the order in which they arrive.
 *
 * This is where a simulation spends its time. A message lies in a slot of a pool; what is sorted is a small key, its
 * time and its place. Where all delays are equal, messages arrive in the order in which they are sent and the keys form
 * a ring; otherwise they form a heap in which a node has four children, side by side in memory. Nothing is allocated
 * for a message: a slot that became free serves the next message of its size.
 *
 * Of two events at one time the one that was scheduled first comes first. Runs are therefore exactly repeatable. */
#ifndef DIBS_SIM_FLIGHT_H
#define DIBS_SIM_FLIGHT_H

#include "core/dme.h"

/* 64 bits of time (a double that is not negative: its bits sort as it does), then the order of scheduling (36 bits),
 * then the slot (28 bits), which does not matter for the sorting. */
typedef unsigned __int128 flight_key;

enum { FLIGHT_SLOT_BITS = 28, FLIGHT_UNIT = 16, FLIGHT_KINDS = 32 };
#define FLIGHT_ORDER_MAX ((uint64_t)1 << (64 - FLIGHT_SLOT_BITS))

struct flight {
    flight_key *key; /* a ring or a heap */
    size_t count, room /* a power of 2 */, head /* of the ring */;
    bool ring;

    unsigned char *pool; /* in units of 16 bytes */
    uint32_t used, pool_room;
    uint32_t units[FLIGHT_KINDS]; /* of a message of this kind */
    uint32_t list[FLIGHT_KINDS];  /* kinds of one size share the list of the first of them */
    uint32_t free[FLIGHT_KINDS];  /* list: a slot, which holds the next one; slot 0 is no slot */
};

/* Equal: all messages take equally long. */
void flight_init(struct flight *f, const struct dme_conf *conf, bool equal);
void flight_destroy(struct flight *f);

/* A copy of m goes to site `to`, where it arrives at this time. Order grows from call to call. */
void flight_post(struct flight *f, double at, uint64_t order, const struct dme_msg *m, dme_id to);
/* Removes the first key (count > 0). */
flight_key flight_take(struct flight *f);
/* The message's slot may be used again. */
void flight_release(struct flight *f, struct dme_msg *m);

static inline double flight_time(flight_key key)
{
    union {
        uint64_t bits;
        double time;
    } u = {.bits = (uint64_t)(key >> 64)};

    return u.time;
}

static inline uint64_t flight_order(flight_key key)
{
    return (uint64_t)key >> FLIGHT_SLOT_BITS;
}

static inline flight_key flight_make_key(double at, uint64_t order, uint32_t slot)
{
    union {
        double time;
        uint64_t bits;
    } u = {.time = at};

    return (flight_key)u.bits << 64 | order << FLIGHT_SLOT_BITS | slot;
}

static inline flight_key flight_first(const struct flight *f)
{
    return f->key[f->head];
}

static inline struct dme_msg *flight_msg(const struct flight *f, flight_key key)
{
    return (struct dme_msg *)(f->pool + ((size_t)key & ((1u << FLIGHT_SLOT_BITS) - 1)) * FLIGHT_UNIT);
}

#endif
