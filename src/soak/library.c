/* library.c - the clients of a soak that use libdibs. Every decision is the library's own (client/belief.h): what is sent,
 * what is believed, when the daemon is asked, when the library gives up, what the program is told. This file simulates the program, and
 * is the driver in place of the library's socket and clock.
 *
 * The program holds several locks by one connection, requests them in the order of their names, and waits or goes on
 * meanwhile. It also confirms, renews and releases locks. Most programs have a loop: they call the library whenever
 * it wants to be called, and believe in a lock until they are told that it is lost. The others are *silent*: they call only
 * when they want something, and believe in a lock only as long as dibs_fence says so. Silent programs are local, as
 * include/dibs.h demands. The clock of a program may be as slow as A1 allows (src/member), and the program may be stopped.
 *
 * Bytes are sent and read in pieces. Some bytes that have arrived are read later.
 *
 * If the mix says so, the program requests several locks at once (SOAK_SEVERAL), and then no others while it holds some. If it does
 * not get all, its daemon holds none of them for it.
 *
 * If the mix says so, the sessions are kept (SOAK_RESUME). Then a program whose connection has ended goes on with its work. It believes in its
 * locks until libdibs tells it that they are in doubt, or lost. It connects again, to any machine, and libdibs resumes the session.
 *
 * Checks, besides mutual exclusion (beliefs.c):
 *   - A program that believes in a lock is told of the loss when the library no longer believes in the lock. The library does so at the
 *     latest when the validity of the lock is over, or the connection has ended.
 *   - The library does what is due.
 *   - A daemon that no longer knows a lock has said so before.
 *   - Before the keep time is over, libdibs does not give up a lock that the members keep for the program.
 *   - Its daemon holds the lock for the program in the mode and with the TTL that the program has asked for.
 *   - While libdibs says that a lock of the program, which is in doubt, is safe (belief_safe_ms), no other client that cannot share the lock
 *     believes in it (beliefs.c). */
#include "library.h"

#include "base/memory.h"
#include "core/alg.h"

#include <stdlib.h>

enum { LIBRARY_MIXED = 3 }; /* these locks are requested in any order, if the mix says so */
enum { LATER_US = 50000, CLOCK_BEGIN_MS = 1000, KEEP_FIRST_MS = 1000, KEEP_MORE_MS = 4000, SENDS_MAX = 200 };

static uint64_t library_clock_ms(const struct soak_client *c, uint64_t at_us)
{
    return CLOCK_BEGIN_MS + (c->slow ? at_us * 19 / 20 : at_us) / 1000;
}

uint64_t library_now_ms(const struct world *w, uint32_t k)
{
    return library_clock_ms(&w->client[k], w->now_us);
}

static uint64_t library_when_us(const struct soak_client *c, uint64_t clock_ms)
{
    uint64_t span_us = 1000 * (clock_ms - CLOCK_BEGIN_MS), at_us = c->slow ? span_us * 20 / 19 : span_us;

    while (library_clock_ms(c, at_us) < clock_ms)
        at_us++;
    return at_us;
}

static int library_held(const struct soak_library *l, int from)
{
    while (from < SOAK_NAMES && !l->use[from].holds)
        from++;
    return from;
}

/* ---------------------------------------------------------------------------------------------------------- the program */

/* Does the program wait to hear whether its locks are held, because it was silent or stopped before the call? */
static bool library_doubts(const struct soak_library *l)
{
    return l->belief.in_doubt && l->belief.call && l->was_away;
}

/* Does the program not call the library now, so that the library cannot tell it of a loss? Then the program is taken to believe what the library
 * would say. */
static bool library_is_deaf(const struct world *w, const struct soak_client *c)
{
    const struct soak_library *l = c->library;

    return l->silent || library_doubts(l) || w->now_us < c->thaws_us;
}

bool library_believes(const struct world *w, uint32_t k, int name)
{
    const struct soak_client *c = &w->client[k];

    return c->library->use[name].holds && !c->library->doubts &&
           (!library_is_deaf(w, c) || belief_fence(&c->library->belief, clients_names[name], library_now_ms(w, k)));
}

