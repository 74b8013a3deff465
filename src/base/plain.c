/* plain.c - see plain.h. */
#include "plain.h"

#include <stdint.h>

/* Decodes the character at `at`. Returns its length in bytes, or 0 if the bytes are not valid UTF-8. */
static size_t plain_decode(const unsigned char *at, size_t left, uint32_t *x)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800,
                                     0x10000}; /* by length: a smaller character has a shorter form */
    size_t len = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;

    if (len == 0 || len > left)
        return 0;
    *x = len == 1 ? at[0] : at[0] & (0x7fu >> len);
    for (size_t k = 1; k < len; k++) {
        if (at[k] >> 6 != 2)
            return 0;
        *x = *x << 6 | (at[k] & 0x3f);
    }
    return *x < least[len] || *x > 0x10ffff || (*x >= 0xd800 && *x <= 0xdfff) ? 0 : len;
}

static bool plain_is_shown(uint32_t x)
{
    bool control = x < 0x20 || (x >= 0x7f && x <= 0x9f);
    bool direction =
        x == 0x61c || x == 0x200e || x == 0x200f || (x >= 0x202a && x <= 0x202e) || (x >= 0x2066 && x <= 0x2069);

    return !control && !direction;
}

bool plain_text(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;

    while (at < end) {
        uint32_t x = *at;
        size_t size = x >= 0x20 && x < 0x7f ? 1 : plain_decode(at, (size_t)(end - at), &x);

        if (!size || !plain_is_shown(x))
            return false;
        at += size;
    }
    return true;
}

size_t plain_cut(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most && (unsigned char)text[most] >> 6 == 2)
        most--;
    return most;
}
