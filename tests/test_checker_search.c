/* How the checker keeps states and fingerprints, and how its searches are bounded: the search by one thread, that by several threads and that by
 * fingerprints have the same states and limits, and lead to the violation that they report. */
#include "test.h"

#include "check/check.h"
#include "check/prints.h"
#include "check/space.h"
#include "check/states.h"
#include "core/alg.h"
#include "core/text.h"
#include "lab/world.h"

#include <stdlib.h>
#include <string.h>

extern const struct dme_alg ricart_agrawala, lamport, banta_first_draft, banta_simple_as_published, central;

static struct check_task task_of(const struct dme_alg *alg, uint32_t n, uint8_t requests)
{
    struct check_task task = {.needs = alg->needs, .limit = 1000000, .plain = true};

    dme_conf_init(&task.conf, alg, n, DME_EXCLUSIVE, 0);
    memset(task.requests, requests, n);
    return task;
}

static struct check_task task_with(const struct dme_alg *alg, uint32_t n, const char *mistake)
{
    struct check_task task = task_of(alg, n, 1);
    char buf[256];
    struct dme_text text;

    dme_text_init(&text, buf, sizeof buf);
    assert_true(dme_conf_set(&task.conf, "mistake", mistake, &text));
    return task;
}

static struct check_result run(const struct check_task *task)
{
    struct check_result r;

    check_run(task, &r);
    free(r.trace);
    return r;
}

/* ------------------------------------------------------------------------------------------------------ fingerprints */

enum { PAGE = 4096, PRINT = 16, SLACK = 64 };

/* Fingerprints whose homes are evenly apart in their segment. */
static struct print even_print(uint64_t segment, uint64_t k, uint64_t of)
{
    return (struct print){.high = segment << 56 | ((uint64_t)1 << 56) / of * k, .low = k};
}

/* A segment has a page at first, and grows by a 32nd, in whole pages, when 31 of 32 homes are taken. */
static size_t pages_for(size_t count)
{
    size_t pages = 1;

    while (count > (pages * PAGE / PRINT - SLACK) / 32 * 31)
        pages += pages / 32 + 1;
    return pages;
}

static void fingerprints_take_the_memory_that_they_need(void **state)
{
    enum { MANY = 20000, SEGMENT = 7 };
    struct prints p;

    (void)state;
    memset(&p, 0xa5, sizeof p);
    prints_init(&p);
    assert_int_equal(p.count, 0);
    assert_int_equal(prints_memory(&p), PRINTS_SEGMENTS * PAGE);
    assert_int_equal(prints_memory_ahead(&p), 2 * PRINTS_SEGMENTS * PAGE);
    for (uint64_t k = 0; k < MANY; k++) {
        size_t pages;

        assert_true(prints_add(&p, even_print(SEGMENT, k * 7919 % MANY, MANY)));
        pages = pages_for(k + 1);
        assert_int_equal(prints_memory(&p), (PRINTS_SEGMENTS - 1 + pages) * PAGE);
        assert_int_equal(prints_memory_ahead(&p), (2 * (PRINTS_SEGMENTS - 1) + pages + pages / 32 + 1) * PAGE);
    }
    assert_int_equal(p.count, MANY);
    for (uint64_t k = 0; k < MANY; k++)
        assert_false(prints_add(&p, even_print(SEGMENT, k, MANY)));
    prints_free(&p);
}

/* Each segment has its own places, also where those of another one end; and a fingerprint of zeros is one, too. */
static void fingerprints_of_other_segments_are_others(void **state)
{
    enum { MANY = 90 };
    struct prints p;

    (void)state;
    prints_init(&p);
    for (unsigned again = 0; again < 2; again++) {
        for (uint64_t segment = 0; segment < PRINTS_SEGMENTS; segment++) {
            assert_int_equal(prints_add(&p, (struct print){.high = segment << 56}), !again);
            assert_int_equal(prints_add(&p, (struct print){.high = segment << 56, .low = 2}), !again);
        }
        for (uint64_t k = 0, seed = 1; k < MANY; k++)
            for (uint64_t segment = 0; segment < PRINTS_SEGMENTS; segment += 51) {
                struct print last = {.high = segment << 56 | 0xfff00000000000u | test_random(&seed) >> 20, .low = 5};

                assert_int_equal(prints_add(&p, last), !again);
            }
    }
    prints_free(&p);
}

