/* client.c - see client.h. */
#include "client.h"

#include "command.h"
#include "permit.h"

#include "base/memory.h"
#include "base/slab.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client *client_open(struct node *node, void *user)
{
    struct client *c = slab_new(sizeof *c);

    c->session = session_open(node, user);
    c->session->client = c;
    c->protocol = 2;
    c->credit = CLIENT_TURN;
    c->greedy = true;
    ring_init(&c->losses);
    ring_init(&c->in_news);
    ring_init(&c->in_hungry);
    ring_push(&node->turn.clients, &c->in_node);
    return c;
}

static void client_free(struct node *node, struct client *c)
{
    while (c->loss_count)
        client_forget_loss(c, RING_OF(c->losses.next, struct client_loss, in_client));
    if (!ring_empty(&c->in_hungry))
        node->turn.hungry_count--;
    ring_cut(&c->in_node);
    ring_cut(&c->in_news);
    ring_cut(&c->in_hungry);
    many_forget(c);
    bytes_free(&c->in);
    bytes_free(&c->out);
    free(c->agent);
    slab_free(c);
}

/* The session may go on without a client; then it has proved nothing. */
static void client_let_go(struct client *c)
{
    rights_free(c->session->proved);
    c->session->proved = NULL;
    c->session->client = NULL;
}

void client_close(struct client *c)
{
    struct node *node = c->session->node;

    assert(c->session->client == c);
    if (c->goodbye && !c->detaches)
        keep_end(c->session);
    client_let_go(c);
    session_close(c->session);
    client_free(node, c);
}

void client_break(struct client *c)
{
    struct node *node = c->session->node;

    assert(c->session->client == c);
    client_let_go(c);
    session_break(c->session);
    client_free(node, c);
}

void client_input(struct client *c, const uint8_t *bytes, size_t len)
{
    if (len && !c->closing && !c->parts && !session_is_forgotten(c->session))
        memcpy(bytes_add(&c->in, len), bytes, len);
}

/* Returns null, or why the member has no memory for the client's request. */
static const char *client_is_too_much(const struct client *c)
{
    const struct node_conf *conf = &c->session->node->conf;

    return conf->is_short ? conf->is_short(conf->user) : NULL;
}

bool client_has_more(const struct client *c)
{
    return !c->closing && !c->parts && c->credit == 0 && !client_is_full(c) &&
           (bytes_len(&c->in) || (c->many && !session_is_busy(c->session)));
}

size_t client_memory(struct client *c)
{
    enum { SMALL = 4096 };
    struct bytes *both[] = {&c->in, &c->out};

    for (unsigned k = 0; k < 2; k++)
        if (bytes_len(both[k]) == 0 && both[k]->room > SMALL)
            bytes_free(both[k]);
    return c->in.room + c->out.room;
}

/* Answers a request that is not understood with an error that helps, or ends the connection. */
static void client_object(struct client *c, const struct command *command, const struct resp_request *r)
{
    char line[256];

    /* Not a client, but a browser that some page tells to talk to us; its body may have commands. */
    if (resp_is(r->word[0], "POST") || resp_is(r->word[0], "Host:")) {
        c->closing = true;
        return;
    }
    if (!command->name && (resp_is(r->word[0], "MULTI") || resp_is(r->word[0], "EXEC") ||
                           resp_is(r->word[0], "DISCARD") || resp_is(r->word[0], "WATCH")))
        snprintf(line, sizeof line,
                 "there are no transactions, and every other command is executed as it comes; use a pipeline without "
                 "MULTI (redis-py: transaction=False), or LOCK a AND b for several locks");
    else if (!command->name)
        snprintf(line, sizeof line, "unknown command \"%.*s\"; COMMAND lists all",
                 (int)(r->word[0].len < 64 ? r->word[0].len : 64), r->word[0].at);
    else if (c->protocol == 2 && c->session->subscribed && !(command->when & COMMAND_SUBSCRIBED))
        snprintf(line, sizeof line,
                 "a client that has subscribed may only (P)SUBSCRIBE, (P)UNSUBSCRIBE, PING and QUIT");
    else
        snprintf(line, sizeof line, "usage: %s", command->usage);
    resp_error(&c->out, "ERR", line);
}

