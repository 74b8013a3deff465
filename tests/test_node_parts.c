/* One member, and two or three that meet: which may take part, which clients are served, what is remembered.
 * Invariants: I16, I17. */
#include "test.h"

#include "alg/list.h"
#include "cluster.h"
#include "lock/dormant.h"

#include <string.h>

enum { MEMBERS = 3, CLIENTS = 4 };

static const char *const member_names[] = {"ant", "bee", "cat"};

static struct node node[MEMBERS];
static struct cluster cluster;
static struct cluster_client client[CLIENTS];

/* ---------------------------------------------------------------------------------------------------------- a cluster */

static struct node_conf conf_of(const char *summary)
{
    return (struct node_conf){.summary = summary,
                              .algorithm = alg_find("suzuki-kasami"),
                              .slots_algorithm = alg_find("central"),
                              .told = cluster_told};
}

static void begin(uint32_t n)
{
    cluster = (struct cluster){.n = n, .node = node};
    memset(client, 0, sizeof client);
}

static void start(struct node_conf conf, uint32_t n)
{
    begin(n);
    for (uint32_t k = 0; k < n; k++)
        members_start(&node[k], conf, member_names, n, k);
}

static void stop(void)
{
    for (unsigned k = 0; k < CLIENTS; k++)
        bytes_free(&client[k].heard);
    cluster_end(&cluster);
}

/* What two members have to say to each other arrives. */
static void talk(uint32_t i, uint32_t k)
{
    while (cluster_carry(&cluster, i, k, SIZE_MAX) + cluster_carry(&cluster, k, i, SIZE_MAX))
        ;
}

static void meet(uint32_t i, uint32_t k)
{
    cluster_connect(&cluster, i, k);
    talk(i, k);
}

static const struct link *link_of(uint32_t i, uint32_t k)
{
    return &cluster_member(&cluster, i, k)->link;
}

/* Client k of this member asks. What it hears at once. */
static const char *ask(unsigned k, uint32_t member, const char *name, const char *words)
{
    if (!client[k].end)
        cluster_come(&cluster, &client[k], member);
    bytes_free(&client[k].heard);
    client[k].events = 0;
    cluster_lock(&cluster, &client[k], name, words);
    return cluster_heard(&client[k]);
}

static bool holds(unsigned k)
{
    return cluster_is_told(&client[k], CLAIM_HELD);
}

static void leave(unsigned k)
{
    cluster_go(&cluster, &client[k], true);
}

static const char *say(unsigned k, const char *text)
{
    bytes_free(&client[k].heard);
    cluster_say(&cluster, &client[k], text);
    return cluster_heard(&client[k]);
}

static struct lock *lock_at(uint32_t member, const char *name)
{
    return locks_find(&node[member].locks, name, strlen(name));
}

/* ------------------------------------------------------------------------------------------- which members may take part */

static void members_with_different_configurations_refuse_each_other(void **state)
{
    (void)state;
    begin(2);
    members_start(&node[0], conf_of("port 1"), member_names, 2, 0);
    members_start(&node[1], conf_of("port 2"), member_names, 2, 1);
    meet(0, 1);
    assert_int_equal(link_of(0, 1)->state, LINK_DOWN);
    assert_int_equal(link_of(1, 0)->state, LINK_DOWN);
    assert_non_null(strstr(link_of(0, 1)->reason, "configurations differ"));
    assert_non_null(strstr(link_of(1, 0)->reason, "configurations differ"));
    assert_false(node_is_open(&node[0]) || node_is_open(&node[1]));
    stop();
}

/* Another incarnation of bee begins, with nothing but its name. */
static void replace_bee(uint64_t incarnation)
{
    struct node_conf conf = conf_of("same");

    node_free(&node[1]);
    conf.incarnation = incarnation;
    members_start(&node[1], conf, member_names, 2, 1);
    meet(0, 1);
}

