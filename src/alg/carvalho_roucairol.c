/* Carvalho and Roucairol, "On Mutual Exclusion in Computer Networks" (technical correspondence), CACM 26(2), 1983: an
 * improvement of Ricart and Agrawala's algorithm.
 *
 * Idea. A REPLY is a permission that lasts: a site that has received it may enter again and again without asking, until
 * it answers a REQUEST of the site that gave it. So a site asks only the sites whose permission it does not hold.
 *
 * Messages. REQUEST(claim) and REPLY: from 0, if no other site has asked since, to 2(n-1), if every site has; n-1 on
 * the average at light load. With `--set start=staircase` every site begins with the permissions of all sites above it,
 * which saves the first messages.
 *
 * Algorithm. Site i:
 *     request           number my claim; send REQUEST(number, i) to all whose permission I do not have; enter if
 *                       there are none
 *     on REQUEST(k, j)  highest := max(highest, k); if I am inside, or wait with an older claim: defer j; else I lose
 *                       the permission of j: send REPLY to j, and if I wait and had it, send my REQUEST to j
 *     on REPLY          I have the permission of the sender; enter if I have all permissions
 *     release           I lose the permission of all that are deferred; send REPLY to them
 *
 * Invariant CR1. Two sites never hold each other's permission.
 * Invariant CR2. While a site waits for a permission, its REQUEST or the REPLY is in flight, or it is deferred.
 * Invariant CR3. For one entry a site sends another at most one REQUEST: a site that has answered it has a later claim
 *     from then on.
 *
 * Departures from the paper. None known. The heart of it is what a waiting site does that answers an older claim: by
 * that answer it loses the permission of that site, so if it held it, it must ask for it now, with the number that its
 * claim has. The two messages may arrive in either order. Five ways to get this wrong are in
 * carvalho-roucairol-as-retold (two, as Banta retells it) and carvalho-roucairol-tempting. */
#include "clocks.h"

enum { REQUEST, REPLY };
enum { OPTION_START };
enum { START_NONE, START_STAIRCASE };
enum { KEEPS_PERMISSION, FORGETS_TO_ASK, FRESH_NUMBER, ASKS_TWICE, EMPTY_ARRAY };

static const struct dme_kind cr_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 0, 0}, {0}};
static const char *const cr_start[] = {"none", "staircase", NULL};
static const struct dme_option cr_options[] = {
    {.key = "start", .help = "permissions held at first: none, or those of all sites above", .choices = cr_start},
    {0},
};
static const struct dme_mistake cr_mistakes[] = {
    {.name = "keeps-permission",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.2.3, page 18",
     .what = "a site that receives a request acts as in Ricart and Agrawala's algorithm: nothing is said of the "
             "permission that its answer gives away"},
    {.name = "forgets-to-ask",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "a waiting site that answers an older claim does not ask for the permission that it loses"},
    {.name = "fresh-number",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "it asks for it with a new number"},
    {.name = "asks-twice",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "it asks also where the permission was not held"},
    {.name = "empty-array",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.2.3, page 18",
     .what = "a site asks those that have asked since; nothing is said of the beginning, when no site has"},
    {0},
};

struct cr {
    uint64_t highest;       /* number of any claim sent or received */
    struct dme_ticket mine; /* the claim; zero when idle */
    struct {
        uint8_t held; /* the peer's permission is here; always so of oneself */
        uint8_t deferred;
    } peer[];
};

static void cr_init(struct dme *d, void *state)
{
    struct cr *s = state;

    s->peer[d->self].held = 1;
    for (dme_id j = d->self + 1; j < d->n; j++)
        s->peer[j].held = dme_option(d, OPTION_START) == START_STAIRCASE;
    for (dme_id j = 0; j < d->n && dme_mistake(d, EMPTY_ARRAY); j++)
        s->peer[j].held = 1;
}

static void cr_try(struct dme *d, const struct cr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (!s->peer[j].held)
            return;
    dme_enter(d);
}

static void cr_request(struct dme *d, void *state)
{
    struct cr *s = state;

    s->mine = dme_claim(d, ++s->highest);
    for (dme_id j = 0; j < d->n; j++)
        if (!s->peer[j].held)
            dme_send_ticket(d, j, REQUEST, s->mine);
    cr_try(d, s);
}

/* A waiting site has given way to j, and asks for the permission of j again. */
static void cr_ask_again(struct dme *d, struct cr *s, dme_id j, bool had)
{
    if (dme_mistake(d, KEEPS_PERMISSION)) {
        s->peer[j].held = had; /* "answers as in Ricart and Agrawala's algorithm", and no more */
        return;
    }
    if (dme_mistake(d, FORGETS_TO_ASK))
        return;
    /* If the site did not hold the permission, its REQUEST is in flight already. */
    if (had || dme_mistake(d, ASKS_TWICE))
        dme_send_ticket(d, j, REQUEST, dme_mistake(d, FRESH_NUMBER) ? dme_claim(d, ++s->highest) : s->mine);
}

static void cr_asked(struct dme *d, struct cr *s, struct dme_ticket claim)
{
    dme_id j = claim.site;
    bool had = s->peer[j].held;

    s->highest = dme_max(s->highest, claim.clock);
    if (dme_inside(d) || (dme_waiting(d) && dme_before(s->mine, claim))) {
        s->peer[j].deferred = 1;
        return;
    }
    s->peer[j].held = 0;
    dme_send(d, j, REPLY);
    if (dme_waiting(d))
        cr_ask_again(d, s, j, had);
}

