/* faults.c - what goes wrong in a soak.
 *
 * mix.c has drawn which faults happen, and how often (struct soak_mix). Every 10 ms, faults_happen draws whether each kind of fault happens now. The
 * hard cases of enum soak_focus are here, too: each is a short course of faults and of operators' requests, again and again.
 * faults_end ends all faults: from then on nothing breaks. */
#include "world.h"

#include <assert.h>

enum { BURST_RATE = 10, BURST_US_MAX = 2000 * SOAK_LEASE_MS };

/* The machine that the next fault hits. */
static uint32_t faults_aim(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);

    assert(w->mix.focus >> w->n == 0); /* else no machine might be hit, for ever */
    while (w->mix.focus && !(w->mix.focus >> i & 1) && world_below(w, 8))
        i = (uint32_t)world_below(w, w->n);
    return i;
}

/* ------------------------------------------------------------------------------------------------------------- kinds */

static void faults_crash(struct world *w)
{
    uint32_t i = faults_aim(w), spared = (uint32_t)world_below(w, 2 * w->n);
    uint64_t kind = world_below(w, 12);

    if (w->mix.amnesia) {
        for (i = 0; i < w->n && (!w->machine[i].runs || ring_empty(&w->machine[i].writes));)
            i++;
        if (i < w->n)
            machine_crash(w, i);
    } else if (kind <= 1) { /* a power cut: all machines crash at once, or all but one */
        if (spared < w->n)
            faults_cut_off(w, 1u << spared, 1 + world_below(w, 3 * SOAK_LEASE_MS));
        for (i = 0; i < w->n; i++)
            if (w->machine[i].runs && i != spared)
                machine_crash(w, i);
    } else if (w->machine[i].runs) {
        w->report->crashes++;
        machine_crash(w, i);
    }
}

/* An operator tells a daemon to shut down. */
static void faults_leave(struct world *w)
{
    uint32_t i = faults_aim(w);

    if (w->machine[i].runs && !w->machine[i].leave_by_ms && !world_is_stopped(w, i)) {
        w->report->crashes++;
        machine_leave(w, i);
    }
}

/* A process is stopped for a while, and then goes on. */
void faults_stop(struct world *w, uint32_t i, uint64_t span_ms)
{
    assert(i < w->n && w->machine[i].runs);
    w->report->pauses++;
    w->machine[i].thaws_us = w->now_us + 1000 * span_ms;
    world_trace(w, "%s is stopped for %llu ms", w->machine[i].name, (unsigned long long)span_ms);
}

static void faults_stop_if_runs(struct world *w, uint32_t i, uint64_t span_ms)
{
    if (w->machine[i].runs && !world_is_stopped(w, i))
        faults_stop(w, i, span_ms);
}

static void faults_pause(struct world *w)
{
    uint32_t i = faults_aim(w);

    faults_stop_if_runs(w, i, world_below(w, 3) ? 1 + world_below(w, 3 * SOAK_LEASE_MS) : 10000 + world_below(w, 2000));
}

/* The client of a session that its member has just forgotten does not know that, and sends a command; or its wait times out. The member must not
 * execute the command, and must not tell the client of the wait. Both happen during a piece of work. */
static void faults_exile(struct world *w)
{
    static const char words[] = "MEANWHILE CONFIRM\n";

    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        const struct soak_conn *x = &w->conn[k];
        const struct session *s = x->id && x->end ? x->end->session : NULL;
        struct soak_machine *m = &w->machine[x->machine];
        uint64_t busy_us = m->turn_us;

        if (!s || !session_is_forgotten(s) || world_is_stopped(w, x->machine) || world_below(w, 2))
            continue;
        if (s->waiting && s->waiting->state == CLAIM_WAITING && world_below(w, 2)) {
            s->waiting->due_ms = m->node.now_ms;
            deadlines_set(&m->node.due, s->waiting);
        }
        world_deliver(
            w, x->machine,
            (struct node_input){
                .type = NODE_CLIENT_BYTES, .client = x->end, .bytes = (const uint8_t *)words, .len = sizeof words - 1});
        if (x->end && session_is_forgotten(x->end->session) && x->end->credit != x->end->given)
            world_fail(w, "client %u is heard, and %s has forgotten its kept session", x->client, m->name);
        if (m->turn_us < busy_us) /* else events that wait for the end of the piece would change their order */
            m->turn_us = busy_us;
        return;
    }
}

