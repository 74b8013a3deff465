/* node.h - a member of the cluster, without I/O: links to the others, views, leases, locks, sessions, and the time.
 *
 * A node depends on nothing but its configuration, its input and the time it is told (I14). A driver (the daemon, or a
 * simulation of a whole cluster) tells it of events, and carries out its outputs: src/step. A disk may take time to write
 * (struct disk); when it has finished, the driver tells the node, as an event.
 *
 * The algorithms assume reliable channels and sites that do not crash. Views and leases provide that:
 * src/member/README.md has the model, and the argument why two clients never hold a lock that they may not share (I18,
 * I28). Every letter belongs to a view, and a member never takes a letter of one view for a letter of another (I23).
 * When a view is installed, each member tells all others which locks its clients hold, and no member grants a lock
 * before it has heard that from all members (I24; lock/lock.h).
 *
 * Without agreement (a daemon alone, or a test) the caller installs the view (node_install). A lease of 0
 * never runs out. */
#ifndef DIBS_NODE_NODE_H
#define DIBS_NODE_NODE_H

#include "admin.h"
#include "deadlock.h"
#include "history.h"
#include "keep.h"
#include "lock/deadline.h"
#include "lock/lock.h"
#include "lock/stats.h"
#include "member/agree.h"
#include "member/fence.h"
#include "member/member.h"
#include "member/promise.h"
#include "party.h"
#include "token.h"

enum { NODE_MEMBERS_MAX = VIEW_MEMBERS_MAX };

struct audit;
struct client;
struct rights;

/* The result of a login. NODE_LOGIN_LATER: there were too many wrong passwords, and this one was not compared. */
enum node_login { NODE_LOGIN_RIGHT, NODE_LOGIN_WRONG, NODE_LOGIN_LATER };

/* The rights of clients in use at a member (rules.h). */
struct rules {
    struct rights *agreed;  /* those on which the members have agreed; or null: those of the configuration are in use */
    uint64_t set;           /* settings_text.set of the rights in use */
    uint64_t version;       /* how often the rights in use have changed */
    bool unsure;            /* the driver shall look up a user or a group that the rights name (rules_learn) */
    struct bytes file_text; /* those of the configuration, as text with a zero byte at its end */
};

struct node_conf {
    const char *name;    /* `name` and `summary` outlive the node */
    const char *summary; /* the configuration as text; it must be the same on all members */
    unsigned version;    /* of the protocol between members; 0: that of this build. Tests have another one (link.h) */
    const struct dme_alg *algorithm, *slots_algorithm;
    const struct lock_policy *policy; /* `policies` of them; they outlive the node */
    uint32_t policies;
    /* Returns the algorithm of this name, or null. If the pointer is null, this member cannot use policies on which the members agree
     * (policies.h). `algorithms` is a hash of the names of all algorithms. */
    const struct dme_alg *(*find_algorithm)(const char *name);
    uint64_t algorithms;
    size_t names_max;                    /* names of locks that the member remembers; 0: LOCK_NAMES_MAX */
    uint32_t piece, recent, digest_bits; /* see struct locks_conf */
    uint64_t secret;                     /* likewise */
    uint64_t lease_ms;                   /* 0: the lease never runs out. In the node: the lease in use (agreed.h) */
    uint64_t deadlock_ms;                /* a wait that has lasted for this time is examined (deadlock.h); 0: none is */
    bool expiry_optional; /* the commands of Redis may make locks without a TTL, which stay until they are released */
    uint64_t join_ms; /* after this time the addition of a member that does not join is taken back; 0: ROSTER_JOIN_MS */
    /* Without agreement: the incarnation, not 0. With agreement: a lower bound for it, since the data directory may
     * have been lost and made again. Take the calendar time in seconds. */
    uint64_t incarnation;
    uint64_t fence; /* the fence base of the first view, or without agreement; take the calendar time in microseconds */
    uint64_t fence_leap; /* 0: FENCE_LEAP */
    /* The next four are for the simulation of members of earlier builds. patient: the member does not hurry for another one (README.md of
     * src/member, "How long an orderly restart takes"). */
    bool patient;
    bool without_settings; /* it does not say that it knows of agreed settings (agreed.h) */
    bool without_policies; /* it says that it knows of an agreed lease, but not that it knows of agreed policies */
    bool without_rights;   /* it says that it knows of both, but not that it knows of agreed rights */
    void *user;            /* the first argument of the functions below */
    uint64_t (*random)(void *user);
    /* Returns null, or why there is no memory for a client's request. If the pointer is null, there always is. */
    const char *(*is_short)(void *user);
    /* Returns null if a member may have this name and address, else why not. If the pointer is null, it always may. */
    const char *(*objects)(void *user, const char *name, const char *address);
    /* Writes an address at which a browser can see the member's web page; the browser then has the rights of this client. Returns null, or
     * why there is no page. If the pointer is null, there is none. */
    const char *(*invite)(void *user, const struct client *c, char *url, size_t size);
    /* The rules for clients (rights/rights.h) in the configuration of this member, or null: there are none. rules_renew replaces them.
     * They apply while the members have not agreed on others (rules.h). */
    const struct rights *rights;
    /* Returns whether this is the password of the name. If the pointer is null, no name can log in. */
    enum node_login (*login)(void *user, const char *name, size_t name_len, const char *password, size_t len);
    /* For the audit trail, or null (audit.h). audit_locks: with grants and releases. */
    bool audit_locks;
    void (*audit)(void *user, const struct audit *a);
    /* For observers, or null. told: a client is about to be told of this event. ran: commands of a client have been executed, and it
     * has waited for this claim since then; `asked` is null if it waits for none. */
    void (*told)(void *user, struct client *c, const struct node_event *event);
    void (*ran)(void *user, struct client *c, const struct claim *asked);
};

