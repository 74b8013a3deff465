/* The work of one turn, and its order: commands take credit, losses and grants are told first, a destination that is
 * blocked gets no more. Invariants: I17, I31. */
#include "conversation.h"

/* One turn executes a bounded number of commands of a client; no more is read from it until the rest has had its turn. */
static void what_a_client_has_no_credit_for_waits(void **state)
{
    struct node_input in = {.type = NODE_CLIENT_BYTES, .client = user[0].end};
    struct node_output out;
    uint8_t pings[5 * (CLIENT_TURN + 2)];

    (void)state;
    for (size_t k = 0; k < sizeof pings; k++)
        pings[k] = (uint8_t) "PING\n"[k % 5];
    in.bytes = pings;
    in.len = sizeof pings;
    node_step(&node, &in);
    assert_int_equal(node_wants_turns(&node), 1);
    assert_true(node_next_output(&node, &out));
    assert_int_equal(out.len, 7 * CLIENT_TURN);
    assert_false(out.reads);
    node_did(&node, &out);
    assert_false(node_next_output(&node, &out));
    node_step(&node, &(struct node_input){.type = NODE_GO_ON});
    assert_int_equal(node_wants_turns(&node), 0);
    assert_true(node_next_output(&node, &out));
    assert_int_equal(out.len, 7 * 2);
    assert_true(out.reads);
    node_did(&node, &out);
    in.late = true; /* the driver is behind: everything waits for the next turn */
    node_step(&node, &in);
    assert_int_equal(node_wants_turns(&node), 1);
    assert_int_equal(bytes_len(&user[0].end->out), 0);
}

static void say_pings(unsigned count, bool late)
{
    uint8_t pings[5 * CLIENT_TURN];

    for (size_t k = 0; k < sizeof pings; k++)
        pings[k] = (uint8_t) "PING\n"[k % 5];
    node_step(&node,
              &(struct node_input){
                  .type = NODE_CLIENT_BYTES, .client = user[0].end, .bytes = pings, .len = 5 * count, .late = late});
}

/* A client that asks for little at a time is served although the driver is behind: others have made it so. */
static void a_client_that_asks_for_much_is_greedy(void **state)
{
    (void)state;
    assert_true(user[0].end->greedy); /* nothing is known of it */
    say_pings(1, false);
    assert_false(user[0].end->greedy);
    say_pings(1, true);
    assert_int_equal(bytes_len(&user[0].end->out), 7 * 2);
    say_pings(CLIENT_MUCH, false);
    assert_true(user[0].end->greedy);
    say_pings(1, true);
    assert_int_equal(node_wants_turns(&node), 1);
    assert_int_equal(bytes_len(&user[0].end->out), 7 * (2 + CLIENT_MUCH));
}

/* Two clients have more than one turn takes: they take turns. */
static void clients_that_have_much_to_ask_take_turns(void **state)
{
    struct node_input in = {.type = NODE_CLIENT_BYTES};
    uint8_t pings[5 * 3 * CLIENT_TURN];

    (void)state;
    for (size_t k = 0; k < sizeof pings; k++)
        pings[k] = (uint8_t) "PING\n"[k % 5];
    in.bytes = pings;
    in.len = sizeof pings;
    for (unsigned k = 0; k < 2; k++) {
        in.client = user[k].end;
        node_step(&node, &in);
        assert_int_equal(bytes_len(&user[k].end->out), 7 * CLIENT_TURN);
    }
    for (unsigned turn = 2; turn <= 3; turn++) {
        assert_int_equal(node_wants_turns(&node), 2);
        for (unsigned k = 0; k < 2; k++) {
            node_step(&node, &(struct node_input){.type = NODE_GO_ON});
            assert_int_equal(bytes_len(&user[k].end->out), 7 * turn * CLIENT_TURN);
        }
    }
    assert_int_equal(node_wants_turns(&node), 0);
}

/* How much of this, said again and again, one turn executes: the bytes of the answers. */
static size_t answered_in_one_turn(const char *command)
{
    static uint8_t bytes[1 << 17];
    size_t len = strlen(command), all = sizeof bytes - sizeof bytes % len;
    struct node_input in = {.type = NODE_CLIENT_BYTES, .client = user[0].end, .bytes = bytes, .len = all};

    for (size_t k = 0; k < all; k++)
        bytes[k] = (uint8_t)command[k % len];
    node_step(&node, &in);
    assert_int_equal(node_wants_turns(&node), 1);
    return bytes_len(&user[0].end->out);
}

