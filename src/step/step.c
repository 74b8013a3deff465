/* step.c - see step.h. */
#include "step.h"

#include "invariants.h"
#include "node/inside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- log */

static void step_log(struct node *node, bool warns, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The first byte of each line says whether it is a warning. */
static void step_log(struct node *node, bool warns, const char *format, ...)
{
    char line[8192];
    va_list args;

    line[0] = warns ? '!' : ' ';
    va_start(args, format);
    vsnprintf(line + 1, sizeof line - 1, format, args);
    va_end(args);
    memcpy(bytes_add(&node->turn.log, strlen(line) + 1), line, strlen(line) + 1);
}

static void step_log_view(struct node *node)
{
    const struct view *view = &node->view;
    char line[NODE_MEMBERS_MAX * (LINK_NAME_MAX + 2) + 1];
    struct dme_text text;

    node->turn.view = view->number;
    dme_text_init(&text, line, sizeof line);
    for (uint32_t k = 0; k < view->count; k++)
        if (view->member[k].incarnation)
            dme_print(&text, " %s", view->member[k].name);
    if (view->number) /* else it has not begun */
        step_log(node, false, "view %" PRIu64 ", in which %u of %u members take part:%s", view->number,
                 view_taking_part(view), view->count, line);
    if (view->number && view->lease.step == view->number)
        step_log(node, false, "the lease is %u ms, set by %s%s", settings_target_ms(&view->lease, 0), view->lease.by,
                 settings_is_under_way(&view->lease) ? ", as soon as promises for the longer lease have run out" : "");
    if (view->number && view->policies.set == view->number)
        step_log(node, false, "the policies are others from this view on, set by %s", view->policies.by);
    if (view->number && view->rights.set == view->number)
        step_log(node, false, "the rights of clients are %s from this view on, set by %s",
                 view->rights.file ? "those of each member's configuration" : "others", view->rights.by);
}

/* Is there something that an operator should know, since the last time? */
static bool step_has_changes(const struct node *node)
{
    return node->agree &&
           (node->turn.view != node->view.number || node->turn.stills != node->stills ||
            (node->turn.state == NODE_GRANTS ? !node_grants(node) : node->turn.state != node_state(node)));
}

static void step_log_changes(struct node *node)
{
    enum node_state state = node_state(node);

    if (node->turn.view != node->view.number)
        step_log_view(node);
    if (node->turn.stills != node->stills)
        step_log(node, true,
                 "the clock of this machine has stood still, or is too slow by a tenth; all locks of its clients "
                 "are lost. Was this virtual machine saved or moved?");
    node->turn.stills = node->stills;
    if (node->turn.state == state)
        return;
    node->turn.state = state;
    if (state == NODE_GRANTS)
        step_log(node, false, "locks are granted");
    else if (state != NODE_STARTS)
        step_log(node, true, "locks are not granted: %s", node_why_not(node));
}

/* ---------------------------------------------------------------------------------------------------------- clients */

/* There may be an output of this urgency for the client: puts the client behind the others of this urgency. A client that is among
 * more urgent ones keeps its place. */
static void step_note(struct client *c, enum client_urgency urgency)
{
    if (c->urgency > urgency)
        return;
    ring_cut(&c->in_news);
    ring_push(&c->session->node->turn.news[urgency], &c->in_news);
    c->urgency = urgency;
}

static bool step_asks_much(const struct client *c)
{
    return c->credit + CLIENT_MUCH <= c->given || bytes_len(&c->in) > 0;
}

/* Executes the client's commands, as far as its credit goes. Returns true if the client asks for much. */
static bool step_run(struct client *c)
{
    const struct session *s = c->session;
    struct node *node = s->node;
    const struct claim *before = s->waiting;
    uint32_t credit;
    bool much;

    if (node->turn.late && c->greedy)
        c->credit = 0;
    if (c->credit > node->turn.credit)
        c->credit = node->turn.credit;
    credit = c->credit;
    client_run(c);
    node->turn.credit -= credit - c->credit;
    much = step_asks_much(c);
    c->greedy |= much;
    if (client_has_more(c) && ring_empty(&c->in_hungry)) {
        ring_push(&node->turn.hungry, &c->in_hungry);
        node->turn.hungry_count++;
    }
    if (node->conf.ran)
        node->conf.ran(node->conf.user, c, s->waiting != before ? s->waiting : NULL);
    step_note(c, CLIENT_ANSWERED);
    return much;
}

/* Tells clients what there is to tell; each of them then goes on with its commands. */
static void step_hear(struct node *node)
{
    struct node_event event;

    while (node_has_news(node) && node_next(node, &event)) {
        struct client *c = event.session->client;
        bool of_claim = !event.watched && !event.answered && !event.token && !event.keep; /* only then it has a state */
        bool lost = of_claim && event.state == CLAIM_LOST;

        if (node->conf.told)
            node->conf.told(node->conf.user, c, &event);
        client_hear(c, &event);
        if (lost && c->urgency != CLIENT_LOST)
            step_note(c, CLIENT_LOST);
        else if (of_claim && (event.state == CLAIM_HELD || event.state == CLAIM_UPGRADED))
            step_note(c, CLIENT_GRANTED);
        step_run(c);
    }
}

/* The more clients have commands left, the less each of them may do in its turn, so that a client that has just come does not wait long. */
static uint32_t step_credit(const struct node *node)
{
    uint32_t share = CLIENT_TURN / (1 + node->turn.hungry_count / CLIENT_FEW);

    return share > CLIENT_LEAST ? share : CLIENT_LEAST;
}

/* The client that has waited for longest goes on. If its credit is not enough, it goes behind the others that wait. */
static void step_go_on(struct node *node)
{
    struct client *c;

    node->admin.watch.credit = WATCH_TURN;
    if (ring_empty(&node->turn.hungry))
        return;
    c = RING_OF(node->turn.hungry.next, struct client, in_hungry);
    ring_cut(&c->in_hungry);
    node->turn.hungry_count--;
    c->credit = step_credit(node);
    step_run(c);
}

uint32_t node_wants_turns(const struct node *node)
{
    /* Or there are events whose subscribers have not all been told, because the credit is used up. */
    return node->turn.hungry_count ? node->turn.hungry_count : !ring_empty(&node->admin.watch.notes);
}

/* ----------------------------------------------------------------------------------------------------------- events */

static void step_peer(struct node *node, const struct node_input *in)
{
    struct member *m = in->member;

    switch (in->type) {
    case NODE_PEER_OPENED:
        m->carried_ms = node->now_ms;
        m->blocked = false;
        link_connected(&m->link);
        break;
    case NODE_PEER_BYTES:
        m->carried_ms = node->now_ms;
        link_input(&m->link, in->bytes, in->len);
        break;
    case NODE_PEER_CLOSED:
        link_disconnected(&m->link);
        m->blocked = false;
        break;
    default:
        m->blocked = false;
    }
}

static void step_client(const struct node_input *in)
{
    struct client *c = in->client;

    switch (in->type) {
    case NODE_CLIENT_BYTES:
        c->credit = step_credit(c->session->node);
        client_input(c, in->bytes, in->len);
        c->given = c->credit;
        c->greedy = step_run(c);
        break;
    case NODE_CLIENT_ROOM:
        c->blocked = false;
        step_run(c);
        break;
    default:
        c->goodbye |= in->dead && !c->detaches;
        if (in->type == NODE_CLIENT_CLOSED || c->goodbye)
            client_close(c);
        else
            client_break(c);
    }
}

static void step_take(struct node *node, const struct node_input *in)
{
    switch (in->type) {
    case NODE_TIME:
        break;
    case NODE_PEER_OPENED:
    case NODE_PEER_BYTES:
    case NODE_PEER_ROOM:
    case NODE_PEER_CLOSED:
        step_peer(node, in);
        break;
    case NODE_CLIENT_BYTES:
    case NODE_CLIENT_ROOM:
    case NODE_CLIENT_CLOSED:
    case NODE_CLIENT_BROKEN:
        assert(in->client->session->node == node);
        step_client(in);
        break;
    case NODE_WRITTEN:
        for (unsigned k = 0; k < in->writes; k++)
            node_written(node, !in->failed);
        break;
    case NODE_LEAVE:
        node_leave(node);
        break;
    case NODE_GO_ON:
        step_go_on(node);
    }
}

#ifdef DIBS_CHECKED
/* A check looks at every lock, claim and kept session. With many of them it is made after some steps only, so that the daemon keeps its
 * leases. */
static void step_check(struct node *node)
{
    const char *broken;

    if (++node->turn.unchecked * 32 <=
        node->locks.count + node->locks.held_count + node->stats.waiters + node->keep.count)
        return;
    node->turn.unchecked = 0;
    broken = node_check(node);
    if (broken) {
        fprintf(stderr, "%s\n", broken);
        abort();
    }
}
#endif

void node_step(struct node *node, const struct node_input *in)
{
    assert(!node->turn.pending);
    node->turn.late = in->late;
    node->turn.credit = CLIENTS_TURN;
    node->turn.place = 0;
    node->turn.waits = false;
    if (node->now_ms < in->now_ms) {
        node_advance(node, in->now_ms);
        step_hear(node);
    }
    step_take(node, in);
    node_pump(node);
    if (node_has_news(node))
        step_hear(node);
#ifdef DIBS_CHECKED
    step_check(node);
#endif
}

/* ---------------------------------------------------------------------------------------------------------- outputs */

static bool step_client_output(struct node *node, enum client_urgency urgency, struct node_output *out)
{
    struct client *c = RING_OF(node->turn.news[urgency].next, struct client, in_news);

    ring_cut(&c->in_news);
    c->urgency = CLIENT_ANSWERED;
    out->type = NODE_TO_CLIENT;
    out->client = c;
    out->reads = !client_is_full(c) && ring_empty(&c->in_hungry);
    if (c->cut || (c->closing && !c->blocked && bytes_len(&c->out) == 0)) {
        out->type = NODE_CLOSE_CLIENT;
    } else if (!c->blocked && bytes_len(&c->out)) {
        out->bytes = c->out.at + c->out.start;
        out->len = out->taken = bytes_len(&c->out);
    }
    out->blocked = c->blocked;
    return true;
}

/* Members that went come first: one that came may have the name of one that went. */
static bool step_roster_output(struct node *node, struct node_output *out)
{
    if (node->retired) {
        out->type = NODE_MEMBER_WENT;
        out->member = node->retired;
        return true;
    }
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && !node->member[k]->introduced) {
            out->type = NODE_MEMBER_CAME;
            out->member = node->member[k];
            out->member->introduced = true;
            return true;
        }
    node->turn.roster_version = node->roster_version;
    return false;
}

