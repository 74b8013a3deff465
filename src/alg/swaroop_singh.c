/* Swaroop and Singh, "A Token-Based Fair Algorithm for Group Mutual Exclusion in Distributed Systems", Journal of
 * Computer Science 3(10), 2007, on the ground of Chang, Singhal and Liu, 1991 (chang-singhal-liu).
 *
 * Idea. Sites that ask for the same session may be inside together. The holder of the token is the captain of a
 * session. A site that asks the captain for that session follows it in at once (START) and reports when it leaves
 * (COMPLETE), until a site wants another session: that request is queued, and from then on no site enters before it.
 * When captain and followers have left, the token goes to the first site of the next session in its queue, the new
 * captain, and START to the others.
 *
 * A session is a mode. Mode 0 shares with no claim, so every claim in mode 0 is a session of its own, and `exclusive`
 * is the case in which all of them are. The token's queue is kept flat: neighbours of the same mode other than 0 are
 * one session.
 *
 * Messages. REQUEST(number, session) to the sites known to have asked; then TOKEN, or START and COMPLETE: 0 where the
 * token is and for another entry to the open session, (n-1)(n+2)/2n on average at light load, never more than n+1.
 *
 * Algorithm. Site i:
 *     request                         if the token is here and idle, or the queue is empty and the session is mine:
 *                                     enter as captain; else number my request, and send REQUEST(number, session) to
 *                                     the request set, or put it into the queue if the token is here
 *     on REQUEST(k, X) from j         if it is old, ignore it, but tell j of me by a REQUEST if it may not know. If I
 *                                     wait and have not told j: send my REQUEST to j. With the token: idle: send
 *                                     TOKEN to j; the session is X and the queue is empty: send START to j; else
 *                                     queue it
 *     on TOKEN(session, followers, queue)  enter as captain; queue the requests that came before it, and send START to
 *                                     those that may join
 *     on START(captain)               enter as a follower
 *     release                         a follower: send COMPLETE to its captain. A captain: if no followers are left
 *                                     and the queue is not empty, open the next session: send TOKEN to the first of
 *                                     the queue, and START to those behind it that want the same session
 *     on COMPLETE                     one follower less; if it was the last, I have left and the queue is not empty:
 *                                     open the next session, as above: send TOKEN and START, or enter if I am its
 *                                     captain
 *
 * Invariant SS1. There is one token, held or in flight.
 * Invariant SS2. Of two sites without the token one knows the other, or a REQUEST between them is in flight that is
 *     news.
 * Invariant SS3. Every site knows the holder, or a REQUEST of the holder to it is in flight that is news, or one
 *     of it to the holder, and the holder does not know it. (The site to which the token is in flight counts as the
 *     holder.)
 *
 * Departures from the paper. As printed it breaks its rule and deadlocks, in seven ways: swaroop-singh-as-published has
 * each of them alone. Repaired: the giver of an idle token ceases to be its holder; the session of an idle token is set
 * when it is given away, and is none while it is idle; a captain that leaves asks for its own followers, not those of
 * the session it has just opened; no site sends TOKEN or START to itself; the token says which requests were granted;
 * requests that come before the token are kept until it comes, and so are COMPLETEs; a captain still knows which sites
 * it has told, and a request that was granted long ago makes it tell its sender of itself. */
#include "clocks.h"

enum { REQUEST, START, COMPLETE, TOKEN };
enum {
    GIVER_STAYS_HOLDER,
    KEEPS_OLD_SESSION,
    COUNTS_NEXT_FOLLOWERS,
    SENDS_TO_ITSELF,
    GRANTS_TWICE,
    FORGETS_EARLY_REQUESTS,
    FORGETS_EARLY_COMPLETES,
    FORGETS_WHOM_IT_TOLD
};

/* START names the captain. The token's first ticket is the open session and how many follow; then, for every site, one
 * with the number of its request that was granted last, and then its queue. */
