/* What may be asked of the checker together: which searches can be reduced, which have canonical forms, and which do not end. */
#include "test.h"

#include "check/check.h"
#include "core/alg.h"

#include <string.h>

extern const struct dme_alg ricart_agrawala;

static struct check_task plain_task(void)
{
    struct check_task task = {.needs = DME_RELIABLE | DME_ALIVE, .limit = 1000};

    dme_conf_init(&task.conf, &ricart_agrawala, 3, DME_EXCLUSIVE, 0);
    memset(task.requests, 1, 3);
    return task;
}

static bool is_reducible_with(void (*change)(struct check_task *))
{
    struct check_task task = plain_task();

    change(&task);
    return check_reducible(&task);
}

#define WITH(what)                                                                                                     \
    static void with_##what(struct check_task *t)                                                                      \
    {                                                                                                                  \
        t->what = 1;                                                                                                   \
    }
WITH(quiet)
WITH(lose)
WITH(duplicate)
WITH(crash)
WITH(restart)
WITH(resume)
WITH(cut)
WITH(join)
WITH(leave)
WITH(starvation)
WITH(messages)
WITH(overtaking)
WITH(concurrency)
WITH(canonical)

static void with_bounds(struct check_task *t)
{
    t->needs |= DME_BOUNDED_DELAY;
}

static void with_sequence(struct check_task *t)
{
    t->needs |= DME_SEQUENCED;
}

static void with_nothing(struct check_task *t)
{
    (void)t;
}

/* Each of them makes moves that the reduction leaves out visible, so each alone forbids it. */
static void a_search_is_reduced_only_if_nothing_sees_the_order_of_moves(void **state)
{
    void (*const seen[])(struct check_task *) = {
        with_quiet,       with_lose,      with_duplicate, with_crash,      with_restart,  with_resume,
        with_cut,         with_join,      with_leave,     with_starvation, with_messages, with_overtaking,
        with_concurrency, with_canonical, with_bounds,    with_sequence,
    };

    (void)state;
    assert_true(is_reducible_with(with_nothing));
    for (size_t k = 0; k < sizeof seen / sizeof seen[0]; k++)
        assert_false(is_reducible_with(seen[k]));
}

/* A canonical form is for unlimited requests; messages that are lost or doubled, and sites that fail, are counted in a state. */
static void a_search_has_canonical_forms_only_without_mishaps(void **state)
{
    void (*const refused[])(struct check_task *) = {with_lose,   with_duplicate, with_crash, with_restart,
                                                    with_resume, with_cut,       with_join,  with_leave};
    struct check_task task = plain_task();

    (void)state;
    memset(task.requests, CHECK_UNLIMITED, 3);
    assert_true(check_may_be_canonical(&task));
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        task = plain_task();
        memset(task.requests, CHECK_UNLIMITED, 3);
        refused[k](&task);
        assert_false(check_may_be_canonical(&task));
    }
}

/* Sites enter whenever they like, and the first one tells the others. Nothing in the sites grows, but what is in flight to a site that is late does. */
static void teller_request(struct dme *d, void *state)
{
    (void)state;
    for (dme_id j = 1; d->self == 0 && j < d->n; j++)
        dme_send(d, j, 0);
    dme_enter(d);
}

static void teller_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d, (void)state, (void)m;
}

static void teller_release(struct dme *d, void *state)
{
    (void)d, (void)state;
}

static void messages_that_are_not_awaited_grow_without_end(void **state)
{
    static const struct dme_kind kinds[] = {{"NOTE", 0, 0}, {0}};
    static const struct dme_alg teller = {
        .name = "teller",
        .kinds = kinds,
        .rules = 1 << DME_EXCLUSIVE,
        .needs = DME_RELIABLE | DME_ALIVE,
        .request = teller_request,
        .receive = teller_receive,
        .release = teller_release,
    };
    struct check_task task = plain_task();

    (void)state;
    for (uint32_t n = 1; n <= 3; n++) {
        dme_conf_init(&task.conf, &teller, n, DME_EXCLUSIVE, 0);
        assert_int_equal(check_grows(&task), n > 1);
    }
    task.needs |= DME_BOUNDED_DELAY; /* no message is late for ever */
    assert_false(check_grows(&task));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_is_reduced_only_if_nothing_sees_the_order_of_moves),
        cmocka_unit_test(a_search_has_canonical_forms_only_without_mishaps),
        cmocka_unit_test(messages_that_are_not_awaited_grow_without_end),
    };

    return cmocka_run_group_tests_name("checker_tasks", tests, NULL, NULL);
}
