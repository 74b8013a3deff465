/* Who waits for whom, in a cluster of three whose messages all arrive: a writer waits for no reader that comes later, readers
 * wait for no reader, a client that only tries is answered without waiting for a holder, and a lock that nobody uses can
 * become one of another kind. For every algorithm that can run locks. */
#include "test.h"

#include "alg/list.h"
#include "members.h"
#include "node/inside.h"
#include "node/session.h"

#include <string.h>

enum { MEMBERS = 3, READERS = 200 };

static const char *const member_names[] = {"ant", "bee", "cat"};

struct cluster {
    struct node node[MEMBERS];
    const struct dme_alg *algorithm, *slots_algorithm;
};

/* What a client has heard last. */
struct client {
    struct session *session;
    bool answered;
    enum claim_state state;
};

/* ---------------------------------------------------------------------------------------------------------- a cluster */

static void hear(struct node *node)
{
    struct node_event e;

    while (node_next(node, &e)) {
        struct client *me = e.session->user;

        me->answered = true;
        me->state = e.state;
    }
}

/* Everything that has been said arrives, and what is said about it, too. */
static void settle(struct cluster *c)
{
    size_t carried = 1;

    while (carried) {
        carried = 0;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            node_advance(&c->node[i], c->node[i].now_ms + 1);
            hear(&c->node[i]);
            for (uint32_t j = 0; j < MEMBERS; j++) {
                struct link *out = i == j ? NULL : &c->node[i].member[j]->link;
                size_t len = 0;
                const uint8_t *bytes = out ? link_output(out, &len) : NULL;

                if (len) {
                    link_input(&c->node[j].member[i]->link, bytes, len);
                    link_wrote(out, len);
                    node_pump(&c->node[j]);
                    assert_int_equal(c->node[j].member[i]->link.state == LINK_ENDING, 0);
                }
                carried += len;
            }
        }
    }
}

static void start(struct cluster *c, const struct dme_alg *algorithm, const struct dme_alg *slots)
{
    c->algorithm = algorithm;
    c->slots_algorithm = slots;
    for (uint32_t i = 0; i < MEMBERS; i++)
        members_start(&c->node[i],
                      (struct node_conf){.summary = "same", .algorithm = algorithm, .slots_algorithm = slots},
                      member_names, MEMBERS, i);
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (uint32_t j = 0; j < MEMBERS; j++)
            if (i != j)
                link_connected(&c->node[i].member[j]->link);
    settle(c);
}

static void stop(struct cluster *c)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        node_free(&c->node[i]);
}

static void ask(struct cluster *c, struct client *me, uint32_t member, const struct session_wish *wish)
{
    char line[256];
    struct dme_text why;
    const char *code;

    dme_text_init(&why, line, sizeof line);
    if (!me->session)
        me->session = session_open(&c->node[member], me);
    me->answered = false;
    code = session_lock(me->session, wish, &why);
    if (code)
        fail_msg("%s: %s %s", c->algorithm->name, code, line);
    hear(&c->node[member]);
}

static void claim(struct cluster *c, struct client *me, uint32_t member, const char *name, uint32_t mode)
{
    ask(c, me, member,
        &(struct session_wish){.name = name, .name_len = strlen(name), .mode = mode, .wait_ms = SESSION_FOREVER});
}

/* Now or not at all. */
static void try(struct cluster *c, struct client *me, uint32_t member, const char *name, uint32_t mode, uint32_t slots)
{
    ask(c, me, member, &(struct session_wish){.name = name, .name_len = strlen(name), .mode = mode, .slots = slots});
}

static bool holds(const struct client *me)
{
    return me->answered && me->state == CLAIM_HELD;
}

static bool failed(const struct client *me)
{
    return me->answered && me->state == CLAIM_TIMED_OUT;
}