/* Heartbeats arrive all the time, so a silent connection is broken, whatever TCP reports. TCP would retransmit more and
 * more rarely: after the network is repaired, it would need as long as the outage lasted to notice. */
static bool step_peer_output(struct node *node, struct node_output *out)
{
    for (; node->turn.place < node->view.count; node->turn.place++) {
        struct member *m = node->member[node->turn.place];
        const uint8_t *bytes;
        bool silent;
        size_t len;

        if (!m || m->link.state == LINK_DOWN)
            continue;
        silent = node->now_ms - m->carried_ms >= node->silent_ms;
        if (!silent && link_is_quiet(&m->link))
            continue;
        if (!silent && node->turn.lets_wait && link_can_wait(&m->link)) {
            node->turn.waits = true;
            continue;
        }
        if (!silent && !m->blocked && (bytes = link_output(&m->link, &len)) && len) {
            *out = (struct node_output){.type = NODE_TO_PEER, .member = m, .bytes = bytes, .len = len, .taken = len};
            return true;
        }
        if (silent || m->link.state == LINK_ENDING) {
            *out = (struct node_output){.type = NODE_CLOSE_PEER,
                                        .member = m,
                                        .text = silent ? "does not answer" : m->link.reason,
                                        .anew = silent || m->link.anew};
            return true;
        }
    }
    return false;
}

