/* lock.c - claims: a client's request for a lock joins a queue, and ends; and messages of other members. See lock.h.
 *
 * instance.c runs the algorithm of a lock, names.c finds a lock by its name, and carried.c knows the carried-over
 * holders. lock_serve.c decides which client is served next: every change in this file ends with lock_work(). What
 * concerns many locks at once is in lock_pieces.c. */
#include "lock.h"

#include "base/plain.h"
#include "carried.h"
#include "convert.h"
#include "digest.h"
#include "instance.h"
#include "kind.h"
#include "link/link.h"
#include "lock_inside.h"
#include "names.h"
#include "report.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- claims */

const char *const lock_mode_name[] = {"exclusive", "shared", "group", "slot"};
_Static_assert(sizeof lock_mode_name / sizeof lock_mode_name[0] == LOCK_MODES, "a mode has a name");

const char *const loss_text[] = {"its TTL has run out",
                                 "it was taken away by force-unlock",
                                 "the daemon has lost touch with a majority of the members",
                                 "the other members have excluded the daemon",
                                 "the daemon is about to end",
                                 "its client has not confirmed it in time",
                                 "its connection has broken",
                                 "its session was not resumed in time",
                                 "its client does not have the right to upgrade it any more"};
_Static_assert(sizeof loss_text / sizeof loss_text[0] == LOSS_RIGHT + 1, "a loss has a text");
_Static_assert(LOCK_NAME_MAX <= UINT8_MAX, "the length of a name is one byte, here and in messages");

void lock_set_outcome(struct locks *l, struct claim *c, enum claim_state state)
{
    assert(state != CLAIM_WAITING && state != CLAIM_WITHDRAWN);
    c->state = state;
    ring_cut(&c->in_list);
    ring_push(&l->outcomes, &c->in_list);
}

void lock_unwait(struct locks *l, struct claim *c)
{
    assert(c->state == CLAIM_WAITING && c->lock->waiters > 0 && c->lock->tries >= c->tries);
    if (c->arrival == 0)
        convert_unwait(c);
    ring_cut(&c->in_lock);
    c->lock->waiters--;
    c->lock->tries -= c->tries;
    lock_lose(l, c->lock);
}

struct claim *lock_next_holder(const struct lock *lock, const struct claim *after)
{
    uint32_t sites = lock->site ? lock_sites(lock) : 0, s = 0;
    const struct ring *next = NULL, *end = NULL;

    if (lock->carried && (!after || after->site == LOCK_CARRIED)) {
        end = &lock->carried->holders;
        next = after ? after->in_lock.next : end->next;
    } else if (after) {
        s = after->site + 1;
        end = &lock->site[after->site].holders;
        next = after->in_lock.next;
    }
    for (; next == end && s < sites; s++) {
        end = &lock->site[s].holders;
        next = end->next;
    }
    return next == end ? NULL : RING_OF((struct ring *)next, struct claim, in_lock);
}

uint32_t lock_count_holders(const struct lock *lock)
{
    uint32_t count = lock->carried ? lock->carried->held : 0;

    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        count += lock->site[s].held;
    return count - lock->withdrawn;
}

/* ---------------------------------------------------------------------------------------------- the kind of a lock */

void lock_refuse_others(struct locks *l, struct lock *lock)
{
    struct ring *r = lock->waiting.next;

    while (r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->unsaid && lock_policy(l, lock)->kind > 0)
            c->slots = lock->slots;
        if (c->slots != lock->slots) {
            lock_unwait(l, c);
            lock_set_outcome(l, c, CLAIM_REFUSED);
        }
    }
    lock->mixed = 0;
}

static void lock_print_kind(const struct lock_policy *policy, const char *name, size_t name_len, uint32_t slots,
                            struct dme_text *text)
{
    if (policy->kind != LOCK_ANY_KIND && slots != (uint32_t)policy->kind) /* its policy has changed */
        dme_print(text, "\"%.*s\" is still in use as it was before its policy changed, %s; ask for it again later",
                  (int)name_len, name, slots ? "with another number of slots" : "without slots");
    else if (slots)
        dme_print(text, "\"%.*s\" is a lock with %u slots; ask for it with SLOTS %u (dibs lock --slots %u)",
                  (int)name_len, name, slots, slots, slots);
    else
        dme_print(text, "\"%.*s\" is %s lock; ask for it without SLOTS (--slots)", (int)name_len, name,
                  instance_rule(policy->algorithm) == DME_EXCLUSIVE ? "an exclusive" : "an exclusive or shared");
}

void lock_describe(const struct locks *l, const struct lock *lock, struct dme_text *text)
{
    lock_print_kind(&l->policy[names_policy(l, lock->name, lock->name_len)], lock->name, lock->name_len, lock->slots,
                    text);
}

