/* agree.c - see agree.h. Drives libraft: proposals, leadership and the list of servers. libraft's disk, network and
 * clock are in agree_io.c. */
#include "agree.h"

#include "agree_guard.h"
#include "agree_io.h"
#include "agree_servers.h"
#include "agree_wire.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* This file reads libraft's internal state and works around defects of version 0.15 (docs/dependencies.md). The version
 * is recognized by what changed with it: up to 0.15 error numbers were macros, 0.15 brought asynchronous work. */
#if defined RAFT_VERSION_NUMBER || !defined RAFT_NOMEM
#error "this libraft is newer than 0.15, with which dibs was tested; docs/dependencies.md says what has to be checked"
#endif
_Static_assert(sizeof(struct raft_io_async_work) > 0, "this libraft is older than 0.15, with which dibs was tested");
extern const void *raft_heap_get(void) __attribute__((weak));

enum { NOTHING = -1 /* is to be changed */ };
enum { SNAPSHOT_EVERY = 64, SNAPSHOT_TRAILING = 16, CHANGE_PAUSE_MS = 50 };

struct agree {
    struct agree_io io;
    struct agree_guard guard;
    struct raft raft;
    struct raft_fsm fsm;
    struct view view;     /* the newest view that is agreed */
    struct view shown;    /* the newest view that the caller may see: it is agreed, and durable */
    uint64_t view_record; /* when the disk has this record, `view` may be shown */
    /* When the disk has this record, other members may learn this one's incarnation (I26). */
    uint64_t incarnation_record;
    uint64_t next_change_ms;
    struct raft_apply apply;
    struct raft_change change;
    struct raft_transfer transfer;
    struct raft_barrier barrier;
    raft_term led; /* the newest term in which this member leads and has appended a barrier */
    struct {
        raft_term term; /* in which this member leads; the rest is about it */
        struct {
            raft_id id;
            raft_index has,
                told; /* the server has the entries up to `has`, and was told that those up to `told` are agreed */
        } server[VIEW_MEMBERS_MAX];
    } followers; /* see agree_tell_agreed */
    bool begun, closed, proposing, changing, handing_over, barrier_pending;
};

/* libraft requires an address for each server. It gets the id as text, since addresses are in the roster. */
struct agree_address {
    char text[24];
};

static struct agree_address agree_address(uint64_t id)
{
    struct agree_address address;
    struct dme_text text;

    dme_text_init(&text, address.text, sizeof address.text);
    dme_print(&text, "%llu", (unsigned long long)id);
    return address;
}

/* ------------------------------------------------------------------------------------------------------------ views */

/* A follower learns from its leader what is agreed: a majority has it on disk, and the leader counts this member among
 * them only when this member's disk has it. A leader counts itself at once, so it must wait for its own disk. */
static void agree_show(struct agree *a)
{
    if (a->shown.number < a->view.number && a->view_record <= a->io.journal.durable)
        a->shown = a->view;
}

/* A view is agreed. It is recorded in the journal, so that after a restart this member knows the roster before it has
 * heard from a leader. */
static void agree_take(struct agree *a, const struct view *view)
{
    struct bytes b = {0};

    a->view = *view;
    view_encode(view, &b);
    journal_identify(&a->io.journal, a->io.journal.disk_id, a->io.journal.member, b.at + b.start, bytes_len(&b));
    journal_join(&a->io.journal); /* if it cannot be written, the journal is broken */
    a->view_record = a->raft.state == RAFT_LEADER ? a->io.journal.made : 0;
    agree_show(a);
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
    (*bufs)[0] = (struct raft_buffer){agree_io_copy(&b), bytes_len(&b)};
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
    struct agree *a;
    const char *wrong;

    if (raft_heap_get) {
        dme_print(why, "libraft is newer here than 0.15, with which dibs was built and tested; install libraft 0.15");
        return NULL;
    }
    a = mem_new(sizeof *a);
    agree_io_init(&a->io, conf);
    a->fsm = (struct raft_fsm){
        .version = 1, .data = a, .apply = fsm_apply, .snapshot = fsm_snapshot, .restore = fsm_restore};
    wrong = journal_open(&a->io.journal, conf->disk, journal, len);
    if (!wrong && a->io.journal.disk_id &&
        !view_decode(&a->view, a->io.journal.view.at + a->io.journal.view.start, bytes_len(&a->io.journal.view)))
        wrong = "is of another version";
    a->shown = a->view;
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
    if (a->begun) {
        raft_close(&a->raft, agree_closed);
        agree_io_confirm_all(&a->io, RAFT_CANCELED);
        assert(a->closed);
    }
    journal_close(&a->io.journal);
    bytes_free(&a->io.held);
    free(a);
}

