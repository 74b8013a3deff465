/* agree.h - agreement on the views: a log replicated by Raft (libraft), of which every entry is a view.
 *
 * libraft is the algorithm; its clock, its disk, its messages and its dice are ours, so it runs in the daemon as in the
 * simulation, from a seed. An entry holds the whole view and is applied only if it follows the one before it (number +
 * 1): a proposal made from an outdated view has no effect. Raft's own list of servers follows the roster of the view: who
 * leads adds, promotes and removes servers until both are the same.
 *
 * No I/O in here: time comes in by agree_advance, messages by agree_receive, and go out by a callback.
 *
 * The disk may take its time, and the caller goes on meanwhile. What must be durable is not seen outside before it is: a
 * message is sent, an incarnation may be used (agree_life_is_durable), and a leader shows a view (agree_view) only when the
 * disk has all records that were made before. A crash in between leaves a member that has said and done nothing of what its
 * journal lacks. */
#ifndef DIBS_MEMBER_AGREE_H
#define DIBS_MEMBER_AGREE_H

#include "core/text.h"
#include "journal.h"
#include "view.h"

struct agree_conf {
    const struct disk *disk;
    uint64_t election_ms; /* without a leader for so long, to twice as long: somebody else tries */
    void *user;           /* of the callbacks */
    uint64_t (*random)(void *user);
    void (*send)(void *user, uint64_t to, const uint8_t *bytes, size_t len); /* to a member, by its id; may be lost */
};

struct agree;

/* Nothing happens before it begins. Null, and a line in why: the journal cannot be used. */
struct agree *agree_new(const struct agree_conf *conf, const uint8_t *journal, size_t len, struct dme_text *why);
void agree_free(struct agree *a);

/* The journal knows who this is: its id, the cluster, the data directory. Else it has to be told first. */
bool agree_knows_itself(const struct agree *a);
const struct journal *agree_journal(const struct agree *a);
/* A new life of this member begins: its number, larger than that of any former one, and at least this. */
uint64_t agree_begin_life(struct agree *a, uint64_t least);
/* Before that, no other member may hear of the number. */
bool agree_life_is_durable(const struct agree *a);
/* Founds a cluster of this roster (number 0), in which this member has this id; all founders must do the same. */
bool agree_found(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why);
/* A new member of a cluster that others have founded. It will hear from their leader. */
bool agree_join(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why);
bool agree_begin(struct agree *a, uint64_t now_ms, struct dme_text *why);

void agree_advance(struct agree *a, uint64_t now_ms);
uint64_t agree_due_ms(const struct agree *a);
/* The disk has finished its oldest write, or has failed (journal_written). */
void agree_written(struct agree *a, bool good);
void agree_receive(struct agree *a, uint64_t from, const uint8_t *bytes, size_t len);
bool agree_is_broken(const struct agree *a); /* the disk has failed: this process must stop */
const char *agree_why_broken(const struct agree *a);

const struct view *agree_view(const struct agree *a); /* the newest that is agreed, and durable */
uint64_t agree_leader(const struct agree *a);         /* its id, or 0: nobody is known to lead */
bool agree_leads(const struct agree *a);
/* Who leads proposes the next view. False: it cannot just now. */
bool agree_propose(struct agree *a, const struct view *view);
/* One is under way, or is agreed and not shown yet. */
bool agree_is_proposing(const struct agree *a);
/* Who leads, and shall not, lets somebody else lead. False: there is nobody. */
bool agree_hand_over(struct agree *a);
/* A member that has been added knows the log by now, and may be counted. */
bool agree_has_caught_up(const struct agree *a, uint64_t id);
/* A member that shall be removed is no longer needed for any majority. */
bool agree_has_forgotten(const struct agree *a, uint64_t id);

#endif
