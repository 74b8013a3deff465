/* memory.c - see memory.h. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *mem_or_die(void *block, size_t size)
{
    if (!block) {
        fprintf(stderr, "dibs: out of memory (%zu bytes more were needed); try fewer sites or requests\n", size);
        exit(2);
    }
    return block;
}

void *mem_new(size_t size)
{
    return mem_or_die(calloc(1, size ? size : 1), size);
}

void *mem_grow(void *block, size_t size)
{
    return mem_or_die(realloc(block, size ? size : 1), size);
}
