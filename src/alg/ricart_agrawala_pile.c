/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: priority by
 * setting claims aside.
 *
 * Idea. A site of high priority adds little to the highest number that it has noted, and sees to it that this is low:
 * it sets the claims of others aside, on a pile, and takes no note of their numbers. So its next claim goes before
 * theirs as well, and it enters several times in a row. High are the last K sites (priority=K); the others add C
 * (increment=C).
 *
 * Messages. REQUEST(claim) to all, REPLY from all: 2(n-1) per entry, always.
 *
 * Algorithm. Site i:
 *     request           if claims were set aside and my new number would not be below them: treat them as REQUESTs
 *                       now, and send REPLY where I do not defer. Number my claim; send REQUEST(number, i) to all
 *                       others; enter if there are none
 *     on REQUEST(k, j)  if I have priority over j and j's claim is younger: set it aside; else if my claim is older:
 *                       defer j; else send REPLY to j
 *     on REPLY          the sender is awaited no more; enter if no site is awaited
 *     release           send REPLY to all that are deferred; if claims are set aside, start the timer
 *     timer             treat the claims that were set aside as REQUESTs: send REPLY to each
 *
 * Invariant RP. A claim on the pile is younger than the claim of the site that set it aside, or that site is idle and
 * its timer runs.
 *
 * Departures from the paper. As printed this blocks: a claim that is set aside may be older than the own one, so that
 * each waits for the other, or the site may never look at its pile again. Here (1) only what would be deferred anyway
 * is set aside; (2) a site whose next claim would not go before all of its pile acts on the pile first; (3) so does a
 * site that has not asked again some time after leaving. Hence a site enters at most (k - own) + 1 times more before a
 * claim k that it has set aside. Numbers are unbounded, for those on the pile lag behind. */
#include "ricart_agrawala.h"

enum { REQUEST, REPLY };
enum { SETS_OLDER_ASIDE, FORGETS_PILE, NO_GRACE };
enum { GRACE };

static const struct dme_kind rap_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 0, 0}, {0}};
static const struct dme_option rap_options[] = {RA_NUMBER_OPTIONS_INITIALLY(8, 1), {0}};
static const struct dme_mistake rap_mistakes[] = {
    {.name = "sets-older-aside",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 6.5, page 20",
     .what = "a node of high priority may delay acting on requests of low priority, whatever their numbers are"},
    {.name = "forgets-pile",
     .kind = DME_TEMPTING,
     .where = "not in the report",
     .what = "the next claim of this site is not compared with those set aside"},
    {.name = "no-grace",
     .kind = DME_TEMPTING,
     .where = "not in the report",
     .what = "a site that leaves does not wait before it looks at the pile"},
    {0},
};

struct rap {
    struct ra_numbers num;
    struct dme_ticket oldest; /* claim on the pile */
    uint64_t newest;          /* number there */
    uint32_t missing;         /* replies */
    uint32_t pile;            /* its height */
    struct {
        uint8_t awaited, deferred, piled;
    } peer[];
};

static bool rap_is_high(const struct dme *d, dme_id j)
{
    return j + dme_option(d, RA_PRIORITY) >= d->n;
}

static bool rap_sets_aside(const struct dme *d, const struct rap *s, struct dme_ticket claim)
{
    if (!rap_is_high(d, d->self) || rap_is_high(d, claim.site))
        return false;
    return ra_goes_first(d, &s->num, claim) || (dme_mistake(d, SETS_OLDER_ASIDE) && !dme_idle(d));
}

static void rap_set_aside(const struct dme *d, struct rap *s, struct dme_ticket claim)
{
    if (s->pile++ == 0 || ra_goes_before(d, claim, s->oldest))
        s->oldest = claim;
    s->newest = dme_max(s->newest, claim.clock);
    s->peer[claim.site].piled = 1;
}

/* Do now what was put off: look at the numbers, and reply. */
static void rap_act_on_pile(struct dme *d, struct rap *s)
{
    s->num.highest = dme_max(s->num.highest, s->newest);
    s->oldest = (struct dme_ticket){0};
    s->newest = s->pile = 0;
    ra_reply_to_each(d, REPLY, &s->peer[0].piled, sizeof s->peer[0]);
}

