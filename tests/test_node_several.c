/* What a client of one member is told that requests several locks at once (LOCK .. AND ..): all are granted, or none is (I35). */
#include "conversation.h"

/* The answer is in the order of the request. All are requested in the order of their names: the second client, which waits for y,
 * holds x already, and has not been told. */
static void several_locks_are_granted_together(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK z AND y SHARED AND and SLOTS 2 WAIT 50\n"),
                        "a: *6 $1 z :100 $1 y :100 $3 and :100");
    assert_string_equal(say('b', "LOCK z AND y SHARED AND x WAIT 50\n"), "");
    assert_string_equal(say('c', "LOCK x WAIT 0\n"), "c: *-1");
    assert_string_equal(say('a', "UNLOCK z\n"), "a: +OK\nb: *6 $1 z :102 $1 y :101 $1 x :100");
    assert_string_equal(say('c', "LOCK x WAIT 0\n"), "c: *-1");
}

static void several_locks_are_granted_or_none_is(void **state)
{
    (void)state;
    cluster_pass(&solo, 1000);
    say('a', "LOCK z\n");
    assert_string_equal(say('b', "LOCK z AND x AND y WAIT 50\n"), "");
    assert_string_equal(say('c', "LOCK x WAIT 40\n"), "");
    cluster_pass(&solo, 1040);
    assert_string_equal(settle(), "c: *-1");
    cluster_pass(&solo, 1050);
    assert_string_equal(settle(), "b: *-1");
    assert_string_equal(say('c', "LOCK y WAIT 0 AND x\n"), "c: *4 $1 y :102 $1 x :102");
    assert_string_equal(say('b', "LOCK w AND z SLOTS 3\n"),
                        "b: -WRONGKIND \"z\" is an exclusive or shared lock; ask for it without SLOTS (--slots)");
    assert_string_equal(say('a', "LOCK w WAIT 0\n"), "a: *2 $1 w :104");
}

/* A lock that is granted already is lost, or released, while the client waits for another. */
static void several_locks_are_lost_before_all_are_granted(void **state)
{
    (void)state;
    say('c', "HELLO 3\n");
    say('a', "LOCK z\n");
    assert_string_equal(say('c', "LOCK z AND x\n"), "");
    user[1].end->session->operates = true;
    say('b', "FORCE-UNLOCK x\n");
    assert_non_null(
        strstr(heard, "c: -LOST \"x\", one of several, was lost before all were granted: it was taken away"));
    assert_null(strstr(heard, ">4"));
    assert_string_equal(say('b', "LOCK x\n"), "b: *2 $1 x :102");
    say('b', "UNLOCK x\n");
    assert_string_equal(say('c', "LOCK z AND x\n"), "");
    assert_string_equal(say('c', "MEANWHILE UNLOCK x\n"), "c: >2 $9 meanwhile +OK");
    assert_string_equal(say('a', "UNLOCK z\n"), "a: +OK\nc: -NOTHELD \"x\", one of several, was released meanwhile");
    assert_string_equal(say('b', "LOCK x AND z\n"), "b: *4 $1 x :106 $1 z :106");
    /* Another lock is lost, and has the same fence as one of several. */
    assert_string_equal(say('c', "LOCK v TTL 10\n"), "c: *2 $1 v :106");
    assert_string_equal(say('c', "LOCK z AND w\n"), "");
    cluster_pass(&solo, 10);
    assert_string_equal(settle(), "c: >4 $4 lost $1 v :106 $19 its TTL has run out");
    assert_string_equal(say('b', "UNLOCK z\n"), "b: +OK\nc: *4 $1 z :108 $1 w :106");
}

/* The TTL begins when all are held. */
static void several_locks_have_one_ttl(void **state)
{
    (void)state;
    say('b', "HELLO 3\n");
    say('a', "LOCK z\n");
    assert_string_equal(say('b', "LOCK x AND z TTL 20\n"), "");
    cluster_pass(&solo, 50);
    assert_string_equal(say('a', "UNLOCK z\n"), "a: +OK\nb: *4 $1 x :100 $1 z :102");
    cluster_pass(&solo, 70);
    assert_string_equal(settle(),
                        "b: >4 $4 lost $1 x :100 $19 its TTL has run out >4 $4 lost $1 z :102 $19 its TTL has run out");
}

static void mistakes_with_several_locks_are_named(void **state)
{
    char line[400] = "LOCK a0";

    (void)state;
    assert_string_equal(say('a', "LOCK x AND\n"), "a: -ERR a name must follow AND");
    assert_string_equal(say('a', "LOCK x AND y AND x\n"), "a: -ERR a name is given twice; LOCK grants each lock once");
    assert_string_equal(say('a', "LOCK x AND y SHARED SLOTS 2\n"),
                        "a: -ERR only one of SHARED, GROUP and SLOTS is possible");
    assert_non_null(strstr(say('a', "LOCK x AND y TOKEN t TTL 5\n"), "a: -ERR usage: LOCK name"));
    assert_string_equal(say('a', "LOCK AND AND x GROUP and\n"), "a: *4 $3 AND :100 $1 x :100");
    assert_string_equal(say('a', "LOCK v TOKEN and TTL 5\n"), "a: *2 $1 v :100");
    for (unsigned k = 1; k <= 32; k++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " AND a%u", k);
    strcat(line, "\n");
    assert_string_equal(say('a', line), "a: -ERR LOCK takes at most 32 names");
    assert_string_equal(say('a', "LOCK a0 WAIT 0\n"), "a: *2 $2 a0 :100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(several_locks_are_granted_together, start, stop),
        cmocka_unit_test_setup_teardown(several_locks_are_granted_or_none_is, start, stop),
        cmocka_unit_test_setup_teardown(several_locks_are_lost_before_all_are_granted, start, stop),
        cmocka_unit_test_setup_teardown(several_locks_have_one_ttl, start, stop),
        cmocka_unit_test_setup_teardown(mistakes_with_several_locks_are_named, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
