/* What becomes of locks when the view changes: digests, questions about old holders, and work in pieces.
 * Invariants: I24, I31. */
#include "test.h"

#include "alg/list.h"
#include "base/pack.h"
#include "lock/digest.h"
#include "lock/instance.h"
#include "lock/names.h"
#include "members.h"
#include "node/inside.h"
#include "node/lease.h"
#include "node/session.h"
#include "step/step.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MEMBERS = 3, SOME = 100 };

static const char *const member_names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct session *client[MEMBERS];

static void start(const struct node_conf *options)
{
    for (uint32_t k = 0; k < MEMBERS; k++) {
        struct node_conf conf = *options;

        conf.summary = "same";
        if (!conf.algorithm)
            conf.algorithm = alg_find("suzuki-kasami");
        conf.slots_algorithm = alg_find("central");
        members_start(&node[k], conf, member_names, MEMBERS, k);
        client[k] = session_open(&node[k], NULL);
    }
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (uint32_t k = 0; k < MEMBERS; k++)
            if (i != k)
                link_connected(&node[i].member[k]->link);
}

static void stop(void)
{
    for (uint32_t k = 0; k < MEMBERS; k++) {
        session_close(client[k]);
        node_free(&node[k]);
    }
}

/* What one member has to say to another arrives. How much that was. */
static size_t carry(uint32_t from, uint32_t to)
{
    struct link *out = &node[from].member[to]->link;
    size_t len;
    const uint8_t *bytes = link_output(out, &len);

    if (len) {
        link_input(&node[to].member[from]->link, bytes, len);
        link_wrote(out, len);
        node_pump(&node[to]);
    }
    assert_true(out->state == LINK_UP || out->state == LINK_OPENING);
    return len;
}

/* Until there is nothing left to say or to do. */
static void settle(void)
{
    size_t done = 1;

    while (done) {
        done = 0;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            if (node_is_busy(&node[i])) {
                node_pump(&node[i]);
                done++;
            }
            for (uint32_t k = 0; k < MEMBERS; k++)
                done += i != k ? carry(i, k) : 0;
        }
    }
}

static void install(uint32_t k, uint64_t number)
{
    struct view view = node[k].view;

    view.number = number;
    node_install(&node[k], &view);
}

static void install_all(uint64_t number)
{
    for (uint32_t k = 0; k < MEMBERS; k++)
        install(k, number);
}

/* What the others know of kept sessions comes to the first member, which then makes its digest. */
static void bring_marks(void)
{
    while (carry(1, 0) + carry(2, 0))
        ;
}

static void want(uint32_t k, const char *name, uint32_t slots)
{
    struct session_wish wish = {
        .name = name, .name_len = strlen(name), .slots = slots, .mode = LOCK_ALONE, .wait_ms = SESSION_FOREVER};
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    assert_null(session_lock(client[k], &wish, &why));
}

/* The fence; 0: it has not been granted anything, or has been refused. */
static uint64_t granted(uint32_t k)
{
    struct node_event e;

    return node_next(&node[k], &e) && e.state == CLAIM_HELD ? e.fence : 0;
}

static void take_some(uint32_t k, unsigned count)
{
    for (unsigned j = 0; j < count; j++) {
        char name[24];

        snprintf(name, sizeof name, "some-%u", j);
        want(k, name, 0);
        settle();
        assert_true(granted(k) > 0);
    }
}

static void a_lock_of_a_former_view_is_held_until_it_is_released(void **state)
{
    uint64_t fence;

    (void)state;
    start(&(struct node_conf){0});
    want(0, "x", 0);
    settle();
    fence = granted(0);
    assert_true(fence > 0);
    install_all(2);
    want(1, "x", 0);
    settle();
    assert_int_equal(granted(1), 0);
    install_all(3); /* and in yet another one */
    settle();
    assert_int_equal(granted(1), 0);
    assert_true(session_unlock(client[0], "x", 1, fence));
    settle();
    assert_true(granted(1) > fence);
    stop();
}

