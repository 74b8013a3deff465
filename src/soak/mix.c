/* mix.c - which faults happen in a seed, how often, and what its clients do: drawn for every seed, so that each has its own mix. */
#include "world.h"

#include <assert.h>

static uint32_t mix_maybe(struct world *w, uint32_t most)
{
    return world_below(w, 2) ? 1 + (uint32_t)world_below(w, most) : 0;
}

/* A hard case (enum soak_focus) in which all clients want the same lock, so that faults hit a holder. */
static void mix_draw_holders(struct world *w)
{
    struct soak_mix *m = &w->mix;

    *m = (struct soak_mix){.delay_us = 30, .one_name = true};
    m->squeeze = w->conf->focus == SOAK_SQUEEZE;
    m->reborn = w->conf->focus == SOAK_REBORN || w->conf->focus == SOAK_LEASE;
    m->sharing = w->conf->focus == SOAK_SHARING;
    m->slots = w->conf->focus == SOAK_SLOTS;
    m->evict = m->slots ? 600 : 0;
    m->disturb_client = m->slots ? 60 : 0;
    m->amnesia = w->conf->focus == SOAK_DISKS;
    m->slow = m->amnesia ? 2 : 0;
    m->crash = m->amnesia ? 200 : 0;
    m->jitter_us = m->amnesia ? 1 + (uint32_t)world_below(w, 2000) : 0;
    m->leave = m->amnesia ? 12 : 0;
    m->cut = m->amnesia ? 20 : 0;
    m->drift_ppm = m->sharing || m->slots ? 0 : 50000;
    m->hold_ms = m->sharing ? 2000 : m->squeeze ? 5000 : m->slots ? 30 : 1000;
    m->think_ms = m->sharing ? 200 : 20;
}

/* A daemon alone. */
static void mix_draw_alone(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->one_name = false;
    m->crash = world_below(w, 2) ? 4 : 0;
    m->leave = 25;
    m->jitter_us = 1 + (uint32_t)world_below(w, 3000);
    m->breaks = mix_maybe(w, 60);
    m->kill_client = mix_maybe(w, 30);
    m->disturb_client = mix_maybe(w, 60);
    m->evict = mix_maybe(w, 10);
}

/* Messages are slow, so that faults come before a view has opened at all members. */
static void mix_draw_kept(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 1000,
                               .jitter_us = 1000 + (uint32_t)world_below(w, 30000),
                               .crash = 20,
                               .cut = 60,
                               .breaks = 60,
                               .disturb_client = 60,
                               .evict = 120,
                               .hold_ms = 500,
                               .think_ms = 50,
                               .bursts = world_below(w, 2)};
}

static void mix_draw_exiles(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 100,
                               .jitter_us = 1 + (uint32_t)world_below(w, 3000),
                               .pause = 30,
                               .cut = 30,
                               .lonely = world_below(w, 2),
                               .breaks = 60,
                               .disturb_client = 120,
                               .focus = 1u << world_below(w, w->n),
                               .turn_us = 40000 + (uint32_t)world_below(w, 160000),
                               .hold_ms = 1000,
                               .think_ms = 20};
}

/* One or two members are slow and have the clients with hoards; the others are quick. */
static void mix_draw_hoards(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 30,
                               .crash = mix_maybe(w, 10),
                               .leave = mix_maybe(w, 30),
                               .pause = mix_maybe(w, 10),
                               .cut = 40,
                               .evict = mix_maybe(w, 60),
                               .drift_ppm = world_below(w, 4) ? 50000 : 0,
                               .crowd = true,
                               .turn_us = 4000 + (uint32_t)world_below(w, 12000),
                               .lonely = world_below(w, 2),
                               .focus = 1u | 1u << world_below(w, w->n),
                               .hold_ms = 200,
                               .think_ms = 50};
}

static void mix_draw_roster(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 1000,
                               .jitter_us = 1000 + (uint32_t)world_below(w, 30000),
                               .breaks = 30,
                               .disturb_client = 60,
                               .hold_ms = 500,
                               .think_ms = 50,
                               .turn_us = world_below(w, 2) ? 1 + (uint32_t)world_below(w, 4000) : 0,
                               .comes_and_goes = w->conf->focus == SOAK_ROSTER,
                               .moves = w->conf->focus == SOAK_MOVES};
}

