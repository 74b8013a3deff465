/* record.c - see record.h. */
#include "record.h"

#include "core/text.h"
#include "link/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const char *const record_level_name[] = {"error", "warning", "info", "debug", NULL};
const char *const record_format_name[] = {"text", "json", "journal", NULL};
_Static_assert(sizeof record_level_name / sizeof record_level_name[0] == RECORD_LEVELS + 1, "a level has a name");
_Static_assert(sizeof record_format_name / sizeof record_format_name[0] == RECORD_FORMATS + 1, "a format has a name");

/* A line of JSON stays valid when a text is cut: each text gets at most this much room, escapes included. Nine texts and
 * the rest fit. */
enum { TEXT_ROOM = RECORD_LINE_MAX / 2, FIELD_ROOM = 400 };
_Static_assert(TEXT_ROOM + RECORD_FIELDS_MAX * (FIELD_ROOM + 32) + 256 < RECORD_LINE_MAX, "a record fits its line");

static void record_time(int64_t time_ms, struct dme_text *to)
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    dme_print(to, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
              tm.tm_min, tm.tm_sec, (int)(time_ms % 1000));
}

/* The length of the character of UTF-8 at `at`; 0 if there is none, or a control character. */
static size_t record_character(const unsigned char *at)
{
    size_t len = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;

    if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0) || (*at == 0xe0 && at[1] < 0xa0) ||
        (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t k = 1; k < len; k++)
        if ((at[k] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* A string of JSON of at most `room` bytes between its quotation marks. */
static void record_string(const char *text, size_t room, struct dme_text *to)
{
    const unsigned char *at = (const unsigned char *)text;

    dme_print(to, "\"");
    while (*at && room >= 4) {
        size_t len = record_character(at);

        if (len == 0)
            dme_print(to, "?");
        else
            dme_print(to, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)len, (const char *)at);
        at += len ? len : 1;
        room -= len ? len + 1 : 1;
    }
    dme_print(to, "\"");
}

static void record_json(const struct log_record *r, struct dme_text *to)
{
    dme_print(to, "{\"time\":\"");
    record_time(r->time_ms, to);
    dme_print(to, "\",\"level\":\"%s\",\"member\":", record_level_name[r->level]);
    record_string(r->member, FIELD_ROOM, to);
    for (const struct log_field *f = r->field; f < r->field + RECORD_FIELDS_MAX && f->key; f++) {
        dme_print(to, ",\"%s\":", f->key);
        if (f->text)
            record_string(f->text, FIELD_ROOM, to);
        else
            dme_print(to, "%" PRIu64, f->number);
    }
    dme_print(to, ",\"text\":");
    record_string(r->text, TEXT_ROOM, to);
    dme_print(to, "}");
}

size_t record_print(const struct log_record *r, enum record_format format, char line[RECORD_LINE_MAX])
{
    static const int priority[RECORD_LEVELS] = {3, 4, 6, 7}; /* of syslog(3) */
    struct dme_text to;

    dme_text_init(&to, line, RECORD_LINE_MAX - 1);
    if (format == RECORD_JSON) {
        record_json(r, &to);
    } else if (format == RECORD_JOURNAL) {
        dme_print(&to, "<%d>%s: %s", priority[r->level], r->member, r->text);
    } else {
        record_time(r->time_ms, &to);
        dme_print(&to, " %s dibs: %s: %s", record_level_name[r->level], r->member, r->text);
    }
    link_make_printable(line);
    line[to.len] = '\n';
    line[to.len + 1] = '\0';
    return to.len + 1;
}

bool record_is_journal(int fd)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char here[64];
    struct stat st;

    if (!stream || fstat(fd, &st) != 0)
        return false;
    snprintf(here, sizeof here, "%" PRIuMAX ":%" PRIuMAX, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return strcmp(here, stream) == 0;
}
