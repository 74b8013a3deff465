/* sessions_state.c - states of the model of kept sessions as bytes: equal behaviour, equal bytes. See sessions.h. */
#include "sessions.h"

#include <assert.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ canonical form */

/* Letters that will never be heard. */
static void sessions_drop_void(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t j)
{
    uint8_t kept = 0;

    for (uint32_t k = 0; k < s->letters[i][j]; k++) {
        const struct sessions_letter *letter = &s->letter[i][j][k];

        if (letter->view > s->member[j].at || !sessions_is_void(t, s, i, j, letter))
            s->letter[i][j][kept++] = *letter;
    }
    s->letters[i][j] = kept;
}

/* Is the process of member `i` excluded, and does no other member know it any more? Then it can do nothing but install views and
 * forget. */
static bool sessions_is_inert(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    uint8_t tenure = sessions_since(s, i, i);

    if (!s->member[i].part)
        return true;
    for (uint32_t j = 0; j < t->members; j++)
        for (uint32_t v = s->member[j].at; j != i && v <= s->views; v++)
            if (s->view[v].since[i] == tenure)
                return false;
    return s->view[s->views].since[i] != tenure;
}

/* An inert process has installed all views before the next one in which it takes part: that takes no move from it. */
static void sessions_advance(const struct model_task *t, struct sessions *s, uint32_t i)
{
    uint8_t v = s->member[i].at;

    if (!sessions_is_inert(t, s, i))
        return;
    while (v < s->views && s->view[v + 1].since[i] <= s->member[i].at)
        v++;
    s->member[i] = (struct sessions_member){.at = v};
}

static void sessions_make_canonical(const struct model_task *t, struct sessions *s)
{
    uint8_t oldest = s->views;

    for (uint32_t i = 0; i < t->members; i++) {
        struct sessions_member *m = &s->member[i];

        sessions_advance(t, s, i);
        oldest = m->at < oldest ? m->at : oldest;
        for (uint32_t j = 0; j < t->members; j++) {
            sessions_drop_void(t, s, i, j);
            if (!sessions_is_peer(t, s, i, j)) /* if it takes part again, its tenure is another one */
                m->peer[j] = (struct sessions_peer){0};
        }
    }
    for (uint32_t v = 1; v < oldest; v++)
        memset(&s->view[v], 0, sizeof s->view[v]);
}

/* --------------------------------------------------------------------------------------------------------------- bytes */

/* Writes the numbers, or reads them. */
struct sessions_bytes {
    uint8_t *at;
    bool reads;
};

static void sessions_byte(struct sessions_bytes *b, uint8_t *value)
{
    if (b->reads)
        *value = *b->at++;
    else
        *b->at++ = *value;
}

/* Two numbers below 16. */
static void sessions_pair(struct sessions_bytes *b, uint8_t *low, uint8_t *high)
{
    uint8_t both = (uint8_t)(*low | *high << 4);

    assert(*low < 16 && *high < 16);
    sessions_byte(b, &both);
    *low = both & 15;
    *high = both >> 4;
}

/* Four truths. */
static void sessions_truths(struct sessions_bytes *b, bool *v0, bool *v1, bool *v2, bool *v3)
{
    uint8_t all = (uint8_t)(*v0 | *v1 << 1 | *v2 << 2 | *v3 << 3);

    sessions_byte(b, &all);
    *v0 = all & 1;
    *v1 = all >> 1 & 1;
    *v2 = all >> 2 & 1;
    *v3 = all >> 3 & 1;
}

static void sessions_pass_session(struct sessions_bytes *b, struct sessions_kept *e)
{
    bool no = false, recalls = e->before.owner;

    sessions_truths(b, &e->known, &e->own, &no, &no);
    if (!e->known)
        return;
    sessions_truths(b, &e->ownerless, &e->leaves, &recalls, &no);
    if (recalls) {
        sessions_pair(b, &e->before.owner, &e->before.since);
        sessions_pair(b, &e->before.chosen, &e->before.unsure_in);
    }
    sessions_pair(b, &e->owner, &e->since);
    sessions_pair(b, &e->chosen, &e->unsure_in);
    sessions_pair(b, &e->moves_to, &e->wanted_by);
}

