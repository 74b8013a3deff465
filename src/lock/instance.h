/* instance.h - the algorithm of one lock at one member: its sites, its steps, its messages. Used by lock.c alone. */
#ifndef DIBS_LOCK_INSTANCE_H
#define DIBS_LOCK_INSTANCE_H

#include "lock.h"

/* What members tell each other about a lock: which kind is wanted, what it is; whether it can be frozen, and the answer
 * (kind.h); a message of its algorithm; how many clients hold it since before this view; how many of them no longer do so, or
 * hold it in this view; a question for the former, and the answer that there are none (carried.h); what of its claims is to
 * be reported from now on; these are the claims (report.h). */
enum instance_type {
    INSTANCE_ASK = 1,
    INSTANCE_IS,
    INSTANCE_STEP,
    INSTANCE_ENCUMBERED,
    INSTANCE_FREED,
    INSTANCE_FOLLOW,
    INSTANCE_REPORT,
    INSTANCE_RETIRE,
    INSTANCE_FROZEN,
    INSTANCE_INQUIRE,
    INSTANCE_CLEAR,
    INSTANCE_TYPES /* one more than the last */
};

static inline bool instance_is_about_kind(enum instance_type type)
{
    return type == INSTANCE_ASK || type == INSTANCE_IS || type == INSTANCE_RETIRE || type == INSTANCE_FROZEN;
}

struct instance_message {
    enum instance_type type;
    const char *name;
    size_t name_len;
    uint32_t slots, epoch; /* the kind of the lock, as far as the sender knows it */
    uint32_t from, to;     /* STEP: which of the sites of a member */
    uint32_t mode, count;  /* ENCUMBERED, FREED; REPORT: of holders; FOLLOW: what */
    uint32_t number;       /* FOLLOW, REPORT; ASK: slots that are wanted; FROZEN: 1, it is not, but kept */
    uint64_t fence;        /* IS, FROZEN: at least that of every site */
    uint32_t waits;        /* REPORT */
    const uint8_t *step;
    size_t step_len;
};

enum dme_rule instance_rule(const struct dme_alg *modes);
/* The configuration of locks of this policy with so many slots, or none. */
void instance_conf_of(const struct locks *l, const struct lock_policy *policy, uint32_t slots, struct dme_conf *conf);
uint32_t instance_home(const struct locks *l, const struct lock *lock); /* a member */

/* Its sites begin, or are taken out again as they were put away. */
void instance_begin(struct locks *l, struct lock *lock);
void instance_end(struct locks *l, struct lock *lock);
/* If no site is asking or inside: puts them away. If they are so large (many slots) that it would take too long each time,
 * that is done later, when INSTANCE_LARGE_MAX other large ones have become idle since. It ends if to begin anew would make
 * no difference: all sites are as at first but for their fences; or all sites of the lock are here, and nothing is under
 * way between them. */
enum { INSTANCE_REST_MAX = 1 << 13 /* bytes */, INSTANCE_LARGE_MAX = 8 };
void instance_rest(struct locks *l, struct lock *lock);

void instance_request(struct locks *l, struct lock *lock, uint32_t s, uint32_t mode);
void instance_release(struct locks *l, struct lock *lock, uint32_t s);
/* Null, or what is wrong with the message. */
const char *instance_receive(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);

/* ASK, IS, RETIRE, FROZEN. */
void instance_say_kind(struct locks *l, const struct lock *lock, enum instance_type type, uint32_t to, uint32_t number,
                       uint64_t fence);
/* ENCUMBERED, FREED, or INQUIRE. */
void instance_say_old(struct locks *l, const struct lock *lock, enum instance_type type, uint32_t to, uint32_t count);
/* CLEAR, about a lock that need not be there. */
void instance_say_clear(struct locks *l, uint32_t to, const char *name, size_t name_len);
struct report;
void instance_say_follow(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number, uint32_t what);
void instance_say_report(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number,
                         const struct report *report);
const char *instance_parse(const uint8_t *bytes, size_t len, struct instance_message *m);

/* In lock.c: the site has entered. */
void lock_entered(struct locks *l, struct lock *lock, uint32_t s);

#endif
