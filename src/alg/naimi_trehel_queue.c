/* Naimi and Trehel, "An Improvement of the log(n) Distributed Algorithm for Mutual Exclusion", ICDCS, 1987.
 *
 * Idea. As in naimi-trehel, every site points to where it believes the last requester to be, and a request follows
 * these pointers and turns them round. But a site that waits or is inside does not pass requests on: it keeps them, and
 * when it leaves it adds them to the queue that the token carries. So a request comes to rest at the first site that is
 * busy itself, and at full load that is the first site it meets.
 *
 * Messages. REQUEST(origin), forwarded, and TOKEN(queue): H(n-1) = 1 + 1/2 + .. + 1/(n-1) per entry on average at light
 * load, 2 at full load.
 *
 * Algorithm. Site i:
 *     request             if I hold the token: enter; else send REQUEST(i) to the root; root := me
 *     on REQUEST(origin)  if I wait or am inside: keep it; else if I hold the idle token: send TOKEN to the origin;
 *                         else send the REQUEST on to the root; root := origin
 *     on TOKEN(queue)     enter
 *     release             append what was kept to the queue; if it is not empty: root := its last site; send
 *                         TOKEN(rest of the queue) to its first site
 *
 * Invariant NQ1. There is one token, held or in flight.
 * Invariant NQ2. Every waiting site is in exactly one place: in the queue of one site, in that of the token, in a
 *     REQUEST in flight, or the destination of the TOKEN in flight.
 *
 * Departures from the paper, which was known to us from surveys. They leave out what idle sites do with a request: the
 * one with the token gives it away, the others pass the request on. A site that has the token, or asks for it, points
 * nowhere: its pointer would never be read. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, TOKEN };

/* The token has a ticket for every slot of its queue. */
static const struct dme_kind ntq_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {0}};
static const char *const ntq_fields[] = {NULL, ",,queue"};

struct ntq {
    dme_id root;    /* where to send requests; DME_NONE while this site waits or has the token */
    uint32_t kept;  /* sites that asked here while this one was busy */
    uint32_t queue; /* inside: sites in the token's queue */
    uint32_t zero;
    struct {
        dme_id kept, queue; /* slots of the two lines */
    } peer[];
};

static struct dme_line ntq_kept(const struct dme *d, struct ntq *s)
{
    return (struct dme_line){&s->kept, &s->peer[0].kept, sizeof s->peer[0], d->n};
}

static struct dme_line ntq_queue(const struct dme *d, struct ntq *s)
{
    return (struct dme_line){&s->queue, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

/* From now on requests go to the last site that will have the token, as far as this site knows. */
static void ntq_give(struct dme *d, struct ntq *s, dme_id to)
{
    s->root = s->queue ? s->peer[s->queue - 1].queue : to;
    dme_line_pack(ntq_queue(d, s), dme_send(d, to, TOKEN)->ticket);
}

static void ntq_init(struct dme *d, void *state)
{
    struct ntq *s = state;

    s->root = d->self == 0 ? DME_NONE : 0;
}

static void ntq_request(struct dme *d, void *state)
{
    struct ntq *s = state;

    if (s->root == DME_NONE) {
        dme_enter(d);
    } else {
        dme_send_ticket(d, s->root, REQUEST, dme_claim(d, 0));
        s->root = DME_NONE;
    }
}

static void ntq_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ntq *s = state;
    dme_id origin;

    switch (m->kind) {
    case REQUEST:
        origin = m->ticket[0].site;
        DME_EXPECT(d, origin != DME_NONE && origin != d->self);
        if (!dme_idle(d)) {
            DME_EXPECT(d, !dme_line_has(ntq_kept(d, s), origin));
            dme_line_push(ntq_kept(d, s), origin);
        } else if (s->root == DME_NONE) {
            ntq_give(d, s, origin);
        } else {
            dme_send_ticket(d, s->root, REQUEST, m->ticket[0]);
            s->root = origin;
        }
        break;
    case TOKEN:
        DME_EXPECT(d, dme_waiting(d) && dme_line_unpack(ntq_queue(d, s), m->ticket));
        dme_enter(d);
        break;
    }
}

static void ntq_release(struct dme *d, void *state)
{
    struct ntq *s = state;

    while (s->kept)
        DME_EXPECT(d, dme_line_push(ntq_queue(d, s), dme_line_pop(ntq_kept(d, s))));
    if (s->queue)
        ntq_give(d, s, dme_line_pop(ntq_queue(d, s)));
}

static const char *ntq_malformed(const struct dme *d, void *state)
{
    struct ntq *s = state;

    DME_HOLDS(s->root < d->n || s->root == DME_NONE);
    DME_HOLDS(dme_line_is_sound(ntq_kept(d, s), d->n));
    DME_HOLDS(dme_line_is_sound(ntq_queue(d, s), d->n));
    return NULL;
}

static bool ntq_has(const struct dme_node *node)
{
    return ((const struct ntq *)dme_state(node))->root == DME_NONE && node->phase != DME_WAITING;
}

/* The number of places in which the site is queued. */
static uint32_t ntq_places(const struct dme_moment *now, dme_id site)
{
    uint32_t places = dme_in_flight(now, TOKEN, DME_NONE, site);

    for (size_t m = 0; m < now->msgs; m++)
        for (uint32_t k = 0; k < now->msg[m]->count; k++)
            places += now->msg[m]->ticket[k].site == site;
    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct ntq *s = dme_state(now->node[i]);

        for (uint32_t k = 0; k < s->kept; k++)
            places += s->peer[k].kept == site;
        for (uint32_t k = 0; k < s->queue; k++)
            places += s->peer[k].queue == site;
    }
    return places;
}

static const char *ntq_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        tokens += ntq_has(now->node[i]);
        if (ntq_places(now, i) != (now->node[i]->phase == DME_WAITING))
            return "NQ2: every waiting site is in exactly one place, and no other site is in any";
    }
    return tokens == 1 ? NULL : "NQ1: there is one token";
}

static void ntq_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct ntq *s = state;

    dme_print_site(text, "root", s->root);
    dme_print_line(text, " kept", &s->peer[0].kept, sizeof s->peer[0], s->kept);
    if (ntq_has(d->node))
        dme_print_line(text, " token queue", &s->peer[0].queue, sizeof s->peer[0], s->queue);
}

const struct dme_alg naimi_trehel_queue = {
    .name = "naimi-trehel-queue",
    .family = DME_TOKEN,
    .paper =
        "M. Naimi, M. Trehel, An improvement of the log(n) distributed algorithm for mutual exclusion, ICDCS, 1987",
    .cost = "H(n-1) messages at light load, 2 at full load, delay T",
    .kinds = ntq_kinds,
    .fields = ntq_fields,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct ntq),
    .peer_size = sizeof(((struct ntq *)0)->peer[0]),
    .init = ntq_init,
    .request = ntq_request,
    .receive = ntq_receive,
    .release = ntq_release,
    .broken = ntq_broken,
    .malformed = ntq_malformed,
    .show = ntq_show,
};
