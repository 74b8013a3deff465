/* door.h - callers (accepted connections) that have not authenticated yet: how many there may be, and which one is
 * closed when there are too many.
 *
 * Any process that reaches a port can connect to it as often as it likes. So a door has room for a fixed number of
 * Any process that reaches a port can connect to it as often as it likes. So a door has room for a fixed number of
 * callers. When one more connects, the daemon closes one of them. It prefers a caller that has sent nothing; among those, callers from the address (for
 * IPv6: the 64-bit network) with most callers; and of those, the oldest. So a crowd cannot displace a caller from another address, nor one that
 * sends its first bytes at once, as every honest caller does (I31). */
#ifndef DIBS_SERVE_DOOR_H
#define DIBS_SERVE_DOOR_H

#include "base/ring.h"
#include "stream.h"

#include <sys/socket.h>

struct caller {
    struct ring in_door;         /* oldest first */
    const struct stream *stream; /* knows whether the caller has sent something; or null */
    uint64_t since_ms;
    uint8_t crowd; /* a small hash of its address */
};

struct door {
    struct ring callers;
    unsigned count, room;
    void (*send_away)(struct caller *c); /* closes a caller that has been taken out of the door */
};

void door_init(struct door *d, unsigned room, void (*send_away)(struct caller *c));
/* Adds a caller from this address. If there is no room, sends another one away. */
void door_enter(struct door *d, struct caller *c, const struct sockaddr *address, uint64_t now_ms);
/* Takes out a caller that has authenticated or has gone. A second call does nothing. */
void door_leave(struct door *d, struct caller *c);
/* If the oldest caller has been here for at least `patience_ms`, takes it out and returns it; else returns null. */
struct caller *door_overdue(struct door *d, uint64_t now_ms, uint64_t patience_ms);

#endif
