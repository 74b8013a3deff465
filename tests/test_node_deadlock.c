/* Three members, and clients of them that wait for each other in a circle (node/deadlock.h).
 * Invariants: I19, I31, I36. */
#include "test.h"

#include "alg/list.h"
#include "base/pack.h"
#include "cluster.h"
#include "link/registry.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, CLIENTS = 6, AFTER_MS = 1000 };

static struct node node[MEMBERS];
static struct cluster all = {.n = MEMBERS, .node = node};
static struct cluster_client client[CLIENTS]; /* client k is at member k % MEMBERS */

static void settle(void)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        cluster_tell(&all, k, (struct node_input){.type = NODE_TIME});
    while (cluster_carry_all(&all))
        continue;
}

static int start(void **state)
{
    static const char *const names[] = {"ant", "bee", "cat"};

    (void)state;
    for (uint32_t k = 0; k < MEMBERS; k++)
        members_start(&node[k],
                      (struct node_conf){.summary = "",
                                         .algorithm = alg_find("ricart-agrawala"),
                                         .slots_algorithm = alg_find("central"),
                                         .deadlock_ms = AFTER_MS},
                      names, MEMBERS, k);
    for (uint32_t k = 0; k < CLIENTS; k++)
        cluster_come(&all, &client[k], k % MEMBERS);
    cluster_connect_all(&all);
    settle();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cluster_end(&all);
    for (unsigned k = 0; k < CLIENTS; k++)
        bytes_free(&client[k].heard);
    return 0;
}

/* What the client has been told since the last time, without line ends. */
static const char *heard(unsigned k)
{
    static char text[2048];
    size_t len = 0;

    for (const uint8_t *at = client[k].heard.at + client[k].heard.start, *end = at + bytes_len(&client[k].heard);
         bytes_len(&client[k].heard) && at < end && len < sizeof text - 1; at++)
        if (*at != '\r')
            text[len++] = *at == '\n' ? ' ' : (char)*at;
    while (len && text[len - 1] == ' ')
        len--;
    text[len] = '\0';
    bytes_consume(&client[k].heard, bytes_len(&client[k].heard));
    return text;
}

static const char *say(unsigned k, const char *line)
{
    cluster_say(&all, &client[k], line);
    settle();
    return heard(k);
}

static void pass(uint64_t now_ms)
{
    cluster_pass(&all, now_ms);
    settle();
}

static uint64_t probes(void)
{
    return node[0].deadlocks.probes + node[1].deadlocks.probes + node[2].deadlocks.probes;
}

/* Each client k of the first n holds lock k, and waits for the next one's; the last wait begins 100 ms later. */
static void make_cycle(unsigned n)
{
    char line[64];

    for (unsigned k = 0; k < n; k++) {
        snprintf(line, sizeof line, "CLIENT SETNAME job%u\nLOCK x%u\n", k, k);
        assert_non_null(strstr(say(k, line), "+OK *2 $2 x"));
    }
    for (unsigned k = 0; k < n; k++) {
        snprintf(line, sizeof line, "LOCK x%u\n", (k + 1) % n);
        if (k == n - 1)
            pass(100);
        assert_string_equal(say(k, line), "");
    }
}

static void the_youngest_wait_of_a_cycle_ends(void **state)
{
    (void)state;
    make_cycle(2);
    pass(AFTER_MS + 99); /* the older wait has looked for younger ones, and passes nothing on */
    assert_string_equal(heard(0), "");
    assert_string_equal(heard(1), "");
    pass(AFTER_MS + 100);
    assert_string_equal(heard(0), "");
    assert_string_equal(heard(1), "-DEADLOCK this client waits for \"x0\", held by job0 at member ant, which waits for "
                                  "\"x1\", held by this client");
    assert_int_equal(node[1].deadlocks.victims, 1);
    assert_string_equal(say(1, "UNLOCK x1\n"), "+OK");
    assert_non_null(strstr(heard(0), "*2 $2 x1"));
}

