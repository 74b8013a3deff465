/* top.h - the locks that dibs top shows: cmd_top.c has the screen and the keys, top_locks.c asks for the locks, top_text.c makes
 * texts safe and as wide as a column.
 *
 * The list comes in pages (LOCKS pattern USED), which have numbers and ages only. A pass is all pages of all members. A pass goes on
 * for at most TOP_PAGES pages at a time, so that a daemon with very many locks has little to do for it; until it is complete, the list
 * of the pass before is shown. Holders are asked for only of the locks that fit the screen. */
#ifndef DIBS_CLI_TOP_H
#define DIBS_CLI_TOP_H

#include "ask.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOP_PAGES = 200, TOP_TEXT = 1024, TOP_HOLDERS = 3 };

enum top_sort { TOP_BY_WAIT, TOP_BY_HOLD, TOP_BY_WAITERS, TOP_BY_NAME, TOP_SORTS };
extern const char *const top_sorts[TOP_SORTS + 1];

/* A lock that is held or waited for, at all members together. */
struct top_lock {
    char *name;
    uint64_t slots, holders, waiters, wait_ms, hold_ms;
};

struct top_list {
    struct top_lock *lock;
    size_t count, room;
};

struct top {
    const struct ask_place *place;
    struct dibs *d; /* or null: there is no connection */
    char pattern[256];
    enum top_sort sort;
    struct top_list shown, pass; /* the last complete pass; the pass that goes on */
    char cursor[24];
    bool complete;     /* there was a complete pass */
    char trouble[512]; /* why there is no answer, or which members have not answered; or "" */
    char unheard[512]; /* members that were not heard in this pass */
};

/* Connects, unless there is a connection. If that fails, the trouble says why. */
bool top_connect(struct top *t);
/* Asks the daemon. Returns null if there is no answer; then the trouble says why, and a connection that has ended is closed. */
struct dibs_reply *top_ask(struct top *t, const char *const *words, size_t count);
/* Goes on with the pass, for at most TOP_PAGES pages, or until `stop` returns true. If it fails, the trouble says why. */
enum top_pass { TOP_COMPLETE, TOP_MORE, TOP_FAILED };
enum top_pass top_go_on(struct top *t, bool (*stop)(void));
/* Begins the pass anew: the pattern has changed. */
void top_begin(struct top *t);
void top_sort_list(struct top *t);
void top_free(struct top *t);

/* Copies the text, with what a terminal would obey written as \xHH, and cut where it gets wider than `columns`. Returns the
 * number of columns. */
unsigned top_text(char to[TOP_TEXT], const char *text, unsigned columns);
/* "12.3s", "5m02s", "3h07m", "12d04h": at most 6 columns. */
const char *top_age(uint64_t ms, char to[24]);

#endif
