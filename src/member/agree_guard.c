/* agree_guard.c - see agree_guard.h. */
#include "agree_guard.h"

#include "agree_servers.h"
#include "agree_wire.h"
#include "view.h"

#include <string.h>

#define GUARD_MAX ((uint64_t)1 << 56) /* no term and no index is larger; sums of two do not overflow */

static bool guard_is_view(const struct raft_buffer *buf)
{
    struct view view;

    return view_decode(&view, buf->base, buf->len);
}

static bool guard_is_change(const struct raft_buffer *buf)
{
    struct raft_configuration servers;
    bool fine = agree_decode_change(&servers, buf->base, buf->len);

    if (fine)
        raft_configuration_close(&servers);
    return fine;
}

/* Can the sender of this message be the leader of its term? A term has at most one leader, and a leader knows that it
 * leads. */
static bool guard_leads(const struct agree_guard *g, const struct raft *r, const struct raft_message *m, raft_term term)
{
    return !(term == r->current_term && r->state == RAFT_LEADER) && !(term == g->term && m->server_id != g->leader);
}

/* Removes from the message the entries that this member's snapshot replaces. They are committed, so the leader has the
 * same ones. libraft 0.15 would append them again if the message begins at the very first entry, as a late or
 * duplicated message may. It then checks nothing, uses the wrong index, reports "No log entries found at index 1" and
 * frees memory twice. */
static void guard_skip(struct raft_append_entries *e, const struct journal_snapshot *s)
{
    size_t skipped =
        s->index - e->prev_log_index < e->n_entries ? (size_t)(s->index - e->prev_log_index) : e->n_entries;

    e->n_entries -= (unsigned)skipped;
    if (e->n_entries) {
        memmove(e->entries, e->entries + skipped, e->n_entries * sizeof *e->entries);
    } else if (skipped) {
        raft_free(e->entries[0].batch);
        raft_free(e->entries);
        e->entries = NULL;
    }
    e->prev_log_index = s->index;
    e->prev_log_term = s->term;
}

/* Are the entries consistent among themselves? Their types are known, their terms never decrease, and entry 1 of the
 * log is a list of servers. */
static bool guard_entries(const struct raft_append_entries *e)
{
    raft_term term = e->prev_log_term;

    if (e->prev_log_index >= GUARD_MAX || (e->prev_log_index == 0) != (e->prev_log_term == 0))
        return false;
    for (unsigned k = 0; k < e->n_entries; k++) {
        const struct raft_entry *entry = &e->entries[k];

        if (entry->term < term || entry->term == 0)
            return false;
        term = entry->term;
        if (entry->type == RAFT_CHANGE
                ? !guard_is_change(&entry->buf)
                : e->prev_log_index + k == 0 || (entry->type != RAFT_COMMAND && entry->type != RAFT_BARRIER))
            return false;
        if (entry->type == RAFT_COMMAND && !guard_is_view(&entry->buf))
            return false;
    }
    return term <= e->term;
}

/* The first index at which the journal and the message have entries of different terms; 0: there is none. */
static raft_index guard_conflict(const struct journal *j, const struct raft_append_entries *e)
{
    raft_term here = e->prev_log_index ? journal_term(j, e->prev_log_index) : 0;

    if (here && here != e->prev_log_term)
        return e->prev_log_index;
    for (unsigned k = 0; k < e->n_entries; k++)
        if ((here = journal_term(j, e->prev_log_index + 1 + k)) && here != e->entries[k].term)
            return e->prev_log_index + 1 + k;
    return 0;
}

static bool guard_append(struct agree_guard *g, struct raft *r, const struct journal *j, struct raft_message *m)
{
    struct raft_append_entries *e = &m->append_entries;
    raft_index conflict;

    if (!guard_entries(e) || !guard_leads(g, r, m, e->term))
        return false;
    if (e->term < r->current_term) /* libraft rejects it and tells the sender the newer term */
        return true;
    if (e->prev_log_index < j->snapshot.index)
        guard_skip(e, &j->snapshot);
    conflict = guard_conflict(j, e);
    if (conflict && conflict <= r->commit_index)
        return false;
    if (e->leader_commit > e->prev_log_index + e->n_entries) /* later entries of this log may be of an earlier leader */
        e->leader_commit = e->prev_log_index + e->n_entries;
    g->term = e->term;
    g->leader = m->server_id;
    if (conflict > e->prev_log_index)
        agree_servers_take_back(r, j, conflict);
    return true;
}

static bool guard_snapshot(struct agree_guard *g, struct raft *r, const struct journal *j, struct raft_message *m)
{
    const struct raft_install_snapshot *s = &m->install_snapshot;
    raft_term here = s->last_index < GUARD_MAX ? journal_term(j, s->last_index) : 0;
    unsigned voters = 0;

    for (unsigned k = 0; k < s->conf.n; k++)
        voters += s->conf.servers[k].role == RAFT_VOTER;
    if (s->last_index == 0 || s->last_index >= GUARD_MAX || s->conf_index == 0 || s->conf_index > s->last_index ||
        s->last_term == 0 || s->last_term > s->term || !voters || !guard_is_view(&s->data) ||
        !guard_leads(g, r, m, s->term))
        return false;
    if (s->term < r->current_term)
        return true;
    if (here && here != s->last_term && s->last_index <= r->commit_index)
        return false;
    g->term = s->term;
    g->leader = m->server_id;
    return true;
}

bool agree_guard(struct agree_guard *g, struct raft *r, const struct journal *j, struct raft_message *m)
{
    const struct raft_request_vote *v = &m->request_vote;
    raft_term term = m->timeout_now.term; /* every message type begins with its term */

    if (m->server_id == 0 || m->server_id == r->id || term == 0 || term >= GUARD_MAX)
        return false;
    switch (m->type) {
    case RAFT_IO_APPEND_ENTRIES:
        return guard_append(g, r, j, m);
    case RAFT_IO_INSTALL_SNAPSHOT:
        return guard_snapshot(g, r, j, m);
    case RAFT_IO_REQUEST_VOTE: /* a member asks for itself only, and there is no pre-vote (agree_init_raft) */
        return v->candidate_id == m->server_id && !v->pre_vote && v->last_log_term <= v->term;
    case RAFT_IO_REQUEST_VOTE_RESULT:
        return m->request_vote_result.pre_vote != raft_tribool_true;
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        return m->append_entries_result.rejected < GUARD_MAX && m->append_entries_result.last_log_index < GUARD_MAX;
    default:
        return true;
    }
}
