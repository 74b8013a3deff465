/* What concerns many locks or many clients of a member is done in pieces, one in each turn: when a client ends, when the lease is
 * lost, when the view changes. Invariants: I24, I31. */
#include "lock/names.h"
#include "node/drain.h"
#include "node/lease.h"
#include "node/session.h"
#include "three.h"

enum { SOME = 100, PIECE = 10 };

static struct cluster_client many[SOME]; /* of the first member */

/* How many clients hold a lock at this member, by its own count. */
static size_t holds(uint32_t k)
{
    return node[k].locks.held_count;
}

/* How many clients of the first member were told of this since the last time. */
static unsigned told_of(enum claim_state state)
{
    unsigned count = tidings[state];

    tidings[state] = 0;
    return count;
}

/* Time passes at the first member. That is a piece of work, and the turn is another. */
static void later(uint64_t ms)
{
    cluster_tell(&three, 0, (struct node_input){.type = NODE_TIME, .now_ms = node[0].now_ms + ms});
}

/* In each turn a piece is let go. Another client gets a lock as soon as its piece is done, and a client with few locks does not
 * wait for one with many. */
static void a_session_with_many_locks_ends_in_pieces(void **state)
{
    size_t held;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    want(3, "s", 0);
    settle();
    assert_true(granted(3) > 0);
    want(1, "some-99", 0);
    settle();
    go(0); /* a piece, and another in this turn */
    assert_in_range(holds(0), SOME + 1 - 2 * PIECE, SOME + 1 - PIECE);
    held = holds(0);
    go(3);
    assert_in_range(holds(0), held - 1 - PIECE, held - 1);
    for (size_t before = holds(0); before; before = holds(0)) {
        assert_int_equal(granted(1), 0);
        assert_int_equal(node_due_ms(&node[0]), node[0].now_ms + 1);
        turn(0);
        assert_true(before - holds(0) <= PIECE && before > holds(0));
    }
    settle();
    assert_true(granted(1) > 0);
    stop();
}

/* A connection that has broken leaves what was vouched for behind; that ends in pieces, too. */
static void what_a_broken_session_leaves_is_let_go_in_pieces(void **state)
{
    uint64_t over_ms;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    assert_true(session_confirm(client[0].end->session) > 0);
    over_ms = client[0].end->session->vouched_ms;
    fall(0);
    assert_in_range(node[0].locks.lingering, PIECE, 2 * PIECE);
    while (node[0].locks.lingering < SOME) {
        size_t before = node[0].locks.lingering;

        turn(0);
        assert_true(node[0].locks.lingering - before <= PIECE && node[0].locks.lingering > before);
        assert_int_equal(holds(0), SOME);
    }
    assert_int_equal(node[0].losses, SOME);
    later(over_ms - node[0].now_ms);
    assert_in_range(holds(0), SOME - 2 * PIECE, SOME - PIECE);
    for (size_t before = holds(0); before; before = holds(0)) {
        later(1);
        assert_true(before - holds(0) <= 2 * PIECE && before > holds(0));
    }
    stop();
}

/* Locks whose TTL ends at the same time. */
static void locks_of_one_deadline_are_lost_in_pieces(void **state)
{
    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "t-%u", j);
        cluster_lock(&three, &client[0], name, "TTL 5");
        settle();
        assert_true(granted(0) > 0);
    }
    later(4);
    for (unsigned told = 0; told < SOME; told += PIECE) {
        later(1);
        assert_int_equal(told_of(CLAIM_LOST), PIECE);
    }
    assert_int_equal(client[0].end->session->held, 0);
    assert_int_equal(node_due_ms(&node[0]), UINT64_MAX);
    stop();
}

/* Clients over TCP that confirm no more, all of them at the same time: each has one lock. */
static void clients_that_confirm_no_more_lose_their_locks_in_pieces(void **state)
{
    uint64_t over_ms;
    unsigned told = 0;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        cluster_come(&three, &many[j], 0);
        many[j].end->session->remote = true;
        snprintf(name, sizeof name, "some-%u", j);
        cluster_lock(&three, &many[j], name, "");
        settle();
        assert_true(session_confirm(many[j].end->session) > 0);
    }
    told_of(CLAIM_LOST);
    over_ms = session_lapse_ms(&node[0]);
    later(over_ms - node[0].now_ms);
    for (unsigned turns = 0; told < SOME; turns++, later(1)) {
        unsigned now = told_of(CLAIM_LOST);

        assert_in_range(now, 1, 2 * PIECE);
        assert_true(turns < SOME);
        told += now;
    }
    assert_int_equal(holds(0), 0);
    for (unsigned j = 0; j < SOME; j++) {
        cluster_go(&three, &many[j], true);
        bytes_free(&many[j].heard);
    }
    stop();
}

