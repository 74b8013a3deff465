/* agenda.h - what will happen besides messages: a small binary heap of things to do, by time. */
#ifndef DIBS_SIM_AGENDA_H
#define DIBS_SIM_AGENDA_H

#include "core/dme.h"

enum agenda_type { AGENDA_DEMAND, AGENDA_EXIT, AGENDA_TIMER, AGENDA_FAULT, AGENDA_NEWS };

struct agenda_item {
    double at;
    uint64_t order; /* of two items at one time the one with the lower order comes first */
    uint32_t type;
    dme_id site;
    uint32_t timer; /* or the type of a fault, or of news */
    uint32_t
        start; /* of a timer: which start of it this is; a later start or a stop makes the item void. Of a fault: its
                       argument; of news: about whom */
    uint32_t incarnation; /* of the site; if it is another one by then, the item is void */
};

struct agenda {
    struct agenda_item *item;
    size_t count, room;
};

void agenda_add(struct agenda *a, const struct agenda_item *item);
struct agenda_item agenda_take(struct agenda *a); /* the first; count > 0 */

#endif