/* Spends `cost`, and the credit for the claims that were looked at. */
static void client_spend(struct client *c, unsigned cost)
{
    cost += c->session->steps / CLIENT_STEPS;
    c->session->steps = 0;
    c->credit -= cost < c->credit ? cost : c->credit;
}

void client_execute(struct client *c, const struct resp_request *r)
{
    const struct command *command = command_find(r->word[0]);
    unsigned cost = command->when & COMMAND_LOOKS ? 16 : 1 + (unsigned)r->count / 8;

    client_spend(c, cost);
    if (command->when & COMMAND_COSTS && client_is_too_much(c))
        resp_error(&c->out, "BUSY", client_is_too_much(c));
    else if (command->name && (c->protocol == 3 || !c->session->subscribed || command->when & COMMAND_SUBSCRIBED) &&
             r->count >= command->least && r->count <= command->most)
        command->run(c, r);
    else
        client_object(c, command, r);
    client_spend(c, 0);
}

/* May the command be executed although a command before it waits? */
static bool client_overtakes(const struct client *c, const struct resp_request *r)
{
    return r->count && c->protocol == 3 && resp_is(r->word[0], "MEANWHILE");
}

void client_run(struct client *c)
{
    if (session_is_forgotten(c->session)) /* it will be cut off */
        return;
    if (c->many && c->credit && !c->closing && !c->parts && !session_is_busy(c->session)) {
        many_go_on(c);
        client_spend(c, 1);
    }
    while (!c->closing && !c->parts && !c->relays && bytes_len(&c->in) && bytes_len(&c->out) < CLIENT_OUTPUT_MAX &&
           c->credit) {
        struct resp_request r;
        const char *wrong;
        int len = resp_parse((const char *)c->in.at + c->in.start, bytes_len(&c->in), &r, &wrong);

        assert(len < 0 || (size_t)len <= bytes_len(&c->in));
        if (len == 0 || (session_is_busy(c->session) && (len < 0 || !client_overtakes(c, &r))))
            break;
        if (len < 0) { /* the beginning of the next request cannot be found */
            resp_error(&c->out, "ERR", wrong);
            c->closing = true;
            break;
        }
        if (r.count)
            client_execute(c, &r);
        bytes_consume(&c->in, (size_t)len);
    }
    c->closing |= c->relays && bytes_len(&c->in); /* the agent has sent frames before the answer to AGENT */
    if (!c->closing && session_is_busy(c->session) && bytes_len(&c->in) > CLIENT_INPUT_MAX) {
        resp_error(&c->out, "ERR", "too much was sent behind a command that waits");
        c->closing = true;
    }
}

/* Tells the client of an event that is not about its claims. */
static void client_hear_more(struct client *c, const struct node_event *event)
{
    if (event->answered) {
        command_answer(c, event->answered);
        query_end(c->session);
    } else if (bytes_len(&c->out) > CLIENT_NEWS_MAX) {
        c->closing = c->cut = true;
    } else {
        command_event(c, event->watched, event->note);
    }
}

struct client_loss *client_loss(const struct client *c, const char *name, size_t name_len, uint64_t fence)
{
    for (struct ring *r = c->losses.next; r != &c->losses; r = r->next) {
        struct client_loss *loss = RING_OF(r, struct client_loss, in_client);

        if (loss->name_len == name_len && memcmp(loss->name, name, name_len) == 0 && (!fence || fence == loss->fence))
            return loss;
    }
    return NULL;
}

void client_forget_loss(struct client *c, struct client_loss *loss)
{
    if (!loss)
        return;
    ring_cut(&loss->in_client);
    c->loss_count--;
    free(loss);
}

void client_tell_why(enum loss why, const char *by, char text[CLIENT_WHY_MAX])
{
    snprintf(text, CLIENT_WHY_MAX, "%s%s%.*s%s", loss_text[why], *by ? " (" : "", LOSS_BY_MAX, by, *by ? ")" : "");
}

