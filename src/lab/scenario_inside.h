/* scenario_inside.h - what scenario.c and recorded.c share: a scenario that is being played. */
#ifndef DIBS_LAB_SCENARIO_INSIDE_H
#define DIBS_LAB_SCENARIO_INSIDE_H

#include "scenario.h"

enum { PLAY_WORDS_MAX = 34 };

struct play {
    struct dme_conf conf;    /* conf.alg is null until it is known */
    uint32_t promises;       /* of the network: DME_FIFO, DME_SEQUENCED */
    struct lab_world *world; /* null until the first move */
    FILE *output;            /* of this block, into block and len */
    char *block;
    size_t len;
    bool faulted;
    struct world_move *moves; /* so far */
    uint32_t moved;
    bool commanded; /* a command has been seen */
    struct moves_remark *remark;
    uint32_t remarks;
    bool believes;    /* `state` is possible */
    bool recorded;    /* the run was recorded */
    bool midst;       /* and does not begin with all sites as at first */
    bool stopped;     /* and cannot go on: the rest is ignored */
    uint64_t *age_ms; /* of each move */
    uint8_t *got;     /* the message that arrived last, as bytes, without its fence */
    size_t got_len;
    struct moves_verdict *verdict;
    uint32_t verdicts;
    struct lab_world *begin;
    unsigned words;
    char *word[PLAY_WORDS_MAX];
    struct scenario_error *error;
};

/* Records what is wrong with the line. Always returns false. */
bool __attribute__((format(printf, 2, 3))) play_wrong(struct play *p, const char *format, ...);
bool play_number(struct play *p, const char *word, const char *what, uint32_t below, uint32_t *number);
bool play_site(struct play *p, unsigned k, dme_id *site); /* the site that word k names */

/* recorded.c: the commands of recorded runs; a move that is impossible; a message that is about to arrive. */
bool play_state(struct play *p);
bool play_before(struct play *p);
bool play_inflight(struct play *p);
bool play_recorded(struct play *p);
bool play_impossible(struct play *p, const char *why);
void play_keep_message(struct play *p, const struct world_move *move);
void play_free_verdicts(struct moves_verdict *verdict, uint32_t count);

#endif
