/* session.h - a client's session: the locks that the client holds, and the one that it waits for.
 *
 * A session waits for one lock at a time, since its client reads one answer after the other. It can hold many locks,
 * each name once. A lock can have a TTL: the client loses the lock when the TTL runs out, unless it renews the lock
 * before. By CONFIRM a client learns for how long it surely holds its locks, their validity; `vouched_ms` is the end of
 * it. A lock that the client loses before vouched_ms lingers (lock.h) until the client gives it up (UNLOCK) or ends the
 * session, since it knows of the loss by then; or until vouched_ms. If the client requests the lock again before, the
 * request waits like any other: threads may share a connection, and another thread may have held the lock.
 *
 * A session ends in one of two ways. If the client has ended it (session_close), all its locks are released. If the
 * connection has broken (session_break), the client may not know it: its wait is withdrawn, and the locks that it was
 * told it holds linger until vouched_ms. Until then the session remains as an *orphan*, which no driver knows.
 *
 * A remote client (over TCP) that has used CONFIRM must use it again and again. If it has not done so for longer than
 * any answer to CONFIRM is valid, also counted from the last grant, it believes in no lock any more, and it loses its
 * locks (session_lapse). So a client whose machine has vanished silently does not keep its locks, nor the ones it is
 * granted afterwards. This does not apply to clients over a Unix socket: the kernel always reports their end, and a
 * client that is stopped keeps its locks.
 *
 * A session with many claims ends, or loses them, in pieces: SESSION_PIECE of them at once, and as many in each turn
 * that follows (session_go_on). Until then the claims are held as before: no other client is granted their locks. A
 * client that confirms while session_lapse has not taken all its locks away keeps the others.
 *
 * Events of claims are reported to subscribers (watch.h). */
#ifndef DIBS_NODE_SESSION_H
#define DIBS_NODE_SESSION_H

#include "node.h"

enum { SESSION_HELD_MAX = 1 << 16, SESSION_WHO_MAX = 95, SESSION_PIECE = 1 << 10 };

/* What becomes of the claims of a session, piece by piece. */
enum session_task { SESSION_RELEASES, SESSION_BREAKS, SESSION_LAPSES, SESSION_DISCARDS };

struct session {
    struct node *node;
    struct ring in_node;
    struct ring in_confirming;        /* see session_lapse */
    struct ring in_resuming, in_news; /* see struct keep */
    uint64_t heard_ms;                /* remote: when its client last used CONFIRM, or was granted a lock */
    struct ring claims;               /* held; and the one it waits for */
    struct claim *waiting;
    struct query *query;     /* to which it awaits the answer, or null */
    struct token_op *asks;   /* likewise (token.h) */
    struct token_poll *poll; /* an orphan: the client in whose place it waits; or null */
    struct token_op *serves; /* an orphan: the operation for which it waits for a lock; or null */
    struct ring subscriptions;
    uint32_t subscribed; /* how many */
    uint64_t id;
    uint32_t held;
    uint32_t steps;      /* claims that its commands have looked at; the driver of the commands counts them from 0 */
    uint64_t vouched_ms; /* until then its client may believe in its locks: the end of the validity it was told */
    bool confirms;       /* its client has used CONFIRM */
    bool remote;         /* set by the driver: the connection can break without either side noticing (TCP) */
    bool orphan;         /* its connection has ended; it ends with the last of its claims */
    enum session_task task;
    uint64_t lapsed_ms;            /* SESSION_LAPSES: since when */
    uint32_t left;                 /* claims for which the task is to be done, the first; 0: there is none */
    struct ring in_task;           /* of the node: sessions that have some left */
    struct keep_session *kept;     /* or null */
    struct keep_id resumes, cut;   /* which session it waits for; which one has been taken from it, or 0 */
    uint64_t asked_view, asked_ms; /* when the owner of the former was last asked */
    enum keep_news keep_news;      /* what it has to be told */
    struct party *party;           /* all sessions of its client; null: not known yet */
    bool counted;                  /* among the connections of its party */
    void *user;                    /* the driver's */
    struct client *client;         /* whose connection it is; null: an orphan, or a test of this file */
    char who[SESSION_WHO_MAX + 1]; /* what the client calls itself, or "" */
    char from[64];                 /* set by the driver: the user or the address that it comes from, or "" */
};

