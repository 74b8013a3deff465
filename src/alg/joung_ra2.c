/* Joung, "The Congenial Talking Philosophers Problem in Computer Networks", Distributed Computing 15, 2002: RA2.
 *
 * Idea. As in Ricart and Agrawala's algorithm, a site that has all replies enters; it is then a captain. It takes along
 * as followers the sites that asked for the same group after it, also those that would have to wait for an older claim
 * of another group. A captain defers other groups until its followers have left as well.
 *
 * Messages. REQUEST(claim) to all, REPLY(number of the claim) from all, and for a follower START(its claim) and
 * COMPLETE: 2(n-1) as a captain. A follower costs two more for each captain that takes it along, at most 4(n-1).
 *
 * Algorithm. Site i:
 *     request        number my claim above all numbers sent or received; send REQUEST(claim) to all others; await all
 *                    of them; enter as a captain if there are none
 *     on REQUEST(c)  if c is for another group, and my claim is older or I await followers: defer it; else send
 *                    REPLY(number of c). If I wait for the same group with an older claim, remember c as younger
 *     on REPLY(k)    if k is the number of my claim, the sender is awaited no more; if no site is awaited, and I
 *                    await no followers of another group: enter as a captain, and send START to each younger claim
 *                    that would have to wait for a deferred one
 *     on START(c)    if I still wait with claim c: enter as a follower of the sender; else send COMPLETE to it
 *     release        a follower: send COMPLETE to its captain. Send REPLY to all that there is no reason to defer any
 *                    more
 *     on COMPLETE    one follower less; if it was the last: send REPLY to all that there is no reason to defer any
 *                    more; enter as a captain if no site is awaited, as on the last reply
 *
 * Invariant JR1. A captain counts every START from it and COMPLETE to it in flight, and every site inside that it took
 *     along.
 * Invariant JR2. Two sites that are captains, inside or awaiting followers, are so for the same group.
 * Invariant JR3. A site awaits another one exactly while its REQUEST, or the REPLY to that claim, is in flight between
 *     them, or the other site defers that claim.
 *
 * Based on the abstract of the paper alone. It tells that the second algorithm is more efficient than the first one
 * (joung-ra1), and highly concurrent. Reconstructed: captains and followers, which Swaroop and Singh have too, and
 * their messages. A captain takes along the sites that have asked by the time it enters, and none later, so that no
 * group can stay inside for ever. A claim for the same group that is older than the captain's needs no START: the
 * captain has waited for every claim that such a claim waits for.
 *
 * A follower enters without all replies, and may ask again before the last of them arrives. So a REPLY names the claim
 * that it answers, and of two claims of a site the older one is void, in whatever order they arrive. */
#include "core/alg.h"

enum { REQUEST, REPLY, START, COMPLETE };

static const struct dme_kind j2_kinds[] = {
    {"REQUEST", 1, 0}, {"REPLY", 1, 0}, {"START", 1, 0}, {"COMPLETE", 0, 0}, {0}};

struct j2 {
    uint64_t highest;       /* number of any claim sent or received */
    struct dme_ticket mine; /* the claim while waiting or inside, else zeroes */
    uint32_t missing;       /* replies */
    uint32_t following;     /* followers of this captain that have not completed */
    uint32_t held;          /* the mode of those */
    dme_id captain;         /* inside as the follower of this site, else DME_NONE */
    struct {
        uint64_t number; /* of its last claim heard of */
        uint32_t mode;   /* of that claim, while it is deferred */
        uint8_t awaited, deferred;
        uint8_t younger; /* that claim is younger than ours and for the same group: to be taken along */
        uint8_t zero;
    } peer[];
};

static void j2_init(struct dme *d, void *state)
{
    (void)d;
    ((struct j2 *)state)->captain = DME_NONE;
}

static bool j2_defers(const struct dme *d, const struct j2 *s, struct dme_ticket claim)
{
    if (s->following && !dme_compatible(s->held, claim.mode))
        return true;
    return !dme_idle(d) && dme_before(s->mine, claim) && !dme_compatible(s->mine.mode, claim.mode);
}

