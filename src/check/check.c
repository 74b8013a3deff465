/* check.c - see check.h. The search by one thread; parallel.c has that by several, fingerprint.c that with
 * fingerprints. */
#include "check.h"

#include "base/memory.h"
#include "search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const check_verdicts[] = {"holds",      "exclusion", "deadlock",  "error",      "starvation",
                                      "overtaking", "blocking",  "invariant", "unfinished", NULL};
_Static_assert(sizeof check_verdicts / sizeof check_verdicts[0] == CHECK_UNFINISHED + 2,
               "a verdict has a name, and a null ends them");

/* If the state space is infinite, the checker looks for starvation at CHECK_STARVE_FIRST states, and again whenever
 * their number has grown by the factor CHECK_STARVE_AGAIN. */
enum { CHECK_STARVE_FIRST = 10000, CHECK_STARVE_AGAIN = 8 };
enum { CHECK_FEW_STATES = 1000000 };
enum { CHECK_FAN = 16 };    /* new states that a state leads to, at most, as a rule */
enum { CHECK_BATCH = 256 }; /* successors of a state that are looked up together, so that cache misses overlap */

struct check {
    struct search *search;
    struct search_finding finding;
    struct space_moment moment;
    uint32_t next[CHECK_BATCH][SPACE_WIDTH];
    uint64_t hash[CHECK_BATCH];
    uint32_t batch;
};

uint32_t check_needs(const struct dme_alg *alg, bool fifo)
{
    return (alg->needs & ~(uint32_t)DME_FIFO) | (fifo ? DME_FIFO : 0);
}

bool check_reducible(const struct check_task *task)
{
    return !task->quiet && !(task->needs & (DME_BOUNDED_DELAY | DME_SEQUENCED)) && !task->lose && !task->duplicate &&
           !check_fails(task) && !task->starvation && !task->messages && !task->overtaking && !task->concurrency &&
           !task->canonical;
}

bool check_may_be_canonical(const struct check_task *task)
{
    const struct dme_option *o = task->conf.alg->options;

    for (unsigned k = 0; o && o[k].key; k++)
        if (!o[k].choices && task->conf.option[k] != o[k].initial)
            return false;
    return task->conf.alg->canon && !(task->needs & DME_BOUNDED_DELAY) && !task->lose && !task->duplicate &&
           !check_fails(task);
}

/* By the bits that really tell states apart: 128, unless there are few states or something is wrong. */
double check_omission(const struct check_result *result)
{
    return ldexp((double)result->states * (double)result->states, -(int)result->print_bits - 1);
}

double search_seconds(const struct search *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - s->began.tv_sec) + (double)(now.tv_nsec - s->began.tv_nsec) * 1e-9;
}

bool search_over_limits(const struct search *s, size_t more)
{
    size_t count = states_count(&s->states);

    return count > s->task->limit || count >= STATES_MAX || check_stopped(s->task) ||
           (s->task->memory && states_memory_ahead(&s->states, more) + space_memory(&s->space) > s->task->memory);
}

bool search_violates(const struct search *s, const uint32_t *state, struct space_moment *moment,
                     struct search_finding *finding)
{
    uint32_t overtaken = s->task->overtaking ? space_overtaken(&s->space, state) : 0;

    if (s->result->overtaken < overtaken)
        s->result->overtaken = overtaken;
    if (s->task->overtaking && overtaken > s->task->overtakes)
        finding->verdict = CHECK_OVERTAKING;
    else if (!space_safe(&s->space, state))
        finding->verdict = CHECK_EXCLUSION;
    else if (!s->task->deadlocks_too && space_stuck(&s->space, state))
        finding->verdict = CHECK_DEADLOCK;
    else if (s->task->concurrency && space_blocked(&s->space, state))
        finding->verdict = CHECK_BLOCKING;
    else if (!s->task->plain && (finding->fault = space_broken(&s->space, state, moment)))
        finding->verdict = CHECK_INVARIANT;
    return finding->verdict != CHECK_HOLDS;
}

/* ------------------------------------------------------------------------------------------------------- one thread */

/* Looks the collected successors up. True on a violation. */
static bool check_flush(struct check *c, uint32_t parent)
{
    enum { AHEAD = 3 };

    for (uint32_t k = 0; k < c->batch; k++) {
        uint32_t number;

        if (k + AHEAD < c->batch)
            states_prefetch_state(&c->search->states, c->hash[k + AHEAD]);
        number = states_add(&c->search->states, c->next[k], c->hash[k], parent);
        if (number != STATES_NONE && search_violates(c->search, c->next[k], &c->moment, &c->finding)) {
            c->finding.state = number;
            return true;
        }
    }
    c->batch = 0;
    return false;
}

