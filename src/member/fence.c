/* fence.c - see fence.h. */
#include "fence.h"

/* Both clocks count whole milliseconds, so one more may have passed. */
static uint64_t fence_ceiling(const struct fence *f, uint64_t now_ms)
{
    return f->ceiling + FENCE_PACE * (now_ms - f->ceiling_ms + 1);
}

static void fence_raise(struct fence *f, uint64_t to, uint64_t now_ms)
{
    uint64_t ceiling = fence_ceiling(f, now_ms);

    f->ceiling = f->known && ceiling > to ? ceiling : to;
    f->ceiling_ms = now_ms;
}

void fence_install(struct fence *f, uint64_t base, uint64_t now_ms)
{
    if (!f->known)
        return;
    fence_raise(f, base, now_ms);
    f->ceiling += FENCE_BURST;
}

void fence_open(struct fence *f, uint64_t base, uint64_t highest, uint64_t installed_ms, uint64_t now_ms)
{
    fence_raise(f, (highest > base ? highest : base) + FENCE_BURST + FENCE_PACE * (now_ms - installed_ms + 1), now_ms);
    f->known = true;
    f->opened_ms = now_ms;
}

void fence_forget(struct fence *f)
{
    f->known = false;
}

uint64_t fence_limit(const struct fence *f, uint64_t base, uint64_t now_ms)
{
    uint64_t above = FENCE_BURST + FENCE_RATE * (now_ms - f->opened_ms);

    return base + (above < f->leap ? above : f->leap);
}

uint64_t fence_next_base(const struct fence *f, uint64_t base, uint64_t now_ms)
{
    uint64_t ceiling = fence_ceiling(f, now_ms);

    return f->known ? (ceiling > base ? ceiling : base) + 1 : base + f->leap;
}

bool fence_is_due(const struct fence *f, uint64_t base, uint64_t highest)
{
    return highest > base + f->leap / 2;
}
