/* Banta, "Distributed Mutual Exclusion Algorithms", M.S. thesis, University of Nevada, Las Vegas, 1993: the algorithm
 * for k entries of chapter 6.
 *
 * Idea. Cycles, good site and window as in banta-efficient. But the token also counts free slots, and a site that is
 * not good passes the token on before it enters. The first k of the queue take a slot each. Every other one is let in
 * by the RELEASE of the site k places before it, and so on to the good site: it keeps the token, gathers a RELEASE for
 * every slot that was taken, enters, and starts the next cycle when it leaves, with all slots free.
 *
 * Messages. REQUEST to the good site, UPDATE(good) to n-1-m sites in a cycle that serves m, TOKEN(good, free slots,
 * queue), RELEASE from all but the good site: (n-2)/m + 2 per entry, from n at light load (0 if the token is here
 * already) to 3 - 1/(n-1) at full load.
 *
 * Algorithm. Site i:
 *     request                      if the token is here and no window is open: enter; else send REQUEST to the good
 *                                  site
 *     on REQUEST                   if my window is open: append it to the token's queue; else collect it, and if I
 *                                  hold the idle token, start a cycle: send UPDATE(good) to all that are not on the
 *                                  queue; open a window of 2T
 *     on UPDATE(good)              requests go to the good site from now on
 *     on TOKEN(good, free, queue)  the good site: keep it, and enter when all slots are free. Another site: note the
 *                                  k-th site behind me, but no site beyond the good one; take a slot if one is free;
 *                                  send TOKEN to the first of the queue; enter if I have a slot, or one was released
 *                                  to me already
 *     on RELEASE                   enter if the token has passed by, or, at the good site, if all slots are free
 *     release                      send RELEASE to the site that I noted; the good site: if there are requests, start
 *                                  a cycle: send UPDATE, as above
 *     timer                        the window is over: send TOKEN to the first of the queue
 *
 * Invariant BK1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.
 * Invariant BK2. Free slots, sites inside that do not have the token, and RELEASEs in flight or not used yet are k
 *     together. When the good site enters, all slots are free: it is alone.
 * Invariant BK3. No UPDATE is in flight but from a site with an open window. A REQUEST arrives only where the token is,
 * or where it is waited for.
 *
 * Departures from the paper. The good site awaits a RELEASE for every slot taken (in the text always k, which never
 * come if fewer than k sites stand before it), and frees them all (as printed it never does). RELEASE goes to the k-th
 * behind or the good site, whichever comes first in the queue, as the text says (the procedure writes min, which can be
 * read as the lower number: banta-k-tempting). The first two can be watched in banta-k-as-published; those of
 * banta-efficient are repaired here, too. The claim is weaker than it seems: the good site enters alone. So at most
 * min(k, n-2) sites are inside together, or one where that is 0, and one at light load. The thesis counts n/m + 2
 * messages, with an UPDATE to oneself and a RELEASE of the good site in each cycle that are not sent. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, UPDATE, TOKEN, RELEASE };
enum { AWAITS_K, NEVER_FREES, LOWER_NUMBER };
enum { WINDOW }; /* the timer */

/* The token's first ticket has the good site and, as its clock, the free slots; behind it there are n, of which the
 * k-th is the k-th of the queue. */
static const struct dme_kind bk_kinds[] = {
    {"REQUEST", 0, 0}, {"UPDATE", 1, 0}, {"TOKEN", 1, 1}, {"RELEASE", 0, 0}, {0}};
static const char *const bk_fields[] = {NULL, ",,good", "free,,good ,,queue", NULL};
static const struct dme_mistake bk_mistakes[] = {
    {.name = "awaits-k",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 6.2.5, page 69",
     .what = "the good site awaits k releases, also if fewer than k sites stand before it"},
    {.name = "never-frees",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 6.2.7, pages 71-72; section 6.2.2, page 64, has it",
     .what = "no statement increments the semaphore"},
    {.name = "lower-number",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 6.2.7, page 71, writes min(); page 73 says which is meant",
     .what = "a release goes to the k-th site or the good site, whichever has the lower number"},
    {0},
};

struct bk {
    dme_id good;        /* where to send requests; with the token: the good site of its cycle */
    dme_id heir;        /* the site that this site will let in by its RELEASE, once the token has passed; or DME_NONE */
    uint32_t has;       /* the token is here */
    uint32_t free;      /* with the token: slots */
    uint32_t released;  /* RELEASEs that came for this site and are not used yet */
    uint32_t collected; /* requests */
    uint32_t queued;    /* with the token: sites in its queue */
    uint32_t zero;
    struct {
        dme_id collect; /* slot of the line of collected requests */
        dme_id queue;   /* slot of the token's queue */
    } peer[];
};

