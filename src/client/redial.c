/* redial.c - see conn.h: makes the connection of a kept session again.
 *
 * The library tries one place after the other, each with one of its addresses. A daemon that accepts the connection but does not resume
 * the session has had its turn as well: it may be stopped, reach no majority, or have been removed from the cluster. After a round without success the library
 * pauses, and the pause doubles from round to round. A host name is looked up at each attempt, which may block. */
#include "conn.h"

#include "place.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { REDIAL_CONNECT_MS = 2000, REDIAL_PAUSE_MS = 10, REDIAL_PAUSE_LOCAL_MS_MAX = 50, REDIAL_PAUSE_MS_MAX = 1000 };

/* An attempt at a socket of this machine costs little, and its daemon may be restarting just now. */
static unsigned redial_longest_ms(const struct dibs *d)
{
    return d->dials_tcp ? REDIAL_PAUSE_MS_MAX : REDIAL_PAUSE_LOCAL_MS_MAX;
}

static void redial_pause(struct dibs *d, uint64_t now_ms)
{
    unsigned longest_ms = redial_longest_ms(d);

    d->dial_ms = now_ms + d->dial_pause;
    d->dial_pause = d->dial_pause < longest_ms / 2 ? 2 * d->dial_pause : longest_ms;
}

/* Goes to the next place, after a pause if all have been tried. */
static void redial_later(struct dibs *d, uint64_t now_ms)
{
    d->turn++;
    d->dial_ms = now_ms;
    if (d->turn % d->places == 0)
        redial_pause(d, now_ms);
}

/* A daemon that is about to end may accept the connection and end it at once: then the next attempt comes after a pause. */
static void redial_is_up(struct dibs *d, uint64_t now_ms)
{
    assert(d->fd >= 0 && d->belief.phase == BELIEF_AWAY);
    d->dialing = false;
    d->returns = true;
    redial_pause(d, now_ms);
    belief_return(&d->belief, d->name, now_ms);
}

static void redial_begin(struct dibs *d, uint64_t now_ms)
{
    const char *place = d->place[d->turn % d->places];
    char why[300], name[PLACE_NAME_MAX + 1];
    bool tcp, pending;

    assert(d->fd < 0 && !d->secure && d->places);
    if (!d->dial_pause)
        d->dial_pause = REDIAL_PAUSE_MS;
    d->fd = place_dial(place, d->turn / d->places, &tcp, &pending, why, sizeof why);
    d->dials_tcp |= tcp;
    if (d->fd >= 0 && tcp && secure_is_wanted(&d->files) &&
        !(d->secure = secure_new(&d->files, place_name(place, name), why, sizeof why)))
        conn_hang_up(d);
    if (d->fd < 0) {
        d->fd = -1;
        redial_later(d, now_ms);
    } else if (pending) {
        d->dialing = true;
        d->dial_ms = now_ms + REDIAL_CONNECT_MS;
    } else {
        redial_is_up(d, now_ms);
    }
}

/* Has the connection been made? */
static void redial_go_on(struct dibs *d, uint64_t now_ms)
{
    struct pollfd polled = {.fd = d->fd, .events = POLLOUT};
    bool done = poll(&polled, 1, 0) > 0;

    if (done && place_result(d->fd) == 0) {
        redial_is_up(d, now_ms);
    } else if (done || now_ms >= d->dial_ms) {
        conn_hang_up(d);
        redial_later(d, now_ms);
    }
}

void conn_redial(struct dibs *d)
{
    uint64_t now_ms;

    if (d->belief.phase == BELIEF_UP) {
        d->dial_pause = d->dial_ms = 0;
        d->returns = false;
    }
    if (d->belief.phase != BELIEF_AWAY || d->belief.gone)
        return;
    now_ms = conn_now_ms();
    if (d->dialing)
        redial_go_on(d, now_ms);
    else if (d->fd < 0 && now_ms >= d->dial_ms) {
        d->turn += d->returns;
        d->returns = false;
        redial_begin(d, now_ms);
    }
}

uint64_t conn_redial_ms(const struct dibs *d)
{
    return d->belief.phase == BELIEF_AWAY && !d->belief.gone ? d->dial_ms : UINT64_MAX;
}