/* Each of several locks takes credit. What there is no credit for waits for the client's next turn, in the midst of a command; and all
 * is answered in the end. */
static void each_of_several_locks_takes_credit(void **state)
{
    enum { COMMANDS = 40, EACH = 31 };
    char line[COMMANDS * 512] = "";
    struct node_input in = {.type = NODE_CLIENT_BYTES, .client = user[0].end, .bytes = (const uint8_t *)line};
    uint64_t before;
    unsigned turns = 0;

    (void)state;
    assert_string_equal(say('b', "LOCK z\n"), "b: *2 $1 z :100");
    for (unsigned k = 0; k < COMMANDS; k++) {
        strcat(line, "LOCK n0");
        for (unsigned x = 1; x < EACH; x++)
            snprintf(line + strlen(line), 16, " AND n%u", x);
        strcat(line, " AND z WAIT 0\n");
    }
    in.len = strlen(line);
    before = node.grants;
    node_step(&node, &in);
    assert_in_range(node.grants - before, 1, CLIENT_TURN);
    for (; node_wants_turns(&node); turns++) {
        before = node.grants;
        node_step(&node, &(struct node_input){.type = NODE_GO_ON});
        assert_in_range(node.grants - before, 0, CLIENT_TURN);
    }
    assert_true(turns >= COMMANDS * EACH / CLIENT_TURN);
    assert_int_equal(bytes_len(&user[0].end->out), 5 * COMMANDS); /* $-1 */
    assert_int_equal(node.locks.held_count, 1);
}

/* A command with many words, or with a script that has to be hashed, takes more of the credit (I31). */
static void a_command_that_costs_more_counts_for_more(void **state)
{
    char line[256] = "EXISTS";

    (void)state;
    for (unsigned k = 0; k < 47; k++)
        strcat(line, " n");
    strcat(line, "\n");
    assert_int_equal(answered_in_one_turn(line), (CLIENT_TURN / 7 + 1) * strlen(":0\r\n"));
}

static void a_script_counts_for_more(void **state)
{
    (void)state;
    assert_int_equal(answered_in_one_turn("SCRIPT EXISTS 0\n"), CLIENT_TURN / 16 * strlen("*1\r\n:0\r\n"));
}

/* So does a command about a name that costly rules are tried for (I31). */
static void a_decision_by_costly_rules_counts_for_more(void **state)
{
    static struct rights rules;
    char rule[200] = "any none *?", line[300] = "EXISTS ", why[RIGHTS_WHY_MAX];
    size_t few = strlen(":0\r\n") * CLIENT_TURN / 8;

    (void)state;
    memset(rule + strlen(rule), 'a', 120);
    strcat(rule, "b");
    memset(line + strlen(line), 'a', 240);
    strcat(line, "\n");
    memset(&rules, 0, sizeof rules);
    assert_true(rights_parse_rule(&rules.rule[0], rule, why) && rights_parse_rule(&rules.rule[1], "any lock *", why));
    rules.rules = 2;
    node.conf.rights = &rules;
    user[0].end->session->operates = false;
    assert_in_range(answered_in_one_turn(line), strlen(":0\r\n"), few);
    node.conf.rights = NULL;
}

/* A client with many subscriptions to all events is told of this lock, of which it hears in each of them. Returns the number of
 * messages that it gets in the next turn. */
