/* dibs watch - a line for everything that happens to locks, on all members, as long as the daemon is there. */
#include "ask.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* "2026-03-01T12:00:00.123Z" */
static void watch_time(char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    size_t len;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    len = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + len, size - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static void watch_text(void *user, const struct dibs_event *e)
{
    char when[48], fence[24] = "-";

    (void)user;
    watch_time(when, sizeof when);
    if (e->fence)
        snprintf(fence, sizeof fence, "%" PRIu64, e->fence);
    printf("%s  %-8s  %s  member %s  client %" PRIu64 "  who %s  mode %s  fence %s", when, e->event, ask_clean(e->lock),
           e->member, e->client, *e->who ? ask_clean(e->who) : "-", e->mode, fence);
    printf("%s%s\n", *e->value ? "  value " : "", ask_clean(e->value));
}

static void watch_json(void *user, const struct dibs_event *e)
{
    struct cli_json j = {.to = stdout, .first = true, .line = true};
    char when[48];

    (void)user;
    watch_time(when, sizeof when);
    json_object(&j);
    const struct {
        const char *key, *value;
    } texts[] = {{"time", when},  {"event", e->event}, {"lock", e->lock},  {"member", e->member},
                 {"who", e->who}, {"mode", e->mode},   {"value", e->value}};
    for (unsigned k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        json_key(&j, texts[k].key);
        json_text(&j, texts[k].value);
    }
    json_key(&j, "client");
    json_count(&j, e->client);
    json_key(&j, "fence");
    json_count(&j, e->fence);
    json_end(&j, '}');
}

int cmd_watch(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs watch [PATTERN] [OPTION...]",
        "Prints a line when a client begins to wait for a lock, is granted it, releases it or loses it, at any "
        "member: time, event, lock, member, client, mode, fencing token. PATTERN is a pattern of the shell (default: "
        "all locks). As JSON, an event is an object on a line. Under great load some events may be left out, so the "
        "output is no record of all grants.\n\n"
        "Exit status: 1 the connection to the daemon has ended, 2 the command line is wrong.",
        options,
        {{"Print what happens to all locks:", "dibs watch"},
         {"Print what happens to the locks whose names begin with \"db-\", for a program:",
          "dibs watch 'db-*' --format json"}}};
    const char *pattern = "*";
    struct dibs *d;

    cli_parse(argc, argv, &usage, &pattern, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (dibs_watch(d, pattern, format ? watch_json : watch_text, NULL) != DIBS_OK)
        cli_fail("%s", dibs_message(d));
    while (dibs_process(d) == DIBS_OK && !ferror(stdout)) {
        struct pollfd polled = {.fd = dibs_fd(d), .events = dibs_events(d)};

        poll(&polled, 1, dibs_timeout_ms(d));
    }
    fprintf(stderr, "dibs: %s\n", dibs_message(d));
    dibs_close(d);
    return CLI_FAILED;
}
