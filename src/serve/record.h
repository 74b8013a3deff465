/* record.h - a record of the daemon's log, and the line that stands for it.
 *
 *     text      2026-11-17T08:15:00.123Z warning dibs: ant: locks are not granted: ...
 *     json      {"time":"2026-11-17T08:15:00.123Z","level":"warning","member":"ant","text":"..."}
 *     journal   <4>ant: locks are not granted: ...
 *
 * journald takes the number for the priority (sd-daemon(3)) and adds the time itself. A record of the audit trail has
 * fields, too, which JSON shows one by one: see audit.c. Texts come from outside in part. Control characters are
 * replaced, so a record is always one line. */
#ifndef DIBS_SERVE_RECORD_H
#define DIBS_SERVE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_level {
    RECORD_ERROR,   /* the daemon cannot do what it was told to */
    RECORD_WARNING, /* an operator should look at it */
    RECORD_INFO,    /* what happens in order */
    RECORD_DEBUG,   /* each connection */
    RECORD_LEVELS
};
extern const char *const record_level_name[]; /* behind the last one is a null */

enum record_format { RECORD_TEXT, RECORD_JSON, RECORD_JOURNAL, RECORD_FORMATS };
extern const char *const record_format_name[];

enum { RECORD_FIELDS_MAX = 8, RECORD_LINE_MAX = 8192 };

/* A number, if there is no text. */
struct log_field {
    const char *key, *text;
    uint64_t number;
};

struct log_record {
    enum record_level level;
    int64_t time_ms; /* since 1970, UTC */
    const char *member, *text;
    struct log_field field[RECORD_FIELDS_MAX]; /* of JSON; the first without a key ends them */
};

/* Writes the line, with its newline and a zero byte behind it. A text that is too long is cut. Returns its length. */
size_t record_print(const struct log_record *r, enum record_format format, char line[RECORD_LINE_MAX]);
/* Is this file descriptor the one that $JOURNAL_STREAM names: does journald read it? */
bool record_is_journal(int fd);

#endif
