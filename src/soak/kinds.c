/* kinds.c - which lock a client of a soak requests, and as what kind (clients.c).
 *
 * In the case SOAK_KINDS clients dispute the kinds of all names (I16). They request a lock shared, in one of two groups, with two or three
 * slots, or without any of these words; and with priorities. A client that is refused may request the lock next as the kind that the refusal names. In
 * every other seed operators set policies that fix the kinds of these names, or take the policies back (operators.c). Some clients have kept sessions
 * or tokens, or change the modes of their locks.
 *
 * The hard case (kinds_hush): a view has opened at the home of a name, and the home receives nothing from another member for a while. So it does not know
 * whether clients of that member have held the lock since an earlier view, while clients that request several kinds wait. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t kinds_maybe(struct world *w, uint32_t most)
{
    return world_below(w, 2) ? 1 + (uint32_t)world_below(w, most) : 0;
}

void kinds_draw(struct world *w)
{
    w->mix =
        (struct soak_mix){.delay_us = 20 + (uint32_t)world_below(w, 2000),
                          .jitter_us = kinds_maybe(w, 30000),
                          .drift_ppm = world_below(w, 2) ? 50000 : 0,
                          .crash = kinds_maybe(w, 4),
                          .leave = kinds_maybe(w, 8),
                          .pause = kinds_maybe(w, 4),
                          .cut = kinds_maybe(w, 10),
                          .breaks = kinds_maybe(w, 60),
                          .kill_client = kinds_maybe(w, 60),
                          .disturb_client = 60 + (uint32_t)world_below(w, 240), /* kept sessions move: views change */
                          .evict = kinds_maybe(w, 60),
                          .roster = w->conf->roster ? 20 : 0,
                          .bursts = world_below(w, 3) == 0,
                          .policies = w->conf->seed % 2,
                          .kinds = true,
                          .hold_ms = 20 + (uint32_t)world_below(w, 200),
                          .think_ms = 20 + (uint32_t)world_below(w, 400)};
}

/* The lock of this name at the machine, if that is the home of the name in its view; or null. */
static const struct lock *kinds_at_home(const struct world *w, uint32_t i, int name)
{
    const struct locks *l = &w->machine[i].node.locks;
    const struct lock *lock =
        w->machine[i].runs ? locks_find(l, clients_names[name], strlen(clients_names[name])) : NULL;

    return lock && l->view.n > 1 && (lock->hash >> 32) % l->view.n == l->view.self ? lock : NULL;
}

void kinds_hush(struct world *w, uint32_t i)
{
    uint32_t first = (uint32_t)world_below(w, SOAK_CONNS_MAX);

    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        const struct soak_conn *x = &w->conn[(first + k) % SOAK_CONNS_MAX];

        if (!x->id || !x->end || !x->holds || !x->slots || x->machine == i || !kinds_at_home(w, i, x->name))
            continue;
        w->hush.machine = i;
        w->hush.name = x->name;
        w->hush.until_us = w->now_us + (200 + world_below(w, 700)) * SOAK_LEASE_MS;
        w->pipe[x->machine][i].blocked = true;
        world_trace(w, "cut, from %s to %s, the home of %s", w->machine[x->machine].name, w->machine[i].name,
                    clients_names[x->name]);
        world_plan(w, w->hush.until_us - w->now_us, SOAK_HEAL, 0, 0);
        return;
    }
}

static const char *const kinds_number[] = {"", "1", "2", "3"};

static size_t kinds_say_slots(struct soak_client *c, uint32_t slots, const char **words)
{
    c->slots = slots;
    words[0] = "SLOTS";
    words[1] = kinds_number[slots];
    return 2;
}

static size_t kinds_say_group(struct soak_client *c, const char *group, const char **words)
{
    const char *name = clients_names[c->name];

    c->mode = lock_group_mode(name, strlen(name), group, strlen(group));
    words[0] = "GROUP";
    words[1] = group;
    return 2;
}

/* In the hard case, a client of the home aims its request. If no client of the home uses the lock, this one requests another kind than the lock has. If a
 * client that has requested another kind waits there, this one requests the kind of the lock, and may overtake it. Returns 0 if there is nothing to aim at. */
