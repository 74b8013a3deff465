/* Kept sessions (node/keep.h): how many exchanges of messages a lock takes. Invariants: I5, I33. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_that_only_this_member_wants_is_granted_again_by_one_exchange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
