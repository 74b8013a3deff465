/* Naimi, Trehel and Arnold, "A log(N) Distributed Mutual Exclusion Algorithm Based on Path Reversal", JPDC 34, 1996,
 * after Naimi and Trehel, 1987.
 *
 * Idea. Two structures. Every site points to the last requester it knows of, its father; a request follows these
 * pointers to the last requester of all, and turns each of them round to itself on the way. Every requester points to
 * the one after it, its next; the token follows these.
 *
 * Messages. REQUEST(origin), forwarded, and TOKEN: H(n-1) = 1 + 1/2 + .. + 1/(n-1) per entry on average at light load,
 * O(log n) amortised for any load, n at worst.
 *
 * Algorithm. Site i:
 *     request             if I have no father: enter; else send REQUEST(i) to my father; father := none
 *     on REQUEST(origin)  if I have a father: send the REQUEST on to it; else if I hold the idle token: send TOKEN to
 *                         the origin; else next := origin. father := origin
 *     on TOKEN            enter
 *     release             if next is a site: send TOKEN to it; next := none
 *
 * Invariant NT1. There is one token, held or in flight.
 * Invariant NT2. Fathers form no cycle. A site without a father that does not request holds the token.
 * Invariant NT3. While a site requests, it has a father exactly if it has a next.
 *
 * Departures from the paper. None. naimi-trehel-as-retold and naimi-trehel-tempting make one of these mistakes:
 *   holder-forwards    the survey by Banta: a site that does not request passes a request on. The idle holder of the
 *                      token has no site to pass it to.
 *   overwrites-next    a site that requests makes any asking site its next, even if it has one. */
#include "core/alg.h"

enum { REQUEST, TOKEN };
enum { HOLDER_FORWARDS, OVERWRITES_NEXT };

static const struct dme_kind nt_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 0}, {0}};
static const struct dme_mistake nt_mistakes[] = {
    {.name = "holder-forwards",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.1.5, page 14",
     .what = "a site that is not requesting forwards a request, also if it holds the token"},
    {.name = "overwrites-next",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 2.1.5, page 14, says that it forwards then",
     .what = "a second request overwrites the first one in Next"},
    {0},
};

struct nt {
    dme_id father; /* the last requester known, or DME_NONE: this site is it */
    dme_id next;   /* the site that gets the token after this one, or DME_NONE */
    uint64_t has;  /* the token is here */
};

static void nt_give(struct dme *d, struct nt *s, dme_id to)
{
    DME_EXPECT(d, s->has);
    s->has = 0;
    dme_send(d, to, TOKEN);
}

static void nt_init(struct dme *d, void *state)
{
    struct nt *s = state;

    s->father = d->self == 0 ? DME_NONE : 0;
    s->next = DME_NONE;
    s->has = d->self == 0;
}

static void nt_request(struct dme *d, void *state)
{
    struct nt *s = state;

    if (s->father == DME_NONE) {
        dme_enter(d);
    } else {
        dme_send_ticket(d, s->father, REQUEST, dme_claim(d, 0));
        s->father = DME_NONE;
    }
}

static void nt_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct nt *s = state;
    dme_id origin;

    switch (m->kind) {
    case REQUEST:
        origin = m->ticket[0].site;
        DME_EXPECT(d, origin != DME_NONE && origin != d->self);
        if (s->father != DME_NONE && !(dme_mistake(d, OVERWRITES_NEXT) && !dme_idle(d)))
            dme_send_ticket(d, s->father, REQUEST, m->ticket[0]);
        else if (!dme_idle(d))
            s->next = origin;
        else if (!dme_mistake(d, HOLDER_FORWARDS))
            nt_give(d, s, origin);
        s->father = origin;
        break;
    case TOKEN:
        DME_EXPECT(d, !s->has);
        s->has = 1;
        dme_enter(d);
        break;
    }
}

static void nt_release(struct dme *d, void *state)
{
    struct nt *s = state;

    if (s->next != DME_NONE) {
        nt_give(d, s, s->next);
        s->next = DME_NONE;
    }
}

static const char *nt_malformed(const struct dme *d, void *state)
{
    struct nt *s = state;

    DME_HOLDS(s->father < d->n || s->father == DME_NONE);
    DME_HOLDS(s->next < d->n || s->next == DME_NONE);
    return NULL;
}

static const char *nt_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct nt *s = dme_state(now->node[i]);
        bool requests = now->node[i]->phase != DME_IDLE;

        tokens += s->has != 0;
        if (!requests && s->father == DME_NONE && !s->has)
            return "NT2: a site without a father that does not request holds the token";
        if (requests && (s->father == DME_NONE) != (s->next == DME_NONE))
            return "NT3: a site that requests has a father exactly if it has a next";
    }
    return tokens == 1 ? NULL : "NT1: there is one token";
}

static void nt_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct nt *s = state;

    (void)d;
    dme_print_site(text, "father", s->father);
    dme_print_site(text, " next", s->next);
    dme_print(text, "%s", s->has ? " token" : "");
}

#define NT_COMMON                                                                                                      \
    .family = DME_TOKEN, .cost = "H(n-1) messages at light load, O(log n), delay T", .kinds = nt_kinds,                \
    .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct nt), .init = nt_init,  \
    .request = nt_request, .receive = nt_receive, .release = nt_release, .malformed = nt_malformed,                    \
    .broken = nt_broken, .show = nt_show

#define NT_PAPER                                                                                                       \
    "M. Naimi, M. Trehel, A. Arnold, A log(N) distributed mutual exclusion algorithm based on path reversal, "         \
    "JPDC 34, 1996"

const struct dme_alg naimi_trehel = {
    .name = "naimi-trehel",
    .paper = NT_PAPER,
    NT_COMMON,
};

const struct dme_alg naimi_trehel_tempting = {
    .name = "naimi-trehel-tempting",
    .paper = NT_PAPER,
    .flaw = "a request that waits is overwritten",
    .mistakes = nt_mistakes,
    .mistaken = DME_TEMPTING,
    NT_COMMON,
};

const struct dme_alg naimi_trehel_as_retold = {
    .name = "naimi-trehel-as-retold",
    .paper = "as told in P. Banta, Distributed mutual exclusion algorithms, thesis, 1993",
    .flaw = "the idle holder of the token forwards a request, and it is lost",
    .mistakes = nt_mistakes,
    .mistaken = DME_RETOLD,
    NT_COMMON,
};
