/* What the checker must find, and what it must not: algorithms so small that
 * every property of them is plain. Each has one thing that decides the verdict,
 * so a checker that overlooks it says something else here. */
#include "test.h"

#include "check/check.h"
#include "check/prints.h"
#include "core/alg.h"
#include "core/text.h"
#include "lab/world.h"

#include <stdlib.h>
#include <string.h>

static void toy_show(const struct dme *d, const void *state, struct dme_text *text)
{
    (void)d, (void)state;
    dme_print(text, "-");
}

static void toy_nothing(struct dme *d, void *state)
{
    (void)d, (void)state;
}

static struct check_result run(const struct check_task *task)
{
    struct check_result r;

    check_run(task, &r);
    free(r.trace);
    return r;
}

static struct check_task task_of(const struct dme_alg *alg, uint32_t n, uint8_t requests)
{
    struct check_task task = {.needs = alg->needs, .limit = 1000000};

    dme_conf_init(&task.conf, alg, n, DME_EXCLUSIVE, 0);
    memset(task.requests, requests, n);
    return task;
}

/* -------------------------------------------------------------------------------------------------------
 * starvation */

enum { TOKEN };
enum { UNLUCKY }; /* option: a site that the token passes by */

static const struct dme_kind ring_kinds[] = {{"TOKEN", 0, 0}, {0}};
static const struct dme_option ring_options[] = {{.key = "unlucky", .help = "-", .max = 9}, {0}};

static void ring_pass(struct dme *d)
{
    dme_send(d, dme_after(d, d->self), TOKEN);
}

static void ring_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        ring_pass(d);
}

static void ring_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state, (void)m;
    if (dme_waiting(d) && d->self != dme_option(d, UNLUCKY))
        dme_enter(d);
    else
        ring_pass(d);
}

static void ring_release(struct dme *d, void *state)
{
    (void)state;
    ring_pass(d);
}

static const struct dme_alg ring = {
    .name = "ring",
    .kinds = ring_kinds,
    .options = ring_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .init = ring_init,
    .request = toy_nothing,
    .receive = ring_receive,
    .release = ring_release,
    .show = toy_show,
};

static void any_site_can_be_the_one_that_starves(void **state)
{
    (void)state;
    for (uint8_t requests = 1; requests <= 2; requests++)
        for (uint32_t unlucky = 0; unlucky <= 3; unlucky++) {
            struct check_task task = task_of(&ring, 3, requests == 2 ? CHECK_UNLIMITED : 1);
            struct check_result r;

            task.conf.option[UNLUCKY] = unlucky;
            task.starvation = true;
            r = run(&task);
            assert_int_equal(r.verdict, unlucky < 3 ? CHECK_STARVATION : CHECK_HOLDS);
            if (unlucky < 3)
                assert_int_equal(r.victim, unlucky);
        }
}

/* A site that lets itself in, and others that no site lets in. */
static void door_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        dme_enter(d);
}

static void door_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d, (void)state, (void)m;
}

static const struct dme_alg door = {
    .name = "door",
    .paper = "-",
    .cost = "-",
    .kinds = ring_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .init = toy_nothing,
    .request = door_request,
    .receive = door_receive,
    .release = toy_nothing,
    .show = toy_show,
};

/* The run that leads to the loop is one, and the loop can be gone round again and again. */
static void assert_goes_round(const struct check_task *task)
{
    struct lab_world *w = world_new(&task->conf);
    struct check_result r;

    check_run(task, &r);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_true(r.loop < r.trace_length);
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t k = round ? r.loop : 0; k < r.trace_length; k++) {
            assert_null(world_objects(w, &r.trace[k]));
            assert_null(world_move(w, &r.trace[k]));
        }
    free(r.trace);
    world_free(w);
}

