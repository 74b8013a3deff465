/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: on a
 * broadcast medium.
 *
 * Idea. The algorithm of the same authors, but one transmission takes a REQUEST to all sites. A site that leaves
 * answers all claims that it has deferred by one transmission too, which lists their sites: a site that is not in the
 * list must not take it for an answer, even if it waits for one.
 *
 * Messages. A broadcast counts as one. REQUEST(claim) to all, a REPLY from each that answers at once, and at the exit
 * one REPLIES(list) if any claim was deferred: n per entry at light load, 2 at full load. With `--set replies=each` the
 * deferred get a REPLY each: n at any load.
 *
 * Algorithm. Site i:
 *     request           number my claim; broadcast REQUEST(number, i); await all others; enter if there are none
 *     on REQUEST(k, j)  highest := max(highest, k); if my claim is older: defer j; else send REPLY to j
 *     on REPLY          the sender is awaited no more; enter if no site is awaited
 *     on REPLIES(list)  if I am on the list: the sender is awaited no more; enter if no site is awaited
 *     release           if sites are deferred: broadcast REPLIES(their list)
 *
 * Invariant RB. Site i awaits site j exactly while a REQUEST i->j or a REPLY j->i is in flight, be it a name in a list,
 * or j defers i.
 *
 * Departures from the paper. The highest number seen covers the site's own claims. Numbers: ricart_agrawala.h. */
#include "ricart_agrawala.h"

enum { REQUEST, REPLY, REPLIES };
enum { OPTION_REPLIES = RA_PRIORITY + 1 };
enum { REPLIES_LIST, REPLIES_EACH };
enum { IGNORES_LIST };

static const struct dme_kind rab_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 0, 0}, {"REPLIES", 0, 1}, {0}};
static const char *const rab_fields[] = {NULL, NULL, ",,to"};
static const char *const rab_replies[] = {"list", "each", NULL};
static const struct dme_option rab_options[] = {
    RA_NUMBER_OPTIONS,
    {.key = "replies", .help = "how the deferred are answered: by one broadcast list, or each", .choices = rab_replies},
    {0},
};
static const struct dme_mistake rab_mistakes[] = {
    {.name = "ignores-list",
     .kind = DME_TEMPTING,
     .where = "TR-869, section 6.2.2, page 17, says that a list is needed",
     .what = "a broadcast REPLY has no list of recipients: all that await its sender take it for theirs"},
    {0},
};

struct rab {
    struct ra_numbers num;
    uint32_t missing; /* replies */
    uint32_t zero;
    struct {
        uint8_t awaited, deferred;
    } peer[];
};
RA_IS_MERGED(struct rab);

static void rab_request(struct dme *d, void *state)
{
    struct rab *s = state;

    ra_make_claim(d, &s->num);
    s->missing = d->n - 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].awaited = j != d->self;
    if (s->missing == 0)
        dme_enter(d);
    else
        dme_send_ticket(d, DME_ALL, REQUEST, s->num.mine);
}

/* Is this an answer to the site? Without the list, against what the report says (section 6.2.2), a broadcast would seem
 * to be one to every site that waits for its sender, also to a site whose claim the sender has not even received. */
static bool rab_is_for_me(const struct dme *d, const struct rab *s, const struct dme_msg *m)
{
    if (dme_mistake(d, IGNORES_LIST))
        return s->peer[m->from].awaited;
    return m->kind == REPLY || ra_is_listed(d, m);
}

static void rab_replied(struct dme *d, struct rab *s, dme_id j)
{
    DME_EXPECT(d, s->peer[j].awaited);
    s->peer[j].awaited = 0;
    if (--s->missing == 0)
        dme_enter(d);
}