/* The view knows the first incarnation of bee. Its second one takes no part: it grants nothing, not even what is at home there. */
static void a_member_that_restarted_grants_nothing(void **state)
{
    (void)state;
    start(conf_of("same"), 2);
    meet(0, 1);
    assert_true(node_is_open(&node[0]) && node_is_open(&node[1]));
    replace_bee(3);
    assert_false(node_is_open(&node[1]));
    for (unsigned k = 0; k < 26; k++) {
        const char name[] = {(char)('a' + k), '\0'};

        assert_string_equal(ask(0, 1, name, ""), "");
        assert_int_equal(client[0].events, 0);
        leave(0);
    }
    stop();
}

/* A member that has heard of a later incarnation of bee refuses an earlier one. */
static void an_earlier_incarnation_is_refused(void **state)
{
    (void)state;
    start(conf_of("same"), 2);
    replace_bee(3);
    assert_int_equal(link_of(0, 1)->state, LINK_UP);
    replace_bee(2);
    assert_int_equal(link_of(0, 1)->state, LINK_DOWN);
    assert_non_null(strstr(link_of(1, 0)->reason, "a newer incarnation of"));
    stop();
}

/* ------------------------------------------------------------------------------------------------ members that agree */

static enum disk_status keep(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len; /* it is never read */
    return DISK_WRITTEN;
}

static uint64_t chance(void *user)
{
    return test_random(user);
}

static void start_agreeing(uint32_t k, size_t room)
{
    static const struct disk disk = {NULL, keep, keep};
    static uint64_t seed = 1;
    struct node_conf conf = conf_of("same");
    struct view view;
    char line[256];
    struct dme_text why;

    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:1", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:1", VIEW_MEMBER));
    conf.name = member_names[k];
    conf.names_max = room;
    conf.lease_ms = 1000;
    conf.incarnation = 1;
    conf.user = &seed;
    conf.random = chance;
    dme_text_init(&why, line, sizeof line);
    node_init(&node[k], &conf);
    assert_true(node_agree(&node[k], &disk, NULL, 0, &view, false, 1000, &why));
}

static void pass(uint64_t ms)
{
    for (uint64_t end_ms = node[0].now_ms + ms; node[0].now_ms < end_ms;) {
        cluster_pass(&cluster, node[0].now_ms + 10);
        talk(0, 1);
    }
}

/* Time passes until the member has installed this view; for some seconds at most. */
static void pass_until_view(uint32_t k, uint64_t number)
{
    for (unsigned n = 0; n < 500 && node[k].view.number < number; n++)
        pass(10);
    assert_int_equal(node[k].view.number, number);
}

/* Ant and bee agree; each remembers this number of names (0: the usual one). */
static void begin_agreeing(size_t room)
{
    begin(2);
    start_agreeing(0, room);
    start_agreeing(1, room);
    cluster_connect(&cluster, 0, 1);
    pass_until_view(0, 1);
    pass_until_view(1, 1);
}

/* Time passes until client k has been told something; for some seconds at most. */
static void await(unsigned k)
{
    for (unsigned n = 0; n < 1000 && !client[k].events; n++)
        pass(10);
    assert_true(client[k].events);
}

static void take(unsigned k, uint32_t member, const char *name)
{
    ask(k, member, name, "");
    await(k);
    assert_true(holds(k));
}

/* The leader may be a member that it does not know, as it was away while that one was added. */
static void a_member_that_lags_is_told_the_newest_view_by_any_member(void **state)
{
    struct view view;

    (void)state;
    begin_agreeing(0);
    view = node[1].view;
    view.number = 2;
    assert_null(view_add(&view, "cat", "10.0.0.3:1", VIEW_ADDED));
    node_install(&node[1], &view);
    pass_until_view(0, 2);
    assert_int_equal(node[0].view.count, 3);
    stop();
}

