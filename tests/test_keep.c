/* Kept sessions among members (node/keep.h): what is known where before a client is told, and what becomes of a session when its
 * connection, its member or the view goes. Views are installed by hand. */
#include "test.h"

#include "alg/list.h"
#include "command/client.h"
#include "members.h"
#include "node/inside.h"
#include "node/keep_inside.h"
#include "step/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, CLIENTS = 6 };

static const char *const member_names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static bool runs[MEMBERS];
static struct client *client[CLIENTS]; /* client k is at member k % MEMBERS */
static struct view now_view;
static uint64_t dice, now_ms;
static char id[33];
static uint32_t piece; /* of the members that start */

static uint64_t chance(void *user)
{
    (void)user;
    return test_random(&dice);
}

static void come(unsigned k)
{
    client[k] = client_open(&node[k % MEMBERS], NULL);
    client[k]->session->user = client[k];
}

static void start_member(unsigned i, uint64_t incarnation)
{
    struct node_conf conf = {.summary = "same",
                             .algorithm = alg_find("suzuki-kasami"),
                             .slots_algorithm = alg_find("central"),
                             .incarnation = incarnation,
                             .piece = piece,
                             .random = chance};

    members_start(&node[i], conf, member_names, MEMBERS, i);
    node_advance(&node[i], now_ms);
    runs[i] = true;
}

static void connect_all(unsigned i)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        if (k != i && runs[k]) {
            link_connected(&node[i].member[k]->link);
            link_connected(&node[k].member[i]->link);
        }
}

static void hear(unsigned i)
{
    struct node_event e;

    while (node_next(&node[i], &e)) {
        struct client *c = e.session->user;

        client_hear(c, &e);
        client_run(c);
    }
}

static size_t carry(unsigned from, unsigned to)
{
    struct link *out = &node[from].member[to]->link;
    size_t len;
    const uint8_t *bytes = link_output(out, &len);

    if (len) {
        link_input(&node[to].member[from]->link, bytes, len);
        link_wrote(out, len);
        node_pump(&node[to]);
        hear(to);
    }
    assert_false(node[to].member[from]->link.banned);
    return len;
}

/* Until there is nothing left to say or to do. */
static void settle(void)
{
    size_t done = 1;

    while (done) {
        done = 0;
        for (unsigned i = 0; i < MEMBERS; i++) {
            if (!runs[i])
                continue;
            if (node_is_busy(&node[i]))
                done++;
            node_pump(&node[i]);
            hear(i);
            for (unsigned k = 0; k < MEMBERS; k++)
                done += i != k && runs[k] ? carry(i, k) : 0;
        }
    }
}

static void pass(uint64_t ms)
{
    now_ms += ms;
    for (unsigned i = 0; i < MEMBERS; i++)
        if (runs[i])
            node_advance(&node[i], now_ms);
    settle();
}

static void start(void)
{
    dice = now_ms = 1;
    for (unsigned i = 0; i < MEMBERS; i++)
        start_member(i, i + 1);
    now_view = node[0].view;
    for (unsigned i = 0; i < MEMBERS; i++)
        for (unsigned k = 0; k < i; k++) {
            link_connected(&node[i].member[k]->link);
            link_connected(&node[k].member[i]->link);
        }
    for (unsigned k = 0; k < CLIENTS; k++)
        come(k);
    settle();
}

static void go(unsigned k)
{
    if (client[k])
        client_close(client[k]);
    client[k] = NULL;
}

static void kill_member(unsigned i)
{
    for (unsigned k = i; k < CLIENTS; k += MEMBERS)
        go(k);
    node_free(&node[i]);
    runs[i] = false;
    for (unsigned k = 0; k < MEMBERS; k++)
        if (runs[k])
            link_disconnected(&node[k].member[i]->link);
}

static void stop(void)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        if (runs[i])
            kill_member(i);
}

/* The next view, which has those members that run. */
static void install(void)
{
    now_view.number++;
    for (unsigned i = 0; i < MEMBERS; i++) {
        uint64_t incarnation = runs[i] ? node[i].self.incarnation : 0;

        if (incarnation != now_view.member[i].incarnation)
            now_view.member[i].since = now_view.number;
        now_view.member[i].incarnation = incarnation;
    }
    for (unsigned i = 0; i < MEMBERS; i++)
        if (runs[i])
            node_install(&node[i], &now_view);
}

static void say(unsigned k, const char *words)
{
    bytes_consume(&client[k]->out, bytes_len(&client[k]->out));
    client_input(client[k], (const uint8_t *)words, strlen(words));
    client_input(client[k], (const uint8_t *)"\n", 1);
    client_run(client[k]);
    node_pump(&node[k % MEMBERS]);
    hear(k % MEMBERS);
}

