/* lock.h - named locks, as one member of the cluster sees them.
 *
 * The model. A lock is an instance of an algorithm among the members. A member has one site of the instance. In a lock
 * with K slots every member has K sites, so that the clients of one member alone can use all slots. The clients of a
 * member that want the same lock wait in a queue, and a site of the member requests the critical section on their
 * behalf. A *stay* is the time that a site spends in its critical section. During a stay the member grants the lock to
 * clients from the queue: one after the other if they want it exclusively, together if they can share it. Of the
 * clients that want the lock exclusively, a stay serves only those that were waiting when the site entered, and at most
 * LOCK_BATCH_MAX of them. Then the site leaves. (If a withdrawn claim keeps it inside for a while, and no other member wants the
 * lock as far as this one knows, its stay begins anew: `lock.alone`.) A client that can share the lock is also granted it if it arrives
 * during the stay, as long as no client waits that cannot share: neither in this member's queue nor, as far as this
 * member knows, in another member's (report.h). So the cluster serves requests first come, first served, except that
 * the order within one stay is the member's own.
 *
 * Priorities. A request with priority p takes its place in its member's queue as if LOCK_PRIORITY_STEP * p fewer requests for the
 * lock had come there before it. So of two requests of one member the more urgent one is granted first, and a request is
 * overtaken by at most LOCK_PRIORITY_STEP later ones for each step of priority between them: none starves, however many urgent
 * ones come. How many clients a stay serves does not depend on priorities, nor does the order among members.
 *
 * An algorithm cannot withdraw a request. If the client has given up, the site enters all the same and leaves at once.
 * A client that only tries (`claim.tries`) is refused as soon as the member knows that it would have to wait for a
 * holder.
 *
 * The home. A hash of the lock's name selects one member, the *home* of the name. Sites are numbered from the home. So
 * site 0, which has the initial token or is the coordinator in many algorithms, is at another member for another name.
 *
 * The kind. A lock is either exclusive, shared and group in one, or it has K slots. The first use in the cluster fixes
 * the kind, and a later use can change it while no client uses the lock. The home of the name decides (kind.h). A
 * client that requests a lock in use as another kind gets an error that names the right kind. A policy can fix the
 * kind; then a client need not say how many slots the lock has. Policies change with a view (locks_set_policies). A lock in
 * use keeps its kind then, until no client uses it.
 *
 * Memory. When no client of this member uses a lock and the member's sites of it are idle, the sites become *dormant*:
 * the member keeps only the bytes by which they differ from their initial state (dormant.h). If they differ in nothing
 * but the fence, the member keeps nothing, since a new site would behave in the same way. (In a cluster of one member
 * it is enough that all sites are idle.) `locks.fence` is at least the fence of every site that became dormant or ended
 * at this member, and every site that begins or wakes up gets it as its fence. So a member's fence in a lock never
 * decreases. That is all that the argument in core/step.c needs.
 *
 * Views. An instance belongs to one view (view.h). When the view changes, all instances end, and new ones begin among
 * the members that take part in the new view. Clients that wait go on waiting, and their member's site requests again.
 * Clients that hold a lock go on holding it. Each member sends all others a digest of the names that its clients hold
 * (digest.h), and no member grants anything before it has the digests of all members (locks_open). A lock whose name is
 * in no digest is free. A lock whose name is in a digest may be *encumbered*: the member that sent the digest answers
 * how many of its clients hold the lock, when another member asks (carried.h). So no algorithm has to implement
 * recovery.
 *
 * A change of the view does not visit all locks. `locks.number` counts the views, and `lock.view` is the number of the
 * view to which the lock's state belongs. If the two differ, lock_enter_view ends the state of the earlier view, at the
 * first event that concerns the lock. All waiting claims are in one ring, `locks.waiting`, through which their locks
 * are found. Work for many locks is divided into pieces, one for each call of locks_go_on: the member makes its digest,
 * then serves the clients that wait, then forgets the names of earlier views that no client uses.
 *
 * Losing. A lock that is taken away from a client can be granted to another client at once, unless the member has
 * vouched for the lock for some time to come (session_confirm). In that case the claim *lingers*: the lock is granted
 * to no other client until the client has acknowledged the loss or its validity is over. A member that may grant no
 * more (locks_set_grants) takes all locks away from its clients, in pieces. Until the last piece is done, the member
 * grants nothing, vouches for nothing, and does not tell other members that it has given up its locks (locks_gave_up).
 * A member that was excluded, and takes part again before that, makes its digest after the last piece.
 *
 * This code does no I/O and reads no clock. It writes messages into links, from which a driver takes the bytes. A claim
 * has an *outcome* when it was granted, refused, timed out or lost: then it is in the ring `locks.outcomes` until
 * locks_next_outcome returns it. */
