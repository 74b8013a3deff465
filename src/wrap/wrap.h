/* wrap.h - what `dibs lock` decides about the processes of its command.
 *
 * There is no I/O here: src/cli/lock_job.c drives these functions with real processes, src/soak/wrapper.c with
 * simulated ones.
 *
 * Terms. The *keeper* is the process `dibs lock`: it holds the lock. The *guard* is its child, and the command is the
 * child of the guard. Both are child subreapers: a process whose parent has ended becomes a child of the guard, or of
 * the keeper if the guard has been killed. So all that the command starts stays below the keeper, whatever process
 * group and session it moves to. The *tree* is the command and all that is below it.
 *
 * Both processes run this state machine, each for itself. The keeper decides. The guard only waits and, if the keeper dies, kills the tree.
 *
 * Rules (I30), of which `dibs soak` checks W1 to W5:
 *   W1. The keeper and the guard let go of the lock when the tree is empty, not before. The exception is asked for:
 *       with WRAP_LEAVE they let go when the command has ended.
 *   W2. When the lock is lost, all of the tree gets SIGTERM and, when the grace is over, SIGKILL until it is empty.
 *   W3. When the keeper or the guard is killed, the other one kills all of the tree at once.
 *   W4. When the command has ended and the tree is not empty, the keeper waits for the rest (WRAP_WAIT). It ends the
 *       rest as in W2 if that was asked for (WRAP_END), if the command was ended by a signal, or if a signal told the
 *       keeper to end, before or meanwhile. With `yields` such a signal ends all of the tree as in W2 at once.
 *   W5. A process that is not below the keeper gets no signal.
 *   W6. While the keeper is stopped, and half of the keep time has passed since it last held the lock for sure, the tree is
 *       stopped, too (lock_job.c; `tests/jobs.sh`). From the moment until which dibs_safe_ms vouches, another client may be granted the lock,
 *       whatever the keeper does. A process of the tree that another process continues meanwhile is stopped again: the command at once, others
 *       within a quarter of a second.
 *
 * How a tree that goes on forking is killed. A process with a pending SIGSTOP or SIGKILL cannot fork any more. So a sweep
 * goes through the tree from the root downwards, stops every process as soon as it sees it, and only then looks for its
 * children. It does so again until it has seen no new process; then it kills all. Sweeps follow each other until the
 * tree is empty: the system tells that without a race, as a process that has no children left has no descendants. */
#ifndef DIBS_WRAP_WRAP_H
#define DIBS_WRAP_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------- what to do */

/* What becomes of the rest of the tree when the command has ended. */
enum wrap_background { WRAP_WAIT, WRAP_END, WRAP_LEAVE };

enum wrap_state {
    WRAP_RUNS,  /* the command runs */
    WRAP_RESTS, /* the command has ended, and the keeper waits for the rest of the tree */
    WRAP_ENDS,  /* the tree has got SIGTERM */
    WRAP_KILLS, /* the driver sweeps until the tree is empty */
    WRAP_DONE   /* the driver lets go of the lock, and ends */
};

enum wrap_event {
    WRAP_COMMAND_ENDED,  /* by itself; others of the tree may run */
    WRAP_COMMAND_KILLED, /* the same, by a signal */
    WRAP_EMPTY,          /* nothing of the tree is left */
    WRAP_LOST,           /* the lock is lost */
    WRAP_SIGNAL,         /* the keeper got a signal that is meant for the command */
    WRAP_PARTNER_DIED,   /* the keeper's guard, or the guard's keeper, was killed */
    WRAP_TIME            /* time has passed */
};

/* What the driver has to do at once. */
enum wrap_action {
    WRAP_NOTHING,
    WRAP_PASS, /* the signal goes to the command's process group */
    WRAP_TERM  /* SIGTERM, then SIGCONT, to all of the tree */
};

struct wrap {
    enum wrap_background background;
    bool yields; /* a signal that tells the keeper to end is not passed on: all of the tree is ended */
    uint64_t grace_ms;
    enum wrap_state state;
    bool told;        /* a signal has told the keeper to end */
    uint64_t kill_ms; /* WRAP_ENDS: when the grace is over */
};

/* The signal matters for WRAP_SIGNAL only. */
enum wrap_action wrap_step(struct wrap *w, enum wrap_event event, int signal, uint64_t now_ms);

/* ------------------------------------------------------------------------------------------------------- to whom it is done */

enum { WRAP_SEEN_MAX = 4096 };

/* A process, as the system tells of it. A number may be given to another process when its own has ended; together with
 * the time of its start it is unique. */
struct wrap_process {
    int32_t pid, parent, group;
    bool stopped, ended; /* ended: only its parent has yet to hear of it */
    uint64_t started;
    char name[17];
};

struct wrap_seen {
    struct wrap_process process;
    int32_t sent; /* the last signal */
    bool present; /* it was seen in this pass */
    bool walked;  /* wrap_next has named it */
    bool refused; /* the system does not allow to send it a signal */
    bool again;   /* it gets SIGSTOP once more: wrap_continued */
    bool told;    /* the user was told that it does not end */
};

/* A pass through the tree. The driver shows the children of the process that wrap_next names, and at once sends the signal to
 * each of them for which wrap_see returns true. A process beyond the number that a sweep can remember
 * gets SIGKILL or nothing: a later sweep sees what it leaves behind. */
struct wrap_sweep {
    int32_t root;  /* the process that sweeps: the tree is below it */
    int32_t spare; /* the guard: below the root, and gets no signal; or 0 */
    int32_t group; /* only this process group of the tree gets the signal; 0: all of it does */
    int32_t signal;
    uint32_t asked; /* of root and spare: whose children wrap_next has named */
    bool fresh;     /* this pass has seen a new process, or stopped one */
    size_t count;
    struct wrap_seen seen[WRAP_SEEN_MAX];
};

/* Signal 0: the pass only looks. */
void wrap_begin(struct wrap_sweep *s, int signal, int32_t group);
/* Names the process whose children are to be shown next. Returns false if there is none: the pass is over. The number of this process may
 * have been given to another one by now. So the driver asks for the children, and then checks that the start of the process is still p->started (0:
 * it need not check). */
bool wrap_next(struct wrap_sweep *s, struct wrap_process *p);
/* Is this process to get the signal? */
bool wrap_see(struct wrap_sweep *s, const struct wrap_process *p);
/* The system has refused to send the signal to this process. */
void wrap_refuse(struct wrap_sweep *s, int32_t pid);
/* The driver has sent SIGSTOP to this process, and it runs: another process has continued it, or it has not stopped yet. The next sweep that stops the
 * tree stops it again. It goes on with the others. */
void wrap_continued(struct wrap_sweep *s, int32_t pid);
/* Forgets processes that are gone. Returns true if there was something new, so that the tree may have changed during
 * the sweep. */
bool wrap_finish(struct wrap_sweep *s);

#endif
