/* keep.h - kept sessions: what a client holds outlives the client's connection, and the daemon to which it is connected.
 *
 * A client asks for a *kept* session (SESSION KEEP ms) and is told a secret *id* of 128 bits. When its connection
 * breaks, the session stays without a client for its *keep time*. A client that shows the id to any member (SESSION
 * RESUME id) is attached to the session. The *owner* of a session is the member (its incarnation) at which the session
 * and its claims are. Every other member of the view has a *record* of each lock that a kept session holds. The README
 * of this folder tells the rules and why they are safe (I33).
 *
 * A lock that is owned by a token (token.h) is a session of a special kind: it has no client, no keep time (0), one lock
 * with a TTL, and a *value*, the token, which is part of its record. The record of any other lock has the value of its claim
 * (lock/value.h), if there is one.
 *
 * Letters (PART_KEEP in link/registry.h). GRANT, FREE, MOVE and SYNC form a *stream* from each owner to each other
 * member. They are numbered by the owner, the same number for all receivers, which acknowledge them together (ACK: up
 * to this number). They are not bound to a view: a member takes them from every incarnation that takes part in the view
 * that it has installed. REPORT, MARK and ASK belong to the view in which they were sent. */
#ifndef DIBS_NODE_KEEP_H
#define DIBS_NODE_KEEP_H

#include "base/ring.h"
#include "lock/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KEEP_MS_MIN = 1000,
    KEEP_MS_MAX = 3600000,
    KEEP_HELD_MAX = 1 << 12,    /* locks of one kept session */
    KEEP_CLAIMS_MAX = 1 << 17,  /* of all kept sessions of a member, before it refuses others */
    KEEP_OWN_MAX = 1 << 18,     /* own sessions of a member, before it refuses others */
    KEEP_MANY = 1 << 13,        /* own sessions: if there are more, those without a client that hold nothing end */
    KEEP_RECORDS_MAX = 1 << 23, /* records that other members may make this one keep */
    KEEP_PIECE = 1 << 10,       /* sessions and locks that one turn handles; the last session is finished, too */
};

struct keep_id {
    uint64_t high, low;
};

/* What a record said before reports of this view changed it (rule 4). */
struct keep_told {
    struct lock_value *value;
    uint32_t ttl_ms, mode;
};

/* A lock that a session of another member holds. */
struct keep_record {
    struct ring in_session;
    struct keep_record *next; /* with the same place in the session's table */
    uint64_t fence;
    uint64_t reported; /* hearsay: the view that reports name (owner_is_outdated); or 0 */
    /* The claim of the same lock that was withdrawn immediately before this one was granted: its session and its fence. Or 0:
     * there was none, or all members knew of the withdrawal. */
    struct keep_id after_id;
    uint64_t after;
    struct lock_value *value; /* the token, or the value of the claim; or null */
    struct keep_told *told;   /* what the record said, if reports have changed it since the last barrier; else null */
    uint32_t ttl_ms, slots, mode;
    bool hearsay; /* this member knows the record by reports only (rules 4 and 9) */
    uint8_t name_len;
    char name[];
};

struct keep_session {
    struct keep_session *next; /* with the same place in the table */
    struct ring in_all, in_own;
    struct ring in_adopted, in_vouched; /* own: see struct keep */
    struct keep_id id;
    uint64_t era;                 /* see struct keep */
    uint32_t keep_ms;             /* 0: a token owns its lock */
    struct lock_value *value;     /* own: the token; or null. Others: see their records */
    uint64_t owner, owner_tenure; /* the id of the owner, and its tenure: see keep_tenure */
    uint64_t moves_to;            /* the id of the member that shall be the owner in the next view; or 0 */
    uint64_t wanted_by;           /* own: the id of a member that has asked for the session, and has to wait; or 0 */
    uint64_t home;                /* own, adopted, and no client has resumed it since: the id of its lost owner; or 0 */
    uint64_t chosen;              /* the view in which its owner was chosen; 0: the owner began it */
    uint64_t changed;   /* own: the number of the last letter by which the mode of one of its locks changed; or 0 */
    uint64_t unsure_in; /* the view in which its owner was chosen, or reported; or 0. See keep_is_unsure */
    struct {
        uint64_t owner, tenure, chosen, unsure_in;
    } before; /* what this member knew of the owner, if a report of this view has named another one; else zeroes */
    bool ownerless; /* its owner, as this member knows or a report says, does not take part in this view */
    bool handed;    /* of a previous process (handover.h): due_ms is set, and until vouched_ms its client may believe */
    uint64_t vouched_ms;
    bool leaves;                /* own: it was to move and had claims when this member sent MARK */
    uint32_t claims;            /* own: number of claims of which others have records */
    struct session *session;    /* own: the session with its claims, with or without a client; else null */
    struct session *former;     /* own: the connection that was cut off, if it is still there; else null */
    uint64_t due_ms;            /* own, without a client: when its time is over */
    struct ring records;        /* of a session of another member */
    struct keep_record **table; /* the records by a hash; or null: there are few of them */
    uint32_t room, count;       /* places in that table; number of records */
};

