/* nested.c - clients of a soak that request a lock again while they hold it (LOCK REENTRANT), and give that second grant back. They go on holding the
 * lock: if it is granted to another client before they have released it, the checks of clients.c notice. */
#include "world.h"

#include <stdio.h>
#include <string.h>

/* The client requests again the lock that it holds. If the lock is lost before its daemon receives this request, it is a request like any other, for
 * which the client does not wait. */
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
    /* It gives back what it was granted, and goes on holding the lock. An UNLOCK that did not wait for the answer would release the
     * lock itself if it had been lost meanwhile. With another fence it is a new lock, which the client does not want. */
    if (r->kind == '*')
        clients_say_unlock(w, &w->client[k], clients_find_name(r->word[0].at, r->word[0].len), r->word[1].number,
                           r->word[1].number != a->fence);
}
