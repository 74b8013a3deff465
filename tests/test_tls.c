/* Two ends of TLS, and nothing between them but memory. Certificates are tested with real daemons, in secure.sh.
 * Invariant: I21. */
#include "test.h"

#include "tls/tls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* OpenSSL's allocations. The one with the number `famine` fails; 0: none does. */
static size_t allocations, famine;

static void *tls_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return ++allocations == famine ? NULL : malloc(size);
}

static void *tls_realloc(void *block, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return ++allocations == famine ? NULL : realloc(block, size);
}

static void tls_release(void *block, const char *file, int line)
{
    (void)file;
    (void)line;
    free(block);
}

/* OpenSSL takes other functions only before its first allocation. */
static bool watch_allocations(void)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    int (*set)(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
               void (*)(void *, const char *, int)) = NULL;

    if (library)
        *(void **)&set = dlsym(library, "CRYPTO_set_mem_functions");
    return set && set(tls_malloc, tls_realloc, tls_release) == 1;
}

static struct tls_keys *keys_of(const char *identity, const struct key *key)
{
    char why[256];
    struct tls_keys *keys = tls_keys_new(&(struct tls_conf){.identity = identity, .key = key}, why, sizeof why);

    assert_non_null(keys);
    return keys;
}

/* What one end has to say arrives at the other; the byte at this place of it is changed on the way. How much it was. */
static size_t carry(struct tls *from, struct tls *to, size_t change)
{
    static uint8_t bytes[1 << 16];
    size_t len = tls_output(from, bytes, sizeof bytes);

    if (change < len)
        bytes[change] ^= 0x20;
    if (len)
        tls_input(to, bytes, len);
    return len;
}

static void talk(struct tls *a, struct tls *b)
{
    while (carry(a, b, SIZE_MAX) + carry(b, a, SIZE_MAX))
        ;
}

static void who_has_the_key_is_understood(void **state)
{
    struct key key;
    struct tls_keys *keys;
    struct tls *a, *b;
    uint8_t heard[64];

    (void)state;
    assert_true(key_make(&key));
    keys = keys_of(TLS_MEMBERS, &key);
    a = tls_call(keys, NULL);
    b = tls_answer(keys);
    assert_false(tls_write(a, (const uint8_t *)"early", 5));
    talk(a, b);
    assert_true(tls_is_up(a) && tls_is_up(b));
    assert_true(tls_write(a, (const uint8_t *)"hello", 5));
    talk(a, b);
    assert_int_equal(tls_read(b, heard, sizeof heard), 5);
    assert_memory_equal(heard, "hello", 5);
    assert_int_equal(tls_read(b, heard, sizeof heard), 0);
    assert_false(tls_is_over(b));
    assert_true(tls_is_named(b, "another"));
    tls_end(a);
    talk(a, b);
    assert_int_equal(tls_read(b, heard, sizeof heard), 0);
    assert_true(tls_is_over(b));
    assert_string_equal(tls_why(b), "");
    tls_free(a);
    tls_free(b);
    tls_keys_free(keys);
}

/* Several records come at once, the reader takes them in small pieces, and the last record comes in two. */
static void all_that_has_come_can_be_read(void **state)
{
    enum { RECORDS = 5, LONG = 3000 };
    struct key key;
    struct tls_keys *keys;
    struct tls *a, *b;
    uint8_t said[LONG], heard[LONG], bytes[2 * LONG];
    size_t len, got = 0;

    (void)state;
    assert_true(key_make(&key));
    keys = keys_of(TLS_MEMBERS, &key);
    a = tls_call(keys, NULL);
    b = tls_answer(keys);
    talk(a, b);
    for (size_t k = 0; k < LONG; k++)
        said[k] = (uint8_t)(k / 7);
    for (size_t k = 0; k < RECORDS; k++)
        assert_true(tls_write(a, said + k * LONG / RECORDS, LONG / RECORDS));
    len = tls_output(a, bytes, sizeof bytes);
    assert_true(tls_input(b, bytes, len - 10));
    while ((len = tls_read(b, heard + got, got + 7 < LONG ? 7 : LONG - got)))
        got += len;
    assert_int_equal(got, LONG - LONG / RECORDS);
    assert_int_equal(tls_read(b, heard + got, 7), 0);
    assert_false(tls_is_over(b));
    len = LONG + RECORDS * 22; /* each has a head of 5 bytes, a byte for its type and a tag of 16 */
    assert_true(tls_input(b, bytes + len - 10, 10));
    assert_int_equal(tls_read(b, heard + got, LONG - got), LONG / RECORDS); /* as much as there is room for */
    assert_int_equal(tls_read(b, bytes, sizeof bytes), 0);
    assert_memory_equal(heard, said, LONG);
    tls_free(a);
    tls_free(b);
    tls_keys_free(keys);
}

