/* Rights of clients on which the members agree (member/settings.h, node/rules.h): their bytes, what holds for clients that are connected when a
 * view has others, and what is shown of them.
 * Invariants: I34, I35. */
#include "agreed.h"

#include "command/permit.h"
#include "node/rules.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------------- views */

static struct view members_view(uint64_t number, const char *rights, uint64_t set)
{
    struct view v = view_of(MEMBERS, number);

    if (set) {
        v.rights.set = set;
        v.rights.file = !rights;
        v.rights.len = rights ? (uint16_t)strlen(rights) : 0;
        memcpy(v.rights.text, rights ? rights : "", v.rights.len);
        memcpy(v.rights.by, "an operator", 12);
    }
    return v;
}

static bool is_read(const struct view *v, struct view *read, size_t *len)
{
    struct bytes b = {0};
    bool good;

    view_encode(v, &b);
    good = view_decode(read, b.at + b.start, *len ? *len : bytes_len(&b));
    *len = bytes_len(&b);
    bytes_free(&b);
    return good;
}

static void a_view_with_rights_is_read_as_it_was_written(void **state)
{
    struct view without = members_view(9, NULL, 0), v = members_view(9, "allow any lock *\n", 8), read;
    size_t bare = 0, len = 0, cut;

    (void)state;
    assert_true(is_read(&without, &read, &bare));
    assert_true(is_read(&v, &read, &len));
    assert_memory_equal(&read.rights, &v.rights, sizeof v.rights);
    for (cut = len - 1; cut > bare; cut--) {
        size_t some = cut;

        assert_false(is_read(&v, &read, &some));
    }
    v = members_view(9, NULL, 9);
    len = 0;
    assert_true(is_read(&v, &read, &len) && read.rights.file && !read.rights.len);
    v.rights.file = false; /* then there has to be a text */
    len = 0;
    assert_false(is_read(&v, &read, &len));
    v = members_view(9, "allow any lock *\n", 8);
    v.rights.file = true; /* then there is none */
    len = 0;
    assert_false(is_read(&v, &read, &len));
    v = members_view(9, "allow any lock *\n", 10); /* of a later view */
    len = 0;
    assert_false(is_read(&v, &read, &len));
}

/* -------------------------------------------------------------------------------------------------------------- members */

static void install(uint64_t number, const char *rights)
{
    struct view v = members_view(number, rights, number);

    install_everywhere(&v);
}

/* Client k comes to member k % 3, with this key; null: it is an operator. */
static void come(unsigned k, const char *key)
{
    struct rights_who *who = rights_copy(NULL);

    cluster_come(&cluster, &client[k], k % MEMBERS);
    who->operates = !key;
    who->key = key ? strdup(key) : NULL;
    assert_true(permit_meet(client[k].end, who));
}

/* What it hears, if anything, when all has arrived. */
static const char *say(unsigned k, const char *words)
{
    char line[400];

    bytes_free(&client[k].heard);
    client[k].events = 0;
    snprintf(line, sizeof line, "%s\r\n", words);
    cluster_say(&cluster, &client[k], line);
    cluster_settle(&cluster);
    return cluster_heard(&client[k]);
}

static bool holds(unsigned k, const char *name)
{
    return session_holds(client[k].end->session, name, strlen(name), 0);
}

static void assert_says(const char *said, const char *part)
{
    if (!strstr(said, part))
        fail_msg("\"%s\" is not in: %s", part, said);
}

static void new_rights_count_from_the_next_command_on(void **state)
{
    (void)state;
    come(0, "ci");
    come(1, "ci");
    assert_says(say(0, "LOCK x"), "*2 ");
    install(2, "allow key:ci watch *\n");
    assert_true(holds(0, "x"));
    assert_says(say(1, "LOCK y"),
                "-NOPERM key:ci does not have the right lock for \"y\", by the rule in the agreed rights, line 1: "
                "allow key:ci watch *");
    assert_says(say(1, "MAY me lock y"), "by the rule in the agreed rights, line 1");
    assert_says(say(0, "RENEW x TTL 100000"), "+OK"); /* what is held stays */
    assert_says(say(0, "UNLOCK x"), "+OK");
    assert_says(say(0, "LOCK x"), "-NOPERM ");
    install(3, NULL);
    assert_says(say(0, "LOCK x"), "*2 ");
    install(4, "limit any locks=1\n");
    assert_says(say(0, "LOCK y"),
                "-BUSY key:ci may use at most 1 locks at this member, by the limit in the agreed rights, "
                "line 1");
}