/* ------------------------------------------------------------------------------------------------------------ states */

/* Adds MANY states, `step` at a time. Before each step the memory behind it is foretold, for the case that all are for one shard. */
static void assert_memory_is_foretold(uint32_t shards, uint32_t step)
{
    enum { WIDTH = 3, MANY = 13104 };
    struct states s;
    uint64_t seed = 1;
    uint32_t k = 0;

    memset(&s, 0xa5, sizeof s);
    states_init(&s, WIDTH, shards);
    assert_int_equal(states_count(&s), 0);
    assert_int_equal(states_memory(&s), shards * 4096 * sizeof(uint32_t));
    while (k < MANY) {
        size_t now = states_memory(&s), ahead = states_memory_ahead(&s, step);

        assert_true(now >= states_count(&s) * (WIDTH + 2) * sizeof(uint32_t) && now <= ahead);
        assert_int_equal(states_memory_ahead(&s, 0), now);
        for (uint32_t end = k + step; k < end; k++) {
            uint32_t numbers[WIDTH] = {(uint32_t)test_random(&seed), 1, k}, number;

            number = states_add(&s, numbers, states_hash(&s, numbers), k);
            assert_int_not_equal(number, STATES_NONE);
            assert_int_equal(states_find(&s, numbers), number);
            assert_int_equal(states_parent(&s, number), k);
            assert_int_equal(states_add(&s, numbers, states_hash(&s, numbers), k), STATES_NONE);
            numbers[1] = 2;
            assert_int_equal(states_find(&s, numbers), STATES_NONE);
        }
        assert_true(states_memory(&s) <= ahead && (shards > 1 || states_memory(&s) == ahead));
    }
    assert_int_equal(states_count(&s), k);
    seed = 1;
    for (uint32_t again = 0; again < k; again++) {
        uint32_t numbers[WIDTH] = {(uint32_t)test_random(&seed), 1, again};

        assert_int_not_equal(states_find(&s, numbers), STATES_NONE);
        assert_int_equal(states_parent(&s, states_find(&s, numbers)), again);
    }
    /* A state and its parent, with a quarter more at most; and slots, of which up to four of five are taken before they are doubled. */
    assert_true(states_memory(&s) <= (k * 5 / 4 + shards * 1024) * (WIDTH + 1) * sizeof(uint32_t) +
                                         (size_t)(shards > 1 ? 2 : 1) * 32768 * sizeof(uint32_t));
    states_free(&s);
}

/* With these steps the states, and the slots, are all in use just before there are more of them. */
static void states_take_the_memory_that_was_foretold(void **state)
{
    (void)state;
    assert_memory_is_foretold(1, 256);
    assert_memory_is_foretold(1, 3276);
    assert_memory_is_foretold(3, 256);
}

/* ----------------------------------------------------------------------------------------------------------- searches */

enum way { ONE_THREAD, THREE_THREADS, FINGERPRINTS, WAYS };

static struct check_task by(struct check_task task, enum way way)
{
    task.threads = way == THREE_THREADS ? 3 : 1;
    task.fingerprints = way == FINGERPRINTS;
    return task;
}

static void assert_same_states(struct check_task task, uint64_t states)
{
    struct check_task one = by(task, ONE_THREAD);
    struct check_result right = run(&one);

    assert_int_equal(right.states, states);
    for (enum way way = THREE_THREADS; way < WAYS; way++) {
        struct check_task other = by(task, way);
        struct check_result r = run(&other);

        assert_int_equal(r.verdict, CHECK_HOLDS);
        assert_false(r.interrupted);
        assert_int_equal(r.states, states);
        assert_int_equal(r.transitions, right.transitions);
        assert_int_equal(r.depth, right.depth);
        assert_int_equal(r.print_bits, way == FINGERPRINTS ? 128 : 0);
    }
}

