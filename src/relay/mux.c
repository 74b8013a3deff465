/* mux.c - see mux.h. */
#include "mux.h"

#include "base/memory.h"
#include "base/slab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_OPEN = 1, FRAME_BYTES, FRAME_CLOSE, FRAME_CREDIT, FRAME_PING, FRAME_PONG };

void mux_init(struct mux *m, bool opens)
{
    *m = (struct mux){.opens = opens, .window = MUX_WINDOW};
    ring_init(&m->free);
    ring_init(&m->ready);
    ring_init(&m->starved);
}

void mux_free(struct mux *m)
{
    for (uint32_t k = 0; k < m->room; k++)
        slab_free(m->channel[k]);
    free(m->channel);
    bytes_free(&m->in);
    bytes_free(&m->out);
    mux_init(m, m->opens);
}

static uint32_t mux_number(const uint8_t *at, unsigned bytes)
{
    uint32_t x = 0;

    for (unsigned k = 0; k < bytes; k++)
        x = x << 8 | at[k];
    return x;
}

static void mux_frame(struct mux *m, uint8_t type, uint32_t channel, const void *bytes, size_t len)
{
    const uint8_t head[MUX_HEAD] = {
        type,
        (uint8_t)(len >> 16),
        (uint8_t)(len >> 8),
        (uint8_t)len,
        (uint8_t)(channel >> 24),
        (uint8_t)(channel >> 16),
        (uint8_t)(channel >> 8),
        (uint8_t)channel,
    };

    assert(len <= MUX_PIECE);
    memcpy(bytes_add(&m->out, sizeof head), head, sizeof head);
    if (len)
        memcpy(bytes_add(&m->out, len), bytes, len);
}

/* --------------------------------------------------------------------------------------------------------- channels */

/* Makes the channels with numbers below `room`. */
static void mux_grow(struct mux *m, uint32_t room)
{
    if (room <= m->room)
        return;
    m->channel = mem_grow(m->channel, room * sizeof m->channel[0]);
    for (; m->room < room; m->room++) {
        struct mux_channel *c = slab_new(sizeof *c);

        c->number = m->room;
        ring_init(&c->in_turn);
        ring_push(&m->free, &c->in_turn);
        m->channel[m->room] = c;
    }
}

static void mux_begin(struct mux *m, struct mux_channel *c, void *user)
{
    ring_cut(&c->in_turn);
    c->user = user;
    c->credit = c->window = m->window;
    c->owed = 0;
    c->used = true;
    c->said = c->heard = false;
    m->count++;
}

/* If both sides have closed the channel, its number can be used again. */
static void mux_end(struct mux *m, struct mux_channel *c)
{
    if (!c->said || !c->heard)
        return;
    ring_cut(&c->in_turn);
    ring_push(&m->free, &c->in_turn);
    c->used = false;
    m->count--;
}

struct mux_channel *mux_open(struct mux *m, const char *who, size_t len, void *user)
{
    struct mux_channel *c;

    assert(m->opens && len <= MUX_WHO_MAX);
    if (m->count == MUX_CHANNELS_MAX)
        return NULL;
    if (ring_empty(&m->free))
        mux_grow(m, m->room + 1);
    c = RING_OF(m->free.next, struct mux_channel, in_turn);
    mux_begin(m, c, user);
    mux_frame(m, FRAME_OPEN, c->number, who, len);
    return c;
}

void mux_close(struct mux *m, struct mux_channel *c, enum mux_how how)
{
    c->user = NULL;
    mux_finish(m, c, how);
}

void mux_finish(struct mux *m, struct mux_channel *c, enum mux_how how)
{
    uint8_t byte = (uint8_t)how;

    assert(c->used && !c->said && !(c->user && c->heard));
    c->said = true;
    ring_cut(&c->in_turn);
    mux_frame(m, FRAME_CLOSE, c->number, &byte, 1);
    mux_end(m, c);
}

bool mux_lost(struct mux *m, struct mux_event *e)
{
    while (m->lost < m->room && (!m->channel[m->lost]->used || m->channel[m->lost]->said))
        m->lost++;
    if (m->lost == m->room)
        return false;
    *e = (struct mux_event){.type = MUX_CLOSED, .channel = m->channel[m->lost], .how = MUX_BROKEN};
    e->channel->heard = true;
    return true;
}

/* -------------------------------------------------------------------------------------------------------- going out */

size_t mux_send(struct mux *m, struct mux_channel *c, const uint8_t *bytes, size_t len)
{
    size_t sent = 0;

    assert(c->used && !c->said);
    ring_cut(&c->in_turn);
    while (sent < len && c->credit && bytes_len(&m->out) < MUX_OUT_MAX) {
        size_t piece = len - sent < MUX_PIECE ? len - sent : MUX_PIECE;

        piece = piece < c->credit ? piece : c->credit;
        mux_frame(m, FRAME_BYTES, c->number, bytes + sent, piece);
        c->credit -= (uint32_t)piece;
        sent += piece;
    }
    if (sent < len)
        ring_push(c->credit ? &m->ready : &m->starved, &c->in_turn);
    return sent;
}

struct mux_channel *mux_ready(struct mux *m)
{
    struct mux_channel *c;

    if (ring_empty(&m->ready) || bytes_len(&m->out) >= MUX_OUT_MAX)
        return NULL;
    c = RING_OF(m->ready.next, struct mux_channel, in_turn);
    ring_cut(&c->in_turn);
    return c;
}

