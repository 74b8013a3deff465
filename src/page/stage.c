/* stage.c - see stage.h. */
#include "stage.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_TEXT = 8192, STAGE_MODES = 16 }; /* modes that are offered: locks of the service have billions of groups */

static char *stage_copy(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(mem_new(size), text, size);
}

/* ---------------------------------------------------------------------------------------------------------- promises */

static bool stage_early(const struct lab_world *w, const struct world_move *move)
{
    return move->type == DME_TIMER && w->flights;
}

uint32_t stage_forbids(const struct lab_world *w, const struct world_move *move, uint32_t keeps, const char **why)
{
    const struct dme_alg *alg = w->conf.alg;
    size_t k = move->type == DME_RECEIVE ? world_find(w, move) : SIZE_MAX;
    const struct {
        uint32_t promise;
        bool broken;
        const char *why;
    } rules[] = {
        {DME_FIFO, k != SIZE_MAX && !world_may_arrive(w, k, DME_FIFO),
         "FIFO: an older message of this channel is first"},
        {DME_SEQUENCED, k != SIZE_MAX && !world_may_arrive(w, k, DME_SEQUENCED),
         "sequenced: an older broadcast arrives first"},
        {DME_DETECTION, k != SIZE_MAX && !world_may_arrive(w, k, DME_DETECTION),
         "detection: the messages of that site arrive before the report of its crash"},
        {DME_DETECTION, move->type == WORLD_SUSPECT, "detection: no site is reported that has not crashed"},
        {DME_RELIABLE, world_is_mishap(move->type), "reliable: every message arrives exactly once"},
        {DME_RELIABLE, move->type == WORLD_CUT && !alg->news, "reliable: a cut would lose messages"},
        {DME_ALIVE, move->type == WORLD_CRASH, "alive: no site stops"},
        {DME_BOUNDED_DELAY, stage_early(w, move), "bounded-delay: messages in flight arrive before a timer fires"},
    };

    for (unsigned r = 0; r < sizeof rules / sizeof rules[0]; r++)
        if (rules[r].broken && keeps & rules[r].promise) {
            *why = rules[r].why;
            return rules[r].promise;
        }
    *why = NULL;
    return 0;
}

/* Why the move has no meaning for this algorithm, even if the network promises nothing; null if it has one. */
static const char *stage_pointless(const struct stage *s, const struct world_move *move)
{
    if (s->world->out->fault)
        return "the last step contradicts the protocol: nothing can happen after it";
    if (move->type == WORLD_SUSPECT && !s->conf.alg->news)
        return "the algorithm has no failure detector";
    if (world_is_mishap(move->type) && move->kind >= DME_NEWS)
        return "reports of the failure detector are neither lost nor copied";
    if (move->type == DME_RESTART && !s->conf.alg->restart)
        return "the algorithm has no rule for a restart";
    return NULL;
}

const char *stage_objects(const struct stage *s, const struct world_move *move)
{
    const char *why = stage_pointless(s, move);

    if (!why)
        why = world_objects(s->world, move);
    if (!why)
        stage_forbids(s->world, move, s->keeps, &why);
    return why;
}

/* ----------------------------------------------------------------------------------------------------------- actions */

static void stage_offer(struct stage *s, struct world_move move)
{
    s->action = mem_grow(s->action, (s->actions + 1) * sizeof *s->action);
    s->action[s->actions++] = (struct stage_action){move, stage_objects(s, &move)};
}

