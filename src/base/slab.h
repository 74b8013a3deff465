/* slab.h - memory for small blocks of which there may be very many, and which come and go: locks, claims, sessions. When the last block of a
 * slab is freed, the slab goes back to the system. (The C library keeps freed blocks between others. If it is told to give them back, it visits
 * all of them at once: a turn of the daemon that is not bounded, I31.)
 *
 * A slab has blocks of one size. Slabs are used by one thread. In a build with AddressSanitizer, which checks only blocks of malloc, each block is one of malloc. */
#ifndef DIBS_BASE_SLAB_H
#define DIBS_BASE_SLAB_H

#include <stddef.h>

/* Returns a block of zeros, never null (memory.h). */
void *slab_new(size_t size);
/* Frees a block of slab_new; null is allowed. */
void slab_free(void *block);
/* The number of slabs that are in use now. */
size_t slab_count(void);

#endif
