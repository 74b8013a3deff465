/* intern.h - byte strings stored once, each under a small number.
 *
 * The checker never handles a node, a message or a whole state twice: it interns the bytes and works with the numbers.
 * Equal bytes, and only they, have equal numbers, so nothing is lost: this is exact, unlike hashing states away. */
#ifndef DIBS_CHECK_INTERN_H
#define DIBS_CHECK_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
    unsigned char *bytes; /* all strings, one after the other, each aligned to 8 */
    size_t used, room;
    uint64_t *start; /* in bytes[], by number */
    uint32_t *length;
    uint32_t count, ids_room;
    uint32_t *slot; /* open addressing: number + 1, 0 is free */
    uint32_t mask;
};

void intern_init(struct intern *in);
void intern_free(struct intern *in);
/* The number of these bytes; numbers are given out from 0 upwards. */
uint32_t intern_put(struct intern *in, const void *bytes, size_t len);
size_t intern_memory(const struct intern *in);

/* The bytes; valid until the next intern_put. */
static inline const void *intern_get(const struct intern *in, uint32_t id)
{
    return in->bytes + in->start[id];
}

/* From a pair of numbers to a number: remembers the results of a pure function. */
struct memo {
    uint64_t *key; /* 0 is free */
    uint32_t *value;
    uint32_t count, mask;
};

#define MEMO_MISSING UINT32_MAX

void memo_init(struct memo *m);
void memo_free(struct memo *m);
uint32_t memo_get(const struct memo *m, uint32_t a, uint32_t b);
void memo_put(struct memo *m, uint32_t a, uint32_t b, uint32_t value); /* the pair is new */
void memo_set(struct memo *m, uint32_t a, uint32_t b, uint32_t value); /* it may be there already */
size_t memo_memory(const struct memo *m);

#endif
