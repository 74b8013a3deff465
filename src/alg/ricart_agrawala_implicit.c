/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: implicit
 * reply, alone and on a broadcast medium.
 *
 * Idea. If no message takes longer than T, silence means consent. A site that would reply at once says nothing; one
 * that defers says so. A site that has waited for more than 2T, time for a REQUEST to arrive and for an answer to come
 * back, and has heard nothing from another site, has its consent. It waits for a REPLY from each site that has
 * deferred, as ever.
 *
 * Messages. REQUEST(claim) to all, then DEFERRED and later REPLY from each of the d sites that defer: (n-1) + 2d per
 * entry, n-1 at light and 3(n-1) at full load. With broadcasts one REQUEST, d times DEFERRED, and at the exit one
 * REPLIES(list) if any claim was deferred: 1 at light and n+1 at full load.
 *
 * Algorithm. Site i:
 *     request                    number my claim; start a timer of 2T; send REQUEST(number, i) to all others; enter
 *                                if there are none
 *     on REQUEST(k, j)           highest := max(highest, k); if my claim is older: defer j and send DEFERRED to j;
 *                                else say nothing
 *     on DEFERRED                await a reply of the sender, unless it has come already
 *     on REPLY or REPLIES(list)  the sender is awaited no more; enter if the timer is over and no site is awaited
 *     timer                      enter if no site is awaited
 *     release                    send REPLY to all that are deferred, or broadcast REPLIES(their list)
 *
 * Invariant RI1. When the timer fires, every site that has deferred the claim has been heard.
 * Invariant RI2. A site that waits for j, or will when a DEFERRED in flight arrives, is deferred by j or has its REPLY
 * in flight, or has had it early.
 *
 * Departures from the paper. A REPLY may overtake its DEFERRED, which is then ignored; the paper is silent on this. The
 * paper counts 2(n-1) messages at most, but a site that says DEFERRED must REPLY too. Numbers: ricart_agrawala.h. */
#include "ricart_agrawala.h"

enum { REQUEST, DEFERRED, REPLY };
enum { TRUSTS_LATE_DEFERRED, ONE_DELAY };

static const struct dme_kind rai_kinds[] = {{"REQUEST", 1, 0}, {"DEFERRED", 0, 0}, {"REPLY", 0, 0}, {0}};
static const struct dme_kind rai_broadcast_kinds[] = {{"REQUEST", 1, 0}, {"DEFERRED", 0, 0}, {"REPLIES", 0, 1}, {0}};
static const char *const rai_broadcast_fields[] = {NULL, NULL, ",,to"};
static const struct dme_option rai_options[] = {RA_NUMBER_OPTIONS, {0}};
static const struct dme_mistake rai_mistakes[] = {
    {.name = "trusts-late-deferred",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 6.1, page 16",
     .what = "DEFERRED means that a REPLY will come; messages may overtake each other (page 1), so it may have come"},
    {.name = "one-delay",
     .kind = DME_TEMPTING,
     .where = "TR-869, section 6.1, page 16, says a round trip",
     .what = "silence for one T, not for a round trip, counts as a reply"},
    {0},
};

struct rai {
    struct ra_numbers num;
    uint32_t quiet_over; /* while waiting: the timer has fired */
    uint32_t waits;      /* number of sites whose REPLY is missing */
    struct {
        uint8_t deferred;
        uint8_t awaited; /* it has said DEFERRED, and not yet REPLY */
        uint8_t early;   /* it has said REPLY, and not yet DEFERRED */
    } peer[];
};

static bool rai_broadcasts(const struct dme *d)
{
    return d->conf->alg->needs & DME_BROADCAST;
}

static void rai_try(struct dme *d, struct rai *s)
{
    if (!s->quiet_over || s->waits)
        return;
    s->quiet_over = 0;
    dme_enter(d);
}

static void rai_request(struct dme *d, void *state)
{
    struct rai *s = state;

    ra_make_claim(d, &s->num);
    if (d->n == 1) {
        dme_enter(d);
        return;
    }
    dme_start(d, 0, dme_mistake(d, ONE_DELAY) ? 1 : 2);
    if (rai_broadcasts(d))
        dme_send_ticket(d, DME_ALL, REQUEST, s->num.mine);
    else
        dme_send_others(d, REQUEST, s->num.mine);
}

static void rai_timer(struct dme *d, void *state, unsigned timer)
{
    struct rai *s = state;

    (void)timer;
    s->quiet_over = 1;
    rai_try(d, s);
}

static void rai_deferred(struct dme *d, struct rai *s, dme_id j)
{
    DME_EXPECT(d, dme_waiting(d) && !s->quiet_over && !s->peer[j].awaited);
    if (s->peer[j].early && !dme_mistake(d, TRUSTS_LATE_DEFERRED)) {
        s->peer[j].early = 0;
        return;
    }
    s->peer[j].awaited = 1;
    s->waits++;
}

