/* canon.c - states in canonical form, so that there are finitely many for any number of requests.
 *
 * Algorithms number requests, and numbers grow for ever. Such an algorithm may have a handler `canon` (core/dme.h) that
 * replaces a state of the whole system by one that behaves in the same way and has small numbers. The search then goes
 * from canonical state to canonical state. That it loses nothing is a claim about the handler, which commute.c tests. */
#include "space_inner.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void canon_make_room(struct space *s, size_t msgs)
{
    struct space_draft *d = &s->draft;

    for (dme_id i = 0; i < s->conf.n && !d->key[i]; i++)
        d->key[i] = mem_new(space_key_size(s, i));
    if (msgs <= d->room)
        return;
    d->msg = mem_grow(d->msg, msgs * sizeof *d->msg);
    d->to = mem_grow(d->to, msgs * sizeof *d->to);
    d->gone = mem_grow(d->gone, msgs * sizeof *d->gone);
    while (d->room < msgs)
        d->msg[d->room++] = mem_new(dme_msg_size_max(&s->conf));
}

void canon_free(struct space *s)
{
    for (dme_id i = 0; i < SPACE_SITES; i++)
        free(s->draft.key[i]);
    for (size_t k = 0; k < s->draft.room; k++)
        free(s->draft.msg[k]);
    free(s->draft.msg);
    free(s->draft.to);
    free(s->draft.gone);
}

/* Copies of all nodes and messages of the state. */
static void canon_copy(struct space *s, const uint32_t *state)
{
    struct space_draft *d = &s->draft;

    canon_make_room(s, space_flights(s, state));
    d->msgs = 0;
    for (dme_id i = 0; i < s->conf.n; i++) {
        uint32_t inbox = s->part[state[i]].inbox, len = s->inboxes.length[inbox] / sizeof(uint32_t);
        const uint32_t *list = intern_get(&s->inboxes, inbox);

        memcpy(d->key[i], space_key(s, state[i]), space_key_size(s, i));
        for (uint32_t k = 0; k < len; k++, d->msgs++) {
            const struct dme_msg *m = space_message(s, list[k]);

            memcpy(d->msg[d->msgs], m, dme_msg_bytes(m));
            d->to[d->msgs] = i;
            d->gone[d->msgs] = false;
        }
    }
}

/* The state of the draft. The messages of an inbox stay in their order, where that matters. */
static void canon_put(struct space *s, uint32_t *state)
{
    struct space_draft *d = &s->draft;
    uint32_t empty = intern_put(&s->inboxes, "", 0);

    for (dme_id i = 0; i < s->conf.n; i++)
        state[i] = space_put_part(s, intern_put(&s->nodes, d->key[i], space_key_size(s, i)), empty);
    for (size_t k = 0; k < d->msgs; k++)
        if (!d->gone[k])
            state[d->to[k]] = space_append(s, state[d->to[k]], space_put_message(s, d->msg[k]));
}

void space_canon(struct space *s, uint32_t *state)
{
    struct space_draft *d = &s->draft;
    struct dme_node *node[SPACE_SITES];

    canon_copy(s, state);
    for (dme_id i = 0; i < s->conf.n; i++)
        node[i] = &d->key[i]->node;
    if (!s->form(&(struct dme_draft){
            .conf = &s->conf, .node = node, .msg = d->msg, .to = d->to, .gone = d->gone, .msgs = d->msgs}))
        return;
    for (dme_id i = 0; i < s->conf.n; i++) /* a handler cannot hide that a site waits or is inside */
        *node[i] = space_key(s, state[i])->node;
    canon_put(s, state);
}

void space_unlimit(struct space *s, uint32_t *state)
{
    canon_copy(s, state);
    for (dme_id i = 0; i < s->conf.n; i++)
        s->draft.key[i]->left = SPACE_UNLIMITED;
    canon_put(s, state);
}
