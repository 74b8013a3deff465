/* Rights of clients: a table of rules and cases, and what is wrong with rules.
 * Invariant: I34. */
#include "test.h"

#include "rights/rights.h"

#include <stdio.h>
#include <string.h>

static const char *const rules[] = {
    "user:1001 none secret-*",
    "group:50 lock,watch build-*",
    "user:1001 shared *.db",
    "key:ci lock build-*",
    "cert:ci.example lock,watch ci",
    "auth:web lock web-?",
    "auth:boss all *",
    "key:ops force-unlock,watch *",
    "user:1002 admin *",
    "group:60 watch [a-c]*",
    "any watch public-*",
};

static struct rights table;

static void read_rules(void)
{
    char why[RIGHTS_WHY_MAX];

    memset(&table, 0, sizeof table);
    strcpy(table.file, "dibs.conf");
    for (unsigned k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        assert_true(rights_parse_rule(&table.rule[k], rules[k], why));
        table.rule[k].line = k + 1;
    }
    table.rules = sizeof rules / sizeof rules[0];
}

static uint32_t in_50[] = {7, 50}, in_60[] = {60};
static char ci[] = "ci", ops[] = "ops", stranger[] = "client", names[] = "other.example\0CI.example\0";

static const struct rights_who owner = {.operates = true, .has_user = true},
                               user_1 = {.has_user = true, .user = 1001, .groups = 2, .group = in_50},
                               user_2 = {.has_user = true, .user = 1002, .groups = 1, .group = in_60},
                               user_3 = {.has_user = true, .user = 1003}, key_ci = {.key = ci}, key_ops = {.key = ops},
                               key_none = {.key = stranger}, cert = {.certs = names}, web = {.auth = "web"},
                               boss = {.auth = "boss"}, web_by_key = {.auth = "web", .key = ci};

/* Who, right, name: the line of the rule that decides (0: none, -1: by default), and whether it is allowed. */
static const struct {
    const struct rights_who *who;
    unsigned any_of;
    const char *name;
    int line;
    bool allowed;
} cases[] = {
    {&owner, RIGHT_ADMIN, "", -1, true},
    {&owner, RIGHT_LOCK, "secret-1", -1, true},
    {&user_1, RIGHT_LOCK, "secret-1", 1, false},
    {&user_1, RIGHT_WATCH, "secret-1", 1, false},
    {&user_1, RIGHT_LOCK, "build-1", 2, true},
    {&user_1, RIGHT_SHARED, "build-1", 2, true},
    {&user_1, RIGHT_FORCE, "build-1", 2, false},
    {&user_1, RIGHT_LOCK, "build-x.db", 2, true}, /* the first match, not the best */
    {&user_1, RIGHT_SHARED, "x.db", 3, true},
    {&user_1, RIGHT_LOCK, "x.db", 3, false},
    {&user_1, RIGHT_LOCK, "other", 0, false},
    {&user_1, RIGHT_ADMIN, "", 0, false},
    {&user_2, RIGHT_ADMIN, "", 9, true},
    {&user_2, RIGHT_LOCK, "build-1", 9, false}, /* its own rule comes first */
    {&user_2, RIGHT_WATCH, "abc", 9, false},
    {&user_3, RIGHT_WATCH, "public-1", 11, true},
    {&user_3, RIGHT_LOCK, "public-1", 11, false},
    {&user_3, RIGHT_WATCH, "private", 0, false},
    {&key_ci, RIGHT_LOCK, "build-", 4, true},
    {&key_ci, RIGHT_WATCH, "build-", 4, false},
    {&key_ci, RIGHT_LOCK | RIGHT_WATCH, "build-", 4, true}, /* one of them is enough */
    {&key_ci, RIGHT_LOCK, "buil", 0, false},
    {&key_ops, RIGHT_FORCE, "build-1", 8, true},
    {&key_ops, RIGHT_ADMIN, "", 8, false},
    {&key_none, RIGHT_LOCK, "build-1", 0, false}, /* a key does not imply anything */
    {&cert, RIGHT_LOCK, "ci", 5, true},           /* any of its names, in small letters or capitals */
    {&cert, RIGHT_LOCK, "ci2", 0, false},
    {&cert, RIGHT_ADMIN, "", 0, false},
    {&web, RIGHT_LOCK, "web-1", 6, true},
    {&web, RIGHT_LOCK, "web-12", 0, false},
    {&boss, RIGHT_ADMIN, "", 7, true},
    {&boss, RIGHT_FORCE, "secret-1", 7, true},
    {&web_by_key, RIGHT_LOCK, "build-1", 4, true}, /* a client is all that it has proved */
    {&web_by_key, RIGHT_LOCK, "web-1", 6, true},
    {NULL, RIGHT_WATCH, "public-x", 11, true},
    {NULL, RIGHT_LOCK, "build-1", 0, false},
    {NULL, RIGHT_ADMIN, "", 0, false},
};