bool agree_knows_itself(const struct agree *a)
{
    return a->io.journal.member != 0;
}

const struct journal *agree_journal(const struct agree *a)
{
    return &a->io.journal;
}

uint64_t agree_begin_incarnation(struct agree *a, uint64_t least, uint64_t lease_ms)
{
    journal_begin_incarnation(&a->io.journal, least, lease_ms); /* if it cannot be written, the journal is broken */
    a->incarnation_record = a->io.journal.made;
    return a->io.journal.incarnation;
}

void agree_shorten_lease(struct agree *a, uint64_t lease_ms)
{
    journal_set_lease(&a->io.journal, lease_ms);
}

void agree_lengthen_lease(struct agree *a, uint64_t lease_ms)
{
    journal_set_lease(&a->io.journal, lease_ms);
    a->incarnation_record = a->io.journal.made;
}

bool agree_incarnation_is_durable(const struct agree *a)
{
    return a->incarnation_record <= a->io.journal.durable;
}

void agree_written(struct agree *a, bool good)
{
    journal_written(&a->io.journal, good);
    agree_io_release(&a->io);
    agree_show(a);
}

static void agree_set_times(struct agree *a)
{
    raft_set_election_timeout(&a->raft, (unsigned)a->io.conf.election_ms);
    raft_set_heartbeat_timeout(&a->raft, (unsigned)(a->io.conf.election_ms / 4));
    /* While libraft promotes a server to a voter, it changes no other server. So it gives up soon if the server does
     * not answer. */
    raft_set_max_catch_up_round_duration(&a->raft, (unsigned)(4 * a->io.conf.election_ms));
    /* After this time a lost snapshot is sent again. libraft's default of 30 s is too long for a small snapshot. */
    raft_set_install_snapshot_timeout(&a->raft, (unsigned)(4 * a->io.conf.election_ms));
}

void agree_set_election(struct agree *a, uint64_t election_ms)
{
    uint64_t before_ms = a->io.conf.election_ms;

    a->io.conf.election_ms = election_ms;
    if (!a->begun || before_ms == election_ms)
        return;
    agree_set_times(a);
    a->io.tick_ms = election_ms / 4;
    /* libraft draws the time after which a follower becomes a candidate once for each term. */
    if (a->raft.state == RAFT_FOLLOWER)
        a->raft.follower_state.randomized_election_timeout =
            (unsigned)(a->raft.follower_state.randomized_election_timeout * election_ms / before_ms);
}

static bool agree_init_raft(struct agree *a, struct dme_text *why)
{
    uint64_t id = a->io.journal.member;

    if (raft_init(&a->raft, &a->io.calls, &a->fsm, id, agree_address(id).text) != 0) {
        dme_print(why, "agreement cannot begin: %s", raft_errmsg(&a->raft));
        return false;
    }
    a->raft.data = a;
    a->begun = true;
    /* No pre-vote: in libraft 0.15 two servers, one with the longer log and one with the higher term, can reject each
     * other for ever. Without pre-vote, a member that was cut off disturbs the leader when it comes back. Locks are not
     * affected. */
    agree_set_times(a);
    raft_set_snapshot_threshold(&a->raft, SNAPSHOT_EVERY);
    raft_set_snapshot_trailing(&a->raft, SNAPSHOT_TRAILING);
    return true;
}

