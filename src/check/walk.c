/* walk.c - random runs, for systems that are too large for every interleaving. See check_random in check.h.
 *
 * In each state one of the moves that are possible is made, all equally likely; a run ends when none is left. Timers of
 * algorithms that rely on a bound of delays fire only when nothing is in flight, which is a part of what may happen. */
#include "base/memory.h"
#include "base/random.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct walk {
    const struct check_task *task;
    struct check_result *result;
    struct lab_world *world;
    uint32_t left[CHECK_SITES_RANDOM]; /* requests */
    uint32_t lose, duplicate;          /* that may still happen */
    uint32_t crash, restart, resume, cut, join, leave;
    struct world_move *moves; /* made so far */
    uint32_t moved, room;
    struct world_move *choice;
    size_t choices, choice_room;
    struct random random;
};

static void walk_offer(struct walk *w, struct world_move move)
{
    if (w->choices == w->choice_room) {
        w->choice_room = w->choice_room ? 2 * w->choice_room : 64;
        w->choice = mem_grow(w->choice, w->choice_room * sizeof *w->choice);
    }
    w->choice[w->choices++] = move;
}

static void walk_offer_site(struct walk *w, dme_id i)
{
    const struct dme_node *node = w->world->node[i];
    bool timely = !(w->task->needs & DME_BOUNDED_DELAY) || w->world->flights == 0;
    uint32_t first, last;

    bool may_ask =
        node->phase == DME_IDLE && !node->down && w->left[i] && (!w->task->quiet || w->world->flights < w->task->quiet);

    dme_modes(&w->task->conf, &first, &last);
    for (uint32_t mode = first; mode <= last && may_ask; mode++)
        walk_offer(w, (struct world_move){.type = DME_REQUEST, .site = i, .arg = mode});
    if (node->phase == DME_INSIDE)
        walk_offer(w, (struct world_move){.type = DME_RELEASE, .site = i});
    for (unsigned t = 0; t < DME_TIMERS; t++)
        if (timely && node->armed & 1u << t)
            walk_offer(w, (struct world_move){.type = DME_TIMER, .site = i, .arg = t});
}

static void walk_offer_if(struct walk *w, bool may, uint32_t type, dme_id site, uint32_t arg)
{
    struct world_move move = {.type = type, .site = site, .arg = arg};

    if (may)
        walk_offer(w, move);
}

static void walk_offer_failures(struct walk *w, dme_id i)
{
    const struct dme_node *node = w->world->node[i];
    const struct dme_alg *alg = w->task->conf.alg;
    bool back = node->down && world_may_return(w->world, i);

    walk_offer_if(w, w->crash && !node->down, WORLD_CRASH, i, 0);
    walk_offer_if(w, w->crash && !node->down && alg->news && !(w->task->needs & DME_DETECTION), WORLD_SUSPECT, i, 0);
    walk_offer_if(w, w->restart && back, DME_RESTART, i, 0);
    walk_offer_if(w, w->resume && back, DME_RESTART, i, 1);
    walk_offer_if(w, w->join && !node->down && alg->join, DME_JOIN, i, 0);
    walk_offer_if(w, w->leave && !node->down && alg->leave && node->phase == DME_IDLE, DME_LEAVE, i, 0);
    if (i < 31)
        walk_offer_if(w, w->cut && !w->world->side && i + 1 < w->task->conf.n, WORLD_CUT, 0, (2u << i) - 1);
    walk_offer_if(w, w->world->side && i == 0, WORLD_HEAL, 0, 0);
}

static void walk_offer_message(struct walk *w, struct world_move move)
{
    walk_offer(w, move);
    if (move.kind >= DME_NEWS)
        return;
    move.type = WORLD_LOSE;
    if (w->lose)
        walk_offer(w, move);
    move.type = WORLD_DUPLICATE;
    if (w->duplicate)
        walk_offer(w, move);
}

