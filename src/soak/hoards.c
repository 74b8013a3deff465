/* hoards.c - clients of a soak that hold many locks at once, so that a change of the view meets many holders. See soak.h.
 *
 * Every machine has one. It takes locks of a common pool, one after the other, and lets go of one now and then. It is a client
 * of the simplest sort: it is told of a loss at once, and believes in a lock until then. */
#include "world.h"

#include "node/session.h"

static void hoards_plan(struct world *w, uint32_t i)
{
    world_plan(w, 1000 + world_below(w, 60000), SOAK_HOARD, i, 0)->generation = w->machine[i].process;
}

void hoards_open(struct world *w, uint32_t i)
{
    struct soak_hoard *h = &w->hoard[i];

    *h = (struct soak_hoard){0};
    if (!w->mix.hoard)
        return;
    h->end = client_open(&w->machine[i].node, NULL);
    hoards_plan(w, i);
}

void hoards_close(struct world *w, uint32_t i)
{
    w->hoard[i] = (struct soak_hoard){0};
}

static size_t hoards_name(uint32_t k, char *name, size_t size)
{
    return (size_t)snprintf(name, size, "hoard-%u", k);
}

/* It takes a lock, or lets go of one, or does nothing. */
static void hoards_choose(struct world *w, struct soak_hoard *h, char *line, size_t size)
{
    uint32_t k = (uint32_t)world_below(w, SOAK_HOARD_MAX);
    uint64_t wait_ms = world_below(w, 2) ? 0 : world_below(w, 1000);
    char name[24];

    hoards_name(k, name, sizeof name);
    if (!h->since_us[k]) {
        snprintf(line, size, "LOCK %s WAIT %llu\n", name, (unsigned long long)wait_ms);
    } else if (world_below(w, 3) == 0) {
        h->since_us[k] = 0;
        snprintf(line, size, "UNLOCK %s\n", name);
    }
}

void hoards_act(struct world *w, const struct soak_event *e)
{
    struct soak_machine *m = &w->machine[e->a];
    struct soak_hoard *h = &w->hoard[e->a];
    char line[64] = "";

    if (!m->runs || m->process != e->generation || w->calm)
        return;
    world_step_node(w, e->a, (struct node_input){.type = NODE_TIME}); /* what has become of its locks */
    if (!m->doomed && !session_is_busy(h->end->session))
        hoards_choose(w, h, line, sizeof line);
    if (!m->doomed)
        hoards_plan(w, e->a);
    if (*line)
        world_step_node(
            w, e->a,
            (struct node_input){
                .type = NODE_CLIENT_BYTES, .client = h->end, .bytes = (const uint8_t *)line, .len = strlen(line)});
    world_settle(w, e->a);
}

/* Is it beyond what is promised that this machine's client still believes in its lock? See clients.c. */
static bool hoards_is_excused(const struct world *w, uint32_t i, uint32_t k)
{
    const struct soak_machine *m = &w->machine[i];
    const struct soak_hoard *h = &w->hoard[i];

    return w->mix.wild_clocks || h->dazed[k] || m->stands_us > h->since_us[k] || m->thaws_us > h->since_us[k];
}

static void hoards_check_grant(struct world *w, uint32_t i, uint32_t k, const struct node_event *e)
{
    for (uint32_t j = 0; j < w->n; j++)
        if (j != i && w->hoard[j].since_us[k] && !hoards_is_excused(w, j, k))
            world_fail(w, "%s is held by a client of %s and now by one of %s", e->name, w->machine[j].name,
                       w->machine[i].name);
    if (!w->mix.wild_clocks && e->fence <= w->hoard_fence[k])
        world_fail(w, "the fence of %s does not grow", e->name);
    w->hoard_fence[k] = e->fence;
}

void hoards_hear(struct world *w, uint32_t i, const struct node_event *e)
{
    struct soak_hoard *h = &w->hoard[i];
    uint32_t k = 0;
    char name[24];

    while (hoards_name(k, name, sizeof name) && strcmp(name, e->name) != 0)
        k++;
    if (e->state == CLAIM_HELD) {
        h->dazed[k] = w->alone || w->machine[i].stills;
        if (!h->dazed[k])
            hoards_check_grant(w, i, k, e);
        h->since_us[k] = w->now_us;
        w->report->grants++;
    }
    if (e->state == CLAIM_LOST) {
        h->since_us[k] = 0;
        w->report->losses++;
        rolling_check_loss(w, i, e->name);
    }
}
