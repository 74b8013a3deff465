/* The TTL of a lock of a kept session: every member knows the last one that the client gave. Invariants: I19, I33. */
#include "keep_cluster.h"

/* The next owner knows the TTL that the lock was renewed with: it begins anew when the view opens. */
static void a_renewed_ttl_is_known_to_the_next_owner(void **state)
{
    for (unsigned shorter = 0; shorter < 2; shorter++) {
        (void)state;
        start();
        keep(0, "SESSION KEEP 60000");
        say(0, shorter ? "LOCK x TTL 30000" : "LOCK x TTL 1000");
        settle();
        assert_true(fence_of(said(0)) > 0);
        say(0, shorter ? "RENEW x TTL 1000" : "RENEW x TTL 30000");
        assert_string_equal(said(0), "+OK ");
        say(1, "LOCK x");
        settle();
        kill_member(0);
        install();
        settle();
        pass(999);
        assert_string_equal(said(1), "");
        pass(5000);
        assert_int_equal(fence_of(said(1)) > 0, shorter);
        stop();
    }
}

static uint32_t ttl_known_to(unsigned i, const struct keep_session *e, uint64_t fence)
{
    const struct keep_session *there = keep_find(&node[i].keep, e->id);
    const struct keep_record *x = there ? keep_find_record(there, "x", 1, fence) : NULL;

    assert_non_null(x);
    return x->ttl_ms;
}

/* Client 0 has x, by a kept session. Returns the fence. */
static uint64_t hold_with_ttl(void)
{
    start();
    keep(0, "SESSION KEEP 60000");
    say(0, "LOCK x TTL 30000");
    settle();
    return fence_of(said(0));
}

/* A client changes a TTL again and again while the others hear nothing: they get two letters about it, and the last has the last
 * TTL (I19). */
static void a_ttl_that_changes_again_and_again_is_told_once(void **state)
{
    size_t before;
    uint64_t fence;
    char line[32];

    (void)state;
    fence = hold_with_ttl();
    before = bytes_len(&node[0].member[2]->link.unacked);
    for (unsigned k = 1; k <= 100; k++) {
        snprintf(line, sizeof line, "RENEW x TTL %u", 30000 + k);
        say(0, line);
        assert_string_equal(said(0), "+OK ");
    }
    assert_true(bytes_len(&node[0].member[2]->link.unacked) < before + 300);
    settle();
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_int_equal(ttl_known_to(i, client[0].end->session->kept, fence), 30100);
    say(0, "RENEW x TTL 40000");
    say(0, "RENEW x TTL 50000");
    say(0, "UNLOCK x");
    settle();
    assert_int_equal(node[1].keep.records + node[2].keep.records, 0);
    stop();
}

/* An owner that has adopted a session, and has told others nothing of kept sessions yet, tells them of a TTL. */
static void a_ttl_that_changes_at_the_next_owner_is_told(void **state)
{
    uint64_t fence;

    (void)state;
    fence = hold_with_ttl();
    fall(0);
    resume(1);
    settle();
    install();
    settle();
    assert_int_equal(fence_of(said(1)), fence);
    assert_int_equal(node[1].keep.made, 0);
    say(1, "RENEW x TTL 50000");
    settle();
    assert_int_equal(ttl_known_to(2, client[1].end->session->kept, fence), 50000);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_renewed_ttl_is_known_to_the_next_owner),
        cmocka_unit_test(a_ttl_that_changes_again_and_again_is_told_once),
        cmocka_unit_test(a_ttl_that_changes_at_the_next_owner_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
