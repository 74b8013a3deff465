/* agree_guard.h - what stands between a peer's messages and libraft.
 *
 * libraft 0.15 trusts its peers: it checks with assertions, which the library as it is distributed does not have, what a
 * server that keeps to Raft never says. An AppendEntries to a leader, in its own term, is written over the leader's state.
 * And some messages that are right, but late or doubled, lead it astray. So everything is looked at before libraft gets it,
 * beside the role, the term and the log of this member. What is wrong is dropped, as if it had been lost. */
#ifndef DIBS_MEMBER_AGREE_GUARD_H
#define DIBS_MEMBER_AGREE_GUARD_H

#include "journal.h"

struct agree_guard {
    raft_term term; /* the newest in which somebody else has been heard to lead, */
    raft_id leader; /* and who that is */
};

/* True: libraft may have it, perhaps with less in it. False: drop it. */
bool agree_guard(struct agree_guard *g, struct raft *r, const struct journal *j, struct raft_message *m);

#endif
