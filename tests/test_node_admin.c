/* Three members, and what they tell each other about their clients.
 * Invariants: I22, I31. */
#include "test.h"

#include "alg/list.h"
#include "cluster.h"
#include "link/registry.h"
#include "node/metrics.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS = 3 };

static struct node node[MEMBERS];
static struct cluster all = {.n = MEMBERS, .node = node};
static struct cluster_client user[MEMBERS]; /* one at each */
static bool cut[MEMBERS];                   /* its connections are broken, though it does not know it yet */

static struct link *link_to(unsigned k, unsigned j)
{
    struct member *m = cluster_member(&all, k, j);

    return m ? &m->link : NULL;
}

/* Whatever the members have to say arrives, and clients are told, until nothing happens any more. */
static void settle(void)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        cluster_tell(&all, k, (struct node_input){.type = NODE_TIME});
    do
        for (unsigned k = 0; k < MEMBERS; k++)
            for (unsigned j = 0; j < MEMBERS; j++)
                if (cut[k] || cut[j])
                    bytes_free(&all.pipe[k][j]);
    while (cluster_carry_all(&all));
}

static int start(void **state)
{
    static const char *const names[] = {"ant", "bee", "cat"};

    (void)state;
    for (uint32_t k = 0; k < MEMBERS; k++) {
        members_start(
            &node[k],
            (struct node_conf){.summary = "", .algorithm = alg_find("central"), .slots_algorithm = alg_find("central")},
            names, MEMBERS, k);
        cluster_come(&all, &user[k], k);
        cut[k] = false;
    }
    cluster_connect_all(&all);
    settle();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cluster_end(&all);
    for (unsigned k = 0; k < MEMBERS; k++)
        bytes_free(&user[k].heard);
    return 0;
}

/* What a client is told from now on, \r\n as ' '. */
static const char *hear(unsigned k)
{
    return cluster_heard(&user[k]);
}

static void say(unsigned k, const char *line)
{
    cluster_say(&all, &user[k], line);
    settle();
}

static void pass_time(uint64_t now_ms)
{
    cluster_pass(&all, now_ms);
    settle();
}

static void holders_and_waiters_of_all_members_are_shown(void **state)
{
    (void)state;
    say(1, "CLIENT SETNAME bob\nLOCK x\n");
    say(2, "LOCK x\n");
    say(0, "HOLDERS x\n");
    assert_non_null(strstr(
        hear(0), "*1 *20 $6 member $3 bee $6 client :1 $3 who $3 bob $4 from $0  $4 mode $9 exclusive $5 fence"));
    say(0, "WAITERS x\n");
    assert_string_equal(hear(0), "*1 *14 $6 member $3 cat $6 client :1 $3 who $0  $4 from $0  $4 mode $9 exclusive $8 "
                                 "priority :0 $6 age_ms :0 ");
}

/* The reply to LOCKS x USED with this cursor; the next cursor. */
static const char *used(unsigned long long *cursor)
{
    char line[64];
    const char *text;

    snprintf(line, sizeof line, "LOCKS ? USED CURSOR %llu\n", *cursor);
    say(0, line);
    text = hear(0);
    assert_int_equal(sscanf(text, "*2 :%llu ", cursor), 1);
    return strstr(text + 4, "*");
}

static void locks_in_use_are_shown_with_their_ages(void **state)
{
    unsigned long long cursor = 0;

    (void)state;
    say(1, "LOCK x\n");
    say(0, "LOCK y\n");
    say(0, "UNLOCK y\n");
    hear(0);
    pass_time(20);
    say(2, "LOCK x\n");
    pass_time(50);
    assert_string_equal(used(&cursor), "*0 "); /* of ant: y is not in use */
    assert_non_null(strstr(used(&cursor), "*1 *16 $6 member $3 bee $4 name $1 x "));
    cursor = 0;
    used(&cursor);
    assert_non_null(strstr(used(&cursor), "$7 holders :1 $7 waiters :0 $7 wait_ms :0 $7 hold_ms :50 "));
    assert_non_null(strstr(used(&cursor), "$7 holders :0 $7 waiters :1 $7 wait_ms :30 $7 hold_ms :0 "));
    assert_int_equal(cursor, 0);
}

