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
    return (uint8_t)owner_known(m->made, acked, others);
}

/* The site of member `i` leaves its critical section. */
static void sessions_leave(struct sessions *s, uint32_t i)
{
    s->view[s->member[i].at].claims &= (uint8_t) ~(1 << i);
}

void sessions_count_acks(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];
    uint8_t known = sessions_known(t, s, i);

    if (m->claim == SESSIONS_PENDING && (m->kept <= known || sessions_makes(t, SESSIONS_TELL_EARLY)))
        m->claim = SESSIONS_READY;
    if (m->withdrawn && m->withdrawn <= known) {
        m->withdrawn = 0;
        sessions_leave(s, i);
    }
}

void sessions_withdraw(const struct model_task *t, struct sessions *s, uint32_t i)
{
    struct sessions_member *m = &s->member[i];

    m->claim = SESSIONS_NONE;
    m->kept = 0;
    m->withdrawn = ++m->made;
    if (!sessions_makes(t, SESSIONS_NO_WITHDRAWAL))
        sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_FREE, .number = m->made});
    if (sessions_makes(t, SESSIONS_LEAVE_EARLY) || sessions_makes(t, SESSIONS_NO_WITHDRAWAL)) {
        m->withdrawn = 0;
        sessions_leave(s, i);
    }
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

static void sessions_hear_grant(struct sessions *s, uint32_t j, uint32_t i)
{
    struct sessions_member *m = &s->member[j];

    if (m->own)
        return;
    m->known = true;
    if (!m->owner || m->unsure_in != m->at) {
        m->owner = (uint8_t)(i + 1);
        m->since = sessions_since(s, j, i);
    }
    m->record = 1;
}

static void sessions_hear_move(struct sessions *s, uint32_t j, uint32_t i, const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];

    if (m->known && !m->own && m->owner == i + 1 && letter->view == m->at)
        m->moves_to = letter->to;
}

static void sessions_hear_stream(struct sessions *s, uint32_t j, uint32_t i, const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];

    if (letter->type == SESSIONS_GRANT)
        sessions_hear_grant(s, j, i);
    else if (letter->type == SESSIONS_FREE && m->known && !m->own)
        sessions_forget(m);
    else if (letter->type == SESSIONS_MOVE)
        sessions_hear_move(s, j, i, letter);
    if (letter->number)
        m->peer[i].seen = letter->number;
    m->peer[i].synced |= letter->type == SESSIONS_SYNC;
}

static void sessions_hear_report(struct sessions *s, uint32_t j, const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];
    uint8_t since = sessions_since(s, j, letter->to - 1u);
    struct owner_report report = {.ownerless = !since || since != letter->since, .chosen = letter->chosen};
    struct owner_known known = {
        .known = m->known && m->owner, .own = m->own, .leaves = m->leaves, .chosen = m->chosen, .passed = m->passed};

    if (!m->awaits || !owner_heeds(&report, &known))
        return;
    m->known = true;
    m->ownerless |= report.ownerless;
    if (owner_is_newer(&report, &known)) {
        if (m->owner != letter->to || m->since != letter->since)
            m->moves_to = 0;
        m->owner = letter->to;
        m->since = letter->since;
        m->chosen = letter->chosen;
        m->unsure_in = m->at;
    }
    if (m->own)
        return;
    m->unsure_in = m->at;
    /* A record that the owner has sent stays as it is. */
    if (m->record != 1)
        m->record = (uint8_t)(1 + (report.ownerless ? 0 : report.chosen));
}

static void sessions_hear_ask(struct sessions *s, uint32_t j, uint32_t i)
{
    struct sessions_member *m = &s->member[j];

    if (m->known && m->own && !sessions_is_unsure(m) && !m->moves_to)
        m->wanted_by = (uint8_t)(i + 1);
}

bool sessions_is_void(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t j,
                      const struct sessions_letter *letter)
{
    return !sessions_is_peer(t, s, j, i) || letter->view < sessions_since(s, j, i) ||
           letter->view < sessions_since(s, j, j);
}

static void sessions_take(struct sessions *s, uint32_t i, uint32_t j, const struct sessions_letter *letter)
{
    struct sessions_member *m = &s->member[j];

    if (letter->type <= SESSIONS_SYNC) {
        sessions_hear_stream(s, j, i, letter);
    } else if (letter->type == SESSIONS_ACK) {
        m->peer[i].acked = letter->number;
    } else if (letter->view != m->at) {
        return;
    } else if (letter->type == SESSIONS_REPORT) {
        sessions_hear_report(s, j, letter);
    } else if (letter->type == SESSIONS_MARK) {
        m->peer[i].marked = true;
        m->peer[i].opened = letter->to;
    } else {
        sessions_hear_ask(s, j, i);
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
        sessions_take(s, i, j, &letter);
    }
    s->letters[i][j]--;
    memmove(&s->letter[i][j][0], &s->letter[i][j][1], s->letters[i][j] * sizeof letter);
    memset(&s->letter[i][j][s->letters[i][j]], 0, sizeof letter);
    sessions_acknowledge(t, s, j, i);
    sessions_count_acks(t, s, j);
    return true;
}
