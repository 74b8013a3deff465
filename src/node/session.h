/* session.h - a client's connection: the locks it holds, and the one it waits for.
 *
 * A session waits for one lock at a time, as its client reads one answer after the other. It holds as many as it likes,
 * each in its own name and once. A lock may be held on a lease (TTL): it is lost when that runs out, unless it is renewed
 * before. A client may be told for how long its locks are surely held (CONFIRM, `vouched_ms`); what it loses before that
 * time is over lingers (lock.h) until it gives it up (UNLOCK) or says goodbye, as it has heard by then; or until the time
 * is over. If the client asks for it anew before, that request waits as any other does: a connection may be shared by
 * threads, of which another one held it.
 *
 * A session ends in one of two manners. The client has said goodbye (session_close): all its locks are released. Or the
 * connection has broken (session_break), and the client may not know: the wait is withdrawn, and what the client was told
 * that it holds lingers until vouched_ms. For that long the session stays behind as an *orphan*, which no driver knows.
 *
 * A remote client, over TCP, that uses CONFIRM must go on to do so: if it has not for longer than any answer to it is good
 * for, counted also from the last grant, it believes in no lock any more, and they are lost (session_lapse). Thus a client
 * whose machine has vanished without a word does not keep its locks, nor what it is granted afterwards. Clients over a
 * Unix socket need not: that they have ended is always noticed, and one that is stopped shall keep its locks.
 *
 * A session with many claims ends, or loses them, in pieces: SESSION_PIECE of them at once, and as many in each turn that
 * follows (session_go_on). Until then the claims are held as before: no other client is granted their locks. A client that
 * confirms while session_lapse has not taken all its locks away keeps the others.
 *
 * What happens to claims is told to whoever watches (watch.h). */
#ifndef DIBS_NODE_SESSION_H
#define DIBS_NODE_SESSION_H

#include "node.h"

enum { SESSION_HELD_MAX = 1 << 16, SESSION_WHO_MAX = 95, SESSION_PIECE = 1 << 10 };

/* What becomes of the claims of a session, piece by piece. */
enum session_task { SESSION_RELEASES, SESSION_BREAKS, SESSION_LAPSES };

struct session {
    struct node *node;
    struct ring in_node;
    struct ring in_confirming;        /* see session_lapse */
    struct ring in_resuming, in_news; /* see struct keep */
    uint64_t heard_ms;                /* remote: when its client last used CONFIRM, or was granted a lock */
    struct ring claims;               /* held; and the one it waits for */
    struct claim *waiting;
    struct question *question; /* to which it awaits the answer, or null */
    struct ring subscriptions;
    uint32_t subscribed; /* how many */
    uint64_t id;
    uint32_t held;
    uint64_t vouched_ms; /* until then its client may believe in its locks, whatever happens: it has been told so */
    bool confirms;       /* its client has used CONFIRM */
    bool remote;         /* set by the driver: its connection may break without either side noticing (TCP) */
    bool orphan;         /* its connection has ended; it ends with the last of its claims */
    enum session_task task;
    uint64_t lapsed_ms;            /* SESSION_LAPSES: since when */
    uint32_t left;                 /* claims for which the task is to be done, the first; 0: there is none */
    struct ring in_task;           /* of the node: sessions that have some left */
    struct keep_session *kept;     /* or null */
    struct keep_id resumes, cut;   /* which session it waits for; which one has been taken from it, or 0 */
    uint64_t asked_view, asked_ms; /* when the owner of the former was last asked */
    enum keep_news keep_news;      /* what it has to be told */
    void *user;                    /* the driver's */
    struct client *client;         /* whose connection it is; null: an orphan, or a test of this file */
    char who[SESSION_WHO_MAX + 1]; /* what the client calls itself, or "" */
    char from[64];                 /* set by the driver: the user or the address that it comes from, or "" */
};

#define SESSION_FOREVER UINT64_MAX

/* What a client asks for. */
struct session_wish {
    const char *name;
    size_t name_len;
    uint32_t slots, mode;
    uint64_t wait_ms; /* SESSION_FOREVER; 0: now or not at all */
    uint64_t ttl_ms;  /* 0: as long as the session */
};

struct session *session_open(struct node *node, void *user);
/* The client has said goodbye, or has ended for sure: it believes in no lock any more. */
void session_close(struct session *s);
/* The connection has broken, and the client may not have noticed. */
void session_break(struct session *s);
/* Does it await an answer, of a lock or of a question? */
static inline bool session_is_busy(const struct session *s)
{
    return s->waiting || s->question || !ring_empty(&s->in_resuming);
}

/* Null: the answer comes as an event (node_next), also if it is given at once. Else no event comes: an error code (ERR,
 * WRONGKIND, BUSY, NOQUORUM) for programs, and a line in why for people. */
const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why);
/* False: this session does not hold it; or, if the fence is not 0, not with this fence. What lingers is given up by
 * session_unlock, all the same. */
bool session_unlock(struct session *s, const char *name, size_t name_len, uint64_t fence);
bool session_renew(struct session *s, const char *name, size_t name_len, uint64_t fence, uint64_t ttl_ms);
bool session_holds(const struct session *s, const char *name, size_t name_len, uint64_t fence);
/* For the returned number of milliseconds, counted from the question, the client may believe in the locks that it holds and in those that
 * it is granted meanwhile. 0: this member cannot vouch for any. */
uint64_t session_confirm(struct session *s);
/* Who this is, for a person: what the client calls itself, where it comes from, and its member. */
void session_describe(const struct session *s, char text[LOSS_BY_MAX + 1]);
/* Takes the lock away from all clients of this member that hold it with this fence or a smaller one; they get an event that
 * tells who has asked for it. How many there were. */
uint32_t session_evict(struct node *node, const char *name, size_t name_len, uint64_t fence, const char *by);

/* For node.c: the node ends, and its orphans with it. */
void session_forget_orphans(struct node *node);
/* For node.c: the next piece of what there is to do for many claims. */
void session_go_on(struct node *node);
/* For node.c: claims whose time is over, a piece of them. */
void session_all_due(struct node *node);
/* For node.c: remote clients that have not confirmed in time lose their locks; and when that has to be looked at. */
void session_lapse(struct node *node);
uint64_t session_lapse_ms(const struct node *node);
/* For node.c: the client is about to be told of this claim. */
void session_settle(struct claim *c);
/* For keep.c: a session without a client; and its end. */
struct session *session_open_orphan(struct node *node);
void session_end_orphan(struct session *s);
/* A claim of it that another member had; the caller fills in the rest. */
struct claim *session_adopt(struct session *s, const char *name, size_t name_len);
/* The claim is gone, and nobody is told. */
void session_discard(struct claim *c);
void session_discard_all(struct session *s);
void session_release_all(struct session *s);
void session_lose_all(struct session *s, enum loss why);
/* All that one holds is the other's, what was vouched for included. */
void session_pass_all(struct session *from, struct session *to);
/* Do other members have a record of a claim of it? */
bool session_has_kept(const struct session *s);
/* The leases (TTL) of its claims begin. */
void session_begin_ttls(struct session *s);
/* For lock.c, see locks_conf. */
bool session_lingers(struct claim *c);

#endif
