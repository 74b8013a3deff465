/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: on a ring.
 *
 * Idea. The REQUEST goes round, from each site to the next. A site that would reply passes it on; a site that would
 * defer holds it until it leaves. When the REQUEST comes back, every site has agreed.
 *
 * Messages. REQUEST(claim), n times: n per entry, always. But a REQUEST that was held has the rest of its way to go:
 * the synchronization delay is T times the distance from the site that leaves to the one that enters next.
 *
 * Algorithm. Site i:
 *     request            number my claim; send REQUEST(claim) to the next site
 *     on REQUEST(claim)  if it is mine: enter; else if my claim is older: keep it; else send the REQUEST on to the
 *                        next site
 *     release            send each REQUEST that was kept on to the next site, the oldest claim first
 *
 * Invariant RR. A claim that waits has one REQUEST, in flight or held; no other claim has any.
 *
 * Departures from the paper. The highest number seen covers the site's own claims. Numbers: ricart_agrawala.h. */
#include "ricart_agrawala.h"

enum { REQUEST };

static const struct dme_kind rar_kinds[] = {{"REQUEST", 1, 0}, {0}};
static const struct dme_option rar_options[] = {RA_NUMBER_OPTIONS, {0}};

struct rar {
    struct ra_numbers num;
    struct {
        uint64_t number; /* of the claim that is held */
        uint64_t held;
    } peer[];
};

static struct dme_ticket rar_held(const struct rar *s, dme_id j)
{
    return (struct dme_ticket){.clock = s->peer[j].number, .site = j};
}

static void rar_request(struct dme *d, void *state)
{
    struct rar *s = state;

    ra_make_claim(d, &s->num);
    dme_send_ticket(d, dme_after(d, d->self), REQUEST, s->num.mine);
}

static void rar_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rar *s = state;
    struct dme_ticket claim = m->ticket[0];

    DME_EXPECT(d, dme_after(d, m->from) == d->self && claim.site != DME_NONE && ra_is_number(d, claim.clock));
    if (claim.site == d->self) {
        dme_enter(d);
        return;
    }
    DME_EXPECT(d, !s->peer[claim.site].held);
    ra_note_number(d, &s->num, claim);
    if (ra_goes_first(d, &s->num, claim)) {
        s->peer[claim.site].number = claim.clock;
        s->peer[claim.site].held = 1;
    } else {
        dme_send_ticket(d, dme_after(d, d->self), REQUEST, claim);
    }
}

/* The first of the claims that are held; a claim of DME_NONE, if none is. */
static struct dme_ticket rar_first(const struct dme *d, const struct rar *s)
{
    struct dme_ticket first = {.site = DME_NONE};

    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].held && (first.site == DME_NONE || ra_goes_before(d, rar_held(s, j), first)))
            first = rar_held(s, j);
    return first;
}

static void rar_release(struct dme *d, void *state)
{
    struct rar *s = state;
    struct dme_ticket first;

    ra_drop_claim(&s->num);
    for (uint32_t k = 0; k < d->n && (first = rar_first(d, s)).site != DME_NONE; k++) {
        s->peer[first.site].number = s->peer[first.site].held = 0;
        dme_send_ticket(d, dme_after(d, d->self), REQUEST, first);
    }
}

static uint64_t *rar_number(void *state, dme_id j)
{
    struct rar *s = state;

    return s->peer[j].held ? &s->peer[j].number : NULL;
}

static bool rar_canon(const struct dme_draft *now)
{
    return ra_canon_with(now, rar_number);
}

static const char *rar_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++) {
        uint64_t requests = 0;

        for (size_t k = 0; k < now->msgs; k++)
            requests += now->msg[k]->ticket[0].site == i;
        for (dme_id j = 0; j < now->conf->n; j++)
            requests += ((const struct rar *)dme_state(now->node[j]))->peer[i].held;
        if (requests != (now->node[i]->phase == DME_WAITING))
            return "RR: a claim that waits has one REQUEST, in flight or held";
    }
    return NULL;
}

static void rar_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rar *s = state;
    const char *between = "";

    ra_print_numbers(&s->num, text);
    dme_print(text, " held=");
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].held) {
            dme_print(text, "%s%llu.%u", between, (unsigned long long)s->peer[j].number, j);
            between = ",";
        }
    dme_print(text, "%s", *between ? "" : "-");
}

const struct dme_alg ricart_agrawala_ring = {
    .name = "ricart-agrawala-ring",
    .family = DME_PERMISSION,
    .paper = RA_PAPER,
    .cost = "n messages, delay T times the distance to the next, T at full load",
    .kinds = rar_kinds,
    .options = rar_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct rar),
    .peer_size = sizeof(((struct rar *)0)->peer[0]),
    .check = ra_check_numbers,
    .request = rar_request,
    .receive = rar_receive,
    .release = rar_release,
    .broken = rar_broken,
    .canon = rar_canon,
    .show = rar_show,
};