static void expect_refusal(struct tls_keys *caller, struct tls_keys *called, const char *callers, const char *calleds)
{
    struct tls *a = tls_call(caller, NULL), *b = tls_answer(called);

    talk(a, b);
    assert_false(tls_is_up(a) || tls_is_up(b));
    assert_string_equal(tls_why(a), callers);
    assert_string_equal(tls_why(b), calleds);
    tls_free(a);
    tls_free(b);
}

/* One end of the clients' door: it proves that it has what is derived for this purpose, and trusts those others. */
static struct tls_keys *proof_of(const struct key *cluster, enum key_purpose purpose, enum key_purpose first,
                                 enum key_purpose second)
{
    struct key proof = key_derive(cluster, purpose), one = key_derive(cluster, first),
               two = key_derive(cluster, second);
    struct tls_conf conf = {.proof = &proof, .trusts = 2};
    struct tls_keys *keys;
    char why[256];

    assert_true(key_public(&one, conf.trusted[0]) && key_public(&two, conf.trusted[1]));
    keys = tls_keys_new(&conf, why, sizeof why);
    assert_non_null(keys);
    return keys;
}

static void keys_for_one_door_do_not_open_the_other(void **state)
{
    struct key key, member, other;
    struct tls_keys *clients, *members, *others;

    (void)state;
    assert_true(key_make(&key) && key_make(&other));
    member = key_derive(&key, KEY_MEMBERS);
    clients = proof_of(&key, KEY_CLIENTS, KEY_DAEMONS, KEY_DAEMONS);
    members = keys_of(TLS_MEMBERS, &member);
    others = keys_of(TLS_MEMBERS, &other);
    expect_refusal(clients, members, "says that we come without the right key", "comes without the key");
    expect_refusal(others, members, "says that our key is another one", "has another key");
    tls_keys_free(clients);
    tls_keys_free(members);
    tls_keys_free(others);
}

static void a_client_and_an_operator_are_told_apart(void **state)
{
    static const enum key_purpose purposes[] = {KEY_CLIENTS, KEY_OPERATORS};
    struct key key;
    struct tls_keys *daemon;

    (void)state;
    assert_true(key_make(&key));
    daemon = proof_of(&key, KEY_DAEMONS, KEY_CLIENTS, KEY_OPERATORS);
    for (int k = 0; k < 2; k++) {
        struct tls_keys *caller = proof_of(&key, purposes[k], KEY_DAEMONS, KEY_DAEMONS);
        struct tls *a = tls_call(caller, NULL), *b = tls_answer(daemon);

        talk(a, b);
        assert_true(tls_is_up(a) && tls_is_up(b));
        assert_int_equal(tls_proved(b), k);
        assert_int_equal(tls_proved(a), 0);
        assert_false(tls_is_named(b, "operator.dibs"));
        tls_free(a);
        tls_free(b);
        tls_keys_free(caller);
    }
    tls_keys_free(daemon);
}

/* A client that was made to call it hangs up before it has said anything. */
static void a_client_cannot_pose_as_a_daemon(void **state)
{
    struct key key, other;
    struct tls_keys *client, *daemon, *false_daemon, *stranger;
    struct tls *a, *b;

    (void)state;
    assert_true(key_make(&key) && key_make(&other));
    client = proof_of(&key, KEY_CLIENTS, KEY_DAEMONS, KEY_DAEMONS);
    false_daemon = proof_of(&key, KEY_CLIENTS, KEY_CLIENTS, KEY_CLIENTS);
    a = tls_call(client, NULL);
    b = tls_answer(false_daemon);
    talk(a, b);
    assert_false(tls_is_up(a));
    assert_string_equal(tls_why(a), "has another key");
    tls_free(a);
    tls_free(b);
    /* Nor is a process with the keys of another cluster a client: it believes to be one until the daemon answers. */
    daemon = proof_of(&key, KEY_DAEMONS, KEY_CLIENTS, KEY_OPERATORS);
    stranger = proof_of(&other, KEY_CLIENTS, KEY_DAEMONS, KEY_DAEMONS);
    a = tls_call(stranger, NULL);
    b = tls_answer(daemon);
    talk(a, b);
    assert_false(tls_is_up(a) || tls_is_up(b));
    tls_free(a);
    tls_free(b);
    tls_keys_free(client);
    tls_keys_free(daemon);
    tls_keys_free(false_daemon);
    tls_keys_free(stranger);
}

/* Whatever is changed in the first words: no end takes the other for what it is not, and says why. (The third byte is a
 * version of old, which means nothing.) */
static void a_changed_byte_ends_it(void **state)
{
    struct key key;
    struct tls_keys *keys;
    size_t changed = 1;

    (void)state;
    assert_true(key_make(&key));
    keys = keys_of(TLS_MEMBERS, &key);
    for (size_t at = 0; changed; at++) {
        struct tls *a = tls_call(keys, NULL), *b = tls_answer(keys);

        changed = at < carry(a, b, at);
        if (changed && at != 2) {
            talk(a, b);
            assert_false(tls_is_up(a) && tls_is_up(b));
            assert_true(!tls_is_over(b) || *tls_why(b));
        }
        tls_free(a);
        tls_free(b);
    }
    tls_keys_free(keys);
}