#ifndef DIBS_LOCK_LOCK_H
#define DIBS_LOCK_LOCK_H

#include "base/ring.h"
#include "core/dme.h"
#include "core/text.h"
#include "stats.h"
#include "trace.h"
#include "value.h"

enum {
    LOCK_NAME_MAX = 255,  /* bytes */
    LOCK_SLOTS_MAX = 256, /* of one lock */
    LOCK_BATCH_MAX = 64,  /* clients served one after the other in one stay inside */
    LOCK_PRIORITY_MAX = 9,
    LOCK_PRIORITY_STEP = 64,
    LOCK_MEMBERS_MAX = 64,
    LOCK_NAMES_MAX = 1 << 20, /* names that a member remembers, unless the configuration has another bound */
    LOCK_POLICIES_MAX = 255,
    /* The sizes of pieces of work, unless the configuration sets another size. A piece takes a few milliseconds at
     * most. */
    LOCK_SERVE = 1 << 10,  /* waiting clients that are examined */
    LOCK_SWEEP = 1 << 9,   /* places of the table from which unused names are removed */
    LOCK_DIGEST = 1 << 15, /* holders that are added to the digest */
    LOCK_LOSE = 1 << 12,   /* claims that are taken away because this member may no longer grant locks */
};

/* The modes of claims on locks without slots. Every other number is a group's mode: see lock_group_mode. */
enum { LOCK_ALONE = 0, LOCK_SHARED = 1 };

/* The mode as it is shown to people. */
enum lock_mode { LOCK_MODE_EXCLUSIVE, LOCK_MODE_SHARED, LOCK_MODE_GROUP, LOCK_MODE_SLOT, LOCK_MODES };
extern const char *const lock_mode_name[]; /* LOCK_MODES of them */

struct link;

enum claim_state {
    CLAIM_WAITING,
    CLAIM_HELD,
    CLAIM_REFUSED,
    CLAIM_TIMED_OUT,
    CLAIM_UPGRADED,   /* a request to upgrade `other`, which is exclusive now */
    CLAIM_DOWNGRADED, /* a request to downgrade `other`, which is kept: all members know that it is to be shared */
    CLAIM_LOST,
    CLAIM_LINGERS, /* lost, but the client may still believe in it: the lock is granted to no other client yet */
    CLAIM_WITHDRAWN, /* released, but other members have yet to hear that (node/keep.h): no other client is granted it yet */
};

/* Why a request has been refused after it had waited. */
enum refusal {
    REFUSAL_KIND,     /* the lock is of another kind */
    REFUSAL_DEADLOCK, /* upgrade: another client that shares the lock waits to upgrade it, too */
    REFUSAL_RELEASED, /* a change of the mode: its client has released the lock meanwhile */
    REFUSAL_LOST,     /* a change of the mode: its client has lost the lock meanwhile */
    REFUSAL_RIGHT     /* its client no longer has the right to it (node/rules.h) */
};

/* Why a client has lost a lock. loss_text has the reason as text, to be printed after "it is lost:". */
enum { LOSS_BY_MAX = 255 }; /* bytes: the name of the operator that has forced an unlock */
enum loss {
    LOSS_TTL,
    LOSS_FORCED,
    LOSS_NO_MAJORITY,
    LOSS_EXCLUDED,
    LOSS_DAEMON_ENDS,
    LOSS_UNCONFIRMED,
    LOSS_BROKEN,
    LOSS_ABANDONED,
    LOSS_RIGHT
};
extern const char *const loss_text[];