/* Draws the machines from which a cut separates its set: all others, some of them, or one. */
static uint32_t faults_draw_others(struct world *w)
{
    switch (w->mix.lonely ? 0 : world_below(w, 8)) {
    case 6:
        return 1u << world_below(w, w->n);
    case 7:
        return (uint32_t)world_below(w, 1u << w->n);
    default:
        return w->mix.bursts ? (uint32_t)world_below(w, 1u << w->n) : UINT32_MAX;
    }
}

/* A partition: for a while, some machines cannot reach some others, in one direction or in both. */
static void faults_cut(struct world *w)
{
    static const char *const ways[] = {"both ways", "into the set", "out of the set"};
    uint32_t alone = 1u << faults_aim(w);
    uint32_t set = world_below(w, 2) || w->mix.lonely ? alone : (uint32_t)world_below(w, 1u << w->n);
    unsigned way = w->mix.lonely ? 0 : (unsigned)world_below(w, 3);
    uint32_t only = faults_draw_others(w);
    uint64_t span_ms = w->mix.lonely ? 2000 : world_below(w, 4) ? world_below(w, 5000) : world_below(w, 300);

    w->report->cuts++;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->n; k++) {
            bool out = set >> i & 1 && !(set >> k & 1) && only >> k & 1;
            bool in = set >> k & 1 && !(set >> i & 1) && only >> i & 1;

            if ((out && way != 1) || (in && way != 2))
                w->pipe[i][k].blocked = true;
        }
    world_trace(w, "cut, %s %x, from %x, for %llu ms", ways[way], set, only, (unsigned long long)span_ms);
    world_plan(w, 1000 * span_ms, SOAK_HEAL, 0, 0);
}

/* For a while, the machines of a set and all others cannot reach each other. */
void faults_cut_off(struct world *w, uint32_t set, uint64_t span_ms)
{
    w->report->cuts++;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->n; k++)
            if ((set >> i & 1) != (set >> k & 1))
                w->pipe[i][k].blocked = true;
    world_trace(w, "cut off: %x, for %llu ms", set, (unsigned long long)span_ms);
    world_plan(w, 1000 * span_ms, SOAK_HEAL, 0, 0);
}

void faults_heal(struct world *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->n; k++) {
            if (w->pipe[i][k].blocked && i < k && world_below(w, 3) == 0)
                wires_break(w, i, k); /* TCP has given up during the cut */
            w->pipe[i][k].blocked = false;
        }
    world_trace(w, "healed");
    for (uint32_t i = 0; i < w->n; i++)
        if (w->machine[i].runs && !w->alone && w->machine[i].node.file_lease_ms != w->lease_ms)
            machine_crash(w, i); /* it is restarted with the lease of the others */
}

static void faults_break(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n), k = (uint32_t)world_below(w, w->n);

    if (i != k)
        wires_break(w, i, k);
}

static void faults_kill_client(struct world *w)
{
    uint32_t k = (uint32_t)world_below(w, w->clients);

    if (w->machine[w->client[k].machine].runs && !world_is_stopped(w, w->client[k].machine))
        clients_die(w, k);
}

static void faults_disturb_client(struct world *w)
{
    clients_disturb(w, (uint32_t)world_below(w, w->clients));
}

/* An operator takes a lock from all its holders at a member. */
static void faults_evict(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);

    if (w->machine[i].runs && !world_is_stopped(w, i))
        clients_evict(w, i);
}

/* An operator has added the machine. It gets an empty disk, and its daemon is started soon, or never. */
static void faults_prepare(struct world *w, uint32_t k)
{
    struct soak_machine *m = &w->machine[k];
    bool was_absent = m->absent;

    if (w->mix.comes_and_goes && m->runs && world_below(w, 2)) {
        world_trace(w, "%s is not ended, and its disk is not wiped", m->name);
        return;
    }
    m->absent = w->mix.absent && world_below(w, 3) == 0;
    if (m->runs && (m->absent || bytes_len(&m->disk)))
        machine_crash(w, k);
    else if (was_absent && !m->absent)
        world_plan(w, world_below(w, 1000 * SOAK_LEASE_MS), SOAK_START, k, 0);
    bytes_free(&m->disk);
    checks_wipe(w, k);
    m->joins = true;
    if (m->absent)
        world_trace(w, "%s is not started", m->name);
}

