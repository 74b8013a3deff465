/* link.c - see link.h. */
#include "link.h"

#include "base/pack.h"
#include "registry.h"

#include <assert.h>
#include <stdio.h>

enum { HELLO = 1, LETTER, ACK, REFUSE, NOTE };
enum { HELLO_NUMBERS = 6 };
enum { HEAD = 5 /* length and type */, NUMBER = 4 /* of a letter */, MAGIC = 0x73626964 /* "dibs" */ };
enum { HELLO_LATER = 128 /* bytes that later versions may append */ };
enum { HELLO_MAX = HEAD + 4 + 1 + 2 * (1 + LINK_NAME_MAX) + HELLO_NUMBERS * 8 + 1 + HELLO_LATER };
_Static_assert(LINK_NAME_MAX <= UINT8_MAX, "the length of a name is one byte");
_Static_assert(LINK_REFUSAL_MAX == HEAD + LINK_REASON_MAX, "a refusal is a head and a reason");
_Static_assert(HEAD + NUMBER + LINK_MESSAGE_MAX < LINK_INPUT_MAX, "the longest frame fits into the input buffer");

static uint8_t *link_frame(struct bytes *b, unsigned type, size_t body)
{
    uint8_t *at = bytes_add(b, HEAD + body);

    return pack_number(pack_number(at, body + 1, 4), type, 1);
}

/* The length of the frame at position `at`, head included. The frame is our own, so it is complete and valid. */
static size_t link_frame_len(const struct bytes *b, size_t at)
{
    struct unpack u = {.at = b->at + at, .end = b->at + b->end};

    return 4 + (size_t)unpack_number(&u, 4);
}

/* --------------------------------------------------------------------------------------------------------- messages */

void link_init(struct link *k, const struct link_self *self, const char *peer)
{
    *k = (struct link){.self = self, .peer = peer};
}

/* Makes the link what it was before the first letter was written or received. */
static void link_forget_letters(struct link *k)
{
    bytes_free(&k->unacked);
    k->unsent = 0;
    k->made = k->acked = k->received = k->told = k->next = k->sent = 0;
}

void link_free(struct link *k)
{
    bytes_free(&k->unacked);
    bytes_free(&k->notes);
    bytes_free(&k->waste);
    bytes_free(&k->wire);
    bytes_free(&k->in);
}

/* The peer has this incarnation. If it is a new one, the letters and notes to the earlier one are discarded. */
static void link_meet(struct link *k, uint64_t incarnation)
{
    if (k->peer_incarnation < incarnation) {
        link_forget_letters(k);
        bytes_free(&k->notes);
        k->peer_incarnation = incarnation;
        k->version = 0;
    }
}

uint8_t *link_send(struct link *k, size_t len)
{
    size_t before = k->unacked.start;
    uint8_t *at;

    assert(len <= LINK_MESSAGE_MAX);
    if (k->expected != k->peer_incarnation || !k->expected) {
        bytes_consume(&k->waste, bytes_len(&k->waste));
        return bytes_add(&k->waste, len);
    }
    at = link_frame(&k->unacked, LETTER, NUMBER + len);
    k->unsent -= before - k->unacked.start; /* the frames may have moved */
    k->hurries = true;
    return pack_number(at, ++k->made, NUMBER);
}

uint8_t *link_send_patient(struct link *k, size_t len)
{
    bool hurries = k->hurries;
    uint8_t *at = link_send(k, len);

    k->hurries = hurries;
    return at;
}

bool link_speaks(const struct link *k, unsigned version)
{
    return version <= (k->version ? k->version : k->self->oldest);
}