/* One client's request for one lock, and then its possession of the lock. The session owns the claim. While the claim
 * waits, is held or lingers, it is in a ring of the lock. */
struct claim {
    struct ring in_lock, in_session;
    struct ring in_list; /* in locks.waiting, locks.outcomes or locks.evicted; or in a list of node/keep.h */
    /* In a list of the node: kept, and with a TTL that other members do not know yet (node/keep.h). */
    struct ring in_renewed;
    struct ring in_ages; /* held: in locks.ages */
    uint64_t number;     /* grows with each request at this member */
    uint64_t arrival;    /* waiting: grows with each request for this lock at this member; an upgrade: 0 */
    struct lock *lock;
    struct session *session;
    /* A request to change the mode of another claim: that claim. Held: the request to change its mode. Or null. */
    struct claim *other;
    uint64_t fence; /* held: the fencing token. An upgrade that is done: the previous token, until its client is told */
    uint64_t due_ms;      /* when the wait or the TTL ends */
    uint64_t since_ms;    /* waiting: when the wait began; held: when the client was told of the grant */
    uint64_t ttl_ms;      /* the TTL, or 0: held as long as the session lasts */
    size_t due_slot;      /* see deadline.h */
    uint32_t slots, mode; /* as requested */
    uint32_t site;        /* held: by which of the member's sites */
    uint32_t held_at;     /* held: its index in locks.held */
    uint8_t priority;     /* 0 to LOCK_PRIORITY_MAX */
    bool shares; /* kept: it is exclusive, and is to be shared when all members know that (node/keep_convert.c) */
    /* Held: how many more times its session has requested it than released it (session_hold_again). */
    uint16_t again;
    bool tries;     /* the client does not want to wait for a holder */
    bool unsaid;    /* the client has said neither a mode nor a number of slots: the policy decides (kind.h) */
    bool freed;     /* kept: the letter with the number `kept` withdraws the records */
    bool uncertain; /* kept: another member may be the owner of its session, until the view has opened */
    /* A claim of a kept session may name a record of the same lock, by the id of its session (`kept_id`) and its fence
     * (`after`); 0: it names none.
     * - The claim is held, and was granted after another claim was withdrawn, before all members had acknowledged the
     *   withdrawal: the record of the withdrawn claim.
     * - The claim was upgraded: its own record from before, in the same session.
     * - The claim is withdrawn: its own record, whose fence its client may not know. If kept_id is 0, no claim may be
     *   granted after it before the withdrawal is acknowledged. */
    uint64_t kept_id[2], after;
    /* The number of the last letter about the records that other members have of this claim (node/keep.h); 0: there is none. */
    uint64_t kept;
    enum claim_state state;
    enum refusal refusal;     /* refused: why */
    enum loss loss;           /* lost, or lingering: why */
    char *by;                 /* LOSS_FORCED: the operator's name; or null */
    struct lock_value *value; /* what its client tells with it (value.h); or null */
    uint8_t name_len;
    char name[]; /* of the lock; struct lock may be removed before the claim */
};

/* Claims wait in the order of their turns, upgrades before all others. If claim_turn is above LOCK_PRIORITY_STEP * LOCK_PRIORITY_MAX + n, the arrival is above n. */
static inline uint64_t claim_turn(const struct claim *c)
{
    return c->arrival ? c->arrival + LOCK_PRIORITY_STEP * (LOCK_PRIORITY_MAX - (uint64_t)c->priority) : 0;
}

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
    struct ring in_recent; /* the first site of a member only: see instance_rest */
    struct lock *lock;
    uint32_t held; /* number of holders */
    uint32_t left; /* how many more clients may be granted the lock in this stay */
    /* Waiting clients up to this claim.arrival can still join the stay: they waited when the site entered; 0: none. */
    uint64_t joins;
    uint32_t size; /* of the node, in bytes */
};

