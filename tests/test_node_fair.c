/* Which client waits for which, in a cluster of three whose messages all arrive: a writer waits for no reader that comes later, readers
 * wait for no reader, a client that only tries is answered without waiting for a holder, and a lock that no client uses can
 * become one of another kind; an urgent client passes others of its member, and those are passed no more often than is said. For
 * every algorithm that can run locks.
 * Invariant: I16. */
#include "test.h"

#include "alg/list.h"
#include "cluster.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS = 3, READERS = 200 };

static const char *const member_names[] = {"ant", "bee", "cat"};

static struct node node[MEMBERS];
static const struct dme_alg *algorithm, *slots_algorithm;

/* ---------------------------------------------------------------------------------------------------------- a cluster */

/* Everything that has been said arrives, and what is said about it, too; and a moment passes. */
static void settle(struct cluster *c)
{
    cluster_settle(c);
    cluster_pass(c, c->node[0].now_ms + 1);
    cluster_settle(c);
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (uint32_t j = 0; j < MEMBERS; j++)
            assert_true(i == j || c->node[i].member[j]->link.state == LINK_UP);
}

static void start(struct cluster *c)
{
    *c = (struct cluster){.n = MEMBERS, .node = node};
    for (uint32_t i = 0; i < MEMBERS; i++)
        members_start(
            &c->node[i],
            (struct node_conf){
                .summary = "same", .algorithm = algorithm, .slots_algorithm = slots_algorithm, .told = cluster_told},
            member_names, MEMBERS, i);
    cluster_connect_all(c);
    settle(c);
}

/* It asks anew. Returns false if it is refused at once. */
static bool asks(struct cluster *c, struct cluster_client *me, uint32_t member, const char *name, const char *words)
{
    if (!me->end)
        cluster_come(c, me, member);
    me->events = 0;
    cluster_lock(c, me, name, words);
    return cluster_heard(me)[0] != '-';
}

static void claim(struct cluster *c, struct cluster_client *me, uint32_t member, const char *name, const char *words)
{
    if (!asks(c, me, member, name, words))
        fail_msg("%s: \"%s\" is refused", algorithm->name, name);
}

static bool holds(const struct cluster_client *me)
{
    return cluster_is_told(me, CLAIM_HELD);
}

static bool failed(const struct cluster_client *me)
{
    return cluster_is_told(me, CLAIM_TIMED_OUT);
}

static void let_go(struct cluster *c, struct cluster_client *me)
{
    cluster_go(c, me, true);
    bytes_free(&me->heard);
    me->events = 0;
}

static bool can_run(const struct dme_alg *alg, bool slots)
{
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    return locks_can_run(alg, slots, MEMBERS, &why);
}

/* The test, with each algorithm that knows all of these rules. */
static void with_each(uint32_t rules, void (*test)(struct cluster *c))
{
    unsigned count = 0;

    for (unsigned k = 0; alg_list[k]; k++) {
        bool slots = rules == 1u << DME_SLOTS;
        static struct cluster c;

        if ((alg_list[k]->rules & rules) != rules || !can_run(alg_list[k], slots))
            continue;
        algorithm = slots ? alg_find("central") : alg_list[k];
        slots_algorithm = slots ? alg_list[k] : alg_find("central");
        start(&c);
        test(&c);
        cluster_end(&c);
        count++;
    }
    assert_true(count >= 2);
}

/* ------------------------------------------------------------------------------------------------------------- sharing */

