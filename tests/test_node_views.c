/* What becomes of locks when the view changes: digests, and questions about holders from before. Invariants: I16, I24. */
#include "base/pack.h"
#include "lock/instance.h"
#include "three.h"

enum { SOME = 100 };

/* What the others know of kept sessions comes to the first member, which then makes its digest. */
static void bring_marks(void)
{
    while (carry(1, 0) + carry(2, 0))
        ;
}

static void a_lock_of_a_former_view_is_held_until_it_is_released(void **state)
{
    uint64_t fence;

    (void)state;
    start_with((struct node_conf){0});
    want(0, "x", 0);
    settle();
    fence = granted(0);
    assert_true(fence > 0);
    install();
    want(1, "x", 0);
    settle();
    assert_int_equal(granted(1), 0);
    install(); /* and in yet another one */
    settle();
    assert_int_equal(granted(1), 0);
    unlock(0, "x");
    settle();
    assert_true(granted(1) > fence);
    stop();
}

/* Two clients of bee wait, the one that connected later first. They are served in this order, though the view
 * changes before the first and before the second is. */
static void clients_of_a_member_are_served_in_their_order_in_the_next_view(void **state)
{
    (void)state;
    start_with((struct node_conf){0});
    want(0, "x", 0);
    settle();
    want(4, "x", 0);
    want(1, "x", 0);
    settle();
    install();
    settle();
    unlock(0, "x");
    settle();
    assert_true(granted(4) > 0);
    assert_int_equal(granted(1), 0);
    install();
    settle();
    unlock(4, "x");
    settle();
    assert_true(granted(1) > 0);
    stop();
}

/* All that 100 holders cost a member that does not want their locks is one letter, and it never hears of their names. */
static void what_nobody_else_wants_is_not_told(void **state)
{
    uint64_t letters;

    (void)state;
    start_with((struct node_conf){0});
    take_some(0, SOME);
    letters = node[1].member[0]->link.received;
    install();
    settle();
    assert_int_equal(node[1].member[0]->link.received - letters,
                     4); /* the view, no kept sessions, its digest, that was all */
    assert_int_equal(node[1].locks.count, 0);
    want(1, "other", 0);
    settle();
    assert_true(granted(1) > 0);
    assert_int_equal(client[0].end->session->held, SOME);
    stop();
}

/* Nearly every name is in a digest that has one bit for each holder. */
static void a_name_that_a_digest_affirms_in_vain_is_granted(void **state)
{
    (void)state;
    start_with((struct node_conf){.digest_bits = 1});
    take_some(0, SOME);
    install();
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "other-%u", j);
        want(1, name, j % 2 ? 2 : 0);
        settle();
        assert_true(granted(1) > 0);
    }
    stop();
}

/* A member grants nothing before it has the whole digest of every other one; nor is a second view confused by what is left
 * of the first. */
static void nothing_is_granted_before_all_digests_are_there(void **state)
{
    (void)state;
    start_with((struct node_conf){.piece = 1});
    take_some(0, SOME);
    want(1, "mine", 0);
    settle();
    assert_true(granted(1) > 0);
    unlock(1, "mine");
    install();
    bring_marks();
    want(1, "mine", 0);
    for (unsigned k = 0; k < SOME / 2; k++) { /* half of the digest */
        assert_false(node[0].locks.told);
        turn(0);
        while (carry(1, 2) + carry(2, 1) + carry(0, 1))
            ;
        assert_int_equal(granted(1), 0);
    }
    unlock(0, "some-7"); /* holders may leave meanwhile */
    install();
    bring_marks();
    assert_in_range(node[0].locks.undigested, 1, SOME - 2);
    want(2, "some-0", 0);
    settle();
    assert_true(granted(1) > 0);
    assert_int_equal(granted(2), 0);
    unlock(0, "some-0");
    settle();
    assert_true(granted(2) > 0);
    stop();
}

/* The kind of a lock that is held since before the view is known, wherever its home is: clients that want another kind are
 * refused. When the holder has gone and no member has asked, the kind is forgotten. */
