/* Canonical forms of states, for unlimited requests: a form that hides something is noticed, and what is found through forms is
 * a run of the algorithm itself. */
#include "test.h"

#include "alg/list.h"
#include "alg/queue_token.h"
#include "alg/ricart_agrawala.h"
#include "check/check.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

extern const struct dme_alg ricart_agrawala, ricart_agrawala_as_published, suzuki_kasami, suzuki_kasami_tempting,
    suzuki_kasami_as_retold, lamport_as_retold;

static struct check_task unlimited(const struct dme_alg *alg, uint32_t n, bool fifo)
{
    struct check_task task = {.needs = check_needs(alg, fifo), .starvation = true, .limit = 300000};

    dme_conf_init(&task.conf, alg, n, DME_EXCLUSIVE, 0);
    memset(task.requests, CHECK_UNLIMITED, sizeof task.requests);
    task.canonical = check_may_be_canonical(&task);
    assert_true(task.canonical);
    return task;
}

static struct check_result check(const struct check_task *task)
{
    struct check_result result;

    check_run(task, &result);
    return result;
}

static void the_forms_of_the_catalogue_fit(void **state)
{
    (void)state;
    for (unsigned a = 0; alg_list[a]; a++) {
        struct check_task task;
        struct check_result r;

        if (!alg_list[a]->canon || alg_list[a]->flaw)
            continue;
        task = unlimited(alg_list[a], 2, alg_list[a]->needs & DME_FIFO);
        r = check(&task);
        if (r.verdict != CHECK_HOLDS || r.compared < 100)
            fail_msg("%s: %s, %llu compared", alg_list[a]->name, check_verdicts[r.verdict],
                     (unsigned long long)r.compared);
    }
}

static void unlimited_requests_end_or_it_is_known_that_they_do_not(void **state)
{
    (void)state;
    for (unsigned a = 0; alg_list[a]; a++) {
        struct check_task task = {.needs = check_needs(alg_list[a], alg_list[a]->needs & DME_FIFO), .limit = 200000};
        enum dme_rule rule = alg_list[a]->rules & 1 << DME_EXCLUSIVE ? DME_EXCLUSIVE : DME_SLOTS;
        struct check_result r;

        if (alg_list[a]->flaw)
            continue;
        dme_conf_init(&task.conf, alg_list[a], 2, rule, rule == DME_SLOTS);
        memset(task.requests, CHECK_UNLIMITED, sizeof task.requests);
        task.canonical = check_may_be_canonical(&task);
        if (!task.canonical && check_grows(&task))
            continue;
        check_run(&task, &r);
        if (r.verdict == CHECK_UNFINISHED)
            fail_msg("%s does not end", alg_list[a]->name);
        free(r.trace);
    }
}

/* --------------------------------------------------------------------------------------------------- forms that hide */

static struct ra_numbers *numbers(const struct dme_draft *now, dme_id i)
{
    return dme_state(now->node[i]);
}

/* As if a site that is idle had heard of every claim. */
static bool idle_sites_know_all(const struct dme_draft *now)
{
    uint64_t most = 0;
    bool changed = ra_canon_numbers(now);

    for (dme_id i = 0; i < now->conf->n; i++)
        most = dme_max(most, numbers(now, i)->highest);
    for (dme_id i = 0; i < now->conf->n; i++)
        if (now->node[i]->phase == DME_IDLE && numbers(now, i)->highest != most) {
            numbers(now, i)->highest = most;
            changed = true;
        }
    return changed;
}

/* As if claims were made in the order of the sites. */
static bool claims_are_equal(const struct dme_draft *now)
{
    ra_canon_numbers(now);
    for (dme_id i = 0; i < now->conf->n; i++)
        if (now->node[i]->phase != DME_IDLE)
            numbers(now, i)->mine.clock = 1;
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == 0)
            now->msg[k]->ticket[0].clock = 1;
    return true;
}

/* As if the highest number did not matter. */
static bool nothing_is_known(const struct dme_draft *now)
{
    ra_canon_numbers(now);
    for (dme_id i = 0; i < now->conf->n; i++)
        numbers(now, i)->highest = 1;
    return true;
}

/* As if only the site with the token had to hear a REQUEST. */
static bool others_need_no_requests(const struct dme_draft *now)
{
    qt_canon(now);
    for (size_t k = 0; k < now->msgs; k++)
        now->gone[k] |= now->msg[k]->kind == REQUEST && !((struct qt *)dme_state(now->node[now->msg[k]->to]))->has;
    return true;
}

