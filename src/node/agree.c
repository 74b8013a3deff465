/* agree.c - see agree.h.
 *
 * What libraft asks of its surroundings is struct raft_io: here it is a journal, the time as last told, and callbacks.
 * libraft expects requests to complete later, never within the call; they wait in a ring until the call is over
 * (agree_settle). */
#include "agree.h"

#include "agree_wire.h"
#include "lab/memory.h"
#include "pack.h"
#include "ring.h"

#include <assert.h>
#include <stdlib.h>

enum { NOTHING = -1 /* is to be changed */ };
enum { SNAPSHOT_EVERY = 64, SNAPSHOT_TRAILING = 16, CHANGE_PAUSE_MS = 50 };

struct agree {
    struct agree_conf conf;
    struct journal journal;
    struct view view;
    struct raft raft;
    struct raft_io io;
    struct raft_fsm fsm;
    struct ring done; /* requests of libraft that have been done, and not yet confirmed */
    uint64_t now_ms, tick_ms, next_tick_ms;
    uint64_t next_change_ms;
    raft_io_tick_cb tick;
    raft_io_recv_cb recv;
    struct raft_apply apply;
    struct raft_change change;
    struct raft_transfer transfer;
    struct raft_barrier barrier;
    raft_term led; /* the newest term in which this one leads, and has said so by a barrier */
    bool begun, closed, proposing, changing, handing_over, barring;

    /* What is known to agree with the log of who leads in this term; see agree_answer. */
    raft_term matched_term;
    raft_index matched, asked; /* asked: up to where the entries go of the message that is being received; or 0 */
    bool stored;               /* the message that is being received has led to a write */
};

/* A request of libraft: what to call when it is its turn. */
struct agree_done {
    struct ring in_agree;
    void *request;
    void (*confirm)(struct agree *a, struct agree_done *d, int status);
};

static void agree_later(struct agree *a, void *request, void (*confirm)(struct agree *, struct agree_done *, int))
{
    struct agree_done *d = mem_new(sizeof *d);

    d->request = request;
    d->confirm = confirm;
    ring_push(&a->done, &d->in_agree);
}

static void agree_settle(struct agree *a, int status)
{
    while (!ring_empty(&a->done)) {
        struct agree_done *d = RING_OF(a->done.next, struct agree_done, in_agree);

        ring_cut(&d->in_agree);
        d->confirm(a, d, status);
        free(d);
    }
}

/* ---------------------------------------------------------------------------------------------------- libraft's disk */

static struct agree *agree_of(struct raft_io *io)
{
    return io->impl;
}

static int agree_wrote(bool written)
{
    return written ? 0 : RAFT_IOERR;
}

static void *agree_copy(const struct bytes *b)
{
    void *copy = raft_malloc(bytes_len(b) ? bytes_len(b) : 1);

    memcpy(copy, b->at + b->start, bytes_len(b));
    return copy;
}

/* What libraft gets, it owns. */
static struct raft_snapshot *agree_snapshot(struct agree *a)
{
    const struct journal_snapshot *from = &a->journal.snapshot;
    struct raft_snapshot *s = raft_calloc(1, sizeof *s);

    s->index = from->index;
    s->term = from->term;
    s->configuration_index = from->conf_index;
    if (!agree_decode_servers(&s->configuration, from->conf.at + from->conf.start, bytes_len(&from->conf)))
        raft_configuration_init(&s->configuration);
    s->bufs = raft_malloc(sizeof *s->bufs);
    s->n_bufs = 1;
    s->bufs[0] = (struct raft_buffer){agree_copy(&from->data), bytes_len(&from->data)};
    return s;
}

static int io_init(struct raft_io *io, raft_id id, const char *address)
{
    (void)io, (void)id, (void)address;
    return 0;
}

