/* slab.h - memory for small things of which there may be very many, and which come and go: locks, claims, sessions. Free memory goes back
 * to the system a slab at a time, with the last block of each. (The C library keeps freed blocks between others. Told to give
 * them back, it visits all of them at once: a turn of the daemon that is not bounded, I31.)
 *
 * A slab has blocks of one size. It is used by one thread. With AddressSanitizer, which is to see every block, this is the C library's memory. */
#ifndef DIBS_BASE_SLAB_H
#define DIBS_BASE_SLAB_H

#include <stddef.h>

/* Zeroed, and never null (memory.h). */
void *slab_new(size_t size);
/* Frees what slab_new returned; null is nothing. */
void slab_free(void *block);
/* The number of slabs there are. */
size_t slab_count(void);

#endif
