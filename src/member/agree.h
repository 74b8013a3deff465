/* agree.h - agreement on the views: a log replicated by Raft (libraft), in which every entry of ours is a view.
 *
 * libraft implements Raft. dibs provides its clock, disk, network and random numbers, so libraft runs in the daemon and
 * in the simulation alike, where a seed determines the run. An entry of the log holds a whole view. It is applied only
 * if its number is one more than that of the view before it, so a proposal made from an outdated view has no effect.
 * Raft's own list of servers follows the roster of the view: the leader adds, promotes and removes servers until both
 * are the same.
 *
 * This code does no I/O. The caller tells the time by agree_advance and delivers messages by agree_receive. Messages
 * leave through a callback.
 *
 * A disk write takes time, and the caller goes on meanwhile. Nothing that depends on a record becomes visible outside
 * before the record is durable (I26). A message is sent, an incarnation may be used (agree_incarnation_is_durable) and a
 * leader shows a view (agree_view) only when the disk has all records that were made before. So a member that crashes
 * in between has said and done nothing that its journal lacks. */
#ifndef DIBS_MEMBER_AGREE_H
#define DIBS_MEMBER_AGREE_H

#include "core/text.h"
#include "journal.h"
#include "view.h"

struct agree_conf {
    const struct disk *disk;
    /* As a member of an earlier build: followers learn what is agreed from the next heartbeat of Raft, not at once. */
    bool patient;
    uint64_t election_ms; /* a follower that hears no leader for 1 to 2 times this becomes a candidate */
    void *user;           /* the first argument of the callbacks */
    uint64_t (*random)(void *user);
    void (*send)(void *user, uint64_t to, const uint8_t *bytes, size_t len); /* to a member, by its id; may be lost */
};

struct agree;

/* Makes an agreement from the content of the journal. It does nothing before agree_begin. Returns null, with a line in
 * `why`, if the journal cannot be used. */
struct agree *agree_new(const struct agree_conf *conf, const uint8_t *journal, size_t len, struct dme_text *why);
void agree_free(struct agree *a);
/* Does the journal have this member's identity: its id, the cluster, the data directory? If not, the caller must call agree_found
 * or agree_join before agree_begin. */
bool agree_knows_itself(const struct agree *a);
const struct journal *agree_journal(const struct agree *a);
/* Begins a new incarnation of this member. Returns its number, which is larger than every earlier one and at least
 * `least`. `lease_ms` is the longest lease for which this member may have given promises that are not over. */
uint64_t agree_begin_incarnation(struct agree *a, uint64_t least, uint64_t lease_ms);
/* No promise for a longer lease than this binds the member any more. */
void agree_shorten_lease(struct agree *a, uint64_t lease_ms);
/* From now on this member gives promises for this lease, which is longer. No other member may learn of such a promise before
 * the disk has that: until then agree_incarnation_is_durable is false. */
void agree_lengthen_lease(struct agree *a, uint64_t lease_ms);
/* The lease has another length: see election_ms in struct agree_conf. */
void agree_set_election(struct agree *a, uint64_t election_ms);
/* Are the number of the incarnation, the identity of the data directory and the lease for which this member gives promises
 * durable? Before that, no other member may learn them: a member that crashes in between begins with others. */
bool agree_incarnation_is_durable(const struct agree *a);
/* Founds a cluster with this roster (a view with number 0), in which this member has the id `id`. All founders must
 * found the same cluster. */
bool agree_found(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why);
/* Makes this process the member `id` of a cluster that others have founded. The leader will send it the log. */
bool agree_join(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why);
bool agree_begin(struct agree *a, uint64_t now_ms, struct dme_text *why);

void agree_advance(struct agree *a, uint64_t now_ms);
uint64_t agree_due_ms(const struct agree *a);
/* The disk has finished its oldest write, or has failed (journal_written). */
void agree_written(struct agree *a, bool good);
void agree_receive(struct agree *a, uint64_t from, const uint8_t *bytes, size_t len);
bool agree_is_broken(const struct agree *a); /* the disk has failed: this process must end */
const char *agree_why_broken(const struct agree *a);

const struct view *agree_view(const struct agree *a); /* the newest view that is agreed and durable */
uint64_t agree_leader(const struct agree *a);         /* the leader's id, or 0: no leader is known */
bool agree_leads(const struct agree *a);
/* Proposes the next view. Only the leader may call this. Returns false if it cannot propose at the moment. */
bool agree_propose(struct agree *a, const struct view *view);
/* Is a proposal in progress, or agreed and not shown yet? */
bool agree_is_proposing(const struct agree *a);
/* The leader hands leadership over to another member. Returns false if there is no suitable member. */
bool agree_hand_over(struct agree *a);
/* Does the leader know that the added member `id` has caught up with the log, so that it may be counted? */
bool agree_has_caught_up(const struct agree *a, uint64_t id);
/* Is the member `id`, which is to be removed, no longer needed for any majority of Raft? */
bool agree_has_forgotten(const struct agree *a, uint64_t id);

#endif
