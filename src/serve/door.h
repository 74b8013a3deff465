/* door.h - callers that have not proved who they are: how many of them there may be, and which one has to go.
 *
 * Anybody who reaches a port can connect to it as often as they like. So a door has room for a fixed number of callers.
 * When one more comes, the daemon sends one away: a silent caller rather than one that has said something, one from the
 * address (of IPv6: the network, 64 bits) with most callers rather than another, and of those the oldest. A caller from
 * another address, or one that speaks at once, as every honest one does, is thus not sent away by a crowd. */
#ifndef DIBS_SERVE_DOOR_H
#define DIBS_SERVE_DOOR_H

#include "base/ring.h"
#include "stream.h"

#include <sys/socket.h>

struct caller {
    struct ring in_door;         /* oldest first */
    const struct stream *stream; /* tells whether it has said something; or null */
    uint64_t since_ms;
    uint8_t crowd; /* its address, as a small number */
};

struct door {
    struct ring callers;
    unsigned count, room;
    void (*send_away)(struct caller *c); /* it has left the door by then */
};

void door_init(struct door *d, unsigned room, void (*send_away)(struct caller *c));
/* One comes from this address. If there is no room, another one is sent away. */
void door_enter(struct door *d, struct caller *c, const struct sockaddr *address, uint64_t now_ms);
/* It has proved who it is, or goes. Once more does nothing. */
void door_leave(struct door *d, struct caller *c);
/* The oldest caller if it came at least this long ago, and it has left; or null. */
struct caller *door_overdue(struct door *d, uint64_t now_ms, uint64_t patience_ms);

#endif
