/* again.c - see again.h. */
#include "again.h"

#include <assert.h>

uint64_t again_left_ms(const struct again *a, uint64_t now_ms)
{
    if (a->forever)
        return UINT64_MAX;
    return a->deadline_ms > now_ms ? a->deadline_ms - now_ms : 0;
}

/* A2. */
static bool again_can_help(const struct again *a, enum again_why why)
{
    return why == AGAIN_GONE || why == AGAIN_NO_QUORUM || (why == AGAIN_LOST && a->forever);
}

struct again_next again_step(struct again *a, enum again_why why, uint64_t now_ms)
{
    uint64_t left_ms = again_left_ms(a, now_ms);
    struct again_next next = {.elsewhere = why == AGAIN_NO_QUORUM && a->places > 1};

    if (next.elsewhere && ++a->moves < a->places)
        return next;
    next.ends = !left_ms || !again_can_help(a, why);
    if (next.ends)
        return next;
    a->pause_ms = a->pause_ms ? 2 * a->pause_ms : AGAIN_PAUSE_MS;
    if (a->pause_ms > AGAIN_PAUSE_MS_MAX)
        a->pause_ms = AGAIN_PAUSE_MS_MAX;
    next.pause_ms = a->pause_ms < left_ms ? a->pause_ms : left_ms;
    assert(next.pause_ms);
    return next;
}
