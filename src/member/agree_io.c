/* agree_io.c - see agree_io.h. */
#include "agree_io.h"

#include "agree_servers.h"
#include "agree_wire.h"
#include "base/memory.h"
#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_MAX = 1 << 20, HELD_HEAD = 8 + 8 + 4 };

/* A request of libraft, and the function that confirms it. */
struct io_done {
    struct ring in_io;
    void *request;
    void (*confirm)(struct agree_io *io, struct io_done *d, int status);
};

static void io_later(struct agree_io *io, void *request, void (*confirm)(struct agree_io *, struct io_done *, int))
{
    struct io_done *d = mem_new(sizeof *d);

    d->request = request;
    d->confirm = confirm;
    ring_push(&io->done, &d->in_io);
}

void agree_io_confirm_all(struct agree_io *io, int status)
{
    while (!ring_empty(&io->done)) {
        struct io_done *d = RING_OF(io->done.next, struct io_done, in_io);

        ring_cut(&d->in_io);
        d->confirm(io, d, io->journal.broken ? RAFT_IOERR : status);
        free(d);
    }
}

/* ---------------------------------------------------------------------------------------------------- libraft's disk */

static struct agree_io *io_of(struct raft_io *calls)
{
    return calls->impl;
}

static int io_wrote(bool written)
{
    return written ? 0 : RAFT_IOERR;
}

void *agree_io_copy(const struct bytes *b)
{
    void *copy = raft_malloc(bytes_len(b) ? bytes_len(b) : 1);

    memcpy(copy, b->at + b->start, bytes_len(b));
    return copy;
}

/* A copy of the snapshot. libraft owns it. */
static struct raft_snapshot *io_snapshot(struct agree_io *io)
{
    const struct journal_snapshot *from = &io->journal.snapshot;
    struct raft_snapshot *s = raft_calloc(1, sizeof *s);

    s->index = from->index;
    s->term = from->term;
    s->configuration_index = from->conf_index;
    if (!agree_decode_servers(&s->configuration, from->conf.at + from->conf.start, bytes_len(&from->conf)))
        raft_configuration_init(&s->configuration);
    s->bufs = raft_malloc(sizeof *s->bufs);
    s->n_bufs = 1;
    s->bufs[0] = (struct raft_buffer){agree_io_copy(&from->data), bytes_len(&from->data)};
    return s;
}

static int io_init(struct raft_io *calls, raft_id id, const char *address)
{
    (void)calls, (void)id, (void)address;
    return 0;
}

static int io_load(struct raft_io *calls, raft_term *term, raft_id *voted_for, struct raft_snapshot **snapshot,
                   raft_index *start_index, struct raft_entry *entries[], size_t *n_entries)
{
    const struct journal *j = &io_of(calls)->journal;
    size_t total = 0;
    char *batch;

    *term = j->term;
    *voted_for = j->vote;
    *snapshot = j->snapshot.index ? io_snapshot(io_of(calls)) : NULL;
    *start_index = j->start;
    *n_entries = j->count;
    *entries = NULL;
    if (j->count == 0)
        return 0;
    for (size_t k = 0; k < j->count; k++)
        total += (bytes_len(&j->entry[k].data) + 7) / 8 * 8;
    *entries = raft_calloc(j->count, sizeof **entries);
    batch = raft_malloc(total);
    for (size_t k = 0; k < j->count; k++) {
        const struct journal_entry *from = &j->entry[k];
        struct raft_entry *e = &(*entries)[k];

        *e = (struct raft_entry){.term = from->term, .type = from->type};
        e->buf = (struct raft_buffer){batch, bytes_len(&from->data)};
        e->batch = (*entries)[0].buf.base;
        memcpy(batch, from->data.at + from->data.start, e->buf.len);
        batch += (e->buf.len + 7) / 8 * 8;
    }
    return 0;
}

static int io_start(struct raft_io *calls, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb recv)
{
    struct agree_io *io = io_of(calls);

    io->tick = tick;
    io->recv = recv;
    io->tick_ms = msecs;
    io->next_tick_ms = io->now_ms + msecs;
    return 0;
}

static int io_bootstrap(struct raft_io *calls, const struct raft_configuration *conf)
{
    struct journal *j = &io_of(calls)->journal;
    struct raft_buffer buf;
    bool written;

    if (j->term || j->count || j->snapshot.index)
        return RAFT_CANTBOOTSTRAP;
    if (raft_configuration_encode(conf, &buf) != 0)
        return RAFT_NOMEM;
    written = journal_found(j, buf.base, buf.len);
    raft_free(buf.base);
    return io_wrote(written);
}

