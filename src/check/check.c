/* check.c - see check.h. */
#include "check.h"

#include "lab/memory.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const check_verdicts[] = {"holds",      "exclusion", "deadlock",  "error",      "starvation",
                                      "overtaking", "blocking",  "invariant", "unfinished", NULL};

/* Where the states have no end, starvation is looked for whenever there are so many times more of them. */
enum { CHECK_STARVE_FIRST = 10000, CHECK_STARVE_AGAIN = 8 };
enum { CHECK_BATCH = 256 }; /* successors of a state that are looked up together, so that cache misses overlap */

struct check {
    struct search search;
    uint32_t next[CHECK_BATCH][SPACE_SITES];
    uint64_t hash[CHECK_BATCH];
    uint32_t batch;
    struct timespec began;
};

uint32_t check_needs(const struct dme_alg *alg, bool fifo)
{
    return (alg->needs & ~(uint32_t)DME_FIFO) | (fifo ? DME_FIFO : 0);
}

static double check_seconds(const struct check *c)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - c->began.tv_sec) + (double)(now.tv_nsec - c->began.tv_nsec) * 1e-9;
}

static size_t check_memory(const struct check *c)
{
    return states_memory(&c->search.states) + space_memory(&c->search.space);
}

static bool check_violation(struct search *s, const uint32_t *state)
{
    if (!space_safe(&s->space, state))
        s->result->verdict = CHECK_EXCLUSION;
    else if (space_stuck(&s->space, state))
        s->result->verdict = CHECK_DEADLOCK;
    else if (s->task->concurrency && space_blocked(&s->space, state))
        s->result->verdict = CHECK_BLOCKING;
    else if ((s->result->fault = space_broken(&s->space, state)))
        s->result->verdict = CHECK_INVARIANT;
    else if (s->task->overtaking) {
        uint32_t overtaken = space_overtaken(&s->space, state);

        if (s->result->overtaken < overtaken)
            s->result->overtaken = overtaken;
        if (overtaken > s->task->overtakes)
            s->result->verdict = CHECK_OVERTAKING;
    }
    return s->result->verdict != CHECK_HOLDS;
}

/* Looks the collected successors up. True on a violation. */
static bool check_flush(struct check *c, uint32_t parent)
{
    for (uint32_t k = 0; k < c->batch; k++)
        if (states_add(&c->search.states, c->next[k], c->hash[k], parent) && check_violation(&c->search, c->next[k]))
            return true;
    c->batch = 0;
    return false;
}

/* Makes one move. True on a violation. */
static bool check_successor(struct check *c, uint32_t parent, dme_id i, uint32_t t)
{
    struct search *s = &c->search;
    uint32_t *next = c->next[c->batch];

    s->result->transitions++;
    space_apply(&s->space, states_get(&s->states, parent), i, t, next);
    c->hash[c->batch] = states_hash(&s->states, next);
    if (s->space.transition[t].fault) {
        s->result->verdict = CHECK_ERROR;
        s->result->fault = s->space.transition[t].fault;
        states_add(&s->states, next, c->hash[c->batch], parent);
        return true;
    }
    states_prefetch(&s->states, c->hash[c->batch]);
    return ++c->batch == CHECK_BATCH && check_flush(c, parent);
}

/* Makes every move that is possible in this state. True on a violation. */
static bool check_expand(struct check *c, uint32_t k)
{
    for (dme_id i = 0; i < c->search.n; i++) {
        uint32_t first, count = space_expand(&c->search.space, states_get(&c->search.states, k)[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            if (check_successor(c, k, i, t))
                return true;
    }
    return check_flush(c, k);
}

static bool check_over_limits(const struct check *c)
{
    const struct search *s = &c->search;

    return s->states.count > s->task->limit || s->states.count >= STATES_MAX ||
           (s->task->memory && states_memory_next(&s->states) + space_memory(&s->space) > s->task->memory);
}

static void check_search(struct check *c)
{
    struct search *s = &c->search;
    size_t level_end = s->states.count, starve_at = CHECK_STARVE_FIRST;

    for (size_t k = 0; k < s->states.count; k++) {
        if (k == level_end) {
            s->result->depth++;
            level_end = s->states.count;
        }
        if (check_expand(c, (uint32_t)k))
            break;
        if (s->task->starvation && s->states.count > starve_at) {
            starve_at *= CHECK_STARVE_AGAIN;
            if (starve_search(s))
                return;
        }
        if (k % 64 == 0 && check_over_limits(c)) {
            s->result->verdict = CHECK_UNFINISHED;
            break;
        }
        if (s->task->progress && k % (1u << 17) == 0)
            s->task->progress(s->states.count, s->states.count - k, check_seconds(c));
    }
    if (s->result->verdict != CHECK_HOLDS && s->result->verdict != CHECK_UNFINISHED)
        trace_to(s, (uint32_t)s->states.count - 1);
}

void check_run(const struct check_task *task, struct check_result *result)
{
    struct check *c = mem_new(sizeof *c);
    struct search *s = &c->search;
    uint32_t start[SPACE_SITES];

    memset(result, 0, sizeof *result);
    clock_gettime(CLOCK_MONOTONIC, &c->began);
    *s = (struct search){.task = task, .result = result, .n = task->conf.n};
    space_init(&s->space, &task->conf, task->needs);
    s->space.overtaking = task->overtaking;
    states_init(&s->states, s->n);

    space_start(&s->space, task->requests, start);
    states_add(&s->states, start, states_hash(&s->states, start), 0);
    if (!check_violation(s, start))
        check_search(c);
    if (task->starvation && (result->verdict == CHECK_HOLDS || result->verdict == CHECK_UNFINISHED))
        starve_search(s);
    if (task->messages && result->verdict == CHECK_HOLDS)
        result->messages = longest_messages(s);

    result->states = s->states.count;
    result->steps = s->space.steps;
    space_coverage(&s->space, &result->coverage);
    result->seconds = check_seconds(c);
    result->memory = check_memory(c);
    space_free(&s->space);
    states_free(&s->states);
    free(c);
}
