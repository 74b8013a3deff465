/* link.h - the messages to and from one other member, over connections that may break.
 *
 * The model. There are two sorts of messages. *Letters* are numbered from 1 and kept until the peer has acknowledged
 * them. A connection begins with a HELLO from both sides that says which letter was received last; each side goes on
 * with the one after it. So a letter arrives once and in order, however often the connection breaks, as long as both
 * processes live. *Notes* may be lost; they overtake letters, and while there is no connection the newest of them wait.
 *
 * Who may talk. HELLO names the sender, the member it wants to reach, the version of the protocol, a digest of the
 * configuration, the cluster and the data directory of the sender. What does not match is refused, with a reason that
 * both sides get to know.
 *
 * Lives. A process that begins, or begins anew, has forgotten all letters. Its *incarnation* is the number of this life,
 * larger than that of any former one, and HELLO says it. A larger number than before: both sides begin again with letter
 * 1, and what was meant for the former life is gone. A smaller one: somebody who is dead; refused. Letters are written to
 * one life only (link_expect), and are thrown away while another one is at the other end.
 *
 * Frames. Length (4 bytes, lowest first, of what follows), type, body. LETTER: the low 32 bits of its number, the
 * letter. ACK: the number of the last letter received; it travels with letters, or alone when LINK_ACK_EVERY of them
 * came meanwhile. REFUSE: a reason. All lengths are bounded, and whatever does not parse ends the connection.
 *
 * Many small messages become one write: a driver takes all there is (link_output), up to LINK_WRITE_MAX.
 *
 * Memory. What is not acknowledged is kept, so a peer that is away costs memory. Above LINK_BACKLOG_MAX bytes a link is
 * congested, and the node takes no new claims; what its locks are about to say is then bounded by their number. On the
 * way in, a driver stops reading while link_is_full.
 *
 * No I/O and no time in here: bytes in, bytes out. */
#ifndef DIBS_LINK_LINK_H
#define DIBS_LINK_LINK_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINK_VERSION = 2,
    LINK_NAME_MAX = 63,
    LINK_REASON_MAX = 400,
    LINK_MESSAGE_MAX = 1 << 20,
    LINK_WRITE_MAX = 1 << 16,
    LINK_BACKLOG_MAX = 1 << 24,
    LINK_NOTES_MAX = 1 << 20,  /* unsent; what is more is lost */
    LINK_NOTES_WAIT = 1 << 12, /* for a connection */
    LINK_INPUT_MAX = 1 << 21,  /* holds the longest frame */
    LINK_ACK_EVERY = 32,
};

/* What a member says of itself in HELLO. The strings outlive the links. */
struct link_self {
    const char *name;
    const char *summary; /* the configuration, for people */
    uint64_t digest;     /* the configuration, for comparing */
    uint64_t cluster;    /* 0: not known yet */
    uint64_t disk;       /* of its data directory; 0: it has none */
    uint64_t incarnation;
    bool mute; /* the incarnation is not durable yet: nothing is sent */
};

enum link_state { LINK_DOWN, LINK_OPENING /* HELLO is awaited */, LINK_UP, LINK_ENDING /* write the rest, close */ };

enum link_sort { LINK_NOTHING, LINK_LETTER, LINK_NOTE };

struct link {
    const struct link_self *self;
    const char *peer;
    uint64_t peer_incarnation; /* the newest that was heard of; 0: none */
    uint64_t expected;         /* the incarnation for which letters are; 0: none */
    uint64_t peer_disk;        /* what its data directory must be; 0: whatever it is */
    uint64_t disk_seen;        /* and what it is */
    enum link_state state;
    char reason[LINK_REASON_MAX]; /* why the last connection ended, or is about to; or "" */
    bool anew;                    /* it ended as a new life began: the next one need not wait */
    bool banned;                  /* for good */

    struct bytes keep;    /* frames of letters not acknowledged */
    size_t unsent;        /* in keep: from here on they have not been sent on this connection */
    uint64_t next, sent;  /* the newest that was sent on this connection; on any */
    uint64_t resent;      /* how many were sent again, so far */
    uint64_t made, acked; /* numbers: of the newest message, and of the newest that the peer has for sure */

    struct bytes notes;      /* frames of notes not sent */
    struct bytes waste;      /* letters to nobody */
    struct bytes wire;       /* about to be written */
    struct bytes in;         /* read, not yet understood */
    uint64_t received, told; /* numbers: of the newest message received, and of the newest acknowledged */
};

void link_init(struct link *k, const struct link_self *self, const char *peer);
void link_free(struct link *k);

/* Letters are for this life of the peer from now on. */
void link_expect(struct link *k, uint64_t incarnation);
/* A letter of so many bytes, to be filled in at once. */
uint8_t *link_send(struct link *k, size_t len);
/* A note, which may get lost. */
void link_note(struct link *k, const uint8_t *bytes, size_t len);
/* This side begins a new life (link_self has its number): all is forgotten, and the connection ends. */
void link_begin_anew(struct link *k);
bool link_is_congested(const struct link *k);

/* There is a connection; a former one, if any, is forgotten. */
void link_connected(struct link *k);
void link_disconnected(struct link *k);
/* Bytes that came. Room for them is there unless link_is_full. */
void link_input(struct link *k, const uint8_t *bytes, size_t len);
bool link_is_full(const struct link *k);
/* The next message among the bytes that came, valid until the next call. Nothing: there is none, or the state became
 * LINK_ENDING. */
enum link_sort link_take(struct link *k, const uint8_t **message, size_t *len);
/* The peer is told why, and the connection ends. */
void link_refuse(struct link *k, const char *reason);
/* Bytes to write now, none if len is 0; then say how many were written. */
const uint8_t *link_output(struct link *k, size_t *len);
void link_wrote(struct link *k, size_t len);

/* For a connection that somebody else has opened: who is it? The length of the name in its HELLO; 0 if the HELLO has not
 * come to its end yet, -1 if that is none. */
int link_who(const uint8_t *bytes, size_t len, const char **name);
/* Would the peer be refused that begins with this HELLO, which is whole? Null, or the reason. The link stays as it is, so
 * that an impostor does no harm to a connection that there is; link_connected and link_input follow if it is not. */
const char *link_objects(const struct link *k, const uint8_t *bytes, size_t len, char *buf, size_t size);
/* What the peer is told that is refused so. The number of bytes. */
enum { LINK_REFUSAL_MAX = 5 + LINK_REASON_MAX };
size_t link_refusal(const char *reason, uint8_t *bytes);
/* For what is shown to people, and came from elsewhere: control characters become question marks. */
void link_make_printable(char *text);

#endif
