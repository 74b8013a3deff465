/* mux.h - many connections of clients over one connection: frames in, frames out. Pure: no I/O, no clock.
 *
 * An agent (agent.h) has one connection to a member, and over it a *channel* for each of its clients. The member treats a channel as
 * it treats a connection over TCP. Both ends have a struct mux; only the agent's end opens channels.
 *
 * A frame is a head of eight bytes and some payload. The head is the type (one byte), the length of the payload (three) and the
 * channel (four), all with the most significant byte first.
 *
 *   type      payload                                                                   who sends it
 *   1 OPEN    what the agent knows of its client: text, up to MUX_WHO_MAX bytes         the agent
 *   2 BYTES   1 to MUX_PIECE bytes of the client, or for it                             both
 *   3 CLOSE   one byte, enum mux_how                                                    both, once for each channel
 *   4 CREDIT  four bytes: how many more bytes may be sent over this channel            both
 *   5 PING    none, channel 0                                                           the agent
 *   6 PONG    one byte, channel 0: enum mux_state                                          the member
 *
 * *Credit.* A side may send MUX_WINDOW bytes over a channel, and then as many as the other side has credited. A side credits the bytes that it has
 * passed on. So a client that does not read stops its own channel only, and the bytes that a side keeps for a channel are bounded (I19).
 *
 * *End.* Either side may close a channel. It sends CLOSE, ignores what still comes, and waits for the other side's CLOSE. The number of the channel is
 * free when both have been sent. So no frame of an earlier channel is taken for one of a later channel with the same number. A side that only
 * has nothing more to send may take what still comes, until the other side's CLOSE (mux_finish).
 *
 * What contradicts this is an error, and the connection has to be closed (mux_next, MUX_WRONG). */
#ifndef DIBS_RELAY_MUX_H
#define DIBS_RELAY_MUX_H

#include "base/bytes.h"
#include "base/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MUX_CHANNELS_MAX = 4096,
    MUX_HEAD = 8,
    MUX_PIECE = 1 << 14,
    MUX_WINDOW = 1 << 16,
    MUX_OUT_MAX = 1 << 16, /* when this many bytes wait to be sent, bytes of channels wait at their sources */
    MUX_WHO_MAX = 96
};

/* What the end of a channel says about its client. */
enum mux_how {
    MUX_BROKEN, /* nothing: the client may not know of the end */
    MUX_LEFT,   /* the client has ended its connection: it no longer believes in any lock of this connection */
    MUX_DEAD    /* .. and its process has ended */
};

/* What a member says of itself. */
enum mux_state {
    MUX_IDLE, /* it grants no locks: it reaches no majority, or is about to end */
    MUX_GRANTS,
    MUX_DRAINS /* it grants no locks, and waits until its clients hold none */
};

struct mux_channel {
    struct ring in_turn; /* in `ready` or `starved`, while it has bytes to send */
    void *user;          /* the driver's */
    uint32_t number;
    uint32_t credit;  /* bytes that may be sent over it */
    uint32_t window;  /* bytes that the other side may send */
    uint32_t owed;    /* bytes that were passed on, and not credited yet */
    bool used;        /* the channel is open; else its number is free */
    bool said, heard; /* CLOSE was sent; has come */
};

struct mux {
    bool opens;      /* the agent's end */
    uint32_t window; /* MUX_WINDOW; a simulation may have less, at both ends */
    struct bytes in, out;
    size_t done; /* bytes of `in` that the last event has used */
    struct mux_channel **channel;
    uint32_t room;    /* numbers below this have been used */
    uint32_t count;   /* channels in use */
    struct ring free; /* numbers that can be used again */
    struct ring ready,
        starved;       /* channels with bytes to send: `ready` ones wait for room in `out`, `starved` ones for credit */
    const char *wrong; /* MUX_WRONG: why */
    uint32_t lost;     /* see mux_lost: channels below this number have ended */
};

enum mux_type { MUX_NOTHING, MUX_OPENED, MUX_BYTES, MUX_CLOSED, MUX_PINGED, MUX_PONGED, MUX_WRONG };

struct mux_event {
    enum mux_type type;
    struct mux_channel *channel; /* OPENED, BYTES, CLOSED */
    const uint8_t *bytes;        /* OPENED, BYTES: until the next call of mux_next or mux_input */
    size_t len;
    enum mux_how how;     /* CLOSED; to be answered by mux_close, unless mux_finish has ended the channel */
    enum mux_state state; /* PONGED */
};

void mux_init(struct mux *m, bool opens);
void mux_free(struct mux *m);

/* The agent's end: a new channel; null if there are MUX_CHANNELS_MAX. */
struct mux_channel *mux_open(struct mux *m, const char *who, size_t len, void *user);
/* Bytes have come. */
void mux_input(struct mux *m, const uint8_t *bytes, size_t len);
/* Returns what the bytes say, one event after the other. MUX_NOTHING: there is no more. After MUX_WRONG, returns the same again. */
enum mux_type mux_next(struct mux *m, struct mux_event *event);
/* Puts as many of these bytes as may be sent into `out`, and returns how many. If these are not all, mux_ready will name the
 * channel. */
size_t mux_send(struct mux *m, struct mux_channel *c, const uint8_t *bytes, size_t len);
/* A channel that had bytes to send, and can send some now; or null. */
struct mux_channel *mux_ready(struct mux *m);
/* `len` bytes of the channel were passed on. */
void mux_took(struct mux *m, struct mux_channel *c, size_t len);
/* Ends the channel; `c` is not to be used any more. */
void mux_close(struct mux *m, struct mux_channel *c, enum mux_how how);
/* The same, but while `c->user` is not null, BYTES that still come are told, and then CLOSED. These bytes cannot be credited. After CLOSED,
 * `c` is not to be used any more. */
void mux_finish(struct mux *m, struct mux_channel *c, enum mux_how how);
/* The connection has ended, in whatever way: returns MUX_CLOSED for each channel, one after the other. The other side has said nothing about their
 * ends, so they are MUX_BROKEN. Returns false if there are no more. */
bool mux_lost(struct mux *m, struct mux_event *event);
void mux_ping(struct mux *m);
void mux_pong(struct mux *m, enum mux_state state);

#endif