/* All that 100 holders cost a member that does not want their locks is one letter, and it never hears of their names. */
static void what_nobody_else_wants_is_not_told(void **state)
{
    uint64_t letters;

    (void)state;
    start(&(struct node_conf){0});
    take_some(0, SOME);
    letters = node[1].member[0]->link.received;
    install_all(2);
    settle();
    assert_int_equal(node[1].member[0]->link.received - letters,
                     4); /* the view, no kept sessions, its digest, that was all */
    assert_int_equal(node[1].locks.count, 0);
    want(1, "other", 0);
    settle();
    assert_true(granted(1) > 0);
    assert_int_equal(client[0]->held, SOME);
    stop();
}

/* Nearly every name is in a digest that has one bit for each holder. */
static void a_name_that_a_digest_affirms_in_vain_is_granted(void **state)
{
    (void)state;
    start(&(struct node_conf){.digest_bits = 1});
    take_some(0, SOME);
    install_all(2);
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
    start(&(struct node_conf){.piece = 1});
    take_some(0, SOME);
    want(1, "mine", 0);
    settle();
    assert_true(granted(1) > 0);
    assert_true(session_unlock(client[1], "mine", 4, 0));
    install_all(2);
    bring_marks();
    want(1, "mine", 0);
    for (unsigned k = 0; k < SOME / 2; k++) { /* half of the digest */
        assert_false(node[0].locks.told);
        node_pump(&node[0]);
        while (carry(1, 2) + carry(2, 1) + carry(0, 1))
            ;
        assert_int_equal(granted(1), 0);
    }
    assert_true(session_unlock(client[0], "some-7", 6, 0)); /* holders may leave meanwhile */
    install_all(3);
    bring_marks();
    assert_in_range(node[0].locks.undigested, 1, SOME - 2);
    want(2, "some-0", 0);
    settle();
    assert_true(granted(1) > 0);
    assert_int_equal(granted(2), 0);
    assert_true(session_unlock(client[0], "some-0", 6, 0));
    settle();
    assert_true(granted(2) > 0);
    stop();
}

/* The kind of a lock that is held since before the view is known, wherever its home is: clients that want another kind are
 * refused. When the holder has gone and no member has asked, the kind is forgotten. */
static void a_lock_of_a_former_view_keeps_its_kind_while_it_is_held(void **state)
{
    (void)state;
    start(&(struct node_conf){0});
    for (char name[] = "a"; *name <= 'z'; ++*name) {
        want(0, name, 2);
        settle();
        assert_true(granted(0) > 0);
    }
    install_all(2);
    for (char name[] = "a"; *name <= 'm'; ++*name) {
        want(1, name, 2);
        want(2, name, 0);
        settle();
        assert_true(granted(1) > 0); /* the other slot, although the first is held */
        assert_int_equal(granted(2), 0);
        assert_null(client[2]->waiting); /* but refused */
    }
    for (char name[] = "n"; *name <= 'z'; ++*name) {
        assert_true(session_unlock(client[0], name, 1, 0));
        want(0, name, 2);
        want(1, name, 0);
        settle();
        assert_true((granted(0) > 0) + (granted(1) > 0) == 1); /* the home says who was the first */
        assert_true(!client[0]->waiting && !client[1]->waiting);
    }
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
    start(&(struct node_conf){0});
    for (;; ++*name) {
        want(0, name, 2);
        settle();
        assert_true(granted(0) > 0);
        lock = locks_find(&node[0].locks, name, 1);
        if (instance_home(&node[0].locks, lock) == 1)
            break;
    }
    install_all(2);
    settle();
    at = pack_number(pack_text(pack_number(at, INSTANCE_ASK, 1), name, 1), 0, 2 + 4); /* by a client without slots */
    pack_number(pack_number(at, 0, 4), 0, 8);
    assert_null(locks_receive(&node[1].locks, 2, ask, sizeof ask));
    assert_int_equal(locks_find(&node[1].locks, name, 1)->known, 0);
    settle();
    for (uint32_t k = 0; k < MEMBERS; k++) {
        lock = locks_find(&node[k].locks, name, 1);
        assert_true(lock->known && lock->slots == 2);
    }
    stop();
}