static void sessions_pass_record(struct sessions_bytes *b, struct sessions_record *x)
{
    uint8_t record = (uint8_t)(x->record | x->hearsay << 3);

    assert(x->record < 8);
    sessions_pair(b, &record, &x->claim);
    x->record = record & 7;
    x->hearsay = record >> 3;
}

static void sessions_pass_member(const struct model_task *t, struct sessions_bytes *b, struct sessions_member *m,
                                 uint32_t self, uint32_t n)
{
    bool no = false;

    sessions_truths(b, &m->part, &m->awaits, &no, &no);
    sessions_byte(b, &m->at);
    if (!m->part)
        return;
    sessions_pair(b, &m->passed, &m->opened);
    sessions_byte(b, &m->made);
    for (uint32_t q = 0; q < sessions_count(t); q++)
        sessions_pass_session(b, &m->session[q]);
    for (uint32_t k = 0; k < sessions_records(t); k++) {
        struct sessions_record *x = &m->lock[k];

        sessions_pass_record(b, x);
        sessions_pair(b, &x->kept, &x->withdrawn);
        if (sessions_shares(t))
            sessions_truths(b, &x->shared, &x->alone, &x->told, &no);
        else if (b->reads)
            x->alone = x->claim || x->withdrawn;
    }
    for (uint32_t j = 0; j < n; j++)
        if (j != self) {
            struct sessions_peer *p = &m->peer[j];

            sessions_truths(b, &p->greeted, &p->synced, &p->marked, &no);
            sessions_pair(b, &p->since, &p->opened);
            sessions_pair(b, &p->seen, &p->told);
            sessions_byte(b, &p->acked);
        }
}

static void sessions_pass_letters(const struct model_task *t, struct sessions_bytes *b, struct sessions *s, uint32_t i,
                                  uint32_t j)
{
    sessions_byte(b, &s->letters[i][j]);
    for (uint32_t k = 0; k < s->letters[i][j]; k++) {
        struct sessions_letter *letter = &s->letter[i][j][k];

        sessions_pair(b, &letter->type, &letter->view);
        sessions_pair(b, &letter->number, &letter->to);
        sessions_pair(b, &letter->since, &letter->chosen);
        if (t->change)
            sessions_pair(b, &letter->which, &letter->shared);
    }
}

static size_t sessions_pass_all(const struct model_task *t, struct sessions *s, uint8_t *bytes, bool reads)
{
    struct sessions_bytes b = {bytes, reads};
    uint8_t shares = s->shares;

    sessions_pair(&b, &s->views, &s->complete);
    for (uint32_t v = 1; v <= s->views; v++) {
        for (uint32_t i = 0; i < t->members; i++)
            sessions_byte(&b, &s->view[v].since[i]);
        sessions_pair(&b, &s->view[v].passed, &s->view[v].choice);
        sessions_pair(&b, &s->view[v].claims, &s->view[v].rivals);
        if (sessions_shares(t))
            sessions_byte(&b, &s->view[v].alone);
    }
    for (uint32_t i = 0; i < t->members; i++)
        sessions_pass_member(t, &b, &s->member[i], i, t->members);
    for (uint32_t i = 0; i < t->members; i++)
        for (uint32_t j = 0; j < t->members; j++)
            if (i != j)
                sessions_pass_letters(t, &b, s, i, j);
    sessions_pair(&b, &s->kept, &s->granted);
    sessions_pair(&b, &s->rival, &shares);
    s->shares = shares;
    assert(b.at - bytes <= MODEL_STATE_MAX);
    return (size_t)(b.at - bytes);
}

size_t sessions_put(const struct model_task *t, struct sessions *s, uint8_t *bytes)
{
    sessions_make_canonical(t, s);
    return sessions_pass_all(t, s, bytes, false);
}

void sessions_get(const struct model_task *t, struct sessions *s, const uint8_t *bytes)
{
    memset(s, 0, sizeof *s);
    sessions_pass_all(t, s, (uint8_t *)(uintptr_t)bytes, true);
}
