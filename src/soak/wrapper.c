/* wrapper.c - `dibs lock` in a soak: the decisions of src/wrap over simulated processes. See soak.h.
 *
 * Each seed draws a few commands. A command and what it starts fork, leave their process group, end, lose their
 * parents, ignore SIGTERM, close the connection to the daemon, take their time to die, or belong to another user. They
 * do so between any two steps of a sweep, and new processes soon get the numbers of processes that have ended. Meanwhile
 * the lock is lost, signals come, and the keeper and the guard are killed. The *tree* is the command and all processes that it has started,
 * directly or not. The checker sees all processes at every moment. It checks
 *   - that the lock is not released while a process of the tree runs (W1; W3 for a process that has inherited the connection);
 *   - that no process of the tree that can be killed runs for long after the tree is to be ended: the lock was lost (W2), the keeper or the guard
 *     was killed (W3), or the command has ended and the rest is not to go on (W4);
 *   - that no process of the tree is ended before, or killed before the grace is over;
 *   - that no other process gets a signal (W5);
 *   - that the keeper lets go soon when nothing of the tree is left, or when the command has ended and the rest is to be left alone (W1);
 *   - that all of these processes end. */
#include "world.h"

#include "base/memory.h"
#include "wrap/wrap.h"

#include <signal.h>
#include <stdlib.h>

enum {
    WRAPPERS = 4, /* commands for each seed */
    PROCESSES = 64,
    PID_INIT = 1,
    PID_FIRST = 2,
    PID_LAST = 120, /* a number is used again when all others were */
    DEATH_MS = 400, /* the longest time from SIGKILL to the death of a process */
    SWEEP_MS = 50,
    LATE_MS = 1000,
    LIMIT_MS = 120000,
};

struct soak_process {
    struct wrap_process is;
    bool tree;                 /* it is the command, or was started by it, directly or not */
    bool connected;            /* it has inherited the connection */
    bool deaf;                 /* it ignores SIGTERM */
    bool foreign;              /* it belongs to another user: no signal reaches it */
    bool dying;                /* it got SIGKILL, and does nothing any more */
    bool termed;               /* it got SIGTERM while it was stopped */
    bool killed;               /* a signal has ended it */
    uint64_t born_ms, ends_ms; /* when it began; when it ends, by itself or because of a signal */
    uint32_t restless;         /* in how many of a thousand steps it forks */
};

/* The keeper or the guard. */
struct soak_holder {
    int32_t pid; /* 0: it has ended */
    struct wrap wrap;
    struct wrap_sweep sweep;
    uint64_t next_ms; /* when it looks again */
};

struct wrapper {
    struct world *w;
    uint64_t random, now_ms, clock; /* clock: ticks for every process that starts */
    int32_t last_pid, command;      /* the command's number: 0 when it has ended */
    int32_t group;
    struct soak_process process[PROCESSES];
    struct soak_holder keeper, guard;
    bool lost, released, command_ended, command_killed, news, killed_one, killed_both, let_go;
    bool told; /* a signal has told the keeper to end */
    int signal;
    uint64_t lost_ms, signal_ms, keeper_dies_ms, guard_dies_ms, quiet_ms; /* when it happens */
    uint64_t foreign_ms;                                                  /* when a process of another user ran last */
    uint64_t ran_ms;   /* when a process of the tree was there last */
    uint64_t ended_ms; /* when the command has ended */
    uint64_t
        due_ms; /* when the tree must have got SIGTERM, or SIGKILL if the keeper or the guard was killed; 0: it may go on */
    uint64_t grace_ends_ms; /* when what has got SIGTERM may be killed; 0: nothing has */
    enum wrap_background background;
};

static uint64_t wrapper_below(struct wrapper *r, uint64_t n)
{
    return n ? world_random(&r->random) % n : 0;
}

