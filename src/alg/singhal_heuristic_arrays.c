/* Singhal's algorithm (singhal_heuristic.c) as Banta's thesis (1993, section 2.1.3, pages 11-12) retells it: a request
 * carries the whole array of what its sender knows, and not the sender's number only.
 *
 * Idea. A site guesses of every other whether it is requesting, and asks those that it takes for requesting. With a
 * request goes the array of guesses, each with the number of the request that it rests on. The receiver takes over
 * what rests on a higher number. A site that is itself requesting, and has not asked the sender, does so. A site that gets
 * the token takes over what the token knows, and attaches its own array when it passes the token on.
 *
 * Messages. REQUEST(array) to the sites counted as requesting, TOKEN(array): as many as in Singhal's algorithm, and each
 * of n numbers. In the paper itself only the token has arrays.
 *
 * Invariant SA1. There is one token, held or in flight.
 *
 * As in the paper as it is printed, a request that rests on a number which is known already changes nothing, and two sites
 * may lose each other. */
#include "core/alg.h"

enum { REQUEST, TOKEN };

/* Of every site: clock is the number of its latest request known, site is the site itself if it is taken to wait. */
static const struct dme_kind sa_kinds[] = {{"REQUEST", 0, 1}, {"TOKEN", 0, 1}, {0}};
static const char *const sa_fields[] = {"SN,,R", "TSN,,R"};
static const struct dme_mistake sa_mistakes[] = {
    {.name = "arrays-in-requests",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.1.3, pages 11-12",
     .what = "a request carries the array of all guesses; what is known already is not looked at"},
    {0},
};

struct sa {
    uint64_t has; /* the token is here */
    struct {
        uint64_t number;  /* of its latest request known */
        uint8_t requests; /* it is taken to be requesting */
        uint8_t asked;    /* by this site, with its present number */
        uint8_t zero[6];
    } peer[];
};

static void sa_send(struct dme *d, struct sa *s, dme_id to, uint8_t kind)
{
    struct dme_msg *m = dme_send(d, to, kind);

    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].number;
        m->ticket[j].site = (j == d->self ? kind == REQUEST : s->peer[j].requests) ? j : DME_NONE;
    }
    s->peer[to].asked = kind == REQUEST;
}

static void sa_give(struct dme *d, struct sa *s, dme_id to)
{
    s->has = 0;
    sa_send(d, s, to, TOKEN);
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].asked = 0;
}

/* Takes over what rests on a higher number; of the token also what rests on the same. */
static void sa_learn(struct dme *d, struct sa *s, const struct dme_msg *m)
{
    for (dme_id j = 0; j < d->n; j++) {
        DME_EXPECT(d, m->ticket[j].site == j || m->ticket[j].site == DME_NONE);
        if (j != d->self && m->ticket[j].clock + (m->kind == TOKEN) > s->peer[j].number) {
            s->peer[j].number = m->ticket[j].clock;
            s->peer[j].requests = m->ticket[j].site == j;
        }
    }
}

static dme_id sa_next(const struct dme *d, const struct sa *s)
{
    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j))
        if (s->peer[j].requests)
            return j;
    return DME_NONE;
}

/* From an idle holder to the next site that requests. */
static void sa_pass(struct dme *d, struct sa *s)
{
    dme_id next = sa_next(d, s);

    if (s->has && dme_idle(d) && next != DME_NONE)
        sa_give(d, s, next);
}

static void sa_init(struct dme *d, void *state)
{
    struct sa *s = state;

    s->has = d->self == 0;
    for (dme_id j = 0; j < d->self; j++)
        s->peer[j].requests = 1;
}

static void sa_request(struct dme *d, void *state)
{
    struct sa *s = state;

    if (s->has) {
        dme_enter(d);
        return;
    }
    s->peer[d->self].number++;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].requests)
            sa_send(d, s, j, REQUEST);
}

static void sa_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sa *s = state;

    sa_learn(d, s, m);
    if (m->kind == TOKEN) {
        DME_EXPECT(d, !s->has && dme_waiting(d));
        s->has = 1;
        dme_enter(d);
        return;
    }
    if (dme_waiting(d) && !s->peer[m->from].asked)
        sa_send(d, s, m->from, REQUEST);
    sa_pass(d, s);
}

static void sa_release(struct dme *d, void *state)
{
    sa_pass(d, state);
}

static const char *sa_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++)
        tokens += ((const struct sa *)dme_state(now->node[i]))->has != 0;
    return tokens == 1 ? NULL : "SA1: there is one token";
}

static void sa_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sa *s = state;

    dme_print_set(text, "counts", &s->peer[0].requests, sizeof s->peer[0], d->n);
    dme_print_set(text, " asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    dme_print_numbers(text, " numbers", &s->peer[0].number, sizeof s->peer[0], d->n);
    dme_print(text, s->has ? " token" : "");
}

const struct dme_alg singhal_heuristic_as_retold = {
    .name = "singhal-heuristic-as-retold",
    .paper = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, 1993, "
             "section 2.1.3, on M. Singhal, IEEE Transactions on Computers 38(5), 1989",
    .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T",
    .flaw = "two sites lose each other, as in the paper as published",
    .mistakes = sa_mistakes,
    .mistaken = DME_RETOLD,
    .family = DME_TOKEN,
    .kinds = sa_kinds,
    .fields = sa_fields,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct sa),
    .peer_size = sizeof(((struct sa *)0)->peer[0]),
    .wide = true,
    .init = sa_init,
    .request = sa_request,
    .receive = sa_receive,
    .release = sa_release,
    .broken = sa_broken,
    .show = sa_show,
};
