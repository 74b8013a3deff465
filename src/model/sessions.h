/* sessions.h - kept sessions (the rules in README.md of src/node) as a model: its state.
 *
 * There is one kept session and one exclusive lock. The session is granted the lock once, and a *rival*, a client without a kept
 * session, wants it, too. With `--change` there are two records of the lock: the one of before, and the one behind it. With `follow`, the second is of another
 * session, to which the owner passes the lock on in one exchange (rule 2). With `upgrade`, the first is shared, and the second is the same session's exclusive one (rule
 * 11). With `downgrade` there is one record, whose mode changes. In the last two cases the rival wants to share the lock. Where the session's client is connected, and whether it believes in the lock at the moment, is left out: a lock
 * of which the client was told must not be lost, and must not be granted to the rival, until the client has released it or the keep
 * time is over. The client may resume the session at any member at any time. Members send each other the letters of node/keep.h in order (I15). Views are agreed one after the other, any members
 * may be in them, and each member installs them at its own time. What a member decides by is member/owner.h.
 *
 * What is assumed is what the model of leases shows and what the lock's algorithm does. When a member is excluded, no client of it
 * believes in a lock (I18); so the rival loses the lock. A member grants, and tells a client of a grant, only while it is not excluded. Within a view,
 * the lock is granted to one client at a time, and its instance knows of the claims that members have told at their barriers
 * (I4, I24).
 *
 * The number of views is bounded, and so the number of letters: `--views` says how often the view changes. */
#ifndef DIBS_MODEL_SESSIONS_H
#define DIBS_MODEL_SESSIONS_H

#include "member/owner.h"
#include "model.h"

enum {
    SESSIONS_MEMBERS = 3,
    SESSIONS_VIEWS = 6, /* at most, the first one included */
    SESSIONS_LETTERS = 24,
    SESSIONS_TWO = 2, /* records of the lock, and sessions, at most */
};

enum sessions_type {
    SESSIONS_GRANT,
    SESSIONS_FREE,
    SESSIONS_MOVE,
    SESSIONS_SYNC, /* up to here: the stream of an owner */
    SESSIONS_ACK,
    SESSIONS_REPORT, /* from here: letters of one view */
    SESSIONS_MARK,
    SESSIONS_ASK,
};

struct sessions_letter {
    uint8_t type;   /* enum sessions_type */
    uint8_t view;   /* in which it was sent */
    uint8_t number; /* of the stream; of what is acknowledged */
    uint8_t to;     /* of MOVE: the member + 1; of REPORT: the owner + 1; of MARK: the last view that has opened */
    uint8_t since, chosen; /* of REPORT: its owner's tenure, and the view in which the owner was chosen */
    uint8_t which;         /* of GRANT, FREE and REPORT: the record; of MOVE and ASK: the session */
    uint8_t shared;        /* of GRANT and REPORT: the mode of the record */
};

/* What a member knows of another one. */
struct sessions_peer {
    uint8_t since;  /* the tenure that this is about */
    uint8_t acked;  /* the last own letter that it has acknowledged */
    uint8_t seen;   /* its last letter */
    uint8_t told;   /* what of that was acknowledged */
    uint8_t opened; /* as its MARK of the present view said */
    bool greeted, synced, marked;
};

enum sessions_claim {
    SESSIONS_NONE,
    SESSIONS_PENDING, /* granted, and the records are not known everywhere */
    SESSIONS_READY,   /* known everywhere; the client is not told */
    SESSIONS_HELD,    /* the client was told, or the claim was adopted */
    SESSIONS_SHARES,  /* held, and shared when all members know it */
};

/* What a member knows of a session. */
struct sessions_kept {
    bool known, own, ownerless, leaves;
    uint8_t owner, since; /* the member + 1, and its tenure */
    uint8_t chosen, unsure_in;
    uint8_t moves_to, wanted_by; /* the member + 1, or 0 */
    struct {
        uint8_t owner, since, chosen, unsure_in;
    } before; /* what it knew of the owner, if a report of this view has named another one; else zeroes */
};