/* What it was told since it last said something, and has not been read. */
static const char *said(unsigned k)
{
    static char text[4096];
    struct bytes *out = &client[k]->out;
    size_t len = bytes_len(out);

    assert_true(len < sizeof text);
    memcpy(text, len ? out->at + out->start : (const uint8_t *)"", len);
    text[len] = '\0';
    bytes_consume(out, len);
    return text;
}

static void keep(unsigned k, const char *words)
{
    const char *answer;

    say(k, words);
    answer = said(k);
    assert_int_equal(strncmp(answer, "$32\r\n", 5), 0);
    memcpy(id, answer + 5, 32);
}

static void resume(unsigned k)
{
    char words[80];

    snprintf(words, sizeof words, "SESSION RESUME %s", id);
    say(k, words);
}

/* The fence in the answer to a LOCK, or of the first lock of RESUMED. */
static uint64_t fence_of(const char *answer)
{
    const char *at = strchr(answer, ':');

    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* A kept session of this client holds x. */
static uint64_t hold(unsigned k)
{
    uint64_t fence;

    keep(k, "SESSION KEEP 10000");
    say(k, "LOCK x");
    settle();
    fence = fence_of(said(k));
    assert_true(fence > 0);
    return fence;
}

/* Client k gets x, now that it is free. */
static void assert_free(unsigned k, uint64_t fence)
{
    settle();
    assert_true(fence_of(said(k)) > fence);
}

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
    assert_string_equal(said(2), "+OK\r\n");
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
    client_break(client[0]);
    say(1, "LOCK x");
    settle();
    assert_string_equal(said(1), "");
    come(0);
    resume(0);
    assert_int_equal(fence_of(said(0)), fence);
    say(0, "QUIT"); /* the session ends with it */
    assert_true(client[0]->goodbye);
    go(0);
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
    assert_true(client[0]->closing);
    assert_true(keep_wants_view(&node[0]));
    assert_string_equal(said(1), "");
    install();
    settle();
    assert_int_equal(strncmp(said(1), "*5\r\n$7\r\nRESUMED\r\n", 16), 0);
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

/* What was vouched for to the first connection must be over before the second one is told anything. */
static void the_later_connection_waits_until_the_earlier_believes_in_nothing(void **state)
{
    (void)state;
    start();
    hold(0);
    client[0]->session->remote = true;
    say(0, "CONFIRM");
    assert_int_equal(said(0)[0], ':'); /* ten seconds */
    resume(3);
    settle();
    assert_true(client[0]->closing);
    client_break(client[0]);
    client[0] = NULL;
    pass(5000);
    assert_string_equal(said(3), "");
    pass(7000);
    assert_non_null(strstr(said(3), "RESUMED"));
    say(3, "CONFIRM");
    come(0);
    resume(0);
    assert_true(client[3]->closing);
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
    assert_string_equal(said(0), "+OK\r\n");
    while (carry(0, 1) + carry(1, 0)) /* cat does not know */
        ;
    assert_string_equal(said(1), "");
    settle();
    assert_true(fence_of(said(1)) > 0);
    stop();
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
    start_member(1, 10);
    node[1].view = now_view;
    connect_all(1);
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
    start_member(2, 10);
    node[2].view = now_view;
    connect_all(2);
    install();
    settle();
    assert_int_equal(fence_of(said(1)), fence);
    say(1, "UNLOCK x");
    settle();
    assert_int_equal(node[2].keep.records, 0);
    assert_int_equal(node[0].keep.records, 0);
    stop();
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
        node_install(&node[i], &now_view);
    settle();
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, 1);
    now_view.number++;
    now_view.member[0].incarnation = node[0].self.incarnation;
    now_view.member[0].since = now_view.number;
    for (unsigned i = 0; i < MEMBERS; i++)
        node_install(&node[i], &now_view);
    settle();
    assert_true(client[0]->closing);
    assert_int_equal(node[0].keep.claims, 0);
    assert_int_equal(node[1].keep.claims + node[2].keep.claims, 1);
    resume(3);
    settle();
    assert_true(keep_wants_view(&node[1]) || keep_wants_view(&node[2]));
    now_view.number++;
    for (unsigned i = 0; i < MEMBERS; i++)
        node_install(&node[i], &now_view);
    settle();
    assert_int_equal(fence_of(said(3)), fence);
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
    assert_string_equal(said(1), "+OK\r\n");
    settle();
    say(2, "LOCK x");
    assert_free(2, 1);
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
    client_break(client[0]);
    client[0] = NULL;
    say(2, "LOCK y");
    settle();
    client[5]->operates = true;
    say(5, "FORCE-UNLOCK y");
    settle();
    assert_free(2, 1);
    come(0);
    resume(0);
    assert_string_equal(said(0), "*1\r\n$7\r\nRESUMED\r\n");
    stop();
}

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
        assert_string_equal(said(0), "+OK\r\n");
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