/* Wherever readers are and the writer comes. The home of the name, too, is elsewhere with each name. */
static void check_newcomers(struct cluster *c)
{
    for (unsigned round = 0; round < 18; round++) {
        const char name[] = {(char)('a' + round), '\0'};
        struct cluster_client first = {0}, second = {0}, other = {0}, writer = {0}, late[2] = {{0}};
        uint32_t m = round % MEMBERS, w = (m + 1 + round / MEMBERS % 2) % MEMBERS;
        uint32_t third = (uint32_t)MEMBERS - m - w;

        claim(c, &first, m, name, "SHARED");
        settle(c);
        if (round >= 6) {
            claim(c, &other, third, name, "SHARED");
            settle(c);
        }
        claim(c, &second, m, name, "SHARED");
        settle(c);
        assert_true(holds(&first) && holds(&second) && (round < 6 || holds(&other)));
        claim(c, &writer, w, name, "");
        settle(c);
        claim(c, &late[0], m, name, "SHARED");
        claim(c, &late[1], third, name, "SHARED");
        settle(c);
        if (holds(&late[0]) || holds(&late[1]))
            fail_msg("%s: a reader overtakes a writer, round %u", algorithm->name, round);
        let_go(c, &first);
        let_go(c, &second);
        if (round >= 6)
            let_go(c, &other);
        settle(c);
        if (!holds(&writer) || holds(&late[0]) || holds(&late[1]))
            fail_msg("%s: the writer is not next, round %u", algorithm->name, round);
        let_go(c, &writer);
        settle(c);
        if (!holds(&late[0]) || !holds(&late[1]))
            fail_msg("%s: the readers are not next, round %u", algorithm->name, round);
        let_go(c, &late[0]);
        let_go(c, &late[1]);
        settle(c);
    }
}

static void a_reader_that_comes_later_overtakes_no_writer(void **state)
{
    (void)state;
    with_each(1u << DME_SHARED, check_newcomers);
}

static void check_readers(struct cluster *c)
{
    static struct cluster_client reader[READERS];
    struct cluster_client writer = {0};

    memset(reader, 0, sizeof reader);
    for (unsigned k = 0; k < READERS; k++)
        claim(c, &reader[k], k < READERS / 2 ? 0 : k % MEMBERS, "x", "SHARED");
    settle(c);
    for (unsigned k = 0; k < READERS; k++)
        if (!holds(&reader[k]))
            fail_msg("%s: reader %u waits for readers", algorithm->name, k);
    /* A writer that gives up is forgotten by all, too. */
    claim(c, &writer, 1, "x", "");
    settle(c);
    let_go(c, &reader[0]);
    claim(c, &reader[0], 0, "x", "SHARED");
    settle(c);
    assert_false(holds(&reader[0]));
    let_go(c, &writer);
    settle(c);
    assert_true(holds(&reader[0]));
    for (unsigned k = 0; k < READERS; k++)
        let_go(c, &reader[k]);
    settle(c);
}

static void readers_wait_for_no_reader(void **state)
{
    (void)state;
    with_each(1u << DME_SHARED, check_readers);
}

/* --------------------------------------------------------------------------------------------------------------- tries */

static void check_free_tries(struct cluster *c)
{
    for (unsigned k = 0; k < 200; k++) {
        const char name[] = {(char)('a' + k % 5), '\0'};
        struct cluster_client me = {0};

        claim(c, &me, k * 7 / 3 % MEMBERS, name, "WAIT 0");
        settle(c);
        if (!holds(&me))
            fail_msg("%s: try %u of a free lock failed", algorithm->name, k);
        let_go(c, &me);
        if (k % 3)
            settle(c);
    }
}

static void a_try_gets_what_is_free(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_free_tries);
}

static void check_held_tries(struct cluster *c)
{
    for (unsigned round = 0; round < 12; round++) {
        const char name[] = {(char)('a' + round), '\0'};
        struct cluster_client holder = {0}, me = {0}, two = {0};
        uint32_t m = round % MEMBERS;

        claim(c, &holder, m, name, "");
        settle(c);
        assert_true(holds(&holder));
        claim(c, &me, (m + round / 3) % MEMBERS, name, "WAIT 0");
        settle(c);
        if (!failed(&me))
            fail_msg("%s: a try waits for a holder, round %u", algorithm->name, round);
        let_go(c, &holder);
        settle(c);
        /* Of two that try at once one gets it, and the other hears that. */
        claim(c, &me, m, name, "WAIT 0");
        claim(c, &two, (m + 1) % MEMBERS, name, "WAIT 0");
        settle(c);
        if (holds(&me) == holds(&two) || failed(&me) == failed(&two))
            fail_msg("%s: two tried, round %u", algorithm->name, round);
        let_go(c, &me);
        let_go(c, &two);
        settle(c);
    }
}