static void the_loop_of_a_site_that_starves_can_be_gone_round(void **state)
{
    struct check_task passed_by = task_of(&ring, 3, CHECK_UNLIMITED), shut_out = task_of(&door, 2, CHECK_UNLIMITED);

    (void)state;
    passed_by.starvation = shut_out.starvation = true;
    shut_out.deadlocks_too = true; /* site 0 need not ask */
    for (uint32_t unlucky = 0; unlucky < 3; unlucky++) {
        passed_by.conf.option[UNLUCKY] = unlucky;
        assert_goes_round(&passed_by);
    }
    assert_goes_round(&shut_out);
}

/* Two sites send each other PINGs for ever, so that there are cycles in which
 * nothing else happens. Site 2 asks site 0, or waits for a timer. */
enum { PING, ASK, GRANT, DONE };
enum { WAY };
enum { BY_MESSAGE, BY_TIMER, BY_STARTED_AND_STOPPED, BY_STOPPED_AND_STARTED, BY_MESSAGE_BESIDE_A_TIMER };

static const struct dme_kind ping_kinds[] = {{"PING", 0, 0}, {"ASK", 0, 0}, {"GRANT", 0, 0}, {"DONE", 0, 0}, {0}};
static const struct dme_option ping_options[] = {{.key = "way", .help = "-", .max = 4}, {0}};

struct ping {
    uint32_t granted, asked, odd, zero;
};

static bool ping_by_timer(const struct dme *d)
{
    return dme_option(d, WAY) != BY_MESSAGE && dme_option(d, WAY) != BY_MESSAGE_BESIDE_A_TIMER;
}

static void ping_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        dme_send(d, ping_by_timer(d) && dme_option(d, WAY) != BY_TIMER ? 2 : 1, PING);
}

/* At site 0. */
static void ping_decide(struct dme *d, struct ping *s)
{
    if (s->granted || dme_inside(d))
        return;
    if (dme_waiting(d)) {
        dme_enter(d);
    } else if (s->asked) {
        s->asked = 0;
        s->granted = 1;
        dme_send(d, 2, GRANT);
    }
}

static void ping_request(struct dme *d, void *state)
{
    if (d->self == 0)
        ping_decide(d, state);
    else if (d->self == 1)
        dme_enter(d); /* it never asks, in these tests */
    else if (!ping_by_timer(d))
        dme_send(d, 0, ASK);
    else if (dme_option(d, WAY) != BY_STARTED_AND_STOPPED)
        dme_start(d, 0, 0);
}

static void ping_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ping *s = state;

    switch (m->kind) {
    case PING:
        s->odd = !s->odd;
        if (d->self == 2 && s->odd == (dme_option(d, WAY) == BY_STARTED_AND_STOPPED) && dme_waiting(d))
            dme_start(d, 0, 0);
        else if (d->self == 1 && s->odd && dme_option(d, WAY) == BY_MESSAGE_BESIDE_A_TIMER)
            dme_start(d, 0, 5);
        else if (d->self)
            dme_stop(d, 0);
        dme_send(d, m->from, PING);
        break;
    case ASK:
        s->asked = 1;
        ping_decide(d, s);
        break;
    case GRANT:
        dme_enter(d);
        break;
    case DONE:
        s->granted = 0;
        ping_decide(d, s);
        break;
    }
}

static void ping_release(struct dme *d, void *state)
{
    if (d->self == 0)
        ping_decide(d, state);
    else if (!ping_by_timer(d))
        dme_send(d, 0, DONE);
}

static void ping_timer(struct dme *d, void *state, unsigned timer)
{
    (void)state, (void)timer;
    if (d->self == 2)
        dme_enter(d);
}

static const struct dme_alg ping = {
    .name = "ping",
    .kinds = ping_kinds,
    .options = ping_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct ping),
    .init = ping_init,
    .request = ping_request,
    .receive = ping_receive,
    .release = ping_release,
    .timer = ping_timer,
    .show = toy_show,
};

static enum check_verdict ping_verdict(uint64_t way, bool site_0_asks)
{
    struct check_task task = task_of(&ping, 3, 0);

