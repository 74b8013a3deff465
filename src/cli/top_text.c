/* top_text.c - texts of others on the screen of dibs top. See top.h. */
#include "base/plain.h"
#include "top.h"

#include <inttypes.h>
#include <string.h>

/* The length of the character that begins here and can be shown; 0: there is none. */
static size_t top_character(const char *text)
{
    size_t left = strnlen(text, 4);

    for (size_t len = 1; len <= left; len++)
        if (plain_text(text, len))
            return len;
    return 0;
}

/* How many columns it takes: two, if terminals show characters of its block twice as wide as others. */
static unsigned top_width(const char *at, size_t len)
{
    static const struct {
        uint32_t from, to;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    uint32_t x = (unsigned char)at[0];

    if (len > 1)
        x &= 0x7fu >> len;
    for (size_t k = 1; k < len; k++)
        x = x << 6 | ((unsigned char)at[k] & 0x3f);
    for (unsigned k = 0; k < sizeof wide / sizeof wide[0]; k++)
        if (x >= wide[k].from && x <= wide[k].to)
            return 2;
    return 1;
}

unsigned top_text(char to[TOP_TEXT], const char *text, unsigned columns)
{
    unsigned used = 0;
    size_t at = 0;

    while (*text) {
        size_t len = top_character(text);
        unsigned width = len ? top_width(text, len) : 4;

        if (used + width > columns || at + 5 > TOP_TEXT)
            break;
        if (len)
            memcpy(to + at, text, len);
        else
            snprintf(to + at, 5, "\\x%02x", (unsigned char)*text);
        at += len ? len : 4;
        text += len ? len : 1;
        used += width;
    }
    to[at] = '\0';
    return used;
}

const char *top_age(uint64_t ms, char to[24])
{
    uint64_t s = ms / 1000;

    if (s < 60)
        snprintf(to, 24, "%" PRIu64 ".%" PRIu64 "s", s, ms % 1000 / 100);
    else if (s < 3600)
        snprintf(to, 24, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(to, 24, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(to, 24, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
    return to;
}