static struct soak_process *wrapper_find(struct wrapper *r, int32_t pid)
{
    for (unsigned k = 0; k < PROCESSES; k++)
        if (r->process[k].is.pid == pid)
            return &r->process[k];
    return NULL;
}

static bool wrapper_runs(const struct soak_process *p)
{
    return p->is.pid && !p->is.ended;
}

/* ------------------------------------------------------------------------------------------------------------ checker */

/* Is the tree to be ended (W2, W3, W4)? */
static bool wrapper_must_end(const struct wrapper *r)
{
    bool rest = r->command_ended && r->background != WRAP_LEAVE;

    return r->lost || r->killed_one || (r->told && (rest || r->keeper.wrap.yields)) ||
           (rest && (r->background == WRAP_END || r->command_killed));
}

/* Must this process have ended by now? A process of another user can start new ones as long as it runs, and these have time until the next
 * sweep. */
static bool wrapper_is_late(const struct wrapper *r, const struct soak_process *p)
{
    return r->due_ms && !p->foreign && !r->killed_both &&
           r->now_ms > r->due_ms + (r->killed_one ? 0 : r->keeper.wrap.grace_ms) + LATE_MS &&
           (r->now_ms > r->foreign_ms + LATE_MS || r->now_ms > p->born_ms + LATE_MS);
}

/* The daemon grants the lock to others when it was told of the release, or when no process has the connection any more. */
static void wrapper_check(struct wrapper *r)
{
    bool open = r->keeper.pid || r->guard.pid;

    if (!r->due_ms && wrapper_must_end(r))
        r->due_ms = r->now_ms;
    for (unsigned k = 0; k < PROCESSES; k++) {
        open |= wrapper_runs(&r->process[k]) && r->process[k].tree && r->process[k].connected;
        if (wrapper_runs(&r->process[k]) && r->process[k].foreign)
            r->foreign_ms = r->now_ms;
        if (wrapper_runs(&r->process[k]) && r->process[k].tree)
            r->ran_ms = r->now_ms;
    }
    r->released |= r->let_go || !open;
    for (unsigned k = 0; k < PROCESSES; k++) {
        const struct soak_process *p = &r->process[k];
        bool left = r->background == WRAP_LEAVE && r->command_ended, orphan = r->killed_both && !p->connected;

        if (!p->tree || !wrapper_runs(p) || p->is.stopped || p->dying || left || orphan)
            continue;
        if (r->released)
            world_fail(r->w, "the lock is released, and process %d that its command has started runs", p->is.pid);
        if (wrapper_is_late(r, p))
            world_fail(r->w, "%s, and process %d that its command has started runs on",
                       r->lost ? "the lock is lost" : "the command's processes are to end", p->is.pid);
    }
    if (r->keeper.pid && r->now_ms > r->ran_ms + LATE_MS)
        world_fail(r->w, "nothing runs that the command has started, and dibs lock keeps the lock");
    if (r->keeper.pid && r->background == WRAP_LEAVE && r->command_ended && !wrapper_must_end(r) &&
        r->now_ms > r->ended_ms + LATE_MS)
        world_fail(r->w, "the command has ended, and dibs lock waits for what it was to leave alone");
}

/* ---------------------------------------------------------------------------------------------------------- processes */

static struct soak_process *wrapper_new(struct wrapper *r, int32_t parent, int32_t group)
{
    struct soak_process *p = wrapper_find(r, 0);

    if (!p)
        return NULL;
    do
        r->last_pid = r->last_pid < PID_LAST ? r->last_pid + 1 : PID_FIRST;
    while (wrapper_find(r, r->last_pid));
    *p = (struct soak_process){.is = {.pid = r->last_pid, .parent = parent, .started = ++r->clock, .name = "x"}};
    p->is.group = group ? group : p->is.pid;
    p->born_ms = r->now_ms;
    p->ends_ms = r->now_ms + 1 + wrapper_below(r, wrapper_below(r, 3) ? 3000 : 30000);
    return p;
}

