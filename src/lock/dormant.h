/* dormant.h - the state of an idle site in a few bytes: how it differs from the site's initial state. Used by
 * instance.c alone.
 *
 * Most of an idle site equals its initial state: lists are empty, and few other sites have sent messages. A dormant
 * site is a sequence of runs. A run is the number of bytes that equal the initial state, the number of bytes that
 * differ, and the bytes that differ. The sequence ends where the site ends. */
#ifndef DIBS_LOCK_DORMANT_H
#define DIBS_LOCK_DORMANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The largest size of a packed site of `size` bytes, size > 0. In the worst case every second byte differs and takes
 * three. */
static inline size_t dormant_room(size_t size)
{
    return 2 * size;
}

/* The length of the run at the beginning of `a` and `b`, at most 255, in which all bytes are equal (`same`) or all
 * differ. */
static inline uint8_t dormant_run(const uint8_t *a, const uint8_t *b, size_t size, bool same)
{
    size_t most = size < UINT8_MAX ? size : UINT8_MAX, len = 0;

    while (same && len + sizeof(uint64_t) <= most && memcmp(a + len, b + len, sizeof(uint64_t)) == 0)
        len += sizeof(uint64_t);
    while (len < most && (a[len] == b[len]) == same)
        len++;
    return (uint8_t)len;
}

/* Writes how `node` differs from `fresh`, its initial state. Returns the end of what it has written. */
static inline uint8_t *dormant_pack(uint8_t *at, const void *node, const void *fresh, size_t size)
{
    const uint8_t *a = node, *b = fresh;

    for (size_t done = 0; done < size;) {
        uint8_t same = dormant_run(a + done, b + done, size - done, true), other;

        done += same;
        other = dormant_run(a + done, b + done, size - done, false);
        *at++ = same;
        *at++ = other;
        for (uint8_t k = 0; k < other; k++)
            *at++ = a[done++];
    }
    return at;
}

/* Makes `node`, which is in its initial state, what it was when it was packed. Returns the end of what it has read. */
static inline const uint8_t *dormant_unpack(const uint8_t *at, void *node, size_t size)
{
    uint8_t *a = node;

    for (size_t done = 0; done < size;) {
        uint8_t other;

        done += *at++;
        other = *at++;
        for (uint8_t k = 0; k < other; k++)
            a[done++] = *at++;
    }
    return at;
}

#endif
