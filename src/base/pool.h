/* pool.h - many independent jobs on all cores. */
#ifndef DIBS_BASE_POOL_H
#define DIBS_BASE_POOL_H

#include <stddef.h>

/* The default number of threads: one for each core. */
unsigned pool_cores(void);
/* Calls job(context, k) for k = 0 .. count-1, each once, in `threads` threads; returns when all are done.
 * Which thread runs a job, and when, is left to chance: a job must depend on nothing but its number. */
void pool_run(unsigned threads, size_t count, void (*job)(void *context, size_t k), void *context);

#endif
