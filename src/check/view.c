/* view.c - see view.h. */
#include "view.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void view_init(struct thread_view *v, struct space *space, pthread_mutex_t *lock)
{
    *v = (struct thread_view){.space = space, .lock = lock};
    memo_init(&v->appended);
}

void view_free(struct thread_view *v)
{
    memo_free(&v->appended);
    free(v->part);
    free(v->transition);
    free(v->send);
}

/* Room for this part; what is new is not known yet. */
static void view_make_room(struct thread_view *v, uint32_t part)
{
    size_t old = v->parts;

    if (part < v->parts)
        return;
    v->parts = 2 * (size_t)part + 1024;
    v->part = mem_grow(v->part, v->parts * sizeof *v->part);
    for (; old < v->parts; old++)
        v->part[old].count = UINT32_MAX;
}

/* A copy of a transition of the space, with what it sends. */
static void view_copy(struct thread_view *v, const struct space_transition *t)
{
    if (v->transitions == v->transition_room) {
        v->transition_room = v->transition_room ? 2 * v->transition_room : 1024;
        v->transition = mem_grow(v->transition, v->transition_room * sizeof *v->transition);
    }
    if (v->sends + t->count > v->send_room) {
        v->send_room = 2 * (v->sends + t->count) + 1024;
        v->send = mem_grow(v->send, v->send_room * sizeof *v->send);
    }
    if (t->count)
        memcpy(v->send + v->sends, v->space->send + t->sends, t->count * sizeof *v->send);
    v->transition[v->transitions] = *t;
    v->transition[v->transitions++].sends = (uint32_t)v->sends;
    v->sends += t->count;
}

uint32_t view_expand(struct thread_view *v, uint32_t part, uint32_t *first)
{
    view_make_room(v, part);
    if (v->part[part].count == UINT32_MAX) {
        uint32_t from, count;

        v->part[part].first = (uint32_t)v->transitions;
        pthread_mutex_lock(v->lock);
        count = space_expand(v->space, part, &from);
        for (uint32_t t = from; t < from + count; t++)
            view_copy(v, &v->space->transition[t]);
        pthread_mutex_unlock(v->lock);
        v->part[part].count = count;
    }
    *first = v->part[part].first;
    return v->part[part].count;
}

static uint32_t view_append(struct thread_view *v, uint32_t part, uint32_t item)
{
    uint32_t known = memo_get(&v->appended, part, item);

    if (known != MEMO_MISSING)
        return known;
    pthread_mutex_lock(v->lock);
    known = space_append(v->space, part, item);
    pthread_mutex_unlock(v->lock);
    memo_put(&v->appended, part, item, known);
    return known;
}

void view_apply(struct thread_view *v, const uint32_t *state, dme_id i, uint32_t t, uint32_t *next)
{
    const struct space_transition *tr = &v->transition[t];

    memcpy(next, state, space_width(v->space) * sizeof *next);
    next[i] = tr->part;
    if (tr->spends)
        next[v->space->conf.n] -= tr->spends;
    for (uint32_t k = tr->sends; k < tr->sends + tr->count; k++)
        next[v->send[k].to] = view_append(v, next[v->send[k].to], v->send[k].item);
}
