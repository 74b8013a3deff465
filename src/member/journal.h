/* journal.h - what a member must not forget, in the order in which it happened: one file, written at its end.
 *
 * It holds who this member is, and the state that agreement by Raft requires to be durable: the term, the vote, the log
 * of entries, and a snapshot that stands for the entries before.
 *
 * Writing takes time. A journal_... function changes the state in memory and hands a record to the disk; the disk may finish
 * later. `made` counts the records, `durable` those of which it is known that the disk has them. The caller must let nothing
 * be seen outside that depends on a record that is not durable (agree.h).
 *
 * A record: its length, a checksum, its type, its body. A crash may leave the last one incomplete: it was never
 * confirmed to anybody, and is cut off. Anything else that does not read is damage, and is refused: a member that has
 * forgotten its vote must not vote.
 *
 * When a snapshot is taken, or much has been added, the journal is written anew, in one go or not at all, so it stays small:
 * a member that is cut off asks for votes, and writes down that it does, again and again. */
#ifndef DIBS_MEMBER_JOURNAL_H
#define DIBS_MEMBER_JOURNAL_H

#include "base/bytes.h"

#include <raft.h>
#include <stdbool.h>

/* What has become of a write: it failed, and nothing more may be written; it is durable, and so are all writes before it; or
 * it will be done after all writes before it, and the driver will say so (journal_written). */
enum disk_status { DISK_FAILED, DISK_WRITTEN, DISK_WRITING };

/* The file. The disk copies the bytes if it needs them for longer than the call. */
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
    uint64_t made, durable; /* records: handed to the disk; known to be on it */
    size_t added;           /* bytes since it was written anew, or opened */
    /* Who this is: */
    uint64_t disk_id;  /* 0: the journal is new */
    uint64_t member;   /* its id; 0: it has not joined yet */
    uint64_t life;     /* how often it has begun a new life */
    struct bytes view; /* the newest that is known to be agreed; at first the one before the first */
    /* For Raft: */
    raft_term term;
    raft_id vote;
    struct journal_entry *entry; /* of index start .. start + count - 1 */
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

/* The content of the file, as it is. Null, or what is wrong with it. */
const char *journal_open(struct journal *j, const struct disk *disk, const uint8_t *bytes, size_t len);
void journal_close(struct journal *j);
/* The disk has finished the oldest of the writes that it had not; or it has failed. */
void journal_written(struct journal *j, bool good);

/* Who this is, and who the others are. It is durable with one of the next two: a cluster is founded with these servers; or
 * it is there already. A crash leaves all of it or nothing. */
void journal_identify(struct journal *j, uint64_t disk_id, uint64_t member, const uint8_t *view, size_t view_len);
bool journal_found(struct journal *j, const void *servers, size_t len);
bool journal_join(struct journal *j);
/* A new life begins: its number is journal.life, and at least this. */
bool journal_live(struct journal *j, uint64_t least);
bool journal_vote(struct journal *j, raft_term term, raft_id vote);
bool journal_append(struct journal *j, raft_term term, unsigned short type, const void *data, size_t len);
/* The term of the entry of this index; 0: it is not there. The snapshot stands for its last one. */
raft_term journal_term(const struct journal *j, raft_index index);
/* Entries from this index on are gone. */
bool journal_truncate(struct journal *j, raft_index index);
/* The last `trailing` entries up to the snapshot are kept, and those behind it; 0: no entry is. */
bool journal_snapshot(struct journal *j, const struct journal_snapshot *snapshot, unsigned trailing);

#endif
