/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981, sections on
 * inserting, removing and failing sites (and the longer text of the University of Maryland's report TR-869, 1980).
 *
 * Idea. A site needs the permission of all members of the present group, as in ricart_agrawala.c. A *name* is a site
 * and its incarnation, so a site that has failed and is back has another name. Every message says from which name to
 * which it goes. A message for an earlier incarnation is discarded.
 *   Join. A newcomer asks a member to be its sponsor. The sponsor enters the critical section itself, tells all members
 *     the new name, waits for all acknowledgements, and hands the newcomer the list of names and the highest number.
 *   Leave. LEAVE to all, LEAVE_ACK from all; until then the site answers, but asks for nothing.
 *   Failure. An answer that is late is asked for again: ARE_YOU_THERE is a repeated REQUEST, and its answer
 *     YES_I_AM_HERE says "wait". A site that does not answer that within 2T has failed: FAILED tells all, and its
 *     replies count as given.
 *   Return. A site that is back joins like a newcomer, after a restart interval if that is wanted. A site that is up
 *     and was forgotten is told so by RESTART, the answer to what it sends, and begins a new incarnation.
 *
 * Messages. 2(n-1) per entry as before. Join: 4(n-1) + 2. Leave: 2(n-1). A failure: at most 3(n-1) + 2 for each site
 * that waits.
 *
 * Why it is safe. A site that is inside was answered by every name that was a member when it asked and has not left or
 * failed. When a newcomer asks for the first time, every member counts it as one, and no number that a member has sent
 * or received by then is above the newcomer's own. (These speak of the past, so no state can be checked for them; what
 * is checked is that no two sites are inside, in every interleaving.)
 *
 * Departures from the paper (ricart-agrawala-robust-as-published has the first three, and a broadcast without
 * acknowledgements, as printed). A REPLY names the request that it answers, for there may be two of them; ARE_YOU_THERE
 * carries the request, which may have been lost or be late; new names are acknowledged before the sponsor leaves, or
 * two members that do not know of each other go in together; a leaver takes leave of names that it learns on the way.
 * The five ways of the paper to find the highest number are there (`--set highest=..`): with acknowledged names none is
 * needed, for the sponsor collects it. A newcomer that listens for it may hear nothing for ever, so it asks when its
 * patience ends. Sets of names take the place of counters. A newcomer that fails while it is let in, and returns, is
 * another name, and all have to acknowledge that one. If a bound is not kept and a site that is up is declared failed,
 * exclusion is lost: nothing can be done about that without votes. The report restarts the timer at every REPLY: that
 * is `--set timer=restarted`. Its second way to join is `--set join=broadcast`: the newcomer takes a list from a member
 * and asks all others to include it. Here each acknowledges that with its own list, and the newcomer awaits all of whom
 * it learns: so of two newcomers that come at once one awaits the other. */
#include "ricart_agrawala_robust.h"

/* From a name (with a number), to a name; and about a name, or about all. The incarnation of a name is the ticket's
 * mode. */
static const struct dme_kind rr_kinds[] = {
    {"REQUEST", 2, 0}, {"REPLY", 2, 0},  {"ARE_YOU_THERE", 2, 0}, {"YES_I_AM_HERE", 2, 0},
    {"JOIN", 2, 0},    {"REFUSE", 2, 0}, {"NEW", 3, 0},           {"NEW_ACK", 3, 0},
    {"INIT", 2, 1},    {"LEAVE", 2, 0},  {"LEAVE_ACK", 2, 0},     {"FAILED", 3, 0},
    {"RESTART", 2, 0}, {"QUERY", 2, 0},  {"ANSWER", 2, 0},        {0},
};

static const struct dme_mistake rr_mistakes[] = {
    {.name = "joins-unacknowledged",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 7.2.2, page 22",
     .what = "the sponsor broadcasts the new name and releases; no node acknowledges it"},
    {.name = "replies-unnumbered",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 7.4, page 25",
     .what = "a REPLY names its sender only, though ARE_YOU_THERE may bring a second one for the same request"},
    {.name = "probe-is-no-request",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 7.4, page 25",
     .what = "ARE_YOU_THERE is answered by a REPLY if nothing is deferred, also where the REQUEST is still on its way"},
    {.name = "included-unacknowledged",
     .kind = DME_PUBLISHED,
     .where = "TR-869, section 7.2.2, page 22",
     .what = "a newcomer takes a list from a nearby node and broadcasts that all shall include it; no node "
             "acknowledges it"},
    {0},
};

