/* world.c - time and events of a soak, and the course of a run. See soak.h. */
#include "world.h"

#include "alg/list.h"
#include "base/memory.h"
#include "step/invariants.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

enum { CALM_LIMIT_S = 60, STILL_MAX = 100000, FLUSH_US = 150 };

/* ------------------------------------------------------------------------------------------------------ by the way */

void world_fail(struct world *w, const char *format, ...)
{
    char text[200];
    va_list args;

    if (w->report->failure[0])
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(w->report->failure, sizeof w->report->failure, "at %.3f s: %s", (double)w->now_us / 1e6, text);
    world_trace(w, "FAILED: %s", text);
}

void world_trace(struct world *w, const char *format, ...)
{
    va_list args;

    if (!w->conf->trace)
        return;
    fprintf(w->conf->trace, "%10.6f ", (double)w->now_us / 1e6);
    va_start(args, format);
    vfprintf(w->conf->trace, format, args);
    va_end(args);
    fputc('\n', w->conf->trace);
}

uint64_t world_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t world_below(struct world *w, uint64_t n)
{
    return n ? world_random(&w->random) % n : 0;
}

/* ------------------------------------------------------------------------------------------------------ the true time */

static bool world_before(const struct soak_event *a, const struct soak_event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static struct soak_event *world_push(struct world *w, const struct soak_event *e)
{
    size_t at = ++w->count;

    assert(w->now_us <= e->at_us);
    if (at >= w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->heap = mem_grow(w->heap, w->room * sizeof *w->heap);
    }
    for (; at > 1 && world_before(e, &w->heap[at / 2]); at /= 2)
        w->heap[at] = w->heap[at / 2];
    w->heap[at] = *e;
    return &w->heap[at];
}

static struct soak_event world_pop(struct world *w)
{
    struct soak_event first, last;
    size_t at = 1;

    assert(w->count);
    first = w->heap[1], last = w->heap[w->count--];
    for (size_t child; (child = 2 * at) <= w->count; at = child) {
        if (child < w->count && world_before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!world_before(&w->heap[child], &last))
            break;
        w->heap[at] = w->heap[child];
    }
    w->heap[at] = last;
    return first;
}

struct soak_event *world_plan(struct world *w, uint64_t in_us, enum soak_type type, uint32_t a, uint32_t b)
{
    return world_push(
        w, &(struct soak_event){.at_us = w->now_us + in_us, .order = w->order++, .type = type, .a = a, .b = b});
}

void world_repeat(struct world *w, const struct soak_event *e, uint64_t in_us)
{
    struct soak_event again = *e;

    assert(in_us); /* else time would stand still */
    again.at_us = w->now_us + in_us;
    world_push(w, &again);
}

/* ------------------------------------------------------------------------------------------------- the machines' time */

uint64_t world_clock_ms(const struct world *w, uint32_t i, uint64_t at_us)
{
    const struct soak_machine *m = &w->machine[i];

    return (m->boot_us + (at_us - m->stood_us) * (uint64_t)(1000000 + m->drift_ppm) / 1000000) / 1000;
}

uint64_t world_when_us(const struct world *w, uint32_t i, uint64_t clock_ms)
{
    const struct soak_machine *m = &w->machine[i];
    uint64_t span_us, at_us;

    if (clock_ms > UINT64_MAX / 4000000000)
        return UINT64_MAX;
    span_us = 1000 * clock_ms > m->boot_us ? 1000 * clock_ms - m->boot_us : 0;
    at_us = m->stood_us + span_us * 1000000 / (uint64_t)(1000000 + m->drift_ppm);
    while (world_clock_ms(w, i, at_us) < clock_ms)
        at_us++;
    return at_us;
}

bool world_is_stopped(const struct world *w, uint32_t i)
{
    return w->now_us < w->machine[i].thaws_us;
}

void world_step_node(struct world *w, uint32_t i, struct node_input in)
{
    const char *wrong;

    in.now_ms = world_clock_ms(w, i, w->now_us);
    node_step(&w->machine[i].node, &in);
    if (!w->machine[i].doomed && (wrong = node_check(&w->machine[i].node)))
        world_fail(w, "%s: %s", w->machine[i].name, wrong);
}

void world_deliver(struct world *w, uint32_t i, struct node_input in)
{
    world_step_node(w, i, in);
    world_finish_step(w, i);
}

/* A slow machine has just done a piece of work: its daemon is busy for some time. */
static void world_take_turn(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    if (m->node.locks.grants && m->node.lease_end_ms != UINT64_MAX)
        m->lease_us = world_when_us(w, i, m->node.lease_end_ms);
    if (w->mix.turn_us && machine_is_slow(w, i) && node_due_ms(&m->node) <= m->node.now_ms + 1)
        m->turn_us = w->now_us + world_below(w, w->mix.turn_us);
}

static void world_set_timer(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    uint64_t due = node_due_ms(&m->node), at_us = due == UINT64_MAX ? UINT64_MAX : world_when_us(w, i, due);

    if (at_us < w->now_us)
        at_us = w->now_us;
    if (at_us != UINT64_MAX && (!m->timer_us || at_us < m->timer_us)) {
        m->timer_us = at_us;
        world_plan(w, at_us - w->now_us, SOAK_TIMER, i, 0)->generation = m->process;
    }
}

static const char *world_parts(const struct node *node, char *buf, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, buf, size);
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->view.member[k].incarnation)
            dme_print(&text, " %s(%llu)", node->view.member[k].name,
                      (unsigned long long)node->view.member[k].incarnation);
    return buf;
}