static void agree_identify(struct agree *a, const struct view *roster, uint64_t id)
{
    struct bytes first = {0};

    view_encode(roster, &first);
    journal_identify(&a->io.journal, a->io.conf.random(a->io.conf.user) | 1, id, first.at + first.start,
                     bytes_len(&first));
    bytes_free(&first);
    a->view = a->shown = *roster;
}

bool agree_join(struct agree *a, const struct view *roster, uint64_t id, struct dme_text *why)
{
    agree_identify(a, roster, id);
    if (!journal_join(&a->io.journal)) {
        dme_print(why, "the journal cannot be written to");
        return false;
    }
    a->incarnation_record = a->io.journal.made;
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
    for (uint32_t k = 0; k < roster->count && !error; k++)
        error = raft_configuration_add(&servers, roster->member[k].id, agree_address(roster->member[k].id).text,
                                       RAFT_VOTER);
    if (!error)
        error = raft_bootstrap(&a->raft, &servers);
    raft_configuration_close(&servers);
    a->incarnation_record = a->io.journal.made;
    if (error)
        dme_print(why, "the cluster cannot be founded: %s", raft_strerror(error));
    return !error;
}

bool agree_begin(struct agree *a, uint64_t now_ms, struct dme_text *why)
{
    int error;

    a->io.now_ms = now_ms;
    if (!a->begun && !agree_init_raft(a, why))
        return false;
    error = raft_start(&a->raft);
    agree_io_confirm_all(&a->io, 0);
    if (error)
        dme_print(why, "agreement cannot begin: %s", raft_errmsg(&a->raft));
    else
        agree_servers_remind(&a->raft, &a->io.journal);
    return !error;
}

/* ------------------------------------------------------------------------------------------------------- while it runs */

bool agree_is_broken(const struct agree *a)
{
    return a->io.journal.broken || (a->io.tick && a->raft.state == RAFT_UNAVAILABLE);
}

const char *agree_why_broken(const struct agree *a)
{
    return a->io.journal.broken ? "the journal cannot be written to" : raft_errmsg((struct raft *)&a->raft);
}

bool agree_leads(const struct agree *a)
{
    return a->io.tick && a->raft.state == RAFT_LEADER && !a->io.journal.broken;
}

uint64_t agree_leader(const struct agree *a)
{
    raft_id id = 0;
    const char *address;

    if (a->io.tick)
        raft_leader((struct raft *)&a->raft, &id, &address);
    return id;
}

const struct view *agree_view(const struct agree *a)
{
    return &a->shown;
}

uint64_t agree_due_ms(const struct agree *a)
{
    return a->io.tick ? a->io.next_tick_ms : UINT64_MAX;
}

static struct raft_server *agree_server(const struct agree *a, uint64_t id)
{
    const struct raft_configuration *conf = &a->raft.configuration;

    for (unsigned k = 0; k < conf->n; k++)
        if (conf->servers[k].id == id)
            return &conf->servers[k];
    return NULL;
}

static void agree_changed(struct raft_change *request, int status)
{
    struct agree *a = request->data;

    (void)status; /* if the change failed, it is tried again */
    a->changing = false;
}

/* Shall the member at this place be a server? A member that is to be removed first stops taking part, then it is
 * removed from the servers, and then from the roster: until it is no server any more, it may be needed for a
 * majority. */
static bool agree_wants(const struct agree *a, uint32_t place)
{
    return place != VIEW_MEMBERS_MAX &&
           (a->view.member[place].standing != VIEW_REMOVED || a->view.member[place].incarnation);
}

