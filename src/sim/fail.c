/* fail.c - sites that crash and restart, join and leave, and a network that is cut, in simulated time. See fault.h; the
 * failure model is that of lab/failure.h. */
#include "base/memory.h"
#include "lab/failure.h"
#include "state.h"

#include <string.h>

/* What no node takes a step for is seen, too. */
static void sim_fail_observe(struct sim *s, uint32_t type, dme_id site, uint32_t arg)
{
    struct dme_event event = {.type = type, .arg = arg};

    s->out->used = 0;
    s->out->fault = NULL;
    s->out->started = s->out->stopped = s->out->entered = 0;
    if (s->spec->observe)
        s->spec->observe(s->spec->user, &(struct sim_event){s->now, site, &event, s->out, 0, s->order});
}

static void sim_fail_plan(struct sim *s, double at, uint32_t type, dme_id site, uint32_t arg)
{
    s->planned += type == DME_RESTART || type == WORLD_HEAL || type == DME_JOIN;
    agenda_add(&s->agenda,
               &(struct agenda_item){
                   .at = at, .order = s->order++, .type = AGENDA_FAULT, .site = site, .timer = type, .start = arg});
}

/* Another demand will come, or a site still has to be served. */
static bool sim_fail_goes_on(const struct sim *s)
{
    bool over = s->spec->load.type == LOAD_SCRIPT && s->load.line == s->spec->load.lines;

    return !over && !sim_is_closing(s);
}

/* The next failure of the random ones; of the three processes one comes first. */
static void sim_fail_expect(struct sim *s)
{
    const struct fault_spec *f = &s->spec->faults;
    double rate = f->crash_rate + f->cut_rate + f->leave_rate, which, gap = f->gap > 0 ? f->gap : 50 * s->bound;

    if (rate <= 0 || !sim_fail_goes_on(s))
        return;
    which = random_unit(&s->failures) * rate;
    sim_fail_plan(s, s->now + gap + random_exp(&s->failures, 1 / rate),
                  which <= f->crash_rate                 ? WORLD_CRASH
                  : which <= f->crash_rate + f->cut_rate ? WORLD_CUT
                                                         : DME_LEAVE,
                  DME_NONE, 0);
}

void sim_fail_begin(struct sim *s)
{
    const struct fault_spec *f = &s->spec->faults;

    random_seed(&s->failures, s->spec->seed, 5);
    for (size_t k = 0; k < f->lines; k++)
        sim_fail_plan(s, f->line[k].at, f->line[k].type, f->line[k].site, f->line[k].arg);
    sim_fail_expect(s);
}

/* -------------------------------------------------------------------------------------------------------------- news */

/* When the last message from one site to another arrives, if any is on its way. */
static double sim_fail_last_arrival(const struct sim *s, dme_id from, dme_id to)
{
    double last = s->now;

    for (size_t k = 0; k < s->flight.count; k++) {
        flight_key key = s->flight.key[(s->flight.head + k) & (s->flight.ring ? s->flight.room - 1 : SIZE_MAX)];
        const struct dme_msg *m = flight_msg(&s->flight, key);

        if (m->from == from && m->to == to && last < flight_time(key))
            last = flight_time(key);
    }
    return last;
}

struct sim_fail_news {
    struct sim *sim;
    double delay; /* from the failure to the news of it */
};

static bool sim_fail_is_down(void *user, dme_id site)
{
    return sim_node(((const struct sim_fail_news *)user)->sim, site)->down;
}

static void sim_fail_tell(void *user, enum dme_news what, dme_id of, dme_id to)
{
    const struct sim_fail_news *news = user;
    struct sim *s = news->sim;
    double last = sim_fail_last_arrival(s, of, to);

    s->planned++;
    agenda_add(&s->agenda, &(struct agenda_item){.at = last > s->now + news->delay ? last : s->now + news->delay,
                                                 .order = s->order++,
                                                 .type = AGENDA_NEWS,
                                                 .site = to,
                                                 .timer = what,
                                                 .start = of,
                                                 .incarnation = sim_node(s, to)->incarnation});
}

