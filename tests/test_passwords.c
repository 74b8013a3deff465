/* AUTH (serve/passwords.h): which password is right, and how many guesses the daemon looks at. tests/rights.sh has clients that log in. */
#include "test.h"

#include "serve/passwords.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_MS = 1000000, COST_MS = 1000 / PASSWORDS_PER_S };

static struct passwords passwords;
static unsigned famine; /* this allocation of OpenSSL fails, counted from 1; 0: none */
static struct rights *rights;
static uint64_t now_ms;

static void add_login(const char *name, const char *password)
{
    struct rights_login *l = &rights->login[rights->logins++];

    snprintf(l->name, sizeof l->name, "%s", name);
    assert_true(password_hash(password, strlen(password), l->hash));
}

static int setup(void **state)
{
    (void)state;
    memset(&passwords, 0, sizeof passwords);
    rights = calloc(1, sizeof *rights);
    now_ms = START_MS;
    add_login("web", "secret");
    add_login("app", "other");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(rights);
    return 0;
}

static enum node_login log_in(const char *name, const char *password)
{
    return passwords_check(&passwords, rights, now_ms, name, strlen(name), password, strlen(password));
}

static void the_password_of_a_name_is_right_and_no_other(void **state)
{
    (void)state;
    for (unsigned again = 0; again < 2; again++) { /* the second time, the daemon recognises those that were right */
        assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
        assert_int_equal(log_in("app", "other"), NODE_LOGIN_RIGHT);
        assert_int_equal(log_in("web", "other"), NODE_LOGIN_WRONG);
        assert_int_equal(log_in("app", "secret"), NODE_LOGIN_WRONG);
        assert_int_equal(log_in("web", ""), NODE_LOGIN_WRONG);
        assert_int_equal(log_in("web", "secret "), NODE_LOGIN_WRONG);
        assert_int_equal(log_in("stranger", "secret"), NODE_LOGIN_WRONG);
        assert_int_equal(log_in("", ""), NODE_LOGIN_WRONG);
    }
}

/* Spends all checks that the daemon makes at once. Returns how many these were. */
static unsigned guess(const char *name)
{
    unsigned guesses = 0;

    while (log_in(name, "wrong") == NODE_LOGIN_WRONG)
        assert_true(++guesses < 1000);
    return guesses;
}

static void guesses_are_bounded_for_all_names_together(void **state)
{
    (void)state;
    assert_int_equal(guess("web"), PASSWORDS_BURST);
    assert_int_equal(log_in("app", "wrong"), NODE_LOGIN_LATER);
    assert_int_equal(log_in("stranger", "wrong"), NODE_LOGIN_LATER); /* a name that does not exist costs as much */
    now_ms += COST_MS - 1;
    assert_int_equal(guess("stranger"), 0);
    now_ms++;
    assert_int_equal(guess("web"), 1);
    now_ms += 1000;
    assert_int_equal(guess("app"), PASSWORDS_PER_S);
    now_ms += 3600000;
    assert_int_equal(guess("web"), PASSWORDS_BURST); /* they do not pile up */
}

static void a_client_with_the_right_password_is_not_kept_out_by_guesses(void **state)
{
    (void)state;
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
    guess("web");
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
    assert_int_equal(log_in("app", "other"), NODE_LOGIN_LATER); /* it has not been seen yet */
    now_ms += COST_MS;
    assert_int_equal(log_in("app", "other"), NODE_LOGIN_RIGHT);
    assert_int_equal(log_in("app", "other"), NODE_LOGIN_RIGHT);
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT); /* each name has a place of its own */
}

static void what_is_recognised_costs_nothing(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 1000; k++)
        assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
    assert_int_equal(guess("web"), PASSWORDS_BURST - 1);
}

/* SIGHUP, or an operator who sets other rights, gives the name another password. */
static void a_password_that_was_right_is_not_when_it_has_been_changed(void **state)
{
    (void)state;
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
    rights->logins = 0;
    add_login("web", "changed");
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_WRONG);
    assert_int_equal(log_in("web", "changed"), NODE_LOGIN_RIGHT);
    rights->logins = 0;
    assert_int_equal(log_in("web", "changed"), NODE_LOGIN_WRONG); /* the name is gone */
}

/* What the daemon has recognised belongs to a place in the table. */
static void a_login_that_takes_the_place_of_another_one_does_not_get_its_password(void **state)
{
    (void)state;
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
    rights->login[0] = rights->login[1];
    rights->logins = 1;
    assert_int_equal(log_in("app", "secret"), NODE_LOGIN_WRONG);
    assert_int_equal(log_in("web", "secret"), NODE_LOGIN_WRONG);
    assert_int_equal(log_in("app", "other"), NODE_LOGIN_RIGHT);
}

static void *get(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return famine && --famine == 0 ? NULL : malloc(size);
}

static void *grow(void *old, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return realloc(old, size);
}

static void give_back(void *old, const char *file, int line)
{
    (void)file, (void)line;
    free(old);
}

/* Returns false if OpenSSL cannot be told to allocate by the functions above. */
static bool rule_memory_of_openssl(void)
{
    int (*rule)(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
                void (*)(void *, const char *, int));
    void *library = dlopen("libcrypto.so.3", RTLD_NOW),
         *symbol = library ? dlsym(library, "CRYPTO_set_mem_functions") : NULL;

    memcpy(&rule, &symbol, sizeof rule);
    return rule && rule(get, grow, give_back) == 1;
}

/* There was no code to keep, or to compare. */
static void a_password_of_which_no_code_could_be_computed_lets_no_other_one_in(void **state)
{
    (void)state;
    for (unsigned k = 1; k < 40; k++) {
        famine = k;
        log_in("web", "secret");
        famine = k;
        assert_int_not_equal(log_in("web", "wrong"), NODE_LOGIN_RIGHT);
        famine = 0;
        now_ms += 1000;
        assert_int_equal(log_in("web", "secret"), NODE_LOGIN_RIGHT);
        teardown(NULL);
        setup(NULL);
    }
}

static void a_password_that_is_too_long_is_never_right(void **state)
{
    char longest[8 * PASSWORD_MAX] = "";

    (void)state;
    memset(longest, 'x', PASSWORD_MAX);
    add_login("long", longest);
    assert_int_equal(log_in("long", longest), NODE_LOGIN_RIGHT);
    longest[PASSWORD_MAX] = 'y';
    assert_int_equal(log_in("long", longest), NODE_LOGIN_WRONG);
    memset(longest, 'x', sizeof longest - 1);
    assert_int_equal(log_in("long", longest), NODE_LOGIN_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_password_of_a_name_is_right_and_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(guesses_are_bounded_for_all_names_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_with_the_right_password_is_not_kept_out_by_guesses, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_recognised_costs_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_password_that_was_right_is_not_when_it_has_been_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_login_that_takes_the_place_of_another_one_does_not_get_its_password, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_password_of_which_no_code_could_be_computed_lets_no_other_one_in, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_password_that_is_too_long_is_never_right, setup, teardown),
    };

    if (!rule_memory_of_openssl())
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