void mux_took(struct mux *m, struct mux_channel *c, size_t len)
{
    assert(c->used && !c->said && c->owed + len <= m->window - c->window);
    c->owed += (uint32_t)len;
    if (c->owed >= m->window / 4 && !c->heard) {
        const uint8_t more[] = {(uint8_t)(c->owed >> 24), (uint8_t)(c->owed >> 16), (uint8_t)(c->owed >> 8),
                                (uint8_t)c->owed};

        mux_frame(m, FRAME_CREDIT, c->number, more, sizeof more);
        c->window += c->owed;
        c->owed = 0;
    }
}

void mux_ping(struct mux *m)
{
    mux_frame(m, FRAME_PING, 0, NULL, 0);
}

void mux_pong(struct mux *m, enum mux_state state)
{
    uint8_t byte = (uint8_t)state;

    mux_frame(m, FRAME_PONG, 0, &byte, 1);
}

/* -------------------------------------------------------------------------------------------------------- coming in */

/* Discards the bytes of the last event. */
static void mux_forget(struct mux *m)
{
    bytes_consume(&m->in, m->done);
    m->done = 0;
}

void mux_input(struct mux *m, const uint8_t *bytes, size_t len)
{
    mux_forget(m);
    if (len && !m->wrong)
        memcpy(bytes_add(&m->in, len), bytes, len);
}

/* Returns null, or why a frame cannot have this head. */
static const char *mux_objects_to_head(const struct mux *m, unsigned type, size_t len, uint32_t number)
{
    static const struct {
        size_t least, most;
        bool from_agent, from_member;
    } rule[] = {
        [FRAME_OPEN] = {0, MUX_WHO_MAX, true, false}, [FRAME_BYTES] = {1, MUX_PIECE, true, true},
        [FRAME_CLOSE] = {1, 1, true, true},           [FRAME_CREDIT] = {4, 4, true, true},
        [FRAME_PING] = {0, 0, true, false},           [FRAME_PONG] = {1, 1, false, true},
    };

    if (type < FRAME_OPEN || type > FRAME_PONG)
        return "a frame of no known type";
    if (m->opens ? !rule[type].from_member : !rule[type].from_agent)
        return "a frame that the other side may not send";
    if (len < rule[type].least || len > rule[type].most)
        return "a frame of a wrong length";
    if (type == FRAME_OPEN && (number >= MUX_CHANNELS_MAX || number > m->room))
        return "a channel with too large a number";
    return NULL;
}

static const char *mux_take_open(struct mux *m, uint32_t number, struct mux_event *e)
{
    mux_grow(m, number + 1);
    if (m->channel[number]->used)
        return "a channel that is opened twice";
    e->type = MUX_OPENED;
    e->channel = m->channel[number];
    mux_begin(m, e->channel, NULL);
    return NULL;
}

static const char *mux_take_bytes(struct mux_channel *c, struct mux_event *e)
{
    if (c->said && !c->user) /* the other side has sent these bytes before it knew of the end */
        return NULL;
    if (e->len > c->window)
        return "more bytes than the channel has credit for";
    c->window -= (uint32_t)e->len;
    e->type = MUX_BYTES;
    e->channel = c;
    return NULL;
}

static const char *mux_take_credit(struct mux *m, struct mux_channel *c, const struct mux_event *e)
{
    uint32_t more = mux_number(e->bytes, 4);

    if (more == 0 || more > m->window || c->credit + more > m->window)
        return "more credit than a channel can have";
    c->credit += more;
    if (!c->said && !ring_empty(&c->in_turn)) {
        ring_cut(&c->in_turn);
        ring_push(&m->ready, &c->in_turn);
    }
    return NULL;
}

static const char *mux_take_close(struct mux *m, struct mux_channel *c, struct mux_event *e)
{
    if (e->bytes[0] > MUX_DEAD)
        return "an end of no known sort";
    c->heard = true;
    mux_end(m, c);
    if (c->said && !c->user)
        return NULL;
    e->type = MUX_CLOSED;
    e->channel = c;
    e->how = (enum mux_how)e->bytes[0];
    return NULL;
}

static const char *mux_take(struct mux *m, unsigned type, uint32_t number, struct mux_event *e)
{
    struct mux_channel *c = number < m->room ? m->channel[number] : NULL;

    switch (type) {
    case FRAME_OPEN:
        return mux_take_open(m, number, e);
    case FRAME_PING:
        e->type = MUX_PINGED;
        return NULL;
    case FRAME_PONG:
        if (e->bytes[0] > MUX_DRAINS)
            return "a state of no known sort";
        e->type = MUX_PONGED;
        e->state = (enum mux_state)e->bytes[0];
        return NULL;
    default:
        if (!c || !c->used || c->heard)
            return "a frame for a channel that is not open";
        return type == FRAME_BYTES    ? mux_take_bytes(c, e)
               : type == FRAME_CREDIT ? mux_take_credit(m, c, e)
                                      : mux_take_close(m, c, e);
    }
}

enum mux_type mux_next(struct mux *m, struct mux_event *e)
{
    *e = (struct mux_event){.type = MUX_NOTHING};
    while (!m->wrong && e->type == MUX_NOTHING) {
        const uint8_t *head;
        size_t len;
        uint32_t number;

        mux_forget(m);
        if (bytes_len(&m->in) < MUX_HEAD)
            break;
        head = m->in.at + m->in.start;
        len = mux_number(head + 1, 3);
        number = mux_number(head + 4, 4);

        m->wrong = mux_objects_to_head(m, head[0], len, number);
        if (m->wrong || bytes_len(&m->in) < MUX_HEAD + len)
            break;
        e->bytes = head + MUX_HEAD;
        e->len = len;
        m->wrong = mux_take(m, head[0], number, e);
        m->done = MUX_HEAD + len;
    }
    if (m->wrong)
        e->type = MUX_WRONG;
    return e->type;
}