/* It was allowed to wait. */
static void a_client_that_waits_is_refused_when_its_turn_comes(void **state)
{
    (void)state;
    come(0, "ci");
    for (unsigned k = 1; k < 4; k++)
        come(k, k == 1 ? "ci" : k == 2 ? "web" : "db");
    assert_says(say(0, "LOCK x"), "*2 ");
    for (unsigned k = 1; k < 4; k++)
        assert_string_equal(say(k, k == 3 ? "LOCK x SHARED" : "LOCK x"), "");
    install(2, "allow key:web lock,watch *\nallow key:db shared *\nallow any watch *\n");
    assert_true(holds(0, "x") && !client[1].events && !client[2].events && !client[3].events);
    say(0, "UNLOCK x");
    assert_says(cluster_heard(&client[1]),
                "-NOPERM key:ci does not have the right lock for \"x\", by the rule in the agreed rights, "
                "line 3");
    assert_true(cluster_is_told(&client[1], CLAIM_REFUSED) && !holds(1, "x"));
    assert_true(holds(2, "x") + holds(3, "x") == 1);
    say(holds(2, "x") ? 2 : 3, "UNLOCK x");
    assert_true(holds(2, "x") + holds(3, "x") == 1);
}

/* I35. */
static void of_several_locks_none_is_granted_if_one_may_not_be(void **state)
{
    (void)state;
    come(0, "boss");
    come(1, "ci");
    assert_says(say(0, "LOCK b"), "*2 ");
    assert_string_equal(say(1, "LOCK a AND b"), "");
    install(2, "allow key:ci lock b\nallow key:boss all *\n"); /* a is granted, and it has not been told */
    say(0, "UNLOCK b");
    assert_says(cluster_heard(&client[1]),
                "-NOPERM key:ci does not have the right lock for \"a\", as no rule in the agreed rights is "
                "about both");
    assert_false(holds(1, "a") || holds(1, "b"));
    assert_says(say(0, "LOCK a AND b WAIT 0"), "*4 ");
    assert_string_equal(say(1, "LOCK b"), "");
    install(3, "allow key:boss all *\nallow key:ci lock b\n"); /* others, which allow it */
    say(0, "UNLOCK b");
    assert_true(holds(1, "b"));
}

static void a_lock_that_is_shared_stays_shared_if_it_may_not_be_upgraded(void **state)
{
    char words[48];

    (void)state;
    come(0, "ci");
    come(1, "ci");
    snprintf(words, sizeof words, "UNLOCK x %s", strrchr(say(0, "LOCK x SHARED"), ':') + 1);
    assert_says(say(1, "LOCK x SHARED"), "*2 ");
    assert_string_equal(say(0, "UPGRADE x"), "");
    install(2, "allow key:ci shared *\n");
    say(1, "UNLOCK x");
    assert_says(cluster_heard(&client[0]), "-NOPERM key:ci does not have the right lock for \"x\"");
    assert_true(holds(0, "x"));
    assert_says(say(1, "LOCK x SHARED WAIT 0"), "*2 ");
    assert_says(say(0, words), "+OK "); /* by the fence that it knows */
}

static void a_token_that_waits_is_refused_when_its_turn_comes(void **state)
{
    (void)state;
    come(0, "boss");
    come(1, "ci");
    come(2, "boss");
    assert_says(say(0, "LOCK x"), "*2 ");
    assert_string_equal(say(1, "LOCK x TOKEN t WAIT 100000 TTL 100000"), "");
    install(2, "allow key:boss all *\n");
    say(0, "UNLOCK x");
    assert_says(cluster_heard(&client[1]), "-NOPERM key:ci does not have the right lock for \"x\"");
    assert_says(say(2, "LOCK x TOKEN u WAIT 0 TTL 100000"), "*2 ");
}

