/* memory.h - allocation that does not fail: a process that gets no memory says so and ends.
 *
 * The laboratory ends at once. The daemon keeps a *reserve*. When an allocation fails, the reserve is given back to the
 * allocator, and the daemon goes on. From then on it refuses what clients want it to keep (mem_is_short), until there
 * is enough memory for a reserve again. It ends only when the reserve is used up as well. */
#ifndef DIBS_BASE_MEMORY_H
#define DIBS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *mem_new(size_t size);               /* zeroed */
void *mem_grow(void *block, size_t size); /* as realloc */
/* The next three return null if there is no memory: for callers that can do without it, and for libraries that expect that. */
void *mem_try_new(size_t count, size_t size); /* as calloc */
void *mem_try_grow(void *block, size_t size);
void *mem_try(size_t size); /* as malloc */
/* Returns get(size). If that is null, gives the reserve back and calls `get` again; ends the process if it is null again. */
void *mem_get(void *(*get)(size_t size), size_t size);

/* From now on keeps `size` bytes in reserve. If they are used up, the process ends with "out of memory" and `last_words`. */
void mem_keep_reserve(size_t size, const char *last_words);
/* Is the reserve in use? */
bool mem_is_short(void);
/* Tries to allocate the reserve again if it is in use. */
void mem_look_again(void);

#endif
