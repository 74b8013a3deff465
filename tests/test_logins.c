/* The logins of the daemon's page: a token works once and not for long, a login needs both of its secrets, and neither can be
 * displaced by those with fewer rights. And which requests of browsers pass the gate.
 * Invariant: I19. */
#include "test.h"

#include "serve/gate.h"
#include "serve/logins.h"

#include <stdio.h>
#include <string.h>

static struct logins logins;
static uint16_t next;

static int setup(void **state)
{
    (void)state;
    logins_free(&logins);
    next = 0;
    return 0;
}

/* Other bytes at each call. */
static const uint8_t *bytes(void)
{
    static uint8_t some[2 * LOGINS_RANDOM];

    for (unsigned k = 0; k < sizeof some; k++)
        some[k] = (uint8_t)(k + 41 * k * next);
    memcpy(some, &(uint16_t){++next}, 2);
    memcpy(some + LOGINS_RANDOM, &next, 2);
    return some;
}

static void invite(bool operates, uint64_t now_ms, char token[LOGINS_SECRET])
{
    char key[] = "ci";
    const struct rights_who who = {.operates = operates, .has_user = true, .user = 7, .key = key};

    memcpy(token, logins_invite(&logins, &who, "user 7", bytes(), now_ms), LOGINS_SECRET);
    assert_int_equal(strlen(token), LOGINS_SECRET - 1);
}

static const struct login *enter(bool operates, uint64_t now_ms)
{
    char token[LOGINS_SECRET];

    invite(operates, now_ms, token);
    return logins_open(&logins, token, bytes(), now_ms);
}

static void a_token_opens_one_login_with_the_rights_of_the_client_that_asked(void **state)
{
    (void)state;
    for (int operates = 0; operates < 2; operates++) {
        char token[LOGINS_SECRET];
        const struct login *login;

        invite(operates, 10, token);
        login = logins_open(&logins, token, bytes(), 11);
        assert_non_null(login);
        assert_int_equal(login->who->operates, operates);
        assert_int_equal(login->who->user, 7);
        assert_string_equal(login->who->key, "ci");
        assert_string_equal(login->from, "user 7");
        assert_string_not_equal(login->cookie, login->pass);
        assert_null(logins_open(&logins, token, bytes(), 11));
    }
}

static void a_token_does_not_last(void **state)
{
    char token[LOGINS_SECRET];

    (void)state;
    invite(true, 10, token);
    assert_null(logins_open(&logins, token, bytes(), 10 + LOGINS_TOKEN_MS));
    assert_null(logins_open(&logins, token, bytes(), 11)); /* that was its one use */
    invite(true, 10, token);
    assert_non_null(logins_open(&logins, token, bytes(), 9 + LOGINS_TOKEN_MS));
}

static void what_is_no_token_opens_nothing(void **state)
{
    static const char *const wrong[] = {NULL, "", "0", "00000000000000000000000000000000",
                                        "000000000000000000000000000000000000000000000000000000000000000000"};
    char token[LOGINS_SECRET];

    (void)state;
    invite(true, 0, token);
    for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_null(logins_open(&logins, wrong[k], bytes(), 1));
    for (unsigned k = 0; k < LOGINS_SECRET - 1; k++) {
        token[k] ^= 1;
        assert_null(logins_open(&logins, token, bytes(), 1));
        token[k] ^= 1;
    }
    assert_non_null(logins_open(&logins, token, bytes(), 1));
}

static void a_login_needs_both_of_its_secrets_and_ends(void **state)
{
    const struct login *a = enter(true, 5), *b = enter(true, 5);

    (void)state;
    assert_ptr_equal(logins_find(&logins, a->cookie, a->pass, 6), a);
    assert_ptr_equal(logins_find(&logins, b->cookie, b->pass, 6), b);
    assert_null(logins_find(&logins, a->cookie, b->pass, 6));
    assert_null(logins_find(&logins, a->cookie, NULL, 6));
    assert_null(logins_find(&logins, NULL, a->pass, 6));
    assert_null(logins_find(&logins, "", "", 6));
    assert_true(logins_lasts(&logins, a->number, 4 + LOGINS_MS));
    assert_false(logins_lasts(&logins, a->number, 5 + LOGINS_MS));
    assert_null(logins_find(&logins, a->cookie, a->pass, 5 + LOGINS_MS));
    logins_close(&logins, b->number);
    assert_null(logins_find(&logins, b->cookie, b->pass, 6));
    assert_non_null(logins_find(&logins, a->cookie, a->pass, 6));
}