static void a_try_waits_for_no_holder(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_held_tries);
}

static void check_shared_tries(struct cluster *c)
{
    struct cluster_client reader = {0}, me[MEMBERS] = {{0}}, writer = {0};

    claim(c, &reader, 0, "x", "SHARED");
    settle(c);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        claim(c, &me[m], m, "x", "SHARED WAIT 0");
        settle(c);
        assert_true(holds(&me[m]));
        let_go(c, &me[m]);
        settle(c);
    }
    claim(c, &writer, 1, "x", "");
    settle(c);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        claim(c, &me[m], m, "x", "SHARED WAIT 0");
        settle(c);
        if (!failed(&me[m]))
            fail_msg("%s: a try waits behind a writer at member %u", algorithm->name, m);
        let_go(c, &me[m]);
    }
    let_go(c, &reader);
    settle(c);
    assert_true(holds(&writer));
    for (uint32_t m = 0; m < MEMBERS; m++) {
        claim(c, &me[m], m, "x", "SHARED WAIT 0");
        settle(c);
        assert_true(failed(&me[m]));
        let_go(c, &me[m]);
    }
    let_go(c, &writer);
    settle(c);
}

static void a_try_shares_unless_a_writer_waits(void **state)
{
    (void)state;
    with_each(1u << DME_SHARED, check_shared_tries);
}

static void check_slot_tries(struct cluster *c)
{
    for (unsigned round = 0; round < 6; round++) {
        const char name[] = {(char)('a' + round), '\0'};
        struct cluster_client me[4] = {{0}};

        for (unsigned k = 0; k < 4; k++) {
            claim(c, &me[k], (k + round) % MEMBERS, name, "SLOTS 3 WAIT 0");
            settle(c);
            if (k < 3 ? !holds(&me[k]) : !failed(&me[k]))
                fail_msg("%s: try %u, round %u", slots_algorithm->name, k, round);
        }
        let_go(c, &me[1]);
        settle(c);
        claim(c, &me[1], round % MEMBERS, name, "SLOTS 3 WAIT 0");
        settle(c);
        if (!holds(&me[1]))
            fail_msg("%s: a slot was free, round %u", slots_algorithm->name, round);
        for (unsigned k = 0; k < 4; k++)
            let_go(c, &me[k]);
        settle(c);
    }
}

static void a_try_gets_a_free_slot(void **state)
{
    (void)state;
    with_each(1u << DME_SLOTS, check_slot_tries);
}

/* ---------------------------------------------------------------------------------------------------------- priorities */

enum { LINE = 12, STREAM = LOCK_PRIORITY_MAX * LOCK_PRIORITY_STEP + 2 * LOCK_BATCH_MAX };

/* The client of `all` that holds the lock: it leaves. Its index, or `count` if none does. */
static unsigned serve_next(struct cluster *c, struct cluster_client *all, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (all[k].end && holds(&all[k])) {
            let_go(c, &all[k]);
            settle(c);
            return k;
        }
    return count;
}

