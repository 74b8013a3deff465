/* Chang, Singhal and Liu, "A Dynamic Token-Based Distributed Mutual Exclusion Algorithm", IPCCC, 1991.
 *
 * Idea. As in suzuki-kasami, but a request goes only to the sites that may have the token, or get it first: those that
 * are known to have asked since this site had the token, its request set. A site that waits and hears of a site that it
 * has not asked asks that one too.
 *
 * Messages. REQUEST(number) to the known sites and TOKEN(queue, served) once: 0 if the token is here, (n-1)/2 + (n-1)/n
 * on average at light load, never more than n.
 *
 * Algorithm. Site i:
 *     request                  if the token is here: enter; else number my request; send REQUEST(number) to the
 *                              request set
 *     on REQUEST(k) from j     asked[j] := max(asked[j], k); put j into the request set; if I hold the idle token and
 *                              the request is fresh: send TOKEN to j. If I wait, or the request is old, and j does
 *                              not know of me: send my REQUEST to j
 *     on TOKEN(served, queue)  enter
 *     release                  my request is served; append all sites with fresh requests to the queue; if it is not
 *                              empty: send TOKEN to its first site
 *
 * Invariant CSL1. There is one token, held or in flight.
 * Invariant CSL2. Of any two sites i and j: i knows j, or j knows i, or a REQUEST between them is in flight.
 * Invariant CSL3. For a site i with the token and any j: j knows i, or a REQUEST between them is in flight, or i has
 *     heard of a request of j that is not served.
 *
 * Departures from the paper, which was known to us from the description by Swaroop and Singh (2007). A request that was
 * served meanwhile is not discarded: it comes from a site that may not know this one, and by now no other site may tell
 * it. So its sender is remembered, or told of this site by a REQUEST, be it an old one. Requests that arrive where the
 * token is not are remembered until it comes, and the token says what was served. Each of these taken away, it is
 * chang-singhal-liu-tempting; whether the publication takes them away is not known to us. With `--set start=staircase`
 * a site knows only the lower numbered ones at first. */
#include "queue_token.h"

enum { FULL, STAIRCASE };
enum { DISCARDS_OLD_REQUESTS, FORGETS_EARLY_REQUESTS, JUDGES_BY_ITSELF };

static const char *const csl_start[] = {"full", "staircase", NULL};
static const struct dme_option csl_options[] = {
    {.key = "start", .help = "whom a site asks at first", .choices = csl_start},
    {0},
};
static const struct dme_mistake csl_mistakes[] = {
    {.name = "discards-old-requests",
     .kind = DME_TEMPTING,
     .where = "known here through Swaroop and Singh 2007 only",
     .what = "a request that was served already is ignored"},
    {.name = "forgets-early-requests",
     .kind = DME_TEMPTING,
     .where = "known here through Swaroop and Singh 2007 only",
     .what = "a request that reaches a site before the token does is forgotten"},
    {.name = "judges-by-itself",
     .kind = DME_TEMPTING,
     .where = "known here through Swaroop and Singh 2007 only",
     .what = "whether a request is fresh is judged by the requests that this site has received itself"},
    {0},
};

/* Asks j for the token, once for each request. If the request is served already, this only lets j know of this site. */
static void csl_tell(struct dme *d, struct qt *s, dme_id j)
{
    if (!s->peer[j].told)
        dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].asked));
    s->peer[j].told = 1;
}

/* Sends the token to site `to`. That site and those in the queue become the request set. */
static void csl_give(struct dme *d, struct qt *s, dme_id to)
{
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].known = j == to || s->peer[j].stands;
        s->peer[j].told = 0;
    }
    qt_give(d, s, to);
}

static void csl_init(struct dme *d, void *state)
{
    struct qt *s = state;
    dme_id end = dme_option(d, 0) == STAIRCASE ? d->self : d->n;

    s->has = d->self == 0;
    for (dme_id j = 0; j < end; j++)
        s->peer[j].known = d->self != 0 && j != d->self;
}