static void world_watch_views(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;
    char parts[256];

    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && node->member[k]->link.banned)
            world_fail(w, "%s refuses %s for good: %s", node->conf.name, node->member[k]->name,
                       node->member[k]->link.reason);
    if (node->view.number != w->machine[i].view && node->agree)
        operators_check(w, i);
    if (node->view.number > w->newest.number) {
        checks_roster(w, &node->view);
        kept_follow(w, &node->view); /* before this view counts as open: a member alone opens it at once */
        w->newest = node->view;
    }
    if (node->keep.opened > w->opened)
        w->opened = node->keep.opened;
    if (node->view.number > w->report->views) {
        w->report->views = node->view.number;
        world_trace(w, "%s installs view %llu, in which take part:%s", node->conf.name,
                    (unsigned long long)node->view.number, world_parts(node, parts, sizeof parts));
    }
}

static void world_tell_leader(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    const struct node *node = &m->node;

    if (!m->led_ms != !node->led_ms)
        world_trace(w, "%s leads%s, in view %llu", m->name, node->led_ms ? "" : " no more",
                    (unsigned long long)node->view.number);
    if (m->drops != node->drops)
        world_trace(w, "%s drops %llx, in view %llu", m->name, (unsigned long long)node->drops,
                    (unsigned long long)node->view.number);
    m->led_ms = node->led_ms;
    m->drops = node->drops;
}

/* A machine whose clock has stood still finds out by the first heartbeats that it hears. */
static void world_check_standstill(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    const struct node *node = &m->node;

    if (!m->stills || node->now_ms < world_clock_ms(w, i, m->thaws_us) + SOAK_LEASE_MS / 4)
        return;
    if (node->takes_part && node->stills < m->stills && node->incarnation_ms < world_clock_ms(w, i, m->thaws_us))
        world_fail(w, "the clock of %s has stood still, and %s goes on", m->name, m->name);
    m->stills = 0;
}

static void world_do(struct world *w, uint32_t i)
{
    struct node_output out;

    while (node_next_output(&w->machine[i].node, &out)) {
        switch (out.type) {
        case NODE_TO_CLIENT:
        case NODE_CLOSE_CLIENT:
            conns_do(w, &out);
            break;
        case NODE_LOG:
            world_trace(w, "%s logs: %s", w->machine[i].name, out.text);
            break;
        default:
            wires_do(w, i, &out);
        }
        node_did(&w->machine[i].node, &out);
    }
}

void world_finish_step(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    world_check_standstill(w, i);
    while (!m->doomed) {
        world_do(w, i);
        if (!node_wants_turns(&m->node))
            break;
        world_step_node(w, i, (struct node_input){.type = NODE_GO_ON});
    }
    if (m->doomed) {
        machine_crash(w, i);
        return;
    }
    if (node_has_waiting(&m->node) && !m->flushes) {
        m->flushes = true;
        world_plan(w, (uint64_t)FLUSH_US << m->process % 6, SOAK_FLUSH, i, 0)->generation = m->process;
    }
    world_watch_views(w, i);
    checks_look(w, i);
    operators_look(w, i);
    kept_look(w, i);
    world_tell_leader(w, i);
    world_take_turn(w, i);
    world_set_timer(w, i);
    if (node_broken(&m->node))
        world_fail(w, "%s has stopped agreeing: %s", m->name, node_broken(&m->node));
    else if (machine_has_left(w, i))
        machine_crash(w, i);
}

