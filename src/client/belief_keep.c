/* belief_keep.c - see belief.h: a kept session, and what becomes of it when its connection breaks.
 *
 * The members keep such a session, and the locks that it holds, for keep_ms after its connection has broken. A daemon that
 * vouches for the locks has received the library's question, so the connection existed when the library sent it. Therefore
 * the members keep the session at least until kept_ms: the time at which the library sent the last question that a daemon
 * has answered by vouching, plus keep_ms.
 *
 * When the connection breaks, the library connects again, to the same daemon or to another member, until kept_ms. Within the
 * validity that the daemon has vouched for, the program holds its locks as before. After that the locks are in doubt: no
 * other client is granted them, but no daemon vouches for them. At kept_ms they are lost.
 *
 * When a daemon resumes the session, it lists the locks that the session holds. A lock that the program holds and the list
 * does not have is lost. A lock that is in the list and that the program does not hold is the one that the program
 * waits for, or one that it has unlocked without a connection, or one for which it has cancelled its request. The library tells
 * the daemon to release the latter two. */
#include "belief.h"

#include "reply.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool belief_is_kept(const struct belief *b)
{
    return b->keep_ms && *b->session;
}

static bool belief_kept_waits(const struct belief *b)
{
    return b->wanted && b->result == DIBS_WAITING && !b->granted;
}

/* The time at which the library gives the session up. UINT64_MAX: it holds no lock and waits for none, so there is no limit. */
static uint64_t belief_kept_end_ms(const struct belief *b)
{
    if (b->held.count > b->held.lost)
        return b->kept_ms;
    return belief_kept_waits(b) ? b->away_ms + b->keep_ms : UINT64_MAX;
}

void belief_keep_wish(struct belief *b, const struct dibs_wish *wish, uint64_t now_ms)
{
    b->wait_ms = wish->wait_ms;
    b->ttl_ms = wish->ttl_ms;
    b->priority = wish->priority;
    b->wish_until_ms = wish->wait_ms == DIBS_NO_WAIT                           ? 0
                       : !wish->wait_ms || wish->wait_ms > UINT64_MAX - now_ms ? UINT64_MAX
                                                                               : now_ms + wish->wait_ms;
    if (b->phase != BELIEF_UP)
        b->away_ms = now_ms;
}

void belief_begin_doubt(struct belief *b, uint64_t now_ms)
{
    if (!b->doubt)
        b->doubt_ms = now_ms;
    b->doubt = b->held.count > b->held.lost;
}

void belief_end_cancelled(struct belief *b)
{
    if (b->cancelled && belief_kept_waits(b))
        belief_conclude(b, belief_fail(b, DIBS_TIMEOUT, "the request for \"%s\" was cancelled", b->wanted[0].name));
}

/* Forgets the requests that were sent, and the bytes that were received, over the old connection. */
static void belief_kept_drop_wire(struct belief *b)
{
    for (size_t k = 0; k < b->asides; k++)
        free(b->aside[k].name);
    b->asides = 0;
    b->in.start = b->in.end = b->out.start = b->out.end = 0;
    b->asked_ms = 0;
    b->await = AWAIT_NOTHING;
}

void belief_break(struct belief *b, const char *why, uint64_t now_ms)
{
    if (b->gone)
        return;
    if (b->phase == BELIEF_UP)
        b->away_ms = now_ms;
    if (!belief_is_kept(b) || now_ms >= belief_kept_end_ms(b)) {
        belief_end(b, why);
        return;
    }
    belief_kept_drop_wire(b);
    belief_end_cancelled(b); /* the answer will not come */
    b->in_doubt = false;
    b->late_ms = 0;
    b->phase = BELIEF_AWAY;
    assert(!b->asides && !b->asked_ms && b->await == AWAIT_NOTHING); /* what comes is of a new connection */
    b->call_broke |= b->call != BELIEF_IDLE && b->call != BELIEF_LOCK;
    snprintf(b->end_reason, sizeof b->end_reason, "%s", why);
    belief_fail(b, DIBS_IN_DOUBT, "%s", b->end_reason);
}

void belief_give_up(struct belief *b, const char *why, uint64_t now_ms)
{
    if (belief_is_kept(b) && b->vouched_ms > now_ms)
        b->vouched_ms = now_ms;
    belief_break(b, why, now_ms);
}

void belief_part(struct belief *b, const char *why, uint64_t now_ms)
{
    char line[sizeof b->end_reason];

    snprintf(line, sizeof line, "the daemon has ended the session of this connection: %s", why);
    b->parts = true;
    belief_give_up(b, line, now_ms);
}

