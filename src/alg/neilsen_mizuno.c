/* Neilsen and Mizuno, "A DAG Based Algorithm for Distributed Mutual Exclusion", ICDCS, 1991; written from public
 * descriptions, the publication was not at hand.
 *
 * Idea. The sites form a tree, and every edge points towards the site that asked last, the *sink*. A request goes along
 * the edges, and turns each of them round on its way: so the requester becomes the new sink. The old sink remembers it
 * as the one that follows, and sends the token there directly. Thus the sites that wait form a queue of which each
 * knows its successor only. Naimi and Trehel's algorithm is the same with edges to any site: there, a request makes all
 * whom it passes point to the requester at once.
 *
 * Messages. REQUEST(site) from neighbour to neighbour, TOKEN directly: at most D + 1 per entry on a tree of diameter D,
 * 3 on a star; 0 where the token is.
 *
 * Algorithm. Site i:
 *     request                    if I hold the token: enter; else send REQUEST(i) to LAST; LAST := none
 *     on REQUEST(origin) from j  if LAST is a site: send the REQUEST on to it; else if I hold the idle token: send
 *                                TOKEN to the origin; else FOLLOW := origin. LAST := j
 *     on TOKEN                   enter
 *     release                    if FOLLOW is a site: send TOKEN to it; FOLLOW := none
 *
 * Invariant NM1. There is one token, held or in flight.
 * Invariant NM2. An edge points one way, or a REQUEST is under way on it: of two neighbours not both point to each
 * other.
 *
 * Departures from the paper. None known. */
#include "core/alg.h"
#include "core/topology.h"

enum { REQUEST, TOKEN };
enum { OPTION_TREE };

static const struct dme_kind nm_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 0}, {0}};
static const struct dme_option nm_options[] = {
    {.key = "tree", .help = "shape of the tree, rooted at site 0", .choices = topo_tree_names},
    {0},
};

struct nm {
    dme_id last;   /* the neighbour towards the sink, or DME_NONE: this site is it */
    dme_id follow; /* the site that gets the token after this one, or DME_NONE */
    uint64_t has;  /* the token is here */
};

static void nm_give(struct dme *d, struct nm *s, dme_id to)
{
    DME_EXPECT(d, s->has);
    s->has = 0;
    dme_send(d, to, TOKEN);
}

static void nm_init(struct dme *d, void *state)
{
    struct nm *s = state;

    s->last = d->self ? topo_parent((enum topo_tree)dme_option(d, OPTION_TREE), d->n, d->self) : DME_NONE;
    s->follow = DME_NONE;
    s->has = d->self == 0;
}

static void nm_request(struct dme *d, void *state)
{
    struct nm *s = state;

    if (s->has) {
        dme_enter(d);
        return;
    }
    DME_EXPECT(d, s->last != DME_NONE);
    dme_send_ticket(d, s->last, REQUEST, dme_claim(d, 0));
    s->last = DME_NONE;
}

static void nm_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct nm *s = state;

    if (m->kind == TOKEN) {
        DME_EXPECT(d, !s->has);
        s->has = 1;
        dme_enter(d);
        return;
    }
    DME_EXPECT(d, m->ticket[0].site < d->n && m->ticket[0].site != d->self);
    if (s->last != DME_NONE)
        dme_send_ticket(d, s->last, REQUEST, m->ticket[0]);
    else if (s->has && dme_idle(d))
        nm_give(d, s, m->ticket[0].site);
    else
        s->follow = m->ticket[0].site;
    s->last = m->from;
}

static void nm_release(struct dme *d, void *state)
{
    struct nm *s = state;

    if (s->follow != DME_NONE) {
        nm_give(d, s, s->follow);
        s->follow = DME_NONE;
    }
}

static const char *nm_malformed(const struct dme *d, void *state)
{
    struct nm *s = state;

    DME_HOLDS(s->last < d->n || s->last == DME_NONE);
    DME_HOLDS(s->follow < d->n || s->follow == DME_NONE);
    return NULL;
}

static const char *nm_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct nm *s = dme_state(now->node[i]);

        tokens += s->has != 0;
        if (s->last != DME_NONE && ((const struct nm *)dme_state(now->node[s->last]))->last == i)
            return "NM2: two neighbours do not point to each other";
    }
    return tokens == 1 ? NULL : "NM1: there is one token";
}

static void nm_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct nm *s = state;

    (void)d;
    if (s->last == DME_NONE)
        dme_print(text, "sink");
    else
        dme_print(text, "last=%u", s->last);
    if (s->follow != DME_NONE)
        dme_print(text, " follow=%u", s->follow);
    if (s->has)
        dme_print(text, " token");
}

const struct dme_alg neilsen_mizuno = {
    .name = "neilsen-mizuno",
    .paper =
        "M. L. Neilsen, M. Mizuno, A DAG based algorithm for distributed mutual exclusion, ICDCS, 1991; known here "
        "through public descriptions",
    .cost = "at most D+1 messages on a tree of diameter D, 3 on a star, 0 where the token is; delay T",
    .kinds = nm_kinds,
    .options = nm_options,
    .family = DME_TOKEN,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct nm),
    .init = nm_init,
    .request = nm_request,
    .receive = nm_receive,
    .release = nm_release,
    .broken = nm_broken,
    .malformed = nm_malformed,
    .show = nm_show,
};
