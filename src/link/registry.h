/* registry.h - the registry of all messages between members.
 *
 * A message is its type (1 byte) and its fields, one after the other without gaps. REGISTRY lists every message: its
 * type's number, since which version of the protocol it exists, whether it travels as a letter or as a note (link.h), which part of a member it is for, its fields,
 * which member sends it to which, and what it says. The enum of types, the check of a message's form and the table in
 * README.md are made from this list (test_registry compares the table), and the fuzzers draw messages from it.
 *
 * A message that exists does not change: neighbours that are one version apart rely on that. A new message, or another form of an
 * old one, has a new number and the next version, and LINK_VERSION is raised with the first one after a release.
 *
 * A member checks the form of every message that arrives (registry_check) before it looks at a field. So a decoder
 * finds all fields of the message, and no byte after them. What the fields mean is checked by the decoder.
 *
 * Numbers have their lowest byte first. REGISTRY_TEXT is a length (1 byte) and the bytes of a text, REGISTRY_LONG the same with
 * a length of 2 bytes. REGISTRY_REST is all bytes up to the end of the message, possibly none. */
#ifndef DIBS_LINK_REGISTRY_H
#define DIBS_LINK_REGISTRY_H

#include "link.h"

/* Sizes of fields that are not a number of bytes. */
enum { REGISTRY_LONG = 253, REGISTRY_TEXT = 254, REGISTRY_REST = 255 };

enum { REGISTRY_SIZE = 256 }; /* a type is one byte */

/* The part of a member that a message is for. */
enum registry_part {
    PART_VIEW = 1, /* the member's place among the letters of a view (node/messages.h) */
    PART_STEP,     /* the algorithm of a lock (lock/instance.h) */
    PART_KIND,     /* what a lock is (lock/kind.h) */
    PART_CARRIED,  /* carried-over holders (lock/carried.h) */
    PART_REPORT,   /* reports of claims (lock/report.h) */
    PART_CONVERT,  /* clients that change the mode in which they hold a lock (lock/convert.h) */
    PART_KEEP,     /* kept sessions (node/keep.h) */
    PART_TOKEN,    /* locks that a token owns (node/token.h) */
    PART_MEMBER,   /* leases, agreement and the roster (node/messages.h) */
    PART_ADMIN,    /* queries and events (node/admin.h) */
    PART_DEADLOCK, /* probes for deadlocks (node/deadlock.h) */
    PARTS
};

/* clang-format off */

/* Every letter of PART_STEP to PART_CONVERT begins with the lock's name, and its kind as far as the sender knows it. */
#define FIELDS_LOCK {"name", REGISTRY_TEXT}, {"slots", 2}, {"epoch", 4}
#define FIELDS_KIND {"number", 4}, {"fence", 8}
#define FIELDS_CARRIED {"mode", 4}, {"count", 4}
/* A kept session, and a lock that it holds. */
#define FIELDS_TERMS {"keep_ms", 4}, {"value", REGISTRY_LONG}
#define FIELDS_HELD {"fence", 8}, {"ttl_ms", 4}, {"slots", 2}, {"mode", 4}, {"name", REGISTRY_TEXT}
/* The claim of the same lock that was withdrawn immediately before: its session and its fence; or zeroes. */
#define FIELDS_AFTER {"after_id", 16}, {"after", 8}