bool library_is_safe(const struct world *w, uint32_t k, int name)
{
    const struct soak_client *c = &w->client[k];
    const struct soak_use *u = &c->library->use[name];

    if (!u->holds || !belief_safe_ms(&c->library->belief, library_now_ms(w, k)))
        return false;
    return !w->mix.wild_clocks         /* A clock beyond the bound may count less than the keep time (A1). */
           && !w->mix.standstill       /* So may one that has stood still, until its member finds out. */
           && !u->dazed                /* A daemon alone that crashes leaves no records behind. */
           && !u->forgotten_us         /* A session is kept only while a member has a record of it. */
           && w->now_us < u->lapses_us /* A TTL that runs out takes the lock away (include/dibs.h). */
           && !clients_may_be_evicted(w, name, u->since_us); /* So does an operator. */
}

const char *library_session(const struct soak_client *c)
{
    return c->library->id;
}

void library_excuse(const struct world *w, struct soak_client *c)
{
    for (int name = 0; c->library && name < SOAK_NAMES; name++)
        c->library->use[name].forgotten_us = c->library->asks[name].forgotten_us = w->now_us;
}

/* The program requests the lock with this TTL, or begins its TTL anew; 0: without a TTL. The TTL may end early: the member's clock may be faster, and the
 * member may not receive the new TTL. */
static void library_note_ttl(const struct world *w, struct soak_use *u, uint64_t ttl_ms)
{
    uint64_t lapses_us = kept_lapses_us(w, ttl_ms);

    u->lapses_us = u->lapses_us < lapses_us ? u->lapses_us : lapses_us;
}

void library_daze(struct soak_client *c)
{
    for (int name = 0; c->library && name < SOAK_NAMES; name++)
        c->library->asks[name].dazed = true;
}

const struct soak_use *library_use(const struct soak_client *c, int name)
{
    return &c->library->use[name];
}

static void library_check_beliefs(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;

    for (int name = library_held(l, 0); name < SOAK_NAMES; name = library_held(l, name + 1))
        if (library_believes(w, k, name))
            beliefs_check(w, k, name);
}

/* The program was not granted several locks that it had requested at once. Checks that its daemon holds none of them for it, or has yet to tell it of
 * their loss. */
static void library_check_none(struct world *w, uint32_t k, int code)
{
    const struct soak_client *c = &w->client[k];
    const struct soak_conn *x = c->conn < 0 ? NULL : &w->conn[c->conn];

    if (c->library->keeps || !x || !x->end ||
        (code != DIBS_TIMEOUT && code != DIBS_WRONG_KIND && code != DIBS_NO_QUORUM))
        return;
    for (int name = 0; name < SOAK_NAMES; name++)
        if (c->library->wants >> name & 1 &&
            session_holds(x->end->session, clients_names[name], strlen(clients_names[name]), 0))
            world_fail(w, "client %u did not get several locks, and its daemon holds %s for it", k,
                       clients_names[name]);
}

/* Does this message tell a client that it is refused because it lacks a right, or by a limit? */
static bool library_tells_of_rights(const char *message)
{
    return strstr(message, "does not have the right") || strstr(message, ", by the limit in ");
}

/* The program is told that it holds the lock as it has asked for it: so does its daemon. */
static void library_check_mode(struct world *w, uint32_t k, int name)
{
    const struct soak_client *c = &w->client[k];
    const struct soak_conn *x = c->conn < 0 ? NULL : &w->conn[c->conn];
    const struct soak_use *use = &c->library->use[name];
    const struct claim *claim =
        x && x->end ? session_find(x->end->session, clients_names[name], strlen(clients_names[name]), use->fence)
                    : NULL;

    if (claim && (claim->mode != use->mode || claim->slots != use->slots))
        world_fail(w, "client %u holds %s by libdibs in a mode in which its daemon does not hold it for it", k,
                   clients_names[name]);
    if (claim && (claim->ttl_ms != 0) != (use->lapses_us != UINT64_MAX))
        world_fail(w, "client %u holds %s by libdibs, and its daemon does not know the TTL", k, clients_names[name]);
}