/* Makes one move. True on a violation. */
static bool check_successor(struct check *c, uint32_t parent, dme_id i, uint32_t t)
{
    struct search *s = c->search;
    uint32_t *next = c->next[c->batch];

    s->result->transitions++;
    space_apply(&s->space, states_get(&s->states, parent), i, t, next);
    c->hash[c->batch] = states_hash(&s->states, next);
    if (s->space.transition[t].fault) {
        states_add(&s->states, next, c->hash[c->batch], parent);
        c->finding =
            (struct search_finding){.verdict = CHECK_ERROR, .fault = s->space.transition[t].fault, .state = parent};
        return true;
    }
    states_prefetch(&s->states, c->hash[c->batch]);
    return ++c->batch == CHECK_BATCH && check_flush(c, parent);
}

/* Makes every move that is possible in this state. True on a violation. */
static bool check_expand(struct check *c, uint32_t k)
{
    for (dme_id i = 0; i < c->search->n; i++) {
        uint32_t first, count = space_expand(&c->search->space, states_get(&c->search->states, k)[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            if (space_affords(&c->search->space, states_get(&c->search->states, k), &c->search->space.transition[t]) &&
                check_successor(c, k, i, t))
                return true;
    }
    return check_flush(c, k);
}

static void check_search(struct check *c)
{
    struct search *s = c->search;
    const size_t *count = &s->states.shard[0].count;
    size_t level_end = *count, starve_at = CHECK_STARVE_FIRST;

    for (size_t k = 0; k < *count; k++) {
        if (k == level_end) {
            s->result->depth++;
            level_end = *count;
        }
        if (check_expand(c, (uint32_t)k))
            return;
        if (s->task->starvation && *count > starve_at) {
            starve_at *= CHECK_STARVE_AGAIN;
            if (starve_search(s))
                return;
        }
        if (k % CHECK_BATCH == 0 && search_over_limits(s, CHECK_BATCH * CHECK_FAN)) {
            c->finding.verdict = CHECK_UNFINISHED;
            return;
        }
        if (s->task->progress && k % (1u << 17) == 0)
            s->task->progress(*count, *count - k, search_seconds(s));
    }
}

/* ------------------------------------------------------------------------------------------------------ a whole run */

/* Several threads share the search for what single states show. The rest looks at the states as one thread found
 * them. */
static uint32_t check_threads(const struct check_task *task)
{
    bool alone = task->canonical || task->starvation || task->messages || task->overtaking ||
                 task->needs & DME_BOUNDED_DELAY || check_fails(task);

    return alone || task->threads < 1 ? 1 : task->threads < STATES_SHARDS_MAX ? task->threads : STATES_SHARDS_MAX;
}

static uint32_t check_all_mishaps(const struct check_task *t)
{
    return t->lose * (uint32_t)SPACE_LOSS + t->duplicate * (uint32_t)SPACE_DUPLICATE +
           t->crash * (uint32_t)SPACE_CRASH + t->restart * (uint32_t)SPACE_RESTART +
           t->resume * (uint32_t)SPACE_RESUME + t->cut * (uint32_t)SPACE_CUT + t->join * (uint32_t)SPACE_JOIN +
           t->leave * (uint32_t)SPACE_LEAVE;
}

/* From the initial state on, and then through what was reached, if something is asked that needs all of it. */
static void check_exact(struct search *s, const uint32_t *start)
{
    struct check *c = mem_new(sizeof *c);
    struct check_result *r = s->result;
    uint32_t threads = check_threads(s->task);

    c->search = s;
    states_init(&s->states, space_width(&s->space), threads);
    c->finding.state = s->start = states_add(&s->states, start, states_hash(&s->states, start), STATES_NONE);
    if (!search_violates(s, start, &c->moment, &c->finding)) {
        if (threads > 1)
            parallel_search(s, threads, &c->finding);
        else
            check_search(c);
    }
    if (c->finding.verdict != CHECK_HOLDS) {
        r->verdict = c->finding.verdict;
        r->fault = c->finding.fault;
        if (r->verdict != CHECK_UNFINISHED)
            trace_to(s, c->finding.state);
        if (r->verdict == CHECK_ERROR)
            trace_fault(s, c->finding.state);
    }
    if (s->task->starvation && (r->verdict == CHECK_HOLDS || r->verdict == CHECK_UNFINISHED))
        starve_search(s);
    if (s->task->messages && r->verdict == CHECK_HOLDS)
        r->messages = longest_messages(s);
    if ((s->task->starvation || s->task->messages) && r->verdict == CHECK_HOLDS && check_stopped(s->task)) {
        r->verdict = CHECK_UNFINISHED; /* what is asked of all states together is not known */
        r->messages = 0;
    }
    r->states = states_count(&s->states);
    r->memory = states_memory(&s->states) + space_memory(&s->space);
    space_forget(&c->moment);
    states_free(&s->states);
    free(c);
}

/* By fingerprints, or with fewer interleavings. */
static void check_otherwise(struct search *s, const uint32_t *start)
{
    struct search_finding finding = {0};

    assert(!s->task->starvation && !s->task->messages);
    if (s->task->fingerprints)
        fingerprint_search(s, start, &finding);
    else
        reduce_search(s, start, &finding);
    s->result->verdict = finding.verdict;
    s->result->fault = finding.fault;
}

/* A shortest way to a violation that was found otherwise: the plain search finds it too, unless memory ends before. */
static void check_retrace(const struct check_task *task, struct check_result *result)
{
    struct check_task exact = *task;
    struct check_result again;

    exact.fingerprints = exact.reduce = false;
    exact.threads = 1;
    check_run(&exact, &again);
    if (again.trace) {
        result->verdict = again.verdict;
        result->fault = again.fault;
    }
    result->trace = again.trace;
    result->trace_length = again.trace_length;
}

/* Where canonical forms have no answer: few requests may violate something, and that is the result. Else there is none, for this
 * reason. */
static void check_few(const struct check_task *task, struct check_result *result, const char *fault)
{
    struct check_task few = *task;
    uint64_t compared = result->compared, first = result->compared_first;

    few.canonical = few.starvation = false;
    few.limit = task->limit < CHECK_FEW_STATES ? task->limit : CHECK_FEW_STATES;
    memset(few.requests, task->conf.n < 3 ? 5 : 2, sizeof few.requests);
    check_run(&few, result);
    result->compared = compared;
    result->compared_first = first;
    if (!result->trace) {
        result->verdict = CHECK_UNFINISHED;
        result->fault = fault;
    }
}

/* May clocks tick at any time? Then a violation need not be one of the algorithm, and there is no trace of it. */
static bool check_ticks(const struct check_task *task)
{
    return task->canonical && task->conf.alg->clock;
}

/* Before a search through canonical forms: are they right? */
static bool check_canon_first(const struct check_task *task, struct check_result *result)
{
    if (commute_test(task, result) == COMMUTE_FITS)
        return true;
    check_few(task, result, result->fault);
    return false;
}

/* Did a site request in any state that was looked at? */
static bool check_asked(const struct space *s)
{
    bool asked = false;

    for (size_t p = 0; p < s->parts; p++)
        asked |= s->part[p].count != UINT32_MAX && s->part[p].flags & (SPACE_WAITS | SPACE_INSIDE);
    return asked;
}

void check_run(const struct check_task *task, struct check_result *result)
{
    struct search s = {.task = task, .result = result, .n = task->conf.n};
    uint32_t start[SPACE_WIDTH];

    memset(result, 0, sizeof *result);
    if (task->canonical && !check_canon_first(task, result))
        return;
    clock_gettime(CLOCK_MONOTONIC, &s.began);
    space_init(&s.space, &task->conf, task->needs);
    s.space.overtaking = task->overtaking;
    s.space.mishaps = check_all_mishaps(task);
    s.space.quiet = task->quiet;
    space_start(&s.space, task->requests, start);
    memcpy(s.concrete, start, sizeof start);
    s.space.canonical = task->canonical;
    s.space.clock = task->canonical ? task->conf.alg->clock : NULL;
    if (task->canonical)
        space_canon(&s.space, start);
    if (task->fingerprints || task->reduce)
        check_otherwise(&s, start);
    else
        check_exact(&s, start);
    result->steps = s.space.steps;
    result->interrupted = result->verdict == CHECK_UNFINISHED && check_stopped(task);
    result->vacuous = task->quiet && result->verdict == CHECK_HOLDS && !check_asked(&s.space);
    space_coverage(&s.space, &result->coverage);
    result->seconds = search_seconds(&s);
    space_free(&s.space);
    if (check_ticks(task) && result->verdict != CHECK_HOLDS && result->verdict != CHECK_UNFINISHED)
        check_few(task, result,
                  "canonical forms, in which clocks tick at any time, violate a property; few requests do not");
    if ((task->fingerprints || task->reduce) && result->verdict != CHECK_HOLDS && result->verdict != CHECK_UNFINISHED)
        check_retrace(task, result);
}