/* A queue of fingerprinted states is in pieces of 16384 numbers, into which four sites fit exactly and three do not. */
static void all_searches_have_the_same_states(void **state)
{
    (void)state;
    assert_same_states(task_of(&ricart_agrawala, 3, 2), 45401);
    assert_same_states(task_of(&central, 4, 2), 10735);
}

/* In a system of few states a single thread may have all that are left. */
static void threads_go_on_while_one_of_them_has_states(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 2; n++)
        for (uint8_t requests = 1; requests <= 8; requests++) {
            struct check_task task = task_of(&central, n, requests);
            uint64_t states = run(&task).states;

            for (task.threads = 2; task.threads <= 4; task.threads++)
                assert_int_equal(run(&task).states, states);
        }
}

/* A search may have as many states as the limit says; if it has more it ends soon. */
static void all_searches_keep_to_the_limit_of_states(void **state)
{
    struct check_task task = task_of(&ricart_agrawala, 3, 1);

    (void)state;
    for (enum way way = ONE_THREAD; way < WAYS; way++) {
        struct check_task now = by(task, way);
        struct check_result r;

        memset(now.requests, 0, 3);
        now.limit = 1;
        assert_int_equal(run(&now).verdict, CHECK_HOLDS);
        memset(now.requests, 1, 3);
        now.limit = 2879;
        assert_int_equal(run(&now).verdict, CHECK_HOLDS);
        now.limit = 1500;
        r = run(&now);
        assert_int_equal(r.verdict, CHECK_UNFINISHED);
        assert_in_range(r.states, 1501, 2878);
        assert_false(r.interrupted);
    }
}

static void all_searches_end_when_they_are_stopped(void **state)
{
    static const volatile sig_atomic_t now = 1, not_yet = 0;
    struct check_task task = task_of(&ricart_agrawala, 3, 1);

    (void)state;
    for (enum way way = ONE_THREAD; way < WAYS; way++) {
        struct check_task other = by(task, way);
        struct check_result r;

        other.stop = &now;
        r = run(&other);
        assert_int_equal(r.verdict, CHECK_UNFINISHED);
        assert_true(r.interrupted);
        assert_in_range(r.states, 1, 1000);
        other.stop = &not_yet;
        assert_int_equal(run(&other).verdict, CHECK_HOLDS);
    }
}

static void all_searches_keep_to_the_limit_of_memory(void **state)
{
    (void)state;
    for (enum way way = ONE_THREAD; way < WAYS; way++) {
        struct check_task task = by(task_of(&ricart_agrawala, 3, 1), way);
        struct check_result r;
        size_t needed;

        task.memory = (size_t)20 << 20;
        assert_int_equal(run(&task).verdict, CHECK_HOLDS);
        memset(task.requests, 2, 3);
        task.memory = 0;
        needed = run(&task).memory;
        assert_in_range(needed, 45401 * 16, 2400000);
        task.memory = needed * 3 / 4;
        r = run(&task);
        assert_int_equal(r.verdict, CHECK_UNFINISHED);
        assert_in_range(r.memory, 1, task.memory);
    }
}

/* Of one state: fingerprints and a piece of the queue are in the place of room for 1024 states of one number and a parent, and 4096 slots. */
static void fingerprints_have_a_queue_in_pieces(void **state)
{
    struct check_task one = by(task_of(&central, 1, 0), ONE_THREAD), other = by(one, FINGERPRINTS);
    size_t numbers = 1024 * 2 + 4096, piece = sizeof(void *) + 16384 * sizeof(uint32_t);

    (void)state;
    assert_int_equal(run(&other).memory - PRINTS_SEGMENTS * PAGE - piece,
                     run(&one).memory - numbers * sizeof(uint32_t));
}

/* The bits that differ in two states at least. */
static void fingerprints_tell_how_many_bits_they_have(void **state)
{
    struct check_task task = by(task_of(&central, 1, 0), FINGERPRINTS);

    (void)state;
    assert_int_equal(run(&task).states, 1);
    assert_int_equal(run(&task).print_bits, 0);
    task.requests[0] = 1;
    assert_in_range(run(&task).print_bits, 1, 127);
}