static const char *const rr_join_choices[] = {"sponsor", "broadcast", NULL};
static const char *const rr_timer_choices[] = {"restarted", "kept", NULL};
static const char *const rr_highest[] = {
    "acknowledged", "asked", "heard-all", "heard-span", "waited", "heard-four", NULL,
};
static const struct dme_option rr_options[] = {
    {.key = "members", .help = "how many sites, the first ones, are members at first (0: all)", .max = DME_SITES_MAX},
    {.key = "highest",
     .help = "how a newcomer finds the highest number; heard-four needs FIFO channels",
     .choices = rr_highest},
    {.key = "hold", .help = "how long, in T, a site is inside, about", .initial = 1, .min = 0, .max = 200},
    {.key = "restart-interval", .help = "how long, in T, a site that is back keeps silent", .max = 200},
    {.key = "patience",
     .help = "how long, in T, a newcomer waits for its sponsor",
     .initial = 20,
     .min = 2,
     .max = 200},
    {.key = "timer",
     .help = "what a REPLY does to the timer of a site that awaits others",
     .choices = rr_timer_choices},
    {.key = "join", .help = "a member makes a newcomer known, or it does so itself", .choices = rr_join_choices},
    {0},
};

/* ---------------------------------------------------------------------------------------- questions and their answers */

/* Asks site `j` the question of the present activity; `again`: because its answer is missing. */
void rr_put(struct dme *d, struct rr *s, dme_id j, bool again)
{
    if (s->role == LEAVING)
        rr_send(d, s, j, LEAVE, 0);
    else if (s->role == SYNC)
        rr_send(d, s, j, QUERY, 0);
    else if (s->role == INCLUDING)
        rr_send_about(d, s, j, NEW, (struct dme_ticket){.mode = d->node->incarnation, .site = d->self});
    else if (s->granted)
        rr_send_about(d, s, j, NEW, rr_name(s, s->sponsee, 0));
    else
        rr_send(d, s, j, again ? ARE_YOU_THERE : REQUEST, s->own);
}

void rr_put_all(struct dme *d, struct rr *s)
{
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].missing = s->peer[j].member && !(s->granted && j == s->sponsee);
        s->peer[j].probed = 0;
        if (s->peer[j].missing)
            rr_put(d, s, j, false);
    }
    dme_start(d, TIMER_LATE, 2 + (uint32_t)dme_option(d, OPTION_HOLD));
}

void rr_done(struct dme *d)
{
    dme_stop(d, TIMER_LATE);
    dme_stop(d, TIMER_GONE);
}

static void rr_ask_again(struct dme *d, struct rr *s)
{
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].probed = s->peer[j].missing;
        if (s->peer[j].missing)
            rr_put(d, s, j, true);
    }
    dme_start(d, TIMER_GONE, 2);
}

/* Declares failed sites one at a time, since FAILED goes to all members. When all are declared, the activity goes on
 * without them. */
static void rr_declare(struct dme *d, struct rr *s)
{
    for (dme_id f = 0; f < d->n; f++)
        if (s->peer[f].probed) {
            struct dme_ticket name = rr_name(s, f, 0);

            rr_forget(s, f);
            for (dme_id j = 0; j < d->n; j++)
                if (s->peer[j].member)
                    rr_send_about(d, s, j, FAILED, name);
            dme_start(d, TIMER_GONE, 0);
            return;
        }
    if (rr_misses(d, s))
        dme_start(d, TIMER_LATE, 2 + (uint32_t)dme_option(d, OPTION_HOLD));
    rr_test(d, s);
}

/* --------------------------------------------------------------------------------------------- the critical section */

static void rr_claim(struct dme *d, struct rr *s, uint8_t activity)
{
    s->activity = activity;
    s->own = ++s->highest;
    rr_put_all(d, s);
    rr_test(d, s);
}

void rr_finish(struct dme *d, struct rr *s)
{
    s->activity = NOTHING;
    s->granted = 0;
    s->own = 0;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred) {
            rr_send(d, s, j, REPLY, s->peer[j].deferred);
            s->peer[j].deferred = 0;
        }
    rr_kick(d, s);
}

