/* buffers.h - the bytes between OpenSSL and the network, in two buffers: `in` has what has arrived and OpenSSL has not read
 * yet, `out` has what OpenSSL has written and is to be sent. OpenSSL's own memory BIOs do the same, but cost several calls
 * for each record; here the length of a buffer is known without a call. Only tls.c includes this file. */
#ifndef DIBS_TLS_BUFFERS_H
#define DIBS_TLS_BUFFERS_H

#include "openssl.h"
#include <stddef.h>
#include <stdint.h>

struct tls_buffer {
    uint8_t *at;             /* memory of `room` bytes, or null; the buffer owns it */
    size_t start, end, room; /* the content is the bytes from at + start to before at + end */
};

struct tls_buffers {
    struct tls_buffer in, out;
};

static inline size_t buffer_len(const struct tls_buffer *b)
{
    return b->end - b->start;
}

/* Appends a copy of the bytes. Returns false, and appends nothing, if there is no memory. */
bool buffer_add(struct tls_buffer *b, const uint8_t *bytes, size_t len);
/* Moves bytes from the beginning of the buffer to `bytes`, at most `room`. Returns their number. */
size_t buffer_take(struct tls_buffer *b, uint8_t *bytes, size_t room);

/* Makes a BIO by which OpenSSL reads from `in` and writes to `out`. OpenSSL frees it with the connection; `b` must exist until then.
 * Returns null if there is no memory. */
BIO *buffers_bio(struct tls_buffers *b);
void buffers_free(struct tls_buffers *b);

#endif
