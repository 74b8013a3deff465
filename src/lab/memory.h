/* memory.h - allocation that does not fail: the laboratory has nothing sensible to do without memory but to say so. */
#ifndef DIBS_LAB_MEMORY_H
#define DIBS_LAB_MEMORY_H

#include <stddef.h>

void *mem_new(size_t size);               /* zeroed */
void *mem_grow(void *block, size_t size); /* as realloc */

#endif
