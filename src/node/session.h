/* session.h - a client's session: the locks that the client holds, and the one that it waits for.
 *
 * A session waits for one lock at a time, since its client reads one answer after the other. It can hold many locks,
 * each name once. If its client requests a lock again by REENTRANT, the session counts that, and releases the lock when as many
 * UNLOCKs have come; a loss ends the lock whatever the count is. A lock can have a TTL: the client loses the lock when the TTL runs out, unless it
 * renews the lock before. By CONFIRM a client learns for how long it surely holds its locks, their validity; `vouched_ms` is the end of
 * the validity. A lock that the client loses before vouched_ms lingers (lock.h) until the client has shown that it knows of the
 * loss, by UNLOCK or by the end of the session, or until vouched_ms. If the client requests the lock again before, the
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
 * client that is stopped keeps its locks. Nor does it apply to clients of an agent, which use the agent's Unix socket.
 *
 * A session with many claims ends, or loses them, in pieces: SESSION_PIECE of them at once, and as many in each turn
 * that follows (session_go_on). Until then the claims are held as before: no other client is granted their locks. A
 * client that confirms while session_lapse has not taken all its locks away keeps the others.
 *
 * Events of claims are reported to subscribers (watch.h). */
#ifndef DIBS_NODE_SESSION_H
#define DIBS_NODE_SESSION_H

#include "node.h"

enum {
    SESSION_HELD_MAX = 1 << 16,
    SESSION_AGAIN_MAX = 10000,
    SESSION_WHO_MAX = 95,
    SESSION_FROM_MAX = 64,
    SESSION_PIECE = 1 << 10
};
/* Bytes of values (lock/value.h): of one session; and of all at one member, before it refuses others. */
enum { SESSION_VALUES_MAX = 1 << 20, SESSION_ALL_VALUES_MAX = 1 << 26 };

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
    struct ring in_nested;        /* while it waits and runs under locks (deadlock.h) */
    struct deadlock_under *under; /* the locks under which it runs; or null */
    unsigned unders;              /* number of these */
    struct ring in_deadlock;      /* while it waits, until its wait is examined (deadlock.h) */
    uint64_t probed, probed_ms;   /* the last probe that went through its wait; when its wait last sent one */
    struct deadlock_cycle *cycle; /* its last wait has ended as the youngest of this cycle; or null */
    struct query *query;          /* the query whose answer it awaits, or null */
    struct token_op *asks;        /* the operation whose answer it awaits (token.h), or null */
    struct token_poll *poll;      /* an orphan: the poll for which it waits in a client's place; or null */
    struct token_op *serves;      /* an orphan: the operation for which it waits for a lock; or null */
    struct ring subscriptions;
    uint32_t subscribed; /* how many */
    uint64_t id;
    uint32_t held;
    uint32_t values;     /* bytes of the values of its claims */
    uint32_t steps;      /* claims that its commands have looked at; the driver of the commands counts them from 0 */
    uint64_t vouched_ms; /* until then its client may believe in its locks: the end of the validity it was told */
    bool confirms;       /* its client has used CONFIRM */
    bool remote;         /* set by the driver: the connection can break without either side noticing (TCP) */
    bool relayed;        /* .. but an agent watches the client's connection, and the member watches the agent */
    bool orphan;         /* its connection has ended; it ends with the last of its claims */
    enum session_task task;
    uint64_t lapsed_ms;            /* SESSION_LAPSES: when the task began */
    uint32_t left;                 /* the task is still to be done for the first `left` claims; 0: there is no task */
    struct ring in_task;           /* in node.tasks, while `left` is not 0 */
    struct ring in_holding;        /* of the node, while it has a client and holds locks */
    struct keep_session *kept;     /* or null; perhaps forgotten: see session_kept */
    struct keep_id resumes;        /* the session that it waits to resume */
    struct keep_id resumes_else;   /* .. or, if no member knows that one, this one; both 0: none (command/permit.h) */
    struct keep_session *cut;      /* the session that was taken from it, which waits for its end; or null */
    uint64_t asked_view, asked_ms; /* when the owner of that session was last asked */
    enum keep_news keep_news;      /* what it has to be told */
    struct party *party;           /* all sessions of its client; null: not known yet */
    bool counted;                  /* among the connections of its party */
    uint32_t promised;             /* see party_promise */
    void *user;                    /* of the driver */
    struct client *client;         /* whose connection it is; null: an orphan, or a test of this file */
    bool operates;                 /* the driver says that its client has the rights of an operator */
    struct rights_who *proved;     /* what else its client has proved (command/permit.h); or null */
    uint64_t ruled;                /* the rights that have allowed what it waits for: rules.version at that time */
    char who[SESSION_WHO_MAX + 1]; /* what the client calls itself, or "" */
    char from[SESSION_FROM_MAX];   /* set by the driver: the user or the address that it comes from, or "" */
};

/* Its kept session; or null: it has none, or this member was excluded and has forgotten it (keep_forget_all). */
static inline struct keep_session *session_kept(const struct session *s)
{
    return s->kept && s->kept->era == s->node->keep.era ? s->kept : NULL;
}

/* This member has forgotten the kept session of `s`. The connection will be cut off, and the claims will be discarded, in pieces. Until
 * then the client is not heard and not told, and a claim that gets an outcome is discarded. */
static inline bool session_is_forgotten(const struct session *s)
{
    return s->kept && s->kept->era != s->node->keep.era;
}

#define SESSION_FOREVER UINT64_MAX

