/* Le Lann, "Distributed Systems - Towards a Formal Approach", IFIP Congress 1977: the token that circulates.
 *
 * Idea. The sites form a ring. One token goes round for ever. A site that wants in waits for the token, keeps it while
 * it is inside, and passes it on when it leaves. A site that does not want in passes the token on at once.
 *
 * Messages. TOKEN, from each site to the next: 1 per entry at full load, without bound at light load, since the token
 * also travels while no site asks. A request waits for n/2 hops on average when the ring is idle.
 *
 * Algorithm. Site i:
 *     request   wait for the token; enter if there is no other site
 *     on TOKEN  if I wait: enter; else send TOKEN to the next site
 *     release   send TOKEN to the next site
 *
 * Invariant LL1. There is one token, and no other message. A site has it exactly while it is inside; else the token is
 * in flight.
 *
 * Based on the paper's abstract and on how textbooks tell it. What the paper says of a lost token and of sites that
 * stop (time-outs, and an election of the site that makes the new token) is left out: this algorithm needs reliable
 * channels and sites that do not stop.
 *
 * A site keeps nothing in its state: its phase says where the token is. The algorithm never comes to rest (`restless`),
 * which simulator, checker and service have to know. */
#include "core/alg.h"

enum { TOKEN };

static const struct dme_kind ll_kinds[] = {{"TOKEN", 0, 0}, {0}};

static void ll_pass(struct dme *d)
{
    if (d->n > 1)
        dme_send(d, dme_after(d, d->self), TOKEN);
}

static void ll_init(struct dme *d, void *state)
{
    (void)state;
    if (d->self == 0)
        ll_pass(d);
}

static void ll_request(struct dme *d, void *state)
{
    (void)state;
    if (d->n == 1)
        dme_enter(d);
}

static void ll_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)state;
    DME_EXPECT(d, dme_after(d, m->from) == d->self && !dme_inside(d));
    if (dme_waiting(d))
        dme_enter(d);
    else
        ll_pass(d);
}

static void ll_release(struct dme *d, void *state)
{
    (void)state;
    ll_pass(d);
}

static const char *ll_broken(const struct dme_moment *now)
{
    size_t tokens = now->msgs;

    for (dme_id i = 0; i < now->conf->n; i++)
        tokens += now->node[i]->phase == DME_INSIDE;
    return tokens == 1 || now->conf->n == 1 ? NULL : "LL1: one token, in flight or with the site that is inside";
}

static void ll_show(const struct dme *d, const void *state, struct dme_text *text)
{
    (void)state;
    dme_print(text, "%s", dme_inside(d) ? "token" : "-");
}

const struct dme_alg le_lann = {
    .name = "le-lann",
    .family = DME_TOKEN,
    .paper = "G. Le Lann, Distributed systems - towards a formal approach, IFIP Congress, 1977",
    .cost = "1 message at full load, unbounded at light load, delay T times the distance to the next",
    .kinds = ll_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .restless = 1,
    .init = ll_init,
    .request = ll_request,
    .receive = ll_receive,
    .release = ll_release,
    .broken = ll_broken,
    .show = ll_show,
};
