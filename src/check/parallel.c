/* parallel.c - the search by several threads. See search.h.
 *
 * The set of states is cut into shards by hash, one for each thread. The search goes level by level, and in rounds
 * within a level. In a round every thread makes all moves from some states of its own shard and puts each successor
 * into a bag for the thread whose shard it belongs to; when all have done so, every thread empties the bags that are
 * for it. So no thread writes where another one reads: while states are added, nothing is computed in the space, and it
 * can be read without its lock.
 *
 * What it costs: successors go through memory once more, and every thread looks up every part for itself, so where
 * there are many parts (clocks that tick on every message) one thread may be faster. The number of states does not
 * depend on the number of threads (I12); which of several violations of equal depth is found may. */
#include "base/memory.h"
#include "search.h"
#include "view.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL_ROUND = 1 << 13 }; /* states that a thread looks at in a round */
enum { PARALLEL_FAN = 8 };         /* successors of a state, about */

/* Successors for one thread: the state and its parent, and its hash. */
struct bag {
    uint32_t *state;
    uint64_t *hash;
    size_t count, room;
};

struct worker {
    struct parallel *parallel;
    uint32_t me;
    struct thread_view view;
    struct space_moment moment;
    struct search_finding finding;
    size_t next, level_end; /* in this thread's shard: what is to be looked at in this level */
    uint64_t transitions;
    uint32_t made[SPACE_WIDTH]; /* the state behind the last move */
    struct bag bag[STATES_SHARDS_MAX];
};

struct parallel {
    struct search *search;
    uint32_t threads;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    bool stop, unfinished; /* said by the first thread between two rounds */
    bool level;            /* the level is done */
    struct worker worker[];
};

static void bag_put(struct bag *b, uint32_t width, const uint32_t *state, uint64_t hash, uint32_t parent)
{
    uint32_t *to;

    if (b->count == b->room) {
        b->room = b->room ? 2 * b->room : 4096;
        b->state = mem_grow(b->state, b->room * (width + 1) * sizeof *b->state);
        b->hash = mem_grow(b->hash, b->room * sizeof *b->hash);
    }
    to = b->state + b->count * (width + 1);
    memcpy(to, state, width * sizeof *state);
    to[width] = parent;
    b->hash[b->count++] = hash;
}

/* The state behind the last move, which was made from this parent, is for the thread that has its shard. */
static void worker_give(struct worker *h, uint32_t parent)
{
    const struct states *states = &h->parallel->search->states;
    uint64_t hash = states_hash(states, h->made);

    bag_put(&h->bag[states_shard_of(states, hash)], states->width, h->made, hash, parent);
}

/* Makes every move from this state. False if a move contradicts the protocol. */
static bool worker_expand(struct worker *h, uint32_t number)
{
    struct search *s = h->parallel->search;

    for (dme_id i = 0; i < s->n; i++) {
        uint32_t first, count = view_expand(&h->view, states_get(&s->states, number)[i], &first);

        for (uint32_t t = first; t < first + count; t++) {
            if (!space_affords(&s->space, states_get(&s->states, number), &h->view.transition[t]))
                continue;
            h->transitions++;
            view_apply(&h->view, states_get(&s->states, number), i, t, h->made);
            if (h->view.transition[t].fault) {
                h->finding = (struct search_finding){
                    .verdict = CHECK_ERROR, .fault = h->view.transition[t].fault, .state = number};
                return false;
            }
            worker_give(h, number);
        }
    }
    return true;
}

static void worker_make_moves(struct worker *h)
{
    const struct states *states = &h->parallel->search->states;

    for (unsigned k = 0; k < PARALLEL_ROUND && h->next < h->level_end; k++)
        if (!worker_expand(h, states_number(states, h->me, h->next++)))
            return;
}

