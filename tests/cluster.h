/* cluster.h - a cluster in one process, driven as step/step.h says: for tests and benches. Bytes between members wait in pipes
 * until they are carried; what clients are told is kept for the test. */
#ifndef DIBS_TESTS_CLUSTER_H
#define DIBS_TESTS_CLUSTER_H

#include "members.h"
#include "step/step.h"

#include <string.h>

enum { CLUSTER_MAX = 5 };

struct cluster {
    uint32_t n;
    struct node *node;                           /* n of them */
    struct bytes pipe[CLUSTER_MAX][CLUSTER_MAX]; /* from, to: written, and not read yet */
    size_t room;                                 /* bytes that a pipe can have; 0: any number */
    bool dead[CLUSTER_MAX];                      /* it has crashed, and its node is freed */
    bool deaf;                                   /* what clients are told is discarded */
    bool one_turn;                               /* no client goes on with what did not fit into a turn */
    uint64_t carried;                            /* bytes so far */
};

/* A client's end of a connection. */
struct cluster_client {
    uint32_t member;
    struct client *end; /* the member's; null: it is closed */
    struct bytes heard;
    bool stuck;              /* it does not read */
    struct node_event event; /* what it has been told last, where cluster_told is the observer */
    unsigned events;         /* how many there were */
    unsigned order;          /* the number of the last one among the events of all clients */
};

/* An observer (struct node_conf.told) for tests that look at events rather than at bytes. */
static inline void cluster_told(void *user, struct client *c, const struct node_event *event)
{
    static unsigned order;
    struct cluster_client *me = client_user(c);

    (void)user;
    me->event = *event;
    me->events++;
    me->order = ++order;
}

/* Is this the last thing that it was told? */
static inline bool cluster_is_told(const struct cluster_client *me, enum claim_state state)
{
    return me->events && me->event.state == state;
}

/* Member k, as member i knows it; null: it does not. */
static inline struct member *cluster_member(const struct cluster *c, uint32_t i, uint32_t k)
{
    const struct node *node = &c->node[i];
    uint32_t place = view_find_name(&node->view, c->node[k].conf.name, strlen(c->node[k].conf.name));

    return place < node->view.count ? node->member[place] : NULL;
}

static inline uint32_t cluster_find(const struct cluster *c, const struct member *m)
{
    uint32_t k = 0;

    while (k < c->n && strcmp(c->node[k].conf.name, m->name) != 0)
        k++;
    return k;
}

static inline void cluster_to_client(const struct cluster *c, struct node_output *out)
{
    struct cluster_client *me = client_user(out->client);

    if (out->type == NODE_CLOSE_CLIENT) {
        me->end = NULL;
    } else if (me->stuck) {
        out->taken = 0;
        out->blocked = true;
    } else if (out->len && !c->deaf) {
        memcpy(bytes_add(&me->heard, out->len), out->bytes, out->len);
    }
}

static inline void cluster_to_peer(struct cluster *c, uint32_t i, uint32_t k, struct node_output *out)
{
    struct bytes *p = &c->pipe[i][k];

    if (c->room && out->len > c->room - bytes_len(p)) {
        out->taken = c->room - bytes_len(p);
        out->blocked = true;
    }
    if (out->taken)
        memcpy(bytes_add(p, out->taken), out->bytes, out->taken);
}

/* All that member i has to do is done; bytes for others go into the pipes. */
static inline void cluster_do(struct cluster *c, uint32_t i)
{
    struct node_output out;

    while (node_next_output(&c->node[i], &out)) {
        uint32_t k = out.member ? cluster_find(c, out.member) : c->n;

        if (out.type == NODE_TO_CLIENT || out.type == NODE_CLOSE_CLIENT)
            cluster_to_client(c, &out);
        else if (out.type == NODE_TO_PEER && k < c->n)
            cluster_to_peer(c, i, k, &out);
        node_did(&c->node[i], &out);
    }
}

/* Member i is told of an event, now by its own clock unless the event says otherwise. */
static inline void cluster_tell(struct cluster *c, uint32_t i, struct node_input in)
{
    if (in.now_ms == 0)
        in.now_ms = c->node[i].now_ms;
    node_step(&c->node[i], &in);
    cluster_do(c, i);
    for (unsigned k = 0; k < 1000 && !c->one_turn && node_wants_turns(&c->node[i]); k++) {
        node_step(&c->node[i], &(struct node_input){.type = NODE_GO_ON, .now_ms = in.now_ms});
        cluster_do(c, i);
    }
}

/* Up to `most` of the bytes that member i has written for member k arrive. How many. */
static inline size_t cluster_carry(struct cluster *c, uint32_t i, uint32_t k, size_t most)
{
    struct bytes *p = &c->pipe[i][k];
    struct member *m = c->dead[k] ? NULL : cluster_member(c, k, i);
    size_t len = bytes_len(p) < most ? bytes_len(p) : most;
    uint8_t some[1 << 16];

    len = len < sizeof some ? len : sizeof some;
    if (!len)
        return 0;
    memcpy(some, p->at + p->start, len);
    bytes_consume(p, len);
    if (m && m->link.state != LINK_DOWN)
        cluster_tell(c, k, (struct node_input){.type = NODE_PEER_BYTES, .member = m, .bytes = some, .len = len});
    c->carried += len;
    m = c->dead[i] ? NULL : cluster_member(c, i, k);
    if (m && m->blocked)
        cluster_tell(c, i, (struct node_input){.type = NODE_PEER_ROOM, .member = m});
    return len;
}