/* The library tells the program that one lock or several are granted, or why not. */
static void library_hear_result(struct world *w, uint32_t k, int code)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = c->library;
    unsigned wants = l->wants;

    if (code == DIBS_WAITING)
        return;
    if ((code == DIBS_REFUSED || code == DIBS_MISUSE) && !(w->mix.rights && library_tells_of_rights(l->belief.message)))
        world_fail(w, "client %u is told by libdibs: %s", k, l->belief.message);
    world_trace(w, "client %u asked libdibs for %s%s: %s", k, clients_names[l->wanted],
                wants & (wants - 1) ? " and others" : "", dibs_text(code));
    library_check_none(w, k, code);
    l->yields = code == DIBS_DEADLOCK;
    l->wanted = -1;
    l->wants = 0;
    for (int name = 0; name < SOAK_NAMES && code == DIBS_OK; name++)
        if (wants >> name & 1) {
            const struct conn_lock *lock = held_find(&l->belief.held, clients_names[name]);

            l->use[name] = l->asks[name];
            l->use[name].holds = true;
            l->use[name].fence = lock ? lock->fence : 0;
            library_check_mode(w, k, name);
            if (lock)
                values_granted(w, k, name, &l->use[name], l->value[name]);
            l->use[name].since_us = c->conn < 0 || !w->conn[c->conn].held_us ? w->now_us : w->conn[c->conn].held_us;
            l->use[name].dazed |= c->conn < 0 || w->conn[c->conn].dazed;
            /* The records that were lost before the daemon told of this lock were not those of this lock. */
            if (c->conn >= 0 && l->use[name].forgotten_us < w->conn[c->conn].held_us)
                l->use[name].forgotten_us = 0;
        }
    if (code == DIBS_OK)
        library_check_beliefs(w, k);
}

/* A lock that was upgraded has a new fence. The daemon has told it in the answer to UPGRADE, or by RESUMED. */
static void library_hear_changes(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;

    for (int name = library_held(l, 0); name < SOAK_NAMES; name = library_held(l, name + 1)) {
        const struct conn_lock *lock = held_find(&l->belief.held, clients_names[name]);

        if (!lock || lock->fence == l->use[name].fence)
            continue;
        if (lock->fence < l->use[name].fence || lock->mode != DIBS_EXCLUSIVE)
            world_fail(w, "client %u holds %s by libdibs with a fence that it has not got by an upgrade", k,
                       clients_names[name]);
        l->use[name].fence = lock->fence;
        l->use[name].mode = LOCK_ALONE;
        if (library_believes(w, k, name))
            beliefs_check(w, k, name);
    }
}

static void library_hear_answer(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;
    enum belief_call call = l->belief.call;
    int code = call ? belief_answer(&l->belief) : DIBS_WAITING;

    if (code == DIBS_WAITING)
        return;
    if (call == BELIEF_LOCK)
        library_hear_result(w, k, code);
    if (call == BELIEF_UPGRADE || call == BELIEF_DOWNGRADE) {
        world_trace(w, "client %u has asked libdibs to %s %s: %s", k, call == BELIEF_UPGRADE ? "upgrade" : "downgrade",
                    clients_names[l->about], dibs_text(code));
        l->yields = code == DIBS_DEADLOCK;
        l->use[l->about].holds &= code != DIBS_LOST;
        l->again[l->about] = l->use[l->about].holds ? l->again[l->about] : 0;
        if (code == DIBS_REFUSED && !strstr(l->belief.message, "being downgraded") &&
            !strstr(l->belief.message, "does not have the right") &&
            !strstr(l->belief.message, "is waiting to be sent"))
            world_fail(w, "client %u is told by libdibs: %s", k, l->belief.message);
        if (code == DIBS_OK && call == BELIEF_UPGRADE)
            l->use[l->about].mode = LOCK_ALONE; /* the lock may have been upgraded, and the program did not know that */
    }
    if (code == DIBS_LOST &&
        ((call == BELIEF_UNLOCK && l->unlocks) || (call == BELIEF_RENEW && l->use[l->about].holds)))
        world_fail(w, "client %u has lost %s, and libdibs has not told so", k, clients_names[l->about]);
    if (call == BELIEF_CONFIRM && code == DIBS_OK &&
        (!l->use[l->about].holds || l->lost_before ||
         !belief_fence(&l->belief, clients_names[l->about], library_now_ms(w, k))))
        world_fail(w, "client %u has lost %s, and libdibs confirms it", k, clients_names[l->about]);
    dibs_free(l->belief.answer);
    l->belief.answer = NULL;
    library_check_beliefs(w, k);
}