static void rr_requested(struct dme *d, struct rr *s, dme_id j, uint64_t number, bool probe)
{
    struct dme_ticket claim = {.clock = number, .site = j}, mine = {.clock = s->own, .site = d->self};

    s->highest = dme_max(s->highest, number);
    if (probe && dme_mistake(d, PROBE_IS_NO_REQUEST)) {
        rr_send(d, s, j, s->peer[j].deferred ? YES_I_AM_HERE : REPLY, number);
    } else if (s->activity && dme_before(mine, claim)) {
        s->peer[j].deferred = dme_max(s->peer[j].deferred, number);
        if (probe)
            rr_send(d, s, j, YES_I_AM_HERE, number);
    } else {
        rr_send(d, s, j, REPLY, number);
    }
}

/* ------------------------------------------------------------------------------------------------------ what is next */

void rr_kick(struct dme *d, struct rr *s)
{
    if (s->role != IN || s->activity)
        return;
    if (s->forgotten)
        rr_start_over(d, s);
    else if (dme_waiting(d))
        rr_claim(d, s, APP);
    else if (s->resigns)
        rr_leave_group(d, s);
    else if (rr_next_sponsee(d, s) != DME_NONE)
        rr_claim(d, s, ADMIN);
}

/* If the last answer has arrived, goes on with the present activity. */
void rr_test(struct dme *d, struct rr *s)
{
    if (rr_misses(d, s))
        return;
    if (s->role == LEAVING) {
        rr_done(d);
        rr_left(d, s);
    } else if (s->role == INCLUDING) {
        rr_done(d);
        rr_sync(d, s);
    } else if (s->role == SYNC) {
        if (rr_heard_enough(d, s))
            rr_in(d, s);
        else if (!rr_runs(d, TIMER_OUT) && dme_option(d, OPTION_HIGHEST) == WAITED)
            rr_waited(d, s); /* the site that it asked has failed */
        else if (!rr_runs(d, TIMER_OUT))
            rr_in(d, s);
    } else if (s->activity == ADMIN && s->granted) {
        rr_done(d);
        rr_admitted(d, s);
    } else if (s->activity && !s->granted) {
        rr_done(d);
        s->granted = 1;
        if (s->activity == APP)
            dme_enter(d);
        else
            rr_admit(d, s);
    }
}

static void rr_remove(struct dme *d, struct rr *s, dme_id j)
{
    rr_forget(s, j);
    rr_test(d, s);
}

/* -------------------------------------------------------------------------------------------------------- the handlers */

static void rr_init(struct dme *d, void *state)
{
    struct rr *s = state;
    uint64_t members = dme_option(d, OPTION_MEMBERS) ? dme_option(d, OPTION_MEMBERS) : d->n;

    s->sponsor = d->self;
    if (d->self < members) {
        s->role = IN;
        for (dme_id j = 0; j < d->n && j < members; j++)
            s->peer[j].member = j != d->self;
    }
}

static void rr_joins(struct dme *d, void *state)
{
    struct rr *s = state;

    if (s->role == GONE)
        rr_start_over(d, s);
    else if (s->role == OUT && !rr_runs(d, TIMER_OUT))
        rr_join(d, s);
}

static void rr_request(struct dme *d, void *state)
{
    rr_joins(d, state);
    rr_kick(d, state);
}

static void rr_release(struct dme *d, void *state)
{
    rr_finish(d, state);
}

static void rr_leaves(struct dme *d, void *state)
{
    struct rr *s = state;

    s->resigns = s->role == IN || s->role == SYNC || s->role == JOINING || s->role == INCLUDING;
    rr_kick(d, s);
}

/* The memory of the site is out of date: the others have gone on without it. */
static void rr_restart(struct dme *d, void *state, bool remembers)
{
    struct rr *s = state;

    (void)remembers;
    rr_reset(d, s);
    s->resigns = s->forgotten = 0;
    s->sponsor = d->self;
    s->role = OUT;
    if (!dme_option(d, OPTION_INTERVAL)) {
        rr_join(d, s);
        return;
    }
    /* Section 7.2.1: first it tells the others that it has failed, in case they do not know; then it waits. */
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self)
            rr_send_about(d, s, j, FAILED, (struct dme_ticket){.mode = d->node->incarnation - 1, .site = d->self});
    dme_start(d, TIMER_OUT, (uint32_t)dme_option(d, OPTION_INTERVAL));
}

