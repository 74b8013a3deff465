/* The engine under every algorithm, driven by a toy algorithm that does one thing of each kind.
 * Invariants: I1, I2, I3, I6, I10. */
#include "test.h"

#include "alg/list.h"
#include "core/alg.h"
#include "lab/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- a toy algorithm
 *
 * A request in mode 0 sends itself COUNT(3), which counts down to 0 and then enters; it tells site 1 first and last.
 * Mode 1 plays with timers. WRONG is a message that contradicts the protocol. */
enum { COUNT, HELLO, WRONG, ENTER };

static const struct dme_kind toy_kinds[] = {{"COUNT", 1, 0}, {"HELLO", 0, 0}, {"WRONG", 0, 0}, {"ENTER", 0, 0}, {0}};

struct toy {
    uint64_t seen;        /* the counts received, as decimal digits */
    uint32_t left_in;     /* the mode in which the site left */
    uint32_t rang;        /* the timer that fired last, plus one */
    uint32_t greetings;   /* HELLOs received */
    uint32_t after_fault; /* a handler ran after a fault */
};

static void toy_request(struct dme *d, void *state)
{
    (void)state;
    if (d->node->mode == 0) {
        dme_send(d, 1, HELLO);
        dme_send_ticket(d, d->self, COUNT, dme_claim(d, 3));
        dme_send(d, 1, HELLO);
    } else {
        dme_start(d, 0, 2);
        dme_start(d, 1, 5);
        dme_stop(d, 1);
        dme_start(d, 2, 7);
    }
}

static void toy_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct toy *s = state;

    switch (m->kind) {
    case COUNT:
        s->seen = s->seen * 10 + m->ticket[0].clock;
        if (m->ticket[0].clock)
            dme_send_ticket(d, d->self, COUNT, dme_claim(d, m->ticket[0].clock - 1));
        else
            dme_enter(d);
        break;
    case HELLO:
        s->greetings++;
        break;
    case WRONG:
        dme_send(d, d->self, HELLO);
        DME_EXPECT(d, s->greetings > 100);
        s->after_fault = 1;
        break;
    case ENTER:
        dme_enter(d);
        break;
    }
}

static void toy_release(struct dme *d, void *state)
{
    ((struct toy *)state)->left_in = d->node->mode;
    dme_stop(d, 2);
}

static void toy_timer(struct dme *d, void *state, unsigned timer)
{
    ((struct toy *)state)->rang = timer + 1;
    dme_enter(d);
}

/* When it restarts, it sends as many messages as its incarnation; it counts the news. */
static void toy_restart(struct dme *d, void *state, bool remembers)
{
    ((struct toy *)state)->rang = remembers ? 100 : 200;
    for (uint32_t k = 0; k < d->node->incarnation; k++)
        dme_send(d, 1, HELLO);
}

static void toy_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    (void)d;
    ((struct toy *)state)->seen = 10 * of + (what - DME_NEWS);
}

static const struct dme_alg toy = {
    .name = "toy",
    .kinds = toy_kinds,
    .rules = 1 << DME_SHARED,
    .state_size = sizeof(struct toy),
    .request = toy_request,
    .receive = toy_receive,
    .release = toy_release,
    .timer = toy_timer,
    .restart = toy_restart,
    .news = toy_news,
};

struct table {
    struct dme_conf conf;
    struct dme_node *node;
    struct dme_out *out;
    struct toy *state;
};

static int set_table(void **state)
{
    struct table *t = calloc(1, sizeof *t);

    dme_conf_init(&t->conf, &toy, 2, DME_SHARED, 0);
    t->node = calloc(1, dme_node_size(&t->conf, 0));
    t->out = calloc(1, dme_out_size(&t->conf));
    dme_out_init(t->out, dme_out_size(&t->conf));
    dme_init(&t->conf, t->node, 0, t->out);
    t->state = dme_state(t->node);
    *state = t;
    return 0;
}

static int clear_table(void **state)
{
    struct table *t = *state;

    free(t->node);
    free(t->out);
    free(t);
    return 0;
}

