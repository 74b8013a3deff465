/* list.c - see list.h. */
#include "list.h"

#include <string.h>

#define ALG_DECLARE(name) extern const struct dme_alg name;
DIBS_ALGORITHMS(ALG_DECLARE)

#define ALG_ROW(name) &name,
const struct dme_alg *const alg_list[] = {DIBS_ALGORITHMS(ALG_ROW) NULL};

const struct dme_alg *alg_find(const char *name)
{
    for (unsigned k = 0; alg_list[k]; k++)
        if (strcmp(alg_list[k]->name, name) == 0)
            return alg_list[k];
    return NULL;
}

/* FNV-1a */
uint64_t alg_digest(void)
{
    uint64_t hash = 14695981039346656037u;

    for (unsigned k = 0; alg_list[k]; k++)
        for (const char *c = alg_list[k]->name;; c++) {
            hash = (hash ^ (uint8_t)*c) * 1099511628211u;
            if (!*c)
                break;
        }
    return hash;
}