/* Why locks are not granted. */
enum node_state { NODE_GRANTS, NODE_STARTS, NODE_NO_QUORUM, NODE_OUTSIDE, NODE_DRAINS, NODE_LEAVES };

/* How urgent it is to tell a client something (step/step.h): the answers to its commands, a grant, a loss. */
enum client_urgency { CLIENT_ANSWERED, CLIENT_GRANTED, CLIENT_LOST, CLIENT_URGENCIES };

/* The outputs that are pending (step/step.h). */
struct node_turn {
    struct ring clients;                /* all clients */
    struct ring news[CLIENT_URGENCIES]; /* clients for which there may be an output */
    struct ring hungry; /* clients that go on in a later turn, the one that has waited for longest first */
    uint32_t hungry_count;
    uint32_t place;          /* of the member to which bytes go next */
    bool lets_wait;          /* the driver lets patient letters wait */
    bool waits;              /* there are patient letters that wait */
    uint64_t roster_version; /* the one that the driver knows */
    bool late;               /* see struct node_input */
    uint32_t credit;         /* how many commands of all clients may still be executed in this event */
    bool pending;            /* an output has been given, and is not carried out yet */
    struct bytes log;        /* lines to be logged, each with a zero byte at its end */
    uint64_t view, stills;   /* as logged last */
    enum node_state state;
    uint64_t unchecked; /* steps since the invariants were checked */
};

struct node {
    struct node_conf conf;
    struct node_turn turn;
    struct link_self self;
    struct locks locks;
    struct deadlines due;
    struct admin admin;
    struct deadlocks deadlocks;
    struct keep keep;
    struct tokens tokens;
    struct parties parties;
    struct ring sessions;
    struct ring holding;    /* sessions that have a client and hold locks, for DRAIN */
    uint32_t holding_count; /* number of these */
    struct ring confirming; /* sessions that must confirm again and again, the one that did so longest ago first */
    struct ring tasks;      /* sessions with a task for many claims, which is done in pieces */
    uint32_t late_left;     /* letters that have waited and can still be heard in this turn */
    bool late_again;        /* some letters that have waited may be heard in the next turn */
    uint64_t session_count;
    uint64_t now_ms;
    uint64_t grants, losses, lapses; /* so far */
    size_t values;                   /* bytes of the values of all claims (lock/value.h) */
    uint64_t stills;                 /* how often the member found that its clock had stood still */
    struct stats stats;