static void stage_offer_site(struct stage *s, dme_id site)
{
    static const struct world_move failures[] = {
        {.type = WORLD_CRASH}, {.type = DME_RESTART}, {.type = DME_RESTART, .arg = 1}, {.type = WORLD_SUSPECT}};
    uint32_t first, last;

    dme_modes(&s->conf, &first, &last);
    for (uint32_t mode = first; mode <= last && mode - first < STAGE_MODES; mode++)
        stage_offer(s, (struct world_move){.type = DME_REQUEST, .site = site, .arg = mode});
    stage_offer(s, (struct world_move){.type = DME_RELEASE, .site = site});
    for (unsigned t = 0; t < DME_TIMERS; t++)
        if (s->world->node[site]->armed >> t & 1)
            stage_offer(s, (struct world_move){.type = DME_TIMER, .site = site, .arg = t});
    for (unsigned f = 0; f < sizeof failures / sizeof failures[0]; f++) {
        struct world_move move = failures[f];

        move.site = site;
        stage_offer(s, move);
    }
    if (s->conf.alg->join)
        stage_offer(s, (struct world_move){.type = DME_JOIN, .site = site});
    if (s->conf.alg->leave)
        stage_offer(s, (struct world_move){.type = DME_LEAVE, .site = site});
}

uint32_t stage_offer_message(struct stage *s, size_t k)
{
    struct world_move move = world_delivery(s->world, k);
    uint32_t first = s->actions;

    stage_offer(s, move);
    move.type = WORLD_LOSE;
    stage_offer(s, move);
    move.type = WORLD_DUPLICATE;
    stage_offer(s, move);
    return first;
}

static void stage_offer_sites(struct stage *s)
{
    s->actions = 0;
    for (dme_id site = 0; site < s->conf.n; site++)
        stage_offer_site(s, site);
}

/* The state of every site as text. */
static void stage_describe(const struct stage *s, char **state)
{
    for (dme_id site = 0; site < s->conf.n; site++) {
        char line[STAGE_TEXT];
        struct dme_text text;

        dme_text_init(&text, line, sizeof line);
        if (!s->world->node[site]->down)
            dme_print_state(&s->conf, s->world->node[site], &text);
        free(state[site]);
        state[site] = stage_copy(line);
    }
}

/* ------------------------------------------------------------------------------------------------------------- steps */

const char *stage_wrong(const struct stage_step *step)
{
    static const enum stage_lamp order[] = {STAGE_PROTOCOL, STAGE_EXCLUSION, STAGE_INVARIANTS, STAGE_RECORD,
                                            STAGE_DEADLOCK};

    for (unsigned k = 0; k < STAGE_LAMPS; k++)
        if (step->lamp[order[k]])
            return step->lamp[order[k]];
    return NULL;
}

static void stage_note_sends(const struct stage *s, struct stage_step *step, uint64_t before)
{
    const struct lab_world *w = s->world;

    for (size_t f = 0; f < w->flights; f++) {
        const struct dme_msg *m = w->flight[f].msg;
        char line[STAGE_TEXT];
        struct dme_text text;

        if (w->flight[f].sent < before)
            continue;
        dme_text_init(&text, line, sizeof line);
        dme_print_msg(&s->conf, m, &text);
        step->send = mem_grow(step->send, (step->sends + 1) * sizeof *step->send);
        step->send[step->sends++] = (struct stage_send){w->flight[f].sent, m->from, m->to, m->kind, stage_copy(line)};
    }
}

/* Records the phase of each site after the step, and whether a property is violated. */
static void stage_note_world(const struct stage *s, struct stage_step *step)
{
    step->phases = mem_new(s->conf.n + 1);
    for (dme_id i = 0; i < s->conf.n; i++)
        step->phases[i] = s->world->node[i]->down ? 'd' : "iwI"[s->world->node[i]->phase];
    step->lamp[STAGE_EXCLUSION] =
        world_safe(s->world) ? NULL : "sites that the rule does not admit together are inside";
    step->lamp[STAGE_DEADLOCK] = world_stuck(s->world) ? "a site waits, and nothing is under way" : NULL;
    step->lamp[STAGE_INVARIANTS] = world_broken(s->world);
    step->lamp[STAGE_PROTOCOL] = s->world->out->fault;
}

/* Keeps the world of this place. If all marks are in use, every second one is given up. */
static void stage_mark(struct stage *s)
{
    if (s->marks == STAGE_MARKS) {
        s->marks = 0;
        for (uint32_t k = 0; k < STAGE_MARKS; k++)
            if (k % 2)
                s->mark[s->marks++] = s->mark[k];
            else
                world_free(s->mark[k].world);
        s->stride *= 2;
    }
    if (s->place % s->stride == 0)
        s->mark[s->marks++] = (struct stage_mark){s->place, world_clone(s->world)};
}

