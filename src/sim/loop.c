/* loop.c - the discrete-event loop: take what comes first, step one node, do what the node wants done.
 *
 * After every step the run checks, at constant cost, that the rule admits the sites inside together (dme_safe), that no
 * node faults, that fences grow, and that no site waits while everything is at rest.
 *
 * Rounds measure progress in what is in flight, whatever the unit of time. A round ends when every message that was in
 * flight at its beginning has arrived. */
#include "base/memory.h"
#include "core/wire.h"
#include "state.h"

#include <float.h>
#include <stdio.h>

/* Timers fire strictly later than a multiple of T, by this share. Sums of delays are rounded; this is more than that. */
static const double sim_later = 1e-6;

enum { SIM_STEPS_MAX = 1000000 };   /* without an entry; see sim_look_for_unrest */
enum { SIM_PROGRESS = 4096 };       /* entries from one report to the next */
enum { SIM_ENTRIES_MAX = 4000000 }; /* in one round; see sim_look_at_scales */
enum { SIM_BACKLOG_MAX = 1000000 }; /* of a site, if it is a thousand times the entries of all; see sim_demand */

/* ----------------------------------------------------------------------------------------------------------- broken */

/* The assumption of the algorithm that failures of the specification have broken; or empty. */
static const char *sim_broken_need(const struct sim *s)
{
    if (!(s->conf.alg->needs & DME_ALIVE))
        return "";
    if (s->crashes_before + s->result->faults.crashes)
        return "; it relies on \"alive\" (no site stops), and a site has crashed";
    if (s->cuts_before + s->result->faults.cuts)
        return "; it relies on \"reliable\" (every message arrives), and the network was cut";
    return "";
}

static void sim_fail(struct sim *s, dme_id site, const char *what)
{
    if (!s->done)
        snprintf(s->result->failure, sizeof s->result->failure, "%s: site %u: %s%s (time %.6g, step %llu, seed %llu)",
                 s->conf.alg->name, site, what, sim_broken_need(s), s->now, (unsigned long long)s->result->steps,
                 (unsigned long long)s->spec->seed);
    s->done = true;
}