/* What client k of ant is told that asks for a lock, and for how long it has waited by then; null: it waits still. */
static const char *told_after(unsigned k, const char *words, uint64_t *waited_ms)
{
    uint64_t began_ms = node[0].now_ms;
    const char *said = ask(k, 0, "x", words);

    *waited_ms = 0;
    if (strstr(said, "-NOQUORUM locks are not granted just now; no majority can be reached"))
        return "NOQUORUM";
    while (*waited_ms < 20000 && !client[k].events) {
        cluster_tell(&cluster, 0, (struct node_input){.type = NODE_TIME, .now_ms = node[0].now_ms + 10});
        *waited_ms = node[0].now_ms - began_ms;
    }
    if (!client[k].events)
        return NULL;
    return holds(k) ? "HELD" : client[k].event.no_quorum ? "NOQUORUM" : "TIMEOUT";
}

/* A client that asks before it is known that no majority is left, and one that asks afterwards: each waits for as long as
 * it has said, and is told the same. */
static void without_a_majority_a_client_waits_as_long_as_it_wants(void **state)
{
    uint64_t waited_ms;

    (void)state;
    begin_agreeing(0);
    take(0, 0, "y");
    cluster_disconnect(&cluster, 0, 1, true);
    while (node[0].locks.grants)
        cluster_tell(&cluster, 0, (struct node_input){.type = NODE_TIME, .now_ms = node[0].now_ms + 10});
    assert_true(cluster_is_told(&client[0], CLAIM_LOST));
    assert_int_equal(node_state(&node[0]), NODE_STARTS);
    assert_string_equal(told_after(0, "WAIT 0", &waited_ms), "NOQUORUM");
    assert_int_equal(node_state(&node[0]), NODE_NO_QUORUM);
    assert_string_equal(told_after(0, "WAIT 0", &waited_ms), "NOQUORUM");
    assert_int_equal(waited_ms, 0);
    assert_string_equal(told_after(0, "WAIT 5000", &waited_ms), "NOQUORUM");
    assert_int_equal(waited_ms, 5000);
    assert_null(told_after(1, "", &waited_ms));
    /* The majority is back: a client that waits holds nothing, and is served like any other. */
    cluster_tell(&cluster, 1, (struct node_input){.type = NODE_TIME, .now_ms = node[0].now_ms});
    cluster_connect(&cluster, 0, 1);
    await(1);
    assert_true(holds(1));
    stop();
}

/* Names that were used once, and never again: a member has no room for all of them, and needs none. */
static void names_that_no_client_uses_are_forgotten_in_a_new_view(void **state)
{
    enum { ROOM = 64, NAMES = 1000 };
    uint64_t fence;
    char text[32];

    (void)state;
    begin_agreeing(ROOM);
    take(0, 0, "kept");
    fence = client[0].event.fence;
    for (unsigned k = 0; k < NAMES; k++) {
        snprintf(text, sizeof text, "job-%u", k);
        take(1, 1, text);
        snprintf(text, sizeof text, "UNLOCK job-%u\n", k);
        assert_string_equal(say(1, text), "+OK ");
        pass(100);
        assert_in_range(node[1].locks.count, 0, ROOM);
    }
    assert_in_range(node[1].view.number, NAMES / ROOM, NAMES / 10); /* one view for many names */
    assert_int_equal(client[0].events, 1);                          /* a client that holds a lock has not noticed */
    assert_string_equal(say(0, "UNLOCK kept\n"), "+OK ");
    take(1, 1, "kept");
    assert_true(client[1].event.fence > fence);
    stop();
}

/* ------------------------------------------------------------------------------------------------ one member, in detail */

static void start_alone(void)
{
    struct node_conf conf = conf_of("alone");

    conf.algorithm = alg_find("central");
    start(conf, 1);
}

static void one_machine_can_use_all_slots_and_no_more(void **state)
{
    (void)state;
    start_alone();
    for (unsigned k = 0; k < 4; k++) {
        ask(k, 0, "x", "SLOTS 3");
        assert_int_equal(holds(k), k < 3);
    }
    assert_string_equal(say(1, "UNLOCK x\n"), "+OK ");
    assert_true(holds(3));
    stop();
}