#define SESSION_FOREVER UINT64_MAX

/* A client's request for a lock. */
struct session_wish {
    const char *name;
    size_t name_len;
    uint32_t slots, mode;
    uint64_t wait_ms; /* how long to wait; SESSION_FOREVER; 0: only try */
    uint64_t ttl_ms;  /* 0: held as long as the session lasts */
};

struct session *session_open(struct node *node, void *user);
/* The client has ended the session, or its process has ended for certain: it believes in no lock any more. */
void session_close(struct session *s);
/* The connection has broken, and the client may not have noticed. */
void session_break(struct session *s);
/* Does the session wait for a lock, or for the answer to a query or about a token? */
static inline bool session_is_busy(const struct session *s)
{
    return s->waiting || s->query || s->asks || !ring_empty(&s->in_resuming);
}

/* Requests a lock. Returns null if the answer comes as an event (node_next), even if the lock is granted at once.
 * Otherwise no event comes: returns an error code (ERR, WRONGKIND, BUSY, NOQUORUM) for programs, and `why` gets a line
 * for people. */
const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why);
/* Each returns false if this session does not hold the lock, or if `fence` is not 0, not with this fence.
 * session_unlock also gives up a lock that lingers. */
bool session_unlock(struct session *s, const char *name, size_t name_len, uint64_t fence);
bool session_renew(struct session *s, const char *name, size_t name_len, uint64_t fence, uint64_t ttl_ms);
bool session_holds(struct session *s, const char *name, size_t name_len, uint64_t fence);
/* Returns a validity in milliseconds, counted from the client's question: for that time the client may believe in the
 * locks that it holds and in those that it is granted meanwhile. Returns 0 if this member cannot vouch for any lock. */
uint64_t session_confirm(struct session *s);
/* Describes the client for people: the name that it gave itself, where it comes from, and its member. */
void session_describe(const struct session *s, char text[LOSS_BY_MAX + 1]);
/* Takes the lock away from all clients of this member that hold it with this fence or a smaller one. They get an event
 * with `by`, the operator. Returns their number. */
uint32_t session_evict(struct node *node, const char *name, size_t name_len, uint64_t fence, const char *by);

/* For token.c. Withdraws the request for which the session waits, even if it was just granted. A session without a client is
 * gone then. */
void session_withdraw(struct session *s);
/* The only claim of a session that belongs to a token, if it is held, with this fence or (0) with any; or null. */
struct claim *session_token_claim(const struct session *s, uint64_t fence);
/* Begins its TTL anew. c->ttl_ms, which the records have, becomes longer if it has to, but never shorter. */
void session_set_ttl(struct claim *c, uint64_t ttl_ms);

/* For node.c: frees the orphans when the node ends. */
void session_forget_orphans(struct node *node);
/* For node.c: the next piece of what there is to do for many claims. */
void session_go_on(struct node *node);
/* For node.c: claims whose time is over, a piece of them. */
void session_all_due(struct node *node);
/* For node.c: remote clients that have not confirmed in time lose their locks; session_lapse_ms is when the next one
 * may. */
void session_lapse(struct node *node);
uint64_t session_lapse_ms(const struct node *node);
/* For node.c: the client is about to be told of this claim. */
void session_settle(struct claim *c);
/* For keep.c: a session without a client; and its end. */
struct session *session_open_orphan(struct node *node);
void session_end_orphan(struct session *s);
/* A claim of it that another member had; the caller fills in the rest. */
struct claim *session_adopt(struct session *s, const char *name, size_t name_len);
/* Frees the claim without telling its client. */
void session_discard(struct claim *c);
/* The same with all its claims, in pieces: they belong to another member, or to none. An orphan ends with them. */
void session_discard_later(struct session *s);
void session_release_all(struct session *s);
void session_lose_all(struct session *s, enum loss why);
/* All that one holds is the other's, what was vouched for included. */
void session_pass_all(struct session *from, struct session *to);
/* Another member may be the owner of the kept session: TTLs are suspended, and evictions wait. */
void session_suspend(struct session *s);
/* This member is the owner for certain: TTLs begin, and evictions that were ordered meanwhile are carried out. */
void session_act(struct session *s);
/* For lock.c, see locks_conf. */
bool session_lingers(struct claim *c);

#endif
