/* strings.h - stubs of the C library for Frama-C's Eva: what the standard says, as loops. Frama-C's own know less of the places
 * that they return. snprintf is assumed to keep within the size that it is told. See tests/prove/run. */
#ifndef DIBS_PROVE_STRINGS_H
#define DIBS_PROVE_STRINGS_H

#include <__fc_builtin.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t prove_strlen(const char *s)
{
    size_t len = 0;

    while (s[len])
        len++;
    return len;
}

static inline void *prove_memchr(const void *s, int c, size_t n)
{
    const unsigned char *at = s;

    for (size_t k = 0; k < n; k++)
        if (at[k] == (unsigned char)c)
            return (void *)(at + k);
    return NULL;
}

static inline char *prove_strchr(const char *s, int c)
{
    for (;; s++)
        if (*s == (char)c)
            return (char *)s;
        else if (!*s)
            return NULL;
}

static inline char *prove_strchrnul(const char *s, int c)
{
    while (*s && *s != (char)c)
        s++;
    return (char *)s;
}

static inline int prove_memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;

    for (size_t k = 0; k < n; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

static inline int prove_strcmp(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b ? 0 : (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

/* The number of bytes at the beginning of `s` that are, or are not, in `set`. */
static inline size_t prove_span(const char *s, const char *set, bool in)
{
    size_t len = 0;

    while (s[len] && (prove_strchr(set, s[len]) != NULL) == in)
        len++;
    return len;
}

/* Any text of this length, in a buffer that ends with it. */
static inline char *any_text(size_t len)
{
    char *text = malloc(len + 1);

    for (size_t k = 0; k < len; k++) {
        int c = Frama_C_interval(-128, 127);

        text[k] = (char)(c ? c : 1);
    }
    text[len] = '\0';
    return text;
}

#define strlen prove_strlen
#define memchr prove_memchr
#define strchr prove_strchr
#define strchrnul prove_strchrnul
#define memcmp prove_memcmp
#define strcmp prove_strcmp
#define strspn(s, set) prove_span(s, set, true)
#define strcspn(s, set) prove_span(s, set, false)
#define snprintf(to, size, ...) ((to)[(size)-1] = (to)[0] = 0)

#endif
