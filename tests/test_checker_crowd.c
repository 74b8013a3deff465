/* Exclusion for any number of sites, by two sites and the others: what the others may do must cover what three and four sites do, and a fault
 * that they make possible is no proof. */
#include "test.h"

#include "check/check.h"
#include "core/alg.h"

#include <stdlib.h>
#include <string.h>

extern const struct dme_alg singhal_dynamic;

static struct check_task task_of(const struct dme_alg *alg, uint32_t n)
{
    struct check_task task = {.needs = alg->needs, .limit = 1000000};

    dme_conf_init(&task.conf, alg, n, DME_EXCLUSIVE, 0);
    return task;
}

static bool sends_nothing(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    (void)node, (void)k, (void)msg;
    return false;
}

/* The others ask, and never answer. */
static bool asks_only(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    return k == 0 && singhal_dynamic.crowd->send(node, k, msg);
}

static void a_pair_that_does_not_cover_all_sites_gives_no_verdict(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct dme_crowd crowd = *alg.crowd;
    struct check_result r;
    struct check_task task = task_of(&alg, 3);

    (void)state;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    assert_true(r.cover[0].all && r.cover[1].all && r.cover[0].states == 9941 && r.cover[1].states == 537);
    assert_int_equal(r.states, 736);

    /* How many sites the task has does not matter; and that many states are no more than that many. */
    task = task_of(&alg, 5);
    task.limit = 736;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    assert_int_equal(r.states, 736);
    task.limit = 1000000;

    /* Two sites alone exclude each other, and three sites do more than two sites and others that never answer. */
    alg.crowd = &crowd;
    crowd.send = asks_only;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_true(r.compared > 0);
    assert_string_equal(r.fault, "a move of three or four sites is no move of two and the others");

    /* A site that must be asked from the beginning is no site of a pair to which nothing is said. */
    crowd.send = sends_nothing;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_int_equal(r.compared, 0);
}

/* The others never ask the first site while it waits. */
static bool spares_the_first(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    return !(k == 0 && node->self == 0 && node->phase == DME_WAITING) && singhal_dynamic.crowd->send(node, k, msg);
}

/* What the pair could do in another state of it does not count. */
static void each_move_is_looked_up_by_itself(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct dme_crowd crowd = *alg.crowd;
    struct check_result r;
    struct check_task task = task_of(&alg, 3);

    (void)state;
    alg.crowd = &crowd;
    crowd.send = spares_the_first;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_int_equal(r.compared, 77);
}

/* All sites may be inside together, and count how often they were. */
struct reader {
    uint64_t clock, uses;
};

static void reader_request(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void reader_release(struct dme *d, void *state)
{
    struct reader *s = state;

    (void)d;
    s->uses = (s->uses + 1) % 3;
}

static void reader_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                         struct dme_node *into)
{
    const struct reader *s = dme_state(node);

    (void)conf, (void)pair;
    *(struct reader *)dme_state(into) = (struct reader){.uses = s->uses};
}

/* A site of four that is inside is shown as one that has left already: to come there is two events of a pair. */
static void reader_merge_hastily(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                                 struct dme_node *into)
{
    reader_merge(conf, node, pair, into);
    if (conf->n < 4 || node->phase != DME_INSIDE)
        return;
    into->phase = DME_IDLE;
    into->mode = 0;
    reader_release(NULL, dme_state(into));
}

static bool reader_canon(const struct dme_draft *draft)
{
    for (dme_id i = 0; i < draft->conf->n; i++)
        ((struct reader *)dme_state(draft->node[i]))->clock = 0;
    return true;
}

static uint64_t *reader_clock(void *state)
{
    return &((struct reader *)state)->clock;
}