static const struct dme_kind ss_kinds[] = {
    {"REQUEST", 1, 0}, {"START", 1, 0}, {"COMPLETE", 0, 0}, {"TOKEN", 1, 2}, {0}};
static const char *const ss_fields[] = {NULL, NULL, NULL, "followers,session, granted,, *queue"};
static const struct dme_mistake ss_mistakes[] = {
    {.name = "giver-stays-holder",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "a site in state HI that sends the token away stays in HI"},
    {.name = "keeps-old-session",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "the session of the token is neither set when an idle token is sent nor cleared when HS becomes HI"},
    {.name = "counts-next-followers",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832; the text on page 831 has the right order",
     .what = "a leaving captain tests the number of followers after it was set for the next session"},
    {.name = "sends-to-itself",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "a site in HS that is the next captain sends the token to itself, and takes what it does not await for an "
             "error"},
    {.name = "grants-twice",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "the token does not tell which requests were granted"},
    {.name = "forgets-early-requests",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "a request that reaches a site before the token does only changes its request set"},
    {.name = "forgets-early-completes",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "a COMPLETE lowers the count of the token, which may not have arrived"},
    {.name = "forgets-whom-it-told",
     .kind = DME_PUBLISHED,
     .where = "Swaroop and Singh 2007, figure 3, page 832",
     .what = "the request set is emptied when the token arrives"},
    {0},
};

struct ss {
    uint32_t has;       /* the token is here: this site is captain, or was, or is idle */
    uint32_t session;   /* with the token: the open one; 0: none, or one that cannot be shared */
    uint32_t followers; /* with the token: number of followers inside, or on their way in */
    uint32_t early;     /* COMPLETEs that came before the token */
    uint32_t queued;    /* with the token: claims in its queue */
    uint32_t held;      /* claims that came while the token was elsewhere */
    dme_id captain;     /* inside as a follower: whose */
    uint32_t zero;
    struct {
        uint64_t asked;                /* highest request number received from the peer; of this site: its latest */
        uint64_t granted;              /* with the token: number of its request that was granted last */
        struct dme_ticket queue, held; /* slots of the two lists */
        uint8_t known;                 /* a request goes there; and, of the latest request: has gone there */
        uint8_t pad[7];
    } peer[];
};

/* ------------------------------------------------------------------------------------------------- lists of claims */

/* One column of the peer records. Slots behind the end are 0. */
struct ss_list {
    uint32_t *len;
    struct dme_ticket *first;
};

static struct ss_list ss_queue(struct ss *s)
{
    return (struct ss_list){&s->queued, &s->peer[0].queue};
}

static struct ss_list ss_held(struct ss *s)
{
    return (struct ss_list){&s->held, &s->peer[0].held};
}

static struct dme_ticket *ss_slot(struct ss_list list, uint32_t k)
{
    return (struct dme_ticket *)((char *)list.first + k * sizeof(((struct ss *)0)->peer[0]));
}

/* Where the claim of this site is, or the end of the list. */
static uint32_t ss_find(struct ss_list list, dme_id site)
{
    uint32_t k = 0;

    while (k < *list.len && ss_slot(list, k)->site != site)
        k++;
    return k;
}

static void ss_insert(struct dme *d, struct ss_list list, uint32_t at, struct dme_ticket claim)
{
    DME_EXPECT(d, *list.len < d->n && at <= *list.len);
    for (uint32_t k = (*list.len)++; k > at; k--)
        *ss_slot(list, k) = *ss_slot(list, k - 1);
    *ss_slot(list, at) = claim;
}

static struct dme_ticket ss_remove(struct ss_list list, uint32_t at)
{
    struct dme_ticket claim = *ss_slot(list, at);

    --*list.len;
    for (uint32_t k = at; k < *list.len; k++)
        *ss_slot(list, k) = *ss_slot(list, k + 1);
    *ss_slot(list, *list.len) = (struct dme_ticket){0};
    return claim;
}

/* ------------------------------------------------------------------------------------------------------- the token */

