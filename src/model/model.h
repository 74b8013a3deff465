/* model.h - a protocol as a model: its states, its moves, its mistakes; and the search of all its states.
 *
 * The laboratory checks algorithms as they run (src/check). Views and leases lie
 * below them in the service. They depend on time, disks and an agreement, and their code is spread over a whole daemon. A
 * model has that protocol alone: a state is a few bytes, and a move is what one member, one client or the time does next. Where the daemon decides by
 * a function without state, the model calls this function, and does not repeat it.
 *
 * README.md says what each model leaves out and why the result still holds for the daemon. */
#ifndef DIBS_MODEL_MODEL_H
#define DIBS_MODEL_MODEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MODEL_STATE_MAX = 256 /* bytes */, MODEL_MEMBERS_MAX = 5 };

/* A part of the protocol that can be left out, so that the search has something to find. */
struct model_mistake {
    const char *name, *what;
    uint8_t founders; /* the bounds of a small system that shows it; 0: those of the task */
    bool roster, calm;
};

/* The bounds of a search. */
struct model_task {
    const struct model *model;
    uint32_t members;  /* processes, in the roster or not */
    uint32_t founders; /* of these are in the first roster */
    uint32_t observed; /* the member whose clients are watched */
    uint32_t lease;    /* rounds that the longest lease lasts */
    uint32_t promise;  /* rounds that the shortest promise lasts */
    bool roster;       /* an operator adds and removes members */
    bool calm;         /* no process crashes, and only the observed member may be cut off */
    int mistake;       /* its number; -1: none */
    uint64_t limit;    /* states, at most */
    void (*progress)(uint64_t states, uint64_t waiting);
    const volatile sig_atomic_t *stop;
};

/* A move, as its model numbers them. */
struct model_move {
    uint8_t what, who, arg;
};

/* What a model tells the search of the moves that are possible in a state. */
struct model_out {
    void *user;
    /* `broken` is what the move violates, or null. */
    void (*emit)(void *user, struct model_move move, const uint8_t *state, size_t len, const char *broken);
};

struct model {
    const char *name, *about;
    const struct model_mistake *mistakes; /* ends with a null name */
    /* Fills in the bounds that are 0. Returns what is wrong with the others, or null. */
    const char *(*set)(struct model_task *task);
    size_t (*begin)(const struct model_task *task, uint8_t *state);
    void (*expand)(const struct model_task *task, const uint8_t *state, const struct model_out *out);
    /* Prints the move as a sentence, given the state before it, and the one after it or null. */
    void (*tell)(const struct model_task *task, const uint8_t *state, struct model_move move, const uint8_t *next,
                 FILE *to);
    bool (*is_time)(struct model_move move);
};

extern const struct model model_leases;
extern const struct model *const model_all[]; /* ends with a null */

enum model_verdict { MODEL_HOLDS, MODEL_VIOLATED, MODEL_UNFINISHED };

struct model_result {
    enum model_verdict verdict;
    const char *broken;
    uint64_t states, transitions;
    uint32_t depth; /* moves to the farthest state, or to the violation */
    double seconds;
    size_t memory;
};

/* Searches all states, breadth first. If a move violates the property, prints a shortest story that leads to it to `story`,
 * which may be null. */
void model_search(const struct model_task *task, struct model_result *result, FILE *story);

#endif