/* A client changes a TTL again and again while the others hear nothing: they get two letters about it, and the last has the last
 * TTL (I19). */
static void a_ttl_that_changes_again_and_again_is_told_once(void **state)
{
    size_t before;
    uint64_t fence;
    char line[32];

    (void)state;
    start();
    keep(0, "SESSION KEEP 60000");
    say(0, "LOCK x TTL 30000");
    settle();
    fence = fence_of(said(0));
    before = bytes_len(&node[0].member[2]->link.keep);
    for (unsigned k = 1; k <= 100; k++) {
        snprintf(line, sizeof line, "RENEW x TTL %u", 30000 + k);
        say(0, line);
        assert_string_equal(said(0), "+OK\r\n");
    }
    assert_true(bytes_len(&node[0].member[2]->link.keep) < before + 300);
    settle();
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_int_equal(ttl_known_to(i, client[0]->session->kept, fence), 30100);
    say(0, "RENEW x TTL 40000");
    say(0, "RENEW x TTL 50000");
    say(0, "UNLOCK x");
    settle();
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
        struct client *c = client_open(&node[0], NULL);

        if (k == 10)
            assert_int_equal(node[0].keep.own_count, 11);
        client_input(c, (const uint8_t *)words, sizeof words - 1);
        client_run(c);
        assert_true(c->closing);
        client_close(c);
    }
    settle();
    assert_true(node[0].keep.own_count <= KEEP_MANY);
    assert_non_null(client[0]->session->kept);
    assert_int_equal(client[0]->session->held, 1);
    stop();
}

/* A view that begins before the former one has opened: owners that were chosen there are chosen again, by all alike. */
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
        found += runs[i] ? node[i].keep.claims : 0;
    assert_int_equal(found, claims);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(!runs[i] || node[i].keep.records + node[i].keep.claims == claims);
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
            assert_string_equal(said(owner), "+OK\r\n");
        }
        start_member(0, 10);
        node[0].view = now_view;
        connect_all(0);
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

/* ------------------------------------------------------------------------------------------------ many sessions, in pieces */

enum { MANY = 40, EACH = 3, PIECE = 5, MOST = PIECE + EACH, LETTER = 120 /* bytes at most, of these locks */ };

static char ids[MANY][33];
static struct client *many[MANY];

/* As many clients of ant hold EACH locks in kept sessions. */
static void hold_many(void)
{
    piece = PIECE;
    start();
    piece = 0;
    for (unsigned j = 0; j < MANY; j++) {
        struct client *before = client[0];

        come(0);
        keep(0, "SESSION KEEP 10000");
        memcpy(ids[j], id, sizeof id);
        for (unsigned x = 0; x < EACH; x++) {
            char words[32];

            snprintf(words, sizeof words, "LOCK m-%u-%u", j, x);
            say(0, words);
            settle();
            assert_true(fence_of(said(0)) > 0);
        }
        many[j] = client[0];
        client[0] = before;
    }
    assert_int_equal(node[0].keep.claims, MANY * EACH);
    assert_int_equal(node[1].keep.records, MANY * EACH);
}

