/* Kept sessions (node/keep.h): how many exchanges of messages a lock takes, and which letters need not be sent at once. Invariants: I5, I33. */
#include "keep_cluster.h"

/* What ant has written for bee and cat arrives, and then what these two have written. */
static void exchange(void)
{
    carry(0, 1);
    carry(0, 2);
    carry(1, 0);
    carry(2, 0);
}

/* As long as no other member wants the lock, its next client here need not wait until all members have acknowledged the withdrawal. */
static void a_lock_that_only_this_member_wants_is_granted_again_by_one_exchange(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    hold(0);
    say(0, "UNLOCK x");
    settle();
    say(0, "LOCK x"); /* the site enters at once: the token is here */
    settle();
    for (unsigned k = 0; k < 70; k++) { /* more than a stay serves */
        fence = fence_of(said(0));
        assert_true(fence > 0);
        say(0, "UNLOCK x");
        say(0, "LOCK x");
        assert_string_equal(said(0), "");
        exchange();
    }
    assert_true(fence_of(said(0)) > fence);
    say(1, "LOCK x");
    carry(1, 0); /* it is wanted elsewhere now: the stay is over with the client that has it */
    say(0, "UNLOCK x");
    say(0, "LOCK x");
    settle();
    assert_string_equal(said(0), "");
    assert_true(fence_of(said(1)) > fence);
    say(1, "UNLOCK x");
    assert_free(0, fence);
    stop();
}

/* So does a token. */
static void a_token_takes_its_lock_again_by_one_exchange(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    hold(0);
    say(0, "UNLOCK x");
    settle();
    (void)said(0);
    say(0, "LOCK x TOKEN u TTL 60000"); /* the site enters at once: the token of the algorithm is here */
    settle();
    for (unsigned k = 0; k < 70; k++) {
        fence = fence_of(said(0));
        assert_true(fence > 0);
        say(0, "UNLOCK x TOKEN u");
        (void)said(0);
        say(0, "LOCK x TOKEN u TTL 60000");
        exchange();
    }
    assert_true(fence_of(said(0)) > fence);
    stop();
}

static bool has_written(void)
{
    return bytes_len(&three.pipe[0][1]) && bytes_len(&three.pipe[0][2]);
}

/* A driver may let a withdrawal wait for company if no client waits for the lock. */
static void a_withdrawal_that_nobody_waits_for_waits_for_company(void **state)
{
    (void)state;
    start();
    hold(0);
    say(0, "UNLOCK x");
    settle();
    node_let_wait(&node[0], true);
    say(0, "LOCK x");
    assert_true(has_written());
    settle();

    say(0, "UNLOCK x");
    assert_string_equal(said(0), "+OK ");
    assert_false(has_written());
    assert_true(node_has_waiting(&node[0]));
    say(0, "LOCK x"); /* another record goes out, and the withdrawal with it */
    assert_true(has_written());
    assert_false(node_has_waiting(&node[0]));
    settle();
    assert_true(fence_of(said(0)) > 0);

    say(0, "UNLOCK x"); /* the driver does not let it wait any more */
    assert_false(has_written());
    node_let_wait(&node[0], false);
    cluster_do(&three, 0);
    assert_true(has_written());
    settle();
    node_let_wait(&node[0], true);
    say(0, "LOCK x");
    settle();

    say(0, "UNLOCK x");
    assert_false(has_written());
    say(1, "LOCK x"); /* another member wants the lock */
    carry(1, 0);
    assert_true(has_written());
    settle();
    assert_true(fence_of(said(1)) > 0);
    say(1, "UNLOCK x");
    say(0, "LOCK x");
    settle();

    say(2, "LOCK x"); /* and now before the release */
    settle();
    say(0, "UNLOCK x");
    assert_true(has_written());
    settle();
    assert_true(fence_of(said(2)) > 0);
    say(2, "UNLOCK x");
    say(0, "LOCK x");
    settle();
    say(0, "UNLOCK x");
    settle();
    say(0, "LOCK x");
    settle();

    say(0, "UNLOCK x");
    assert_false(has_written());
    say(3, "LOCK x"); /* a client of this member that cannot be granted the lock behind it: its session is not kept */
    assert_true(has_written());
    settle();
    assert_true(fence_of(said(3)) > 0);
    stop();
}

/* That of a token goes out at once: a client of another member that does not wait is refused by the record. */
static void the_withdrawal_of_a_token_does_not_wait(void **state)
{
    (void)state;
    start();
    hold(0);
    say(0, "UNLOCK x");
    settle();
    (void)said(0);
    say(0, "LOCK x TOKEN u TTL 60000");
    settle();
    assert_true(fence_of(said(0)) > 0);
    node_let_wait(&node[0], true);
    say(0, "UNLOCK x TOKEN u");
    assert_true(has_written());
    node_let_wait(&node[0], false);
    settle();
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_that_only_this_member_wants_is_granted_again_by_one_exchange),
        cmocka_unit_test(a_token_takes_its_lock_again_by_one_exchange),
        cmocka_unit_test(a_withdrawal_that_nobody_waits_for_waits_for_company),
        cmocka_unit_test(the_withdrawal_of_a_token_does_not_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