static void locks_come_page_by_page_and_member_by_member(void **state)
{
    char line[64] = "LOCKS lock-* CURSOR 0\n";
    unsigned long long cursor = 0;
    unsigned pages = 0, at_bee = 0;

    (void)state;
    for (unsigned k = 0; k < 300; k++) {
        char ask[32];

        snprintf(ask, sizeof ask, "LOCK lock-%03u\n", k);
        say(1, ask);
    }
    do {
        const char *text;

        snprintf(line, sizeof line, "LOCKS lock-* CURSOR %llu\n", cursor);
        say(0, line);
        text = hear(0);
        assert_int_equal(sscanf(text, "*2 :%llu ", &cursor), 1);
        for (; (text = strstr(text, "member $3 bee")); text++)
            at_bee++;
        pages++;
    } while (cursor && pages < 100);
    assert_int_equal(cursor, 0);
    assert_in_range(pages, MEMBERS, 99);
    assert_int_equal(at_bee, 300);
}

static void force_unlock_evicts_at_every_member(void **state)
{
    (void)state;
    say(1, "HELLO 3\n");
    say(2, "HELLO 3\n");
    say(1, "LOCK x SHARED\n");
    say(2, "LOCK x SHARED\n");
    hear(1);
    hear(2);
    memcpy(user[0].end->session->from, "10.0.0.9", 9);
    say(0, "FORCE-UNLOCK x\n");
    assert_memory_equal(hear(0), "*2 *20 $6 member $3 bee", 23);
    assert_memory_equal(hear(1), ">4 $4 lost $1 x", 15);
    assert_non_null(strstr(hear(2), "it was taken away by force-unlock (10.0.0.9, at member ant)"));
    say(0, "HOLDERS x\nPING\n");
    assert_string_equal(hear(0), "*0 +PONG ");
}

/* The next holder, at whatever member, was not meant. */
static void force_unlock_evicts_nobody_who_comes_later(void **state)
{
    (void)state;
    for (unsigned k = 0; k < MEMBERS; k++)
        say(k, "HELLO 3\n");
    say(1, "LOCK x\n");
    say(2, "LOCK x\n");
    for (unsigned k = 0; k < MEMBERS; k++)
        hear(k);
    say(0, "FORCE-UNLOCK x\nLOCK x\n");
    assert_memory_equal(hear(0), "*1 %10 $6 member $3 bee", 23);
    assert_memory_equal(hear(1), ">4 $4 lost $1 x", 15);
    assert_memory_equal(hear(2), "*2 $1 x :", 9);
    assert_string_equal(hear(2), "");
    /* A message that comes late, for a holder of before, does nothing. */
    assert_int_equal(session_evict(&node[2], "x", 1, 1, ""), 0);
}

static void a_member_that_is_not_heard_is_named(void **state)
{
    (void)state;
    cut[2] = true;
    say(0, "HOLDERS x\nPING\n");
    assert_string_equal(hear(0), ""); /* and what comes behind it waits */
    pass_time(QUERY_MS - 1);
    assert_string_equal(hear(0), "");
    assert_int_equal(node_due_ms(&node[0]), QUERY_MS);
    pass_time(QUERY_MS);
    assert_string_equal(hear(0),
                        "*1 *4 $6 member $3 cat $5 error $57 not heard: it is not connected, or did not answer "
                        "in time +PONG ");
    link_disconnected(&node[0].member[2]->link); /* now it is known: no client waits */
    say(0, "HOLDERS x\n");
    assert_memory_equal(hear(0), "*1 *4 $6 member $3 cat $5 error", 31);
}

/* The member of this name is removed from the roster, as this member sees it. */
static void remove_member(unsigned k, const char *name)
{
    struct view view = node[k].view;

    view_remove(&view, view_find_name(&view, name, strlen(name)));
    view.number++;
    node_install(&node[k], &view);
}

static void a_question_outlives_a_roster_that_shrinks(void **state)
{
    (void)state;
    say(1, "LOCK x\n");
    cut[2] = true;
    say(0, "FORCE-UNLOCK x\n");
    remove_member(0, "bee");
    settle();
    assert_string_equal(hear(0), "");
    pass_time(QUERY_MS);
    assert_memory_equal(hear(0), "*2 *4 $6 member $3 bee $5 error", 31);
    say(0, "HOLDERS x\n");
    remove_member(0, "cat"); /* it will not answer any more, and no query waits for it */
    pass_time(QUERY_MS + 1);
    assert_memory_equal(hear(0), "*1 *4 $6 member $3 cat $5 error", 31);
}

/* Cat is at bee's place afterwards. */
static void an_answer_counts_for_the_member_that_gave_it(void **state)
{
    (void)state;
    say(2, "LOCK x SHARED\n");
    cut[1] = cut[2] = true;
    say(0, "HOLDERS x\n");
    remove_member(0, "bee");
    cut[2] = false;
    link_connected(link_to(0, 2));
    link_connected(link_to(2, 0));
    say(0, "");
    pass_time(QUERY_MS);
    assert_memory_equal(hear(0), "*2 *4 $6 member $3 bee $5 error", 31);
}

