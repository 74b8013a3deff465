/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: on a ring,
 * with notes.
 *
 * Idea. As on the ring, but no site holds a REQUEST: a site that defers it makes a note on it and passes it on, and
 * replies directly when it leaves. When the REQUEST is back, its notes say how many replies are to come.
 *
 * Messages. REQUEST(claim, notes), n times, and a REPLY for every note: n per entry at light load, 2n-1 at full load.
 *
 * Algorithm. Site i:
 *     request                   number my claim; send REQUEST(claim) without notes to the next site
 *     on REQUEST(claim, notes)  if it is mine: the notes tell who owes a reply; enter if all of those have come.
 *                               Else, if my claim is older, defer it and add a note; send the REQUEST on to the next
 *                               site
 *     on REPLY                  one reply less is owed; enter if my claim is back and none is owed
 *     release                   send REPLY to all that are deferred
 *
 * Invariant RN. The replies owed to a site and the notes on its REQUEST, if that is not back yet, add up to the sites
 * that defer it and the REPLYs in flight to it.
 *
 * Departures from the paper. A REPLY may be faster than the REQUEST with the note that announces it, so the notes are
 * added to the count of replies when the REQUEST is back. The paper sets the count then, and loses such a reply. The
 * highest number seen covers the site's own claims. Numbers: ricart_agrawala.h. */
#include "ricart_agrawala.h"

enum { REQUEST, REPLY };
enum { SETS_COUNT };

/* Behind the claim the REQUEST has a ticket for every site, which names the site if it has made a note. */
static const struct dme_kind rarn_kinds[] = {{"REQUEST", 1, 1}, {"REPLY", 0, 0}, {0}};
static const char *const rarn_fields[] = {"* ,,notes", NULL};
static const struct dme_option rarn_options[] = {RA_NUMBER_OPTIONS, {0}};
static const struct dme_mistake rarn_mistakes[] = {
    {.name = "sets-count",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 6.3, page 18",
     .what = "the count of outstanding replies is set from the notes when the REQUEST is back"},
    {0},
};

struct rarn {
    struct ra_numbers num;
    int32_t owed;  /* replies still to come, less those that came before their notes */
    uint32_t back; /* while waiting: the REQUEST is */
    struct {
        uint8_t deferred;
    } peer[];
};

static bool rarn_noted(const struct dme_msg *m, dme_id j)
{
    return m->ticket[1 + j].site == j;
}

static void rarn_try(struct dme *d, struct rarn *s)
{
    if (!s->back || s->owed != 0)
        return;
    s->back = 0;
    dme_enter(d);
}

static void rarn_request(struct dme *d, void *state)
{
    struct rarn *s = state;

    ra_make_claim(d, &s->num);
    dme_send_ticket(d, dme_after(d, d->self), REQUEST, s->num.mine);
}

static void rarn_pass_on(struct dme *d, const struct dme_msg *m, bool note)
{
    struct dme_msg *on = dme_send(d, dme_after(d, d->self), REQUEST);

    on->ticket[0] = m->ticket[0];
    for (dme_id j = 0; j < d->n; j++)
        if (rarn_noted(m, j) || (note && j == d->self))
            on->ticket[1 + j].site = j;
}

static void rarn_requested(struct dme *d, struct rarn *s, const struct dme_msg *m)
{
    struct dme_ticket claim = m->ticket[0];
    bool note = ra_goes_first(d, &s->num, claim);

    DME_EXPECT(d, !s->peer[claim.site].deferred);
    ra_note_number(d, &s->num, claim);
    s->peer[claim.site].deferred = note;
    rarn_pass_on(d, m, note);
}

static void rarn_is_back(struct dme *d, struct rarn *s, const struct dme_msg *m)
{
    DME_EXPECT(d, dme_waiting(d) && !s->back && s->owed <= 0);
    if (dme_mistake(d, SETS_COUNT))
        s->owed = 0;
    for (dme_id j = 0; j < d->n; j++)
        s->owed += rarn_noted(m, j);
    DME_EXPECT(d, s->owed >= 0); /* each reply has its note */
    s->back = 1;
    rarn_try(d, s);
}

static void rarn_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rarn *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, dme_after(d, m->from) == d->self);
        DME_EXPECT(d, m->ticket[0].site != DME_NONE && ra_is_number(d, m->ticket[0].clock));
        if (m->ticket[0].site == d->self)
            rarn_is_back(d, s, m);
        else
            rarn_requested(d, s, m);
        break;
    case REPLY:
        DME_EXPECT(d, dme_waiting(d) && s->owed > (s->back ? 0 : -(int32_t)d->n));
        s->owed--;
        rarn_try(d, s);
        break;
    }
}

static void rarn_release(struct dme *d, void *state)
{
    struct rarn *s = state;

    ra_drop_claim(&s->num);
    ra_reply_to_each(d, REPLY, &s->peer[0].deferred, sizeof s->peer[0]);
}

static const char *rarn_malformed(const struct dme *d, void *state)
{
    struct rarn *s = state;

    DME_HOLDS(s->owed >= -(int32_t)d->n && s->owed <= (int32_t)d->n);
    return NULL;
}

/* The notes on the REQUEST of site i, if it is in flight. */
static int32_t rarn_notes(const struct dme_moment *now, dme_id i)
{
    int32_t notes = 0;

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REQUEST && now->msg[k]->ticket[0].site == i)
            for (dme_id j = 0; j < now->conf->n; j++)
                notes += rarn_noted(now->msg[k], j);
    return notes;
}

static const char *rarn_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct rarn *s = dme_state(now->node[i]);
        int32_t answers = (int32_t)dme_in_flight(now, REPLY, DME_NONE, i);

        for (dme_id j = 0; j < now->conf->n; j++)
            answers += ((const struct rarn *)dme_state(now->node[j]))->peer[i].deferred;
        if (s->owed + rarn_notes(now, i) != answers)
            return "RN: replies owed and notes on their way are the sites that defer and the REPLYs in flight";
    }
    return NULL;
}

static void rarn_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rarn *s = state;

    ra_print_numbers(&s->num, text);
    dme_print(text, " owed=%d%s", s->owed, s->back ? " back" : "");
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
}

#define RARN_COMMON                                                                                                    \
    .family = DME_PERMISSION, .paper = RA_PAPER, .cost = "n to 2n-1 messages, delay T", .kinds = rarn_kinds,           \
    .fields = rarn_fields, .options = rarn_options, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,    \
    .state_size = sizeof(struct rarn), .peer_size = sizeof(((struct rarn *)0)->peer[0]), .check = ra_check_numbers,    \
    .request = rarn_request, .receive = rarn_receive, .release = rarn_release, .canon = ra_canon_numbers,              \
    .malformed = rarn_malformed, .show = rarn_show

const struct dme_alg ricart_agrawala_ring_notes = {
    .name = "ricart-agrawala-ring-notes", .broken = rarn_broken, RARN_COMMON};

const struct dme_alg ricart_agrawala_ring_notes_as_published = {
    .name = "ricart-agrawala-ring-notes-as-published",
    .flaw = "a REPLY that is faster than its note is lost, and the site waits for ever",
    .mistakes = rarn_mistakes,
    .mistaken = DME_PUBLISHED,
    RARN_COMMON,
};
