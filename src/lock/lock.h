/* lock.h - named locks, as one member of the cluster sees them.
 *
 * The model. A lock is an instance of an algorithm among the members. A member is a site of it, or several: a lock with
 * K slots gives every member K sites, so that one machine alone can use all slots. The clients of a member that want
 * the same lock wait in a line here, and the member's site asks on their behalf. When it is inside, it serves clients
 * from the line: one after the other if they want to be alone, together if they may share. Of clients that want to be
 * alone it serves only those that were waiting when it entered, at most LOCK_BATCH_MAX; then it leaves. Clients that may
 * share are also let in when they come later, as long as no client waits that cannot share: not in this member's line,
 * and, as far as this member knows, in no other's (report.h). So across the cluster it is first come, first served, within
 * the grain of one stay.
 *
 * There is no cancelling in the algorithms. Where a client has given up, its site enters and leaves at once. A client that
 * only tries gives up as soon as it is known that it would have to wait for a holder.
 *
 * Whose turn it is to begin. Sites are numbered from the *home* of a name, the member that a hash of the name points
 * at: site 0, with the first token or the office of coordinator, is elsewhere for every name, and no algorithm knows.
 *
 * What a lock is (its kind: exclusive, shared and group in one, or K slots) is fixed by its first use in the cluster, and
 * can be changed by a later one while nobody uses it. The home of the name decides (kind.h). Clients that ask for another
 * kind than that of a lock in use get an error that names the right one. A policy may fix the kind; then a client need not
 * say how many slots there are.
 *
 * Memory. When nobody here uses a lock and its sites are idle, they are put away: only what differs from their initial
 * state is kept (dormant.h), and nothing if, but for the fence, nothing does: a new site would behave the same. (In a
 * cluster of one it is enough that all its sites are idle.) Fences never go back: `fence` is at least that of every site
 * put away here, and a site that begins, or is taken out again, has it. So the fence of a member in a lock never falls,
 * which is all that the argument in core/step.c needs.
 *
 * Views. Instances live within one view (view.h). When it changes, all of them end, and new ones begin among those who
 * take part in the new view. Clients that wait go on waiting: their site asks again. Clients that hold a lock go on
 * holding it. Each member sends all others a digest of the names that its clients hold (digest.h); nothing is granted
 * before all digests are there (locks_open). A lock that is in no digest is free. One that is in a digest may be
 * *encumbered*, and the member of the digest says more when it is asked (carried.h). So no algorithm has to know how to recover.
 *
 * A change of the view is no walk over all locks. The view has a number here, and so has each lock: when they differ, the
 * state that the lock has of a former view ends as soon as anything happens to it (lock_enter_view), and not before.
 * Clients that wait stand in one ring, in which their locks are found. Work for many locks is done in pieces, one in each
 * turn (locks_go_on): the digest is made, clients that wait are served, and names of a former view that no client uses are
 * forgotten.
 *
 * Losing. What is taken away from a client may be given to others at once, unless the client has been told that it holds
 * it for some time to come (session_confirm): then it lingers until the client has heard of its loss, or that time is over.
 *
 * No I/O and no time in here. Messages go into links, from which a driver takes bytes; claims whose state has changed
 * by itself wait in a ring until they are looked at (locks_settled). */
#ifndef DIBS_LOCK_LOCK_H
#define DIBS_LOCK_LOCK_H

#include "base/ring.h"
#include "core/dme.h"
#include "core/text.h"
#include "stats.h"

enum {
    LOCK_NAME_MAX = 255,  /* bytes */
    LOCK_SLOTS_MAX = 256, /* of one lock */
    LOCK_BATCH_MAX = 64,  /* clients served one after the other in one stay inside */
    LOCK_MEMBERS_MAX = 64,
    LOCK_NAMES_MAX =
        1 << 20, /* that clients of one member may make it remember, unless the configuration says otherwise */
    LOCK_POLICIES_MAX = 255,
    /* The size of a piece of work, each of a few milliseconds at most, unless the configuration says otherwise: */
    LOCK_SERVE = 1 << 10,  /* clients that wait and are looked at */
    LOCK_SWEEP = 1 << 9,   /* places of the table in which names are forgotten */
    LOCK_DIGEST = 1 << 15, /* holders that get into the digest */
};

