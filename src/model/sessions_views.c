/* sessions_views.c - owners of a kept session, and how they change when a view begins: the model of node/keep_views.c. See
 * sessions.h. */
#include "sessions.h"

#include <string.h>

static const char *const sessions_two_claims = "two members have told a claim of the lock in one view",
                         *const sessions_twice = "a member has two claims of kept sessions, of which only one may be",
                         *const sessions_other_records =
                             "the next owner of a session has other records of it than another member";

void sessions_forget_record(struct sessions_record *x)
{
    x->record = 0;
    x->shared = x->hearsay = x->told = false;
}

void sessions_forget(const struct model_task *t, struct sessions_member *m, uint32_t q)
{
    m->session[q] = (struct sessions_kept){0};
    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (sessions_of(t, k) == q)
            m->lock[k] = (struct sessions_record){.withdrawn = m->lock[k].withdrawn,
                                                  .alone = m->lock[k].withdrawn && m->lock[k].alone};
}

bool sessions_is_unsure(const struct sessions_member *m, uint32_t q)
{
    return owner_is_unsure(m->session[q].unsure_in, m->opened);
}

/* An excluded process forgets everything. */
static void sessions_begin_anew(struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    memset(m->session, 0, sizeof m->session);
    memset(m->lock, 0, sizeof m->lock);
    memset(m->peer, 0, sizeof m->peer);
    m->passed = m->opened = m->made = 0;
}

/* The own session becomes its records. */
static void sessions_release(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t q)
{
    struct sessions_member *m = &s->member[i];

    m->session[q].own = false;
    m->session[q].wanted_by = 0;
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        if (sessions_of(t, k) != q)
            continue;
        x->record = x->claim != SESSIONS_NONE;
        x->claim = SESSIONS_NONE;
        x->kept = 0;
        x->alone &= x->withdrawn != 0;
    }
    if (!sessions_has_record(t, m, q))
        sessions_forget(t, m, q);
}

/* -------------------------------------------------------------------------------------------------------- to begin a view */

static void sessions_greet(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t q)
{
    struct sessions_member *m = &s->member[i];

    for (uint32_t j = 0; j < t->members; j++)
        for (uint32_t k = 0; k < sessions_records(t); k++)
            if (sessions_of(t, k) == q && sessions_is_peer(t, s, i, j) && !m->peer[j].greeted &&
                m->lock[k].claim != SESSIONS_NONE && !sessions_makes(t, SESSIONS_NO_GREETING))
                sessions_say(
                    s, i, j,
                    (struct sessions_letter){.type = SESSIONS_GRANT, .which = (uint8_t)k, .shared = m->lock[k].shared});
}

static bool sessions_owner_takes_part(const struct sessions *s, uint32_t i, uint32_t q)
{
    const struct sessions_kept *e = &s->member[i].session[q];

    return e->owner && sessions_since(s, i, e->owner - 1u) == e->since && e->since;
}

static void sessions_report(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t q)
{
    const struct sessions_kept *e = &s->member[i].session[q];

    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (sessions_of(t, k) == q && s->member[i].lock[k].record)
            sessions_say_all(t, s, i,
                             (struct sessions_letter){.type = SESSIONS_REPORT,
                                                      .to = e->owner,
                                                      .since = e->since,
                                                      .chosen = e->chosen,
                                                      .which = (uint8_t)k,
                                                      .shared = s->member[i].lock[k].shared});
}

/* Rule 4: a member drops the reports of a view whose barrier it has not passed. */
static void sessions_forget_unfinished(const struct model_task *t, struct sessions_member *m, uint32_t q)
{
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        if (sessions_of(t, k) != q)
            continue;
        if (sessions_makes(t, SESSIONS_HEARSAY) && x->record == 1)
            x->hearsay = x->told = false;
        if (x->hearsay)
            sessions_forget_record(x);
        x->shared |= x->told;
        x->told = false;
    }
}

/* As keep_recall_owner. */
static void sessions_recall_owner(struct sessions_kept *e)
{
    if (!e->before.owner)
        return;
    e->owner = e->before.owner;
    e->since = e->before.since;
    e->chosen = e->before.chosen;
    e->unsure_in = e->before.unsure_in;
    memset(&e->before, 0, sizeof e->before);
}

