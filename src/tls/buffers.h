/* buffers.h - the bytes between OpenSSL and the network: those that have come and OpenSSL has not read, and those that
 * it wants to send. OpenSSL's own memory BIOs do the same, and cost several calls for each record; here the caller sees
 * without a call whether there is anything. Used by tls.c alone. */
#ifndef DIBS_TLS_BUFFERS_H
#define DIBS_TLS_BUFFERS_H

#include "openssl.h"
#include <stddef.h>
#include <stdint.h>

struct tls_buffer {
    uint8_t *at;
    size_t start, end, room; /* what is in it begins at start and ends at end */
};

struct tls_buffers {
    struct tls_buffer in, out;
};

static inline size_t buffer_len(const struct tls_buffer *b)
{
    return b->end - b->start;
}

/* Adds bytes. Returns false if there is no memory. */
bool buffer_add(struct tls_buffer *b, const uint8_t *bytes, size_t len);
/* Takes as many bytes as there are and as there is room for. Returns their number. */
size_t buffer_take(struct tls_buffer *b, uint8_t *bytes, size_t room);

/* What OpenSSL reads from and writes to; null: there is no memory. The buffers outlive it. */
BIO *buffers_bio(struct tls_buffers *b);
void buffers_free(struct tls_buffers *b);

#endif
