/* wrap.c - see wrap.h. */
#include "wrap.h"

#include <assert.h>
#include <signal.h>

/* -------------------------------------------------------------------------------------------------------- what to do */

static enum wrap_action wrap_end(struct wrap *w, uint64_t now_ms)
{
    assert(w->state == WRAP_RUNS || w->state == WRAP_RESTS);
    w->state = WRAP_ENDS;
    w->kill_ms = now_ms + w->grace_ms;
    return WRAP_TERM;
}

static enum wrap_action wrap_command_ended(struct wrap *w, bool killed, uint64_t now_ms)
{
    if (w->state != WRAP_RUNS)
        return WRAP_NOTHING; /* the tree is being ended */
    if (w->background == WRAP_LEAVE) {
        w->state = WRAP_DONE;
        return WRAP_NOTHING;
    }
    if (killed || w->told || w->background == WRAP_END)
        return wrap_end(w, now_ms);
    w->state = WRAP_RESTS;
    return WRAP_NOTHING;
}

/* While the command runs, the command decides what a signal means, unless the lock is to be handed over (`yields`). When only processes that the command
 * has left are running, the keeper decides. */
static enum wrap_action wrap_signalled(struct wrap *w, int signal, uint64_t now_ms)
{
    if ((w->state == WRAP_RESTS || (w->state == WRAP_RUNS && w->yields)) &&
        (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP))
        return wrap_end(w, now_ms);
    w->told |= signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
    return WRAP_PASS;
}

enum wrap_action wrap_step(struct wrap *w, enum wrap_event event, int signal, uint64_t now_ms)
{
    if (w->state == WRAP_DONE)
        return WRAP_NOTHING;
    switch (event) {
    case WRAP_COMMAND_ENDED:
    case WRAP_COMMAND_KILLED:
        return wrap_command_ended(w, event == WRAP_COMMAND_KILLED, now_ms);
    case WRAP_EMPTY:
        w->state = WRAP_DONE;
        break;
    case WRAP_LOST:
        if (w->state == WRAP_RUNS || w->state == WRAP_RESTS)
            return wrap_end(w, now_ms);
        break;
    case WRAP_SIGNAL:
        return wrap_signalled(w, signal, now_ms);
    case WRAP_PARTNER_DIED:
        w->state = WRAP_KILLS;
        break;
    case WRAP_TIME:
        if (w->state == WRAP_ENDS && now_ms >= w->kill_ms)
            w->state = WRAP_KILLS;
        break;
    }
    return WRAP_NOTHING;
}

/* --------------------------------------------------------------------------------------------------- to whom it is done */

static struct wrap_seen *wrap_find(struct wrap_sweep *s, int32_t pid)
{
    for (size_t k = 0; k < s->count; k++)
        if (s->seen[k].process.pid == pid)
            return &s->seen[k];
    return NULL;
}

/* Is the process below the root? Its parent must have been seen in this pass: a number that was seen before may belong to another process by now. */
static bool wrap_is_below(struct wrap_sweep *s, const struct wrap_process *p)
{
    const struct wrap_seen *parent;

    if (p->parent == s->root || (s->spare && p->parent == s->spare))
        return true;
    parent = wrap_find(s, p->parent);
    return parent && parent->present;
}

void wrap_begin(struct wrap_sweep *s, int signal, int32_t group)
{
    assert(s->root > 0 && s->root != s->spare && s->count <= WRAP_SEEN_MAX);
    s->signal = signal;
    s->group = group;
    s->fresh = false;
    s->asked = 0;
    for (size_t k = 0; k < s->count; k++)
        s->seen[k].present = s->seen[k].walked = false;
}

bool wrap_next(struct wrap_sweep *s, struct wrap_process *p)
{
    *p = (struct wrap_process){.pid = s->asked == 0 ? s->root : s->spare};
    if (s->asked++ < (s->spare ? 2 : 1))
        return true;
    for (size_t k = 0; k < s->count; k++)
        if (s->seen[k].present && !s->seen[k].walked) {
            s->seen[k].walked = true;
            *p = s->seen[k].process;
            return true;
        }
    return false;
}

/* SIGSTOP is sent to a process once (but see wrap_continued), and not after SIGKILL; all other signals are sent as often as the driver asks
 * for them. */
static bool wrap_wants(const struct wrap_sweep *s, const struct wrap_seen *seen)
{
    if (s->group && seen->process.group != s->group)
        return false;
    if (s->signal == SIGSTOP)
        return !seen->refused && (seen->again || seen->sent != SIGSTOP) && seen->sent != SIGKILL;
    return s->signal != 0;
}

bool wrap_see(struct wrap_sweep *s, const struct wrap_process *p)
{
    struct wrap_seen *seen;
    bool wanted;

    if (p->pid == s->root || p->pid == s->spare || !wrap_is_below(s, p))
        return false;
    seen = wrap_find(s, p->pid);
    if (!seen && s->count == WRAP_SEEN_MAX)
        return s->signal == SIGKILL;
    if (!seen) {
        seen = &s->seen[s->count++];
        seen->process.pid = 0;
    }
    if (seen->process.pid != p->pid || seen->process.started != p->started) {
        *seen = (struct wrap_seen){.process = *p};
        s->fresh = true;
    }
    seen->process.parent = p->parent;
    seen->process.group = p->group;
    seen->process.ended = p->ended;
    if (seen->sent != SIGSTOP)
        seen->process.stopped = p->stopped; /* by itself, or by others */
    seen->present = true;
    wanted = wrap_wants(s, seen);
    s->fresh |= wanted && s->signal == SIGSTOP;
    if (wanted) {
        seen->sent = s->signal;
        seen->again = false;
    }
    return wanted;
}

void wrap_refuse(struct wrap_sweep *s, int32_t pid)
{
    struct wrap_seen *seen = wrap_find(s, pid);

    if (seen)
        seen->refused = true;
}

void wrap_continued(struct wrap_sweep *s, int32_t pid)
{
    struct wrap_seen *seen = wrap_find(s, pid);

    if (seen && seen->sent == SIGSTOP) {
        seen->again = true;
        seen->process.stopped = false;
    }
}

bool wrap_finish(struct wrap_sweep *s)
{
    size_t kept = 0;

    for (size_t k = 0; k < s->count; k++)
        if (s->seen[k].present)
            s->seen[kept++] = s->seen[k];
    s->count = kept;
    return s->fresh;
}
