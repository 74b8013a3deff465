/* diagram_inner.h - what there is to draw, shared by the forms of a diagram: diagram.c reads it from a run. */
#ifndef DIBS_LAB_DIAGRAM_INNER_H
#define DIBS_LAB_DIAGRAM_INNER_H

#include "diagram.h"

struct diagram_arrow {
    uint64_t number; /* of the message, see struct world_flight */
    dme_id from, to;
    uint32_t sent, received; /* by which move; received is UINT32_MAX while it is in flight */
    bool lost;               /* by that move, rather than received */
    bool initial;            /* in flight before the first move */
    bool news;               /* a report about the sender, not a message of it */
    char label[160];
};

/* Phases of a site, here: those of enum dme_phase, and these. */
enum { DIAGRAM_DOWN = DME_INSIDE + 1, DIAGRAM_READS, DIAGRAM_PHASES };

struct diagram {
    const struct moves *run;
    uint32_t n;
    uint8_t *phase;  /* of site i after move k: phase[k * n + i] */
    uint8_t *broken; /* does the rule hold after move k? */
    bool stuck;      /* the run ends in a deadlock */
    bool has[DIAGRAM_PHASES];
    struct diagram_arrow *arrow;
    size_t arrows;
};

void diagram_read(struct diagram *d, const struct moves *run);
void diagram_free(struct diagram *d);
const struct diagram_arrow *diagram_received(const struct diagram *d, uint32_t k);
/* The move in a word, where no arrow shows it. */
const char *diagram_word(uint32_t type);
/* Does the site of move k enter with it? */
bool diagram_enters(const struct diagram *d, uint32_t k);

static inline unsigned diagram_phase(const struct diagram *d, uint32_t k, dme_id i)
{
    return d->phase[(size_t)k * d->n + i];
}

#endif
