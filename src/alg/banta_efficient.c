/* Banta, "Distributed Mutual Exclusion Algorithms", M.S. thesis, University of Nevada, Las Vegas, 1993: the efficient
 * algorithm of chapter 5.
 *
 * Idea. The token carries the queue of sites to serve, in cycles. One site of the queue is the good site of the cycle:
 * all requests go to it. When the token has come to it and it has been inside, it starts the next cycle: it appends
 * what it has collected, names the last of the queue good, tells all sites that are not on the queue, and keeps the
 * token for a window of more than 2T. In the first T they all learn of it; what they sent to the old good site before
 * arrives in the second. Such late requests go on the queue, behind the good site: they are the first of the cycle
 * after this. So no request is ever passed on, and each is queued once.
 *
 * Messages. REQUEST to the good site, UPDATE(good) to n-1-m sites in a cycle that serves m, TOKEN(good, queue): with m
 * served in every cycle (n-1)/m + 1 per entry, from n at light load (0 if the token is here already) to 2 at full load.
 * The price is the window: the token rests for more than 2T in every cycle. With `--set hurry=yes` it goes at once if
 * there is no site to tell, since then no request can be late.
 *
 * Algorithm. Site i:
 *     request                if the token is here and no window is open: enter; else send REQUEST to the good site
 *     on REQUEST             if my window is open: append it to the token's queue; else collect it, and if I hold the
 *                            idle token, start a cycle: send UPDATE as below
 *     on UPDATE(good)        requests go to the good site from now on
 *     on TOKEN(good, queue)  enter
 *     release                if I am not the good site: send TOKEN to the first of the queue; else if there are
 *                            requests, start a cycle: append what was collected to the queue; the good site is its
 *                            last; send UPDATE(good) to all that are not on it; open a window of 2T
 *     timer                  the window is over: send TOKEN to the first of the queue
 *
 * Invariant BE1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.
 * Invariant BE2. No UPDATE is in flight but from a site with an open window. So with the token, good is the good site
 * of its cycle, and it stands in the queue or is this site. Invariant BE3. A REQUEST arrives only where the token is,
 * or where it is waited for.
 *
 * Departures from the paper. The idle holder enters at once (as printed it sends a REQUEST to itself, and later to site
 * -1). While it is inside, requests are only collected. Appending empties the queue of collected requests. The window
 * is longer than 2T, not 2T long. The printed version can be watched in banta-efficient-as-published; that a shorter
 * window does not do, as the thesis says, in banta-efficient-tempting. With m requests in each cycle the thesis counts
 * n/m + 1 messages; it includes an UPDATE of the good site to itself, which the printed loop sends and this one does
 * not. Without a bound on delays BE3 breaks: the late REQUEST is a fault here, as it would be lost. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, UPDATE, TOKEN };
enum { OPTION_HURRY };
enum { SHORT_WINDOW, HOLDER_ASKS_ITSELF, STARTS_WHILE_INSIDE, KEEPS_COLLECTED };
enum { WINDOW }; /* the timer */

/* The token's first ticket names the good site; behind it there are n, of which the k-th is the k-th of the queue. */
static const struct dme_kind be_kinds[] = {{"REQUEST", 0, 0}, {"UPDATE", 1, 0}, {"TOKEN", 1, 1}, {0}};
static const char *const be_fields[] = {NULL, ",,good", ",,good ,,queue"};
static const char *const be_hurry[] = {"no", "yes", NULL};
static const struct dme_option be_options[] = {
    {.key = "hurry", .help = "no window if no site has to be told of the cycle", .choices = be_hurry},
    {0},
};
static const struct dme_mistake be_mistakes[] = {
    {.name = "short-window",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 5.4, page 47, says two time periods, and that they are necessary",
     .what = "a window of one T: a late request is lost"},
    {.name = "holder-asks-itself",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 5.8, page 54",
     .what = "a site that is the last of the queue finds no good site there, and asks site -1 from then on"},
    {.name = "starts-while-inside",
     .kind = DME_TEMPTING,
     .where = "not in the thesis",
     .what = "once an idle holder enters at once, a request may find it inside, and must not start a cycle"},
    {.name = "keeps-collected",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 5.8, pages 50-53",
     .what = "the local queue is appended to the token queue and never cleared; chapter 6 clears it"},
    {0},
};