/* ---------------------------------------------------------------------------------------------------------- the course */

static void world_timer(struct world *w, const struct soak_event *e)
{
    struct soak_machine *m = &w->machine[e->a];

    if (!m->runs || m->process != e->generation || m->timer_us > e->at_us)
        return;
    m->timer_us = 0;
    world_deliver(w, e->a, (struct node_input){.type = NODE_TIME});
}

/* Letters that have waited for company go out. A daemon lets them wait for 150 us; some processes here, for up to 5 ms. */
static void world_flush(struct world *w, const struct soak_event *e)
{
    struct soak_machine *m = &w->machine[e->a];

    if (!m->runs || m->process != e->generation)
        return;
    m->flushes = false;
    node_let_wait(&m->node, false);
    world_finish_step(w, e->a);
    if (m->runs && m->process == e->generation)
        node_let_wait(&m->node, true);
}

static uint64_t world_daemon_us(const struct world *w, uint32_t i)
{
    const struct soak_machine *m = &w->machine[i];

    return m->thaws_us > m->turn_us ? m->thaws_us : m->turn_us;
}

/* An event waits while the daemon or the client that it concerns is stopped, or the daemon is busy. Returns until when. */
static uint64_t world_waits_until_us(const struct world *w, const struct soak_event *e)
{
    switch (e->type) {
    case SOAK_FAULT:
    case SOAK_HEAL:
    case SOAK_START:
    case SOAK_FOUND:
        return 0;
    case SOAK_CLIENT:
    case SOAK_CONFIRM:
        return w->client[e->a].thaws_us;
    case SOAK_HEAR:
    case SOAK_CLOSED:
        return w->client[w->conn[e->a].client].thaws_us;
    case SOAK_SAY:
    case SOAK_HANGUP:
        return w->conn[e->a].uplink ? relays_thaw_us(w, w->conn[e->a].client)
                                    : world_daemon_us(w, w->conn[e->a].machine);
    case SOAK_AGENT:
    case SOAK_UP:
    case SOAK_DOWN:
    case SOAK_UP_END:
    case SOAK_DOWN_END:
        return relays_waits_us(w, e);
    case SOAK_BYTES:
        return world_daemon_us(w, e->b);
    default:
        return world_daemon_us(w, e->a);
    }
}

/* An event of a client, or of an agent. */
static void world_serve_client(struct world *w, struct soak_event *e)
{
    switch (e->type) {
    case SOAK_CLIENT:
        if (w->client[e->a].generation == e->generation)
            clients_act(w, e->a);
        break;
    case SOAK_CONFIRM:
        if (w->client[e->a].generation == e->generation)
            clients_confirm(w, e->a);
        break;
    case SOAK_SAY:
        conns_arrive(w, e);
        break;
    case SOAK_LOOK:
        values_look(w, e->a, (int)e->b);
        break;
    case SOAK_HOARD:
        hoards_act(w, e);
        break;
    case SOAK_HEAR:
        conns_hear(w, e);
        break;
    case SOAK_HANGUP:
        conns_hang_up(w, e);
        break;
    case SOAK_CLOSED:
        conns_closed(w, e);
        break;
    case SOAK_AGENT:
        relays_act(w, e);
        break;
    case SOAK_UP:
        relays_arrive(w, e);
        free(e->bytes);
        break;
    case SOAK_DOWN:
        relays_hear(w, e);
        free(e->bytes);
        break;
    case SOAK_UP_END:
        relays_noticed(w, e);
        break;
    case SOAK_DOWN_END:
        relays_lost(w, e);
        break;
    default:
        assert(!"an event that no part of the world knows");
    }
}