static void kill_many(void)
{
    for (unsigned j = 0; j < MANY; j++)
        client_close(many[j]); /* its session is kept */
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
        size_t claims = k->claims, records = k->records, bytes = bytes_len(&node[i].member[3 - i]->link.keep);

        assert_int_equal(node_due_ms(&node[i]), now_ms + 1);
        node_pump(&node[i]);
        hear(i);
        assert_piece(claims, k->claims);
        assert_piece(records, k->records);
        assert_true(bytes_len(&node[i].member[3 - i]->link.keep) - bytes <= MOST * LETTER);
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
        size_t bytes = bytes_len(&node[i].member[3 - i]->link.keep);

        node_install(&node[i], &now_view);
        assert_true(bytes_len(&node[i].member[3 - i]->link.keep) - bytes <= MOST * LETTER);
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
    start_member(2, 10);
    node[2].view = now_view;
    connect_all(2);
    now_view.number++;
    now_view.member[2].incarnation = node[2].self.incarnation;
    for (unsigned i = 0; i < MEMBERS; i++)
        node_install(&node[i], &now_view);
    out = &node[0].member[2]->link.keep;
    assert_true(bytes_len(out) <= 2 * MOST * LETTER);
    assert_int_equal(node[0].keep.phase, KEEP_TELLS);
    client_input(many[0], (const uint8_t *)"UNLOCK m-0-0\n", 13);
    client_run(many[0]);
    for (unsigned k = 0; k < 4; k++) {
        carry(0, 2);
        carry(2, 0);
    }
    assert_int_equal(node[0].keep.phase, KEEP_TELLS);
    assert_true(node[2].keep.records > 0 && node[2].member[0]->keep.seen > 0);
    while (node_is_busy(&node[1]))
        node_pump(&node[1]);
    carry(1, 0);
    while (node_is_busy(&node[0])) {
        size_t bytes = bytes_len(out);

        node_pump(&node[0]);
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

/* A view that begins before the walk of the former one has ended: what was visited is as well kept as what was not. */
static void a_view_may_begin_amid_any_piece(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 40; steps++) {
        hold_many();
        kill_many();
        install();
        for (unsigned k = 0; k < steps; k++) {
            carry(1 + k % 2, 2 - k % 2);
            node_pump(&node[1 + k % 2]);
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

/* ant has been excluded, and forgets its sessions in pieces; also if it is let in again at once. In between it has nothing to
 * tell; and what it has forgotten is another member's. */
static void an_excluded_member_forgets_in_pieces(void **state)
{
    (void)state;
    hold_many();
    now_view.number++;
    now_view.member[0].incarnation = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        node_install(&node[i], &now_view);
    hear(0);
    for (unsigned j = 0; j < MANY; j++)
        assert_true(many[j]->closing);
    assert_true(node[0].locks.held_count >= MANY * EACH - MOST);
    now_view.number++;
    now_view.member[0].incarnation = node[0].self.incarnation;
    now_view.member[0].since = now_view.number;
    for (unsigned k = 1; k < MEMBERS; k++) {
        link_disconnected(&node[0].member[k]->link);
        link_disconnected(&node[k].member[0]->link);
    }
    connect_all(0);
    node_install(&node[0], &now_view);
    for (size_t held = node[0].locks.held_count; held; held = node[0].locks.held_count) {
        assert_int_equal(node_due_ms(&node[0]), now_ms + 1);
        assert_int_equal(node[0].keep.phase, KEEP_TELLS);
        node_pump(&node[0]);
        assert_true(node[0].locks.held_count < held);
        assert_piece(held, node[0].locks.held_count);
    }
    node_install(&node[1], &now_view);
    node_install(&node[2], &now_view);
    settle();
    assert_true(node_is_open(&node[0]));
    assert_int_equal(node[0].keep.claims + node[1].keep.claims + node[2].keep.claims, MANY * EACH);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_int_equal(node[i].keep.claims + node[i].keep.records, MANY * EACH);
    kill_many();
    stop();
}

/* Many clients resume, and many sessions end at the same time: in pieces. */
static void sessions_are_looked_at_in_pieces(void **state)
{
    size_t claims;

    (void)state;
    hold_many();
    for (unsigned j = 0; j < MANY; j++)
        client_close(many[j]);
    now_ms += 12000;
    for (claims = node[0].keep.claims; claims; claims = node[0].keep.claims) {
        node_advance(&node[0], now_ms);
        assert_piece(claims, node[0].keep.claims);
        assert_true(node[0].keep.claims < claims);
        assert_true(node[0].keep.claims == 0 || node_due_ms(&node[0]) <= now_ms + 1);
    }
    settle();
    assert_int_equal(node[1].keep.records, 0);
    assert_int_equal(node[0].locks.held_count, 0);
    stop();
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
        cmocka_unit_test(a_member_that_comes_is_told_all),
        cmocka_unit_test(a_member_that_comes_is_told_of_moves),
        cmocka_unit_test(a_member_that_was_excluded_unawares_owns_nothing),
        cmocka_unit_test(what_a_client_may_ask),
        cmocka_unit_test(the_end_of_time_and_force_end_what_is_kept),
        cmocka_unit_test(a_renewed_ttl_is_known_to_the_next_owner),
        cmocka_unit_test(views_that_do_not_open_lose_nothing),
        cmocka_unit_test(a_member_that_comes_is_told_what_is_held_and_not_what_was_released),
        cmocka_unit_test(records_are_reported_and_adopted_in_pieces),
        cmocka_unit_test(a_member_that_comes_is_told_in_pieces),
        cmocka_unit_test(a_view_may_begin_amid_any_piece),
        cmocka_unit_test(an_excluded_member_forgets_in_pieces),
        cmocka_unit_test(sessions_are_looked_at_in_pieces),
        cmocka_unit_test(a_ttl_that_changes_again_and_again_is_told_once),
        cmocka_unit_test(sessions_that_hold_nothing_do_not_stay_when_there_are_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
