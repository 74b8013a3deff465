/* report.c - see report.h. */
#include "report.h"

#include "base/memory.h"
#include "convert.h"

#include <stdlib.h>

enum { LOOK_MAX = 64 }; /* claims at the head of a queue that are examined */

static const struct report report_of_none = {.waits = REPORT_NONE};

static bool report_is_rival(uint32_t waits, uint32_t mode)
{
    return waits != REPORT_NONE && !dme_compatible(waits, mode);
}

/* ------------------------------------------------------------------------------------------------------- this member's */

/* The mode in which clients wait: those ahead of claim `before`, or all if it is null. */
static uint32_t report_waits(const struct lock *lock, const struct claim *before)
{
    uint32_t waits = REPORT_NONE;
    unsigned looked = 0;

    for (const struct ring *r = lock->waiting.next; r != &lock->waiting && looked < LOOK_MAX; r = r->next, looked++) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_lock);

        if (c == before)
            break;
        waits = waits == REPORT_NONE || waits == c->mode ? c->mode : REPORT_SEVERAL;
    }
    return waits;
}

static struct report report_own(const struct lock *lock, const struct claim *before)
{
    const struct claim *c = lock_next_holder(lock, NULL);

    while (c && c->state == CLAIM_WITHDRAWN)
        c = lock_next_holder(lock, c);
    return (struct report){
        .held = lock_count_holders(lock), .held_mode = c ? c->mode : 0, .waits = report_waits(lock, before)};
}

/* The report for a member that follows `followed`. */
static struct report report_for(const struct lock *lock, uint32_t followed)
{
    if (followed == REPORT_EVERYTHING)
        return report_own(lock, NULL);
    return (struct report){.waits = report_is_rival(report_waits(lock, NULL), followed) ? REPORT_SEVERAL : REPORT_NONE};
}

static bool report_same(const struct report *a, const struct report *b)
{
    return a->held == b->held && a->held_mode == b->held_mode && a->waits == b->waits;
}

static void report_tell(struct locks *l, struct lock *lock)
{
    struct lock_reports *all = lock->reports;

    for (uint32_t j = 0; all && all->followers && j < l->view.n; j++) {
        struct report now;

        if (all->of[j].followed == REPORT_NOTHING)
            continue;
        now = report_for(lock, all->of[j].followed);
        if (!report_same(&now, &all->of[j].said))
            instance_say_report(l, lock, j, all->of[j].number, &now);
        all->of[j].said = now;
    }
}

/* ----------------------------------------------------------------------------------------------------------- following */

static struct lock_reports *report_all(const struct locks *l, struct lock *lock)
{
    if (!lock->reports) {
        lock->reports = mem_new(sizeof *lock->reports + l->view.n * sizeof lock->reports->of[0]);
        for (uint32_t j = 0; j < l->view.n; j++)
            lock->reports->of[j].said = lock->reports->of[j].heard = report_of_none;
    }
    return lock->reports;
}

static void report_follow(struct locks *l, struct lock *lock, uint32_t what)
{
    struct lock_reports *all;

    if (what == (lock->reports ? lock->reports->followed : REPORT_NOTHING))
        return;
    all = report_all(l, lock);
    all->followed = what;
    all->number = ++l->follows;
    for (uint32_t j = 0; j < l->view.n; j++) {
        all->of[j].heard = report_of_none;
        if (j != l->view.self)
            instance_say_follow(l, lock, j, all->number, what);
    }
    if (what == REPORT_NOTHING && all->followers == 0)
        report_end(lock);
}

void report_end(struct lock *lock)
{
    free(lock->reports);
    lock->reports = NULL;
}

/* What this member needs to follow. A site that is inside in a mode that can be shared must know of rivals, and so must a site that is about to
 * enter again for a client that has downgraded the lock (convert.h). The member goes on following after the stay, since its site is likely to
 * enter in that mode again. */
static uint32_t report_wish(const struct lock *lock, uint32_t followed)
{
    const struct dme_node *node = lock->site && !lock->slots ? lock->site[0].node : NULL;

    if (lock->tries)
        return REPORT_EVERYTHING;
    if (node && node->phase == DME_INSIDE && node->mode != LOCK_ALONE)
        return node->mode;
    if (lock->convert && lock->convert->raised == BAR_WRITERS)
        return LOCK_SHARED;
    return followed == REPORT_EVERYTHING ? REPORT_NOTHING : followed;
}

void report_update(struct locks *l, struct lock *lock)
{
    if (l->view.n > 1)
        report_follow(l, lock, report_wish(lock, lock->reports ? lock->reports->followed : REPORT_NOTHING));
    report_tell(l, lock);
}

bool report_has_rivals(const struct locks *l, const struct lock *lock, uint32_t mode)
{
    for (uint32_t j = 0; lock->reports && j < l->view.n; j++)
        if (report_is_rival(lock->reports->of[j].heard.waits, mode))
            return true;
    return false;
}

bool report_is_in_vain(const struct locks *l, const struct lock *lock, const struct claim *c)
{
    struct report own = report_own(lock, c);
    bool shared = false, rival = false;
    uint64_t held = 0;

    for (uint32_t j = 0; j < l->view.n; j++) {
        const struct report *r = j == l->view.self ? &own
                                 : lock->reports   ? &lock->reports->of[j].heard
                                                   : &report_of_none;

        held += r->held;
        if (!lock->slots && r->held && !dme_compatible(r->held_mode, c->mode))
            return true;
        shared |= r->held > 0;
        rival |= report_is_rival(r->waits, c->mode);
    }
    return lock->slots ? held >= lock->slots : shared && rival;
}

void report_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_reports *all;

    if (m->type == INSTANCE_REPORT) {
        if (lock->reports && lock->reports->number == m->number)
            lock->reports->of[from].heard = (struct report){.held = m->count, .held_mode = m->mode, .waits = m->waits};
        return;
    }
    all = report_all(l, lock);
    all->followers += (m->mode != REPORT_NOTHING) - (all->of[from].followed != REPORT_NOTHING);
    all->of[from].followed = m->mode;
    all->of[from].number = m->number;
    all->of[from].said = report_of_none;
    if (all->followers == 0 && all->followed == REPORT_NOTHING)
        report_end(lock);
}