static void library_hear_loss(struct world *w, uint32_t k, const struct belief_news *news)
{
    const struct soak_client *c = &w->client[k];
    const struct soak_conn *x = c->conn < 0 ? NULL : &w->conn[c->conn];
    struct soak_library *l = c->library;

    if (*l->id && library_now_ms(w, k) < l->belief.kept_ms && !w->mix.wild_clocks &&
        strstr(news->why, "there was no connection") && kept_holds(w, k, l->id, news->name, news->fence))
        world_fail(w, "client %u is told by libdibs that it has lost %s, which its session holds", k, news->name);
    for (int name = 0; name < SOAK_NAMES; name++)
        if (strcmp(clients_names[name], news->name) == 0) {
            bool unlocks = l->belief.call == BELIEF_UNLOCK && l->about == name && l->unlocks;

            if (!(l->use[name].holds || unlocks) || l->use[name].fence != news->fence)
                world_fail(w, "client %u is told by libdibs that it has lost %s, and did not hold it", k, news->name);
            l->use[name].holds = false;
            l->again[name] = 0;
            l->unlocks &= !unlocks;
            if (x && x->end && !x->severed)
                rolling_check_loss(w, c->machine, news->name);
        }
    world_trace(w, "client %u is told by libdibs that it has lost %s: %s", k, news->name, news->why);
}

/* ----------------------------------------------------------------------------------------------------------- the driver */

static void library_listen(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;
    struct belief_news news;
    bool doubted = l->doubts;

    l->listening = true;
    while (belief_next(&l->belief, &news, library_now_ms(w, k))) {
        library_hear_changes(w, k);
        if (news.type == BELIEF_LOST) {
            library_hear_loss(w, k, &news);
        } else if (news.type == BELIEF_DOUBT) {
            world_trace(w, "client %u is told by libdibs that its locks are %s", k,
                        news.in_doubt ? "in doubt" : "held");
            l->doubts = news.in_doubt;
        }
    }
    library_hear_changes(w, k);
    if (doubted && !l->doubts)
        library_check_beliefs(w, k);
    l->listening = false;
    if (*l->belief.session)
        memcpy(l->id, l->belief.session, sizeof l->id);
}

/* Checks that the program believes in the same locks as the library, and that the library has done what is due. */
static void library_check(struct world *w, uint32_t k)
{
    const struct soak_library *l = w->client[k].library;
    uint64_t now_ms = library_now_ms(w, k);

    for (int name = library_held(l, 0); name < SOAK_NAMES; name = library_held(l, name + 1)) {
        if (l->belief.gone)
            world_fail(w, "the connection of client %u has ended, and libdibs has not told that %s is lost", k,
                       clients_names[name]);
        if (!l->doubts && !library_doubts(l) && !belief_fence(&l->belief, clients_names[name], now_ms))
            world_fail(w, "the validity of %s of client %u has passed, and libdibs has not told so",
                       clients_names[name], k);
    }
    for (int name = 0; name < SOAK_NAMES; name++) {
        const struct conn_lock *lock = held_find(&l->belief.held, clients_names[name]);

        if (!l->use[name].holds && l->wants >> name & 1 && belief_fence(&l->belief, clients_names[name], now_ms))
            world_fail(w, "client %u is told the fence of %s, and has not fetched the grant", k, clients_names[name]);
        if (lock && l->use[name].holds && l->use[name].mode != LOCK_ALONE && lock->mode == DIBS_EXCLUSIVE &&
            !l->use[name].slots && !l->belief.call)
            world_fail(w, "client %u shares %s, and libdibs takes it for exclusive", k, clients_names[name]);
    }
    if (l->belief.gone && (l->belief.call || (l->wanted >= 0 && l->belief.result == DIBS_WAITING)))
        world_fail(w, "the connection of client %u has ended, and a call of libdibs has no result", k);
    if (strstr(l->belief.end_reason, "not a daemon of dibs"))
        world_fail(w, "libdibs takes the daemon of client %u for a stranger", k);
    if (belief_due_ms(&l->belief) <= now_ms)
        world_fail(w, "what libdibs had to do for client %u was not done", k);
}