static void let_go(struct client *me)
{
    struct node *node = me->session->node;

    session_close(me->session);
    me->session = NULL;
    me->answered = false;
    hear(node);
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
        start(&c, slots ? alg_find("central") : alg_list[k], slots ? alg_list[k] : alg_find("central"));
        test(&c);
        stop(&c);
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
        struct client first = {0}, second = {0}, other = {0}, writer = {0}, late[2] = {{0}};
        uint32_t m = round % MEMBERS, w = (m + 1 + round / MEMBERS % 2) % MEMBERS;
        uint32_t third = (uint32_t)MEMBERS - m - w;

        claim(c, &first, m, name, LOCK_SHARED);
        settle(c);
        if (round >= 6) {
            claim(c, &other, third, name, LOCK_SHARED);
            settle(c);
        }
        claim(c, &second, m, name, LOCK_SHARED);
        settle(c);
        assert_true(holds(&first) && holds(&second) && (round < 6 || holds(&other)));
        claim(c, &writer, w, name, LOCK_ALONE);
        settle(c);
        claim(c, &late[0], m, name, LOCK_SHARED);
        claim(c, &late[1], third, name, LOCK_SHARED);
        settle(c);
        if (holds(&late[0]) || holds(&late[1]))
            fail_msg("%s: a reader overtakes a writer, round %u", c->algorithm->name, round);
        let_go(&first);
        let_go(&second);
        if (round >= 6)
            let_go(&other);
        settle(c);
        if (!holds(&writer) || holds(&late[0]) || holds(&late[1]))
            fail_msg("%s: the writer is not next, round %u", c->algorithm->name, round);
        let_go(&writer);
        settle(c);
        if (!holds(&late[0]) || !holds(&late[1]))
            fail_msg("%s: the readers are not next, round %u", c->algorithm->name, round);
        let_go(&late[0]);
        let_go(&late[1]);
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
    static struct client reader[READERS];
    struct client writer = {0};

    memset(reader, 0, sizeof reader);
    for (unsigned k = 0; k < READERS; k++)
        claim(c, &reader[k], k < READERS / 2 ? 0 : k % MEMBERS, "x", LOCK_SHARED);
    settle(c);
    for (unsigned k = 0; k < READERS; k++)
        if (!holds(&reader[k]))
            fail_msg("%s: reader %u waits for readers", c->algorithm->name, k);
    /* A writer that gives up is forgotten by all, too. */
    claim(c, &writer, 1, "x", LOCK_ALONE);
    settle(c);
    let_go(&reader[0]);
    claim(c, &reader[0], 0, "x", LOCK_SHARED);
    settle(c);
    assert_false(holds(&reader[0]));
    let_go(&writer);
    settle(c);
    assert_true(holds(&reader[0]));
    for (unsigned k = 0; k < READERS; k++)
        let_go(&reader[k]);
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
        struct client me = {0};

        try(c, &me, k * 7 / 3 % MEMBERS, name, LOCK_ALONE, 0);
        settle(c);
        if (!holds(&me))
            fail_msg("%s: try %u of a free lock failed", c->algorithm->name, k);
        let_go(&me);
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
        struct client holder = {0}, me = {0}, two = {0};
        uint32_t m = round % MEMBERS;

        claim(c, &holder, m, name, LOCK_ALONE);
        settle(c);
        assert_true(holds(&holder));
        try(c, &me, (m + round / 3) % MEMBERS, name, LOCK_ALONE, 0);
        settle(c);
        if (!failed(&me))
            fail_msg("%s: a try waits for a holder, round %u", c->algorithm->name, round);
        let_go(&holder);
        settle(c);
        /* Of two that try at once one gets it, and the other hears that. */
        try(c, &me, m, name, LOCK_ALONE, 0);
        try(c, &two, (m + 1) % MEMBERS, name, LOCK_ALONE, 0);
        settle(c);
        if (holds(&me) == holds(&two) || failed(&me) == failed(&two))
            fail_msg("%s: two tried, round %u", c->algorithm->name, round);
        let_go(&me);
        let_go(&two);
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
    struct client reader = {0}, me[MEMBERS] = {{0}}, writer = {0};

    claim(c, &reader, 0, "x", LOCK_SHARED);
    settle(c);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        try(c, &me[m], m, "x", LOCK_SHARED, 0);
        settle(c);
        assert_true(holds(&me[m]));
        let_go(&me[m]);
        settle(c);
    }
    claim(c, &writer, 1, "x", LOCK_ALONE);
    settle(c);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        try(c, &me[m], m, "x", LOCK_SHARED, 0);
        settle(c);
        if (!failed(&me[m]))
            fail_msg("%s: a try waits behind a writer at member %u", c->algorithm->name, m);
        let_go(&me[m]);
    }
    let_go(&reader);
    settle(c);
    assert_true(holds(&writer));
    for (uint32_t m = 0; m < MEMBERS; m++) {
        try(c, &me[m], m, "x", LOCK_SHARED, 0);
        settle(c);
        assert_true(failed(&me[m]));
        let_go(&me[m]);
    }
    let_go(&writer);
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
        struct client me[4] = {{0}};

        for (unsigned k = 0; k < 4; k++) {
            try(c, &me[k], (k + round) % MEMBERS, name, LOCK_ALONE, 3);
            settle(c);
            if (k < 3 ? !holds(&me[k]) : !failed(&me[k]))
                fail_msg("%s: try %u, round %u", c->slots_algorithm->name, k, round);
        }
        let_go(&me[1]);
        settle(c);
        try(c, &me[1], round % MEMBERS, name, LOCK_ALONE, 3);
        settle(c);
        if (!holds(&me[1]))
            fail_msg("%s: a slot was free, round %u", c->slots_algorithm->name, round);
        for (unsigned k = 0; k < 4; k++)
            let_go(&me[k]);
        settle(c);
    }
}

