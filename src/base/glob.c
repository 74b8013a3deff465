/* glob.c - see glob.h. */
#include "glob.h"

#include <string.h>

/* Compares the element of the pattern at `p`, which is not *, with the byte `c` of a name. Returns the length of the
 * element, or 0 if they do not match. A [ without a ] stands for itself, as in fnmatch. */
static size_t glob_element(const char *p, size_t len, char c, uint64_t *cost)
{
    size_t k = 1;
    bool negated, found = false;

    if (*p == '?')
        return 1;
    if (*p == '\\' && len > 1)
        return p[1] == c ? 2 : 0;
    if (*p != '[')
        return *p == c;
    negated = k < len && (p[k] == '!' || p[k] == '^');
    k += negated;
    for (size_t first = k; k < len && (p[k] != ']' || k == first); k++) {
        unsigned char low, high;

        k += p[k] == '\\' && k + 1 < len;
        low = high = (unsigned char)p[k];
        if (k + 2 < len && p[k + 1] == '-' && p[k + 2] != ']') {
            k += 2;
            k += p[k] == '\\' && k + 1 < len;
            high = (unsigned char)p[k];
        }
        found |= low <= (unsigned char)c && (unsigned char)c <= high;
    }
    *cost += k / 4;
    if (k >= len)
        return *p == c;
    return found != negated ? k + 1 : 0;
}

/* Called behind a *, at `*p` in the pattern and `*n` in the name. If the bytes up to the next * or the end of the pattern
 * all stand for themselves, this searches the rest of the name for them, in linear time, and moves `*p` and `*n` behind them; if the
 * name does not have them, `*n` is then beyond its end. The first place before a * is the right one, because it leaves
 * the longest rest of the name. At the end of the pattern, only the end of the name will do. */
static void glob_skip_to(const char *pattern, size_t pattern_len, size_t *p, const char *name, size_t name_len,
                         size_t *n, uint64_t *cost)
{
    size_t len = glob_prefix(pattern + *p, pattern_len - *p), left = name_len - *n;
    bool last = *p + len == pattern_len;
    const char *from = last && left > len ? name + name_len - len : name + *n, *found;

    if (len == 0 || (!last && pattern[*p + len] != '*'))
        return;
    found = memmem(from, (size_t)(name + name_len - from), pattern + *p, len);
    *cost += len + (found ? (size_t)(found - from) : left);
    *p += len;
    *n = found ? (size_t)(found - name) + len : name_len + 1;
}

bool glob_matches(const char *pattern, size_t pattern_len, const char *name, size_t name_len, uint64_t *cost)
{
    size_t p = 0, n = 0, star = SIZE_MAX, retry = 0, some;

    while (n < name_len) {
        ++*cost;
        if (p < pattern_len && pattern[p] == '*') {
            p++;
            glob_skip_to(pattern, pattern_len, &p, name, name_len, &n, cost);
            star = p;
            retry = n;
        } else if (p < pattern_len && (some = glob_element(pattern + p, pattern_len - p, name[n], cost))) {
            p += some;
            n++;
        } else if (star != SIZE_MAX) {
            p = star;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern_len && pattern[p] == '*')
        p++;
    return n == name_len && p == pattern_len;
}

size_t glob_prefix(const char *pattern, size_t len)
{
    size_t k = 0;

    while (k < len && pattern[k] != '*' && pattern[k] != '?' && pattern[k] != '[' && pattern[k] != '\\')
        k++;
    return k;
}