static void client_keep_loss(struct client *c, const struct node_event *event)
{
    struct client_loss *loss = mem_new(sizeof *loss + event->name_len);

    if (c->loss_count == CLIENT_LOSSES_MAX) {
        client_forget_loss(c, RING_OF(c->losses.next, struct client_loss, in_client));
        c->losses_forgotten = true;
    }
    loss->fence = event->fence;
    loss->why = event->loss;
    memcpy(loss->by, event->why, strlen(event->why));
    loss->name_len = event->name_len;
    memcpy(loss->name, event->name, event->name_len);
    ring_push(&c->losses, &loss->in_client);
    c->loss_count++;
}

/* The client has lost a lock: tells it, or keeps the loss until it asks. */
static void client_hear_loss(struct client *c, const struct node_event *event)
{
    char why[CLIENT_WHY_MAX];

    if (c->protocol == 2) {
        client_keep_loss(c, event);
        return;
    }
    resp_push(&c->out, 4);
    resp_text(&c->out, "lost");
    resp_string(&c->out, event->name, event->name_len);
    resp_integer(&c->out, event->fence);
    client_tell_why(event->loss, event->why, why);
    resp_text(&c->out, why);
}

static bool client_sees(const void *user, const char *name, size_t len)
{
    return permit_sees(user, name, len, false);
}

static void client_tell_cycle(struct client *c, const struct deadlock_cycle *cycle)
{
    char line[1024];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    deadlock_tell(cycle, client_sees, c, &text);
    resp_error(&c->out, "DEADLOCK", line);
}

static void client_tell_refusal(struct client *c, const struct node_event *event)
{
    struct resp_word name = {event->name, event->name_len};
    static const struct {
        const char *code, *why;
    } refusals[] = {
        [REFUSAL_DEADLOCK] = {"DEADLOCK",
                              "waits to be upgraded by another client that shares it, and both would wait for ever: "
                              "release it, and ask for it again"},
        [REFUSAL_RELEASED] = {"NOTHELD", "was released while it waited to be upgraded"},
        [REFUSAL_LOST] = {"LOST", "was lost while it waited to be upgraded"},
        [REFUSAL_RIGHT] = {"NOPERM", "is not granted: the rights have changed"},
    };
    char line[LOCK_NAME_MAX + 160];

    if (event->refusal == REFUSAL_KIND) {
        resp_error(&c->out, "WRONGKIND", event->why);
        return;
    }
    if (event->refusal == REFUSAL_RIGHT && !permit(c, event->right, name)) /* permit has told it by which rule */
        return;
    snprintf(line, sizeof line, "\"%s\" %s", event->name, refusals[event->refusal].why);
    resp_error(&c->out, refusals[event->refusal].code, line);
}

void client_hear(struct client *c, const struct node_event *event)
{
    char line[CLIENT_WHY_MAX + 32], why[CLIENT_WHY_MAX];

    assert(event->session == c->session);
    if (event->keep) {
        command_hear_session(c, event);
        return;
    }
    if (event->token) {
        command_answer_token(c, event->token);
        token_end(c->session);
        return;
    }
    if (event->answered || event->watched) {
        client_hear_more(c, event);
        return;
    }
    if (c->many && many_hear(c, event))
        return;
    if (!event->answers) {
        client_hear_loss(c, event);
        return;
    }
    switch (event->state) {
    case CLAIM_HELD:
    case CLAIM_UPGRADED:
        resp_array(&c->out, 2);
        resp_string(&c->out, event->name, event->name_len);
        resp_integer(&c->out, event->fence);
        break;
    case CLAIM_DOWNGRADED:
        resp_simple(&c->out, "OK");
        break;
    case CLAIM_REFUSED:
        client_tell_refusal(c, event);
        break;
    case CLAIM_LOST:
        client_tell_why(event->loss, event->why, why);
        snprintf(line, sizeof line, "it was lost at once: %s", why);
        resp_error(&c->out, "LOST", line);
        break;
    default:
        if (event->cycle)
            client_tell_cycle(c, event->cycle);
        else if (event->no_quorum)
            resp_error(&c->out, "NOQUORUM", event->why);
        else
            resp_null(&c->out, c->protocol);
    }
}