static void a_cycle_may_be_longer_than_the_cluster(void **state)
{
    (void)state;
    make_cycle(6);
    pass(AFTER_MS + 100);
    for (unsigned k = 0; k < 5; k++)
        assert_string_equal(heard(k), "");
    assert_string_equal(
        heard(5),
        "-DEADLOCK this client waits for \"x0\", held by job0 at member ant, which waits for \"x1\", held by "
        "job1 at member bee, which waits for \"x2\", held by job2 at member cat, which waits for \"x3\", held "
        "by job3 at member ant, which waits for \"x4\", held by job4 at member bee, which waits for \"x5\", "
        "held by this client");
}

/* The client says that it runs under a lock. */
static void run_under(unsigned k, const char *name, uint64_t fence)
{
    char under[64], line[256];

    snprintf(under, sizeof under, "no line\n%llu %s\n", (unsigned long long)fence, name);
    snprintf(line, sizeof line,
             "*6\r\n$5\r\nHELLO\r\n$1\r\n2\r\n$7\r\nSETNAME\r\n$6\r\nchild%u\r\n$5\r\nUNDER\r\n$%zu\r\n%s\r\n", k,
             strlen(under), under);
    assert_non_null(strstr(say(k, line), "dibs"));
}

static uint64_t fence_of(const char *answer)
{
    const char *colon = strrchr(answer, ':');

    assert_non_null(colon);
    return strtoull(colon + 1, NULL, 10);
}

/* HELLO .. UNDER with a text that names no lock, again and again. A sanitizer has its own allocator, and finds the leak itself. */
static void a_hello_that_is_repeated_takes_no_memory(void **state)
{
    size_t before;

    (void)state;
    say(0, "HELLO 2 UNDER junk\n");
    before = mallinfo2().uordblks;
    for (unsigned k = 0; k < 100; k++)
        say(0, "HELLO 2 UNDER junk\n");
    assert_true(mallinfo2().uordblks < before + 16384);
}

/* dibs lock a -- dibs lock b, and dibs lock b -- dibs lock a: the sessions that hold do not wait, their children do. */
static void locks_under_which_a_command_runs_count_as_held(void **state)
{
    uint64_t a, b;

    (void)state;
    a = fence_of(say(0, "CLIENT SETNAME outer\nLOCK a\n"));
    b = fence_of(say(1, "LOCK b\n"));
    run_under(2, "a", a);
    run_under(3, "b", b);
    assert_string_equal(say(2, "LOCK b\n"), "");
    pass(50);
    assert_string_equal(say(3, "LOCK a\n"), "");
    pass(AFTER_MS + 49);
    assert_string_equal(heard(3), "");
    pass(AFTER_MS + 50);
    assert_string_equal(heard(2), "");
    assert_string_equal(heard(3),
                        "-DEADLOCK this client waits for \"a\", held by outer at member ant, under which child2 at "
                        "member cat runs and waits for \"b\", held by a client at member bee, under which this "
                        "client runs");
    cluster_go(&all, &client[1], true);
    settle();
    assert_non_null(strstr(heard(2), "*2 $1 b"));
}

/* The same with a fence that is no longer that of the lock: there is no cycle. */
static void a_lock_that_was_released_since_is_no_edge(void **state)
{
    uint64_t a, b;

    (void)state;
    a = fence_of(say(0, "LOCK a\n"));
    b = fence_of(say(1, "LOCK b\n"));
    say(0, "UNLOCK a\n");
    assert_int_not_equal(fence_of(say(0, "LOCK a\n")), a);
    run_under(2, "a", a);
    run_under(3, "b", b);
    assert_string_equal(say(2, "LOCK b\n"), "");
    assert_string_equal(say(3, "LOCK a\n"), "");
    pass(10 * AFTER_MS);
    assert_string_equal(heard(2), "");
    assert_string_equal(heard(3), "");
    assert_true(probes() > 0);
}

/* Clients of one member; and one of several locks at once, of which none is kept. */
static void several_locks_are_released_by_a_deadlock(void **state)
{
    (void)state;
    assert_non_null(strstr(say(0, "LOCK a\n"), "*2 $1 a"));
    assert_non_null(strstr(say(3, "LOCK b\n"), "*2 $1 b"));
    assert_string_equal(say(0, "LOCK b\n"), "");
    pass(10);
    assert_string_equal(say(3, "LOCK 9 AND a AND z\n"), "");
    pass(AFTER_MS + 10);
    assert_non_null(
        strstr(heard(3), "-DEADLOCK this client waits for \"a\", held by a client at member ant, which waits"));
    assert_non_null(strstr(say(1, "LOCK 9 WAIT 0\n"), "*2 $1 9"));
    assert_non_null(strstr(say(3, "CONFIRM b\n"), ":"));
}

