/* hoards.c - clients of a soak that hold many locks at once, so that a change of the view, or the end of a lease, meets many
 * holders. See soak.h.
 *
 * Every machine has one such client. It takes locks of a common pool, one after the other, and releases one now and then. Half of
 * these clients are simple: each believes in a lock until it is told of the loss, which it hears at once. The
 * others use CONFIRM, and read nothing but its answers: each believes in a lock for as long as the last answer says.
 *
 * A daemon takes many locks away in pieces, and each piece takes its time. When a daemon gives its locks up, no other
 * member grants one of them before all clients have been told. When its lease has run out, the telling may last longer than the
 * promises of the other members, and the simple clients believe for too long: the daemon has not vouched for their locks
 * (src/member/README.md, what is not promised). The clients that use CONFIRM do not. */
#include "world.h"

#include "node/session.h"

#include <stdlib.h>

static void hoards_plan(struct world *w, uint32_t i)
{
    world_plan(w, 1000 + world_below(w, w->mix.crowd ? 4000 : 60000), SOAK_HOARD, i, 0)->generation =
        w->machine[i].process;
}

void hoards_open(struct world *w, uint32_t i)
{
    struct soak_hoard *h = &w->hoard[i];

    *h = (struct soak_hoard){.confirms = i % 2 && w->mix.turn_us};
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

static bool hoards_is_of_slow(const struct world *w, uint32_t k)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (machine_is_slow(w, i) && w->hoard[i].since_us[k])
            return true;
    return false;
}

/* Draws what the client does next: it requests a lock, or releases one, or does nothing. */
static void hoards_choose(struct world *w, struct soak_hoard *h, char *line, size_t size)
{
    uint32_t k = (uint32_t)world_below(w, SOAK_HOARD_FEW);
    uint64_t wait_ms = world_below(w, 2) ? 0 : world_below(w, 1000);
    char name[24];

    hoards_name(k, name, sizeof name);
    if (!h->since_us[k]) {
        snprintf(line, size, "LOCK %s WAIT %llu\n", name, (unsigned long long)wait_ms);
    } else if (world_below(w, 3) == 0) {
        h->since_us[k] = h->believes_us[k] = 0;
        snprintf(line, size, "UNLOCK %s\n", name);
    }
}

/* Slow members have very many locks, and clients of the others wait for these, and release them soon. */
static void hoards_choose_of_crowd(struct world *w, uint32_t i, char *line, size_t size)
{
    struct soak_hoard *h = &w->hoard[i];
    bool slow = machine_is_slow(w, i);
    uint32_t k = (uint32_t)world_below(w, SOAK_HOARD_MAX);
    char name[24];

    for (uint32_t tries = 0; !slow && tries < 8 && !h->since_us[k] && !hoards_is_of_slow(w, k); tries++)
        k = (uint32_t)world_below(w, SOAK_HOARD_MAX);
    hoards_name(k, name, sizeof name);
    if (!h->since_us[k]) {
        snprintf(line, size, "LOCK %s WAIT %u\n", name, slow ? 2 : 4 * SOAK_LEASE_MS);
    } else if (world_below(w, slow ? 100 : 2) == 0) {
        h->since_us[k] = h->believes_us[k] = 0;
        snprintf(line, size, "UNLOCK %s\n", name);
    }
}

static void hoards_say(struct world *w, uint32_t i, const char *line)
{
    world_step_node(
        w, i,
        (struct node_input){
            .type = NODE_CLIENT_BYTES, .client = w->hoard[i].end, .bytes = (const uint8_t *)line, .len = strlen(line)});
}

/* May the client of machine `i` still believe in its lock although the service no longer vouches for it? See beliefs.c. */
static bool hoards_is_excused(const struct world *w, uint32_t i, uint32_t k)
{
    const struct soak_machine *m = &w->machine[i];
    const struct soak_hoard *h = &w->hoard[i];

    return w->mix.wild_clocks || h->dazed[k] || m->stands_us > h->since_us[k] ||
           (!h->confirms && (m->thaws_us > h->since_us[k] || machine_tells_late(w, i)));
}

static bool hoards_believes(const struct world *w, uint32_t i, uint32_t k)
{
    const struct soak_hoard *h = &w->hoard[i];

    return h->confirms ? w->now_us < h->believes_us[k] : h->since_us[k];
}

/* The client of machine `i` begins, or goes on, to believe in a lock. */
static void hoards_check(struct world *w, uint32_t i, uint32_t k)
{
    for (uint32_t j = 0; j < w->n && !hoards_is_excused(w, i, k); j++)
        if (j != i && hoards_believes(w, j, k) && !hoards_is_excused(w, j, k))
            world_fail(w, "hoard-%u is held by a client of %s and now by one of %s", k, w->machine[j].name,
                       w->machine[i].name);
}

/* The client asks whether it holds its locks, and the answer is a number of milliseconds on the slowest clock. It has heard what its daemon
 * has told it before. */
static void hoards_confirm(struct world *w, uint32_t i)
{
    struct soak_hoard *h = &w->hoard[i];
    const struct bytes *out = &h->end->out;
    size_t start = out->end;
    uint64_t ms;

    hoards_say(w, i, "CONFIRM\n");
    if (w->machine[i].doomed || out->end < out->start + 4)
        return;
    for (start = out->end - 2; start > out->start && out->at[start - 1] != '\n';)
        start--;
    ms = out->at[start] == ':' ? strtoull((const char *)out->at + start + 1, NULL, 10) : 0;
    for (uint32_t k = 0; k < SOAK_HOARD_MAX && ms; k++)
        if (h->since_us[k]) {
            h->believes_us[k] = w->now_us + 1000 * ms * 20 / 19;
            hoards_check(w, i, k);
        }
}

void hoards_act(struct world *w, const struct soak_event *e)
{
    struct soak_machine *m = &w->machine[e->a];
    struct soak_hoard *h = &w->hoard[e->a];
    char line[64] = "";

    if (!m->runs || m->process != e->generation || w->calm)
        return;
    world_step_node(w, e->a, (struct node_input){.type = NODE_TIME}); /* the daemon may take locks away */
    if (!m->doomed && !session_is_busy(h->end->session)) {
        if (h->confirms && h->acts == 0)
            hoards_say(w, e->a, "HELLO 3\n");
        if (h->confirms && h->acts++ % 4 == 0)
            hoards_confirm(w, e->a);
        if (w->mix.crowd)
            hoards_choose_of_crowd(w, e->a, line, sizeof line);
        else
            hoards_choose(w, h, line, sizeof line);
    }
    if (!m->doomed)
        hoards_plan(w, e->a);
    if (*line && !m->doomed)
        hoards_say(w, e->a, line);
    world_finish_step(w, e->a);
}

static void hoards_check_grant(struct world *w, uint32_t i, uint32_t k, const struct node_event *e)
{
    hoards_check(w, i, k);
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