static void the_first_rule_that_matches_decides(void **state)
{
    (void)state;
    read_rules();
    for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct rights_verdict v =
            rights_decide(&table, cases[k].who, cases[k].any_of, cases[k].name, strlen(cases[k].name));
        int line = v.by_default ? -1 : v.rule ? (int)v.rule->line : 0;

        if (v.allowed != cases[k].allowed || line != cases[k].line)
            fail_msg("case %u: %s by line %d", k, v.allowed ? "allowed" : "refused", line);
    }
}

static void without_rules_clients_lock_and_watch_and_operators_do_the_rest(void **state)
{
    static const struct rights none;
    const struct rights *const tables[] = {NULL, &none};

    (void)state;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned right = 1; right < RIGHTS_ALL; right *= 2) {
            assert_true(rights_decide(tables[k], &owner, right, "x", 1).allowed);
            assert_int_equal(rights_decide(tables[k], &user_1, right, "x", 1).allowed, right < RIGHT_FORCE);
            assert_int_equal(rights_decide(tables[k], NULL, right, "x", 1).allowed, right < RIGHT_FORCE);
        }
}

static void a_refusal_names_the_right_and_the_rule(void **state)
{
    char text[RIGHTS_WHY_MAX];

    (void)state;
    read_rules();
    rights_explain(&table, &user_1, RIGHT_LOCK, "x.db", 4, rights_decide(&table, &user_1, RIGHT_LOCK, "x.db", 4), text);
    assert_string_equal(
        text,
        "user:1001 does not have the right lock for \"x.db\", by the rule in dibs.conf:3: allow user:1001 shared *.db");
    rights_explain(&table, &key_none, RIGHT_ADMIN, "", 0, rights_decide(&table, &key_none, RIGHT_ADMIN, "", 0), text);
    assert_string_equal(text, "key:client does not have the right admin, as no rule in dibs.conf is about both");
    rights_explain(&table, &owner, RIGHT_ADMIN, "", 0, rights_decide(&table, &owner, RIGHT_ADMIN, "", 0), text);
    assert_string_equal(text, "user:0 is an operator, who has all rights");
}

static void every_mistake_in_a_rule_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "three words"},
        {"any lock", "three words"},
        {"any lock x y", "three words"},
        {"alice lock *", "is no client"},
        {"any: lock *", "is no client"},
        {"user lock *", "is no client"},
        {"user: lock *", "needs a name"},
        {"key:a/b lock *", "needs a name"},
        {"any read *", "\"read\" is no right"},
        {"any lock, *", "\"\" is no right"},
        {"any none,lock *", "stands alone"},
        {"any admin x*", "pattern of its rule is *"},
        {"any lock \x01", "a pattern is"},
    };
    char why[RIGHTS_WHY_MAX];
    struct rights_rule r;
    struct rights_limit l;
    struct rights_login in;

    (void)state;
    for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_false(rights_parse_rule(&r, wrong[k].text, why));
        if (!strstr(why, wrong[k].says))
            fail_msg("\"%s\": %s", wrong[k].text, why);
    }
    assert_true(rights_parse_limit(&l, "key:ci locks=3 connections=4294967295", why) && l.locks == 3 && !l.waiters);
    assert_false(rights_parse_limit(&l, "key:ci", why) || rights_parse_limit(&l, "key:ci locks=0", why) ||
                 rights_parse_limit(&l, "key:ci locks=1 locks=2", why) || rights_parse_limit(&l, "", why) ||
                 rights_parse_limit(&l, "any locks=4294967296", why) || rights_parse_limit(&l, "any lock=1", why));
    assert_true(rights_parse_login(&in, "web pbkdf2", why) && !rights_parse_login(&in, "web", why) &&
                !rights_parse_login(&in, "w b x", why));
}