static unsigned told_in_one_turn(const uint8_t *lock, size_t len)
{
    static char words[1 << 16];
    struct cluster_client *watcher = &user[1];
    unsigned count = 0;

    solo.one_turn = true;
    for (unsigned k = 1; k <= 200; k++) {
        snprintf(
            words, sizeof words, "PSUBSCRIBE %.*s\n", (int)k,
            "****************************************************************************************************"
            "****************************************************************************************************");
        cluster_say(&solo, watcher, words);
    }
    node_step(&node, &(struct node_input){.type = NODE_CLIENT_BYTES, .client = user[2].end, .bytes = lock, .len = len});
    cluster_do(&solo, 0);
    bytes_consume(&watcher->heard, bytes_len(&watcher->heard));
    assert_true(node_wants_turns(&node));
    node_step(&node, &(struct node_input){.type = NODE_GO_ON});
    cluster_do(&solo, 0);
    for (size_t k = 0; k + 8 <= bytes_len(&watcher->heard); k++)
        count += memcmp(watcher->heard.at + watcher->heard.start + k, "pmessage", 8) == 0;
    solo.one_turn = false;
    return count;
}

/* The event of a lock with a long value takes more turns to tell (I31). */
static void a_long_value_is_told_to_few_subscribers_in_a_turn(void **state)
{
    static uint8_t lock[64 + VALUE_MAX];
    size_t len = (size_t)sprintf((char *)lock, "*4\r\n$4\r\nLOCK\r\n$1\r\nv\r\n$5\r\nVALUE\r\n$%d\r\n", VALUE_MAX);

    (void)state;
    memset(lock + len, 0xff, VALUE_MAX);
    memcpy(lock + len + VALUE_MAX, "\r\n", 2);
    assert_in_range(told_in_one_turn(lock, len + VALUE_MAX + 2), 1, WATCH_TURN / VALUE_MAX);
}

/* Likewise one for which costly rules are tried (I31). */
static void an_event_with_costly_rules_is_told_to_few_subscribers_in_a_turn(void **state)
{
    static struct rights rules;
    char rule[200] = "any none *?", line[300] = "LOCK ", why[RIGHTS_WHY_MAX];

    (void)state;
    memset(rule + strlen(rule), 'a', 120);
    strcat(rule, "b");
    memset(line + strlen(line), 'a', 240);
    strcat(line, "\n");
    memset(&rules, 0, sizeof rules);
    for (rules.rules = 0; rules.rules < 8; rules.rules++)
        assert_true(rights_parse_rule(&rules.rule[rules.rules], rule, why));
    assert_true(rights_parse_rule(&rules.rule[rules.rules++], "any lock,watch *", why));
    node.conf.rights = &rules;
    user[1].end->session->operates = user[2].end->session->operates = false;
    assert_in_range(told_in_one_turn((const uint8_t *)line, strlen(line)), 1, 20);
    node.conf.rights = NULL;
}

/* One event may let many clients go on that have more to ask. Together they have a credit for that, too (I31). */
static void clients_that_go_on_together_share_a_credit(void **state)
{
    enum { MANY = 20 };
    static struct cluster_client some[MANY];
    static uint8_t words[14 + 5 * CLIENT_TURN];
    struct node_input in = {.type = NODE_CLIENT_BYTES, .bytes = words, .len = sizeof words};
    size_t pongs = 0;

    (void)state;
    memcpy(words, "LOCK x SHARED\n", 14);
    for (size_t k = 14; k < sizeof words; k++)
        words[k] = (uint8_t) "PING\n"[(k - 14) % 5];
    say('a', "LOCK x\n");
    for (unsigned k = 0; k < MANY; k++) {
        cluster_come(&solo, &some[k], 0);
        in.client = some[k].end;
        node_step(&node, &in);
    }
    in = (struct node_input){
        .type = NODE_CLIENT_BYTES, .client = user[0].end, .bytes = (uint8_t *)"UNLOCK x\n", .len = 9};
    node_step(&node, &in);
    for (unsigned k = 0; k < MANY; k++)
        pongs += bytes_len(&some[k].end->out) / 7;
    assert_true(pongs > 0 && pongs <= CLIENTS_TURN + 4 * MANY);
    cluster_tell(&solo, 0, (struct node_input){.type = NODE_TIME});
    for (unsigned k = 0; k < MANY; k++) {
        assert_true(bytes_len(&some[k].heard) >= 7 * (CLIENT_TURN - 2));
        bytes_free(&some[k].heard);
    }
}