/* The carried-over holders: clients that have held a lock since an earlier view and for which their member's site has not
 * entered in this view (carried.h). */
struct lock_carried {
    struct ring holders; /* clients of this member */
    uint64_t told;       /* bit j: member j has been told how many carried-over holders this member has */
    uint64_t unheard;    /* bit j: member j has not answered yet how many it has */
    uint32_t held;       /* carried-over holders at this member */
    uint32_t elsewhere;  /* carried-over holders at other members, as far as this member knows */
    uint32_t mode;       /* of all carried-over holders, here and elsewhere */
    uint32_t asks;       /* at the home: members that have asked for the kind and wait for the answer */
    struct {
        uint32_t held; /* carried-over holders at that member */
        uint32_t asks; /* 1 + the number of slots that the member asks for; 0: it has not asked */
    } of[];            /* by member */
};
enum { LOCK_CARRIED = UINT16_MAX }; /* claim.site of a carried-over holder */

struct lock {
    struct lock *next; /* in the same place of the table */
    uint64_t hash;
    struct ring waiting; /* in the order of claim_turn */
    uint64_t arrived;    /* the last claim.arrival */
    uint64_t let_go_ms;  /* when a client released the lock while others waited; 0 when a client was granted it since */
    uint32_t waiters;
    uint32_t slots;               /* 0: exclusive, shared and group */
    struct lock_site *site;       /* the member's sites; or null: they are dormant, or in their initial state */
    uint8_t *dormant;             /* how the sites differ from their initial state (dormant.h); else null */
    struct lock_carried *carried; /* or null: no carried-over holder is known (the usual case) */
    struct lock_reports *reports; /* or null: no member follows the lock (report.h) */
    struct lock_convert *convert; /* or null: no client changes its mode, and no member bars the lock (convert.h) */
    struct lock_retire *retire;   /* or null: the home is not asking the members to freeze the lock (kind.h) */
    uint32_t epoch;               /* how often its kind has changed in this view */
    uint32_t tries;               /* number of waiters with claim.tries */
    uint32_t claims;              /* claims of this member's clients that wait, are held, linger or are withdrawn */
    uint32_t withdrawn;           /* claims in the state CLAIM_WITHDRAWN */
    uint32_t view;                /* the view to which this state belongs: locks.number, or an earlier one */
    uint8_t known;                /* the home, or a policy, has fixed the kind */
    uint8_t mixed;                /* a client that has requested another kind than the known one may be waiting */
    uint8_t frozen;               /* no site requests until the home has said what the kind is */
    uint8_t stays; /* the sites sent messages when they began: they must not begin twice in this view and epoch */
    /* The lock's site has entered at once, without a message, and no member has sent one about the lock since. */
    uint8_t alone;
    uint8_t looked; /* 0: the digests of this view have not been searched for the name; else LOCK_IN_.. */
    uint8_t policy; /* index in locks.policy */
    uint8_t home;   /* the index of the member that is the home of the name, in this view */
    uint8_t name_len;
    char name[];
};

enum { LOCK_IN_NO_DIGEST = 1, LOCK_IN_A_DIGEST = 2 };
enum { LOCK_ANY_KIND = -1 };

/* The algorithms that run the locks whose names match `pattern`, and the kind of these locks if it is fixed. */
struct lock_policy {
    const char *pattern; /* see glob.h; null matches every name */
    const struct dme_alg
        *algorithm; /* runs locks without slots; its rules say whether they can be shared or have groups */
    const struct dme_alg *slots_algorithm; /* runs locks with slots */
    int kind;                              /* LOCK_ANY_KIND; or the number of slots, 0 for locks without slots */
};