/* Clients that hold nothing, or do not wait for long, cost nothing. */
static void what_is_no_cycle_costs_little_and_ends_nothing(void **state)
{
    (void)state;
    say(0, "LOCK a\n");
    assert_string_equal(say(1, "LOCK a\n"), "");
    assert_string_equal(say(2, "LOCK a SHARED\n"), "");
    pass(10 * AFTER_MS);
    assert_int_equal(probes(), 0);
    say(3, "LOCK b\n");
    assert_string_equal(say(3, "LOCK a WAIT 999\n"), "");
    pass(11 * AFTER_MS);
    assert_int_equal(probes(), 0);
    assert_string_equal(heard(3), "*-1");
    assert_string_equal(say(3, "LOCK a\n"), "");
    pass(12 * AFTER_MS);
    assert_int_equal(probes(),
                     2); /* which clients block it, and wait? which of those that run under the lock of the holder? */
    pass(16 * AFTER_MS);
    assert_int_equal(probes(), 2);
    pass(17 * AFTER_MS); /* it is sent again, but not often */
    assert_int_equal(probes(), 4);
    assert_string_equal(heard(3), "");
}

/* A wait for a slot ends with any of the holders; a shared lock excludes no wait that may share it. */
static void slots_and_sharing_are_no_edges(void **state)
{
    (void)state;
    say(0, "LOCK s SLOTS 2\n");
    say(1, "LOCK s SLOTS 2\n");
    say(2, "LOCK a\n");
    assert_string_equal(say(0, "LOCK a\n"), "");
    pass(10);
    assert_string_equal(say(2, "LOCK s SLOTS 2\n"), "");
    pass(3 * AFTER_MS);
    assert_string_equal(heard(2), "");
    assert_string_equal(say(1, "UNLOCK s\n"), "+OK");
    assert_non_null(strstr(heard(2), "*2 $1 s"));
}

/* Many clients that wait can fill a link with probes if it is slow. They take a part of its room only, and other clients' queries
 * have the rest. */
static void probes_leave_room_for_queries(void **state)
{
    enum { MANY = 2000 };
    static struct cluster_client many[MANY];
    char name[101], line[256];

    (void)state;
    memset(name, 'w', 100);
    name[100] = '\0';
    snprintf(line, sizeof line, "LOCK %s\n", name);
    assert_non_null(strstr(say(1, line), "*2 $100"));
    for (unsigned k = 0; k < MANY; k++) {
        cluster_come(&all, &many[k], 0);
        snprintf(line, sizeof line, "LOCK x%u\nLOCK %s\n", k, name);
        cluster_say(&all, &many[k], line);
    }
    settle();
    all.room = 1;
    for (uint64_t now_ms = AFTER_MS; node[0].deadlocks.probes < MANY; now_ms++)
        cluster_tell(&all, 0, (struct node_input){.type = NODE_TIME, .now_ms = now_ms});
    assert_in_range(bytes_len(&node[0].member[1]->link.notes), DEADLOCK_NOTES, DEADLOCK_NOTES + 8192);
    snprintf(line, sizeof line, "HOLDERS %s%s\n", name, name); /* longer than a probe */
    cluster_say(&all, &client[0], line);
    all.room = 0;
    settle();
    assert_string_equal(heard(0), "*0");
    for (unsigned k = 0; k < MANY; k++) {
        cluster_go(&all, &many[k], true);
        bytes_free(&many[k].heard);
    }
}

static uint8_t *forge_hop(uint8_t *to, unsigned member, uint64_t number, uint64_t fence, const char *name)
{
    to = pack_number(pack_number(to, 0, 1), node[member].view.member[member].id, 8);
    to = pack_number(pack_number(to, node[member].self.incarnation, 8), number, 8);
    to = pack_number(pack_number(to, 1, 8), fence, 8);
    to = pack_number(pack_number(to, 0, 2), LOCK_ALONE, 4);
    return pack_text(pack_text(to, "", 0), name, strlen(name));
}

