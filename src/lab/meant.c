/* meant.c - see meant.h. */
#include "meant.h"

#include <stdint.h>
#include <string.h>

/* Letters to insert, remove or change to make b of a. */
static unsigned meant_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    unsigned row[LONGEST + 1], la = (unsigned)strlen(a), lb = (unsigned)strlen(b);

    if (la > LONGEST || lb > LONGEST)
        return UINT32_MAX;
    for (unsigned k = 0; k <= lb; k++)
        row[k] = k;
    for (unsigned i = 1; i <= la; i++) {
        unsigned corner = row[0]++;

        for (unsigned k = 1; k <= lb; k++) {
            unsigned change = corner + (a[i - 1] != b[k - 1]);

            corner = row[k];
            row[k] = row[k] + 1 < change ? row[k] + 1 : change;
            if (row[k - 1] + 1 < row[k])
                row[k] = row[k - 1] + 1;
        }
    }
    return row[lb];
}

const char *meant(const char *word, const char *const *names)
{
    const char *best = NULL;
    unsigned best_distance = (unsigned)strlen(word + strspn(word, "-")) / 3 + 2; /* all options begin with -- */

    if (!*word)
        return NULL;
    for (; *names; names++) {
        unsigned distance = meant_distance(word, *names);

        if (strncmp(word, *names, strlen(word)) == 0)
            distance = 0;
        if (distance < best_distance) {
            best = *names;
            best_distance = distance;
        }
    }
    return best;
}
