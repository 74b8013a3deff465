/* spin.h - to look again for a moment, before going to sleep.
 *
 * To be woken takes longer than a lock takes to be granted: some microseconds at best, and often a hundred in a virtual
 * machine whose processor has halted. So both ends of a connection, when they have nothing to do, first look for SPIN_US whether
 * something has come. They yield at every look, so that a processor that others want is theirs; and they learn whether it
 * pays: after a spell in vain the next one is left out, then the next three, and so on up to SPIN_SKIP_MAX, until one is not
 * in vain. So a daemon or a client with little to do sleeps, as it should. */
#ifndef DIBS_BASE_SPIN_H
#define DIBS_BASE_SPIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { SPIN_US = 150, SPIN_SKIP_MAX = 63 };

/* All zeroes: hopeful. */
struct spin {
    uint64_t until_ns; /* 0: not this time */
    uint8_t vain;      /* how many spells were left out for the last one in vain */
    uint8_t skip;      /* how many are still to be left out */
};

static inline uint64_t spin_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void spin_begin(struct spin *s)
{
    s->until_ns = s->skip ? 0 : spin_now_ns() + SPIN_US * 1000;
    s->skip -= s->skip > 0;
}

/* Nothing has come: false if it is time to sleep. */
static inline bool spin_on(struct spin *s)
{
    if (!s->until_ns)
        return false;
    if (spin_now_ns() < s->until_ns) {
        sched_yield();
        return true;
    }
    s->vain = s->vain < SPIN_SKIP_MAX ? 2 * s->vain + 1 : SPIN_SKIP_MAX;
    s->skip = s->vain;
    s->until_ns = 0;
    return false;
}

/* Something has come. */
static inline void spin_end(struct spin *s)
{
    if (s->until_ns)
        s->vain = 0;
}

#endif
