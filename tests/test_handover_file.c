/* Kept sessions of a daemon alone, from one process to the next as a file (serve/handover_file.c): which files are used, and once. tests/test_handover.c
 * has what is in them, and tests/jobs.sh whole daemons.
 * Invariant: I33. */
#include "served.h"

#include "alg/list.h"
#include "node/handover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { OTHER = 65534, NOW_MS = 1000000 };

static char dir[64], path[80], next[90], elsewhere[90];

static uint64_t chance(void *user)
{
    static uint64_t dice;

    (void)user;
    return test_random(&dice);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/dibs-handover-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/socket.sessions", dir);
    snprintf(next, sizeof next, "%s.new", path);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    chmod(dir, 0700);
    if (unlink(path) != 0)
        rmdir(path);
    if (unlink(next) != 0)
        rmdir(next);
    unlink(elsewhere);
    return rmdir(dir);
}

/* A process begins. Returns how many kept sessions it has taken over; -1: there was no file, or it was not used. */
static int begin(bool alone)
{
    static char socket[80];
    struct view view;

    snprintf(socket, sizeof socket, "%s/socket", dir);
    served_init("ant");
    served_conf.socket = socket;
    node_init(&served.node, &(struct node_conf){.name = "ant",
                                                .summary = "same",
                                                .algorithm = alg_find("ricart-agrawala"),
                                                .slots_algorithm = alg_find("central"),
                                                .incarnation = 1,
                                                .fence = 100,
                                                .random = chance});
    served_log();
    serve_take_over(&served, alone, NOW_MS);
    view_begin(&view);
    view_add(&view, "ant", "-", VIEW_MEMBER);
    view.number = view.member[0].incarnation = 1;
    node_install(&served.node, &view);
    return served_logged("keeps the sessions of its last process") ? (int)served.node.keep.count : -1;
}

static void end(void)
{
    node_free(&served.node);
}

static void say(struct client *c, const char *line)
{
    struct node_output out;

    node_step(&served.node, &(struct node_input){.type = NODE_CLIENT_BYTES,
                                                 .client = c,
                                                 .bytes = (const uint8_t *)line,
                                                 .len = strlen(line),
                                                 .now_ms = NOW_MS});
    while (node_next_output(&served.node, &out)) {
        out.taken = out.len;
        node_did(&served.node, &out);
    }
}

/* A client has a kept session and, by it, a lock. */
static void keep_a_session(void)
{
    struct client *c;

    begin(true);
    c = client_open(&served.node, NULL);
    say(c, "HELLO 3\n");
    say(c, "SESSION KEEP 5000\n");
    say(c, "LOCK x\n");
}

/* A process ends, of which a client has a kept session. */
static void leave_a_session(void)
{
    keep_a_session();
    serve_hand_over(&served);
    end();
}

/* The next process does not use the file, which does not stay. */
static void expect_refusal(const char *why)
{
    struct stat file;
    const char *text;

    assert_int_equal(begin(true), -1);
    assert_int_equal(served.node.keep.count, 0);
    end();
    text = served_said.text;
    if (!strstr(text, why))
        fail_msg("it is not \"%s\": %s", why, text);
    assert_int_equal(lstat(path, &file), -1);
}

static void a_file_is_used_once(void **state)
{
    struct stat file;

    (void)state;
    leave_a_session();
    assert_int_equal(begin(true), 1);
    end();
    assert_int_equal(lstat(path, &file), -1);
    assert_int_equal(begin(true), -1);
    assert_string_equal(served_said.text, ""); /* a file that is not there is nothing to tell of */
    end();
}

/* It has the secrets of sessions. */
static void only_the_owner_can_read_the_file_whatever_the_umask_is(void **state)
{
    mode_t before = umask(0);
    struct stat file;

    (void)state;
    leave_a_session();
    umask(before);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
}

static void a_process_without_kept_sessions_leaves_no_file(void **state)
{
    struct stat file;

    (void)state;
    begin(true);
    serve_hand_over(&served);
    end();
    assert_int_equal(lstat(path, &file), -1);
    assert_string_equal(served_log(), "");
}

static void a_member_of_a_cluster_removes_the_file_and_does_not_use_it(void **state)
{
    struct stat file;

    (void)state;
    leave_a_session();
    assert_int_equal(begin(false), -1);
    assert_non_null(strstr(served_said.text, "are lost: this daemon is a member of a cluster now"));
    end();
    assert_int_equal(lstat(path, &file), -1);
}

static void a_file_that_was_cut_off_is_not_used(void **state)
{
    struct stat file;

    (void)state;
    leave_a_session();
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(truncate(path, file.st_size - 1), 0);
    expect_refusal("are lost: it is damaged");
    leave_a_session();
    assert_int_equal(truncate(path, 0), 0);
    expect_refusal("are lost: it is damaged");
}

