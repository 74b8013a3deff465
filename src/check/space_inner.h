/* space_inner.h - what the files share that make and judge a state space. */
#ifndef DIBS_CHECK_SPACE_INNER_H
#define DIBS_CHECK_SPACE_INNER_H

#include "space.h"

/* The bytes that are interned for a node. */
struct space_key {
    uint8_t left;               /* requests that may still be made */
    uint8_t rounds[DME_TIMERS]; /* of each running timer, still to pass */
    uint8_t overtaken;          /* how often others have entered while this site waited */
    uint8_t zero[2];
    struct dme_node node; /* its fence is 0; the state follows */
};

static inline size_t space_key_size(const struct space *s, dme_id i)
{
    return offsetof(struct space_key, node) + dme_node_size(&s->conf, i);
}

static inline const struct space_key *space_key(const struct space *s, uint32_t part)
{
    return intern_get(&s->nodes, s->part[part].node);
}

static inline const struct dme_msg *space_message(const struct space *s, uint32_t item)
{
    return intern_get(&s->messages, ((const struct space_item *)intern_get(&s->items, item))->message);
}

uint32_t space_put_part(struct space *s, uint32_t node, uint32_t inbox);
/* The message as an item without marks. */
uint32_t space_put_message(struct space *s, const struct dme_msg *m);
void space_add_send(struct space *s, dme_id to, uint32_t item);
void space_add_transition(struct space *s, const struct space_transition *t);
/* Run the algorithm for one event at this part, whose inbox will be `inbox` afterwards: one more transition. */
void space_try(struct space *s, uint32_t part, uint32_t type, uint32_t arg, uint32_t inbox);

/* inbox.c: the inbox without its k-th item; with a copy of it behind it. */
uint32_t space_without(struct space *s, uint32_t inbox, uint32_t k);
uint32_t space_twice(struct space *s, uint32_t inbox, uint32_t k);
/* May the k-th item arrive next, and is it not the same as the one before? */
bool space_arrives(const struct space *s, uint32_t inbox, uint32_t k);

/* canon.c */
void canon_free(struct space *s);

/* fail.c: what may happen to this part beside events and mishaps on the way: one more transition for each. */
void space_try_failures(struct space *s, uint32_t part);
/* What else changes in the state that site i has led to by such a transition. */
void space_fail(struct space *s, uint32_t *state, dme_id i, const struct space_transition *t);

#endif
