/* several.c - deadlocks of a soak: did each reported cycle exist?
 *
 * several_look notes what the session of each client waits for and holds, at its daemon, with the true time, whenever that may have changed.
 * When a wait ends as the youngest of a cycle, there must be a moment at which every wait of the cycle lasted, and the session of each wait held the lock
 * for which the one before it waits. In these seeds the name of a client is the number of its connection, so the cycle names the connection: the daemon may
 * still have a session of an earlier connection, of which the client no longer knows. */
#include "world.h"

#include <stdlib.h>

static bool several_ended(const struct soak_span *s)
{
    return s->to_us != UINT64_MAX;
}

/* Notes the present span, identified by `number`, and keeps the one before it. 0: the session now waits for no lock, or does not hold this one. */
static void several_note(const struct world *w, struct soak_span span[2], uint64_t number, int name)
{
    if (span[0].number == number)
        return;
    if (span[0].number) {
        span[1] = span[0];
        span[1].to_us = several_ended(&span[0]) ? span[0].to_us : w->now_us;
    }
    span[0] = (struct soak_span){.number = number, .name = name, .from_us = w->now_us, .to_us = UINT64_MAX};
}

void several_look(struct world *w, const struct soak_conn *x, bool ends)
{
    struct soak_several *v = &w->several[x->id % SOAK_SEVERAL_MAX];
    uint64_t wait = 0, fence[SOAK_NAMES] = {0};
    int name = -1;

    if (!w->mix.several)
        return;
    if (v->id != x->id)
        *v = (struct soak_several){.id = x->id};
    for (const struct ring *r = x->end->session->claims.next; !ends && r != &x->end->session->claims; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_session);

        if (c == x->end->session->waiting && c->state == CLAIM_WAITING) {
            wait = c->number;
            name = clients_find_name(c->name, c->name_len);
        } else if (c != x->end->session->waiting && c->state == CLAIM_HELD) {
            fence[clients_find_name(c->name, c->name_len)] = c->fence;
        }
    }
    several_note(w, v->wait, wait, name);
    for (int k = 0; k < SOAK_NAMES; k++)
        several_note(w, v->hold[k], fence[k], k);
}

/* Returns the last span of the lock with this name, which may still last; or null. */
static const struct soak_span *several_find(const struct soak_span span[2], int name)
{
    for (unsigned k = 0; k < 2; k++)
        if (span[k].number && span[k].name == name)
            return &span[k];
    return NULL;
}

void several_told(struct world *w, const struct soak_conn *x, const struct deadlock_cycle *cycle)
{
    uint64_t from_us = 0, to_us = UINT64_MAX;

    w->report->deadlocks++;
    for (unsigned k = 0; k < cycle->count; k++) {
        unsigned before = (k + cycle->count - 1) % cycle->count;
        unsigned long id = strtoul(cycle->hop[k].who, NULL, 10);
        const struct soak_several *v = &w->several[id % SOAK_SEVERAL_MAX];
        const struct soak_span *span[2] = {
            several_find(v->wait, clients_find_name(cycle->hop[k].name, cycle->hop[k].name_len)), NULL};
        int held = clients_find_name(cycle->hop[before].name, cycle->hop[before].name_len);

        span[1] = several_find(v->hold[held], held);
        world_trace(w, "a cycle: connection %lu waits for %s and holds %s", id, cycle->hop[k].name,
                    clients_names[held]);
        for (unsigned j = 0; j < 2; j++) {
            if (!span[j] || v->id != id) {
                world_fail(w, "the wait of client %u ends by a deadlock, in which connection %lu has no part",
                           x->client, id);
                return;
            }
            from_us = from_us > span[j]->from_us ? from_us : span[j]->from_us;
            to_us = to_us < span[j]->to_us ? to_us : span[j]->to_us;
        }
    }
    if (from_us > to_us)
        world_fail(w, "the wait of client %u ends by a deadlock that never was", x->client);
}