/* ------------------------------------------------------------------------------------------------------- kept sessions */

static char id[33];

static void keep(unsigned k)
{
    const char *said = say(k, "SESSION KEEP 60000");

    assert_int_equal(strncmp(said, "$32 ", 4), 0);
    memcpy(id, said + 4, 32);
    assert_string_equal(id + 28, "0000");
}

/* Other members know it by its new fence already. */
static void a_kept_lock_is_lost_if_it_may_not_be_upgraded(void **state)
{
    (void)state;
    come(0, "ci");
    come(1, "ci");
    keep(0);
    assert_says(say(0, "LOCK x SHARED"), "*2 ");
    assert_says(say(1, "LOCK x SHARED"), "*2 ");
    assert_string_equal(say(0, "UPGRADE x"), "");
    install(2, "allow key:ci shared *\n");
    say(1, "UNLOCK x");
    assert_says(cluster_heard(&client[0]), "-NOPERM key:ci does not have the right lock for \"x\"");
    assert_false(holds(0, "x"));
    assert_says(say(1, "LOCK x SHARED WAIT 0"), "*2 ");
}

static const char *resume(unsigned k, const char *shown)
{
    char words[80];

    snprintf(words, sizeof words, "SESSION RESUME %s", shown);
    return say(k, words);
}

/* The id under which members know the session of this client. */
static void known_as(unsigned k, char text[33])
{
    struct keep_id is = client[k].end->session->kept->id;

    snprintf(text, 33, "%016llx%016llx", (unsigned long long)is.high, (unsigned long long)is.low);
}

static void a_session_from_before_the_first_rules_is_resumed(void **state)
{
    (void)state;
    come(0, "ci");
    keep(0);
    assert_says(say(0, "LOCK x"), "*2 ");
    install(2, "allow key:ci lock,watch *\nallow any lock *\n");
    cluster_go(&cluster, &client[0], false);
    come(0, "ci");
    assert_says(resume(0, id), "RESUMED $1 x ");
    assert_true(holds(0, "x"));
    install(3, NULL);
    cluster_go(&cluster, &client[0], false);
    come(0, "ci");
    assert_says(resume(0, id), "RESUMED $1 x ");
}

/* Other members have records of what such a session holds. */
static void a_kept_session_that_waits_is_refused_when_its_turn_comes(void **state)
{
    (void)state;
    come(0, "boss");
    come(1, "ci");
    keep(1);
    assert_says(say(0, "LOCK x"), "*2 ");
    assert_string_equal(say(1, "LOCK x"), "");
    install(2, "allow key:boss all *\n");
    say(0, "UNLOCK x");
    assert_says(cluster_heard(&client[1]), "-NOPERM key:ci does not have the right lock for \"x\"");
    assert_false(holds(1, "x"));
    assert_says(say(0, "LOCK x WAIT 0"), "*2 ");
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_int_equal(node[k].keep.records, 0);
}

/* The owner's answer comes when the rights have changed. */
static void a_token_that_asks_again_for_its_lock_is_refused_and_keeps_it(void **state)
{
    (void)state;
    come(0, "ci");
    come(1, "ci");
    assert_says(say(0, "LOCK x TOKEN t TTL 100000"), "*2 ");
    cluster_say(&cluster, &client[1], "LOCK x TOKEN t TTL 100000\r\n");
    assert_int_equal(client[1].events, 0);
    install(2, "allow any watch *\n");
    assert_says(cluster_heard(&client[1]), "-NOPERM key:ci does not have the right lock for \"x\"");
    assert_says(say(0, "RENEW x TOKEN t TTL 100000"), "-NOPERM ");
    assert_says(say(0, "UNLOCK x TOKEN t"), "-NOPERM ");
    install(3, NULL);
    assert_says(say(0, "RENEW x TOKEN t TTL 100000"), "+OK");
}