/* Behind those who want the same session, or at the end. */
static void ss_enqueue(struct dme *d, struct ss *s, struct dme_ticket claim)
{
    uint32_t at = s->queued;

    for (uint32_t k = 0; k < s->queued; k++)
        if (dme_compatible(ss_slot(ss_queue(s), k)->mode, claim.mode))
            at = k + 1;
    ss_insert(d, ss_queue(s), at, claim);
}

/* Next time ask the new holder, and the captains to come: the first of each session in the queue. */
static void ss_know_captains(struct dme *d, struct ss *s, dme_id holder)
{
    uint32_t session = 0;

    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].known = j == holder;
    for (uint32_t k = 0; k < s->queued; k++) {
        const struct dme_ticket *claim = ss_slot(ss_queue(s), k);

        if (!dme_compatible(claim->mode, session))
            s->peer[claim->site].known = claim->site != d->self;
        session = claim->mode;
    }
}

/* A giver that stays, by mistake, goes on as if it had the token. */
static void ss_give(struct dme *d, struct ss *s, dme_id to, bool stays)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    ss_know_captains(d, s, to);
    m->ticket[0].clock = s->followers;
    m->ticket[0].mode = s->session;
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[1 + j].clock = s->peer[j].granted;
        if (j < s->queued)
            m->ticket[1 + d->n + j] = s->peer[j].queue;
    }
    if (stays)
        return;
    s->has = s->session = s->followers = s->queued = 0;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].granted = 0;
        s->peer[j].queue = (struct dme_ticket){0};
    }
}

/* All have left: the next session, or rest. */
static void ss_end_session(struct dme *d, struct ss *s, bool counts_next)
{
    struct dme_ticket first, claim;
    bool follows = false;

    if (!s->queued) {
        if (!dme_mistake(d, KEEPS_OLD_SESSION))
            s->session = 0;
        return;
    }
    first = ss_remove(ss_queue(s), 0);
    s->session = first.mode;
    s->peer[first.site].granted = first.clock;
    while (s->queued && dme_compatible(s->peer[0].queue.mode, s->session)) {
        claim = ss_remove(ss_queue(s), 0);
        s->peer[claim.site].granted = claim.clock;
        s->followers++;
        if (claim.site == d->self && !dme_mistake(d, SENDS_TO_ITSELF))
            follows = true;
        else
            dme_send_ticket(d, claim.site, START, (struct dme_ticket){.site = first.site});
    }
    if (first.site == d->self && !dme_mistake(d, SENDS_TO_ITSELF)) {
        dme_enter(d);
        return;
    }
    ss_give(d, s, first.site, counts_next && s->followers);
    if (follows) {
        s->captain = first.site;
        dme_enter(d);
    }
}

/* A claim reaches the token. */
static void ss_serve(struct dme *d, struct ss *s, struct dme_ticket claim)
{
    dme_id j = claim.site;

    /* As printed, nothing tells which requests were granted, or are queued. */
    if (claim.clock <= s->peer[j].granted && !dme_mistake(d, GRANTS_TWICE)) {
        /* An old one: perhaps the peer does not know who has the token. As printed it is ignored. */
        if (!s->peer[j].known && !dme_mistake(d, FORGETS_WHOM_IT_TOLD)) {
            s->peer[j].known = 1;
            dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].asked));
        }
    } else if (ss_find(ss_queue(s), j) < s->queued && !dme_mistake(d, GRANTS_TWICE)) {
        return;
    } else if (dme_idle(d) && s->followers == 0) {
        if (!dme_mistake(d, KEEPS_OLD_SESSION))
            s->session = claim.mode;
        s->peer[j].granted = claim.clock;
        ss_give(d, s, j, dme_mistake(d, GIVER_STAYS_HOLDER));
    } else if (dme_compatible(s->session, claim.mode) && s->queued == 0) {
        s->followers++;
        s->peer[j].granted = claim.clock;
        dme_send_ticket(d, j, START, (struct dme_ticket){.site = d->self});
    } else {
        ss_enqueue(d, s, claim);
    }
}