static void csl_request(struct dme *d, void *state)
{
    struct qt *s = state;

    if (s->has) {
        dme_enter(d);
        return;
    }
    s->peer[d->self].asked++;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].known)
            csl_tell(d, s, j);
}

static void csl_asked(struct dme *d, struct qt *s, dme_id j, uint64_t number)
{
    uint64_t heard = s->peer[j].asked;
    bool fresh = number > s->peer[j].served; /* where the token is */

    /* As described: whether it is fresh is judged by the requests that this site has received itself. */
    if (dme_mistake(d, JUDGES_BY_ITSELF))
        fresh = number > heard;
    /* As described: an old request is ignored. */
    if (dme_mistake(d, DISCARDS_OLD_REQUESTS) && (number <= heard || (s->has && !fresh)))
        return;
    /* As described: only the site with the token takes notice of requests. */
    if (s->has || !dme_mistake(d, FORGETS_EARLY_REQUESTS))
        s->peer[j].asked = dme_max(heard, number);

    if (!s->has) {
        s->peer[j].known = 1;
        if (dme_waiting(d))
            csl_tell(d, s, j);
    } else if (!fresh) {
        csl_tell(d, s, j);
    } else if (dme_idle(d)) {
        csl_give(d, s, j);
    }
}

static void csl_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct qt *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        csl_asked(d, s, m->from, m->ticket[0].clock);
        break;
    case TOKEN:
        for (dme_id j = 0; j < d->n; j++)
            s->peer[j].known = 0;
        qt_take(d, s, m);
        break;
    }
}

static void csl_release(struct dme *d, void *state)
{
    struct qt *s = state;

    qt_served(d, s);
    if (s->queued)
        csl_give(d, s, dme_line_pop(qt_queue(d, s)));
}

/* Does i know j, or is a REQUEST between them in flight? */
static bool csl_linked(const struct dme_moment *now, dme_id i, dme_id j)
{
    const struct qt *s = dme_state(now->node[i]);

    return s->peer[j].known || dme_in_flight(now, REQUEST, i, j) || dme_in_flight(now, REQUEST, j, i);
}

static const char *csl_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct qt *s = dme_state(now->node[i]);

            if (i == j)
                continue;
            if (s->has && !csl_linked(now, j, i) && !qt_fresh(s, j))
                return "CSL3: the site with the token is known, or will be, or has heard of a request";
            if (!csl_linked(now, i, j) && !csl_linked(now, j, i))
                return "CSL2: of two sites one knows the other, or a REQUEST is in flight";
        }
    return qt_broken(now);
}

static void csl_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct qt *s = state;

    dme_print_set(text, "knows", &s->peer[0].known, sizeof s->peer[0], d->n);
    dme_print_set(text, " told", &s->peer[0].told, sizeof s->peer[0], d->n);
    dme_print(text, " ");
    qt_show(d, state, text);
}

#define CSL_SHARED                                                                                                     \
    .family = DME_TOKEN,                                                                                               \
    .paper = "Y.-I. Chang, M. Singhal, M. T. Liu, A dynamic token-based distributed mutual exclusion algorithm, "      \
             "IPCCC, 1991; known here through A. Swaroop, A. K. Singh, 2007, only",                                    \
    .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T", .kinds = qt_kinds, .fields = qt_fields,       \
    .options = csl_options, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                            \
    .state_size = sizeof(struct qt), .peer_size = sizeof(((struct qt *)0)->peer[0]), .init = csl_init,                 \
    .request = csl_request, .receive = csl_receive, .release = csl_release, .broken = csl_broken,                      \
    .malformed = qt_malformed, .show = csl_show

const struct dme_alg chang_singhal_liu = {.name = "chang-singhal-liu", CSL_SHARED};

const struct dme_alg chang_singhal_liu_tempting = {
    .name = "chang-singhal-liu-tempting",
    .flaw = "the rule of dynamic request sets alone blocks; the publication itself was not read",
    .mistakes = csl_mistakes,
    .mistaken = DME_TEMPTING,
    CSL_SHARED,
};
