/* prints.h - a set of 128-bit fingerprints, in little more memory than they have themselves.
 *
 * The set is cut into segments by the first byte. In a segment the fingerprints stand in ascending order, each at its
 * home, which is the place proportional to its value, or as little behind it as those before it allow. So a look-up
 * begins at home and ends at the first that is not smaller, some places on, though 31 places of 32 may be taken. A
 * crowded segment grows by a 32nd, in place: nothing ever doubles, and among many a fingerprint costs about 17 bytes. */
#ifndef DIBS_CHECK_PRINTS_H
#define DIBS_CHECK_PRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTS_SEGMENTS = 256 };

struct print {
    uint64_t high, low; /* both 0: a free place */
};

struct prints_segment {
    struct print *at;
    size_t count, room;
};

struct prints {
    struct prints_segment segment[PRINTS_SEGMENTS];
    size_t count;
};

void prints_init(struct prints *p);
void prints_free(struct prints *p);
/* False if it was there already. */
bool prints_add(struct prints *p, struct print print);
/* Soon it will be added. */
void prints_prefetch(const struct prints *p, struct print print);
size_t prints_memory(const struct prints *p);
/* What it will take when every segment has grown once more. */
size_t prints_memory_ahead(const struct prints *p);

#endif