    task.requests[0] = site_0_asks;
    task.requests[2] = CHECK_UNLIMITED;
    task.conf.option[WAY] = way;
    task.needs |= way == BY_MESSAGE_BESIDE_A_TIMER ? DME_BOUNDED_DELAY : 0;
    task.starvation = true;
    return run(&task).verdict;
}

static void a_message_that_is_on_its_way_arrives(void **state)
{
    (void)state;
    assert_int_equal(ping_verdict(BY_MESSAGE, false), CHECK_HOLDS);
    assert_int_equal(ping_verdict(BY_MESSAGE_BESIDE_A_TIMER, false), CHECK_HOLDS);
}

static void a_site_that_is_inside_leaves(void **state)
{
    (void)state;
    assert_int_equal(ping_verdict(BY_MESSAGE, true), CHECK_HOLDS);
}

static void a_timer_that_runs_fires(void **state)
{
    (void)state;
    assert_int_equal(ping_verdict(BY_TIMER, false), CHECK_HOLDS);
}

static void a_timer_that_is_stopped_again_and_again_need_not_fire(void **state)
{
    (void)state;
    assert_int_equal(ping_verdict(BY_STARTED_AND_STOPPED, false), CHECK_STARVATION);
    assert_int_equal(ping_verdict(BY_STOPPED_AND_STARTED, false), CHECK_STARVATION);
}

/* Sites 0 and 1 go on with their PINGs while site 2 is cut off. It enters if it does not know of a cut, or when that is
 * healed. */
struct apart {
    uint32_t cut, zero;
};

static void apart_request(struct dme *d, void *state)
{
    struct apart *s = state;

    if (!s->cut)
        dme_enter(d);
}

static void apart_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    dme_send(d, m->from, PING);
}

static void apart_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    struct apart *s = state;

    if (of != 0 || d->self != 2)
        return;
    s->cut = what == DME_CUT;
    if (!s->cut && dme_waiting(d))
        dme_enter(d);
}

static const struct dme_alg apart = {
    .name = "apart",
    .kinds = ping_kinds,
    .options = ping_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_FIFO | DME_DETECTION,
    .state_size = sizeof(struct apart),
    .init = ping_init,
    .request = apart_request,
    .receive = apart_receive,
    .release = toy_nothing,
    .news = apart_news,
    .show = toy_show,
};

static void a_cut_heals_in_the_end(void **state)
{
    struct check_task task = task_of(&apart, 3, 0);

    (void)state;
    task.requests[2] = 1;
    task.cut = 1;
    task.starvation = true;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

/* A cut that has not happened cannot heal, and is no excuse. */
static void a_site_may_starve_where_a_cut_is_possible(void **state)
{
    struct check_task task = task_of(&ring, 2, 1);
    struct check_result r;

    (void)state;
    task.cut = 1;
    task.starvation = true;
    task.deadlocks_too = true; /* the token is lost in the cut */
    r = run(&task);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_int_equal(r.victim, 0);
}

/* A timer that starts itself again: one state that leads to itself. Or nothing
 * happens at all. */
static void alone_request(struct dme *d, void *state)
{
    (void)state;
    if (d->conf->alg->timer)
        dme_start(d, 0, 0);
}

static void alone_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d, (void)state, (void)m;
}

static void alone_timer(struct dme *d, void *state, unsigned timer)
{
    (void)state;
    dme_start(d, timer, 0);
}

#define ALONE                                                                                                          \
    .name = "alone", .kinds = ring_kinds, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,              \
    .request = alone_request, .receive = alone_receive, .release = toy_nothing, .show = toy_show
static const struct dme_alg restarts = {.timer = alone_timer, ALONE};
static const struct dme_alg waits = {ALONE};

static void a_state_that_leads_to_itself_is_a_cycle(void **state)
{
    struct check_task task = task_of(&restarts, 1, 1);

    (void)state;
    task.starvation = true;
    assert_int_equal(run(&task).verdict, CHECK_STARVATION);
}