/* To find the lock of a session among many holders, or many locks, takes credit (I31). */
static void a_lock_with_many_holders_is_found_among_the_few_of_a_client(void **state)
{
    enum { MANY = 1000 };
    static struct cluster_client some[MANY];

    (void)state;
    for (unsigned k = 0; k < MANY; k++) {
        cluster_come(&solo, &some[k], 0);
        cluster_tell(&solo, 0,
                     (struct node_input){.type = NODE_CLIENT_BYTES,
                                         .client = some[k].end,
                                         .bytes = (const uint8_t *)"LOCK x SHARED\n",
                                         .len = 14});
    }
    say('a', "LOCK x SHARED\n");
    user[0].end->session->steps = 0;
    assert_true(session_holds(user[0].end->session, "x", 1, 0));
    assert_true(user[0].end->session->steps <= 2);
    for (unsigned k = 0; k < MANY; k++) {
        char line[32];

        snprintf(line, sizeof line, "LOCK y%u\n", k);
        say('a', line);
    }
    user[0].end->credit = CLIENT_TURN;
    client_execute(user[0].end, &(struct resp_request){.count = 2, .word = {{"CONFIRM", 7}, {"x", 1}}});
    assert_true(user[0].end->credit <= CLIENT_TURN - 1);
    for (unsigned k = 0; k < MANY; k++)
        bytes_free(&some[k].heard);
}

/* A client that has lost a lock is told before the one that gets it, whichever had something to say first (I17). */
static void a_loser_is_told_before_a_winner(void **state)
{
    struct node_output out;

    (void)state;
    say('c', "HELLO 3\n");
    say('c', "LOCK x TTL 5\n");
    say('a', "LOCK y TTL 5\n");
    assert_string_equal(say('b', "LOCK x\n"), "");
    node_step(&node, &(struct node_input){.type = NODE_CLIENT_BYTES,
                                          .now_ms = 5,
                                          .client = user[1].end,
                                          .bytes = (const uint8_t *)"PING\n",
                                          .len = 5});
    assert_true(node_next_output(&node, &out));
    assert_ptr_equal(out.client, user[2].end);
    node_did(&node, &out);
    for (unsigned k = 0; k < 2; k++) {
        assert_true(node_next_output(&node, &out));
        assert_ptr_not_equal(out.client, user[2].end);
        node_did(&node, &out);
    }
}

/* A client that is granted a lock is told before the one that has released it. */
static void a_grant_is_told_before_an_answer(void **state)
{
    struct node_output out;

    (void)state;
    say('a', "LOCK x\n");
    say('b', "LOCK x\n");
    node_step(&node,
              &(struct node_input){
                  .type = NODE_CLIENT_BYTES, .client = user[0].end, .bytes = (const uint8_t *)"UNLOCK x\n", .len = 9});
    for (unsigned k = 0; k < 2; k++) {
        assert_true(node_next_output(&node, &out));
        assert_ptr_equal(out.client, user[1 - k].end);
        node_did(&node, &out);
    }
}

/* A driver that tells of several events before it carries out their outputs tells of grants at once, and of nothing else. */
static void only_grants_and_losses_are_urgent(void **state)
{
    static const char *const line[] = {"PING\n", "UNLOCK x\n"};
    const struct client *order[3] = {user[1].end, user[2].end, user[0].end};
    struct node_output out;

    (void)state;
    say('a', "LOCK x\n");
    say('b', "LOCK x\n");
    for (unsigned k = 0; k < 2; k++) {
        node_step(&node, &(struct node_input){.type = NODE_CLIENT_BYTES,
                                              .client = user[k ? 0 : 2].end,
                                              .bytes = (const uint8_t *)line[k],
                                              .len = strlen(line[k])});
        assert_int_equal(node_next_urgent(&node, &out), k == 1);
    }
    for (unsigned k = 0; k < 3; k++) {
        assert_ptr_equal(out.client, order[k]);
        assert_true(out.len > 0);
        node_did(&node, &out);
        assert_int_equal(node_next_output(&node, &out), k < 2);
    }
}

/* Bytes that do not go out at once wait, and the last words of a connection do, too. */
static void a_destination_that_is_blocked_gets_no_more(void **state)
{
    (void)state;
    user[0].stuck = true;
    assert_string_equal(say('a', "PING\n"), "");
    assert_string_equal(say('a', "PING\nQUIT\n"), "");
    assert_non_null(user[0].end);
    user[0].stuck = false;
    cluster_tell(&solo, 0, (struct node_input){.type = NODE_CLIENT_ROOM, .client = user[0].end});
    assert_string_equal(settle(), "a: +PONG +PONG +OK");
    assert_null(user[0].end);
}

