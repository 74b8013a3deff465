/* order.c - see order.h. */
#include "order.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void order_resize(struct order *o, uint32_t size)
{
    o->size = size;
    o->tree = mem_grow(o->tree, (size + 1) * sizeof *o->tree);
    o->who = mem_grow(o->who, (size + 1) * sizeof *o->who);
}

void order_init(struct order *o, uint32_t n)
{
    memset(o, 0, sizeof *o);
    o->place = mem_new(n * sizeof *o->place);
    order_resize(o, 64);
    memset(o->tree, 0, (o->size + 1) * sizeof *o->tree);
    o->next = 1;
}

void order_destroy(struct order *o)
{
    free(o->tree);
    free(o->who);
    free(o->place);
}

static void order_add(struct order *o, uint32_t place, uint32_t x)
{
    for (; place <= o->size; place += place & -place)
        o->tree[place] += x;
}

/* The waiting ones move to the first places; there are at least as many free ones behind them. */
static void order_compact(struct order *o)
{
    uint32_t count = 0;

    for (uint32_t k = 1; k < o->next; k++)
        if (o->who[k] != DME_NONE)
            o->who[++count] = o->who[k];
    while (o->size < 2 * count)
        order_resize(o, 2 * o->size);
    for (uint32_t k = 1; k <= o->size; k++)
        o->tree[k] = k <= count;
    for (uint32_t k = 1; k <= o->size; k++)
        if (k + (k & -k) <= o->size)
            o->tree[k + (k & -k)] += o->tree[k];
    for (uint32_t k = 1; k <= count; k++)
        o->place[o->who[k]] = k;
    o->next = count + 1;
}

void order_join(struct order *o, dme_id site)
{
    if (o->next > o->size)
        order_compact(o);
    o->place[site] = o->next;
    o->who[o->next] = site;
    order_add(o, o->next++, 1);
    o->waiting++;
}

uint32_t order_leave(struct order *o, dme_id site)
{
    uint32_t before = 0;

    order_add(o, o->place[site], (uint32_t)-1);
    o->who[o->place[site]] = DME_NONE;
    o->waiting--;
    for (uint32_t k = o->place[site]; k; k &= k - 1)
        before += o->tree[k];
    return before;
}
