/* glob.h - patterns of names, as a shell has them: * for any bytes, ? for one, [a-z] and [!a-z] for one of a set, a
 * backslash before a byte that means itself. Names are bytes with a length.
 *
 * Any client may send a pattern, so its cost is bounded: only the last * that was met is tried again with more bytes,
 * which is enough. Bytes between stars that mean themselves are looked for at once: a pattern of stars and such bytes
 * takes time that is linear in its length and the name's. What lies between two stars and has a ? or a set takes at
 * most as many steps as the product of its length and the name's. (fnmatch of the C library tries all stars again, and
 * takes exponentially many.) The steps are counted, so that a caller can stop after some. */
#ifndef DIBS_BASE_GLOB_H
#define DIBS_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps are added to the number at cost. */
bool glob_matches(const char *pattern, size_t pattern_len, const char *name, size_t name_len, uint64_t *cost);
/* The number of bytes at its beginning that every name begins with that matches. */
size_t glob_prefix(const char *pattern, size_t len);

#endif
