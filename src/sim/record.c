/* record.c - see record.h. */
#include "record.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void record_begin(struct record *r, const struct dme_conf *conf)
{
    memset(r, 0, sizeof *r);
    r->world = world_new(conf);
    r->move = mem_new(RECORD_MOVES_MAX * sizeof *r->move);
    r->time = mem_new(RECORD_MOVES_MAX * sizeof *r->time);
    r->room = r->world->sent;
    r->sent = r->room ? mem_new(r->room * sizeof *r->sent) : NULL;
    for (size_t k = 0; k < r->room; k++)
        r->sent[k] = k; /* what is in flight from the start has the same numbers */
}

void record_end(struct record *r)
{
    world_free(r->world);
    free(r->move);
    free(r->time);
    free(r->sent);
}

static struct world_move record_delivery(const struct record *r, const struct sim_event *e)
{
    const struct lab_world *w = r->world;
    size_t k = 0;

    while (w->flight[k].sent != r->sent[e->number] || w->flight[k].msg->to != e->site)
        k++;
    return world_delivery(w, k);
}

/* The messages of this step had numbers in the run; in the world they are numbered from `first`. */
static void record_numbers(struct record *r, const struct sim_event *e, uint64_t first)
{
    const struct dme_conf *conf = &r->world->conf;
    uint32_t all = conf->n - !(conf->alg->needs & DME_SEQUENCED);
    uint64_t number = e->sends;

    for (const struct dme_msg *m = NULL; (m = dme_next(e->out, e->site, m)); first++) {
        uint32_t copies = m->to == DME_ALL ? all : 1;

        if (number + copies > r->room) {
            r->room = 2 * (number + copies);
            r->sent = mem_grow(r->sent, r->room * sizeof *r->sent);
        }
        while (copies-- > 0)
            r->sent[number++] = first;
    }
}

void record_observe(void *record, const struct sim_event *e)
{
    struct record *r = record;
    struct lab_world *w = r->world;
    struct world_move move = {.type = e->event->type, .site = e->site, .arg = e->event->arg};
    uint64_t first = w->sent;
    const char *objection;

    r->full = r->full || r->count == RECORD_MOVES_MAX;
    if (r->full)
        return;
    if (move.type == DME_RECEIVE && e->event->msg->kind >= DME_NEWS)
        move = (struct world_move){
            .type = DME_RECEIVE, .site = e->site, .from = e->event->msg->from, .kind = e->event->msg->kind};
    else if (move.type == DME_RECEIVE)
        move = record_delivery(r, e);
    objection = world_move(w, &move);
    assert(!objection && w->out->used == e->out->used && memcmp(w->out->bytes, e->out->bytes, e->out->used) == 0);
    (void)objection;
    r->time[r->count] = e->at;
    r->move[r->count++] = move;
    record_numbers(r, e, first);
}

struct moves record_moves(const struct record *r, bool fifo)
{
    return (struct moves){
        .conf = r->world->conf, .fifo = fifo, .move = r->move, .time = r->time, .count = r->count, .loop = r->count};
}
