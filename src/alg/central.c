/* A coordinator: the baseline against which distributed algorithms are measured.
 *
 * Idea. Site 0 is the coordinator. A site that wants to enter asks it, and tells it when it leaves. The coordinator
 * grants claims strictly in the order in which they arrive: as many as may be inside together, but none before an
 * earlier one that has to wait.
 *
 * Messages. REQUEST(mode), GRANT, RELEASE: 3 per entry, none where site 0 itself goes in; 3(n-1)/n on the average.
 *
 * Algorithm. Site i:
 *     request           send REQUEST(mode) to site 0
 *     on REQUEST(mode)  site 0: append it to the queue; while the first of the queue may join those that are out,
 *                       send it a GRANT and count it as out
 *     on GRANT          enter
 *     release           send RELEASE to site 0
 *     on RELEASE        site 0: the sender is out no more; send a GRANT to the first of the queue while it may join
 *                       those that are out
 *
 * Invariant C1. All grants that are out may be inside together. A grant is out until its RELEASE has arrived.
 * Invariant C2. If a claim queues, the first in the queue may not join those that are out.
 *
 * A site that leaves and asks again at once may have its REQUEST overtake its RELEASE. The coordinator then queues a
 * site whose grant is still out, or gives it a second one where the rule lets it join itself; hence grants are counted.
 * Nothing is lost: the RELEASE comes, and to count a site that has left is merely cautious. */
#include "core/alg.h"
#include "core/line.h"

enum { COORDINATOR = 0 };
enum { REQUEST, GRANT, RELEASE };

static const struct dme_kind central_kinds[] = {{"REQUEST", 1, 0}, {"GRANT", 0, 0}, {"RELEASE", 0, 0}, {0}};

/* Only the coordinator uses its state, and only it has peer records. */
struct central {
    uint32_t out;  /* grants */
    uint32_t mode; /* of all of them */
    uint32_t queued, zero;
    struct {
        uint32_t out;   /* grants of this site */
        uint32_t wants; /* while it queues: the mode */
        dme_id queue;   /* slot of the queue */
    } peer[];
};

static struct dme_line central_queue(const struct dme *d, struct central *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool central_may_join(const struct dme *d, const struct central *s, uint32_t mode)
{
    if (d->conf->rule == DME_SLOTS)
        return s->out < d->conf->limit;
    return s->out == 0 || dme_compatible(s->mode, mode);
}

static void central_grant_first(struct dme *d, struct central *s)
{
    dme_id first = dme_line_pop(central_queue(d, s));

    s->out++;
    s->mode = s->peer[first].wants;
    s->peer[first].out++;
    s->peer[first].wants = 0;
    dme_send(d, first, GRANT);
}

/* Grants claims in order of arrival. A claim that could join waits behind one that cannot: otherwise that one could
 * starve. */
static void central_grant(struct dme *d, struct central *s)
{
    while (s->queued && central_may_join(d, s, s->peer[s->peer[0].queue].wants))
        central_grant_first(d, s);
}

static void central_request(struct dme *d, void *state)
{
    (void)state;
    dme_send_ticket(d, COORDINATOR, REQUEST, dme_claim(d, 0));
}

static void central_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct central *s = state;

    DME_EXPECT(d, (m->kind == GRANT ? m->from : d->self) == COORDINATOR);
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, !dme_line_has(central_queue(d, s), m->from));
        s->peer[m->from].wants = m->ticket[0].mode;
        dme_line_push(central_queue(d, s), m->from);
        central_grant(d, s);
        break;
    case GRANT:
        dme_enter(d);
        break;
    case RELEASE:
        DME_EXPECT(d, s->peer[m->from].out > 0);
        s->peer[m->from].out--;
        if (--s->out == 0)
            s->mode = 0;
        central_grant(d, s);
        break;
    }
}

static void central_release(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, COORDINATOR, RELEASE);
}

static const char *central_broken(const struct dme_moment *now)
{
    struct central *s = dme_state(now->node[COORDINATOR]);
    struct dme d = {.conf = now->conf, .n = now->conf->n};

    for (dme_id j = 0; j < now->conf->n; j++)
        if (s->peer[j].out != (now->node[j]->phase == DME_INSIDE) + dme_in_flight(now, GRANT, COORDINATOR, j) +
                                  dme_in_flight(now, RELEASE, j, COORDINATOR))
            return "C1: a grant is out from its GRANT until its RELEASE has arrived";
    if (s->queued && central_may_join(&d, s, s->peer[s->peer[0].queue].wants))
        return "C2: the first in the queue may not join those that are out";
    return NULL;
}

static const char *central_malformed(const struct dme *d, void *state)
{
    struct central *s = state;

    if (d->self != COORDINATOR)
        return NULL; /* it has no queue */
    DME_HOLDS(dme_line_is_sound(central_queue(d, s), d->n));
    return NULL;
}

static uint32_t central_records(const struct dme_conf *conf, dme_id self)
{
    return self == COORDINATOR ? conf->n : 0;
}

static void central_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct central *s = state;
    const char *between = "out=";

    if (d->self != COORDINATOR)
        return;
    for (dme_id j = 0; j < d->n; j++)
        for (uint32_t k = 0; k < s->peer[j].out; k++, between = ",")
            dme_print(text, "%s%u", between, j);
    dme_print(text, "%s queue=%s", s->out ? "" : "out=-", s->queued ? "" : "-");
    for (uint32_t k = 0; k < s->queued; k++)
        dme_print(text, "%s%u", k ? "," : "", s->peer[k].queue);
}

const struct dme_alg central = {
    .name = "central",
    .family = DME_CENTRAL,
    .paper = "folklore; e.g. A. S. Tanenbaum, M. van Steen, Distributed systems: principles and paradigms",
    .cost = "3(n-1)/n messages, delay 2T(n-1)/n",
    .kinds = central_kinds,
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_SLOTS | 1 << DME_GROUP,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct central),
    .peer_size = sizeof(((struct central *)0)->peer[0]),
    .records = central_records,
    .request = central_request,
    .receive = central_receive,
    .release = central_release,
    .malformed = central_malformed,
    .broken = central_broken,
    .show = central_show,
};