static void step(struct table *t, uint32_t type, uint32_t arg)
{
    dme_step(&t->conf, t->node, &(struct dme_event){.type = type, .arg = arg}, t->out);
}

static void receive(struct table *t, uint8_t kind, uint64_t fence)
{
    struct dme_msg m = {.fence = fence, .from = 1, .to = 0, .kind = kind};

    dme_step(&t->conf, t->node, &(struct dme_event){.type = DME_RECEIVE, .msg = &m}, t->out);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static void messages_to_oneself_arrive_within_the_step_in_order_and_do_not_leave(void **state)
{
    struct table *t = *state;
    const struct dme_msg *m;

    step(t, DME_REQUEST, 0);
    assert_int_equal(t->state->seen, 3210);
    assert_true(t->out->entered);
    assert_int_equal(t->node->phase, DME_INSIDE);
    m = dme_next(t->out, 0, NULL);
    assert_non_null(m);
    assert_int_equal(m->kind, HELLO);
    assert_int_equal(m->to, 1);
    m = dme_next(t->out, 0, m);
    assert_non_null(m);
    assert_int_equal(m->kind, HELLO);
    assert_null(dme_next(t->out, 0, m));
    assert_int_equal(t->state->greetings, 0);
}

static void the_mode_lasts_from_the_request_to_the_end_of_the_release(void **state)
{
    struct table *t = *state;

    step(t, DME_REQUEST, 1);
    assert_int_equal(t->node->mode, 1);
    assert_int_equal(t->node->phase, DME_WAITING);
    receive(t, ENTER, 0);
    assert_int_equal(t->node->mode, 1);
    step(t, DME_RELEASE, 0);
    assert_int_equal(t->state->left_in, 1);
    assert_int_equal(t->node->mode, 0);
    assert_int_equal(t->node->phase, DME_IDLE);
}

static void timers_are_started_stopped_and_fire_once(void **state)
{
    struct table *t = *state;

    step(t, DME_REQUEST, 1);
    assert_int_equal(t->out->started, 1 << 0 | 1 << 2);
    assert_int_equal(t->out->stopped, 1 << 1);
    assert_int_equal(t->out->bounds[0], 2);
    assert_int_equal(t->out->bounds[2], 7);
    assert_int_equal(t->node->armed, 1 << 0 | 1 << 2);
    step(t, DME_TIMER, 0);
    assert_int_equal(t->state->rang, 1);
    assert_int_equal(t->out->started, 0);
    assert_int_equal(t->node->armed, 1 << 2);
    assert_true(t->out->entered);
    step(t, DME_RELEASE, 0);
    assert_int_equal(t->out->stopped, 1 << 2);
    assert_int_equal(t->node->armed, 0);
}

static void a_fault_ends_the_handler_and_names_the_fact(void **state)
{
    struct table *t = *state;

    receive(t, WRONG, 0);
    assert_string_equal(t->out->fault, "s->greetings > 100");
    assert_int_equal(t->state->after_fault, 0);
    assert_int_equal(t->state->greetings, 0); /* what it sent itself before is not received any more */
}

static void entering_without_a_request_is_a_fault(void **state)
{
    struct table *t = *state;

    receive(t, ENTER, 0);
    assert_non_null(t->out->fault);
    assert_false(t->out->entered);
    assert_int_equal(t->node->phase, DME_IDLE);
}

static void the_fence_is_the_largest_heard_of_and_an_entry_adds_one(void **state)
{
    struct table *t = *state;

    receive(t, HELLO, 41);
    receive(t, HELLO, 7);
    assert_int_equal(t->node->fence, 41);
    step(t, DME_REQUEST, 0);
    assert_int_equal(t->node->fence, 42);
    assert_int_equal(dme_next(t->out, 0, NULL)->fence, 41); /* sent before the entry */
}

static void the_size_of_a_node_is_a_multiple_of_eight(void **state)
{
    (void)state;
    for (unsigned k = 0; alg_list[k]; k++)
        for (uint32_t n = 1; n <= 9; n++) {
            struct dme_conf conf;
            unsigned rule = 0;

            while (!(alg_list[k]->rules & 1u << rule))
                rule++;
            dme_conf_init(&conf, alg_list[k], n, rule, 1);
            for (dme_id i = 0; i < n; i++)
                assert_int_equal(dme_node_size(&conf, i) % 8, 0);
        }
}

/* ------------------------------------------------------------------------------------ every algorithm, random runs */

/* One random legal move; false if there is none. */
static bool random_move(struct lab_world *w, uint64_t *seed, unsigned *requests, struct world_move *move)
{
    dme_id i = test_below(seed, w->conf.n);
    uint32_t first, last;

    dme_modes(&w->conf, &first, &last);
    if (w->flights && test_below(seed, 4)) {
        size_t k = test_below(seed, (uint32_t)w->flights);

        while (!world_may_arrive(w, k, w->conf.alg->needs))
            k--;
        *move = world_delivery(w, k);
        return true;
    }
    if (w->node[i]->phase == DME_INSIDE) {
        *move = (struct world_move){.type = DME_RELEASE, .site = i};
        return true;
    }
    if (w->node[i]->phase == DME_IDLE && *requests) {
        --*requests;
        *move = (struct world_move){.type = DME_REQUEST, .site = i, .arg = first + test_below(seed, last - first + 1)};
        return true;
    }
    /* Where nothing bounds delays, a timer may fire at any moment. */
    *move = (struct world_move){.type = DME_TIMER, .site = i};
    while (move->arg < DME_TIMERS && !(w->node[i]->armed & 1u << move->arg))
        move->arg++;
    return move->arg < DME_TIMERS && !(w->conf.alg->needs & DME_BOUNDED_DELAY);
}

static void fences_grow_from_holder_to_holder(void **state)
{
    (void)state;
    for (unsigned k = 0; alg_list[k]; k++) {
        struct dme_conf conf;
        struct lab_world *w;
        uint64_t seed = 7 + k, fence = 0;
        unsigned requests = 300, entries = 0;
        struct world_move move;

        if (!(alg_list[k]->rules & 1u << DME_EXCLUSIVE) || alg_list[k]->flaw || alg_list[k]->needs & DME_BOUNDED_DELAY)
            continue;
        dme_conf_init(&conf, alg_list[k], 5, DME_EXCLUSIVE, 0);
        w = world_new(&conf);
        for (unsigned moves = 0; moves < 20000; moves++) {
            if (!random_move(w, &seed, &requests, &move))
                continue;
            assert_null(world_move(w, &move));
            assert_null(w->out->fault);
            if (!w->out->entered)
                continue;
            assert_true(w->node[move.site]->fence > fence);
            fence = w->node[move.site]->fence;
            entries++;
        }
        assert_int_equal(entries, 300);
        world_free(w);
    }
}

/* Memory that is full of rubbish at first makes no difference: the same moves lead to the same bytes. */
static void a_run_depends_on_nothing_but_its_moves(void **state)
{
    (void)state;
    for (unsigned k = 0; alg_list[k]; k++) {
        struct dme_conf conf;
        struct lab_world *a, *b;
        uint64_t seed = 99;
        unsigned requests = 40, rule = 0;
        struct world_move move;

        while (!(alg_list[k]->rules & 1u << rule))
            rule++;
        dme_conf_init(&conf, alg_list[k], 4, rule, rule == DME_EXCLUSIVE || rule == DME_SHARED ? 0 : 2);
        a = world_new(&conf);
        b = world_new(&conf);
        for (dme_id i = 0; i < conf.n; i++) {
            memset(b->node[i], 0xa5, dme_node_size(&conf, i));
            dme_init(&conf, b->node[i], i, b->out);
        }
        for (unsigned moves = 0; moves < 2000; moves++) {
            if (!random_move(a, &seed, &requests, &move))
                continue;
            assert_null(world_move(a, &move));
            memset(b->out->bytes, 0x5a, b->out->size);
            assert_null(world_move(b, &move));
            assert_memory_equal(a->node[move.site], b->node[move.site], dme_node_size(&conf, move.site));
            assert_int_equal(a->out->used, b->out->used);
            assert_memory_equal(a->out->bytes, b->out->bytes, a->out->used);
        }
        world_free(a);
        world_free(b);
    }
}

static unsigned sends(const struct table *t)
{
    unsigned count = 0;

    for (const struct dme_msg *m = NULL; (m = dme_next(t->out, 0, m));)
        count++;
    return count;
}

static void a_crash_ends_the_request_and_a_restart_is_another_life(void **state)
{
    struct table *t = *state;

    step(t, DME_REQUEST, 1);
    t->state->greetings = 7;
    dme_crash(t->node);
    assert_int_equal(t->node->phase, DME_IDLE);
    assert_int_equal(t->node->mode, 0);
    assert_int_equal(t->node->armed, 0);
    assert_true(t->node->down);
    step(t, DME_RESTART, 1);
    assert_false(t->node->down);
    assert_int_equal(t->node->incarnation, 1);
    assert_int_equal(t->state->greetings, 7);
    assert_int_equal(t->state->rang, 100);
    assert_int_equal(sends(t), 1);
}

static void without_its_memory_a_site_knows_nothing_but_its_life(void **state)
{
    struct table *t = *state;

    step(t, DME_REQUEST, 0);
    t->state->greetings = 7;
    dme_crash(t->node);
    step(t, DME_RESTART, 1);
    dme_crash(t->node);
    step(t, DME_RESTART, 0);
    assert_int_equal(t->node->incarnation, 2);
    assert_int_equal(t->node->fence, 0);
    assert_int_equal(t->state->greetings, 0);
    assert_int_equal(t->state->seen, 0);
    assert_int_equal(t->state->rang, 200);
    assert_int_equal(sends(t), 2);
}

static void news_are_messages_that_no_site_sends(void **state)
{
    struct table *t = *state;
    struct dme_msg m = {.from = 1, .to = 0, .kind = DME_HEALED};

    dme_step(&t->conf, t->node, &(struct dme_event){.type = DME_RECEIVE, .msg = &m}, t->out);
    assert_int_equal(t->state->seen, 10 + DME_HEALED - DME_NEWS);
    assert_string_equal(dme_kind_name(&toy, DME_DOWN), "DOWN");
    assert_string_equal(dme_kind_name(&toy, HELLO), "HELLO");
}

#define TOY(test) cmocka_unit_test_setup_teardown(test, set_table, clear_table)

/* The assertion stays on in the release: without it the ticket would be written behind the message. */
static void a_ticket_on_a_kind_without_tickets_is_an_assertion(void **state)
{
    struct table *t = *state;
    struct dme d = {.conf = &t->conf, .node = t->node, .out = t->out, .self = 0, .n = 2};
    pid_t child = fork();
    int status;

    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        dme_send_ticket(&d, 1, HELLO, dme_claim(&d, 1));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY(messages_to_oneself_arrive_within_the_step_in_order_and_do_not_leave),
        TOY(the_mode_lasts_from_the_request_to_the_end_of_the_release),
        TOY(timers_are_started_stopped_and_fire_once),
        TOY(a_fault_ends_the_handler_and_names_the_fact),
        TOY(entering_without_a_request_is_a_fault),
        TOY(the_fence_is_the_largest_heard_of_and_an_entry_adds_one),
        TOY(a_crash_ends_the_request_and_a_restart_is_another_life),
        TOY(without_its_memory_a_site_knows_nothing_but_its_life),
        TOY(news_are_messages_that_no_site_sends),
        cmocka_unit_test(the_size_of_a_node_is_a_multiple_of_eight),
        cmocka_unit_test(fences_grow_from_holder_to_holder),
        cmocka_unit_test(a_run_depends_on_nothing_but_its_moves),
        cmocka_unit_test_setup_teardown(a_ticket_on_a_kind_without_tickets_is_an_assertion, set_table, clear_table),
    };

    return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
