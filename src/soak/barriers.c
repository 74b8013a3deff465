/* barriers.c - faults just before the barrier of a view, at which members choose the owners of kept sessions (node/README.md, rule 4).
 *
 * When a member has just sent its reports and MARK, some of its connections break: a receiver gets all of these letters, a part or
 * none. In some cases the member then crashes, so that it does not send the rest again. This happens in several views, one after
 * the other. So some members pass a barrier and others do not, and a member may be the only one that has received a report.
 *
 * In some cases two members are chosen beforehand: the *speaker*, and the *deaf* one, which receives nothing from the speaker for a while. Meanwhile
 * clients of the speaker leave it, and resume their kept sessions at other members. So a view begins in which these sessions move, and the deaf member does
 * not know what the speaker's clients have released before. The faults hit the speaker in this view, and the deaf member in the next one.
 *
 * Most clients use libdibs with kept sessions, hold several locks at once, and change the modes of those that they hold. */
#include "world.h"

enum { EPISODE_US = 5000 * SOAK_LEASE_MS, REST_US = 3000 * SOAK_LEASE_MS, CRASH_US = 60 * SOAK_LEASE_MS };

void barriers_draw(struct world *w)
{
    w->mix = (struct soak_mix){.delay_us = 300,
                               .jitter_us = 1 + (uint32_t)world_below(w, 20000),
                               .crash = (uint32_t)world_below(w, 12),
                               .leave = (uint32_t)world_below(w, 12),
                               .breaks = 30,
                               .disturb_client = 90,
                               .hold_ms = 150,
                               .think_ms = 30,
                               .barriers = true};
}

/* About half of the clients with kept sessions lose their connections to machine `i`. */
static void barriers_scatter(struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        struct soak_conn *x = &w->conn[k];

        if (x->id && x->machine == i && x->open && x->end && x->end->session->kept && !x->local && !x->severed &&
            world_below(w, 2))
            conns_break(w, x, SOAK_BREAK_BOTH);
    }
}

void barriers_happen(struct world *w)
{
    struct soak_strikes *s = &w->strikes;

    if (w->now_us >= s->rests_us) {
        *s = (struct soak_strikes){.ends_us = w->now_us + EPISODE_US,
                                   .speaker = (uint32_t)world_below(w, w->n),
                                   .deaf = (uint32_t)world_below(w, w->n)};
        s->rests_us = s->ends_us + world_below(w, REST_US);
        s->aimed = s->speaker != s->deaf;
        if (!s->aimed)
            return;
        s->scatter_us = w->now_us + (20 + world_below(w, 400)) * SOAK_LEASE_MS;
        w->pipe[s->speaker][s->deaf].blocked = true;
        world_trace(w, "cut, from %s to %s", w->machine[s->speaker].name, w->machine[s->deaf].name);
        world_plan(w, (1200 + world_below(w, 1200)) * SOAK_LEASE_MS, SOAK_HEAL, 0, 0);
    } else if (s->scatter_us && w->now_us >= s->scatter_us) {
        s->scatter_us = 0;
        barriers_scatter(w, s->speaker);
    }
}

/* Would the members that take part be a majority without machine `i`? */
static bool barriers_can_spare(const struct world *w, uint32_t i)
{
    uint32_t run = 0;

    for (uint32_t k = 0; k < w->n; k++)
        run += k != i && w->machine[k].runs && w->machine[k].node.takes_part;
    return run > w->n / 2;
}

/* Does a kept session of this node move to another member in this view? */
static bool barriers_moves(const struct node *node)
{
    for (const struct ring *r = node->keep.own.next; r != &node->keep.own; r = r->next)
        if (RING_OF(r, struct keep_session, in_own)->leaves)
            return true;
    return false;
}

/* Do faults hit machine `i` in the view that has just begun there? */
static bool barriers_hits(struct world *w, uint32_t i)
{
    struct soak_strikes *s = &w->strikes;
    const struct node *node = &w->machine[i].node;

    if (w->now_us >= s->ends_us || !s->aimed)
        return w->now_us < s->ends_us && world_below(w, 3);
    if (i == s->speaker && !s->struck && barriers_moves(node)) {
        s->struck = node->view.number;
        return true;
    }
    if (i == s->deaf && s->struck && node->view.number > s->struck) {
        s->aimed = false;
        return true;
    }
    return world_below(w, 16) == 0;
}

void barriers_look(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    const struct soak_strikes *s = &w->strikes;
    uint32_t torn = 0;

    if (!w->mix.barriers || w->calm || !m->runs || !m->node.takes_part || m->node.keep.phase == KEEP_TELLS ||
        m->marked == m->node.view.number)
        return;
    m->marked = m->node.view.number;
    if (!barriers_hits(w, i))
        return;
    for (uint32_t k = 0; k < w->n; k++)
        if (k != i && (s->aimed && i == s->speaker ? k == s->deaf : world_below(w, 2))) {
            wires_tear(w, i, k);
            torn |= 1u << k;
        }
    world_trace(w, "connections of %s break amid its reports: %x", m->name, torn);
    if (barriers_can_spare(w, i) && world_below(w, 4))
        world_plan(w, world_below(w, CRASH_US), SOAK_FAULT, 1 + i, 0);
}
