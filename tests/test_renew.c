/* SIGHUP (serve/renew.c): what is read again, what stays after a mistake, and SIGHUP while files are being read. tests/rights.sh and tests/certs.sh have whole daemons.
 * Invariant: I34. */
#include "served.h"

#include "alg/list.h"
#include "node/rules.h"
#include "tls/tls.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct conf_draft draft;
static char dir[64], key_path[80], rules_path[80];
static struct key cluster;

static void write_text(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");

    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void write_key(void)
{
    FILE *to = fopen(key_path, "w");

    assert_non_null(to);
    key_write(&cluster, to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(key_path, 0600), 0);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/dibs-renew-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(key_path, sizeof key_path, "%s/key", dir);
    snprintf(rules_path, sizeof rules_path, "%s/rules", dir);
    served_init("ant");
    assert_int_equal(uv_loop_init(&served.loop), 0);
    conf_begin(&draft);
    served.draft = &draft;
    served.hangup.data = &served;
    node_init(&served.node, &(struct node_conf){.name = "ant",
                                                .summary = "same",
                                                .algorithm = alg_find("ricart-agrawala"),
                                                .slots_algorithm = alg_find("central"),
                                                .incarnation = 1});
    served_log();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_false(served.renewing);
    assert_int_equal(uv_loop_close(&served.loop), 0);
    node_free(&served.node);
    free(served_conf.rights);
    tls_keys_free(served_conf.members_tls);
    tls_keys_free(served_conf.clients_tls);
    unlink(key_path);
    unlink(rules_path);
    return rmdir(dir);
}

/* SIGHUP comes, and all that follows from it. Returns what the daemon logs. */
static const char *hang_up(void)
{
    serve_renew(&served.hangup, 1);
    uv_run(&served.loop, UV_RUN_DEFAULT);
    return served_log();
}

/* The daemon has this file of rules, and uses them. */
static void begin_with_rules(const char *text)
{
    write_text(rules_path, text);
    draft.file = rules_path;
    hang_up();
    assert_non_null(served_conf.rights);
}

static void begin_with_key(void)
{
    struct secrets fresh;

    assert_true(key_make(&cluster));
    write_key();
    draft.set[CONF_KEY].text = key_path;
    served_conf.has_key = true;
    assert_true(conf_read_secrets(&draft, &fresh));
    conf_use_secrets(&served_conf, &fresh);
}

/* May any client lock this name? */
static bool may_lock(const char *name)
{
    return rights_decide(rules_in_use(&served.node), NULL, RIGHT_LOCK, name, strlen(name)).allowed;
}

static void rules_that_are_read_again_decide_from_then_on(void **state)
{
    (void)state;
    begin_with_rules("allow any lock a*\n");
    assert_true(may_lock("a") && !may_lock("b"));
    write_text(rules_path, "allow any lock b*\nallow any watch *\n");
    assert_non_null(strstr(hang_up(), "the rules for clients were read again: 2 rules"));
    assert_true(!may_lock("a") && may_lock("b"));
    assert_int_equal(served_conf.rights->rules, 2);
}

static void rules_with_a_mistake_change_nothing(void **state)
{
    const char *log;

    (void)state;
    begin_with_rules("allow any lock a*\n");
    write_text(rules_path, "allow any lock b*\nallow any fly *\n");
    log = hang_up();
    assert_non_null(
        strstr(log, "warning dibs: ant: SIGHUP: the rules for clients stay as they were, because of this:"));
    assert_non_null(strstr(log, "/rules:2: \"fly\" is"));
    assert_true(may_lock("a") && !may_lock("b"));
    unlink(rules_path);
    assert_non_null(strstr(hang_up(), "cannot read it: No such file or directory"));
    assert_true(may_lock("a") && !may_lock("b"));
}

/* It may be what an operator wants, or the file may have been emptied by mistake. */
static void that_there_are_no_rules_any_more_is_a_warning(void **state)
{
    static const char warning[] = "there are no rules for clients any more: every client may use all locks";

    (void)state;
    begin_with_rules("allow any lock a*\n");
    write_text(rules_path, "");
    assert_non_null(strstr(hang_up(), warning));
    assert_true(may_lock("b"));
    assert_null(strstr(hang_up(), warning)); /* it was so before */
}

static void a_key_with_a_mistake_stays_and_the_rules_are_read_all_the_same(void **state)
{
    const struct tls_keys *members, *clients;
    const char *log;

    (void)state;
    begin_with_key();
    members = served_conf.members_tls;
    clients = served_conf.clients_tls;
    begin_with_rules("allow any lock a*\n");
    assert_ptr_not_equal(served_conf.members_tls, members); /* it was read again, too */
    members = served_conf.members_tls;
    clients = served_conf.clients_tls;
    write_text(key_path, "dibs-key cluster 12\n");
    write_text(rules_path, "allow any lock b*\n");
    log = hang_up();
    assert_non_null(strstr(log, "SIGHUP: keys and certificates stay as they were, because of this:"));
    assert_non_null(strstr(log, "is not a key file"));
    assert_true(served_conf.members_tls == members && served_conf.clients_tls == clients);
    assert_true(may_lock("b"));
    write_key();
    assert_non_null(strstr(hang_up(), "SIGHUP: keys and certificates were read again, for connections to come"));
    assert_ptr_not_equal(served_conf.clients_tls, clients);
}

static void without_files_there_is_nothing_to_be_read(void **state)
{
    (void)state;
    assert_non_null(strstr(hang_up(), "SIGHUP: there are no keys and certificates to be read again"));
    assert_false(served.renewing);
}

/* A thread reads the rules from a pipe, and waits for what comes. The next end of the file is that of the pipe. */
static void say_rules(const char *text)
{
    int fd = open(rules_path, O_WRONLY); /* waits for the thread to open it */

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    while (served.renewing && !served.renewal.again)
        uv_run(&served.loop, UV_RUN_ONCE);
}

static void sighup_while_files_are_read_has_them_read_once_more(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(rules_path, 0600), 0);
    draft.file = rules_path;
    alarm(20);
    serve_renew(&served.hangup, 1);
    for (unsigned k = 0; k < 3; k++) /* they are one */
        serve_renew(&served.hangup, 1);
    say_rules("allow any lock a*\n");
    while (served.renewal.again)
        uv_run(&served.loop, UV_RUN_ONCE);
    assert_true(served.renewing);
    assert_true(may_lock("a"));
    say_rules("allow any lock b*\n");
    assert_false(served.renewing);
    assert_true(!may_lock("a") && may_lock("b"));
    alarm(0);
}