static void a_move_is_one_event_of_the_pair_at_most(void **state)
{
    static const struct dme_kind kinds[] = {{.name = NULL}};
    struct dme_crowd crowd = {reader_merge, sends_nothing, reader_canon, reader_clock};
    struct dme_alg alg = {.name = "reader",
                          .kinds = kinds,
                          .rules = 1 << DME_GROUP,
                          .needs = DME_RELIABLE | DME_ALIVE,
                          .state_size = sizeof(struct reader),
                          .request = reader_request,
                          .release = reader_release,
                          .crowd = &crowd};
    struct check_result r;
    struct check_task task = {.needs = alg.needs, .limit = 1000000};

    (void)state;
    dme_conf_init(&task.conf, &alg, 3, DME_GROUP, 1);
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    crowd.merge = reader_merge_hastily;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_string_equal(r.fault, "a move of three or four sites is no move of two and the others");
}

/* Site 0 of four is another one at first than site 0 of a pair. */
static void merge_of_another_site(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                                  struct dme_node *into)
{
    singhal_dynamic.crowd->merge(conf, node, pair, into);
    if (conf->n == 4 && node->self == 0 && node->phase == DME_IDLE)
        into->mode = 7;
}

static void each_pair_begins_where_two_sites_begin(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct dme_crowd crowd = *alg.crowd;
    struct check_result r;
    struct check_task task = task_of(&alg, 3);
    uint64_t of_three;

    (void)state;
    check_any_number(&task, &r);
    of_three = r.cover[0].states;
    assert_int_equal(r.compared, 91338);
    alg.crowd = &crowd;
    crowd.merge = merge_of_another_site;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_int_equal(r.cover[0].states, of_three);
    assert_int_equal(r.compared, 82938); /* no move of four sites */
}

/* The others answer though they were not asked. */
static bool answers_always(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    if (k == 1)
        msg->kind = 1; /* REPLY */
    return k == 1 || singhal_dynamic.crowd->send(node, k, msg);
}

static void a_fault_of_the_pair_gives_no_verdict(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct dme_crowd crowd = *alg.crowd;
    struct check_result r;
    struct check_task task = task_of(&alg, 3);

    (void)state;
    alg.crowd = &crowd;
    crowd.send = answers_always;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_string_equal(r.fault, "two sites and the others violate a property, and no run of few sites does");
}

/* A site answers at once, even inside. Then two sites show it in a run of their own. */
static void answers_inside(struct dme *d, void *state, const struct dme_msg *m)
{
    if (m->kind == 0) /* REQUEST */
        dme_send(d, m->from, 1);
    else
        singhal_dynamic.receive(d, state, m);
}

static void a_violation_of_the_pair_is_shown_by_few_sites(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct check_result r;
    struct check_task task = task_of(&alg, 3);

    (void)state;
    alg.receive = answers_inside;
    alg.broken = NULL;
    task.canonical = task.starvation = true; /* unlimited requests; those of few sites are not */
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_EXCLUSION);
    assert_true(task.conf.n == 2 && task.requests[0] == 1 && !task.canonical && !task.starvation);
    assert_true(r.trace && r.trace_length < 10);
    free(r.trace);
}

/* A reader that counts what the others tell it: while it is inside (early), and while it is not (late). Sites tell each other nothing. */
struct listener {
    uint64_t clock;
    uint8_t early, late, left;
};

/* What a site of four shows of itself when it has left: these counts. If `alone` is not 0, a site shows at its entry that it is idle and that the others
 * have told it something `alone` times, so the move is one of the others only. */
static struct {
    uint8_t early, late, alone;
} shown;

static void listener_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct listener *s = state;

    (void)m;
    if (dme_inside(d))
        s->early = (s->early + 1) % 4;
    else
        s->late = (s->late + 1) % 8;
}

static void listener_release(struct dme *d, void *state)
{
    struct listener *s = state;

    (void)d;
    s->left = 1;
}

/* By how much the clock was raised is something that the others tell, too. */
static void listener_release_and_read(struct dme *d, void *state)
{
    struct listener *s = state;

    listener_release(d, state);
    s->early = (uint8_t)((s->early + s->clock) % 4);
    s->clock = 0;
}