/* Gives up the marks behind this place. */
static void stage_unmark(struct stage *s, uint32_t place)
{
    while (s->marks && s->mark[s->marks - 1].place > place)
        world_free(s->mark[--s->marks].world);
}

/* Makes a move and remembers what it did. The world has been asked before. */
static void stage_make(struct stage *s, const struct world_move *move)
{
    struct stage_step step = {.move = *move, .received = UINT64_MAX};
    uint64_t before = s->world->sent;
    char line[STAGE_TEXT];
    struct dme_text text;

    if (move->type == DME_RECEIVE || world_is_mishap(move->type))
        step.received = s->world->flight[world_find(s->world, move)].sent;
    dme_text_init(&text, line, sizeof line);
    world_print_move(s->world, move, &text);
    step.text = stage_copy(line);
    dme_text_init(&text, line, sizeof line);
    world_play(s->world, move, &text);
    step.effect = stage_copy(line);
    step.entered = s->world->out->entered;
    stage_note_sends(s, &step, before);
    stage_note_world(s, &step);
    if (s->count + 1 == s->room) {
        s->room *= 2;
        s->step = mem_grow(s->step, s->room * sizeof *s->step);
    }
    if (s->verdict && s->verdict->move <= s->count)
        step.lamp[STAGE_RECORD] = s->verdict->text;
    s->step[++s->count] = step;
    s->place = s->count;
    if (s->place % s->stride == 0)
        stage_mark(s);
}

static void stage_drop(struct stage_step *step)
{
    for (uint32_t k = 0; k < step->sends; k++)
        free(step->send[k].label);
    free(step->send);
    free(step->text);
    free(step->effect);
    free(step->phases);
}

/* The world at a place, made from the last mark before it or, if that is nearer, from where it is. The last move is made
 * in any case: a clone does not know what the last step left. */
static void stage_replay(struct stage *s, uint32_t place)
{
    const struct stage_mark *best = NULL;

    for (uint32_t k = 0; k < s->marks && s->mark[k].place < place; k++)
        best = &s->mark[k];
    if (place < s->place || (best && best->place > s->place)) {
        world_free(s->world);
        s->world = best ? world_clone(best->world) : s->begin ? world_clone(s->begin) : world_new(&s->conf);
        s->place = best ? best->place : 0;
    }
    while (s->place < place)
        world_move(s->world, &s->step[++s->place].move);
}

void stage_seek(struct stage *s, uint32_t place)
{
    if (place > s->count)
        place = s->count;
    stage_replay(s, place ? place - 1 : 0);
    stage_describe(s, s->before);
    stage_replay(s, place);
    stage_describe(s, s->state);
    stage_offer_sites(s);
}

const char *stage_move(struct stage *s, const struct world_move *move)
{
    const char *why = stage_objects(s, move);

    if (!why && s->place == STAGE_MOVES_MAX)
        why = "the run has a million moves; begin another one";
    if (why)
        return why;
    while (s->count > s->place)
        stage_drop(&s->step[s->count--]);
    stage_unmark(s, s->place);
    stage_make(s, move);
    for (dme_id i = 0; i < s->conf.n; i++) {
        free(s->before[i]);
        s->before[i] = s->state[i];
        s->state[i] = NULL;
    }
    stage_describe(s, s->state);
    stage_offer_sites(s);
    return NULL;
}

void stage_keep(struct stage *s, uint32_t keeps)
{
    s->keeps = keeps;
    stage_offer_sites(s);
}

/* ------------------------------------------------------------------------------------------------- beginning and end */

static struct stage *stage_new(const struct moves *run)
{
    struct stage *s = mem_new(sizeof *s);

