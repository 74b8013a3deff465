/* slab.c - see slab.h.
 *
 * A slab begins at a multiple of SLAB_SIZE, so the slab of a block is found from the block's address. Slabs that have room are in the
 * ring of their class. A slab whose last block is freed is given back, unless no other slab of its class has room: otherwise a
 * single block that comes and goes would map and unmap a slab each time. A block that is too large for a class has a slab of its own. */
#include "slab.h"

#include "memory.h"
#include "ring.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The sanitizer knows the blocks of malloc only. Clang has another word for it than GCC. */
#ifdef __SANITIZE_ADDRESS__
#define SLAB_PLAIN 1
#elif defined(__has_feature)
#define SLAB_PLAIN __has_feature(address_sanitizer)
#else
#define SLAB_PLAIN 0
#endif

#if SLAB_PLAIN

void *slab_new(size_t size)
{
    return mem_new(size);
}

void slab_free(void *block)
{
    free(block);
}

size_t slab_count(void)
{
    return 0;
}

#else

enum {
    SLAB_SIZE = 1 << 16,
    SLAB_FINE =
        512, /* up to this size there is a class for each multiple of SLAB_STEP, above it for each of SLAB_LEAP */
    SLAB_STEP = 16,
    SLAB_LEAP = 256,
    SLAB_MOST = 4352, /* a page, and a head before it */
    SLAB_CLASSES = SLAB_FINE / SLAB_STEP + (SLAB_MOST - SLAB_FINE) / SLAB_LEAP,
    SLAB_ALONE = SLAB_CLASSES /* the class of a slab with one large block */
};

struct slab {
    struct ring in_class;
    void *free;          /* blocks that were freed: each has the address of the next */
    size_t size;         /* of the slab */
    uint32_t block;      /* the size of a block */
    uint32_t used, made; /* blocks in use; blocks that have been in use */
    uint32_t class_;
};
_Static_assert(sizeof(struct slab) % SLAB_STEP == 0, "blocks are aligned as malloc aligns them");

static struct {
    struct ring room; /* next is null: not used yet */
} slab_class[SLAB_CLASSES];
static size_t slabs;

static uint32_t slab_class_of(size_t size)
{
    if (size <= SLAB_FINE)
        return size ? (uint32_t)((size - 1) / SLAB_STEP) : 0;
    return size > SLAB_MOST ? SLAB_ALONE : (uint32_t)(SLAB_FINE / SLAB_STEP + (size - SLAB_FINE - 1) / SLAB_LEAP);
}

static uint32_t slab_block_of(uint32_t class_)
{
    uint32_t fine = SLAB_FINE / SLAB_STEP;

    return class_ < fine ? (class_ + 1) * SLAB_STEP : SLAB_FINE + (class_ - fine + 1) * SLAB_LEAP;
}

static void *slab_try_map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* Returns pages that begin at a multiple of SLAB_SIZE, or null. The system places mappings side by side, so the first try usually succeeds. */
static void *slab_try_pages(size_t size)
{
    uint8_t *at = slab_try_map(size), *from;

    if (!at || (uintptr_t)at % SLAB_SIZE == 0)
        return at;
    munmap(at, size);
    at = slab_try_map(size + SLAB_SIZE);
    if (!at)
        return NULL;
    from = at + (SLAB_SIZE - (uintptr_t)at % SLAB_SIZE) % SLAB_SIZE;
    if (from > at)
        munmap(at, (size_t)(from - at));
    if (from < at + SLAB_SIZE)
        munmap(from + size, (size_t)(at + SLAB_SIZE - from));
    return from;
}

static struct slab *slab_add(uint32_t class_, size_t block)
{
    size_t page = 4096,
           size = class_ == SLAB_ALONE ? (sizeof(struct slab) + block + page - 1) / page * page : SLAB_SIZE;
    struct slab *s = mem_get(slab_try_pages, size);

    *s = (struct slab){.size = size, .class_ = class_};
    s->block = class_ == SLAB_ALONE ? 0 : slab_block_of(class_);
    ring_init(&s->in_class);
    slabs++;
    return s;
}

static void slab_give_back(struct slab *s)
{
    ring_cut(&s->in_class);
    munmap(s, s->size);
    slabs--;
}

/* Takes a block from the slab, which has room. */
static void *slab_take(struct slab *s)
{
    void *block = s->free;

    if (block)
        s->free = *(void **)block;
    else
        block = (uint8_t *)(s + 1) + (size_t)s->made++ * s->block;
    s->used++;
    if (!s->free && sizeof *s + (s->made + 1) * (size_t)s->block > s->size)
        ring_cut(&s->in_class);
    return block;
}

static struct slab *slab_with_room(uint32_t class_)
{
    struct ring *room = &slab_class[class_].room;

    if (!room->next)
        ring_init(room);
    if (ring_empty(room))
        ring_push(room, &slab_add(class_, 0)->in_class);
    return RING_OF(room->next, struct slab, in_class);
}

void *slab_new(size_t size)
{
    uint32_t class_ = slab_class_of(size);

    if (class_ == SLAB_ALONE)
        return slab_add(class_, size) + 1; /* the system has zeroed it */
    return memset(slab_take(slab_with_room(class_)), 0, size);
}

void slab_free(void *block)
{
    struct slab *s = (struct slab *)((uintptr_t)block & ~(uintptr_t)(SLAB_SIZE - 1));
    struct ring *room;

    if (!block)
        return;
    if (s->class_ == SLAB_ALONE) {
        slab_give_back(s);
        return;
    }
    assert(s->used && s->used <= s->made && s->class_ < SLAB_CLASSES);
    room = &slab_class[s->class_].room;
    *(void **)block = s->free;
    s->free = block;
    if (ring_empty(&s->in_class))
        ring_push(room, &s->in_class);
    if (--s->used == 0 && room->next->next != room)
        slab_give_back(s);
}

size_t slab_count(void)
{
    return slabs;
}

#endif
