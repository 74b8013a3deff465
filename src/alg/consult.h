/* consult.h - is the token lost? By time-outs, as in section VI.A of Singhal's paper; see census.h for the other way.
 *
 * A site that has waited for the token for `patience` times T is late. It tells the coordinator, the lowest site that
 * it can reach, by LATE. The coordinator consults all sites that it can reach: CONSULT, and ANSWER from each, which
 * says whether the token is there, and whether the site waits, with the number of its request. A site that was
 * consulted keeps the token, if it has it or gets it, until RESUME.
 *   If a site has the token, RESUME tells all where it is, and those who wait send their requests there once more. If
 * none has, it may be on its way: but from the last answer on no site sends it, so it arrives within T. After more than
 * that the coordinator consults all a second time. If again none has it, it is lost, and the coordinator makes it anew,
 * unless some site is beyond a cut.
 *   A site that is late is late again after the same time, so any message may get lost. A consultation that meets a
 *   site which comes back, or another coordinator, is given up; its tag tells its answers from those of the next.
 *
 * The paper leaves open which site consults the others, and how they tell that the token is not on its way between two
 * of them. It asks that exactly one site make the new token, and leaves the election to others: here it is the
 * coordinator. */
#ifndef DIBS_ALG_CONSULT_H
#define DIBS_ALG_CONSULT_H

#include "census.h"

enum { RECOVERING_PART = RECOVERED + 1, LATE, CONSULT, ANSWER, RESUME };
/* CONSULT has the round, ANSWER that and the number of the sender's request, RESUME the holder. */
#define CONSULT_KINDS                                                                                                  \
    {"LATE", 0, 0}, {"CONSULT", 1, 0}, {"ANSWER", 2, 0},                                                               \
    {                                                                                                                  \
        "RESUME", 1, 0                                                                                                 \
    }

enum { TIMER_LATE, TIMER_ROUND };
enum { DECLARES_AT_ONCE, CONSULTS_ONCE, KEEPS_OLD_TOKEN };

struct consult {
    dme_id by;     /* while the token has to stay: the coordinator that said so */
    uint8_t round; /* coordinator: enum in consult.c; 0: no consultation */
    uint8_t tag;   /* of the consultation, modulo 4 */
    uint8_t zero[2];
};

/* This site begins to wait, or to recover: starts the timer after which it is late. */
void consult_start(struct dme *d, uint32_t patience);
void consult_timer(struct dme *d, struct census_view v, unsigned timer, uint32_t patience);
/* Receives the message if it is one of those above. */
bool consult_receive(struct dme *d, struct census_view v, const struct dme_msg *m);
/* A site is down or cannot be reached; or it is back. */
void consult_without(struct dme *d, struct census_view v);
void consult_give_up(struct dme *d, struct census_view v);

#endif
