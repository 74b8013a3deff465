/* glob.h - patterns of names, as in a shell: * stands for any bytes, ? for one byte, [a-z] and [!a-z] for one byte of a
 * set; a backslash makes the next byte stand for itself. Names are bytes with a length.
 *
 * Any client may send a pattern, so the cost of a match is bounded (I31). When a match fails, only the last * before that place
 * is tried again with one byte more; earlier ones need not be. Bytes that stand for themselves and have a star, or the
 * end of the pattern, behind them are searched for at once: a pattern of stars and such bytes takes time that is linear
 * in its length and the name's. The part between two stars that has a ? or a set takes at most as many steps as the
 * product of its length and the name's. (fnmatch of the C library tries all stars again, and takes exponentially many.)
 * The steps are counted, so that a caller can limit them. */
#ifndef DIBS_BASE_GLOB_H
#define DIBS_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds the number of steps to `*cost`. */
bool glob_matches(const char *pattern, size_t pattern_len, const char *name, size_t name_len, uint64_t *cost);
/* Returns how many bytes at the beginning of the pattern stand for themselves: every name that matches begins with them. */
size_t glob_prefix(const char *pattern, size_t len);

#endif
