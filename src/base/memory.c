/* memory.c - see memory.h. */
#include "memory.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The reserve belongs to the process, as the allocator does. */
static struct {
    void *block; /* null: there is none, or it is in use */
    size_t size; /* 0: this process keeps no reserve */
    const char *last_words;
} reserve = {.last_words = "try fewer sites or requests"};

/* Begins to use the reserve. Returns false if there is none, or it is in use already. */
static bool mem_use_reserve(void)
{
    bool there = reserve.block;

    free(reserve.block);
    reserve.block = NULL;
    return there;
}

static void *mem_or_die(void *block, size_t size)
{
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};

    if (!block) {
        if (!reserve.size || poll(&log, 1, 0) == 1) /* a daemon must not wait for a reader of its log to end */
            fprintf(stderr, "dibs: out of memory (%zu bytes more were needed); %s\n", size, reserve.last_words);
        exit(2);
    }
    return block;
}

void *mem_try_new(size_t count, size_t size)
{
    void *block = calloc(count, size);

    return block || !mem_use_reserve() ? block : calloc(count, size);
}

void *mem_try_grow(void *block, size_t size)
{
    void *larger = realloc(block, size);

    return larger || !size || !mem_use_reserve() ? larger : realloc(block, size);
}

void *mem_try(size_t size)
{
    return mem_try_grow(NULL, size);
}

void *mem_get(void *(*get)(size_t size), size_t size)
{
    void *block = get(size);

    return mem_or_die(block || !mem_use_reserve() ? block : get(size), size);
}

void *mem_new(size_t size)
{
    return mem_or_die(mem_try_new(1, size ? size : 1), size);
}

void *mem_grow(void *block, size_t size)
{
    return mem_or_die(mem_try_grow(block, size ? size : 1), size);
}

void mem_keep_reserve(size_t size, const char *last_words)
{
    reserve.size = size;
    reserve.last_words = last_words;
    mem_look_again();
}

bool mem_is_short(void)
{
    return reserve.size && !reserve.block;
}

void mem_look_again(void)
{
    if (mem_is_short())
        reserve.block = malloc(reserve.size);
}