/* A member that may grant no more takes its clients' locks away in pieces. Before the last one it grants nothing and vouches
 * for nothing, even if it is allowed to grant again; nor does it say that it has given up its locks. */
static void what_a_member_may_not_grant_any_more_is_lost_in_pieces(void **state)
{
    unsigned told;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    locks_set_grants(&node[0].locks, false, LOSS_NO_MAJORITY);
    want(0, "next", 0); /* in a turn, which has a piece of its own */
    told = told_of(CLAIM_LOST);
    assert_int_equal(told, 2 * PIECE);
    while (told < SOME) {
        unsigned now;

        assert_false(locks_gave_up(&node[0].locks));
        assert_int_equal(session_confirm(client[0].end->session), 0);
        lease_refresh(&node[0]); /* it may grant again */
        assert_false(node[0].locks.grants);
        assert_true(node_due_ms(&node[0]) <= node[0].now_ms + 1);
        turn(0);
        now = told_of(CLAIM_LOST);
        assert_int_equal(now, PIECE);
        told += now;
    }
    assert_true(locks_gave_up(&node[0].locks));
    assert_int_equal(holds(0), 0);
    assert_true(node_due_ms(&node[0]) <= node[0].now_ms + 1);
    later(1);
    assert_true(node[0].locks.grants);
    settle();
    assert_true(granted(0) > 0);
    stop();
}

/* A client that CONFIRM has told of no majority knows that its locks are lost, and may ask for one again before the member has
 * taken it away. */
static void a_lock_that_is_about_to_be_lost_can_be_asked_for_again(void **state)
{
    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    locks_set_grants(&node[0].locks, false, LOSS_NO_MAJORITY);
    assert_int_equal(session_confirm(client[0].end->session), 0);
    want(0, "some-0", 0);
    while (!locks_gave_up(&node[0].locks))
        turn(0);
    assert_int_equal(told_of(CLAIM_LOST), SOME);
    later(1);
    settle();
    assert_true(granted(0) > 0);
    stop();
}

/* A member that is excluded loses all its clients' locks in pieces, those that linger as well. Back in a view, none of them is
 * held since before. */
static void an_excluded_member_loses_its_locks_in_pieces(void **state)
{
    struct view view;
    unsigned told;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    assert_true(session_confirm(client[0].end->session) > 0);
    view = node[0].view;
    view.number++;
    view.member[0].incarnation = 0;
    node_install(&node[0], &view);
    turn(0);
    told = told_of(CLAIM_LOST);
    assert_true(told && told <= 3 * PIECE); /* by the lease, by the view, and in this turn */
    turn(0);
    told += told_of(CLAIM_LOST);
    assert_true(told < SOME && holds(0) > 0);
    view.number++;
    view.member[0].incarnation = node[0].self.incarnation; /* as another process, with connections of its own */
    for (uint32_t k = 0; k < MEMBERS; k++)
        node_install(&node[k], &view);
    for (uint32_t k = 1; k < MEMBERS; k++) {
        cluster_disconnect(&three, 0, k, true);
        cluster_connect(&three, 0, k);
    }
    assert_true(holds(0) > 0); /* the view has begun, and this member has yet to lose the rest */
    for (size_t before = holds(0); before; before = holds(0)) {
        assert_false(node[0].locks.told);
        assert_int_equal(session_confirm(client[0].end->session), 0);
        turn(0);
        assert_true(before > holds(0) && before - holds(0) <= PIECE);
    }
    settle();
    assert_int_equal(told + told_of(CLAIM_LOST), SOME);
    want(1, "some-99", 0);
    settle();
    assert_true(granted(1) > 0);
    stop();
}

