/* Two ends of a link that speak different versions of the protocol between members, or have another data directory than before (link.h). With real daemons: versions.sh; in
 * simulated clusters: dibs soak --focus versions. */
#include "test.h"

#include "link/registry.h"

#include <string.h>

enum { OURS = 20 }; /* any version: the link knows only what it is told */

static struct link_self self_of(const char *name, uint8_t newest)
{
    return (struct link_self){
        .name = name, .summary = "same", .incarnation = 1, .newest = newest, .oldest = (uint8_t)(newest - 1)};
}

/* All that one end has to say arrives at the other; messages are counted. */
static unsigned carry(struct link *from, struct link *to)
{
    const uint8_t *bytes, *message;
    unsigned messages = 0;
    size_t len;

    while ((bytes = link_output(from, &len)), len) {
        link_input(to, bytes, len);
        link_wrote(from, len);
        while (link_take(to, &message, &len) != LINK_NOTHING)
            messages++;
    }
    return messages;
}

static void meet(struct link *a, struct link *b)
{
    link_connected(a);
    link_connected(b);
    carry(a, b);
    carry(b, a);
}

static void a_link_uses_the_newest_version_that_both_sides_speak(void **state)
{
    static const struct {
        uint8_t ant, bee, version;
    } cases[] = {{OURS, OURS, OURS}, {OURS, OURS + 1, OURS}, {OURS + 1, OURS, OURS}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct link_self ant = self_of("ant", cases[k].ant), bee = self_of("bee", cases[k].bee);
        struct link a, b;

        link_init(&a, &ant, "bee");
        link_init(&b, &bee, "ant");
        assert_true(link_speaks(&a, ant.oldest) && !link_speaks(&a, ant.newest)); /* nothing is known of bee */
        meet(&a, &b);
        assert_int_equal(a.state, LINK_UP);
        assert_int_equal(b.state, LINK_UP);
        assert_int_equal(a.version, cases[k].version);
        assert_int_equal(b.version, cases[k].version);
        assert_true(link_speaks(&a, cases[k].version) && !link_speaks(&a, cases[k].version + 1u));
        link_free(&a);
        link_free(&b);
    }
}

static void members_two_versions_apart_refuse_each_other_and_say_what_to_do(void **state)
{
    struct link_self ant = self_of("ant", OURS), bee = self_of("bee", OURS + 2);
    struct link a, b;

    (void)state;
    link_init(&a, &ant, "bee");
    link_init(&b, &bee, "ant");
    meet(&a, &b);
    carry(&a, &b);
    assert_int_equal(a.state, LINK_ENDING);
    assert_int_equal(b.state, LINK_ENDING);
    assert_string_equal(a.reason,
                        "ant speaks version 20 of the protocol between members, bee version 22; only one version apart "
                        "works: upgrade all members to a build with version 21 first");
    link_free(&a);
    link_free(&b);
}

/* The version of an incarnation does not count for the next one, which may be that of another build. */
static void a_new_incarnation_may_speak_another_version(void **state)
{
    struct link_self ant = self_of("ant", OURS + 1), bee = self_of("bee", OURS + 1);
    struct link a, b;

    (void)state;
    link_init(&a, &ant, "bee");
    link_init(&b, &bee, "ant");
    meet(&a, &b);
    assert_int_equal(a.version, OURS + 1);
    link_expect(&a, 2);
    assert_false(link_speaks(&a, OURS + 1));
    link_free(&b);
    bee = self_of("bee", OURS);
    bee.incarnation = 2;
    link_init(&b, &bee, "ant");
    meet(&a, &b);
    assert_int_equal(a.version, OURS);
    link_free(&a);
    link_free(&b);
}

/* What this build stands for, and the next one. */
static void a_note_that_the_peer_does_not_know_is_not_sent(void **state)
{
    static const uint8_t next[] = {NOTE_NEXT, LINK_VERSION + 1}, beat[1 + 8 * 8 + 1] = {NOTE_BEAT};
    struct link_self ant = self_of("ant", LINK_VERSION + 1), bee = self_of("bee", LINK_VERSION + 1);
    struct link a, b;

    (void)state;
    for (unsigned older = 0; older < 2; older++) {
        if (older) {
            bee.newest = bee.oldest = LINK_VERSION;
            ant.oldest = LINK_VERSION;
        }
        link_init(&a, &ant, "bee");
        link_init(&b, &bee, "ant");
        link_note(&a, next, sizeof next); /* before bee has said what it speaks */
        meet(&a, &b);
        assert_int_equal(carry(&a, &b), 0);
        link_note(&a, next, sizeof next);
        link_note(&a, beat, sizeof beat);
        assert_int_equal(carry(&a, &b), older ? 1 : 2);
        link_free(&a);
        link_free(&b);
    }
}

