/* member.h - what a node knows of another member: the link to it, its letters, its heartbeats. Used by node.c and its
 * parts. */
#ifndef DIBS_MEMBER_MEMBER_H
#define DIBS_MEMBER_MEMBER_H

#include "view.h"

/* A heartbeat. Sets are of places in the roster of the sender's view. */
struct beat {
    uint64_t view;    /* the view that the sender has installed */
    uint64_t sent_ms; /* by the sender's clock */
    uint64_t echo_ms; /* by the receiver's clock: the newest beat of it that the sender acknowledges; 0: none */
    uint64_t hears;   /* whom the sender hears */
    uint64_t bound;   /* whom it no longer acknowledges in this view */
    uint64_t expired; /* whom it owes nothing any more */
    uint64_t drops;   /* from the leader: whom nobody shall acknowledge any more in this view */
    bool leads;
    bool leaves;  /* the sender has given up all locks, and will grant none */
    bool crowded; /* it wants a new view: it remembers too many names, or has used up half of the view's fences */
    bool stray;   /* the sender does not know who it is, and asks for the roster */
};

struct member {
    uint64_t id;
    char name[LINK_NAME_MAX + 1], address[VIEW_ADDRESS_MAX + 1];
    struct link link;
    void *user; /* the driver's */
    struct member *next_retired;

    /* Its letters. A letter that says so begins a view; those of a former one are thrown away, those of a later one wait
     * until it is installed here, too. */
    uint64_t letters_view;
    uint64_t letters_life; /* of which incarnation all this is */
    bool announced;        /* its digest of this view is here (lock/digest.h) */
    struct bytes late;     /* letters that wait, behind their lengths */

    /* Its heartbeats. */
    uint64_t heard_ms;    /* when the last one came; 0: none */
    uint64_t beat_ms;     /* by its clock: the newest that is to be acknowledged; 0: none */
    uint64_t beat_life;   /* of which incarnation */
    uint64_t acked_ms;    /* by our clock: the newest of ours that it has acknowledged */
    uint64_t promised_ms; /* until then nobody gets our support for excluding it */
    bool bound;           /* in this view it gets no more acknowledgements */
    struct beat last;     /* that came */
    struct {
        uint64_t sent_ms, echo_ms, life;
    } span; /* an earlier one, and of which incarnation: to find out whether our clock has stood still */

    /* Which events its clients want to be told, see watch.h. */
    struct watch_interest {
        struct bytes list; /* pattern?, text; .. */
        uint64_t until_ms;
    } interest;
};

#endif
