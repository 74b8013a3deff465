/* The rules for clients in a file (serve/allow.c): which files are refused, and which names this machine has. The machine is the test itself. tests/rights.sh
 * has what rules say.
 * Invariant: I34. */
#include "test.h"

#include "serve/conf.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANN = 7, STAFF = 50, FILE_MAX = 1 << 20 };

static struct conf_draft draft;
static char path[64];
static int error;        /* what the machine says to every question; 0: it has the user ann and the group staff */
static size_t room_need; /* bytes that it needs for its answer */
static unsigned asked;

int getpwnam_r(const char *name, struct passwd *user, char *room, size_t size, struct passwd **found)
{
    (void)room;
    asked++;
    user->pw_uid = ANN;
    *found = !error && size >= room_need && strcmp(name, "ann") == 0 ? user : NULL;
    return size < room_need ? ERANGE : error;
}

int getgrnam_r(const char *name, struct group *group, char *room, size_t size, struct group **found)
{
    (void)room;
    asked++;
    group->gr_gid = STAFF;
    *found = !error && size >= room_need && strcmp(name, "staff") == 0 ? group : NULL;
    return size < room_need ? ERANGE : error;
}

static int setup(void **state)
{
    int fd;

    (void)state;
    strcpy(path, "/tmp/dibs-allow-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    error = 0;
    room_need = 0;
    asked = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return remove(path);
}

static void write_file(const char *text, size_t len)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The rules of this text in a file, as at SIGHUP; or null. */
static struct rights *rules_of(const char *text)
{
    write_file(text, strlen(text));
    return conf_read_rights(&draft, path);
}

/* The file has exactly one mistake, which says this. */
static void expect_mistake(struct rights *t, const char *text)
{
    assert_null(t);
    assert_int_equal(draft.mistakes, 1);
    if (!strstr(draft.mistake[0].text, text))
        fail_msg("it is not \"%s\": %s", text, draft.mistake[0].text);
}

static void users_and_groups_of_this_machine_get_their_numbers(void **state)
{
    struct rights *t = rules_of("allow user:ann lock *\nallow group:staff lock *\nallow user:1234 lock *\n"
                                "limit user:ann locks=3\n");

    (void)state;
    assert_non_null(t);
    assert_int_equal(t->rules, 3);
    assert_int_equal(t->rule[0].who.number, ANN);
    assert_int_equal(t->rule[1].who.number, STAFF);
    assert_int_equal(t->rule[2].who.number, 1234);
    assert_int_equal(t->limit[0].who.number, ANN);
    assert_int_equal(asked, 3); /* numbers are not asked for */
    free(t);
}

static void a_user_or_a_group_that_this_machine_does_not_have_is_a_mistake(void **state)
{
    (void)state;
    expect_mistake(rules_of("allow user:bob lock *\n"), ":1: there is no user \"bob\" on this machine");
    expect_mistake(rules_of("allow any lock *\nlimit group:bob locks=1\n"),
                   ":2: there is no group \"bob\" on this machine");
}

/* Systems differ in what they return then (getpwnam_r(3)). */
static void several_errors_mean_that_there_is_no_such_name(void **state)
{
    static const int errors[] = {ENOENT, ESRCH, EBADF, EPERM};

    (void)state;
    for (unsigned k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        error = errors[k];
        expect_mistake(rules_of("allow user:bob lock *\n"), "there is no user \"bob\" on this machine");
    }
}

/* It may have it, so nothing that an operator could make is missing. */
static void a_machine_that_cannot_tell_does_not_say_that_it_has_no_such_name(void **state)
{
    (void)state;
    error = EIO;
    expect_mistake(rules_of("allow group:staff lock *\n"),
                   ":1: cannot look up the group \"staff\": Input/output error");
}

/* A group with thousands of members takes more than some kilobytes. */
static void a_group_with_very_many_members_is_found(void **state)
{
    struct rights *t;

    (void)state;
    room_need = 1 << 20;
    t = rules_of("allow group:staff lock *\nallow user:ann lock *\n");
    assert_non_null(t);
    assert_int_equal(t->rule[0].who.number, STAFF);
    assert_int_equal(t->rule[1].who.number, ANN);
    free(t);
}

static void an_answer_without_end_is_an_error(void **state)
{
    (void)state;
    room_need = SIZE_MAX;
    expect_mistake(rules_of("allow group:staff lock *\n"),
                   "cannot look up the group \"staff\": Numerical result out of range");
}

static void what_is_not_known_stays_unsure(void **state)
{
    struct rights_subject s = {.kind = RIGHTS_USER, .unsure = true, .name = "ann"};

    (void)state;
    error = EIO;
    assert_int_equal(conf_ask_subject(&s), EIO);
    assert_true(s.unsure && !s.known);
    error = 0;
    assert_int_equal(conf_ask_subject(&s), 0);
    assert_true(!s.unsure && s.known && s.number == ANN);
    strcpy(s.name, "bob");
    s.unsure = true;
    s.known = false;
    assert_int_equal(conf_ask_subject(&s), 0);
    assert_true(!s.unsure && !s.known);
}

/* Members agree on a text that other machines use, too. */
static void rules_for_all_members_need_no_names_of_this_machine(void **state)
{
    static char text[] = "allow user:bob lock *\nlimit group:bob locks=1\n";
    struct rights *t;

    (void)state;
    conf_begin(&draft);
    conf_read(&draft, "rules", text);
    t = conf_rights(&draft, false);
    assert_int_equal(draft.mistakes, 0);
    assert_int_equal(t->rules + t->limits, 2);
    assert_int_equal(asked, 0);
    free(t);
}

static void a_file_that_cannot_be_read_is_a_mistake(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    expect_mistake(conf_read_rights(&draft, path), "cannot read it: No such file or directory");
    assert_int_equal(mkdir(path, 0700), 0);
    expect_mistake(conf_read_rights(&draft, path), "cannot read it: Is a directory");
}

static void a_file_that_is_too_long_is_a_mistake(void **state)
{
    char *text = malloc(FILE_MAX + 2);
    struct rights *t;

    (void)state;
    memset(text, '#', FILE_MAX + 1);
    memcpy(text, "allow any lock *\n", 17);
    text[FILE_MAX + 1] = '\0';
    expect_mistake(rules_of(text), "cannot read it: it is too long");
    text[FILE_MAX] = '\0';
    t = rules_of(text);
    assert_non_null(t);
    assert_int_equal(t->rules, 1);
    free(t);
    free(text);
}

/* After a crash of the machine, a file may have zeros in the place of what was written last. Without rules, every client could use all locks. */
static void a_file_with_zero_bytes_is_a_mistake(void **state)
{
    static const char text[] = "allow key:ci none a*\n\0allow any lock *\n";

    (void)state;
    write_file(text, sizeof text - 1);
    expect_mistake(conf_read_rights(&draft, path), "this is no text");
    write_file("\0\0\0\0", 4);
    expect_mistake(conf_read_rights(&draft, path), "this is no text");
}

/* The draft is that of the last attempt. */
static void a_file_that_was_repaired_is_good(void **state)
{
    struct rights *t;

    (void)state;
    expect_mistake(rules_of("allow any lock *\nallow any fly *\n"), ":2: ");
    t = rules_of("allow any lock *\nlease 4000\n"); /* other settings are left alone */
    assert_non_null(t);
    assert_int_equal(draft.mistakes, 0);
    assert_int_equal(t->rules, 1);
    assert_string_equal(t->file, path);
    free(t);
}

static void there_are_no_more_rules_than_the_table_has_room_for(void **state)
{
    static char text[(RIGHTS_RULES_MAX + 1) * 32];
    size_t len = 0;
    struct rights *t;

    (void)state;
    for (unsigned k = 0; k < RIGHTS_RULES_MAX; k++)
        len += (size_t)sprintf(text + len, "allow key:k%u lock *\n", k);
    t = rules_of(text);
    assert_non_null(t);
    assert_int_equal(t->rules, RIGHTS_RULES_MAX);
    free(t);
    sprintf(text + len, "allow any lock *\n");
    expect_mistake(rules_of(text), ":257: there are more than 256 lines with \"allow\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_and_groups_of_this_machine_get_their_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_user_or_a_group_that_this_machine_does_not_have_is_a_mistake, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(several_errors_mean_that_there_is_no_such_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_machine_that_cannot_tell_does_not_say_that_it_has_no_such_name, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_group_with_very_many_members_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_without_end_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_known_stays_unsure, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_for_all_members_need_no_names_of_this_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_a_mistake, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_long_is_a_mistake, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_with_zero_bytes_is_a_mistake, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_was_repaired_is_good, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_no_more_rules_than_the_table_has_room_for, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
