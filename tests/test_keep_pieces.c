/* Many kept sessions (node/keep.h): whatever concerns all of them is done in pieces, one in each turn of their member, and a view
 * may begin amid any piece. Invariants: I31, I33. */
#include "keep_cluster.h"
#include "step/invariants.h"

enum { MANY = 40, EACH = 3, PIECE = 5, MOST = PIECE + EACH, LETTER = 120 /* bytes at most, of these locks */ };

static char ids[MANY][33];
static struct cluster_client many[MANY];

/* As many clients of ant hold EACH locks in kept sessions. */
static void hold_many(void)
{
    options.piece = PIECE;
    start();
    options.piece = 0;
    for (unsigned j = 0; j < MANY; j++) {
        cluster_come(&three, &many[j], 0);
        cluster_say(&three, &many[j], "SESSION KEEP 10000\n");
        note_id(cluster_heard(&many[j]));
        memcpy(ids[j], id, sizeof id);
        for (unsigned x = 0; x < EACH; x++) {
            char line[32];

            snprintf(line, sizeof line, "LOCK m-%u-%u\n", j, x);
            cluster_say(&three, &many[j], line);
            settle();
            assert_true(fence_of(cluster_heard(&many[j])) > 0);
        }
    }
    assert_int_equal(node[0].keep.claims, MANY * EACH);
    assert_int_equal(node[1].keep.records, MANY * EACH);
}

/* Their connections end, and their sessions are kept. */
static void go_many(void)
{
    for (unsigned j = 0; j < MANY; j++)
        cluster_go(&three, &many[j], true);
}

static void kill_many(void)
{
    go_many();
    kill_member(0);
}

/* What one turn does: at most a piece, and what is left of the last session of it. */
static void assert_piece(uint64_t before, uint64_t after)
{
    assert_true((before < after ? after - before : before - after) <= MOST);
}

/* Member i does its work, turn by turn, and hears nothing meanwhile; each turn does a piece. */
static void work(unsigned i)
{
    struct keep *k = &node[i].keep;

    while (node_is_busy(&node[i])) {
        size_t claims = k->claims, records = k->records, bytes = bytes_len(&node[i].member[3 - i]->link.unacked);

        assert_int_equal(node_due_ms(&node[i]), now_ms + 1);
        turn(i);
        assert_piece(claims, k->claims);
        assert_piece(records, k->records);
        assert_true(bytes_len(&node[i].member[3 - i]->link.unacked) - bytes <= MOST * LETTER);
    }
}

static void records_are_reported_and_adopted_in_pieces(void **state)
{
    (void)state;
    hold_many();
    kill_many();
    now_view.number++;
    now_view.member[0].incarnation = 0;
    for (unsigned i = 1; i < MEMBERS; i++) {
        size_t bytes = bytes_len(&node[i].member[3 - i]->link.unacked);

        install_at(i);
        assert_true(bytes_len(&node[i].member[3 - i]->link.unacked) - bytes <=
                    2 * MOST * LETTER); /* of the view, of the turn */
        work(i);
    }
    for (unsigned turns = 0; !(node_is_open(&node[1]) && node_is_open(&node[2])); turns++) {
        assert_true(turns < 10);
        for (unsigned i = 1; i < MEMBERS; i++) {
            size_t claims = node[i].keep.claims;

            carry(i, 3 - i);
            assert_piece(claims, node[i].keep.claims);
            work(3 - i);
        }
    }
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, MANY * EACH);
    assert_int_equal(node[1].keep.records + node[2].keep.records, MANY * EACH);
    memcpy(id, ids[MANY / 2], sizeof id);
    resume(1);
    settle();
    install();
    settle();
    assert_non_null(strstr(said(1), "RESUMED"));
    stop();
}

/* A member that comes is told of all sessions in pieces. It acknowledges nothing before it knows all, also if it hears of a
 * release meanwhile: letters that were sent before it came have smaller numbers. */
