/* node.h - a member of the cluster, without I/O: links to the others, views, leases, locks, sessions, and the time.
 *
 * A driver (the daemon, or a simulation of a whole cluster) tells it of events, and carries out what comes of them: step.h. The
 * disk works on its own (struct disk); when it has finished a write, that is an event, too.
 *
 * The algorithms assume that channels are reliable and that sites live. Views and leases earn that:
 * src/member/README.md has the model, and the argument why no two clients hold a lock that excludes each other (I18, I28).
 * Every letter belongs to a view, and a member never takes a letter of one view for a letter of another (I23). When a view is
 * installed, each member tells all others what its clients hold, and no lock that a client may hold since before is granted
 * before all have done so (I24; lock/lock.h).
 *
 * Without agreement (a cluster of one, or a test) a view is installed by hand, and a lease of 0 never runs out. */
#ifndef DIBS_NODE_NODE_H
#define DIBS_NODE_NODE_H

#include "deadline.h"
#include "keep.h"
#include "lock/lock.h"
#include "lock/stats.h"
#include "member/agree.h"
#include "member/fence.h"
#include "member/member.h"
#include "talk.h"

enum { NODE_MEMBERS_MAX = VIEW_MEMBERS_MAX };

struct client;

struct node_conf {
    const char *name;    /* it and the summary outlive the node */
    const char *summary; /* the configuration as text; it must be the same on all members */
    const struct dme_alg *modes, *slots;
    const struct lock_policy *policy; /* so many, for names that match one; they outlive the node */
    uint32_t policies;
    size_t names_max;            /* of locks that it remembers; 0: LOCK_NAMES_MAX */
    uint32_t piece, digest_bits; /* see struct locks_conf; 0: as there */
    uint64_t lease_ms;           /* 0: for ever */
    uint64_t join_ms; /* after this time a member that was added, and does not join, is taken back; 0: ROSTER_JOIN_MS */
    uint64_t
        incarnation; /* without agreement: the number of this life, not 0; with it: at least this, as it may have been
                             another one's data directory before: take the seconds of a calendar */
    uint64_t fence;  /* of the first view, or without agreement: fences will be larger; take the time in microseconds */
    uint64_t fence_leap; /* 0: FENCE_LEAP */
    void *user;          /* of what follows */
    uint64_t (*random)(void *user);
    /* Null; or why there is no memory for what clients want this member to keep. A null function: there is. */
    const char *(*is_short)(void *user);
    /* May a member be there? Null, or why not. A null function: anywhere. */
    const char *(*objects)(void *user, const char *name, const char *address);
    /* For observers, or null. A client is about to be told of this; commands of a client have been executed, and it waits for
     * this lock since then, or null. */
    void (*told)(void *user, struct client *c, const struct node_event *event);
    void (*ran)(void *user, struct client *c, const struct claim *asked);
};

/* Why locks are not granted. */
enum node_state { NODE_GRANTS, NODE_STARTS, NODE_NO_QUORUM, NODE_OUTSIDE, NODE_LEAVES };

/* What is to be done next (step.h). */
struct node_turn {
    struct ring clients;      /* all of them */
    struct ring losers, news; /* those for which there may be an output: they have lost a lock; all others */
    struct ring hungry;       /* those that go on in a later turn, the one that has waited for longest first */
    uint32_t hungry_count;
    uint32_t place;          /* of the member to which bytes go next */
    uint64_t roster_version; /* that the driver knows */
    bool late;               /* see struct node_input */
    bool pending;            /* an output has been given, and is not carried out yet */
    struct bytes log;        /* lines to be logged, each with a zero byte at its end */
    uint64_t view, stills;   /* as logged last */
    enum node_state state;
};

struct node {
    struct node_conf conf;
    struct node_turn turn;
    struct link_self self;
    struct locks locks;
    struct due due;
    struct talk talk;
    struct keep keep;
    struct ring sessions;
    struct ring confirming; /* sessions that must go on to confirm, in the order in which they did */
    struct ring tasks;      /* sessions with many claims that are let go in pieces */
    uint64_t session_count;
    uint64_t now_ms;
    uint64_t grants, losses, lapses; /* so far */
    uint64_t stills;                 /* how often it found that its clock had stood still */
    struct stats stats;