static void rai_replied(struct dme *d, struct rai *s, dme_id j)
{
    DME_EXPECT(d, dme_waiting(d) && (s->peer[j].awaited || !s->quiet_over));
    if (!s->peer[j].awaited) {
        s->peer[j].early = 1;
        return;
    }
    s->peer[j].awaited = 0;
    s->waits--;
    rai_try(d, s);
}

static void rai_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rai *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && ra_is_number(d, m->ticket[0].clock));
        DME_EXPECT(d, !s->peer[m->from].deferred);
        ra_note_number(d, &s->num, m->ticket[0]);
        if (ra_goes_first(d, &s->num, m->ticket[0])) {
            s->peer[m->from].deferred = 1;
            dme_send(d, m->from, DEFERRED);
        }
        break;
    case DEFERRED:
        rai_deferred(d, s, m->from);
        break;
    case REPLY:
        if (!rai_broadcasts(d) || ra_is_listed(d, m))
            rai_replied(d, s, m->from);
        break;
    }
}

static void rai_release(struct dme *d, void *state)
{
    struct rai *s = state;

    ra_drop_claim(&s->num);
    if (rai_broadcasts(d))
        ra_reply_to_list(d, REPLY, &s->peer[0].deferred, sizeof s->peer[0]);
    else
        ra_reply_to_each(d, REPLY, &s->peer[0].deferred, sizeof s->peer[0]);
}

/* Is a REPLY of j to site i in flight? */
static bool rai_is_answered(const struct dme_moment *now, dme_id j, dme_id i)
{
    bool lists = now->conf->alg->needs & DME_BROADCAST;

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REPLY && now->msg[k]->from == j && now->to[k] == i &&
            (!lists || now->msg[k]->ticket[i].site == i))
            return true;
    return false;
}

static const char *rai_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct rai *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);
            uint32_t waits = s->peer[j].awaited + dme_in_flight(now, DEFERRED, j, i);

            if (waits != (uint32_t)other->peer[i].deferred + rai_is_answered(now, j, i) + s->peer[j].early)
                return "RI2: a site that waits is deferred, or the REPLY is in flight or came early";
        }
    return NULL;
}

static void rai_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rai *s = state;

    ra_print_numbers(&s->num, text);
    dme_print_set(text, " awaited", &s->peer[0].awaited, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
    dme_print_set(text, " early", &s->peer[0].early, sizeof s->peer[0], d->n);
    dme_print(text, "%s", s->quiet_over ? " quiet-over" : "");
}

#define RAI_COMMON                                                                                                     \
    .family = DME_PERMISSION, .paper = RA_PAPER, .options = rai_options, .rules = 1 << DME_EXCLUSIVE,                  \
    .state_size = sizeof(struct rai), .peer_size = sizeof(((struct rai *)0)->peer[0]), .check = ra_check_numbers,      \
    .request = rai_request, .receive = rai_receive, .release = rai_release, .timer = rai_timer, .show = rai_show

#define RAI_ADDRESSED                                                                                                  \
    RAI_COMMON, .cost = "n-1 to 3(n-1) messages, delay T, at light load 2T to enter", .kinds = rai_kinds,              \
                .needs = DME_RELIABLE | DME_ALIVE | DME_BOUNDED_DELAY

const struct dme_alg ricart_agrawala_implicit = {
    .name = "ricart-agrawala-implicit", .broken = rai_broken, RAI_ADDRESSED};

const struct dme_alg ricart_agrawala_implicit_broadcast = {
    .name = "ricart-agrawala-implicit-broadcast",
    .broken = rai_broken,
    .cost = "1 to n+1 messages, delay T, at light load 2T to enter",
    .kinds = rai_broadcast_kinds,
    .fields = rai_broadcast_fields,
    .needs = DME_RELIABLE | DME_ALIVE | DME_BOUNDED_DELAY | DME_BROADCAST,
    RAI_COMMON,
};

const struct dme_alg ricart_agrawala_implicit_as_published = {
    .name = "ricart-agrawala-implicit-as-published",
    .flaw = "a DEFERRED that its REPLY has overtaken is believed, and the site waits for ever",
    .mistakes = rai_mistakes,
    .mistaken = DME_PUBLISHED,
    RAI_ADDRESSED,
};

const struct dme_alg ricart_agrawala_implicit_tempting = {
    .name = "ricart-agrawala-implicit-tempting",
    .flaw = "a site enters before a DEFERRED can have arrived",
    .mistakes = rai_mistakes,
    .mistaken = DME_TEMPTING,
    RAI_ADDRESSED,
};