/* .. of one of the two records, or its own claim in the place of that. */
struct sessions_record {
    uint8_t record;    /* 0: none; 1 + the view that a report has named, or 0 */
    uint8_t claim;     /* own: enum sessions_claim */
    uint8_t kept;      /* own: the number of the letter about the claim */
    uint8_t withdrawn; /* the number of the withdrawal that is not known everywhere; 0: none */
    bool shared;       /* the mode of the record, as other members have it, or will have it */
    bool hearsay;      /* the record is known only by reports of this view, whose barrier was not passed */
    bool told;         /* the record is shared, and such reports have changed that */
    bool alone;        /* own, or withdrawn: the claim excludes all others */
};

struct sessions_member {
    uint8_t at;  /* the view that it has installed */
    bool part;   /* its process takes part in it */
    bool awaits; /* not all MARKs have come, or it has not chosen */
    uint8_t passed, opened, made;
    struct sessions_peer peer[SESSIONS_MEMBERS];
    struct sessions_kept session[SESSIONS_TWO];
    struct sessions_record lock[SESSIONS_TWO];
};

struct sessions_view {
    uint8_t
        since[SESSIONS_MEMBERS]; /* the tenure of each member: the view in which it came; 0: it does not take part */
    uint8_t passed;              /* the set of members that have passed the barrier */
    uint8_t claims, rivals;      /* the sets of members that have told, or been granted, a claim in this view */
    uint8_t alone;               /* .. and of those whose claim of a kept session is exclusive */
    uint8_t choice;              /* 1 + what the sessions' ids choose; 0: nothing yet */
};

struct sessions {
    uint8_t views;    /* the number of the latest one */
    uint8_t complete; /* the last view whose barrier all have passed */
    struct sessions_view view[SESSIONS_VIEWS + 1];
    struct sessions_member member[SESSIONS_MEMBERS];
    struct sessions_letter letter[SESSIONS_MEMBERS][SESSIONS_MEMBERS][SESSIONS_LETTERS]; /* from, to */
    uint8_t letters[SESSIONS_MEMBERS][SESSIONS_MEMBERS];

    uint8_t kept;    /* bit k: the client was told of record k, has not released it, and the keep time is not over */
    uint8_t rival;   /* the member + 1 whose client, without a kept session, holds the lock; or 0 */
    uint8_t granted; /* bit k: record k has been granted; it is once */
    bool shares;     /* the client has said that it shares the lock from now on */
};

enum sessions_mistake {
    SESSIONS_TELL_EARLY,
    SESSIONS_LEAVE_EARLY,
    SESSIONS_NO_GREETING,
    SESSIONS_NO_DOUBT,
    SESSIONS_NO_REPORT,
    SESSIONS_NO_BARRIER,
    SESSIONS_HEAR_EARLY,
    SESSIONS_SURE,
    SESSIONS_MOVE_ORPHAN,
    SESSIONS_REMEMBER,
    SESSIONS_NO_WITHDRAWAL,
    SESSIONS_KEEP_BOTH,
    SESSIONS_UPGRADE_EARLY,
    SESSIONS_SHARE_EARLY,
    SESSIONS_OWN_MODE,
    SESSIONS_HEARSAY,
    SESSIONS_MISTAKES
};

enum sessions_move {
    SESSIONS_AGREE,
    SESSIONS_INSTALL,
    SESSIONS_HEAR,
    SESSIONS_PASS,
    SESSIONS_OPEN,
    SESSIONS_LOCK,
    SESSIONS_TELL,
    SESSIONS_RELEASE,
    SESSIONS_RESUME,
    SESSIONS_BEGIN_MOVE,
    SESSIONS_RIVAL,
    SESSIONS_RIVAL_LEAVES,
    SESSIONS_FOLLOW,
    SESSIONS_UPGRADE,
    SESSIONS_DOWNGRADE,
};

static inline bool sessions_makes(const struct model_task *t, enum sessions_mistake mistake)
{
    return t->mistake == (int)mistake;
}