static void rab_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rab *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && ra_is_number(d, m->ticket[0].clock));
        DME_EXPECT(d, !s->peer[m->from].deferred);
        ra_note_number(d, &s->num, m->ticket[0]);
        if (ra_goes_first(d, &s->num, m->ticket[0]))
            s->peer[m->from].deferred = 1;
        else
            dme_send(d, m->from, REPLY);
        break;
    case REPLY:
    case REPLIES:
        if (rab_is_for_me(d, s, m))
            rab_replied(d, s, m->from);
        break;
    }
}

static void rab_release(struct dme *d, void *state)
{
    struct rab *s = state;

    ra_drop_claim(&s->num);
    if (dme_option(d, OPTION_REPLIES) == REPLIES_LIST)
        ra_reply_to_list(d, REPLIES, &s->peer[0].deferred, sizeof s->peer[0]);
    else
        ra_reply_to_each(d, REPLY, &s->peer[0].deferred, sizeof s->peer[0]);
}

/* A list on its way to a site that is not in it is taken out: the site takes no notice of it. */
static bool rab_drop_lists(const struct dme_draft *now)
{
    bool changed = false;

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REPLIES && now->msg[k]->ticket[now->to[k]].site != now->to[k])
            changed = now->gone[k] = true;
    return changed;
}

/* The canonical form (clocks.h). */
static bool rab_canon(const struct dme_draft *now)
{
    bool dropped = rab_drop_lists(now);

    return ra_canon_numbers(now) || dropped;
}

static bool rab_canon_order(const struct dme_draft *now)
{
    bool dropped = rab_drop_lists(now);

    return ra_canon_order(now) || dropped;
}

/* For any number of sites: as in ricart_agrawala.c. */
static bool rab_crowd_sends(const struct dme_node *node, unsigned k, struct dme_msg *m)
{
    m->kind = REPLY;
    return k == 0 && ((const struct rab *)dme_state(node))->peer[2].awaited;
}

static const struct dme_crowd rab_crowd = {ra_merge, rab_crowd_sends, rab_canon_order, ra_highest};

/* Is an answer of j to site i in flight? */
static bool rab_is_answered(const struct dme_moment *now, dme_id j, dme_id i)
{
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->from == j && now->to[k] == i &&
            (now->msg[k]->kind == REPLY || (now->msg[k]->kind == REPLIES && now->msg[k]->ticket[i].site == i)))
            return true;
    return false;
}

static const char *rab_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct rab *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);
            uint32_t answer = dme_in_flight(now, REQUEST, i, j) + rab_is_answered(now, j, i) + other->peer[i].deferred;

            if (s->peer[j].awaited != answer)
                return "RB: a site awaits exactly those that its REQUEST, an answer in flight or a deferral speaks of";
        }
    return NULL;
}

static void rab_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rab *s = state;

    ra_print_numbers(&s->num, text);
    dme_print_set(text, " awaited", &s->peer[0].awaited, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
}

#define RAB_COMMON                                                                                                     \
    .family = DME_PERMISSION, .paper = RA_PAPER,                                                                       \
    .cost = "n messages at light load, 2 at full load, a broadcast counts as one; delay T", .kinds = rab_kinds,        \
    .fields = rab_fields, .options = rab_options, .rules = 1 << DME_EXCLUSIVE,                                         \
    .needs = DME_RELIABLE | DME_ALIVE | DME_BROADCAST, .state_size = sizeof(struct rab),                               \
    .peer_size = sizeof(((struct rab *)0)->peer[0]), .check = ra_check_numbers, .request = rab_request,                \
    .receive = rab_receive, .release = rab_release, .canon = rab_canon, .crowd = &rab_crowd, .show = rab_show

const struct dme_alg ricart_agrawala_broadcast = {
    .name = "ricart-agrawala-broadcast", .broken = rab_broken, RAB_COMMON};

const struct dme_alg ricart_agrawala_broadcast_tempting = {
    .name = "ricart-agrawala-broadcast-tempting",
    .flaw = "the broadcast of a leaving site is taken for an answer by all that await it: two inside",
    .mistakes = rab_mistakes,
    .mistaken = DME_TEMPTING,
    RAB_COMMON,
};