static void rap_request(struct dme *d, void *state)
{
    struct rap *s = state;

    if (s->pile) {
        dme_stop(d, GRACE);
        if (!ra_goes_before(d, dme_claim(d, ra_next_number(d, &s->num)), s->oldest) && !dme_mistake(d, FORGETS_PILE))
            rap_act_on_pile(d, s);
    }
    ra_make_claim(d, &s->num);
    s->missing = d->n - 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].awaited = j != d->self;
    dme_send_others(d, REQUEST, s->num.mine);
    if (s->missing == 0)
        dme_enter(d);
}

static void rap_requested(struct dme *d, struct rap *s, struct dme_ticket claim)
{
    if (rap_sets_aside(d, s, claim)) {
        rap_set_aside(d, s, claim);
        return;
    }
    ra_note_number(d, &s->num, claim);
    if (ra_goes_first(d, &s->num, claim))
        s->peer[claim.site].deferred = 1;
    else
        dme_send(d, claim.site, REPLY);
}

static void rap_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rap *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && !s->peer[m->from].deferred && !s->peer[m->from].piled);
        rap_requested(d, s, m->ticket[0]);
        break;
    case REPLY:
        DME_EXPECT(d, s->peer[m->from].awaited);
        s->peer[m->from].awaited = 0;
        if (--s->missing == 0)
            dme_enter(d);
        break;
    }
}

static void rap_release(struct dme *d, void *state)
{
    struct rap *s = state;

    ra_drop_claim(&s->num);
    ra_reply_to_each(d, REPLY, &s->peer[0].deferred, sizeof s->peer[0]);
    if (s->pile && !dme_mistake(d, NO_GRACE))
        dme_start(d, GRACE, 1);
}

static void rap_timer(struct dme *d, void *state, unsigned timer)
{
    (void)timer;
    rap_act_on_pile(d, state);
}

static const char *rap_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct rap *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);
            bool idle = now->node[i]->phase == DME_IDLE;

            if (s->peer[j].piled && (idle ? !now->node[i]->armed : dme_before(other->num.mine, s->num.mine)))
                return "RP: a claim on the pile is younger than the own one, or the timer runs";
        }
    return NULL;
}

static void rap_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rap *s = state;

    ra_print_numbers(&s->num, text);
    dme_print_set(text, " awaited", &s->peer[0].awaited, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
    dme_print_set(text, " pile", &s->peer[0].piled, sizeof s->peer[0], d->n);
}

static const char *rap_check(const struct dme_conf *conf)
{
    return conf->option[RA_MODULUS] ? "claims on the pile lag behind, so numbers are unbounded; leave modulus at 0"
                                    : NULL;
}

#define RAP_COMMON                                                                                                     \
    .family = DME_PERMISSION, .paper = RA_PAPER, .cost = "2(n-1) messages, delay T", .kinds = rap_kinds,               \
    .options = rap_options, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                            \
    .state_size = sizeof(struct rap), .peer_size = sizeof(((struct rap *)0)->peer[0]), .check = rap_check,             \
    .request = rap_request, .receive = rap_receive, .release = rap_release, .timer = rap_timer, .show = rap_show

const struct dme_alg ricart_agrawala_pile = {.name = "ricart-agrawala-pile", .broken = rap_broken, RAP_COMMON};

const struct dme_alg ricart_agrawala_pile_as_published = {
    .name = "ricart-agrawala-pile-as-published",
    .flaw = "a claim that is set aside may be older than the own one, and each waits for the other",
    .mistakes = rap_mistakes,
    .mistaken = DME_PUBLISHED,
    RAP_COMMON,
};

const struct dme_alg ricart_agrawala_pile_tempting = {
    .name = "ricart-agrawala-pile-tempting",
    .flaw = "claims that were set aside are not looked at again",
    .mistakes = rap_mistakes,
    .mistaken = DME_TEMPTING,
    RAP_COMMON,
};