static void a_lock_of_a_former_view_keeps_its_kind_while_it_is_held(void **state)
{
    (void)state;
    start_with((struct node_conf){0});
    for (char name[] = "a"; *name <= 'z'; ++*name) {
        want(0, name, 2);
        settle();
        assert_true(granted(0) > 0);
    }
    install();
    for (char name[] = "a"; *name <= 'm'; ++*name) {
        want(1, name, 2);
        want(2, name, 0);
        settle();
        assert_true(granted(1) > 0); /* the other slot, although the first is held */
        assert_int_equal(granted(2), 0);
        assert_null(client[2].end->session->waiting); /* but refused */
    }
    for (char name[] = "n"; *name <= 'z'; ++*name) {
        unlock(0, name);
        want(0, name, 2);
        want(1, name, 0);
        settle();
        assert_true((granted(0) > 0) + (granted(1) > 0) == 1); /* the home says who was the first */
        assert_true(!client[0].end->session->waiting && !client[1].end->session->waiting);
    }
    stop();
}

/* Two clients of ant line up, for two kinds, while ant does not know whether bee's client still holds the lock. The second has the lock's kind, and
 * passes the first. When ant knows, the second is granted a slot, and the first is refused; it does not get a slot (I16). */
static void a_client_that_was_passed_gets_no_lock_of_another_kind(void **state)
{
    char name[] = "a", line[64];

    (void)state;
    start_with((struct node_conf){0});
    for (;; ++*name) {
        want(0, name, 3);
        settle();
        assert_true(granted(0) > 0);
        if (instance_home(&node[0].locks, locks_find(&node[0].locks, name, 1)) == 0)
            break;
    }
    want(1, name, 3);
    settle();
    assert_true(granted(1) > 0);
    install();
    settle();
    unlock(0, name);
    want(0, name, 0);
    snprintf(line, sizeof line, "LOCK %s SLOTS 3 PRIORITY 9", name);
    say(3, line);
    assert_true(client[0].end->session->waiting && client[3].end->session->waiting);
    settle();
    assert_true(granted(3) > 0);
    assert_int_equal(granted(0), 0);
    assert_null(client[0].end->session->waiting);
    stop();
}

/* The home is asked for the kind of a lock that a client of a third member holds since before the view, and the home has not
 * heard of that: it finds out before it answers. */
static void the_home_asks_old_holders_before_it_says_the_kind(void **state)
{
    char name[] = "a";
    uint8_t ask[1 + 2 + 2 + 4 + 4 + 8], *at = ask;
    const struct lock *lock;

    (void)state;
    start_with((struct node_conf){0});
    for (;; ++*name) {
        want(0, name, 2);
        settle();
        assert_true(granted(0) > 0);
        lock = locks_find(&node[0].locks, name, 1);
        if (instance_home(&node[0].locks, lock) == 1)
            break;
    }
    install();
    settle();
    at = pack_number(pack_text(pack_number(at, INSTANCE_ASK, 1), name, 1), 0, 2 + 4); /* by a client without slots */
    pack_number(pack_number(at, 0, 4), 0, 8);
    assert_null(locks_receive(&node[1].locks, 2, ask, sizeof ask));
    assert_int_equal(locks_find(&node[1].locks, name, 1)->known, 0);
    turn(1);
    settle();
    for (uint32_t k = 0; k < MEMBERS; k++) {
        lock = locks_find(&node[k].locks, name, 1);
        assert_true(lock->known && lock->slots == 2);
    }
    stop();
}

/* A view has begun at ant, whose client holds a lock since before, and has not opened there. cat asks ant for carried-over holders. Before ant answers,
 * and so tells cat the kind, it tells bee, the home: when the client has gone, ant may answer bee that there is none, and cat still knows the kind (I16). */
