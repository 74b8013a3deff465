/* trace.c - see trace.h. The bytes of a piece are read by this process alone; other members get text. */
#include "trace.h"

#include "base/pack.h"
#include "instance.h"
#include "names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- recording */

void trace_begin_view(struct trace *t)
{
    memset(t->sent, 0, sizeof t->sent);
    memset(t->got, 0, sizeof t->got);
    t->at = NULL;
}

void trace_free(struct trace *t)
{
    for (unsigned k = 0; k < TRACE_LOCKS; k++) {
        bytes_free(&t->lock[k].piece[0]);
        bytes_free(&t->lock[k].piece[1]);
    }
}

/* The place of this lock, or null: it has none. */
static struct trace_lock *trace_place(struct trace *t, uint64_t hash)
{
    struct trace_lock *set = &t->lock[hash % (TRACE_LOCKS / TRACE_WAYS) * TRACE_WAYS];

    for (unsigned k = 0; k < TRACE_WAYS; k++)
        if (set[k].hash == hash)
            return &set[k];
    return NULL;
}

/* The place of this lock. If it has none, it gets one that is free or was not used for TRACE_HOLD_MS; null: there is no such place. */
static struct trace_lock *trace_take(struct trace *t, uint64_t hash)
{
    struct trace_lock *set = &t->lock[hash % (TRACE_LOCKS / TRACE_WAYS) * TRACE_WAYS], *at = trace_place(t, hash);

    if (at)
        return at;
    at = set;
    for (unsigned k = 1; k < TRACE_WAYS; k++)
        if (at->hash && (!set[k].hash || set[k].used_ms < at->used_ms))
            at = &set[k];
    if (at->hash && t->now_ms - at->used_ms < TRACE_HOLD_MS)
        return NULL;
    at->hash = hash;
    at->view = 0; /* views are counted from 1 */
    return at;
}

bool trace_wants_mark(struct trace *t, const struct lock *lock, uint32_t view)
{
    struct trace_lock *at = t->last && t->last->hash == lock->hash ? t->last : trace_take(t, lock->hash);

    t->at = t->last = at;
    if (!at)
        return false;
    at->used_ms = t->now_ms;
    if (at->view != view || at->epoch != lock->epoch) {
        at->view = view;
        at->epoch = lock->epoch;
        at->given_up = false;
        at->piece[0].start = at->piece[0].end = at->piece[1].start = at->piece[1].end = 0;
    }
    if (lock->stays) /* its sites begin by sending messages, and those in flight are not known */
        at->given_up = true;
    if (at->given_up)
        t->at = NULL;
    return t->at && (!bytes_len(&at->piece[1]) || bytes_len(&at->piece[1]) >= TRACE_PIECE);
}

static void trace_give_up(struct trace *t)
{
    bytes_free(&t->at->piece[0]);
    bytes_free(&t->at->piece[1]);
    t->at->given_up = true;
    t->at = NULL;
}

/* Writes the type of an event and its time. */
static uint8_t *trace_head(uint8_t *at, const struct trace *t, enum trace_event type, bool entered)
{
    return pack_number(pack_number(at, (uint8_t)type | (entered ? 0x80 : 0), 1), t->now_ms, 8);
}

enum { TRACE_HEAD = 1 + 8 };

void trace_mark(struct trace *t, uint32_t n, const uint8_t *state, size_t len)
{
    struct trace_lock *at = t->at;
    struct bytes before = at->piece[0];
    uint8_t *to;

    if (len > TRACE_PIECE / 2) {
        trace_give_up(t);
        return;
    }
    at->piece[0] = at->piece[1];
    at->piece[1] = before;
    at->piece[1].start = at->piece[1].end = 0;
    to = trace_head(bytes_add(&at->piece[1], TRACE_HEAD + n * 16 + 2 + len), t, TRACE_MARK, false);
    for (uint32_t j = 0; j < n; j++)
        to = pack_number(pack_number(to, t->sent[j], 8), t->got[j], 8);
    to = pack_number(to, len, 2);
    if (len)
        memcpy(to, state, len);
}

void trace_send(struct trace *t, uint32_t member)
{
    t->sent[member]++;
    if (!t->at)
        return;
    if (t->sends == TRACE_SENDS_MAX) {
        trace_give_up(t);
        return;
    }
    t->send[t->sends].member = (uint8_t)member;
    t->send[t->sends++].number = t->sent[member];
}

void trace_stepped(struct trace *t, uint32_t s, const struct dme_event *event, uint32_t from, uint32_t from_site,
                   bool entered, const uint8_t *message, size_t len)
{
    enum trace_event type = event->type == DME_REQUEST   ? TRACE_REQUEST
                            : event->type == DME_RELEASE ? TRACE_RELEASE
                            : message                    ? TRACE_GET
                                                         : TRACE_LOCAL;
    uint8_t *at;

    if (!t->at)
        return;
    if (len > TRACE_MESSAGE_MAX || bytes_len(&t->at->piece[1]) > 2 * TRACE_PIECE) {
        trace_give_up(t);
        return;
    }
    at = bytes_add(&t->at->piece[1], TRACE_HEAD + 2 + 4 + 1 + 2 + 8 + 2 + len + 2 + t->sends * 9);
    at = pack_number(trace_head(at, t, type, entered), s, 2);
    at = pack_number(pack_number(at, type == TRACE_REQUEST ? event->arg : 0, 4), from, 1);
    at = pack_number(pack_number(at, from_site, 2), type == TRACE_GET ? t->got[from] + 1 : 0, 8);
    at = pack_number(at, len, 2);
    if (len)
        memcpy(at, message, len);
    at = pack_number(at + len, t->sends, 2);
    for (uint32_t k = 0; k < t->sends; k++)
        at = pack_number(pack_number(at, t->send[k].member, 1), t->send[k].number, 8);
}

