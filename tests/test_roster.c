/* What an operator may ask for of the list of members, and what the leader makes of it (node/roster.h).
 * Invariant: I32. */
#include "member/next.h"
#include "node/roster.h"
#include "step/step.h"
#include "test.h"

#include "alg/list.h"

#include <string.h>

static enum disk_status keep(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return DISK_WRITTEN;
}

static uint64_t chance(void *user)
{
    (void)user;
    return 4;
}

/* Member ant of ant, bee and cat, of which cat does not take part. */
static void start(struct node *node)
{
    static const struct disk disk = {NULL, keep, keep};
    struct view view;
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:7400", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:7400", VIEW_MEMBER));
    assert_null(view_add(&view, "cat", "10.0.0.3:7400", VIEW_MEMBER));
    node_init(node, &(struct node_conf){.name = "ant",
                                        .summary = "",
                                        .algorithm = alg_find("central"),
                                        .slots_algorithm = alg_find("central"),
                                        .lease_ms = 1000,
                                        .random = chance});
    assert_true(node_agree(node, &disk, NULL, 0, &view, false, 1000, &why));
    view.number = 1;
    view.member[0].incarnation = node->self.incarnation;
    view.member[1].incarnation = 7;
    node_install(node, &view);
}

static const char *ask(struct node *node, bool add, bool force, const char *name)
{
    struct node_wish wish = {.add = add, .force = force};

    node->wish.until_ms = node->recall.until_ms = 0;
    snprintf(wish.name, sizeof wish.name, "%s", name);
    snprintf(wish.address, sizeof wish.address, "10.0.0.9:7400");
    return node_change_roster(node, &wish);
}

static void a_removal_leaves_a_majority(void **state)
{
    struct node node;
    const char *wrong;

    (void)state;
    start(&node);
    wrong = ask(&node, false, false, "bee");
    assert_string_equal(wrong,
                        "without bee, the members that take part would be no majority; first start or remove cat "
                        "(or use --force)");
    assert_non_null(ask(&node, false, false, "ant"));
    assert_null(ask(&node, false, false, "cat"));
    assert_null(ask(&node, false, true, "bee"));
    node_free(&node);
}

static void one_wish_at_a_time_is_under_way(void **state)
{
    struct node_wish wish = {.add = true, .name = "eel", .address = "10.0.0.5:7400"};
    struct node node;

    (void)state;
    start(&node);
    assert_null(ask(&node, true, false, "dog"));
    assert_string_equal(node_change_roster(&node, &wish),
                        "\"member add dog\" has been asked for and is under way; try again in some seconds");
    node_free(&node);
}

static void two_members_have_different_addresses(void **state)
{
    struct node_wish wish = {.add = true, .name = "dog", .address = "10.0.0.3:7400"};
    struct node node;
    struct view view;

    (void)state;
    start(&node);
    assert_string_equal(node_change_roster(&node, &wish),
                        "cat is at 10.0.0.3:7400 already; choose another address, or remove cat first");
    assert_int_equal(node.wish.until_ms, 0);
    view = node.view;
    view.number++;
    view.member[2].standing = VIEW_REMOVED;
    node_install(&node, &view);
    assert_null(node_change_roster(&node, &wish)); /* it waits until the list has cat no more */
    node_free(&node);
}

static void a_member_that_was_removed_changes_nothing(void **state)
{
    struct node node;
    struct view view;

    (void)state;
    start(&node);
    view = node.view;
    view.number++;
    view.member[0].standing = VIEW_REMOVED;
    view.member[0].incarnation = 0;
    node_install(&node, &view);
    assert_string_equal(ask(&node, true, false, "dog"),
                        "this member has been removed from the cluster; ask another one");
    node_free(&node);
}

/* The leader has added dog. */
static void add_dog(struct node *node, struct view *view)
{
    start(node);
    *view = node->view;
    view->number++;
    assert_null(view_add(view, "dog", "10.0.0.4:7400", VIEW_ADDED));
    node_install(node, view);
}

/* Can the wish of this member be granted now? */
static bool grants(const struct node *node, struct view *next)
{
    struct next_wish wish = {node->wish.add, node->wish.force, node->wish.name, node->wish.address};

    return next_grant_wish(&wish, next);
}

static void an_addition_is_taken_back_at_once(void **state)
{
    struct node node;
    struct view next;

    (void)state;
    add_dog(&node, &next);
    assert_int_equal(roster_taken_back(&node, &next), 0);
    assert_null(ask(&node, false, false, "dog"));
    assert_int_equal(roster_taken_back(&node, &next), 1 << 3);
    node_free(&node);
}