static inline uint32_t sessions_records(const struct model_task *t)
{
    return t->change == MODEL_FOLLOW || t->change == MODEL_UPGRADE ? 2 : 1;
}

static inline uint32_t sessions_count(const struct model_task *t)
{
    return t->change == MODEL_FOLLOW ? 2 : 1;
}

/* The session of record `k`. */
static inline uint32_t sessions_of(const struct model_task *t, uint32_t k)
{
    return t->change == MODEL_FOLLOW ? k : 0;
}

/* Does the rival share the lock? */
static inline bool sessions_shares(const struct model_task *t)
{
    return t->change == MODEL_UPGRADE || t->change == MODEL_DOWNGRADE;
}

/* Has member `m` a claim of session `q`; or a record of it? */
static inline bool sessions_has_claim(const struct model_task *t, const struct sessions_member *m, uint32_t q)
{
    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (sessions_of(t, k) == q && m->lock[k].claim != SESSIONS_NONE)
            return true;
    return false;
}

static inline bool sessions_has_record(const struct model_task *t, const struct sessions_member *m, uint32_t q)
{
    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (sessions_of(t, k) == q && m->lock[k].record)
            return true;
    return false;
}

/* The tenure of member `j` in the view that member `i` has installed; 0: it does not take part there. */
static inline uint8_t sessions_since(const struct sessions *s, uint32_t i, uint32_t j)
{
    return s->view[s->member[i].at].since[j];
}

/* Is member `j` another one that takes part in the view of member `i`? */
static inline bool sessions_is_peer(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t j)
{
    return j != i && j < t->members && s->member[i].part && sessions_since(s, i, j);
}

/* sessions_state.c: state and bytes. sessions_put also takes out what cannot matter any more. */
size_t sessions_put(const struct model_task *t, struct sessions *s, uint8_t *bytes);
void sessions_get(const struct model_task *t, struct sessions *s, const uint8_t *bytes);

/* sessions_letters.c: what members tell each other. */
void sessions_say(struct sessions *s, uint32_t i, uint32_t j, struct sessions_letter letter);
void sessions_say_all(const struct model_task *t, struct sessions *s, uint32_t i, struct sessions_letter letter);
/* Does the first letter from `i` to `j` have to wait? If not, it is heard and taken out. */
bool sessions_hear(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t j);
/* Is it a letter of, or to, a process that does not take part, or has been excluded since it was sent? */
bool sessions_is_void(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t j,
                      const struct sessions_letter *letter);
/* The number up to which all others know the letters of member `i`. */
uint8_t sessions_known(const struct model_task *t, const struct sessions *s, uint32_t i);
/* After something has been heard: grants that all know are ready, withdrawals that all know are done. */
void sessions_count_acks(const struct model_task *t, struct sessions *s, uint32_t i);
/* The own claim of record `k` is withdrawn: rule 2. */
void sessions_withdraw(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t k);
/* The claims of member `i` are those that the lock's instance of its view knows. */
void sessions_note_claims(const struct model_task *t, struct sessions *s, uint32_t i);

/* sessions_views.c: what a view does to sessions. */
void sessions_install(const struct model_task *t, struct sessions *s, uint32_t i, uint8_t v);
/* May member `i` choose owners now: have all MARKs come? */
bool sessions_may_pass(const struct model_task *t, const struct sessions *s, uint32_t i);
/* Member `i` passes the barrier. Returns what that violates, or null. */
const char *sessions_pass(const struct model_task *t, struct sessions *s, uint32_t i);
/* Must something be chosen by a session's id at this barrier? */
bool sessions_must_choose(const struct model_task *t, const struct sessions *s, uint32_t i);
bool sessions_is_unsure(const struct sessions_member *m, uint32_t q);
void sessions_forget_record(struct sessions_record *x);
/* The member forgets session `q`. */
void sessions_forget(const struct model_task *t, struct sessions_member *m, uint32_t q);

/* sessions_story.c */
void sessions_tell_story(const struct model_task *t, const uint8_t *state, struct model_move move, const uint8_t *next,
                         FILE *to);

#endif
