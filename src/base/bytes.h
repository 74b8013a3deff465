/* bytes.h - a buffer that grows at its end and is consumed from its start. */
#ifndef DIBS_BASE_BYTES_H
#define DIBS_BASE_BYTES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *at;
    size_t start, end, room; /* the content is at[start .. end) */
};

static inline size_t bytes_len(const struct bytes *b)
{
    return b->end - b->start;
}

/* Frees the memory. The buffer is empty then, and can be used again. */
void bytes_free(struct bytes *b);
/* Makes room for `len` bytes after the end. The content may move; then its start is 0. */
void bytes_make_room(struct bytes *b, size_t len);

enum { BYTES_KEPT_MAX = 1 << 16 }; /* an empty buffer with more room than this is freed */

/* Adds `len` bytes at the end, and returns where the caller must write them. The content may move; then its start is 0. */
static inline uint8_t *bytes_add(struct bytes *b, size_t len)
{
    if (b->room - b->end < len)
        bytes_make_room(b, len);
    b->end += len;
    return b->at + b->end - len;
}

/* Removes `len` bytes from the start. Of a buffer that is not freed (BYTES_KEPT_MAX), they stay readable until something is added. */
static inline void bytes_consume(struct bytes *b, size_t len)
{
    assert(len <= bytes_len(b));
    b->start += len;
    if (b->start == b->end && b->room > BYTES_KEPT_MAX)
        bytes_free(b);
    else if (b->start == b->end)
        b->start = b->end = 0;
}

#endif