static bool step_log_output(struct node *node, struct node_output *out)
{
    if (step_has_changes(node))
        step_log_changes(node);
    if (bytes_len(&node->turn.log) == 0)
        return false;
    out->type = NODE_LOG;
    out->text = (const char *)node->turn.log.at + node->turn.log.start + 1;
    out->warns = out->text[-1] == '!';
    return true;
}

bool node_next_urgent(struct node *node, struct node_output *out)
{
    assert(!node->turn.pending);
    *out = (struct node_output){0};
    node->turn.pending = (node_has_output(node, CLIENT_LOST) && step_client_output(node, CLIENT_LOST, out)) ||
                         (node_has_output(node, CLIENT_GRANTED) && step_client_output(node, CLIENT_GRANTED, out));
    return node->turn.pending;
}

bool node_next_output(struct node *node, struct node_output *out)
{
    if ((node_has_output(node, CLIENT_LOST) || node_has_output(node, CLIENT_GRANTED)) && node_next_urgent(node, out))
        return true;
    assert(!node->turn.pending);
    *out = (struct node_output){0};
    node->turn.pending = (node->turn.roster_version != node->roster_version && step_roster_output(node, out)) ||
                         (node->turn.place < node->view.count && step_peer_output(node, out)) ||
                         (node_has_output(node, CLIENT_ANSWERED) && step_client_output(node, CLIENT_ANSWERED, out)) ||
                         ((bytes_len(&node->turn.log) || step_has_changes(node)) && step_log_output(node, out));
    return node->turn.pending;
}

