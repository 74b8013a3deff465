/* node.c - see node.h. */
#include "node.h"

#include "lab/memory.h"
#include "session.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void node_try_open(struct node *node)
{
    if (node->locks.open)
        return;
    for (uint32_t j = 0; j < node->conf.n; j++)
        if (j != node->conf.self && !node->link[j].peer_incarnation)
            return;
    for (uint32_t j = 0; j < node->conf.n; j++)
        node->link[j].hold = false;
    locks_open(&node->locks);
}

void node_init(struct node *node, const struct node_conf *conf)
{
    assert(conf->n >= 1 && conf->n <= NODE_MEMBERS_MAX && conf->self < conf->n && conf->incarnation);
    *node = (struct node){.conf = *conf};
    node->self = (struct link_self){.name = conf->name[conf->self],
                                    .summary = conf->summary,
                                    .digest = XXH3_64bits(conf->summary, strlen(conf->summary)),
                                    .incarnation = conf->incarnation};
    node->link = mem_new(conf->n * sizeof *node->link);
    for (uint32_t j = 0; j < conf->n; j++) {
        link_init(&node->link[j], &node->self, conf->name[j]);
        node->link[j].hold = true;
    }
    locks_init(&node->locks, &(struct locks_conf){.n = conf->n,
                                                  .self = conf->self,
                                                  .policy = conf->policy,
                                                  .policies = conf->policies,
                                                  .modes = conf->modes,
                                                  .slots = conf->slots,
                                                  .fence = conf->fence,
                                                  .link = node->link});
    ring_init(&node->sessions);
    talk_init(&node->talk);
    node_try_open(node);
}

void node_free(struct node *node)
{
    assert(ring_empty(&node->sessions));
    locks_free(&node->locks);
    for (uint32_t j = 0; j < node->conf.n; j++)
        link_free(&node->link[j]);
    free(node->link);
    due_free(&node->due);
    talk_free(&node->talk);
}

bool node_is_open(const struct node *node)
{
    return node->locks.open;
}

/* The list of members is fixed, and nobody gives away what another one holds. */
uint64_t node_vouches_ms(const struct node *node)
{
    return node_is_open(node) ? UINT64_MAX : 0;
}

uint64_t node_due_ms(const struct node *node)
{
    const struct claim *c = due_first(&node->due);
    uint64_t talk = talk_due_ms(node);

    return c && c->due_ms < talk ? c->due_ms : talk;
}

void node_advance(struct node *node, uint64_t now_ms)
{
    struct claim *c;

    if (node->now_ms < now_ms)
        node->now_ms = now_ms;
    while ((c = due_first(&node->due)) && c->due_ms <= node->now_ms) {
        due_clear(&node->due, c);
        if (c->state == CLAIM_WAITING)
            locks_take_away(&node->locks, c, CLAIM_TIMED_OUT);
        else if (c != c->session->waiting) /* else it was granted in time, and will soon be told */
            locks_take_away(&node->locks, c, CLAIM_LOST);
    }
    talk_advance(node);
}

void node_pump(struct node *node)
{
    for (uint32_t j = 0; j < node->conf.n; j++) {
        struct link *k = &node->link[j];
        const uint8_t *bytes;
        size_t len;

        while (link_take(k, &bytes, &len)) {
            const char *wrong =
                talk_is(bytes, len) ? talk_receive(node, j, bytes, len) : locks_receive(&node->locks, j, bytes, len);

            if (wrong) {
                link_refuse(k, wrong);
                k->banned = true;
            }
        }
        if (k->state == LINK_UP && !node->locks.open) {
            node_try_open(node);
            if (node->locks.open) /* messages on hold, also from those before this one */
                j = UINT32_MAX;
        }
    }
}

bool node_next(struct node *node, struct node_event *event)
{
    struct claim *c = locks_settled(&node->locks);
    struct dme_text why;

    event->watched = NULL;
    event->answered = NULL;
    if (!c)
        return talk_next(node, event);
    event->session = c->session;
    event->answers = c == c->session->waiting;
    event->state = c->state;
    event->fence = c->fence;
    event->name_len = c->name_len;
    memcpy(event->name, c->name, c->name_len);
    event->name[c->name_len] = '\0';
    dme_text_init(&why, event->why, sizeof event->why);
    if (c->state == CLAIM_REFUSED)
        lock_describe(&node->locks, c->lock, &why);
    node->grants += c->state == CLAIM_HELD;
    node->losses += c->state == CLAIM_LOST;
    session_settle(c);
    return true;
}
