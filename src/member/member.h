/* member.h - what a node knows of another member: the link to it, its letters, its heartbeats. Used by node.c and its
 * parts. */
#ifndef DIBS_MEMBER_MEMBER_H
#define DIBS_MEMBER_MEMBER_H

#include "base/ring.h"
#include "view.h"

/* A heartbeat. A set has one bit for each place in the roster of the sender's view. */
struct beat {
    uint64_t view;    /* the view that the sender has installed */
    uint64_t sent_ms; /* by the sender's clock */
    uint64_t echo_ms; /* by the receiver's clock: when it sent the newest heartbeat the sender acknowledges; or 0 */
    uint64_t hears;   /* the members that the sender hears */
    uint64_t dropped; /* the members that the sender has dropped in this view (README.md, protocol 4) */
    uint64_t owes_nothing; /* the members to which the sender owes nothing (README.md, protocol 5) */
    uint64_t drops;        /* from the leader: the members that all members are to drop in this view (protocol 4) */
    uint64_t id; /* of the sender, as far as it knows: a member that was removed and added again has another one */
    bool leads;
    bool leaves; /* the sender has given up all locks, and will grant none */
    /* The sender remembers too many names, has used half of the view's fencing tokens (fence.h), or has a session to move. */
    bool wants_view;
    bool stray; /* the sender does not know its own id, and asks for the roster */
};

/* What the node ("we") knows of another member ("it"). */
struct member {
    uint64_t id;
    char name[LINK_NAME_MAX + 1], address[VIEW_ADDRESS_MAX + 1];
    struct link link;
    void *user;          /* a pointer of the driver */
    bool introduced;     /* the driver has been told of it (step/step.h) */
    bool blocked;        /* its connection takes no more bytes for now */
    uint64_t carried_ms; /* when its connection was made, or bytes came over it last */
    struct member *next_retired;
    /* Agreed settings. `able` is its incarnation that has said that it knows of an agreed lease (node/agreed.h); able_policies and able_rights the
     * same, of agreed policies and rights (node/policies.h, node/rules.h). The other fields are what that incarnation has said of its configuration:
     * the lease, a digest of the policies, a hash of its algorithms, a digest of the rights. */
    uint64_t able;
    uint64_t file_lease_ms;
    uint64_t able_policies;
    uint64_t file_policies, algorithms;
    uint64_t able_rights, file_rights;

    /* Its letters. One type of letter says that the letters after it belong to the next view. We discard letters of an earlier
     * view. Letters of a later view wait until we have installed that view, too. */
    uint64_t letters_view;
    uint64_t letters_incarnation; /* the incarnation that sent them */
    bool announced;               /* its digest for this view has arrived (lock/digest.h) */
    struct bytes late;            /* letters that wait, each after its length */

    /* Its heartbeats. */
    uint64_t heard_ms;         /* by our clock: when the last one arrived; 0: none */
    uint64_t beat_ms;          /* by its clock: when it sent the newest one that we acknowledge; 0: none */
    uint64_t beat_incarnation; /* the incarnation that sent it */
    uint64_t acked_ms;         /* by our clock: when we sent the newest heartbeat that it has acknowledged */
    uint64_t promised_ms; /* by our clock: the end of our promise. Until then we do not report that we owe it nothing */
    bool dropped;         /* we no longer acknowledge its heartbeats in this view (protocol 4) */
    struct beat last;     /* the last one that arrived */
    struct {
        uint64_t sent_ms, echo_ms, incarnation;
    } span; /* of an earlier heartbeat of it; with the last one, they show whether our clock has stood still */

    /* Kept sessions, see node/keep.h. */
    struct keep_peer {
        /* Identifies the time in which the member takes part without a break; the rest is about that time. */
        uint64_t tenure;
        uint64_t acked;      /* the number of our last letter that the member has acknowledged */
        uint64_t seen, told; /* numbers of its letters: the last that came, and the last that we have acknowledged */
        bool greeted;        /* we have told it all that our sessions hold (KEEP_SYNC) */
        bool synced;         /* its KEEP_SYNC has come: before that, we acknowledge none of its letters */
        bool marked;         /* its KEEP_MARK of this view has come */
        uint64_t opened;     /* the last view that it had opened when it sent KEEP_MARK */
    } keep;

    /* The queries of this node's clients that the member is to answer, see node/query.h. */
    struct query_line {
        struct ring queued;  /* struct answer.in_line, oldest first: they wait until others are answered */
        uint32_t unanswered; /* queries that were sent to it; of some, the answer may have been lost */
        uint64_t put_ms;     /* when the last one was sent */
    } queries;

    /* The events of which clients of the member want to be told, see node/watch.h. */
    struct watch_interest {
        struct bytes list; /* pattern?, text; .. */
        uint64_t until_ms;
    } interest;
};

#endif