/* An operator adds or removes a member, by a request at some member. */
static bool faults_change_roster(struct world *w, uint32_t k, uint32_t i)
{
    struct soak_machine *at = &w->machine[i], *m = &w->machine[k];
    bool add = !world_is_member(w, k);
    bool force = world_below(w, 8) == 0;
    char line[96];
    const char *wrong;

    if (!at->runs || world_is_stopped(w, i) || !world_view(w) || at->node.view.number != world_view(w)->number ||
        (add && m->added_us &&
         w->now_us - m->added_us < (w->mix.comes_and_goes ? 300000
                                    : w->conf->focus      ? 2000000
                                                          : 15000000))) /* the last addition may still be in progress */
        return false;
    snprintf(line, sizeof line, "MEMBER %s %s %s\n", add ? "ADD" : "REMOVE", m->name,
             add     ? m->address
             : force ? "FORCE"
                     : "");
    checks_asked(w, k, add, 1);
    wrong = conns_operate(w, i, line); /* a member alone makes the change at once, during this call */
    world_trace(w, "%s shall be %s: %s", m->name, add ? "added" : "removed", wrong ? wrong : "asked for");
    m->added_us = add ? w->now_us : 0;
    if (wrong)
        checks_asked(w, k, add, -1);
    if (add && !wrong && i != k)
        faults_prepare(w, k);
    return !wrong;
}

static void faults_change_any(struct world *w)
{
    faults_change_roster(w, (uint32_t)world_below(w, w->n), (uint32_t)world_below(w, w->n));
}

static bool faults_leads(const struct world *w, uint32_t i)
{
    return w->machine[i].runs && w->machine[i].node.agree && agree_leads(w->machine[i].node.agree);
}

static bool faults_has_holder(const struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < w->clients; k++)
        if (w->client[k].machine == i && w->client[k].holds)
            return true;
    return false;
}

/* The hard case for changes of the roster (I28). The victim reaches a part of the others. An operator removes the members that it reaches one
 * after the other, as fast as possible and the leader last, and the victim is stopped meanwhile. So its lease rests on members that are no longer
 * counted. */
static void faults_squeeze_begin(struct world *w, uint32_t victim)
{
    struct soak_squeeze *q = &w->squeeze;
    uint32_t k, count = 0;

    *q = (struct soak_squeeze){.active = true, .victim = victim, .began_us = w->now_us};
    for (k = 0; k < w->n; k++)
        if (k != victim && world_is_member(w, k)) {
            uint32_t at = (uint32_t)world_below(w, ++count);

            q->order[count - 1] = q->order[at];
            q->order[at] = k;
        }
    for (k = 0; k < count; k++)
        if (faults_leads(w, q->order[k])) {
            uint32_t leader = q->order[k];

            q->order[k] = q->order[count - 1];
            q->order[count - 1] = leader;
            break;
        }
    q->next = count / 2;
    q->count = count;
    q->due_us = w->now_us + (500 + world_below(w, 250)) * SOAK_LEASE_MS;
    q->stop_us = w->now_us + (860 + world_below(w, 100)) * SOAK_LEASE_MS;
    for (k = 0; k < q->next; k++)
        w->pipe[victim][q->order[k]].blocked = w->pipe[q->order[k]][victim].blocked = true;
    w->report->cuts++;
    world_trace(w, "%s is squeezed", w->machine[victim].name);
}

static void faults_squeeze(struct world *w)
{
    struct soak_squeeze *q = &w->squeeze;
    uint32_t i = (uint32_t)world_below(w, w->n);

    for (uint32_t k = 0; k < w->n && !q->active; k++) /* first add the members again that were removed the last time */
        if (!world_is_member(w, k)) {
            faults_change_roster(w, k, i);
            return;
        }
    if (!q->active) {
        if (world_is_whole(w) && !faults_leads(w, i) && w->machine[i].drift_ppm <= 0 &&
            (faults_has_holder(w, i) || !world_below(w, 20)))
            faults_squeeze_begin(w, i);
    } else if (w->now_us - q->began_us > 3000 * SOAK_LEASE_MS) {
        faults_heal(w);
        q->active = false;
    } else if (!q->stopped && w->now_us >= q->stop_us) {
        q->stopped = true;
        faults_stop_if_runs(w, q->victim, 3 * SOAK_LEASE_MS);
    } else if (q->next < q->count && w->now_us >= q->due_us && i != q->victim &&
               (q->next == q->count / 2 || !world_is_member(w, q->order[q->next - 1])) &&
               faults_change_roster(w, q->order[q->next], i)) {
        q->next++;
    }
}

