/* dial.c - see conn.h: makes the connection of a kept session again. redial.h decides which place is tried, and when. A host name is
 * looked up at each attempt, which may block. */
#include "conn.h"

#include "place.h"

#include <assert.h>
#include <poll.h>

static void dial_is_up(struct dibs *d, uint64_t now_ms)
{
    assert(d->fd >= 0 && d->belief.phase == BELIEF_AWAY);
    redial_connect(&d->redial, now_ms);
    belief_return(&d->belief, d->name, now_ms);
}

static void dial_begin(struct dibs *d, uint64_t now_ms)
{
    unsigned turn = redial_begin(&d->redial);
    const char *place = d->place[turn % d->places];
    char why[300], name[PLACE_NAME_MAX + 1];
    bool tcp, pending;

    assert(d->fd < 0 && !d->secure && d->places);
    d->fd = place_dial(place, turn / d->places, &tcp, &pending, why, sizeof why);
    d->redial.tcp |= tcp;
    if (d->fd >= 0 && tcp && secure_is_wanted(&d->files) &&
        !(d->secure = secure_new(&d->files, place_name(place, name), why, sizeof why)))
        conn_hang_up(d);
    if (d->fd < 0) {
        d->fd = -1;
        redial_fail(&d->redial, d->places, now_ms);
    } else if (pending) {
        redial_wait(&d->redial, now_ms);
    } else {
        dial_is_up(d, now_ms);
    }
}

/* Has the connection been made? */
static void dial_go_on(struct dibs *d, uint64_t now_ms)
{
    struct pollfd polled = {.fd = d->fd, .events = POLLOUT};
    bool done = poll(&polled, 1, 0) > 0;

    if (done && place_result(d->fd) == 0) {
        dial_is_up(d, now_ms);
    } else if (done || redial_is_due(&d->redial, now_ms)) {
        conn_hang_up(d);
        redial_fail(&d->redial, d->places, now_ms);
    }
}

void conn_dial(struct dibs *d)
{
    uint64_t now_ms;

    if (d->belief.phase == BELIEF_UP)
        redial_rest(&d->redial);
    if (d->belief.phase != BELIEF_AWAY || d->belief.gone)
        return;
    now_ms = conn_now_ms();
    if (d->redial.under_way)
        dial_go_on(d, now_ms);
    else if (d->fd < 0 && redial_is_due(&d->redial, now_ms))
        dial_begin(d, now_ms);
}

uint64_t conn_dial_ms(const struct dibs *d)
{
    return d->belief.phase == BELIEF_AWAY && !d->belief.gone ? d->redial.due_ms : UINT64_MAX;
}