/* Of a member's clients the urgent ones are first, and of equals the one that came first. */
static void check_priorities(struct cluster *c)
{
    static const unsigned urgency[LINE] = {0, 3, 0, 9, 3, 5, 9, 0, 1, 2, 3, 4},
                          order[LINE] = {3, 6, 5, 11, 1, 4, 10, 9, 8, 0, 2, 7};

    for (unsigned round = 0; round < MEMBERS; round++) {
        const char name[] = {(char)('a' + round), '\0'};
        struct cluster_client holder = {0}, line[LINE] = {{0}};

        claim(c, &holder, round, name, "");
        settle(c);
        for (unsigned k = 0; k < LINE; k++) {
            char words[32];

            snprintf(words, sizeof words, "PRIORITY %u", urgency[k]);
            claim(c, &line[k], 1, name, words);
        }
        settle(c);
        let_go(c, &holder);
        settle(c);
        for (unsigned k = 0; k < LINE; k++) {
            unsigned next = serve_next(c, line, LINE);

            if (next != order[k])
                fail_msg("%s: client %u is number %u, round %u", algorithm->name, next, k, round);
        }
    }
}

static void of_a_members_clients_the_urgent_ones_are_first(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_priorities);
}

/* However many urgent clients come, a client is overtaken by less than LOCK_PRIORITY_STEP of them for each step. */
static void check_starvation(struct cluster *c)
{
    for (unsigned urgency = 1; urgency <= LOCK_PRIORITY_MAX; urgency += 4) {
        static struct cluster_client stream[STREAM];
        struct cluster_client patient = {0};
        unsigned served = 0, next = 0;
        char words[32];

        memset(stream, 0, sizeof stream);
        snprintf(words, sizeof words, "PRIORITY %u", urgency);
        claim(c, &stream[next++], 0, "x", words);
        settle(c);
        claim(c, &patient, 0, "x", "");
        for (; !holds(&patient) && next < STREAM; served++) {
            claim(c, &stream[next++], 0, "x", words); /* one that waits, whenever one is served */
            assert_true(serve_next(c, stream, next) < next);
        }
        if (served != urgency * LOCK_PRIORITY_STEP) /* one was before it, and fewer than that pass it */
            fail_msg("%s: %u with priority %u were first", algorithm->name, served, urgency);
        let_go(c, &patient);
        for (unsigned k = 0; k < next; k++)
            if (stream[k].end)
                let_go(c, &stream[k]);
        settle(c);
    }
}

static void however_many_urgent_clients_come_none_starves(void **state)
{
    (void)state;
    with_each(1u << DME_SHARED, check_starvation);
}

/* How many clients of member 0 are served before the one at member 1, if they come during a turn of member 0. */
static unsigned turns_of_others(struct cluster *c, const char *name, const char *words)
{
    static struct cluster_client line[3 * LOCK_BATCH_MAX];
    struct cluster_client other = {0};
    unsigned next = 0, served = 0;

    memset(line, 0, sizeof line);
    while (next < 5)
        claim(c, &line[next++], 0, name, "");
    settle(c);
    claim(c, &other, 1, name, "");
    settle(c);
    for (; !holds(&other) && next < 3 * LOCK_BATCH_MAX; served++) {
        claim(c, &line[next++], 0, name, words);
        serve_next(c, line, next);
    }
    let_go(c, &other);
    for (unsigned k = 0; k < next; k++)
        if (line[k].end)
            let_go(c, &line[k]);
    settle(c);
    return served;
}

static void check_members(struct cluster *c)
{
    unsigned equal = turns_of_others(c, "x", ""), urgent = turns_of_others(c, "x", "PRIORITY 9");

    if (urgent > equal || urgent > LOCK_BATCH_MAX)
        fail_msg("%s: a member waits for %u urgent clients of another one, and for %u others", algorithm->name, urgent,
                 equal);
}

static void urgent_clients_of_one_member_hold_up_no_other_member(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_members);
}

