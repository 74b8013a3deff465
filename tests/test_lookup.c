/* The users and groups that agreed rights name (serve/lookup.c): which names this machine is asked for, when, and what becomes of rules about them. The machine is the
 * test itself.
 * Invariant: I34. */
#include "served.h"

#include "node/rules.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <semaphore.h>
#include <stdlib.h>

enum { ANN = 7, STAFF = 50, RULES = RIGHTS_RULES_MAX + RIGHTS_LIMITS_MAX };

static const char *unclear; /* the machine has the user ann and the group staff, and cannot tell if it has this name */
static uint32_t ann = ANN;  /* her number */
static char asked[1 << 15]; /* " user:ann group:staff", in the order of the questions */
static bool waits;          /* a question is answered when `go_on` lets it; `has_asked` tells that there is one */
static sem_t go_on, has_asked;

static void ask(const char *kind, const char *name)
{
    size_t len = strlen(asked);

    snprintf(asked + len, sizeof asked - len, " %s:%s", kind, name);
    if (waits) {
        sem_post(&has_asked);
        sem_wait(&go_on);
    }
}

int getpwnam_r(const char *name, struct passwd *user, char *room, size_t size, struct passwd **found)
{
    (void)room, (void)size;
    ask("user", name);
    user->pw_uid = ann;
    *found = strcmp(name, unclear) != 0 && strcmp(name, "ann") == 0 ? user : NULL;
    return strcmp(name, unclear) == 0 ? EIO : 0;
}

int getgrnam_r(const char *name, struct group *group, char *room, size_t size, struct group **found)
{
    (void)room, (void)size;
    ask("group", name);
    group->gr_gid = STAFF;
    *found = strcmp(name, "staff") == 0 ? group : NULL;
    return 0;
}

/* From now on these are the rights on which the members have agreed. */
static void agree(const char *text)
{
    struct rules *r = &served.node.rules;
    char why[RIGHTS_WHY_MAX];
    struct rights *t = rules_read(&served.node, text, strlen(text), why);

    if (!t)
        fail_msg("%s", why);
    free(r->agreed);
    r->agreed = t;
    r->version++;
    r->unsure = rights_unsure(t);
}

/* May a client of this user and this group have a lock? */
static struct rights_verdict decide(uint32_t user, uint32_t group)
{
    struct rights_who who = {.has_user = true, .user = user, .groups = 1, .group = &group};

    return rights_decide(served.node.rules.agreed, &who, RIGHT_LOCK, "x", 1);
}

static int setup(void **state)
{
    (void)state;
    served_init("ant");
    assert_int_equal(uv_loop_init(&served.loop), 0);
    served_log();
    unclear = "";
    ann = ANN;
    asked[0] = '\0';
    waits = false;
    sem_init(&go_on, 0, 0);
    sem_init(&has_asked, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&served.loop), 0);
    free(served.node.rules.agreed);
    return 0;
}

/* The loop goes on until all lookups have ended. Returns what the machine was asked for meanwhile. */
static const char *go_around(void)
{
    static char text[sizeof asked];

    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(served.resolving, 0);
    assert_false(served.looking);
    strcpy(text, asked);
    asked[0] = '\0';
    return text;
}

static void a_name_that_the_machine_has_is_its_number(void **state)
{
    (void)state;
    agree("allow user:ann lock *\nallow group:staff watch *\n");
    assert_true(decide(ANN, 1).unsure);
    serve_look_up_now(&served);
    assert_false(served.node.rules.unsure);
    assert_true(decide(ANN, 1).allowed);
    assert_false(decide(ANN + 1, STAFF).allowed);
    assert_false(decide(ANN + 1, STAFF).unsure);
    assert_non_null(decide(ANN + 1, STAFF).rule);
    assert_null(decide(ANN + 1, 1).rule);
    assert_string_equal(served_log(), "");
}

/* No client can be that user, so what other rules allow is not refused any more. */
static void a_name_that_the_machine_does_not_have_is_told_and_refuses_no_client(void **state)
{
    (void)state;
    agree("allow user:bob none *\nallow any lock *\n");
    assert_true(decide(ANN, 1).unsure);
    serve_look_up_now(&served);
    assert_true(decide(ANN, 1).allowed);
    assert_true(served_logged("the agreed rights name user:bob, which this machine does not have"));
}

static void a_rule_about_a_name_that_cannot_be_looked_up_goes_on_refusing(void **state)
{
    (void)state;
    agree("allow user:bob none *\nallow any lock *\n");
    unclear = "bob";
    serve_look_up_now(&served);
    assert_true(served.node.rules.unsure);
    assert_true(decide(ANN, 1).unsure);
    assert_true(served_logged("cannot look up user:bob, which the agreed rights name: Input/output error"));
    asked[0] = '\0';
    serve_mind_lookups(&served); /* as after every event: it does not ask again and again */
    assert_string_equal(go_around(), "");
    unclear = "";
    serve_look_up_again(&served); /* SIGHUP */
    assert_string_equal(go_around(), " user:bob");
    assert_true(decide(ANN, 1).allowed);
}

