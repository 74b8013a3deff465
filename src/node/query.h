/* query.h - a client's queries about locks, which this member passes on to all members: which clients hold a lock,
 * which wait for it, which locks are there, what its algorithm did lately (lock/trace.h); and the order to evict all holders of
 * a lock.
 *
 * An eviction takes two queries. The first asks which clients hold the lock. The second goes to each member that has
 * holders: evict those with fences up to the largest that you have named. With one query, a member that evicts later
 * could evict a client that was granted the lock only because another member had evicted the holders already.
 *
 * A query goes to every member that is connected. It is finished when all of them have answered, or after
 * QUERY_MS. The answer names the members that have not answered by then (I22). A session has one query at a time,
 * since its client reads one answer after the other.
 *
 * A query can outlast a view: it names members by their ids, never by their places in a roster. A member that is
 * removed from the roster meanwhile counts as one that has not answered.
 *
 * A member has at most QUERY_WINDOW unanswered queries at each other member; further ones wait here in a line. What a query costs is
 * paid by the member that answers it, between the messages of locks. Without the window, clients of one member could keep another
 * member busy, and the locks of its clients waiting, for as long as they like. A query whose deadline comes while it is in the line has cost nothing.
 *
 * Answers are rows of bytes. They are checked when they arrive, and read when the client is told. */
#ifndef DIBS_NODE_QUERY_H
#define DIBS_NODE_QUERY_H

#include "base/bytes.h"
#include "link/link.h"
#include "lock/lock.h"

enum {
    QUERY_MS = 1000,
    QUERY_WINDOW = 4,           /* unanswered queries at one member */
    QUERY_ROWS_MAX = 1000,      /* rows in one member's answer; if there are more, the answer says so */
    QUERY_BYTES_MAX = 1 << 17,  /* bytes of these rows; the last row may exceed the bound */
    QUERY_PAGE = 200,           /* locks in one answer */
    QUERY_TRACES_MAX = 1 << 19, /* bytes of traces in all answers to ASK_REPLAY; further ones are left out */
    QUERY_COST_MAX = 1 << 16,   /* steps to find the locks of one answer: a fraction of a millisecond */
};

/* The state of a holder, as people see it. ROW_ORPHANED: its session is kept, and has no client (keep.h). ROW_TOKEN: a token
 * owns the lock (token.h). */
enum row_state { ROW_HELD, ROW_LINGERS, ROW_ORPHANED, ROW_TOKEN, ROW_STATES };

enum query_about { ASK_HOLDERS, ASK_WAITERS, ASK_EVICT, ASK_LOCKS, ASK_REPLAY, ASK_USED, ASK_ABOUTS };
/* Is the answer a page of the locks of one member? ASK_USED: of locks that a client of the member holds or waits for, with ages. */
static inline bool query_lists_locks(enum query_about about)
{
    return about == ASK_LOCKS || about == ASK_USED;
}

struct node;
struct node_event;
struct query_line;
struct session;
struct unpack;

struct answer {
    uint64_t member; /* its id */
    char name[LINK_NAME_MAX + 1];
    enum { ANSWER_NONE, ANSWER_QUEUED, ANSWER_AWAITED, ANSWER_HEARD } state;
    struct ring in_line; /* ANSWER_QUEUED */
    struct query *query;
    uint64_t cursor; /* sent with the question */
    /* The number of rows left out. Locks: where the next page begins, or 0. ASK_REPLAY: not 0 if traces were left out. */
    uint64_t more;
    struct bytes rows;
};

struct query {
    struct ring in_node;
    struct session *session;
    enum query_about about;
    bool evicts; /* ASK_HOLDERS: when it is answered, it becomes ASK_EVICT */
    uint64_t id, due_ms;
    size_t text_len; /* of a name or a pattern */
    char text[LOCK_NAME_MAX + 1];
    uint32_t count; /* number of members that are asked */
    struct answer answer[];
};

/* The rows of an answer, one after the other. */
struct claim_row {
    uint64_t client, fence;
    uint64_t age_ms; /* for how long the client has held the lock, or waited for it */
    /* Holders: when the lock is lost if its TTL is not begun anew, and its session is not resumed; 0: there is no limit. */
    uint64_t left_ms;
    uint8_t mode;
    uint8_t priority;       /* waiting */
    uint8_t state;          /* enum row_state */
    const char *who, *from; /* what the client calls itself, and where it comes from (session.h) */
    size_t who_len, from_len;
    const char *value; /* of a holder (lock/value.h) */
    size_t value_len;
};
struct lock_row {
    const char *name;
    size_t name_len;
    uint32_t slots, holders, waiters;
    uint64_t wait_ms, hold_ms; /* ASK_USED: for how long a client of the member has waited, or held the lock, at most */
};
/* Reads the next row. Returns false if it is not valid. */
bool query_claim_row(struct unpack *u, struct claim_row *row);
bool query_lock_row(struct unpack *u, enum query_about about, struct lock_row *row);

struct queries {
    struct ring open, finished; /* oldest first */
    uint64_t last_id;
    uint64_t roster_version; /* the version of the roster with which the open queries were last compared */
};

void queries_init(struct queries *q);
void query_line_init(struct query_line *line); /* see member/member.h */
void query_line_end(struct query_line *line);  /* the member is no longer in the roster */
/* Asks all members; for locks only the member at place `member` of the roster, from `cursor` on. The answer comes
 * as an event (node_next). The client frees it by query_end. */
void query_ask(struct session *s, enum query_about about, const char *text, size_t len, uint32_t member,
               uint64_t cursor);
void query_end(struct session *s); /* if there is one */

/* For admin.c. */
const char *query_hear_ask(struct node *node, uint32_t from, struct unpack *u);
const char *query_hear_answer(struct node *node, uint32_t from, struct unpack *u);
void queries_advance(struct node *node);
uint64_t queries_due_ms(const struct node *node);
bool queries_next(struct node *node, struct node_event *event);

#endif
