/* dormant.h - the state of a site that rests, in a few bytes: how it differs from what it was at first.
 *
 * Most of an idle site is as it was: lists are empty, and few of the other sites have been heard of. So what is kept is a
 * sequence of runs: how many bytes are as at first, how many are not, and these. It ends where the site ends. Used by
 * instance.c alone. */
#ifndef DIBS_LOCK_DORMANT_H
#define DIBS_LOCK_DORMANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No more bytes than this for a site of so many, which are some: at worst, every second one differs, and takes three. */
static inline size_t rest_room(size_t size)
{
    return 2 * size;
}

/* How many bytes from here on, at most 255, are all the same in both, or all not. */
static inline uint8_t rest_run(const uint8_t *a, const uint8_t *b, size_t size, bool same)
{
    uint8_t len = 0;

    while (len < size && len < UINT8_MAX && (a[len] == b[len]) == same)
        len++;
    return len;
}

/* Returns the end of what it has written. */
static inline uint8_t *rest_pack(uint8_t *at, const void *node, const void *fresh, size_t size)
{
    const uint8_t *a = node, *b = fresh;

    for (size_t done = 0; done < size;) {
        uint8_t same = rest_run(a + done, b + done, size - done, true), other;

        done += same;
        other = rest_run(a + done, b + done, size - done, false);
        *at++ = same;
        *at++ = other;
        for (uint8_t k = 0; k < other; k++)
            *at++ = a[done++];
    }
    return at;
}

/* The node is as at first. Returns the end of what it has read. */
static inline const uint8_t *rest_unpack(const uint8_t *at, void *node, size_t size)
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