struct be {
    dme_id good;        /* where to send requests; with the token: the good site of its cycle */
    uint32_t has;       /* the token is here */
    uint32_t collected; /* requests */
    uint32_t queued;    /* with the token: sites in its queue */
    struct {
        dme_id collect; /* slot of the line of collected requests */
        dme_id queue;   /* slot of the token's queue */
    } peer[];
};

static struct dme_line be_collected(const struct dme *d, struct be *s)
{
    return (struct dme_line){&s->collected, &s->peer[0].collect, sizeof s->peer[0], d->n};
}

static struct dme_line be_queue(const struct dme *d, struct be *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool be_window(const struct dme *d)
{
    return d->node->armed & 1u << WINDOW;
}

static void be_push(struct dme *d, struct dme_line line, dme_id site)
{
    DME_EXPECT(d, !dme_line_has(line, site));
    dme_line_push(line, site);
}

static void be_give(struct dme *d, struct be *s)
{
    struct dme_msg *m;

    DME_EXPECT(d, s->queued > 0);
    m = dme_send(d, dme_line_pop(be_queue(d, s)), TOKEN);
    m->ticket[0].site = s->good;
    dme_line_pack(be_queue(d, s), m->ticket + 1);
    s->has = 0;
}

static void be_take(struct dme *d, struct be *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    DME_EXPECT(d, m->ticket[0].site != DME_NONE && dme_line_unpack(be_queue(d, s), m->ticket + 1));
    s->good = m->ticket[0].site;
    DME_EXPECT(d, dme_line_has(be_queue(d, s), s->good) != (s->good == d->self));
    s->has = 1;
    dme_enter(d);
}

/* Tells every site that is not on the queue. Returns whether there is one. */
static bool be_announce(struct dme *d, struct be *s)
{
    bool anyone = false;

    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self && !dme_line_has(be_queue(d, s), j)) {
            dme_send_ticket(d, j, UPDATE, (struct dme_ticket){.site = s->good});
            anyone = true;
        }
    return anyone;
}

static void be_start_cycle(struct dme *d, struct be *s)
{
    for (uint32_t count = s->collected; count && s->collected; count--) {
        dme_id j = dme_line_pop(be_collected(d, s));

        be_push(d, be_queue(d, s), j);
        if (dme_mistake(d, KEEPS_COLLECTED)) /* printed: appended, and not deleted */
            dme_line_push(be_collected(d, s), j);
    }
    DME_EXPECT(d, s->queued > 0);
    s->good = dme_line_last(be_queue(d, s));
    if (!be_announce(d, s) && dme_option(d, OPTION_HURRY))
        be_give(d, s);
    else
        dme_start(d, WINDOW, dme_mistake(d, SHORT_WINDOW) ? 1 : 2);
}

static void be_init(struct dme *d, void *state)
{
    struct be *s = state;

    s->has = d->self == 0;
}

static void be_request(struct dme *d, void *state)
{
    struct be *s = state;

    if (s->has && !be_window(d) && !dme_mistake(d, HOLDER_ASKS_ITSELF)) {
        dme_enter(d);
        return;
    }
    DME_EXPECT(d, s->good != d->self);
    dme_send(d, s->good, REQUEST);
}

static void be_asked(struct dme *d, struct be *s, dme_id from)
{
    bool start = s->has && dme_idle(d);

    if (be_window(d)) {
        be_push(d, be_queue(d, s), from);
        return;
    }
    /* Printed: if the token is here and its queue is empty. A site to which the token came is still on the queue
     * there, so this goes wrong for a site that found the token at home. Here it goes wrong for both. */
    if (dme_mistake(d, STARTS_WHILE_INSIDE))
        start = s->has && s->queued == 0;
    if (!dme_mistake(d, SHORT_WINDOW)) /* there a request may come too late, and is collected in vain */
        DME_EXPECT(d, s->has || dme_waiting(d));
    be_push(d, be_collected(d, s), from);
    if (start)
        be_start_cycle(d, s);
}

static void be_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct be *s = state;

    switch (m->kind) {
    case REQUEST:
        be_asked(d, s, m->from);
        break;
    case UPDATE:
        DME_EXPECT(d, !s->has && m->ticket[0].site != DME_NONE && m->ticket[0].site != d->self);
        s->good = m->ticket[0].site;
        break;
    case TOKEN:
        be_take(d, s, m);
        break;
    }
}