/* The table grows by a place with each name, and all of them are found. */
static void a_table_that_grows_finds_all_names(void **state)
{
    struct locks l;

    (void)state;
    locks_init(&l,
               &(struct locks_conf){.algorithm = alg_find("suzuki-kasami"), .slots_algorithm = alg_find("central")});
    for (unsigned j = 0; j < 3000; j++) {
        char name[24];

        snprintf(name, sizeof name, "n-%u", j);
        names_add(&l, name, strlen(name));
        snprintf(name, sizeof name, "n-%u", j / 2);
        assert_non_null(locks_find(&l, name, strlen(name)));
        assert_int_equal(l.room, l.count);
        assert_int_equal(l.swept, l.room);
    }
    for (unsigned j = 0; j < 3000; j++) {
        char name[24];
        struct lock *lock;

        snprintf(name, sizeof name, "n-%u", j);
        lock = locks_find(&l, name, strlen(name));
        assert_non_null(lock);
        names_remove(&l, lock);
        assert_null(locks_find(&l, name, strlen(name)));
    }
    locks_free(&l);
}

/* A message that is all there is in a large buffer stays valid until the next one is taken. */
static void a_long_letter_is_read_before_its_buffer_is_given_back(void **state)
{
    enum { LONG = 1 << 19 };
    struct link *out, *in;
    const uint8_t *bytes;
    uint8_t *written;
    size_t len, count = 0;

    (void)state;
    start(&(struct node_conf){0});
    settle();
    out = &node[0].member[1]->link;
    in = &node[1].member[0]->link;
    memset(link_send(out, LONG), 7, LONG);
    written = malloc(2 * LONG);
    for (bytes = link_output(out, &len); len; bytes = link_output(out, &len)) {
        memcpy(written + count, bytes, len);
        link_wrote(out, len);
        count += len;
    }
    link_input(in, written, count);
    assert_int_equal(link_take(in, &bytes, &len), LINK_LETTER);
    assert_int_equal(len, LONG);
    assert_true(in->in.at && bytes > in->in.at && bytes + len <= in->in.at + in->in.room);
    assert_int_equal(bytes[0] + bytes[LONG - 1], 14);
    assert_int_equal(link_take(in, &bytes, &len), LINK_NOTHING);
    free(written);
    stop();
}

/* Clients that wait when the view opens are served, a piece in each turn. */
static void clients_that_wait_are_served_in_pieces(void **state)
{
    struct session *many[SOME];
    unsigned served = 0;

    (void)state;
    start(&(struct node_conf){.piece = 1});
    settle();
    install(0, 2);
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];
        char line[256];
        struct dme_text why;

        snprintf(name, sizeof name, "w-%u", j);
        dme_text_init(&why, line, sizeof line);
        many[j] = session_open(&node[0], NULL);
        assert_null(session_lock(
            many[j], &(struct session_wish){.name = name, .name_len = strlen(name), .wait_ms = SESSION_FOREVER}, &why));
    }
    install(1, 2);
    install(2, 2);
    while (!node[0].locks.open)
        for (uint32_t i = 0; i < MEMBERS; i++)
            for (uint32_t k = 0; k < MEMBERS; k++)
                if (i != k)
                    carry(i, k);
    assert_true(locks_is_busy(&node[0].locks));
    settle();
    while (granted(0))
        served++;
    assert_int_equal(served, SOME);
    for (unsigned j = 0; j < SOME; j++)
        session_close(many[j]);
    settle();
    stop();
}

