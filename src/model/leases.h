/* leases.h - the protocol of views, promises and leases (member/README.md) as a model: its state.
 *
 * One member, the *observed* one, has clients that are watched: its promises, acknowledgements and leases are timed. Of the
 * others, only what concerns the observed member is kept. They may grant without a lease, be excluded at any time, and
 * start again at any time: so each run of the daemon is a run of this model, for each choice of the observed member
 * (README.md has the argument).
 *
 * Times are ages in rounds. A lease, and what was vouched for by it, lasts at most `lease` rounds after the heartbeat
 * that it counts from; a promise lasts at least `promise` rounds. Both clocks are at their worst: the observed member's
 * and its client's are as slow as A1 allows, and those of the members that have promised are as fast.
 *
 * Views have no numbers: those that are still known to a process stand in `view[]` in their order, the agreed one last.
 * Incarnations have the smallest numbers that keep their order. So there are finitely many states though restarts,
 * exclusions and changes of the roster have no bound. */
#ifndef DIBS_MODEL_LEASES_H
#define DIBS_MODEL_LEASES_H

#include "member/view.h"
#include "model.h"

enum {
    LEASES_VIEWS = 16,
    LEASES_LAG = 2,     /* views, at most, that a member may install one by one behind the agreed one */
    LEASES_NEVER = 255, /* the view is not going to open: a member that takes part has passed it */
    LEASES_NOW = 1000,  /* the time that functions of src/member are told, in rounds */
};

enum leases_hold {
    LEASES_HELD,    /* the client holds the lock */
    LEASES_LINGERS, /* the lock was taken away, and the client has not heard of that */
    LEASES_GHOST, /* the member that granted the lock has ended or was excluded: it does not know of the client any more */
};

struct leases_view {
    uint8_t standing[MODEL_MEMBERS_MAX]; /* enum view_standing + 1; 0: not in the roster */
    uint8_t part[MODEL_MEMBERS_MAX];     /* the incarnation that takes part; 0: none */
    uint8_t missing;                     /* the set of members that take part and have not installed it yet */
};

struct leases {
    uint8_t views;
    struct leases_view view[LEASES_VIEWS];

    /* Each member. */
    uint8_t at[MODEL_MEMBERS_MAX];          /* the view that it has installed */
    uint8_t incarnation[MODEL_MEMBERS_MAX]; /* of its process */
    /* Each member but the observed one. */
    uint8_t promised[MODEL_MEMBERS_MAX]; /* the age of its promise to the observed member */
    uint8_t acked[MODEL_MEMBERS_MAX];    /* the age of the heartbeat that it has acknowledged; `lease`: too old */
    uint8_t sent[MODEL_MEMBERS_MAX];     /* the same of an acknowledgement that is under way */
    uint8_t sent_by[MODEL_MEMBERS_MAX];  /* and the incarnation that sent it */
    uint8_t droppers;                    /* the set of those that have dropped the observed member */
    uint8_t owes_nothing; /* the set of members that have reported, in the agreed view, that they owe it nothing */

    /* The observed member. */
    bool dropped;
    uint8_t began;   /* how long its process runs */
    uint8_t belief;  /* the age of the heartbeat from which its client's belief counts; `lease`: no client believes */
    uint8_t hold;    /* enum leases_hold */
    uint8_t granted; /* the view of the grant */
    uint8_t carried; /* the last view in which the lock's instance knows of the client */

    /* The client of another member that believes in the lock, for as long as it likes. */
    uint8_t rival; /* the view of its grant, which the observed member has not installed; 0: there is none */

    uint8_t counted; /* how long all have reported the present set of counted members; promise + 1: not yet */
};

enum leases_mistake {
    LEASES_RIGHT = -1,
    LEASES_SHORT_PROMISE,
    LEASES_FORGET_PROMISES,
    LEASES_MINORITY,
    LEASES_NO_LEASE,
    LEASES_LONG_VALIDITY,
    LEASES_ACK_DROPPED,
    LEASES_EARLY_REPORT,
    LEASES_EARLY_GIVE_UP,
    LEASES_EARLY_RETURN,
    LEASES_EARLY_CHANGE,
    LEASES_UNREPORTED,
    LEASES_NOT_OPEN,
    LEASES_NO_DIGEST,
    LEASES_MISTAKES
};

enum leases_move {
    LEASES_TIME,
    LEASES_BEAT,
    LEASES_ACK,
    LEASES_REPORT,
    LEASES_GRANT,
    LEASES_VOUCH,
    LEASES_RIVAL_GRANT,
    LEASES_RESTART,
    LEASES_INSTALL,
    LEASES_INSTALL_ALL,
    LEASES_COUNTED,
    LEASES_AGREE,
};

/* State and bytes. leases_put also gives views and incarnations their numbers. */
size_t leases_put(const struct model_task *t, struct leases *s, uint8_t *bytes);
void leases_get(const struct model_task *t, struct leases *s, const uint8_t *bytes);

static inline uint8_t leases_latest(const struct leases *s)
{
    return (uint8_t)(s->views - 1);
}

static inline bool leases_makes(const struct model_task *t, enum leases_mistake mistake)
{
    return t->mistake == (int)mistake;
}

/* Does the process of member `i` take part in the view that it has installed? */
static inline bool leases_takes_part(const struct leases *s, uint32_t i)
{
    return s->view[s->at[i]].part[i] && s->view[s->at[i]].part[i] == s->incarnation[i];
}

/* The view as the functions of src/member know it, and the member at each place. */
struct leases_real {
    struct view view;
    uint32_t place[MODEL_MEMBERS_MAX]; /* of each member; VIEW_MEMBERS_MAX: it is not in the roster */
    uint32_t member[MODEL_MEMBERS_MAX];
};
void leases_make_real(const struct model_task *t, const struct leases_view *v, struct leases_real *real);
void leases_from_real(const struct view *v, struct leases_view *to);

/* leases.c: member `i` installs the view. */
void leases_install(const struct model_task *t, struct leases *s, uint32_t i, uint8_t v);
/* The view is agreed as the successor of the latest one. */
void leases_agree(const struct model_task *t, struct leases *s, const struct leases_view *next);
/* leases_leader.c: all views that a leader may propose now, and the beginning of the time of protocol 8. */
void leases_lead(const struct model_task *t, const struct leases *s, const struct model_out *out);
/* Protocol 5: does the member report that it owes the observed member nothing? */
bool leases_owes_nothing(const struct model_task *t, const struct leases *s, uint32_t i);
/* leases_story.c */
void leases_tell(const struct model_task *t, const uint8_t *state, struct model_move move, const uint8_t *next,
                 FILE *to);

#endif
