/* door.c - see door.h. */
#include "door.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CROWDS = 256 };

void door_init(struct door *d, unsigned room, void (*send_away)(struct caller *c))
{
    assert(room && send_away);
    *d = (struct door){.room = room, .send_away = send_away};
    ring_init(&d->callers);
}

static uint8_t door_crowd(const struct sockaddr *address)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (address->sa_family == AF_INET6) {
        memcpy(&v6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof v6);
        return (uint8_t)XXH3_64bits(&v6, IN6_IS_ADDR_V4MAPPED(&v6) ? sizeof v6 : 8);
    }
    memcpy(&v4, &((const struct sockaddr_in *)(const void *)address)->sin_addr, sizeof v4);
    return address->sa_family == AF_INET ? (uint8_t)XXH3_64bits(&v4, sizeof v4) : 0;
}

static bool door_is_silent(const struct caller *c)
{
    return !c->stream || !c->stream->heard;
}

/* The caller that has to make room. */
static struct caller *door_least(const struct door *d)
{
    unsigned count[CROWDS] = {0}, most = 0;
    bool silent = false;

    for (const struct ring *r = d->callers.next; r != &d->callers; r = r->next)
        silent |= door_is_silent(RING_OF(r, struct caller, in_door));
    for (const struct ring *r = d->callers.next; r != &d->callers; r = r->next) {
        const struct caller *c = RING_OF(r, struct caller, in_door);

        if (door_is_silent(c) == silent && ++count[c->crowd] > most)
            most = count[c->crowd];
    }
    assert(most || ring_empty(&d->callers)); /* if any is silent, silent ones are counted; else all are */
    for (struct ring *r = d->callers.next; r != &d->callers; r = r->next) {
        struct caller *c = RING_OF(r, struct caller, in_door);

        if (door_is_silent(c) == silent && count[c->crowd] == most)
            return c;
    }
    return NULL;
}

void door_enter(struct door *d, struct caller *c, const struct sockaddr *address, uint64_t now_ms)
{
    if (d->count == d->room) {
        struct caller *least = door_least(d);

        assert(least);
        door_leave(d, least);
        d->send_away(least);
    }
    assert(ring_empty(&c->in_door) && d->count < d->room);
    c->since_ms = now_ms;
    c->crowd = door_crowd(address);
    ring_push(&d->callers, &c->in_door);
    d->count++;
    assert(d->count <= d->room);
}

void door_leave(struct door *d, struct caller *c)
{
    if (ring_empty(&c->in_door))
        return;
    assert(d->count);
    ring_cut(&c->in_door);
    d->count--;
}

struct caller *door_overdue(struct door *d, uint64_t now_ms, uint64_t patience_ms)
{
    struct caller *c = ring_empty(&d->callers) ? NULL : RING_OF(d->callers.next, struct caller, in_door);

    assert(ring_empty(&d->callers) == (d->count == 0));
    assert(!c || c->since_ms <= now_ms);
    if (!c || now_ms - c->since_ms < patience_ms)
        return NULL;
    door_leave(d, c);
    return c;
}