static void a_try_gets_a_free_slot(void **state)
{
    (void)state;
    with_each(1u << DME_SLOTS, check_slot_tries);
}

/* --------------------------------------------------------------------------------------------------------------- kinds */

/* A name is used as a lock of one kind and of another, by turns, wherever it is at home and the clients are. */
static void check_kinds(struct cluster *c)
{
    static const uint32_t kinds[] = {0, 3, 2, 0};

    for (unsigned round = 0; round < 60; round++) {
        const char name[] = {(char)('a' + round % 7), '\0'};
        struct session_wish wish = {.name = name, .name_len = 1, .slots = kinds[round / 7 % 4]},
                            other = {.name = name, .name_len = 1, .slots = kinds[(round / 7 + 1) % 4]};
        struct client me = {0}, two = {0};

        wish.wait_ms = other.wait_ms = SESSION_FOREVER;
        ask(c, &me, round % MEMBERS, &wish);
        settle(c);
        if (!holds(&me))
            fail_msg("%s, %s: \"%s\" did not become a lock with %u slots, round %u", c->algorithm->name,
                     c->slots_algorithm->name, name, wish.slots, round);
        /* While it is used, it stays what it is. */
        two.session = session_open(&c->node[round / 2 % MEMBERS], &two);
        if (other.slots != wish.slots && !session_lock(two.session, &other, &(struct dme_text){0})) {
            settle(c);
            if (!two.answered || two.state != CLAIM_REFUSED)
                fail_msg("%s: a lock in use became another one, round %u", c->algorithm->name, round);
        }
        assert_true(holds(&me));
        let_go(&two);
        let_go(&me);
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
        struct session_wish wish = {.name = name, .name_len = 1, .wait_ms = SESSION_FOREVER}, other = wish;
        struct client me = {0}, two = {0};

        other.slots = 2;
        ask(c, &me, round % MEMBERS, &wish);
        ask(c, &two, (round + 1 + round / 5 % 2) % MEMBERS, &other);
        settle(c);
        if (holds(&me) == holds(&two) || !me.answered || !two.answered)
            fail_msg("%s: not one of two kinds, round %u", c->algorithm->name, round);
        let_go(&me);
        let_go(&two);
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
        cmocka_unit_test(a_lock_that_nobody_uses_can_change_its_kind),
        cmocka_unit_test(of_two_kinds_at_once_one_is_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
