/* bytes.c - see bytes.h. */
#include "bytes.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

void bytes_make_room(struct bytes *b, size_t len)
{
    if (b->start) {
        memmove(b->at, b->at + b->start, bytes_len(b));
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < len) {
        b->room = 2 * b->room > b->end + len ? 2 * b->room : b->end + len;
        b->at = mem_grow(b->at, b->room);
    }
}

void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}
