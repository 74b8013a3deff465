/* intern.c - see intern.h. */
#include "intern.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void intern_init(struct intern *in)
{
    memset(in, 0, sizeof *in);
    in->mask = 1023;
    in->slot = mem_new((in->mask + 1) * sizeof *in->slot);
}

void intern_free(struct intern *in)
{
    free(in->bytes);
    free(in->start);
    free(in->length);
    free(in->slot);
}

static uint32_t intern_home(const struct intern *in, const void *bytes, size_t len)
{
    return (uint32_t)XXH3_64bits(bytes, len) & in->mask;
}

static void intern_rehash(struct intern *in)
{
    free(in->slot);
    in->mask = 2 * in->mask + 1;
    in->slot = mem_new(((size_t)in->mask + 1) * sizeof *in->slot);
    for (uint32_t id = 0; id < in->count; id++) {
        uint32_t at = intern_home(in, intern_get(in, id), in->length[id]);

        while (in->slot[at])
            at = (at + 1) & in->mask;
        in->slot[at] = id + 1;
    }
}

static uint32_t intern_add(struct intern *in, const void *bytes, size_t len)
{
    size_t padded = (len + 7) / 8 * 8;

    if (in->used + padded >= in->room) { /* not null, even if all that is kept is empty */
        in->room = 2 * in->room + padded + 4096;
        in->bytes = mem_grow(in->bytes, in->room);
    }
    if (in->count == in->ids_room) {
        in->ids_room = in->ids_room ? 2 * in->ids_room : 256;
        in->start = mem_grow(in->start, in->ids_room * sizeof *in->start);
        in->length = mem_grow(in->length, in->ids_room * sizeof *in->length);
    }
    if (len)
        memcpy(in->bytes + in->used, bytes, len);
    in->start[in->count] = in->used;
    in->length[in->count] = (uint32_t)len;
    in->used += padded;
    return in->count++;
}

uint32_t intern_put(struct intern *in, const void *bytes, size_t len)
{
    uint32_t at = intern_home(in, bytes, len), id;

    for (; in->slot[at]; at = (at + 1) & in->mask) {
        id = in->slot[at] - 1;
        if (in->length[id] == len && memcmp(intern_get(in, id), bytes, len) == 0)
            return id;
    }
    id = intern_add(in, bytes, len);
    in->slot[at] = id + 1;
    if (in->count > in->mask / 2)
        intern_rehash(in);
    return id;
}

size_t intern_memory(const struct intern *in)
{
    return in->room + in->ids_room * (sizeof *in->start + sizeof *in->length) +
           ((size_t)in->mask + 1) * sizeof *in->slot;
}

/* ------------------------------------------------------------------------------------------------------------- memo */

static uint64_t memo_pair(uint32_t a, uint32_t b)
{
    return ((uint64_t)a + 1) << 32 | b;
}

static uint32_t memo_home(const struct memo *m, uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & m->mask;
}

static void memo_make(struct memo *m, uint32_t mask)
{
    m->mask = mask;
    m->key = mem_new(((size_t)mask + 1) * sizeof *m->key);
    m->value = mem_new(((size_t)mask + 1) * sizeof *m->value);
}

void memo_init(struct memo *m)
{
    m->count = 0;
    memo_make(m, 1023);
}

void memo_free(struct memo *m)
{
    free(m->key);
    free(m->value);
}

uint32_t memo_get(const struct memo *m, uint32_t a, uint32_t b)
{
    uint64_t key = memo_pair(a, b);

    for (uint32_t at = memo_home(m, key); m->key[at]; at = (at + 1) & m->mask)
        if (m->key[at] == key)
            return m->value[at];
    return MEMO_MISSING;
}

static void memo_store(struct memo *m, uint64_t key, uint32_t value)
{
    uint32_t at = memo_home(m, key);

    while (m->key[at])
        at = (at + 1) & m->mask;
    m->key[at] = key;
    m->value[at] = value;
}

void memo_put(struct memo *m, uint32_t a, uint32_t b, uint32_t value)
{
    struct memo old = *m;

    memo_store(m, memo_pair(a, b), value);
    if (++m->count <= m->mask / 4 * 3)
        return;
    memo_make(m, 2 * old.mask + 1);
    for (size_t at = 0; at <= old.mask; at++)
        if (old.key[at])
            memo_store(m, old.key[at], old.value[at]);
    memo_free(&old);
}

void memo_set(struct memo *m, uint32_t a, uint32_t b, uint32_t value)
{
    uint64_t key = memo_pair(a, b);

    for (uint32_t at = memo_home(m, key); m->key[at]; at = (at + 1) & m->mask)
        if (m->key[at] == key) {
            m->value[at] = value;
            return;
        }
    memo_put(m, a, b, value);
}

size_t memo_memory(const struct memo *m)
{
    return ((size_t)m->mask + 1) * (sizeof *m->key + sizeof *m->value);
}