/* What a member does about kept sessions when a view begins, in this order. The walks are made in pieces. */
enum keep_phase {
    KEEP_PASSED, /* nothing more: it has passed the barrier */
    KEEP_TELLS,  /* it tells others of all sessions that concern them; then it sends MARK. Letters wait meanwhile */
    KEEP_AWAITS, /* it waits for the MARKs of the others */
    KEEP_CHOOSES /* it has all reports, and chooses owners */
};

struct keep {
    struct keep_session **table; /* by a hash of their ids: see keep_grow */
    size_t table_room, room, half, count;
    uint64_t secret;  /* see struct locks_conf: the ids of tokens are hashes that clients know */
    struct ring all;  /* sessions that are in the table */
    struct ring walk; /* a marker in `all`: the sessions before it have been visited; in no ring: no walk */
    struct ring own;  /* sessions whose owner this member is */
    uint32_t own_count;
    struct ring adopted; /* own sessions that began in this view, and whose time does not run yet */
    struct ring vouched; /* own sessions whose clients may believe, in the order in which they were told a validity */
    uint64_t era;        /* how often this member has forgotten all sessions. One of an earlier era is no longer kept */
    struct ring forgotten; /* own sessions of earlier eras, until their claims and their connections are seen to */
    /* The entries of `adopted`, `vouched`, `pending` and `ready` when all was forgotten: not visited again. */
    struct ring parked;
    struct ring doomed;         /* sessions that are no longer in the table, and are freed in pieces */
    struct ring resuming, news; /* connections that wait for a session; connections that have to be told something */
    struct ring pending;        /* claims that are granted, and of which not all members have a record yet */
    struct ring ready;     /* claims that are granted, of which all have a record, and whose client was not told yet */
    struct ring withdrawn; /* claims that are released, until all members have acknowledged the withdrawal */
    struct ring renewed;   /* claims whose TTL has changed since a letter that not all have acknowledged */
    uint64_t made, acked;  /* numbers of the own stream: of the last letter, and of the last that all others have */
    uint64_t passed;       /* the last view whose barrier this member has passed; or 0 */
    uint64_t opened;       /* the last view that has opened here; or 0 */
    uint64_t looked_ms;    /* when the connections in `resuming` were looked at last */
    struct ring tried; /* a marker in `resuming`: the connections before it have been looked at; in no ring: all have */
    uint32_t looking;  /* the first `looking` sessions of `own` are still to be looked at */
    uint64_t lapsed_ms;  /* when the lease ended, if it is not back; or 0 */
    uint64_t due_ms;     /* when the first own session's time can be over */
    size_t claims;       /* of the own sessions: those of which others have records */
    size_t records;      /* of other members' sessions */
    uint32_t moving;     /* own sessions with a move */
    uint32_t discarding; /* connections whose session was forgotten, and which still have claims of it */
    enum keep_phase phase;
    bool stirred; /* something has happened for which connections in `resuming` may wait */
    bool owes;    /* some member may have sent letters that are not acknowledged */
    bool over;
};

/* True if this member knows of no kept session, and nothing is left to do about earlier ones. */
static inline bool keep_is_idle(const struct keep *k)
{
    return k->count == 0 && k->phase == KEEP_PASSED && k->looking == 0 && !k->stirred && k->due_ms == UINT64_MAX &&
           ring_empty(&k->forgotten) && ring_empty(&k->doomed) && ring_empty(&k->withdrawn) && ring_empty(&k->resuming);
}

static inline bool keep_has_work(const struct keep *k)
{
    return k->owes || !keep_is_idle(k);
}

/* What a connection is told about its session.
 * KEEP_PART: the session has been taken from this connection, and its client shall end the connection. That proves that
 * the client believes in no lock of the session. KEEP_CUT: the member ends the connection. */
enum keep_news { KEEP_NOTHING, KEEP_RESUMED, KEEP_UNKNOWN, KEEP_NO_QUORUM, KEEP_PART, KEEP_CUT };

struct claim;
struct member;
struct node;
struct node_event;
struct session;