/* As if a site that waits were served in any case. */
static bool requests_are_served(const struct dme_draft *now)
{
    qt_canon(now);
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++)
            if (i != j)
                ((struct qt *)dme_state(now->node[i]))->peer[j].asked = 0;
    return true;
}

/* As if only one site were inside: the first or the last of them. */
static bool one_is_inside(const struct dme_draft *now, bool first)
{
    bool found = false, changed = ra_canon_numbers(now);

    for (dme_id k = 0; k < now->conf->n; k++) {
        struct dme_node *node = now->node[first ? k : now->conf->n - 1 - k];

        if (node->phase == DME_INSIDE && found) {
            node->phase = DME_IDLE;
            changed = true;
        } else {
            found |= node->phase == DME_INSIDE;
        }
    }
    return changed;
}

static bool first_is_inside(const struct dme_draft *now)
{
    return one_is_inside(now, true);
}

static bool last_is_inside(const struct dme_draft *now)
{
    return one_is_inside(now, false);
}

/* Readers are inside together. The handler cannot make it look otherwise, so its form is right. */
static void a_form_cannot_hide_that_a_site_is_inside(void **state)
{
    struct dme_alg alg = ricart_agrawala;
    struct check_task task;

    (void)state;
    for (int k = 0; k < 2; k++) {
        alg.canon = k ? last_is_inside : first_is_inside;
        task = unlimited(&alg, 2, false);
        task.conf.rule = DME_SHARED;
        assert_int_equal(check(&task).verdict, CHECK_HOLDS);
    }
}

static void a_form_that_hides_something_is_noticed(void **state)
{
    static const struct {
        const struct dme_alg *alg;
        bool (*canon)(const struct dme_draft *now);
        const char *name;
    } cases[] = {
        {&ricart_agrawala, idle_sites_know_all, "idle_sites_know_all"},
        {&ricart_agrawala, claims_are_equal, "claims_are_equal"},
        {&ricart_agrawala, nothing_is_known, "nothing_is_known"},
        {&suzuki_kasami, others_need_no_requests, "others_need_no_requests"},
        {&suzuki_kasami, requests_are_served, "requests_are_served"},
    };

    (void)state;
    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (uint32_t n = 2; n <= 3; n++) {
            struct dme_alg alg = *cases[c].alg;
            struct check_task task;
            struct check_result r;

            alg.canon = cases[c].canon;
            task = unlimited(&alg, n, false);
            r = check(&task);
            if (r.verdict != CHECK_UNFINISHED || !r.fault || r.trace)
                fail_msg("%s, %u sites: %s", cases[c].name, n, check_verdicts[r.verdict]);
        }
}

/* ----------------------------------------------------------------------------------------------------- what is found */

static struct check_result check_mistake(const struct dme_alg *alg, const char *name, uint32_t n)
{
    struct check_task task = unlimited(alg, n, alg->needs & DME_FIFO);

    while (strcmp(alg->mistakes[task.conf.mistake].name, name) != 0)
        task.conf.mistake++;
    return check(&task);
}

/* The form takes out old requests, and numbers are small in it: both would hide these. */
static void a_mistake_that_a_form_would_hide_is_found(void **state)
{
    struct check_result r = check_mistake(&suzuki_kasami_tempting, "gives-uncompared", 3);

    (void)state;
    assert_int_equal(r.verdict, CHECK_ERROR);
    assert_non_null(r.trace);
    free(r.trace);
    r = check_mistake(&suzuki_kasami_tempting, "queues-twice", 3);
    assert_int_equal(r.verdict, CHECK_ERROR);
    free(r.trace);
    r = check_mistake(&suzuki_kasami_as_retold, "numbers-wrap", 2);
    assert_int_equal(r.verdict, CHECK_DEADLOCK);
    free(r.trace);
    r = check_mistake(&suzuki_kasami_as_retold, "numbers-wrap", 3); /* it takes more requests than are compared */
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_non_null(r.fault);
    r = check_mistake(&lamport_as_retold, "clock-not-past", 2);
    assert_int_equal(r.verdict, CHECK_DEADLOCK);
    free(r.trace);
    r = check_mistake(&ricart_agrawala_as_published, "records-late", 2);
    assert_int_equal(r.verdict, CHECK_DEADLOCK);
    free(r.trace);
}

/* A small system that deadlocks says nothing about other properties, if deadlocks are ignored. */
static void unlimited_requests_are_searched_past_a_deadlock(void **state)
{
    struct check_task task = unlimited(&lamport_as_retold, 2, true);

    (void)state;
    while (strcmp(lamport_as_retold.mistakes[task.conf.mistake].name, "clock-not-past") != 0)
        task.conf.mistake++;
    task.deadlocks_too = true;
    assert_int_equal(check(&task).verdict, CHECK_HOLDS);
}