static void mix_draw_focus(struct world *w)
{
    mix_draw_holders(w);
    w->clients = w->conf->clients ? w->conf->clients : w->conf->focus == SOAK_KINDS ? 24 : 16;
    w->alone = w->conf->focus == SOAK_ALONE;
    if (w->alone)
        mix_draw_alone(w);
    if (w->conf->focus == SOAK_KEPT || w->conf->focus == SOAK_HASTY)
        mix_draw_kept(w);
    if (w->conf->focus == SOAK_EXILES)
        mix_draw_exiles(w);
    if (w->conf->focus == SOAK_HOARDS)
        mix_draw_hoards(w);
    if (w->conf->focus == SOAK_ROSTER || w->conf->focus == SOAK_MOVES)
        mix_draw_roster(w);
    if (w->conf->focus == SOAK_OUTAGE)
        w->mix = (struct soak_mix){
            .delay_us = 30, .drift_ppm = 50000, .outage = true, .disturb_client = 20, .hold_ms = 8000, .think_ms = 50};
    if (w->conf->focus == SOAK_CONFIG)
        operators_draw(w);
    if (w->conf->focus == SOAK_KINDS)
        kinds_draw(w);
    if (w->conf->focus == SOAK_BARRIERS)
        barriers_draw(w);
    world_plan(w, 3000000, SOAK_FAULT, 0, 0);
}

/* Does this focus have a mix of its own? The others are about clients, and their faults are drawn as without a focus. */
static bool mix_has_focus(const struct soak_conf *conf)
{
    switch (conf->focus) {
    case SOAK_ALL:
    case SOAK_RESUME:
    case SOAK_REDIS:
    case SOAK_SEVERAL:
    case SOAK_LEADERS:
    case SOAK_AGENTS:
    case SOAK_VERSIONS:
    case SOAK_UPGRADE:
    case SOAK_RIGHTS:
        return false;
    default:
        return true;
    }
}

/* How often what happens. */
static void mix_draw_rates(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->delay_us = 20 + (uint32_t)world_below(w, 2000);
    m->jitter_us = mix_maybe(w, 30000);
    m->drift_ppm = world_below(w, 2) ? 50000 : 0;
    m->wild_clocks = world_below(w, 16) == 0;
    if (m->wild_clocks)
        m->drift_ppm = 400000;
    m->crash = mix_maybe(w, 12);
    m->leave = mix_maybe(w, 8);
    m->pause = mix_maybe(w, 12);
    m->cut = mix_maybe(w, 20);
    m->breaks = mix_maybe(w, 60);
    m->kill_client = mix_maybe(w, 60);
    m->disturb_client = mix_maybe(w, 120);
    m->evict = mix_maybe(w, 60);
    m->roster = !w->conf->roster ? 0 : world_below(w, 2) ? 1 + (uint32_t)world_below(w, 20) : 100;
    m->absent = m->roster && world_below(w, 2);
    m->torn = world_below(w, 4) == 0 ? 20 : 0;
}

/* Some seeds have one hard case in place of these rates. */
static void mix_draw_hard_case(struct world *w)
{
    struct soak_mix *m = &w->mix;

    if (world_below(w, 6) == 0) /* what the promise has to make up for: fast networks, extreme clocks, sudden silence */
        *m = (struct soak_mix){.delay_us = 30, .drift_ppm = 50000, .cut = 30, .lonely = true};
    if (world_below(w, 12) == 0)
        *m = (struct soak_mix){.delay_us = 30, .standstill = true};
    if (w->conf->roster && w->n >= 5 && world_below(w, 2)) /* one hard case, again and again, and nothing else */
        *m = (struct soak_mix){.delay_us = 30, .drift_ppm = world_below(w, 2) ? 50000 : 0, .squeeze = true};
    if (world_below(w, 3) == 0) /* trouble seldom comes alone, and seldom to all alike */
        m->focus = 1u << world_below(w, w->n) | 1u << world_below(w, w->n);
    m->bursts = world_below(w, 3) == 0;
    m->think_ms = 5 + (uint32_t)world_below(w, 400);
    m->hold_ms = 1 + (uint32_t)world_below(w, 300);
    if (m->squeeze) /* there must be a holder to be harmed */
        m->hold_ms = 1000, m->think_ms = 20;
}

/* What machines know of the date; and whether the cluster is founded anew, from a daemon alone or from a cluster. */
static void mix_draw_beginning(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->short_leap = world_below(w, 2) == 0;
    m->no_calendar = !m->short_leap && world_below(w, 2);
    w->alone = m->short_leap && world_below(w, 4) == 0;
    if (w->alone)
        world_plan(w, 3000000, SOAK_FOUND, 0, 0);
    if (m->short_leap && world_below(w, 4) == 0)
        world_plan(w, 3000000 + world_below(w, (uint64_t)w->conf->chaos_s * 1000000), SOAK_FOUND, 0, 0);
}