    struct agree *agree;                     /* or null */
    struct view view;                        /* the installed view */
    struct history_views history;            /* the views before it */
    uint32_t place;                          /* this member's place in its roster, or NODE_MEMBERS_MAX */
    struct member *member[NODE_MEMBERS_MAX]; /* by place; null at this member's own place */
    uint32_t part[NODE_MEMBERS_MAX];         /* by place: its number among the members that take part */
    struct member *retired;  /* members that are no longer in the roster: the driver closes their connections */
    uint64_t roster_version; /* grows when members are added or removed */
    bool takes_part;         /* this member takes part in the view */
    bool replaced;           /* a view of other members has no member with the id of this one, but one with its name */
    bool announced;          /* this member has sent its whole digest to the others */
    bool leaves;
    struct session *drainer; /* whose client drains this member (drain.h); or null */
    bool drained;            /* no client of it holds a lock: the driver shall end it */
    bool has_dropped;        /* this member has dropped another one in this view */
    bool dropped;            /* this member was dropped: it is about to be excluded, and no longer grants locks */
    bool gave_up;            /* it leaves or is dropped, and its clients believe in no lock any more */

    uint64_t began_ms, installed_ms;    /* when the process and this view began */
    uint64_t incarnation_ms;            /* acknowledgements of heartbeats that were sent before this do not count */
    uint64_t promise_ms, beat_every_ms; /* durations */
    uint64_t silent_ms;                 /* a connection to a member that has brought nothing for that long is broken */
    uint64_t earlier_ms; /* the duration of the promises of earlier processes, whose lease may have been longer */
    /* The lease of the configuration, and the one for which promises are given. */
    uint64_t file_lease_ms, promised_lease_ms;
    uint64_t owed_lease_ms, owed_until_ms; /* promises for this lease, if it is longer, may last until then */
    struct bytes summary;                  /* of the configuration with the agreed settings, if there are some */
    struct bytes file_policies;            /* the policies of the configuration, as text with a zero byte at its end */
    uint64_t policies_set;                 /* settings_text.set of the policies in use */
    struct rules rules;                    /* the rights in use */
    uint64_t next_beat_ms, lease_end_ms;
    uint64_t acked_ms;    /* a majority has acknowledged heartbeats that this member sent by then (lease.c) */
    bool news;            /* something about members has changed since the leader last looked at them (lease_lead) */
    uint64_t looked_ms;   /* when the leader last looked at them */
    uint64_t granted_ms;  /* when this member last had its lease, or began */
    uint64_t led_ms;      /* since when this member leads, or 0 */
    struct fence fence;   /* how high the tokens of all members can be */
    uint64_t renewals_ms; /* leader: views that change no members have used up the time until then (lease_may_renew) */
    uint64_t renew_ms;    /* leader: when the next view that changes no members may come, if one is due; or 0 */
    uint64_t counted_ms;  /* leader: since when all report a view with this set of counted members; 0: not yet */
    uint64_t step_ms;     /* leader: since when all report a view with this step of the lease; 0: not yet */
    uint64_t whole_ms;    /* leader: when the members that can stay last heard each other */
    uint64_t drops;       /* leader: the members that all shall drop */
    uint64_t awaited, awaited_ms; /* leader: the id of an added member that does not take part, and since when */
    struct node_wish {
        uint64_t until_ms; /* 0: there is none */
        bool add;
        bool force; /* remove even if the members that take part are no majority without it */
        /* To remove: the id of the member. To add: the last id that was given in the roster that is to be changed. */
        uint64_t id;
        char name[LINK_NAME_MAX + 1], address[VIEW_ADDRESS_MAX + 1];
    } wish,
        recall; /* a change of the roster; and an addition that is to be taken back, which does not wait for others */
    struct {
        uint64_t until_ms; /* 0: there is none */
        struct settings_wish what;
    } setting; /* a change of the lease */
    struct {
        uint64_t until_ms; /* 0: there is none */
        struct settings_text what;
    } policing; /* a change of the policies */
    struct {
        uint64_t until_ms; /* 0: there is none */
        struct settings_text what;
    } ruling;          /* a change of the rights of clients */
    char unfit[384];   /* why this member cannot use what the newest view has, and must end; or "" */
    char refusal[256]; /* room for the reason why the last wish was refused */
};