static void a_member_that_comes_is_told_in_pieces(void **state)
{
    struct bytes *out;

    (void)state;
    hold_many();
    kill_member(2);
    install();
    settle();
    start_again(2);
    now_view.number++;
    now_view.member[2].incarnation = node[2].self.incarnation;
    for (unsigned i = 0; i < MEMBERS; i++)
        install_at(i);
    out = &node[0].member[2]->link.unacked;
    assert_true(bytes_len(out) <= 3 * MOST * LETTER);
    assert_int_equal(node[0].keep.phase, KEEP_TELLS);
    cluster_say(&three, &many[0], "UNLOCK m-0-0\n");
    for (unsigned k = 0; k < 4; k++) {
        carry(0, 2);
        carry(2, 0);
    }
    assert_int_equal(node[0].keep.phase, KEEP_TELLS);
    assert_true(node[2].keep.records > 0 && node[2].member[0]->keep.seen > 0);
    while (node_is_busy(&node[1]))
        turn(1);
    carry(1, 0);
    while (node_is_busy(&node[0])) {
        size_t bytes = bytes_len(out);

        turn(0);
        assert_true(bytes_len(out) <= bytes + MOST * LETTER);
        carry(2, 0);
    }
    assert_int_equal(node[0].keep.phase, KEEP_PASSED);
    assert_int_equal(node[0].member[2]->keep.acked, 0);
    settle();
    assert_int_equal(node[2].keep.records, MANY * EACH - 1);
    assert_true(node[0].member[2]->keep.acked > 0);
    assert_true(node_is_open(&node[2]));
    kill_many();
    stop();
}

/* A view that begins before the walk of the previous one has ended: what was visited is as well kept as what was not. */
static void a_view_may_begin_amid_any_piece(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 40; steps++) {
        hold_many();
        kill_many();
        install();
        for (unsigned k = 0; k < steps; k++) {
            carry(1 + k % 2, 2 - k % 2);
            turn(1 + k % 2);
        }
        install();
        for (unsigned k = 0; k < steps / 3; k++)
            carry(2 - k % 2, 1 + k % 2);
        install();
        settle();
        assert_int_equal(node[1].keep.claims + node[2].keep.claims, MANY * EACH);
        assert_int_equal(node[1].keep.records + node[2].keep.records, MANY * EACH);
        assert_int_equal(node[1].keep.moving + node[2].keep.moving, 0);
        stop();
    }
}

/* The view has ant no longer. */
static void exclude(void)
{
    now_view.number++;
    now_view.member[0].incarnation = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        install_at(i);
}

/* And has it again. */
static void let_in(void)
{
    now_view.number++;
    now_view.member[0].incarnation = node[0].self.incarnation;
    now_view.member[0].since = now_view.number;
    for (unsigned k = 1; k < MEMBERS; k++) {
        cluster_disconnect(&three, 0, k, true);
        cluster_connect(&three, 0, k);
    }
    install_at(0);
}

/* Sessions of ant that it has forgotten, and not seen to. */
static unsigned forgotten(void)
{
    unsigned count = 0;

    for (const struct ring *r = node[0].keep.forgotten.next; r != &node[0].keep.forgotten; r = r->next)
        count++;
    return count;
}

/* What ant has forgotten is gone, and all that others know of it is consistent. */
static void assert_forgotten(void)
{
    assert_false(keep_is_forgetting(&node[0]));
    assert_int_equal(node[0].locks.held_count, 0);
    assert_true(ring_empty(&node[0].keep.parked));
    install_at(1);
    install_at(2);
    settle();
    assert_true(node_is_open(&node[0]));
    assert_null(node_check(&node[0]));
    assert_true(ring_empty(&node[0].keep.doomed));
}

static unsigned connections(void)
{
    unsigned count = 0;

    for (unsigned j = 0; j < MANY; j++)
        count += many[j].end != NULL;
    return count;
}

/* A turn of ant: it sees to a piece of what it has forgotten, sessions and claims. */
static void forget_some(void)
{
    size_t held = node[0].locks.held_count;
    unsigned sessions = forgotten(), ends = connections();

    assert_int_equal(node_due_ms(&node[0]), now_ms + 1);
    turn(0);
    assert_true(node[0].locks.held_count < held || forgotten() < sessions);
    assert_piece(held, node[0].locks.held_count);
    assert_int_equal(sessions - forgotten(), sessions < PIECE ? sessions : PIECE);
    assert_in_range(ends - connections(), 0, PIECE);
}

