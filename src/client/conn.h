/* conn.h - a connection, as the library sees it: bytes to and fro, what is waited for, and until when the daemon vouches.
 *
 * Answers. The daemon answers in order, and a LOCK that waits holds up what comes behind it. So there is at most one
 * request of that kind under way (`await`). Everything that must not wait is sent as MEANWHILE: the daemon does it at
 * once, and answers by news that say so. Those answers are in order as well (`aside`).
 *
 * Vouching. A CONFIRM is sent when a third of the time is over that the last one was good for. Nothing is asked while no
 * lock is held or waited for; a grant that comes when nothing is vouched for is not told before a CONFIRM is answered. */
#ifndef DIBS_CLIENT_CONN_H
#define DIBS_CLIENT_CONN_H

#include "dibs.h"
#include "held.h"
#include "base/spin.h"

#include <stdarg.h>
#include <stdbool.h>

enum {
    CONN_ANSWER_MS = 10000, /* a daemon that says nothing for so long, though it is its turn, is gone */
    CONN_AGAIN_MS = 200,    /* when it vouches for nothing: ask again after this time */
};

/* What a MEANWHILE was about. */
struct conn_aside {
    enum { ASIDE_CONFIRM, ASIDE_UNLOCK, ASIDE_RENEW } type;
    char *name; /* RENEW */
};

struct secure;

struct conn_bytes {
    char *at;
    size_t start, end, room;
};

struct dibs {
    int fd;                /* -1: gone */
    struct secure *secure; /* TLS, or null */
    char message[512];
    struct conn_bytes in, out;
    bool short_of_memory; /* something could not be put into out */

    enum { AWAIT_NOTHING, AWAIT_ANSWER, AWAIT_LOCK } await;
    struct spin spin[AWAIT_LOCK + 1]; /* while that is awaited */
    struct dibs_reply *answer;        /* AWAIT_ANSWER: when it has come */
    struct conn_aside *aside;
    size_t asides, aside_room;

    struct held held;    /* also a lock whose grant the program has not been told of */
    char *wanted;        /* the lock that is asked for, until its result has been fetched; or null */
    int result;          /* of that: DIBS_WAITING, .. */
    uint64_t fence;      /* DIBS_OK */
    bool granted;        /* but not yet vouched for: still DIBS_WAITING */
    uint64_t vouched_ms; /* until then all locks are held, for sure */
    uint64_t confirm_ms; /* when to ask next */
    uint64_t asked_ms;   /* when it was asked, and there is no answer yet; or 0 */
    bool confirmed;      /* it was answered, once at least */
    bool in_doubt;       /* the time is over, but the program is about to hear whether it matters */
    dibs_lost_fn *on_lost;
    void *user;
    dibs_event_fn *on_event;
    void *event_user;
    unsigned subscribed; /* confirmations so far */
};

uint64_t conn_now_ms(void);
/* The message, and the code that is returned with it. */
int conn_fail(struct dibs *d, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The code for an error of the daemon, and the message. */
int conn_refused(struct dibs *d, const struct dibs_reply *error);

/* To be sent by the next conn_process. */
void conn_say(struct dibs *d, const char *const *words, size_t count);
void conn_say_aside(struct dibs *d, int type, const char *const *words, size_t count);
void conn_ask_confirm(struct dibs *d);

int conn_process(struct dibs *d);
int conn_timeout_ms(const struct dibs *d);
/* The connection is over, and all locks are lost. */
void conn_end(struct dibs *d, const char *why);
/* Until done says so, or the connection is gone, or it took too long, which is the same. */
int conn_wait(struct dibs *d, bool (*done)(const struct dibs *d), uint64_t patience_ms);

#endif