static void a_daemon_that_ends_does_not_read_them_once_more(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(rules_path, 0600), 0);
    draft.file = rules_path;
    alarm(20);
    serve_renew(&served.hangup, 1);
    serve_renew(&served.hangup, 1);
    served.stopping = true;
    say_rules("allow any lock a*\n");
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_false(served.renewing);
    alarm(0);
}

/* While the members have agreed on rights, those of the file do not count, and the log says so. */
static void agreed_rights_stay_in_use(void **state)
{
    static const char agreed[] = "allow any lock c*\n";
    char why[RIGHTS_WHY_MAX];

    (void)state;
    begin_with_rules("allow any lock a*\n");
    served.node.rules.agreed = rules_read(&served.node, agreed, strlen(agreed), why);
    assert_non_null(served.node.rules.agreed);
    write_text(rules_path, "");
    assert_non_null(strstr(hang_up(), "they do not count, as the members have agreed on others"));
    assert_true(!may_lock("a") && may_lock("c"));
    assert_null(strstr(served_said.text, "no rules for clients any more"));
}

static void an_agent_keeps_its_key_if_the_new_one_has_a_mistake(void **state)
{
    const struct tls_keys *before;

    (void)state;
    draft.set[CONF_CONNECT].text = "127.0.0.1:7400";
    serve_renew_agent(&served.hangup, 1);
    assert_true(served_logged("SIGHUP: there is no key and no certificate to be read again"));
    begin_with_key();
    before = served_conf.members_tls;
    write_text(key_path, "");
    serve_renew_agent(&served.hangup, 1);
    assert_true(served_logged("SIGHUP: the key stays as it was: --key: "));
    assert_ptr_equal(served_conf.members_tls, before);
    write_key();
    serve_renew_agent(&served.hangup, 1);
    assert_true(served_logged("SIGHUP: the key was read again"));
    assert_ptr_not_equal(served_conf.members_tls, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules_that_are_read_again_decide_from_then_on, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_with_a_mistake_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(that_there_are_no_rules_any_more_is_a_warning, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_with_a_mistake_stays_and_the_rules_are_read_all_the_same, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_files_there_is_nothing_to_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(sighup_while_files_are_read_has_them_read_once_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_daemon_that_ends_does_not_read_them_once_more, setup, teardown),
        cmocka_unit_test_setup_teardown(agreed_rights_stay_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_keeps_its_key_if_the_new_one_has_a_mistake, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
