/* fuzz_messages.h - messages between members, drawn from the registry (link/registry.h): the fields of a type, with values that
 * have a chance to mean something, and now and then a byte too few or too many. */
#ifndef DIBS_TESTS_FUZZ_MESSAGES_H
#define DIBS_TESTS_FUZZ_MESSAGES_H

#include "fuzz.h"

#include "base/pack.h"
#include "link/registry.h"

#include <string.h>

enum { FUZZ_ID = 7 }; /* both halves of the id of the only kept session */

/* A type of any part, or of one part only. */
static inline enum message_type fuzz_type(struct fuzz_input *in, enum registry_part part)
{
    unsigned count = 0, chosen;

    for (unsigned k = 0; k < REGISTRY_SIZE; k++)
        count += registry[k].name && (!part || registry[k].part == part);
    chosen = fuzz_take(in) % count;
    for (unsigned k = 0;; k++)
        if (registry[k].name && (!part || registry[k].part == part) && chosen-- == 0)
            return (enum message_type)k;
}

static inline void fuzz_number(struct fuzz_input *in, struct bytes *b, unsigned size)
{
    uint8_t style = fuzz_take(in) % 16;

    if (size == 16) {
        pack_number(bytes_add(b, 8), FUZZ_ID, 8);
        pack_number(bytes_add(b, 8), style < 8 ? FUZZ_ID : fuzz_take(in), 8);
        return;
    }
    pack_number(bytes_add(b, size), style < 8 ? style : 0, size);
    for (unsigned k = 0; k < size && style >= 12; k++)
        b->at[b->end - size + k] = fuzz_take(in);
}

static inline void fuzz_bytes(struct fuzz_input *in, struct bytes *b, size_t len)
{
    for (; len > 0; len--)
        *bytes_add(b, 1) = fuzz_take(in);
}

static inline void fuzz_text(struct fuzz_input *in, struct bytes *b, const char *const *texts, unsigned count)
{
    unsigned chosen = fuzz_take(in) % (count + 1);
    size_t len = chosen < count ? strlen(texts[chosen]) : fuzz_take(in) % 8;

    *bytes_add(b, 1) = (uint8_t)len;
    if (chosen < count)
        memcpy(bytes_add(b, len), texts[chosen], len);
    else
        fuzz_bytes(in, b, len);
}

/* The same behind a length of two bytes. */
static inline void fuzz_long(struct fuzz_input *in, struct bytes *b, const char *const *texts, unsigned count)
{
    size_t at = bytes_len(b), len;
    uint8_t *from;

    fuzz_text(in, b, texts, count);
    len = bytes_len(b) - at - 1;
    *bytes_add(b, 1) = 0;
    from = b->at + b->start + at;
    memmove(from + 2, from + 1, len);
    from[1] = 0;
}

/* Adds a message of this type. Texts are drawn from these, or made up; a rest is made up, unless there is one. */
static inline void fuzz_message(struct fuzz_input *in, struct bytes *b, enum message_type type,
                                const char *const *texts, unsigned count, const struct bytes *rest)
{
    uint8_t wrong = fuzz_take(in);

    *bytes_add(b, 1) = (uint8_t)type;
    for (const struct registry_field *f = registry[type].field; f->name; f++)
        if (f->size == REGISTRY_TEXT)
            fuzz_text(in, b, texts, count);
        else if (f->size == REGISTRY_LONG)
            fuzz_long(in, b, texts, count);
        else if (f->size != REGISTRY_REST)
            fuzz_number(in, b, f->size);
        else if (rest)
            memcpy(bytes_add(b, bytes_len(rest)), rest->at + rest->start, bytes_len(rest));
        else
            fuzz_bytes(in, b, fuzz_take(in) % 120);
    if (wrong == 255)
        b->end--;
    if (wrong == 254)
        fuzz_bytes(in, b, 1);
}

#endif
