/* operators.c - operators that set the lease on which the members agree, and what is checked of it (node/agreed.h).
 *
 * The hard cases: a member is cut off or stopped shortly after a change has begun, while its clients rely on what was vouched for
 * before; and then all others crash, perhaps, and are back before its lease has run out. Or it does not hear from the leader, and so not
 * of the new view, while others acknowledge its heartbeats; and then it is stopped. In some seeds one machine has an earlier
 * build, which knows of no agreed settings: then nothing may be agreed while it takes part. */
#include "world.h"

#include "node/agreed.h"

#include <stdio.h>
#include <string.h>

void operators_draw(struct world *w)
{
    struct soak_mix *m = &w->mix;

    *m = (struct soak_mix){.delay_us = 30,
                           .jitter_us = world_below(w, 2) ? (uint32_t)world_below(w, 3000) : 0,
                           .drift_ppm = 50000,
                           .crash = world_below(w, 4) ? 0 : 20,
                           .leave = world_below(w, 4) ? 0 : 10,
                           .cut = world_below(w, 4) ? 0 : 20,
                           .breaks = world_below(w, 2) ? 20 : 0,
                           .roster = w->conf->roster ? 30 : 0,
                           .slow = world_below(w, 2) ? 1 + (uint32_t)world_below(w, 30) : 0,
                           .one_name = true,
                           .config = true,
                           .hold_ms = 3000,
                           .think_ms = 20};
    m->amnesia = m->slow && world_below(w, 2);
    m->unsettled = w->conf->seed % 8 == 7 ? 1u << world_below(w, w->n) : 0;
}

/* A machine with a client that holds a lock, if there is one. */
static uint32_t operators_choose_victim(struct world *w)
{
    uint32_t from = (uint32_t)world_below(w, w->clients);

    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *c = &w->client[(from + k) % w->clients];

        if (c->holds && w->machine[c->machine].runs && !world_is_stopped(w, c->machine))
            return c->machine;
    }
    return (uint32_t)world_below(w, w->n);
}

/* The victim hears nothing from the leader, and is stopped soon. */
static void operators_hide_leader(struct world *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (i != w->spared && w->machine[i].runs && w->machine[i].node.agree && agree_leads(w->machine[i].node.agree)) {
            w->pipe[i][w->spared].blocked = true;
            world_trace(w, "cut, from %s to %s", w->machine[i].name, w->machine[w->spared].name);
        }
    world_plan(w, 2000 * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
}

/* The lease becomes shorter: in some time the victim is stopped, or cut off. */
static void operators_harm_by_shorter(struct world *w)
{
    w->spared = operators_choose_victim(w);
    w->stops = world_below(w, 4);
    w->cut_us = w->now_us + 1 + world_below(w, 400 * SOAK_LEASE_MS);
    w->again_us = world_below(w, 4) ? 0 : w->cut_us + world_below(w, 300 * SOAK_LEASE_MS);
    if (world_below(w, 4))
        operators_hide_leader(w);
}

/* It becomes longer: when it is, perhaps, the victim is cut off, and all others crash. */
static void operators_harm_by_longer(struct world *w)
{
    w->spared = operators_choose_victim(w);
    w->stops = false;
    w->cut_us = w->now_us + 1 + world_below(w, 3500 * SOAK_LEASE_MS);
    w->again_us = w->cut_us + world_below(w, 200 * SOAK_LEASE_MS);
}

static void operators_set(struct world *w)
{
    static const uint32_t leases_ms[] = {SOAK_LEASE_MS / 4, SOAK_LEASE_MS / 2, SOAK_LEASE_MS, 2 * SOAK_LEASE_MS};
    uint32_t i = (uint32_t)world_below(w, w->n), ms = leases_ms[world_below(w, 4)];
    const struct node *node = &w->machine[i].node;
    bool unset = world_below(w, 8) == 0, longer;
    char line[64];
    const char *wrong;

    if (!w->machine[i].runs || world_is_stopped(w, i) || w->alone)
        return;
    if (world_below(w, 2)) /* mostly by much */
        ms = leases_ms[node->conf.lease_ms < SOAK_LEASE_MS ? 3 : 0];
    if (w->mix.unsettled && ms < SOAK_LEASE_MS) /* it could not be taken back: see operators_settle */
        ms = SOAK_LEASE_MS;
    longer = ms > node->conf.lease_ms;
    snprintf(line, sizeof line, unset ? "CONFIG UNSET lease\n" : "CONFIG SET lease %u\n", ms);
    wrong = conns_operate(w, i, line);
    world_trace(w, "the lease shall be %u: %s", unset ? 0 : ms, wrong ? wrong : "asked for");
    if (wrong || world_below(w, 4) == 0)
        return;
    if (longer)
        operators_harm_by_longer(w);
    else
        operators_harm_by_shorter(w);
}

void operators_happen(struct world *w)
{
    if (w->cut_us && w->now_us >= w->cut_us) {
        w->cut_us = 0;
        if (w->stops && w->machine[w->spared].runs && !world_is_stopped(w, w->spared))
            faults_stop(w, w->spared, 2 * SOAK_LEASE_MS);
        else
            faults_cut_off(w, 1u << w->spared, 2 * SOAK_LEASE_MS);
    }
    if (w->again_us && w->now_us >= w->again_us) {
        w->again_us = 0;
        faults_crash_others(w, w->spared);
    }
    if (world_below(w, 60) == 0)
        operators_set(w);
}

/* The faults have ended. An operator sets the usual lease: some clients are so far away that a shorter one is always over when
 * their daemon's answer arrives. Returns whether that is done. */
bool operators_settle(struct world *w)
{
    const struct settings_lease *s = &w->newest.lease;
    const char *wrong = "";

    if (!w->mix.config || w->mix.unsettled ||
        (settings_target_ms(s, SOAK_LEASE_MS) == SOAK_LEASE_MS && !settings_is_under_way(s)))
        return true;
    for (uint32_t i = 0; wrong && i < w->n; i++)
        if (w->machine[i].runs && !world_is_stopped(w, i) && !settings_is_under_way(s))
            wrong = conns_operate(w, i, "CONFIG SET lease 1000\n");
    return false;
}

/* Machine `i` has installed a view. */
void operators_check(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;
    const struct settings_lease *s = &node->view.lease;

    if (node->conf.lease_ms != (s->lease_ms ? s->lease_ms : node->file_lease_ms))
        world_fail(w, "%s uses another lease than its view says", node->conf.name);
    if (node->view.number > w->newest.number && w->newest.number && s->set < w->newest.lease.set)
        world_fail(w, "the lease that was agreed is forgotten in view %llu", (unsigned long long)node->view.number);
    for (uint32_t k = 0; s->set == node->view.number && k < w->n; k++) {
        uint32_t place = view_find_name(&node->view, w->machine[k].name, strlen(w->machine[k].name));

        if (w->mix.unsettled >> k & 1 && place != VIEW_MEMBERS_MAX && node->view.member[place].incarnation)
            world_fail(w, "a lease is agreed, though %s is of an earlier build", w->machine[k].name);
    }
}
