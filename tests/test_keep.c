/* Kept sessions among members (node/keep.h): what is known where before a client is told, and what becomes of a session when its
 * connection, its member or the view goes. Invariants: I19, I33. */
#include "keep_cluster.h"

static void a_grant_is_told_when_all_others_know_it(void **state)
{
    (void)state;
    start();
    keep(0, "SESSION KEEP 10000");
    say(0, "LOCK x");
    while (carry(0, 1) + carry(1, 0)) /* bee knows, cat does not */
        ;
    settle();
    assert_true(fence_of(said(0)) > 0);
    say(0, "LOCK y");
    settle();
    say(0, "UNLOCK y");
    settle();
    say(0, "LOCK y"); /* ant is inside at once: it was the last there */
    assert_string_equal(said(0), "");
    while (carry(0, 1) + carry(1, 0))
        ;
    assert_string_equal(said(0), "");
    settle();
    assert_true(fence_of(said(0)) > 0);
    stop();
}

static void a_session_outlives_its_member(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    say(1, "LOCK x");
    settle();
    kill_member(0);
    install();
    settle();
    assert_string_equal(said(1), "");
    resume(2);
    settle();
    if (fence_of(said(2)) == 0) { /* bee has it: in the next view it moves */
        install();
        settle();
    }
    say(2, "CONFIRM x");
    assert_int_equal(said(2)[0], ':');
    say(2, "HOLDERS x");
    settle();
    assert_int_equal(fence_of(strstr(said(2), "fence")), fence);
    assert_string_equal(said(1), "");
    say(2, "UNLOCK x");
    assert_string_equal(said(2), "+OK ");
    assert_free(1, fence);
    stop();
}

static void a_session_that_nobody_resumes_ends(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    say(1, "LOCK x");
    kill_member(0);
    install();
    settle();
    pass(10000);
    assert_string_equal(said(1), "");
    pass(2000); /* clocks may differ */
    assert_free(1, fence);
    resume(2);
    settle();
    assert_non_null(strstr(said(2), "-NOSESSION "));
    stop();
}

static void a_connection_that_breaks_leaves_the_session(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    fall(0);
    say(1, "LOCK x");
    settle();
    assert_string_equal(said(1), "");
    come(0);
    resume(0);
    assert_int_equal(fence_of(said(0)), fence);
    say(0, "QUIT"); /* the session ends with it */
    assert_null(client[0].end);
    assert_free(1, fence);
    stop();
}

static void a_session_moves_to_another_member(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    say(0, "LOCK y");
    settle();
    assert_true(fence_of(said(0)) > 0);
    resume(1);
    settle();
    assert_null(client[0].end);
    assert_true(keep_wants_view(&node[0]));
    assert_string_equal(said(1), "");
    install();
    settle();
    assert_int_equal(strncmp(said(1), "*6 $7 RESUMED ", 14), 0);
    assert_false(keep_wants_view(&node[0]));
    say(2, "LOCK x");
    say(1, "UNLOCK x");
    assert_free(2, fence);
    kill_member(1); /* and it has another home again */
    install();
    settle();
    resume(5);
    settle();
    install();
    settle();
    assert_non_null(strstr(said(5), "RESUMED"));
    stop();
}

/* The validity that the first connection was told must be over before the second one is told anything. */
static void the_later_connection_waits_until_the_earlier_believes_in_nothing(void **state)
{
    (void)state;
    start();
    hold(0);
    client[0].end->session->remote = true;
    say(0, "CONFIRM");
    assert_int_equal(said(0)[0], ':'); /* ten seconds */
    resume(3);
    settle();
    assert_null(client[0].end);
    pass(5000);
    assert_string_equal(said(3), "");
    pass(7000);
    assert_non_null(strstr(said(3), "RESUMED"));
    client[3].stuck = true; /* it does not read its answer yet: its connection stays */
    say(3, "CONFIRM");
    come(0);
    resume(0);
    assert_true(client[3].end->closing);
    assert_string_equal(said(0), "");
    go(3); /* it is proved that it has heard */
    pass(0);
    assert_non_null(strstr(said(0), "RESUMED"));
    stop();
}

static void nothing_is_handed_on_before_all_have_withdrawn_the_record(void **state)
{
    (void)state;
    start();
    hold(0);
    say(1, "LOCK x");
    settle();
    say(0, "UNLOCK x");
    assert_string_equal(said(0), "+OK ");
    while (carry(0, 1) + carry(1, 0)) /* cat does not know */
        ;
    assert_string_equal(said(1), "");
    settle();
    assert_true(fence_of(said(1)) > 0);
    stop();
}