/* A client that is closing is noted again when all of its output has been sent. A client whose output was full goes on with its commands. */
static void step_did_client(struct client *c, const struct node_output *out)
{
    bool was_full = client_is_full(c);

    bytes_consume(&c->out, out->taken);
    c->blocked = out->blocked || out->taken < out->len;
    if (c->closing && !c->blocked)
        step_note(c, CLIENT_ANSWERED);
    if (was_full && !client_is_full(c)) {
        struct node *node = c->session->node;

        step_run(c);
        step_hear(node);
        node->turn.place = 0; /* there may be more for members that had their turn */
    }
}

void node_let_wait(struct node *node, bool waits)
{
    node->turn.lets_wait = waits;
    if (!waits && node->turn.waits)
        node->turn.place = 0;
    node->turn.waits &= waits;
}

void node_did(struct node *node, const struct node_output *out)
{
    struct member *m = out->member;

    assert(node->turn.pending && out->taken <= out->len);
    node->turn.pending = false;
    switch (out->type) {
    case NODE_TO_CLIENT:
        step_did_client(out->client, out);
        break;
    case NODE_CLOSE_CLIENT:
        if (out->client->goodbye)
            client_close(out->client);
        else
            client_break(out->client);
        step_hear(node); /* other clients may have been granted its locks */
        node->turn.place = 0;
        break;
    case NODE_MEMBER_CAME:
        break;
    case NODE_MEMBER_WENT:
        node_forget_retired(node);
        break;
    case NODE_TO_PEER:
        link_wrote(&m->link, out->taken);
        m->blocked = out->blocked || out->taken < out->len;
        break;
    case NODE_CLOSE_PEER:
        link_disconnected(&m->link);
        m->blocked = false;
        break;
    case NODE_LOG:
        bytes_consume(&node->turn.log, strlen(out->text) + 2);
    }
}

/* -------------------------------------------------------------------------------------------------------------- end */

void node_free(struct node *node)
{
    while (!ring_empty(&node->turn.clients))
        client_close(RING_OF(node->turn.clients.next, struct client, in_node));
    node_free_parts(node);
}