    s->conf = run->conf;
    s->keeps = (run->conf.alg->needs & ~(uint32_t)DME_FIFO) | (run->fifo ? DME_FIFO : 0);
    s->begin = run->begin;
    s->recorded = run->recorded;
    s->world = s->begin ? world_clone(s->begin) : world_new(&s->conf);
    s->state = mem_new(s->conf.n * sizeof *s->state);
    s->before = mem_new(s->conf.n * sizeof *s->before);
    s->room = STAGE_MARKS;
    s->stride = STAGE_MARKS / 4;
    s->step = mem_new(s->room * sizeof *s->step);
    s->step[0] = (struct stage_step){.received = UINT64_MAX, .text = stage_copy(""), .effect = stage_copy("")};
    stage_note_sends(s, &s->step[0], 0);
    stage_note_world(s, &s->step[0]);
    return s;
}

/* A run without moves has not been looked at by the scenario. */
static bool stage_fits(const struct moves *run, struct scenario_error *error)
{
    struct dme_text text;

    *error = (struct scenario_error){0};
    dme_text_init(&text, error->text, sizeof error->text);
    if (!run->conf.alg)
        dme_print(&text, "which algorithm? Begin with a line \"algorithm NAME\"");
    else if (run->conf.n < 1 || run->conf.n > STAGE_SITES_MAX)
        dme_print(&text, "the stage shows 1 to %d sites, not %u", STAGE_SITES_MAX, run->conf.n);
    else if (run->count > STAGE_MOVES_MAX)
        dme_print(&text, "the stage shows at most %d moves, not %u", STAGE_MOVES_MAX, run->count);
    else
        return dme_conf_check(&run->conf, &text);
    return false;
}

/* From the first move that is not as it was recorded, the lamp is red. */
static void stage_judge(struct stage *s, const struct moves *run)
{
    if (!run->verdicts)
        return;
    s->verdict = mem_new(sizeof *s->verdict);
    *s->verdict = (struct moves_verdict){run->verdict[0].move, stage_copy(run->verdict[0].text)};
    for (uint32_t k = s->verdict->move; k <= s->count; k++)
        s->step[k].lamp[STAGE_RECORD] = s->verdict->text;
}

struct stage *stage_open(const char *path, const char *text, struct scenario_error *error)
{
    struct moves run;
    struct stage *s;

    if (!scenario_replay(path, text, &run, error))
        return NULL;
    if (!stage_fits(&run, error)) {
        scenario_run_free(&run);
        return NULL;
    }
    s = stage_new(&run);
    run.begin = NULL;
    for (uint32_t k = 0; k < run.count; k++) {
        const char *why;

        s->keeps &= ~stage_forbids(s->world, &run.move[k], s->keeps, &why);
        stage_make(s, &run.move[k]);
        s->step[s->count].age_ms = run.age_ms[k];
    }
    stage_judge(s, &run);
    s->remark = (struct moves_remark *)run.remark;
    s->remarks = run.remarks;
    run.remark = NULL;
    run.remarks = 0;
    scenario_run_free(&run);
    stage_seek(s, 0);
    return s;
}

void stage_free(struct stage *s)
{
    for (uint32_t k = 0; k <= s->count; k++)
        stage_drop(&s->step[k]);
    stage_unmark(s, 0);
    for (dme_id i = 0; i < s->conf.n; i++) {
        free(s->state[i]);
        free(s->before[i]);
    }
    for (uint32_t k = 0; k < s->remarks; k++)
        free(s->remark[k].text);
    free(s->remark);
    world_free(s->world);
    if (s->begin)
        world_free(s->begin);
    if (s->verdict)
        free(s->verdict->text);
    free(s->verdict);
    free(s->state);
    free(s->before);
    free(s->step);
    free(s->action);
    free(s);
}

char *stage_scenario(const struct stage *s)
{
    struct world_move *move = mem_new((s->count + 1) * sizeof *move);
    struct moves run = {
        .conf = s->conf, .fifo = s->keeps & DME_FIFO, .move = move, .count = s->count, .loop = s->count};
    char *text;

    for (uint32_t k = 0; k < s->count; k++)
        move[k] = s->step[k + 1].move;
    text = moves_scenario(&run, "Played on the page.");
    free(move);
    return text;
}