    struct agree *agree;                     /* or null */
    struct view view;                        /* installed */
    uint32_t place;                          /* in its roster, or NODE_MEMBERS_MAX */
    struct member *member[NODE_MEMBERS_MAX]; /* by place; the own one is null */
    uint32_t part[NODE_MEMBERS_MAX];         /* by place: which of those who take part it is */
    struct member *retired;  /* no longer in the roster: the driver closes what it has to do with them */
    uint64_t roster_version; /* grows when members come or go */
    bool takes_part;         /* in the view */
    bool announced;          /* the others have its digest */
    bool leaves;
    bool dropped; /* it is about to be excluded, and grants no more */
    bool gave_up; /* it leaves or is dropped, and its clients believe in no lock any more */

    uint64_t began_ms, installed_ms;    /* when the process and this view began */
    uint64_t life_ms;                   /* acknowledgements of heartbeats that were sent before then do not count */
    uint64_t promise_ms, beat_every_ms; /* spans */
    uint64_t next_beat_ms, lease_end_ms;
    uint64_t acked_ms;   /* what a majority has acknowledged had been sent by then (lease.c) */
    bool news;           /* of members, since the leader last looked at them (lease_lead) */
    uint64_t looked_ms;  /* when that was */
    uint64_t granted_ms; /* when it last had its lease, or began */
    uint64_t led_ms;     /* since when it leads, or 0 */
    struct fence fence;  /* how high the tokens of all members may be by now */
    uint64_t settled_ms; /* the leader: since when all report a view of this set of counted members; 0: not yet */
    uint64_t whole_ms;   /* who leads: when all who can stay last reached each other */
    uint64_t drops;      /* who leads: whom to drop */
    uint64_t awaited, awaited_ms; /* the leader: the id of an added member that does not take part, and since when */
    struct node_wish {
        uint64_t until_ms; /* 0: there is none */
        bool add;
        bool force; /* a removal, even if those that take part are no majority then */
        char name[LINK_NAME_MAX + 1], address[VIEW_ADDRESS_MAX + 1];
    } wish,
        recall; /* a change of the roster; and an addition that is to be taken back, which does not wait for others */
    char refusal[256]; /* why the last wish was refused, if that has names in it */
};

/* What a client has to be told: one of its claims has come to this. */
struct node_event {
    struct session *session;
    enum claim_state state; /* not CLAIM_WAITING */
    bool answers;           /* its request; else it is news of what it held */
    uint64_t fence;         /* held or lost */
    enum loss loss;         /* lost: why */
    uint8_t name_len;
    char name[LOCK_NAME_MAX + 1];
    bool no_quorum; /* timed out, and it could not have been granted */
    char why[512];  /* refused, or no_quorum; lost to a force-unlock: who has asked for that, or "" */
    /* Or, if one of these is not null, it is about none of its claims: */
    struct subscription *watched; /* something has happened to a lock, which the note tells */
    const struct watch_note *note;
    struct question *answered; /* what it asked about locks */
    enum keep_news keep;       /* or, if not KEEP_NOTHING, what it is told of its session */
};

void node_init(struct node *node, const struct node_conf *conf);
/* All sessions must have been closed. */
void node_free(struct node *node);

/* Without agreement: this is the view. */
void node_install(struct node *node, const struct view *view);
/* With agreement, as the journal has it; or, if it is new, in a cluster to be founded with this roster, or in one that is
 * there already (joins). False, and a line in why: it cannot be. */
bool node_agree(struct node *node, const struct disk *disk, const uint8_t *journal, size_t len,
                const struct view *roster, bool joins, uint64_t now_ms, struct dme_text *why);

enum node_state node_state(const struct node *node);
const char *node_why_not(const struct node *node); /* "": locks are granted */
/* It will never grant a lock again: it leaves, or has been removed. */
bool node_is_over(const struct node *node);
/* For a client that cannot be granted a lock: why not. */
void node_say_no_quorum(const struct node *node, struct dme_text *why);
bool node_is_open(const struct node *node);
/* For how long from now the locks of this member's clients are surely theirs, whatever happens to it: a member that is
 * stopped or cut off cannot say that others have been given them. UINT64_MAX: for ever. */
uint64_t node_vouches_ms(const struct node *node);
/* A duration that is at least `ms` on every other clock, given the drift bound. */
uint64_t node_stretch_ms(uint64_t ms);
/* Null; or why the process must end: the disk has failed. */
const char *node_broken(const struct node *node);
bool node_has_left(const struct node *node);

/* A member shall be added to the roster, or removed. Null, or what is wrong. It takes its time; look at the view. (roster.h) */
const char *node_change_roster(struct node *node, const struct node_wish *wish);
/* It has been removed from the cluster, and will not be let in again. */
bool node_is_removed(const struct node *node);

#endif
