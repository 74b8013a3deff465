/* belief.h - the decisions of libdibs, without I/O: what a connection asks its daemon, what it believes about its
 * locks, and what it tells the program that uses the library.
 *
 * A driver owns the socket and the clock: conn.c in the library, src/soak in the simulator. The driver passes in calls
 * of the program, bytes of the daemon (belief_room, belief_received), the end of the connection (belief_end) and the
 * time. It takes out bytes to send (belief_output, belief_sent), the time of the next deadline (belief_due_ms), the
 * answer to the call that the program waits for (belief_answer), and news for the program (belief_next). Nothing in
 * here makes a system call, reads a clock or has a variable outside struct belief. Times are milliseconds of one clock
 * that never goes back and is not at 0.
 *
 * A turn of the driver:
 *   1. pass in a call, or bytes;
 *   2. belief_next until it returns false: every reply that is complete is understood;
 *   3. when all bytes that have come were passed in: belief_clock, and belief_next again;
 *   4. send what belief_output has.
 *
 * Calls. A call returns DIBS_WAITING if it has to wait for the daemon; belief_answer has its result later. There is one
 * such call at a time. Every other value is the result already. A request for a lock may also be made without waiting
 * (`blocks` is false); then belief_lock_result has its result, and other calls are possible meanwhile as include/dibs.h
 * says.
 *
 * Replies. The daemon replies in order, and a LOCK that waits holds up what comes behind it. So there is at most one
 * request of that kind under way (`await`). Everything that must not wait is sent as MEANWHILE: the daemon executes it
 * at once and replies by a push message. Those replies are in order as well (`aside`).
 *
 * Validity. The daemon's reply to CONFIRM is the number of milliseconds for which it vouches for all locks of the
 * connection, counted from the moment in which the library sent the question (invariant I20). One CONFIRM is under way
 * at a time, so that a reply is never counted from a later question. The next one is sent when a third of the validity
 * has passed, or of the keep time if that is shorter. When the validity has passed and no newer reply has come, the locks are lost. No CONFIRM is sent while the
 * connection holds no lock and waits for none. A grant that comes while no validity is known is not told to the program
 * before a CONFIRM has been answered.
 *
 * Kept sessions (belief_keep.c). With keep_ms the members keep the session when its connection breaks. The connection may
 * then be made anew, to any member (belief_break, belief_return). Until the session is resumed, its locks are *in doubt*:
 * the program does not hold them for sure, and no other client is granted them. */
#ifndef DIBS_CLIENT_BELIEF_H
#define DIBS_CLIENT_BELIEF_H

#include "dibs.h"
#include "held.h"

#include <stdbool.h>

enum {
    BELIEF_ANSWER_MS = 10000, /* a daemon that has not answered a question for this long is gone */
    BELIEF_AGAIN_MS = 200,    /* when the daemon vouches for nothing: ask again after this time */
};

/* The call that the program waits for. */
enum belief_call {
    BELIEF_IDLE,
    BELIEF_HELLO,
    BELIEF_ASK,
    BELIEF_LOCK,
    BELIEF_UNLOCK,
    BELIEF_RENEW,
    BELIEF_UPGRADE,
    BELIEF_DOWNGRADE,
    BELIEF_CONFIRM,
    BELIEF_WATCH,
};

/* What the next reply that is not a push message answers. */
enum belief_await { AWAIT_NOTHING, AWAIT_ANSWER, AWAIT_LOCK, AWAIT_GREETING, AWAIT_SESSION, AWAIT_KINDS };

/* A kept session: it has a connection; it has none; it has one again, and the daemon has not yet said what the session holds. */
enum belief_phase { BELIEF_UP, BELIEF_AWAY, BELIEF_RETURNS };

/* What a MEANWHILE was about. */
struct belief_aside {
    enum { ASIDE_CONFIRM, ASIDE_UNLOCK, ASIDE_RENEW } type;
    char *name; /* RENEW */
};

/* One of several locks that are asked for at once. */
struct belief_part {
    char *name, *group, *value;
    size_t value_len;
    enum dibs_mode mode;
    unsigned slots;
};

struct belief_bytes {
    char *at;
    size_t start, end, room;
};

/* All zeroes: a connection that has just been made. */
struct belief {
    bool gone;                /* the connection has ended */
    bool out_of_memory;       /* a request could not be stored: nothing more is sent, and the connection must end */
    char message[512];        /* see dibs_message */
    char result_message[512]; /* the message about `result`, if the program fetches it later; or empty */
    char end_reason[300];     /* why the connection has ended */
    struct belief_bytes in, out;
    struct dibs_reply *reply; /* the one that is being understood; news may point into it */

    enum belief_call call;
    uint64_t patience_ms;    /* call: the daemon is gone if there is no answer by then */
    struct conn_lock *about; /* UNLOCK to CONFIRM: the lock that the call is about */
    bool ask_again;          /* CONFIRM: the question under way is older than the call */
    bool fresh;              /* CONFIRM: a question has been answered that is not older than the call */
    /* ASK: the answer may take long, since the request is for a lock. Meanwhile CONFIRM shows whether the daemon is there. */
    bool waits;

