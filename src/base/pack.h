/* pack.h - numbers of fixed length as bytes, the lowest byte first, and reading that cannot run off the end. */
#ifndef DIBS_BASE_PACK_H
#define DIBS_BASE_PACK_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t *pack_number(uint8_t *to, uint64_t x, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        *to++ = (uint8_t)(x >> 8 * k);
    return to;
}

/* A text of at most 255 bytes, after its length in one byte. */
static inline uint8_t *pack_text(uint8_t *to, const char *text, size_t len)
{
    *to++ = (uint8_t)len;
    memcpy(to, text, len);
    return to + len;
}

/* A text of at most 65,535 bytes, after its length in two bytes. */
static inline uint8_t *pack_long(uint8_t *to, const char *text, size_t len)
{
    to = pack_number(to, len, 2);
    memcpy(to, text, len);
    return to + len;
}

struct unpack {
    const uint8_t *at, *end;
    bool wrong; /* the caller has tried to read beyond the end */
};

/* Reads the content of a buffer, which may be empty. */
static inline struct unpack unpack_bytes(const struct bytes *b)
{
    return (struct unpack){.at = b->at ? b->at + b->start : NULL, .end = b->at ? b->at + b->end : NULL};
}

static inline uint64_t unpack_number(struct unpack *u, unsigned bytes)
{
    uint64_t x = 0;

    if ((size_t)(u->end - u->at) < bytes) {
        u->wrong = true;
        return 0;
    }
    for (unsigned k = 0; k < bytes; k++)
        x |= (uint64_t)*u->at++ << 8 * k;
    return x;
}

/* Reads a text that follows its length; the length is a number of this many bytes. */
static inline const char *unpack_behind(struct unpack *u, unsigned bytes, size_t *len)
{
    const char *text;

    *len = unpack_number(u, bytes);
    if ((size_t)(u->end - u->at) < *len) {
        u->wrong = true;
        *len = 0;
    }
    text = (const char *)u->at;
    u->at += *len;
    return text;
}

static inline const char *unpack_text(struct unpack *u, size_t *len)
{
    return unpack_behind(u, 1, len);
}

static inline const char *unpack_long(struct unpack *u, size_t *len)
{
    return unpack_behind(u, 2, len);
}

#endif