static void cr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct cr *s = state;

    DME_EXPECT(d, m->from != d->self);
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && (!s->peer[m->from].deferred || dme_mistake(d, ASKS_TWICE)));
        cr_asked(d, s, m->ticket[0]);
        break;
    case REPLY:
        /* The sender of a duplicate could not tell the answer to it from another one. */
        DME_EXPECT(d, (dme_waiting(d) && !s->peer[m->from].held) || dme_mistake(d, ASKS_TWICE));
        s->peer[m->from].held = 1;
        if (dme_waiting(d))
            cr_try(d, s);
        break;
    }
}

static void cr_release(struct dme *d, void *state)
{
    struct cr *s = state;

    s->mine = (struct dme_ticket){0};
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred) {
            s->peer[j].deferred = s->peer[j].held = 0;
            dme_send(d, j, REPLY);
        }
}

static const char *cr_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct cr *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);

            if (i != j && s->peer[j].held && other->peer[i].held)
                return "CR1: two sites never hold each other's permission";
            if (now->node[i]->phase == DME_WAITING && !s->peer[j].held &&
                dme_in_flight(now, REQUEST, i, j) + dme_in_flight(now, REPLY, j, i) + other->peer[i].deferred != 1)
                return "CR2: a permission that is waited for is asked for, deferred, or on its way";
        }
    return NULL;
}

static void cr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct cr *s = state;

    dme_print(text, "highest=%llu claim=%llu ", (unsigned long long)s->highest, (unsigned long long)s->mine.clock);
    dme_print_set(text, "held", &s->peer[0].held, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
}

/* The canonical form (clocks.h): a site that holds all permissions numbers its claims without hearing of others, and those
 * of others may stay behind. */
static uint64_t *cr_number(const struct dme_draft *now, dme_id i, unsigned k)
{
    struct cr *s = dme_state(now->node[i]);

    return k == 0 ? &s->highest : k == 1 ? &s->mine.clock : NULL;
}

static bool cr_canon(const struct dme_draft *now)
{
    return clocks_canon_order(now, cr_number);
}

static uint64_t *cr_clock(void *state)
{
    return &((struct cr *)state)->highest;
}

/* For any number of sites. The permission of site 2 is that of all others together. Which of the others are deferred concerns those
 * only; that their permissions are lost when the site leaves is as if they asked then. They may answer a claim, and ask with an
 * older one, at any time. */
static void cr_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                     struct dme_node *into)
{
    const struct cr *s = dme_state(node);
    struct cr *t = dme_state(into);
    dme_id other = 1 - into->self;

    t->highest = s->highest;
    t->mine = s->mine;
    if (node->phase != DME_IDLE)
        t->mine.site = into->self;
    t->peer[into->self] = s->peer[pair[into->self]];
    t->peer[other] = s->peer[pair[other]];
    t->peer[2].held = 1;
    for (dme_id j = 0; j < conf->n; j++)
        if (j != pair[0] && j != pair[1])
            t->peer[2].held &= s->peer[j].held;
}

static bool cr_crowd_sends(const struct dme_node *node, unsigned k, struct dme_msg *m)
{
    const struct cr *s = dme_state(node);
    bool awaited = node->phase == DME_WAITING && !s->peer[2].held;

    m->kind = k == 0 ? REQUEST : REPLY;
    if (k == 0)
        m->ticket[0] = (struct dme_ticket){.site = 2};
    return k == 0 || (k == 1 && awaited);
}

static const struct dme_crowd cr_crowd = {cr_merge, cr_crowd_sends, cr_canon, cr_clock};

#define CR_COMMON                                                                                                      \
    .family = DME_PERMISSION, .cost = "0 to 2(n-1) messages, n-1 at light load, delay T", .kinds = cr_kinds,           \
    .options = cr_options, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                             \
    .state_size = sizeof(struct cr), .peer_size = sizeof(((struct cr *)0)->peer[0]), .init = cr_init,                  \
    .request = cr_request, .receive = cr_receive, .release = cr_release, .broken = cr_broken, .canon = cr_canon,       \
    .clock = cr_clock, .crowd = &cr_crowd, .show = cr_show

const struct dme_alg carvalho_roucairol = {
    .name = "carvalho-roucairol",
    .paper = "O. Carvalho, G. Roucairol, On mutual exclusion in computer networks, CACM 26(2), 1983",
    CR_COMMON,
};

const struct dme_alg carvalho_roucairol_tempting = {
    .name = "carvalho-roucairol-tempting",
    .paper = "O. Carvalho, G. Roucairol, On mutual exclusion in computer networks, CACM 26(2), 1983",
    .flaw = "a waiting site that answers an older claim does not ask again, or not right",
    .mistakes = cr_mistakes,
    .mistaken = DME_TEMPTING,
    CR_COMMON,
};

const struct dme_alg carvalho_roucairol_as_retold = {
    .name = "carvalho-roucairol-as-retold",
    .paper = "as told in P. Banta, Distributed mutual exclusion algorithms, thesis, 1993",
    .flaw = "a waiting site that answers an older claim keeps a permission that it has given away",
    .mistakes = cr_mistakes,
    .mistaken = DME_RETOLD,
    CR_COMMON,
};