/* The holders of x at all members, those included whose clients have not been told. */
static uint32_t holders(void)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = three.dead[i] ? NULL : locks_find(&node[i].locks, "x", 1);

        count += lock ? lock_count_holders(lock) : 0;
    }
    return count;
}

/* Clients 0 and 3, of ant, wait for x one after the other. Client 0 gets it and releases it. */
static void pass_on(void)
{
    start();
    say(1, "LOCK x");
    settle();
    for (unsigned k = 0; k < 2; k++) {
        keep(3 * k, "SESSION KEEP 10000");
        say(3 * k, "LOCK x");
        settle();
    }
    say(1, "UNLOCK x");
    settle();
    assert_true(fence_of(said(0)) > 0);
    say(0, "UNLOCK x");
    assert_string_equal(said(0), "+OK ");
}

/* The withdrawal of one record and the next record go out together, and the next client is told when all have both. */
static void a_lock_is_passed_on_within_a_member_by_one_exchange(void **state)
{
    (void)state;
    pass_on();
    carry(0, 1);
    carry(0, 2);
    carry(1, 0);
    assert_string_equal(said(3), "");
    carry(2, 0);
    assert_true(fence_of(said(3)) > 0);
    assert_int_equal(holders(), 1);
    stop();
}

/* ant dies when one member has heard that the lock was passed on, and the other has not: one of both sessions has it, the same
 * for all. If both have heard, it is the second one. */
static void a_lock_that_was_being_passed_on_has_one_holder(void **state)
{
    (void)state;
    for (unsigned heard = 0; heard < 4; heard++) {
        pass_on();
        for (unsigned k = 1; k < MEMBERS; k++)
            if (heard & k)
                carry(0, k);
        kill_member(0);
        install();
        settle();
        assert_int_equal(holders(), 1);
        resume(1); /* the session of client 3 */
        settle();
        assert_int_equal(fence_of(said(1)) > 0, heard == 3);
        say(4, "LOCK x");
        settle();
        assert_string_equal(said(4), "");
        stop();
    }
}

static void a_member_that_comes_is_told_all(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    kill_member(1);
    install();
    settle();
    start_again(1);
    now_view = node[0].view;
    install();
    settle();
    assert_true(node_is_open(&node[1]));
    kill_member(0);
    kill_member(2);
    come(1);
    install();
    settle();
    resume(1);
    settle();
    assert_int_equal(fence_of(said(1)), fence);
    stop();
}

/* A session is to move from ant to bee, and the view in which it does has a cat that is new: cat hears of the move, too. */
static void a_member_that_comes_is_told_of_moves(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    kill_member(2);
    install();
    settle();
    resume(1);
    settle();
    assert_true(keep_wants_view(&node[0]));
    start_again(2);
    install();
    settle();
    assert_int_equal(fence_of(said(1)), fence);
    say(1, "UNLOCK x");
    settle();
    assert_int_equal(node[2].keep.records, 0);
    assert_int_equal(node[0].keep.records, 0);
    stop();
}

/* A session is to move from ant to bee. cat hears of that in a later view only, in a letter of the view before: the owner repeats in every
 * view what is to be moved, so cat does not heed it. */
static void a_move_of_an_earlier_view_is_not_heeded(void **state)
{
    const struct keep_session *e;
    uint64_t fence;
    size_t late;

    (void)state;
    start();
    fence = hold(0);
    resume(1);
    while (carry(1, 0) + carry(0, 1))
        ;
    assert_true(keep_wants_view(&node[0]));
    late = bytes_len(&three.pipe[0][2]);
    assert_true(late > 0);
    install();
    assert_int_equal(cluster_carry(&three, 0, 2, late), late);
    e = RING_OF(node[2].keep.all.next, struct keep_session, in_all);
    assert_int_equal(e->owner, node[2].view.member[0].id);
    assert_int_equal(e->moves_to, 0);
    settle();
    assert_int_equal(fence_of(said(1)), fence);
    stop();
}

/* A session is to move from ant to bee. Its keep time would end before the view in which it moves, or amid the barrier of that view, when ant has
 * sent its MARK: its client has resumed it in time, so it does not end. */
static void a_session_that_is_to_move_does_not_end(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        uint64_t fence;

        start();
        fence = hold(0);
        fall(0);
        pass(11000); /* of 11,053 ms */
        resume(1);
        settle();
        assert_true(keep_wants_view(&node[0]));
        if (late)
            install();
        now_ms += 1000;
        cluster_pass(&three, now_ms);
        if (!late)
            install();
        settle();
        assert_int_equal(fence_of(said(1)), fence);
        assert_int_equal(node[0].keep.records, 1);
        assert_int_equal(node[2].keep.records, 1);
        stop();
    }
}