static double sim_fail_detect(const struct sim *s)
{
    return s->spec->faults.detect > 0 ? s->spec->faults.detect : s->bound;
}

/* A site that has restarted is told of the others at once. All other news take the time of detection. */
static void sim_fail_report(struct sim *s, uint32_t type, dme_id site, uint32_t side)
{
    struct sim_fail_news news = {.sim = s, .delay = type == DME_RESTART ? 0 : sim_fail_detect(s)};

    failure_report(
        &(struct failure_driver){.conf = &s->conf, .user = &news, .is_down = sim_fail_is_down, .tell = sim_fail_tell},
        type, site, side);
}

/* Are there sites that have still to hear that this site is down? */
static bool sim_fail_news_pending(const struct sim *s, dme_id of)
{
    for (size_t k = 0; k < s->agenda.count; k++) {
        const struct agenda_item *item = &s->agenda.item[k];

        if (item->type == AGENDA_NEWS &&
            failure_is_awaited(item->timer, item->start, sim_node(s, item->site)->down, of))
            return true;
    }
    return false;
}

void sim_fail_hear(struct sim *s, const struct agenda_item *item)
{
    struct dme_msg m = {.from = item->start, .to = item->site, .kind = (uint8_t)item->timer};

    s->planned--;
    if (!sim_node(s, item->site)->down && item->incarnation == sim_node(s, item->site)->incarnation)
        sim_receive(s, &m, 0), sim_obey(s, m.to);
}

/* ------------------------------------------------------------------------------------------------ what happens to sites */

/* From now on it is measured how long those who wait have to wait for an entry. */
static void sim_fail_outage(struct sim *s)
{
    s->outage = s->waiting.waiting ? s->now : INFINITY;
    s->out_of_service = true;
}

static void sim_fail_stop_timers(struct sim *s, dme_id i)
{
    for (unsigned t = 0; t < DME_TIMERS && s->timer_start; t++) {
        uint32_t *start = &s->timer_start[i * DME_TIMERS + t];

        s->timers -= *start & 1;
        *start += *start & 1;
    }
}

/* The user's request goes down with the site, and is made again when it is back. */
static void sim_fail_drop_request(struct sim *s, dme_id i)
{
    struct sim_site *site = &s->site[i];

    if (sim_node(s, i)->phase == DME_IDLE)
        return;
    s->result->faults.lost++;
    if (sim_node(s, i)->phase == DME_WAITING) {
        order_leave(&s->waiting, i);
        s->requests--;
        site->backlog += s->spec->load.type != LOAD_SCRIPT;
    } else {
        sim_account(s);
        s->inside--;
        s->exit_awaited = false;
        site->backlog += s->spec->load.type == LOAD_CLOSED;
    }
    site->asked = -1;
}

static void sim_fail_crash(struct sim *s, dme_id i)
{
    if (failure_site_objects(s->conf.alg, sim_node(s, i), WORLD_CRASH))
        return;
    sim_fail_drop_request(s, i);
    sim_fail_stop_timers(s, i);
    dme_crash(sim_node(s, i));
    s->result->faults.crashes++;
    sim_fail_observe(s, WORLD_CRASH, i, 0);
    sim_fail_report(s, WORLD_CRASH, i, s->side);
    sim_fail_outage(s);
}

static void sim_fail_return(struct sim *s, dme_id i, uint32_t remembers)
{
    if (failure_site_objects(s->conf.alg, sim_node(s, i), DME_RESTART))
        return;
    if (sim_fail_news_pending(s, i)) {
        sim_fail_plan(s, s->now + sim_fail_detect(s), DME_RESTART, i, remembers);
        return;
    }
    s->result->faults.returns++;
    sim_happen(s, i, DME_RESTART, remembers);
    sim_fail_report(s, DME_RESTART, i, s->side);
    sim_request(s, i);
    sim_fail_expect(s);
}