static int io_recover(struct raft_io *calls, const struct raft_configuration *conf)
{
    (void)calls, (void)conf;
    return RAFT_INVALID;
}

static int io_set_term(struct raft_io *calls, raft_term term)
{
    return io_wrote(journal_vote(&io_of(calls)->journal, term, 0));
}

static int io_set_vote(struct raft_io *calls, raft_id id)
{
    struct journal *j = &io_of(calls)->journal;

    return io_wrote(journal_vote(j, j->term, id));
}

static void io_confirm_append(struct agree_io *io, struct io_done *d, int status)
{
    struct raft_io_append *request = d->request;

    (void)io;
    request->cb(request, status);
}

static int io_append(struct raft_io *calls, struct raft_io_append *req, const struct raft_entry entries[], unsigned n,
                     raft_io_append_cb cb)
{
    struct agree_io *io = io_of(calls);

    io->stored = true;
    for (unsigned k = 0; k < n && !io->journal.broken; k++) {
        if (entries[k].type == RAFT_BARRIER) /* libraft 0.15 does not initialize its content */
            memset(entries[k].buf.base, 0, entries[k].buf.len);
        journal_append(&io->journal, entries[k].term, entries[k].type, entries[k].buf.base, entries[k].buf.len);
    }
    req->cb = cb;
    io_later(io, req, io_confirm_append);
    return 0;
}

static int io_truncate(struct raft_io *calls, raft_index index)
{
    return io_wrote(journal_truncate(&io_of(calls)->journal, index));
}

static void io_confirm_put(struct agree_io *io, struct io_done *d, int status)
{
    struct raft_io_snapshot_put *request = d->request;

    (void)io;
    request->cb(request, status);
}

/* libraft 0.15 puts its newest list of servers into a snapshot, even if that list is not committed and its entry comes
 * after the snapshot. It also says which list is committed: that one is stored instead. A snapshot from the leader (no
 * trailing entries) has the right list. */
static void io_encode_servers(const struct journal *j, const struct raft_snapshot *snapshot, unsigned trailing,
                              struct bytes *to)
{
    struct raft_configuration agreed;

    if (trailing && agree_servers_read(j, snapshot->configuration_index, &agreed)) {
        agree_encode_servers(&agreed, to);
        raft_configuration_close(&agreed);
    } else {
        agree_encode_servers(&snapshot->configuration, to);
    }
}

static int io_snapshot_put(struct raft_io *calls, unsigned trailing, struct raft_io_snapshot_put *req,
                           const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct agree_io *io = io_of(calls);
    struct journal_snapshot s = {
        .index = snapshot->index, .term = snapshot->term, .conf_index = snapshot->configuration_index};

    io_encode_servers(&io->journal, snapshot, trailing, &s.conf);
    for (unsigned k = 0; k < snapshot->n_bufs; k++)
        memcpy(bytes_add(&s.data, snapshot->bufs[k].len), snapshot->bufs[k].base, snapshot->bufs[k].len);
    io->stored = true;
    journal_snapshot(&io->journal, &s, trailing);
    bytes_free(&s.conf);
    bytes_free(&s.data);
    req->cb = cb;
    io_later(io, req, io_confirm_put);
    return 0;
}

static void io_confirm_get(struct agree_io *io, struct io_done *d, int status)
{
    struct raft_io_snapshot_get *request = d->request;

    request->cb(request, status ? NULL : io_snapshot(io), status);
}

static int io_snapshot_get(struct raft_io *calls, struct raft_io_snapshot_get *req, raft_io_snapshot_get_cb cb)
{
    req->cb = cb;
    io_later(io_of(calls), req, io_confirm_get);
    return 0;
}

/* ------------------------------------------------------------------------------------------- libraft's other wishes */

static void io_confirm_send(struct agree_io *io, struct io_done *d, int status)
{
    struct raft_io_send *request = d->request;

    (void)io;
    if (request->cb) /* libraft does not wait for a TimeoutNow */
        request->cb(request, status);
}

/* libraft 0.15 acknowledges all entries up to the last one of its own log, even if the leader's message ended earlier
 * and the entries after it are of an earlier leader. The leader would count these as copies of its own entries, and
 * could commit an entry that a majority does not have. So the answer is corrected: it acknowledges only the entries up
 * to which both logs are known to be the same. */
static void io_answer(struct agree_io *io, struct raft_append_entries_result *result)
{
    if (result->rejected)
        return;
    if (io->matched < io->asked)
        io->matched = io->asked;
    if (result->last_log_index > io->matched)
        result->last_log_index = io->matched;
}