static void be_release(struct dme *d, void *state)
{
    struct be *s = state;

    if (dme_mistake(d, STARTS_WHILE_INSIDE) && (be_window(d) || !s->has))
        return; /* the token goes, or has gone, without waiting for the exit */
    if (s->good != d->self)
        be_give(d, s);
    else if (s->collected || s->queued)
        be_start_cycle(d, s);
}

static void be_timer(struct dme *d, void *state, unsigned timer)
{
    (void)timer;
    be_give(d, state);
}

static const char *be_malformed(const struct dme *d, void *state)
{
    struct be *s = state;

    DME_HOLDS(s->good < d->n);
    DME_HOLDS(dme_line_is_sound(be_collected(d, s), d->n));
    DME_HOLDS(dme_line_is_sound(be_queue(d, s), d->n));
    return NULL;
}

/* How often site i stands on the queue of tokens in flight. */
static uint32_t be_queued_in_flight(const struct dme_moment *now, dme_id i)
{
    uint32_t count = 0;

    for (size_t m = 0; m < now->msgs; m++)
        for (uint32_t k = 1; now->msg[m]->kind == TOKEN && k < now->msg[m]->count; k++)
            count += now->msg[m]->ticket[k].site == i;
    return count;
}

/* BE4 for site i. */
static bool be_asked_for_once(const struct dme_moment *now, dme_id i)
{
    uint32_t places =
        dme_in_flight(now, REQUEST, i, DME_NONE) + dme_in_flight(now, TOKEN, DME_NONE, i) + be_queued_in_flight(now, i);

    for (dme_id j = 0; j < now->conf->n; j++) {
        const struct be *s = dme_state(now->node[j]);

        for (uint32_t k = 0; k < s->collected; k++)
            places += s->peer[k].collect == i;
        for (uint32_t k = 0; k < s->queued; k++)
            places += s->peer[k].queue == i;
    }
    return places == (now->node[i]->phase == DME_WAITING);
}

static const char *be_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct be *s = dme_state(now->node[i]);

        tokens += s->has;
        if (!now->node[i]->armed && dme_in_flight(now, UPDATE, i, DME_NONE))
            return "BE2: no UPDATE is in flight but from a site with an open window";
        if (!be_asked_for_once(now, i))
            return "BE4: a site is asked for once if it waits, and else never";
    }
    return tokens == 1 ? NULL : "BE1: there is one token";
}

static void be_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct be *s = state;

    dme_print(text, "good=%u", s->good);
    dme_print_line(text, " collected", &s->peer[0].collect, sizeof s->peer[0], s->collected);
    if (s->has)
        dme_print_line(text, " token queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    dme_print(text, "%s", be_window(d) ? " window" : "");
}

#define BANTA_EFFICIENT                                                                                                \
    .family = DME_TOKEN,                                                                                               \
    .paper = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, 1993, " \
             "chapter 5",                                                                                              \
    .cost = "(n-1)/m+1 messages, m served in a cycle: n at light load, or 0 where the token is, 2 at full load; "      \
            "delay T and a rest of 2T in each cycle",                                                                  \
    .kinds = be_kinds, .fields = be_fields, .options = be_options, .rules = 1 << DME_EXCLUSIVE,                        \
    .needs = DME_RELIABLE | DME_ALIVE | DME_BOUNDED_DELAY, .state_size = sizeof(struct be),                            \
    .peer_size = sizeof(((struct be *)0)->peer[0]), .init = be_init, .request = be_request, .receive = be_receive,     \
    .release = be_release, .timer = be_timer, .malformed = be_malformed, .show = be_show

const struct dme_alg banta_efficient = {
    .name = "banta-efficient",
    .broken = be_broken,
    BANTA_EFFICIENT,
};

const struct dme_alg banta_efficient_as_published = {
    .name = "banta-efficient-as-published",
    .flaw = "the holder of the idle token asks no site, and collected requests are queued again",
    .mistakes = be_mistakes,
    .mistaken = DME_PUBLISHED,
    BANTA_EFFICIENT,
};

const struct dme_alg banta_efficient_tempting = {
    .name = "banta-efficient-tempting",
    .flaw = "a window of one T loses a request that is as late as it may be",
    .mistakes = be_mistakes,
    .mistaken = DME_TEMPTING,
    BANTA_EFFICIENT,
};