    enum belief_await await;
    struct dibs_reply *answer; /* AWAIT_ANSWER: when it has come */
    struct belief_aside *aside;
    size_t asides, aside_room;

    struct held held;         /* locks that are held, or lost and not yet unlocked */
    struct conn_lock *untold; /* the first lock of whose loss the program has not been told, or null */
    bool untold_all;          /* it may not have been told of losses after that one either */
    const char *lost_why;     /* why these locks are lost */

    struct belief_part *wanted; /* the locks that are requested, until the program has fetched the result; or null */
    size_t wants;               /* number of these: usually one */
    int result;                 /* of the request: DIBS_WAITING, .. */
    uint64_t fence;             /* DIBS_OK: the fence of the first of these locks */
    bool granted;               /* all wanted locks are in `held`, and the program has not fetched the result */
    uint64_t late_ms;           /* granted: since when answers that vouch for it come too late; 0: they do not */
    bool said;           /* the request was sent: a session that is resumed may have been granted what is wanted */
    bool cancelled;      /* the daemon was told to cancel it */
    uint64_t vouched_ms; /* all locks are held until then */
    uint64_t confirm_ms; /* when to send the next CONFIRM */
    uint64_t asked_ms;   /* when the CONFIRM that is under way was sent; or 0 */
    bool confirmed;      /* a CONFIRM has been answered */
    /* The program has not called for too long: the CONFIRM under way decides about its locks (belief_doubt). */
    bool in_doubt;
    unsigned subscribed; /* confirmations of PSUBSCRIBE since the call */

    const char *under; /* the locks under which the program runs, as DIBS_LOCKS has them; or null. The driver owns it */
    enum belief_phase phase;
    uint64_t keep_ms;      /* for how long the members keep the session without a connection; 0: not at all */
    char session[64];      /* the secret by which the session is resumed; "": there is none yet */
    uint64_t kept_ms;      /* the members keep the session until then, whatever happens to the connection */
    uint64_t away_ms;      /* AWAY, RETURNS: when that began or, if that was later, when the program requested a lock */
    uint64_t doubt_ms;     /* since when locks are in doubt */
    uint64_t return_by_ms; /* RETURNS: the daemon must have answered by then */
    bool call_broke;       /* the connection broke while the program waited for the answer to the call */
    bool elsewhere;        /* the driver knows other places where the session can be resumed */
    uint64_t fence_max;    /* the largest fence that the program was ever granted, or that it has released unseen */
    bool parts;            /* the daemon has taken the session from this connection, and waits for its end */
    bool doubt, doubt_told;   /* locks are in doubt; the program was told so */
    uint64_t wait_ms, ttl_ms; /* of the wanted locks, as in struct dibs_wish */
    unsigned priority;
    /* When the wait for the wanted locks ends; UINT64_MAX: never; 0: the request does not wait. */
    uint64_t wish_until_ms;
};

/* News for the program. The texts are valid until the next belief_next. */
struct belief_news {
    enum { BELIEF_LOST, BELIEF_EVENT, BELIEF_DOUBT } type;
    bool in_doubt;    /* DOUBT: all locks are in doubt from now on, or no longer */
    const char *name; /* LOST */
    uint64_t fence;
    const char *why;
    struct dibs_event event; /* EVENT */
};

void belief_free(struct belief *b);

/* ---- Calls of the program, see include/dibs.h. */
/* keep_ms: the members shall keep the session for this time when its connection breaks; 0: they shall not. */
int belief_hello(struct belief *b, const char *name, uint64_t keep_ms, uint64_t now_ms);
void belief_say_hello(struct belief *b, const char *name);
int belief_ask(struct belief *b, const char *const *words, size_t count, uint64_t now_ms);
/* blocks: the program waits for belief_answer; else DIBS_OK means that belief_lock_result will have the result. */
int belief_lock(struct belief *b, const char *name, const struct dibs_wish *wish, bool blocks, uint64_t now_ms);
/* The same for several locks, all or none. */
int belief_lock_many(struct belief *b, const struct dibs_part *parts, size_t count, const struct dibs_wish *wish,
                     bool blocks, uint64_t now_ms);
/* Cancels the request that is under way: its result is DIBS_TIMEOUT, unless it has just been answered. */
int belief_cancel(struct belief *b);
int belief_lock_result(struct belief *b, uint64_t now_ms); /* DIBS_OK: the fence is in b->fence */
int belief_unlock(struct belief *b, const char *name, uint64_t now_ms);
int belief_start_unlock(struct belief *b, const char *name);
/* Does the program hold the lock, although the daemon has not vouched for it lately? Then belief_confirm asks. */
bool belief_is_stale(const struct belief *b, const char *name, uint64_t now_ms);
int belief_renew(struct belief *b, const char *name, uint64_t ttl_ms, uint64_t now_ms);
int belief_start_renew(struct belief *b, const char *name, uint64_t ttl_ms);
/* wait_ms as in struct dibs_wish. DIBS_OK of belief_answer: the fence is in b->fence. */
int belief_upgrade(struct belief *b, const char *name, uint64_t wait_ms, uint64_t now_ms);
int belief_downgrade(struct belief *b, const char *name, uint64_t now_ms);
int belief_confirm(struct belief *b, const char *name, uint64_t now_ms);
int belief_watch(struct belief *b, const char *pattern, uint64_t now_ms);
uint64_t belief_fence(const struct belief *b, const char *name, uint64_t now_ms);
/* For how long no other client is granted the locks, whatever happens to the connection (dibs_safe_ms). */
uint64_t belief_safe_ms(const struct belief *b, uint64_t now_ms);
/* Returns DIBS_WAITING until the call is answered; then, once, the result of the call. DIBS_OK of belief_lock: the fence is in b->fence; of belief_ask:
 * the reply is in b->answer, and the caller takes it. */