/* The oldest claim that is deferred; its site is DME_NONE if there is none. */
static struct dme_ticket j2_oldest_deferred(const struct dme *d, const struct j2 *s)
{
    struct dme_ticket oldest = {.site = DME_NONE};

    for (dme_id k = 0; k < d->n; k++) {
        struct dme_ticket claim = {.clock = s->peer[k].number, .site = k};

        if (s->peer[k].deferred && (oldest.site == DME_NONE || dme_before(claim, oldest)))
            oldest = claim;
    }
    return oldest;
}

/* Enter as a captain, once all have replied and no followers of another group are left. Take along the younger claims
 * that would have to wait for a deferred one; the others are getting all replies anyway. */
static void j2_try(struct dme *d, struct j2 *s)
{
    struct dme_ticket oldest = j2_oldest_deferred(d, s);

    if (!dme_waiting(d) || s->missing || (s->following && !dme_compatible(s->held, s->mine.mode)))
        return;
    dme_enter(d);
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].younger) {
            struct dme_ticket claim = {.clock = s->peer[j].number, .site = j};

            s->peer[j].younger = 0;
            if (oldest.site == DME_NONE || !dme_before(oldest, claim))
                continue;
            s->following++;
            s->held = s->mine.mode;
            dme_send_ticket(d, j, START, claim);
        }
}

/* Reply to all that there is no reason to defer any more. */
static void j2_reply(struct dme *d, struct j2 *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred && !j2_defers(d, s, (struct dme_ticket){s->peer[j].number, s->peer[j].mode, j})) {
            s->peer[j].deferred = 0;
            s->peer[j].mode = 0;
            dme_send_ticket(d, j, REPLY, (struct dme_ticket){.clock = s->peer[j].number, .site = j});
        }
}

static void j2_request(struct dme *d, void *state)
{
    struct j2 *s = state;

    s->mine = dme_claim(d, ++s->highest);
    s->missing = d->n - 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].awaited = j != d->self;
    dme_send_others(d, REQUEST, s->mine);
    j2_try(d, s);
}

static void j2_receive_request(struct dme *d, struct j2 *s, const struct dme_msg *m)
{
    struct dme_ticket claim = m->ticket[0];

    DME_EXPECT(d, claim.site == m->from && claim.clock != s->peer[m->from].number);
    if (claim.clock < s->peer[m->from].number) /* overtaken by its successor: that claim is over */
        return;
    s->highest = dme_max(s->highest, claim.clock);
    s->peer[m->from].number = claim.clock;
    s->peer[m->from].mode = claim.mode;
    s->peer[m->from].deferred = 1;
    s->peer[m->from].younger = dme_waiting(d) && dme_before(s->mine, claim) && dme_compatible(s->mine.mode, claim.mode);
    j2_reply(d, s);
}

static void j2_receive_start(struct dme *d, struct j2 *s, const struct dme_msg *m)
{
    DME_EXPECT(d, m->ticket[0].site == d->self && m->ticket[0].clock <= s->highest);
    if (!dme_waiting(d) || m->ticket[0].clock != s->mine.clock) { /* it has entered by itself, or left already */
        dme_send(d, m->from, COMPLETE);
        return;
    }
    s->captain = m->from;
    s->missing = 0;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].awaited = s->peer[j].younger = 0;
    dme_enter(d);
}

static void j2_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct j2 *s = state;

    switch (m->kind) {
    case REQUEST:
        j2_receive_request(d, s, m);
        break;
    case REPLY:
        DME_EXPECT(d, m->ticket[0].site == d->self && m->ticket[0].clock <= s->highest);
        if (s->peer[m->from].awaited && m->ticket[0].clock == s->mine.clock) {
            s->peer[m->from].awaited = 0;
            s->missing--;
            j2_try(d, s);
        }
        break;
    case START:
        j2_receive_start(d, s, m);
        break;
    case COMPLETE:
        DME_EXPECT(d, s->following > 0);
        if (--s->following == 0) {
            s->held = 0;
            j2_reply(d, s);
            j2_try(d, s);
        }
        break;
    }
}