/* ant has been excluded, and forgets its sessions in pieces, their connections and what they hold; also if it is let in again
 * meanwhile. In between it has nothing to tell; and what it has forgotten is another member's. */
static void an_excluded_member_forgets_in_pieces(void **state)
{
    (void)state;
    hold_many();
    exclude();
    assert_int_equal(forgotten(), MANY - PIECE);
    assert_true(node[0].locks.held_count >= MANY * EACH - 2 * MOST);
    forget_some();
    assert_int_equal(connections(), MANY - 2 * PIECE);
    let_in();
    assert_true(forgotten() > 0);
    while (keep_is_forgetting(&node[0])) {
        assert_int_equal(node[0].keep.phase, KEEP_TELLS);
        forget_some();
    }
    assert_int_equal(connections(), 0);
    assert_forgotten();
    assert_int_equal(node[0].keep.claims + node[1].keep.claims + node[2].keep.claims, MANY * EACH);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_int_equal(node[i].keep.claims + node[i].keep.records, MANY * EACH);
    kill_many();
    stop();
}

/* ---- Sessions that were forgotten, and are not seen to yet. Each of these clients is amid something when ant is excluded. */

enum {
    RESUMED = 26,
    QUITS,
    RENEWS,
    WAITS,
    GRANTED,
    FORMER,
    ENDS,
    FALLS,
    EVICTED,
    EXPIRES,
    CONFIRMS,
    ASKS,
    UNLOCKS,
    SAYS_END
};

static void say_many(unsigned j, const char *words)
{
    char line[128];

    snprintf(line, sizeof line, "%s\n", words);
    bytes_free(&many[j].heard);
    cluster_say(&three, &many[j], line);
}

static void be_amid_something(void)
{
    say_many(EXPIRES, "RENEW m-35-0 TTL 50");
    say_many(FORMER, "HELLO 3");
    say_many(FORMER, "CONFIRM");
    settle();
    say_many(WAITS, "LOCK m-0-0");
    say_many(GRANTED, "LOCK fresh");
    for (unsigned k = 0; k < 100 && ring_empty(&node[0].keep.pending); k++)
        carry(k / 2 % 2 ? 1 + k % 2 : 0, k / 2 % 2 ? 0 : 1 + k % 2);
    say_many(RENEWS, "RENEW m-28-0 TTL 60000");
    say_many(RENEWS, "RENEW m-28-0 TTL 70000");
    many[QUITS].stuck = true;
    say_many(QUITS, "QUIT");
    memcpy(id, ids[FORMER], sizeof id);
    resume(0);
    turn(0);
    assert_true(many[FORMER].end && many[FORMER].end->parts && many[FORMER].end->session->cut);
    assert_false(ring_empty(&node[0].keep.renewed));
    assert_false(ring_empty(&node[0].keep.pending));
}

/* The client is there, and its session is forgotten, and not seen to yet. */
static bool is_left(unsigned j)
{
    return many[j].end && session_is_forgotten(many[j].end->session);
}

/* What it says is not heard. */
static void assert_unheard(unsigned j, const char *words)
{
    assert_true(is_left(j));
    say_many(j, words);
    assert_true(is_left(j));
    assert_int_equal(bytes_len(&many[j].heard), 0);
    assert_int_equal(many[j].end->session->held, EACH);
}

/* A session is forgotten at once, although ant sees to one in each turn: whatever its client does then, and whatever becomes of
 * what it holds, it is not kept, and no member hears of it. */
