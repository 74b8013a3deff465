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

enum { MODEL_STATE_MAX = 512 /* bytes */, MODEL_MEMBERS_MAX = 5 };

/* A part of the protocol that can be left out, so that the search has something to find. */
struct model_mistake {
    const char *name, *what;
    /* The bounds of a small system that shows it; 0: those of the task. */
    const char *lost;
    uint8_t members, founders, lease, views, change;
    bool roster, calm, prompt, held;
};

/* Sessions: what may become of the lock, once. */
enum model_change {
    MODEL_SAME,
    MODEL_FOLLOW,   /* it is passed on to another session, in one exchange */
    MODEL_UPGRADE,  /* it is shared, and upgraded */
    MODEL_DOWNGRADE /* it is exclusive, and downgraded */
};

/* The bounds of a search. `lost` is null, or has the views of a search for kept sessions: for each change a word, with commas between them, and in it a
 * letter for each member, which stays as it is (s), is out (o) or is a new process (n). */
struct model_task {
    const struct model *model;
    uint32_t members;  /* processes, in the roster or not */
    uint32_t founders; /* of these are in the first roster */
    uint32_t observed; /* the member whose clients are watched */
    uint32_t lease_ms; /* with `clocks`: the length of a lease by the clock of its member */
    uint32_t lease;    /* rounds that the longest lease lasts */
    uint32_t promise;  /* rounds that the shortest promise lasts */
    bool held;         /* the lock is held, and all members know that, when the search begins */
    uint32_t views;    /* how often the view may change, where that is bounded */
    uint32_t change;   /* enum model_change */
    const char *lost;  /* see above */
    bool roster;       /* an operator adds and removes members */
    bool calm;         /* no process crashes, and only the observed member may be cut off */
    bool prompt;       /* all members install a view when it is agreed */
    bool clocks;       /* `lease` is in milliseconds of clocks that are wrong by a twentieth; rounds are milliseconds */
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
    const char *property;                 /* that is searched for a violation */
    const struct model_mistake *mistakes; /* ends with a null name */
    /* Fills in the bounds that are 0. Returns what is wrong with the others, or null. */
    const char *(*set)(struct model_task *task);
    size_t (*begin)(const struct model_task *task, uint8_t *state);
    void (*expand)(const struct model_task *task, const uint8_t *state, const struct model_out *out);
    /* Prints the move as a sentence, given the state before it, and the one after it or null. */
    void (*tell)(const struct model_task *task, const uint8_t *state, struct model_move move, const uint8_t *next,
                 FILE *to);
    bool (*is_time)(struct model_move move);
    void (*print_bounds)(const struct model_task *task, FILE *to);
};

extern const struct model model_leases, model_sessions;
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

/* If the task has a mistake and none of its bounds is set: sets those of a small system that shows the mistake. */
void model_set_bounds(struct model_task *task);
/* Searches all states, breadth first. If a move violates the property, prints a shortest story that leads to it to `story`,
 * which may be null. */
void model_search(const struct model_task *task, struct model_result *result, FILE *story);
/* Which mistakes does a search within these bounds find? Returns the set of their numbers. The task is one that `set` has accepted. If
 * the set is empty, that the property holds says nothing. */
uint32_t model_sees(const struct model_task *task);

#endif