/* Algorithms and policies are the same on all members of a view (I16). */
struct locks_conf {
    const struct lock_policy *policy;                  /* the first that matches a name applies to it */
    uint32_t policies;                                 /* number of policies */
    const struct dme_alg *algorithm, *slots_algorithm; /* for names that match no policy */
    size_t names_max;                                  /* names to remember; 0: LOCK_NAMES_MAX */
    uint32_t piece;       /* size of every piece of work; 0: LOCK_SERVE, LOCK_SWEEP, LOCK_DIGEST */
    uint32_t recent;      /* idle locks that do not become dormant yet; 0: INSTANCE_RECENT_MAX */
    uint32_t digest_bits; /* bits for each holder; 0: DIGEST_BITS */
    /* An odd number that clients do not know, so that they cannot choose names that share a place in the table; or 0, in tests. */
    uint64_t secret;
    /* Called before the held claim `c` is taken away. Returns true if `c` lingers, since the member has vouched for it
     * for some time to come. If the pointer is null, no claim lingers. */
    bool (*lingers)(struct claim *c);
    /* May the waiting claim `c` be granted the lock behind `withdrawn`, which is in the state CLAIM_WITHDRAWN? Its client is not
     * told before `withdrawn` is gone. If the pointer is null, no claim may. */
    bool (*follows)(struct claim *c, const struct claim *withdrawn);
    /* Called when the claim `c` has become exclusive and has a new fence; the previous one is in `upgrade`. Or null. */
    void (*upgraded)(struct claim *c, struct claim *upgrade);
};

/* The members that take part. */
struct locks_view {
    uint32_t n, self;                    /* number of members, and this member's index; n = 0: it does not take part */
    struct link *link[LOCK_MEMBERS_MAX]; /* the link to each member; link[self] is not used */
    uint64_t fence;                      /* the fence base: all fences of the view are larger */
};

/* A member's digest: a Bloom filter of the names that its clients have held since an earlier view (digest.h). */
struct lock_digest {
    uint32_t bits;  /* size of the filter; 0: no client of the member holds a lock */
    uint32_t heard; /* bytes received so far */
    uint8_t *at;
};

struct locks {
    struct locks_conf conf;
    struct locks_view view;
    uint32_t number; /* number of views that this member has begun */
    /* The policies in this view, then one that matches all other names; they own their patterns. */
    struct lock_policy *policy;
    uint32_t policies_since; /* locks of views before this number may have the index of an earlier policy */
    bool complete;           /* all claims from earlier views are there: the digest may be made */
    bool told;               /* this member has sent its digest to all others */
    bool open;               /* all members' digests have been received: instances may begin */
    bool grants;             /* this member may grant locks: its lease was valid when the time was told last */
    uint64_t fence;          /* at least the fence of every site that became dormant or ended at this member */
    uint64_t fence_seen;     /* at least the fence of every site that was ever at this member */
    uint64_t fence_limit;    /* granted fencing tokens are smaller than this (fence.h) */
    uint64_t fence_granted;  /* the highest fencing token granted so far */
    bool fences_are_out;     /* a client waits because of fence_limit */
    struct lock **table;
    size_t room, count;      /* number of places, and of names in them */
    size_t table_room, half; /* see names_grow */
    size_t used;             /* names on which clients of this member have claims */
    size_t swept;            /* the places below this one have no unused name of an earlier view */
    struct lock_held {
        struct claim *claim;
        uint64_t hash; /* of the name */
    } * held;          /* all claims that are held or linger */
    size_t held_count, held_room;
    size_t undigested; /* the first `undigested` entries of held are not in this member's digest yet */
    size_t losing;     /* the first `losing` entries of held are still to be taken away; nothing is granted meanwhile */
    bool excluded;     /* this member was excluded: claims that linger are to be taken away, too */
    bool digests;      /* this member has begun to make its digest */
    enum loss loss;    /* why the first `losing` entries are taken away */
    bool put_off;      /* this member may grant again, but waits until `losing` is 0 */
    struct lock_digest digest[LOCK_MEMBERS_MAX];
    struct ring waiting; /* claims, oldest first */
    struct ring ages;    /* claims that hold, those first that have held for longest */
    uint64_t claimed;    /* the highest claim.number */
    /* How many more clients can be granted a lock that others hold, before the next piece of work. */
    uint32_t join_left;
    bool sends_away;     /* all waiting claims time out, in pieces */
    struct ring evicted; /* held claims that are taken away in pieces, by order of an operator */
    /* A marker in `waiting`: the claims before it have been examined; in no ring: there are none to examine. */
    struct ring served;
    bool serve_again;   /* when the marker has reached the end, it starts again */
    size_t lingering;   /* number of claims that linger */
    uint32_t follows;   /* FOLLOWs sent so far */
    uint32_t bars;      /* BARs sent so far */
    struct ring recent; /* locks that became idle, and not dormant, the longest idle first (instance_rest) */
    uint32_t recent_count;
    size_t recent_bytes;  /* of the sites of these locks */
    struct ring outcomes; /* claims whose clients have to be told */
    struct stats_messages messages;
    struct trace trace;
    struct lock_kind *kind; /* see instance_kind */
    struct dme_out *out;    /* of the last step */
    struct dme_node *fresh;
    struct dme_msg *msg;
    unsigned char *local; /* messages in flight between sites of this member */
    uint8_t *packed;      /* dormant sites, while they are written */
    uint8_t *wire;        /* the bytes of a message */
    size_t out_size, fresh_size, msg_size, packed_size, wire_size, local_size, local_used;
};