/* Makes the moves, and looks whether they lead to what is said. */
static void assert_trace_shows(const struct check_task *task, const struct check_result *r)
{
    struct lab_world *w = world_new(&task->conf);

    assert_non_null(r->trace);
    for (uint32_t k = 0; k < r->trace_length; k++) {
        assert_true(world_safe(w) && !world_stuck(w) && !w->out->fault);
        assert_null(world_move(w, &r->trace[k]));
    }
    switch (r->verdict) {
    case CHECK_EXCLUSION:
        assert_false(world_safe(w));
        break;
    case CHECK_DEADLOCK:
        assert_true(world_stuck(w));
        break;
    case CHECK_ERROR:
        assert_string_equal(w->out->fault, r->fault);
        break;
    default:
        fail_msg("%s", check_verdicts[r->verdict]);
    }
    world_free(w);
}

static void all_searches_lead_to_the_violation(void **state)
{
    struct check_task tasks[] = {task_of(&lamport, 3, 1), task_of(&banta_first_draft, 3, 1),
                                 task_with(&banta_simple_as_published, 3, "announces-nobody")};
    const enum check_verdict expected[] = {CHECK_EXCLUSION, CHECK_DEADLOCK, CHECK_ERROR};

    (void)state;
    tasks[0].needs &= ~(uint32_t)DME_FIFO;
    for (size_t k = 0; k < sizeof tasks / sizeof tasks[0]; k++) {
        uint32_t length = 0;
        uint64_t states[WAYS], transitions[WAYS];

        for (enum way way = ONE_THREAD; way < WAYS; way++) {
            struct check_task task = by(tasks[k], way);
            struct check_result r;

            check_run(&task, &r);
            assert_int_equal(r.verdict, expected[k]);
            assert_trace_shows(&task, &r);
            states[way] = r.states, transitions[way] = r.transitions;
            length = length ? length : r.trace_length;
            assert_int_equal(r.trace_length, length);
            free(r.trace);
        }
        assert_int_equal(states[FINGERPRINTS], states[ONE_THREAD]);
        assert_int_equal(transitions[FINGERPRINTS], transitions[ONE_THREAD]);
    }
}

/* ------------------------------------------------------------------------------------------- starvation */

static void toy_nothing(struct dme *d, void *state)
{
    (void)d, (void)state;
}

/* Sites 1, 2 and 3 pass two balls round for ever. Site 0 is never let in. */
enum { RED, BLUE };
static const struct dme_kind ball_kinds[] = {{"RED", 0, 0}, {"BLUE", 0, 0}, {0}};

static void ball_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1) {
        dme_send(d, 2, RED);
        dme_send(d, 2, BLUE);
    }
}

static void ball_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    dme_send(d, d->self % 3 + 1, m->kind);
}

static const struct dme_alg balls = {
    .name = "balls",
    .kinds = ball_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .init = ball_init,
    .request = toy_nothing,
    .receive = ball_receive,
    .release = toy_nothing,
};

/* Both balls are under way in every state, so a fair loop moves both, and the shortest one moves each of them three times. It
 * begins where site 0 has just asked. */
static void a_loop_that_is_shown_is_fair_and_short(void **state)
{
    struct check_task task = task_of(&balls, 4, 0);
    struct check_result r;

    (void)state;
    task.requests[0] = 1;
    task.starvation = true;
    for (task.threads = 1; task.threads <= 8; task.threads += 7) { /* one thread looks for starvation */
        uint32_t arrivals[2] = {0};

        check_run(&task, &r);
        assert_int_equal(r.verdict, CHECK_STARVATION);
        assert_int_equal(r.victim, 0);
        assert_int_equal(r.loop, 1);
        assert_int_equal(r.trace_length, 7);
        for (uint32_t k = r.loop; k < r.trace_length; k++) {
            assert_int_equal(r.trace[k].type, DME_RECEIVE);
            arrivals[r.trace[k].kind]++;
        }
        assert_int_equal(arrivals[RED], 3);
        assert_int_equal(arrivals[BLUE], 3);
        free(r.trace);
    }
}

static void one_ball_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 2, RED);
}