static void a_policy_chooses_algorithms_and_kind_by_name(void **state)
{
    static const char slots[] =
        "-WRONGKIND \"builds\" is a lock with 3 slots; ask for it with SLOTS 3 (dibs lock --slots 3) ";
    const struct lock_policy policy[] = {{"build*", alg_find("raymond"), alg_find("raymond-k"), 3},
                                         {"*.db", alg_find("raymond"), alg_find("central"), 0},
                                         {"b*", alg_find("lamport"), alg_find("central"), LOCK_ANY_KIND}};
    struct node_conf conf = conf_of("same");

    (void)state;
    conf.policy = policy;
    conf.policies = 3;
    start(conf, 2);
    meet(0, 1);
    assert_string_equal(ask(0, 0, "builds", "SLOTS 2"), slots);
    assert_string_equal(ask(0, 0, "builds", "SHARED"), slots);
    assert_string_equal(ask(0, 0, "big.db", "SLOTS 2"),
                        "-WRONGKIND \"big.db\" is an exclusive lock; ask for it without SLOTS (--slots) ");
    assert_string_equal(ask(0, 0, "big.db", "SHARED"),
                        "-WRONGKIND \"big.db\" is run by raymond, which does not support sharing ");
    assert_int_equal(node[0].locks.count, 0);
    ask(0, 0, "builds", ""); /* the policy says how many */
    ask(1, 0, "big.db", "");
    ask(2, 0, "bus", "");
    talk(0, 1);
    assert_true(holds(0) && holds(1) && holds(2));
    assert_string_equal(lock_policy(&node[0].locks, lock_at(0, "builds"))->slots_algorithm->name, "raymond-k");
    assert_int_equal(lock_at(0, "builds")->slots, 3);
    assert_string_equal(lock_policy(&node[1].locks, lock_at(1, "bus"))->algorithm->name, "lamport");
    stop();
}

static void readers_join_readers_but_not_past_a_writer(void **state)
{
    (void)state;
    start_alone();
    ask(0, 0, "x", "SHARED");
    ask(1, 0, "x", "SHARED");
    ask(2, 0, "x", "");
    ask(3, 0, "x", "SHARED");
    assert_true(holds(0) && holds(1) && !client[2].events && !client[3].events);
    leave(0);
    assert_true(!client[2].events && !client[3].events);
    leave(1);
    assert_true(holds(2) && !client[3].events);
    leave(2);
    assert_true(holds(3));
    leave(3);
    assert_int_equal(node[0].locks.count, 0);
    stop();
}

/* The lock is free and forgotten in between, and its number is larger all the same. */
static void fences_grow_through_forgetting(void **state)
{
    uint64_t last = 0;

    (void)state;
    start_alone();
    for (unsigned k = 0; k < 10; k++) {
        ask(0, 0, "x", "");
        assert_true(holds(0) && client[0].event.fence > last);
        last = client[0].event.fence;
        leave(0);
        assert_int_equal(node[0].locks.count, 0);
    }
    stop();
}

static void a_ttl_that_runs_out_is_a_loss_before_the_next_grant(void **state)
{
    (void)state;
    start_alone();
    ask(0, 0, "x", "");
    ask(1, 0, "x", "");
    assert_true(holds(0) && !client[1].events);
    assert_string_equal(say(0, "RENEW x TTL 100\n"), "+OK ");
    assert_int_equal(node_due_ms(&node[0]), 100);
    cluster_pass(&cluster, 50);
    assert_string_equal(say(0, "RENEW x TTL 100\n"), "+OK ");
    cluster_pass(&cluster, 149);
    assert_true(holds(0) && !client[1].events);
    cluster_pass(&cluster, 150);
    assert_true(cluster_is_told(&client[0], CLAIM_LOST) && !client[0].event.answers);
    assert_true(holds(1) && client[0].order < client[1].order);
    assert_non_null(strstr(say(0, "UNLOCK x\n"), "-LOST"));
    say(0, "FORCE-UNLOCK x\n");
    assert_true(cluster_is_told(&client[1], CLAIM_LOST));
    stop();
}

