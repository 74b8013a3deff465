/* pick.c - see pick.h. */
#include "pick.h"

#include "base/memory.h"

#include <stdlib.h>

void pick_init(struct pick *p, uint32_t n, const double *weight)
{
    uint32_t *small, *large, smalls = 0, larges = 0;
    double sum = 0;

    *p = (struct pick){.n = n};
    if (!weight)
        return;
    p->keep = mem_new(n * sizeof *p->keep);
    p->other = mem_new(n * sizeof *p->other);
    small = mem_new(n * sizeof *small);
    large = mem_new(n * sizeof *large);
    for (uint32_t k = 0; k < n; k++)
        sum += weight[k];
    for (uint32_t k = 0; k < n; k++) {
        p->keep[k] = weight[k] / sum * n;
        p->other[k] = k;
        if (p->keep[k] < 1)
            small[smalls++] = k;
        else
            large[larges++] = k;
    }
    /* An outcome with more than the average share fills up the cell of one with less. */
    while (smalls && larges) {
        uint32_t poor = small[--smalls], rich = large[larges - 1];

        p->other[poor] = rich;
        p->keep[rich] -= 1 - p->keep[poor];
        if (p->keep[rich] < 1) {
            larges--;
            small[smalls++] = rich;
        }
    }
    free(small);
    free(large);
}

void pick_destroy(struct pick *p)
{
    free(p->keep);
    free(p->other);
}

double *pick_zipf(uint32_t n, double exponent)
{
    double *weight = mem_new(n * sizeof *weight);

    for (uint32_t k = 0; k < n; k++)
        weight[k] = pow(k + 1.0, -exponent);
    return weight;
}