/* Names in use are no reason for a new view; others are forgotten in one, in pieces. */
static void names_in_use_do_not_crowd(void **state)
{
    (void)state;
    start(&(struct node_conf){.names_max = 2 * SOME, .piece = 1});
    take_some(0, SOME);
    assert_false(locks_crowded(&node[0].locks));
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "idle-%u", j);
        want(1, name, 0);
        settle();
        assert_true(granted(1) > 0);
        assert_true(session_unlock(client[1], name, strlen(name), 0));
        settle();
    }
    assert_true(locks_crowded(&node[1].locks));
    install_all(2);
    assert_false(locks_crowded(&node[1].locks)); /* they are about to be forgotten */
    settle();
    assert_int_equal(node[1].locks.count, 0);
    assert_int_equal(node[0].locks.count, SOME);
    assert_int_equal(client[0]->held, SOME);
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_false(locks_crowded(&node[k].locks));
    stop();
}

/* ------------------------------------------------------------------------------------------- many held locks, in pieces */

enum { PIECE = 10 };

/* How many clients hold a lock at this member, by its own count; and how many events it has for them, which are taken. */
static size_t holds(uint32_t k)
{
    return node[k].locks.held_count;
}

static unsigned losses(uint32_t k)
{
    struct node_event e;
    unsigned count = 0;

    while (node_next(&node[k], &e))
        count += e.state == CLAIM_LOST;
    return count;
}

/* In each turn a piece is let go. Another client gets a lock as soon as its piece is done, and a client with few locks does not
 * wait for one with many. */
static void a_session_with_many_locks_ends_in_pieces(void **state)
{
    struct session *small;
    char line[256];
    struct dme_text why;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    small = session_open(&node[0], NULL);
    dme_text_init(&why, line, sizeof line);
    assert_null(session_lock(small, &(struct session_wish){.name = "s", .name_len = 1, .wait_ms = 1}, &why));
    settle();
    assert_true(granted(0) > 0);
    want(1, "some-99", 0);
    settle();
    session_close(client[0]);
    assert_int_equal(holds(0), SOME - PIECE + 1);
    session_close(small);
    assert_int_equal(holds(0), SOME - PIECE);
    for (size_t before = holds(0); before; before = holds(0)) {
        assert_int_equal(granted(1), 0);
        assert_int_equal(node_due_ms(&node[0]), node[0].now_ms + 1);
        node_pump(&node[0]);
        assert_true(before - holds(0) <= PIECE && before > holds(0));
    }
    assert_true(ring_empty(&node[0].sessions));
    settle();
    assert_true(granted(1) > 0);
    client[0] = session_open(&node[0], NULL);
    stop();
}

/* A connection that has broken leaves what was vouched for behind; that ends in pieces, too. */
static void what_a_broken_session_leaves_is_let_go_in_pieces(void **state)
{
    uint64_t over_ms;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    assert_true(session_confirm(client[0]) > 0);
    over_ms = client[0]->vouched_ms;
    session_break(client[0]);
    assert_int_equal(node[0].locks.lingering, PIECE);
    while (node[0].locks.lingering < SOME) {
        size_t before = node[0].locks.lingering;

        node_pump(&node[0]);
        assert_true(node[0].locks.lingering - before <= PIECE && node[0].locks.lingering > before);
        assert_int_equal(holds(0), SOME);
    }
    assert_int_equal(node[0].losses, SOME);
    for (size_t before = holds(0); before; before = holds(0)) {
        node_advance(&node[0], over_ms);
        assert_true(before - holds(0) <= PIECE && before > holds(0));
    }
    assert_true(ring_empty(&node[0].sessions));
    client[0] = session_open(&node[0], NULL);
    stop();
}

/* Locks whose TTL ends at the same time. */
static void locks_of_one_deadline_are_lost_in_pieces(void **state)
{
    char line[256];
    struct dme_text why;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    dme_text_init(&why, line, sizeof line);
    for (unsigned j = 0; j < SOME; j++) {
        char name[24];

        snprintf(name, sizeof name, "t-%u", j);
        assert_null(session_lock(
            client[0],
            &(struct session_wish){.name = name, .name_len = strlen(name), .wait_ms = SESSION_FOREVER, .ttl_ms = 5},
            &why));
        settle();
        assert_true(granted(0) > 0);
    }
    for (unsigned told = 0; told < SOME; told += PIECE) {
        node_advance(&node[0], 5);
        assert_int_equal(losses(0), PIECE);
    }
    assert_int_equal(client[0]->held, 0);
    assert_int_equal(node_due_ms(&node[0]), UINT64_MAX);
    stop();
}

