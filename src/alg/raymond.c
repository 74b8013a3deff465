/* Raymond, "A Tree-Based Algorithm for Distributed Mutual Exclusion", ACM TOCS 7(1), 1989.
 *
 * Idea. The sites form a tree; messages go along its edges only. Every site knows which neighbour the token lies
 * behind, and keeps a queue of the neighbours (and itself) that want it from there. It asks for the token once, however
 * many want it, and passes it to the first in its queue; if others are left it asks for it back at once.
 *
 * Messages. REQUEST and TOKEN along the way: at light load twice the distance to the token, at full load 4(n-1)/n.
 *
 * Algorithm. Site i:
 *     request            put myself into the queue; if I hold the idle token: enter; else if I have not asked: send
 *                        REQUEST to the holder side
 *     on REQUEST from j  put j into the queue; if I hold the idle token: send TOKEN to the first of the queue, else
 *                        if I have not asked: send REQUEST to the holder side
 *     on TOKEN           take the first off the queue: if it is me, enter; else send TOKEN to it, and REQUEST behind
 *                        it if others are left in the queue
 *     release            if the queue is not empty: send TOKEN to its first, and REQUEST behind it if others are left
 *
 * Invariant RT1. There is one token, held or in flight.
 * Invariant RT2. A queue holds no site twice, so degree + 1 slots are enough.
 * Invariant RT3. Where the token is not: `asked` holds exactly if this site stands in the queue of `holder`, or its
 *     REQUEST to it or the TOKEN from it is in flight.
 *
 * Departures from the paper. None. The REQUEST behind a TOKEN may overtake it: the receiver then queues a site that it
 * still takes for the holder, which is right. raymond-tempting leaves out one of the two halves of "asks once":
 *   forgets-to-ask    the token is passed on, and others are left in the queue, but it is not asked back.
 *   asks-every-time   a site asks for each that wants the token, although it has asked already. */
#include "core/alg.h"
#include "core/line.h"
#include "core/topology.h"

enum { REQUEST, TOKEN };
enum { OPTION_TREE };
enum { FORGETS_TO_ASK, ASKS_EVERY_TIME };

static const struct dme_kind raymond_kinds[] = {{"REQUEST", 0, 0}, {"TOKEN", 0, 0}, {0}};
static const struct dme_option raymond_options[] = {
    {.key = "tree", .help = "shape of the tree, rooted at site 0", .choices = topo_tree_names},
    {0},
};
static const struct dme_mistake raymond_mistakes[] = {
    {.name = "forgets-to-ask",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 2.1.4, page 14, says that it asks",
     .what = "the token is passed on, and others are left in the queue, but it is not asked back"},
    {.name = "asks-every-time",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 2.1.4, page 13, says without further requests",
     .what = "a site asks for each that wants the token, although it has asked already"},
    {0},
};

struct raymond {
    dme_id holder; /* self, or the neighbour towards the token */
    uint32_t asked;
    uint32_t queued, slots;
    dme_id queue[];
};

static struct dme_line raymond_queue(struct raymond *s)
{
    return (struct dme_line){&s->queued, s->queue, sizeof s->queue[0], s->slots};
}

static uint32_t raymond_slots(const struct dme_conf *conf, dme_id self)
{
    return topo_degree((enum topo_tree)conf->option[OPTION_TREE], conf->n, self) + 1;
}

/* Passes the token on, or enters; then asks for the token, if a site in the queue still wants it. */
static void raymond_act(struct dme *d, struct raymond *s)
{
    if (s->holder == d->self && !dme_inside(d) && s->queued) {
        dme_id first = dme_line_pop(raymond_queue(s));

        if (first == d->self) {
            dme_enter(d);
        } else {
            s->holder = first;
            dme_send(d, first, TOKEN);
            if (dme_mistake(d, FORGETS_TO_ASK))
                return;
        }
    }
    if (s->holder != d->self && s->queued && (!s->asked || dme_mistake(d, ASKS_EVERY_TIME))) {
        s->asked = 1;
        dme_send(d, s->holder, REQUEST);
    }
}

static void raymond_init(struct dme *d, void *state)
{
    struct raymond *s = state;

    s->holder = d->self ? topo_parent((enum topo_tree)dme_option(d, OPTION_TREE), d->n, d->self) : 0;
    s->slots = raymond_slots(d->conf, d->self);
}

static void raymond_request(struct dme *d, void *state)
{
    struct raymond *s = state;

    DME_EXPECT(d, dme_line_push(raymond_queue(s), d->self));
    raymond_act(d, s);
}

static void raymond_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct raymond *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, !dme_line_has(raymond_queue(s), m->from));
        DME_EXPECT(d, dme_line_push(raymond_queue(s), m->from));
        break;
    case TOKEN:
        DME_EXPECT(d, s->holder == m->from && s->asked);
        s->holder = d->self;
        s->asked = 0;
        break;
    }
    raymond_act(d, s);
}

static void raymond_release(struct dme *d, void *state)
{
    raymond_act(d, state);
}

static const char *raymond_malformed(const struct dme *d, void *state)
{
    struct raymond *s = state;

    DME_HOLDS(s->holder < d->n);
    DME_HOLDS(s->slots == raymond_slots(d->conf, d->self));
    DME_HOLDS(dme_line_is_sound(raymond_queue(s), d->n));
    return NULL;
}

static const struct raymond *raymond_at(const struct dme_moment *now, dme_id i)
{
    return dme_state(now->node[i]);
}

static bool raymond_stands_in(const struct raymond *s, dme_id j)
{
    for (uint32_t k = 0; k < s->queued; k++)
        if (s->queue[k] == j)
            return true;
    return false;
}

static const char *raymond_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct raymond *s = raymond_at(now, i);

        tokens += s->holder == i;
        if (s->asked != (s->holder == i
                             ? 0
                             : raymond_stands_in(raymond_at(now, s->holder), i) +
                                   dme_in_flight(now, REQUEST, i, s->holder) + dme_in_flight(now, TOKEN, s->holder, i)))
            return "RT3: a site has asked exactly if it stands in the queue, or a REQUEST or the TOKEN is in flight";
    }
    return tokens == 1 ? NULL : "RT1: there is one token";
}

static void raymond_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct raymond *s = state;

    (void)d;
    dme_print(text, "holder=%u asked=%u", s->holder, s->asked);
    dme_print_line(text, " queue", s->queue, sizeof s->queue[0], s->queued);
}

#define RAYMOND_COMMON                                                                                                 \
    .family = DME_TOKEN, .cost = "light load twice the mean distance, full load 4(n-1)/n messages, delay 2T(n-1)/n",   \
    .kinds = raymond_kinds, .options = raymond_options, .rules = 1 << DME_EXCLUSIVE,                                   \
    .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct raymond), .peer_size = sizeof(dme_id),              \
    .records = raymond_slots, .init = raymond_init, .request = raymond_request, .receive = raymond_receive,            \
    .release = raymond_release, .malformed = raymond_malformed, .broken = raymond_broken, .show = raymond_show

const struct dme_alg raymond = {
    .name = "raymond",
    .paper = "K. Raymond, A tree-based algorithm for distributed mutual exclusion, ACM TOCS 7(1), 1989",
    RAYMOND_COMMON,
};

const struct dme_alg raymond_tempting = {
    .name = "raymond-tempting",
    .paper = "K. Raymond, A tree-based algorithm for distributed mutual exclusion, ACM TOCS 7(1), 1989",
    .flaw = "the token is not asked for where it should be, or more than once",
    .mistakes = raymond_mistakes,
    .mistaken = DME_TEMPTING,
    RAYMOND_COMMON,
};