/* Reading it would take memory that the daemon does not have. */
static void a_file_that_is_too_large_is_not_read(void **state)
{
    (void)state;
    leave_a_session();
    assert_int_equal(truncate(path, HANDOVER_MAX + 1), 0); /* with a hole */
    expect_refusal("are lost: it is too large");
}

static void a_file_that_others_can_read_or_write_is_not_used(void **state)
{
    static const mode_t modes[] = {0640, 0620, 0604, 0602};

    (void)state;
    for (unsigned k = 0; k < sizeof modes / sizeof modes[0]; k++) {
        leave_a_session();
        assert_int_equal(chmod(path, modes[k]), 0);
        expect_refusal("others can read it");
    }
}

static void a_file_of_another_user_is_not_used(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    leave_a_session();
    assert_int_equal(chown(path, OTHER, -1), 0);
    expect_refusal("it belongs to another user");
}

/* Another user may have made the second name, and could use the file again. */
static void a_file_with_a_second_name_is_not_used(void **state)
{
    (void)state;
    leave_a_session();
    assert_int_equal(link(path, elsewhere), 0);
    expect_refusal("it is not a file of its own");
}

static void a_link_is_not_followed(void **state)
{
    struct stat file;

    (void)state;
    leave_a_session();
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    expect_refusal("are lost: Too many levels of symbolic links");
    assert_int_equal(stat(elsewhere, &file), 0);
}

/* The daemon would wait for ever for a process that opens the other end. */
static void a_pipe_in_its_place_does_not_stop_the_daemon(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    expect_refusal("it is not a file of its own");
    alarm(0);
}

/* Another process could use it later, when other clients have been granted the locks. */
static void a_file_that_cannot_be_removed_is_not_used(void **state)
{
    (void)state;
    leave_a_session();
    if (geteuid() == 0)
        assert_int_equal(chown(path, OTHER, -1), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    assert_int_equal(seteuid(geteuid() == 0 ? OTHER : geteuid()), 0);
    begin(true);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(served.node.keep.count, 0);
    end();
    assert_non_null(strstr(served_said.text, "are lost: it cannot be removed, and must not be used twice"));
}

static void what_a_killed_process_has_left_does_not_stop_the_next_one(void **state)
{
    struct stat file;
    int fd;

    (void)state;
    fd = open(next, O_WRONLY | O_CREAT, 0644); /* half of a file */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "dibs", 4), 4);
    close(fd);
    leave_a_session();
    assert_int_equal(lstat(next, &file), -1);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(begin(true), 1);
    end();
}

/* The name at which it is written may be a link of another user. */
static void what_a_link_leads_to_is_not_overwritten(void **state)
{
    struct stat file;
    int fd;

    (void)state;
    fd = open(elsewhere, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(symlink(elsewhere, next), 0);
    leave_a_session();
    assert_int_equal(stat(elsewhere, &file), 0);
    assert_int_equal(file.st_size, 0);
    assert_int_equal(begin(true), 1);
    end();
}

static void a_file_that_cannot_be_written_is_told_with_the_reason(void **state)
{
    struct stat file;

    (void)state;
    assert_int_equal(mkdir(next, 0700), 0);
    leave_a_session();
    assert_true(served_logged("; the kept sessions (1) are lost"));
    assert_non_null(strstr(served_said.text, "File exists"));
    assert_int_equal(lstat(path, &file), -1);
}

/* As where there is no /proc: the next process could not know whether the machine has been started again since. */
static void that_the_kernel_does_not_name_the_boot_is_told(void **state)
{
    struct rlimit limit, none;
    struct stat file;

    (void)state;
    keep_a_session();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0); /* no file can be opened */
    serve_hand_over(&served);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    end();
    assert_true(served_logged("the kernel does not tell which boot of the machine this is"));
    assert_non_null(strstr(served_said.text, "; the kept sessions (1) are lost"));
    assert_int_equal(lstat(path, &file), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_used_once, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_owner_can_read_the_file_whatever_the_umask_is, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_without_kept_sessions_leaves_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_member_of_a_cluster_removes_the_file_and_does_not_use_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_was_cut_off_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_large_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_others_can_read_or_write_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_of_another_user_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_with_a_second_name_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pipe_in_its_place_does_not_stop_the_daemon, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_removed_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_killed_process_has_left_does_not_stop_the_next_one, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_link_leads_to_is_not_overwritten, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_is_told_with_the_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(that_the_kernel_does_not_name_the_boot_is_told, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