/* Answers that fill the buffer stop a client; when they have gone out, it goes on by itself. */
static void a_client_goes_on_when_its_answers_have_gone_out(void **state)
{
    static char text[5 + 4000 + 2];
    size_t heard_bytes = 0;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "PING ", 5);
    text[sizeof text - 2] = '\n';
    user[0].stuck = true;
    for (unsigned k = 0; k < 100; k++)
        cluster_say(&solo, &user[0], text);
    assert_true(client_is_full(user[0].end));
    user[0].stuck = false;
    cluster_tell(&solo, 0, (struct node_input){.type = NODE_CLIENT_ROOM, .client = user[0].end});
    heard_bytes = bytes_len(&user[0].heard);
    assert_in_range(heard_bytes, 100 * 4000, 100 * 4100);
    bytes_free(&user[0].heard);
}

static void buffers_that_are_empty_are_freed(void **state)
{
    static char text[4001];

    (void)state;
    memset(text, 'x', 4000);
    for (unsigned k = 0; k < 10; k++) {
        client_input(user[0].end, (const uint8_t *)"PING ", 5);
        client_input(user[0].end, (const uint8_t *)text, 4000);
        client_input(user[0].end, (const uint8_t *)"\n", 1);
    }
    client_run(user[0].end);
    assert_in_range(client_memory(user[0].end), 40000, 200000);
    bytes_consume(&user[0].end->out, bytes_len(&user[0].end->out));
    assert_in_range(client_memory(user[0].end), 0, 8192);
}

/* In one packet, a client releases a lock and requests it with the token of a client that polls for it. The member has not looked yet at the grant to
 * the client that polls. */
static void a_client_that_polls_asks_once_more_after_a_release_in_the_same_packet(void **state)
{
    (void)state;
    say('a', "LOCK x\n");
    for (unsigned k = 0; k < 2; k++)
        assert_string_equal(say('b', "SET x t NX PX 60000\n"), "b: $-1");
    assert_string_equal(say('a', "UNLOCK x\nSET x t NX PX 60000\n"), "a: +OK $-1");
    assert_string_equal(say('b', "SET x t NX PX 60000\n"), "b: +OK");
    assert_string_equal(say('a', "PING\n"), "a: +PONG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_client_has_no_credit_for_waits, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_asks_for_much_is_greedy, start, stop),
        cmocka_unit_test_setup_teardown(clients_that_have_much_to_ask_take_turns, start, stop),
        cmocka_unit_test_setup_teardown(each_of_several_locks_takes_credit, start, stop),
        cmocka_unit_test_setup_teardown(a_command_that_costs_more_counts_for_more, start, stop),
        cmocka_unit_test_setup_teardown(a_script_counts_for_more, start, stop),
        cmocka_unit_test_setup_teardown(a_decision_by_costly_rules_counts_for_more, start, stop),
        cmocka_unit_test_setup_teardown(a_long_value_is_told_to_few_subscribers_in_a_turn, start, stop),
        cmocka_unit_test_setup_teardown(an_event_with_costly_rules_is_told_to_few_subscribers_in_a_turn, start, stop),
        cmocka_unit_test_setup_teardown(clients_that_go_on_together_share_a_credit, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_with_many_holders_is_found_among_the_few_of_a_client, start, stop),
        cmocka_unit_test_setup_teardown(a_loser_is_told_before_a_winner, start, stop),
        cmocka_unit_test_setup_teardown(a_grant_is_told_before_an_answer, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_polls_asks_once_more_after_a_release_in_the_same_packet, start,
                                        stop),
        cmocka_unit_test_setup_teardown(only_grants_and_losses_are_urgent, start, stop),
        cmocka_unit_test_setup_teardown(a_destination_that_is_blocked_gets_no_more, start, stop),
        cmocka_unit_test_setup_teardown(a_client_goes_on_when_its_answers_have_gone_out, start, stop),
        cmocka_unit_test_setup_teardown(buffers_that_are_empty_are_freed, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
