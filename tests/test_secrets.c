/* Keys of a daemon and of an agent (serve/secrets.c, tls/key.h): which files are refused, and which side proves what with the key at which door. tests/test_tls.c has
 * TLS itself, and tests/certs.sh certificates.
 * Invariant: I21. */
#include "test.h"

#include "serve/conf.h"
#include "tls/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER = 65534, ROOM = 1 << 12, REFUSED = -2 };

static struct conf_draft draft;
static struct serve_conf conf;
static char dir[64], path[80], second[80];
static struct key cluster;

static void write_key(const char *file, const struct key *k)
{
    FILE *to = fopen(file, "w");

    assert_non_null(to);
    key_write(k, to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(file, 0600), 0);
}

static void write_text(const char *text, size_t len)
{
    FILE *to = fopen(path, "w");

    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, len, to), len);
    assert_int_equal(fclose(to), 0);
}

static void drop(struct serve_conf *c)
{
    tls_keys_free(c->members_tls);
    tls_keys_free(c->clients_tls);
    memset(c, 0, sizeof *c);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/dibs-secrets-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/key", dir);
    snprintf(second, sizeof second, "%s/second", dir);
    assert_true(key_make(&cluster));
    write_key(path, &cluster);
    conf_begin(&draft);
    draft.set[CONF_KEY].text = path;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    drop(&conf);
    if (unlink(path) != 0)
        rmdir(path);
    unlink(second);
    return rmdir(dir);
}

static bool load(const char *file, bool agent, struct serve_conf *c)
{
    drop(c);
    draft.mistakes = 0;
    draft.set[CONF_KEY].text = file;
    draft.set[CONF_CONNECT].text = agent ? "127.0.0.1:7400" : NULL;
    return conf_secrets(&draft, c);
}

/* The key file is refused, and one mistake says why. */
static void expect_mistake(const char *why)
{
    assert_false(load(path, false, &conf));
    assert_null(conf.clients_tls);
    assert_null(conf.members_tls);
    assert_int_equal(draft.mistakes, 1);
    if (!strstr(draft.mistake[0].text, why))
        fail_msg("it is not \"%s\": %s", why, draft.mistake[0].text);
}

/* -------------------------------------------------------------------------------------------------------------- files */

static void a_daemon_without_a_key_has_no_secrets(void **state)
{
    (void)state;
    assert_true(load(NULL, false, &conf));
    assert_null(conf.members_tls);
    assert_null(conf.clients_tls);
    assert_false(conf.has_key || conf.has_cert);
}

static void a_key_that_was_cut_off_is_refused(void **state)
{
    char text[ROOM];
    FILE *from = fopen(path, "r");
    size_t len = fread(text, 1, sizeof text, from);

    (void)state;
    fclose(from);
    for (size_t k = 0; k < len - 1; k++) { /* without its last line feed, it is whole */
        write_text(text, k);
        expect_mistake("is not a key file");
    }
    write_text(text, len - 1);
    assert_true(load(path, false, &conf));
}

static void what_is_no_key_is_refused(void **state)
{
    static const char digits[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static char text[1 << 20];
    int len;

    (void)state;
    len = sprintf(text, "dibs-key cluster %s\ndibs-key cluster %s\n", digits, digits); /* which of the two? */
    write_text(text, (size_t)len);
    expect_mistake("is not a key file");
    len = sprintf(text, "dibs-key cluster %sff\n", digits);
    write_text(text, (size_t)len);
    expect_mistake("is not a key file");
    len = sprintf(text, "dibs-key cluster %.63sg\n", digits);
    write_text(text, (size_t)len);
    expect_mistake("is not a key file");
    len = sprintf(text, "dibs-key client %s\n", digits);
    write_text(text, (size_t)len);
    expect_mistake("is a client key of an older form");
    memset(text, 'f', sizeof text);
    write_text(text, sizeof text);
    expect_mistake("is not a key file");
    memset(text, 0, sizeof text);
    write_text(text, sizeof text);
    expect_mistake("is not a key file");
}

static void a_key_that_other_users_can_read_is_refused(void **state)
{
    static const mode_t modes[] = {0604, 0602, 0601, 0640, 0620};

    (void)state;
    for (unsigned k = 0; k < sizeof modes / sizeof modes[0]; k++) {
        assert_int_equal(chmod(path, modes[k]), 0);
        expect_mistake("others can read or write");
    }
}

static void a_key_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(path, OTHER, -1), 0);
    expect_mistake("belongs to another user");
}

/* Many daemons have root:dibs 0640: the group of the daemon may read the file. */
static void a_key_of_root_may_be_readable_for_a_group_of_the_daemon(void **state)
{
    bool own;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(dir, 0711), 0);
    assert_int_equal(chown(path, 0, OTHER), 0);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(setegid(OTHER), 0);
    assert_int_equal(seteuid(OTHER), 0);
    own = load(path, false, &conf);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_true(own);
}