static void mix_draw_disks(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->forgetful = w->random / 1000 % 8 == 0;
    m->slow = !m->squeeze && !m->standstill && w->random % 4 == 0 ? 1 + (uint32_t)(w->random / 4 % 30) : 0;
    m->amnesia = !m->squeeze && !m->standstill && w->random / 100 % 16 == 0;
    if (m->amnesia) { /* crashes before the disk has what was written: a member that has announced it too early is found */
        m->slow = 2;
        m->crash = 200;
        m->jitter_us = 1 + (uint32_t)world_below(w, 2000);
    }
}

/* Draws which members hurry for other ones (node_conf.patient): all, none, or some, as while a cluster is upgraded. */
static uint32_t mix_draw_patience(const struct world *w, uint64_t bits)
{
    if (w->conf->patient || bits % 8 == 0)
        return UINT32_MAX;
    return bits % 8 == 1 ? (uint32_t)(bits / 8) : 0;
}

/* Do clients keep their sessions? */
static bool mix_keeps_sessions(const struct world *w)
{
    switch (w->conf->focus) {
    case SOAK_KEPT:
    case SOAK_HASTY:
    case SOAK_ALONE:
    case SOAK_ROSTER:
    case SOAK_MOVES:
    case SOAK_LEADERS:
    case SOAK_EXILES:
    case SOAK_AGENTS:
    case SOAK_VERSIONS:
    case SOAK_UPGRADE:
        return true;
    default:
        return w->mix.resume || w->mix.outage || w->mix.kinds || w->random / 128000 % 2 == 0;
    }
}

/* What members do in pieces, and what clients do: whatever the faults are. Nothing is drawn for it that would change what is drawn later. */
static void mix_draw_habits(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->patient = mix_draw_patience(w, w->random / 4096000);
    m->piece = (uint32_t)(w->random / 8000 % 4);
    m->hoard = m->crowd || w->random / 32000 % 4 == 0;
    if (m->turn_us || m->kinds)
        m->piece = w->conf->focus == SOAK_EXILES ? 1 : 1 + m->piece % 3;
    m->resume = w->conf->focus == SOAK_RESUME || m->barriers;
    m->kept = mix_keeps_sessions(w);
    m->values = w->conf->focus == SOAK_LEADERS;
    m->changes = w->conf->focus == SOAK_UPGRADE || m->barriers || (m->kinds && w->conf->seed % 4 == 1);
    m->redis = w->conf->focus == SOAK_REDIS;
    m->agents = w->conf->focus == SOAK_AGENTS;
    m->hasty =
        w->conf->focus == SOAK_HASTY || w->conf->focus == SOAK_EXILES || (!w->conf->focus && w->conf->seed % 16 == 11);
    m->several = w->conf->focus == SOAK_SEVERAL;
    m->disorder = m->several && w->conf->seed % 2;
    m->urgent = m->kinds || (!w->conf->focus && !w->conf->rolling && w->conf->seed % 4 == 2);
    m->tokens = m->redis || ((!w->conf->focus || m->kinds) && !w->conf->rolling && w->conf->seed % 4 == 3);
    m->waits = w->conf->seed % 4 == 0;
}

static void mix_tell(struct world *w)
{
    const struct soak_mix *m = &w->mix;

    assert(m->delay_us && m->hold_ms && m->drift_ppm < 1000000); /* clocks go on, and forwards */
    snprintf(w->report->mix, sizeof w->report->mix,
             "%u members, %u clients, %s and %s; a minute: %u crashes, %u stops, %u cuts, %u broken connections"
             ", %u changes of the roster; delay %u+%u us, drift %u ppm%s%s%s%s",
             w->n, w->clients, w->algorithm->name, w->slots_algorithm->name, m->crash, m->pause, m->cut, m->breaks,
             m->roster, m->delay_us, m->jitter_us, m->drift_ppm, m->torn ? ", torn writes" : "",
             m->slow ? ", slow disks" : "", m->bursts ? ", in bursts" : "", m->focus ? ", aimed" : "");
}

void mix_draw(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 50, .think_ms = 200, .hold_ms = 50};
    if (mix_has_focus(w->conf)) {
        mix_draw_focus(w);
    } else if (w->conf->rolling) {
        rolling_draw(w);
    } else if (!w->conf->calm) {
        mix_draw_rates(w);
        mix_draw_hard_case(w);
        mix_draw_beginning(w);
        mix_draw_disks(w);
        world_plan(w, 3000000, SOAK_FAULT, 0, 0);
    }
    mix_draw_habits(w);
    if (w->conf->focus == SOAK_RIGHTS)
        allowed_draw_mix(w);
    mix_tell(w);
}