/* HELLO of a later version may be longer. Of this version it may not, nor may it be shorter. */
static void a_longer_hello_is_accepted_from_a_later_version_only(void **state)
{
    for (unsigned later = 0; later < 2; later++)
        for (int more = -1; more < 2; more++) {
            struct link_self ant = self_of("ant", OURS), bee = self_of("bee", (uint8_t)(OURS + later));
            uint8_t hello[512] = {0};
            const uint8_t *bytes;
            struct link a, b;
            char why[LINK_REASON_MAX];
            size_t len;

            (void)state;
            link_init(&a, &ant, "bee");
            link_init(&b, &bee, "ant");
            link_connected(&b);
            bytes = link_output(&b, &len);
            memcpy(hello, bytes, len);
            len += (size_t)more;
            hello[0] = (uint8_t)(len - 4);
            assert_true((link_objects(&a, hello, len, why, sizeof why) == NULL) == (more == 0 || (later && more > 0)));
            link_free(&a);
            link_free(&b);
        }
}

/* Before versions were negotiated, HELLO had one version, and ended before the oldest one. */
static void a_version_that_is_not_negotiated_is_refused_with_its_number(void **state)
{
    struct link_self ant = self_of("ant", LINK_VERSION_FIRST), bee = self_of("bee", LINK_VERSION_FIRST);
    uint8_t hello[512];
    const uint8_t *bytes;
    struct link a, b;
    char why[LINK_REASON_MAX];
    size_t len;

    (void)state;
    ant.oldest = LINK_VERSION_FIRST;
    link_init(&a, &ant, "bee");
    link_init(&b, &bee, "ant");
    link_connected(&b);
    bytes = link_output(&b, &len);
    memcpy(hello, bytes, --len);
    hello[0]--;
    hello[4 + 1 + 4] = 5;
    assert_string_equal(
        link_objects(&a, hello, len, why, sizeof why),
        "ant speaks version 6 of the protocol between members, bee version 5; versions below 6 work with no other: "
        "end all daemons, then start all with the same build");
    link_free(&a);
    link_free(&b);
}

/* The data directory of bee is lost. Its next process has the same incarnation, because it begins in the same second, and has sent no letters. Both
 * sides are told the remedy, whichever of them speaks first. */
static void a_member_without_its_data_directory_is_told_what_to_do_by_either_side(void **state)
{
    static const char remedy[] = "the data directory of bee is not the one it had; remove bee and add it anew";

    (void)state;
    for (int ant_speaks_first = 0; ant_speaks_first < 2; ant_speaks_first++) {
        struct link_self ant = self_of("ant", OURS), bee = self_of("bee", OURS);
        struct link a, b;

        bee.disk = 7;
        link_init(&a, &ant, "bee");
        link_init(&b, &bee, "ant");
        link_expect(&b, 1);
        meet(&a, &b);
        memset(link_send(&b, 4), 0, 4);
        assert_int_equal(carry(&b, &a), 1);
        link_free(&b);
        bee.disk = 8;
        a.peer_disk = 7;
        link_init(&b, &bee, "ant");
        link_connected(&a);
        link_connected(&b);
        carry(ant_speaks_first ? &a : &b, ant_speaks_first ? &b : &a);
        carry(ant_speaks_first ? &b : &a, ant_speaks_first ? &a : &b);
        assert_non_null(strstr(a.reason, remedy));
        assert_non_null(strstr(b.reason, remedy));
        link_free(&a);
        link_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_uses_the_newest_version_that_both_sides_speak),
        cmocka_unit_test(a_member_without_its_data_directory_is_told_what_to_do_by_either_side),
        cmocka_unit_test(members_two_versions_apart_refuse_each_other_and_say_what_to_do),
        cmocka_unit_test(a_new_incarnation_may_speak_another_version),
        cmocka_unit_test(a_note_that_the_peer_does_not_know_is_not_sent),
        cmocka_unit_test(a_longer_hello_is_accepted_from_a_later_version_only),
        cmocka_unit_test(a_version_that_is_not_negotiated_is_refused_with_its_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
