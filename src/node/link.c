/* link.c - see link.h. */
#include "link.h"

#include "pack.h"

#include <assert.h>
#include <stdio.h>

enum { HELLO = 1, DATA, ACK, REFUSE };
enum { HEAD = 5 /* length and type */, NUMBER = 4 /* of a message */, MAGIC = 0x73626964 /* "dibs" */ };
enum { HELLO_MAX = HEAD + 4 + 1 + 2 * (1 + LINK_NAME_MAX) + 4 * 8 };

static uint8_t *link_frame(struct bytes *b, unsigned type, size_t body)
{
    uint8_t *at = bytes_add(b, HEAD + body);

    return pack_number(pack_number(at, body + 1, 4), type, 1);
}

/* The length of the frame at this place, head included. Ours: it is whole and right. */
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

void link_free(struct link *k)
{
    bytes_free(&k->keep);
    bytes_free(&k->wire);
    bytes_free(&k->in);
}

uint8_t *link_send(struct link *k, size_t len)
{
    size_t before = k->keep.start;
    uint8_t *at;

    assert(len <= LINK_MESSAGE_MAX);
    at = link_frame(&k->keep, DATA, NUMBER + len);
    k->unsent -= before - k->keep.start; /* the frames may have moved */
    return pack_number(at, ++k->made, NUMBER);
}

bool link_is_congested(const struct link *k)
{
    return bytes_len(&k->keep) > LINK_BACKLOG_MAX;
}

/* The peer has all messages up to this number. False if that cannot be. */
static bool link_acked(struct link *k, uint64_t number)
{
    if (number < k->acked || number > k->made)
        return false;
    for (; k->acked < number; k->acked++) {
        size_t len = link_frame_len(&k->keep, k->keep.start);

        if (k->unsent == k->keep.start) { /* acknowledged, but not sent on this connection */
            k->unsent += len;
            k->next++;
        }
        bytes_consume(&k->keep, len);
    }
    if (k->keep.end == 0)
        k->unsent = 0;
    return true;
}

/* ------------------------------------------------------------------------------------------------------ connections */

static void link_end(struct link *k, const char *reason)
{
    snprintf(k->reason, sizeof k->reason, "%s", reason);
    k->state = LINK_ENDING;
    bytes_free(&k->in);
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
    at = link_frame(&k->wire, HELLO, 4 + 1 + 2 + self + peer + 4 * 8);
    at = pack_number(pack_number(at, MAGIC, 4), LINK_VERSION, 1);
    at = pack_text(pack_text(at, k->self->name, self), k->peer, peer);
    at = pack_number(at, k->self->digest, 8);
    at = pack_number(at, k->self->incarnation, 8);
    at = pack_number(at, k->peer_incarnation, 8);
    pack_number(at, k->received, 8);
    k->told = k->received;
}

void link_disconnected(struct link *k)
{
    k->state = LINK_DOWN;
    bytes_free(&k->wire);
    bytes_free(&k->in);
}

