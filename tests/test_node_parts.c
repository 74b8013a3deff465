/* One member, and two who meet: who may take part, who is served, what is remembered. */
#include "test.h"

#include "alg/list.h"
#include "node/session.h"

#include <string.h>

static const char *const member_names[] = {"ant", "bee"};

/* -------------------------------------------------------------------------------------------------- who may take part
 */

static struct node_conf pair_conf(uint32_t self, const char *summary, uint64_t incarnation)
{
    return (struct node_conf){.n = 2,
                              .self = self,
                              .name = member_names,
                              .summary = summary,
                              .modes = alg_find("central"),
                              .slots = alg_find("central"),
                              .incarnation = incarnation};
}

/* Carries bytes between two members until there are none. */
static void talk(struct node *a, struct node *b)
{
    struct node *side[2] = {a, b};
    size_t moved = 1;

    while (moved) {
        moved = 0;
        for (unsigned k = 0; k < 2; k++) {
            struct link *from = &side[k]->link[1 - k], *to = &side[1 - k]->link[k];
            size_t len;
            const uint8_t *bytes = link_output(from, &len);

            if (!len)
                continue;
            link_input(to, bytes, len);
            link_wrote(from, len);
            node_pump(side[1 - k]);
            moved += len;
        }
    }
}

static void meet(struct node *a, struct node *b)
{
    link_connected(&a->link[1]);
    link_connected(&b->link[0]);
    talk(a, b);
}

static void members_with_different_configurations_refuse_each_other(void **state)
{
    struct node a, b;
    struct node_conf conf_a = pair_conf(0, "port 1", 1), conf_b = pair_conf(1, "port 2", 2);

    (void)state;
    node_init(&a, &conf_a);
    node_init(&b, &conf_b);
    meet(&a, &b);
    assert_int_equal(a.link[1].state, LINK_ENDING);
    assert_int_equal(b.link[0].state, LINK_ENDING);
    assert_non_null(strstr(a.link[1].reason, "configurations differ"));
    assert_non_null(strstr(b.link[0].reason, "configurations differ"));
    assert_false(node_is_open(&a) || node_is_open(&b));
    node_free(&a);
    node_free(&b);
}

/* The first life of bee is remembered by ant. Its second life grants nothing, not even what is at home there. */
static void a_member_that_restarted_grants_nothing(void **state)
{
    struct node a, b;
    struct node_conf conf_a = pair_conf(0, "same", 1), conf_b = pair_conf(1, "same", 2);
    struct session_wish wish = {.name_len = 1, .wait_ms = SESSION_FOREVER};
    struct node_event e;
    char line[256];
    struct dme_text why;

    (void)state;
    node_init(&a, &conf_a);
    node_init(&b, &conf_b);
    meet(&a, &b);
    assert_true(node_is_open(&a) && node_is_open(&b));
    node_free(&b);
    conf_b.incarnation = 3;
    node_init(&b, &conf_b);
    meet(&a, &b);
    assert_non_null(strstr(a.link[1].reason, "bee has restarted"));
    assert_non_null(strstr(b.link[0].reason, "bee has restarted"));
    for (unsigned k = 0; k < 26; k++) {
        char name = (char)('a' + k);
        struct session *s = session_open(&b, NULL);

        wish.name = &name;
        dme_text_init(&why, line, sizeof line);
        assert_null(session_lock(s, &wish, &why));
        assert_false(node_next(&b, &e));
        session_close(s);
    }
    node_free(&a);
    node_free(&b);
}

/* ------------------------------------------------------------------------------------------------ one member, in
 * detail */

static struct node_event lock_now(struct session *s, const char *name, uint32_t mode, uint32_t slots)
{
    struct session_wish wish = {
        .name = name, .name_len = strlen(name), .mode = mode, .slots = slots, .wait_ms = SESSION_FOREVER};
    struct node_event e = {.state = CLAIM_WAITING};
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    assert_null(session_lock(s, &wish, &why));
    node_next(s->node, &e);
    return e;
}

static void start_alone(struct node *node)
{
    struct node_conf conf = pair_conf(0, "alone", 1);

    conf.n = 1;
    node_init(node, &conf);
}

static void one_machine_can_use_all_slots_and_no_more(void **state)
{
    struct node node;
    struct session *s[4];
    struct node_event e;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 4; k++)
        s[k] = session_open(&node, NULL);
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(lock_now(s[k], "x", 0, 3).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[3], "x", 0, 3).state, CLAIM_WAITING);
    assert_true(session_unlock(s[1], "x", 1));
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[3]);
    for (unsigned k = 0; k < 4; k++)
        session_close(s[k]);
    node_free(&node);
}

static void readers_join_readers_but_not_past_a_writer(void **state)
{
    struct node node;
    struct session *s[4];
    struct node_event e;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 4; k++)
        s[k] = session_open(&node, NULL);
    assert_int_equal(lock_now(s[0], "x", LOCK_SHARED, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[1], "x", LOCK_SHARED, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[2], "x", LOCK_ALONE, 0).state, CLAIM_WAITING);
    assert_int_equal(lock_now(s[3], "x", LOCK_SHARED, 0).state, CLAIM_WAITING);
    session_close(s[0]);
    assert_false(node_next(&node, &e));
    session_close(s[1]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[2]);
    session_close(s[2]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[3]);
    session_close(s[3]);
    assert_int_equal(node.locks.count, 0);
    node_free(&node);
}

/* The lock is free and forgotten in between, and its number is larger all the same. */
static void fences_grow_through_forgetting(void **state)
{
    struct node node;
    uint64_t last = 0;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 10; k++) {
        struct session *s = session_open(&node, NULL);
        struct node_event e = lock_now(s, "x", LOCK_ALONE, 0);

        assert_int_equal(e.state, CLAIM_HELD);
        assert_true(e.fence > last);
        last = e.fence;
        session_close(s);
        assert_int_equal(node.locks.count, 0);
    }
    node_free(&node);
}

static void a_lease_that_runs_out_is_lost_before_the_next_is_granted(void **state)
{
    struct node node;
    struct session *a, *b;
    struct node_event e;

    (void)state;
    start_alone(&node);
    a = session_open(&node, NULL);
    b = session_open(&node, NULL);
    assert_int_equal(lock_now(a, "x", LOCK_ALONE, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(b, "x", LOCK_ALONE, 0).state, CLAIM_WAITING);
    assert_true(session_renew(a, "x", 1, 100));
    assert_int_equal(node_due_ms(&node), 100);
    node_advance(&node, 50);
    assert_true(session_renew(a, "x", 1, 100));
    node_advance(&node, 149);
    assert_false(node_next(&node, &e));
    node_advance(&node, 150);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, a);
    assert_int_equal(e.state, CLAIM_LOST);
    assert_false(e.answers);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, b);
    assert_int_equal(e.state, CLAIM_HELD);
    assert_false(session_unlock(a, "x", 1));
    assert_int_equal(session_evict(&node, "x", 1), 1);
    assert_true(node_next(&node, &e));
    assert_int_equal(e.state, CLAIM_LOST);
    session_close(a);
    session_close(b);
    node_free(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_with_different_configurations_refuse_each_other),
        cmocka_unit_test(a_member_that_restarted_grants_nothing),
        cmocka_unit_test(one_machine_can_use_all_slots_and_no_more),
        cmocka_unit_test(readers_join_readers_but_not_past_a_writer),
        cmocka_unit_test(fences_grow_through_forgetting),
        cmocka_unit_test(a_lease_that_runs_out_is_lost_before_the_next_is_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
