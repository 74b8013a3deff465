/* stream.h - a connection of libuv, as the daemon needs it: bytes in, bytes out, and its end. With TLS, the bytes that
 * are read and written here are the plaintext. Until the other side has authenticated, there is nothing to read, and
 * nothing may be written. */
#ifndef DIBS_SERVE_STREAM_H
#define DIBS_SERVE_STREAM_H

#include "base/ring.h"
#include "tls/tls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* A turn of the loop, in which many streams may have bytes to read (I31). Reading from clients and unauthenticated
 * callers, with all that follows from it, takes about TURN_NS in a turn. Each stream is read at most once in a turn, at most
 * TURN_PIECE bytes; streams for which there is no time follow in the next turns. A round is over when all streams that had bytes to read have
 * been read. Unauthenticated callers get half of that time: a TLS handshake costs the daemon more than the caller, and
 * there may always be a new caller.
 *
 * A stream is *greedy* if its last bytes filled a piece, or their commands used much of the client's credit. A stream that is not greedy
 * belongs to a client that asks for little at a time and awaits the answer. It need not wait for a round of the greedy ones, however many
 * they are: it may be read in every turn, and there is time for such streams in each.
 *
 * A stream that has to wait is *parked*: the system is no longer asked about it, since it would report in every turn that there are
 * bytes, and thousands of streams may wait. Streams that were parked first are read first. */
enum {
    TURN_NS = 5000000,
    TURN_GREEDY_NS = TURN_NS * 3 / 4, /* the part of TURN_NS for streams that are greedy */
    TURN_PIECE = 1 << 14,
    TURN_CALLERS = 32,     /* callers that are accepted in one turn */
    TURN_CALLERS_BUSY = 2, /* .. while streams have to wait: callers shall not come faster than they are served */
    TURN_WAKES = 128       /* parked streams that may be read in the next turn */
};
struct turn {
    uint64_t began_ns;   /* 0: no event yet */
    uint64_t cpu_ns;     /* the processor time of this thread when it was last asked for */
    uint64_t unasked_ns; /* how long the turns since then took */
    uint64_t number, round;
    bool missed;             /* a stream has to wait for the next turn */
    bool contended;          /* a stream had to wait in this round */
    unsigned reads, callers; /* in this turn */
    struct ring parked;      /* streams that have to wait for one of the next turns */
    struct ring modest;      /* the same, for streams that are not greedy */
    struct ring later;       /* streams that were read in this round, and wait for the next one */
};
void turn_init(struct turn *t);
/* To be called at every event of the turn. Returns for how many nanoseconds the turn has been going on. */
uint64_t turn_touch(struct turn *t);
/* Ends the turn, if one is going on. Returns false if none is. Otherwise tells how long it took, and how much of that
 * this thread was on the processor. The system is asked for that once in a millisecond of turns, since that takes a
 * system call: the answer may include a millisecond of the turns before. */
bool turn_end(struct turn *t, uint64_t *took_ms, uint64_t *cpu_ms);
/* Ends a turn of the loop, in which streams were read. Some of those that are parked can be read in the next one. */
void turn_next(struct turn *t);

struct stream {
    struct turn *turn;
    bool comes_first;                 /* it does not wait for other streams; it is also read once in a turn */
    bool greedy;                      /* see above; true until it has been read; its owner may set it after a read */
    uint64_t turn_number, turn_round; /* when it was read last */
    uint64_t woken;                   /* the turn in which it stopped being parked */
    struct ring in_parked;            /* in turn.parked, turn.modest or turn.later */
    struct ring *waits_in;            /* where it is to be parked; or null */
    union {
        uv_stream_t any;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } uv;
    void *owner;
    void (*on_read)(struct stream *s, const uint8_t *bytes, size_t len);
    void (*on_end)(struct stream *s);  /* the other side has closed it, or it broke (`goodbye`); close it */
    void (*on_room)(struct stream *s); /* all bytes have been sent, or the other side has just authenticated */
    bool writing;                      /* bytes are being sent, or the other side has not authenticated: write later */
    bool reading, closing;
    bool heard;      /* bytes have arrived */
    bool goodbye;    /* the other side itself has ended the connection, not the network or an attacker in between */
    bool sending;    /* libuv has bytes to send */
    size_t backlog;  /* the number of bytes that libuv has to send */
    struct tls *tls; /* or null */
};

/* Makes a stream for a TCP socket (`tcp`) or a Unix socket. It is freed when it has been closed. */
struct stream *stream_new(uv_loop_t *loop, struct turn *turn, bool tcp);
void stream_close(struct stream *s);
/* From now on the stream uses `tls`, and owns it. */
void stream_secure(struct stream *s, struct tls *tls);
/* Has the other side authenticated? Always true without TLS. */
bool stream_is_known(const struct stream *s);
/* Why the stream has ended, as far as TLS knows, as a phrase that continues "it"; or "". */
const char *stream_why(const struct stream *s);
/* Takes all bytes, and sends as many as it can at once. Not to be called while s->writing. */
void stream_write(struct stream *s, const uint8_t *bytes, size_t len);
/* The number of bytes that were written and not sent yet. */
size_t stream_backlog(const struct stream *s);
/* Reads from now on; or stops reading, so that TCP slows the other side down. */
void stream_read(struct stream *s, bool read);

#endif