/* A run through forms, as the moves of a world: the last of them is an entry. */
static void a_violation_is_a_run_of_the_algorithm(void **state)
{
    static const struct dme_alg *const algs[] = {&ricart_agrawala, &suzuki_kasami};

    (void)state;
    for (unsigned a = 0; a < 2; a++)
        for (uint32_t most = 0; most < 4; most++)
            for (int fifo = 0; fifo < 2; fifo++) {
                struct check_task task = unlimited(algs[a], 3, fifo);
                struct check_result r;
                struct lab_world *w;
                uint32_t entries = 0;

                task.overtaking = true;
                task.overtakes = most;
                r = check(&task);
                assert_int_equal(r.verdict, CHECK_OVERTAKING);
                w = world_new(&task.conf);
                for (uint32_t k = 0; k < r.trace_length; k++) {
                    assert_null(world_move(w, &r.trace[k]));
                    entries += w->out->entered;
                }
                assert_true(w->out->entered && entries > most);
                world_free(w);
                free(r.trace);
            }
}

static void a_bound_on_overtaking_holds_for_any_number_of_requests(void **state)
{
    struct check_task task = unlimited(&ricart_agrawala, 3, false);
    struct check_result r;

    (void)state;
    task.overtaking = true;
    task.overtakes = 200;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    assert_int_equal(r.overtaken, 5);
    task.overtakes = 5;
    assert_int_equal(check(&task).verdict, CHECK_HOLDS);
}

/* ------------------------------------------------------------------------------------------------------------ fairness */

/* Site 0 enters whenever it likes, and counts. Any other site asks it, and enters when GO arrives, which has the count. In the form, a
 * GO has the parity of the entries since then: one and the same message looks different after each entry. */
enum { ASK, GO };
static const struct dme_kind toy_kinds[] = {{"ASK", 0, 0}, {"GO", 1, 0}, {0}};

static void toy_init(struct dme *d, void *state)
{
    (void)d;
    (void)state;
}

static void toy_request(struct dme *d, void *state)
{
    uint64_t *count = state;

    if (d->self) {
        dme_send(d, 0, ASK);
        return;
    }
    ++*count;
    dme_enter(d);
}

static void toy_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    if (m->kind == ASK)
        dme_send_ticket(d, m->from, GO, dme_claim(d, *(uint64_t *)state));
    else
        dme_enter(d);
}

static void toy_release(struct dme *d, void *state)
{
    (void)d;
    (void)state;
}

static bool toy_canon(const struct dme_draft *now)
{
    uint64_t *count = dme_state(now->node[0]);
    bool changed = *count != 0;

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == GO) {
            now->msg[k]->ticket[0].clock = (now->msg[k]->ticket[0].clock ^ *count) & 1;
            changed = true;
        }
    *count = 0;
    return changed;
}

static const struct dme_alg toy = {
    .name = "toy",
    .kinds = toy_kinds,
    .rules = 1 << DME_SLOTS,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(uint64_t),
    .init = toy_init,
    .request = toy_request,
    .receive = toy_receive,
    .release = toy_release,
    .canon = toy_canon,
};

static void a_message_is_the_same_whatever_its_form(void **state)
{
    struct check_task task = unlimited(&toy, 2, false);
    struct check_result r;

    (void)state;
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 2;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_HOLDS); /* GO arrives in the end, however often site 0 enters before */
}

/* The fourth site is in no small system that is compared. */
static void fourth_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    DME_EXPECT(d, d->self != 3);
    toy_receive(d, state, m);
}

static void a_fault_that_is_found_through_forms_is_a_run_of_the_algorithm(void **state)
{
    struct dme_alg fourth = toy;
    struct check_task task;
    struct check_result r;
    struct lab_world *w;

    (void)state;
    fourth.receive = fourth_receive;
    task = unlimited(&fourth, 4, false);
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 4;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_ERROR);
    assert_int_equal(r.trace_length, 3); /* site 3 asks, site 0 answers, the answer arrives */
    w = world_new(&task.conf);
    for (uint32_t k = 0; k < r.trace_length; k++) {
        assert_null(w->out->fault);
        assert_null(world_move(w, &r.trace[k]));
    }
    assert_string_equal(w->out->fault, r.fault);
    world_free(w);
    free(r.trace);
}

/* Site 0 answers when it is outside. There is room for both, so site 1 should not have to wait for that. */
static void strict_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    if (m->kind == ASK && dme_inside(d))
        *(uint64_t *)state = 1;
    else
        toy_receive(d, state, m);
}