static void library_set_timer(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = c->library;
    uint64_t due_ms = belief_due_ms(&l->belief), at_us;

    if (due_ms == UINT64_MAX || (l->silent && !l->belief.call))
        return;
    at_us = library_when_us(c, due_ms);
    at_us = at_us <= w->now_us ? w->now_us + 1000 : at_us; /* overdue: library_check finds that */
    if (!l->timer_us || at_us < l->timer_us) {
        l->timer_us = at_us;
        world_plan(w, at_us - w->now_us, SOAK_CONFIRM, k, 0)->generation = c->generation;
    }
}

/* libdibs asks its daemon a few times in each validity, and pauses when it was refused. Else one client would keep a processor busy. */
static void library_count_send(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;
    uint64_t second = w->now_us / 1000000;

    l->sends = l->second == second ? l->sends + 1 : 1;
    l->second = second;
    if (l->sends > SENDS_MAX)
        world_fail(w, "libdibs sends without a pause: client %u", k);
}

static void library_send(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct belief *b = &c->library->belief;
    size_t len, some;
    const char *bytes = belief_output(b, &len);

    if (len && c->conn < 0)
        world_fail(w, "libdibs has something to say for client %u, which has no connection", k);
    if (len == 0 || c->conn < 0)
        return;
    library_count_send(w, k);
    some = world_below(w, 8) ? len : 1 + world_below(w, len);
    conns_say_bytes(w, &w->conn[c->conn], bytes, some);
    if (some < len)
        conns_say_bytes(w, &w->conn[c->conn], bytes + some, len - some);
    belief_sent(b, len);
}

/* The library has read all bytes so far. It looks at the clock, tells the program what has changed, and sends what is to be sent. */
static void library_turn(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = c->library;

    if (l->turning)
        return;
    l->turning = true;
    belief_clock(&l->belief, library_now_ms(w, k));
    library_listen(w, k);
    library_send(w, k);
    library_hear_answer(w, k);
    belief_clock(&l->belief, library_now_ms(w, k)); /* a call that has ended may have told that all is in doubt */
    library_listen(w, k);
    if (l->wanted >= 0 && !l->belief.call && !l->silent && world_below(w, 8)) /* else it fetches the result later */
        library_hear_result(w, k, belief_lock_result(&l->belief, library_now_ms(w, k)));
    library_send(w, k);
    library_check(w, k);
    library_set_timer(w, k);
    l->turning = false;
    if (l->belief.gone || (l->belief.phase == BELIEF_AWAY && c->conn >= 0)) {
        world_trace(w, "libdibs ends the connection of client %u: %s", k, l->belief.end_reason);
        if (c->conn >= 0)
            conns_close(w, &w->conn[c->conn], false);
        clients_be_gone(w, k);
    }
}

/* Reads the first `len` bytes that have arrived. */
static void library_take(struct world *w, uint32_t k, struct soak_conn *x, size_t len)
{
    struct belief *b = &w->client[k].library->belief;
    size_t room;
    char *at = belief_room(b, &room);

    len = len < room ? len : room;
    memcpy(at, x->in.at + x->in.start, len);
    bytes_consume(&x->in, len);
    belief_received(b, len);
    library_listen(w, k);
}

/* Reads bytes that have arrived, piece by piece, and leaves some of them for later. */
static void library_read(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_conn *x = c->conn < 0 ? NULL : &w->conn[c->conn];

    while (x && bytes_len(&x->in) && !c->library->belief.gone && c->library->belief.phase != BELIEF_AWAY) {
        size_t len = bytes_len(&x->in), some = world_below(w, 4) ? len : 1 + world_below(w, len);

        library_take(w, k, x, some);
        if (some < len && !w->conf->rolling && world_below(w, 4) == 0) {
            world_plan(w, world_below(w, LATER_US), SOAK_CONFIRM, k, 0)->generation = c->generation;
            break;
        }
    }
}

void library_hear(struct world *w, uint32_t k)
{
    const struct soak_library *l = w->client[k].library;

    if (l->silent && !l->belief.call)
        return;
    library_read(w, k);
    library_turn(w, k);
}

