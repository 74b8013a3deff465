/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981.
 *
 * Idea. To enter, a site numbers its claim above every number that it has seen, and asks all sites. A site answers at
 * once unless its own claim is older, or it is inside with it; then it answers when it leaves. When all sites have
 * answered, no older claim is left.
 *
 * Messages. REQUEST(claim) to all, REPLY from all: 2(n-1) per entry, always.
 *
 * Algorithm. Site i:
 *     request           number my claim above all numbers sent or received; send REQUEST(number, i) to all others;
 *                       await all of them; enter if there are none
 *     on REQUEST(k, j)  highest := max(highest, k); if I wait or am inside, my claim is older and the modes are
 *                       incompatible: defer j; else send REPLY to j
 *     on REPLY          the sender is awaited no more; enter if no site is awaited
 *     release           send REPLY to all that are deferred
 *
 * Invariant RA1. Two sites never defer each other. Of two sites that claim in incompatible modes, one awaits the other.
 * Invariant RA2. Site i awaits site j exactly while a REQUEST i->j or a REPLY j->i is in flight, or j defers i.
 *
 * Departures from the paper. Handlers are atomic: the report's three processes share one semaphore, and what is decided
 * under it may be recorded too late (records-late). The highest number seen covers the site's own claims. The paper's
 * declaration says so but its code does not; without it a site may overtake another for ever where messages overtake
 * each other, and bounded numbers are unsafe. Readers and writers and groups are one rule: compatible claims never
 * defer each other. They need unbounded numbers, which the paper does not say: a reader may stay inside while others
 * come and go and their numbers leave its own far behind. Options of numbers: ricart_agrawala.h.
 *
 * joung-ra1 is the same code under another name: the first algorithm, RA1, of Joung, "The Congenial Talking
 * Philosophers Problem in Computer Networks", Distributed Computing 15, 2002, for groups. Based on the abstract of that
 * paper, which calls it a straightforward adaptation of Ricart and Agrawala's, and says what is wrong with it: claims
 * for two groups that alternate in age let only one process in at a time, as if there were no groups. */
#include "ricart_agrawala.h"

enum { REQUEST, REPLY };
enum { RECORD }; /* the timer of records-late */
enum { FORGETS_OWN_NUMBER, SMALL_MODULUS, READERS_MODULO, RECORDS_LATE };

static const struct dme_kind ra_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 0, 0}, {0}};
static const struct dme_option ra_options[] = {RA_NUMBER_OPTIONS, {0}};
static const struct dme_mistake ra_mistakes[] = {
    {.name = "forgets-own-number",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 2.2, page 4",
     .what =
         "the code raises the highest number only for a REQUEST that is received; its comment says sent or received"},
    {.name = "small-modulus",
     .kind = DME_TEMPTING,
     .where = "TR-869, section 6.4, page 19, says 2n-1",
     .what = "a modulus of 2n-2, one less than the report asks for"},
    {.name = "readers-modulo",
     .kind = DME_PUBLISHED,
     .where = "TR-869, sections 6.4 and 6.6, pages 19-20",
     .what = "readers and writers, and bounded numbers, are modifications without a word that they exclude each other"},
    {.name = "records-late",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 2.2, page 4",
     .what =
         "the receiving process decides under the semaphore to defer, and sets Reply_Deferred after it; the leaving "
         "process takes no semaphore, and may pass in between"},
    {0},
};

struct ra {
    struct ra_numbers num;
    uint32_t missing; /* replies */
    uint32_t zero;
    struct {
        uint8_t awaited, deferred;
        uint8_t decided; /* records-late: to be deferred, but not recorded yet */
    } peer[];
};
RA_IS_MERGED(struct ra);

static bool ra_defers(const struct dme *d, const struct ra *s, struct dme_ticket claim)
{
    return ra_goes_first(d, &s->num, claim) && !dme_compatible(s->num.mine.mode, claim.mode);
}

static void ra_request(struct dme *d, void *state)
{
    struct ra *s = state;

    s->num.mine = dme_claim(d, ra_next_number(d, &s->num));
    if (!dme_mistake(d, FORGETS_OWN_NUMBER)) /* as printed, only a REQUEST that is received raises the highest number */
        ra_note_number(d, &s->num, s->num.mine);
    s->missing = d->n - 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].awaited = j != d->self;
    dme_send_others(d, REQUEST, s->num.mine);
    if (s->missing == 0)
        dme_enter(d);
}