/* All of them request the lock. */
static void come_many(const char *words)
{
    for (unsigned j = 0; j < SOME; j++) {
        cluster_come(&three, &many[j], 0);
        cluster_lock(&three, &many[j], "x", words);
    }
}

static void go_many(void)
{
    for (unsigned j = 0; j < SOME; j++) {
        cluster_go(&three, &many[j], true);
        bytes_free(&many[j].heard);
    }
}

/* Clients that can share a lock are granted it together, though a client between them cannot share it: in pieces. An operator
 * takes it away from them in pieces, too. */
static void many_clients_share_a_lock_in_pieces(void **state)
{
    (void)state;
    start_with((struct node_conf){.piece = PIECE, .algorithm = alg_find("swaroop-singh")});
    want(1, "x", 0);
    settle();
    assert_true(granted(1) > 0);
    come_many("SHARED");
    cluster_go(&three, &many[SOME / 2], true);
    want(0, "x", 0); /* alone */
    cluster_come(&three, &many[SOME / 2], 0);
    cluster_lock(&three, &many[SOME / 2], "x", "SHARED");
    unlock(1, "x");
    for (unsigned turns = 0; holds(0) < SOME; turns++) {
        size_t before = holds(0);

        assert_true(turns < 10 * SOME);
        if (carry(0, 1) + carry(0, 2) + carry(1, 0) + carry(2, 0) == 0) {
            assert_int_equal(node_due_ms(&node[0]), node[0].now_ms + 1);
            turn(0);
        }
        assert_true(holds(0) - before <= 4 * PIECE); /* of two turns, each with what was left of the one before */
    }
    assert_int_equal(told_of(CLAIM_HELD), SOME);
    assert_int_equal(told_of(CLAIM_LOST), 0);
    assert_int_equal(session_evict(&node[0], "x", 1, UINT64_MAX, "test"), SOME);
    turn(0);
    assert_int_equal(told_of(CLAIM_LOST), 2 * PIECE);
    for (unsigned told = 2 * PIECE; told < SOME; told += PIECE) {
        turn(0);
        assert_int_equal(told_of(CLAIM_LOST), PIECE);
    }
    settle();
    assert_int_equal(client[0].end->session->held, 1);
    go_many();
    stop();
}

/* Clients that wait at a member that is removed are told so in pieces. */
static void clients_of_a_removed_member_are_sent_away_in_pieces(void **state)
{
    struct view view;
    unsigned told = 0;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    want(1, "x", 0);
    settle();
    assert_true(granted(1) > 0);
    come_many("");
    view = node[0].view;
    view.number++;
    view.member[0].incarnation = 0;
    view.member[0].standing = VIEW_REMOVED;
    node_install(&node[0], &view);
    for (unsigned turns = 0; told < SOME; turns++) {
        unsigned now;

        turn(0);
        now = told_of(CLAIM_TIMED_OUT);
        assert_true(turns <= SOME && now <= (turns ? PIECE : 2 * PIECE));
        told += now;
        assert_true(told == SOME || node_due_ms(&node[0]) <= node[0].now_ms + 1);
    }
    go_many();
    stop();
}

/* DRAIN withdraws waiting clients in pieces. It finds the clients that hold locks without a look at those that wait, and at
 * sessions whose clients have gone. */
static void a_drained_member_looks_at_clients_that_hold_locks(void **state)
{
    struct session *drainer;
    unsigned told = 0;

    (void)state;
    start_with((struct node_conf){.piece = PIECE});
    want(0, "x", 0);
    settle();
    assert_true(granted(0) > 0);
    come_many("");
    drainer = client[3].end->session;
    while (told < SOME) {
        unsigned now;

        assert_int_equal(drain_go_on(drainer), 1);
        assert_ptr_equal(drain_next(&node[0], NULL), client[0].end->session);
        assert_null(drain_next(&node[0], client[0].end->session));
        turn(0);
        now = told_of(CLAIM_TIMED_OUT);
        assert_in_range(now, 1, 2 * PIECE);
        told += now;
    }
    assert_true(session_confirm(client[0].end->session) > 0);
    fall(0); /* what it held lingers, and is not waited for */
    assert_int_equal(node[0].holding_count, 0);
    assert_int_equal(drain_go_on(drainer), 0);
    assert_true(node[0].drained);
    go_many();
    stop();
}