/* A member that may grant no more takes its clients' locks away in pieces. Before the last one it grants nothing and vouches
 * for nothing, even if it is allowed to grant again; nor does it say that it has given up its locks. */
static void what_a_member_may_not_grant_any_more_is_lost_in_pieces(void **state)
{
    unsigned told = PIECE;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    want(0, "next", 0);
    locks_set_grants(&node[0].locks, false, LOSS_NO_MAJORITY);
    assert_int_equal(losses(0), PIECE);
    while (told < SOME) {
        unsigned now;

        assert_false(locks_gave_up(&node[0].locks));
        assert_int_equal(session_confirm(client[0]), 0);
        lease_refresh(&node[0]); /* it may grant again */
        assert_false(node[0].locks.grants);
        assert_true(node_due_ms(&node[0]) <= node[0].now_ms + 1);
        node_pump(&node[0]);
        now = losses(0);
        assert_int_equal(now, PIECE);
        told += now;
    }
    assert_true(locks_gave_up(&node[0].locks));
    assert_int_equal(holds(0), 0);
    assert_true(node_due_ms(&node[0]) <= node[0].now_ms + 1);
    node_advance(&node[0], 1);
    assert_true(node[0].locks.grants);
    settle();
    assert_true(granted(0) > 0);
    stop();
}

/* A client that CONFIRM has told of no majority knows that its locks are lost, and may ask for one again before the member has
 * taken it away. */
static void a_lock_that_is_about_to_be_lost_can_be_asked_for_again(void **state)
{
    unsigned told;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    locks_set_grants(&node[0].locks, false, LOSS_NO_MAJORITY);
    told = losses(0);
    assert_int_equal(session_confirm(client[0]), 0);
    want(0, "some-0", 0);
    while (!locks_gave_up(&node[0].locks)) {
        node_pump(&node[0]);
        told += losses(0);
    }
    assert_int_equal(told + losses(0), SOME);
    node_advance(&node[0], 1);
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
    start(&(struct node_conf){.piece = PIECE});
    take_some(0, SOME);
    assert_true(session_confirm(client[0]) > 0);
    view = node[0].view;
    view.number++;
    view.member[0].incarnation = 0;
    node_install(&node[0], &view);
    told = losses(0);
    assert_true(told && told <= 2 * PIECE); /* by the lease, and by the view */
    node_pump(&node[0]);
    told += losses(0);
    assert_true(told < SOME && holds(0) > 0);
    view.number++;
    view.member[0].incarnation = node[0].self.incarnation; /* as another process, with connections of its own */
    for (uint32_t k = 0; k < MEMBERS; k++)
        node_install(&node[k], &view);
    for (uint32_t k = 1; k < MEMBERS; k++) {
        link_disconnected(&node[0].member[k]->link);
        link_disconnected(&node[k].member[0]->link);
        link_connected(&node[0].member[k]->link);
        link_connected(&node[k].member[0]->link);
    }
    told += losses(0);
    assert_true(holds(0) > 0); /* the view has begun, and this member has yet to lose the rest */
    for (size_t before = holds(0); before; before = holds(0)) {
        assert_false(node[0].locks.told);
        assert_int_equal(session_confirm(client[0]), 0);
        node_pump(&node[0]);
        assert_true(before > holds(0) && before - holds(0) <= PIECE);
    }
    told += losses(0);
    settle();
    assert_int_equal(told, SOME);
    want(1, "some-99", 0);
    settle();
    assert_true(granted(1) > 0);
    stop();
}

