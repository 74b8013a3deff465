/* search.c - all states of a model, breadth first; see model.h. States are byte strings, stored once each as the checker
 * stores the parts of its states (check/intern.h): the numbers under which they are stored are the queue of the search. */
#include "base/memory.h"
#include "check/intern.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODEL_NONE UINT32_MAX

const struct model *const model_all[] = {&model_leases, &model_sessions, NULL};

void model_set_bounds(struct model_task *t)
{
    const struct model_mistake *m = t->mistake < 0 ? NULL : &t->model->mistakes[t->mistake];

    if (!m || t->members || t->founders || t->views || t->roster || t->calm || t->prompt || t->held || t->clocks ||
        t->change || t->lost)
        return;
    t->members = m->members;
    t->founders = m->founders;
    t->lease = t->lease ? t->lease : m->lease;
    t->views = m->views;
    t->roster = m->roster;
    t->calm = m->calm;
    t->prompt = m->prompt;
    t->held = m->held;
    t->lost = m->lost;
    t->change = m->change;
}

struct model_walk {
    const struct model_task *task;
    struct model_result *result;
    struct intern states;
    uint32_t *parent; /* of each state */
    size_t room;
    uint32_t from; /* the state that is expanded */
    /* Of a violation: the state before it, and the move. While a story is told, the move that leads to `wanted`. */
    uint32_t last;
    struct model_move move;
    uint32_t wanted;
    bool found;
};

static void model_add(struct model_walk *w, const uint8_t *state, size_t len, uint32_t parent)
{
    uint32_t before = w->states.count;

    if (intern_put(&w->states, state, len) < before)
        return;
    if (before == w->room) {
        w->room = w->room ? 2 * w->room : 1 << 12;
        w->parent = mem_grow(w->parent, w->room * sizeof *w->parent);
    }
    w->parent[before] = parent;
}

static void model_reach(void *user, struct model_move move, const uint8_t *state, size_t len, const char *broken)
{
    struct model_walk *w = user;

    if (w->result->broken)
        return;
    w->result->transitions++;
    if (!broken) {
        model_add(w, state, len, w->from);
        return;
    }
    w->result->broken = broken;
    w->last = w->from;
    w->move = move;
}

static void model_match(void *user, struct model_move move, const uint8_t *state, size_t len, const char *broken)
{
    struct model_walk *w = user;

    if (!w->found && !broken && len == w->states.length[w->wanted] &&
        memcmp(state, intern_get(&w->states, w->wanted), len) == 0) {
        w->move = move;
        w->found = true;
    }
}

static uint32_t model_depth(const struct model_walk *w, uint32_t state)
{
    uint32_t depth = 0;

    for (; w->parent[state] != MODEL_NONE; state = w->parent[state])
        depth++;
    return depth;
}

/* One sentence for each move. Each line begins with the time, in rounds. */
static void model_tell(struct model_walk *w, FILE *to)
{
    const struct model *model = w->task->model;
    uint32_t length = model_depth(w, w->last) + 1, round = 0;
    uint32_t *path = mem_new(length * sizeof *path);
    struct model_move broken = w->move;
    struct model_out out = {.user = w, .emit = model_match};

    path[length - 1] = w->last;
    for (uint32_t k = length - 1; k > 0; k--)
        path[k - 1] = w->parent[path[k]];
    for (uint32_t k = 0; k < length; k++) {
        const uint8_t *before = intern_get(&w->states, path[k]);

        w->move = broken;
        if (k + 1 < length) {
            w->wanted = path[k + 1];
            w->found = false;
            model->expand(w->task, before, &out);
        }
        round += model->is_time(w->move);
        if (model->is_time(w->move))
            continue;
        fprintf(to, "  round %-3u ", round);
        model->tell(w->task, before, w->move, k + 1 < length ? intern_get(&w->states, path[k + 1]) : NULL, to);
        fputc('\n', to);
    }
    free(path);
}

static double model_seconds(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) * 1e-9;
}

void model_search(const struct model_task *task, struct model_result *result, FILE *story)
{
    struct model_walk w = {.task = task, .result = result};
    struct model_out out = {.user = &w, .emit = model_reach};
    uint8_t state[MODEL_STATE_MAX];
    struct timespec began;
    uint32_t at;

    memset(result, 0, sizeof *result);
    clock_gettime(CLOCK_MONOTONIC, &began);
    intern_init(&w.states);
    model_add(&w, state, task->model->begin(task, state), MODEL_NONE);
    for (at = 0; at < w.states.count && !result->broken; at++) {
        if (w.states.count > task->limit || (task->stop && *task->stop))
            break;
        if (task->progress && at % 4096 == 0)
            task->progress(w.states.count, w.states.count - at);
        w.from = at;
        memcpy(state, intern_get(&w.states, at), w.states.length[at]); /* states that are added move the bytes */
        task->model->expand(task, state, &out);
    }
    result->verdict = result->broken ? MODEL_VIOLATED : at < w.states.count ? MODEL_UNFINISHED : MODEL_HOLDS;
    result->states = w.states.count;
    result->depth = result->broken ? model_depth(&w, w.last) + 1 : model_depth(&w, w.states.count - 1);
    result->memory = intern_memory(&w.states) + w.room * sizeof *w.parent;
    if (result->broken && story)
        model_tell(&w, story);
    result->seconds = model_seconds(&began);
    intern_free(&w.states);
    free(w.parent);
}

uint32_t model_sees(const struct model_task *task)
{
    uint32_t seen = 0;

    for (int k = 0; task->model->mistakes[k].name; k++) {
        struct model_task t = *task;
        struct model_result r;

        t.mistake = k;
        t.lease = t.clocks ? t.lease_ms : t.lease; /* as the command line has it */
        t.progress = NULL;
        if (t.model->set(&t))
            continue;
        model_search(&t, &r, NULL);
        seen |= (uint32_t)(r.verdict == MODEL_VIOLATED) << k;
    }
    return seen;
}
