/* agree_servers.h - which list of servers is in force, according to the journal. Used by agree*.c alone.
 *
 * Raft's list of servers is an entry of its log (RAFT_CHANGE). It takes effect when it is appended, not when it is
 * committed. If a later leader overwrites that entry, the list before it is in force again. libraft 0.15 looks for the
 * earlier list in its log only. If a snapshot has been taken since, the list is no longer in the log, and libraft
 * crashes. When libraft is restarted or installs a snapshot, it also forgets which list is committed. The journal has
 * all of this: every list is an entry or belongs to the snapshot. */
#ifndef DIBS_MEMBER_AGREE_SERVERS_H
#define DIBS_MEMBER_AGREE_SERVERS_H

#include "journal.h"

/* The index of the newest list below `index`; 0: there is none. */
raft_index agree_servers_below(const struct journal *j, raft_index index);
/* Reads the list of this index. Returns false if the journal does not have it. Index 0 is the empty list before the
 * first. */
bool agree_servers_read(const struct journal *j, raft_index index, struct raft_configuration *servers);
/* Tells libraft which list is the newest, and whether it is known to be committed. */
void agree_servers_remind(struct raft *r, const struct journal *j);
/* To be called before the entries from `index` on are taken back: the newest list below `index` is in force. */
void agree_servers_take_back(struct raft *r, const struct journal *j, raft_index index);

#endif
