/* view.h - one thread's view of a state space that several threads share.
 *
 * What a part can do, and what becomes of it when a message is added to its inbox, is looked up far more often than it
 * is computed. So each thread keeps what it has looked up for itself, where no lock is needed, and asks the shared
 * space, under its lock, only for what it has not seen yet. Numbers mean the same everywhere: they are those of the
 * space. */
#ifndef DIBS_CHECK_VIEW_H
#define DIBS_CHECK_VIEW_H

#include "space.h"

#include <pthread.h>

struct view_part {
    uint32_t first, count; /* its transitions here; count is UINT32_MAX until they are known */
};

struct thread_view {
    struct space *space;
    pthread_mutex_t *lock; /* of the space */
    struct memo appended;
    struct view_part *part;
    size_t parts;
    struct space_transition *transition;
    size_t transitions, transition_room;
    struct space_send *send;
    size_t sends, send_room;
};

void view_init(struct thread_view *v, struct space *space, pthread_mutex_t *lock);
void view_free(struct thread_view *v);

/* As space_expand and space_apply; transitions are v->transition[first] and those after it. */
uint32_t view_expand(struct thread_view *v, uint32_t part, uint32_t *first);
void view_apply(struct thread_view *v, const uint32_t *state, dme_id i, uint32_t t, uint32_t *next);

#endif