static void ss_take(struct dme *d, struct ss *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    DME_EXPECT(d, m->ticket[0].clock < d->n && m->ticket[0].clock >= s->early);
    s->has = 1;
    s->session = m->ticket[0].mode;
    s->followers = (uint32_t)m->ticket[0].clock - s->early;
    s->early = 0;
    for (dme_id j = 0; j < d->n; j++) {
        struct dme_ticket claim = m->ticket[1 + d->n + j];

        s->peer[j].granted = m->ticket[1 + j].clock;
        if (claim.site != DME_NONE) {
            DME_EXPECT(d, j == s->queued);
            ss_insert(d, ss_queue(s), j, claim);
        }
        /* As printed, the request set is emptied here. */
        if (dme_mistake(d, FORGETS_WHOM_IT_TOLD))
            s->peer[j].known = 0;
    }
    dme_enter(d);
    while (s->held)
        ss_serve(d, s, ss_remove(ss_held(s), 0));
}

/* -------------------------------------------------------------------------------------------------------- handlers */

static void ss_init(struct dme *d, void *state)
{
    struct ss *s = state;

    s->has = d->self == 0;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].known = d->self != 0 && j != d->self;
}

static void ss_request(struct dme *d, void *state)
{
    struct ss *s = state;
    struct dme_ticket claim = dme_claim(d, ++s->peer[d->self].asked);

    if (!s->has) {
        for (dme_id j = 0; j < d->n; j++)
            if (s->peer[j].known)
                dme_send_ticket(d, j, REQUEST, claim);
    } else if (s->followers == 0 || (dme_compatible(s->session, claim.mode) && s->queued == 0)) {
        s->session = claim.mode;
        s->peer[d->self].granted = claim.clock;
        dme_enter(d);
    } else {
        ss_enqueue(d, s, claim);
    }
}

/* A claim comes where the token is not. */
static void ss_hold(struct dme *d, struct ss *s, struct dme_ticket claim)
{
    dme_id j = claim.site;
    uint32_t older = ss_find(ss_held(s), j);

    if (older < s->held)
        ss_remove(ss_held(s), older);
    /* As printed, it is forgotten. */
    if (!dme_mistake(d, FORGETS_EARLY_REQUESTS))
        ss_insert(d, ss_held(s), s->held, claim);
    if (dme_waiting(d) && !s->peer[j].known)
        dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].asked));
    s->peer[j].known = 1;
}

static void ss_asked(struct dme *d, struct ss *s, struct dme_ticket claim)
{
    if (claim.clock <= s->peer[claim.site].asked)
        return;
    s->peer[claim.site].asked = claim.clock;
    if (s->has)
        ss_serve(d, s, claim);
    else
        ss_hold(d, s, claim);
}

/* A follower may be done before its captain has the token. As printed, its word is lost then. */
static void ss_completed(struct dme *d, struct ss *s)
{
    if (!s->has) {
        DME_EXPECT(d, dme_waiting(d));
        s->early += !dme_mistake(d, FORGETS_EARLY_COMPLETES);
        return;
    }
    DME_EXPECT(d, s->followers > 0);
    s->followers--;
    if (s->followers == 0 && !dme_inside(d))
        ss_end_session(d, s, false);
}

static void ss_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ss *s = state;

    DME_EXPECT(d, m->from != d->self);
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        ss_asked(d, s, m->ticket[0]);
        break;
    case START:
        DME_EXPECT(d, m->ticket[0].site != DME_NONE);
        DME_EXPECT(d, !s->has && dme_waiting(d));
        s->captain = m->ticket[0].site;
        dme_enter(d);
        break;
    case COMPLETE:
        ss_completed(d, s);
        break;
    case TOKEN:
        ss_take(d, s, m);
        break;
    }
}

static void ss_release(struct dme *d, void *state)
{
    struct ss *s = state;

    if (!s->has) {
        dme_send(d, s->captain, COMPLETE);
        s->captain = 0;
    } else if (s->followers == 0) {
        /* As printed, whether followers are inside is asked after the token was given away, so their number is that of
         * the next session. */
        ss_end_session(d, s, dme_mistake(d, COUNTS_NEXT_FOLLOWERS));
    }
}