/* As keep_tell_of. */
static void sessions_tell_of(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t q)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_kept *e = &m->session[q];
    bool unsure;

    sessions_recall_owner(e);
    unsure = sessions_is_unsure(m, q);
    if (e->own && unsure) {
        sessions_release(t, s, i, q);
    } else if (!e->own) {
        sessions_forget_unfinished(t, m, q);
        if (!sessions_has_record(t, m, q)) {
            sessions_forget(t, m, q);
            return;
        }
    }
    if (e->own) {
        e->owner = (uint8_t)(i + 1);
        e->since = sessions_since(s, i, i);
        sessions_greet(t, s, i, q);
    }
    e->leaves = e->own && e->moves_to && sessions_has_claim(t, m, q);
    if (e->own && e->moves_to)
        sessions_say_all(t, s, i,
                         (struct sessions_letter){.type = SESSIONS_MOVE, .to = e->moves_to, .which = (uint8_t)q});
    else
        e->moves_to = 0;
    e->ownerless = e->known && !e->own && !sessions_owner_takes_part(s, i, q);
    unsure = sessions_is_unsure(m, q) && !sessions_makes(t, SESSIONS_SURE);
    if (e->known && !e->own && (e->ownerless || unsure) && !sessions_makes(t, SESSIONS_NO_REPORT))
        sessions_report(t, s, i, q);
}

static void sessions_end_telling(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    for (uint32_t j = 0; j < t->members; j++) {
        if (!sessions_is_peer(t, s, i, j))
            continue;
        if (!m->peer[j].greeted)
            sessions_say(s, i, j, (struct sessions_letter){.type = SESSIONS_SYNC, .number = m->made});
        m->peer[j].greeted = true;
        sessions_say(s, i, j, (struct sessions_letter){.type = SESSIONS_MARK, .to = m->opened});
    }
}

void sessions_install(const struct model_task *t, struct sessions *s, uint32_t i, uint8_t v)
{
    struct sessions_member *m = &s->member[i];
    uint8_t before = m->at;

    m->at = v;
    m->part = s->view[v].since[i] != 0;
    m->awaits = m->part;
    if ((!m->part || s->view[v].since[i] > before) && !(sessions_makes(t, SESSIONS_REMEMBER) && m->part))
        sessions_begin_anew(s, i);
    if (!m->part)
        return;
    for (uint32_t j = 0; j < t->members; j++) {
        if (sessions_is_peer(t, s, i, j) && m->peer[j].since != s->view[v].since[j])
            m->peer[j] = (struct sessions_peer){.since = s->view[v].since[j]};
        m->peer[j].marked = false;
        m->peer[j].opened = 0;
    }
    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (m->lock[k].claim == SESSIONS_READY && !sessions_makes(t, SESSIONS_NO_DOUBT))
            m->lock[k].claim = SESSIONS_PENDING;
    sessions_count_acks(t, s, i);
    for (uint32_t q = 0; q < sessions_count(t); q++)
        sessions_tell_of(t, s, i, q);
    sessions_end_telling(t, s, i);
}

/* ------------------------------------------------------------------------------------------------------------ the barrier */

bool sessions_may_pass(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    const struct sessions_member *m = &s->member[i];

    if (!m->part || !m->awaits)
        return false;
    for (uint32_t j = 0; j < t->members; j++)
        if (sessions_is_peer(t, s, i, j) && !m->peer[j].marked && !sessions_makes(t, SESSIONS_NO_BARRIER))
            return false;
    return true;
}

static bool sessions_moves(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t q)
{
    const struct sessions_kept *e = &s->member[i].session[q];

    return (!e->ownerless || sessions_makes(t, SESSIONS_MOVE_ORPHAN)) && e->moves_to &&
           sessions_since(s, i, e->moves_to - 1u);
}

static bool sessions_is_outdated(const struct model_task *t, uint32_t i, const struct sessions_member *m, uint32_t k)
{
    const struct sessions_kept *e = &m->session[sessions_of(t, k)];
    uint8_t opened = e->owner && e->owner != i + 1 ? m->peer[e->owner - 1].opened : 0;

    return owner_is_outdated(m->lock[k].record - 1u, e->ownerless, e->chosen, opened);
}

/* Records of session `q` that are outdated are forgotten. */
static void sessions_forget_outdated(const struct model_task *t, uint32_t i, struct sessions_member *m, uint32_t q)
{
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        if (sessions_of(t, k) != q || !x->record)
            continue;
        if (sessions_is_outdated(t, i, m, k))
            sessions_forget_record(x);
        else
            x->record = 1;
        x->hearsay = x->told = false;
    }
}

/* As keep_forget_followers: the second record names the first. */
static void sessions_forget_followers(const struct model_task *t, uint32_t i, struct sessions_member *m, uint32_t q)
{
    bool recorded = m->lock[0].record;

    if (sessions_records(t) < 2 || sessions_of(t, 1) != q || !m->lock[1].record ||
        sessions_makes(t, SESSIONS_KEEP_BOTH))
        return;
    if (owner_forgets_follower(m->lock[0].claim != SESSIONS_NONE, recorded,
                               recorded && sessions_is_outdated(t, i, m, 0)))
        sessions_forget_record(&m->lock[1]);
}