/* M(name, number, since, sort, part, from, to, what it says, fields...) */
#define REGISTRY(M) \
    M(LETTER_VIEW, 16, 6, LETTER, VIEW, "a member", "every other", \
      "The letters that follow belong to this view.", {"view", 8}) \
    M(LETTER_ANNOUNCED, 17, 6, LETTER, VIEW, "a member", "every other", \
      "The sender has sent its whole digest. It knows of fences up to this one.", {"fence", 8}) \
    M(LETTER_DIGEST, 18, 6, LETTER, VIEW, "a member", "every other", \
      "A part of the filter of the names that the sender's clients hold.", {"bits", 4}, {"part", REGISTRY_REST}) \
    M(INSTANCE_STEP, 3, 6, LETTER, STEP, "a site", "a site", \
      "A message of the lock's algorithm. With slots, the numbers of the sender's and the receiver's site (2 bytes each) come before it.", \
      FIELDS_LOCK, {"message", REGISTRY_REST}) \
    M(INSTANCE_ASK, 1, 6, LETTER, KIND, "a member", "the home", \
      "Which kind is the lock? The sender wants it with `number` slots.", \
      FIELDS_LOCK, FIELDS_KIND) \
    M(INSTANCE_IS, 2, 6, LETTER, KIND, "the home", "a member", \
      "The lock is of this kind. If the kind has changed, no site had a fence above `fence`.", FIELDS_LOCK, FIELDS_KIND) \
    M(INSTANCE_RETIRE, 8, 6, LETTER, KIND, "the home", "every other", \
      "Freeze the lock if it is unused, and answer.", FIELDS_LOCK, FIELDS_KIND) \
    M(INSTANCE_FROZEN, 9, 6, LETTER, KIND, "a member", "the home", \
      "The answer to INSTANCE_RETIRE: `number` is 1 if the sender keeps the lock. It has no fence above `fence`.", \
      FIELDS_LOCK, FIELDS_KIND) \
    M(INSTANCE_INQUIRE, 10, 6, LETTER, CARRIED, "a member", "a member whose digest has the name", \
      "How many carried-over holders does the receiver have?", FIELDS_LOCK, FIELDS_CARRIED) \
    M(INSTANCE_CLEAR, 11, 6, LETTER, CARRIED, "a member", "the one that asked", \
      "The answer to INSTANCE_INQUIRE: none.", FIELDS_LOCK) \
    M(INSTANCE_ENCUMBERED, 4, 6, LETTER, CARRIED, "a member", "the one that asked, or the home", \
      "The sender has this number of carried-over holders, in this mode.", FIELDS_LOCK, FIELDS_CARRIED) \
    M(INSTANCE_FREED, 5, 6, LETTER, CARRIED, "a member", "those that it has told", \
      "This many of the sender's holders are no longer carried over.", FIELDS_LOCK, FIELDS_CARRIED) \
    M(INSTANCE_FOLLOW, 6, 6, LETTER, REPORT, "a member", "every other", \
      "Report the claims of your clients from now on: those that exclude this mode, all, or none.", \
      FIELDS_LOCK, {"number", 4}, {"followed", 4}) \
    M(INSTANCE_REPORT, 7, 6, LETTER, REPORT, "a member", "one that follows the lock", \
      "The claims of the sender's clients.", \
      FIELDS_LOCK, {"number", 4}, {"held_mode", 4}, {"held", 4}, {"waits", 4}) \
    M(INSTANCE_BAR, 12, 6, LETTER, CONVERT, "a member", "every other", \
      "From now on grant the lock to no client (level 2), only to clients that share it (1), or as before (0). The sender has no fence above `fence`.", \
      FIELDS_LOCK, {"number", 4}, {"level", 4}, {"fence", 8}) \
    M(INSTANCE_BARRED, 13, 6, LETTER, CONVERT, "a member", "the one that bars", \
      "The answer to INSTANCE_BAR with a level above 0: `count` clients of the sender are in the way. It has no fence above `fence`.", \
      FIELDS_LOCK, {"number", 4}, {"count", 4}, {"fence", 8}) \
    M(KEEP_GRANT, 32, 6, LETTER, KEEP, "the owner", "every other", \
      "The session holds this lock, or holds it with another TTL or token, or as shared instead of exclusive. Number 0: the receiver has just begun to take part.", \
      {"number", 8}, {"id", 16}, FIELDS_TERMS, FIELDS_HELD, FIELDS_AFTER) \
    M(KEEP_FREE, 33, 6, LETTER, KEEP, "the owner", "every other", \
      "The session no longer holds the lock.", \
      {"number", 8}, {"id", 16}, {"name", REGISTRY_TEXT}, {"fence", 8}) \
    M(KEEP_MOVE, 34, 6, LETTER, KEEP, "the owner", "every other", \
      "In the next view this member shall be the owner of the session. Number 0: in this view.", \
      {"number", 8}, {"id", 16}, {"member", 8}) \
    M(KEEP_SYNC, 35, 6, LETTER, KEEP, "the owner", "a member that has just begun to take part", \
      "The sender has sent all that its sessions hold.", {"number", 8}) \
    M(KEEP_ACK, 36, 6, LETTER, KEEP, "a member", "the owner", \
      "The sender has the receiver's letters up to this number.", {"number", 8}) \
    M(KEEP_REPORT, 37, 6, LETTER, KEEP, "a member", "every other", \
      "A record of a lock. Its owner does not take part, or the sender is not sure that all know the owner.", \
      {"id", 16}, FIELDS_TERMS, FIELDS_HELD, FIELDS_AFTER, {"owner", 8}, {"tenure", 8}, {"chosen", 8}) \
    M(KEEP_MARK, 38, 6, LETTER, KEEP, "a member", "every other", \
      "The sender has sent all its reports in this view. The last view that has opened at it is `opened`.", \
      {"view", 8}, {"opened", 8}) \
    M(KEEP_ASK, 39, 6, LETTER, KEEP, "a member", "the owner", \
      "A client of the sender resumes this session.", {"id", 16}) \
    M(TOKEN_ASK, 40, 6, LETTER, TOKEN, "a member", "the owner", \
      "A client of the sender releases or extends the lock, or asks for the time left. With a value: that is the token from now on. The two highest bits of the number say whether it was asked before, and whether a count goes down (node/token_inside.h).", \
      {"number", 8}, {"what", 1}, {"id", 16}, {"fence", 8}, {"ttl_ms", 4}, {"adds", 1}, {"value", REGISTRY_TEXT}) \
    M(TOKEN_ANSWER, 41, 6, LETTER, TOKEN, "the owner", "the one that asked", \
      "The answer to TOKEN_ASK: it is done, and for this time the token owns the lock; or it does not own it.", \
      {"number", 8}, {"done", 1}, {"left_ms", 4}) \
    M(NOTE_BEAT, 64, 6, NOTE, MEMBER, "a member", "every other", \
      "A heartbeat. It acknowledges the receiver's heartbeat that was sent at echo_ms.", \
      {"view", 8}, {"sent_ms", 8}, {"echo_ms", 8}, {"hears", 8}, {"dropped", 8}, {"owes_nothing", 8}, {"drops", 8}, {"id", 8}, {"flags", 1}) \
    M(NOTE_AGREEMENT, 65, 6, NOTE, MEMBER, "a member", "a member", \
      "A message of libraft (member/agree_wire.h), for the member with this id.", {"id", 8}, {"message", REGISTRY_REST}) \
    M(NOTE_ROSTER, 66, 6, NOTE, MEMBER, "a member", "one whose view is outdated", \
      "The view that the sender has installed (member/view.h). A member that joins gets it only from one with a lease.", \
      {"view", REGISTRY_REST}) \
    M(NOTE_SETTING, 68, 6, NOTE, MEMBER, "a member", "the leader", \
      "A request to change the lease on which the members agree (member/settings.h).", \
      {"flags", 1}, {"lease_ms", 4}, {"base", 8}, {"by", REGISTRY_TEXT}) \
    M(NOTE_POLICIES, 69, 6, NOTE, MEMBER, "a member", "the leader", \
      "A request to change the policies on which the members agree (member/settings.h). It is sent only to a member that has said that it knows of them.", \
      {"flags", 1}, {"base", 8}, {"by", REGISTRY_TEXT}, {"policies", REGISTRY_LONG}) \
    M(NOTE_RIGHTS, 70, 6, NOTE, MEMBER, "a member", "the leader", \
      "A request to change the rights of clients on which the members agree (member/settings.h). It is sent only to a member that has said that it knows of them.", \
      {"flags", 1}, {"base", 8}, {"by", REGISTRY_TEXT}, {"rights", REGISTRY_LONG}) \
    M(NOTE_WISH, 67, 6, NOTE, MEMBER, "a member", "the leader", \
      "A request to add a member to the roster, or to remove it. Flag 4: the sender knows of agreed settings, and `id` is the lease of its configuration; `name` is empty, or has the digest of its policies and a hash of its algorithms, and perhaps the digest of its rights.", \
      {"flags", 1}, {"id", 8}, {"name", REGISTRY_TEXT}, {"address", REGISTRY_TEXT}) \
    M(ADMIN_INTEREST, 72, 6, NOTE, ADMIN, "a member", "every other", \
      "What the sender's clients have subscribed to. Each item: is it a pattern (1 byte), and a text.", \
      {"items", REGISTRY_REST}) \
    M(ADMIN_EVENT, 73, 6, NOTE, ADMIN, "a member", "one with subscribers", \
      "An event of a lock.", \
      {"event", 1}, {"client", 8}, {"fence", 8}, {"mode", 1}, {"name", REGISTRY_TEXT}, {"who", REGISTRY_TEXT}, {"value", REGISTRY_LONG}) \
    M(ADMIN_ASK, 74, 6, NOTE, ADMIN, "a member", "every other", \
      "A client's query about locks, or its order to evict holders.", \
      {"id", 8}, {"about", 1}, {"cursor", 8}, {"text", REGISTRY_TEXT}, {"by", REGISTRY_TEXT}) \
    M(ADMIN_ANSWER, 75, 6, NOTE, ADMIN, "a member", "the one that asked", \
      "The answer to ADMIN_ASK.", {"id", 8}, {"about", 1}, {"more", 8}, {"rows", REGISTRY_REST}) \
    M(DEADLOCK_PROBE, 80, 6, NOTE, DEADLOCK, "a member", "every other", \
      "Which sessions block the last wait of this path, and wait themselves? Each hop is a wait.", \
      {"round", 8}, {"at", 1}, {"hops", REGISTRY_REST}) \
    M(DEADLOCK_CONFIRM, 81, 6, NOTE, DEADLOCK, "a member", "that of the next hop", \
      "The path is a cycle. Does it still exist from hop `at` on?", \
      {"round", 8}, {"at", 1}, {"hops", REGISTRY_REST}) \
    M(NOTE_NEXT, 127, LINK_VERSION + 1, NOTE, MEMBER, "a member", "every other", \
      "Nothing. It stands for the messages of the next version: builds and simulated members of that version send it, in tests.", \
      {"version", 1})

/* clang-format on */

#define REGISTRY_NUMBER(name, number, ...) name = number,
enum message_type { MESSAGE_NONE, REGISTRY(REGISTRY_NUMBER) };
#undef REGISTRY_NUMBER

struct registry_field {
    const char *name;
    uint8_t size; /* in bytes, or REGISTRY_TEXT or REGISTRY_REST */
};

struct registry_entry {
    const char *name; /* null: no message has this number */
    unsigned since;   /* the first version of the protocol that has it */
    enum link_sort sort;
    enum registry_part part;
    const char *from, *to, *says;
    const struct registry_field *field; /* up to one without a name */
};

/* By type. */
extern const struct registry_entry registry[REGISTRY_SIZE];

/* Returns the entry of the message with these bytes, which came as `sort`. Returns null, and what is wrong in `*wrong`,
 * if there is no such message or the bytes do not have its form. */
const struct registry_entry *registry_check(enum link_sort sort, const uint8_t *bytes, size_t len, const char **wrong);

#endif
