/* stream.h - a connection of libuv, as the daemon needs it: bytes in, bytes out, and it is gone. With TLS in between, if
 * it is asked for: what is read and written here is then what the other side means, and until it has proved who it is
 * there is nothing to read, and nothing may be written. */
#ifndef DIBS_SERVE_STREAM_H
#define DIBS_SERVE_STREAM_H

#include "tls/tls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* A turn of the loop, in which many streams may have something to read. All that is read from clients and strangers in
 * it, and what follows from that, shall not take longer than TURN_NS; and each of them is read from once, a piece. The others
 * follow in the next turns: a round is over when all have been read from that had something to say. Strangers that have not
 * proved who they are get half of that time: TLS costs a daemon more than a caller, and there may always be a new one. */
enum { TURN_NS = 5000000, TURN_PIECE = 1 << 14, TURN_CALLERS = 32 /* who are let in */ };
struct turn {
    uint64_t began_ns; /* 0: nothing has happened yet */
    uint64_t began_cpu_ns;
    uint64_t number, round;
    bool missed;             /* somebody has to wait for the next turn */
    bool contended;          /* in this round */
    unsigned reads, callers; /* in this turn */
};
/* Something happens in this turn. How long it has been going on. */
uint64_t turn_touch(struct turn *t);
uint64_t turn_cpu_ns(void); /* of this thread */
/* All that could be read has been. */
void turn_end(struct turn *t);

struct stream {
    struct turn *turn;
    bool comes_first;                 /* it does not wait for others; but a piece is all that it gets in a turn, too */
    uint64_t turn_number, turn_round; /* in which it was last read from */
    union {
        uv_stream_t any;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } uv;
    void *owner;
    void (*on_read)(struct stream *s, const uint8_t *bytes, size_t len);
    void (*on_end)(struct stream *s);  /* the other side has closed, or it broke (`goodbye` tells); close it */
    void (*on_room)(struct stream *s); /* what was written has gone out; or the other side is known now */
    bool writing;                      /* something is on its way, or the other side is not known yet: write later */
    bool reading, closing;
    bool heard;      /* something has come */
    bool goodbye;    /* the other side has ended it, for sure: neither the network nor a stranger on the way has */
    bool sending;    /* libuv has bytes to send */
    size_t backlog;  /* how many */
    struct tls *tls; /* or null */
};

/* A stream is freed by itself once it is closed. tcp: else a Unix socket. */
struct stream *stream_new(uv_loop_t *loop, struct turn *turn, bool tcp);
void stream_close(struct stream *s);
/* From now on there is TLS, and it is the stream's. */
void stream_secure(struct stream *s, struct tls *tls);
/* Has the other side proved who it is? Without TLS nobody has to. */
bool stream_is_known(const struct stream *s);
/* Why it has ended, as far as TLS knows, in words that go on from "it"; or "". */
const char *stream_why(const struct stream *s);
/* Takes all of it, and sends what it can at once. Not while it is writing. */
void stream_write(struct stream *s, const uint8_t *bytes, size_t len);
/* Bytes that were written and have not gone out. */
size_t stream_backlog(const struct stream *s);
/* Read, or let the other side feel that we do not. */
void stream_read(struct stream *s, bool read);

#endif