/* An event of a machine, of the network among machines, or a fault. */
static void world_happen(struct world *w, struct soak_event *e)
{
    switch (e->type) {
    case SOAK_TIMER:
        world_timer(w, e);
        break;
    case SOAK_BYTES:
        wires_arrive(w, e);
        break;
    case SOAK_DIAL:
        w->pipe[e->a][e->b].dialing = false;
        wires_dial(w, e->a, e->b);
        break;
    case SOAK_CONNECTED:
        wires_connected(w, e);
        break;
    case SOAK_BROKEN:
        wires_broken(w, e);
        break;
    case SOAK_WRITTEN:
        if (w->machine[e->a].runs && w->machine[e->a].process == e->generation)
            machine_written(w, e->a);
        break;
    case SOAK_FLUSH:
        world_flush(w, e);
        break;
    case SOAK_START:
        if (!w->machine[e->a].runs && !w->machine[e->a].absent)
            machine_start(w, e->a);
        break;
    case SOAK_FAULT:
        if (!e->a)
            faults_happen(w);
        else if (!w->calm && w->machine[e->a - 1].runs)
            machine_crash(w, e->a - 1);
        break;
    case SOAK_HEAL:
        faults_heal(w);
        break;
    case SOAK_FOUND:
        if (!w->calm)
            machines_found(w);
        break;
    default:
        world_serve_client(w, e);
    }
}

static void world_step(struct world *w)
{
    struct soak_event e = world_pop(w);
    uint64_t until_us;

    assert(w->now_us <= e.at_us);
    w->still = w->now_us == e.at_us ? w->still + 1 : 0;
    if (w->still > STILL_MAX)
        world_fail(w, "time stands still: something is done again and again");
    w->now_us = e.at_us;
    w->report->events++;
    until_us = world_waits_until_us(w, &e);
    if (until_us <= w->now_us) {
        world_happen(w, &e);
        return;
    }
    if (e.type == SOAK_TIMER && w->machine[e.a].process == e.generation)
        w->machine[e.a].timer_us = until_us;
    world_repeat(w, &e, until_us - w->now_us);
}

static void world_run_until(struct world *w, uint64_t end_us)
{
    while (w->count && w->heap[1].at_us < end_us && !w->report->failure[0])
        world_step(w);
    if (!w->report->failure[0])
        w->now_us = end_us;
}

const struct view *world_view(const struct world *w)
{
    return w->newest.number ? &w->newest : NULL;
}

bool world_is_member(const struct world *w, uint32_t i)
{
    const struct view *view = world_view(w);
    const char *name = w->machine[i].name;

    return view && view_find_name(view, name, strlen(name)) != VIEW_MEMBERS_MAX;
}

bool world_is_whole(const struct world *w)
{
    const struct view *view = world_view(w);

    if (!view || view_taking_part(view) != view->count)
        return false;
    for (uint32_t k = 0; k < view->count; k++)
        if (view->member[k].standing != VIEW_MEMBER)
            return false;
    for (uint32_t i = 0; i < w->n; i++)
        if (world_is_member(w, i) && (!w->machine[i].runs || !node_is_open(&w->machine[i].node) ||
                                      w->machine[i].node.view.number != view->number))
            return false;
    return true;
}

/* Chaos, then calm: there are no faults, and no client makes a new request. Checks that all clients that wait are served, and that all
 * members take part. If clocks drift by more than A1 allows, that is not checked: a member whose clock is too slow never keeps a lease for long. */
static void world_run(struct world *w)
{
    uint64_t calm_us;

    world_run_until(w, (uint64_t)w->conf->chaos_s * 1000000);
    faults_end(w);
    w->calm = true;
    calm_us = w->now_us;
    while (!w->report->failure[0] && !w->mix.wild_clocks &&
           !(operators_restore_lease(w) && world_is_whole(w) && clients_at_rest(w) && kept_agree(w))) {
        if (w->now_us - calm_us > CALM_LIMIT_S * 1000000ull) {
            for (uint32_t i = 0; i < w->n; i++)
                world_trace(w, "%s: %s", w->machine[i].name, node_why_not(&w->machine[i].node));
            wires_tell(w);
            world_fail(w, !world_is_whole(w)   ? "the cluster does not come together again"
                          : clients_at_rest(w) ? "members have different records of kept sessions"
                                               : "a client was never served");
        }
        world_run_until(w, w->now_us + 100000);
    }
    w->report->simulated_ms = w->now_us / 1000;
}