static bool ss_is_sound(const struct dme *d, struct ss_list list)
{
    for (uint32_t k = 0; k < d->n; k++)
        if (ss_slot(list, k)->site >= d->n)
            return false;
    if (*list.len > d->n)
        return false;
    return true;
}

static const char *ss_malformed(const struct dme *d, void *state)
{
    struct ss *s = state;

    DME_HOLDS(s->captain < d->n);
    DME_HOLDS(ss_is_sound(d, ss_queue(s)));
    DME_HOLDS(ss_is_sound(d, ss_held(s)));
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- the canonical form */

/* Numbers of site j are compared with other numbers of site j only. Let `latest` be the number of its latest request, and
 * `granted` that of the one that was granted last: all numbers are the latest one, or *old*, at most the one granted, and
 * then they stay old. Of an old claim that waits in a list nothing matters but that it is old. What a site has heard of j
 * matters only by whether it is the latest number, and which REQUESTs on their way are larger: the others are taken out, since
 * nothing comes of them. So the REQUESTs to a site are numbered 1, 2, .. in the order of their numbers, the latest number is
 * larger than these, and the number granted is the latest one or the one before. REQUESTs may pile up on a channel: then the
 * numbers grow with their number only, and --in-flight bounds it. */
struct ss_numbers {
    uint64_t latest, granted;
    uint64_t passed; /* how many REQUESTs with earlier numbers are on their way to one site, at most */
};

static struct ss *ss_of(const struct dme_draft *now, dme_id i)
{
    return dme_state(now->node[i]);
}

/* False if there is not exactly one token. */
static bool ss_find_granted(const struct dme_draft *now, struct ss_numbers *of)
{
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++) {
        tokens += ss_of(now, i)->has;
        for (dme_id j = 0; j < now->conf->n && ss_of(now, i)->has; j++)
            of[j].granted = ss_of(now, i)->peer[j].granted;
    }
    for (size_t k = 0; k < now->msgs; k++) {
        tokens += now->msg[k]->kind == TOKEN;
        for (dme_id j = 0; j < now->conf->n && now->msg[k]->kind == TOKEN; j++)
            of[j].granted = now->msg[k]->ticket[1 + j].clock;
    }
    return tokens == 1;
}

/* How many REQUESTs that are to arrive where this one does, from the same site, have smaller numbers than that? */
static uint64_t ss_rank(const struct dme_draft *now, size_t at, uint64_t number)
{
    uint64_t rank = 0;

    for (size_t k = 0; k < now->msgs; k++)
        rank += now->msg[k]->kind == REQUEST && now->msg[k]->from == now->msg[at]->from && now->to[k] == now->to[at] &&
                !now->gone[k] && now->msg[k]->ticket[0].clock < number;
    return rank;
}

/* Takes out the REQUESTs of which nothing comes, and finds the numbers of each site. */
static bool ss_find_numbers(const struct dme_draft *now, struct ss_numbers *of)
{
    if (!ss_find_granted(now, of))
        return false;
    for (dme_id j = 0; j < now->conf->n; j++)
        of[j].latest = ss_of(now, j)->peer[j].asked;
    for (size_t k = 0; k < now->msgs; k++)
        now->gone[k] = now->msg[k]->kind == REQUEST &&
                       now->msg[k]->ticket[0].clock <= ss_of(now, now->to[k])->peer[now->msg[k]->from].asked;
    for (size_t k = 0; k < now->msgs; k++) {
        struct ss_numbers *f = &of[now->msg[k]->from];
        uint64_t rank = now->msg[k]->kind == REQUEST && !now->gone[k] ? ss_rank(now, k, f->latest) : 0;

        f->passed = rank > f->passed ? rank : f->passed;
    }
    return true;
}

static uint64_t ss_new_latest(const struct ss_numbers *of)
{
    return of->passed + 1;
}