/* What a client has to be told about one of its claims. */
struct node_event {
    struct session *session;
    enum claim_state state; /* not CLAIM_WAITING */
    bool answers;           /* it answers the client's request; else the client has lost a lock that it held */
    uint64_t fence;         /* held, upgraded or lost */
    enum loss loss;         /* lost: why */
    uint8_t name_len;
    char name[LOCK_NAME_MAX + 1];
    enum refusal refusal;               /* refused: why */
    unsigned right;                     /* REFUSAL_RIGHT: the one that the client no longer has */
    bool no_quorum;                     /* timed out while this member could grant no lock */
    const struct deadlock_cycle *cycle; /* timed out: the wait was the youngest of this cycle; or null */
    char why[512]; /* refused, or no_quorum: the reason; lost by force-unlock: the operator, or "" */
    /* If one of these is not null, the event is not about a claim. */
    struct subscription *watched; /* `note` is an event of a lock that the client has subscribed to */
    const struct watch_note *note;
    struct token_op *token; /* the answer to the client's operation with a token */
    struct query *answered; /* the answer to the client's query */
    enum keep_news keep;    /* or, if not KEEP_NOTHING, what it is told of its session */
};

void node_init(struct node *node, const struct node_conf *conf);

/* Without agreement: installs the view. */
void node_install(struct node *node, const struct view *view);
/* With agreement: begins as the member that the journal describes. If the journal is new, founds a cluster with this
 * roster, or joins an existing one (`joins`). Returns false, with a line in `why`, if that fails. */
bool node_agree(struct node *node, const struct disk *disk, const uint8_t *journal, size_t len,
                const struct view *roster, bool joins, uint64_t now_ms, struct dme_text *why);

/* Does this member grant locks? Then node_state is NODE_GRANTS. */
static inline bool node_grants(const struct node *node)
{
    return node->locks.grants && node->locks.open && !node->leaves && !node->drainer && !node->drained;
}

enum node_state node_state(const struct node *node);
const char *node_why_not(const struct node *node); /* "": locks are granted */
/* The newest version of the protocol (link.h) that all members of the view speak, as far as this one has heard. What members decide
 * together may use no later one. */
unsigned node_version(const struct node *node);
/* Is it useless to wait for a lock here? It is if this member leaves, is being drained, or has been removed. */
bool node_is_over(const struct node *node);
/* Prints why no lock can be granted at the moment, for a client. */
void node_say_no_quorum(const struct node *node, struct dme_text *why);
bool node_is_open(const struct node *node);
/* The longest lease for which this member may have given promises, or vouched for locks, that are not over. That is not
 * always the present one: operators set a shorter one, or restart members with it. */
uint64_t node_longest_lease_ms(const struct node *node);
/* The number of milliseconds from now for which no other client is granted the locks of this member's clients, even if
 * this member is stopped or cut off from now on. UINT64_MAX: for ever. */
uint64_t node_vouches_ms(const struct node *node);
/* Returns null, or why the process must end: the disk has failed, or this build cannot use what the members have agreed on. */
const char *node_broken(const struct node *node);
bool node_has_left(const struct node *node);
/* When the next event is due at the latest, NODE_TIME if there is no other; UINT64_MAX: no deadline. */
uint64_t node_due_ms(const struct node *node);
/* Is there a piece of work left? Then node_due_ms is the next millisecond at the latest. */
bool node_is_busy(const struct node *node);

/* Requests that a member is added to the roster or removed (roster.h). Returns null, or what is wrong. The change takes
 * some time; the view shows when it is done. */
const char *node_change_roster(struct node *node, const struct node_wish *wish);
/* Has this member been removed from the cluster? Then it will not be let in again. */
bool node_is_removed(const struct node *node);

#endif
