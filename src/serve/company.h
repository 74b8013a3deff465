/* company.h - letters to members that no client waits for go out with the next ones that cannot wait. If there are none for as long as a
 * daemon looks for events before it sleeps (SPIN_US), or it is about to sleep, they go out alone. */
#ifndef DIBS_SERVE_COMPANY_H
#define DIBS_SERVE_COMPANY_H

#include "base/spin.h"

#include <stdbool.h>
#include <stdint.h>

struct company {
    uint64_t since_ns; /* when the oldest of these letters began to wait, as far as this was told; 0: none waits */
};

/* Between two turns: are letters waiting, and does the daemon go on looking for events? Returns true if the letters are to go out now. `now_ns`
 * is not 0, and matters only if letters are waiting. */
static inline bool company_is_over(struct company *c, bool waiting, bool awake, uint64_t now_ns)
{
    if (!waiting || !c->since_ns)
        c->since_ns = waiting ? now_ns : 0;
    if (!waiting || (awake && now_ns - c->since_ns < SPIN_US * 1000))
        return false;
    c->since_ns = 0;
    return true;
}

#endif
