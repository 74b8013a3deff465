/* operators.c - operators that set the lease and the policies on which the members agree, and what is checked of these settings
 * (node/agreed.h, node/policies.h). In some seeds they set the rights of clients as well (allowed.c).
 *
 * The hard cases. A member is cut off or stopped shortly after a change has begun, while its clients rely on validities from before
 * the change. In some of these cases all other members then crash, and are back before the member's lease has run out. Or the member
 * receives nothing from the leader, and so does not hear of the new view, while other members acknowledge its heartbeats; and then it is
 * stopped. In some seeds one machine has an earlier build, which does not know of agreed settings: then no setting may be agreed on while
 * this machine takes part. */
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
    m->without_settings = w->conf->seed % 8 == 7 ? 1u << world_below(w, w->n) : 0;
    m->policies = w->conf->seed % 3 == 2;
    if (m->policies) {
        m->one_name = false;
        m->hold_ms = 300;
        m->think_ms = 100;
        m->piece = world_below(w, 2) ? 0 : 4;
        m->without_policies = w->conf->seed % 12 == 5 ? 1u << world_below(w, w->n) : 0;
        m->rights = w->conf->seed % 6 == 2;
        m->without_rights = w->conf->seed % 24 == 14 ? 1u << world_below(w, w->n) : 0;
    }
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