/* An operator adds and removes one member again and again. The member at which the operator makes a request is cut off when other members have
 * heard of the request. Then the opposite is requested at another member. When the first member is reached again, it does not know whether its request was
 * granted, and must not send it again. */
static void faults_come_and_go(struct world *w)
{
    struct soak_squeeze *q = &w->squeeze;
    uint32_t k = w->n - 1, i = (uint32_t)world_below(w, k);

    if (!q->active) {
        bool comes = !world_is_member(w, k);

        if (!faults_leads(w, i) && world_below(w, 10) == 0 && faults_change_roster(w, k, i))
            *q = (struct soak_squeeze){.active = true,
                                       .comes = comes,
                                       .victim = i,
                                       .due_us = w->now_us + (50 + world_below(w, 200)) * SOAK_LEASE_MS};
    } else if (q->due_us && w->now_us >= q->due_us) {
        uint64_t span_ms = (1 + world_below(w, 4)) * SOAK_LEASE_MS;

        faults_cut_off(w, 1u << q->victim, span_ms);
        q->due_us = 0;
        q->stop_us = w->now_us + 1000 * span_ms;
    } else if (!q->due_us && !q->stopped && w->now_us < q->stop_us) {
        q->stopped = world_is_member(w, k) == q->comes && i != q->victim && faults_change_roster(w, k, i);
    } else if (!q->due_us && w->now_us > q->stop_us + 1500 * SOAK_LEASE_MS) {
        q->active = false;
    }
}

/* A kept session is to move to a member. At this moment that member shuts down, and is started again. Meanwhile a third member receives nothing from the
 * owner, so it hears of the move after all other members have given the move up. */
static void faults_move(struct world *w)
{
    uint32_t owner, next, third = (uint32_t)world_below(w, w->n);

    if (!kept_find_move(w, &owner, &next) || third == owner || third == next || faults_leads(w, owner) ||
        w->machine[next].leave_by_ms || w->now_us < w->squeeze.due_us)
        return;
    w->squeeze.due_us = w->now_us + 2500 * SOAK_LEASE_MS;
    w->pipe[owner][third].blocked = true;
    world_trace(w, "cut, from %s to %s", w->machine[owner].name, w->machine[third].name);
    machine_leave(w, next);
    world_plan(w, (600 + world_below(w, 600)) * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
}

/* A view has opened at machine `i`, and not yet at another machine, which from now on receives nothing from machine `i` for a while. So in the next view
 * the other machine does not know what machine `i` has done in this view. */
void faults_opened(struct world *w, uint32_t i)
{
    uint32_t j = w->mix.redis && !w->calm ? (uint32_t)world_below(w, w->n) : i;

    if (w->mix.kinds && !w->calm)
        kinds_hush(w, i);
    if (j == i || !w->machine[j].runs || w->machine[j].node.locks.open || faults_leads(w, i) ||
        w->machine[j].node.view.number != w->machine[i].node.view.number || w->now_us < w->squeeze.due_us)
        return;
    w->squeeze.due_us = w->now_us + 1000 * SOAK_LEASE_MS;
    w->pipe[i][j].blocked = true;
    world_trace(w, "cut, from %s to %s", w->machine[i].name, w->machine[j].name);
    world_plan(w, (300 + world_below(w, 900)) * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
}

/* All members but one crash, and are started again before the lease of that one has run out; it is cut off meanwhile. The new processes have forgotten
 * their promises to it: only their journals, and the promise that each assumes to have given (src/member, protocol 2), keep them from excluding it too early.
 * If they are started with another lease, they may crash once more. */
void faults_crash_others(struct world *w, uint32_t spared)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->machine[i].runs && i != spared) {
            w->report->crashes++;
            machine_crash(w, i);
        }
}