/* This view at all members of `set`. How many names one of them has forgotten in this turn at most. */
static size_t install_set(const struct view *view, unsigned set)
{
    size_t most = 0;

    for (uint32_t k = 0; k < MEMBERS; k++) {
        size_t before = node[k].locks.count;

        if (set & 1u << k)
            node_install(&node[k], view);
        most = before - node[k].locks.count > most ? before - node[k].locks.count : most;
    }
    return most;
}

/* A member with many idle names is removed from a cluster with many idle names. Names are forgotten in pieces; and a client is
 * served before they are. */
static void a_member_is_removed_while_names_are_forgotten_in_pieces(void **state)
{
    enum { NAMES = 250000, TURN = 4 * LOCK_SWEEP /* names, in LOCK_SWEEP places of the table */ };
    struct view view;
    size_t before;
    bool served = false;

    (void)state;
    start_with((struct node_conf){0});
    settle();
    for (unsigned j = 0; j < NAMES; j++)
        for (uint32_t k = 0; k < 2; k++) { /* the member that is removed, and one that stays */
            char name[24];

            snprintf(name, sizeof name, "idle-%u", j);
            names_add(&node[k].locks, name, strlen(name))->known = 1;
        }
    view = node[0].view;
    view.number++;
    view.member[0].incarnation = 0;
    view.member[0].standing = VIEW_REMOVED;
    assert_true(install_set(&view, 7) <= TURN);
    assert_true(node_is_removed(&node[0]));
    want(1, "x", 0);
    for (unsigned turns = 0; locks_is_busy(&node[0].locks) || locks_is_busy(&node[1].locks); turns++) {
        for (uint32_t k = 0; k < MEMBERS; k++) {
            before = node[k].locks.count;
            if (k)
                carry(3 - k, k);
            turn(k);
            assert_true(node[k].locks.count + 2 * TURN >= before);
        }
        if (granted(1))
            served = node[1].locks.count > NAMES / 2;
        assert_true(turns < NAMES / LOCK_SWEEP * 4);
    }
    assert_true(served);
    view.number++;
    view_remove(&view, 0); /* and now it is not in the roster any more */
    assert_true(install_set(&view, 6) <= TURN);
    assert_int_equal(node[0].locks.count, 0);
    assert_int_equal(node[1].locks.count, 1);
    stop();
}

/* Clients that wait when the view opens are served, a piece in each turn. */
static void clients_that_wait_are_served_in_pieces(void **state)
{
    unsigned served = 0;

    (void)state;
    start_with((struct node_conf){.piece = 1});
    settle();
    now_view.number++;
    install_at(0);
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "w-%u", j);
        cluster_come(&three, &many[j], 0);
        cluster_lock(&three, &many[j], name, "");
    }
    install_at(1);
    install_at(2);
    while (!node[0].locks.open)
        for (uint32_t i = 0; i < MEMBERS; i++)
            for (uint32_t k = 0; k < MEMBERS; k++)
                if (i != k)
                    carry(i, k);
    assert_true(locks_is_busy(&node[0].locks));
    settle();
    for (unsigned j = 0; j < SOME; j++)
        served += cluster_is_told(&many[j], CLAIM_HELD);
    assert_int_equal(served, SOME);
    go_many();
    settle();
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_with_many_locks_ends_in_pieces),
        cmocka_unit_test(what_a_broken_session_leaves_is_let_go_in_pieces),
        cmocka_unit_test(locks_of_one_deadline_are_lost_in_pieces),
        cmocka_unit_test(clients_that_confirm_no_more_lose_their_locks_in_pieces),
        cmocka_unit_test(what_a_member_may_not_grant_any_more_is_lost_in_pieces),
        cmocka_unit_test(a_lock_that_is_about_to_be_lost_can_be_asked_for_again),
        cmocka_unit_test(an_excluded_member_loses_its_locks_in_pieces),
        cmocka_unit_test(many_clients_share_a_lock_in_pieces),
        cmocka_unit_test(clients_of_a_removed_member_are_sent_away_in_pieces),
        cmocka_unit_test(a_drained_member_looks_at_clients_that_hold_locks),
        cmocka_unit_test(a_member_is_removed_while_names_are_forgotten_in_pieces),
        cmocka_unit_test(clients_that_wait_are_served_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