/* Modes of claims, where a lock has no slots. All others are groups: lock_group_mode. */
enum { LOCK_ALONE = 0, LOCK_SHARED = 1 };

/* The same, as people see it. */
enum lock_mode { LOCK_MODE_EXCLUSIVE, LOCK_MODE_SHARED, LOCK_MODE_GROUP, LOCK_MODE_SLOT, LOCK_MODES };

struct link;

enum claim_state {
    CLAIM_WAITING,
    CLAIM_HELD,
    CLAIM_REFUSED,
    CLAIM_TIMED_OUT,
    CLAIM_LOST,
    CLAIM_LINGERS, /* lost, but its client may believe in it until it has heard: nobody else gets it yet */
};

/* Why a client has lost a lock. loss_text tells it to people, in words that go on from "it is lost:". */
enum { LOSS_BY_MAX = 255 }; /* bytes that tell who has forced an unlock */
enum loss { LOSS_TTL, LOSS_FORCED, LOSS_NO_MAJORITY, LOSS_EXCLUDED, LOSS_DAEMON_ENDS, LOSS_UNCONFIRMED, LOSS_BROKEN };
extern const char *const loss_text[];

/* One client's wish for one lock, and then its possession. Owned by the session; while it waits or holds it stands in a
 * ring of the lock. */
struct claim {
    struct ring in_lock, in_session;
    struct ring settled; /* of locks; or, while it waits, in the ring of all that do */
    struct lock *lock;
    struct session *session;
    uint64_t fence;       /* held: the fencing token */
    uint64_t due_ms;      /* when the wait or the lease ends */
    uint64_t since_ms;    /* when it began to wait; held: when it was told so */
    uint64_t ttl_ms;      /* length of the lease, or 0: as long as the session */
    size_t due_slot;      /* see node/deadline.h */
    uint32_t slots, mode; /* what was asked for */
    uint32_t site;        /* held: through which of the member's sites */
    uint32_t held_at;     /* held: its place in locks.held */
    bool tries;           /* it waits for no holder */
    enum claim_state state;
    enum loss loss; /* lost, or lingering: why */
    char *by;       /* LOSS_FORCED: who has asked for it; or null */
    uint8_t name_len;
    char name[]; /* of the lock, which may be forgotten before the claim */
};

static inline uint8_t claim_mode(const struct claim *c)
{
    return c->slots                 ? LOCK_MODE_SLOT
           : c->mode == LOCK_ALONE  ? LOCK_MODE_EXCLUSIVE
           : c->mode == LOCK_SHARED ? LOCK_MODE_SHARED
                                    : LOCK_MODE_GROUP;
}

struct lock_site {
    struct dme_node *node;
    struct ring holders;
    struct ring in_large; /* the first site of a member only: see instance_rest */
    struct lock *lock;
    uint32_t held; /* how many */
    uint32_t left; /* how many more may be served in this stay */
};

/* The clients that hold a lock since before this view, and whose site is not yet inside in this one (carried.h). */
struct lock_old {
    struct ring holders; /* clients of this member */
    uint64_t told;       /* bit j: member j knows how many */
    uint64_t unheard;    /* bit j: member j has yet to say how many of its clients do */
    uint32_t held;       /* how many here */
    uint32_t elsewhere;  /* how many elsewhere, as far as is known */
    uint32_t mode;       /* in which all of them, here and elsewhere, hold it */
    uint32_t asks;       /* members that have asked this one, the home, for the kind and get no answer yet */
    struct {
        uint32_t held; /* how many of them are there */
        uint32_t asks; /* the slots that it wants, and one; 0: it has not asked */
    } of[];            /* by member */
};
enum { LOCK_OLD = UINT16_MAX }; /* claim.site of such a holder */