static void a_client_that_may_share_is_let_in_wherever_it_stands(void **state)
{
    (void)state;
    start_alone();
    ask(0, 0, "x", "");
    ask(1, 0, "x", "SHARED");
    ask(2, 0, "x", "");
    ask(3, 0, "x", "SHARED");
    assert_true(holds(0) && !client[1].events && !client[2].events && !client[3].events);
    leave(0);
    assert_true(holds(1) && holds(3) && !client[2].events);
    stop();
}

/* The lock becomes free, and only then does the time of the client that waits for it run out. */
static void a_client_that_is_granted_in_time_does_not_lose_it(void **state)
{
    (void)state;
    start_alone();
    ask(0, 0, "x", "TTL 9");
    ask(1, 0, "x", "WAIT 10");
    cluster_pass(&cluster, 20);
    assert_true(cluster_is_told(&client[0], CLAIM_LOST) && holds(1));
    cluster_pass(&cluster, 1000);
    assert_true(holds(1) && client[1].events == 1);
    stop();
}

/* ------------------------------------------------------------------------------------------------------ two and three */

static void a_lock_of_another_kind_ends_the_link(void **state)
{
    static const uint8_t step[] = {3, 1, 'x', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};

    (void)state;
    start(conf_of("same"), 2);
    meet(0, 1);
    ask(0, 0, "x", "");
    talk(0, 1);
    memcpy(link_send(&node[1].member[0]->link, sizeof step), step, sizeof step);
    cluster_pass(&cluster, 1);
    talk(0, 1);
    assert_string_equal(link_of(0, 1)->reason, "a lock of the same name and another kind");
    assert_true(link_of(0, 1)->banned);
    stop();
}

/* A message that passes a lock on goes out before the answer to the client that has released the lock. Messages that follow when a client has
 * been answered, and its connection is closed, go out, too. */
static void a_lock_is_passed_on_before_its_release_is_answered(void **state)
{
    struct node_output out;
    bool passed = false;

    (void)state;
    start(conf_of("same"), 2);
    meet(0, 1);
    ask(0, 0, "x", "");
    talk(0, 1);
    ask(1, 1, "x", "");
    talk(0, 1);
    assert_true(holds(0) && !client[1].events);
    node_step(&node[0], &(struct node_input){.type = NODE_CLIENT_BYTES,
                                             .client = client[0].end,
                                             .bytes = (const uint8_t *)"UNLOCK x\n",
                                             .len = 9});
    while (node_next_output(&node[0], &out)) {
        passed |= out.type == NODE_TO_PEER;
        assert_true(out.type != NODE_TO_CLIENT || passed);
        if (out.type == NODE_TO_PEER)
            cluster_to_peer(&cluster, 0, 1, &out);
        node_did(&node[0], &out);
    }
    talk(0, 1);
    assert_true(holds(1));
    ask(0, 0, "x", "");
    talk(0, 1);
    say(1, "QUIT\n");
    talk(0, 1);
    assert_true(holds(0) && !client[1].end);
    stop();
}

/* A name that is at home at the last of all members. */
static const char *name_at_home(void)
{
    static char name[2] = "a";

    for (name[0] = 'a'; name[0] < 'z'; name[0]++) {
        ask(CLIENTS - 1, cluster.n - 1, name, "");
        if (lock_at(cluster.n - 1, name)->known)
            break;
        leave(CLIENTS - 1);
    }
    return name;
}

/* ant asks cat before cat has the digest of bee; as soon as it has, ant is answered, without waiting for anything else. */
static void messages_on_hold_are_handled_when_all_have_met(void **state)
{
    const char *name;

    (void)state;
    start(conf_of("same"), 3);
    cluster_connect_all(&cluster);
    cluster_settle(&cluster);
    name = name_at_home();
    stop();
    start(conf_of("same"), 3);
    meet(0, 1);
    meet(0, 2);
    cluster_connect(&cluster, 1, 2);
    while (node[1].keep.phase != KEEP_PASSED ||
           node[2].keep.phase != KEEP_PASSED) /* byte by byte: no digest has arrived at its end */
        assert_true(cluster_carry(&cluster, 1, 2, 1) + cluster_carry(&cluster, 2, 1, 1));
    talk(0, 1);
    talk(0, 2);
    assert_true(node_is_open(&node[0]) && !node_is_open(&node[2]));
    ask(0, 0, name, "");
    talk(0, 2);
    talk(1, 2);
    assert_true(node_is_open(&node[2]));
    talk(0, 2);
    talk(0, 1);
    assert_true(holds(0));
    stop();
}

