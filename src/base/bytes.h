/* bytes.h - a buffer that grows at its end and is consumed from its start. */
#ifndef DIBS_BASE_BYTES_H
#define DIBS_BASE_BYTES_H

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

/* So many more bytes at the end, to be filled in. The content may move; then its start is 0. */
uint8_t *bytes_add(struct bytes *b, size_t len);
/* So many bytes fewer at the start. They stay readable until something is added. */
void bytes_consume(struct bytes *b, size_t len);
void bytes_free(struct bytes *b); /* and is empty */

#endif