/* Changes one server to what the roster says about the member at `place`. */
static int agree_change_one(struct agree *a, const struct raft_server *server, uint32_t place)
{
    a->change.data = a;
    if (server->id == a->raft.id) /* a leader does not remove itself: it hands over, and the next leader does it */
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
        uint64_t id = a->view.member[k].id;

        if (!agree_server(a, id) && agree_wants(a, k))
            return raft_add(&a->raft, &a->change, id, agree_address(id).text, agree_changed);
    }
    return NOTHING;
}

/* The leader makes the list of servers follow the roster, once its barrier is committed and it knows the newest
 * view. */
static void agree_follow_roster(struct agree *a)
{
    if (!agree_leads(a) || a->led != a->raft.current_term || a->barrier_pending || a->changing ||
        a->io.now_ms < a->next_change_ms)
        return;
    a->next_change_ms = a->io.now_ms + CHANGE_PAUSE_MS;
    a->change.data = a;
    a->changing = true;
    if (agree_change_next(a) != 0)
        a->changing = false;
}

static void agree_barrier_done(struct raft_barrier *request, int status)
{
    struct agree *a = request->data;

    (void)status;
    a->barrier_pending = false;
}

/* libraft 0.15 tells a follower with its next heartbeat which entries are agreed: clients of all members would wait for
 * that in every change of the view. This function tells it at once, with a message that a leader may send at any time:
 * AppendEntries without entries, behind an entry that the follower has acknowledged. libraft need not know of it. */
static void agree_tell_agreed(struct agree *a)
{
    raft_index agreed = a->raft.commit_index;

    if (a->io.conf.patient || !agree_leads(a) || a->followers.term != a->raft.current_term)
        return;
    for (unsigned k = 0; k < VIEW_MEMBERS_MAX; k++) {
        raft_id id = a->followers.server[k].id;
        raft_term term = journal_term(&a->io.journal, agreed);

        if (!id || !term || a->followers.server[k].told >= agreed || a->followers.server[k].has < agreed ||
            !agree_server(a, id))
            continue;
        a->followers.server[k].told = agreed;
        agree_io_send(&a->io, &(struct raft_message){.type = RAFT_IO_APPEND_ENTRIES,
                                                     .server_id = id,
                                                     .append_entries = {.term = a->raft.current_term,
                                                                        .prev_log_index = agreed,
                                                                        .prev_log_term = term,
                                                                        .leader_commit = agreed}});
    }
}

/* A follower has acknowledged entries. */
static void agree_note_result(struct agree *a, const struct raft_message *m)
{
    const struct raft_append_entries_result *r = &m->append_entries_result;
    unsigned k = 0;

    if (!agree_leads(a) || r->term != a->raft.current_term || r->rejected)
        return;
    if (a->followers.term != r->term) {
        memset(&a->followers, 0, sizeof a->followers);
        a->followers.term = r->term;
    }
    while (k < VIEW_MEMBERS_MAX && a->followers.server[k].id && a->followers.server[k].id != m->server_id)
        k++;
    if (k == VIEW_MEMBERS_MAX)
        return;
    a->followers.server[k].id = m->server_id;
    if (a->followers.server[k].has < r->last_log_index)
        a->followers.server[k].has = r->last_log_index;
}

/* A new leader cannot commit entries of earlier leaders before it has committed one of its own term. So it appends a
 * barrier, which has no content. Without it, some members would learn the newest view only with the next one. */
static void agree_begin_to_lead(struct agree *a)
{
    if (!agree_leads(a) || a->led == a->raft.current_term || a->barrier_pending)
        return;
    a->barrier.data = a;
    a->barrier_pending = raft_barrier(&a->raft, &a->barrier, agree_barrier_done) == 0;
    if (a->barrier_pending)
        a->led = a->raft.current_term;
}

void agree_advance(struct agree *a, uint64_t now_ms)
{
    if (a->io.now_ms < now_ms)
        a->io.now_ms = now_ms;
    if (!a->io.tick || a->io.now_ms < a->io.next_tick_ms || agree_is_broken(a))
        return;
    a->io.next_tick_ms = a->io.now_ms + a->io.tick_ms;
    a->io.tick(&a->io.calls);
    agree_io_confirm_all(&a->io, 0);
    agree_begin_to_lead(a);
    agree_io_confirm_all(&a->io, 0);
    agree_follow_roster(a);
    agree_io_confirm_all(&a->io, 0);
}