/* The balls come back to where they were at first: no run has the largest number of messages. Of one ball that is the only cycle. */
static void messages_of_a_run_without_end_are_not_counted(void **state)
{
    struct dme_alg one_ball = balls;
    struct check_task task = task_of(&balls, 4, 0);

    (void)state;
    task.messages = true;
    assert_true(run(&task).messages == UINT64_MAX);
    one_ball.init = one_ball_init;
    task = task_of(&one_ball, 4, 0);
    task.messages = true;
    assert_true(run(&task).messages == UINT64_MAX);
}

/* BLUE starts the timer of site 0, which then starts itself again. Site 1 enters when it likes. Site 2 has a timer, too, that would let it in; RED, which goes
 * to and fro between sites 1 and 2, starts it and stops it. */
static void clock_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 0, BLUE);
    if (d->self == 1 && d->n > 2)
        dme_send(d, 2, RED);
}

static void clock_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 2)
        dme_start(d, 0, 0);
    else
        dme_enter(d);
}

static void clock_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    uint64_t *stopped = state;

    if (m->kind == BLUE) {
        dme_start(d, 0, 0);
        return;
    }
    if (d->self == 2 && dme_waiting(d)) {
        if (*stopped)
            dme_start(d, 0, 0);
        else
            dme_stop(d, 0);
        *stopped = !*stopped;
    }
    dme_send(d, m->from, RED);
}

static void clock_timer(struct dme *d, void *state, unsigned timer)
{
    if (d->self == 0)
        dme_start(d, timer, 0);
    else
        dme_enter(d);
    *(uint64_t *)state = 0;
}

static const struct dme_alg clocks = {
    .name = "clocks",
    .kinds = ball_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(uint64_t),
    .init = clock_init,
    .request = clock_request,
    .receive = clock_receive,
    .release = toy_nothing,
    .timer = clock_timer,
};

/* The timer of site 2 is due, then not, then due again: it need not fire. That of site 0 is due in every state. */
static void what_is_due_here_and_there_need_not_be_done(void **state)
{
    struct check_task task = task_of(&clocks, 3, 0);
    struct check_result r;

    (void)state;
    task.requests[2] = 1;
    task.starvation = true;
    r = run(&task);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_int_equal(r.victim, 2);
}

/* The timer may fire for ever before site 1 asks: that keeps no site waiting. */
static void a_site_that_has_not_asked_does_not_starve(void **state)
{
    struct check_task task = task_of(&clocks, 2, 0);

    (void)state;
    task.requests[1] = 1;
    task.starvation = true;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

/* Site 1 and site 0 throw a ball to each other for ever. To enter, site 1 throws a second one, and waits until it comes back. */
static const struct dme_kind juggle_kinds[] = {{"BALL", 1, 0}, {0}};

static void juggle_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        dme_send_ticket(d, 1, 0, (struct dme_ticket){.clock = 1});
}

static void juggle_request(struct dme *d, void *state)
{
    (void)state;
    dme_send_ticket(d, 0, 0, (struct dme_ticket){.clock = 2});
}

static void juggle_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    if (d->self == 1 && m->ticket[0].clock == 2)
        dme_enter(d);
    else
        dme_send_ticket(d, m->from, 0, m->ticket[0]);
}

static void a_message_does_not_arrive_in_the_place_of_another(void **state)
{
    const struct dme_alg juggle = {
        .name = "juggle",
        .kinds = juggle_kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = 8,
        .init = juggle_init,
        .request = juggle_request,
        .receive = juggle_receive,
        .release = toy_nothing,
    };
    struct check_task task = task_of(&juggle, 2, 0);

    (void)state;
    task.requests[1] = 1;
    task.starvation = true;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

/* ---------------------------------------------------------------------------------------------------------- messages */

/* Site 0 sends BLUE to site 1, which sends RED back, and enters after five rounds. There is one run, and it is long. */
static void rally_request(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, 1, BLUE);
}

static void rally_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    uint64_t *rounds = state;

    if (m->kind == BLUE)
        dme_send(d, 0, RED);
    else if (++*rounds % 5)
        dme_send(d, 1, BLUE);
    else
        dme_enter(d);
}

