/* grow.c - do the states of an algorithm end if its sites may make any number of requests? See check_grows in check.h.
 *
 * Few runs are tried. In the first, the sites enter one after the other, again and again, and after each entry everything in
 * flight arrives. If no state is like an earlier one, something in the sites grows with every request. In the others, the
 * messages to one site are late. If the other sites enter again and again all the same, and ever more messages are on their
 * way, the channels grow. */
#include "base/memory.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { GROW_ROUNDS = 256, GROW_STEPS = 10000 };

/* The next message arrives that is not for the late site, or a timer fires. False if there is neither. */
static bool grow_step(struct lab_world *w, uint32_t needs, dme_id late)
{
    struct world_move move = {.type = DME_TIMER};

    for (size_t k = 0; k < w->flights; k++)
        if (w->flight[k].msg->to != late && world_may_arrive(w, k, needs)) {
            move = world_delivery(w, k);
            world_move(w, &move);
            return true;
        }
    for (move.site = 0; move.site < w->conf.n; move.site++)
        for (move.arg = 0; move.arg < DME_TIMERS; move.arg++)
            if (w->node[move.site]->armed & 1u << move.arg) {
                world_move(w, &move);
                return true;
            }
    return false;
}

/* Site i enters and leaves, and everything arrives but at the late site. False if that does not come to an end. */
static bool grow_enter(struct lab_world *w, uint32_t needs, dme_id i, dme_id late)
{
    struct world_move move = {.type = DME_REQUEST, .site = i};
    uint32_t last, steps = 0;

    dme_modes(&w->conf, &move.arg, &last);
    world_move(w, &move);
    while (w->node[i]->phase != DME_INSIDE && !w->out->fault && steps++ < GROW_STEPS && grow_step(w, needs, late))
        ;
    if (w->node[i]->phase != DME_INSIDE || w->out->fault)
        return false;
    move = (struct world_move){.type = DME_RELEASE, .site = i};
    world_move(w, &move);
    while (!w->out->fault && steps++ < GROW_STEPS && grow_step(w, needs, late))
        ;
    return !w->out->fault && steps <= GROW_STEPS;
}

/* The bytes of all nodes. Fences grow in every algorithm, and nothing depends on them. */
static void grow_copy(const struct lab_world *w, unsigned char *to)
{
    for (dme_id i = 0; i < w->conf.n; i++) {
        size_t size = dme_node_size(&w->conf, i);

        memcpy(to, w->node[i], size);
        ((struct dme_node *)(void *)to)->fence = 0;
        to += size;
    }
}

static bool grow_sites(const struct check_task *task)
{
    struct lab_world *w = world_new(&task->conf);
    size_t size = 0;
    unsigned char *states;
    bool grows = true;

    for (dme_id i = 0; i < task->conf.n; i++)
        size += dme_node_size(&task->conf, i);
    states = mem_new(size * GROW_ROUNDS);
    for (size_t round = 0; round < GROW_ROUNDS && grows; round++) {
        for (dme_id i = 0; i < task->conf.n && grows; i++)
            grows = grow_enter(w, task->needs, i, DME_NONE);
        grow_copy(w, states + round * size);
        for (size_t k = 0; k < round && grows; k++)
            grows = memcmp(states + k * size, states + round * size, size) != 0;
    }
    free(states);
    world_free(w);
    return grows;
}

static bool grow_channels(const struct check_task *task, dme_id late)
{
    struct lab_world *w = world_new(&task->conf);
    bool enters = !(task->needs & DME_BOUNDED_DELAY); /* else no message is late for ever */

    for (unsigned round = 0; round < GROW_ROUNDS && enters; round++)
        for (dme_id i = 0; i < task->conf.n && enters; i++)
            enters = i == late || grow_enter(w, task->needs, i, late);
    enters = enters && w->flights >= GROW_ROUNDS;
    world_free(w);
    return enters;
}

bool check_grows(const struct check_task *task)
{
    bool grows = grow_sites(task);

    for (dme_id late = 0; late < task->conf.n && !grows; late++)
        grows = grow_channels(task, late);
    return grows;
}
