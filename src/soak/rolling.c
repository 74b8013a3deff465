/* rolling.c - one trouble at a time (soak.h). One member shuts down or crashes, and is started again; or it is stopped; or a minority is
 * cut off. Meanwhile clients of all other members lose no lock (I27): so people can restart a cluster, member after member, under load.
 *
 * The next trouble comes when all members are together again. After a restart it comes at once, as when people restart one member after
 * the other. After a stop or a cut it comes a lease later, since the leader may still take a member that was just cut off for silent. */
#include "world.h"

enum { LOOK_MS = 10, CUT_MS_MAX = 5 * SOAK_LEASE_MS, STOP_MS_MAX = 4 * SOAK_LEASE_MS, REST_MS_MAX = 2 * SOAK_LEASE_MS };

void rolling_draw(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 20 + (uint32_t)world_below(w, 2000),
                               .jitter_us = world_below(w, 2) ? (uint32_t)world_below(w, 30000) : 0,
                               .drift_ppm = world_below(w, 2) ? 50000 : 0,
                               .think_ms = 5 + (uint32_t)world_below(w, 400),
                               .hold_ms = 1 + (uint32_t)world_below(w, 300)};
    world_plan(w, 1000000, SOAK_FAULT, 0, 0);
}

static void rolling_cut(struct world *w)
{
    uint32_t most = (w->n - 1) / 2, set = w->touched;

    for (uint32_t k = (uint32_t)world_below(w, most); k > 0; k--)
        set |= 1u << world_below(w, w->n);
    w->touched = set;
    faults_cut_off(w, set, 1 + world_below(w, CUT_MS_MAX));
}

static void rolling_begin(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);

    w->touched = 1u << i;
    w->peace_ms = 0;
    switch (world_below(w, 4)) {
    case 0:
        w->report->crashes++;
        machine_crash(w, i);
        break;
    case 1:
        w->peace_ms = SOAK_LEASE_MS;
        faults_stop(w, i, 1 + world_below(w, STOP_MS_MAX));
        break;
    case 2:
        w->peace_ms = SOAK_LEASE_MS;
        rolling_cut(w);
        break;
    case 3:
        w->report->crashes++;
        machine_leave(w, i);
    }
}

/* Do all members reach each other, and is none about to be excluded because of the last disturbance? */
static bool rolling_is_over(const struct world *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const struct soak_machine *m = &w->machine[i];

        if (!m->runs || m->leave_by_ms || world_is_stopped(w, i) || m->node.drops)
            return false;
        for (uint32_t k = 0; k < w->n; k++)
            if (w->pipe[i][k].blocked || (m->node.member[k] && m->node.member[k]->link.state != LINK_UP))
                return false;
    }
    return world_is_whole(w);
}

void rolling_happen(struct world *w)
{
    uint64_t next_ms = LOOK_MS;

    if (w->calm)
        return;
    if (!rolling_is_over(w)) {
        w->peaceful_ms = 0;
    } else if ((w->peaceful_ms += LOOK_MS) > w->peace_ms && w->touched) {
        w->touched = 0;
        next_ms = 1 + world_below(w, world_below(w, 2) ? REST_MS_MAX : 100);
    } else if (!w->touched) {
        rolling_begin(w);
    }
    world_plan(w, 1000 * next_ms, SOAK_FAULT, 0, 0);
}

void rolling_check_loss(struct world *w, uint32_t i, const char *name)
{
    if (w->conf->rolling && !w->calm && !(w->touched >> i & 1))
        world_fail(w, "a client of %s loses %s, and nothing has happened to %s", w->machine[i].name, name,
                   w->machine[i].name);
}