static void rally_release(struct dme *d, void *state)
{
    (void)d;
    *(uint64_t *)state = 0;
}

static void the_messages_of_a_long_run_are_counted(void **state)
{
    enum { MANY = 254 };
    static const struct dme_alg rally = {
        .name = "rally",
        .kinds = ball_kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = sizeof(uint64_t),
        .request = rally_request,
        .receive = rally_receive,
        .release = rally_release,
    };
    struct check_task task = task_of(&rally, 2, 0);
    struct check_result r;

    (void)state;
    task.requests[0] = MANY;
    task.messages = true;
    for (task.threads = 1; task.threads <= 8; task.threads += 7) { /* one thread counts messages */
        r = run(&task);
        assert_int_equal(r.verdict, CHECK_HOLDS);
        assert_int_equal(r.states, 12 * MANY + 1);
        assert_int_equal(r.messages, 10 * MANY);
    }
}

/* ---------------------------------------------------------------------------------------------------------- failures */

/* Site 1 has sent a message when the run begins, and may crash. */
static void last_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 1)
        dme_send(d, 0, RED);
}

static void last_request(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void last_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d, (void)m;
    *(uint64_t *)state = 1;
}

static void last_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    (void)what, (void)of;
    DME_EXPECT(d, d->self || *(uint64_t *)state);
}

static void news_of_a_crash_come_behind_the_last_message(void **state)
{
    static const struct dme_alg last = {
        .name = "last",
        .kinds = ball_kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_DETECTION,
        .state_size = sizeof(uint64_t),
        .init = last_init,
        .request = last_request,
        .receive = last_receive,
        .release = toy_nothing,
        .news = last_news,
    };
    struct check_task task = task_of(&last, 2, 0);

    (void)state;
    task.requests[0] = task.crash = 1;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
    task.needs &= ~(uint32_t)DME_DETECTION; /* a site that lives is suspected */
    assert_int_equal(run(&task).verdict, CHECK_ERROR);
}

/* The initial state is whole, whatever was in memory. */
static void no_cut_is_there_at_first(void **state)
{
    const uint8_t left[2] = {1, 1};
    struct dme_conf conf;
    struct space s;
    uint32_t start[SPACE_WIDTH];

    (void)state;
    dme_conf_init(&conf, &central, 2, DME_EXCLUSIVE, 0);
    memset(&s, 0xa5, sizeof s);
    memset(start, 0xa5, sizeof start);
    space_init(&s, &conf, central.needs);
    s.mishaps = SPACE_CUT;
    space_start(&s, left, start);
    assert_int_equal(start[2], SPACE_CUT);
    assert_int_equal(start[3], 0);
    space_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprints_take_the_memory_that_they_need),
        cmocka_unit_test(fingerprints_of_other_segments_are_others),
        cmocka_unit_test(states_take_the_memory_that_was_foretold),
        cmocka_unit_test(all_searches_have_the_same_states),
        cmocka_unit_test(threads_go_on_while_one_of_them_has_states),
        cmocka_unit_test(all_searches_keep_to_the_limit_of_states),
        cmocka_unit_test(all_searches_end_when_they_are_stopped),
        cmocka_unit_test(all_searches_keep_to_the_limit_of_memory),
        cmocka_unit_test(fingerprints_have_a_queue_in_pieces),
        cmocka_unit_test(fingerprints_tell_how_many_bits_they_have),
        cmocka_unit_test(all_searches_lead_to_the_violation),
        cmocka_unit_test(a_loop_that_is_shown_is_fair_and_short),
        cmocka_unit_test(messages_of_a_run_without_end_are_not_counted),
        cmocka_unit_test(what_is_due_here_and_there_need_not_be_done),
        cmocka_unit_test(a_site_that_has_not_asked_does_not_starve),
        cmocka_unit_test(a_message_does_not_arrive_in_the_place_of_another),
        cmocka_unit_test(the_messages_of_a_long_run_are_counted),
        cmocka_unit_test(news_of_a_crash_come_behind_the_last_message),
        cmocka_unit_test(no_cut_is_there_at_first),
    };

    return cmocka_run_group_tests_name("checker_search", tests, NULL, NULL);
}