static void j2_release(struct dme *d, void *state)
{
    struct j2 *s = state;

    if (s->captain != DME_NONE)
        dme_send(d, s->captain, COMPLETE);
    s->captain = DME_NONE;
    s->mine = (struct dme_ticket){0};
    j2_reply(d, s);
}

static const char *j2_malformed(const struct dme *d, void *state)
{
    struct j2 *s = state;

    DME_HOLDS(s->captain < d->n || s->captain == DME_NONE);
    return NULL;
}

/* The mode that this site is a captain for: inside, or awaiting its followers. */
static bool j2_leads(const struct dme_node *node, uint32_t *mode)
{
    const struct j2 *s = dme_state(node);

    *mode = s->following ? s->held : s->mine.mode;
    return s->following || (node->phase == DME_INSIDE && s->captain == DME_NONE);
}

static const char *j2_broken_pair(const struct dme_moment *now, dme_id i, dme_id j)
{
    const struct j2 *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);
    uint32_t a, b, ways = other->peer[i].deferred && other->peer[i].number == s->mine.clock;

    if (j2_leads(now->node[i], &a) && j2_leads(now->node[j], &b) && !dme_compatible(a, b))
        return "JR2: captains at one time are of one group";
    for (size_t k = 0; k < now->msgs; k++) {
        const struct dme_msg *m = now->msg[k];

        ways += ((m->kind == REQUEST && m->from == i && now->to[k] == j) ||
                 (m->kind == REPLY && m->from == j && now->to[k] == i)) &&
                m->ticket[0].clock == s->mine.clock;
    }
    if (s->peer[j].awaited ? ways != 1 : now->node[i]->phase == DME_WAITING && ways)
        return "JR3: a site awaits another while its REQUEST or the REPLY is in flight, or it is deferred";
    return NULL;
}

static const char *j2_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct j2 *s = dme_state(now->node[i]);
        uint32_t followers = dme_in_flight(now, START, i, DME_NONE) + dme_in_flight(now, COMPLETE, DME_NONE, i);

        for (dme_id j = 0; j < now->conf->n; j++) {
            const char *broken = i == j ? NULL : j2_broken_pair(now, i, j);

            if (broken)
                return broken;
            followers += ((const struct j2 *)dme_state(now->node[j]))->captain == i;
        }
        if (s->following != followers)
            return "JR1: a captain counts its followers, and every START and COMPLETE in flight";
    }
    return NULL;
}

static void j2_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct j2 *s = state;

    dme_print(text, "highest=%llu claim=%llu", (unsigned long long)s->highest, (unsigned long long)s->mine.clock);
    dme_print_set(text, " awaited", &s->peer[0].awaited, sizeof s->peer[0], d->n);
    dme_print_set(text, " deferred", &s->peer[0].deferred, sizeof s->peer[0], d->n);
    dme_print_set(text, " younger", &s->peer[0].younger, sizeof s->peer[0], d->n);
    dme_print_site(text, " captain", s->captain);
    dme_print(text, " following=%u", s->following);
}

const struct dme_alg joung_ra2 = {
    .name = "joung-ra2",
    .paper = "Y.-J. Joung, The congenial talking philosophers problem in computer networks, Distributed Computing 15, "
             "2002: RA2, reconstructed from the abstract",
    .cost = "2(n-1) to 4(n-1) messages, delay T, 2T if a follower leaves last",
    .family = DME_PERMISSION,
    .kinds = j2_kinds,
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_GROUP,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct j2),
    .peer_size = sizeof(((struct j2 *)0)->peer[0]),
    .init = j2_init,
    .request = j2_request,
    .receive = j2_receive,
    .release = j2_release,
    .broken = j2_broken,
    .malformed = j2_malformed,
    .show = j2_show,
};
