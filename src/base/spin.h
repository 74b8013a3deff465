/* spin.h - polling for a moment before going to sleep.
 *
 * Waking a process takes longer than granting a lock: some microseconds at best, and often a hundred in a virtual
 * machine whose processor has halted. So a process at either end of a connection that has nothing to do first polls for
 * SPIN_US. It yields the processor after every poll, so that other processes can use it. It also learns whether polling
 * pays: after a spell of polling in vain it leaves out the next spell, then the next three, and so on up to
 * SPIN_SKIP_MAX, until a spell is not in vain. So a daemon or a client with little to do sleeps. */
#ifndef DIBS_BASE_SPIN_H
#define DIBS_BASE_SPIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { SPIN_US = 150, SPIN_SKIP_MAX = 63 };

/* All zeroes: the next spell is not left out. */
struct spin {
    uint64_t until_ns; /* the end of this spell; 0: it is left out */
    uint8_t vain;      /* how many spells were to be left out after the last one in vain */
    uint8_t skip;      /* how many of these are still to be left out */
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

/* A poll has found nothing. Returns false if it is time to sleep. */
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

/* A poll has found something. */
static inline void spin_end(struct spin *s)
{
    if (s->until_ns)
        s->vain = 0;
}

#endif