static void rr_timer(struct dme *d, void *state, unsigned timer)
{
    struct rr *s = state;

    if (timer == TIMER_LATE)
        rr_ask_again(d, s);
    else if (timer == TIMER_GONE)
        rr_declare(d, s);
    else if (s->role == SYNC && dme_option(d, OPTION_HIGHEST) == WAITED)
        rr_waited(d, s);
    else if (s->role == SYNC)
        rr_put_all(d, s); /* no member tells it, so it asks */
    else
        rr_join(d, s); /* the interval is over, or the sponsor is silent: another one */
}

/* Receives an answer to the question of the present activity. */
static void rr_answered(struct dme *d, struct rr *s, dme_id j, bool final)
{
    s->peer[j].probed = 0;
    if (final)
        s->peer[j].missing = 0;
    rr_test(d, s);
}

/* Messages about requests. */
static void rr_receive_claim(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    uint64_t number = m->ticket[0].clock;

    switch (m->kind) {
    case REQUEST:
    case ARE_YOU_THERE:
        if (s->peer[m->from].removed) {
            rr_send(d, s, m->from, RESTART, number); /* it is up, and was forgotten */
            return;
        }
        rr_requested(d, s, m->from, number, m->kind == ARE_YOU_THERE);
        if (s->role == SYNC && m->kind == REQUEST)
            rr_listen(d, s, m->from, number);
        break;
    case REPLY:
    case YES_I_AM_HERE:
        if (s->activity && (number == s->own || dme_mistake(d, REPLIES_UNNUMBERED)) && !s->granted) {
            rr_answered(d, s, m->from, m->kind == REPLY);
            if (dme_option(d, OPTION_TIMER) == TIMER_RESTARTED && m->kind == REPLY && rr_runs(d, TIMER_LATE))
                dme_start(d, TIMER_LATE, 2 + (uint32_t)dme_option(d, OPTION_HOLD)); /* section 7.4, page 24 */
        }
        break;
    }
}

/* Messages about members. */
static void rr_receive_group(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    switch (m->kind) {
    case JOIN:
        if (s->role == IN && dme_option(d, OPTION_JOIN) == BY_BROADCAST)
            rr_send_list(d, s, m->from, s->highest);
        else if (s->role == IN && !s->resigns)
            s->peer[m->from].sponsee = 1;
        else
            rr_send(d, s, m->from, REFUSE, 0);
        if (s->activity == ADMIN && s->granted && m->from == s->sponsee)
            rr_put_all(d, s); /* it has failed meanwhile and is back: it is another name that all have to know */
        rr_kick(d, s);
        break;
    case REFUSE:
        if (s->role == JOINING && m->from == s->sponsor)
            rr_join(d, s);
        break;
    case INIT:
        if (s->role == JOINING && (dme_option(d, OPTION_JOIN) == BY_SPONSOR || m->from == s->sponsor))
            rr_initiated(d, s, m);
        else if (dme_option(d, OPTION_JOIN) == BY_BROADCAST)
            rr_include(d, s, m);
        break;
    case LEAVE:
        rr_send(d, s, m->from, LEAVE_ACK, 0);
        rr_remove(d, s, m->from);
        break;
    case LEAVE_ACK:
        if (s->role == LEAVING)
            rr_answered(d, s, m->from, true);
        break;
    case RESTART:
        if (s->activity && !s->granted && m->ticket[0].clock == s->own)
            rr_start_over(d, s);
        break;
    case QUERY:
        rr_send(d, s, m->from, ANSWER, s->highest);
        break;
    case ANSWER:
        s->highest = dme_max(s->highest, m->ticket[0].clock);
        if (s->role == SYNC && dme_option(d, OPTION_HIGHEST) == WAITED && s->peer[m->from].missing)
            s->peer[m->from].missing = 0, rr_in(d, s);
        else if (s->role == SYNC)
            rr_answered(d, s, m->from, true);
        break;
    }
}

