/* value.h - the value of a claim: a few bytes that its client gives with the request (LOCK name VALUE v), such as the address of a
 * leader. Every client that may see the holders of the lock sees it. It never changes while the claim lasts.
 *
 * A value may be any bytes. It is shown as a text that is safe to show to people (base/plain.h): a backslash is
 * written as \\, and each byte that belongs to no plain character as \xNN. So different values are shown as
 * different texts. */
#ifndef DIBS_LOCK_VALUE_H
#define DIBS_LOCK_VALUE_H

#include <stddef.h>
#include <stdint.h>

enum { VALUE_MAX = 4096, VALUE_TEXT_MAX = 4 * VALUE_MAX };

struct lock_value {
    uint16_t len;
    char text[];
};

/* Returns a copy of these bytes; null if len is 0. The caller frees it (slab_free). */
struct lock_value *value_new(const char *text, size_t len);
/* Writes the value as text, with a zero byte at its end. Returns the length of the text. */
size_t value_show(const char *value, size_t len, char text[VALUE_TEXT_MAX + 1]);

#endif
