/* order.h - who waits longer than whom: the requests that wait, in the order in which they were made.
 *
 * When a request enters, the requests that were made earlier and still wait have been overtaken. Counting them one by
 * one would be slow with many sites, so each request has a place in a Fenwick tree, which counts the places before a
 * given one in logarithmic time. Places are given out in order; when they run out, the waiting ones move together. */
#ifndef DIBS_SIM_ORDER_H
#define DIBS_SIM_ORDER_H

#include "core/dme.h"

struct order {
    uint32_t *tree;  /* places 1 .. size */
    dme_id *who;     /* place: the site; DME_NONE: none */
    uint32_t *place; /* site: its place */
    uint32_t size, next, waiting;
};

void order_init(struct order *o, uint32_t n);
void order_destroy(struct order *o);
void order_join(struct order *o, dme_id site);
/* The site leaves the waiting ones; returns how many that joined before it still wait. */
uint32_t order_leave(struct order *o, dme_id site);

#endif