/* As many clients of the first member request the lock. */
static void come_many(struct session *many[SOME], uint32_t mode)
{
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    for (unsigned j = 0; j < SOME; j++) {
        many[j] = session_open(&node[0], NULL);
        assert_null(session_lock(
            many[j], &(struct session_wish){.name = "x", .name_len = 1, .mode = mode, .wait_ms = SESSION_FOREVER},
            &why));
    }
}

static void go_many(struct session *many[SOME])
{
    for (unsigned j = 0; j < SOME; j++)
        session_close(many[j]);
}

/* Clients that can share a lock are granted it together, though a client between them cannot share it: in pieces. An operator
 * takes it away from them in pieces, too. */
static void many_clients_share_a_lock_in_pieces(void **state)
{
    struct session *many[SOME], *writer;
    struct node_event e;
    char line[256];
    struct dme_text why;

    (void)state;
    start(&(struct node_conf){.piece = PIECE, .algorithm = alg_find("swaroop-singh")});
    want(1, "x", 0);
    settle();
    assert_true(granted(1) > 0);
    dme_text_init(&why, line, sizeof line);
    come_many(many, LOCK_SHARED);
    session_close(many[SOME / 2]);
    many[SOME / 2] = session_open(&node[0], NULL);
    writer = session_open(&node[0], NULL);
    assert_null(
        session_lock(writer, &(struct session_wish){.name = "x", .name_len = 1, .wait_ms = SESSION_FOREVER}, &why));
    assert_null(session_lock(
        many[SOME / 2],
        &(struct session_wish){.name = "x", .name_len = 1, .mode = LOCK_SHARED, .wait_ms = SESSION_FOREVER}, &why));
    assert_true(session_unlock(client[1], "x", 1, 0));
    for (unsigned turns = 0; holds(0) < SOME; turns++) {
        size_t before = holds(0);

        assert_true(turns < 10 * SOME);
        if (carry(0, 1) + carry(0, 2) + carry(1, 0) + carry(2, 0) == 0) {
            assert_int_equal(node_due_ms(&node[0]), node[0].now_ms + 1);
            node_pump(&node[0]);
        }
        assert_true(holds(0) - before <= 4 * PIECE); /* of two turns, each with what was left of the one before */
    }
    while (node_next(&node[0], &e))
        assert_int_equal(e.state, CLAIM_HELD);
    assert_int_equal(session_evict(&node[0], "x", 1, UINT64_MAX, "test"), SOME);
    assert_int_equal(losses(0), PIECE);
    for (unsigned told = PIECE; told < SOME; told += PIECE) {
        node_pump(&node[0]);
        assert_int_equal(losses(0), PIECE);
    }
    settle();
    assert_int_equal(writer->held, 1);
    session_close(writer);
    go_many(many);
    stop();
}

