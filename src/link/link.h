/* link.h - the messages to and from one other member, over connections that may break.
 *
 * The model. There are two sorts of messages. *Letters* are numbered from 1, and the sender keeps them until the peer
 * has acknowledged them. A connection begins with a HELLO from both sides. HELLO says which letter its sender has
 * received last, and the other side continues with the next one. So a letter arrives once and in order, however often
 * the connection breaks, as long as both processes run (I15). *Notes* may be lost. They overtake letters. While there
 * is no connection, only the newest notes wait for one.
 *
 * Identity. HELLO has the name of its sender, the name of the member that the sender wants to reach, a digest of the
 * configuration, and the numbers of the cluster and of the sender's data directory. A side refuses a HELLO that does not
 * match, with a reason that both sides learn.
 *
 * Versions. HELLO also has the newest and the oldest version of the protocol that its sender speaks: its own, and the one before. The
 * link uses the newest version that both sides speak, so members that are one version apart work together, and others refuse each
 * other. A later version may add messages, each with the version since which it exists (registry.h), and may append bytes to HELLO,
 * which an earlier one ignores. It changes no message that exists. A message that the peer does not know is not sent
 * to it: link_note drops such a note, and before a letter of that sort the sender asks link_speaks. Until the first HELLO of an
 * incarnation, the link uses the oldest version.
 *
 * Incarnations. A process that has just started, or that begins a new incarnation, has forgotten all letters. HELLO has
 * the *incarnation* of its sender, a number that is larger than every earlier one. If it is larger than the one known
 * before, both sides begin again with letter 1, and letters to the earlier incarnation are discarded. If it is smaller,
 * the HELLO comes from a process that has been replaced, and is refused. Letters are meant for one incarnation of the
 * peer (link_expect) and are discarded while another one is at the other end. A connection belongs to the incarnation
 * that opened it, and ends if a larger one is expected.
 *
 * Frames. A frame is the length of the rest (4 bytes, least significant first), a type and a body. LETTER has the low
 * 32 bits of its number and the message. ACK has the number of the last letter received. It is sent together with
 * letters, or alone after LINK_ACK_EVERY received letters. REFUSE has a reason. NOTE has the message. All lengths are
 * bounded, and a frame that does not parse ends the connection.
 *
 * Many small messages become one write: the driver takes all of them (link_output), up to LINK_WRITE_MAX bytes of
 * letters. A letter may be *patient* (link_send_patient): no client waits for what follows from it. While nothing else is to be
 * written, the driver may let it wait for company (link_can_wait).
 *
 * Memory. Letters are kept until they are acknowledged, so a peer that is away costs memory. A link with more than
 * LINK_BACKLOG_MAX bytes is congested, and the node accepts no new claims. The number of existing claims then bounds
 * how many more letters there can be. A driver stops reading from a connection while link_is_full.
 *
 * This code does no I/O and reads no clock: bytes in, bytes out. */
#ifndef DIBS_LINK_LINK_H
#define DIBS_LINK_LINK_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINK_VERSION = 6,
    LINK_VERSION_FIRST = 6, /* the first version that is negotiated: earlier ones are refused */
    LINK_NAME_MAX = 63,
    LINK_FITS = 17,
    LINK_REASON_MAX = 400,
    LINK_MESSAGE_MAX = 1 << 20,
    LINK_WRITE_MAX = 1 << 16,
    LINK_BACKLOG_MAX = 1 << 24,
    LINK_NOTES_MAX = 1 << 20,  /* bytes of unsent notes; further notes are lost */
    LINK_NOTES_WAIT = 1 << 12, /* bytes of notes that wait for a connection */
    LINK_INPUT_MAX = 1 << 21,  /* more than the longest frame */
    LINK_ACK_EVERY = 32,
};

/* What a member says of itself in HELLO. The strings outlive the links. */
struct link_self {
    const char *name;
    const char *summary;      /* the configuration, as text for people */
    uint64_t digest;          /* a hash of the configuration, for comparison */
    uint64_t fits[LINK_FITS]; /* other digests that a peer may have; 0: none */
    uint64_t cluster;         /* the cluster's number; 0: not known yet */
    uint64_t disk;            /* the number of its data directory; 0: it has none */
    uint64_t incarnation;
    uint8_t newest, oldest; /* versions of the protocol that it speaks */
    bool mute;              /* the incarnation is not durable yet: nothing is sent */
};

enum link_state { LINK_DOWN, LINK_OPENING /* HELLO is awaited */, LINK_UP, LINK_ENDING /* write the rest, close */ };

enum link_sort { LINK_NOTHING, LINK_LETTER, LINK_NOTE };

