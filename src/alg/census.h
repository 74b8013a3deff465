/* census.h - the recovery that robust token algorithms share: whether the token is lost, and how a site comes back.
 *
 * The census. When a site hears that another is down, or across a cut, or back from there, it begins a *census*. It
 * numbers the census above all that it knows of, stops passing the token on, and sends FLUSH to all sites that it can
 * reach. A site that hears of a census with a higher number joins that one. Channels are FIFO, so a FLUSH arrives after
 * every token that its sender has sent before. A site that has FLUSH from all others therefore has every token that was
 * in flight to it. It then reports to the coordinator, the lowest site that it can reach, whether it has the token. If
 * all sites have reported and none has the token, the token is lost, and the coordinator makes a new one, unless a site
 * is across a cut: the token may be there. The verdict, which names the holder, ends the census.
 *
 * Why that is safe. A holder keeps the token from its FLUSH to the verdict. A token in flight is ahead of its sender's
 * FLUSH, so its receiver has it before the receiver reports.
 *
 * Recovery. A site that has restarted has forgotten the number of its last request. If it counted from 1 again, its
 * requests would be taken for outdated ones. It sends RECOVERING to all sites, and makes no request until they have
 * answered. A message that comes from a site before its answer was sent to the earlier incarnation, and is discarded.
 * That applies to a token, too, since it was counted as lost.
 *
 * The kinds of messages: the algorithm's own two, REQUEST and TOKEN, then these. FLUSH has the number of the census.
 * STATUS has that number, the state of the sender, and all request numbers that the sender knows. VERDICT has that
 * number and the holder. RECOVERED has the number of the receiver's last request, and that of the last census. The mode
 * of RECOVERING and RECOVERED is the incarnation of the site that recovers. */
#ifndef DIBS_ALG_CENSUS_H
#define DIBS_ALG_CENSUS_H

#include "core/alg.h"

enum { REQUEST, TOKEN, FLUSH, STATUS, VERDICT, RECOVERING, RECOVERED };
#define CENSUS_KINDS                                                                                                   \
    {"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {"FLUSH", 1, 0}, {"STATUS", 1, 1}, {"VERDICT", 1, 0}, {"RECOVERING", 1, 0},    \
    {                                                                                                                  \
        "RECOVERED", 2, 0                                                                                              \
    }

/* The first field of a state. */
struct census {
    uint64_t number;   /* of the last census that this site knows of */
    uint64_t answered; /* recovering: the last census that others know of */
    uint8_t runs;      /* a census runs: a token stays where it is */
    uint8_t reported;
    uint8_t has;        /* the token is here */
    uint8_t recovering; /* it has restarted, and makes no request yet */
    uint8_t zero[4];
};

/* The first field of a peer record. */
struct census_peer {
    uint64_t number;   /* highest number known of its requests */
    uint64_t served;   /* with the token: the number of its requests that the token knows */
    uint64_t flushed;  /* number of the census of its last FLUSH */
    uint64_t reported; /* coordinator: its own number, or if it cannot be reached, the highest that any site knows */
    uint8_t down, cut; /* cannot be reached, for this reason */
    uint8_t beyond;    /* was across a cut that has healed, and it is not known yet on which side the token is */
    uint8_t missing;   /* recovering: its answer */
    uint8_t counted;   /* coordinator: it has reported; and what: */
    uint8_t waits, has, incomplete /* a site was across a cut */;
};

/* What an algorithm does at three moments. */
struct census_user {
    void (*make)(struct dme *d, void *state); /* the token, from what was reported: it is lost */
    void (*go_on)(struct dme *d, void *state, dme_id holder /* or DME_NONE: not known */);
    void (*ask)(struct dme *d, void *state); /* for the first time after recovery */
};

/* A state, as the functions below see it. */
struct census_view {
    struct census *census; /* the state */
    struct census_peer *first;
    size_t stride;
    const struct census_user *user;
    struct consult *consult; /* null; or time-outs and consult.h take the place of the census */
};

static inline struct census_peer *census_peer(struct census_view v, dme_id j)
{
    return (struct census_peer *)((char *)v.first + j * v.stride);
}

static inline bool census_reaches(const struct dme *d, struct census_view v, dme_id j)
{
    return j != d->self && !census_peer(v, j)->down && !census_peer(v, j)->cut;
}

/* Does this site wait for the token? A site that recovers has not asked for it yet. */
static inline bool census_waits(const struct dme *d, const struct census *c)
{
    return dme_waiting(d) && !c->has && !c->recovering;
}

/* The lowest site that can be reached, this one included. */
dme_id census_coordinator(const struct dme *d, struct census_view v);
/* Forgets what others have reported. */
void census_clear(struct dme *d, struct census_view v);
/* Recovering: asks the sites again that have not answered. */
void census_recover_again(struct dme *d, struct census_view v);

/* The handler of news about another site. */
void census_news(struct dme *d, struct census_view v, enum dme_news what, dme_id of);
/* The site has restarted: resets the state of the census, except for the number of its own last request. */
void census_restart(struct dme *d, struct census_view v);
/* Receives the message if it is one of those above but REQUEST and TOKEN, or is to be discarded. Returns whether it
 * did. */
bool census_receive(struct dme *d, struct census_view v, const struct dme_msg *m);

/* The number of tokens at sites that are up, or in flight to such sites. */
uint32_t census_tokens(const struct dme_moment *now, size_t peers /* where they begin */, size_t stride);
void census_show(const struct dme *d, struct census_view v, struct dme_text *text);

#endif