static size_t kinds_aim(struct world *w, struct soak_client *c, const char **words)
{
    const struct lock *lock = w->now_us < w->hush.until_us && c->machine == w->hush.machine
                                  ? kinds_at_home(w, c->machine, w->hush.name)
                                  : NULL;
    const struct claim *waits = lock && lock->waiters ? RING_OF(lock->waiting.next, struct claim, in_lock) : NULL;
    uint32_t slots = 0;

    c->aims = false;
    if (!lock || !lock->known || !lock->slots || lock->view != w->machine[c->machine].node.locks.number)
        return 0;
    if (!waits && !lock_next_holder(lock, NULL))
        slots = lock->slots == 2 ? 3 : 2;
    else if (waits && waits->slots != lock->slots)
        slots = lock->slots;
    if (!slots)
        return 0;
    c->aims = true;
    c->name = w->hush.name;
    words[0] = clients_names[c->name];
    return 1 + kinds_say_slots(c, slots, words + 1);
}

static size_t kinds_dispute(struct world *w, struct soak_client *c, const char **words)
{
    uint64_t dice = world_below(w, 8);
    uint32_t named = c->refused;

    c->refused = 0;
    if (named && world_below(w, 4))
        return named > 1 ? kinds_say_slots(c, named - 1, words) : 0;
    switch (dice) {
    case 0:
    case 1:
    case 2:
        return kinds_say_slots(c, 2, words);
    case 3:
        return kinds_say_slots(c, 3, words);
    case 4:
        c->mode = LOCK_SHARED;
        words[0] = "SHARED";
        return 1;
    case 5:
        return kinds_say_group(c, world_below(w, 2) ? "red" : "blue", words);
    default:
        return 0;
    }
}

size_t kinds_choose(struct world *w, struct soak_client *c, const char **words)
{
    size_t count;

    c->mode = LOCK_ALONE;
    c->slots = 0;
    if (w->mix.kinds && (count = kinds_aim(w, c, words)))
        return count;
    c->name = w->mix.slots ? 3 : (int)world_below(w, w->mix.one_name ? 1 : w->mix.changes ? 2 : SOAK_NAMES);
    words[0] = clients_names[c->name];
    if (w->mix.kinds)
        return 1 + kinds_dispute(w, c, words + 1);
    if (c->name == 3 || (c->name == 4 && world_below(w, 2)))
        return 1 + kinds_say_slots(c, 2, words + 1);
    if (!(w->algorithm->rules & 1u << DME_GROUP) || !world_below(w, w->mix.sharing ? 8 : 3))
        return 1;
    if (!w->mix.sharing && !w->mix.changes && !world_below(w, 2))
        return 1 + kinds_say_group(c, "red", words + 1);
    c->mode = LOCK_SHARED;
    words[1] = "SHARED";
    return 2;
}

void kinds_refused(struct world *w, struct soak_client *c, const struct soak_reply *r)
{
    char text[256];
    const char *slots;

    c->refused = 0;
    if (r->kind != '-' || strncmp(r->word[0].at, "WRONGKIND ", 10) != 0)
        return;
    snprintf(text, sizeof text, "%.*s", (int)r->word[0].len, r->word[0].at);
    if (strstr(text, "without SLOTS"))
        c->refused = 1;
    else if ((slots = strstr(text, "with SLOTS ")))
        c->refused = 1 + (uint32_t)strtoul(slots + strlen("with SLOTS "), NULL, 10);
    world_trace(w, "client %u is refused: %s", (uint32_t)(c - w->client), text);
}

void kinds_told(struct soak_conn *x, const struct node_event *e)
{
    const struct claim *c = session_find(x->end->session, e->name, e->name_len, e->fence);

    if (c)
        x->slots = c->slots;
}

void kinds_granted(struct world *w, struct soak_client *c)
{
    uint32_t slots = w->conn[c->conn].slots;

    if (slots != c->slots && (c->slots || c->mode != LOCK_ALONE))
        world_fail(w, "I16: client %u has requested %s with %u slots, and is granted it with %u",
                   (uint32_t)(c - w->client), clients_names[c->name], c->slots, slots);
    c->slots = slots;
}