/* Messages about a third name. */
static void rr_receive_about(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    struct dme_ticket name = m->ticket[2];

    DME_EXPECT(d, name.site < d->n);
    if (m->kind == NEW) {
        rr_named(d, s, m->from, name);
    } else if (m->kind == NEW_ACK) {
        if (s->activity != ADMIN || !s->granted || name.site != s->sponsee ||
            name.mode != s->peer[name.site].incarnation)
            return;
        s->best = dme_max(s->best, name.clock);
        rr_answered(d, s, m->from, true);
    } else if (name.site == d->self) {
        if (name.mode == d->node->incarnation)
            rr_start_over(d, s);
    } else if (rr_is_present(s, name)) {
        rr_remove(d, s, name.site);
    }
}

static void rr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rr *s = state;

    DME_EXPECT(d, m->ticket[0].site == m->from && m->ticket[1].site == d->self);
    if (s->role == OUT || s->role == GONE) {
        if (m->kind == JOIN && !rr_runs(d, TIMER_OUT))
            rr_send(d, s, m->from, REFUSE, 0);
        return;
    }
    if (m->kind != JOIN && m->kind != REFUSE &&
        !((m->kind == FAILED || m->kind == NEW) && m->ticket[2].site == m->from) &&
        m->ticket[1].mode != d->node->incarnation)
        return; /* for an earlier incarnation; a restarting site does not know the incarnations of others */
    if (!rr_is_present(s, m->ticket[0]))
        return; /* from an earlier incarnation */
    if (m->kind <= YES_I_AM_HERE)
        rr_receive_claim(d, s, m);
    else if (m->kind == NEW || m->kind == NEW_ACK || m->kind == FAILED)
        rr_receive_about(d, s, m);
    else
        rr_receive_group(d, s, m);
    rr_test(d, s); /* the first message of a new incarnation: an answer that the earlier one owed counts as given */
}

static const char *rr_malformed(const struct dme *d, void *state)
{
    struct rr *s = state;

    DME_HOLDS(s->sponsor < d->n);
    DME_HOLDS(s->sponsee < d->n);
    return NULL;
}

static void rr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    static const char *const roles[] = {"out", "joining", "sync", "in", "leaving", "gone", "including"};
    const struct rr *s = state;

    dme_print(text, "%s incarnation=%u highest=%llu claim=%llu%s ", roles[s->role], d->node->incarnation,
              (unsigned long long)s->highest, (unsigned long long)s->own,
              s->activity == ADMIN ? " for a newcomer" : "");
    dme_print_set(text, "members", &s->peer[0].member, sizeof s->peer[0], d->n);
    dme_print_set(text, " missing", &s->peer[0].missing, sizeof s->peer[0], d->n);
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred)
            dme_print(text, " deferred=%llu.%u", (unsigned long long)s->peer[j].deferred, j);
    dme_print_set(text, " removed", &s->peer[0].removed, sizeof s->peer[0], d->n);
}

static const char *rr_check(const struct dme_conf *conf)
{
    return conf->option[OPTION_MEMBERS] > conf->n ? "there are fewer sites than members" : NULL;
}

#define RR_COMMON                                                                                                      \
    .paper = "G. Ricart, A. K. Agrawala, An optimal algorithm for mutual exclusion in computer networks, CACM 24(1), " \
             "1981; "                                                                                                  \
             "and technical report TR-869, University of Maryland, 1980",                                              \
    .cost = "2(n-1) messages, delay T; join 4(n-1)+2, leave 2(n-1)", .kinds = rr_kinds, .upkeep = ARE_YOU_THERE,       \
    .options = rr_options, .family = DME_PERMISSION, .rules = 1 << DME_EXCLUSIVE,                                      \
    .needs = DME_RELIABLE | DME_BOUNDED_DELAY, .state_size = sizeof(struct rr),                                        \
    .peer_size = sizeof(((struct rr *)0)->peer[0]), .check = rr_check, .init = rr_init, .request = rr_request,         \
    .receive = rr_receive, .release = rr_release, .timer = rr_timer, .restart = rr_restart, .join = rr_joins,          \
    .leave = rr_leaves, .malformed = rr_malformed, .show = rr_show

const struct dme_alg ricart_agrawala_robust = {.name = "ricart-agrawala-robust", RR_COMMON};

const struct dme_alg ricart_agrawala_robust_as_published = {
    .name = "ricart-agrawala-robust-as-published",
    .flaw = "newcomers and probes let two sites in",
    .mistakes = rr_mistakes,
    .mistaken = DME_PUBLISHED,
    RR_COMMON,
};