/* A lock with many slots has a large state. Of many such locks that no client uses, few are kept as they are. */
static void large_states_are_put_away_as_well(void **state)
{
    enum { NAMES = 30 };
    struct node_conf conf = conf_of("same");
    unsigned kept = 0;
    char name[16];

    (void)state;
    conf.slots_algorithm = alg_find("raymond-k");
    start(conf, 2);
    meet(0, 1);
    for (unsigned round = 0; round < 2; round++) /* what was put away is taken out again */
        for (unsigned k = 0; k < NAMES; k++) {
            snprintf(name, sizeof name, "job-%u", k);
            ask(0, 0, name, "SLOTS 64");
            talk(0, 1);
            assert_true(holds(0));
            leave(0);
            talk(0, 1);
        }
    for (unsigned k = 0; k < NAMES; k++) {
        snprintf(name, sizeof name, "job-%u", k);
        kept += lock_at(0, name)->site != NULL;
        kept += lock_at(1, name)->site != NULL;
    }
    assert_in_range(kept, 1, NAMES - 1);
    stop();
}

static void what_rests_is_taken_out_as_it_was(void **state)
{
    enum { SIZE = 1200 };
    uint8_t first[SIZE], bytes[SIZE], again[SIZE], packed[2 * SIZE];
    uint64_t seed = 7;

    (void)state;
    for (uint32_t run = 0; run < 2000; run++) {
        size_t size = 24 + 8 * test_below(&seed, (SIZE - 24) / 8 + 1);
        uint32_t rare = 1 + test_below(&seed, 1 + run); /* from all bytes differ to hardly any does */
        uint8_t *end;

        for (size_t k = 0; k < size; k++) {
            first[k] = (uint8_t)test_below(&seed, 256);
            bytes[k] = (uint8_t)(first[k] ^ (test_below(&seed, rare) ? 0 : 1 + test_below(&seed, 255)));
        }
        end = dormant_pack(packed, bytes, first, size);
        assert_true(end <= packed + dormant_room(size));
        memcpy(again, first, size);
        assert_ptr_equal(dormant_unpack(packed, again, size), end);
        assert_memory_equal(again, bytes, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_with_different_configurations_refuse_each_other),
        cmocka_unit_test(a_member_that_restarted_grants_nothing),
        cmocka_unit_test(a_member_that_lags_is_told_the_newest_view_by_any_member),
        cmocka_unit_test(without_a_majority_a_client_waits_as_long_as_it_wants),
        cmocka_unit_test(names_that_no_client_uses_are_forgotten_in_a_new_view),
        cmocka_unit_test(an_earlier_incarnation_is_refused),
        cmocka_unit_test(one_machine_can_use_all_slots_and_no_more),
        cmocka_unit_test(a_policy_chooses_algorithms_and_kind_by_name),
        cmocka_unit_test(readers_join_readers_but_not_past_a_writer),
        cmocka_unit_test(fences_grow_through_forgetting),
        cmocka_unit_test(a_ttl_that_runs_out_is_a_loss_before_the_next_grant),
        cmocka_unit_test(a_client_that_may_share_is_let_in_wherever_it_stands),
        cmocka_unit_test(a_client_that_is_granted_in_time_does_not_lose_it),
        cmocka_unit_test(a_lock_of_another_kind_ends_the_link),
        cmocka_unit_test(a_lock_is_passed_on_before_its_release_is_answered),
        cmocka_unit_test(messages_on_hold_are_handled_when_all_have_met),
        cmocka_unit_test(large_states_are_put_away_as_well),
        cmocka_unit_test(what_rests_is_taken_out_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
