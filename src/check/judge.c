/* judge.c - what is wrong with a state: two sites inside, a broken invariant, a deadlock. */
#include "space_inner.h"

#include "base/memory.h"

#include <stdlib.h>

bool space_safe(const struct space *s, const uint32_t *state)
{
    uint32_t modes[SPACE_SITES], count = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        if (s->part[state[i]].flags & SPACE_INSIDE)
            modes[count++] = s->part[state[i]].mode;
    return count < 2 || dme_safe(&s->conf, modes, count);
}

/* The messages on their way to site i, behind the `count` that are there already. */
static size_t space_gather(const struct space *s, uint32_t part, dme_id i, struct space_moment *moment, size_t count)
{
    uint32_t inbox = s->part[part].inbox, len = s->inboxes.length[inbox] / sizeof(uint32_t);
    const uint32_t *list = intern_get(&s->inboxes, inbox);

    if (count + len > moment->room) {
        moment->room = 2 * (count + len);
        moment->msg = mem_grow(moment->msg, moment->room * sizeof *moment->msg);
        moment->to = mem_grow(moment->to, moment->room * sizeof *moment->to);
    }
    for (uint32_t k = 0; k < len; k++) {
        const struct space_item *item = intern_get(&s->items, list[k]);

        moment->msg[count] = intern_get(&s->messages, item->message);
        moment->to[count++] = i;
    }
    return count;
}

const char *space_broken(const struct space *s, const uint32_t *state, struct space_moment *moment)
{
    const struct dme_node *node[SPACE_SITES];
    size_t count = 0;

    if (!s->conf.alg->broken || s->conf.alg->flaw)
        return NULL; /* of an algorithm with a flaw it is told what comes of it */
    for (dme_id i = 0; i < s->conf.n; i++) {
        node[i] = &space_key(s, state[i])->node;
        count = space_gather(s, state[i], i, moment, count);
    }
    return s->conf.alg->broken(
        &(struct dme_moment){.conf = &s->conf, .node = node, .msg = moment->msg, .to = moment->to, .msgs = count});
}

void space_forget(struct space_moment *moment)
{
    free(moment->msg);
    free(moment->to);
}

bool space_stuck(const struct space *s, const uint32_t *state)
{
    uint32_t flags = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        flags |= s->part[state[i]].flags;
    return flags == SPACE_WAITS && !space_side(s, state);
}

bool space_blocked(const struct space *s, const uint32_t *state)
{
    uint32_t flags = 0, modes[SPACE_SITES] = {0}, count = 0, inside = 0;

    for (dme_id i = 0; i < s->conf.n; i++) {
        const struct space_part *p = &s->part[state[i]];

        flags |= p->flags;
        inside += (p->flags & SPACE_INSIDE) != 0;
        if (p->flags & (SPACE_INSIDE | SPACE_WAITS))
            modes[count++] = p->mode;
    }
    if (flags != (SPACE_INSIDE | SPACE_WAITS))
        return false;
    return s->conf.rule == DME_SLOTS ? inside < s->conf.limit : dme_safe(&s->conf, modes, count);
}

uint32_t space_overtaken(const struct space *s, const uint32_t *state)
{
    uint32_t most = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        if (most < s->part[state[i]].overtaken)
            most = s->part[state[i]].overtaken;
    return most;
}
