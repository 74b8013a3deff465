/* leases_state.c - states of the model of leases as bytes: equal behaviour, equal bytes. See leases.h. */
#include "leases.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- canonical form */

/* Keeps the views in which a process is, those that a slow member may still install, and those that say in which views a
 * client holds the lock. */
static void leases_forget_views(const struct model_task *t, struct leases *s)
{
    bool keep[LEASES_VIEWS] = {0};
    uint8_t to[LEASES_VIEWS], count = 0, oldest = leases_latest(s);

    for (uint32_t i = 0; i < t->members; i++) {
        keep[s->at[i]] = true;
        oldest = s->at[i] < oldest ? s->at[i] : oldest;
    }
    for (uint32_t v = oldest; v < s->views; v++)
        keep[v] = keep[v] || v + LEASES_LAG >= leases_latest(s);
    if (s->belief < t->lease)
        keep[s->granted] = keep[s->carried] = true;
    if (s->rival)
        keep[s->rival] = true;
    for (uint32_t v = 0; v < s->views; v++) {
        to[v] = count;
        if (keep[v])
            s->view[count++] = s->view[v];
    }
    memset(&s->view[count], 0, (s->views - count) * sizeof s->view[0]);
    s->views = count;
    for (uint32_t i = 0; i < t->members; i++)
        s->at[i] = to[s->at[i]];
    s->granted = s->belief < t->lease ? to[s->granted] : 0;
    s->carried = s->belief < t->lease ? to[s->carried] : 0;
    s->rival = s->rival ? to[s->rival] : 0;
}

static uint64_t leases_bit(uint8_t incarnation)
{
    assert(incarnation < 64);
    return (uint64_t)1 << incarnation;
}

static uint8_t leases_rank(uint64_t used, uint8_t incarnation)
{
    return (uint8_t)__builtin_popcountll(used & (2 * leases_bit(incarnation) - 2));
}

/* Gives the incarnations of one member the numbers 1, 2, .. in their order. */
static void leases_number_incarnations(struct leases *s, uint32_t i)
{
    uint64_t used = leases_bit(s->incarnation[i]) | leases_bit(s->sent_by[i]);

    for (uint32_t v = 0; v < s->views; v++)
        used |= leases_bit(s->view[v].part[i]);
    s->incarnation[i] = leases_rank(used, s->incarnation[i]);
    s->sent_by[i] = leases_rank(used, s->sent_by[i]);
    for (uint32_t v = 0; v < s->views; v++)
        s->view[v].part[i] = leases_rank(used, s->view[v].part[i]);
}

/* Can a process do nothing but install views, in none of which it takes part? Then it has the latest one: that takes no move from
 * it. */
static bool leases_only_waits(const struct leases *s, uint32_t i)
{
    for (uint32_t v = s->at[i]; v < s->views; v++)
        if (s->view[v].part[i] == s->incarnation[i])
            return false;
    return s->at[i] < leases_latest(s);
}

/* Of a view that is not the latest one, forgets what no process can need any more. */
static void leases_forget_part(const struct model_task *t, struct leases *s, uint32_t v)
{
    struct leases_view *view = &s->view[v];
    bool opens = true;

    for (uint32_t i = 0; i < t->members; i++) {
        if (view->missing >> i & 1 && (s->at[i] >= v || s->incarnation[i] != view->part[i]))
            opens = false;
    }
    if (!opens)
        view->missing = LEASES_NEVER;
    for (uint32_t i = 0; i < t->members; i++) {
        if (i != t->observed && s->at[i] > v)
            view->part[i] = 0;
        if (s->at[t->observed] > v)
            view->standing[i] = 0;
        if (s->at[t->observed] > v && s->at[i] > v)
            view->part[i] = 0;
    }
}

/* Gives one value to each part of the state that cannot matter any more. */
static void leases_make_canonical(const struct model_task *t, struct leases *s)
{
    uint8_t part = s->view[leases_latest(s)].part[t->observed];

    if (!part || part == s->incarnation[t->observed])
        s->began = (uint8_t)t->promise;
    for (uint32_t i = 0; i < t->members; i++)
        if (!part)
            s->promised[i] = (uint8_t)t->promise;
    if (s->belief >= t->lease)
        s->hold = 0;
    if (s->rival <= s->at[t->observed])
        s->rival = 0;
    for (uint32_t i = 0; i < t->members; i++)
        if (s->sent[i] >= t->lease)
            s->sent_by[i] = 0;
    for (uint32_t i = 0; i < t->members; i++)
        if (leases_only_waits(s, i))
            leases_install(t, s, i, leases_latest(s));
    leases_forget_views(t, s);
    for (uint32_t v = 0; v + 1u < s->views; v++)
        leases_forget_part(t, s, v);
    for (uint32_t i = 0; i < t->members; i++)
        leases_number_incarnations(s, i);
}