static void listener_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                           struct dme_node *into)
{
    const struct listener *s = dme_state(node);
    struct listener *t = dme_state(into);

    (void)pair;
    *t = (struct listener){.clock = s->clock, .early = s->early, .late = s->late};
    if (conf->n < 4 || (node->phase == DME_INSIDE ? !shown.alone : !s->left))
        return;
    into->phase = DME_IDLE;
    into->mode = 0;
    t->early = shown.early;
    t->late = shown.alone ? shown.alone : shown.late;
}

static bool listener_is_told(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    (void)node;
    msg->kind = 0;
    return k == 0;
}

/* Only whether the clock was raised is kept. */
static bool listener_canon(const struct dme_draft *draft)
{
    for (dme_id i = 0; i < draft->conf->n; i++) {
        struct listener *s = dme_state(draft->node[i]);

        s->clock = s->clock > 0;
    }
    return true;
}

static const struct dme_kind listener_kinds[] = {{"NEWS", 0, 0}, {0}};

static enum check_verdict verdict_of_listeners(const struct dme_crowd *crowd, void (*release)(struct dme *, void *))
{
    struct dme_alg alg = {.name = "listener",
                          .kinds = listener_kinds,
                          .rules = 1 << DME_GROUP,
                          .needs = DME_RELIABLE | DME_ALIVE,
                          .state_size = sizeof(struct listener),
                          .request = reader_request,
                          .receive = listener_receive,
                          .release = release,
                          .crowd = crowd};
    struct check_task task = {.needs = alg.needs, .limit = 1000000};
    struct check_result r;

    dme_conf_init(&task.conf, &alg, 3, DME_GROUP, 1);
    check_any_number(&task, &r);
    return r.verdict;
}

static void the_others_act_twice_before_an_event_and_four_times_after(void **state)
{
    static const struct dme_crowd crowd = {listener_merge, listener_is_told, reader_canon, reader_clock};
    static const struct {
        uint8_t early, late, alone;
        enum check_verdict verdict;
    } row[] = {{2, 4, 0, CHECK_HOLDS},
               {3, 0, 0, CHECK_UNFINISHED},
               {0, 5, 0, CHECK_UNFINISHED},
               {0, 0, 5, CHECK_HOLDS},
               {0, 0, 6, CHECK_UNFINISHED}};

    (void)state;
    for (unsigned k = 0; k < sizeof row / sizeof row[0]; k++) {
        shown.early = row[k].early;
        shown.late = row[k].late;
        shown.alone = row[k].alone;
        assert_int_equal(verdict_of_listeners(&crowd, listener_release), row[k].verdict);
    }
}

/* To raise the clock of the first site is the first move of the others that is tried. The event itself lets the clock tick once. */
static void a_clock_is_raised_before_an_event(void **state)
{
    static const struct dme_crowd crowd = {listener_merge, sends_nothing, listener_canon, reader_clock};

    (void)state;
    memset(&shown, 0, sizeof shown);
    for (shown.early = 0; shown.early < 4; shown.early++)
        assert_int_equal(verdict_of_listeners(&crowd, listener_release_and_read),
                         shown.early < 3 ? CHECK_HOLDS : CHECK_UNFINISHED);
}

/* All may be inside together. A site that leaves for the first time tells each other site who sends, and names all sites. */
struct writer {
    uint64_t clock;
    uint8_t sent, heard;
};

enum { WRITER_SENDER, WRITER_LIST }; /* tickets of a letter */

static void writer_release(struct dme *d, void *state)
{
    struct writer *s = state;

    for (dme_id j = 0; j < d->n && !s->sent; j++)
        if (j != d->self) {
            struct dme_msg *m = dme_send(d, j, 0);

            m->ticket[WRITER_SENDER].site = d->self;
            for (dme_id k = 0; k < d->n; k++)
                m->ticket[WRITER_LIST + k].site = k;
        }
    s->sent = 1;
}

