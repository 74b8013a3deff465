/* redial.c - see redial.h. */
#include "redial.h"

/* An attempt at a socket of this machine costs little, and its daemon may be restarting just now. */
static void redial_pause(struct redial *r, uint64_t now_ms)
{
    unsigned longest_ms = r->tcp ? REDIAL_PAUSE_MS_MAX : REDIAL_PAUSE_LOCAL_MS_MAX;

    r->due_ms = now_ms + r->pause_ms;
    r->pause_ms = r->pause_ms < longest_ms / 2 ? 2 * r->pause_ms : longest_ms;
}

void redial_rest(struct redial *r)
{
    r->pause_ms = 0;
    r->due_ms = 0;
    r->returns = false;
}

bool redial_is_due(const struct redial *r, uint64_t now_ms)
{
    return now_ms >= r->due_ms;
}

unsigned redial_begin(struct redial *r)
{
    r->turn += r->returns;
    r->returns = false;
    if (!r->pause_ms)
        r->pause_ms = REDIAL_PAUSE_MS;
    return r->turn;
}

void redial_wait(struct redial *r, uint64_t now_ms)
{
    r->under_way = true;
    r->due_ms = now_ms + REDIAL_CONNECT_MS;
}

void redial_fail(struct redial *r, unsigned places, uint64_t now_ms)
{
    r->under_way = false;
    r->turn++;
    r->due_ms = now_ms;
    if (r->turn % places == 0)
        redial_pause(r, now_ms);
}

void redial_connect(struct redial *r, uint64_t now_ms)
{
    r->under_way = false;
    r->returns = true;
    redial_pause(r, now_ms);
}