static void sim_fail_cut(struct sim *s, uint32_t side)
{
    if (failure_net_objects(s->side, WORLD_CUT))
        return;
    s->side = side;
    s->result->faults.cuts++;
    for (size_t k = 0; k < s->flight.count; k++) {
        flight_key key = s->flight.key[(s->flight.head + k) & (s->flight.ring ? s->flight.room - 1 : SIZE_MAX)];
        struct dme_msg *m = flight_msg(&s->flight, key);

        if (m->to != DME_NONE && failure_loses(m->kind, m->from, m->to, side, false))
            m->to = DME_NONE; /* it is lost */
    }
    sim_fail_observe(s, WORLD_CUT, 0, side);
    sim_fail_report(s, WORLD_CUT, 0, side);
    sim_fail_outage(s);
}

static void sim_fail_heal(struct sim *s)
{
    uint32_t side = s->side;

    if (failure_net_objects(side, WORLD_HEAL))
        return;
    s->side = 0;
    sim_fail_observe(s, WORLD_HEAL, 0, 0);
    sim_fail_report(s, WORLD_HEAL, 0, side);
    sim_fail_expect(s);
}

/* A site leaves when it is idle; if it is not, it tries again. */
static bool sim_fail_leave(struct sim *s, dme_id i)
{
    if (sim_node(s, i)->down || !s->conf.alg->leave)
        return true;
    if (sim_node(s, i)->phase != DME_IDLE) {
        sim_fail_plan(s, s->now + s->bound, DME_LEAVE, i, 0);
        return false;
    }
    s->result->faults.leaves++;
    sim_happen(s, i, DME_LEAVE, 0);
    return true;
}

static void sim_fail_join(struct sim *s, dme_id i)
{
    if (!failure_site_objects(s->conf.alg, sim_node(s, i), DME_JOIN))
        sim_happen(s, i, DME_JOIN, 0);
    sim_fail_expect(s);
}

/* --------------------------------------------------------------------------------------------------------- one of them */

/* A random failure: of whom, and until when. */
static void sim_fail_at_random(struct sim *s, uint32_t type)
{
    const struct fault_spec *f = &s->spec->faults;
    double back = s->now + dist_draw(&f->absence, &s->failures);
    dme_id i = random_below(&s->failures, s->conf.n);
    uint32_t all = s->conf.n < 32 ? (1u << s->conf.n) - 1 : UINT32_MAX;

    if (!sim_fail_goes_on(s))
        return;
    switch (type) {
    case WORLD_CRASH:
        sim_fail_crash(s, i);
        sim_fail_plan(s, back, DME_RESTART, i, f->resumes);
        break;
    case WORLD_CUT:
        sim_fail_cut(s, 1 + random_below(&s->failures, all - 1));
        sim_fail_plan(s, back, WORLD_HEAL, 0, 0);
        break;
    default:
        sim_fail_leave(s, i);
        sim_fail_plan(s, back, DME_JOIN, i, 0);
    }
}

void sim_fail_happen(struct sim *s, const struct agenda_item *item)
{
    uint32_t type = item->timer;

    s->planned -= type == DME_RESTART || type == WORLD_HEAL || type == DME_JOIN;
    if (item->site == DME_NONE)
        sim_fail_at_random(s, type);
    else if (type == WORLD_CRASH)
        sim_fail_crash(s, item->site);
    else if (type == WORLD_CUT)
        sim_fail_cut(s, item->start);
    else if (type == WORLD_HEAL)
        sim_fail_heal(s);
    else if (type == DME_RESTART)
        sim_fail_return(s, item->site, item->start);
    else if (type == DME_JOIN)
        sim_fail_join(s, item->site);
    else
        sim_fail_leave(s, item->site);
}

void sim_fail_entered(struct sim *s)
{
    struct fault_result *r = &s->result->faults;
    double outage = s->now - s->outage;

    s->out_of_service = false;
    if (outage < 0)
        return; /* no site had to wait */
    r->outages++;
    r->outage_sum += outage;
    r->outage_max = r->outage_max < outage ? outage : r->outage_max;
}
