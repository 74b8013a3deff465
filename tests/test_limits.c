/* What a client may use, and what it is: limits that hold whatever the commands are, and operators by their certificates.
 * tests/fuzz_permits.c has all commands.
 * Invariant: I34. */
#include "conversation.h"

#include "base/memory.h"
#include "command/permit.h"

static struct rights rules;

/* All clients have the same key, and these rights and limits. */
static void meet(const char *rule, const char *limit)
{
    char why[RIGHTS_WHY_MAX];

    memset(&rules, 0, sizeof rules);
    strcpy(rules.file, "dibs.conf");
    rules.rules = rule && rights_parse_rule(&rules.rule[0], rule, why);
    rules.limits = limit && rights_parse_limit(&rules.limit[0], limit, why);
    node.conf.rights = &rules;
    for (unsigned k = 0; k < 3; k++) {
        struct rights_who *who = mem_new(sizeof *who);

        who->key = memcpy(mem_new(3), "ci", 3);
        assert_true(permit_meet(user[k].end, who));
    }
}

/* Is it granted `locks` locks, and nothing else is heard? */
static bool is_granted(const char *text, char who, unsigned locks)
{
    char begin[16];

    snprintf(begin, sizeof begin, "%c: *%u $", who, 2 * locks);
    return strncmp(text, begin, strlen(begin)) == 0 && !strchr(text, '\n');
}

static void several_locks_count_before_they_are_granted(void **state)
{
    static const char busy[] = "-BUSY key:ci may use at most 4 locks at this member, by the limit in dibs.conf:0";

    (void)state;
    meet(NULL, "key:ci locks=4");
    assert_true(is_granted(say('a', "LOCK x\n"), 'a', 1));
    assert_string_equal(say('b', "LOCK x AND y1 AND y2\n"), "");
    assert_memory_equal(say('c', "LOCK x AND z1 AND z2\n"), "c: -BUSY", 8);
    assert_string_equal(heard + 3, busy);
    assert_string_equal(say('c', "LOCK z1\n") + 3, busy);
    assert_memory_equal(say('a', "UNLOCK x\n"), "a: +OK\nb: *6 $1 x :", 19);
    assert_true(is_granted(say('c', "LOCK z1\n"), 'c', 1));
    assert_string_equal(say('b', "UNLOCK x\n"), "b: +OK");
    assert_string_equal(say('c', "LOCK z2 AND z3\n") + 3, busy);
    assert_true(is_granted(say('c', "LOCK z2\n"), 'c', 1));
}

static void several_locks_that_are_not_granted_do_not_count_any_more(void **state)
{
    (void)state;
    meet(NULL, "key:ci locks=4");
    say('a', "LOCK x\n");
    assert_string_equal(say('b', "LOCK x AND y1 AND y2 WAIT 0\n"), "b: *-1");
    assert_true(is_granted(say('c', "LOCK z1 AND z2 AND z3\n"), 'c', 3));
    assert_string_equal(say('c', "UNLOCK z1\nUNLOCK z2\nUNLOCK z3\n"), "c: +OK +OK +OK");
    assert_string_equal(say('b', "LOCK x AND y1 AND y2\n"), "");
    assert_string_equal(sever('b'), "");
    assert_true(is_granted(say('c', "LOCK z1 AND z2 AND z3\n"), 'c', 3));
}

/* This member waits in the place of a client that polls. That is the same lock. */
static void a_client_that_polls_is_not_in_its_own_way(void **state)
{
    (void)state;
    meet(NULL, "key:ci locks=2 waiters=1");
    assert_string_equal(say('a', "SET x t NX PX 60000\n"), "a: +OK");
    for (unsigned k = 0; k < 5; k++)
        assert_string_equal(say('b', "SET x u NX PX 60000\n"), "b: $-1");
    assert_string_equal(say('a', "UNLOCK x TOKEN t\n"), "a: -NOTHELD this token does not own \"x\"");
    assert_string_equal(say('a', "EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 x t\n"), "a: :1");
    assert_string_equal(say('b', "SET x u NX PX 60000\n"), "b: +OK");
}

/* Its connection, or its page, may be older than the rules. */
static void a_certificate_makes_an_operator_only_while_there_are_no_rules(void **state)
{
    struct rights_who *who = mem_new(sizeof *who);

    (void)state;
    meet(NULL, NULL);
    who->certified = true;
    who->certs = memcpy(mem_new(15), "operator.dibs\0", 15);
    assert_true(permit_meet(user[1].end, who));
    say('a', "LOCK x\n");
    assert_memory_equal(say('a', "FORCE-UNLOCK x\n"), "a: -NOPERM", 10);
    assert_memory_equal(say('b', "FORCE-UNLOCK x\n"), "b: *", 4);
    say('a', "LOCK x\n");
    assert_true(rights_parse_rule(&rules.rule[0], "any lock *", (char[RIGHTS_WHY_MAX]){0}));
    rules.rules = 1;
    assert_memory_equal(say('b', "FORCE-UNLOCK x\n"),
                        "b: -NOPERM cert:operator.dibs does not have the right force-unlock", 60);
    assert_memory_equal(say('b', "HOLDERS x\n"), "b: -NOPERM", 10);
    rules.rules = 0;
    assert_memory_equal(say('b', "FORCE-UNLOCK x\n"), "b: *", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(several_locks_count_before_they_are_granted, start, stop),
        cmocka_unit_test_setup_teardown(several_locks_that_are_not_granted_do_not_count_any_more, start, stop),
        cmocka_unit_test_setup_teardown(a_certificate_makes_an_operator_only_while_there_are_no_rules, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_polls_is_not_in_its_own_way, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
