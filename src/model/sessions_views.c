/* sessions_views.c - owners of a kept session, and how they change when a view begins: the model of node/keep_views.c. See
 * sessions.h. */
#include "sessions.h"

#include <string.h>

static const char *const sessions_two_claims = "two members have told a claim of the lock in one view";

void sessions_forget(struct sessions_member *m)
{
    m->known = m->own = m->ownerless = m->leaves = false;
    m->owner = m->since = m->chosen = m->unsure_in = m->moves_to = m->wanted_by = m->record = m->kept = 0;
    m->claim = SESSIONS_NONE;
}

bool sessions_is_unsure(const struct sessions_member *m)
{
    return owner_is_unsure(m->unsure_in, m->opened);
}

/* An excluded process forgets everything. */
static void sessions_begin_anew(struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    sessions_forget(m);
    memset(m->peer, 0, sizeof m->peer);
    m->withdrawn = m->passed = m->opened = m->made = 0;
}

/* The own session becomes a record. */
static void sessions_release(struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    m->own = false;
    m->record = m->claim != SESSIONS_NONE;
    m->claim = SESSIONS_NONE;
    m->kept = m->wanted_by = 0;
    if (!m->record)
        sessions_forget(m);
}

/* -------------------------------------------------------------------------------------------------------- to begin a view */

static void sessions_greet(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    for (uint32_t j = 0; j < t->members; j++)
        if (sessions_is_peer(t, s, i, j) && !m->peer[j].greeted && m->claim != SESSIONS_NONE &&
            !sessions_makes(t, SESSIONS_NO_GREETING))
            sessions_say(s, i, j, (struct sessions_letter){.type = SESSIONS_GRANT});
}

static bool sessions_owner_takes_part(const struct sessions *s, uint32_t i)
{
    const struct sessions_member *m = &s->member[i];

    return m->owner && sessions_since(s, i, m->owner - 1u) == m->since && m->since;
}

/* As keep_tell_of. */
static void sessions_tell_of(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    bool unsure = sessions_is_unsure(m);

    if (m->own && unsure) {
        sessions_release(s, i);
    } else if (!m->own) {
        if (m->record > 1)
            m->record = 0;
        if (!m->record) {
            sessions_forget(m);
            return;
        }
    }
    if (m->own) {
        m->owner = (uint8_t)(i + 1);
        m->since = sessions_since(s, i, i);
        sessions_greet(t, s, i);
    }
    m->leaves = m->own && m->moves_to && m->claim != SESSIONS_NONE;
    if (m->own && m->moves_to)
        sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_MOVE, .to = m->moves_to});
    else
        m->moves_to = 0;
    m->ownerless = m->known && !m->own && !sessions_owner_takes_part(s, i);
    unsure = sessions_is_unsure(m) && !sessions_makes(t, SESSIONS_SURE);
    if (m->known && !m->own && (m->ownerless || unsure) && !sessions_makes(t, SESSIONS_NO_REPORT))
        sessions_say_all(
            t, s, i,
            (struct sessions_letter){.type = SESSIONS_REPORT, .to = m->owner, .since = m->since, .chosen = m->chosen});
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
    m->awaits = true;
}

void sessions_install(const struct model_task *t, struct sessions *s, uint32_t i, uint8_t v)
{
    struct sessions_member *m = &s->member[i];
    uint8_t before = m->at;

    m->at = v;
    m->part = s->view[v].since[i] != 0;
    m->awaits = false;
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
    if (m->claim == SESSIONS_READY && !sessions_makes(t, SESSIONS_NO_DOUBT))
        m->claim = SESSIONS_PENDING;
    sessions_count_acks(t, s, i);
    sessions_tell_of(t, s, i);
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

static bool sessions_moves(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    const struct sessions_member *m = &s->member[i];

    return (!m->ownerless || sessions_makes(t, SESSIONS_MOVE_ORPHAN)) && m->moves_to &&
           sessions_since(s, i, m->moves_to - 1u);
}

/* A record that is outdated is forgotten. Returns false if nothing is left of the session. */
static bool sessions_forget_outdated(uint32_t i, struct sessions_member *m)
{
    uint8_t opened = m->owner && m->owner != i + 1 ? m->peer[m->owner - 1].opened : 0;

    if (m->record && owner_is_outdated(m->record - 1u, m->ownerless, m->chosen, opened))
        m->record = 0;
    else if (m->record)
        m->record = 1;
    return m->own || m->record;
}

bool sessions_must_choose(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    struct sessions_member m = s->member[i];

    return m.known && sessions_forget_outdated(i, &m) && m.ownerless && !sessions_moves(t, s, i);
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

/* As keep_choose_for. */
static void sessions_choose_for(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    bool moves = sessions_moves(t, s, i);

    if (!sessions_forget_outdated(i, m)) {
        sessions_forget(m);
        return;
    }
    if (owner_changes(m->ownerless, moves, m->own, m->leaves)) {
        m->owner = moves ? m->moves_to : sessions_choose(t, &s->view[m->at]);
        m->since = sessions_since(s, i, m->owner - 1u);
        m->chosen = m->unsure_in = m->at;
    }
    m->moves_to = 0;
    m->ownerless = m->leaves = false;
    if (m->own && m->owner != i + 1) {
        sessions_release(s, i);
    } else if (!m->own && m->owner == i + 1 && m->since == sessions_since(s, i, i)) { /* as keep_adopt */
        m->own = true;
        m->record = 0;
        m->claim = SESSIONS_HELD;
        m->kept = 1;
        m->wanted_by = 0;
    }
}

static bool sessions_all_passed(const struct model_task *t, const struct sessions_view *v)
{
    for (uint32_t i = 0; i < t->members; i++)
        if (v->since[i] && !(v->passed >> i & 1))
            return false;
    return true;
}

const char *sessions_pass(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_view *view = &s->view[m->at];
    uint32_t told;

    if (m->known)
        sessions_choose_for(t, s, i);
    m->awaits = false;
    m->passed = m->at;
    view->passed |= (uint8_t)(1 << i);
    if (sessions_all_passed(t, view))
        s->complete = m->at > s->complete ? m->at : s->complete;
    if (m->claim != SESSIONS_NONE || m->withdrawn)
        view->claims |= (uint8_t)(1 << i);
    if (s->rival == i + 1)
        view->rivals |= (uint8_t)(1 << i);
    told = (uint32_t)(__builtin_popcount(view->claims) + __builtin_popcount(view->rivals));
    return told > 1 ? sessions_two_claims : NULL;
}
