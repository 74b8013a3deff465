/* sessions_letters.c - letters about a kept session, as they are sent and heard: the model of node/keep_letters.c. See
 * sessions.h. */
#include "sessions.h"

#include <assert.h>
#include <string.h>

void sessions_say(struct sessions *s, uint32_t i, uint32_t j, struct sessions_letter letter)
{
    letter.view = s->member[i].at;
    assert(s->letters[i][j] < SESSIONS_LETTERS);
    s->letter[i][j][s->letters[i][j]++] = letter;
}

void sessions_say_all(const struct model_task *t, struct sessions *s, uint32_t i, struct sessions_letter letter)
{
    for (uint32_t j = 0; j < t->members; j++)
        if (sessions_is_peer(t, s, i, j))
            sessions_say(s, i, j, letter);
}

/* ------------------------------------------------------------------------------------------------------ acknowledgements */

uint8_t sessions_known(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    const struct sessions_member *m = &s->member[i];
    uint64_t acked[SESSIONS_MEMBERS];
    uint32_t others = 0;

    for (uint32_t j = 0; j < t->members; j++)
        if (sessions_is_peer(t, s, i, j))
            acked[others++] = m->peer[j].acked;
    return (uint8_t)owner_acked(m->made, acked, others);
}

/* Before the barrier of the view no member has told anything. */
void sessions_note_claims(const struct model_task *t, struct sessions *s, uint32_t i)
{
    const struct sessions_member *m = &s->member[i];
    struct sessions_view *v = &s->view[m->at];
    bool any = false, alone = false;

    if (m->awaits)
        return;
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        bool has = m->lock[k].claim != SESSIONS_NONE || m->lock[k].withdrawn;

        any |= has;
        alone |= has && m->lock[k].alone;
    }
    v->claims = (uint8_t)((v->claims & ~(1 << i)) | any << i);
    v->alone = (uint8_t)((v->alone & ~(1 << i)) | alone << i);
}

void sessions_count_acks(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    uint8_t known = sessions_known(t, s, i);

    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        if (x->claim == SESSIONS_PENDING && (x->kept <= known || sessions_makes(t, SESSIONS_TELL_EARLY)))
            x->claim = SESSIONS_READY;
        if (x->claim == SESSIONS_SHARES && (x->kept <= known || sessions_makes(t, SESSIONS_SHARE_EARLY))) {
            x->claim = SESSIONS_HELD;
            x->alone = false;
        }
        if (x->withdrawn && x->withdrawn <= known)
            x->withdrawn = 0; /* its site leaves its critical section, unless another claim follows */
        if (!x->withdrawn && x->claim == SESSIONS_NONE)
            x->alone = false;
    }
    sessions_note_claims(t, s, i);
}

void sessions_withdraw(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t k)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_record *x = &m->lock[k];

    x->claim = SESSIONS_NONE;
    x->kept = 0;
    x->withdrawn = ++m->made;
    if (!sessions_makes(t, SESSIONS_NO_WITHDRAWAL))
        sessions_say_all(t, s, i,
                         (struct sessions_letter){.type = SESSIONS_FREE, .number = m->made, .which = (uint8_t)k});
    if (sessions_makes(t, SESSIONS_LEAVE_EARLY) || sessions_makes(t, SESSIONS_NO_WITHDRAWAL))
        x->withdrawn = 0;
    sessions_count_acks(t, s, i);
}

static void sessions_acknowledge(const struct model_task *t, struct sessions *s, uint32_t j, uint32_t i)
{
    struct sessions_peer *p = &s->member[j].peer[i];

    if (p->seen == p->told || !p->synced || !sessions_is_peer(t, s, j, i))
        return;
    p->told = p->seen;
    sessions_say(s, j, i, (struct sessions_letter){.type = SESSIONS_ACK, .number = p->seen});
}

/* -------------------------------------------------------------------------------------------------------------- hearing */

static void sessions_hear_grant(const struct model_task *t, struct sessions *s, uint32_t j, uint32_t i,
                                const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];
    struct sessions_kept *e = &m->session[sessions_of(t, letter->which)];

    if (e->own)
        return;
    e->known = true;
    if (!e->owner || e->unsure_in != m->at) {
        e->owner = (uint8_t)(i + 1);
        e->since = sessions_since(s, j, i);
    }
    sessions_forget_record(&m->lock[letter->which]);
    m->lock[letter->which].record = 1;
    m->lock[letter->which].shared = letter->shared;
}

static void sessions_hear_free(const struct model_task *t, struct sessions_member *m, uint32_t k)
{
    uint32_t q = sessions_of(t, k);

    if (!m->session[q].known || m->session[q].own)
        return;
    sessions_forget_record(&m->lock[k]);
    if (!sessions_has_record(t, m, q))
        sessions_forget(t, m, q);
}

static void sessions_hear_move(struct sessions *s, uint32_t j, uint32_t i, const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];
    struct sessions_kept *e = &m->session[letter->which];

    if (e->known && !e->own && e->owner == i + 1 && letter->view == m->at)
        e->moves_to = letter->to;
}