/* ------------------------------------------------------------------------------------------------------------ as text */

static void __attribute__((format(printf, 2, 3))) trace_write(struct bytes *to, const char *format, ...)
{
    char line[128];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    memcpy(bytes_add(to, (size_t)len), line, (size_t)len);
}

static void trace_write_hex(struct bytes *to, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *at = bytes_add(to, len ? 2 * len : 1);

    if (!len)
        *at = '-';
    for (size_t k = 0; k < len; k++) {
        at[2 * k] = (uint8_t)digits[bytes[k] >> 4];
        at[2 * k + 1] = (uint8_t)digits[bytes[k] & 15];
    }
}

static void trace_print_numbers(const struct locks *l, const uint64_t *sent, const uint64_t *got, struct bytes *to)
{
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self)
            trace_write(to, "letters %u %" PRIu64 " %" PRIu64 "\n", j, sent[j], got[j]);
}

static void trace_print_mark(const struct locks *l, struct unpack *u, uint64_t age_ms, struct bytes *to)
{
    uint64_t sent[TRACE_MEMBERS_MAX], got[TRACE_MEMBERS_MAX];
    size_t len;

    for (uint32_t j = 0; j < l->view.n; j++) {
        sent[j] = unpack_number(u, 8);
        got[j] = unpack_number(u, 8);
    }
    len = (size_t)unpack_number(u, 2);
    trace_write(to, "mark %" PRIu64 " ", age_ms);
    trace_write_hex(to, u->at, len);
    trace_write(to, "\n");
    u->at += len;
    trace_print_numbers(l, sent, got, to);
}

static void trace_print_event(struct unpack *u, enum trace_event type, bool entered, uint64_t age_ms, struct bytes *to)
{
    static const char *const verbs[] = {"request", "release", "local", "get"};
    uint32_t s = (uint32_t)unpack_number(u, 2), mode = (uint32_t)unpack_number(u, 4);
    uint32_t from = (uint32_t)unpack_number(u, 1), from_site = (uint32_t)unpack_number(u, 2);
    uint64_t number = unpack_number(u, 8);
    size_t len = (size_t)unpack_number(u, 2), sends;

    trace_write(to, "%s %" PRIu64 " %u", verbs[type], age_ms, s);
    if (type == TRACE_REQUEST)
        trace_write(to, " %u", mode);
    if (type == TRACE_LOCAL)
        trace_write(to, " %u", from_site);
    if (type == TRACE_GET) {
        trace_write(to, " %u %u %" PRIu64 " ", from, from_site, number);
        trace_write_hex(to, u->at, len);
    }
    u->at += len;
    trace_write(to, entered ? " enters" : " -");
    sends = (size_t)unpack_number(u, 2);
    while (sends--) {
        uint32_t member = (uint32_t)unpack_number(u, 1);

        number = unpack_number(u, 8);
        trace_write(to, " %u:%" PRIu64, member, number);
    }
    trace_write(to, "\n");
}

static void trace_print_piece(const struct locks *l, const struct bytes *piece, struct bytes *to)
{
    struct unpack u = unpack_bytes(piece);

    while (u.at < u.end) {
        uint8_t type = (uint8_t)unpack_number(&u, 1);
        uint64_t age_ms = l->trace.now_ms - unpack_number(&u, 8);

        if (type == TRACE_MARK)
            trace_print_mark(l, &u, age_ms, to);
        else
            trace_print_event(&u, type & 0x7f, type & 0x80, age_ms, to);
    }
}

void trace_print(struct locks *l, const struct lock *lock, const char *name, size_t name_len, uint64_t view,
                 struct bytes *to)
{
    bool here = lock && lock->view == l->number, fresh = !here || (!lock->site && !lock->dormant);
    struct trace_lock *at = here ? trace_place(&l->trace, lock->hash) : NULL;
    const struct lock_kind *kind = instance_kind(l, names_policy(l, name, name_len), here ? lock->slots : 0);

    trace_write(to, "lock %" PRIu64 " %u %u %u %u %u %s %s %u\n", view, here ? lock->epoch : 0, here ? lock->slots : 0,
                l->view.n, l->view.self, here ? instance_home(l, lock) : UINT32_MAX, kind->conf.alg->name,
                dme_rule_name(kind->conf.rule), kind->conf.limit);
    if (at && at->view == l->number && at->epoch == lock->epoch && bytes_len(&at->piece[1])) {
        trace_print_piece(l, &at->piece[0], to);
        trace_print_piece(l, &at->piece[1], to);
    } else if (fresh) {
        trace_write(to, "mark 0 -\n");
        trace_print_numbers(l, l->trace.sent, l->trace.got, to);
    } else {
        trace_write(to, "untraced\n");
    }
    trace_write(to, "end\n");
    trace_print_numbers(l, l->trace.sent, l->trace.got, to);
    if (bytes_len(to) > TRACE_TEXT_MAX) {
        bytes_free(to);
        trace_write(to, "untraced\n");
    }
}
