/* instance.h - the algorithm of one lock at one member: its sites, its steps, its messages. Used by lock.c alone. */
#ifndef DIBS_LOCK_INSTANCE_H
#define DIBS_LOCK_INSTANCE_H

#include "link/registry.h"
#include "lock.h"

#include <assert.h>

/* A letter about a lock, as its fields (link/registry.h). */
struct instance_message {
    enum message_type type;
    enum registry_part part;
    const char *name;
    size_t name_len;
    uint32_t slots, epoch; /* the kind of the lock, as far as the sender knows it */
    uint32_t from, to;     /* STEP: which of the sender's sites, which of the receiver's */
    uint32_t mode;         /* ENCUMBERED, FREED, REPORT: of the holders; FOLLOW: what to follow */
    /* ENCUMBERED, FREED, REPORT: number of holders; BAR: its level (enum bar); BARRED: number of clients in the way. */
    uint32_t count;
    /* FOLLOW, REPORT: number of the FOLLOW; ASK: slots wanted; FROZEN: 1 if the lock is kept; BAR, BARRED: number of the BAR. */
    uint32_t number;
    /* IS: at least the fence of every site. FROZEN, BAR, BARRED: at least the fence of every site of the sender. */
    uint64_t fence;
    uint32_t waits; /* REPORT: see struct report */
    const uint8_t *step;
    size_t step_len;
};

enum dme_rule instance_rule(const struct dme_alg *algorithm);
/* What all locks of one policy with the same number of slots have in common in a view. It is made when it is first needed.
 * Each policy has a place for its kind without slots. Kinds with slots share INSTANCE_SLOT_KINDS places: a kind replaces the one that is in its place. */
enum { INSTANCE_SLOT_KINDS = 8 };
struct lock_kind {
    bool made;
    uint8_t policy;
    uint32_t slots;
    uint32_t mode_max; /* the largest mode that a client can request */
    struct dme_conf conf;
    struct stats_alg *counts; /* of its algorithm's messages; or null: they are not counted */
    struct lock_fresh {
        struct dme_node *node; /* the initial state, or null: not made yet */
        uint32_t size;         /* of it, in bytes */
        bool talks;            /* the site begins by sending messages */
    } * fresh;                 /* without slots: by site; else null */
};
void instance_make_kind(struct locks *l, struct lock_kind *kind, uint8_t policy, uint32_t slots);
static inline struct lock_kind *instance_kind(struct locks *l, uint8_t policy, uint32_t slots)
{
    uint32_t others = l->conf.policies + 1;
    struct lock_kind *kind = &l->kind[slots ? others + (slots + policy) % INSTANCE_SLOT_KINDS : policy];

    if (!kind->made || kind->policy != policy || kind->slots != slots)
        instance_make_kind(l, kind, policy, slots);
    return kind;
}
/* A view has begun: kinds are made anew. */
void instance_begin_view(struct locks *l);
void instance_free(struct locks *l);
/* The index of the home of the lock's name. The lock's state must belong to this view. */
static inline uint32_t instance_home(const struct locks *l, const struct lock *lock)
{
    assert(lock->view == l->number);
    (void)l;
    return lock->home;
}

/* The number of site `s` of a member, and the member that has a site. Sites are numbered from the home. */
static inline dme_id instance_site(const struct locks *l, const struct lock *lock, uint32_t member, uint32_t s)
{
    uint32_t home = instance_home(l, lock);

    return (member >= home ? member - home : member + l->view.n - home) * lock_sites(lock) + s;
}
static inline uint32_t instance_member(const struct locks *l, const struct lock *lock, dme_id site)
{
    uint32_t member = (lock->slots ? site / lock->slots : site) + instance_home(l, lock);

    return member >= l->view.n ? member - l->view.n : member;
}
/* At least the fence of every site that this member has, or had, of the lock. */
uint64_t instance_fence(const struct locks *l, const struct lock *lock);

/* Makes this member's sites of the lock: dormant ones wake up in their state, others begin in their initial state. */
void instance_begin(struct locks *l, struct lock *lock);
void instance_end(struct locks *l, struct lock *lock);
/* If all sites of this member are idle, decides what becomes of them. If new sites would behave in the same way, the instance
 * ends: all sites equal their initial state except for their fences, or this member is the only one, so that no message is in
 * flight. Otherwise the sites become dormant, but not at once: a lock is often used again soon, and to pack and unpack its
 * sites takes longer than a step of the algorithm. They become dormant when many other locks have become idle since:
 * INSTANCE_RECENT_MAX, or, if the sites of these take more than INSTANCE_RECENT_BYTES, INSTANCE_RECENT_MIN. */
enum { INSTANCE_RECENT_MAX = 64, INSTANCE_RECENT_MIN = 8, INSTANCE_RECENT_BYTES = 1 << 16 };
void instance_rest(struct locks *l, struct lock *lock);

void instance_request(struct locks *l, struct lock *lock, uint32_t s, uint32_t mode);
void instance_release(struct locks *l, struct lock *lock, uint32_t s);
/* Delivers a message of the algorithm. Returns null, or what is wrong with the message. */
const char *instance_receive(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);

/* Sends ASK, IS, RETIRE or FROZEN. */
void instance_say_kind(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to, uint32_t number,
                       uint64_t fence);
/* Sends ENCUMBERED, FREED or INQUIRE. */
void instance_say_carried(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to,
                          uint32_t count);
/* Sends CLEAR, about a name that this member need not know. */
void instance_say_clear(struct locks *l, uint32_t to, const char *name, size_t name_len);
struct report;
void instance_say_follow(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number, uint32_t what);
void instance_say_report(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number,
                         const struct report *report);
/* Sends BAR or BARRED. */
void instance_say_bar(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to, uint32_t number,
                      uint32_t count);
const char *instance_parse(const uint8_t *bytes, size_t len, struct instance_message *m);

/* In lock.c: site `s` has entered. */
void lock_entered(struct locks *l, struct lock *lock, uint32_t s);

#endif