static void sessions_hear_stream(const struct model_task *t, struct sessions *s, uint32_t j, uint32_t i,
                                 const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];

    if (letter->type == SESSIONS_GRANT)
        sessions_hear_grant(t, s, j, i, letter);
    else if (letter->type == SESSIONS_FREE)
        sessions_hear_free(t, m, letter->which);
    else if (letter->type == SESSIONS_MOVE)
        sessions_hear_move(s, j, i, letter);
    if (letter->number)
        m->peer[i].seen = letter->number;
    m->peer[i].synced |= letter->type == SESSIONS_SYNC;
}

/* As keep_add_record. A record that the owner has sent stays as it is. */
static void sessions_add_reported(const struct model_task *t, struct sessions_member *m,
                                  const struct sessions_letter *letter, uint8_t named)
{
    struct sessions_record *x = &m->lock[letter->which];
    const struct sessions_kept *e = &m->session[sessions_of(t, letter->which)];

    if (!x->record) {
        x->shared = letter->shared;
        x->hearsay = true;
    } else if (owner_amends(x->record > 1, named, e->ownerless, m->passed) && !sessions_makes(t, SESSIONS_OWN_MODE)) {
        x->told |= x->shared && !letter->shared && !x->hearsay;
        x->shared &= letter->shared;
    }
    x->record = (uint8_t)(1 + (x->record ? owner_names(x->record - 1u, named) : named));
}

static void sessions_hear_report(const struct model_task *t, struct sessions *s, uint32_t j,
                                 const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];
    uint32_t q = sessions_of(t, letter->which);
    struct sessions_kept *e = &m->session[q];
    uint8_t since = sessions_since(s, j, letter->to - 1u);
    struct owner_report report = {.ownerless = !since || since != letter->since, .chosen = letter->chosen};
    struct owner_known known = {
        .known = e->known && e->owner, .own = e->own, .leaves = e->leaves, .chosen = e->chosen, .passed = m->passed};

    if (!m->awaits || !owner_heeds(&report, &known))
        return;
    e->known = true;
    e->ownerless |= report.ownerless;
    if (owner_is_newer(&report, &known)) {
        if (!e->own && !e->before.owner && sessions_has_record(t, m, q) &&
            (e->owner != letter->to || e->since != letter->since || e->chosen != letter->chosen)) {
            e->before.owner = e->owner;
            e->before.since = e->since;
            e->before.chosen = e->chosen;
            e->before.unsure_in = e->unsure_in;
        }
        if (e->owner != letter->to || e->since != letter->since)
            e->moves_to = 0;
        e->owner = letter->to;
        e->since = letter->since;
        e->chosen = letter->chosen;
        e->unsure_in = m->at;
    }
    if (e->own)
        return;
    e->unsure_in = m->at;
    sessions_add_reported(t, m, letter, report.ownerless ? 0 : letter->chosen);
}

static void sessions_hear_ask(struct sessions *s, uint32_t j, uint32_t i, uint32_t q)
{
    struct sessions_member *m = &s->member[j];

    if (m->session[q].known && m->session[q].own && !sessions_is_unsure(m, q) && !m->session[q].moves_to)
        m->session[q].wanted_by = (uint8_t)(i + 1);
}

bool sessions_is_void(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t j,
                      const struct sessions_letter *letter)
{
    return !sessions_is_peer(t, s, j, i) || letter->view < sessions_since(s, j, i) ||
           letter->view < sessions_since(s, j, j);
}

static void sessions_take(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t j,
                          const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];

    if (letter->type <= SESSIONS_SYNC) {
        sessions_hear_stream(t, s, j, i, letter);
    } else if (letter->type == SESSIONS_ACK) {
        m->peer[i].acked = letter->number;
    } else if (letter->view != m->at) {
        return;
    } else if (letter->type == SESSIONS_REPORT) {
        sessions_hear_report(t, s, j, letter);
    } else if (letter->type == SESSIONS_MARK) {
        m->peer[i].marked = true;
        m->peer[i].opened = letter->to;
    } else {
        sessions_hear_ask(s, j, i, letter->which);
    }
}

bool sessions_hear(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t j)
{
    struct sessions_member *m = &s->member[j];
    struct sessions_letter letter = s->letter[i][j][0];

    if (!s->letters[i][j] || letter.view > m->at)
        return false;
    if (!sessions_is_void(t, s, i, j, &letter)) {
        if (!owner_hears(false, !m->awaits || sessions_makes(t, SESSIONS_HEAR_EARLY), m->peer[i].marked))
            return false;
        sessions_take(t, s, i, j, &letter);
    }
    s->letters[i][j]--;
    memmove(&s->letter[i][j][0], &s->letter[i][j][1], s->letters[i][j] * sizeof letter);
    memset(&s->letter[i][j][s->letters[i][j]], 0, sizeof letter);
    sessions_acknowledge(t, s, j, i);
    sessions_count_acks(t, s, j);
    return true;
}
