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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_does_not_cover_all_sites_gives_no_verdict),
        cmocka_unit_test(each_move_is_looked_up_by_itself),
        cmocka_unit_test(a_move_is_one_event_of_the_pair_at_most),
        cmocka_unit_test(each_pair_begins_where_two_sites_begin),
        cmocka_unit_test(a_fault_of_the_pair_gives_no_verdict),
        cmocka_unit_test(a_violation_of_the_pair_is_shown_by_few_sites),
    };

    return cmocka_run_group_tests_name("checker_crowd", tests, NULL, NULL);
}