static void writer_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct writer *s = state;

    s->heard = m->ticket[WRITER_SENDER].site == m->from && m->ticket[WRITER_LIST + d->self].site == d->self ? 1 : 2;
}

static void writer_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                         struct dme_node *into)
{
    (void)conf, (void)pair;
    *(struct writer *)dme_state(into) = *(const struct writer *)dme_state(node);
}

static bool writer_sends(const struct dme_node *node, unsigned k, struct dme_msg *msg)
{
    msg->kind = 0;
    memset(msg->ticket, 0, (WRITER_LIST + 3) * sizeof *msg->ticket);
    msg->ticket[WRITER_SENDER].site = msg->from;
    for (dme_id j = 0; j < 3; j++)
        msg->ticket[WRITER_LIST + j].site = j;
    (void)node;
    return k == 0;
}

/* Lists name the pair only. */
static bool writer_canon(const struct dme_draft *draft)
{
    for (size_t k = 0; k < draft->msgs; k++)
        draft->msg[k]->ticket[WRITER_LIST + 2].site = DME_NONE;
    for (dme_id i = 0; i < draft->conf->n; i++)
        ((struct writer *)dme_state(draft->node[i]))->clock = 0;
    return true;
}

static void lists_of_sites_are_lists_of_the_pair(void **state)
{
    static const struct dme_kind kinds[] = {{"LETTER", WRITER_LIST, 1}, {0}};
    static const struct dme_crowd crowd = {writer_merge, writer_sends, writer_canon, reader_clock};
    struct dme_alg alg = {.name = "writer",
                          .kinds = kinds,
                          .rules = 1 << DME_GROUP,
                          .needs = DME_RELIABLE | DME_ALIVE,
                          .state_size = sizeof(struct writer),
                          .request = reader_request,
                          .receive = writer_receive,
                          .release = writer_release,
                          .crowd = &crowd};
    struct check_task task = {.needs = alg.needs, .limit = 1000000};
    struct check_result r;

    (void)state;
    dme_conf_init(&task.conf, &alg, 3, DME_GROUP, 1);
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    assert_true(r.cover[0].all && r.cover[1].all);
}

static volatile sig_atomic_t stop;

static void merges_four_and_stops(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                                  struct dme_node *into)
{
    stop |= conf->n == 4;
    singhal_dynamic.crowd->merge(conf, node, pair, into);
}

/* Ctrl-C while four sites are compared: what is not compared is not proved. */
static void a_proof_that_is_interrupted_is_none(void **state)
{
    struct dme_alg alg = singhal_dynamic;
    struct dme_crowd crowd = *alg.crowd;
    struct check_task task = task_of(&alg, 3);
    struct check_result r;

    (void)state;
    alg.crowd = &crowd;
    crowd.merge = merges_four_and_stops;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_HOLDS);
    assert_false(r.interrupted);
    task.stop = &stop;
    stop = 0;
    check_any_number(&task, &r);
    assert_int_equal(r.verdict, CHECK_UNFINISHED);
    assert_true(r.interrupted && r.cover[0].all && r.cover[1].states == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_does_not_cover_all_sites_gives_no_verdict),
        cmocka_unit_test(each_move_is_looked_up_by_itself),
        cmocka_unit_test(a_move_is_one_event_of_the_pair_at_most),
        cmocka_unit_test(each_pair_begins_where_two_sites_begin),
        cmocka_unit_test(a_fault_of_the_pair_gives_no_verdict),
        cmocka_unit_test(a_violation_of_the_pair_is_shown_by_few_sites),
        cmocka_unit_test(the_others_act_twice_before_an_event_and_four_times_after),
        cmocka_unit_test(a_clock_is_raised_before_an_event),
        cmocka_unit_test(lists_of_sites_are_lists_of_the_pair),
        cmocka_unit_test(a_proof_that_is_interrupted_is_none),
    };

    return cmocka_run_group_tests_name("checker_crowd", tests, NULL, NULL);
}