static struct dme_line bk_collected(const struct dme *d, struct bk *s)
{
    return (struct dme_line){&s->collected, &s->peer[0].collect, sizeof s->peer[0], d->n};
}

static struct dme_line bk_queue(const struct dme *d, struct bk *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool bk_window(const struct dme *d)
{
    return d->node->armed & 1u << WINDOW;
}

static void bk_push(struct dme *d, struct dme_line line, dme_id site)
{
    DME_EXPECT(d, !dme_line_has(line, site));
    dme_line_push(line, site);
}

static void bk_give(struct dme *d, struct bk *s)
{
    struct dme_msg *m;

    DME_EXPECT(d, s->queued > 0);
    m = dme_send(d, dme_line_pop(bk_queue(d, s)), TOKEN);
    m->ticket[0] = (struct dme_ticket){.clock = s->free, .site = s->good};
    dme_line_pack(bk_queue(d, s), m->ticket + 1);
    s->has = s->free = 0;
}

/* The k-th site behind this one in the queue, but none behind the good site. */
static dme_id bk_heir(struct dme *d, struct bk *s)
{
    struct dme_line queue = bk_queue(d, s);
    uint32_t k = d->conf->limit - 1;

    if (k >= s->queued)
        return s->good;
    if (dme_mistake(d, LOWER_NUMBER)) /* printed: min(token_queue[k], good_site) */
        return *dme_line_slot(queue, k) < s->good ? *dme_line_slot(queue, k) : s->good;
    for (uint32_t j = 0; j < k; j++)
        if (*dme_line_slot(queue, j) == s->good)
            return s->good;
    return *dme_line_slot(queue, k);
}

/* May this site, which the token has passed or where it rests, enter now? */
static void bk_advance(struct dme *d, struct bk *s)
{
    uint32_t k = d->conf->limit;

    if (!dme_waiting(d) || bk_window(d))
        return;
    if (s->heir != DME_NONE && s->released) {
        s->released--;
        dme_enter(d);
    } else if (s->has && s->released == (dme_mistake(d, AWAITS_K) ? k : k - s->free)) {
        s->released = 0;
        if (!dme_mistake(d, NEVER_FREES))
            s->free = k;
        dme_enter(d);
    }
}

static void bk_take(struct dme *d, struct bk *s, const struct dme_msg *m)
{
    bool slot;

    DME_EXPECT(d, !s->has && dme_waiting(d) && s->heir == DME_NONE);
    DME_EXPECT(d, dme_line_unpack(bk_queue(d, s), m->ticket + 1) && m->ticket[0].clock <= d->conf->limit);
    DME_EXPECT(d, m->ticket[0].site != DME_NONE);
    s->good = m->ticket[0].site;
    s->free = (uint32_t)m->ticket[0].clock;
    DME_EXPECT(d, dme_line_has(bk_queue(d, s), s->good) != (s->good == d->self));
    if (s->good == d->self) {
        s->has = 1;
        bk_advance(d, s);
        return;
    }
    s->heir = bk_heir(d, s);
    slot = s->free > 0;
    s->free -= slot;
    bk_give(d, s);
    if (slot)
        dme_enter(d);
    else
        bk_advance(d, s);
}

static void bk_start_cycle(struct dme *d, struct bk *s)
{
    while (s->collected)
        bk_push(d, bk_queue(d, s), dme_line_pop(bk_collected(d, s)));
    DME_EXPECT(d, s->queued > 0);
    s->good = dme_line_last(bk_queue(d, s));
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self && !dme_line_has(bk_queue(d, s), j))
            dme_send_ticket(d, j, UPDATE, (struct dme_ticket){.site = s->good});
    dme_start(d, WINDOW, 2);
}

static void bk_init(struct dme *d, void *state)
{
    struct bk *s = state;

    s->heir = DME_NONE;
    s->has = d->self == 0;
    s->free = s->has ? d->conf->limit : 0;
}

static void bk_request(struct dme *d, void *state)
{
    struct bk *s = state;

    if (s->has && !bk_window(d))
        dme_enter(d);
    else
        dme_send(d, s->good, REQUEST);
}