/* Locks of a session that has no client were taken away, and linger until its client cannot believe in them any more: in pieces. The
 * session is to move to bee, which crashes, so that it stays: the locks end all the same. */
static void what_lingers_ends_though_its_session_was_to_move(void **state)
{
    enum { LOCKS = 8 };
    char words[40];

    (void)state;
    options.piece = 1;
    start();
    hold(0);
    for (unsigned k = 0; k < LOCKS; k++) {
        snprintf(words, sizeof words, "LOCK n%u", k);
        say(0, words);
        settle();
    }
    say(0, "CONFIRM");
    client[0].end->session->vouched_ms = now_ms + 1000;
    fall(0);
    for (unsigned k = 0; k < LOCKS; k++) {
        snprintf(words, sizeof words, "FORCE-UNLOCK n%u", k);
        say(3, words);
        settle();
    }
    assert_int_equal(node[0].locks.lingering, LOCKS);
    pass(1001);
    assert_int_equal(node[0].locks.lingering, LOCKS - 1);
    resume(1);
    settle();
    assert_true(keep_wants_view(&node[0]));
    kill_member(1);
    install();
    settle();
    assert_true(node_is_open(&node[0]) && !keep_wants_view(&node[0]));
    for (unsigned k = 0; k < 2 * LOCKS; k++)
        pass(1);
    assert_int_equal(node[0].locks.lingering, 0);
    assert_int_equal(node[0].locks.held_count, 1);
    stop();
    options.piece = 0;
}

/* ant is excluded, hears nothing of that view, and takes part in the next one as the same incarnation: it is not the owner of the
 * session any more. */
static void a_member_that_was_excluded_unawares_owns_nothing(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    now_view.number++;
    now_view.member[0].incarnation = 0;
    for (unsigned i = 1; i < MEMBERS; i++)
        install_at(i);
    settle();
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, 1);
    now_view.number++;
    now_view.member[0].incarnation = node[0].self.incarnation;
    now_view.member[0].since = now_view.number;
    for (unsigned i = 0; i < MEMBERS; i++)
        install_at(i);
    settle();
    assert_null(client[0].end);
    assert_int_equal(node[0].keep.claims + node[1].keep.claims + node[2].keep.claims, 1);
    assert_int_equal(node[1].keep.records + node[2].keep.records + node[0].keep.records, 2);
    resume(3);
    settle();
    assert_int_equal(fence_of(said(3)), fence);
    stop();
}

/* ant is restarted; its session is at another member, and comes back in the view in which ant takes part again. */
static void a_session_comes_home_with_its_member(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = hold(0);
    kill_member(0);
    install();
    settle();
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, 1);
    start_again(0);
    install();
    settle();
    assert_int_equal(node[0].keep.claims, 1);
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, 0);
    come(0);
    resume(0);
    settle();
    assert_int_equal(fence_of(said(0)), fence);
    stop();
}

/* The same, but a client has resumed the session at the other member: it stays there. */
static void a_session_that_was_resumed_elsewhere_stays_there(void **state)
{
    uint64_t fence;
    unsigned at;

    (void)state;
    start();
    fence = hold(0);
    kill_member(0);
    install();
    settle();
    at = node[1].keep.claims ? 1 : 2;
    resume(at);
    settle();
    assert_int_equal(fence_of(said(at)), fence);
    start_again(0);
    install();
    settle();
    assert_int_equal(node[0].keep.claims, 0);
    say(at, "CONFIRM x");
    assert_int_equal(said(at)[0], ':');
    stop();
}

static void what_a_client_may_ask(void **state)
{
    static const char *const wrong[] = {"SESSION KEEP 5",
                                        "SESSION KEEP 3600001",
                                        "SESSION KEEP x",
                                        "SESSION RESUME 12",
                                        "SESSION RESUME 0123456789abcdef0123456789abcdeg",
                                        "SESSION WHAT",
                                        "SESSION END 1"};

    (void)state;
    start();
    for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        say(0, wrong[k]);
        assert_int_equal(strncmp(said(0), "-ERR ", 5), 0);
    }
    say(0, "SESSION END");
    assert_int_equal(strncmp(said(0), "-NOSESSION ", 11), 0);
    say(0, "SESSION RESUME 0123456789abcdef0123456789abcdef");
    assert_int_equal(strncmp(said(0), "-NOSESSION ", 11), 0);
    say(0, "LOCK y");
    settle();
    said(0);
    say(0, "SESSION KEEP 10000");
    assert_int_equal(strncmp(said(0), "-ERR ", 5), 0);
    hold(1);
    say(1, "SESSION KEEP 10000");
    assert_int_equal(strncmp(said(1), "-ERR ", 5), 0);
    say(1, "SESSION END");
    assert_string_equal(said(1), "+OK ");
    settle();
    say(2, "LOCK x");
    assert_free(2, 1);
    stop();
}

