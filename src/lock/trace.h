/* trace.h - what the algorithms of the locks that were used last did at this member, for people that ask (dibs replay). Nothing
 * else depends on it.
 *
 * A trace has the events of one lock in one view: requests, releases, and messages that arrived, with their contents; for each event, its time,
 * whether the site entered, and which messages it sent. Algorithms are deterministic, so the run follows from these events:
 * the laboratory plays it again (lab/replay.h).
 *
 * Numbers. A member counts the letters with messages of algorithms (INSTANCE_STEP) that it sends to each other member in a view, and those that
 * it receives from it, over all locks. Letters arrive in order and exactly once (I15). So both members count alike, and the number of a letter
 * tells which send belongs to which arrival.
 *
 * Marks. A trace begins with a *mark*: the state of the member's sites, and the numbers of the letters that the member had sent and
 * received by then. So a trace need not begin with the view. Events are written into a piece of memory until it is full
 * (TRACE_PIECE). Then the next piece begins, with a mark, and the last but one is forgotten.
 *
 * Bounds. There is room for TRACE_LOCKS locks, TRACE_WAYS of which compete for the same place: about a megabyte in all. A lock takes
 * the place of one that was not used for TRACE_HOLD_MS; otherwise it is not traced. Therefore, if many
 * locks are in use, a lock that is not traced costs one table lookup for each event. */
#ifndef DIBS_LOCK_TRACE_H
#define DIBS_LOCK_TRACE_H

#include "base/bytes.h"
#include "core/dme.h"

#include <stdbool.h>

enum {
    TRACE_LOCKS = 32,
    TRACE_WAYS = 4,
    TRACE_PIECE = 1 << 14,       /* bytes; the last event may go beyond it */
    TRACE_MESSAGE_MAX = 1 << 12, /* a lock with a longer message is not traced */
    TRACE_SENDS_MAX = 256,       /* likewise with more messages in one step */
    TRACE_HOLD_MS = 2000,
    TRACE_MEMBERS_MAX = 64,
    TRACE_TEXT_MAX = 200000, /* bytes that trace_print writes */
};

enum trace_event {
    TRACE_REQUEST,
    TRACE_RELEASE,
    TRACE_LOCAL /* a message of a site of this member */,
    TRACE_GET,
    TRACE_MARK
};

struct trace_lock {
    uint64_t hash;  /* of the name; 0: the place is free */
    uint32_t view;  /* locks.number */
    uint32_t epoch; /* lock.epoch */
    uint64_t used_ms;
    bool given_up;         /* its trace does not fit into the bounds: it is not traced */
    struct bytes piece[2]; /* [0]: the older one, which may be empty; [1]: the one that is written to */
};

struct trace {
    uint64_t now_ms;                                          /* set by the node */
    uint64_t sent[TRACE_MEMBERS_MAX], got[TRACE_MEMBERS_MAX]; /* numbers: by member of the view */
    struct trace_lock *at;   /* the lock whose step is under way; or null: it is not traced */
    struct trace_lock *last; /* the place that was used last; or null */
    uint32_t sends;          /* of this step, so far */
    struct {
        uint8_t member;
        uint64_t number;
    } send[TRACE_SENDS_MAX];
    struct trace_lock lock[TRACE_LOCKS];
};

struct lock;
struct locks;

void trace_begin_view(struct trace *t);
void trace_free(struct trace *t);

/* An event of the lock follows. Is the lock traced, and is a mark needed first? Then the caller calls trace_mark with the state of the
 * member's sites, in a view of n members; without bytes if all of them are in their initial state. */
bool trace_wants_mark(struct trace *t, const struct lock *lock, uint32_t view);
void trace_mark(struct trace *t, uint32_t n, const uint8_t *state, size_t len);

/* A letter is sent to this member; an event begins; the event has happened at site `s` of this member. */
void trace_send(struct trace *t, uint32_t member);
static inline void trace_step(struct trace *t)
{
    t->sends = 0;
}
void trace_stepped(struct trace *t, uint32_t s, const struct dme_event *event, uint32_t from, uint32_t from_site,
                   bool entered, const uint8_t *message, size_t len);

/* Writes the trace of the lock as text (lab/replay.h). `lock` is null if this member does not know it. `view` is the number of the
 * view in the cluster. */
void trace_print(struct locks *l, const struct lock *lock, const char *name, size_t name_len, uint64_t view,
                 struct bytes *to);

#endif