static void limits_apply_by_the_first_match(void **state)
{
    char why[RIGHTS_WHY_MAX];

    (void)state;
    memset(&table, 0, sizeof table);
    assert_true(rights_parse_limit(&table.limit[0], "key:ci locks=1", why));
    assert_true(rights_parse_limit(&table.limit[1], "group:50 locks=2", why));
    assert_true(rights_parse_limit(&table.limit[2], "any locks=3", why));
    table.limits = 3;
    assert_ptr_equal(rights_limit(&table, &key_ci), &table.limit[0]);
    assert_ptr_equal(rights_limit(&table, &user_1), &table.limit[1]);
    assert_ptr_equal(rights_limit(&table, NULL), &table.limit[2]);
    table.limits = 2;
    assert_null(rights_limit(&table, NULL));
}

/* A configuration is refused by the sum of these bounds, so none may be too low (I31). */
static void a_decision_takes_no_more_steps_than_its_rules_may(void **state)
{
    static const char *const patterns[] = {"*?%.120sb",        "*[b-c]*%.100s?b*", "%.200sb",
                                           "*%.100s*b*%.99s*", "[!b]%.80s*?b",     "*"};
    char as[256], text[600], why[RIGHTS_WHY_MAX];

    (void)state;
    memset(as, 'a', sizeof as);
    as[255] = '\0';
    for (unsigned k = 0; k < sizeof patterns / sizeof patterns[0]; k++) {
        struct rights_verdict v;

        memset(&table, 0, sizeof table);
        strcpy(text, "any lock ");
        snprintf(text + strlen(text), sizeof text - strlen(text), patterns[k], as, as);
        assert_true(rights_parse_rule(&table.rule[0], text, why));
        table.rules = 1;
        v = rights_decide(&table, NULL, RIGHT_LOCK, as, 255);
        assert_in_range(v.steps, 1, rights_steps_max(&table.rule[0]));
    }
    assert_true(RIGHTS_RULES_MAX * (255 + RIGHTS_PATTERN_MAX) <= RIGHTS_STEPS_MAX);
}

/* ------------------------------------------------------------------------------------------------------- whole tables */

static const char *read_table(const char *text)
{
    static char why[RIGHTS_WHY_MAX];

    return rights_read(&table, text, strlen(text), why) ? NULL : why;
}

static void a_table_is_printed_in_one_form(void **state)
{
    static const char full[] = "allow user:alice lock b*\n"
                               "allow auth:web shared,watch *\n"
                               "limit any locks=3 waiters=2 connections=1\n"
                               "login web pbkdf2\n";
    char counts[RIGHTS_COUNTS_MAX];

    (void)state;
    assert_null(read_table("login   web pbkdf2\nlimit any connections=1\twaiters=2 locks=3\n"
                           "allow  user:alice shared,lock b*\nallow auth:web watch,shared *\n"));
    for (unsigned k = 0; k < 2; k++) {
        struct bytes text = {0};

        rights_print(&table, &text);
        *bytes_add(&text, 1) = '\0';
        assert_string_equal((char *)text.at + text.start, full);
        assert_null(read_table(full));
        bytes_free(&text);
    }
    assert_true(table.agreed && table.rule[1].line == 2 && table.login[0].line == 4);
    rights_count(&table, counts);
    assert_string_equal(counts, "2 rules, 1 limits, 1 logins");
    assert_null(read_table(""));
}

