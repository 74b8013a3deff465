/* agree_servers.h - which list of servers holds, as the journal has it. Used by agree.c and what stands around it.
 *
 * Raft's list of servers is an entry of its log (RAFT_CHANGE), and takes effect when it is appended, not when it is agreed
 * upon. A later leader may do without that entry; then the list before it holds again. libraft 0.15 looks for that list
 * in its log only. There it is not any more when a snapshot has been taken since, and libraft crashes. And it forgets, when
 * it is started anew or installs a snapshot, which list is agreed upon. The journal knows all of it: a list is an entry, or
 * is the one of the snapshot. */
#ifndef DIBS_MEMBER_AGREE_SERVERS_H
#define DIBS_MEMBER_AGREE_SERVERS_H

#include "journal.h"

/* The index of the newest list that lies below this index; 0: there is none. */
raft_index agree_servers_below(const struct journal *j, raft_index index);
/* The list of this index. False: the journal does not have it (0 is the empty list, before the first). */
bool agree_servers_read(const struct journal *j, raft_index index, struct raft_configuration *servers);
/* libraft is reminded which list is the newest, and whether it is known to be agreed upon. */
void agree_servers_remind(struct raft *r, const struct journal *j);
/* All entries from this index on are about to be taken back: the list that is the newest without them holds. */
void agree_servers_take_back(struct raft *r, const struct journal *j, raft_index index);

#endif