/* Adds what is in the bag to this thread's shard. */
static void worker_empty(struct worker *h, struct bag *b)
{
    enum { AHEAD = 16 };
    struct search *s = h->parallel->search;

    for (size_t k = 0; k < b->count; k++) {
        const uint32_t *state = b->state + k * (s->states.width + 1);
        uint32_t number;

        if (k + AHEAD < b->count)
            states_prefetch(&s->states, b->hash[k + AHEAD]);
        if (k + AHEAD / 2 < b->count)
            states_prefetch_state(&s->states, b->hash[k + AHEAD / 2]);
        number = states_add(&s->states, state, b->hash[k], state[s->states.width]);
        if (number != STATES_NONE && h->finding.verdict == CHECK_HOLDS &&
            search_violates(s, state, &h->moment, &h->finding))
            h->finding.state = number;
    }
    b->count = 0;
}

/* Between two rounds, the first thread decides for all how it goes on. */
static void parallel_decide(struct parallel *c)
{
    struct search *s = c->search;
    size_t left = 0, waiting = 0; /* to be looked at: in this level, and in all */

    for (uint32_t t = 0; t < c->threads; t++) {
        left += c->worker[t].level_end - c->worker[t].next;
        waiting += s->states.shard[t].count - c->worker[t].next;
        c->stop |= c->worker[t].finding.verdict != CHECK_HOLDS;
    }
    if (!c->stop && search_over_limits(s, PARALLEL_ROUND * PARALLEL_FAN))
        c->stop = c->unfinished = true;
    c->level = left == 0;
    c->stop |= waiting == 0;
    if (c->level && !c->stop)
        s->result->depth++;
    if (s->task->progress)
        s->task->progress(states_count(&s->states), waiting, search_seconds(s));
}

static void *worker_work(void *arg)
{
    struct worker *h = arg;
    struct parallel *c = h->parallel;

    for (;;) {
        worker_make_moves(h);
        pthread_barrier_wait(&c->barrier);
        for (uint32_t t = 0; t < c->threads; t++)
            worker_empty(h, &c->worker[t].bag[h->me]);
        pthread_barrier_wait(&c->barrier);
        if (h->me == 0)
            parallel_decide(c);
        pthread_barrier_wait(&c->barrier);
        if (c->stop)
            return NULL;
        if (c->level)
            h->level_end = c->search->states.shard[h->me].count;
    }
}

static void worker_init(struct worker *h, struct parallel *c, uint32_t me)
{
    h->parallel = c;
    h->me = me;
    h->level_end = c->search->states.shard[me].count;
    view_init(&h->view, &c->search->space, &c->lock);
}

/* What this thread has found goes into the result. */
static void worker_finish(struct worker *h, struct search_finding *finding)
{
    struct search *s = h->parallel->search;

    s->result->transitions += h->transitions;
    if (h->finding.verdict != CHECK_HOLDS && finding->verdict == CHECK_HOLDS)
        *finding = h->finding;
    for (uint32_t t = 0; t < h->parallel->threads; t++) {
        free(h->bag[t].state);
        free(h->bag[t].hash);
    }
    space_forget(&h->moment);
    view_free(&h->view);
}

void parallel_search(struct search *s, uint32_t threads, struct search_finding *finding)
{
    struct parallel *c = mem_new(sizeof *c + threads * sizeof c->worker[0]);
    pthread_t *thread = mem_new(threads * sizeof *thread);

    c->search = s;
    c->threads = threads;
    pthread_barrier_init(&c->barrier, NULL, threads);
    pthread_mutex_init(&c->lock, NULL);
    for (uint32_t t = 0; t < threads; t++)
        worker_init(&c->worker[t], c, t);
    for (uint32_t t = 1; t < threads; t++)
        if (pthread_create(&thread[t], NULL, worker_work, &c->worker[t]) != 0) {
            fprintf(stderr, "dibs: cannot start a thread; try --threads 1\n");
            exit(2);
        }
    worker_work(&c->worker[0]);
    for (uint32_t t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    for (uint32_t t = 0; t < threads; t++)
        worker_finish(&c->worker[t], finding);
    if (c->unfinished)
        finding->verdict = CHECK_UNFINISHED;
    pthread_barrier_destroy(&c->barrier);
    pthread_mutex_destroy(&c->lock);
    free(thread);
    free(c);
}