static void wrapper_fork(struct wrapper *r, const struct soak_process *parent)
{
    struct soak_process *p = wrapper_new(r, parent->is.pid, wrapper_below(r, 3) ? parent->is.group : 0);

    if (!p)
        return;
    p->tree = parent->tree;
    p->deaf = parent->deaf || wrapper_below(r, 8) == 0;
    p->connected = parent->connected && wrapper_below(r, 6);
    p->restless = wrapper_below(r, 3) ? (uint32_t)wrapper_below(r, 20) : parent->restless;
    p->foreign = p->tree && (parent->foreign ? wrapper_below(r, 2) : wrapper_below(r, 60) == 0);
}

static void wrapper_kill(struct wrapper *r, struct soak_process *p);

/* A process exits. Its children get another parent. If its own parent does not ask for it, or has ended, nothing is left of it; else it stays a zombie. */
static void wrapper_exit(struct wrapper *r, struct soak_process *p)
{
    int32_t pid = p->is.pid;
    struct soak_process *parent;

    p->is.ended = true;
    if (pid == r->command) {
        r->command_ended = true;
        r->command_killed = p->killed;
        r->ended_ms = r->now_ms;
    }
    if (pid == r->keeper.pid)
        r->keeper.pid = 0;
    if (pid == r->guard.pid)
        r->guard.pid = 0;
    for (unsigned k = 0; k < PROCESSES; k++) {
        struct soak_process *child = &r->process[k];

        if (child->is.pid && child->is.parent == pid) {
            child->is.parent = !child->tree    ? PID_INIT
                               : r->guard.pid  ? r->guard.pid
                               : r->keeper.pid ? r->keeper.pid
                                               : PID_INIT;
            if (child->is.ended && child->is.parent == PID_INIT)
                child->is.pid = 0;
            if (child->is.pid == r->command && !child->is.ended && pid != r->keeper.pid)
                wrapper_kill(r, child); /* this child has asked for a signal when its parent dies (PR_SET_PDEATHSIG) */
        }
    }
    parent = wrapper_find(r, p->is.parent);
    if (!parent || parent->is.ended || (p->is.parent != r->keeper.pid && p->is.parent != r->guard.pid))
        p->is.pid = 0;
    if (pid == r->command && !p->is.pid)
        r->command = 0;
    wrapper_check(r);
}

static void wrapper_kill(struct wrapper *r, struct soak_process *p)
{
    if (p->dying)
        return;
    p->dying = p->killed = true;
    p->ends_ms = r->now_ms + (wrapper_below(r, 4) ? 0 : wrapper_below(r, DEATH_MS));
}

static void wrapper_term(struct wrapper *r, struct soak_process *p)
{
    p->termed = p->is.stopped;
    if (p->termed || p->deaf || p->dying)
        return;
    p->killed = true;
    p->ends_ms = r->now_ms + wrapper_below(r, 50); /* it handles the signal, and then ends */
}

/* Sends a signal. Returns false if the system does not allow it. passed: the keeper passes it on to the command. */
static bool wrapper_send(struct wrapper *r, struct soak_process *p, int signal, bool passed)
{
    if (!p->tree)
        world_fail(r->w, "process %d, which has nothing to do with the command, gets signal %d", p->is.pid, signal);
    if (!passed && !wrapper_must_end(r))
        world_fail(r->w, "process %d, which may go on, gets signal %d", p->is.pid, signal);
    if ((signal == SIGSTOP || signal == SIGKILL) && !r->killed_one &&
        (!r->grace_ends_ms || r->now_ms < r->grace_ends_ms))
        world_fail(r->w, "process %d gets signal %d before the grace is over", p->is.pid, signal);
    if (p->foreign)
        return false;
    if (signal == SIGKILL)
        wrapper_kill(r, p);
    else if (signal == SIGSTOP)
        p->is.stopped = true;
    else if (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP)
        wrapper_term(r, p);
    else if (signal == SIGCONT) {
        p->is.stopped = false;
        if (p->termed)
            wrapper_term(r, p);
    }
    return true;
}

