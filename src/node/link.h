/* link.h - one reliable stream of messages to one other member, over connections that may break.
 *
 * The model. Messages to a peer are numbered from 1 and kept until the peer has acknowledged them. A connection begins
 * with a HELLO from both sides that says which message was received last; each side goes on with the one after it. So a
 * message arrives once and in order, however often the connection breaks, as long as both processes live.
 *
 * Who may talk. HELLO names the sender, the member it wants to reach, the version of the protocol, a digest of the
 * configuration, the sender's incarnation (a number drawn when its process started) and the incarnation of the receiver
 * that it remembers, 0 if none. What does not match is refused, with a reason that both sides get to know. A member
 * that has restarted has forgotten what it promised, so it must not talk to anybody who remembers its former self;
 * since both sides look, both know. A link has *met* its peer once a HELLO was accepted.
 *
 * Frames. Length (4 bytes, lowest first, of what follows), type, body. DATA: the low 32 bits of its number, the
 * message. ACK: the number of the last message received; it travels with data, or alone when LINK_ACK_EVERY messages
 * came meanwhile. REFUSE: a reason. All lengths are bounded, and whatever does not parse ends the connection.
 *
 * Many small messages become one write: a driver takes all there is (link_output), up to LINK_WRITE_MAX.
 *
 * Memory. What is not acknowledged is kept, so a peer that is away costs memory. Above LINK_BACKLOG_MAX bytes a link is
 * congested, and the node takes no new claims; what its locks are about to say is then bounded by their number. On the
 * way in, a driver stops reading while link_is_full.
 *
 * No I/O and no time in here: bytes in, bytes out. */
#ifndef DIBS_NODE_LINK_H
#define DIBS_NODE_LINK_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINK_VERSION = 1,
    LINK_NAME_MAX = 63,
    LINK_REASON_MAX = 400,
    LINK_MESSAGE_MAX = 1 << 20,
    LINK_WRITE_MAX = 1 << 16,
    LINK_BACKLOG_MAX = 1 << 24,
    LINK_INPUT_MAX = 1 << 21, /* holds the longest frame */
    LINK_ACK_EVERY = 32,
};

/* What a member says of itself in HELLO. The strings outlive the links. */
struct link_self {
    const char *name;
    const char *summary; /* the configuration, for people */
    uint64_t digest;     /* the configuration, for comparing */
    uint64_t incarnation;
};

enum link_state { LINK_DOWN, LINK_OPENING /* HELLO is awaited */, LINK_UP, LINK_ENDING /* write the rest, close */ };

struct link {
    const struct link_self *self;
    const char *peer;
    uint64_t peer_incarnation; /* 0: never met */
    enum link_state state;
    char reason[LINK_REASON_MAX]; /* why the last connection ended, or is about to; or "" */
    bool banned;                  /* for good */
    bool hold;                    /* HELLO only: messages stay where they are */

    struct bytes keep;    /* frames of messages not acknowledged */
    size_t unsent;        /* in keep: from here on they have not been sent on this connection */
    uint64_t next, sent;  /* the newest that was sent on this connection; on any */
    uint64_t resent;      /* how many were sent again, so far */
    uint64_t made, acked; /* numbers: of the newest message, and of the newest that the peer has for sure */

    struct bytes wire;       /* about to be written */
    struct bytes in;         /* read, not yet understood */
    uint64_t received, told; /* numbers: of the newest message received, and of the newest acknowledged */
};

void link_init(struct link *k, const struct link_self *self, const char *peer);
void link_free(struct link *k);

/* A message of so many bytes, to be filled in at once. */
uint8_t *link_send(struct link *k, size_t len);
bool link_is_congested(const struct link *k);

/* There is a connection; a former one, if any, is forgotten. */
void link_connected(struct link *k);
void link_disconnected(struct link *k);
/* Bytes that came. Room for them is there unless link_is_full. */
void link_input(struct link *k, const uint8_t *bytes, size_t len);
bool link_is_full(const struct link *k);
/* The next message among the bytes that came, valid until the next call. False: there is none, or the state became
 * LINK_ENDING. */
bool link_take(struct link *k, const uint8_t **message, size_t *len);
/* The peer is told why, and the connection ends. */
void link_refuse(struct link *k, const char *reason);
/* Bytes to write now, none if len is 0; then say how many were written. */
const uint8_t *link_output(struct link *k, size_t *len);
void link_wrote(struct link *k, size_t len);

/* For a connection that somebody else has opened: who is it? The length of the name at the beginning of its HELLO, 0 if
 * there are not enough bytes yet, -1 if that is no HELLO. */
int link_who(const uint8_t *bytes, size_t len, const char **name);

#endif