/* -------------------------------------------------------------------------------------------------------------- bytes */

/* Writes the byte, or reads it. */
struct leases_bytes {
    uint8_t *at;
    bool reads;
};

static void leases_byte(struct leases_bytes *b, uint8_t *value)
{
    if (b->reads)
        *value = *b->at++;
    else
        *b->at++ = *value;
}

static void leases_flag(struct leases_bytes *b, bool *value)
{
    uint8_t byte = *value;

    leases_byte(b, &byte);
    *value = byte;
}

static void leases_pass_view(struct leases_bytes *b, struct leases_view *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t both = (uint8_t)(v->standing[i] | v->part[i] << 2);

        assert(v->part[i] < 64);
        leases_byte(b, &both);
        v->standing[i] = both & 3;
        v->part[i] = both >> 2;
    }
    leases_byte(b, &v->missing);
}

static void leases_pass_observed(struct leases_bytes *b, struct leases *s)
{
    leases_flag(b, &s->dropped);
    leases_byte(b, &s->began);
    leases_byte(b, &s->belief);
    leases_byte(b, &s->hold);
    leases_byte(b, &s->granted);
    leases_byte(b, &s->carried);
    leases_byte(b, &s->rival);
    leases_byte(b, &s->counted);
    leases_byte(b, &s->droppers);
    leases_byte(b, &s->owes_nothing);
}

static size_t leases_pass(const struct model_task *t, struct leases *s, uint8_t *bytes, bool reads)
{
    struct leases_bytes b = {bytes, reads};

    leases_byte(&b, &s->views);
    for (uint32_t v = 0; v < s->views; v++)
        leases_pass_view(&b, &s->view[v], t->members);
    for (uint32_t i = 0; i < t->members; i++) {
        leases_byte(&b, &s->at[i]);
        leases_byte(&b, &s->incarnation[i]);
        leases_byte(&b, &s->promised[i]);
        leases_byte(&b, &s->acked[i]);
        leases_byte(&b, &s->sent[i]);
        leases_byte(&b, &s->sent_by[i]);
    }
    leases_pass_observed(&b, s);
    return (size_t)(b.at - bytes);
}

size_t leases_put(const struct model_task *t, struct leases *s, uint8_t *bytes)
{
    leases_make_canonical(t, s);
    return leases_pass(t, s, bytes, false);
}

void leases_get(const struct model_task *t, struct leases *s, const uint8_t *bytes)
{
    memset(s, 0, sizeof *s);
    leases_pass(t, s, (uint8_t *)(uintptr_t)bytes, true);
}

/* --------------------------------------------------------------------------------------------------------- real views */

static const char *const leases_names[MODEL_MEMBERS_MAX] = {"ant", "bee", "cat", "dog", "elk"};

void leases_make_real(const struct model_task *t, const struct leases_view *v, struct leases_real *real)
{
    real->view.number = 1;
    real->view.last_id = MODEL_MEMBERS_MAX;
    real->view.count = 0;
    for (uint32_t i = 0; i < t->members; i++) {
        struct view_member *m = &real->view.member[real->view.count];

        real->place[i] = VIEW_MEMBERS_MAX;
        if (!v->standing[i])
            continue;
        m->id = i + 1;
        m->incarnation = v->part[i];
        m->standing = (enum view_standing)(v->standing[i] - 1);
        memcpy(m->name, leases_names[i], sizeof "ant");
        m->address[0] = leases_names[i][0];
        m->address[1] = '\0';
        real->member[real->view.count] = i;
        real->place[i] = real->view.count++;
    }
}

void leases_from_real(const struct view *v, struct leases_view *to)
{
    memset(to, 0, sizeof *to);
    for (uint32_t k = 0; k < v->count; k++)
        for (uint32_t i = 0; i < MODEL_MEMBERS_MAX; i++)
            if (strcmp(v->member[k].name, leases_names[i]) == 0) {
                to->standing[i] = (uint8_t)(v->member[k].standing + 1);
                to->part[i] = (uint8_t)v->member[k].incarnation;
            }
}