/* Some process does something between two steps: it forks, ends, moves to a process group of its own, or continues another one. */
static void wrapper_stir(struct wrapper *r)
{
    struct soak_process *p = &r->process[wrapper_below(r, PROCESSES)], *other;

    if (!wrapper_runs(p) || p->is.stopped || p->dying || p->is.pid == r->keeper.pid || p->is.pid == r->guard.pid)
        return;
    if (wrapper_below(r, 1000) < p->restless && r->now_ms < r->quiet_ms)
        wrapper_fork(r, p);
    else if (wrapper_below(r, 400) == 0)
        p->is.group = p->is.pid;
    else if (wrapper_below(r, 300) == 0) {
        other = &r->process[wrapper_below(r, PROCESSES)];
        if (other->tree && wrapper_runs(other) && other->is.pid != r->keeper.pid)
            other->is.stopped = false;
    } else if (wrapper_below(r, 100) == 0 || r->now_ms >= p->ends_ms)
        wrapper_exit(r, p);
}

/* ------------------------------------------------------------------------------------------------------------- sweeps */

static void wrapper_show_children(struct wrapper *r, struct soak_holder *h, const struct wrap_process *of)
{
    int32_t children[PROCESSES];
    unsigned count = 0;
    const struct soak_process *parent = wrapper_find(r, of->pid);

    for (unsigned k = 0; k < PROCESSES; k++)
        if (r->process[k].is.pid && r->process[k].is.parent == of->pid)
            children[count++] = r->process[k].is.pid;
    if (of->started && (!parent || parent->is.started != of->started))
        return; /* these are the children of another process */
    for (unsigned k = 0; k < count; k++) {
        const struct soak_process *seen = wrapper_find(r, children[k]);
        struct wrap_process was;
        struct soak_process *p;

        if (!seen)
            continue;
        was = seen->is;
        if (!wrap_see(&h->sweep, &was))
            continue;
        wrapper_stir(r);
        p = wrapper_find(r, was.pid);
        if (p && p->is.started == was.started && !p->is.ended && !wrapper_send(r, p, h->sweep.signal, h->sweep.group))
            wrap_refuse(&h->sweep, was.pid);
    }
}

static bool wrapper_pass(struct wrapper *r, struct soak_holder *h, int signal, int32_t group)
{
    struct wrap_process of;

    wrap_begin(&h->sweep, signal, group);
    while (wrap_next(&h->sweep, &of)) {
        for (uint64_t steps = wrapper_below(r, 20); steps > 0; steps--)
            wrapper_stir(r);
        wrapper_show_children(r, h, &of);
    }
    return wrap_finish(&h->sweep);
}

static void wrapper_sweep(struct wrapper *r, struct soak_holder *h)
{
    for (unsigned k = 0; k < 100 && wrapper_pass(r, h, SIGSTOP, 0); k++)
        ;
    wrapper_pass(r, h, SIGKILL, 0);
    h->next_ms = r->now_ms + 1 + wrapper_below(r, SWEEP_MS);
}

/* ---------------------------------------------------------------------------------------------- the guard and the keeper */

/* Reaps children that have ended. Returns true if any are left. */
static bool wrapper_reap(struct wrapper *r, const struct soak_holder *h)
{
    bool left = false;

    for (unsigned k = 0; k < PROCESSES; k++) {
        struct soak_process *p = &r->process[k];

        if (!p->is.pid || p->is.parent != h->pid)
            continue;
        left |= !p->is.ended;
        if (p->is.ended && p->is.pid == r->command)
            r->command = 0;
        if (p->is.ended)
            p->is.pid = 0;
    }
    return left;
}