void link_note(struct link *k, const uint8_t *bytes, size_t len)
{
    const char *wrong;
    const struct registry_entry *entry = registry_check(LINK_NOTE, bytes, len, &wrong);

    assert(len <= LINK_MESSAGE_MAX && entry);
    if (!link_speaks(k, entry->since))
        return;
    if (k->state != LINK_UP && bytes_len(&k->notes) + len > LINK_NOTES_WAIT)
        bytes_free(&k->notes); /* the older ones, so that the newest wait */
    if (bytes_len(&k->notes) <= LINK_NOTES_MAX)
        memcpy(link_frame(&k->notes, NOTE, len), bytes, len);
    k->hurries = true;
}

/* The peer acknowledges all letters up to this number. Returns false if the number is impossible. */
static bool link_acked(struct link *k, uint64_t number)
{
    if (number < k->acked || number > k->made)
        return false;
    for (; k->acked < number; k->acked++) {
        size_t len = link_frame_len(&k->unacked, k->unacked.start);

        if (k->unsent == k->unacked.start) { /* acknowledged, but not sent on this connection */
            k->unsent += len;
            k->next++;
        }
        bytes_consume(&k->unacked, len);
    }
    if (k->unacked.end == 0)
        k->unsent = 0;
    return true;
}

/* ------------------------------------------------------------------------------------------------------ connections */

void link_make_printable(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) /* C1, in UTF-8 */
            *c = '?';
}

static void link_end(struct link *k, const char *reason)
{
    snprintf(k->reason, sizeof k->reason, "%s", reason);
    link_make_printable(k->reason);
    k->state = LINK_ENDING;
    bytes_free(&k->in);
}

/* A connection that is up belongs to one incarnation of the peer: what it still brings must not be taken for letters of a later
 * one. */
void link_expect(struct link *k, uint64_t incarnation)
{
    k->expected = incarnation;
    if (k->peer_incarnation < incarnation && k->state == LINK_UP) {
        link_end(k, "a later incarnation of the peer is expected");
        k->anew = true;
    }
    link_meet(k, incarnation);
}

void link_begin_anew(struct link *k)
{
    link_forget_letters(k);
    bytes_free(&k->notes);
    k->peer_incarnation = k->expected = 0;
    k->version = 0;
    if (k->state != LINK_DOWN)
        link_end(k, "a new incarnation begins");
    k->anew = true;
}

void link_refuse(struct link *k, const char *reason)
{
    size_t len = strnlen(reason, LINK_REASON_MAX - 1);

    if (k->state == LINK_OPENING || k->state == LINK_UP)
        memcpy(link_frame(&k->wire, REFUSE, len), reason, len);
    link_end(k, reason);
}

void link_connected(struct link *k)
{
    size_t self = strlen(k->self->name), peer = strlen(k->peer);
    uint8_t *at;

    link_disconnected(k);
    k->state = LINK_OPENING;
    k->anew = false;
    at = link_frame(&k->wire, HELLO, 4 + 1 + 2 + self + peer + HELLO_NUMBERS * 8 + 1);
    at = pack_number(pack_number(at, MAGIC, 4), k->self->newest, 1);
    at = pack_text(pack_text(at, k->self->name, self), k->peer, peer);
    at = pack_number(at, k->self->digest, 8);
    at = pack_number(pack_number(at, k->self->cluster, 8), k->self->disk, 8);
    at = pack_number(at, k->self->incarnation, 8);
    at = pack_number(at, k->peer_incarnation, 8);
    at = pack_number(at, k->received, 8);
    pack_number(at, k->self->oldest, 1);
    k->told = k->received;
}

void link_disconnected(struct link *k)
{
    k->state = LINK_DOWN;
    bytes_free(&k->wire);
    bytes_free(&k->in);
}