void belief_return(struct belief *b, const char *name, uint64_t now_ms)
{
    assert(b->phase == BELIEF_AWAY && belief_is_kept(b) && b->out.start == b->out.end && !b->asides);
    b->phase = BELIEF_RETURNS;
    b->parts = false;
    b->return_by_ms = now_ms + BELIEF_ANSWER_MS;
    belief_say_hello(b, name);
    belief_say_keep(b);
    b->await = AWAIT_GREETING;
}

/* The answer to HELLO; that to SESSION follows. */
void belief_hear_greeting(struct belief *b, const struct dibs_reply *r, uint64_t now_ms)
{
    b->await = AWAIT_SESSION;
    if (r->type != DIBS_ERROR)
        return;
    if (b->phase == BELIEF_RETURNS) {
        belief_break(b, r->text, now_ms);
        return;
    }
    b->await = AWAIT_ANSWER;
    b->answer = b->reply;
    b->reply = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- resumed */

/* The connection broke while the program waited for the upgrade of the lock. If the lock has a larger fence now, it is exclusive. Fences of
 * different locks cannot be compared: another lock of the program may have a larger one. */
static void belief_kept_hear_upgraded(struct belief *b, struct conn_lock *lock, uint64_t fence)
{
    if (lock->upgrades && fence > lock->fence) {
        lock->fence = fence;
        lock->mode = DIBS_EXCLUSIVE;
        b->fence_max = fence > b->fence_max ? fence : b->fence_max;
    }
}

/* The daemon has listed this lock. If a member was lost just after the program had released a lock, the session may seem to
 * hold it still. Or it was granted to a request that the program has cancelled since, perhaps in another mode. So if the program waits for this
 * lock, the list is the answer only if this request was sent before, and the fence is larger than all before; otherwise the lock is released, and
 * requested again. If the program waits for several locks, all of them are requested again. Returns the fence of a lock that is released, or 0:
 * if the release does not arrive, the next list has that lock again. */
static uint64_t belief_kept_hear_held(struct belief *b, const char *name, uint64_t fence)
{
    struct conn_lock *lock = held_find(&b->held, name);
    bool answers = b->said && belief_kept_waits(b) && b->wants == 1 && strcmp(b->wanted[0].name, name) == 0;

    if (lock && !lock->lost)
        belief_kept_hear_upgraded(b, lock, fence);
    if (lock && !lock->lost && lock->fence == fence) {
        lock->resumed = true;
        lock->upgrades = false;
    } else if (!lock && answers && fence > b->fence_max && (lock = belief_add(b, &b->wanted[0], fence))) {
        lock->resumed = true;
        b->fence = b->fence_max = fence;
        b->granted = true;
    } else {
        belief_say_about(b, BELIEF_UNLOCK, name, fence, 0, true);
        return fence;
    }
    return 0;
}

/* Marks the locks that the daemon has not listed as lost. */
static void belief_kept_lose_others(struct belief *b)
{
    static const char why[] = "it was lost while there was no connection";
    bool some = false;

    for (struct conn_lock *lock = held_next(&b->held, NULL); lock; lock = held_next(&b->held, lock)) {
        if (!lock->lost && !lock->resumed) {
            belief_mark_lost(b, lock, why);
            some = true;
        }
        lock->resumed = false;
    }
    if (some)
        belief_tell_losses(b, why);
}

/* The session is resumed: the library asks the daemon to vouch for its locks, and requests the wanted lock again. */
static void belief_kept_go_on(struct belief *b, uint64_t now_ms)
{
    assert(!b->gone && !b->asked_ms);
    b->phase = BELIEF_UP;
    b->await = AWAIT_NOTHING;
    b->doubt = b->doubt && b->held.count > b->held.lost; /* until the daemon has vouched for them */
    b->doubt_ms = now_ms;
    belief_ask_confirm(b, now_ms);
    if (!belief_kept_waits(b))
        return;
    if (b->wish_until_ms != UINT64_MAX) {
        b->wait_ms = b->wish_until_ms > now_ms ? b->wish_until_ms - now_ms : DIBS_NO_WAIT;
        b->patience_ms = (b->wish_until_ms > now_ms ? b->wish_until_ms : now_ms) + BELIEF_ANSWER_MS;
    }
    belief_say_lock(b);
    b->await = AWAIT_LOCK;
}

static void belief_kept_hear_resumed(struct belief *b, const struct dibs_reply *r, uint64_t now_ms)
{
    uint64_t released = 0;

    b->phase = BELIEF_UP;                        /* requests can be sent */
    for (size_t k = 1; k + 1 < r->count; k += 2) /* the first is the word RESUMED */
        if (r->item[k]->text && r->item[k + 1]->type == DIBS_NUMBER) {
            uint64_t fence = belief_kept_hear_held(b, r->item[k]->text, r->item[k + 1]->number);

            released = fence > released ? fence : released;
        }
    b->fence_max = released > b->fence_max ? released : b->fence_max;
    belief_kept_lose_others(b);
    belief_kept_go_on(b, now_ms);
}

void belief_hear_session(struct belief *b, const struct dibs_reply *r, uint64_t now_ms)
{
    bool first = b->phase == BELIEF_UP, ended = r->type == DIBS_ERROR && strncmp(r->text, "NOSESSION ", 10) == 0;

    if (r->type == DIBS_TEXT && strlen(r->text) < sizeof b->session) {
        strcpy(b->session, r->text);
        if (!first)
            belief_kept_go_on(b, now_ms);
    } else if (!first && r->type == DIBS_LIST) {
        belief_kept_hear_resumed(b, r, now_ms);
    } else if (!first && ended) { /* the locks are lost; the wanted one is requested in a new session */
        b->session[0] = '\0';
        b->vouched_ms = 0; /* the validity was for the session that has ended */
        belief_kept_lose_others(b);
        belief_say_keep(b);
    } else if (!first) {
        belief_break(b, r->type == DIBS_ERROR ? r->text : "the daemon does not resume the session", now_ms);
    }
    if (first) {
        b->await = AWAIT_ANSWER;
        b->answer = b->reply;
        b->reply = NULL;
    }
}

/* -------------------------------------------------------------------------------------------------------------- time */

enum { PATIENCE_MS = 1000, WAKE_MS = 100 };

static uint64_t belief_kept_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the library gives up a daemon that does not vouch for the locks, and tries to resume the session at another one. After the program
 * was stopped, the answer may be waiting at the socket: so it is given at least WAKE_MS. */
static uint64_t belief_kept_leave_ms(const struct belief *b)
{
    if (b->asked_ms)
        return belief_kept_later(b->asked_ms + PATIENCE_MS, b->doubt_ms + WAKE_MS);
    return b->elsewhere ? b->doubt_ms + PATIENCE_MS : UINT64_MAX;
}

/* When the locks are lost. If the program was stopped for longer than the keep time, its locks are in doubt when it continues. If there
 * still is a connection, the session has not ended, and the daemon is asked first. */
static uint64_t belief_kept_lost_ms(const struct belief *b)
{
    return b->phase == BELIEF_UP ? belief_kept_later(belief_kept_end_ms(b), b->doubt_ms + PATIENCE_MS)
                                 : belief_kept_end_ms(b);
}

bool belief_clock_keep(struct belief *b, uint64_t now_ms)
{
    b->doubt = b->doubt && belief_holds(b); /* the program may have unlocked them since */
    if (belief_is_kept(b) && belief_holds(b) && now_ms >= b->vouched_ms)
        belief_begin_doubt(b, now_ms);
    if (b->doubt && b->phase == BELIEF_UP && now_ms >= belief_kept_leave_ms(b))
        belief_give_up(b, "the daemon does not vouch for its locks any more", now_ms);
    if (b->doubt && now_ms >= belief_kept_lost_ms(b))
        belief_end(b, "the session could not be resumed in time");
    else if (b->phase != BELIEF_UP && now_ms >= belief_kept_end_ms(b))
        belief_end(b, b->end_reason);
    else if (b->phase == BELIEF_RETURNS && now_ms >= b->return_by_ms)
        belief_give_up(b, "the daemon does not answer", now_ms);
    return b->gone || b->phase != BELIEF_UP;
}

uint64_t belief_due_keep_ms(const struct belief *b)
{
    uint64_t due_ms = b->doubt ? belief_kept_lost_ms(b) : belief_kept_end_ms(b);

    if (belief_holds(b) && !b->doubt && b->vouched_ms < due_ms)
        due_ms = b->vouched_ms;
    if (b->phase == BELIEF_UP && b->doubt && belief_kept_leave_ms(b) < due_ms)
        due_ms = belief_kept_leave_ms(b);
    return b->phase == BELIEF_RETURNS && b->return_by_ms < due_ms ? b->return_by_ms : due_ms;
}
