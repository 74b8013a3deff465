/* bytes.c - see bytes.h. */
#include "bytes.h"

#include "memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 1 << 16 }; /* of a buffer that is empty */

uint8_t *bytes_add(struct bytes *b, size_t len)
{
    if (b->room - b->end < len && b->start) {
        memmove(b->at, b->at + b->start, bytes_len(b));
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < len) {
        b->room = 2 * b->room > b->end + len ? 2 * b->room : b->end + len;
        b->at = mem_grow(b->at, b->room);
    }
    b->end += len;
    return b->at + b->end - len;
}

void bytes_consume(struct bytes *b, size_t len)
{
    assert(len <= bytes_len(b));
    b->start += len;
    if (b->start == b->end && b->room > KEPT_MAX)
        bytes_free(b);
    else if (b->start == b->end)
        b->start = b->end = 0;
}

void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}