/* Everything that is in the pipes arrives, and clients that have work left go on with it. Returns false if there was nothing to do. */
static inline bool cluster_carry_all(struct cluster *c)
{
    bool some = false;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->dead[i] && node_is_busy(&c->node[i])) {
            cluster_tell(c, i, (struct node_input){.type = NODE_TIME});
            some = true;
        }
        for (uint32_t k = 0; k < c->n; k++)
            some |= i != k && cluster_carry(c, i, k, SIZE_MAX);
    }
    return some;
}

/* Until nothing happens any more. */
static inline void cluster_settle(struct cluster *c)
{
    while (cluster_carry_all(c))
        ;
}

static inline void cluster_connect(struct cluster *c, uint32_t i, uint32_t k)
{
    for (unsigned side = 0; side < 2; side++) {
        uint32_t a = side ? k : i, b = side ? i : k;

        bytes_consume(&c->pipe[a][b], bytes_len(&c->pipe[a][b]));
        if (!c->dead[i] && !c->dead[k] && cluster_member(c, a, b))
            cluster_tell(c, a, (struct node_input){.type = NODE_PEER_OPENED, .member = cluster_member(c, a, b)});
    }
}

/* The connection breaks: what is under way is gone. Member i notices that; member k only if `both` do. */
static inline void cluster_disconnect(struct cluster *c, uint32_t i, uint32_t k, bool both)
{
    bytes_consume(&c->pipe[i][k], bytes_len(&c->pipe[i][k]));
    bytes_consume(&c->pipe[k][i], bytes_len(&c->pipe[k][i]));
    if (!c->dead[i] && cluster_member(c, i, k))
        cluster_tell(c, i, (struct node_input){.type = NODE_PEER_CLOSED, .member = cluster_member(c, i, k)});
    if (both && !c->dead[k] && cluster_member(c, k, i))
        cluster_tell(c, k, (struct node_input){.type = NODE_PEER_CLOSED, .member = cluster_member(c, k, i)});
}

static inline void cluster_connect_all(struct cluster *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = i + 1; k < c->n; k++)
            cluster_connect(c, i, k);
}

/* It is that late for all. */
static inline void cluster_pass(struct cluster *c, uint64_t now_ms)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->dead[i])
            cluster_tell(c, i, (struct node_input){.type = NODE_TIME, .now_ms = now_ms});
}

static inline void cluster_come(struct cluster *c, struct cluster_client *me, uint32_t member)
{
    bytes_free(&me->heard);
    *me = (struct cluster_client){.member = member, .end = client_open(&c->node[member], me)};
    me->end->session->operates = true;
}

static inline void cluster_say(struct cluster *c, struct cluster_client *me, const char *text)
{
    if (me->end)
        cluster_tell(
            c, me->member,
            (struct node_input){
                .type = NODE_CLIENT_BYTES, .client = me->end, .bytes = (const uint8_t *)text, .len = strlen(text)});
}

/* It asks for a lock, as the words behind the name say. */
static inline void cluster_lock(struct cluster *c, struct cluster_client *me, const char *name, const char *words)
{
    char line[512];

    snprintf(line, sizeof line, "LOCK %s %s\r\n", name, words);
    cluster_say(c, me, line);
}

/* Its connection ends: with a goodbye, or it breaks. */
static inline void cluster_go(struct cluster *c, struct cluster_client *me, bool goodbye)
{
    struct client *end = me->end;

    me->end = NULL;
    if (end)
        cluster_tell(c, me->member,
                     (struct node_input){.type = goodbye ? NODE_CLIENT_CLOSED : NODE_CLIENT_BROKEN, .client = end});
}

/* What it has been told since the last time, \r\n as ' '. */
static inline const char *cluster_heard(struct cluster_client *me)
{
    static char text[1 << 16];
    size_t len = 0;

    for (size_t k = me->heard.start; k < me->heard.end && len < sizeof text - 1; k++)
        if (me->heard.at[k] != '\r')
            text[len++] = me->heard.at[k] == '\n' ? ' ' : (char)me->heard.at[k];
    text[len] = '\0';
    bytes_free(&me->heard);
    return text;
}

/* Member i crashes: its clients' connections are gone, and the other members notice. */
static inline void cluster_kill(struct cluster *c, uint32_t i)
{
    node_free(&c->node[i]);
    c->dead[i] = true;
    for (uint32_t k = 0; k < c->n; k++)
        if (k != i && !c->dead[k])
            cluster_disconnect(c, k, i, false);
}

static inline void cluster_end(struct cluster *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->dead[i])
            node_free(&c->node[i]);
    for (uint32_t i = 0; i < CLUSTER_MAX; i++)
        for (uint32_t k = 0; k < CLUSTER_MAX; k++)
            bytes_free(&c->pipe[i][k]);
}

#endif