static void bk_asked(struct dme *d, struct bk *s, dme_id from)
{
    if (bk_window(d)) {
        bk_push(d, bk_queue(d, s), from);
        return;
    }
    DME_EXPECT(d, s->has || (dme_waiting(d) && s->heir == DME_NONE));
    bk_push(d, bk_collected(d, s), from);
    if (s->has && dme_idle(d))
        bk_start_cycle(d, s);
}

static void bk_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct bk *s = state;

    switch (m->kind) {
    case REQUEST:
        bk_asked(d, s, m->from);
        break;
    case UPDATE:
        DME_EXPECT(d, !s->has && m->ticket[0].site != DME_NONE && m->ticket[0].site != d->self);
        s->good = m->ticket[0].site;
        break;
    case TOKEN:
        bk_take(d, s, m);
        break;
    case RELEASE: /* perhaps before the token has passed by */
        DME_EXPECT(d, dme_waiting(d) && s->released < d->conf->limit);
        s->released++;
        bk_advance(d, s);
        break;
    }
}

static void bk_release(struct dme *d, void *state)
{
    struct bk *s = state;

    if (s->heir != DME_NONE) {
        dme_send(d, s->heir, RELEASE);
        s->heir = DME_NONE;
    } else if (s->collected || s->queued) {
        bk_start_cycle(d, s);
    }
}

static void bk_timer(struct dme *d, void *state, unsigned timer)
{
    (void)timer;
    bk_give(d, state);
}

static const char *bk_malformed(const struct dme *d, void *state)
{
    struct bk *s = state;

    DME_HOLDS(s->good < d->n);
    DME_HOLDS(s->heir < d->n || s->heir == DME_NONE);
    DME_HOLDS(dme_line_is_sound(bk_collected(d, s), d->n));
    DME_HOLDS(dme_line_is_sound(bk_queue(d, s), d->n));
    return NULL;
}

static const char *bk_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);
    uint64_t slots = dme_in_flight(now, RELEASE, DME_NONE, DME_NONE);

    for (size_t m = 0; m < now->msgs; m++)
        slots += now->msg[m]->kind == TOKEN ? now->msg[m]->ticket[0].clock : 0;
    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct bk *s = dme_state(now->node[i]);

        tokens += s->has;
        slots += s->free + s->released + (now->node[i]->phase == DME_INSIDE && !s->has);
        if (!now->node[i]->armed && dme_in_flight(now, UPDATE, i, DME_NONE))
            return "BK3: no UPDATE is in flight but from a site with an open window";
    }
    if (slots != now->conf->limit)
        return "BK2: free slots, slots taken, and slots on their way to another site are k together";
    return tokens == 1 ? NULL : "BK1: there is one token";
}

static void bk_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct bk *s = state;

    dme_print(text, "good=%u", s->good);
    dme_print_site(text, " heir", s->heir);
    dme_print(text, " released=%u", s->released);
    dme_print_line(text, " collected", &s->peer[0].collect, sizeof s->peer[0], s->collected);
    if (s->has)
        dme_print(text, " token free=%u", s->free);
    if (s->has)
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    dme_print(text, "%s", bk_window(d) ? " window" : "");
}

#define BANTA_K                                                                                                        \
    .family = DME_TOKEN,                                                                                               \
    .paper = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, 1993, " \
             "chapter 6",                                                                                              \
    .cost =                                                                                                            \
        "(n-2)/m+2 messages, m served in a cycle: n at light load, or 0 where the token is, 3-1/(n-1) at full load",   \
    .kinds = bk_kinds, .fields = bk_fields, .rules = 1 << DME_SLOTS,                                                   \
    .needs = DME_RELIABLE | DME_ALIVE | DME_BOUNDED_DELAY, .state_size = sizeof(struct bk),                            \
    .peer_size = sizeof(((struct bk *)0)->peer[0]), .init = bk_init, .request = bk_request, .receive = bk_receive,     \
    .release = bk_release, .timer = bk_timer, .malformed = bk_malformed, .show = bk_show

const struct dme_alg banta_k = {
    .name = "banta-k",
    .broken = bk_broken,
    BANTA_K,
};

const struct dme_alg banta_k_as_published = {
    .name = "banta-k-as-published",
    .flaw = "the last of a cycle awaits more releases than come",
    .mistakes = bk_mistakes,
    .mistaken = DME_PUBLISHED,
    BANTA_K,
};

const struct dme_alg banta_k_tempting = {
    .name = "banta-k-tempting",
    .flaw = "a release goes to a site that does not await it",
    .mistakes = bk_mistakes,
    .mistaken = DME_TEMPTING,
    BANTA_K,
};