/* The victim receives nothing from the leader, and is stopped soon. */
static void operators_hide_leader(struct world *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (i != w->spared && w->machine[i].runs && w->machine[i].node.agree && agree_leads(w->machine[i].node.agree)) {
            w->pipe[i][w->spared].blocked = true;
            world_trace(w, "cut, from %s to %s", w->machine[i].name, w->machine[w->spared].name);
        }
    world_plan(w, 2000 * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
}

/* The lease becomes shorter, or another setting changes: some time later the victim is stopped or cut off. */
void operators_harm_by_shorter(struct world *w)
{
    w->spared = operators_choose_victim(w);
    w->stops = world_below(w, 4);
    w->cut_us = w->now_us + 1 + world_below(w, 400 * SOAK_LEASE_MS);
    w->again_us = world_below(w, 4) ? 0 : w->cut_us + world_below(w, 300 * SOAK_LEASE_MS);
    if (world_below(w, 4))
        operators_hide_leader(w);
}

/* The lease becomes longer. When it has, in some cases, the victim is cut off, and all other members crash. */
static void operators_harm_by_longer(struct world *w)
{
    w->spared = operators_choose_victim(w);
    w->stops = false;
    w->cut_us = w->now_us + 1 + world_below(w, 3500 * SOAK_LEASE_MS);
    w->again_us = w->cut_us + world_below(w, 200 * SOAK_LEASE_MS);
}

static bool operators_can_ask(const struct world *w, uint32_t i)
{
    return w->machine[i].runs && !world_is_stopped(w, i) && !w->alone;
}

bool operators_say(struct world *w, uint32_t i, const char *key, const char *value)
{
    char command[2048];
    const char *wrong;

    if (!operators_can_ask(w, i))
        return false;
    if (value)
        snprintf(command, sizeof command, "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                 strlen(key), key, strlen(value), value);
    else
        snprintf(command, sizeof command, "CONFIG UNSET %s\n", key);
    wrong = conns_operate(w, i, command);
    world_trace(w, "an operator sets the %s: %s\n%s", key, wrong ? wrong : "asked for", value ? value : "none");
    return !wrong;
}

/* Draws the line of a policy for a pattern, or no line. Unless clients dispute the kinds (kinds.c), the kind that a policy fixes suits the
 * requests of all clients: those that name no mode want the lock exclusively. */
static void operators_draw_policy(struct world *w, const char *pattern, const char *const *kinds, char *text,
                                  size_t size)
{
    const struct dme_alg *alone = world_draw_algorithm(w, false), *slots = world_draw_algorithm(w, true);
    size_t len = strlen(text);

    if (world_below(w, 4))
        snprintf(text + len, size - len, "policy %s algorithm=%s slots-algorithm=%s%s\n", pattern, alone->name,
                 slots->name, kinds[world_below(w, 4)]);
}

static void operators_set_policies(struct world *w)
{
    static const char *const quiet[4] = {"", "", " slots=none", " slots=none"},
                             *const two[4] = {"", " slots=2", " slots=2", " slots=none"},
                             *const any[4] = {"", " slots=2", " slots=3", " slots=none"};
    const char *const *alone = w->mix.kinds ? any : quiet;
    uint32_t i = (uint32_t)world_below(w, w->n);
    bool unset = world_below(w, 8) == 0;
    char text[1024] = "";

    operators_draw_policy(w, "apple", alone, text, sizeof text);
    operators_draw_policy(w, "m*", alone, text, sizeof text);
    operators_draw_policy(w, "2?pears", two, text, sizeof text);
    operators_draw_policy(w, w->mix.kinds ? "[fp]*" : "[a-p]*", alone, text, sizeof text); /* not those of hoards.c */
    if (operators_say(w, i, "policies", unset ? NULL : text) && world_below(w, 3))
        operators_harm_by_shorter(w);
}

static void operators_set(struct world *w)
{
    static const uint32_t leases_ms[] = {SOAK_LEASE_MS / 4, SOAK_LEASE_MS / 2, SOAK_LEASE_MS, 2 * SOAK_LEASE_MS};
    uint32_t i = (uint32_t)world_below(w, w->n), ms = leases_ms[world_below(w, 4)];
    const struct node *node = &w->machine[i].node;
    bool unset = world_below(w, 8) == 0, longer;
    char value[16];

    if (!operators_can_ask(w, i))
        return;
    if (world_below(w, 2)) /* half of the changes are large */
        ms = leases_ms[node->conf.lease_ms < SOAK_LEASE_MS ? 3 : 0];
    if (w->mix.without_settings && ms < SOAK_LEASE_MS) /* operators_restore_lease could not take it back */
        ms = SOAK_LEASE_MS;
    longer = ms > node->conf.lease_ms;
    snprintf(value, sizeof value, "%u", ms);
    if (!operators_say(w, i, "lease", unset ? NULL : value) || world_below(w, 4) == 0)
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
    if (w->mix.config && world_below(w, 60) == 0)
        operators_set(w);
    if (w->mix.policies && world_below(w, 40) == 0)
        operators_set_policies(w);
    if (w->mix.rights && world_below(w, w->conf->focus == SOAK_RIGHTS ? 100 : 20) == 0)
        allowed_set(w);
}

/* The faults have ended. An operator sets the usual lease: for some clients, answers take so long that a validity of a shorter lease is
 * always over when it arrives. Returns true if the lease is the usual one. */
bool operators_restore_lease(struct world *w)
{
    const struct settings_lease *s = &w->newest.lease;
    bool asked = false;

    if (!w->mix.config || w->mix.without_settings ||
        (settings_target_ms(s, SOAK_LEASE_MS) == SOAK_LEASE_MS && !settings_is_under_way(s)))
        return true;
    for (uint32_t i = 0; !asked && i < w->n; i++)
        asked = !settings_is_under_way(s) && operators_say(w, i, "lease", "1000");
    return false;
}

/* A machine has installed this view. */
static void operators_check_policies(struct world *w, const struct view *view)
{
    if (view->number > w->newest.number && w->newest.number && view->policies.set < w->newest.policies.set)
        world_fail(w, "the policies that were agreed are forgotten in view %llu", (unsigned long long)view->number);
    for (uint32_t k = 0; view->policies.set == view->number && k < w->n; k++) {
        uint32_t place = view_find_name(view, w->machine[k].name, strlen(w->machine[k].name));

        if ((w->mix.without_settings | w->mix.without_policies) >> k & 1 && place != VIEW_MEMBERS_MAX &&
            view->member[place].incarnation)
            world_fail(w, "policies are agreed, though %s is of an earlier build", w->machine[k].name);
    }
}

/* I16: two members of one view run the lock of this name by the same algorithm; and if both know its kind in the same epoch, it is the
 * same kind. */
static void operators_compare(struct world *w, const struct locks *a, const struct locks *b, const char *name)
{
    size_t len = strlen(name);
    const struct lock *x = locks_find(a, name, len), *y = locks_find(b, name, len);

    for (uint32_t slots = 0; slots <= 2; slots += 2)
        if (locks_algorithm(a, name, len, slots) != locks_algorithm(b, name, len, slots))
            world_fail(w, "I16: %s is run by %s at one member, and by %s at another one of its view", name,
                       locks_algorithm(a, name, len, slots)->name, locks_algorithm(b, name, len, slots)->name);
    if (x && y && x->view == a->number && y->view == b->number && x->known && y->known && x->epoch == y->epoch &&
        x->slots != y->slots)
        world_fail(w, "I16: %s has %u slots at one member, and %u at another one of its view", name, x->slots,
                   y->slots);
}

void operators_look(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    allowed_look(w, i);
    for (uint32_t k = 0; (w->mix.policies || w->mix.kinds) && node->takes_part && k < w->n; k++) {
        const struct node *other = &w->machine[k].node;

        if (k == i || !w->machine[k].runs || !other->takes_part || other->view.number != node->view.number ||
            !node->locks.open || !other->locks.open)
            continue;
        for (unsigned name = 0; name < SOAK_NAMES; name++)
            operators_compare(w, &node->locks, &other->locks, clients_names[name]);
    }
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

        if (w->mix.without_settings >> k & 1 && place != VIEW_MEMBERS_MAX && node->view.member[place].incarnation)
            world_fail(w, "a lease is agreed, though %s is of an earlier build", w->machine[k].name);
    }
    operators_check_policies(w, &node->view);
    allowed_check(w, &node->view);
}