static void a_mistake_in_a_table_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *wrong;
    } all[] = {
        {"allow any lock *\nallow key:ci lock x\n",
         "line 2: this rule decides nothing: line 1 comes first; put this one "
         "before it, or delete it"},
        {"allow user:alice lock *\nallow user:alice lock x\n", "line 2: this rule decides nothing"},
        {"allow auth:web lock *\n", "line 1: \"web\" cannot log in: there is no line login web HASH"},
        {"limit auth:web locks=1\n", "line 1: \"web\" cannot log in"},
        {"limit key:ci locks=1\nlimit key:ci locks=2\n",
         "line 2: this limit is for no client: that in line 1 comes first; put this one before it, or delete it"},
        {"limit any locks=1\nlimit key:ci waiters=2\n", "line 2: this limit is for no client: that in line 1"},
        {"login web a\nlogin web b\n", "line 2: \"web\" has a password in line 1 already; keep one of them"},
        {"allow any read *\n", "line 1: \"read\" is no right"},
        {"allow any lock x\npolicy x slots=2\n", "line 2: this is no line \"allow ..\", \"limit ..\" or \"login ..\""},
        {"allow any lock *", "the last line has no line feed"},
        {"allow any lock x\n\nallow any lock y\n", "line 2: this is no line"},
        {"allowany lock *\n", "line 1: this is no line"},
    };
    char why[RIGHTS_WHY_MAX], many[RIGHTS_LOGINS_MAX * 16 + 32] = "";

    (void)state;
    for (unsigned k = 0; k < sizeof all / sizeof all[0]; k++) {
        const char *wrong = read_table(all[k].text);

        if (!wrong || strncmp(wrong, all[k].wrong, strlen(all[k].wrong)) != 0)
            fail_msg("%s: %s", all[k].text, wrong ? wrong : "nothing is wrong");
    }
    assert_false(rights_read(&table, "allow any lock *\0\n", 18, why));
    for (unsigned k = 0; k <= RIGHTS_LOGINS_MAX; k++)
        sprintf(many + strlen(many), "login n%u h\n", k);
    assert_string_equal(read_table(many), "line 65: there are more than 64 lines with \"login\"");
}

/* The members have agreed on names, and this one has not found out which numbers they have. */
static void a_rule_for_a_name_that_is_not_known_yet_refuses(void **state)
{
    static const struct rights_who alice = {.has_user = true, .user = 1001, .groups = 2, .group = in_50};
    struct rights_subject is = {.kind = RIGHTS_USER, .known = true, .number = 1001, .name = "alice"};
    struct rights next;
    struct rights_verdict v;
    char text[RIGHTS_WHY_MAX];

    (void)state;
    assert_null(read_table("allow user:7 lock x\nallow user:alice lock,watch *\nallow any lock *\n"));
    assert_string_equal(rights_unsure(&table)->name, "alice");
    v = rights_decide(&table, &alice, RIGHT_LOCK, "y", 1);
    assert_true(!v.allowed && v.unsure && v.rule->line == 2);
    rights_explain(&table, &alice, RIGHT_LOCK, "y", 1, v, text);
    assert_non_null(strstr(text, "user:1001 does not have the right lock for \"y\" for now"));
    assert_non_null(strstr(text, "the rule in the agreed rights, line 2 is about on this machine"));
    assert_true(rights_decide(&table, &key_ci, RIGHT_LOCK, "y", 1).allowed); /* it is no user */
    next = table;
    assert_true(rights_learn(&table, &is) && !rights_learn(&table, &is) && !rights_unsure(&table));
    assert_true(rights_decide(&table, &alice, RIGHT_WATCH, "y", 1).allowed);
    assert_true(!rights_decide(&table, &user_2, RIGHT_WATCH, "y", 1).allowed); /* the rule for any */
    rights_learn_from(&next, &table);
    assert_memory_equal(&next, &table, sizeof next);
    is.known = false; /* the machine has no such user */
    rights_learn(&table, &is);
    v = rights_decide(&table, &alice, RIGHT_WATCH, "y", 1);
    assert_true(!v.allowed && v.rule->line == 3);
}

static void a_certificate_makes_an_operator_only_while_there_are_no_rules(void **state)
{
    static const struct rights_who holder = {.certified = true, .certs = names};

    (void)state;
    assert_true(rights_decide(NULL, &holder, RIGHT_ADMIN, "", 0).allowed);
    assert_null(read_table("limit any locks=1\n"));
    assert_true(rights_decide(&table, &holder, RIGHT_ADMIN, "", 0).allowed);
    assert_null(read_table("allow any lock *\n"));
    assert_false(rights_decide(&table, &holder, RIGHT_ADMIN, "", 0).allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_matches_decides),
        cmocka_unit_test(without_rules_clients_lock_and_watch_and_operators_do_the_rest),
        cmocka_unit_test(a_refusal_names_the_right_and_the_rule),
        cmocka_unit_test(every_mistake_in_a_rule_is_named),
        cmocka_unit_test(limits_apply_by_the_first_match),
        cmocka_unit_test(a_decision_takes_no_more_steps_than_its_rules_may),
        cmocka_unit_test(a_table_is_printed_in_one_form),
        cmocka_unit_test(a_mistake_in_a_table_is_told_with_its_line),
        cmocka_unit_test(a_rule_for_a_name_that_is_not_known_yet_refuses),
        cmocka_unit_test(a_certificate_makes_an_operator_only_while_there_are_no_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
