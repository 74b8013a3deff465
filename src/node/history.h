/* history.h - the last views of this member, for people: which members took part, when it was installed here, and how long it took
 * to open. Nothing else depends on it. */
#ifndef DIBS_NODE_HISTORY_H
#define DIBS_NODE_HISTORY_H

#include "base/bytes.h"

#include <stdbool.h>

enum { HISTORY_VIEWS = 32 };

struct history_view {
    uint64_t number;
    uint64_t installed_ms, opened_ms;
    bool opened;          /* this member has opened it */
    bool takes_part;      /* this member did */
    struct bytes members; /* the names of those that took part, with spaces between them */
};

struct history_views {
    uint64_t count; /* so far; view k is at k % HISTORY_VIEWS */
    struct history_view view[HISTORY_VIEWS];
};

struct node;

void history_install(struct node *node); /* the node has installed node->view */
void history_open(struct node *node);    /* it has opened */
void history_free(struct history_views *h);
/* The view that was installed `back` views before the last one; null: it is forgotten, or there was none. */
const struct history_view *history_at(const struct history_views *h, uint64_t back);

#endif