/* Readers that waited when their member's turn began are let in together, also if an urgent one has come before them since. */
static void check_urgent_readers(struct cluster *c)
{
    struct cluster_client writer = {0}, reader[LINE] = {{0}}, late = {0};

    claim(c, &writer, 0, "x", "");
    for (unsigned k = 0; k < LINE; k++)
        claim(c, &reader[k], 0, "x", k % 3 ? "SHARED" : "SHARED PRIORITY 2");
    settle(c);
    let_go(c, &writer);
    claim(c, &late, 0, "x", "SHARED PRIORITY 9");
    settle(c);
    for (unsigned k = 0; k < LINE; k++)
        assert_true(holds(&reader[k]));
    assert_true(holds(&late));
    let_go(c, &late);
    for (unsigned k = 0; k < LINE; k++)
        let_go(c, &reader[k]);
    settle(c);
}

static void urgent_readers_share_with_all(void **state)
{
    (void)state;
    with_each(1u << DME_SHARED, check_urgent_readers);
}

/* --------------------------------------------------------------------------------------------------------------- kinds */

/* A name is used as a lock of one kind and of another, by turns, wherever it is at home and the clients are. */
static void check_kinds(struct cluster *c)
{
    static const char *const kinds[] = {"", "SLOTS 3", "SLOTS 2", ""};

    for (unsigned round = 0; round < 60; round++) {
        const char name[] = {(char)('a' + round % 7), '\0'};
        const char *wish = kinds[round / 7 % 4], *other = kinds[(round / 7 + 1) % 4];
        struct cluster_client me = {0}, two = {0};

        claim(c, &me, round % MEMBERS, name, wish);
        settle(c);
        if (!holds(&me))
            fail_msg("%s, %s: \"%s\" did not become \"%s\", round %u", algorithm->name, slots_algorithm->name, name,
                     wish, round);
        /* While it is used, it stays what it is. */
        if (strcmp(other, wish) != 0 && asks(c, &two, round / 2 % MEMBERS, name, other)) {
            settle(c);
            if (!cluster_is_told(&two, CLAIM_REFUSED))
                fail_msg("%s: a lock in use became another one, round %u", algorithm->name, round);
        }
        assert_true(holds(&me));
        let_go(c, &two);
        let_go(c, &me);
        if (round % 3)
            settle(c);
    }
}

static void a_lock_that_nobody_uses_can_change_its_kind(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_kinds);
    with_each(1u << DME_SLOTS, check_kinds);
}

/* Two members ask for two kinds of a new or an idle name at once: one of them gets it. */
static void check_two_kinds(struct cluster *c)
{
    for (unsigned round = 0; round < 30; round++) {
        const char name[] = {(char)('a' + round % 5), '\0'};
        struct cluster_client me = {0}, two = {0};

        claim(c, &me, round % MEMBERS, name, "");
        claim(c, &two, (round + 1 + round / 5 % 2) % MEMBERS, name, "SLOTS 2");
        settle(c);
        if (holds(&me) == holds(&two) || !me.events || !two.events)
            fail_msg("%s: not one of two kinds, round %u", algorithm->name, round);
        let_go(c, &me);
        let_go(c, &two);
        settle(c);
    }
}

static void of_two_kinds_at_once_one_is_granted(void **state)
{
    (void)state;
    with_each(1u << DME_EXCLUSIVE, check_two_kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_comes_later_overtakes_no_writer),
        cmocka_unit_test(readers_wait_for_no_reader),
        cmocka_unit_test(a_try_gets_what_is_free),
        cmocka_unit_test(a_try_waits_for_no_holder),
        cmocka_unit_test(a_try_shares_unless_a_writer_waits),
        cmocka_unit_test(a_try_gets_a_free_slot),
        cmocka_unit_test(of_a_members_clients_the_urgent_ones_are_first),
        cmocka_unit_test(however_many_urgent_clients_come_none_starves),
        cmocka_unit_test(urgent_clients_of_one_member_hold_up_no_other_member),
        cmocka_unit_test(urgent_readers_share_with_all),
        cmocka_unit_test(a_lock_that_nobody_uses_can_change_its_kind),
        cmocka_unit_test(of_two_kinds_at_once_one_is_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
