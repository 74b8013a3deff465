/* agree_guard.h - checks a peer's messages before libraft receives them.
 *
 * libraft 0.15 trusts its peers. It guards only by assertions against messages that no correct Raft server sends,
 * and the library is distributed without assertions. For instance, an AppendEntries to a leader in the leader's own term overwrites the
 * leader's state. Some correct messages, if they are late or duplicated, also make libraft fail. Therefore every
 * message is compared with the role, the term and the log of this member before libraft receives it. A wrong message is
 * dropped, as if the network had lost it. */
#ifndef DIBS_MEMBER_AGREE_GUARD_H
#define DIBS_MEMBER_AGREE_GUARD_H

#include "journal.h"

struct agree_guard {
    raft_term term; /* the newest term in which another member was heard to lead */
    raft_id leader; /* that member */
};

/* Returns true if libraft may receive `m`, from which entries may have been removed. Returns false if `m` must be
 * dropped. */
bool agree_guard(struct agree_guard *g, struct raft *r, const struct journal *j, struct raft_message *m);

#endif
