/* famine.c - loaded before a program (LD_PRELOAD), makes some of its allocations fail, as if there were no memory. After
 * SIGUSR2 allocations are counted; those from the FAMINE_FROM-th on fail, FAMINE_COUNT of them. At exit the number that were
 * counted is written to the file FAMINE_TOLD. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static unsigned long famine_from, famine_count;
static atomic_ulong famine_made;
static atomic_bool famine_counts;

static bool famine_hits(void)
{
    unsigned long number;

    if (!famine_counts)
        return false;
    number = ++famine_made;
    if (!famine_from || number < famine_from || number - famine_from >= famine_count)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return famine_hits() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return famine_hits() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return famine_hits() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return famine_hits() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = famine_hits() ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

static void famine_begins(int signal_number)
{
    (void)signal_number;
    famine_counts = true;
}

static void __attribute__((constructor)) famine_start(void)
{
    const char *from = getenv("FAMINE_FROM"), *count = getenv("FAMINE_COUNT");

    famine_from = from ? strtoul(from, NULL, 10) : 0;
    famine_count = count ? strtoul(count, NULL, 10) : 0;
    signal(SIGUSR2, famine_begins);
}

static void __attribute__((destructor)) famine_end(void)
{
    const char *told = getenv("FAMINE_TOLD");
    FILE *to;

    famine_counts = false;
    if (told && (to = fopen(told, "w"))) {
        fprintf(to, "%lu\n", (unsigned long)famine_made);
        fclose(to);
    }
}
