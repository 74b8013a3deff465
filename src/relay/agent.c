/* agent.c - see agent.h. */
#include "agent.h"

void agent_init(struct agent *a, unsigned places, unsigned first, uint64_t now_ms)
{
    *a = (struct agent){.places = places, .turn = first % places, .pause_ms = AGENT_PAUSE_MS, .due_ms = now_ms};
}

static bool agent_is_idle(const struct agent *a, uint64_t now_ms)
{
    return a->places > 1 && now_ms >= a->granted_ms + AGENT_IDLE_MS;
}

uint64_t agent_due_ms(const struct agent *a)
{
    uint64_t silent_ms = a->heard_ms + AGENT_SILENCE_MS;

    return a->state == AGENT_UP && silent_ms < a->due_ms ? silent_ms : a->due_ms;
}

enum agent_act agent_act(struct agent *a, uint64_t now_ms)
{
    if (a->state == AGENT_UP && now_ms > a->acted_ms + 2 * AGENT_PING_MS)
        a->heard_ms = a->granted_ms = now_ms;
    a->acted_ms = now_ms;
    if (a->state == AGENT_UP && now_ms >= a->heard_ms + AGENT_SILENCE_MS)
        return AGENT_PARTS;
    if (a->state == AGENT_UP && a->drains && a->places > 1)
        return AGENT_LEAVES;
    if (now_ms < a->due_ms)
        return AGENT_WAITS;
    switch (a->state) {
    case AGENT_AWAY:
        a->state = AGENT_CALLS;
        a->due_ms = now_ms + AGENT_CALL_MS;
        return AGENT_DIALS;
    case AGENT_CALLS:
        return AGENT_PARTS;
    default:
        if (agent_is_idle(a, now_ms))
            return AGENT_PARTS;
        a->due_ms = now_ms + AGENT_PING_MS;
        return AGENT_PINGS;
    }
}

void agent_is_up(struct agent *a, uint64_t now_ms)
{
    a->state = AGENT_UP;
    a->drains = false;
    a->since_ms = a->heard_ms = a->granted_ms = a->acted_ms = now_ms;
    a->due_ms = now_ms + AGENT_PING_MS;
}

void agent_heard(struct agent *a, uint64_t now_ms)
{
    a->heard_ms = now_ms;
}

void agent_ponged(struct agent *a, enum mux_state state, uint64_t now_ms)
{
    a->drains = state == MUX_DRAINS;
    if (state != MUX_IDLE)
        a->granted_ms = now_ms;
}

void agent_lost(struct agent *a, uint64_t now_ms)
{
    if (a->state == AGENT_UP && now_ms >= a->since_ms + AGENT_STAY_MS) {
        a->failed = 0;
        a->pause_ms = AGENT_PAUSE_MS;
    } else {
        a->failed++;
    }
    a->state = AGENT_AWAY;
    a->turn++;
    a->due_ms = now_ms;
    if (a->failed >= a->places) {
        a->failed = 0;
        a->due_ms += a->pause_ms;
        a->pause_ms = a->pause_ms < AGENT_PAUSE_MS_MAX / 2 ? 2 * a->pause_ms : AGENT_PAUSE_MS_MAX;
    }
}
