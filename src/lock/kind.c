/* kind.c - see kind.h. */
#include "kind.h"

#include "carried.h"
#include "convert.h"
#include "report.h"

#include "base/memory.h"

#include <stdlib.h>

/* No client of this member holds the lock, no site waits or is inside, and no carried-over holder elsewhere is
 * known. */
static bool kind_is_idle(const struct lock *lock)
{
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if (lock->site[s].node->phase != DME_IDLE)
            return false;
    return !(lock->carried && lock->carried->elsewhere) && !lock_next_holder(lock, NULL);
}

bool kind_is_unused(const struct lock *lock)
{
    return kind_is_idle(lock) && (lock->frozen || !lock->known || lock->waiters == 0);
}

/* Sets kind and epoch. In a new epoch the sites begin anew. */
static void kind_set(struct locks *l, struct lock *lock, uint32_t slots, uint32_t epoch)
{
    if (lock->epoch != epoch || lock->slots != slots) {
        instance_end(l, lock);
        report_end(lock);
        convert_end(lock);
        lock->stays = lock->alone = 0;
    }
    lock->epoch = epoch;
    lock->slots = slots;
    lock->known = 1;
}

/* The home has decided. */
static void kind_decide(struct locks *l, struct lock *lock, uint32_t slots, uint32_t epoch, uint64_t fence)
{
    kind_set(l, lock, slots, epoch);
    if (l->fence < fence)
        l->fence = fence;
    lock->frozen = 0;
    lock_refuse_others(l, lock);
}

/* May a lock that no client uses become one with `slots` slots? */
static bool kind_allows(const struct locks *l, const struct lock *lock, uint32_t slots)
{
    int fixed = lock_policy(l, lock)->kind;

    return fixed == LOCK_ANY_KIND || slots == (uint32_t)fixed;
}

/* ---------------------------------------------------------------------------------------------------------- at the home */

static void kind_conclude(struct locks *l, struct lock *lock)
{
    struct lock_retire retire = *lock->retire;
    bool changes = !retire.kept;

    free(lock->retire);
    lock->retire = NULL;
    kind_decide(l, lock, changes ? retire.slots : lock->slots, lock->epoch + changes, retire.fence);
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self)
            instance_say_kind(l, lock, INSTANCE_IS, j, 0, retire.fence);
}

static void kind_hear_answer(struct locks *l, struct lock *lock, uint32_t from, bool kept, uint64_t fence)
{
    struct lock_retire *retire = lock->retire;

    retire->heard |= (uint64_t)1 << from;
    retire->kept |= kept;
    if (retire->fence < fence)
        retire->fence = fence;
    for (uint32_t j = 0; j < l->view.n; j++)
        if (!(retire->heard >> j & 1))
            return;
    kind_conclude(l, lock);
}

/* Member `from`, which may be this one, asks for the kind and wants `slots` slots. If a decision is pending, all
 * members, `from` included, will be told of it. */
static void kind_asked(struct locks *l, struct lock *lock, uint32_t from, uint32_t slots)
{
    int fixed = lock_policy(l, lock)->kind;

    if (lock->retire)
        return;
    if (!lock->known)
        kind_decide(l, lock, fixed == LOCK_ANY_KIND ? slots : (uint32_t)fixed, lock->epoch, 0);
    if (lock->slots == slots || !kind_allows(l, lock, slots) || !kind_is_unused(lock)) {
        if (from == l->view.self)
            kind_decide(l, lock, lock->slots, lock->epoch, 0);
        else
            instance_say_kind(l, lock, INSTANCE_IS, from, 0, 0);
        return;
    }
    lock->retire = mem_new(sizeof *lock->retire);
    lock->retire->slots = slots;
    lock->frozen = 1;
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self)
            instance_say_kind(l, lock, INSTANCE_RETIRE, j, 0, 0);
    kind_hear_answer(l, lock, l->view.self, false, instance_fence(l, lock));
}

