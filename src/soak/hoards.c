/* hoards.c - clients of a soak that hold many locks at once, so that a change of the view meets many holders. See soak.h.
 *
 * Every machine has one. It takes locks of a common pool, one after the other, and lets go of one now and then. It is a client
 * of the simplest sort: it is told of a loss at once, and believes in a lock until then. */
#include "world.h"

#include "node/session.h"

static void hoards_plan(struct world *w, uint32_t i)
{
    world_plan(w, 1000 + world_below(w, 60000), SOAK_HOARD, i, 0)->life = w->machine[i].process;
}

void hoards_open(struct world *w, uint32_t i)
{
    struct soak_hoard *h = &w->hoard[i];

    *h = (struct soak_hoard){0};
    if (!w->mix.hoard)
        return;
    h->session = session_open(&w->machine[i].node, NULL);
    hoards_plan(w, i);
}

void hoards_close(struct world *w, uint32_t i)
{
    if (w->hoard[i].session)
        session_close(w->hoard[i].session);
    w->hoard[i] = (struct soak_hoard){0};
}

static size_t hoards_name(uint32_t k, char *name, size_t size)
{
    return (size_t)snprintf(name, size, "hoard-%u", k);
}

/* It takes a lock, or lets go of one. */
static void hoards_choose(struct world *w, struct soak_hoard *h)
{
    uint32_t k = (uint32_t)world_below(w, SOAK_HOARD_MAX);
    uint64_t wait_ms = world_below(w, 2) ? 0 : world_below(w, 1000);
    char name[24], line[256];
    size_t len = hoards_name(k, name, sizeof name);
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (!h->since_us[k])
        session_lock(h->session, &(struct session_wish){.name = name, .name_len = len, .wait_ms = wait_ms}, &why);
    else if (world_below(w, 3) == 0) {
        h->since_us[k] = 0;
        session_unlock(h->session, name, len, 0);
    }
}

void hoards_act(struct world *w, const struct soak_event *e)
{
    struct soak_machine *m = &w->machine[e->a];
    struct soak_hoard *h = &w->hoard[e->a];

    if (!m->runs || m->process != e->life || w->calm)
        return;
    world_wake(w, e->a);
    if (!m->doomed) {
        clients_take_events(w, e->a); /* what has become of its locks */
        if (!session_is_busy(h->session))
            hoards_choose(w, h);
        hoards_plan(w, e->a);
    }
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
