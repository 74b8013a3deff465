/* changes.c - clients of a soak that change the mode in which they hold a lock (UPGRADE, DOWNGRADE), up to a few times before they
 * release it. Some of them have kept sessions (kept.c; with libdibs, library.c). The connections of these break while they wait, and
 * RESUMED then tells them whether they hold the lock exclusively. Members crash when some other members have heard of the change, and some have not.
 *
 * A client shares a lock from the moment at which it sends DOWNGRADE, and holds it exclusively from the moment at which it hears that its UPGRADE was
 * granted: then no other client may believe in it (beliefs.c). Fences grow (clients_check_fence). A client may wait for its
 * UPGRADE without limit: when the faults have ended, it must be answered. A remote client confirms while it waits (MEANWHILE CONFIRM). With version 2
 * of the protocol it cannot: it confirms before it sends UPGRADE, and limits its wait. An UPGRADE that only tries would not do, since its answer could
 * take three leases. */
#include "world.h"

#include "node/keep_inside.h"

#include <stdio.h>

enum { CHANGES_MAX = 4, REMOTE_WAIT_MS = SOAK_LEASE_MS / 2, STRIKE_US = 40000 };

static void changes_upgrade(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    char fence[24], wait[24];
    const char *words[5] = {"UPGRADE", clients_names[c->name], fence};
    size_t count = world_below(w, 2) ? 2 : 3;
    bool patient = w->conn[c->conn].local || c->protocol == 3;

    snprintf(fence, sizeof fence, "%llu", (unsigned long long)c->fence);
    if (!patient || world_below(w, 2)) {
        uint64_t wait_ms = world_below(w, 4) ? world_below(w, REMOTE_WAIT_MS) : 0;

        snprintf(wait, sizeof wait, "%llu", (unsigned long long)(patient || wait_ms ? wait_ms : 1));
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    if (!patient)
        clients_ask_confirm(w, c);
    world_trace(w, "client %u wants %s for itself", k, clients_names[c->name]);
    c->upgrades = true;
    clients_say(w, c, SOAK_TO_UPGRADE, words, count);
}

bool changes_act(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    const char *words[2] = {"DOWNGRADE", c->holds ? clients_names[c->name] : NULL};

    if (!w->mix.changes || !c->holds ||
        nested_is_open(c)) /* else it would release its second grant by the fence before the change */
        return false;
    if (!c->changing) {
        if (w->calm || c->slots || c->changes == CHANGES_MAX || c->mode > LOCK_SHARED || world_below(w, 4) == 0)
            return false;
        c->changes++;
        if (c->mode == LOCK_SHARED) {
            changes_upgrade(w, k);
        } else {
            world_trace(w, "client %u shares %s from now on", k, clients_names[c->name]);
            c->mode = LOCK_SHARED;
            clients_say(w, c, SOAK_TO_DOWNGRADE, words, 2);
        }
        c->changing = true;
    }
    clients_plan(w, k, world_below(w, 2 * w->mix.hold_ms + 1));
    return true;
}

/* A lock was downgraded. It counts as granted now, since clients that wait to share it may be granted it from now on. */
void changes_ran(struct world *w, struct soak_conn *x)
{
    const char *name = clients_names[x->name];
    uint32_t mode = w->mix.changes && x->holds ? session_find(x->end->session, name, strlen(name), 0)->mode : x->mode;

    if (mode != x->mode)
        x->held_us = w->now_us;
    x->mode = mode;
}

void changes_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    bool mine = c->holds && a->fence == c->fence;

    c->changing = c->upgrades = false;
    if (r->kind == '-' && strncmp(r->word[0].at, "ERR ", 4) == 0)
        world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
    if (r->kind == '-' && (strncmp(r->word[0].at, "LOST ", 5) == 0 || strncmp(r->word[0].at, "NOTHELD ", 8) == 0)) {
        if (mine)
            clients_lose(w, k);
        return;
    }
    if (r->kind == '-' && strncmp(r->word[0].at, "DEADLOCK ", 9) == 0)
        w->report->deadlocks++;
    if (r->kind != '*' || !mine)
        return;
    world_trace(w, "client %u has %s for itself", k, clients_names[c->name]);
    c->mode = LOCK_ALONE;
    c->fence = r->word[1].number;
    if (beliefs_holds(w, c))
        beliefs_check(w, k, c->name);
}

/* A connection that has resumed its session makes its first request about a lock that the session holds. */
void changes_asked(struct world *w, struct soak_conn *x, const struct claim *request)
{
    int name = clients_find_name(request->name, request->name_len);

    if (!x->holds || x->name != name || x->mode != request->other->mode)
        x->held_us = w->now_us;
    x->name = name;
    x->mode = request->other->mode;
    x->slots = 0;
    x->tries = false;
    x->holds = true;
}

bool changes_resumed(struct world *w, uint32_t k, uint64_t fence)
{
    struct soak_client *c = &w->client[k];

    if (!c->upgrades || fence < c->fence)
        return false;
    world_trace(w, "client %u has %s for itself, with its session", k, clients_names[c->name]);
    c->mode = LOCK_ALONE;
    c->fence = fence;
    return true;
}

/* The client of this session loses its connection, and resumes the session at once. */
static bool changes_disconnect(struct world *w, const struct session *s)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        struct soak_client *c = &w->client[k];

        if (c->kept && c->conn >= 0 && w->conn[c->conn].end && w->conn[c->conn].end->session == s) {
            uint32_t machine = c->machine;

            clients_hang_up(w, k);
            c->machine = machine;
            clients_plan(w, k, 1);
            return true;
        }
    }
    return false;
}

/* The owner of a session has just sent letters about a changed mode. One other member receives nothing from it, and the owner crashes soon: before
 * any other member has heard of the change, or when some have. In some cases the client resumes its session before the crash. */
void changes_look(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    uint64_t span_us = STRIKE_US;
    uint32_t j;

    if (!w->mix.changes || w->calm || w->conf->rolling || !m->runs || w->n < 2)
        return;
    for (const struct ring *r = m->node.keep.own.next; r != &m->node.keep.own; r = r->next) {
        const struct keep_session *e = RING_OF(r, struct keep_session, in_own);

        if (e->changed <= m->node.keep.acked || e->changed == m->changed)
            continue;
        m->changed = e->changed;
        if (world_below(w, 4) || w->now_us < w->squeeze.due_us)
            return;
        j = (i + 1 + (uint32_t)world_below(w, w->n - 1)) % w->n;
        w->squeeze.due_us = w->now_us + 2000 * SOAK_LEASE_MS;
        w->pipe[i][j].blocked = true;
        world_trace(w, "cut, from %s to %s, amid a change of a mode", m->name, w->machine[j].name);
        world_plan(w, (300 + world_below(w, 900)) * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
        if (world_below(w, 2) && changes_disconnect(w, e->session))
            span_us = 500 * SOAK_LEASE_MS;
        if (world_below(w, 4))
            world_plan(w, world_below(w, span_us), SOAK_FAULT, 1 + i, 0);
        return;
    }
}
