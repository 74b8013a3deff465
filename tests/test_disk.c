/* The journal as a file (serve/disk.h): what was written is there after a restart, one process writes at a time, and a thread
 * writes in order. tests/disk.sh has disks that fail.
 * Invariant: I26. */
#include "test.h"

#include "serve/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static unsigned written, calls;
static int failed;

static void on_written(void *user, unsigned records, uint64_t took_ms, int error)
{
    (void)user, (void)took_ms;
    written += records;
    calls++;
    failed = error;
}

static bool open_it(struct disk_file *d, const char *where, char *line)
{
    struct dme_text why;

    *d = (struct disk_file){.on_written = on_written};
    dme_text_init(&why, line, 256);
    return disk_open(d, where, "ant", &why);
}

static enum disk_status add(struct disk_file *d, const char *text)
{
    return d->disk.append(d->disk.user, (const uint8_t *)text, strlen(text));
}

static void expect_content(const char *text)
{
    struct disk_file d;
    char line[256];

    assert_true(open_it(&d, dir, line));
    assert_int_equal(bytes_len(&d.content), strlen(text));
    assert_true(!*text || memcmp(d.content.at + d.content.start, text, strlen(text)) == 0);
    disk_close(&d);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/dibs-disk-XXXXXX");
    assert_non_null(mkdtemp(dir));
    written = calls = 0;
    failed = 0;
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = {"ant.journal", "ant.journal.new", "ant.lock", "ant.next"};
    char path[128];

    (void)state;
    for (unsigned k = 0; k < sizeof files / sizeof files[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[k]);
        unlink(path);
    }
    return rmdir(dir);
}

static void what_was_written_is_there_when_it_is_opened_again(void **state)
{
    struct disk_file d;
    char line[256];

    (void)state;
    assert_true(open_it(&d, dir, line));
    assert_int_equal(bytes_len(&d.content), 0);
    assert_int_equal(add(&d, "one "), DISK_WRITTEN);
    assert_int_equal(add(&d, "two "), DISK_WRITTEN);
    disk_close(&d);
    expect_content("one two ");
    assert_true(open_it(&d, dir, line));
    assert_int_equal(d.disk.replace(d.disk.user, (const uint8_t *)"three ", 6), DISK_WRITTEN);
    assert_int_equal(add(&d, "four"), DISK_WRITTEN);
    disk_close(&d);
    expect_content("three four");
    assert_int_equal(calls, 0); /* no write had to wait, and none has failed */
}

static void a_second_process_is_refused(void **state)
{
    struct disk_file d, second;
    char line[256];

    (void)state;
    assert_true(open_it(&d, dir, line));
    assert_false(open_it(&second, dir, line));
    assert_non_null(strstr(line, dir));
    disk_close(&d);
    assert_true(open_it(&second, dir, line));
    disk_close(&second);
}

static void a_directory_that_others_may_write_is_refused(void **state)
{
    struct disk_file d;
    char line[256];

    (void)state;
    assert_int_equal(chmod(dir, 0777), 0);
    assert_false(open_it(&d, dir, line));
    assert_non_null(strstr(line, dir));
    assert_int_equal(chmod(dir, 0700), 0);
    assert_true(open_it(&d, dir, line));
    disk_close(&d);
}

/* With a loop, a write comes back at once, and its end is told; those that wait are written together, in their order. */
static void a_thread_writes_in_order_and_tells(void **state)
{
    struct disk_file d;
    uv_loop_t loop;
    char line[256];

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_true(open_it(&d, dir, line));
    disk_use_loop(&d, &loop);
    assert_int_equal(add(&d, "a"), DISK_WRITING);
    assert_int_equal(add(&d, "b"), DISK_WRITING);
    assert_int_equal(d.disk.replace(d.disk.user, (const uint8_t *)"c", 1), DISK_WRITING);
    assert_int_equal(add(&d, "d"), DISK_WRITING);
    assert_int_equal(written, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(written, 4);
    assert_int_equal(calls, 2); /* the first one; and the others, which came while it was written */
    assert_int_equal(failed, 0);
    disk_close(&d);
    assert_int_equal(uv_loop_close(&loop), 0);
    expect_content("cd");
}

static ino_t file_number(void)
{
    char path[128];
    struct stat file;

    snprintf(path, sizeof path, "%s/ant.journal", dir);
    assert_int_equal(stat(path, &file), 0);
    return file.st_ino;
}

/* Before a sync the system may write in any order. So records that one sync makes durable come as a new file, which appears as a whole. */
static void of_records_that_wait_together_a_crash_leaves_all_or_none(void **state)
{
    struct disk_file d;
    uv_loop_t loop;
    char line[256];
    ino_t first;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_true(open_it(&d, dir, line));
    disk_use_loop(&d, &loop);
    first = file_number();
    add(&d, "a");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(file_number() == first);
    add(&d, "b");
    add(&d, "c");
    add(&d, "d");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(file_number() != first);
    assert_int_equal(written, 4);
    first = file_number();
    add(&d, "e");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(file_number() == first);
    disk_close(&d);
    assert_int_equal(uv_loop_close(&loop), 0);
    expect_content("abcde");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_there_when_it_is_opened_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_process_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_directory_that_others_may_write_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_writes_in_order_and_tells, setup, teardown),
        cmocka_unit_test_setup_teardown(of_records_that_wait_together_a_crash_leaves_all_or_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
