/* quorum.h - arbitration among quorums: what Maekawa's and Agrawal and El Abbadi's algorithms share. They differ in who
 * is a member of whose quorum, which their init handlers say. The story is told in quorum.c. */
#ifndef DIBS_ALG_QUORUM_H
#define DIBS_ALG_QUORUM_H

#include "core/alg.h"

struct quorum {
    uint64_t clock;
    uint64_t mine;          /* time of this site's claim, 0: none */
    struct dme_ticket lock; /* as arbiter: the claim that has the grant; clock 0: none */
    uint32_t inquired;      /* as arbiter: INQUIRE is out for it */
    uint32_t missing;       /* grants that this site's claim still lacks */
    struct {
        uint64_t waits;   /* as arbiter: time of the peer's waiting claim, 0: none */
        uint64_t done;    /* as arbiter, where sites may stop: time of the peer's last claim that is over */
        uint8_t member;   /* the peer is in this site's quorum */
        uint8_t down;     /* the peer is known to have stopped */
        uint8_t granted;  /* the peer's grant is here */
        uint8_t ever;     /* the peer's grant has been here for this claim */
        uint8_t failed;   /* the peer said FAILED, or was given its grant back, and has not granted since */
        uint8_t inquired; /* the peer wants its grant back and has not got it */
        uint8_t early;    /* the peer's INQUIRE came before its GRANT */
        uint8_t asked;    /* this site's claim has gone to it */
    } peer[];
};

enum { QUORUM_OPTION_YIELD }; /* the first option; the algorithm's own follow */
#define QUORUM_YIELD                                                                                                   \
    {                                                                                                                  \
        .key = "yield", .help = "when a grant is given back", .choices = quorum_yield                                  \
    }
extern const char *const quorum_yield[];

extern const struct dme_kind quorum_kinds[];
extern const struct dme_mistake quorum_mistakes[];

void quorum_request(struct dme *d, void *state);
/* If sites may crash: site `j` has crashed, and is forgotten. Returns true if this site's claim has lost a member of
 * its quorum; the claim then needs another quorum, and goes on by quorum_ask. */
bool quorum_lost(struct dme *d, struct quorum *s, dme_id j);
void quorum_ask(struct dme *d, struct quorum *s);
void quorum_receive(struct dme *d, void *state, const struct dme_msg *m);
void quorum_release(struct dme *d, void *state);
const char *quorum_broken(const struct dme_moment *now);
const char *quorum_malformed(const struct dme *d, void *state);
bool quorum_canon(const struct dme_draft *now);
uint64_t *quorum_clock(void *state);
void quorum_show(const struct dme *d, const void *state, struct dme_text *text);

#define QUORUM_COMMON                                                                                                  \
    QUORUM_SHARED, .needs = DME_RELIABLE | DME_ALIVE, .request = quorum_request, .broken = quorum_broken,              \
                   .canon = quorum_canon, .clock = quorum_clock
#define QUORUM_SHARED                                                                                                  \
    .family = DME_QUORUM, .kinds = quorum_kinds, .rules = 1 << DME_EXCLUSIVE, .state_size = sizeof(struct quorum),     \
    .peer_size = sizeof(((struct quorum *)0)->peer[0]), .receive = quorum_receive, .release = quorum_release,          \
    .malformed = quorum_malformed, .show = quorum_show

#endif