/* The first member hears of a cycle: its client waits for b and holds a; a client of the second one holds b and waits for a. */
static void hear_cycle(bool confirms, uint64_t number, uint64_t a, uint64_t b)
{
    uint8_t bytes[256], *to = pack_number(pack_number(bytes, 1, 8), confirms ? 2 : 0, 1);

    to = forge_hop(forge_hop(to, 0, number, confirms ? a : 0, "b"), 1, 77, b, "a");
    assert_null(deadlock_hear(&node[0], confirms, &(struct unpack){.at = bytes, .end = to}));
    settle();
}

/* The probe is late: the client of the second member does not wait any more. A wait or a hold that is not the same one is none. */
static void a_cycle_that_is_over_ends_no_wait(void **state)
{
    uint64_t a, b, number;

    (void)state;
    a = fence_of(say(0, "LOCK a\n"));
    b = fence_of(say(1, "LOCK b\n"));
    assert_string_equal(say(0, "LOCK b\n"), "");
    number = client[0].end->session->waiting->number;
    hear_cycle(false, number, a, b);
    hear_cycle(true, number + 1, a, b);
    hear_cycle(true, number, a + 1, b);
    assert_string_equal(heard(0), "");
    hear_cycle(true, number, a, b); /* only this is what the second member would have confirmed */
    assert_non_null(
        strstr(heard(0), "-DEADLOCK this client waits for \"b\", held by a client at member bee, which waits for"));
}

/* What a member is told may be anything. The first bytes of a probe that is right are no probe, or a shorter one. */
static void probes_are_checked(void **state)
{
    uint8_t bytes[512], *to = pack_number(bytes, 1, 8);

    (void)state;
    to = pack_number(to, 1, 1);
    for (unsigned k = 0; k < 2; k++) {
        to = pack_number(to, 0, 1);
        for (unsigned j = 0; j < 5; j++)
            to = pack_number(to, 1, 8);
        to = pack_text(pack_text(pack_number(pack_number(to, 0, 2), 0, 4), "who", 3), "name", 4);
    }
    for (size_t len = 0; len <= (size_t)(to - bytes); len++)
        for (unsigned confirms = 0; confirms < 2; confirms++) {
            struct unpack u = {.at = bytes, .end = bytes + len};
            const char *wrong = deadlock_hear(&node[0], confirms, &u);
            bool whole = len == (size_t)(to - bytes) || len == 9 + 1 + 40 + 6 + 4 + 5;

            assert_int_equal(wrong == NULL, confirms && whole); /* `at` of a search is 0 */
        }
    bytes[8] = 3; /* behind the last hop */
    assert_non_null(deadlock_hear(&node[0], true, &(struct unpack){.at = bytes, .end = to}));
    to[-1] = '\n';
    bytes[8] = 1;
    assert_non_null(deadlock_hear(&node[0], true, &(struct unpack){.at = bytes, .end = to}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_youngest_wait_of_a_cycle_ends, start, stop),
        cmocka_unit_test_setup_teardown(a_cycle_may_be_longer_than_the_cluster, start, stop),
        cmocka_unit_test_setup_teardown(locks_under_which_a_command_runs_count_as_held, start, stop),
        cmocka_unit_test_setup_teardown(a_hello_that_is_repeated_takes_no_memory, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_that_was_released_since_is_no_edge, start, stop),
        cmocka_unit_test_setup_teardown(several_locks_are_released_by_a_deadlock, start, stop),
        cmocka_unit_test_setup_teardown(what_is_no_cycle_costs_little_and_ends_nothing, start, stop),
        cmocka_unit_test_setup_teardown(slots_and_sharing_are_no_edges, start, stop),
        cmocka_unit_test_setup_teardown(probes_leave_room_for_queries, start, stop),
        cmocka_unit_test_setup_teardown(a_cycle_that_is_over_ends_no_wait, start, stop),
        cmocka_unit_test_setup_teardown(probes_are_checked, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