static void a_deadlock_is_no_starvation(void **state)
{
    struct check_task task = task_of(&waits, 1, 1);

    (void)state;
    task.starvation = true;
    assert_int_equal(run(&task).verdict, CHECK_DEADLOCK);
    task.deadlocks_too = true;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

/* -------------------------------------------------------------------------------------------------
 * concurrent entry */

/* Site 0 lets in one site at a time, whatever the rule is; or all that the rule
 * admits; or first one, when all have asked, and then all that the rule admits.
 * Of those that wait it prefers the lowest site. */
enum { WANTED, LET_IN, GONE };
enum { SHARES };
enum { NEVER, ALWAYS, AFTER_THE_FIRST };

static const struct dme_kind gate_kinds[] = {{"WANTED", 1, 0}, {"LET_IN", 0, 0}, {"GONE", 0, 0}, {0}};
static const struct dme_option gate_options[] = {{.key = "shares", .help = "-", .max = 2}, {0}};

struct gate {
    uint32_t inside, mode, asked, left;
    struct {
        uint32_t waits, mode;
    } peer[];
};

static void gate_decide(struct dme *d, struct gate *s)
{
    if (dme_option(d, SHARES) == AFTER_THE_FIRST && s->asked < d->n)
        return;
    for (dme_id j = 0; j < d->n; j++) {
        bool joins =
            (dme_option(d, SHARES) == ALWAYS || (dme_option(d, SHARES) == AFTER_THE_FIRST && s->left)) &&
            (d->conf->rule == DME_SLOTS ? s->inside < d->conf->limit : dme_compatible(s->mode, s->peer[j].mode));

        if (!s->peer[j].waits || (s->inside && !joins))
            continue;
        s->mode = s->peer[j].mode;
        s->peer[j].waits = s->peer[j].mode = 0;
        s->inside++;
        dme_send(d, j, LET_IN);
    }
}

static void gate_request(struct dme *d, void *state)
{
    (void)state;
    dme_send_ticket(d, 0, WANTED, dme_claim(d, 0));
}

static void gate_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct gate *s = state;

    switch (m->kind) {
    case WANTED:
        s->asked += dme_option(d, SHARES) == AFTER_THE_FIRST;
        s->peer[m->from].waits = 1;
        s->peer[m->from].mode = m->ticket[0].mode;
        gate_decide(d, s);
        break;
    case LET_IN:
        dme_enter(d);
        break;
    case GONE:
        s->left = dme_option(d, SHARES) == AFTER_THE_FIRST;
        if (--s->inside == 0)
            s->mode = 0;
        gate_decide(d, s);
        break;
    }
}

static void gate_release(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, 0, GONE);
}

static const struct dme_alg gate = {
    .name = "gate",
    .kinds = gate_kinds,
    .options = gate_options,
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_SLOTS | 1 << DME_GROUP,
    .needs = DME_RELIABLE | DME_ALIVE | DME_FIFO,
    .state_size = sizeof(struct gate),
    .peer_size = sizeof(((struct gate *)0)->peer[0]),
    .request = gate_request,
    .receive = gate_receive,
    .release = gate_release,
    .show = toy_show,
};

/* Where messages overtake each other, site 1 asks again before it is known that
 * it has left, and is preferred. In the cycle in which site 2 starves, site 1
 * waits now and then. */