static void nothing_of_a_forgotten_session_counts(void **state)
{
    uint64_t made;

    (void)state;
    hold_many();
    be_amid_something();
    node[0].conf.piece = 1;
    made = node[0].keep.made;
    assert_true(keep_is_believed(&node[0]));
    exclude();
    assert_false(keep_is_believed(&node[0]));
    assert_true(ring_empty(&node[0].keep.pending) && ring_empty(&node[0].keep.ready));
    assert_unheard(CONFIRMS, "CONFIRM");
    assert_unheard(ASKS, "LOCK z");
    assert_unheard(UNLOCKS, "UNLOCK m-38-0");
    assert_unheard(SAYS_END, "SESSION END");
    assert_true(is_left(ENDS) && is_left(FALLS) && is_left(EVICTED) && is_left(EXPIRES));
    assert_true(is_left(QUITS) && is_left(RESUMED));
    keep_tell(many[RESUMED].end->session, KEEP_RESUMED); /* it was attached at the last moment */
    turn(0);
    assert_null(many[RESUMED].end);
    assert_null(strstr(cluster_heard(&many[RESUMED]), "RESUMED"));
    cluster_go(&three, &many[QUITS], true);
    cluster_go(&three, &many[FORMER], true);
    cluster_go(&three, &many[ENDS], true);
    cluster_go(&three, &many[FALLS], false);
    assert_int_equal(session_evict(&node[0], "m-34-0", 6, UINT64_MAX, "an operator"), 1);
    cluster_tell(&three, 0, (struct node_input){.type = NODE_TIME, .now_ms = now_ms += 100});
    assert_true(is_left(EVICTED) && is_left(EXPIRES));
    assert_int_equal(many[EVICTED].end->session->held + many[EXPIRES].end->session->held, 2 * EACH - 2);
    let_in();
    while (keep_is_forgetting(&node[0])) {
        assert_null(node_check(&node[0]));
        turn(0);
    }
    assert_int_equal(connections(), 0);
    assert_null(strstr(cluster_heard(&many[GRANTED]), "fresh"));
    assert_int_equal(node[0].keep.made, made);
    assert_forgotten();
    kill_many();
    stop();
}

/* Many clients resume, and many sessions end at the same time: in pieces. */
static void sessions_are_looked_at_in_pieces(void **state)
{
    size_t claims;

    (void)state;
    hold_many();
    go_many();
    cluster_tell(&three, 0, (struct node_input){.type = NODE_TIME, .now_ms = now_ms += 12000});
    assert_true(node[0].keep.claims >=
                MANY * EACH - 2 * MOST); /* one piece because time has passed, and one of the turn */
    for (claims = node[0].keep.claims; claims; claims = node[0].keep.claims) {
        turn(0);
        assert_piece(claims, node[0].keep.claims);
        assert_true(node[0].keep.claims < claims);
        assert_true(node[0].keep.claims == 0 || node_due_ms(&node[0]) <= now_ms + 1);
    }
    settle();
    assert_int_equal(node[1].keep.records, 0);
    assert_int_equal(node[0].locks.held_count, 0);
    stop();
}

/* Clients that were told that their sessions go on elsewhere. */
static unsigned parted(void)
{
    unsigned count = 0;

    for (unsigned j = 0; j < MANY; j++)
        count += !many[j].end || many[j].end->parts;
    return count;
}

/* A member that leaves cuts its clients off in pieces, and has not left before the last one. */
static void a_member_that_leaves_cuts_off_its_clients_in_pieces(void **state)
{
    unsigned before, turns = 0;

    (void)state;
    hold_many();
    for (unsigned j = 0; j < MANY; j++)
        cluster_say(&three, &many[j], "CONFIRM\n");
    cluster_tell(&three, 0, (struct node_input){.type = NODE_LEAVE, .now_ms = now_ms});
    for (before = 0; !keep_has_parted(&node[0]); turns++) {
        assert_in_range(parted(), before, before + MOST);
        before = parted();
        assert_int_equal(node_due_ms(&node[0]), now_ms + 1);
        turn(0);
    }
    assert_true(turns >= MANY * EACH / MOST);
    assert_int_equal(parted(), MANY);
    assert_int_equal(node[0].keep.claims, MANY * EACH);
    go_many();
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_reported_and_adopted_in_pieces),
        cmocka_unit_test(a_member_that_comes_is_told_in_pieces),
        cmocka_unit_test(a_view_may_begin_amid_any_piece),
        cmocka_unit_test(an_excluded_member_forgets_in_pieces),
        cmocka_unit_test(nothing_of_a_forgotten_session_counts),
        cmocka_unit_test(sessions_are_looked_at_in_pieces),
        cmocka_unit_test(a_member_that_leaves_cuts_off_its_clients_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