/* May one more go in, in this mode? Those inside share one mode (or are counted), so looking at one of them will do. */
static bool sim_may_enter(const struct sim *s, uint32_t mode)
{
    uint32_t modes[2] = {s->mode, mode};

    if (s->conf.rule == DME_SLOTS)
        return dme_safe(&s->conf, NULL, s->inside + 1);
    return s->inside == 0 || dme_safe(&s->conf, modes, 2);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void sim_post(struct sim *s, const struct dme_msg *m, dme_id to)
{
    double at = delay_arrival(&s->delay, &s->delays, s->now, m->from, to);

    if (s->side && world_apart(s->side, m->from, to)) {
        s->order++; /* it is lost */
        return;
    }
    flight_post(&s->flight, at, s->order++, m, to);
}

/* One transmission to all sites. A sequenced medium shows all transmissions to each site in the order of sending. */
static void sim_broadcast(struct sim *s, const struct dme_msg *m)
{
    for (dme_id j = 0; j < s->conf.n; j++) {
        if (!s->medium) {
            if (j != m->from)
                sim_post(s, m, j);
        } else {
            double at = delay_arrival(&s->delay, &s->delays, s->now, m->from, j);

            s->medium[j] = at = at < s->medium[j] ? s->medium[j] : at;
            flight_post(&s->flight, at, s->order++, m, j);
        }
    }
}

static void sim_send(struct sim *s, dme_id self)
{
    const unsigned char *at = s->out->bytes, *end = at + s->out->used;

    while (at < end) {
        const struct dme_msg *m = (const struct dme_msg *)at;

        at += dme_msg_bytes(m);
        if (m->to == self)
            continue;
        s->metrics->by_kind[m->kind]++;
        s->metrics->sum[SUM_BYTES] += (double)dme_wire_size(m);
        if (m->to == DME_ALL)
            sim_broadcast(s, m);
        else
            sim_post(s, m, m->to);
    }
}

/* The share of T by which a timer fires later. A clock that shows a large time is coarse, and the share grows with it. */
static double sim_timer_margin(const struct sim *s)
{
    return fmax(sim_later, 8 * s->now * DBL_EPSILON / s->bound);
}

static void sim_set_timers(struct sim *s, dme_id self)
{
    for (unsigned t = 0; t < DME_TIMERS; t++) {
        uint32_t *start = &s->timer_start[self * DME_TIMERS + t];
        bool started = s->out->started & 1u << t;

        if (!started && !(s->out->stopped & 1u << t))
            continue;
        s->timers -= *start & 1; /* an odd number: it runs */
        s->timers += started;
        *start += (*start & 1) + started;
        if (started)
            agenda_add(&s->agenda, &(struct agenda_item){
                                       .at = s->now + (s->out->bounds[t] + sim_timer_margin(s)) * s->bound,
                                       .order = s->order++,
                                       .type = AGENDA_TIMER,
                                       .site = self,
                                       .timer = t,
                                       .start = *start,
                                   });
    }
}

/* ------------------------------------------------------------------------------------------------------- in and out */

static void sim_begin_round(struct sim *s)
{
    s->rounds++;
    s->round_end = s->order;
    s->round_left = s->flight.count;
    s->round_entries = s->entries;
}

/* A message with this number has arrived. */
static void sim_count_round(struct sim *s, uint64_t number)
{
    if (number < s->round_end)
        s->round_left--;
    if (s->round_left == 0)
        sim_begin_round(s);
}

void sim_account(struct sim *s)
{
    double time = s->now - s->changed;

    s->metrics->sum[SUM_INSIDE] += time * s->inside;
    s->metrics->sum[SUM_BUSY] += s->inside ? time : 0;
    s->changed = s->now;
}

void sim_measure(struct sim *s, bool at_rest)
{
    s->measuring = true;
    s->began_at_rest = at_rest;
    s->entries_before = s->entries;
    s->requests_before = s->requests;
    s->crashes_before = s->result->faults.crashes;
    s->cuts_before = s->result->faults.cuts;
    s->result->faults = (struct fault_result){0};
    for (dme_id i = 0; i < s->conf.n; i++)
        s->site[i].entries = 0;
    metrics_mark(s->metrics, s->now);
    s->next_mark = s->batches ? s->spec->entries / METRICS_PARTS : s->spec->entries;
}

/* Under a load without rest: has every request been served that waited after the first `warmup` entries? A site that is
 * starved is not waited for. Looking takes n steps, so it is done after every n entries. */
static bool sim_is_warm(const struct sim *s)
{
    uint64_t warmup = s->spec->warmup;

    if (s->entries < 2 * warmup || (s->entries - 2 * warmup) % s->conf.n)
        return false;
    for (dme_id i = 0; i < s->conf.n; i++)
        if (sim_node(s, i)->phase == DME_WAITING && s->site[i].entries_then < warmup && !sim_is_starved(s, i))
            return false;
    return true;
}

/* After an entry: does measuring begin, is a batch complete, is all measured? */
static void sim_mark(struct sim *s)
{
    uint64_t measured = s->entries - s->entries_before, all = s->spec->entries;

    if (!s->measuring) {
        if (sim_is_warm(s))
            sim_measure(s, false);
        return;
    }
    if (measured < s->next_mark || (measured == all && s->began_at_rest))
        return; /* the last mark is made when all is at rest again */
    metrics_mark(s->metrics, s->now);
    s->done |= measured == all;
    s->next_mark = s->batches ? all * s->metrics->marks / METRICS_PARTS : all;
}

static void sim_log_entry(struct sim *s, dme_id site, uint32_t mode)
{
    struct sim_result *r = s->result;

    if ((r->logged & (r->logged - 1)) == 0)
        r->log = mem_grow(r->log, (r->logged ? 2 * r->logged : 1) * sizeof *r->log);
    r->log[r->logged++] = (struct sim_entry){s->now, site, mode};
}

/* The promises that an entry may break. */
static void sim_check_entry(struct sim *s, dme_id self, const struct dme_node *node)
{
    if (!sim_may_enter(s, node->mode))
        sim_fail(s, self, "enters although the rule forbids it: exclusion is broken");
    if (s->fences && node->fence <= s->fence)
        sim_fail(s, self, "enters with a fencing number that is not larger than the last");
    s->fence = node->fence;
}

static void sim_measure_entry(struct sim *s, const struct sim_site *site, uint32_t still_waiting)
{
    struct metrics *m = s->metrics;
    /* Of the entries since the request, those that waited already were not overtaking. */
    uint64_t later = s->entries - site->entries_then, earlier = site->waiting_then - still_waiting;
    uint64_t overtakes = later > earlier ? later - earlier : 0; /* some of the earlier may have failed */
    uint64_t switches = s->switches - site->switches_then;
    double wait = s->now - site->asked, sync = s->now - s->last_exit;

    m->sum[SUM_ENTRIES]++;
    m->sum[SUM_ROUNDS] = (double)s->rounds;
    m->sum[SUM_WAIT] += wait;
    hist_add(&m->wait, wait);
    m->sum[SUM_OVERTAKES] += (double)overtakes;
    m->overtakes_max = m->overtakes_max < overtakes ? overtakes : m->overtakes_max;
    m->switches_max = m->switches_max < switches ? switches : m->switches_max;
    if (s->exit_awaited) {
        m->sum[SUM_SYNC] += sync;
        m->sum[SUM_SYNCS]++;
        m->sync_max = m->sync_max < sync ? sync : m->sync_max;
    }
}

static void sim_enter(struct sim *s, dme_id self)
{
    struct sim_site *site = &s->site[self];
    const struct dme_node *node = sim_node(s, self);
    struct metrics *m = s->metrics;
    uint32_t still_waiting = order_leave(&s->waiting, self);

    sim_check_entry(s, self, node);
    if (s->out_of_service)
        sim_fail_entered(s);
    sim_account(s);
    if (s->mode != node->mode)
        s->switches++;
    sim_measure_entry(s, site, still_waiting);
    m->sum[SUM_SWITCHES] = (double)s->switches;
    s->exit_awaited = false;
    s->mode = node->mode;
    if (m->inside_max < ++s->inside)
        m->inside_max = s->inside;
    s->entries++;
    if (!s->flight.count)
        sim_begin_round(s);
    s->steps_then = s->result->steps;
    s->flight_most = 0;
    site->entries++;
    if (s->spec->log_entries)
        sim_log_entry(s, self, node->mode);
    agenda_add(&s->agenda, &(struct agenda_item){.at = s->now + dist_draw(&s->spec->hold, &s->holds),
                                                 .order = s->order++,
                                                 .type = AGENDA_EXIT,
                                                 .site = self,
                                                 .incarnation = node->incarnation});
    sim_mark(s);
    if (s->spec->progress && s->entries % SIM_PROGRESS == 0) {
        uint64_t all = s->spec->warmup + s->spec->entries;

        s->spec->progress(s->entries < all ? s->entries : all, all);
    }
}

/* What the node wants done after a step. */
void sim_obey(struct sim *s, dme_id self)
{
    if (s->out->fault)
        sim_fail(s, self, *sim_broken_need(s) ? "what it receives contradicts its protocol" : s->out->fault);
    if (s->out->used)
        sim_send(s, self);
    if (s->out->started | s->out->stopped)
        sim_set_timers(s, self);
    if (s->out->entered)
        sim_enter(s, self);
}

static void sim_step(struct sim *s, dme_id self, const struct dme_event *event, uint64_t number)
{
    s->result->steps++;
    if (sim_node(s, self)->down && event->type == DME_RECEIVE) {
        dme_out_init(s->out, dme_out_size(&s->conf)); /* it is lost */
    } else {
        dme_step(&s->conf, sim_node(s, self), event, s->out);
    }
    if (s->spec->observe)
        s->spec->observe(s->spec->user, &(struct sim_event){s->now, self, event, s->out, number, s->order});
}

void sim_happen(struct sim *s, dme_id self, enum dme_event_type type, uint32_t arg)
{
    sim_step(s, self, &(struct dme_event){.type = type, .arg = arg}, 0);
    sim_obey(s, self);
}

void sim_receive(struct sim *s, const struct dme_msg *m, uint64_t number)
{
    sim_step(s, m->to, &(struct dme_event){.type = DME_RECEIVE, .msg = m}, number);
}

void sim_request(struct sim *s, dme_id self)
{
    struct sim_site *site = &s->site[self];

    if (!site->backlog || sim_is_closing(s) || sim_node(s, self)->down || sim_node(s, self)->phase != DME_IDLE)
        return;
    if (s->out_of_service && s->outage == INFINITY)
        s->outage = s->now;
    site->backlog--;
    site->asked = s->now;
    site->entries_then = s->entries;
    site->switches_then = s->switches;
    site->rounds_then = s->rounds;
    site->waiting_then = s->waiting.waiting;
    s->requests++;
    order_join(&s->waiting, self);
    sim_happen(s, self, DME_REQUEST, load_mode(&s->load, self));
}

/* Where demands come thousands of times as fast as they are served, a run does hardly anything but count them, and its
 * figures are those of full load. */
static void sim_demand(struct sim *s, dme_id self)
{
    uint32_t backlog = ++s->site[self].backlog;

    if (backlog > SIM_BACKLOG_MAX && backlog / 1000 > s->entries) {
        snprintf(s->refused, sizeof s->refused,
                 "%u demands queue at site %u, and %llu were served at all sites: the rate is far above what can be "
                 "served; take a lower rate, a shorter --hold, or --closed for full load",
                 backlog, self, (unsigned long long)s->entries);
        s->done = true;
        return;
    }
    sim_request(s, self);
}

static void sim_exit(struct sim *s, dme_id self)
{
    struct sim_site *site = &s->site[self];
    struct metrics *m = s->metrics;

    sim_account(s);
    m->sum[SUM_EXITS]++;
    m->sum[SUM_RESPONSE] += s->now - site->asked;
    hist_add(&m->response, s->now - site->asked);
    site->asked = -1;
    s->inside--;
    s->last_exit = s->now;
    s->exit_awaited = s->waiting.waiting > 0;
    sim_happen(s, self, DME_RELEASE, 0);
    if (s->spec->load.type == LOAD_CLOSED) {
        double next = load_think(&s->load, s->now);

        if (next > s->now) {
            agenda_add(&s->agenda,
                       &(struct agenda_item){.at = next, .order = s->order++, .type = AGENDA_DEMAND, .site = self});
            return;
        }
        site->backlog++;
    }
    sim_request(s, self);
}

/* --------------------------------------------------------------------------------------------------------- the loop */

/* Puts the next demand of an open or scripted load on the agenda. */
void sim_expect_demand(struct sim *s)
{
    struct agenda_item item = {.type = AGENDA_DEMAND, .order = s->order++};

    if (!sim_is_closing(s) && load_next(&s->load, s->now, &item.at, &item.site))
        agenda_add(&s->agenda, &item);
}

static void sim_deliver(struct sim *s, flight_key key)
{
    struct dme_msg *m = flight_msg(&s->flight, key);
    dme_id self = m->to;

    s->now = flight_time(key);
    sim_count_round(s, flight_order(key));
    if (self != DME_NONE)
        sim_receive(s, m, flight_order(key));
    flight_release(&s->flight, m);
    if (self != DME_NONE)
        sim_obey(s, self);
}

static void sim_do(struct sim *s, const struct agenda_item *item)
{
    uint32_t *start;

    s->now = item->at;
    switch (item->type) {
    case AGENDA_DEMAND:
        if (s->spec->load.type != LOAD_CLOSED)
            sim_expect_demand(s);
        sim_demand(s, item->site);
        break;
    case AGENDA_EXIT:
        if (!sim_node(s, item->site)->down && sim_node(s, item->site)->incarnation == item->incarnation)
            sim_exit(s, item->site);
        break;
    case AGENDA_FAULT:
        sim_fail_happen(s, item);
        break;
    case AGENDA_NEWS:
        sim_fail_hear(s, item);
        break;
    case AGENDA_TIMER:
        start = &s->timer_start[item->site * DME_TIMERS + item->timer];
        if (*start != item->start)
            break; /* stopped, or started again */
        ++*start;
        s->timers--;
        sim_happen(s, item->site, DME_TIMER, item->timer);
        break;
    }
}

/* No message is in flight. Then no site may wait, unless a site is inside or a timer runs. */
static void sim_look_for_rest(struct sim *s)
{
    dme_id site = 0;

    if (s->inside || s->timers || s->done || s->planned || s->side)
        return;
    if (s->waiting.waiting) {
        while (s->site[site].asked < 0)
            site++;
        sim_fail(s, site, "waits, but no site is inside and no message is in flight: it waits for ever");
    } else if (!s->measuring && s->entries >= s->spec->warmup) {
        sim_measure(s, true);
    }
}

/* Many steps without an entry: messages circulate without end. Only steps count during which a waiting site could have
 * been served: a site waits, none is inside, no site is absent and no network is cut. If n sites request at once and each asks all others, n^2
 * messages are in flight and have to arrive, with as many replies, before the next entry. So the limit grows with the
 * largest number of messages in flight since the last entry, which messages that circulate do not raise. */
static void sim_look_for_unrest(struct sim *s)
{
    dme_id site = 0;

    if (s->flight_most < s->flight.count)
        s->flight_most = s->flight.count;
    if (s->waiting.waiting == 0 || s->inside || s->planned || s->side) {
        s->steps_then = s->result->steps;
        s->flight_most = 0;
    }
    if (s->result->steps - s->steps_then < SIM_STEPS_MAX + 1000 * (uint64_t)s->conf.n + 4 * s->flight_most)
        return;
    while (s->site[site].asked < 0)
        site++;
    sim_fail(s, site, "waits, and no site has entered in a million steps");
}

/* Times that are too different for one run. If sites enter millions of times before a message arrives, no run is long
 * enough. If the clock's steps, which grow with the time that it shows, are not small beside the times of the
 * specification, those times are rounded away. */
static void sim_look_at_scales(struct sim *s)
{
    double step = s->now * DBL_EPSILON;

    if (s->flight.count && s->entries - s->round_entries > SIM_ENTRIES_MAX)
        snprintf(s->refused, sizeof s->refused,
                 "%d entries were made while the same messages were in flight: --hold and --think are too short beside "
                 "--delay; take longer ones",
                 SIM_ENTRIES_MAX);
    else if (100 * step > s->finest)
        snprintf(s->refused, sizeof s->refused,
                 "at time %g the clock moves in steps of %.2g, which is too coarse for a time of %g; take fewer "
                 "--entries, a higher rate or longer times",
                 s->now, step, s->finest);
    s->done |= s->refused[0] != 0;
}

/* Is no request being served? The messages of a restless algorithm go on all the same. */
static bool sim_idles(const struct sim *s)
{
    return !s->flight.count || (s->conf.alg->restless && !s->inside && !s->waiting.waiting);
}

void sim_loop(struct sim *s)
{
    while (!s->done && (s->agenda.count || !sim_idles(s))) {
        const struct agenda_item *item = s->agenda.item;

        if (!s->agenda.count ||
            (s->flight.count && flight_first(&s->flight) < flight_make_key(item->at, item->order, 0))) {
            sim_deliver(s, flight_take(&s->flight));
        } else {
            struct agenda_item first = agenda_take(&s->agenda);

            sim_do(s, &first);
        }
        if (sim_idles(s))
            sim_look_for_rest(s);
        if (s->result->steps % 1024 == 0) {
            sim_look_for_unrest(s);
            sim_look_at_scales(s);
        }
        if (s->order >= FLIGHT_ORDER_MAX - 4 * (uint64_t)s->conf.n)
            sim_fail(s, 0, "the run is too long: more than 2^36 events");
    }
    sim_look_at_scales(s);
}