/* The index up to which this member's log equals the leader's if libraft accepts the message. libraft 0.15 also
 * acknowledges a snapshot, without installing it, if its own log has an entry of a later term at the snapshot's
 * index. */
static raft_index io_reach(const struct agree_io *io, const struct raft_message *m)
{
    const struct raft_install_snapshot *s = &m->install_snapshot;

    if (m->type == RAFT_IO_APPEND_ENTRIES)
        return m->append_entries.prev_log_index + m->append_entries.n_entries;
    return journal_term(&io->journal, s->last_index) > s->last_term ? 0 : s->last_index;
}

static void io_asked(struct agree_io *io, const struct raft_message *m)
{
    bool snapshot = m->type == RAFT_IO_INSTALL_SNAPSHOT;
    raft_term term = snapshot ? m->install_snapshot.term : m->append_entries.term;

    io->asked = 0;
    io->stored = false;
    if (m->type != RAFT_IO_APPEND_ENTRIES && !snapshot)
        return;
    if (io->matched_term != term) {
        io->matched_term = term;
        io->matched = 0;
    }
    io->asked = io_reach(io, m);
}

/* Messages may be lost: if too many wait for a disk that hangs, the newest are dropped. */
static void io_send_when_durable(struct agree_io *io, uint64_t to, const struct bytes *b)
{
    size_t len = bytes_len(b);
    uint8_t *at;

    if (io->journal.durable == io->journal.made) {
        io->conf.send(io->conf.user, to, b->at + b->start, len);
    } else if (bytes_len(&io->held) <= HELD_MAX) {
        at = pack_number(bytes_add(&io->held, HELD_HEAD + len), io->journal.made, 8);
        memcpy(pack_number(pack_number(at, to, 8), len, 4), b->at + b->start, len);
    }
}

void agree_io_release(struct agree_io *io)
{
    while (bytes_len(&io->held)) {
        struct unpack u = {.at = io->held.at + io->held.start, .end = io->held.at + io->held.end};
        uint64_t record = unpack_number(&u, 8), to = unpack_number(&u, 8);
        size_t len = unpack_number(&u, 4);

        if (record > io->journal.durable)
            return;
        io->conf.send(io->conf.user, to, u.at, len);
        bytes_consume(&io->held, HELD_HEAD + len);
    }
}

void agree_io_send(struct agree_io *io, const struct raft_message *m)
{
    struct bytes b = {0};

    agree_encode(m, &b);
    io_send_when_durable(io, m->server_id, &b);
    bytes_free(&b);
}

static int io_send(struct raft_io *calls, struct raft_io_send *req, const struct raft_message *message,
                   raft_io_send_cb cb)
{
    struct agree_io *io = io_of(calls);
    struct raft_message m = *message;

    if (m.type == RAFT_IO_APPEND_ENTRIES_RESULT)
        io_answer(io, &m.append_entries_result);
    agree_io_send(io, &m);
    req->cb = cb;
    io_later(io, req, io_confirm_send);
    return 0;
}

static raft_time io_time(struct raft_io *calls)
{
    return io_of(calls)->now_ms;
}

static int io_random(struct raft_io *calls, int min, int max)
{
    struct agree_io *io = io_of(calls);

    return min + (int)(io->conf.random(io->conf.user) % (uint64_t)(max - min));
}

static void io_close(struct raft_io *calls, raft_io_close_cb cb)
{
    agree_io_confirm_all(io_of(calls), RAFT_CANCELED);
    cb(calls);
}

void agree_io_init(struct agree_io *io, const struct agree_conf *conf)
{
    io->conf = *conf;
    ring_init(&io->done);
    io->calls = (struct raft_io){.version = 1,
                                 .impl = io,
                                 .init = io_init,
                                 .close = io_close,
                                 .load = io_load,
                                 .start = io_start,
                                 .bootstrap = io_bootstrap,
                                 .recover = io_recover,
                                 .set_term = io_set_term,
                                 .set_vote = io_set_vote,
                                 .send = io_send,
                                 .append = io_append,
                                 .truncate = io_truncate,
                                 .snapshot_put = io_snapshot_put,
                                 .snapshot_get = io_snapshot_get,
                                 .time = io_time,
                                 .random = io_random};
}

void agree_io_receive(struct agree_io *io, struct raft_message *m)
{
    io_asked(io, m);
    io->recv(&io->calls, m);
    if (io->stored && io->matched < io->asked) /* accepted: answered when the write is confirmed */
        io->matched = io->asked;
    io->asked = 0;
}
