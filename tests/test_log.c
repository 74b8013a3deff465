/* The daemon's log (src/serve/log.h): a file that takes nothing does not keep the caller waiting, and lines that are dropped are counted,
 * in the file, too. Invariant: I31. */
#include "test.h"

#include "serve/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 400, LEN = 1000, PATIENCE_MS = 20000 };

static size_t gap(void *user, uint64_t dropped, char *line)
{
    (void)user;
    return (size_t)snprintf(line, LOG_LINE_MAX, "dropped %llu\n", (unsigned long long)dropped);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* The next line, without its end. */
static void read_line(int fd, char line[LOG_LINE_MAX])
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    size_t len = 0;

    do {
        assert_true(len < LOG_LINE_MAX);
        assert_int_equal(poll(&polled, 1, PATIENCE_MS), 1);
        assert_int_equal(read(fd, line + len, 1), 1);
    } while (line[len++] != '\n');
    line[len - 1] = '\0';
}

static void a_reader_that_is_slow_costs_lines_and_no_time(void **state)
{
    char line[LOG_LINE_MAX], text[LEN];
    uint64_t next = 0, lines = 0, told = 0;
    uint64_t dropped;
    struct log *log;
    int ends[2], error = EIO;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    log = log_open(ends[1], NULL, LOG_ROOM, gap, NULL);
    memset(text, '.', LEN);
    text[LEN - 1] = '\n';
    for (unsigned k = 0; k < LINES; k++) { /* more than the pipe and the buffer have room for, and nothing is read */
        snprintf(line, sizeof line, "%06u", k);
        memcpy(text, line, 6);
        log_line(log, text, LEN);
    }
    dropped = log_dropped(log, &error);
    assert_true(dropped > 0 && dropped < LINES);
    assert_int_equal(error, 0);
    for (;;) { /* whole lines in their order; where some are missing, the file says how many */
        read_line(ends[0], line);
        if (strcmp(line, "end") == 0)
            break;
        if (strncmp(line, "dropped ", 8) == 0) {
            told += strtoull(line + 8, NULL, 10);
            continue;
        }
        assert_int_equal(strlen(line), LEN - 1);
        assert_true(strtoull(line, NULL, 10) >= next);
        next = strtoull(line, NULL, 10) + 1;
        if (++lines + dropped == LINES)
            log_line(log, "end\n", 4);
    }
    assert_int_equal(told, dropped);
}

static bool is_in_file(const char *path, const char *text)
{
    char content[200] = "";
    FILE *file = fopen(path, "r");
    bool found;

    if (!file)
        return false;
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    found = strcmp(content, text) == 0;
    fclose(file);
    return found;
}

static void is_soon_in_file(const char *path, const char *text)
{
    for (int ms = 0; ms < PATIENCE_MS && !is_in_file(path, text); ms++)
        pause_ms(1);
    assert_true(is_in_file(path, text));
}

static void a_file_that_was_renamed_is_opened_again(void **state)
{
    static char directory[] = "/tmp/dibs-log.XXXXXX", path[100], renamed[100];
    struct log *log;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/log", directory);
    snprintf(renamed, sizeof renamed, "%s/log.1", directory);
    log = log_open(-1, path, LOG_ROOM, gap, NULL);
    assert_non_null(log);
    log_line(log, "one\n", 4);
    is_soon_in_file(path, "one\n");
    assert_int_equal(rename(path, renamed), 0);
    log_line(log, "two\n", 4);
    is_soon_in_file(renamed, "one\ntwo\n");
    log_reopen(log);
    is_soon_in_file(path, "");
    log_line(log, "three\n", 6);
    is_soon_in_file(path, "three\n");
    assert_true(is_in_file(renamed, "one\ntwo\n"));
    unlink(path);
    unlink(renamed);
    rmdir(directory);
}

static void a_line_that_a_full_disk_does_not_take_is_counted(void **state)
{
    int fd = open("/dev/full", O_WRONLY), error = 0;
    struct log *log;

    (void)state;
    if (fd < 0)
        skip();
    log = log_open(fd, NULL, LOG_ROOM, gap, NULL);
    log_line(log, "one\n", 4);
    for (int ms = 0; ms < PATIENCE_MS && !log_dropped(log, &error); ms++)
        pause_ms(1);
    assert_int_equal(log_dropped(log, &error), 1);
    assert_int_equal(error, ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_is_slow_costs_lines_and_no_time),
        cmocka_unit_test(a_file_that_was_renamed_is_opened_again),
        cmocka_unit_test(a_line_that_a_full_disk_does_not_take_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
