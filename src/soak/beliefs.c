/* beliefs.c - which clients believe in a lock, and whether they may do so at the same time (promise 1 of docs/failures.md).
 *
 * When a client begins to believe in a lock, or its library begins to call the lock safe, the client is compared with every other client
 * that believes in the same lock. Clients of all sorts are compared: clients.c, kept.c, tokens.c and library.c say what each believes. */
#include "world.h"

#include "core/alg.h"

bool beliefs_holds(const struct world *w, const struct soak_client *c)
{
    return c->holds && w->now_us < c->believes_to_us;
}

/* Does this client believe that it holds this lock? Then `u` says how. */
static bool beliefs_use(const struct world *w, uint32_t k, int name, struct soak_use *u)
{
    const struct soak_client *c = &w->client[k];

    if (c->library) {
        *u = *library_use(c, name);
        return library_believes(w, k, name);
    }
    if (c->agent) {
        *u = tokens_use(w, c);
        return tokens_believes(w, k, name);
    }
    *u = (struct soak_use){
        .dazed = c->dazed, .mode = c->mode, .slots = c->slots, .fence = c->fence, .since_us = c->since_us};
    return c->name == name && beliefs_holds(w, c);
}

/* May this client believe in its lock although the service no longer vouches for it? It may if clocks drift by more than the
 * assumed bound; or if it does not use CONFIRM, and its daemon could not tell it of the loss in time, because the daemon was stopped
 * while the client held the lock, or had many clients to tell. */
static bool beliefs_is_excused(const struct world *w, const struct soak_client *c, const struct soak_use *u)
{
    const struct soak_machine *m = &w->machine[c->machine];

    return w->mix.wild_clocks || u->dazed || m->stands_us > u->since_us ||
           (!c->confirms && (m->thaws_us > u->since_us || machine_tells_late(w, c->machine)));
}

/* May this client go on with its work, as the holder of the lock? It may if it believes in the lock, or if its library says that the lock, which is in
 * doubt, is safe. Then `u` says how it holds the lock. */
static bool beliefs_relies(const struct world *w, uint32_t k, int name, struct soak_use *u)
{
    const struct soak_client *c = &w->client[k];

    if (beliefs_use(w, k, name, u))
        return !beliefs_is_excused(w, c, u);
    return c->library && library_is_safe(w, k, name);
}

void beliefs_check(struct world *w, uint32_t me, int name)
{
    struct soak_use mine, its;
    uint32_t together = 1;

    library_catch_up(w);
    if (!beliefs_use(w, me, name, &mine) || beliefs_is_excused(w, &w->client[me], &mine))
        return;
    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *other = &w->client[k];
        const char *doubt;

        if (k == me || !beliefs_relies(w, k, name, &its))
            continue;
        together++;
        doubt = other->library && !library_believes(w, k, name) ? ", in doubt and safe" : "";
        if (its.slots != mine.slots)
            world_fail(w, "%s is held in two kinds%s", clients_names[name], doubt);
        if (!mine.slots && !dme_compatible(mine.mode, its.mode))
            world_fail(w, "%s is held by a client of %s (fence %llu%s) and now by one of %s (fence %llu)",
                       clients_names[name], w->machine[other->machine].name, (unsigned long long)its.fence, doubt,
                       w->machine[w->client[me].machine].name, (unsigned long long)mine.fence);
    }
    if (mine.slots && together > mine.slots)
        world_fail(w, "%s has %u holders, and %u slots", clients_names[name], together, mine.slots);
}

void beliefs_renew(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    bool believed = beliefs_holds(w, c);

    c->believes_to_us = c->vouched_us;
    if (!believed && beliefs_holds(w, c))
        beliefs_check(w, k, c->name);
}
