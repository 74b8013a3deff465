/* journal.h - the state that a member must not forget: an append-only file of records (I26).
 *
 * The journal holds the member's identity, its incarnation, the longest lease for which it may have promised, and the newest
 * view that it knows to be agreed. It also holds the state that Raft requires to be durable: the term, the vote, the log of
 * entries, and a snapshot that replaces the entries before it.
 *
 * A write takes time. A journal_... function changes the state in memory and hands a record to the disk, which may
 * finish it later. `made` counts the records, `durable` those that the disk is known to have. The caller must not make
 * anything visible outside that depends on a record that is not durable (agree.h).
 *
 * A record is its length, a checksum, its type and its body. A crash may leave the last record incomplete: its end, or some of the
 * sectors in which it is, may be missing. No write of it was confirmed, so it is cut off. Any other record that cannot be read is damage, and the journal is refused: a
 * member that has forgotten its vote must not vote.
 *
 * The journal is rewritten, atomically, when a snapshot is taken or when ADDED_MAX bytes have been added. So it stays
 * small even if a member is cut off, becomes a candidate again and again, and records each of its votes. */
#ifndef DIBS_MEMBER_JOURNAL_H
#define DIBS_MEMBER_JOURNAL_H

#include "base/bytes.h"

#include <raft.h>
#include <stdbool.h>

/* The result of a write. */
enum disk_status {
    DISK_FAILED,  /* it failed, and nothing more may be written */
    DISK_WRITTEN, /* it is durable, and so are all writes before it */
    DISK_WRITING  /* it follows all writes before it; the driver will call journal_written when it is done */
};

/* The file. The disk copies the bytes if it needs them for longer than the call. After a crash it has the first of the writes, each as a
 * whole, and perhaps a part of the next one, if that is added. */
struct disk {
    void *user;
    enum disk_status (*append)(void *user, const uint8_t *bytes, size_t len);
    enum disk_status (*replace)(void *user, const uint8_t *bytes, size_t len); /* all or nothing */
};

struct journal_entry {
    raft_term term;
    unsigned short type;
    struct bytes data;
};

struct journal {
    const struct disk *disk;
    bool broken;            /* the disk has failed */
    uint64_t made, durable; /* number of records: handed to the disk; known to be durable */
    size_t added;           /* bytes added since the journal was rewritten or opened */
    /* The member's identity. */
    uint64_t disk_id;     /* 0: the journal is new */
    uint64_t member;      /* its id; 0: it has not joined yet */
    uint64_t incarnation; /* the number of its last incarnation */
    uint64_t lease_ms;    /* the longest lease for which it may have given promises that are not over; 0: not known */
    struct bytes view;    /* the newest view known to be agreed; at first the roster of the founders, view 0 */
    /* The state of Raft. */
    raft_term term;
    raft_id vote;
    struct journal_entry *entry; /* with indices start .. start + count - 1 */
    raft_index start;
    size_t count, room;
    struct journal_snapshot {
        raft_index index; /* 0: there is none */
        raft_term term;
        raft_index conf_index;
        struct bytes conf; /* the servers at that time (agree_wire.h) */
        struct bytes data;
    } snapshot;
};

/* Reads the content of the file. Returns null, or what is wrong with it. */
const char *journal_open(struct journal *j, const struct disk *disk, const uint8_t *bytes, size_t len);
void journal_close(struct journal *j);
/* The disk has finished its oldest pending write; or, if not `good`, it has failed. */
void journal_written(struct journal *j, bool good);

/* Sets the member's identity and the roster. It is written by one of the next two functions: journal_found founds a
 * cluster with these servers, journal_join joins an existing one. A crash leaves all of it or nothing. */
void journal_identify(struct journal *j, uint64_t disk_id, uint64_t member, const uint8_t *view, size_t view_len);
bool journal_found(struct journal *j, const void *servers, size_t len);
bool journal_join(struct journal *j);
/* Begins a new incarnation: its number becomes journal.incarnation, and is at least `least`. `lease_ms` becomes
 * journal.lease_ms. */
bool journal_begin_incarnation(struct journal *j, uint64_t least, uint64_t lease_ms);
/* `lease_ms` becomes journal.lease_ms. */
bool journal_set_lease(struct journal *j, uint64_t lease_ms);
bool journal_vote(struct journal *j, raft_term term, raft_id vote);
bool journal_append(struct journal *j, raft_term term, unsigned short type, const void *data, size_t len);
/* The term of the entry with this index, which may be the last one that the snapshot replaces; 0: it is not in the
 * journal. */
raft_term journal_term(const struct journal *j, raft_index index);
/* Removes the entries from `index` on. */
bool journal_truncate(struct journal *j, raft_index index);
/* Stores a snapshot. The entries after it and the last `trailing` entries before it are kept; if trailing is 0, none
 * is. */
bool journal_snapshot(struct journal *j, const struct journal_snapshot *snapshot, unsigned trailing);

#endif