static void ra_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ra *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && ra_is_number(d, m->ticket[0].clock));
        DME_EXPECT(d, !s->peer[m->from].deferred);
        ra_note_number(d, &s->num, m->ticket[0]);
        if (!ra_defers(d, s, m->ticket[0])) {
            dme_send(d, m->from, REPLY);
        } else if (dme_mistake(d, RECORDS_LATE)) {
            s->peer[m->from].decided = 1;
            dme_start(d, RECORD, 0); /* the receiving process goes on at some time */
        } else {
            s->peer[m->from].deferred = 1;
        }
        break;
    case REPLY:
        DME_EXPECT(d, s->peer[m->from].awaited);
        s->peer[m->from].awaited = 0;
        if (--s->missing == 0)
            dme_enter(d);
        break;
    }
}

static void ra_release(struct dme *d, void *state)
{
    struct ra *s = state;

    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred) {
            s->peer[j].deferred = 0;
            dme_send(d, j, REPLY);
        }
}

static void ra_timer(struct dme *d, void *state, unsigned timer)
{
    struct ra *s = state;

    (void)timer;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].deferred |= s->peer[j].decided;
        s->peer[j].decided = 0;
    }
}

static const char *ra_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct ra *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);

            if (i != j && now->node[i]->phase != DME_IDLE && now->node[j]->phase != DME_IDLE &&
                !dme_compatible(s->num.mine.mode, other->num.mine.mode) &&
                !(s->peer[j].awaited || other->peer[i].awaited))
                return "RA1: of two incompatible claims one awaits the other";
            if (s->peer[j].deferred && other->peer[i].deferred)
                return "RA1: two sites never defer each other";
            if (s->peer[j].awaited != dme_in_flight(now, REQUEST, i, j) + dme_in_flight(now, REPLY, j, i) +
                                          (other->peer[i].deferred | other->peer[i].decided))
                return "RA2: a site awaits another while its REQUEST or the REPLY is in flight, or it is deferred";
        }
    return NULL;
}

/* For any number of sites: the others may reply while they are awaited; what else they send raises the highest number. */
static bool ra_crowd_sends(const struct dme_node *node, unsigned k, struct dme_msg *m)
{
    m->kind = REPLY;
    return k == 0 && ((const struct ra *)dme_state(node))->peer[2].awaited;
}

static const struct dme_crowd ra_crowd = {ra_merge, ra_crowd_sends, ra_canon_order, ra_highest};

static void ra_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct ra *s = state;

    ra_print_numbers(&s->num, text);
    dme_print_set(text, " awaited", &s->peer[0].awaited, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
}

static const char *ra_check(const struct dme_conf *conf)
{
    bool flawed = conf->alg->mistakes;
    uint64_t least = ra_least_modulus(conf);

    if (conf->option[RA_MODULUS] && conf->rule != DME_EXCLUSIVE && !(flawed && conf->mistake == READERS_MODULO))
        return "readers, writers and groups need unbounded numbers; leave modulus at 0";
    return ra_check_modulus(conf, flawed && conf->mistake == SMALL_MODULUS ? least - 1 : least);
}

#define RA_COMMON                                                                                                      \
    .family = DME_PERMISSION, .cost = "2(n-1) messages, delay T", .kinds = ra_kinds, .options = ra_options,            \
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_GROUP, .needs = DME_RELIABLE | DME_ALIVE,                 \
    .state_size = sizeof(struct ra), .peer_size = sizeof(((struct ra *)0)->peer[0]), .check = ra_check,                \
    .request = ra_request, .receive = ra_receive, .release = ra_release, .broken = ra_broken,                          \
    .canon = ra_canon_numbers, .crowd = &ra_crowd, .show = ra_show

const struct dme_alg ricart_agrawala = {.name = "ricart-agrawala", .paper = RA_PAPER, RA_COMMON};

const struct dme_alg joung_ra1 = {
    .name = "joung-ra1",
    .paper = "Y.-J. Joung, The congenial talking philosophers problem in computer networks, Distributed Computing 15, "
             "2002: RA1",
    RA_COMMON,
};

const struct dme_alg ricart_agrawala_as_published = {
    .name = "ricart-agrawala-as-published",
    .paper = RA_PAPER,
    .flaw = "own numbers are forgotten: endless overtaking, and with bounded numbers two inside",
    .mistakes = ra_mistakes,
    .mistaken = DME_PUBLISHED,
    .timer = ra_timer,
    RA_COMMON,
};

const struct dme_alg ricart_agrawala_tempting = {
    .name = "ricart-agrawala-tempting",
    .paper = RA_PAPER,
    .flaw = "one bit is saved: the modulus is too small, and numbers compare the wrong way",
    .mistakes = ra_mistakes,
    .mistaken = DME_TEMPTING,
    .timer = ra_timer,
    RA_COMMON,
};