struct lock {
    struct lock *next; /* with the same place in the table */
    uint64_t hash;
    struct ring waiting;
    uint64_t let_go_ms; /* a client released it while others waited, and nobody was granted it since; or 0 */
    uint32_t waiters;
    uint32_t slots;               /* 0: exclusive, shared and group */
    struct lock_site *site;       /* the member's sites; or null: they are put away, or as at first */
    uint8_t *rest;                /* put away: how they differ from what they were at first; else null */
    struct lock_old *old;         /* or null, as nearly always */
    struct lock_reports *reports; /* or null: no member follows it (report.h) */
    struct lock_retire *retire;   /* or null: the home does not ask the others to freeze it (kind.h) */
    uint32_t epoch;               /* how often its kind has changed in this view */
    uint32_t tries;               /* of the waiters: those that wait for no holder */
    uint32_t claims;              /* of this member's clients: that wait, are held or linger */
    uint32_t view;                /* to which all this belongs: locks.number, or a former one */
    uint8_t known;                /* the kind is */
    uint8_t frozen;               /* the home has to say what its kind is: until then no site asks */
    uint8_t stays;                /* its first step sent messages: it must not take that step twice */
    uint8_t looked;               /* at the digests, in this view */
    uint8_t policy;               /* which of them */
    uint8_t name_len;
    char name[];
};

enum { LOCK_ANY_KIND = -1 };

/* Which algorithms run the locks with names like this, and perhaps what kind of lock they are. */
struct lock_policy {
    const char *pattern;         /* see glob.h; null matches all */
    const struct dme_alg *modes; /* of locks that are exclusive, shared or for groups, as far as it knows these rules */
    const struct dme_alg *slots; /* of locks with slots */
    int kind;                    /* LOCK_ANY_KIND; or the number of slots, 0 if they have none */
};

/* Algorithms and policies are the same on all members. */
struct locks_conf {
    const struct lock_policy *policy;    /* of names that match one, the first that does; strings outlive the locks */
    uint32_t policies;                   /* how many */
    const struct dme_alg *modes, *slots; /* of all other names */
    size_t names_max;                    /* or 0 */
    uint32_t piece;                      /* 0: LOCK_SERVE and so on */
    uint32_t digest_bits;                /* or 0: DIGEST_BITS */
    /* Held, and about to be taken away: shall it linger, as its client was told that it is held for a while to come? Null:
     * no. */
    bool (*lingers)(struct claim *c);
};

/* Who takes part. */
struct locks_view {
    uint32_t n, self;                    /* members, and which of them this is; n is 0: it does not take part */
    struct link *link[LOCK_MEMBERS_MAX]; /* to each of them; the own one is not used */
    uint64_t fence;                      /* fences will be larger */
};

/* Which names may be held by clients of a member since before this view (digest.h). */
struct lock_digest {
    uint32_t bits;  /* how many; 0: there is none */
    uint32_t heard; /* bytes, so far */
    uint8_t *at;
};

struct locks {
    struct locks_conf conf;
    struct locks_view view;
    uint32_t number;            /* of views that have begun here */
    struct lock_policy *policy; /* those of the configuration, and behind them one for all other names */
    bool told;                  /* the others have been sent the digest of this member */
    bool open;                  /* all members have sent theirs: instances may begin */
    bool grants;                /* this member may grant, as far as it knows by the clock */
    uint64_t fence;             /* at least that of every site that was put away or has ended here */
    uint64_t fence_seen;        /* at least that of every site that was ever here */
    uint64_t fence_limit;       /* tokens that are granted are smaller (fence.h) */
    uint64_t fence_granted;     /* the highest so far */
    bool fences_are_out;        /* a client waits because of the limit */
    struct lock **table;
    size_t room, count;      /* places, and names in them */
    size_t table_room, half; /* see names_grow */
    size_t used;             /* of the names: those of which clients of this member have claims */
    size_t swept; /* places of the table where no name of a former view is left that nobody uses: all below this one */
    struct lock_held {
        struct claim *claim;
        uint64_t hash; /* of the name */
    } * held;          /* all claims that are held, or linger */
    size_t held_count, held_room;
    size_t undigested; /* of them: those that are not in this member's digest yet, the first */
    struct lock_digest digest[LOCK_MEMBERS_MAX];
    struct ring waiting; /* claims, in the order in which they came */
    struct ring served;  /* among them: all before it have been looked at; or alone, if there is nothing to do */
    bool serve_again;    /* and then from the beginning */
    size_t lingering;    /* claims */
    uint32_t follows;    /* FOLLOWs sent so far */
    struct ring large;   /* locks with large states that were idle and not put away; the one idle for longest first */
    uint32_t large_count;
    struct ring settled;
    struct stats_messages messages;
    struct dme_out *out; /* of the last step */
    struct dme_node *fresh;
    struct dme_msg *msg;
    unsigned char *local; /* messages between sites of this member, on their way */
    uint8_t *rest;
    size_t out_size, fresh_size, msg_size, rest_size, local_size, local_used;
};