struct link {
    const struct link_self *self;
    const char *peer;
    uint64_t peer_incarnation; /* the newest incarnation of the peer that is known; 0: none */
    uint64_t expected;         /* the incarnation for which letters are meant; 0: none */
    uint64_t peer_disk;        /* the number that its data directory must have; 0: any */
    uint64_t disk_seen;        /* the number that its last HELLO had */
    enum link_state state;
    uint8_t version;              /* which version both sides speak; 0: the peer has not said */
    char reason[LINK_REASON_MAX]; /* why the last connection ended, or is about to end; or "" */
    bool anew;                    /* it ended because a new incarnation began: connect again without delay */
    bool hurries;                 /* what is unsent is not only patient letters */
    bool banned;                  /* the peer has broken the protocol: no connection is made any more */

    struct bytes unacked; /* frames of letters that are not acknowledged */
    size_t unsent;        /* position in unacked: the frames from here on were not sent on this connection */
    uint64_t next, sent;  /* numbers: the newest letter sent on this connection; on any connection */
    uint64_t resent;      /* how many letters were sent again, so far */
    uint64_t made, acked; /* numbers: the newest letter; the newest that the peer has acknowledged */

    struct bytes notes; /* frames of notes that were not sent */
    /* The last letter that was discarded, because the expected incarnation is not at the other end. */
    struct bytes waste;
    struct bytes wire;       /* bytes to be written next */
    struct bytes in;         /* bytes read and not parsed yet */
    uint64_t received, told; /* numbers: the newest letter received; the newest acknowledged by us */
};

void link_init(struct link *k, const struct link_self *self, const char *peer);
void link_free(struct link *k);

/* From now on letters are meant for this incarnation of the peer. */
void link_expect(struct link *k, uint64_t incarnation);
/* Adds a letter of `len` bytes. Returns where the caller must write its bytes, before any other call. */
uint8_t *link_send(struct link *k, size_t len);
/* The same, a patient letter. */
uint8_t *link_send_patient(struct link *k, size_t len);
/* Patient letters that are still here are so no longer. */
static inline void link_hurry(struct link *k)
{
    k->hurries = true;
}
/* Adds a note, which may be lost. */
void link_note(struct link *k, const uint8_t *bytes, size_t len);
/* Does the peer know this version of the protocol, as far as this side knows? */
bool link_speaks(const struct link *k, unsigned version);
/* This side begins a new incarnation, the one in link_self: forgets all letters and ends the connection. */
void link_begin_anew(struct link *k);
static inline bool link_is_congested(const struct link *k)
{
    return bytes_len(&k->unacked) > LINK_BACKLOG_MAX;
}

/* There is a new connection. It replaces an earlier one, if any. */
void link_connected(struct link *k);
void link_disconnected(struct link *k);
/* Bytes from the peer have arrived. The caller must not call this while link_is_full. */
void link_input(struct link *k, const uint8_t *bytes, size_t len);
bool link_is_full(const struct link *k);
/* Returns the next message from the peer, valid until the next call. LINK_NOTHING: no message is complete, or the state
 * became LINK_ENDING. */
enum link_sort link_take(struct link *k, const uint8_t **message, size_t *len);
/* Tells the peer the reason, and ends the connection. */
void link_refuse(struct link *k, const char *reason);
/* Is there a letter, a note or an acknowledgement that is not among the bytes to be written next? */
static inline bool link_has_more(const struct link *k)
{
    return k->unsent != k->unacked.end || bytes_len(&k->notes) || k->received - k->told >= LINK_ACK_EVERY;
}
/* Is the link up, with nothing to write? Then link_output would have no bytes. */
static inline bool link_is_quiet(const struct link *k)
{
    return k->state == LINK_UP && bytes_len(&k->wire) == 0 && !link_has_more(k);
}
/* Would link_output have nothing but patient letters? */
static inline bool link_can_wait(const struct link *k)
{
    return k->state == LINK_UP && bytes_len(&k->wire) == 0 && !k->hurries && k->received - k->told < LINK_ACK_EVERY;
}
/* Bytes to write now; none if *len is 0. The driver then calls link_wrote with the number of bytes that it has
 * written. */
const uint8_t *link_output(struct link *k, size_t *len);
void link_wrote(struct link *k, size_t len);

/* For a connection that a peer has opened: finds the peer's name in its HELLO. Returns the length of the name, 0 if the
 * HELLO is not complete yet, or -1 if the bytes are no HELLO. */
int link_who(const uint8_t *bytes, size_t len, const char **name);
/* Would this link refuse a peer that begins with this complete HELLO? Returns null, or the reason. The link does not
 * change, so an impostor cannot harm an existing connection. If the result is null, the driver calls link_connected and
 * link_input. */
const char *link_objects(const struct link *k, const uint8_t *bytes, size_t len, char *buf, size_t size);
/* Writes the REFUSE frame for a peer that link_objects has refused. Returns the number of bytes. */
enum { LINK_REFUSAL_MAX = 5 + LINK_REASON_MAX };
size_t link_refusal(const char *reason, uint8_t *bytes);
/* Replaces control characters by question marks, in text from outside that is shown to people. */
void link_make_printable(char *text);

#endif