void library_timer(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;

    if (l->timer_us <= w->now_us)
        l->timer_us = 0;
    library_hear(w, k);
}

void library_catch_up(struct world *w)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *c = &w->client[k];

        if (!c->library || c->library->listening || library_is_deaf(w, c))
            continue;
        if (belief_due_ms(&c->library->belief) <= library_now_ms(w, k))
            library_turn(w, k);
        else
            library_check(w, k); /* also when the library sees no reason for a turn */
    }
}

void library_disconnected(struct world *w, uint32_t k)
{
    struct soak_conn *x = &w->conn[w->client[k].conn];
    struct belief *b = &w->client[k].library->belief;

    w->client[k].library->turning = true;
    while (!x->severed && bytes_len(&x->in) && !b->gone && b->phase != BELIEF_AWAY)
        library_take(w, k, x, bytes_len(&x->in));
    belief_clock(b, library_now_ms(w, k));
    belief_break(b, "the daemon has ended the connection", library_now_ms(w, k));
    library_listen(w, k);
    library_hear_answer(w, k);
    library_check(w, k);
    w->client[k].library->turning = false;
}

bool library_is_away(const struct soak_client *c)
{
    return !c->library->belief.gone && c->library->belief.phase == BELIEF_AWAY;
}

void library_stay_away(struct world *w, uint32_t k)
{
    w->client[k].library->timer_us = 0; /* timers of the earlier connection have no effect */
    library_set_timer(w, k);
}

/* The program tells its daemon its name, which is the number of its connection (several.c). */
static void library_call_itself(const struct world *w, struct soak_client *c)
{
    if (w->mix.several)
        snprintf(c->library->name, sizeof c->library->name, "%llu", (unsigned long long)w->conn[c->conn].id);
    else
        snprintf(c->library->name, sizeof c->library->name, "soak");
}

/* ----------------------------------------------------------------------------------------------------- what it wants */

void library_begin(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = mem_new(sizeof *l);

    c->library = l;
    l->wanted = l->about = -1;
    l->keeps = w->mix.resume || ((w->mix.several || (w->mix.changes && !w->conf->rolling)) && world_below(w, 2));
    l->silent = !l->keeps && w->conn[c->conn].local && !w->conf->rolling && world_below(w, 2);
    world_trace(w, "client %u uses libdibs%s", k, l->silent ? ", and is silent" : "");
    library_call_itself(w, c);
    belief_hello(&l->belief, l->name, l->keeps ? KEEP_FIRST_MS + world_below(w, KEEP_MORE_MS) : 0,
                 library_now_ms(w, k));
    l->belief.elsewhere = l->keeps && world_below(w, 2);
    library_send(w, k);
    library_set_timer(w, k);
}

void library_forget(struct soak_client *c)
{
    if (!c->library)
        return;
    belief_free(&c->library->belief);
    free(c->library);
    c->library = NULL;
}

/* Draws how the program requests one more lock. */
static struct dibs_part library_draw_part(struct world *w, uint32_t k, int name)
{
    struct soak_library *l = w->client[k].library;
    struct dibs_part part = {.name = clients_names[name]};
    struct soak_use *asks = &l->asks[name];

    *asks = (struct soak_use){.mode = LOCK_ALONE, .lapses_us = UINT64_MAX};
    if (name == 3 || (name == 4 && world_below(w, 2))) {
        part.mode = DIBS_SLOTS;
        asks->slots = part.slots = 2;
    } else if (w->algorithm->rules & 1u << DME_GROUP && !w->mix.disorder && world_below(w, 3)) {
        part.mode = world_below(w, 2) ? DIBS_SHARED : DIBS_GROUP;
        part.group = "red";
        asks->mode = part.mode == DIBS_SHARED ? LOCK_SHARED : lock_group_mode(part.name, strlen(part.name), "red", 3);
    }
    l->wants |= 1u << name;
    part.value = values_draw(w, k, l->value[name]);
    part.value_len = strlen(part.value);
    return part;
}

/* The program requests a lock whose name comes after those of all that it holds, so that programs do not wait for each other in a circle; or several, if
 * it holds none. In disorder (soak_mix), it requests one or several that it does not hold, of those with one holder at a time. */