static uint64_t ss_new_granted(const struct ss_numbers *of)
{
    return of->passed + (of->granted == of->latest);
}

/* Of a claim in a list or, `queued`, in a queue, also one that a token carries. False if its number is none of those above. Of an old claim
 * in a list only the site counts; in a queue its mode would count, and no claim there is to be old. */
static bool ss_rewrite(const struct ss_numbers *of, struct dme_ticket *claim, bool queued)
{
    const struct ss_numbers *j = &of[claim->site];

    if (claim->clock <= j->granted && queued)
        return false;
    if (claim->clock <= j->granted) {
        *claim = (struct dme_ticket){.site = claim->site};
        return true;
    }
    if (claim->clock != j->latest)
        return false;
    claim->clock = ss_new_latest(j);
    return true;
}

static bool ss_rewrite_node(const struct dme_draft *now, const struct ss_numbers *of, struct ss *s)
{
    for (dme_id j = 0; j < now->conf->n; j++) {
        s->peer[j].asked = s->peer[j].asked == of[j].latest ? ss_new_latest(&of[j]) : 0;
        if (s->has)
            s->peer[j].granted = ss_new_granted(&of[j]);
        if (j < s->queued && !ss_rewrite(of, &s->peer[j].queue, true))
            return false;
        if (j < s->held && !ss_rewrite(of, &s->peer[j].held, false))
            return false;
    }
    return true;
}

static bool ss_rewrite_token(const struct dme_draft *now, const struct ss_numbers *of, struct dme_msg *m)
{
    for (dme_id j = 0; j < now->conf->n; j++) {
        struct dme_ticket *queued = &m->ticket[1 + now->conf->n + j];

        m->ticket[1 + j].clock = ss_new_granted(&of[j]);
        if (queued->site != DME_NONE && !ss_rewrite(of, queued, true))
            return false;
    }
    return true;
}

static bool ss_canon(const struct dme_draft *now)
{
    struct ss_numbers of[CLOCKS_SITES] = {0};
    uint64_t number[CLOCKS_MAX];

    if (now->conf->n > CLOCKS_SITES || now->msgs > CLOCKS_MAX || !ss_find_numbers(now, of))
        return false;
    for (dme_id i = 0; i < now->conf->n; i++)
        if (of[i].granted > of[i].latest || !ss_rewrite_node(now, of, ss_of(now, i)))
            return false;
    for (size_t k = 0; k < now->msgs; k++)
        number[k] = now->msg[k]->kind == REQUEST ? ss_rank(now, k, now->msg[k]->ticket[0].clock) + 1 : 0;
    for (size_t k = 0; k < now->msgs; k++) {
        struct dme_msg *m = now->msg[k];

        if (m->kind == TOKEN && !ss_rewrite_token(now, of, m))
            return false;
        if (m->kind != REQUEST || now->gone[k])
            continue;
        if (m->ticket[0].clock <= of[m->from].granted)
            m->ticket[0].mode = 0;
        else if (m->ticket[0].clock != of[m->from].latest)
            return false;
        m->ticket[0].clock = m->ticket[0].clock == of[m->from].latest ? ss_new_latest(&of[m->from]) : number[k];
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- to show */

/* The paper's names of the states. */
static const char *ss_state(const struct dme *d, const struct ss *s)
{
    if (!s->has)
        return dme_idle(d) ? "N" : dme_waiting(d) ? "R" : "EF";
    return dme_inside(d) ? "EC" : s->followers ? "HS" : "HI";
}

static void ss_print_list(struct dme_text *text, const char *key, struct ss_list list)
{
    dme_print(text, "%s=%s", key, *list.len ? "" : "-");
    for (uint32_t k = 0; k < *list.len; k++) {
        const struct dme_ticket *t = ss_slot(list, k);

        dme_print(text, "%s%llu.%u/%u", k ? "," : "", (unsigned long long)t->clock, t->site, t->mode);
    }
}

/* Is a REQUEST from a to b in flight that is news to b? */
static bool ss_coming(const struct dme_moment *now, dme_id a, dme_id b)
{
    const struct ss *s = dme_state(now->node[b]);

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REQUEST && now->msg[k]->from == a && now->to[k] == b &&
            now->msg[k]->ticket[0].clock > s->peer[a].asked)
            return true;
    return false;
}

static bool ss_knows(const struct dme_moment *now, dme_id a, dme_id b)
{
    const struct ss *s = dme_state(now->node[a]);

    return s->peer[b].known;
}

/* The site that has the token or will get it; DME_NONE unless there is exactly one. */
static dme_id ss_holder(const struct dme_moment *now)
{
    dme_id holder = DME_NONE;
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct ss *s = dme_state(now->node[i]);

        if (s->has || dme_in_flight(now, TOKEN, DME_NONE, i))
            holder = i;
        tokens += s->has + dme_in_flight(now, TOKEN, DME_NONE, i);
    }
    return tokens == 1 ? holder : DME_NONE;
}