/* Can locks be run by this algorithm? If not, a line for a person. */
bool locks_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why);

void locks_init(struct locks *l, const struct locks_conf *conf);
void locks_free(struct locks *l);
/* A new view: the others are sent a digest of what clients of this member hold, now or when enough pieces have been done
 * (told). If it does not take part, they lose it. */
void locks_begin_view(struct locks *l, const struct locks_view *view);
/* A letter with a part of the digest of another member. Null, or what is wrong with it. */
const char *locks_hear_digest(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len);
bool locks_has_digest(const struct locks *l, uint32_t from); /* all parts */
/* All members have sent their digests: what clients wait for may begin. */
void locks_open(struct locks *l);
/* The next piece of what there is to do for many locks; and is there any? */
void locks_go_on(struct locks *l);
bool locks_is_busy(const struct locks *l);
/* Who waits, waits in vain: all are told that their time is over. */
void locks_send_away(struct locks *l);
/* Has the number of names that no client uses passed the bound, so that it is time to forget them? Where a token is, say, is
 * known to all members together: they forget it together, when a view begins. */
bool locks_crowded(const struct locks *l);
/* Another member has announced that it knows of tokens up to this one. */
void locks_hear_fence(struct locks *l, uint64_t fence);
/* From now on, this is the limit. */
void locks_set_fence_limit(struct locks *l, uint64_t limit);
/* May locks be granted? If no longer, all that is held is lost, and this is why. */
void locks_set_grants(struct locks *l, bool grants, enum loss why);

/* The mode of a group of this lock. A mode is a number and a group a name: two groups whose names hash alike, one pair
 * in four thousand million, would be taken for one. */
uint32_t lock_group_mode(const char *name, size_t name_len, const char *group, size_t group_len);

/* The claim joins the line (or holds the lock at once: look at its state). Null; or, if it cannot be, an error code (ERR,
 * WRONGKIND, BUSY) for programs and a line in why for people. */
const char *locks_claim(struct locks *l, struct claim *c, struct dme_text *why);
/* The claim, waiting or held, is given up. The lock may be gone afterwards. */
void locks_drop(struct locks *l, struct claim *c);
/* As locks_drop, but the claim's wait is over: it is among the settled. */
void locks_time_out(struct locks *l, struct claim *c);
/* The claim is taken away: it is among the settled, lost, or it lingers. */
void locks_take_away(struct locks *l, struct claim *c, enum loss why);
/* The lock is taken away from all clients of this member that hold it with this fence or a smaller one. How many? */
uint32_t locks_take_from_all(struct locks *l, struct lock *lock, uint64_t fence, enum loss why);
/* A peer's message. Null, or what is wrong with it: then the peer is not what it seems, and is not to be heard again.
 */
const char *locks_receive(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len);
/* A claim that was granted, refused or taken away since, oldest first; or null. */
struct claim *locks_settled(struct locks *l);

/* That runs locks of this name, which have so many slots, or none. */
const struct dme_alg *locks_algorithm(const struct locks *l, const char *name, size_t name_len, uint32_t slots);
struct lock *locks_find(const struct locks *l, const char *name, size_t name_len);
uint32_t lock_sites(const struct lock *lock); /* of a member */
static inline const struct lock_policy *lock_policy(const struct locks *l, const struct lock *lock)
{
    return &l->policy[lock->policy];
}
/* All clients of this member that hold it, one after the other: the one after this, or the first; null: no more. */
struct claim *lock_next_holder(const struct lock *lock, const struct claim *after);
uint32_t lock_count_holders(const struct lock *lock);
/* What the lock is, and how to ask for it: "jobs" has 3 slots; ask with SLOTS 3. */
void lock_describe(const struct locks *l, const struct lock *lock, struct dme_text *text);

#endif