static void library_lock(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;
    struct dibs_wish wish = {0};
    struct dibs_part part[SOAK_NAMES];
    size_t count = 1;
    int first = SOAK_NAMES, end = SOAK_NAMES;

    while (first > 0 && !l->use[first - 1].holds)
        first--;
    if (w->mix.disorder && first <= LIBRARY_MIXED)
        first = 0, end = LIBRARY_MIXED;
    if (first == SOAK_NAMES || (first && w->mix.several))
        return;
    l->wanted = first + (int)world_below(w, (uint64_t)(end - first));
    if (l->use[l->wanted].holds) {
        l->wanted = -1;
        return;
    }
    part[0] = library_draw_part(w, k, l->wanted);
    while (w->mix.several && count < 4 && world_below(w, 4)) {
        int name = (int)world_below(w, (uint64_t)end);

        if (!(l->wants >> name & 1) && !l->use[name].holds)
            part[count++] = library_draw_part(w, k, name);
        else if (w->mix.disorder)
            break;
    }
    wish.reentrant = nested_is_chosen(w); /* a lock that it has lost, and has not released, is requested anew */
    if (world_below(w, 3) == 0)
        wish.wait_ms = world_below(w, 2) ? 1 + world_below(w, 2000) : DIBS_NO_WAIT;
    if (world_below(w, 8) == 0 && !w->conf->rolling)
        wish.ttl_ms = 1 + world_below(w, 3000);
    for (int name = 0; name < SOAK_NAMES; name++)
        if (l->wants >> name & 1)
            library_note_ttl(w, &l->asks[name], wish.ttl_ms);
    if (w->mix.urgent)
        wish.priority = (unsigned)world_below(w, LOCK_PRIORITY_MAX + 1);
    if (belief_lock_many(&l->belief, part, count, &wish, l->silent || world_below(w, 2), library_now_ms(w, k)) < 0)
        world_fail(w, "client %u may not ask libdibs for %s: %s", k, clients_names[l->wanted], l->belief.message);
}

/* While the session is being resumed, the program is told at once, and asks for something else. */
static void library_cancel(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;

    world_trace(w, "client %u cancels its request", k);
    belief_cancel(&l->belief);
    if (l->belief.phase == BELIEF_UP)
        return;
    library_hear_result(w, k, belief_lock_result(&l->belief, library_now_ms(w, k)));
    if (l->wanted < 0)
        library_lock(w, k);
}

void library_return(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = c->library;

    world_trace(w, "client %u comes back to %s", k, w->machine[c->machine].name);
    library_call_itself(w, c);
    belief_return(&l->belief, l->name, library_now_ms(w, k));
    if ((w->mix.resume || w->mix.several) && w->conf->seed % 8 == 6 && l->wanted >= 0 && !l->belief.call)
        library_cancel(w, k);
    library_send(w, k);
    l->timer_us = 0;
    library_set_timer(w, k);
}

/* The program stops using a lock, and unlocks it, or leaves the lock to the end of the connection. */
static void library_unlock(struct world *w, uint32_t k, int name)
{
    struct soak_library *l = w->client[k].library;

    if (nested_library_release(w, k, name))
        return;
    world_trace(w, "client %u releases %s by libdibs", k, clients_names[name]);
    l->about = name;
    l->unlocks = l->wanted < 0 && world_below(w, 2);
    l->use[name].holds = false;
    if (l->unlocks)
        belief_unlock(&l->belief, clients_names[name], library_now_ms(w, k));
    else
        belief_start_unlock(&l->belief, clients_names[name]);
}

/* The program wants to change the mode in which it holds the lock. Returns false if it does not. */
static bool library_change(struct world *w, uint32_t k, int name)
{
    struct soak_library *l = w->client[k].library;
    uint64_t now_ms = library_now_ms(w, k), wait_ms;

    if (!w->mix.changes)
        return false;
    wait_ms = world_below(w, 2) ? 1 + world_below(w, 2000) : DIBS_NO_WAIT;
    if (l->use[name].slots || l->use[name].mode > LOCK_SHARED || l->wanted >= 0 || world_below(w, 2) == 0)
        return false;
    if (l->use[name].mode == LOCK_SHARED) {
        belief_upgrade(&l->belief, clients_names[name], wait_ms, now_ms);
    } else if (belief_downgrade(&l->belief, clients_names[name], now_ms) == DIBS_WAITING) {
        l->use[name].mode = LOCK_SHARED; /* from now on */
    }
    return true;
}