/* ---- For src/command. */
/* Each returns null, or an error code for programs, with a line in `why` for people. */
const char *keep_begin(struct session *s, struct keep_id id, uint32_t keep_ms, const char **why);
/* A secret for a new id. */
struct keep_id keep_secret(const struct node *node);
/* Resumes the session `id`; or, if no member knows of `id` and `other` is not 0, the session `other`. */
const char *keep_resume(struct session *s, struct keep_id id, struct keep_id other, const char **why);
/* The session ends, and what it holds is released. */
void keep_end(struct session *s);

/* Does this member have the session, or a record of it? */
bool keep_knows(const struct node *node, struct keep_id id);

/* ---- For session.c and token.c. */
static inline bool keep_is_token(const struct keep_session *e)
{
    return e && e->keep_ms == 0;
}

/* The session, which has no client, belongs to a token from now on. */
void keep_begin_token(struct session *s, struct keep_id id, const char *value, size_t len);
/* The last claim of a token's session has gone: the session ends. */
void keep_end_token(struct keep_session *e);
/* The connection of a kept session has gone. */
void keep_lose_client(struct session *s);
/* A connection, which may have been cut off, ends. `proved`: its client certainly believes in no lock any more. */
void keep_part(struct session *s, bool proved);
/* The TTL of the claim has changed. Tells the other members, if they have a record of the claim. */
void keep_renew_claim(struct claim *c);
/* Withdraws the record of the claim, if other members have one. */
void keep_free_claim(struct claim *c);
/* The claim has left its session. Returns true if it stays in its lock until all members have forgotten its record. */
bool keep_withdraws(struct claim *c);
/* keep_convert.c: the claim has become exclusive, with a new fence. Sends a record of it in place of the one that other members have. */
void keep_upgrade_claim(struct claim *c, struct claim *upgrade);
/* The claim, which is exclusive, is to be shared. Returns false if it is shared now, and true if other members have to
 * know it before. */
bool keep_share_claim(struct claim *c);
/* `request`, a client's request to downgrade, waits until all members know of that. */
void keep_await_share(struct claim *request);
/* All members know that the claim is to be shared: makes it shared. */
void keep_finish_share(struct claim *c);
/* The mode of the claim in the records of other members, when all letters have arrived. */
uint32_t keep_mode(const struct claim *c);
/* May the waiting claim be granted its lock after this one, whose withdrawal is not acknowledged yet (rule 2)? */
bool keep_follows(struct claim *c, const struct claim *withdrawn);
/* Does the session, or this member's kept sessions together, hold as many locks as they may? */
bool keep_is_full(const struct session *s);

/* ---- For node.c and its parts. */
void keep_init(struct node *node);
void keep_free(struct node *node);
/* This member was excluded and begins a new incarnation (rule 7): forgets all kept sessions and records, and cuts off the
 * connections of kept sessions. The sessions are forgotten at once (session_is_forgotten); the connections, the claims and
 * the records are seen to in pieces, in this order. In a later view this member sends no MARK before these claims are gone
 * (KEEP_TELLS). */
void keep_forget_all(struct node *node);
/* Does this member still have claims or connections of forgotten sessions? */
bool keep_is_forgetting(const struct node *node);
void keep_begin_view(struct node *node);
void keep_open(struct node *node);
/* The lease has run out, or is back. */
void keep_mind_lease(struct node *node, bool grants);
/* The member shuts down: clients of kept sessions shall go to other members. They are told in pieces. keep_has_parted: have
 * all been told? */
void keep_leave(struct node *node);
bool keep_has_parted(const struct node *node);
/* Is the validity of some client of a kept session not over yet? */
bool keep_is_believed(const struct node *node);
/* The client of this kept session was told that it holds its locks for some time to come. */
void keep_vouch(struct session *s);
/* Is there a session that is to move in the next view? */
bool keep_wants_view(const struct node *node);
/* A claim has an outcome (lock.h). Returns true if its client is not told yet. */
bool keep_holds_back(struct claim *c);
/* A claim whose client can be told now that it is granted; or null. */
struct claim *keep_take_ready(struct node *node);
bool keep_next(struct node *node, struct node_event *event);
/* After letters have come, and when time has passed: does the next piece of work. keep_is_busy: is there one? */
void keep_go_on(struct node *node);
bool keep_is_busy(const struct node *node);
/* When there is something to do because time has passed; UINT64_MAX: never. */
uint64_t keep_due_ms(const struct node *node);
/* A letter of the member at place k, of PART_KEEP (link/registry.h). Returns false if it must wait. *wrong becomes what
 * is wrong with it, or null. */
bool keep_hear(struct node *node, uint32_t k, const uint8_t *bytes, size_t len, const char **wrong);

#endif