/* Records that do not count at the barrier are forgotten. Returns false if nothing is left of the session. */
static bool sessions_clear(const struct model_task *t, uint32_t i, struct sessions_member *m, uint32_t q)
{
    sessions_forget_outdated(t, i, m, q);
    sessions_forget_followers(t, i, m, q);
    return m->session[q].own || sessions_has_record(t, m, q);
}

bool sessions_must_choose(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    struct sessions_member m = s->member[i];

    for (uint32_t q = sessions_count(t); q-- > 0;)
        if (m.session[q].known && sessions_clear(t, i, &m, q) && m.session[q].ownerless && !sessions_moves(t, s, i, q))
            return true;
    return false;
}

static uint8_t sessions_choose(const struct model_task *t, const struct sessions_view *view)
{
    static struct view real;

    real.count = t->members;
    for (uint32_t j = 0; j < t->members; j++) {
        real.member[j].id = j + 1;
        real.member[j].incarnation = view->since[j];
    }
    return (uint8_t)owner_choose(&real, view->choice - 1u);
}

/* As keep_adopt. */
static void sessions_adopt(const struct model_task *t, struct sessions_member *m, uint32_t q)
{
    m->session[q].own = true;
    m->session[q].wanted_by = 0;
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        if (sessions_of(t, k) != q || !x->record)
            continue;
        x->record = 0;
        x->claim = SESSIONS_HELD;
        x->kept = 1;
        x->alone = !x->shared;
    }
}

/* As keep_choose_for. */
static void sessions_choose_for(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t q)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_kept *e = &m->session[q];
    bool moves = sessions_moves(t, s, i, q);

    if (!sessions_clear(t, i, m, q)) {
        sessions_forget(t, m, q);
        return;
    }
    if (owner_changes(e->ownerless, moves, e->own, e->leaves)) {
        e->owner = moves ? e->moves_to : sessions_choose(t, &s->view[m->at]);
        e->since = sessions_since(s, i, e->owner - 1u);
        e->chosen = e->unsure_in = m->at;
    }
    e->moves_to = 0;
    e->ownerless = e->leaves = false;
    memset(&e->before, 0, sizeof e->before);
    if (e->own && e->owner != i + 1)
        sessions_release(t, s, i, q);
    else if (!e->own && e->owner == i + 1 && e->since == sessions_since(s, i, i))
        sessions_adopt(t, m, q);
}

static bool sessions_all_passed(const struct model_task *t, const struct sessions_view *v)
{
    for (uint32_t i = 0; i < t->members; i++)
        if (v->since[i] && !(v->passed >> i & 1))
            return false;
    return true;
}

/* A new owner has done nothing with a session before its view has opened there: what it has, all others that have passed the same barrier have. */
static bool sessions_differ(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t j)
{
    const struct sessions_member *m = &s->member[i], *other = &s->member[j];

    for (uint32_t k = 0; k < sessions_records(t); k++) {
        uint32_t q = sessions_of(t, k);

        if (m->session[q].own && sessions_is_unsure(m, q) && !other->session[q].own &&
            ((m->lock[k].claim != SESSIONS_NONE) != (other->lock[k].record != 0) ||
             m->lock[k].shared != other->lock[k].shared))
            return true;
    }
    return false;
}

static bool sessions_all_agree(const struct model_task *t, const struct sessions *s, uint8_t v)
{
    for (uint32_t i = 0; i < t->members; i++)
        for (uint32_t j = 0; j < t->members; j++)
            if (i != j && s->member[i].at == v && s->member[j].at == v && s->view[v].since[i] && s->view[v].since[j] &&
                s->view[v].passed >> i & 1 && s->view[v].passed >> j & 1 && sessions_differ(t, s, i, j))
                return false;
    return true;
}

const char *sessions_pass(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_view *view = &s->view[m->at];

    for (uint32_t q = sessions_count(t); q-- > 0;) /* the session whose record names another one comes first */
        if (m->session[q].known)
            sessions_choose_for(t, s, i, q);
    m->awaits = false;
    m->passed = m->at;
    view->passed |= (uint8_t)(1 << i);
    if (sessions_all_passed(t, view))
        s->complete = m->at > s->complete ? m->at : s->complete;
    sessions_note_claims(t, s, i);
    if (s->rival == i + 1)
        view->rivals |= (uint8_t)(1 << i);
    if (m->lock[0].claim != SESSIONS_NONE && m->lock[1].claim != SESSIONS_NONE)
        return sessions_twice;
    if (__builtin_popcount(view->claims) > 1 || __builtin_popcount(view->rivals) > 1 ||
        (view->rivals && (sessions_shares(t) ? view->alone : view->claims)))
        return sessions_two_claims;
    return sessions_all_agree(t, s, m->at) ? NULL : sessions_other_records;
}