static void a_changed_message_is_not_delivered(void **state)
{
    struct key key;
    struct tls_keys *keys;
    uint8_t heard[64];

    (void)state;
    assert_true(key_make(&key));
    keys = keys_of(TLS_MEMBERS, &key);
    for (size_t at = 0; at < 5 + 6 + 17; at++) { /* head, what is said, its type and seal */
        struct tls *a = tls_call(keys, NULL), *b = tls_answer(keys);

        talk(a, b);
        assert_true(tls_write(a, (const uint8_t *)"unlock", 6));
        carry(a, b, at);
        assert_int_equal(tls_read(b, heard, sizeof heard), 0);
        assert_true(at == 3 || at == 4 || *tls_why(b)); /* a length that is too long is waited for */
        tls_free(a);
        tls_free(b);
    }
    tls_keys_free(keys);
}

/* The words of a conversation, sent once more to the same door, open nothing. */
static void a_conversation_cannot_be_replayed(void **state)
{
    struct key key;
    struct tls_keys *keys;
    struct tls *a, *b, *again;
    static uint8_t words[2][4096];
    size_t len[2];
    uint8_t heard[64];

    (void)state;
    assert_true(key_make(&key));
    keys = keys_of(TLS_MEMBERS, &key);
    a = tls_call(keys, NULL);
    b = tls_answer(keys);
    again = tls_answer(keys);
    len[0] = tls_output(a, words[0], sizeof words[0]);
    assert_true(tls_input(b, words[0], len[0]));
    carry(b, a, SIZE_MAX);
    assert_true(tls_write(a, (const uint8_t *)"unlock", 6));
    len[1] = tls_output(a, words[1], sizeof words[1]);
    assert_true(tls_input(b, words[1], len[1]));
    assert_int_equal(tls_read(b, heard, sizeof heard), 6);
    assert_true(tls_input(again, words[0], len[0]));
    assert_false(tls_input(again, words[1], len[1]));
    assert_false(tls_is_up(again));
    tls_free(a);
    tls_free(b);
    tls_free(again);
    tls_keys_free(keys);
}

/* A client's connection to a daemon, while one allocation of OpenSSL fails. Returns false if it was not made; then there may be no connection, and
 * neither side knows the other. */
static bool connects_in_famine(struct tls_keys *client, struct tls_keys *daemon)
{
    uint8_t heard[64];
    size_t len;
    bool knows;
    struct tls *a, *b;

    allocations = 0;
    a = tls_call(client, NULL);
    b = tls_answer(daemon);
    if (a && b)
        talk(a, b);
    knows = a && b && tls_is_up(a) && tls_is_up(b);
    if (knows && tls_write(a, (const uint8_t *)"hello", 5)) {
        talk(a, b);
        len = tls_read(b, heard, sizeof heard);
        assert_true((len == 5 && memcmp(heard, "hello", 5) == 0) || tls_is_over(a) || tls_is_over(b));
    }
    assert_true(!b || !tls_is_up(b) || tls_proved(b) == 0);
    tls_free(a);
    tls_free(b);
    return knows;
}

/* Every allocation fails once: the process goes on, as a daemon has other clients. */
static void without_memory_a_connection_fails_and_nothing_else(void **state)
{
    struct key key;
    struct tls_keys *client, *daemon;

    (void)state;
    assert_true(key_make(&key));
    client = proof_of(&key, KEY_CLIENTS, KEY_DAEMONS, KEY_DAEMONS);
    daemon = proof_of(&key, KEY_DAEMONS, KEY_CLIENTS, KEY_OPERATORS);
    assert_true(connects_in_famine(client, daemon));
    assert_true(allocations > 100);
    for (famine = 1; allocations >= famine || famine == 1; famine++)
        connects_in_famine(client, daemon);
    famine = 0;
    assert_true(connects_in_famine(client, daemon));
    tls_keys_free(client);
    tls_keys_free(daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_the_key_is_understood),
        cmocka_unit_test(all_that_has_come_can_be_read),
        cmocka_unit_test(keys_for_one_door_do_not_open_the_other),
        cmocka_unit_test(a_client_and_an_operator_are_told_apart),
        cmocka_unit_test(a_client_cannot_pose_as_a_daemon),
        cmocka_unit_test(a_changed_byte_ends_it),
        cmocka_unit_test(a_changed_message_is_not_delivered),
        cmocka_unit_test(a_conversation_cannot_be_replayed),
        cmocka_unit_test(without_memory_a_connection_fails_and_nothing_else),
    };

    if (!watch_allocations())
        return 1;

    return cmocka_run_group_tests(tests, NULL, NULL);
}