static void the_home_hears_of_a_kind_before_other_members(void **state)
{
    char name[] = "a";
    uint8_t inquire[1 + 2 + 2 + 4 + 4 + 4], *at;
    const struct lock *lock;

    (void)state;
    start_with((struct node_conf){0});
    for (;; ++*name) {
        want(0, name, 2);
        settle();
        assert_true(granted(0) > 0);
        if (instance_home(&node[0].locks, locks_find(&node[0].locks, name, 1)) == 1)
            break;
    }
    install();
    bring_marks();
    assert_true(node[0].locks.told && !node[0].locks.open);
    at = pack_text(pack_number(inquire, INSTANCE_INQUIRE, 1), name, 1);
    pack_number(pack_number(at, 0, 2 + 4), 0, 4 + 4);
    assert_null(locks_receive(&node[0].locks, 2, inquire, sizeof inquire));
    unlock(0, name);
    settle();
    want(1, name, 0);
    settle();
    assert_true(granted(1) > 0);
    for (uint32_t k = 0; k < MEMBERS; k++) {
        lock = locks_find(&node[k].locks, name, 1);
        assert_true(lock && lock->known && lock->slots == 0);
    }
    stop();
}

/* Names in use are no reason for a new view; others are forgotten in one, in pieces. */
static void names_in_use_do_not_crowd(void **state)
{
    (void)state;
    start_with((struct node_conf){.names_max = 2 * SOME, .piece = 1});
    take_some(0, SOME);
    assert_false(locks_crowded(&node[0].locks));
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "idle-%u", j);
        want(1, name, 0);
        settle();
        assert_true(granted(1) > 0);
        unlock(1, name);
        settle();
    }
    assert_true(locks_crowded(&node[1].locks));
    install();
    assert_false(locks_crowded(&node[1].locks)); /* they are about to be forgotten */
    settle();
    assert_int_equal(node[1].locks.count, 0);
    assert_int_equal(node[0].locks.count, SOME);
    assert_int_equal(client[0].end->session->held, SOME);
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_false(locks_crowded(&node[k].locks));
    stop();
}

/* VIEWS has the views of this member, the last one first, and those that it did not take part in. */
static void views_are_remembered_for_people(void **state)
{
    const char *told;

    (void)state;
    start_with((struct node_conf){0});
    kill_member(2);
    install();
    settle();
    say(0, "VIEWS");
    told = said(0);
    assert_memory_equal(told, "*2 *12 $4 view :2 $6 age_ms :0 $10 takes_part :1 $6 opened :1 $15 opened_after_ms :0 ",
                        83);
    assert_non_null(strstr(told, "$7 members $7 ant bee *12 $4 view :1 "));
    assert_non_null(strstr(told, "$7 members $11 ant bee cat "));
    now_view.number++;
    now_view.member[0].incarnation = 0;
    install_at(0);
    say(0, "VIEWS");
    assert_memory_equal(said(0), "*3 *12 $4 view :3 $6 age_ms :0 $10 takes_part :0 $6 opened :0 ", 61);
    for (unsigned k = 0; k < 40; k++) {
        now_view.number++;
        install_at(1);
    }
    say(1, "VIEWS");
    assert_memory_equal(said(1), "*32 *12 $4 view :43 ", 20); /* as many as are remembered */
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_of_a_former_view_is_held_until_it_is_released),
        cmocka_unit_test(clients_of_a_member_are_served_in_their_order_in_the_next_view),
        cmocka_unit_test(what_nobody_else_wants_is_not_told),
        cmocka_unit_test(a_name_that_a_digest_affirms_in_vain_is_granted),
        cmocka_unit_test(nothing_is_granted_before_all_digests_are_there),
        cmocka_unit_test(a_lock_of_a_former_view_keeps_its_kind_while_it_is_held),
        cmocka_unit_test(a_client_that_was_passed_gets_no_lock_of_another_kind),
        cmocka_unit_test(the_home_asks_old_holders_before_it_says_the_kind),
        cmocka_unit_test(the_home_hears_of_a_kind_before_other_members),
        cmocka_unit_test(names_in_use_do_not_crowd),
        cmocka_unit_test(views_are_remembered_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