static bool link_is(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* A HELLO: null if the peer is whom we expect, else the reason why not. Text goes to buf. */
static const char *link_hello(struct link *k, struct unpack *u, char *buf, size_t size)
{
    uint64_t magic = unpack_number(u, 4), version = unpack_number(u, 1), digest, incarnation, remembers, received;
    size_t from_len, to_len;
    const char *from = unpack_text(u, &from_len), *to = unpack_text(u, &to_len);

    digest = unpack_number(u, 8);
    incarnation = unpack_number(u, 8);
    remembers = unpack_number(u, 8);
    received = unpack_number(u, 8);
    if (magic != MAGIC || u->wrong || (u->at != u->end && version == LINK_VERSION))
        return "this is not how a member of a dibs cluster begins";
    if (version != LINK_VERSION)
        snprintf(buf, size, "%s speaks version %u of the protocol, the other side %u", k->self->name, LINK_VERSION,
                 (unsigned)version);
    else if (!link_is(k->self->name, to, to_len) || !link_is(k->peer, from, from_len))
        snprintf(buf, size, "this is the link from %s to %s, but %.*s wants to reach %.*s", k->self->name, k->peer,
                 (int)from_len, from, (int)to_len, to);
    else if (digest != k->self->digest)
        snprintf(buf, size, "the members' configurations differ; that of %s is: %s", k->self->name, k->self->summary);
    else if ((k->peer_incarnation && incarnation != k->peer_incarnation) || incarnation == 0)
        snprintf(buf, size, "%s has restarted and forgotten its locks; restart all members", k->peer);
    else if (remembers && remembers != k->self->incarnation)
        snprintf(buf, size, "%s has restarted and forgotten its locks; restart all members", k->self->name);
    else if ((remembers == 0 && (received || k->acked)) || !link_acked(k, received))
        snprintf(buf, size, "%s has messages that %s never sent", k->peer, k->self->name);
    else {
        k->peer_incarnation = incarnation;
        k->unsent = k->keep.start;
        k->resent += k->sent > k->acked ? k->sent - k->acked : 0;
        k->next = k->acked;
        k->state = LINK_UP;
        k->reason[0] = '\0';
        return NULL;
    }
    return buf;
}

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

/* A frame other than DATA. */
static void link_control(struct link *k, uint64_t type, struct unpack *u)
{
    char buf[LINK_REASON_MAX];
    const char *reason;

    if (type == REFUSE) {
        snprintf(buf, sizeof buf, "%s says: %.*s", k->peer, (int)(u->end - u->at), (const char *)u->at);
        for (char *c = buf; *c; c++) /* it goes to a log and a terminal */
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                *c = '?';
        link_end(k, buf);
    } else if (type == HELLO && k->state == LINK_OPENING) {
        if ((reason = link_hello(k, u, buf, sizeof buf)))
            link_refuse(k, reason);
    } else if (type == ACK && k->state == LINK_UP) {
        uint64_t number = unpack_number(u, 8);

        if (u->wrong || u->at != u->end || !link_acked(k, number))
            link_refuse(k, "an acknowledgement of what was never sent");
    } else {
        link_refuse(k, "a frame of no known type, or out of place");
    }
}

/* The longest frame of this type that makes sense: nobody makes us wait for more. */
static size_t link_longest(uint64_t type)
{
    return type == DATA ? 1 + NUMBER + LINK_MESSAGE_MAX : type == REFUSE ? 1 + LINK_REASON_MAX : HELLO_MAX;
}

bool link_take(struct link *k, const uint8_t **message, size_t *len)
{
    while ((k->state == LINK_OPENING || k->state == LINK_UP) && bytes_len(&k->in) >= HEAD) {
        struct unpack u = {.at = k->in.at + k->in.start, .end = k->in.at + k->in.end};
        uint64_t body = unpack_number(&u, 4), type = unpack_number(&u, 1);

        if (body < 1 || body > link_longest(type)) {
            link_refuse(k, "a frame of impossible length");
            return false;
        }
        if (bytes_len(&k->in) < 4 + body || (type == DATA && k->state == LINK_UP && k->hold))
            return false;
        u.end = u.at + body - 1;
        bytes_consume(&k->in, 4 + body); /* the bytes stay until more come */
        if (type != DATA || k->state != LINK_UP) {
            link_control(k, type, &u);
            continue;
        }
        if (unpack_number(&u, NUMBER) != (uint32_t)(k->received + 1) || u.wrong) {
            link_refuse(k, "a message out of sequence");
            return false;
        }
        k->received++;
        *message = u.at;
        *len = (size_t)(u.end - u.at);
        return true;
    }
    return false;
}

/* Whole frames, so that an acknowledgement never lands in the middle of a message. */
static void link_fill_wire(struct link *k)
{
    size_t from = k->unsent, to = from;

    for (; to < k->keep.end && (to == from || to - from < LINK_WRITE_MAX); k->next++)
        to += link_frame_len(&k->keep, to);
    k->sent = k->sent < k->next ? k->next : k->sent;
    if (k->received > k->told && (to > from || k->received - k->told >= LINK_ACK_EVERY)) {
        pack_number(link_frame(&k->wire, ACK, 8), k->received, 8);
        k->told = k->received;
    }
    if (to > from)
        memcpy(bytes_add(&k->wire, to - from), k->keep.at + from, to - from);
    k->unsent = to;
}

const uint8_t *link_output(struct link *k, size_t *len)
{
    if (k->state == LINK_UP && bytes_len(&k->wire) == 0)
        link_fill_wire(k);
    *len = k->state == LINK_DOWN ? 0 : bytes_len(&k->wire);
    return k->wire.at + k->wire.start;
}

void link_wrote(struct link *k, size_t len)
{
    bytes_consume(&k->wire, len);
}

int link_who(const uint8_t *bytes, size_t len, const char **name)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    uint64_t body = unpack_number(&u, 4), type = unpack_number(&u, 1), magic = unpack_number(&u, 4);
    size_t name_len;

    if (u.wrong)
        return 0;
    if (type != HELLO || magic != MAGIC || body > HELLO_MAX)
        return -1;
    unpack_number(&u, 1);
    *name = unpack_text(&u, &name_len);
    return u.wrong ? 0 : name_len ? (int)name_len : -1;
}