static void a_site_may_starve_while_another_one_waits_in_between(void **state)
{
    struct check_task task = task_of(&gate, 3, CHECK_UNLIMITED);
    struct check_result r;

    (void)state;
    task.needs &= ~(uint32_t)DME_FIFO;
    task.requests[0] = 0;
    task.starvation = true;
    r = run(&task);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_int_equal(r.victim, 2);
    task.needs |= DME_FIFO;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

static enum check_verdict gate_verdict(enum dme_rule rule, uint32_t limit, unsigned shares, bool concurrency)
{
    struct check_task task = task_of(&gate, 3, 1);

    dme_conf_init(&task.conf, &gate, 3, rule, limit);
    task.conf.option[SHARES] = shares;
    task.concurrency = concurrency;
    task.deadlocks_too = shares == AFTER_THE_FIRST; /* if not all ask */
    return run(&task).verdict;
}

static void who_may_be_inside_too_must_not_wait_for_an_exit(void **state)
{
    static const struct {
        enum dme_rule rule;
        uint32_t limit;
    } rules[] = {{DME_SHARED, 0}, {DME_GROUP, 1}, {DME_GROUP, 2}, {DME_SLOTS, 2}, {DME_SLOTS, 3}};

    (void)state;
    for (unsigned k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        assert_int_equal(gate_verdict(rules[k].rule, rules[k].limit, NEVER, true), CHECK_BLOCKING);
        assert_int_equal(gate_verdict(rules[k].rule, rules[k].limit, NEVER, false), CHECK_HOLDS);
        assert_int_equal(gate_verdict(rules[k].rule, rules[k].limit, ALWAYS, true), CHECK_HOLDS);
    }
}

/* Site 0 asks for nothing: what it would ask for does not matter. */
static void who_is_idle_keeps_no_site_out(void **state)
{
    struct check_task task = task_of(&gate, 3, 1);

    (void)state;
    dme_conf_init(&task.conf, &gate, 3, DME_GROUP, 1);
    task.requests[0] = 0;
    task.concurrency = true;
    assert_int_equal(run(&task).verdict, CHECK_BLOCKING);
}

/* One slot of two is taken, and two sites wait. */
static void a_free_slot_must_not_wait_though_not_all_fit(void **state)
{
    (void)state;
    assert_int_equal(gate_verdict(DME_SLOTS, 2, AFTER_THE_FIRST, false), CHECK_HOLDS);
    assert_int_equal(gate_verdict(DME_SLOTS, 2, AFTER_THE_FIRST, true), CHECK_BLOCKING);
}

static void who_may_not_may_have_to_wait(void **state)
{
    (void)state;
    assert_int_equal(gate_verdict(DME_EXCLUSIVE, 0, NEVER, true), CHECK_HOLDS);
    assert_int_equal(gate_verdict(DME_SLOTS, 1, NEVER, true), CHECK_HOLDS);
}

/* -------------------------------------------------------------------------------------------------------- reduction */

/* When site 1 leaves, it sends a message to site 0, and one to site 2, which makes site 2 send one to site 0 as well: so
 * the one from site 2 is never under way before the one from site 1. One of the two makes a mark at site 0. Either the
 * other one wants the mark to be there, or does not want it: if they overtake each other, that is a fault. */
enum { NEWS };
enum { MARKS };
enum { THE_FIRST, THE_SECOND };

static const struct dme_kind mark_kinds[] = {{"NEWS", 0, 0}, {0}};
static const struct dme_option mark_options[] = {{.key = "marks", .help = "-", .max = 1}, {0}};

struct mark {
    uint64_t made;
};

static void mark_request(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void mark_release(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, 0, NEWS);
    dme_send(d, 2, NEWS);
}

static void mark_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct mark *s = state;
    bool first = dme_option(d, MARKS) == THE_FIRST;

    if (d->self == 2)
        dme_send(d, 0, NEWS);
    else if ((m->from == 1) == first)
        s->made = 1;
    else
        DME_EXPECT(d, s->made == first);
}

static const struct dme_alg mark = {
    .name = "mark",
    .kinds = mark_kinds,
    .options = mark_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct mark),
    .request = mark_request,
    .receive = mark_receive,
    .release = mark_release,
    .show = toy_show,
};

static void a_reduced_search_finds_what_overtaking_does(void **state)
{
    (void)state;
    for (unsigned marks = 0; marks < 2; marks++)
        for (unsigned reduce = 0; reduce < 2; reduce++) {
            struct check_task task = task_of(&mark, 3, 0);

            task.requests[1] = 1;
            task.conf.option[MARKS] = marks;
            task.reduce = task.plain = reduce;
            assert_int_equal(run(&task).verdict, CHECK_ERROR);
        }
}