static const char *ss_broken(const struct dme_moment *now)
{
    dme_id h = ss_holder(now);

    if (h == DME_NONE)
        return "SS1: there is one token";
    for (dme_id a = 0; a < now->conf->n; a++) {
        if (a != h && !ss_knows(now, a, h) && !ss_coming(now, h, a) && !(ss_coming(now, a, h) && !ss_knows(now, h, a)))
            return "SS3: every site knows the holder, or will";
        for (dme_id b = 0; b < a; b++)
            if (a != h && b != h && !ss_knows(now, a, b) && !ss_knows(now, b, a) && !ss_coming(now, a, b) &&
                !ss_coming(now, b, a))
                return "SS2: of two sites without the token one knows the other, or will";
    }
    return NULL;
}

static void ss_show(const struct dme *d, const void *state, struct dme_text *text)
{
    struct ss *s = (struct ss *)state;

    dme_print(text, "%s ", ss_state(d, s));
    dme_print_set(text, "knows", &s->peer[0].known, sizeof s->peer[0], d->n);
    dme_print_numbers(text, " asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    if (!s->has) {
        ss_print_list(text, " held", ss_held(s));
        return;
    }
    dme_print(text, " token session=%u followers=%u", s->session, s->followers);
    dme_print_numbers(text, " granted", &s->peer[0].granted, sizeof s->peer[0], d->n);
    ss_print_list(text, " queue", ss_queue(s));
}

#define SS_SHARED                                                                                                      \
    .family = DME_TOKEN,                                                                                               \
    .paper = "A. Swaroop, A. K. Singh, A token-based fair algorithm for group mutual exclusion in distributed "        \
             "systems, Journal of Computer Science 3(10), 2007",                                                       \
    .cost = "0 to n+1 messages, (n-1)(n+2)/2n at light load, delay T or 2T", .kinds = ss_kinds, .fields = ss_fields,   \
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_GROUP, .needs = DME_RELIABLE | DME_ALIVE,                 \
    .state_size = sizeof(struct ss), .peer_size = sizeof(((struct ss *)0)->peer[0]), .init = ss_init,                  \
    .request = ss_request, .receive = ss_receive, .release = ss_release, .malformed = ss_malformed,                    \
    .broken = ss_broken, .canon = ss_canon, .show = ss_show

const struct dme_alg swaroop_singh = {.name = "swaroop-singh", SS_SHARED};

const struct dme_alg swaroop_singh_as_published = {
    .name = "swaroop-singh-as-published",
    .flaw = "breaks exclusion, deadlocks and grants what no site asked for, as printed",
    .mistakes = ss_mistakes,
    .mistaken = DME_PUBLISHED,
    SS_SHARED,
};

const struct dme_alg swaroop_singh_tempting = {
    .name = "swaroop-singh-tempting",
    .flaw = "a token to oneself is an error",
    .mistakes = ss_mistakes,
    .mistaken = DME_TEMPTING,
    SS_SHARED,
};
