/* stats.c - see stats.h. */
#include "stats.h"

#include <stddef.h>

const struct stats_bound stats_bound[STATS_BUCKETS] = {
    {1, "0.001"}, {2, "0.002"}, {5, "0.005"}, {10, "0.01"}, {20, "0.02"},  {50, "0.05"},    {100, "0.1"},
    {200, "0.2"}, {500, "0.5"}, {1000, "1"},  {5000, "5"},  {30000, "30"}, {300000, "300"}, {3600000, "3600"}};

void stats_add_time(struct stats_times *t, uint64_t ms)
{
    unsigned k = 0;

    while (k < STATS_BUCKETS && ms > stats_bound[k].ms)
        k++;
    t->bucket[k]++;
    t->sum_ms += ms;
}

struct stats_alg *stats_of_alg(struct stats_messages *m, const struct dme_alg *alg)
{
    unsigned k = 0;

    while (k < m->algs && m->alg[k].alg != alg)
        k++;
    if (k == STATS_ALGS_MAX)
        return NULL;
    if (k == m->algs)
        m->alg[m->algs++].alg = alg;
    return &m->alg[k];
}
