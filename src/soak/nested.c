/* nested.c - clients of a soak that request a lock again while they hold it (LOCK REENTRANT), and release that second grant. They go on holding the
 * lock: if another client were granted it before they have released the first grant, too, the checks of beliefs.c would find that.
 *
 * In some seeds programs that use libdibs do the same, as often as they like. They are told at once: libdibs counts, and its daemon does not know. */
#include "library.h"

#include <stdio.h>
#include <string.h>

/* The client requests again the lock that it holds, and does not wait for it. If the client loses the lock before its daemon receives this request, the
 * request is one like any other. */
void nested_ask(struct world *w, struct soak_client *c)
{
    const char *words[8] = {"LOCK", clients_names[c->name], "REENTRANT", "WAIT", "0"};
    char slots[16];
    size_t count = 5;

    snprintf(slots, sizeof slots, "%u", c->slots);
    if (c->slots) {
        words[count++] = "SLOTS";
        words[count++] = slots;
    } else if (c->mode == LOCK_SHARED) {
        words[count++] = "SHARED";
    } else if (c->mode != LOCK_ALONE) {
        words[count++] = "GROUP";
        words[count++] = c->mode == lock_group_mode(words[1], strlen(words[1]), "red", 3) ? "red" : "blue";
    }
    clients_say(w, c, SOAK_TO_AGAIN, words, count);
}

bool nested_is_open(const struct soak_client *c)
{
    for (uint32_t k = 0; k < c->awaited; k++)
        if (c->await[k].to == SOAK_TO_AGAIN)
            return true;
    return false;
}

void nested_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    if (r->kind == '-' && strncmp(r->word[0].at, "ERR ", 4) == 0)
        world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
    if (r->kind == '-' && strncmp(r->word[0].at, "LOST ", 5) == 0 && a->fence == w->client[k].fence)
        clients_lose(w, k);
    if (r->kind == '*' && r->word[1].number == a->fence && (r->count != 3 || r->word[2].number != 2))
        world_fail(w, "client %u holds a lock twice, and its daemon counts otherwise", k);
    /* The client releases the second grant, and goes on holding the lock. It had to wait for this answer: if the lock was lost meanwhile, the answer has
     * another fence, of a first grant that the client does not want. */
    if (r->kind == '*')
        clients_say_unlock(w, &w->client[k], clients_find_name(r->word[0].at, r->word[0].len), r->word[1].number,
                           r->word[1].number != a->fence);
}

bool nested_is_chosen(const struct world *w)
{
    return w->conf->seed % 8 == 0 && !w->conf->rolling;
}

bool nested_library_ask(struct world *w, uint32_t k, int name)
{
    struct soak_library *l = w->client[k].library;
    const struct conn_lock *lock = held_find(&l->belief.held, clients_names[name]);
    const struct soak_use *u = &l->use[name];
    struct dibs_wish wish = {.reentrant = true, .slots = u->slots, .group = "red"};
    bool alone;
    int code;

    if (!nested_is_chosen(w) || l->wanted >= 0 || !lock || lock->lost || world_below(w, 3) == 0)
        return false;
    alone = world_below(w, 2) == 0; /* also if it shares the lock with others */
    wish.mode = u->slots                         ? DIBS_SLOTS
                : u->mode == LOCK_ALONE || alone ? DIBS_EXCLUSIVE
                : u->mode == LOCK_SHARED         ? DIBS_SHARED
                                                 : DIBS_GROUP;
    code = belief_lock(&l->belief, clients_names[name], &wish, true, library_now_ms(w, k));
    world_trace(w, "client %u asks libdibs again for %s: %s", k, clients_names[name], dibs_text(code));
    if (code == DIBS_OK && !belief_fence(&l->belief, clients_names[name], library_now_ms(w, k)))
        world_fail(w, "client %u holds %s once more by libdibs, and may have lost it", k, clients_names[name]);
    if (code == DIBS_OK && wish.mode == DIBS_EXCLUSIVE && u->mode != LOCK_ALONE)
        world_fail(w, "client %u holds %s for itself by libdibs, and shares it", k, clients_names[name]);
    if (code == DIBS_WAITING || (code == DIBS_MISUSE && !(alone && u->mode != LOCK_ALONE)))
        world_fail(w, "client %u holds %s, and libdibs does not let it hold it once more", k, clients_names[name]);
    l->again[name] += code == DIBS_OK;
    return true;
}

bool nested_library_release(struct world *w, uint32_t k, int name)
{
    struct soak_library *l = w->client[k].library;
    const struct conn_lock *lock = held_find(&l->belief.held, clients_names[name]);
    int code;

    if (!l->again[name] || !lock || lock->lost)
        return false;
    l->again[name]--;
    code = world_below(w, 2) ? belief_unlock(&l->belief, clients_names[name], library_now_ms(w, k))
                             : belief_start_unlock(&l->belief, clients_names[name]);
    world_trace(w, "client %u holds %s once less by libdibs", k, clients_names[name]);
    if (code != DIBS_OK)
        world_fail(w, "client %u holds %s several times, and libdibs releases it: %s", k, clients_names[name],
                   dibs_text(code));
    return true;
}