static void strict_release(struct dme *d, void *state)
{
    if (*(uint64_t *)state)
        dme_send_ticket(d, 1, GO, dme_claim(d, 0));
    *(uint64_t *)state = 0;
}

static void strict_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self)
        dme_send(d, 0, ASK);
    else
        dme_enter(d);
}

static bool strict_canon(const struct dme_draft *now)
{
    (void)now;
    return false;
}

/* The small systems are compared in full, though a site waits there that could be let in. */
static void a_site_that_waits_in_vain_is_found_through_forms(void **state)
{
    struct dme_alg strict = toy;
    struct check_task task;
    struct check_result r;

    (void)state;
    strict.request = strict_request;
    strict.receive = strict_receive;
    strict.release = strict_release;
    strict.canon = strict_canon;
    task = unlimited(&strict, 2, false);
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 2;
    task.concurrency = true;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_BLOCKING);
    assert_int_equal(r.compared, 455);
    free(r.trace);
}

/* Sites have a colour that no handler looks at. The form has another one: all moves are the same, and an invariant is broken. */
static bool coloured_canon(const struct dme_draft *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        *(uint64_t *)dme_state(now->node[i]) = 1;
    return true;
}

static const char *coloured_broken(const struct dme_moment *now)
{
    return *(const uint64_t *)dme_state(now->node[0]) ? "the first site has no colour" : NULL;
}

static void coloured_request(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void a_form_that_breaks_an_invariant_gives_no_verdict(void **state)
{
    static const struct dme_alg coloured = {
        .name = "coloured",
        .kinds = toy_kinds,
        .rules = 1 << DME_SLOTS,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = sizeof(uint64_t),
        .init = toy_init,
        .request = coloured_request,
        .receive = toy_receive,
        .release = toy_release,
        .broken = coloured_broken,
        .canon = coloured_canon,
    };
    struct check_task task = unlimited(&coloured, 2, false);
    struct check_result r;

    (void)state;
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 2;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_string_equal(r.fault, "a state is no violation, and its canonical form is one");
}

/* Site 1 asks site 0 by two PINGs, which are numbered. Site 0 answers the one that is next by PONG, and site 1 sends ACK and another PING. While the
 * messages arrive in that order, every message arrives and site 1 is never let in. A PING that arrives before the one that is next, or before the ACK,
 * opens site 0, as does a request of site 0: then site 1 is let in. In the form a PING has its distance from the one that is next: two PINGs are
 * on their way in every round, and only the first of them arrives in it. */
enum { PING, PONG, ACK, OPEN };
enum { SHUT, BUSY, LET_IN_NEXT, LET_IN };
static const struct dme_kind pair_kinds[] = {{"PING", 1, 0}, {"PONG", 0, 0}, {"ACK", 0, 0}, {"OPEN", 0, 0}, {0}};

struct pair {
    uint64_t next; /* the number of the PING that site 1 sends next, or that site 0 expects next */
    uint64_t door;
};

static void pair_ping(struct dme *d, struct pair *s)
{
    dme_send_ticket(d, 0, PING, dme_claim(d, s->next++));
}

static void pair_request(struct dme *d, void *state)
{
    struct pair *s = state;

    if (d->self == 0 && s->door != LET_IN)
        s->door = LET_IN_NEXT;
    if (d->self == 0 || s->door == LET_IN) {
        dme_enter(d);
        return;
    }
    pair_ping(d, s);
    pair_ping(d, s);
}

static void pair_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct pair *s = state;

    if (m->kind == PONG && s->door == SHUT) {
        dme_send(d, 0, ACK);
        pair_ping(d, s);
    } else if (m->kind == ACK && s->door == BUSY) {
        s->door = SHUT;
    } else if (m->kind == OPEN) {
        s->door = LET_IN;
        dme_enter(d);
    } else if (m->kind == PING && s->door == SHUT && m->ticket[0].clock == s->next) {
        s->door = BUSY;
        s->next++;
        dme_send(d, 1, PONG);
    } else if (m->kind == PING && s->door != LET_IN) {
        s->door = LET_IN;
        dme_send(d, 1, OPEN);
    }
}

static bool pair_canon(const struct dme_draft *now)
{
    struct pair *zero = dme_state(now->node[0]), *one = dme_state(now->node[1]);
    bool open = zero->door == LET_IN_NEXT || zero->door == LET_IN; /* then numbers do not matter */

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == PING)
            now->msg[k]->ticket[0].clock = open ? 0 : now->msg[k]->ticket[0].clock - zero->next;
    one->next = open ? 0 : one->next - zero->next;
    zero->next = 0;
    return true;
}