static void interest_stays_with_the_member_that_has_it(void **state)
{
    (void)state;
    say(2, "SUBSCRIBE x\n");
    hear(2);
    remove_member(0, "bee");
    remove_member(2, "bee");
    say(0, "LOCK x\n");
    assert_non_null(strstr(hear(2), "granted ant 1 "));
}

static void a_client_that_leaves_takes_its_question_with_it(void **state)
{
    (void)state;
    cut[2] = true;
    say(0, "HOLDERS x\n");
    client_close(user[0].end);
    cut[2] = false;
    user[0].end = client_open(&node[0], NULL);
    user[0].end->session->user = user[0].end;
    pass_time(2 * QUERY_MS);
    assert_string_equal(hear(0), "");
}

static void events_of_all_members_are_told(void **state)
{
    (void)state;
    say(0, "SUBSCRIBE x\n");
    hear(0);
    say(1, "LOCK x\n");
    say(1, "LOCK y\n");
    assert_memory_equal(hear(0), "*3 $7 message $1 x", 18);
    assert_string_equal(hear(0), "");
    say(1, "UNLOCK x\n");
    assert_non_null(strstr(hear(0), "released bee 1 "));
    for (unsigned k = 1; k < 20; k++) /* its interest is repeated, else it would be forgotten */
        pass_time(k * 1000);
    say(2, "LOCK x\n");
    assert_non_null(strstr(hear(0), "granted cat 1 "));
    say(0, "UNSUBSCRIBE\n");
    hear(0);
    say(2, "UNLOCK x\n");
    assert_string_equal(hear(0), "");
    assert_int_equal(bytes_len(&node[2].member[0]->interest.list), 0);
}

static void an_event_finds_the_subscriptions_to_its_name(void **state)
{
    const char *text;
    unsigned count = 0;

    (void)state;
    say(0, "HELLO 3\n");
    for (unsigned k = 0; k < 200; k++) {
        char line[64];

        snprintf(line, sizeof line, "SUBSCRIBE other-%u\n", k);
        say(0, line);
    }
    say(0, "SUBSCRIBE build-1\nPSUBSCRIBE build-* *1 deploy-* build-1 b[u]ild-? build-2* ?\n");
    hear(0);
    say(1, "LOCK build-1\n");
    for (text = hear(0); (text = strstr(text, "granted bee")); text++)
        count++;
    assert_int_equal(count, 5); /* the name, and build-* *1 build-1 b[u]ild-? */
    say(0, "PUNSUBSCRIBE *1 build-*\n");
    hear(0);
    say(1, "UNLOCK build-1\n");
    for (count = 0, text = hear(0); (text = strstr(text, "released bee")); text++)
        count++;
    assert_int_equal(count, 3);
}