static bool link_names(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

struct link_hello {
    size_t from_len, to_len;
    const char *from, *to;
    uint64_t magic, newest, oldest, digest, cluster, disk, incarnation, remembers, received;
};

/* Returns false if this is no HELLO. One of a version that is not negotiated has another form, or a later one has more bytes. */
static bool link_read_hello(const struct link *k, struct unpack *u, struct link_hello *h)
{
    h->magic = unpack_number(u, 4);
    h->newest = h->oldest = unpack_number(u, 1);
    h->from = unpack_text(u, &h->from_len);
    h->to = unpack_text(u, &h->to_len);
    h->digest = unpack_number(u, 8);
    h->cluster = unpack_number(u, 8);
    h->disk = unpack_number(u, 8);
    h->incarnation = unpack_number(u, 8);
    h->remembers = unpack_number(u, 8);
    h->received = unpack_number(u, 8);
    if (h->magic == MAGIC && h->newest && h->newest < LINK_VERSION_FIRST)
        return true;
    h->oldest = unpack_number(u, 1);
    return h->magic == MAGIC && !u->wrong && h->oldest && h->oldest <= h->newest &&
           (u->at == u->end || h->newest > k->self->newest);
}

/* The number of the last of our letters that the peer has. */
static uint64_t link_peer_has(const struct link *k, const struct link_hello *h)
{
    return h->remembers == k->self->incarnation ? h->received : 0;
}

/* Can the peer have these letters? A new incarnation of the peer begins with letter 1, so it has none. */
static bool link_may_have(const struct link *k, const struct link_hello *h)
{
    if (h->incarnation > k->peer_incarnation)
        return link_peer_has(k, h) == 0;
    return link_peer_has(k, h) >= k->acked;
}

/* The newest version that both sides speak; 0: there is none. */
static unsigned link_common_version(const struct link_self *self, const struct link_hello *h)
{
    uint64_t newest = self->newest < h->newest ? self->newest : h->newest;
    uint64_t oldest = self->oldest > h->oldest ? self->oldest : h->oldest;

    return newest < oldest ? 0 : (unsigned)newest;
}

/* Members that are one version apart work together, so the older ones are brought to the next version first. */
static void link_explain_versions(const struct link *k, const struct link_hello *h, char *buf, size_t size)
{
    unsigned self = k->self->newest, peer = (unsigned)h->newest, older = self < peer ? self : peer;

    if (older < LINK_VERSION_FIRST)
        snprintf(
            buf, size,
            "%.63s speaks version %u of the protocol between members, %.63s version %u; versions below %u work with no "
            "other: end all daemons, then start all with the same build",
            k->self->name, self, k->peer, peer, LINK_VERSION_FIRST);
    else
        snprintf(
            buf, size,
            "%.63s speaks version %u of the protocol between members, %.63s version %u; only one version apart works: "
            "upgrade all members to a build with version %u first",
            k->self->name, self, k->peer, peer, older + 1);
}

static void link_explain_disk(const char *member, char *buf, size_t size)
{
    snprintf(buf, size, "the data directory of %.63s is not the one it had; remove %.63s and add it anew", member,
             member);
}

/* May a peer have a configuration with this digest? */
static bool link_fits(const struct link_self *self, uint64_t digest)
{
    bool fits = digest == self->digest;

    for (unsigned k = 0; digest && k < LINK_FITS; k++)
        fits |= digest == self->fits[k];
    return fits;
}

/* Returns null if the peer is the expected one, else the reason why not, in `buf`. */
static const char *link_check_hello(const struct link *k, const struct link_hello *h, char *buf, size_t size)
{
    const char *self = k->self->name;

    if (!link_common_version(k->self, h))
        link_explain_versions(k, h, buf, size);
    else if (!link_names(self, h->to, h->to_len) || !link_names(k->peer, h->from, h->from_len))
        snprintf(buf, size, "this is the link from %s to %s, but %.*s wants to reach %.*s", self, k->peer,
                 (int)h->from_len, h->from, (int)h->to_len, h->to);
    else if (!link_fits(k->self, h->digest))
        snprintf(buf, size, "the members' configurations differ; that of %s is: %s", self, k->self->summary);
    else if (h->cluster && k->self->cluster && h->cluster != k->self->cluster)
        snprintf(buf, size, "%.63s and %.63s belong to different clusters, founded with different lists of members",
                 self, k->peer);
    else if (k->peer_disk && h->disk != k->peer_disk)
        link_explain_disk(k->peer, buf, size);
    else if (h->incarnation == 0 || h->incarnation < k->peer_incarnation)
        snprintf(buf, size, "a newer incarnation of %s is running", k->peer);
    else if (link_peer_has(k, h) > k->made) /* from another process that began in the same second */
        link_explain_disk(self, buf, size);
    else if (!link_may_have(k, h))
        snprintf(buf, size, "%s has forgotten letters, or has letters from before it began", k->peer);
    else
        return NULL;
    link_make_printable(buf);
    return buf;
}

/* The peer's HELLO is accepted. */
static void link_open(struct link *k, const struct link_hello *h)
{
    link_meet(k, h->incarnation);
    k->version = (uint8_t)link_common_version(k->self, h);
    link_acked(k, link_peer_has(k, h));
    k->unsent = k->unacked.start;
    k->resent += k->sent > k->acked ? k->sent - k->acked : 0;
    k->next = k->acked;
    k->disk_seen = h->disk;
    k->hurries = true;
    k->state = LINK_UP;
    k->reason[0] = '\0';
}

static const char link_no_hello[] = "these bytes are no HELLO of a member of a dibs cluster";

/* ----------------------------------------------------------------------------------------------------------- frames */

void link_input(struct link *k, const uint8_t *bytes, size_t len)
{
    if (k->state == LINK_OPENING || k->state == LINK_UP)
        memcpy(bytes_add(&k->in, len), bytes, len);
}

bool link_is_full(const struct link *k)
{
    return bytes_len(&k->in) >= LINK_INPUT_MAX;
}

/* Handles a frame that has no message for the caller. */
static void link_control(struct link *k, uint64_t type, struct unpack *u)
{
    char buf[LINK_REASON_MAX];
    const char *reason;

    if (type == REFUSE) {
        snprintf(buf, sizeof buf, "%s says: %.*s", k->peer, (int)(u->end - u->at), (const char *)u->at);
        link_end(k, buf);
    } else if (type == HELLO && k->state == LINK_OPENING) {
        struct link_hello hello;

        reason = link_read_hello(k, u, &hello) ? link_check_hello(k, &hello, buf, sizeof buf) : link_no_hello;
        if (reason)
            link_refuse(k, reason);
        else
            link_open(k, &hello);
    } else if (type == ACK && k->state == LINK_UP) {
        uint64_t number = unpack_number(u, 8);

        if (u->wrong || u->at != u->end || !link_acked(k, number))
            link_refuse(k, "an acknowledgement of a letter that was never sent");
    } else {
        link_refuse(k, "a frame of no known type, or out of place");
    }
}

enum link_sort link_take(struct link *k, const uint8_t **message, size_t *len)
{
    bytes_consume(&k->in, 0); /* frees the bytes of the message taken before, if no others follow */
    while ((k->state == LINK_OPENING || k->state == LINK_UP) && bytes_len(&k->in) >= HEAD) {
        struct unpack u = {.at = k->in.at + k->in.start, .end = k->in.at + k->in.end};
        uint64_t body = unpack_number(&u, 4), type = unpack_number(&u, 1);
        size_t longest = type == LETTER || type == NOTE ? 1 + NUMBER + LINK_MESSAGE_MAX
                         : type == REFUSE               ? 1 + LINK_REASON_MAX
                                                        : HELLO_MAX;

        if (body < 1 || body > longest) { /* so a peer cannot make us wait for more bytes */
            link_refuse(k, "a frame of impossible length");
            return LINK_NOTHING;
        }
        if (bytes_len(&k->in) < 4 + body)
            return LINK_NOTHING;
        u.end = u.at + body - 1;
        k->in.start += 4 + body; /* the bytes stay until the next call */
        if (k->state != LINK_UP || (type != LETTER && type != NOTE)) {
            link_control(k, type, &u);
            continue;
        }
        if (type == LETTER) {
            if (unpack_number(&u, NUMBER) != (uint32_t)(k->received + 1) || u.wrong) {
                link_refuse(k, "a letter out of sequence");
                return LINK_NOTHING;
            }
            k->received++;
        }
        *message = u.at;
        *len = (size_t)(u.end - u.at);
        return type == LETTER ? LINK_LETTER : LINK_NOTE;
    }
    return LINK_NOTHING;
}

/* Copies whole frames, so that an acknowledgement never gets into the middle of a letter. */
static void link_fill_wire(struct link *k)
{
    size_t from = k->unsent, to = from;

    for (; to < k->unacked.end && (to == from || to - from < LINK_WRITE_MAX); k->next++)
        to += link_frame_len(&k->unacked, to);
    k->sent = k->sent < k->next ? k->next : k->sent;
    if (k->received > k->told && (to > from || k->received - k->told >= LINK_ACK_EVERY)) {
        pack_number(link_frame(&k->wire, ACK, 8), k->received, 8);
        k->told = k->received;
    }
    if (bytes_len(&k->notes)) {
        memcpy(bytes_add(&k->wire, bytes_len(&k->notes)), k->notes.at + k->notes.start, bytes_len(&k->notes));
        bytes_consume(&k->notes, bytes_len(&k->notes));
    }
    if (to > from)
        memcpy(bytes_add(&k->wire, to - from), k->unacked.at + from, to - from);
    k->unsent = to;
    k->hurries &= to < k->unacked.end;
}

const uint8_t *link_output(struct link *k, size_t *len)
{
    if (k->state == LINK_UP && bytes_len(&k->wire) == 0 && link_has_more(k))
        link_fill_wire(k);
    *len = k->state == LINK_DOWN || k->self->mute ? 0 : bytes_len(&k->wire);
    return k->wire.at + k->wire.start;
}

void link_wrote(struct link *k, size_t len)
{
    assert(len <= bytes_len(&k->wire));
    bytes_consume(&k->wire, len);
}

/* Finds the body of the HELLO with which these bytes begin. Returns 1, or 0 if it is not complete, or -1 if there is no
 * HELLO. */
static int link_find_hello(const uint8_t *bytes, size_t len, struct unpack *body)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    uint64_t body_len = unpack_number(&u, 4), type = unpack_number(&u, 1), magic = unpack_number(&u, 4);

    if (u.wrong)
        return 0;
    if (type != HELLO || magic != MAGIC || body_len < 1 || body_len > HELLO_MAX)
        return -1;
    *body = (struct unpack){.at = bytes + HEAD, .end = bytes + HEAD + body_len - 1};
    return len >= 4 + body_len;
}

int link_who(const uint8_t *bytes, size_t len, const char **name)
{
    struct unpack u;
    int found = link_find_hello(bytes, len, &u);
    size_t name_len;

    if (found <= 0)
        return found;
    unpack_number(&u, 4);
    unpack_number(&u, 1);
    *name = unpack_text(&u, &name_len);
    return !u.wrong && name_len ? (int)name_len : -1;
}

const char *link_objects(const struct link *k, const uint8_t *bytes, size_t len, char *buf, size_t size)
{
    struct link_hello hello;
    struct unpack u;

    if (link_find_hello(bytes, len, &u) <= 0 || !link_read_hello(k, &u, &hello))
        return link_no_hello;
    return link_check_hello(k, &hello, buf, size);
}

size_t link_refusal(const char *reason, uint8_t *bytes)
{
    size_t len = strnlen(reason, LINK_REASON_MAX - 1);

    memcpy(pack_number(pack_number(bytes, len + 1, 4), REFUSE, 1), reason, len);
    return HEAD + len;
}