static void the_oldest_makes_room_and_readers_displace_no_operator(void **state)
{
    const struct login *owner = enter(true, 1), first = *enter(false, 1);
    char token[LOGINS_SECRET], early[LOGINS_SECRET];

    (void)state;
    invite(true, 1, token);
    invite(false, 2, early);
    for (unsigned k = 0; k < 1000; k++) {
        char some[LOGINS_SECRET];

        assert_non_null(enter(false, 3 + k));
        invite(false, 3 + k, some);
    }
    assert_ptr_equal(logins_find(&logins, owner->cookie, owner->pass, 2000), owner);
    assert_null(logins_find(&logins, first.cookie, first.pass, 2000));
    assert_false(logins_lasts(&logins, first.number, 2000));
    assert_null(logins_open(&logins, early, bytes(), 2000));
    assert_non_null(logins_open(&logins, token, bytes(), 2000));
}

static void the_gate_lets_the_daemons_own_page_in_and_no_other(void **state)
{
    static const struct gate_head in[] = {
        {"127.0.0.1:7480", NULL, NULL},
        {"127.0.0.1", "http://127.0.0.1", "same-origin"},
        {"localhost:1", "http://localhost:1", "same-origin"},
        {"LOCALHOST:1", "http://localhost:1", NULL},
        {"[::1]:7480", "http://[::1]:7480", NULL},
        {"127.3.2.1:7480", NULL, "same-origin"},
    };
    static const struct gate_head out[] = {
        {NULL, NULL, NULL},
        {"", NULL, NULL},
        {"evil.example:7480", NULL, NULL},
        {"127.0.0.1.evil.example", NULL, NULL},
        {"localhost.evil.example", NULL, NULL},
        {"127.0.0.1:7480@evil.example", NULL, NULL},
        {"10.0.0.1:7480", NULL, NULL},
        {"[::1", NULL, NULL},
        {"[]", NULL, NULL},
        {"[127.0.0.1]", NULL, NULL},
        {"[localhost]:1", NULL, NULL},
        {"[::1]x", NULL, NULL},
        {"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]", NULL, NULL},
        {"127.0.0.1:7480", "http://127.0.0.1:7481", NULL},
        {"127.0.0.1:7480", "https://127.0.0.1:7480", NULL},
        {"127.0.0.1:7480", "null", NULL},
        {"127.0.0.1:7480", "http://evil.example", NULL},
        {"127.0.0.1:7480", NULL, "cross-site"},
        {"127.0.0.1:7480", NULL, "same-site"},
        {"127.0.0.1:7480", NULL, "none"},
    };

    (void)state;
    for (unsigned k = 0; k < sizeof in / sizeof in[0]; k++)
        if (gate_objects(&in[k]))
            fail_msg("%s: %s", in[k].host, gate_objects(&in[k]));
    for (unsigned k = 0; k < sizeof out / sizeof out[0]; k++)
        if (!gate_objects(&out[k]))
            fail_msg("host %s, origin %s, site %s", out[k].host, out[k].origin, out[k].site);
}

static void without_a_login_the_host_alone_decides(void **state)
{
    static const char *const in[] = {NULL, "localhost", "localhost:7480", "127.0.0.1:7480", "[::1]:7480"};
    static const char *const out[] = {"evil.example", "evil.example:7480", "127.0.0.1.evil.example", "10.0.0.1:7480",
                                      ""};

    (void)state;
    for (unsigned k = 0; k < sizeof in / sizeof in[0]; k++)
        assert_null(gate_objects_to_host(in[k]));
    for (unsigned k = 0; k < sizeof out / sizeof out[0]; k++)
        assert_non_null(gate_objects_to_host(out[k]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_token_opens_one_login_with_the_rights_of_the_client_that_asked, setup),
        cmocka_unit_test_setup(a_token_does_not_last, setup),
        cmocka_unit_test_setup(what_is_no_token_opens_nothing, setup),
        cmocka_unit_test_setup(a_login_needs_both_of_its_secrets_and_ends, setup),
        cmocka_unit_test_setup(the_oldest_makes_room_and_readers_displace_no_operator, setup),
        cmocka_unit_test_setup(the_gate_lets_the_daemons_own_page_in_and_no_other, setup),
        cmocka_unit_test_setup(without_a_login_the_host_alone_decides, setup),
    };

    return cmocka_run_group_tests(tests, NULL, setup);
}