static void faults_reborn(struct world *w)
{
    uint32_t spared = (uint32_t)world_below(w, w->n);

    if (w->again_us && w->now_us >= w->again_us) {
        w->again_us = 0;
        faults_crash_others(w, w->spared);
    }
    if (world_below(w, 100) || !world_is_whole(w))
        return;
    faults_cut_off(w, 1u << spared, 2 * SOAK_LEASE_MS);
    if (w->conf->focus == SOAK_LEASE) {
        w->lease_ms = w->lease_ms == SOAK_LEASE_MS ? SOAK_LEASE_MS / 4 : SOAK_LEASE_MS;
        w->again_us = world_below(w, 2) ? w->now_us + world_below(w, 500 * SOAK_LEASE_MS) : 0;
        w->spared = spared;
    }
    faults_crash_others(w, spared);
}

/* The whole network fails, for about as long as sessions are kept. No majority is left to exclude a member, so all go on in the same view and no kept session
 * gets another owner: mistakes that an owner makes when its lease runs out stay visible. */
static void faults_outage(struct world *w)
{
    if (world_below(w, 200) || !world_is_whole(w))
        return;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->n; k++)
            w->pipe[i][k].blocked = i != k;
    w->report->cuts++;
    world_trace(w, "the network fails");
    world_plan(w, 1000 * (2 + world_below(w, 6)) * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
}

/* A machine stops together with its clock, as a virtual machine does while it is moved to another host. */
static void faults_standstill(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);
    struct soak_machine *m = &w->machine[i];
    uint64_t span_ms = SOAK_LEASE_MS / 2 + world_below(w, 3 * SOAK_LEASE_MS);

    if (world_below(w, 100) || !world_is_whole(w) || m->node.locks.view.n < 2)
        return;
    for (uint32_t k = 0; k < w->n; k++)
        if (world_is_stopped(w, k))
            return;
    faults_stop(w, i, span_ms);
    m->stood_us += 1000 * span_ms;
    m->stands_us = w->now_us;
    m->stills = m->node.stills + 1;
    world_trace(w, "so does the clock of %s", m->name);
}

/* Draws whether each kind of fault happens now, and plans the next call in 10 ms. */
void faults_happen(struct world *w)
{
    const struct {
        uint32_t rate;
        void (*happen)(struct world *w);
    } kinds[] = {{w->mix.crash, faults_crash},
                 {w->mix.leave, faults_leave},
                 {w->mix.pause, faults_pause},
                 {w->mix.cut, faults_cut},
                 {w->mix.breaks, faults_break},
                 {w->mix.kill_client, faults_kill_client},
                 {w->mix.disturb_client, faults_disturb_client},
                 {w->mix.evict, faults_evict},
                 {w->mix.roster, faults_change_any}};

    if (w->conf->rolling)
        rolling_happen(w);
    if (w->calm || w->conf->rolling)
        return;
    if (w->mix.squeeze)
        faults_squeeze(w);
    if (w->mix.comes_and_goes)
        faults_come_and_go(w);
    if (w->mix.moves)
        faults_move(w);
    if (w->mix.reborn)
        faults_reborn(w);
    if (w->mix.standstill)
        faults_standstill(w);
    if (w->mix.outage)
        faults_outage(w);
    if (w->mix.barriers)
        barriers_happen(w);
    if (w->mix.config || w->mix.policies || w->mix.rights)
        operators_happen(w);
    if (w->conf->focus == SOAK_EXILES)
        faults_exile(w);
    if (w->mix.agents && world_below(w, 6000) < 60)
        relays_trouble(w);
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (world_below(w, 6000) < kinds[k].rate * (w->now_us < w->burst_us ? BURST_RATE : 1)) {
            kinds[k].happen(w);
            if (w->mix.bursts && w->now_us >= w->burst_us && world_below(w, 8) == 0)
                w->burst_us = w->now_us + world_below(w, BURST_US_MAX);
        }
    world_plan(w, 10000, SOAK_FAULT, 0, 0);
}

void faults_end(struct world *w)
{
    faults_heal(w);
    for (uint32_t i = 0; i < w->n; i++)
        if (!w->machine[i].runs)
            world_plan(w, 0, SOAK_START, i, 0);
}