/* A validity is for all locks that a connection has within it. So a connection that has one gets no kept session, whose locks another
 * member may grant again while that validity lasts; nor does it get one while it resumes a session. */
static void a_connection_that_was_vouched_for_gets_no_kept_session(void **state)
{
    static const char *const ask[] = {"SESSION KEEP 10000", "SESSION RESUME 0123456789abcdef0123456789abcdef"};

    (void)state;
    start();
    say(0, "CONFIRM");
    assert_int_equal(said(0)[0], ':');
    for (unsigned k = 0; k < 2; k++) {
        say(0, ask[k]);
        assert_non_null(strstr(said(0), "before CONFIRM"));
    }
    hold(1);
    say(2, "HELLO 3");
    resume(2);
    say(2, "MEANWHILE CONFIRM");
    assert_non_null(strstr(said(2), "CONFIRM has to wait"));
    stop();
}

static void the_end_of_time_and_force_end_what_is_kept(void **state)
{
    (void)state;
    start();
    keep(0, "SESSION KEEP 10000");
    say(0, "LOCK x TTL 50");
    settle();
    said(0);
    say(1, "LOCK x");
    settle();
    pass(60);
    assert_free(1, 1);
    say(0, "LOCK y");
    settle();
    said(0);
    fall(0);
    say(2, "LOCK y");
    settle();
    client[5].end->session->operates = true;
    say(5, "FORCE-UNLOCK y");
    settle();
    assert_free(2, 1);
    come(0);
    resume(0);
    assert_string_equal(said(0), "*2 $7 RESUMED *0 ");
    stop();
}

/* Records of a session that holds many locks are in a table, which grows; all of them are found, and withdrawn. */
static void a_session_that_holds_many_locks_outlives_its_member(void **state)
{
    enum { MANY = 100 };
    char words[32];

    (void)state;
    start();
    keep(0, "SESSION KEEP 10000");
    for (unsigned j = 0; j < MANY; j++) {
        snprintf(words, sizeof words, "LOCK m-%u TTL 60000", j);
        say(0, words);
        settle();
        assert_true(fence_of(said(0)) > 0);
    }
    for (unsigned j = 0; j < MANY; j += 2) {
        snprintf(words, sizeof words, j % 4 ? "UNLOCK m-%u" : "RENEW m-%u TTL 90000", j);
        say(0, words);
        settle();
        assert_string_equal(said(0), "+OK ");
    }
    assert_int_equal(node[1].keep.records, MANY * 3 / 4);
    assert_int_equal(node[2].keep.records, MANY * 3 / 4);
    kill_member(0);
    install();
    settle();
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, MANY * 3 / 4);
    assert_int_equal(node[1].keep.records + node[2].keep.records, MANY * 3 / 4);
    pass(12000); /* it is not resumed */
    assert_int_equal(node[1].keep.records + node[2].keep.records, 0);
    stop();
}

/* A session that holds nothing and has no client is kept for its time, unless there are many: the others are not refused for
 * its sake (I19). */
static void sessions_that_hold_nothing_do_not_stay_when_there_are_many(void **state)
{
    static const char words[] = "SESSION KEEP 3600000\nSESSION DETACH\n";

    (void)state;
    start();
    hold(0);
    for (unsigned k = 0; k < KEEP_MANY + 100; k++) {
        if (k == 10)
            assert_int_equal(node[0].keep.own_count, 11);
        come(3);
        cluster_say(&three, &client[3], words);
        assert_null(client[3].end);
    }
    pass(1);
    assert_true(node[0].keep.own_count <= KEEP_MANY);
    assert_non_null(client[0].end->session->kept);
    assert_int_equal(client[0].end->session->held, 1);
    stop();
}

