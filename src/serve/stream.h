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

struct stream {
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
    struct tls *tls; /* or null */
};

/* A stream is freed by itself once it is closed. tcp: else a Unix socket. */
struct stream *stream_new(uv_loop_t *loop, bool tcp);
void stream_close(struct stream *s);
/* From now on there is TLS, and it is the stream's. */
void stream_secure(struct stream *s, struct tls *tls);
/* Has the other side proved who it is? Without TLS nobody has to. */
bool stream_is_known(const struct stream *s);
/* Why it has ended, as far as TLS knows, in words that go on from "it"; or "". */
const char *stream_why(const struct stream *s);
/* Takes all of it, and sends what it can at once. Not while it is writing. */
void stream_write(struct stream *s, const uint8_t *bytes, size_t len);
/* Read, or let the other side feel that we do not. */
void stream_read(struct stream *s, bool read);

#endif
