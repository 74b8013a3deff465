/* keep_inside.h - what the files about kept sessions share: keep.c (sessions and their clients), keep_views.c (owners, and how
 * they change), keep_records.c (what this member knows), keep_convert.c (locks that change their mode) and keep_letters.c (what members tell each
 * other). */
#ifndef DIBS_NODE_KEEP_INSIDE_H
#define DIBS_NODE_KEEP_INSIDE_H

#include "base/pack.h"
#include "keep.h"
#include "link/registry.h"
#include "member/owner.h"
#include "session.h"

/* ---- keep_records.c: sessions by their ids, and the members that own them */
/* The session with this id, or null. */
struct keep_session *keep_find(const struct keep *k, struct keep_id id);
struct keep_session *keep_add(struct keep *k, struct keep_id id, uint32_t keep_ms);
/* *value becomes a copy of this text; null if len is 0. */
void keep_set_value(struct lock_value **value, const char *text, size_t len);
void keep_forget_record(struct keep *k, struct keep_session *e, struct keep_record *r);
/* What reports have said of the record counts from now on; the record says again what it said before these reports. */
void keep_trust_record(struct keep_record *x);
void keep_recall_record(struct keep_record *x);
void keep_remove(struct keep *k, struct keep_session *e);
/* All sessions leave the table, and are in `doomed`. */
void keep_doom_all(struct keep *k);
/* Frees a session that is in no table and has no records. */
void keep_free_session(struct keep_session *e);
/* The record of this lock and fence, or null. */
struct keep_record *keep_find_record(const struct keep_session *e, const char *name, size_t len, uint64_t fence);
/* Adds a copy of the record, with this value. If the session has the record already, its TTL and its value become those of
 * the copy. If the copy was reported by another member, the record gets the longer TTL and the greater value of both, and is
 * exclusive if one of both is: all members have the same reports, and so choose the same. But if the owner takes part and
 * this member has the record from it, the report is older and changes nothing (owner_amends). */
void keep_add_record(struct keep *k, struct keep_session *e, const struct keep_record *x, const char *value, size_t len,
                     bool reported);
/* The value in the record of this claim of the session; or null. */
static inline const struct lock_value *keep_claim_value(const struct keep_session *e, const struct claim *c)
{
    return keep_is_token(e) ? e->value : c->value;
}

/* The token that owns the lock of the session, as far as this member knows; or null. */
static inline const struct lock_value *keep_value(const struct keep_session *e)
{
    if (e->session)
        return e->value;
    return ring_empty(&e->records) ? NULL : RING_OF(e->records.next, struct keep_record, in_session)->value;
}

/* This member's id in the view. */
uint64_t keep_self(const struct node *node);
/* The other member at place k, if it takes part as this one does; or null. */
struct member *keep_peer(const struct node *node, uint32_t k);
uint64_t keep_tenure(const struct view_member *m);
bool keep_takes_part(const struct node *node, uint64_t id, uint64_t tenure);
void keep_set_owner(const struct node *node, struct keep_session *e, uint64_t id);
bool keep_is_own(const struct node *node, const struct keep_session *e);
/* This member becomes the owner, and `s` has the claims; this member is no longer the owner. */
void keep_own(struct node *node, struct keep_session *e, struct session *s);
void keep_disown(struct keep *k, struct keep_session *e);

/* The owner was chosen in a view that has not opened here: some members may not know that. */
static inline bool keep_is_unsure(const struct node *node, const struct keep_session *e)
{
    return owner_is_unsure(e->unsure_in, node->keep.opened);
}

static inline uint32_t keep_piece(const struct node *node)
{
    return node->conf.piece ? node->conf.piece : KEEP_PIECE;
}

/* Something has happened to a session that clients of this member may be waiting to resume. While no client resumes one, nothing is
 * noted: sessions end, and locks are released, all the time, and each time all sessions would be looked at. */
static inline void keep_stir(struct node *node)
{
    node->keep.stirred |= !ring_empty(&node->keep.resuming);
}

/* ---- keep_letters.c */
/* The lock of a GRANT or a KEEP_REPORT, in a buffer. keep_unpack_lock returns false if the bytes are not valid. */
union keep_buffer {
    struct keep_record record;
    char bytes[sizeof(struct keep_record) + LOCK_NAME_MAX];
};
bool keep_unpack_lock(struct unpack *u, union keep_buffer *b);
/* Sends a record of the claim to all members of the view; or sends it again, with what has changed. */
void keep_record_claim(struct claim *c);
/* Withdraws the record of this lock and fence. Returns the number of that letter. */
uint64_t keep_say_free(struct node *node, const struct keep_session *e, const struct claim *c, uint64_t fence);
/* Do other members have a record of the claim? */
bool keep_is_recorded(const struct claim *c);
void keep_say_number(struct member *m, enum message_type type, uint64_t number);
void keep_say_id(struct member *m, enum message_type type, uint64_t number, struct keep_id id, uint64_t to);
/* Tells all members where the session is to move; number 0: in this view, and not in the next. */
void keep_say_move(const struct node *node, const struct keep_session *e, uint64_t number);
void keep_say_ask(struct member *m, struct keep_id id);
void keep_say_mark(struct member *m, uint64_t view, uint64_t opened);
/* Sends everything that an own session holds to the members that have just begun to take part. Returns how many letters. */
uint32_t keep_greet(struct node *node, const struct keep_session *e);
/* Sends everything that this member knows of the session to all others. Returns how many letters. */
uint32_t keep_report(struct node *node, const struct keep_session *e);

/* ---- keep.c */
/* Computes what all others have acknowledged; clients are told of grants that all know of. */
void keep_count_acks(struct node *node);
/* The keep time of an own session without a client begins. */
void keep_begin_time(struct node *node, struct keep_session *e);
/* Ends the connection that was cut off, if it is still there. */
void keep_drop_former(struct keep_session *e);
/* Notes what the connection is to be told about its session. */
void keep_tell(struct session *s, enum keep_news news);

/* ---- keep_views.c */
/* May this member, the owner, do anything with the session? The view in which it became the owner has opened. If its time does
 * not run yet, it begins now. */
bool keep_may_act(struct node *node, struct keep_session *e);
/* If the session, which has a client, was forgotten and not seen to yet, this does it now. */
void keep_forget_now(struct session *s);
/* If the MARKs of all members have come in this view, begins to choose the owners of sessions that need one. */
void keep_try_barrier(struct node *node);
/* Does the next piece of the work that a view has begun, and of freeing. keep_views_busy: is there one? */
void keep_views_go_on(struct node *node);
bool keep_views_busy(const struct node *node);

#endif
