/* conn.c - see conn.h. */
#include "conn.h"

#include "place.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The clock goes on while the machine sleeps, as the daemon's does: what was vouched for before may be over. */
uint64_t conn_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ----------------------------------------------------------------------------------------------------------- sending */

static ssize_t conn_send(struct dibs *d, const char *bytes, size_t len)
{
    return d->secure ? secure_send(d->secure, d->fd, bytes, len) : place_send(d->fd, bytes, len);
}

void conn_flush(struct dibs *d)
{
    for (;;) {
        size_t len;
        const char *bytes = belief_output(&d->belief, &len);
        ssize_t sent;

        if (d->fd < 0 || d->redial.under_way || (!len && !(d->secure && secure_has_more(d->secure))))
            return;
        sent = conn_send(d, bytes, len);
        assert(sent <= (ssize_t)len);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        /* The connection has broken; what the daemon has said before is still read. If only TLS has failed, on this side, the daemon is to hear of
         * that. Without TLS, the daemon would take the end of what this side sends for a goodbye, and would release locks in which the program still
         * believes. */
        if (sent < 0 && d->secure)
            shutdown(d->fd, SHUT_WR);
        belief_sent(&d->belief, sent < 0 ? len : (size_t)sent);
    }
}

/* ----------------------------------------------------------------------------------------------------------- hearing */

/* Sends no goodbye of TLS, which would end a kept session, unless the session no longer belongs to this connection.
 * Other processes may have the descriptor as well (dibs lock gives it to its command), so closing it is not enough. */
void conn_hang_up(struct dibs *d)
{
    if (!d->belief.gone) { /* else it may still tell why */
        secure_free(d->secure, d->belief.parts ? d->fd : -1);
        d->secure = NULL;
        shutdown(d->fd, SHUT_RDWR);
    }
    assert(d->fd >= 0);
    close(d->fd);
    d->fd = -1;
    d->redial.under_way = false;
}

/* Tells the program the news; closes the socket first if the connection has ended. */
static void conn_tell(struct dibs *d, uint64_t now_ms)
{
    struct belief_news news;
    bool more;

    do {
        more = belief_next(&d->belief, &news, now_ms);
        if ((d->belief.gone || d->belief.phase == BELIEF_AWAY) && d->fd >= 0 && !d->redial.under_way)
            conn_hang_up(d);
        if (more && news.type == BELIEF_LOST && d->on_lost)
            d->on_lost(d->user, news.name, news.fence, news.why);
        else if (more && news.type == BELIEF_EVENT && d->on_event)
            d->on_event(d->event_user, &news.event);
        else if (more && news.type == BELIEF_DOUBT && d->on_doubt)
            d->on_doubt(d->doubt_user, news.in_doubt, news.why);
    } while (more);
}

static ssize_t conn_recv(struct dibs *d, char *bytes, size_t room)
{
    return d->secure ? secure_recv(d->secure, d->fd, bytes, room) : recv(d->fd, bytes, room, 0);
}

static void conn_broke(struct dibs *d, uint64_t now_ms)
{
    char line[600];

    snprintf(line, sizeof line, "the connection to the daemon has broken: %s", strerror(errno));
    if (d->secure && *secure_why(d->secure))
        snprintf(line, sizeof line, "the daemon %s%s", secure_why(d->secure), secure_remedy(d->secure));
    belief_break(&d->belief, line, now_ms);
}

static void conn_read(struct dibs *d)
{
    uint64_t now_ms = conn_now_ms(); /* if something is asked because of what is heard, it is not asked before this */
    bool more = true;

    while (d->fd >= 0 && !d->redial.under_way && more) {
        size_t room;
        char *at = belief_room(&d->belief, &room);
        ssize_t got = at ? conn_recv(d, at, room) : -1;

        assert(!at || (room && got <= (ssize_t)room));
        more = got == (ssize_t)room;
        if (got == 0)
            belief_break(&d->belief,
                         d->belief.confirmed || d->secure
                             ? "the daemon has ended the connection"
                             : "the daemon has ended the connection at once, perhaps because this client has no key",
                         now_ms);
        else if (got > 0)
            belief_received(&d->belief, (size_t)got);
        else if (errno == EINTR)
            more = true;
        else if (errno != EAGAIN && errno != EWOULDBLOCK)
            conn_broke(d, now_ms);
        conn_tell(d, now_ms);
    }
}

/* -------------------------------------------------------------------------------------------------------------- time */

int conn_process(struct dibs *d)
{
    uint64_t now_ms;

    conn_dial(d);
    conn_flush(d);
    conn_read(d);
    now_ms = conn_now_ms();
    belief_clock(&d->belief, now_ms);
    conn_tell(d, now_ms);
    conn_flush(d);
    return d->belief.gone ? DIBS_GONE : DIBS_OK;
}

int conn_timeout_ms(const struct dibs *d)
{
    uint64_t now_ms = conn_now_ms(), due_ms = belief_due_ms(&d->belief), dial_ms = conn_dial_ms(d);

    if (dial_ms < due_ms)
        due_ms = dial_ms;

    return due_ms == UINT64_MAX        ? -1
           : due_ms <= now_ms          ? 0
           : due_ms - now_ms > INT_MAX ? INT_MAX
                                       : (int)(due_ms - now_ms);
}

int conn_wait(struct dibs *d, int code)
{
    struct spin *spin = &d->spin[d->belief.await];

    if (code != DIBS_WAITING)
        return code;
    spin_begin(spin);
    for (conn_flush(d); (code = belief_answer(&d->belief)) == DIBS_WAITING; conn_process(d)) {
        struct pollfd polled = {.fd = d->fd, .events = dibs_events(d)};

        if (!spin_on(spin))
            poll(&polled, 1, conn_timeout_ms(d));
    }
    spin_end(spin);
    return code;
}