static void wrapper_guard(struct wrapper *r)
{
    struct soak_holder *h = &r->guard;
    bool left = wrapper_reap(r, h);

    if (!r->keeper.pid && !r->let_go)
        wrap_step(&h->wrap, WRAP_PARTNER_DIED, 0, r->now_ms);
    if (!left)
        wrap_step(&h->wrap, WRAP_EMPTY, 0, r->now_ms);
    else if (!r->command && h->wrap.state == WRAP_RUNS) {
        wrap_step(&h->wrap, WRAP_COMMAND_ENDED, 0, r->now_ms);
        r->news = true;
    }
    if (h->wrap.state == WRAP_KILLS)
        wrapper_sweep(r, h);
    else if (h->wrap.state == WRAP_DONE)
        wrapper_exit(r, wrapper_find(r, h->pid));
}

static void wrapper_keeper_does(struct wrapper *r, enum wrap_event event, int signal)
{
    switch (wrap_step(&r->keeper.wrap, event, signal, r->now_ms)) {
    case WRAP_PASS:
        wrapper_pass(r, &r->keeper, signal, r->group);
        break;
    case WRAP_TERM:
        r->grace_ends_ms = r->now_ms + r->keeper.wrap.grace_ms;
        wrapper_pass(r, &r->keeper, SIGTERM, 0);
        wrapper_pass(r, &r->keeper, SIGCONT, 0);
        break;
    case WRAP_NOTHING:
        break;
    }
}

static void wrapper_keeper(struct wrapper *r)
{
    struct soak_holder *h = &r->keeper;
    bool left = wrapper_reap(r, h);

    if (h->sweep.spare && !r->guard.pid) {
        h->sweep.spare = 0;
        if (r->guard.wrap.state != WRAP_DONE)
            wrapper_keeper_does(r, WRAP_PARTNER_DIED, 0);
    }
    if (!left)
        wrapper_keeper_does(r, WRAP_EMPTY, 0);
    else if (r->news || !r->guard.pid)
        wrapper_keeper_does(r, r->command_killed ? WRAP_COMMAND_KILLED : WRAP_COMMAND_ENDED, 0);
    if (!r->lost && r->now_ms >= r->lost_ms) {
        r->lost = true;
        r->lost_ms = r->now_ms;
        wrapper_keeper_does(r, WRAP_LOST, 0);
    }
    if (r->signal && r->now_ms >= r->signal_ms) {
        /* The command may outlive its terminal. */
        r->told = r->signal != SIGHUP || h->wrap.yields || h->wrap.state != WRAP_RUNS;
        wrapper_keeper_does(r, WRAP_SIGNAL, r->signal);
        r->signal = 0;
    }
    wrapper_keeper_does(r, WRAP_TIME, 0);
    if (h->wrap.state == WRAP_KILLS)
        wrapper_sweep(r, h);
    if (h->wrap.state == WRAP_DONE) {
        world_trace(r->w, "dibs lock lets go");
        r->let_go = true;
        wrapper_exit(r, wrapper_find(r, h->pid));
    }
}

/* --------------------------------------------------------------------------------------------------------------- a run */

static uint64_t wrapper_draw_ms(struct wrapper *r)
{
    return wrapper_below(r, 3) == 0 ? 1 + wrapper_below(r, 5000) : UINT64_MAX;
}

