/* Ricart and Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks", CACM 24(1), 1981: on a medium
 * that sequences all broadcasts.
 *
 * Idea. If all sites, the sender too, see all transmissions in one order, that order is the queue, and no numbers are
 * needed: the site whose REQUEST is seen first enters first, and the next one when the first one's REPLY, sent on
 * leaving, is seen.
 *
 * Messages. REQUEST and REPLY, both to all: 2 per entry. A broadcast counts as one.
 *
 * Algorithm. Site i:
 *     request     broadcast REQUEST
 *     on REQUEST  append the sender, which may be me, to the queue; enter if I am the first and it is my own
 *     on REPLY    take the sender off the head of the queue; enter if I am the first now
 *     release     broadcast REPLY
 *
 * Invariant RS. The lines of two sites that have seen equally many transmissions are equal.
 *
 * Departures from the paper. The paper can be read as if no site need REPLY when no site waits. The REPLY is needed
 * always: sites that ask later have seen the REQUEST, and wait for the REPLY to it. */
#include "core/line.h"
#include "ricart_agrawala.h"

enum { REQUEST, REPLY };
enum { SILENT_IF_ALONE };

static const struct dme_kind ras_kinds[] = {{"REQUEST", 0, 0}, {"REPLY", 0, 0}, {0}};
static const struct dme_mistake ras_mistakes[] = {
    {.name = "silent-if-alone",
     .kind = DME_TEMPTING,
     .where = "TR-869, section 6.2.1, pages 16-17, says two messages for each entry",
     .what = "a site that leaves while no site waits does not REPLY"},
    {0},
};

struct ras {
    uint32_t length, zero;
    dme_id line[]; /* sites whose REQUEST has been seen, but not their REPLY */
};

static struct dme_line ras_line(const struct dme *d, struct ras *s)
{
    return (struct dme_line){&s->length, s->line, sizeof s->line[0], d->n};
}

static void ras_request(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, DME_ALL, REQUEST);
}

static void ras_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct ras *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, !dme_line_has(ras_line(d, s), m->from));
        dme_line_push(ras_line(d, s), m->from);
        if (s->length == 1 && s->line[0] == d->self)
            dme_enter(d);
        break;
    case REPLY:
        DME_EXPECT(d, s->length && s->line[0] == m->from);
        dme_line_pop(ras_line(d, s));
        if (s->length && s->line[0] == d->self)
            dme_enter(d);
        break;
    }
}

static void ras_release(struct dme *d, void *state)
{
    struct ras *s = state;

    if (dme_mistake(d, SILENT_IF_ALONE) && s->length == 1)
        dme_line_pop(ras_line(d, s));
    else
        dme_send(d, DME_ALL, REPLY);
}

static const char *ras_malformed(const struct dme *d, void *state)
{
    struct ras *s = state;

    DME_HOLDS(dme_line_is_sound(ras_line(d, s), d->n));
    return NULL;
}

/* The canonical form: what arrives next arrives now, unless it lets the site in. No other site sees that, and what is late at a site
 * does not pile up. */
static bool ras_arrives_now(const struct dme_draft *now, size_t k)
{
    struct dme_node *node = now->node[now->to[k]];
    struct ras *s = dme_state(node);
    struct dme_line line = {&s->length, s->line, sizeof s->line[0], now->conf->n};
    dme_id from = now->msg[k]->from;

    if (now->msg[k]->kind == REQUEST) {
        if (dme_line_has(line, from) || (from == node->self && s->length == 0))
            return false;
        dme_line_push(line, from);
    } else {
        if (!s->length || s->line[0] != from || (s->length > 1 && s->line[1] == node->self))
            return false;
        dme_line_pop(line);
    }
    now->gone[k] = true;
    return true;
}

static bool ras_canon(const struct dme_draft *now)
{
    bool changed = false;

    for (dme_id i = 0; i < now->conf->n; i++)
        for (size_t k = 0; k < now->msgs; k++)
            if (now->to[k] == i) {
                if (!ras_arrives_now(now, k))
                    break;
                changed = true;
            }
    return changed;
}

static void ras_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct ras *s = state;

    (void)d;
    dme_print_line(text, "line", s->line, sizeof s->line[0], s->length);
}

#define RAS_COMMON                                                                                                     \
    .family = DME_PERMISSION, .paper = RA_PAPER, .cost = "2 messages, a broadcast counts as one; delay T",             \
    .kinds = ras_kinds, .rules = 1 << DME_EXCLUSIVE,                                                                   \
    .needs = DME_RELIABLE | DME_ALIVE | DME_BROADCAST | DME_SEQUENCED, .state_size = sizeof(struct ras),               \
    .peer_size = sizeof(dme_id), .request = ras_request, .receive = ras_receive, .release = ras_release,               \
    .malformed = ras_malformed, .canon = ras_canon, .show = ras_show

const struct dme_alg ricart_agrawala_sequenced = {.name = "ricart-agrawala-sequenced", RAS_COMMON};

const struct dme_alg ricart_agrawala_sequenced_tempting = {
    .name = "ricart-agrawala-sequenced-tempting",
    .flaw = "a site that leaves while no site waits says nothing, and later requesters wait for it for ever",
    .mistakes = ras_mistakes,
    .mistaken = DME_TEMPTING,
    RAS_COMMON,
};