static void an_event_is_told_as_far_as_the_credit_of_a_turn_goes(void **state)
{
    unsigned turns = 0;

    (void)state;
    say(0, "HELLO 3\n");
    say(0, "PSUBSCRIBE *a*a*a*b *c *\n");
    hear(0);
    node[0].admin.watch.credit = 0;
    all.one_turn = true;
    say(0, "LOCK aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
    assert_memory_equal(hear(0), "*2 ", 3); /* it is granted, however many clients want to know */
    for (; node_wants_turns(&node[0]); turns++) {
        node[0].admin.watch.credit = 1;
        settle();
    }
    all.one_turn = false;
    assert_in_range(turns, 2, 10);
    assert_non_null(strstr(hear(0), "granted ant"));
}

/* A member that was not told for long that a client is interested takes it that none is. */
static void interest_that_is_not_repeated_is_forgotten(void **state)
{
    size_t noted;

    (void)state;
    say(0, "SUBSCRIBE x\n");
    say(1, "LOCK x\nUNLOCK x\n");
    assert_non_null(strstr(hear(0), "released bee"));
    node_step(&node[1], &(struct node_input){.type = NODE_TIME, .now_ms = 60000});
    noted = bytes_len(&node[1].member[0]->link.notes);
    watch_tell(&node[1], WATCH_LOST, &(struct claim){.session = user[1].end->session});
    assert_int_equal(bytes_len(&node[1].member[0]->link.notes), noted);
}

static void what_is_sent_again_is_counted(void **state)
{
    struct bytes text = {0};

    (void)state;
    cut[1] = true;
    *link_send(&node[0].member[1]->link, 1) = 17; /* "that is all that my clients hold", which is lost on its way */
    settle();
    assert_int_equal(node[0].member[1]->link.resent, 0);
    cut[1] = false;
    for (unsigned k = 0; k < MEMBERS; k += 2) {
        link_connected(&node[k].member[1]->link);
        link_connected(&node[1].member[k]->link);
    }
    settle();
    assert_int_equal(node[0].member[1]->link.resent, 1);
    metrics_write(&node[0], &text);
    *bytes_add(&text, 1) = '\0';
    assert_non_null(strstr((char *)text.at, "\ndibs_link_resends_total{member=\"bee\"} 1\n"));
    assert_non_null(strstr((char *)text.at, "\ndibs_link_resends_total{member=\"cat\"} 0\n"));
    bytes_free(&text);
}

/* Heartbeats and agreement go the same way as queries and events, and neither waits for it nor is lost for its sake. */
static void admin_leaves_room_for_heartbeats(void **state)
{
    struct link *link = &node[0].member[1]->link;
    uint8_t answer[1000] = {ADMIN_ANSWER}, beat[1 + 8 * 8 + 1] = {NOTE_BEAT};
    size_t before;

    (void)state;
    for (unsigned k = 0; k < 2000; k++)
        admin_say(&node[0], 1, answer, sizeof answer);
    before = bytes_len(&link->notes);
    assert_in_range(before, ADMIN_MAX / 2, 2 * ADMIN_MAX);
    link_note(link, beat, sizeof beat);
    assert_true(bytes_len(&link->notes) > before);
    bytes_consume(&link->notes, bytes_len(&link->notes));
}

enum { CURIOUS = 20 };

/* Each of these clients of ant asks all members. Returns how many of them are told that cat was not heard. */
static unsigned ask_all(struct cluster_client *curious, uint64_t until_ms)
{
    unsigned count = 0;

    for (unsigned k = 0; k < CURIOUS; k++)
        cluster_say(&all, &curious[k], "HOLDERS x\n");
    assert_int_equal(node[0].member[2]->queries.unanswered, QUERY_WINDOW);
    settle();
    pass_time(until_ms);
    for (unsigned k = 0; k < CURIOUS; k++)
        count += strstr(cluster_heard(&curious[k]), "not heard") != NULL;
    return count;
}

static void few_queries_at_a_time_are_put_to_a_member(void **state)
{
    struct cluster_client curious[CURIOUS] = {0};

    (void)state;
    for (unsigned k = 0; k < CURIOUS; k++)
        cluster_come(&all, &curious[k], 0);
    cut[2] = true;
    assert_int_equal(ask_all(curious, QUERY_MS), CURIOUS);
    cut[2] = false; /* but the answers to the first queries are still expected */
    assert_int_equal(ask_all(curious, 2 * QUERY_MS), CURIOUS);
    assert_int_equal(ask_all(curious, 2 * QUERY_MS), 0);
    assert_int_equal(node[0].member[2]->queries.unanswered, 0);
    for (unsigned k = 0; k < CURIOUS; k++)
        bytes_free(&curious[k].heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(holders_and_waiters_of_all_members_are_shown, start, stop),
        cmocka_unit_test_setup_teardown(locks_in_use_are_shown_with_their_ages, start, stop),
        cmocka_unit_test_setup_teardown(locks_come_page_by_page_and_member_by_member, start, stop),
        cmocka_unit_test_setup_teardown(force_unlock_evicts_at_every_member, start, stop),
        cmocka_unit_test_setup_teardown(force_unlock_evicts_nobody_who_comes_later, start, stop),
        cmocka_unit_test_setup_teardown(a_member_that_is_not_heard_is_named, start, stop),
        cmocka_unit_test_setup_teardown(a_question_outlives_a_roster_that_shrinks, start, stop),
        cmocka_unit_test_setup_teardown(an_answer_counts_for_the_member_that_gave_it, start, stop),
        cmocka_unit_test_setup_teardown(interest_stays_with_the_member_that_has_it, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_leaves_takes_its_question_with_it, start, stop),
        cmocka_unit_test_setup_teardown(events_of_all_members_are_told, start, stop),
        cmocka_unit_test_setup_teardown(an_event_finds_the_subscriptions_to_its_name, start, stop),
        cmocka_unit_test_setup_teardown(an_event_is_told_as_far_as_the_credit_of_a_turn_goes, start, stop),
        cmocka_unit_test_setup_teardown(what_is_sent_again_is_counted, start, stop),
        cmocka_unit_test_setup_teardown(interest_that_is_not_repeated_is_forgotten, start, stop),
        cmocka_unit_test_setup_teardown(admin_leaves_room_for_heartbeats, start, stop),
        cmocka_unit_test_setup_teardown(few_queries_at_a_time_are_put_to_a_member, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