static int io_load(struct raft_io *io, raft_term *term, raft_id *voted_for, struct raft_snapshot **snapshot,
                   raft_index *start_index, struct raft_entry *entries[], size_t *n_entries)
{
    const struct journal *j = &agree_of(io)->journal;
    size_t total = 0;
    char *batch;

    *term = j->term;
    *voted_for = j->vote;
    *snapshot = j->snapshot.index ? agree_snapshot(agree_of(io)) : NULL;
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

static int io_start(struct raft_io *io, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb recv)
{
    struct agree *a = agree_of(io);

    a->tick = tick;
    a->recv = recv;
    a->tick_ms = msecs;
    a->next_tick_ms = a->now_ms + msecs;
    return 0;
}

static int io_bootstrap(struct raft_io *io, const struct raft_configuration *conf)
{
    struct journal *j = &agree_of(io)->journal;
    struct raft_buffer buf;
    bool written;

    if (j->term || j->count || j->snapshot.index)
        return RAFT_CANTBOOTSTRAP;
    if (raft_configuration_encode(conf, &buf) != 0)
        return RAFT_NOMEM;
    written = journal_found(j, buf.base, buf.len);
    raft_free(buf.base);
    return agree_wrote(written);
}

static int io_recover(struct raft_io *io, const struct raft_configuration *conf)
{
    (void)io, (void)conf;
    return RAFT_INVALID;
}

static int io_set_term(struct raft_io *io, raft_term term)
{
    return agree_wrote(journal_vote(&agree_of(io)->journal, term, 0));
}

static int io_set_vote(struct raft_io *io, raft_id id)
{
    struct journal *j = &agree_of(io)->journal;

    return agree_wrote(journal_vote(j, j->term, id));
}

static void agree_confirm_append(struct agree *a, struct agree_done *d, int status)
{
    struct raft_io_append *request = d->request;

    request->cb(request, a->journal.broken ? RAFT_IOERR : status);
}

static int io_append(struct raft_io *io, struct raft_io_append *req, const struct raft_entry entries[], unsigned n,
                     raft_io_append_cb cb)
{
    struct agree *a = agree_of(io);

    a->stored = true;
    for (unsigned k = 0; k < n; k++)
        if (!journal_append(&a->journal, entries[k].term, entries[k].type, entries[k].buf.base, entries[k].buf.len))
            return RAFT_IOERR;
    req->cb = cb;
    agree_later(a, req, agree_confirm_append);
    return 0;
}

static int io_truncate(struct raft_io *io, raft_index index)
{
    return agree_wrote(journal_truncate(&agree_of(io)->journal, index));
}

static void agree_confirm_put(struct agree *a, struct agree_done *d, int status)
{
    struct raft_io_snapshot_put *request = d->request;

    (void)a;
    request->cb(request, status);
}

static int io_snapshot_put(struct raft_io *io, unsigned trailing, struct raft_io_snapshot_put *req,
                           const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct agree *a = agree_of(io);
    struct journal_snapshot s = {
        .index = snapshot->index, .term = snapshot->term, .conf_index = snapshot->configuration_index};
    bool written;

    agree_encode_servers(&snapshot->configuration, &s.conf);
    for (unsigned k = 0; k < snapshot->n_bufs; k++)
        memcpy(bytes_add(&s.data, snapshot->bufs[k].len), snapshot->bufs[k].base, snapshot->bufs[k].len);
    a->stored = true;
    written = journal_snapshot(&a->journal, &s, trailing);
    bytes_free(&s.conf);
    bytes_free(&s.data);
    if (!written)
        return RAFT_IOERR;
    req->cb = cb;
    agree_later(a, req, agree_confirm_put);
    return 0;
}

static void agree_confirm_get(struct agree *a, struct agree_done *d, int status)
{
    struct raft_io_snapshot_get *request = d->request;

    request->cb(request, status ? NULL : agree_snapshot(a), status);
}

static int io_snapshot_get(struct raft_io *io, struct raft_io_snapshot_get *req, raft_io_snapshot_get_cb cb)
{
    req->cb = cb;
    agree_later(agree_of(io), req, agree_confirm_get);
    return 0;
}

/* ------------------------------------------------------------------------------------------- libraft's other wishes */

static void agree_confirm_send(struct agree *a, struct agree_done *d, int status)
{
    struct raft_io_send *request = d->request;

    (void)a;
    if (request->cb) /* of a TimeoutNow, nobody wants to know */
        request->cb(request, status);
}

/* libraft 0.15 answers that it has all entries up to the last one of its own log, even if the leader's message went less
 * far and what lies beyond is of a former leader. The leader would count it as a copy of its own entries, and could take
 * for agreed what a majority does not have. So we say up to where both logs are known to be the same, and no more. */
static void agree_answer(struct agree *a, struct raft_append_entries_result *result)
{
    if (result->rejected)
        return;
    if (a->matched < a->asked)
        a->matched = a->asked;
    if (result->last_log_index > a->matched)
        result->last_log_index = a->matched;
}

static void agree_asked(struct agree *a, const struct raft_message *m)
{
    bool snapshot = m->type == RAFT_IO_INSTALL_SNAPSHOT;
    raft_term term = snapshot ? m->install_snapshot.term : m->append_entries.term;

    a->asked = 0;
    a->stored = false;
    if (m->type != RAFT_IO_APPEND_ENTRIES && !snapshot)
        return;
    if (a->matched_term != term) {
        a->matched_term = term;
        a->matched = 0;
    }
    a->asked =
        snapshot ? m->install_snapshot.last_index : m->append_entries.prev_log_index + m->append_entries.n_entries;
}

static int io_send(struct raft_io *io, struct raft_io_send *req, const struct raft_message *message, raft_io_send_cb cb)
{
    struct agree *a = agree_of(io);
    struct raft_message m = *message;
    struct bytes b = {0};

    if (m.type == RAFT_IO_APPEND_ENTRIES_RESULT)
        agree_answer(a, &m.append_entries_result);
    agree_encode(&m, &b);
    a->conf.send(a->conf.user, message->server_id, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
    req->cb = cb;
    agree_later(a, req, agree_confirm_send);
    return 0;
}

static raft_time io_time(struct raft_io *io)
{
    return agree_of(io)->now_ms;
}

static int io_random(struct raft_io *io, int min, int max)
{
    struct agree *a = agree_of(io);

    return min + (int)(a->conf.random(a->conf.user) % (uint64_t)(max - min));
}

static void io_close(struct raft_io *io, raft_io_close_cb cb)
{
    agree_settle(agree_of(io), RAFT_CANCELED);
    cb(io);
}

/* ------------------------------------------------------------------------------------------------------------ views */

/* A view is agreed. It is written down, so that after a restart it is known who the others are, before a leader has been
 * found that could tell. */
static void agree_take(struct agree *a, const struct view *view)
{
    struct bytes b = {0};

    a->view = *view;
    view_encode(view, &b);
    journal_identify(&a->journal, a->journal.disk_id, a->journal.member, b.at + b.start, bytes_len(&b));
    journal_join(&a->journal); /* if it cannot be written, the journal is broken */
    bytes_free(&b);
}

static int fsm_apply(struct raft_fsm *fsm, const struct raft_buffer *buf, void **result)
{
    struct agree *a = fsm->data;
    struct view next;

    *result = NULL;
    if (view_decode(&next, buf->base, buf->len) && next.number == a->view.number + 1)
        agree_take(a, &next);
    return 0;
}

static int fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct agree *a = fsm->data;
    struct bytes b = {0};

    view_encode(&a->view, &b);
    *n_bufs = 1;
    *bufs = raft_malloc(sizeof **bufs);
    (*bufs)[0] = (struct raft_buffer){agree_copy(&b), bytes_len(&b)};
    bytes_free(&b);
    return 0;
}

static int fsm_restore(struct raft_fsm *fsm, struct raft_buffer *buf)
{
    struct agree *a = fsm->data;
    struct view view;

    if (!view_decode(&view, buf->base, buf->len))
        return RAFT_MALFORMED;
    raft_free(buf->base);
    if (view.number > a->view.number)
        agree_take(a, &view);
    return 0;
}

/* ----------------------------------------------------------------------------------------------- begin and the end */

struct agree *agree_new(const struct agree_conf *conf, const uint8_t *journal, size_t len, struct dme_text *why)
{
    struct agree *a = mem_new(sizeof *a);
    const char *wrong;

    a->conf = *conf;
    ring_init(&a->done);
    a->io = (struct raft_io){.version = 1,
                             .impl = a,
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
    a->fsm = (struct raft_fsm){
        .version = 1, .data = a, .apply = fsm_apply, .snapshot = fsm_snapshot, .restore = fsm_restore};
    wrong = journal_open(&a->journal, conf->disk, journal, len);
    if (!wrong && a->journal.disk_id &&
        !view_decode(&a->view, a->journal.view.at + a->journal.view.start, bytes_len(&a->journal.view)))
        wrong = "is of another version";
    if (wrong) {
        dme_print(why, "the journal %s", wrong);
        agree_free(a);
        return NULL;
    }
    return a;
}

static void agree_closed(struct raft *raft)
{
    struct agree *a = raft->data;

    a->closed = true;
}

void agree_free(struct agree *a)
{
    if (a->begun && !a->journal.broken) { /* libraft 0.15 does not survive it after an error of the disk */
        raft_close(&a->raft, agree_closed);
        agree_settle(a, RAFT_CANCELED);
        assert(a->closed);
    }
    journal_close(&a->journal);
    free(a);
}

bool agree_knows_itself(const struct agree *a)
{
    return a->journal.member != 0;
}

const struct journal *agree_journal(const struct agree *a)
{
    return &a->journal;
}

uint64_t agree_begin_life(struct agree *a, uint64_t least)
{
    journal_live(&a->journal, least); /* if it cannot be written, the journal is broken */
    return a->journal.life;
}

static bool agree_init_raft(struct agree *a, struct dme_text *why)
{
    char address[24];
    struct dme_text text;

    /* libraft wants addresses; where a member is, the roster knows. */
    dme_text_init(&text, address, sizeof address);
    dme_print(&text, "%llu", (unsigned long long)a->journal.member);
    if (raft_init(&a->raft, &a->io, &a->fsm, a->journal.member, address) != 0) {
        dme_print(why, "agreement cannot begin: %s", raft_errmsg(&a->raft));
        return false;
    }
    a->raft.data = a;
    a->begun = true;
    /* No pre-vote: in libraft 0.15 two servers, one with the longer log and one with the higher term, may reject each other
     * for ever. Without it, who was cut off disturbs the leader when it is back; locks do not notice. */
    raft_set_election_timeout(&a->raft, (unsigned)a->conf.election_ms);
    raft_set_heartbeat_timeout(&a->raft, (unsigned)(a->conf.election_ms / 4));
    raft_set_snapshot_threshold(&a->raft, SNAPSHOT_EVERY);
    raft_set_snapshot_trailing(&a->raft, SNAPSHOT_TRAILING);
    return true;
}

static void agree_identify(struct agree *a, const struct view *roster, uint64_t id)
{
    struct bytes first = {0};

    view_encode(roster, &first);
    journal_identify(&a->journal, a->conf.random(a->conf.user) | 1, id, first.at + first.start, bytes_len(&first));
    bytes_free(&first);
    a->view = *roster;
}

bool agree_join(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why)
{
    agree_identify(a, roster, id);
    if (!journal_join(&a->journal)) {
        dme_print(why, "the journal cannot be written to");
        return false;
    }
    return agree_init_raft(a, why);
}

bool agree_found(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why)
{
    struct raft_configuration servers;
    int error = 0;

    agree_identify(a, roster, id);
    if (!agree_init_raft(a, why))
        return false;
    raft_configuration_init(&servers);
    for (uint32_t k = 0; k < roster->count && !error; k++) {
        char address[24];
        struct dme_text text;

        dme_text_init(&text, address, sizeof address);
        dme_print(&text, "%llu", (unsigned long long)roster->member[k].id);
        error = raft_configuration_add(&servers, roster->member[k].id, address, RAFT_VOTER);
    }
    if (!error)
        error = raft_bootstrap(&a->raft, &servers);
    raft_configuration_close(&servers);
    if (error)
        dme_print(why, "the cluster cannot be founded: %s", raft_strerror(error));
    return !error;
}

bool agree_begin(struct agree *a, uint64_t now_ms, struct dme_text *why)
{
    int error;

    a->now_ms = now_ms;
    if (!a->begun && !agree_init_raft(a, why))
        return false;
    error = raft_start(&a->raft);
    agree_settle(a, 0);
    if (error)
        dme_print(why, "agreement cannot begin: %s", raft_errmsg(&a->raft));
    return !error;
}

/* ------------------------------------------------------------------------------------------------------- while it runs */

bool agree_is_broken(const struct agree *a)
{
    return a->journal.broken || (a->tick && a->raft.state == RAFT_UNAVAILABLE);
}

const char *agree_why_broken(const struct agree *a)
{
    return a->journal.broken ? "the journal cannot be written to" : raft_errmsg((struct raft *)&a->raft);
}

bool agree_leads(const struct agree *a)
{
    return a->tick && a->raft.state == RAFT_LEADER;
}

uint64_t agree_leader(const struct agree *a)
{
    raft_id id = 0;
    const char *address;

    if (a->tick)
        raft_leader((struct raft *)&a->raft, &id, &address);
    return id;
}

const struct view *agree_view(const struct agree *a)
{
    return &a->view;
}

uint64_t agree_due_ms(const struct agree *a)
{
    return a->tick ? a->next_tick_ms : UINT64_MAX;
}

static void agree_changed(struct raft_change *request, int status)
{
    struct agree *a = request->data;

    (void)status; /* if it was in vain, it is tried again */
    a->changing = false;
}

/* Who is to be removed, and takes part no more, is a server no more; only then does it leave the roster, as until then it
 * may be needed for a majority. */
static bool agree_wants(const struct agree *a, uint32_t place)
{
    return place != VIEW_MEMBERS_MAX &&
           (a->view.member[place].standing != VIEW_REMOVED || a->view.member[place].incarnation);
}

/* One server is made as the roster has it. */
static int agree_change_one(struct agree *a, const struct raft_server *server, uint32_t place)
{
    a->change.data = a;
    if (server->id == a->raft.id) /* nobody removes itself: it hands over, and somebody else does */
        return NOTHING;
    if (!agree_wants(a, place))
        return raft_remove(&a->raft, &a->change, server->id, agree_changed);
    if (server->role != RAFT_VOTER)
        return raft_assign(&a->raft, &a->change, server->id, RAFT_VOTER, agree_changed);
    return NOTHING;
}

static int agree_change_next(struct agree *a)
{
    const struct raft_configuration *conf = &a->raft.configuration;
    int error;

    for (unsigned k = 0; k < conf->n; k++)
        if ((error = agree_change_one(a, &conf->servers[k], view_find(&a->view, conf->servers[k].id))) != NOTHING)
            return error;
    for (uint32_t k = 0; k < a->view.count; k++) {
        bool there = false;
        char address[24];
        struct dme_text text;

        for (unsigned s = 0; s < conf->n; s++)
            there |= conf->servers[s].id == a->view.member[k].id;
        if (there || !agree_wants(a, k))
            continue;
        dme_text_init(&text, address, sizeof address);
        dme_print(&text, "%llu", (unsigned long long)a->view.member[k].id);
        return raft_add(&a->raft, &a->change, a->view.member[k].id, address, agree_changed);
    }
    return NOTHING;
}

/* Who leads makes the list of servers follow the roster, as soon as it knows the newest. */
static void agree_follow_roster(struct agree *a)
{
    if (!agree_leads(a) || a->led != a->raft.current_term || a->barring || a->changing || a->now_ms < a->next_change_ms)
        return;
    a->next_change_ms = a->now_ms + CHANGE_PAUSE_MS;
    a->change.data = a;
    a->changing = true;
    if (agree_change_next(a) != 0)
        a->changing = false;
}

static void agree_barred(struct raft_barrier *request, int status)
{
    struct agree *a = request->data;

    (void)status;
    a->barring = false;
}

/* Entries of a former leader count as agreed only with the first one of the new leader: it writes one that says nothing, or
 * some members would not get to know the newest view before the next one. */
static void agree_begin_to_lead(struct agree *a)
{
    if (!agree_leads(a) || a->led == a->raft.current_term || a->barring)
        return;
    a->barrier.data = a;
    a->barring = raft_barrier(&a->raft, &a->barrier, agree_barred) == 0;
    if (a->barring)
        a->led = a->raft.current_term;
}

void agree_advance(struct agree *a, uint64_t now_ms)
{
    if (a->now_ms < now_ms)
        a->now_ms = now_ms;
    if (!a->tick || a->now_ms < a->next_tick_ms)
        return;
    a->next_tick_ms = a->now_ms + a->tick_ms;
    a->tick(&a->io);
    agree_begin_to_lead(a);
    agree_follow_roster(a);
    agree_settle(a, 0);
}

static struct raft_server *agree_server(const struct agree *a, uint64_t id)
{
    const struct raft_configuration *conf = &a->raft.configuration;

    for (unsigned k = 0; k < conf->n; k++)
        if (conf->servers[k].id == id)
            return &conf->servers[k];
    return NULL;
}

/* libraft 0.15 does not let a server vote that has no vote by its own list of servers. But who has just been given one may not
 * know yet, when the leader dies; by the list of the others it is needed for a majority, and nobody asks it who does not
 * count on it. So it votes. Nor does such a server ever forget a leader, and it rejects all others as long as it has one. */
static void agree_receive_call_for_votes(struct agree *a, struct raft_message *m)
{
    struct raft_server *self = agree_server(a, a->raft.id);
    int role = self ? self->role : RAFT_VOTER;

    if (role != RAFT_VOTER) {
        if (a->raft.state == RAFT_FOLLOWER && a->now_ms - a->raft.election_timer_start >= a->conf.election_ms)
            a->raft.follower_state.current_leader.id = 0;
        self->role = RAFT_VOTER;
    }
    a->recv(&a->io, m);
    if (role != RAFT_VOTER)
        self->role = role;
}

void agree_receive(struct agree *a, uint64_t from, const uint8_t *bytes, size_t len)
{
    struct raft_message m = {0};
    char address[24];
    struct dme_text text;

    if (!a->tick || !agree_decode(&m, bytes, len))
        return;
    dme_text_init(&text, address, sizeof address);
    dme_print(&text, "%llu", (unsigned long long)from);
    m.server_id = from;
    m.server_address = address;
    agree_asked(a, &m);
    if (m.type == RAFT_IO_REQUEST_VOTE)
        agree_receive_call_for_votes(a, &m);
    else
        a->recv(&a->io, &m);
    if (a->stored && a->matched < a->asked) /* it was accepted, and will be answered when the write is confirmed */
        a->matched = a->asked;
    a->asked = 0;
    agree_settle(a, 0);
}

static void agree_applied(struct raft_apply *request, int status, void *result)
{
    struct agree *a = request->data;

    (void)status, (void)result; /* who proposed it looks at the view, not at this */
    a->proposing = false;
}

bool agree_is_proposing(const struct agree *a)
{
    return a->proposing;
}

bool agree_propose(struct agree *a, const struct view *view)
{
    struct bytes b = {0};
    struct raft_buffer buf;

    if (!agree_leads(a) || a->proposing)
        return false;
    view_encode(view, &b);
    buf = (struct raft_buffer){agree_copy(&b), bytes_len(&b)};
    bytes_free(&b);
    a->apply.data = a;
    a->proposing = true;
    if (raft_apply(&a->raft, &a->apply, &buf, 1, agree_applied) != 0) {
        raft_free(buf.base);
        a->proposing = false;
    }
    agree_settle(a, 0);
    return a->proposing;
}

static void agree_handed_over(struct raft_transfer *request)
{
    struct agree *a = request->data;

    a->handing_over = false;
}

bool agree_hand_over(struct agree *a)
{
    if (agree_leads(a) && !a->handing_over) {
        a->transfer.data = a;
        a->handing_over = raft_transfer(&a->raft, &a->transfer, 0, agree_handed_over) == 0;
        agree_settle(a, 0);
    }
    return a->handing_over;
}

bool agree_has_caught_up(const struct agree *a, uint64_t id)
{
    const struct raft_server *server = agree_server(a, id);

    return server && server->role == RAFT_VOTER && a->raft.configuration_uncommitted_index == 0;
}

bool agree_has_forgotten(const struct agree *a, uint64_t id)
{
    return !agree_server(a, id) && a->raft.configuration_uncommitted_index == 0;
}
