/* served.h - a daemon's struct serve, for tests of single files of src/serve. It listens nowhere, and a test reads what it logs. */
#ifndef DIBS_TESTS_SERVED_H
#define DIBS_TESTS_SERVED_H

#include "test.h"

#include "serve/log.h"
#include "serve/serve.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct serve served;
static struct serve_conf served_conf;
static struct {
    struct log *log; /* of the process */
    int end;         /* where the test reads it */
    char text[1 << 16];
} served_said;

/* The daemon of this name, as it is before it has begun. */
static inline void served_init(const char *name)
{
    int ends[2];

    if (!served_said.log) {
        assert_int_equal(pipe(ends), 0);
        served_said.log = log_open(ends[1], NULL, LOG_ROOM, NULL, NULL);
        served_said.end = ends[0];
    }
    served_conf = (struct serve_conf){.n = 1, .log_level = RECORD_DEBUG};
    snprintf(served_conf.member[0].name, sizeof served_conf.member[0].name, "%s", name);
    served = (struct serve){.conf = &served_conf, .log = served_said.log};
}

/* Returns all that the daemon has logged since the last call. */
static inline const char *served_log(void)
{
    static const char last[] = "that is all\n";
    size_t len = 0;
    ssize_t some;

    log_line(served.log, last, strlen(last));
    do {
        some = read(served_said.end, served_said.text + len, sizeof served_said.text - 1 - len);
        assert_true(some > 0);
        len += (size_t)some;
        served_said.text[len] = '\0';
    } while (len < strlen(last) || strcmp(served_said.text + len - strlen(last), last) != 0);
    served_said.text[len - strlen(last)] = '\0';
    return served_said.text;
}

/* Has the daemon logged this since the last call? */
static inline bool served_logged(const char *text)
{
    return strstr(served_log(), text);
}

#endif
