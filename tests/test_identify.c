/* What a client has proved to be (serve/identify.c), by the kernel. The clients are sockets of this process, which only root can make for other users and
 * groups. tests/test_tls.c has keys and certificates, and tests/rights.sh what follows from all that.
 * Invariant: I34. */
#include "served.h"

#include "alg/list.h"

#include <grp.h>
#include <sys/socket.h>

enum { OTHER = 65534, THIRD = 4711, GROUPS = 300 };

static struct stream *stream;
static struct client *client;
static pid_t process;
static int other;

static int setup(void **state)
{
    (void)state;
    served_init("ant");
    assert_int_equal(uv_loop_init(&served.loop), 0);
    turn_init(&served.turn);
    node_init(&served.node, &(struct node_conf){.name = "ant",
                                                .summary = "same",
                                                .algorithm = alg_find("ricart-agrawala"),
                                                .slots_algorithm = alg_find("central"),
                                                .incarnation = 1});
    client = client_open(&served.node, NULL);
    stream = NULL;
    process = 0;
    other = -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (stream)
        stream_close(stream);
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&served.loop), 0);
    node_free(&served.node);
    if (other >= 0)
        close(other);
    return 0;
}

/* A process of this user and group, and with `count` more groups, from 1000 on, comes to a daemon of the user `owner`. What it has proved. */
static const struct rights_who *meet(uid_t user, gid_t group, unsigned count, uid_t owner)
{
    gid_t before[256], groups[GROUPS];
    int own = getgroups(256, before), pair[2];

    for (unsigned k = 0; k < count; k++)
        groups[k] = 1000 + k;
    assert_true(own >= 0);
    assert_int_equal(setgroups(count, groups), 0);
    assert_int_equal(setegid(group), 0);
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(setgroups((size_t)own, before), 0);
    other = pair[1];
    stream = stream_new(&served.loop, &served.turn, false);
    assert_int_equal(uv_pipe_open(&stream->uv.pipe, pair[0]), 0);
    assert_int_equal(seteuid(owner), 0);
    assert_true(serve_identify(client, stream, &process));
    assert_int_equal(seteuid(0), 0);
    return client->session->proved;
}

static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip();
}

static bool is_in(const struct rights_who *who, gid_t group)
{
    for (uint32_t k = 0; k < who->groups; k++)
        if (who->group[k] == group)
            return true;
    return false;
}

static void the_owner_of_the_daemon_is_an_operator(void **state)
{
    const struct rights_who *who;

    (void)state;
    skip_unless_root();
    who = meet(OTHER, 0, 0, OTHER);
    assert_true(who->has_user && who->operates);
    assert_int_equal(who->user, OTHER);
    assert_string_equal(client->session->from, "user 65534");
    assert_int_equal(process, getpid());
}

static void root_is_an_operator_of_every_daemon(void **state)
{
    (void)state;
    skip_unless_root();
    assert_true(meet(0, 0, 0, OTHER)->operates);
}

static void another_user_is_no_operator(void **state)
{
    const struct rights_who *who;

    (void)state;
    skip_unless_root();
    who = meet(THIRD, 0, 0, OTHER);
    assert_true(who->has_user);
    assert_false(who->operates);
}

/* Rules may be about a group that is not the first one. */
static void all_groups_of_a_process_are_known_however_many(void **state)
{
    const struct rights_who *who;

    (void)state;
    skip_unless_root();
    who = meet(THIRD, 77, GROUPS, OTHER);
    assert_int_equal(who->groups, GROUPS + 1);
    assert_true(is_in(who, 77) && is_in(who, 1000) && is_in(who, 1000 + GROUPS - 1));
    assert_false(is_in(who, 0));
}

static void a_process_without_further_groups_has_its_own(void **state)
{
    const struct rights_who *who;

    (void)state;
    skip_unless_root();
    who = meet(THIRD, 77, 0, OTHER);
    assert_int_equal(who->groups, 1);
    assert_int_equal(who->group[0], 77);
}

/* A user of this machine proves nothing by a connection over TCP, as a user of another one could not. */
static void a_client_over_tcp_proves_nothing_without_tls(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    const struct rights_who *who;

    (void)state;
    assert_int_equal(bind(door, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(door, 1), 0);
    assert_int_equal(getsockname(door, (struct sockaddr *)&at, &len), 0);
    other = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(other, (struct sockaddr *)&at, len), 0);
    stream = stream_new(&served.loop, &served.turn, true);
    assert_int_equal(uv_tcp_open(&stream->uv.tcp, accept(door, NULL, NULL)), 0);
    close(door);
    assert_true(serve_identify(client, stream, &process));
    who = client->session->proved;
    assert_false(who->operates || who->has_user || who->certified || who->groups || who->key || who->certs);
    assert_string_equal(client->session->from, "127.0.0.1");
    assert_int_equal(process, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_owner_of_the_daemon_is_an_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(root_is_an_operator_of_every_daemon, setup, teardown),
        cmocka_unit_test_setup_teardown(another_user_is_no_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(all_groups_of_a_process_are_known_however_many, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_without_further_groups_has_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_over_tcp_proves_nothing_without_tls, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