static bool world_can_run(const struct dme_alg *alg, bool slots)
{
    char line[256];
    struct dme_text why;

    for (uint32_t n = 1; n <= SOAK_MEMBERS_MAX; n++) {
        dme_text_init(&why, line, sizeof line);
        if (!locks_can_run(alg, slots, n, &why))
            return false;
    }
    return true;
}

const struct dme_alg *world_draw_algorithm(struct world *w, bool slots)
{
    unsigned count = 0;
    const struct dme_alg *alg;

    while (alg_list[count])
        count++;
    do
        alg = alg_list[world_below(w, count)];
    while (!world_can_run(alg, slots) ||
           ((w->conf->focus == SOAK_SHARING || w->conf->focus == SOAK_UPGRADE || w->conf->focus == SOAK_BARRIERS ||
             (w->conf->focus == SOAK_KINDS && w->conf->seed % 2 == 0)) &&
            !slots && !(alg->rules & 1u << DME_GROUP)));
    return alg;
}

static void world_begin(struct world *w)
{
    static const uint32_t sizes[] = {3, 5, 3, 5, 2, 4, 1, 7}, rolling_sizes[] = {3, 5, 3, 5, 4, 4, 6, 7},
                          roster_sizes[] = {5, 7, 3, 5, 5, 4, 6, 7}, focus_sizes[] = {5, 5, 5, 5, 5, 5, 5, 7},
                          kinds_sizes[] = {3, 3, 3, 5, 3, 4, 3, 7};

    w->n = w->conf->focus == SOAK_ALONE ? 1
           : w->conf->members           ? w->conf->members
                                        : (w->conf->rolling               ? rolling_sizes
                                           : w->conf->focus == SOAK_KINDS ? kinds_sizes
                                           : w->conf->focus               ? focus_sizes
                                           : w->conf->roster              ? roster_sizes
                                                                          : sizes)[world_below(w, 8)];
    w->clients = w->conf->clients ? w->conf->clients : 4 + (uint32_t)world_below(w, 13);
    w->algorithm = w->conf->algorithm ? w->conf->algorithm : world_draw_algorithm(w, false);
    w->slots_algorithm = w->conf->slots_algorithm ? w->conf->slots_algorithm : world_draw_algorithm(w, true);
    mix_draw(w);
    w->founders = w->mix.roster && world_below(w, 2) ? 1 + (uint32_t)world_below(w, w->n) : w->n;
    for (uint32_t i = 0; i < w->n; i++) {
        struct soak_machine *m = &w->machine[i];

        m->world = w;
        m->joins = i >= w->founders;
        snprintf(m->name, sizeof m->name, "m%u", i);
        snprintf(m->address, sizeof m->address, "10.0.0.%u:7400", i + 1);
        m->boot_us = 1000000 + world_below(w, 1000000000);
        ring_init(&m->writes);
        m->random = world_random(&w->random);
        m->drift_ppm = (world_below(w, 2) ? 1 : -1) * (int64_t)w->mix.drift_ppm; /* as wrong as can be */
        if (w->conf->focus) /* the first two clocks are slow, all others are fast */
            m->drift_ppm = (i > 1 ? 1 : -1) * (int64_t)w->mix.drift_ppm;
    }
    w->lease_ms = SOAK_LEASE_MS;
    for (uint32_t i = 0; i < w->n; i++)
        world_plan(w, world_below(w, 200000), SOAK_START, i, 0);
    relays_begin(w);
    clients_begin(w);
}

static void world_end(struct world *w)
{
    conns_end(w);
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->machine[i].runs)
            machine_crash(w, i);
        bytes_free(&w->machine[i].disk);
        bytes_free(&w->machine[i].handover);
    }
    relays_finish(w);
    for (size_t k = 1; k <= w->count; k++)
        free(w->heap[k].bytes);
    free(w->heap);
}

bool soak_run(const struct soak_conf *conf, struct soak_report *report)
{
    struct world *w = mem_new(sizeof *w);

    *report = (struct soak_report){0};
    w->conf = conf;
    w->report = report;
    w->random = conf->seed;
    wrapper_run(w);
    world_begin(w);
    world_run(w);
    world_end(w);
    free(w);
    return !report->failure[0];
}