/* A view that begins before the previous one has opened: owners that were chosen there are chosen again, by all alike. */
static void views_that_do_not_open_lose_nothing(void **state)
{
    for (unsigned steps = 0; steps < 24; steps++) {
        uint64_t fence;

        (void)state;
        start();
        fence = hold(0);
        say(1, "LOCK x");
        settle();
        kill_member(0);
        install();
        for (unsigned k = 0; k < steps; k++)
            carry(1 + k % 2, 2 - k % 2);
        install();
        for (unsigned k = 0; k < steps / 2; k++)
            carry(2 - k % 2, 1 + k % 2);
        install();
        settle();
        assert_string_equal(said(1), "");
        assert_int_equal((keep_wants_view(&node[1]) || keep_wants_view(&node[2])), 0);
        assert_int_equal(node[1].keep.claims + node[2].keep.claims, 1);
        assert_int_equal(node[1].keep.records + node[2].keep.records, 1);
        resume(4);
        settle();
        install();
        settle();
        assert_int_equal(fence_of(said(4)), fence);
        stop();
    }
}

/* Every member has a record of each lock that the kept sessions of the others hold, and no other record (I33). */
static void assert_records(size_t claims)
{
    size_t found = 0;

    for (unsigned i = 0; i < MEMBERS; i++)
        found += !three.dead[i] ? node[i].keep.claims : 0;
    assert_int_equal(found, claims);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(three.dead[i] || node[i].keep.records + node[i].keep.claims == claims);
}

/* ant, which owns the session, dies. In the second view another member becomes the owner; in the third view ant is back. Letters
 * are delivered in part only. If the owner has opened the second view, its client may release x there, and what the third member
 * reports about x in the third view is out of date. Otherwise that report is all that ant hears. */
static void a_member_that_comes_is_told_what_is_held_and_not_what_was_released(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 128; steps++) {
        unsigned owner, other;
        bool released;
        uint64_t fence;

        start();
        fence = hold(0);
        owner = strtoul((char[]){id[15], '\0'}, NULL, 16) % 2 ? 2 : 1;
        other = 3 - owner;
        say(other, "LOCK x");
        settle();
        kill_member(0);
        install();
        for (unsigned k = 0; k < steps % 8; k++)
            carry((k + steps / 64) % 2 ? other : owner, (k + steps / 64) % 2 ? owner : other);
        released = steps & 32 && node_is_open(&node[owner]);
        if (released) {
            resume(owner);
            assert_int_equal(fence_of(said(owner)), fence);
            say(owner, "UNLOCK x");
            assert_string_equal(said(owner), "+OK ");
        }
        start_again(0);
        install();
        for (unsigned k = 0; k < steps / 8 % 4; k++)
            carry(k % 2 ? 0 : other, k % 2 ? other : 0);
        settle();
        assert_int_equal(fence_of(said(other)) > 0, released);
        assert_records(!released);
        kill_member(owner);
        install();
        settle();
        assert_records(!released);
        stop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_told_when_all_others_know_it),
        cmocka_unit_test(a_session_outlives_its_member),
        cmocka_unit_test(a_session_that_nobody_resumes_ends),
        cmocka_unit_test(a_connection_that_breaks_leaves_the_session),
        cmocka_unit_test(a_session_moves_to_another_member),
        cmocka_unit_test(the_later_connection_waits_until_the_earlier_believes_in_nothing),
        cmocka_unit_test(nothing_is_handed_on_before_all_have_withdrawn_the_record),
        cmocka_unit_test(a_lock_is_passed_on_within_a_member_by_one_exchange),
        cmocka_unit_test(a_lock_that_was_being_passed_on_has_one_holder),
        cmocka_unit_test(a_member_that_comes_is_told_all),
        cmocka_unit_test(a_member_that_comes_is_told_of_moves),
        cmocka_unit_test(a_move_of_an_earlier_view_is_not_heeded),
        cmocka_unit_test(a_session_that_is_to_move_does_not_end),
        cmocka_unit_test(what_lingers_ends_though_its_session_was_to_move),
        cmocka_unit_test(a_member_that_was_excluded_unawares_owns_nothing),
        cmocka_unit_test(a_session_comes_home_with_its_member),
        cmocka_unit_test(a_session_that_was_resumed_elsewhere_stays_there),
        cmocka_unit_test(what_a_client_may_ask),
        cmocka_unit_test(a_connection_that_was_vouched_for_gets_no_kept_session),
        cmocka_unit_test(the_end_of_time_and_force_end_what_is_kept),
        cmocka_unit_test(views_that_do_not_open_lose_nothing),
        cmocka_unit_test(a_member_that_comes_is_told_what_is_held_and_not_what_was_released),
        cmocka_unit_test(a_session_that_holds_many_locks_outlives_its_member),
        cmocka_unit_test(sessions_that_hold_nothing_do_not_stay_when_there_are_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