static void an_addition_runs_out(void **state)
{
    struct node node;
    struct view next;

    (void)state;
    add_dog(&node, &next);
    assert_int_equal(roster_taken_back(&node, &next), 0);
    node.now_ms += ROSTER_JOIN_MS;
    assert_int_equal(roster_taken_back(&node, &next), 0);
    next.member[3].incarnation = 8; /* it takes part for a moment: the time begins anew */
    assert_int_equal(roster_taken_back(&node, &next), 0);
    next.member[3].incarnation = 0;
    node.now_ms++;
    assert_int_equal(roster_taken_back(&node, &next), 0);
    node.now_ms += ROSTER_JOIN_MS + 1;
    assert_int_equal(roster_taken_back(&node, &next), 1 << 3);
    node_free(&node);
}

static void an_added_member_that_takes_part_is_not_taken_back(void **state)
{
    struct node node;
    struct view next;

    (void)state;
    add_dog(&node, &next);
    next.member[3].incarnation = 8;
    assert_null(ask(&node, false, false, "dog"));
    assert_int_equal(roster_taken_back(&node, &next), 0);
    assert_false(grants(&node, &next)); /* it is counted first */
    node_free(&node);
}

static void a_removal_is_looked_at_again_when_it_is_made(void **state)
{
    struct node node;
    struct view next;

    (void)state;
    start(&node);
    next = node.view;
    next.member[2].incarnation = 9;
    node_install(&node, &next);
    assert_null(ask(&node, false, false, "bee"));
    next.member[2].incarnation = 0; /* cat has died since */
    assert_false(grants(&node, &next));
    next.member[2].incarnation = 9;
    assert_true(grants(&node, &next));
    node_free(&node);
}

/* A member that was cut off asks again when dog has been added and removed. */
static void a_wish_is_granted_once(void **state)
{
    struct node node;
    struct node_wish late;
    struct view next;

    (void)state;
    start(&node);
    assert_null(ask(&node, true, false, "dog"));
    late = node.wish;
    assert_true(roster_suits(&late, &node.view));
    next = node.view;
    next.number++;
    assert_null(view_add(&next, "dog", "10.0.0.9:7400", VIEW_ADDED));
    node_install(&node, &next);
    assert_int_equal(node.wish.until_ms, 0);
    next.number++;
    view_remove(&next, 3);
    node_install(&node, &next);
    assert_false(roster_suits(&late, &node.view));
    node_free(&node);
}

static void a_wish_outlives_the_addition_of_another_member(void **state)
{
    struct node node;
    struct view next;

    (void)state;
    for (unsigned skipped = 0; skipped < 2; skipped++) {
        start(&node);
        assert_null(ask(&node, true, false, "eel"));
        next = node.view;
        next.number += 1 + skipped;
        assert_null(view_add(&next, "dog", "10.0.0.4:7400", VIEW_ADDED));
        node_install(&node, &next);
        assert_int_equal(node.wish.until_ms != 0, !skipped); /* eel may have been added and removed in between */
        node_free(&node);
    }
}

static void a_removal_names_a_member_not_a_name(void **state)
{
    struct node node;
    struct node_wish late;
    struct view next;

    (void)state;
    start(&node);
    assert_null(ask(&node, false, false, "cat"));
    late = node.wish;
    next = node.view;
    next.number++;
    view_remove(&next, 2);
    assert_null(view_add(&next, "cat", "10.0.0.3:7400", VIEW_MEMBER));
    assert_false(roster_suits(&late, &next));
    node_install(&node, &next);
    assert_int_equal(node.wish.until_ms, 0);
    node_free(&node);
}

static void no_two_members_have_one_name(void **state)
{
    struct view view, read;
    struct bytes b = {0};

    (void)state;
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:7400", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:7400", VIEW_MEMBER));
    view_encode(&view, &b);
    assert_true(view_decode(&read, b.at + b.start, bytes_len(&b)));
    bytes_free(&b);
    memcpy(view.member[1].name, "ant", 4);
    view_encode(&view, &b);
    assert_false(view_decode(&read, b.at + b.start, bytes_len(&b)));
    bytes_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_members_have_one_name),
        cmocka_unit_test(a_removal_leaves_a_majority),
        cmocka_unit_test(one_wish_at_a_time_is_under_way),
        cmocka_unit_test(two_members_have_different_addresses),
        cmocka_unit_test(a_member_that_was_removed_changes_nothing),
        cmocka_unit_test(an_addition_is_taken_back_at_once),
        cmocka_unit_test(an_addition_runs_out),
        cmocka_unit_test(an_added_member_that_takes_part_is_not_taken_back),
        cmocka_unit_test(a_removal_is_looked_at_again_when_it_is_made),
        cmocka_unit_test(a_wish_is_granted_once),
        cmocka_unit_test(a_wish_outlives_the_addition_of_another_member),
        cmocka_unit_test(a_removal_names_a_member_not_a_name),
    };

    return cmocka_run_group_tests_name("roster", tests, NULL, NULL);
}