/* It counts while the session has no client, and when it has one again. */
static void the_limit_counts_what_a_resumed_session_holds(void **state)
{
    (void)state;
    install(2, "allow any lock,watch *\nlimit key:ci locks=1\n");
    come(0, "ci");
    keep(0);
    assert_says(say(0, "LOCK x"), "*2 ");
    cluster_go(&cluster, &client[0], false);
    come(3, "ci");
    assert_says(say(3, "LOCK y"), "-BUSY "); /* the session without a client counts */
    come(0, "ci");
    assert_says(resume(0, id), "RESUMED $1 x ");
    assert_says(say(3, "LOCK y"), "-BUSY ");
    assert_says(say(0, "UNLOCK x"), "+OK");
    assert_says(say(3, "LOCK y"), "*2 ");
}

static void a_session_with_rules_is_resumed_by_its_own_client_only(void **state)
{
    char bound[33];

    (void)state;
    install(2, "allow any lock,watch *\n");
    come(0, "ci");
    keep(0);
    assert_says(say(0, "LOCK x"), "*2 ");
    known_as(0, bound);
    assert_string_not_equal(bound, id);
    cluster_go(&cluster, &client[0], false);
    come(3, "web"); /* it knows the secret, and computes the rest */
    assert_says(resume(3, id), "-NOSESSION ");
    assert_says(resume(3, bound), "-NOSESSION ");
    install(3, NULL); /* without rules, a client that knows the secret has the session, if it is the same client */
    assert_says(resume(3, id), "-NOSESSION ");
    come(0, "ci");
    assert_says(resume(0, id), "RESUMED $1 x ");
}

/* ---------------------------------------------------------------------------------------------------- what is shown, asked */

static void hashes_are_for_clients_with_the_right_admin(void **state)
{
    static const char text[] = "allow key:boss admin *\nallow any lock *\nlogin web pbkdf2-secret\n";
    const char *said;

    (void)state;
    install(2, text);
    come(0, "ci");
    come(1, "boss");
    said = say(0, "CONFIG SHOW");
    assert_says(said, "2 rules, 0 limits, 1 logins");
    assert_null(strstr(said, "pbkdf2"));
    assert_says(say(0, "CONFIG SHOW rights"), "-NOPERM key:ci does not have the right admin");
    assert_null(strstr(say(1, "CONFIG SHOW"), "pbkdf2"));
    assert_says(say(1, "CONFIG SHOW rights"), "login web pbkdf2-secret");
    assert_says(say(1, "CONFIG SHOW rigths"), "-ERR there are three settings");
    assert_says(say(1, "CONFIG SHOW lease"), "*1 ");
}

static const char *set_rights(unsigned k, const char *text, bool force)
{
    char words[400];

    snprintf(words, sizeof words, "*%u\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$6\r\nrights\r\n$%zu\r\n%s%s", force ? 5 : 4,
             strlen(text), text, force ? "\r\n$5\r\nFORCE" : "");
    return say(k, words);
}

/* These members agree on nothing, which is found out last. */
static void a_client_that_would_lose_the_right_admin_has_to_say_so_twice(void **state)
{
    static const char agrees[] = "-ERR this daemon is not part of a cluster";

    (void)state;
    install(2, "allow key:boss all *\n");
    come(0, "boss");
    come(1, NULL);
    come(2, "ci");
    assert_says(set_rights(0, "allow key:boss lock *\n", false),
                "-ERR you could not take it back: key:boss does not have the right admin, by the rule in the agreed "
                "rights, line 1: "
                "allow key:boss lock *. Use --force (FORCE) to do it all the same");
    assert_says(set_rights(0, "allow key:boss lock *\n", true), agrees);
    assert_says(set_rights(0, "allow key:boss lock x\nallow any admin *\n", false), agrees);
    assert_says(say(0, "CONFIG UNSET rights"), "only operators may do more. Use --force");
    assert_says(say(0, "CONFIG UNSET rights FORCE"), agrees);
    assert_says(set_rights(1, "allow key:boss lock *\n", false), agrees); /* an operator has all rights for good */
    assert_says(set_rights(2, "allow key:ci all *\n", true), "-NOPERM key:ci does not have the right admin");
    assert_says(set_rights(1, "allow key:boss lok *\n", false), "-ERR line 1: \"lok\" is no right");
    assert_says(say(1, "CONFIG SET lease 1000 FORCE"), "-ERR FORCE is for rights only");
    assert_says(say(1, "CONFIG UNSET rights GENTLY"), "-ERR usage:");
}

