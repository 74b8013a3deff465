/* Members without a key (serve/kin.h): the daemon believes the kernel about the process at the other end, and nothing else. The connections
 * are real ones over loopback, and both ends are in this process. Only root can make sockets of other users.
 * Invariant: I21. */
#include "test.h"

#include "serve/kin.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OTHER = 65534 };

static uv_loop_t loop;
static struct turn turn;
static struct stream *stream; /* the daemon's end */
static int door, caller;      /* the other end */
static const char *objection;

static int setup(void **state)
{
    (void)state;
    turn_init(&turn);
    assert_int_equal(uv_loop_init(&loop), 0);
    stream = stream_new(&loop, &turn, true);
    door = caller = -1;
    return 0;
}

static void close_it(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int teardown(void **state)
{
    (void)state;
    stream_close(stream);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    close_it(&door);
    close_it(&caller);
    return 0;
}

/* Listens on this address, at any port; *address becomes the whole address. */
static int listen_on(const char *host, struct sockaddr_storage *address, socklen_t *len)
{
    int fd;

    memset(address, 0, sizeof *address);
    *len = strchr(host, ':') ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    assert_int_equal(strchr(host, ':') ? uv_ip6_addr(host, 0, (struct sockaddr_in6 *)address)
                                       : uv_ip4_addr(host, 0, (struct sockaddr_in *)address),
                     0);
    fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (bind(fd, (struct sockaddr *)address, *len) != 0) {
        assert_int_equal(errno, EADDRNOTAVAIL); /* this machine has no IPv6 */
        close(fd);
        skip();
    }
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, len), 0);
    return fd;
}

/* Connects to the port of the address, at this host. */
static int call(const char *host, const struct sockaddr_storage *address)
{
    int port = ntohs(((const struct sockaddr_in *)address)->sin_port), fd; /* at the same place for IPv6 */
    struct sockaddr_storage at = {0};
    bool six = strchr(host, ':');

    assert_int_equal(six ? uv_ip6_addr(host, port, (struct sockaddr_in6 *)&at)
                         : uv_ip4_addr(host, port, (struct sockaddr_in *)&at),
                     0);
    fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(
        connect(fd, (struct sockaddr *)&at, six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)), 0);
    return fd;
}

/* A process of this user calls the daemon, which listens at `host`, by the address `by`. */
static void connect_them(const char *host, const char *by, uid_t user)
{
    struct sockaddr_storage address;
    socklen_t len;
    int fd;

    door = listen_on(host, &address, &len);
    assert_int_equal(seteuid(user), 0); /* the socket belongs to the user that made it */
    caller = call(by, &address);
    assert_int_equal(seteuid(getuid()), 0);
    fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    assert_int_equal(uv_tcp_open(&stream->uv.tcp, fd), 0);
}

static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip();
}

/* What kin_objects says to a daemon of this user. */
static const char *objects_to(uid_t user)
{
    assert_int_equal(seteuid(user), 0);
    objection = kin_objects(stream);
    assert_int_equal(seteuid(getuid()), 0);
    return objection;
}

static void a_process_of_the_same_user_is_kin(void **state)
{
    uid_t user = geteuid() == 0 ? OTHER : geteuid();

    (void)state;
    connect_them("127.0.0.1", "127.0.0.1", user);
    assert_null(objects_to(user));
}

static void a_process_of_the_same_user_is_kin_over_ipv6(void **state)
{
    (void)state;
    connect_them("::1", "::1", geteuid());
    assert_null(kin_objects(stream));
}

/* A daemon that listens at all addresses sees a caller over IPv4 under an address of IPv6. */
static void a_process_is_kin_if_only_one_end_knows_of_ipv6(void **state)
{
    (void)state;
    connect_them("::", "127.0.0.1", geteuid());
    assert_null(kin_objects(stream));
    teardown(NULL);
    setup(NULL);
    connect_them("127.0.0.1", "::ffff:127.0.0.1", geteuid());
    assert_null(kin_objects(stream));
}

static void a_process_of_another_user_is_none(void **state)
{
    (void)state;
    skip_unless_root();
    connect_them("127.0.0.1", "127.0.0.1", OTHER);
    assert_non_null(objection = kin_objects(stream));
    assert_non_null(strstr(objection, "another user"));
}

static void a_process_of_root_is_kin_to_every_daemon(void **state)
{
    (void)state;
    skip_unless_root();
    connect_them("127.0.0.1", "127.0.0.1", 0);
    assert_null(objects_to(OTHER));
}

/* The kernel names root as the user of a connection that no process has accepted. Any user can listen at the port of a member that is not
 * running, and accept no caller. */
static void a_process_that_has_not_accepted_the_connection_is_not_root(void **state)
{
    struct sockaddr_storage address;
    socklen_t len;

    (void)state;
    door = listen_on("127.0.0.1", &address, &len);
    assert_int_equal(uv_tcp_open(&stream->uv.tcp, call("127.0.0.1", &address)), 0);
    assert_non_null(objection = kin_objects(stream));
    assert_string_equal(objection, "has ended the connection");
    caller = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    assert_null(kin_objects(stream));
}

static void a_process_that_says_nothing_more_has_ended_the_connection(void **state)
{
    (void)state;
    connect_them("127.0.0.1", "127.0.0.1", geteuid());
    assert_int_equal(shutdown(caller, SHUT_WR), 0);
    assert_non_null(objection = kin_objects(stream));
    assert_string_equal(objection, "has ended the connection");
}

static void a_connection_that_was_reset_has_ended(void **state)
{
    struct linger at_once = {.l_onoff = 1};

    (void)state;
    connect_them("127.0.0.1", "127.0.0.1", geteuid());
    assert_int_equal(setsockopt(caller, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close_it(&caller);
    assert_non_null(objection = kin_objects(stream));
    assert_string_equal(objection, "has ended the connection");
}

/* As in a container: the other end is on this machine, and the kernel does not tell the daemon of it. */
static void a_process_of_another_network_namespace_is_none(void **state)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    (void)state;
    connect_them("127.0.0.1", "127.0.0.1", geteuid());
    assert_null(kin_objects(stream));
    if (here < 0 || unshare(CLONE_NEWNET) != 0) {
        close_it(&here);
        skip();
    }
    objection = kin_objects(stream);
    assert_int_equal(setns(here, CLONE_NEWNET), 0);
    close_it(&here);
    assert_non_null(objection);
    assert_non_null(strstr(objection, "the kernel does not tell"));
}

static void a_daemon_that_may_open_no_more_files_trusts_no_process(void **state)
{
    struct rlimit limit, none;

    (void)state;
    connect_them("127.0.0.1", "127.0.0.1", geteuid());
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    objection = kin_objects(stream);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_non_null(objection);
    assert_non_null(strstr(objection, "the kernel does not tell"));
    assert_null(kin_objects(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_of_the_same_user_is_kin, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_of_the_same_user_is_kin_over_ipv6, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_is_kin_if_only_one_end_knows_of_ipv6, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_of_another_user_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_of_root_is_kin_to_every_daemon, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_has_not_accepted_the_connection_is_not_root, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_says_nothing_more_has_ended_the_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_that_was_reset_has_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_of_another_network_namespace_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_daemon_that_may_open_no_more_files_trusts_no_process, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