int belief_answer(struct belief *b);

/* ---- The connection. */
/* Room for bytes of the daemon, at least 4096; null: out of memory, and the connection has ended. */
char *belief_room(struct belief *b, size_t *room);
void belief_received(struct belief *b, size_t len);
/* The connection has broken. A kept session waits for a new one: its phase is BELIEF_AWAY. Any other ends. */
void belief_break(struct belief *b, const char *why, uint64_t now_ms);
/* A kept session has a new connection. */
void belief_return(struct belief *b, const char *name, uint64_t now_ms);
/* The connection has ended, or must end: all locks are lost. */
void belief_end(struct belief *b, const char *why);
/* The bytes to send. belief_sent: the first `len` of them have been sent, or never will be. */
const char *belief_output(const struct belief *b, size_t *len);
void belief_sent(struct belief *b, size_t len);
/* Handles replies until there is something to tell the program. Returns false if there is nothing more to tell. */
bool belief_next(struct belief *b, struct belief_news *news, uint64_t now_ms);

/* ---- Time. */
void belief_clock(struct belief *b, uint64_t now_ms);
/* When belief_clock has to be called at the latest; UINT64_MAX: there is no deadline. */
uint64_t belief_due_ms(const struct belief *b);

/* ---- Between the parts of this. */
/* Sets the message, and returns the code. */
int belief_fail(struct belief *b, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Notes that the request for a lock has this result, and that `message` is about it. The program may fetch both later, when `message` is about something else. */
void belief_conclude(struct belief *b, int code);
/* Sets the message for an error reply of the daemon, and returns its code. */
int belief_refused(struct belief *b, const struct dibs_reply *error);
/* Does the program believe in a lock? It does not believe yet in a lock whose grant it has not fetched. */
bool belief_holds(const struct belief *b);
/* The daemon has granted this lock, as it was wanted. Returns null if there is no memory. */
struct conn_lock *belief_add(struct belief *b, const struct belief_part *part, uint64_t fence);
/* The lock is lost. The program is told when all are marked: belief_tell_losses. */
void belief_mark_lost(struct belief *b, struct conn_lock *lock, const char *why);
void belief_tell_losses(struct belief *b, const char *why);
void belief_lose(struct belief *b, struct conn_lock *lock, const char *why);
void belief_lose_all(struct belief *b, const char *why);
/* belief_keep.c */
/* The library itself ends the connection. For a daemon, that proves that the program believes in none of its locks any more; so it
 * must not. */
void belief_give_up(struct belief *b, const char *why, uint64_t now_ms);
/* The daemon has said that the session no longer belongs to this connection. The sooner the connection ends, the
 * sooner the session can be resumed. */
void belief_part(struct belief *b, const char *why, uint64_t now_ms);
void belief_begin_doubt(struct belief *b, uint64_t now_ms);
/* There is no connection, and so no request: if the program has cancelled its request, there will be none. */
void belief_end_cancelled(struct belief *b);
/* Remembers the limits of the request, so that it can be sent again. */
void belief_keep_wish(struct belief *b, const struct dibs_wish *wish, uint64_t now_ms);
void belief_hear_greeting(struct belief *b, const struct dibs_reply *r, uint64_t now_ms);
void belief_hear_session(struct belief *b, const struct dibs_reply *r, uint64_t now_ms);
/* Does what is due while there is no connection or the validity has run out. Returns true if nothing else is to be done. */
bool belief_clock_keep(struct belief *b, uint64_t now_ms);
uint64_t belief_due_keep_ms(const struct belief *b);
/* belief_say.c */
void belief_say(struct belief *b, const char *const *words, size_t count);
void belief_say_aside(struct belief *b, int type, const char *const *words, size_t count);
void belief_ask_confirm(struct belief *b, uint64_t now_ms);
void belief_say_lock(struct belief *b); /* asks for what is wanted */
/* The last words of a kept session: all its locks are released at once. */
void belief_say_goodbye(struct belief *b);
/* Asks for a kept session, or resumes the one that there is. */
void belief_say_keep(struct belief *b);
/* Says UNLOCK, RENEW, UPGRADE or DOWNGRADE with the fence of the lock, so that it concerns no other grant of that name. `ms` is the TTL, or how
 * long to wait as in struct dibs_wish. */
void belief_say_about(struct belief *b, enum belief_call call, const char *name, uint64_t fence, uint64_t ms,
                      bool aside);

#endif