static void a_build_that_cannot_use_them_does_not_install_the_view(void **state)
{
    struct view v = members_view(2, "allow robot:7 lock *\n", 2);

    (void)state;
    assert_null(node_broken(&node[0]));
    node_install(&node[0], &v);
    assert_says(node_broken(&node[0]),
                "this build cannot use the rights on which the members have agreed: line 1: \"robot:7\" is no "
                "client");
    assert_int_equal(node[0].view.number, 1);
    v = members_view(2, "allow any shared,lock *\n", 2);
    node_install(&node[1], &v);
    assert_says(node_broken(&node[1]), "they are written in another form");
}

/* An earlier build knows neither of the two digests of such a member. */
static void members_with_agreed_rights_say_so_in_hello(void **state)
{
    uint64_t before = node[0].self.digest;
    unsigned fits = 0;

    (void)state;
    install(2, "allow any lock *\n");
    assert_true(node[0].self.digest != before && node[0].self.digest == node[1].self.digest);
    for (unsigned k = 0; k < LINK_FITS; k++)
        fits += node[0].self.fits[k] == before; /* a member that was away */
    assert_true(fits);
}

/* The driver looks them up, and a later view has the same names. */
static void users_are_known_when_they_were_looked_up(void **state)
{
    struct rights_subject is = {.kind = RIGHTS_USER, .known = true, .number = 1001, .name = "alice"};
    struct rights_who *who = rights_copy(NULL);

    (void)state;
    install(2, "allow user:alice lock *\n");
    assert_true(node[0].rules.unsure);
    cluster_come(&cluster, &client[0], 0);
    who->has_user = true;
    who->user = 1001;
    permit_meet(client[0].end, who);
    assert_says(say(0, "LOCK x"), "-NOPERM user:1001 does not have the right lock for \"x\" for now");
    rules_learn(&node[0], &is);
    assert_false(node[0].rules.unsure);
    assert_says(say(0, "LOCK x"), "*2 ");
    install(3, "allow user:alice lock,watch *\n");
    assert_false(node[0].rules.unsure);
    assert_true(node[1].rules.unsure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_with_rights_is_read_as_it_was_written),
        cmocka_unit_test_setup_teardown(new_rights_count_from_the_next_command_on, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_waits_is_refused_when_its_turn_comes, start, stop),
        cmocka_unit_test_setup_teardown(of_several_locks_none_is_granted_if_one_may_not_be, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_that_is_shared_stays_shared_if_it_may_not_be_upgraded, start, stop),
        cmocka_unit_test_setup_teardown(a_kept_lock_is_lost_if_it_may_not_be_upgraded, start, stop),
        cmocka_unit_test_setup_teardown(a_token_that_waits_is_refused_when_its_turn_comes, start, stop),
        cmocka_unit_test_setup_teardown(a_session_from_before_the_first_rules_is_resumed, start, stop),
        cmocka_unit_test_setup_teardown(a_kept_session_that_waits_is_refused_when_its_turn_comes, start, stop),
        cmocka_unit_test_setup_teardown(a_session_with_rules_is_resumed_by_its_own_client_only, start, stop),
        cmocka_unit_test_setup_teardown(a_token_that_asks_again_for_its_lock_is_refused_and_keeps_it, start, stop),
        cmocka_unit_test_setup_teardown(the_limit_counts_what_a_resumed_session_holds, start, stop),
        cmocka_unit_test_setup_teardown(hashes_are_for_clients_with_the_right_admin, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_would_lose_the_right_admin_has_to_say_so_twice, start, stop),
        cmocka_unit_test_setup_teardown(a_build_that_cannot_use_them_does_not_install_the_view, start, stop),
        cmocka_unit_test_setup_teardown(members_with_agreed_rights_say_so_in_hello, start, stop),
        cmocka_unit_test_setup_teardown(users_are_known_when_they_were_looked_up, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