/* Can the algorithm run locks among `n` members? If not, `why` gets a line for people. */
bool locks_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why);

void locks_init(struct locks *l, const struct locks_conf *conf);
void locks_free(struct locks *l);
/* The claim that has waited, or that has held, for longest; or null. */
const struct claim *locks_oldest_wait(const struct locks *l);
const struct claim *locks_oldest_hold(const struct locks *l);
/* Uses these policies, from the view on that begins with the next call: the caller calls locks_begin_view at once. */
void locks_set_policies(struct locks *l, const struct lock_policy *policy, uint32_t policies);
/* Begins a new view. If the member does not take part, its clients lose their locks. */
void locks_begin_view(struct locks *l, const struct locks_view *view);
/* Takes over a claim that was held in an earlier view, at another member. The caller has filled it in, except for its lock and its
 * state. */
void locks_adopt(struct locks *l, struct claim *c);
/* All claims from earlier views are there. The member sends the others a digest of the names that its clients hold, in this call or
 * in a later piece of work (then locks.told is set). */
void locks_complete(struct locks *l);
/* Receives a letter with a part of the digest of member `from`. Returns null, or what is wrong with the letter. */
const char *locks_hear_digest(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len);
bool locks_has_digest(const struct locks *l, uint32_t from); /* all parts */
/* To be called when all members' digests have been received: clients that wait can be served from now on. */
void locks_open(struct locks *l);
/* Does the next piece of work. locks_is_busy: is there one? */
void locks_go_on(struct locks *l);
static inline bool locks_is_busy(const struct locks *l)
{
    return l->losing || l->put_off || (!l->told && l->complete) || !ring_empty(&l->served) || l->swept < l->room ||
           l->sends_away || !ring_empty(&l->evicted);
}
/* Every waiting claim times out, in pieces; this call does the first one. */
void locks_send_away(struct locks *l);
/* Are there too many names that no client uses? The state of an algorithm, such as the place of a token, is spread over
 * all members, so one member cannot forget it alone. All members forget unused names when a new view begins. */
bool locks_crowded(const struct locks *l);
/* Another member has announced that it knows of fences up to `fence`. */
void locks_hear_fence(struct locks *l, uint64_t fence);
/* Sets the bound below which this member grants fencing tokens. */
void locks_set_fence_limit(struct locks *l, uint64_t limit);
/* Says whether this member may grant locks. If it no longer may, its clients lose all locks that are not kept, for the
 * reason `why`; this call takes the first piece of them away. If it may grant again while some are still to be taken
 * away, nothing is granted, and the caller has to call again (locks_is_busy). */