static void a_reduced_search_knows_timers_that_messages_stop(void **state)
{
    struct check_task task = task_of(&ping, 3, 0);

    (void)state;
    task.requests[2] = 2;
    task.conf.option[WAY] = BY_STARTED_AND_STOPPED;
    task.reduce = task.plain = true;
    assert_int_equal(run(&task).verdict, CHECK_HOLDS);
}

/* ----------------------------------------------------------------------------------------------------- fingerprints */

static void fingerprints_differ_if_one_bit_does(void **state)
{
    struct print base = {.high = 0x123456789abcdef1u, .low = 0xfedcba9876543210u};
    struct prints p;

    (void)state;
    prints_init(&p);
    assert_true(prints_add(&p, base));
    for (unsigned bit = 0; bit < 128; bit++) {
        struct print other = base;

        *(bit < 64 ? &other.high : &other.low) ^= (uint64_t)1 << bit % 64;
        assert_true(prints_add(&p, other));
        assert_false(prints_add(&p, other));
    }
    assert_false(prints_add(&p, base));
    assert_int_equal(p.count, 129);
    prints_free(&p);
}

static void no_fingerprint_is_lost_where_there_are_many(void **state)
{
    enum { MANY = 300000 };
    struct prints p;

    (void)state;
    prints_init(&p);
    for (unsigned again = 0; again < 2; again++)
        for (uint64_t k = 0, seed = 1; k < MANY; k++) {
            uint64_t high = test_random(&seed), low = test_random(&seed);

            if (k % 4 == 0)
                high &= 0xff00000000000fffu; /* many want the same place */
            assert_int_equal(prints_add(&p, (struct print){.high = high, .low = low}), !again);
        }
    assert_int_equal(p.count, MANY);
    prints_free(&p);
}

/* More want the last places of a segment than there is room behind them: it has to grow. */
static void fingerprints_find_room_behind_the_last_place(void **state)
{
    enum { MANY = 90 };
    struct prints p;

    (void)state;
    prints_init(&p);
    for (unsigned again = 0; again < 2; again++)
        for (uint64_t k = 0, seed = 1; k < MANY; k++) {
            uint64_t high = 0x42fff00000000000u | test_random(&seed) >> 20;

            assert_int_equal(prints_add(&p, (struct print){.high = high, .low = k}), !again);
        }
    assert_int_equal(p.count, MANY);
    prints_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_site_can_be_the_one_that_starves),
        cmocka_unit_test(the_loop_of_a_site_that_starves_can_be_gone_round),
        cmocka_unit_test(a_message_that_is_on_its_way_arrives),
        cmocka_unit_test(a_site_that_is_inside_leaves),
        cmocka_unit_test(a_timer_that_runs_fires),
        cmocka_unit_test(a_timer_that_is_stopped_again_and_again_need_not_fire),
        cmocka_unit_test(a_cut_heals_in_the_end),
        cmocka_unit_test(a_site_may_starve_where_a_cut_is_possible),
        cmocka_unit_test(a_state_that_leads_to_itself_is_a_cycle),
        cmocka_unit_test(a_deadlock_is_no_starvation),
        cmocka_unit_test(a_site_may_starve_while_another_one_waits_in_between),
        cmocka_unit_test(who_is_idle_keeps_no_site_out),
        cmocka_unit_test(a_free_slot_must_not_wait_though_not_all_fit),
        cmocka_unit_test(who_may_be_inside_too_must_not_wait_for_an_exit),
        cmocka_unit_test(who_may_not_may_have_to_wait),
        cmocka_unit_test(a_reduced_search_finds_what_overtaking_does),
        cmocka_unit_test(a_reduced_search_knows_timers_that_messages_stop),
        cmocka_unit_test(fingerprints_differ_if_one_bit_does),
        cmocka_unit_test(no_fingerprint_is_lost_where_there_are_many),
        cmocka_unit_test(fingerprints_find_room_behind_the_last_place),
    };

    return cmocka_run_group_tests_name("checker", tests, NULL, NULL);
}