static void walk_offer_all(struct walk *w)
{
    w->choices = 0;
    for (dme_id i = 0; i < w->task->conf.n; i++) {
        walk_offer_site(w, i);
        if (check_fails(w->task))
            walk_offer_failures(w, i);
    }
    for (size_t k = 0; k < w->world->flights; k++)
        if (world_may_arrive(w->world, k, w->task->needs))
            walk_offer_message(w, world_delivery(w->world, k));
}

static void walk_make(struct walk *w, struct world_move move)
{
    if (w->moved == w->room) {
        w->room = w->room ? 2 * w->room : 1024;
        w->moves = mem_grow(w->moves, w->room * sizeof *w->moves);
    }
    w->moves[w->moved++] = move;
    w->left[move.site] -= move.type == DME_REQUEST;
    w->lose -= move.type == WORLD_LOSE;
    w->duplicate -= move.type == WORLD_DUPLICATE;
    w->crash -= move.type == WORLD_CRASH || move.type == WORLD_SUSPECT;
    w->restart -= move.type == DME_RESTART && !move.arg;
    w->resume -= move.type == DME_RESTART && move.arg;
    w->cut -= move.type == WORLD_CUT;
    w->join -= move.type == DME_JOIN;
    w->leave -= move.type == DME_LEAVE;
    world_move(w->world, &move);
    w->result->transitions++;
}

static enum check_verdict walk_verdict(struct walk *w)
{
    if (w->world->out->fault) {
        w->result->fault = w->world->out->fault;
        return CHECK_ERROR;
    }
    if (!world_safe(w->world))
        return CHECK_EXCLUSION;
    if (!w->task->deadlocks_too && world_stuck(w->world))
        return CHECK_DEADLOCK;
    w->result->fault = w->task->plain || w->task->conf.alg->flaw ? NULL : world_broken(w->world);
    return w->result->fault ? CHECK_INVARIANT : CHECK_HOLDS;
}

/* Of a restless algorithm: no site asks any more, and messages go on for ever. */
static bool walk_idles(const struct walk *w)
{
    bool idle = w->task->conf.alg->restless;

    for (dme_id i = 0; i < w->task->conf.n; i++)
        idle &= w->world->node[i]->phase == DME_IDLE && !w->left[i];
    return idle;
}

/* One run, to its end or a violation. */
static void walk_run(struct walk *w)
{
    w->world = world_new(&w->task->conf);
    w->moved = 0;
    for (dme_id i = 0; i < w->task->conf.n; i++)
        w->left[i] = w->task->requests[i];
    w->lose = w->task->lose;
    w->duplicate = w->task->duplicate;
    w->crash = w->task->crash;
    w->restart = w->task->restart;
    w->resume = w->task->resume;
    w->cut = w->task->cut;
    w->join = w->task->join;
    w->leave = w->task->leave;
    walk_offer_all(w);
    while (w->choices && !walk_idles(w) && w->result->verdict == CHECK_HOLDS) {
        walk_make(w, w->choice[random_below(&w->random, (uint32_t)w->choices)]);
        w->result->verdict = walk_verdict(w);
        walk_offer_all(w);
    }
    if (w->result->depth < w->moved)
        w->result->depth = w->moved;
    world_free(w->world);
}

void check_random(const struct check_task *task, uint64_t runs, uint64_t seed, struct check_result *result)
{
    struct walk w = {.task = task, .result = result};
    struct timespec began, ended;

    memset(result, 0, sizeof *result);
    random_seed(&w.random, seed, 0);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (; result->runs < runs && result->verdict == CHECK_HOLDS && !check_stopped(task); result->runs++) {
        walk_run(&w);
        if (task->progress)
            task->progress(result->runs + 1, runs - result->runs - 1, 0);
    }
    result->interrupted = result->verdict == CHECK_HOLDS && result->runs < runs;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    result->seconds = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) * 1e-9;
    if (result->verdict != CHECK_HOLDS) {
        result->trace = w.moves;
        result->trace_length = w.moved;
    } else {
        free(w.moves);
    }
    free(w.choice);
}