/* True if the claim requests another kind than the lock has, or a kind or mode that its policy or algorithm does not
 * allow. */
static bool lock_is_other(struct locks *l, const struct lock *lock, struct claim *c, struct dme_text *why)
{
    uint8_t number = lock ? lock->policy : names_policy(l, c->name, c->name_len);
    const struct lock_policy *policy = &l->policy[number];
    const struct lock_kind *kind;
    bool fixed = policy->kind != LOCK_ANY_KIND;
    uint32_t slots = fixed ? (uint32_t)policy->kind : c->slots;

    if (lock && lock->known && lock->slots != slots && !(l->open && kind_is_unused(lock)))
        slots = lock->slots; /* a lock in use keeps its kind */
    if (c->unsaid && policy->kind > 0)
        c->slots = slots; /* the kind of the policy, or the one that the lock has kept */
    else if (fixed && c->slots != (uint32_t)policy->kind)
        slots = (uint32_t)policy->kind; /* the error tells the client to request this kind */
    if (c->slots != slots) {
        lock_print_kind(policy, c->name, c->name_len, slots, why);
        return true;
    }
    kind = instance_kind(l, number, c->slots);
    if (!c->slots && c->mode > kind->mode_max) {
        dme_print(why, "\"%.*s\" is run by %s, which does not support %s", c->name_len, c->name, kind->conf.alg->name,
                  c->mode == LOCK_SHARED ? "sharing" : "groups");
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------- from outside */

void locks_init(struct locks *l, const struct locks_conf *conf)
{
    *l = (struct locks){.conf = *conf, .fence_limit = UINT64_MAX};
    if (!l->conf.names_max)
        l->conf.names_max = LOCK_NAMES_MAX;
    ring_init(&l->outcomes);
    ring_init(&l->waiting);
    ring_init(&l->ages);
    ring_init(&l->served);
    ring_init(&l->recent);
    ring_init(&l->evicted);
    locks_set_policies(l, conf->policy, conf->policies);
    instance_begin_view(l);
    l->told = true;
    l->join_left = lock_piece(l, LOCK_SERVE);
}

static void locks_free_policies(struct locks *l)
{
    for (uint32_t k = 0; l->policy && k < l->conf.policies; k++)
        free((char *)l->policy[k].pattern);
    free(l->policy);
}

void locks_set_policies(struct locks *l, const struct lock_policy *policy, uint32_t policies)
{
    assert(policies <= LOCK_POLICIES_MAX);
    instance_free(l);
    l->kind = NULL;
    locks_free_policies(l);
    l->conf.policy = NULL;
    l->conf.policies = policies;
    l->policy = mem_new((policies + 1) * sizeof *l->policy);
    for (uint32_t k = 0; k < policies; k++) {
        size_t len = strlen(policy[k].pattern) + 1;

        l->policy[k] = policy[k];
        l->policy[k].pattern = memcpy(mem_new(len), policy[k].pattern, len);
    }
    l->policy[policies] = (struct lock_policy){
        .algorithm = l->conf.algorithm, .slots_algorithm = l->conf.slots_algorithm, .kind = LOCK_ANY_KIND};
    l->policies_since = l->number + 1;
}

const struct claim *locks_oldest_wait(const struct locks *l)
{
    const struct ring *first = l->waiting.next;

    if (first == &l->served)
        first = first->next;
    return first == &l->waiting ? NULL : RING_OF(first, struct claim, in_list);
}

const struct claim *locks_oldest_hold(const struct locks *l)
{
    return ring_empty(&l->ages) ? NULL : RING_OF(l->ages.next, struct claim, in_ages);
}

void locks_free(struct locks *l)
{
    names_free(l);
    instance_free(l);
    locks_free_policies(l);
    trace_free(&l->trace);
    for (uint32_t j = 0; j < LOCK_MEMBERS_MAX; j++)
        free(l->digest[j].at);
    free(l->held);
    free(l->out);
    free(l->fresh);
    free(l->packed);
    free(l->wire);
    free(l->msg);
    free(l->local);
}

static const char *locks_objection(struct locks *l, const struct lock *lock, struct claim *c, struct dme_text *why)
{
    if (lock_is_other(l, lock, c, why))
        return "WRONGKIND";
    if (!lock && l->count >= l->conf.names_max) {
        dme_print(why, "this member remembers %zu names of locks, and takes no more", l->conf.names_max);
        return "BUSY";
    }
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self && link_is_congested(l->view.link[j])) {
            dme_print(why, "too much is waiting to be sent to member %s; try again later", l->view.link[j]->peer);
            return "BUSY";
        }
    return NULL;
}

/* The claim takes its place in the queue. It passes at most LOCK_PRIORITY_STEP * LOCK_PRIORITY_MAX others. */
static void lock_line_up(struct lock *lock, struct claim *c)
{
    struct ring *behind = &lock->waiting;

    c->arrival = ++lock->arrived;
    while (behind->prev != &lock->waiting && claim_turn(RING_OF(behind->prev, struct claim, in_lock)) > claim_turn(c))
        behind = behind->prev;
    ring_push(behind, &c->in_lock);
}

const char *locks_claim(struct locks *l, struct claim *c, struct dme_text *why)
{
    struct lock *lock = locks_find(l, c->name, c->name_len);
    const char *objection;

    assert(c->name_len >= 1 && c->slots <= LOCK_SLOTS_MAX && c->priority <= LOCK_PRIORITY_MAX);
    if (lock)
        lock_enter_view(l, lock);
    objection = locks_objection(l, lock, c, why);
    if (objection)
        return objection;
    if (!lock)
        lock = names_add(l, c->name, c->name_len);
    c->lock = lock;
    c->state = CLAIM_WAITING;
    c->number = ++l->claimed;
    lock_line_up(lock, c);
    lock->mixed |= lock->known && lock->slots != c->slots;
    ring_push(&l->waiting, &c->in_list);
    lock_gain(l, lock);
    lock->tries += c->tries;
    lock->waiters++;
    lock_work(l, lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ changes of the mode */

/* Does the lock's algorithm not support sharing? If a client shares the lock all the same, the policy was another one when it was granted. */
static bool lock_lacks_sharing(struct locks *l, const struct claim *c, struct dme_text *why)
{
    const struct lock_kind *kind = instance_kind(l, c->lock->policy, 0);

    if (kind->mode_max < LOCK_SHARED)
        dme_print(why, "\"%.*s\" is run by %s, which does not support sharing", c->name_len, c->name,
                  kind->conf.alg->name);
    return kind->mode_max < LOCK_SHARED;
}

const char *locks_upgrade(struct locks *l, struct claim *upgrade, struct claim *c, bool tries, struct dme_text *why)
{
    struct lock *lock = c->lock;
    const char *objection;

    assert(c->state == CLAIM_HELD && !c->slots && c->mode == LOCK_SHARED && !c->other);
    lock_enter_view(l, lock);
    if (convert_is_wanted(lock)) {
        dme_print(why,
                  "another client that shares \"%.*s\" waits to upgrade it, and both would wait for ever: release it, "
                  "and ask for it again",
                  c->name_len, c->name);
        return "DEADLOCK";
    }
    upgrade->unsaid = true; /* so that locks_objection accepts the kind that the lock has */
    objection = locks_objection(l, lock, upgrade, why);
    if (!objection && lock_lacks_sharing(l, c, why))
        objection = "WRONGKIND";
    if (objection)
        return objection;
    upgrade->unsaid = false;
    upgrade->lock = lock;
    upgrade->state = CLAIM_WAITING;
    upgrade->number = ++l->claimed;
    upgrade->arrival = 0;
    upgrade->other = c;
    c->other = upgrade;
    ring_push(lock->waiting.next, &upgrade->in_lock);
    ring_push(&l->waiting, &upgrade->in_list);
    lock_gain(l, lock);
    lock->waiters++;
    convert_begin(l, lock, upgrade, tries);
    lock_work(l, lock);
    return NULL;
}

const char *locks_may_downgrade(struct locks *l, struct claim *c, struct dme_text *why)
{
    assert(c->state == CLAIM_HELD && !c->slots && c->mode == LOCK_ALONE);
    lock_enter_view(l, c->lock);
    return lock_lacks_sharing(l, c, why) ? "WRONGKIND" : NULL;
}

const char *locks_downgrade(struct locks *l, struct claim *c, struct dme_text *why)
{
    const char *objection = locks_may_downgrade(l, c, why);

    if (objection)
        return objection;
    convert_share(l, c);
    lock_work(l, c->lock);
    return NULL;
}

bool lock_leave(struct locks *l, struct claim *c)
{
    bool held = c->state == CLAIM_HELD || c->state == CLAIM_LINGERS || c->state == CLAIM_WITHDRAWN;

    if (c->state == CLAIM_WAITING) {
        convert_part(c);
        lock_unwait(l, c);
        return true;
    }
    if (!held)
        return false;
    convert_lose(l, c, REFUSAL_RELEASED);
    assert(c->state != CLAIM_LINGERS || l->lingering > 0);
    lock_enter_view(l, c->lock);
    digest_lose(l, c);
    lock_lose(l, c->lock);
    l->lingering -= c->state == CLAIM_LINGERS;
    c->lock->withdrawn -= c->state == CLAIM_WITHDRAWN;
    convert_leave(c);
    ring_cut(&c->in_lock);
    if (c->site == LOCK_CARRIED)
        carried_freed(l, c->lock, 1);
    else {
        assert(c->site < lock_sites(c->lock) && c->lock->site[c->site].held > 0);
        c->lock->site[c->site].held--;
    }
    return true;
}

void locks_drop(struct locks *l, struct claim *c)
{
    ring_cut(&c->in_list);
    if (lock_leave(l, c))
        lock_work(l, c->lock);
    else
        convert_part(c);
}

void locks_withdraw(struct locks *l, struct claim *c)
{
    assert(c->state == CLAIM_HELD || c->state == CLAIM_LINGERS);
    ring_cut(&c->in_list);
    convert_lose(l, c, REFUSAL_RELEASED);
    l->lingering -= c->state == CLAIM_LINGERS;
    c->lock->withdrawn++;
    c->state = CLAIM_WITHDRAWN;
    lock_work(l, c->lock);
}

/* The claim has its outcome before lock_work() can grant the lock to another: the client that loses it is told first
 * (I17). */
static void lock_take(struct locks *l, struct claim *c, enum claim_state state)
{
    if (lock_leave(l, c)) {
        lock_set_outcome(l, c, state);
        lock_work(l, c->lock);
    }
}

void locks_time_out(struct locks *l, struct claim *c)
{
    lock_take(l, c, CLAIM_TIMED_OUT);
}

void locks_take_away(struct locks *l, struct claim *c, enum loss why)
{
    bool lingers;

    if (c->state == CLAIM_LINGERS || c->state == CLAIM_WITHDRAWN)
        return;
    c->loss = why;
    lingers = c->state == CLAIM_HELD && l->conf.lingers && l->conf.lingers(c);
    convert_lose(l, c,
                 REFUSAL_LOST); /* after `lingers`: it may set c->fence back, and other members have the new fence */
    if (lingers) {
        l->lingering++;
        lock_set_outcome(l, c, CLAIM_LINGERS);
    } else {
        lock_take(l, c, CLAIM_LOST);
    }
}

void locks_adopt(struct locks *l, struct claim *c)
{
    struct lock *lock = locks_find(l, c->name, c->name_len);

    assert(!l->complete);
    if (!lock)
        lock = names_add(l, c->name, c->name_len);
    lock_enter_view(l, lock);
    c->lock = lock;
    c->state = CLAIM_HELD;
    c->uncertain = true;
    lock->slots = c->slots;
    lock->known = 1;
    lock_refuse_others(l, lock); /* clients may have asked for another kind when this member did not know the holder */
    lock_gain(l, lock);
    digest_gain(l, c);
    carried_adopt(l, lock, c);
}

struct claim *locks_next_outcome(struct locks *l)
{
    struct claim *c;

    if (ring_empty(&l->outcomes))
        return NULL;
    c = RING_OF(l->outcomes.next, struct claim, in_list);
    ring_cut(&c->in_list);
    return c;
}

/* Receives a letter of this epoch that is no message of the algorithm. */
static const char *lock_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    if (m->part == PART_CARRIED)
        return carried_hear(l, lock, from, m);
    if (m->part == PART_CONVERT)
        return convert_hear(l, lock, from, m);
    report_hear(l, lock, from, m);
    return NULL;
}

const char *locks_receive(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct instance_message m;
    const char *wrong = instance_parse(bytes, len, &m);
    struct lock *lock;

    if (wrong)
        return wrong;
    lock = locks_find(l, m.name, m.name_len);
    if (!lock && !plain_text(m.name, m.name_len))
        return "a lock with an invalid name";
    if (!lock && m.type != INSTANCE_INQUIRE)
        lock = names_add(l, m.name, m.name_len);
    if (lock) {
        lock_enter_view(l, lock);
        lock->alone = 0;
    }
    if (m.type == INSTANCE_ENCUMBERED || m.type == INSTANCE_CLEAR)
        carried_heard(lock, from);
    if (m.type == INSTANCE_INQUIRE)
        carried_answer(l, lock, from, &m);
    else if (m.part == PART_KIND)
        wrong = kind_hear(l, lock, from, &m);
    else if (m.type != INSTANCE_CLEAR && (kind_is_same(lock, &m) || kind_is_current(l, lock, &m, &wrong)))
        wrong = m.part == PART_STEP ? instance_receive(l, lock, from, &m) : lock_hear(l, lock, from, &m);
    l->trace.got[from] += m.type == INSTANCE_STEP;
    if (wrong || !lock)
        return wrong;
    if (lock->carried)
        kind_go_on(l, lock);
    lock_work(l, lock);
    return NULL;
}