static void library_use_lock(struct world *w, uint32_t k, int name)
{
    const struct soak_conn *x = w->client[k].conn < 0 ? NULL : &w->conn[w->client[k].conn];
    struct soak_library *l = w->client[k].library;
    uint64_t now_ms = library_now_ms(w, k), ttl_ms = 100 + world_below(w, 3000);

    l->about = name;
    if (library_change(w, k, name) || nested_library_ask(w, k, name))
        return;
    switch (world_below(w, 5)) {
    case 0:
    case 1:
        l->lost_before = !l->keeps && (!x->end || !session_holds(x->end->session, clients_names[name],
                                                                 strlen(clients_names[name]), l->use[name].fence));
        belief_confirm(&l->belief, clients_names[name], now_ms);
        break;
    case 2:
        if (w->conf->rolling)
            break;
        library_note_ttl(w, &l->use[name], ttl_ms);
        if (l->wanted < 0 && world_below(w, 2))
            belief_renew(&l->belief, clients_names[name], ttl_ms, now_ms);
        else
            belief_start_renew(&l->belief, clients_names[name], ttl_ms);
        break;
    default:
        library_unlock(w, k, name);
    }
}

/* What the program does next. It does nothing while it is blocked. */
static void library_choose(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;
    int name = library_held(l, (int)world_below(w, SOAK_NAMES));

    if (w->calm || l->yields) {
        l->yields = false;
        for (name = library_held(l, 0); name < SOAK_NAMES && !l->belief.call; name = library_held(l, name + 1))
            library_unlock(w, k, name);
    } else if (w->mix.several && l->wanted >= 0 && l->belief.wait_ms != DIBS_NO_WAIT && world_below(w, 4) == 0) {
        library_cancel(w, k);
    } else if (name < SOAK_NAMES && world_below(w, 3)) {
        library_use_lock(w, k, name);
    } else if (l->wanted < 0 && world_below(w, 16) == 0) {
        belief_ask(&l->belief, (const char *[]){"PING"}, 1, library_now_ms(w, k));
    } else if (l->wanted < 0) {
        library_lock(w, k);
    }
}

void library_act(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_library *l = c->library;

    clients_plan(w, k,
                 world_below(w, 1 + 2 * (w->calm                           ? 50
                                         : library_held(l, 0) < SOAK_NAMES ? w->mix.hold_ms
                                                                           : w->mix.think_ms)));
    if (l->belief.call)
        return;
    if (!w->calm && world_below(w, 64) == 0) {
        clients_leave(w, k, world_below(w, 2));
        return;
    }
    l->turning = true;
    l->was_away = l->silent || belief_due_ms(&l->belief) < library_now_ms(w, k);
    if (l->wanted >= 0)
        library_hear_result(w, k, belief_lock_result(&l->belief, library_now_ms(w, k)));
    library_choose(w, k);
    library_read(w, k);
    l->turning = false;
    library_turn(w, k);
}

/* If the mix says so, a program whose connection has ended goes on with its work for a while before it connects again. */
bool library_acts_away(struct world *w, uint32_t k)
{
    struct soak_library *l = w->client[k].library;

    if (!l || !library_is_away(&w->client[k]) || !nested_is_chosen(w) || w->calm || world_below(w, 3) == 0)
        return false;
    clients_plan(w, k, world_below(w, 400));
    if (l->belief.call)
        return true;
    l->turning = true;
    if (l->wanted >= 0)
        library_hear_result(w, k, belief_lock_result(&l->belief, library_now_ms(w, k)));
    library_choose(w, k);
    l->turning = false;
    library_turn(w, k);
    return true;
}

bool library_is_at_rest(const struct soak_client *c)
{
    return c->library->wanted < 0 && !c->library->belief.call && library_held(c->library, 0) == SOAK_NAMES;
}