/* If the home knows all carried-over holders, it answers the members that have asked meanwhile. */
void kind_go_on(struct locks *l, struct lock *lock)
{
    for (uint32_t j = 0; lock->carried && lock->carried->asks && !lock->carried->unheard && j < l->view.n; j++) {
        uint32_t wanted = lock->carried->of[j].asks;

        if (wanted) {
            lock->carried->of[j].asks = 0;
            lock->carried->asks--;
            kind_asked(l, lock, j, wanted - 1);
        }
    }
    carried_tidy(lock);
}

/* --------------------------------------------------------------------------------------------------------- at a member */

void kind_fix(struct locks *l, struct lock *lock)
{
    int fixed = lock_policy(l, lock)->kind;

    if (lock->known || lock->frozen || lock->looked != LOCK_IN_NO_DIGEST || fixed == LOCK_ANY_KIND)
        return;
    kind_set(l, lock, (uint32_t)fixed, lock->epoch);
    lock_refuse_others(l, lock);
}

void kind_want(struct locks *l, struct lock *lock, uint32_t slots)
{
    uint32_t home = instance_home(l, lock);

    lock->frozen = 1;
    if (home == l->view.self)
        kind_asked(l, lock, home, slots);
    else
        instance_say_kind(l, lock, INSTANCE_ASK, home, slots, 0);
}

static void kind_freeze(struct locks *l, struct lock *lock, uint32_t home)
{
    bool unused = kind_is_unused(lock);

    lock->frozen |= unused;
    instance_say_kind(l, lock, INSTANCE_FROZEN, home, !unused, instance_fence(l, lock));
}

/* Is the kind or the epoch of `m` impossible? A new epoch begins only when every member has frozen the lock. */
static const char *kind_object(const struct locks *l, const struct lock *lock, const struct instance_message *m)
{
    if (m->epoch == lock->epoch)
        return lock->known && lock->slots != m->slots ? "a lock of the same name and another kind" : NULL;
    if (!lock->frozen || !kind_is_idle(lock) || m->epoch != lock->epoch + 1 || !kind_allows(l, lock, m->slots))
        return "a lock that changes its kind while it is used";
    return NULL;
}

bool kind_is_current(struct locks *l, struct lock *lock, const struct instance_message *m, const char **wrong)
{
    if (m->epoch < lock->epoch)
        return false;
    *wrong = kind_object(l, lock, m);
    if (*wrong)
        return false;
    if (!lock->known || m->epoch != lock->epoch) {
        kind_set(l, lock, m->slots, m->epoch);
        if (!lock->frozen)
            lock_refuse_others(l, lock);
    }
    return true;
}

const char *kind_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    uint32_t home = instance_home(l, lock);
    const char *wrong;

    if ((m->type == INSTANCE_ASK || m->type == INSTANCE_FROZEN ? l->view.self : from) != home)
        return "a question or an answer about a lock that is at home elsewhere";
    switch (m->type) {
    case INSTANCE_ASK:
        carried_look(l, lock);
        if (carried_is_unclear(lock))
            carried_defer_ask(l, lock, from, m->number);
        else
            kind_asked(l, lock, from, m->number);
        return NULL;
    case INSTANCE_RETIRE:
        kind_freeze(l, lock, home);
        return NULL;
    case INSTANCE_FROZEN:
        if (!lock->retire || lock->retire->heard >> from & 1)
            return "an answer about a lock that was not asked for";
        kind_hear_answer(l, lock, from, m->number != 0, m->fence);
        return NULL;
    default:
        wrong = kind_object(l, lock, m);
        if (!wrong)
            kind_decide(l, lock, m->slots, m->epoch, m->fence);
        return wrong;
    }
}

void kind_end_view(struct lock *lock)
{
    free(lock->retire);
    lock->retire = NULL;
    lock->frozen = 0;
    lock->epoch = 0;
    lock->known = lock->carried != NULL; /* without carried-over holders, the policy or the home decides anew */
}