static void what_is_no_file_is_refused_at_once(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    expect_mistake("No such file or directory");
    assert_int_equal(mkdir(path, 0700), 0);
    expect_mistake("is not a file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    expect_mistake("is not a file");
    alarm(0);
}

/* SIGHUP: what was wrong at an earlier attempt is not wrong any more. */
static void keys_that_are_read_again_are_all_there_or_none(void **state)
{
    struct secrets fresh;

    (void)state;
    assert_int_equal(chmod(path, 0644), 0);
    assert_false(conf_read_secrets(&draft, &fresh));
    assert_true(!fresh.members && !fresh.clients);
    assert_int_equal(draft.mistakes, 1);
    assert_int_equal(chmod(path, 0600), 0);
    draft.set[CONF_CERT].text = draft.set[CONF_CERT_KEY].text = draft.set[CONF_CA].text = second; /* it is not there */
    assert_false(conf_read_secrets(&draft, &fresh)); /* the key is good, and clients need the certificate, too */
    assert_true(!fresh.members && !fresh.clients);
    assert_int_equal(draft.mistakes, 1);
    draft.set[CONF_CERT].text = draft.set[CONF_CERT_KEY].text = draft.set[CONF_CA].text = NULL;
    assert_true(conf_read_secrets(&draft, &fresh));
    assert_true(fresh.members && fresh.clients);
    conf_use_secrets(&conf, &fresh);
    assert_true(conf.members_tls == fresh.members && conf.clients_tls == fresh.clients);
}

/* -------------------------------------------------------------------------------------------------------------- doors */

/* Passes bytes from one side to the other. Returns how many these were. */
static size_t pass(struct tls *from, struct tls *to)
{
    uint8_t bytes[ROOM];
    size_t len, all = 0;

    while ((len = tls_output(from, bytes, sizeof bytes)) > 0) {
        tls_input(to, bytes, len);
        all += len;
    }
    return all;
}

/* A caller with these keys comes to a door with those. Returns what the caller has proved there (tls_proved), or REFUSED: one of the two refuses the other. */
static int meet(struct tls_keys *caller, struct tls_keys *door)
{
    struct tls *a = tls_call(caller, NULL), *b = tls_answer(door);
    int proved;

    assert_true(a && b);
    while (pass(a, b) + pass(b, a))
        ;
    proved = tls_is_up(a) && tls_is_up(b) && !tls_is_over(a) && !tls_is_over(b) ? tls_proved(b) : REFUSED;
    tls_free(a);
    tls_free(b);
    return proved;
}

static void only_members_come_in_at_the_door_of_members(void **state)
{
    static struct serve_conf same, stranger, agent;
    struct key other, client;

    (void)state;
    assert_true(load(path, false, &conf) && load(path, false, &same));
    assert_int_not_equal(meet(same.members_tls, conf.members_tls), REFUSED);
    assert_true(key_make(&other));
    write_key(second, &other);
    assert_true(load(second, false, &stranger));
    assert_int_equal(meet(stranger.members_tls, conf.members_tls), REFUSED);
    assert_true(load(path, true, &agent)); /* even with the cluster key, an agent is none */
    assert_int_equal(meet(agent.members_tls, conf.members_tls), REFUSED);
    assert_true(key_for_clients(&cluster, "", &client));
    write_key(second, &client);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.members_tls), REFUSED);
    drop(&same);
    drop(&stranger);
    drop(&agent);
}

static void at_the_door_of_clients_each_key_proves_what_it_is(void **state)
{
    static struct serve_conf agent;
    struct key k;

    (void)state;
    assert_true(load(path, false, &conf));
    assert_true(load(path, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), CONF_TRUST_OPERATORS);
    assert_true(key_for_clients(&cluster, "", &k));
    write_key(second, &k);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), CONF_TRUST_CLIENTS);
    assert_true(key_for_clients(&cluster, "farm", &k));
    write_key(second, &k);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), TLS_PROVED_NAME);
    strcpy(k.name, "boss"); /* the key of one name does not prove another one */
    write_key(second, &k);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), REFUSED);
    drop(&agent);
}

static void keys_of_another_cluster_do_not_do_for_clients_nor_for_daemons(void **state)
{
    static struct serve_conf agent;
    struct key other, k;

    (void)state;
    assert_true(load(path, false, &conf));
    assert_true(key_make(&other));
    write_key(second, &other);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), REFUSED);
    /* The client's private key is right, and the daemon's public key in its file is another one: the agent refuses the daemon. */
    assert_true(key_for_clients(&cluster, "", &k));
    k.daemon[0] ^= 1;
    write_key(second, &k);
    assert_true(load(second, true, &agent));
    assert_int_equal(meet(agent.members_tls, conf.clients_tls), REFUSED);
    drop(&agent);
}

static void a_key_for_clients_makes_no_daemon(void **state)
{
    struct key client;

    (void)state;
    assert_true(key_for_clients(&cluster, "", &client));
    write_key(path, &client);
    expect_mistake("is a key for clients only; a daemon needs that of the cluster");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_daemon_without_a_key_has_no_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_that_was_cut_off_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_key_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_that_other_users_can_read_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_of_another_user_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_of_root_may_be_readable_for_a_group_of_the_daemon, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_refused_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_that_are_read_again_are_all_there_or_none, setup, teardown),
        cmocka_unit_test_setup_teardown(only_members_come_in_at_the_door_of_members, setup, teardown),
        cmocka_unit_test_setup_teardown(at_the_door_of_clients_each_key_proves_what_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_of_another_cluster_do_not_do_for_clients_nor_for_daemons, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_for_clients_makes_no_daemon, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