static void messages_that_take_turns_do_not_hide_a_fair_cycle(void **state)
{
    static const struct dme_alg pair = {
        .name = "pair",
        .kinds = pair_kinds,
        .rules = 1 << DME_SLOTS,
        .needs = DME_RELIABLE | DME_ALIVE,
        .state_size = sizeof(struct pair),
        .init = toy_init,
        .request = pair_request,
        .receive = pair_receive,
        .release = toy_release,
        .canon = pair_canon,
    };
    struct check_task task = unlimited(&pair, 2, false);
    struct check_result r;

    (void)state;
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 2;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_int_equal(r.victim, 1);
    free(r.trace);
}

/* Site 0 asks, site 1 declines, and so on for ever. Before each of these messages there is a NOTE, which no site looks at, and which the form leaves
 * out. On FIFO channels it has to arrive first. */
enum { NOTE, PLEASE, NO };
static const struct dme_kind noisy_kinds[] = {{"NOTE", 0, 0}, {"PLEASE", 0, 0}, {"NO", 0, 0}, {0}};

static void noisy_send(struct dme *d, uint8_t kind)
{
    dme_send(d, !d->self, NOTE);
    dme_send(d, !d->self, kind);
}

static void noisy_request(struct dme *d, void *state)
{
    (void)state;
    if (d->self)
        dme_enter(d);
    else
        noisy_send(d, PLEASE);
}

static void noisy_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    if (m->kind != NOTE)
        noisy_send(d, m->kind == NO ? PLEASE : NO);
}

static bool noisy_canon(const struct dme_draft *now)
{
    bool changed = false;

    for (size_t k = 0; k < now->msgs; k++)
        changed |= now->gone[k] = now->msg[k]->kind == NOTE;
    return changed;
}

static void messages_that_forms_leave_out_arrive_in_the_trace(void **state)
{
    struct dme_alg noisy = toy;
    struct check_task task;
    struct check_result r;
    struct lab_world *w;
    uint32_t notes[2] = {0};

    (void)state;
    noisy.kinds = noisy_kinds;
    noisy.request = noisy_request;
    noisy.receive = noisy_receive;
    noisy.canon = noisy_canon;
    task = unlimited(&noisy, 2, true);
    task.conf.rule = DME_SLOTS;
    task.conf.limit = 2;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_STARVATION);
    assert_int_equal(r.victim, 0);
    w = world_new(&task.conf);
    for (uint32_t k = 0; k < r.trace_length; k++) {
        assert_null(world_move(w, &r.trace[k]));
        notes[r.trace[k].site] += r.trace[k].type == DME_RECEIVE && r.trace[k].kind == NOTE;
    }
    assert_true(notes[0] && notes[1]);
    world_free(w);
    free(r.trace);
}

/* Ctrl-C while forms are compared. */
static void a_comparison_that_is_interrupted_gives_no_verdict(void **state)
{
    static const volatile sig_atomic_t stop = 1;
    struct check_task task = unlimited(&ricart_agrawala, 3, false);
    struct check_result r;

    (void)state;
    task.stop = &stop;
    r = check(&task);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_true(r.interrupted && r.compared == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forms_of_the_catalogue_fit),
        cmocka_unit_test(unlimited_requests_end_or_it_is_known_that_they_do_not),
        cmocka_unit_test(a_form_cannot_hide_that_a_site_is_inside),
        cmocka_unit_test(a_form_that_hides_something_is_noticed),
        cmocka_unit_test(a_mistake_that_a_form_would_hide_is_found),
        cmocka_unit_test(unlimited_requests_are_searched_past_a_deadlock),
        cmocka_unit_test(a_violation_is_a_run_of_the_algorithm),
        cmocka_unit_test(a_bound_on_overtaking_holds_for_any_number_of_requests),
        cmocka_unit_test(a_message_is_the_same_whatever_its_form),
        cmocka_unit_test(a_fault_that_is_found_through_forms_is_a_run_of_the_algorithm),
        cmocka_unit_test(a_site_that_waits_in_vain_is_found_through_forms),
        cmocka_unit_test(a_form_that_breaks_an_invariant_gives_no_verdict),
        cmocka_unit_test(messages_that_take_turns_do_not_hide_a_fair_cycle),
        cmocka_unit_test(messages_that_forms_leave_out_arrive_in_the_trace),
        cmocka_unit_test(a_comparison_that_is_interrupted_gives_no_verdict),
    };

    return cmocka_run_group_tests_name("canon", tests, NULL, NULL);
}