static void wrapper_begin(struct wrapper *r)
{
    struct soak_process *keeper = wrapper_new(r, PID_INIT, 0), *guard = wrapper_new(r, keeper->is.pid, 0), *command,
                        *other;

    r->background = (enum wrap_background)wrapper_below(r, 3);
    r->keeper.pid = r->keeper.sweep.root = keeper->is.pid;
    r->guard.pid = r->guard.sweep.root = r->keeper.sweep.spare = guard->is.pid;
    r->keeper.wrap = (struct wrap){.background = r->background, .grace_ms = 1 + wrapper_below(r, 2000)};
    r->keeper.wrap.yields = r->keeper.wrap.grace_ms % 4 == 0; /* as the keeper of dibs lead does */
    r->guard.wrap = (struct wrap){.background = r->background == WRAP_LEAVE ? WRAP_LEAVE : WRAP_WAIT};
    keeper->ends_ms = guard->ends_ms = UINT64_MAX;
    command = wrapper_new(r, guard->is.pid, 0);
    command->tree = command->connected = true;
    command->deaf = wrapper_below(r, 3) == 0;
    command->killed = wrapper_below(r, 4) == 0; /* it will crash */
    command->restless = 1 + (uint32_t)wrapper_below(r, wrapper_below(r, 4) ? 30 : 300);
    r->command = r->group = command->is.pid;
    for (unsigned k = 0; k < 3; k++) {
        other = wrapper_new(r, PID_INIT, 0);
        other->restless = 5;
        other->ends_ms = UINT64_MAX;
    }
    r->quiet_ms = 2000 + wrapper_below(r, 10000); /* from then on no process forks, so that all of them end */
    r->lost_ms = wrapper_draw_ms(r);
    r->signal_ms = wrapper_draw_ms(r);
    r->signal = (const int[]){SIGTERM, SIGINT, SIGQUIT, SIGHUP}[wrapper_below(r, 4)];
    r->keeper_dies_ms = wrapper_draw_ms(r);
    r->guard_dies_ms = wrapper_below(r, 4) ? wrapper_draw_ms(r) : r->keeper_dies_ms;
    world_trace(r->w, "dibs lock, background %d, grace %llu ms: command %d", (int)r->background,
                (unsigned long long)r->keeper.wrap.grace_ms, r->command);
}

/* The keeper or the guard is killed, whatever it is doing. */
static void wrapper_murder(struct wrapper *r, const struct soak_holder *h, const char *which)
{
    if (!h->pid)
        return;
    world_trace(r->w, "%s is killed", which);
    r->killed_both |= !r->keeper.pid || !r->guard.pid;
    r->killed_one = true;
    r->due_ms = r->now_ms;
    if (h == &r->keeper && !r->guard.pid)
        r->lost = false; /* no process is left that could hear of the loss */
    wrapper_exit(r, wrapper_find(r, h->pid));
}

static void wrapper_tick(struct wrapper *r)
{
    for (unsigned k = 0; k < PROCESSES; k++)
        if (wrapper_runs(&r->process[k]) && r->now_ms >= r->process[k].ends_ms &&
            (!r->process[k].is.stopped || r->process[k].dying))
            wrapper_exit(r, &r->process[k]);
    for (unsigned steps = 0; steps < 10; steps++)
        wrapper_stir(r);
    if (r->now_ms == r->keeper_dies_ms)
        wrapper_murder(r, &r->keeper, "dibs");
    if (r->now_ms == r->guard_dies_ms)
        wrapper_murder(r, &r->guard, "the guard");
    if (r->guard.pid && r->now_ms >= r->guard.next_ms)
        wrapper_guard(r);
    if (r->keeper.pid && r->now_ms >= r->keeper.next_ms)
        wrapper_keeper(r);
    wrapper_check(r);
}

void wrapper_run(struct world *w)
{
    uint64_t random = w->conf->seed ^ 0x77726170;

    for (unsigned k = 0; k < WRAPPERS && !w->report->failure[0]; k++) {
        struct wrapper *r = mem_new(sizeof *r);

        r->w = w;
        r->random = world_random(&random);
        r->last_pid = PID_FIRST;
        wrapper_begin(r);
        while ((r->keeper.pid || r->guard.pid) && !w->report->failure[0]) {
            w->now_us = ++r->now_ms * 1000;
            wrapper_tick(r);
            if (r->now_ms > LIMIT_MS)
                world_fail(w, "dibs lock does not end");
        }
        free(r);
    }
    w->now_us = 0;
}
