/* value.c - see value.h. */
#include "value.h"

#include "base/plain.h"
#include "base/slab.h"

#include <assert.h>
#include <string.h>

struct lock_value *value_new(const char *text, size_t len)
{
    struct lock_value *v;

    assert(len <= VALUE_MAX);
    if (!len)
        return NULL;
    v = slab_new(sizeof *v + len);
    v->len = (uint16_t)len;
    memcpy(v->text, text, len);
    return v;
}

/* The length of the plain character at `at`; 0: there is none. */
static size_t value_plain(const char *at, size_t left)
{
    unsigned char first = (unsigned char)*at;
    size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    return len <= left && plain_text(at, len) ? len : 0;
}

size_t value_show(const char *value, size_t len, char text[VALUE_TEXT_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    char *to = text;

    assert(len <= VALUE_MAX);
    for (size_t k = 0; k < len;) {
        size_t plain = value_plain(value + k, len - k);

        if (value[k] == '\\') {
            *to++ = '\\';
            *to++ = '\\';
        } else if (plain) {
            memcpy(to, value + k, plain);
            to += plain;
        } else {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = digits[(unsigned char)value[k] >> 4];
            *to++ = digits[value[k] & 15];
        }
        k += plain ? plain : 1;
    }
    *to = '\0';
    return (size_t)(to - text);
}
