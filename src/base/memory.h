/* memory.h - allocation that does not fail: without memory there is nothing sensible to do but to say so.
 *
 * The laboratory ends at once. The daemon keeps a *reserve*, which is given back to the allocator when there is nothing left
 * otherwise: with that it goes on for a while, and refuses what clients want it to keep (mem_is_short) until there is
 * enough memory for a reserve again. Only when the reserve is used up as well does it end. */
#ifndef DIBS_BASE_MEMORY_H
#define DIBS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *mem_new(size_t size);               /* zeroed */
void *mem_grow(void *block, size_t size); /* as realloc */
/* The same, but null if there is no memory: for what can be done without, and for libraries that expect that. */
void *mem_try_new(size_t count, size_t size); /* as calloc */
void *mem_try_grow(void *block, size_t size);
void *mem_try(size_t size); /* as malloc */
/* What `get` returns for this size, which is not null: it is called again when the reserve has been given back. */
void *mem_get(void *(*get)(size_t size), size_t size);

/* From now on this many bytes are kept in reserve; and what is said, behind "out of memory", when they are used up. */
void mem_keep_reserve(size_t size, const char *last_words);
/* The reserve has been used, and there is no memory for another one. */
bool mem_is_short(void);
/* If it is short: perhaps there is enough again. */
void mem_look_again(void);

#endif