/* A client's request for a lock. */
struct session_wish {
    const char *name;
    size_t name_len;
    uint32_t slots, mode;
    uint64_t wait_ms;  /* how long to wait; SESSION_FOREVER; 0: only try */
    uint64_t ttl_ms;   /* 0: held as long as the session lasts */
    const char *value; /* for others to see (lock/value.h) */
    size_t value_len;  /* at most VALUE_MAX; 0: there is none */
    uint8_t priority;  /* 0 to LOCK_PRIORITY_MAX */
    bool reentrant;    /* see session_hold_again */
    bool alone;        /* by a token: exclusive, also if the policy of the name says that it has slots */
};

struct session *session_open(struct node *node, void *user);
/* The client has ended the session, or its process has ended for certain: it believes in no lock any more. */
void session_close(struct session *s);
/* The connection has broken, and the client may not have noticed. */
void session_break(struct session *s);
/* Does it wait until it is attached to a kept session? */
static inline bool session_resumes(const struct session *s)
{
    return !ring_empty(&s->in_resuming);
}
/* Does the session wait for a lock, for the answer to a query or about a token, or for a kept session? */
static inline bool session_is_busy(const struct session *s)
{
    return s->waiting || s->query || s->asks || session_resumes(s);
}

/* Requests a lock. Returns null if the answer comes as an event (node_next), even if the lock is granted at once.
 * Otherwise no event comes: returns an error code (ERR, WRONGKIND, BUSY, NOQUORUM) for programs, and `why` gets a line
 * for people. */
const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why);
/* Requests once more a lock that the session holds. Returns how often it is held now, and writes its fence; the lock is released after that many calls
 * of session_unlock. Returns 0 without a code if the session does not hold the lock; 0 with an error code, and a line in `why`, if that is not allowed. */
uint32_t session_hold_again(struct session *s, const struct session_wish *wish, uint64_t *fence, const char **code,
                            struct dme_text *why);
/* Requests that a lock that the session holds and shares become exclusive. Returns null in two cases. If *fence is not 0 then, the lock is exclusive
 * already, and that is its token. Otherwise the answer comes as an event, CLAIM_UPGRADED or another, and the lock is shared until then. Else returns
 * an error code: those of session_lock, or DEADLOCK; or NOTHELD, without a line, if the session does not hold the lock or, where
 * *fence is not 0, does not hold it with this fence. */
const char *session_upgrade(struct session *s, const char *name, size_t name_len, uint64_t *fence, uint64_t wait_ms,
                            struct dme_text *why);
/* Requests that an exclusive lock become shared, which is done at once. But if *waits becomes true, the session is kept, and other members have to know
 * of the change first: the answer comes as an event, CLAIM_DOWNGRADED or another. */
const char *session_downgrade(struct session *s, const char *name, size_t name_len, uint64_t fence, bool *waits,
                              struct dme_text *why);
/* Ends the wait as if its time were over. Returns false if the session does not wait, or its request has just been answered. */
bool session_cancel(struct session *s);
/* Each returns false if this session does not hold the lock, or if `fence` is not 0, not with this fence.
 * session_unlock also gives up a lock that lingers. If it is held several times (session_hold_again), the count decreases by one. */
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

/* For token.c. Withdraws the request for which the session waits, even if it was just granted. This frees a session without a
 * client. */
void session_withdraw(struct session *s);
/* The only claim of a session that belongs to a token, if it is held, and if `fence` is 0 or its fence; else null. */
struct claim *session_token_claim(const struct session *s, uint64_t fence);
/* Begins its TTL anew. c->ttl_ms, which the records have, becomes longer if it has to, but never shorter. */
void session_set_ttl(struct claim *c, uint64_t ttl_ms);

/* For session_convert.c. The claim by which the session holds this lock, if `fence` is 0 or its fence; if there is none, one that lingers; or
 * null. If the client has not been told of the grant, the lock does not count as held. */
struct claim *session_find(struct session *s, const char *name, size_t name_len, uint64_t fence);
/* The claim, which is not in a lock yet, waits. The client waits for it. */
void session_begin_wait(struct claim *c, uint64_t wait_ms);
/* A new claim of the session for this lock. */
struct claim *session_new_claim(struct session *s, const char *name, size_t name_len);
void session_begin_ttl(struct claim *c, uint64_t ttl_ms);
/* The request to change the mode of a lock was granted: the client is about to be told. */
void session_note_change(struct claim *request);
/* For node.c: the request to upgrade a lock was granted, but its client no longer has the right to that. The lock is shared as before; or,
 * if the session is kept and other members know the new fence, it is lost. */
void session_undo_upgrade(struct claim *upgrade);

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
/* For node.c: the client is about to be told the outcome of this claim. */
void session_note_outcome(struct claim *c);
/* For keep.c: opens a session without a client; ends one. */
struct session *session_open_orphan(struct node *node);
void session_end_orphan(struct session *s);
/* Makes a claim of the session that another member had; the caller fills in the rest. */
struct claim *session_adopt(struct session *s, const char *name, size_t name_len);
/* Gives the claim, which has none, a value. */
void session_set_value(struct claim *c, const char *value, size_t len);
/* Frees the memory of a claim that is in no session and in no lock. */
void session_free_claim(struct node *node, struct claim *c);
/* Frees the claim without telling its client. */
void session_discard(struct claim *c);
/* Discards all claims of the session, in pieces: they belong to another member, or to no session. An orphan ends with the last one. */
void session_discard_later(struct session *s);
void session_release_all(struct session *s);
void session_lose_all(struct session *s, enum loss why);
/* All that `from` holds is held by `to` from now on, and so is its validity. */
void session_pass_all(struct session *from, struct session *to);
/* Another member may be the owner of the kept session: TTLs are suspended, and evictions wait. */
void session_suspend(struct session *s);
/* This member is the owner for certain: TTLs begin, and evictions that were ordered meanwhile are carried out. */
void session_act(struct session *s);
/* locks_conf.lingers. */
bool session_lingers(struct claim *c);

#endif