void locks_set_grants(struct locks *l, bool grants, enum loss why);
/* Takes the claim away now, if it is one of those that are to be taken away in pieces. */
void locks_lose_early(struct locks *l, struct claim *c);
/* True if no client of this member believes in a lock that was taken away, or is still to be taken away. */
bool locks_gave_up(const struct locks *l);

/* The mode of a group of a lock: a hash of both names. Two groups whose names have the same hash, one pair in 4 * 10^9,
 * are taken for one group. */
uint32_t lock_group_mode(const char *name, size_t name_len, const char *group, size_t group_len);

/* The claim joins the queue, or is granted at once: look at its state. Returns null. If the claim is refused, returns
 * an error code (ERR, WRONGKIND, BUSY) for programs, and `why` gets a line for people. */
const char *locks_claim(struct locks *l, struct claim *c, struct dme_text *why);
/* Begins to upgrade the claim `c`, which is held and shared. The claim `upgrade` is the request. It waits before all others, or
 * its outcome is CLAIM_UPGRADED at once: then `c` is exclusive, with a new fence. If `upgrade` ends in another way, `c` is held as before.
 * `tries`: it does not wait for other clients that share the lock. Returns null; or an error code (DEADLOCK, ERR, BUSY), and `why` gets a
 * line for people. */
const char *locks_upgrade(struct locks *l, struct claim *upgrade, struct claim *c, bool tries, struct dme_text *why);
/* Makes the claim, which is held and exclusive, shared. No client that cannot share the lock is granted it in between (I37). Returns
 * null, or an error code as above. */
const char *locks_downgrade(struct locks *l, struct claim *c, struct dme_text *why);
/* Would locks_downgrade succeed? If not, returns the error code, and `why` gets a line for people. */
const char *locks_may_downgrade(struct locks *l, struct claim *c, struct dme_text *why);
/* Gives up a claim that waits or is held. The struct lock may be gone afterwards. */
void locks_drop(struct locks *l, struct claim *c);
/* The client gives up the claim, which is held or lingers. The claim keeps its place until it is dropped. */
void locks_withdraw(struct locks *l, struct claim *c);
/* Like locks_drop, but the outcome of the claim is CLAIM_TIMED_OUT. */
void locks_time_out(struct locks *l, struct claim *c);
/* Takes the lock away from the claim's client. Its outcome is CLAIM_LOST or CLAIM_LINGERS. */
void locks_take_away(struct locks *l, struct claim *c, enum loss why);
/* Takes the lock away from all clients of this member that hold it with `fence` or a smaller token, in pieces; this call
 * does the first one. Returns their number. */
uint32_t locks_take_from_all(struct locks *l, struct lock *lock, uint64_t fence, enum loss why);
/* Receives a message of member `from`. Returns null, or what is wrong with the message: then the peer does not follow
 * the protocol, and its messages are no longer accepted. */
const char *locks_receive(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len);
/* Returns the next claim that was granted, refused, timed out or lost since the last call, oldest first; or null. */
struct claim *locks_next_outcome(struct locks *l);

/* The algorithm that runs a lock of this name with `slots` slots (0: without slots). */
const struct dme_alg *locks_algorithm(const struct locks *l, const char *name, size_t name_len, uint32_t slots);
struct lock *locks_find(const struct locks *l, const char *name, size_t name_len);
static inline uint32_t lock_sites(const struct lock *lock) /* of a member */
{
    return lock->slots ? lock->slots : 1;
}
static inline const struct lock_policy *lock_policy(const struct locks *l, const struct lock *lock)
{
    return &l->policy[lock->policy];
}
/* Iterates over the claims of this member's clients that hold the lock: the one after `after`, or the first if `after`
 * is null. Returns null at the end. */
struct claim *lock_next_holder(const struct lock *lock, const struct claim *after);
/* The number of these claims that are not withdrawn. */
uint32_t lock_count_holders(const struct lock *lock);
/* Prints the lock's kind and how to request it: "jobs" is a lock with 3 slots; ask for it with SLOTS 3. */
void lock_describe(const struct locks *l, const struct lock *lock, struct dme_text *text);

#endif