/* The numbers of other names are learnt meanwhile, which is no reason to ask again at once. */
static void a_name_that_cannot_be_looked_up_is_asked_for_once(void **state)
{
    (void)state;
    agree("allow user:ann lock *\nallow user:bob lock *\n");
    unclear = "bob";
    serve_mind_lookups(&served);
    assert_string_equal(go_around(), " user:ann user:bob");
    serve_mind_lookups(&served);
    assert_string_equal(go_around(), "");
    assert_true(decide(ANN, 1).allowed);
}

/* A machine that cannot tell for a moment does not take away what is known. */
static void what_was_known_stays_while_the_machine_cannot_tell(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    serve_look_up_now(&served);
    unclear = "ann";
    serve_look_up_again(&served);
    go_around();
    assert_true(served_logged("cannot look up user:ann"));
    assert_true(decide(ANN, 1).allowed);
    assert_false(served.node.rules.unsure);
}

static void what_has_changed_is_learnt_at_sighup(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    serve_look_up_now(&served);
    ann = ANN + 1;
    serve_look_up_again(&served);
    assert_true(served.looking);
    go_around();
    assert_false(decide(ANN, 1).allowed);
    assert_true(decide(ANN + 1, 1).allowed);
}

/* A name may have many rules. A user and a group of one name are two; a number is none, even if a user is called like that. */
static void the_machine_is_asked_for_each_name_once_and_for_no_number(void **state)
{
    (void)state;
    agree("allow user:ann lock a*\nallow user:ann lock b*\nallow group:ann lock *\nallow user:1234 lock *\n"
          "allow key:ann lock *\nallow any watch *\nlimit user:ann locks=1\nlimit group:bob locks=1\n");
    serve_look_up_now(&served);
    assert_string_equal(go_around(), " user:ann group:ann group:bob");
    serve_look_up_again(&served);
    assert_string_equal(go_around(), " user:ann group:ann group:bob");
    assert_false(served_logged("key:ann"));
}

static void rights_that_change_have_only_the_new_names_looked_up_at_first(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    serve_look_up_now(&served);
    assert_string_equal(go_around(), " user:ann");
    agree("allow user:ann lock *\nallow group:staff lock *\n");
    serve_look_up_now(&served);
    assert_string_equal(go_around(), " group:staff");
}

static void rights_that_change_during_a_lookup_are_looked_up_after_it(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    waits = true;
    serve_mind_lookups(&served);
    assert_true(served.looking);
    sem_wait(&has_asked);
    agree("allow group:staff lock *\n");
    serve_mind_lookups(&served); /* one at a time */
    assert_int_equal(served.resolving, 1);
    waits = false;
    sem_post(&go_on);
    assert_string_equal(go_around(), " user:ann group:staff");
    assert_true(decide(1, STAFF).allowed);
}

static void sighup_during_a_lookup_has_all_names_looked_up_after_it(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    waits = true;
    serve_mind_lookups(&served);
    sem_wait(&has_asked);
    serve_look_up_again(&served);
    assert_int_equal(served.resolving, 1);
    waits = false;
    sem_post(&go_on);
    assert_string_equal(go_around(), " user:ann user:ann");
    serve_mind_lookups(&served);
    assert_string_equal(go_around(), "");
}

static void a_daemon_that_ends_begins_no_lookup(void **state)
{
    (void)state;
    agree("allow user:ann lock *\n");
    waits = true;
    serve_mind_lookups(&served);
    sem_wait(&has_asked);
    serve_look_up_again(&served);
    served.stopping = true;
    waits = false;
    sem_post(&go_on);
    assert_string_equal(go_around(), " user:ann");
}

static void there_is_room_for_a_name_in_every_rule_and_limit(void **state)
{
    static char text[RULES * 64];
    size_t len = 0, names = 0;

    (void)state;
    for (unsigned k = 0; k < RIGHTS_RULES_MAX; k++)
        len += (size_t)snprintf(text + len, sizeof text - len, "allow user:u%u lock *\n", k);
    for (unsigned k = 0; k < RIGHTS_LIMITS_MAX; k++)
        len += (size_t)snprintf(text + len, sizeof text - len, "limit group:g%u locks=1\n", k);
    agree(text);
    serve_look_up_again(&served);
    for (const char *at = go_around(); (at = strchr(at, ' ')); at++)
        names++;
    assert_int_equal(names, RULES);
    assert_false(served.node.rules.unsure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_that_the_machine_has_is_its_number, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_that_the_machine_does_not_have_is_told_and_refuses_no_client, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_rule_about_a_name_that_cannot_be_looked_up_goes_on_refusing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_that_cannot_be_looked_up_is_asked_for_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_known_stays_while_the_machine_cannot_tell, setup, teardown),
        cmocka_unit_test_setup_teardown(what_has_changed_is_learnt_at_sighup, setup, teardown),
        cmocka_unit_test_setup_teardown(the_machine_is_asked_for_each_name_once_and_for_no_number, setup, teardown),
        cmocka_unit_test_setup_teardown(rights_that_change_have_only_the_new_names_looked_up_at_first, setup, teardown),
        cmocka_unit_test_setup_teardown(rights_that_change_during_a_lookup_are_looked_up_after_it, setup, teardown),
        cmocka_unit_test_setup_teardown(sighup_during_a_lookup_has_all_names_looked_up_after_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_daemon_that_ends_begins_no_lookup, setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_room_for_a_name_in_every_rule_and_limit, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