/* Clients that wait at a member that is removed are told so in pieces. */
static void clients_of_a_removed_member_are_sent_away_in_pieces(void **state)
{
    struct session *many[SOME];
    struct node_event e;
    struct view view;
    unsigned told = 0;

    (void)state;
    start(&(struct node_conf){.piece = PIECE});
    want(1, "x", 0);
    settle();
    assert_true(granted(1) > 0);
    come_many(many, LOCK_ALONE);
    view = node[0].view;
    view.number++;
    view.member[0].incarnation = 0;
    view.member[0].standing = VIEW_REMOVED;
    node_install(&node[0], &view);
    for (unsigned turns = 0; told < SOME; turns++, node_pump(&node[0])) {
        unsigned now = 0;

        while (node_next(&node[0], &e))
            now += e.state == CLAIM_TIMED_OUT;
        assert_true(turns <= SOME && now <= PIECE);
        told += now;
        assert_true(told == SOME || node_due_ms(&node[0]) <= node[0].now_ms + 1);
    }
    go_many(many);
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
    start(&(struct node_conf){0});
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
            node_pump(&node[k]);
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

static void a_digest_that_cannot_be_is_refused(void **state)
{
    const uint8_t bad[][9] = {{LETTER_DIGEST, 0, 0, 0, 0, 1}, {LETTER_DIGEST, 12, 0, 0, 0, 1, 1},
                              {LETTER_DIGEST, 8, 0, 0, 0},    {LETTER_DIGEST, 8, 0, 0, 0, 1, 1},
                              {LETTER_DIGEST, 8, 0, 0},       {LETTER_DIGEST, 0, 0, 0, 255, 1}};
    const size_t len[] = {6, 7, 5, 7, 4, 6};
    const uint8_t half[] = {LETTER_DIGEST, 16, 0, 0, 0, 1}, other[] = {LETTER_DIGEST, 24, 0, 0, 0, 1};
    struct locks *l = &node[0].locks;

    (void)state;
    start(&(struct node_conf){0});
    for (unsigned k = 0; k < sizeof len / sizeof len[0]; k++)
        assert_non_null(locks_hear_digest(l, 1, bad[k], len[k]));
    assert_true(locks_has_digest(l, 1));
    assert_null(locks_hear_digest(l, 1, half, sizeof half));
    assert_false(locks_has_digest(l, 1));
    assert_non_null(locks_hear_digest(l, 1, other, sizeof other));
    assert_null(locks_hear_digest(l, 1, half, sizeof half));
    assert_true(locks_has_digest(l, 1));
    assert_non_null(locks_hear_digest(l, 1, half, sizeof half));
    stop();
}

/* A client that knows the hash chooses names with the same low bits. A secret spreads them (I31). */
static void names_that_a_client_has_chosen_do_not_share_a_place(void **state)
{
    enum { CHOSEN = 1000, BITS = 1023, FEW = 16 };
    struct locks *l = &node[0].locks;

    (void)state;
    start(&(struct node_conf){.secret = 0x9e3779b97f4a7c15});
    for (unsigned n = 0, found = 0; found < CHOSEN; n++) {
        static char name[LOCK_NAME_MAX + 1];
        size_t len = (size_t)snprintf(name, sizeof name, "n%u", n);

        if ((XXH3_64bits(name, len) & BITS) == 7) {
            names_add(l, name, len);
            found++;
        }
    }
    for (size_t k = 0; k < l->room; k++) {
        unsigned length = 0;

        for (const struct lock *lock = l->table[k]; lock; lock = lock->next)
            length++;
        assert_true(length <= FEW);
    }
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_of_a_former_view_is_held_until_it_is_released),
        cmocka_unit_test(what_nobody_else_wants_is_not_told),
        cmocka_unit_test(a_name_that_a_digest_affirms_in_vain_is_granted),
        cmocka_unit_test(nothing_is_granted_before_all_digests_are_there),
        cmocka_unit_test(a_lock_of_a_former_view_keeps_its_kind_while_it_is_held),
        cmocka_unit_test(the_home_asks_old_holders_before_it_says_the_kind),
        cmocka_unit_test(a_table_that_grows_finds_all_names),
        cmocka_unit_test(a_long_letter_is_read_before_its_buffer_is_given_back),
        cmocka_unit_test(clients_that_wait_are_served_in_pieces),
        cmocka_unit_test(names_in_use_do_not_crowd),
        cmocka_unit_test(a_session_with_many_locks_ends_in_pieces),
        cmocka_unit_test(what_a_broken_session_leaves_is_let_go_in_pieces),
        cmocka_unit_test(locks_of_one_deadline_are_lost_in_pieces),
        cmocka_unit_test(what_a_member_may_not_grant_any_more_is_lost_in_pieces),
        cmocka_unit_test(a_lock_that_is_about_to_be_lost_can_be_asked_for_again),
        cmocka_unit_test(an_excluded_member_loses_its_locks_in_pieces),
        cmocka_unit_test(many_clients_share_a_lock_in_pieces),
        cmocka_unit_test(clients_of_a_removed_member_are_sent_away_in_pieces),
        cmocka_unit_test(a_member_is_removed_while_names_are_forgotten_in_pieces),
        cmocka_unit_test(a_digest_that_cannot_be_is_refused),
        cmocka_unit_test(names_that_a_client_has_chosen_do_not_share_a_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
