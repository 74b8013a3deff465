/* hand.c - see hand.h. */
#include "hand.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { HAND_PATIENCE = 10000 /* random moves */ };

static char *hand_copy(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(mem_new(size), text, size);
}

/* ---------------------------------------------------------------------------------------------------------- choices */

static void hand_offer(struct hand_run *p, struct world_move move)
{
    p->choice = mem_grow(p->choice, (p->choices + 1) * sizeof *p->choice);
    p->choice[p->choices++] = move;
}

static void hand_offer_site(struct hand_run *p, dme_id site)
{
    const struct dme_node *node = p->world->node[site];
    bool bounded = p->conf.alg->needs & DME_BOUNDED_DELAY;
    uint32_t first, last;

    dme_modes(&p->conf, &first, &last);
    for (uint32_t mode = first; node->phase == DME_IDLE && !node->down && mode <= last; mode++)
        hand_offer(p, (struct world_move){.type = DME_REQUEST, .site = site, .arg = mode});
    if (node->phase == DME_INSIDE && !node->down)
        hand_offer(p, (struct world_move){.type = DME_RELEASE, .site = site});
    for (unsigned t = 0; t < DME_TIMERS; t++)
        if (node->armed >> t & 1 && !(bounded && p->world->flights))
            hand_offer(p, (struct world_move){.type = DME_TIMER, .site = site, .arg = t});
}

/* Copies of one message are one choice. */
static void hand_offer_message(struct hand_run *p, size_t k)
{
    struct world_move move = world_delivery(p->world, k);

    for (uint32_t c = 0; c < p->choices; c++)
        if (memcmp(&p->choice[c], &move, sizeof move) == 0)
            return;
    hand_offer(p, move);
}

/* After every change: the choices, and the states with what has changed. */
static void hand_look(struct hand_run *p)
{
    uint32_t needs = (p->conf.alg->needs & ~(uint32_t)DME_FIFO) | (p->fifo ? DME_FIFO : 0);

    p->choices = 0;
    for (size_t k = 0; !p->world->out->fault && k < p->world->flights; k++)
        if (world_may_arrive(p->world, k, needs))
            hand_offer_message(p, k);
    for (dme_id site = 0; site < p->conf.n; site++) {
        char line[4096];
        struct dme_text text;

        if (!p->world->out->fault)
            hand_offer_site(p, site);
        dme_text_init(&text, line, sizeof line);
        dme_print(&text, "%u %s: ", site,
                  p->world->node[site]->down ? "down" : dme_phase_name(p->world->node[site]->phase));
        dme_print_state(&p->conf, p->world->node[site], &text);
        p->changed[site] = p->state[site] && strcmp(p->state[site], line) != 0;
        free(p->state[site]);
        p->state[site] = hand_copy(line);
    }
}

/* ----------------------------------------------------------------------------------------------------------- moves */

/* Makes the move at p->place. */
static void hand_step(struct hand_run *p)
{
    char line[8192];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    world_play(p->world, &p->move[p->place], &text);
    free(p->effect[p->place]);
    p->effect[p->place++] = hand_copy(line);
}

void hand_choose(struct hand_run *p, uint32_t which)
{
    for (uint32_t k = p->place; k < p->count; k++)
        free(p->effect[k]);
    p->count = p->place + 1;
    p->move = mem_grow(p->move, p->count * sizeof *p->move);
    p->effect = mem_grow(p->effect, p->count * sizeof *p->effect);
    p->move[p->place] = p->choice[which];
    p->effect[p->place] = NULL;
    hand_step(p);
    hand_look(p);
}

bool hand_forward(struct hand_run *p)
{
    if (p->place == p->count)
        return false;
    hand_step(p);
    hand_look(p);
    return true;
}

bool hand_back(struct hand_run *p)
{
    uint32_t to = p->place - 1;

    if (p->place == 0)
        return false;
    world_free(p->world);
    p->world = world_new(&p->conf);
    p->place = 0;
    while (p->place < to)
        hand_step(p);
    hand_look(p);
    return true;
}

bool hand_random(struct hand_run *p)
{
    if (p->choices == 0)
        return false;
    hand_choose(p, random_below(&p->dice, p->choices));
    return true;
}

bool hand_to_entry(struct hand_run *p)
{
    uint64_t entries = p->world->entries;

    for (unsigned k = 0; k < HAND_PATIENCE && !hand_wrong(p); k++) {
        if (!hand_random(p))
            return false;
        if (p->world->entries > entries)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------- beginning and end */

struct hand_run *hand_new(const struct dme_conf *conf, bool fifo)
{
    struct hand_run *p = mem_new(sizeof *p);

    *p = (struct hand_run){.conf = *conf, .fifo = fifo, .world = world_new(conf)};
    random_seed(&p->dice, 1, 0);
    p->state = mem_new(conf->n * sizeof *p->state);
    p->changed = mem_new(conf->n * sizeof *p->changed);
    memset(p->state, 0, conf->n * sizeof *p->state);
    hand_look(p);
    return p;
}

struct hand_run *hand_of(const struct moves *run)
{
    struct hand_run *p = hand_new(&run->conf, run->fifo);

    p->count = run->count;
    p->move = mem_grow(p->move, (run->count + 1) * sizeof *p->move);
    p->effect = mem_grow(p->effect, (run->count + 1) * sizeof *p->effect);
    memcpy(p->move, run->move, run->count * sizeof *p->move);
    memset(p->effect, 0, run->count * sizeof *p->effect);
    return p;
}

void hand_free(struct hand_run *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        free(p->effect[k]);
    for (dme_id site = 0; site < p->conf.n; site++)
        free(p->state[site]);
    world_free(p->world);
    free(p->move);
    free(p->effect);
    free(p->choice);
    free(p->state);
    free(p->changed);
    free(p);
}

const char *hand_wrong(const struct hand_run *p)
{
    if (p->world->out->fault)
        return "the last step contradicts the protocol";
    if (!world_safe(p->world))
        return "mutual exclusion is violated";
    if (world_broken(p->world))
        return world_broken(p->world);
    return world_stuck(p->world) ? "deadlock: a site waits, and nothing is under way" : NULL;
}

char *hand_scenario(const struct hand_run *p)
{
    const struct moves run = {.conf = p->conf, .fifo = p->fifo, .move = p->move, .count = p->place, .loop = p->place};

    return moves_scenario(&run, "Played by hand.");
}
