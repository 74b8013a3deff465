/* nested.c - clients of a soak that request a lock again while they hold it (LOCK REENTRANT), and release that second grant. They go on holding the
 * lock: if another client were granted it before they have released the first grant, too, the checks of beliefs.c would find that. */
#include "world.h"

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
