/* node.h - a member of the cluster, without I/O: links to the others, locks, sessions of clients, and the time.
 *
 * A driver (the daemon, or a simulation of a whole cluster) feeds it: bytes into links, calls of clients into sessions,
 * the time into node_advance. After each of these it calls node_pump, and then does what is left to be done: bytes in
 * links to be written (link_output), events for sessions (node_next).
 *
 * Nothing is granted before all members have met. A member that has restarted is refused by everybody who remembers it
 * (link.h); it then never opens, takes no message and grants nothing, so that locks it held in its former life are not
 * given away twice. If it does open, nobody remembers it, hence nobody has ever heard a message of its former self. */
#ifndef DIBS_NODE_NODE_H
#define DIBS_NODE_NODE_H

#include "due.h"
#include "link.h"
#include "lock.h"
#include "stats.h"
#include "talk.h"

enum { NODE_MEMBERS_MAX = 64 };

struct node_conf {
    uint32_t n, self;
    const char *const *name; /* of the members; they and the summary outlive the node */
    const char *summary;     /* the configuration as text; it must be the same on all members */
    const struct dme_alg *modes, *slots;
    const struct lock_policy *policy; /* so many, for names that match one; they outlive the node */
    uint32_t policies;
    uint64_t incarnation; /* a number that no other life of this member has, not 0 */
    uint64_t fence;       /* fences will be larger: take something that grows from life to life */
};

struct node {
    struct node_conf conf;
    struct link_self self;
    struct link *link; /* by member */
    struct locks locks;
    struct due due;
    struct talk talk;
    struct ring sessions;
    uint64_t session_count;
    uint64_t now_ms;
    uint64_t grants, losses; /* so far */
    struct stats stats;
};

/* What a client has to be told: one of its claims has come to this. */
struct node_event {
    struct session *session;
    enum claim_state state; /* not CLAIM_WAITING */
    bool answers;           /* its request; else it is news of what it held */
    uint64_t fence;         /* held or lost */
    uint8_t name_len;
    char name[LOCK_NAME_MAX + 1];
    char why[512]; /* refused */
    /* Or, if one of these is not null, it is about none of its claims: */
    struct subscription *watched; /* something has happened to a lock, which the note tells */
    const struct watch_note *note;
    struct question *answered; /* what it asked about locks */
};

void node_init(struct node *node, const struct node_conf *conf);
/* All sessions must have been closed. */
void node_free(struct node *node);

void node_advance(struct node *node, uint64_t now_ms);
/* When node_advance should be called at the latest; UINT64_MAX: not for its own sake. */
uint64_t node_due_ms(const struct node *node);
/* Messages that came are handled. */
void node_pump(struct node *node);
bool node_next(struct node *node, struct node_event *event);
bool node_is_open(const struct node *node);
/* For how long from now the locks of this member's clients are surely theirs, whatever happens to it: a member that is
 * stopped or cut off cannot say that others have given them away. */
uint64_t node_vouches_ms(const struct node *node);

#endif