/* In libraft 0.15 a server does not vote if its own list of servers gives it no vote. But a server that has just become
 * a voter may not know it yet when the leader crashes. By the list of the others its vote is needed for a majority, and
 * only a server that counts on its vote asks for it. So it votes. Such a server also never forgets its leader, and it
 * rejects all candidates while it has a leader: so this function clears a leader that was not heard for an election
 * timeout.
 *
 * A libraft server also votes twice in one term, the second time for the member to which it wanted to hand over. So
 * libraft is told of the hand-over only if the request is of a later term, in which this member has not voted. */
static void agree_receive_call_for_votes(struct agree *a, struct raft_message *m)
{
    struct raft_server *self = agree_server(a, a->raft.id);
    struct raft_transfer *transfer = a->raft.transfer;
    int role = self ? self->role : RAFT_VOTER;

    if (role != RAFT_VOTER) {
        if (a->raft.state == RAFT_FOLLOWER && a->io.now_ms - a->raft.election_timer_start >= a->io.conf.election_ms)
            a->raft.follower_state.current_leader.id = 0;
        self->role = RAFT_VOTER;
    }
    if (m->request_vote.term == a->raft.current_term)
        a->raft.transfer = NULL;
    agree_io_receive(&a->io, m);
    a->raft.transfer = transfer;
    if (role != RAFT_VOTER)
        self->role = role;
}

void agree_receive(struct agree *a, uint64_t from, const uint8_t *bytes, size_t len)
{
    struct agree_address address = agree_address(from);
    struct raft_message m = {0};

    if (!a->io.tick || agree_is_broken(a) || !agree_decode(&m, bytes, len))
        return;
    m.server_id = from;
    m.server_address = address.text;
    if (!agree_guard(&a->guard, &a->raft, &a->io.journal, &m)) {
        agree_discard(&m);
        return;
    }
    if (m.type == RAFT_IO_APPEND_ENTRIES_RESULT)
        agree_note_result(a, &m);
    if (m.type == RAFT_IO_REQUEST_VOTE)
        agree_receive_call_for_votes(a, &m);
    else
        agree_io_receive(&a->io, &m);
    agree_io_confirm_all(&a->io, 0);
    if (m.type == RAFT_IO_APPEND_ENTRIES_RESULT)
        agree_tell_agreed(a);
    if (m.type == RAFT_IO_INSTALL_SNAPSHOT && !agree_is_broken(a))
        agree_servers_remind(&a->raft, &a->io.journal);
}

static void agree_applied(struct raft_apply *request, int status, void *result)
{
    struct agree *a = request->data;

    (void)status, (void)result; /* the caller of agree_propose looks at the view instead */
    a->proposing = false;
}

bool agree_is_proposing(const struct agree *a)
{
    return a->proposing || a->shown.number != a->view.number;
}

bool agree_propose(struct agree *a, const struct view *view)
{
    struct bytes b = {0};
    struct raft_buffer buf;
    struct view decoded;

    if (!agree_leads(a) || a->proposing)
        return false;
    view_encode(view, &b);
    if (!view_decode(&decoded, b.at + b.start,
                     bytes_len(&b))) { /* the others would refuse the entry, and it would stay in the log */
        bytes_free(&b);
        return false;
    }
    buf = (struct raft_buffer){agree_io_copy(&b), bytes_len(&b)};
    bytes_free(&b);
    a->apply.data = a;
    a->proposing = true;
    if (raft_apply(&a->raft, &a->apply, &buf, 1, agree_applied) != 0) {
        raft_free(buf.base);
        a->proposing = false;
    }
    agree_io_confirm_all(&a->io, 0);
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
        agree_io_confirm_all(&a->io, 0);
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
