/* belief.c - see belief.h: calls of the program, what becomes of its locks, and the time. */
#include "belief.h"

#include "reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void belief_free_wanted(struct belief *b)
{
    for (size_t k = 0; b->wanted && k < b->wants; k++) {
        free(b->wanted[k].name);
        free(b->wanted[k].group);
        free(b->wanted[k].value);
    }
    free(b->wanted);
    b->wanted = NULL;
    b->wants = 0;
}

void belief_free(struct belief *b)
{
    held_free(&b->held);
    for (size_t k = 0; k < b->asides; k++)
        free(b->aside[k].name);
    dibs_free(b->reply);
    dibs_free(b->answer);
    free(b->aside);
    belief_free_wanted(b);
    free(b->in.at);
    free(b->out.at);
    *b = (struct belief){.gone = true};
}

int belief_fail(struct belief *b, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(b->message, sizeof b->message, format, args);
    va_end(args);
    return code;
}

void belief_conclude(struct belief *b, int code)
{
    b->result = code;
    memcpy(b->result_message, b->message, sizeof b->message);
}

int belief_refused(struct belief *b, const struct dibs_reply *error)
{
    static const struct {
        const char *word;
        int code;
    } known[] = {{"NOTHELD ", DIBS_NOT_HELD},
                 {"WRONGKIND ", DIBS_WRONG_KIND},
                 {"NOQUORUM ", DIBS_NO_QUORUM},
                 {"LOST ", DIBS_LOST},
                 {"DEADLOCK ", DIBS_DEADLOCK}};
    const char *space = strchr(error->text, ' ');

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strncmp(error->text, known[k].word, strlen(known[k].word)) == 0)
            return belief_fail(b, known[k].code, "%s", space + 1);
    return belief_fail(b, DIBS_REFUSED, "%s", space ? space + 1 : error->text);
}

/* What distinguishes two requests of the same mode: the group, or the number of slots. */
static uint64_t belief_sort(enum dibs_mode mode, const char *group, unsigned slots)
{
    return mode == DIBS_GROUP && group ? held_hash(group) : mode == DIBS_SLOTS ? slots : 0;
}

struct conn_lock *belief_add(struct belief *b, const struct belief_part *part, uint64_t fence)
{
    struct conn_lock *lock = held_add(&b->held, part->name, fence);

    if (lock) {
        lock->mode = (int)part->mode;
        lock->sort = belief_sort(part->mode, part->group, part->slots);
    }
    return lock;
}

/* ------------------------------------------------------------------------------------------------------------- losses */

static bool belief_is_wanted(const struct belief *b, const char *name)
{
    for (size_t k = 0; k < b->wants; k++)
        if (strcmp(b->wanted[k].name, name) == 0)
            return true;
    return false;
}

/* One of several locks is lost before the program was told that it holds them. So the program holds none of them: tells the daemon to
 * release the others. */
static void belief_return_others(struct belief *b)
{
    for (size_t k = 0; k < b->wants; k++) {
        struct conn_lock *other = held_find(&b->held, b->wanted[k].name);

        if (!other || other->lost)
            continue;
        held_lose(&b->held, other);
        if (b->phase == BELIEF_UP && !b->gone) /* else it is told when the session is resumed */
            belief_say_about(b, BELIEF_UNLOCK, other->name, other->fence, 0, true);
    }
}

/* Reports the loss to the program, unless it has not been told of the grant: then the loss is the result. */
void belief_mark_lost(struct belief *b, struct conn_lock *lock, const char *why)
{
    if (lock->lost)
        return;
    held_lose(&b->held, lock);
    if (b->granted && belief_is_wanted(b, lock->name)) {
        b->granted = false;
        belief_conclude(b, belief_fail(b, DIBS_LOST, "\"%s\" was lost at once: %s", lock->name, why));
        belief_return_others(b);
    } else {
        lock->untold = true;
    }
}

void belief_lose(struct belief *b, struct conn_lock *lock, const char *why)
{
    belief_mark_lost(b, lock, why);
    b->untold = lock;
    b->untold_all = false;
    b->lost_why = why;
}

void belief_tell_losses(struct belief *b, const char *why)
{
    b->untold = held_next(&b->held, NULL);
    b->untold_all = true;
    b->lost_why = why;
}

void belief_lose_all(struct belief *b, const char *why)
{
    for (struct conn_lock *lock = held_next(&b->held, NULL); lock; lock = held_next(&b->held, lock))
        belief_mark_lost(b, lock, why);
    belief_tell_losses(b, why);
}

void belief_end(struct belief *b, const char *why)
{
    if (b->gone)
        return;
    b->gone = true;
    if (why != b->end_reason)
        snprintf(b->end_reason, sizeof b->end_reason, "%s", why);
    belief_fail(b, DIBS_GONE, "%s", b->end_reason);
    belief_lose_all(b, b->end_reason);
    if (b->result == DIBS_WAITING)
        b->result = DIBS_GONE;
}

/* The program has unlocked the lock. */
static void belief_forget(struct belief *b, const struct conn_lock *lock)
{
    if (lock && b->untold == lock)
        b->untold = b->untold_all ? held_next(&b->held, lock) : NULL;
    held_remove(&b->held, lock);
}

/* -------------------------------------------------------------------------------------------------------------- time */

bool belief_holds(const struct belief *b)
{
    assert(b->held.lost <= b->held.count);
    return b->held.count > b->held.lost + (b->granted ? b->wants : 0);
}

static bool belief_is_active(const struct belief *b)
{
    return belief_holds(b) || b->granted || (b->wanted && b->result == DIBS_WAITING) || b->waits;
}

/* When the library gives back a grant of which it cannot tell the program; UINT64_MAX: it can. */
static uint64_t belief_give_back_ms(const struct belief *b)
{
    return b->granted && b->late_ms ? b->late_ms + BELIEF_ANSWER_MS : UINT64_MAX;
}

/* A grant that the program has not fetched counts as DIBS_OK as long as the daemon vouches for it. If each answer takes longer than the time
 * for which it vouches, the program can never be told, and no other client would be granted the lock: it is given back. */
static void belief_weigh_grant(struct belief *b, uint64_t now_ms)
{
    if (!b->granted)
        return;
    assert(b->wanted && b->wants);
    b->result = now_ms < b->vouched_ms ? DIBS_OK : DIBS_WAITING;
    if (b->result == DIBS_OK) {
        b->late_ms = 0;
        return;
    }
    if (b->phase != BELIEF_UP)
        return;
    if (!b->late_ms) {
        b->late_ms = now_ms;
        belief_ask_confirm(b, now_ms); /* again, if the answer does not vouch for it, when that is due */
    }
    if (now_ms < belief_give_back_ms(b))
        return;
    b->granted = false;
    belief_conclude(b, belief_fail(b, DIBS_LOST,
                                   "\"%s\" was granted, and is given back: the answers of the daemon take longer than "
                                   "the time for which it vouches, which is its lease at most",
                                   b->wanted[0].name));
    belief_return_others(b);
}

/* Must the daemon answer the CONFIRM under way in time? If it does not, it is given up. */
static bool belief_needs_answer(const struct belief *b)
{
    return b->asked_ms && ((b->granted && b->result == DIBS_WAITING) || (belief_holds(b) && b->in_doubt) || b->waits);
}

static bool belief_is_answered(const struct belief *b)
{
    switch (b->call) {
    case BELIEF_HELLO:
        return b->confirmed;
    case BELIEF_LOCK:
        return b->result != DIBS_WAITING;
    case BELIEF_CONFIRM:
        return b->fresh;
    case BELIEF_WATCH:
        return b->subscribed || b->answer;
    default:
        return b->answer;
    }
}

void belief_clock(struct belief *b, uint64_t now_ms)
{
    static const char silent[] = "the daemon does not vouch for its locks any more";

    if (b->out_of_memory)
        belief_end(b, "out of memory");
    if (b->gone || belief_clock_keep(b, now_ms))
        return;
    belief_weigh_grant(b, now_ms);
    if (belief_holds(b) && !b->in_doubt && !b->doubt && now_ms >= b->vouched_ms)
        belief_end(b, silent);
    else if (belief_needs_answer(b) && now_ms >= b->asked_ms + BELIEF_ANSWER_MS)
        belief_give_up(b, silent, now_ms);
    else if (b->call && !belief_is_answered(b) && now_ms >= b->patience_ms)
        belief_give_up(b, "the daemon does not answer", now_ms);
    else if (belief_is_active(b) && now_ms >= b->confirm_ms)
        belief_ask_confirm(b, now_ms);
}

static uint64_t belief_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t belief_due_ms(const struct belief *b)
{
    uint64_t due_ms = UINT64_MAX;

    if (b->gone)
        return due_ms;
    if (b->out_of_memory)
        return 0;
    if (b->phase != BELIEF_UP)
        return belief_due_keep_ms(b);
    if (belief_is_active(b) && !b->asked_ms)
        due_ms = b->confirm_ms;
    if (b->doubt)
        due_ms = belief_earlier(due_ms, belief_due_keep_ms(b));
    else if (belief_holds(b) && (!b->in_doubt || *b->session)) /* it tells that those of a kept session are in doubt */
        due_ms = belief_earlier(due_ms, b->vouched_ms);
    if (belief_needs_answer(b))
        due_ms = belief_earlier(due_ms, b->asked_ms + BELIEF_ANSWER_MS);
    if (b->granted && b->result == DIBS_OK)
        due_ms = belief_earlier(due_ms, b->vouched_ms);
    due_ms = belief_earlier(due_ms, belief_give_back_ms(b));
    if (b->call && !belief_is_answered(b))
        due_ms = belief_earlier(due_ms, b->patience_ms);
    return due_ms;
}

/* ------------------------------------------------------------------------------------------------------------- calls */

/* May the program wait for an answer now? */
static int belief_may_ask(struct belief *b)
{
    if (b->gone)
        return DIBS_GONE;
    if (b->wanted)
        return belief_fail(b, DIBS_MISUSE, "this connection asks for \"%s\"; fetch the result first",
                           b->wanted[0].name);
    if (b->phase != BELIEF_UP)
        return belief_fail(b, DIBS_IN_DOUBT, "%s", b->end_reason);
    return DIBS_OK;
}

/* If a program that has not called for two thirds of the validity now waits for an answer, the library first finds out whether its locks are
 * still held. The program does not lose them because it was silent. Any other program loses its locks when the validity ends, also while it
 * waits. */
static void belief_doubt(struct belief *b, uint64_t now_ms)
{
    bool silent = !b->asked_ms && now_ms >= (b->confirm_ms + b->vouched_ms) / 2;

    b->in_doubt = silent || now_ms >= b->vouched_ms;
    if (b->in_doubt)
        belief_ask_confirm(b, now_ms);
}

static int belief_begin(struct belief *b, enum belief_call call, uint64_t patience_ms, uint64_t now_ms)
{
    b->call = call;
    b->patience_ms = patience_ms > UINT64_MAX - now_ms ? UINT64_MAX : now_ms + patience_ms;
    if (call != BELIEF_LOCK && call != BELIEF_CONFIRM)
        b->await = AWAIT_ANSWER;
    return DIBS_WAITING;
}

int belief_hello(struct belief *b, const char *name, uint64_t keep_ms, uint64_t now_ms)
{
    belief_say_hello(b, name);
    b->keep_ms = keep_ms;
    if (keep_ms)
        belief_say_keep(b);
    belief_ask_confirm(b, now_ms); /* the first lock does not have to wait for the answer */
    belief_begin(b, BELIEF_HELLO, BELIEF_ANSWER_MS, now_ms);
    b->await = keep_ms ? AWAIT_GREETING : AWAIT_ANSWER;
    return DIBS_WAITING;
}

/* A daemon ends the connection, with all its locks, if a request is too large, and does not answer an empty one. */
static int belief_check_words(struct belief *b, const char *const *words, size_t count)
{
    enum { WORDS_MAX = 256, BYTES_MAX = 16384 };
    size_t bytes = (size_t)snprintf(NULL, 0, "*%zu\r\n", count);

    if (!words || count < 1 || count > WORDS_MAX)
        return belief_fail(b, DIBS_MISUSE, "a command has 1 to %d words", WORDS_MAX);
    for (size_t k = 0; k < count && bytes <= BYTES_MAX; k++) {
        if (!words[k])
            return belief_fail(b, DIBS_MISUSE, "word %zu of the command is null", k + 1);
        bytes += strlen(words[k]) + (size_t)snprintf(NULL, 0, "$%zu\r\n\r\n", strlen(words[k]));
    }
    return bytes > BYTES_MAX ? belief_fail(b, DIBS_MISUSE, "a command has at most %d bytes", BYTES_MAX) : DIBS_OK;
}

int belief_ask(struct belief *b, const char *const *words, size_t count, uint64_t now_ms)
{
    int code = belief_may_ask(b);
    uint64_t wait_ms = 0;

    if (code == DIBS_OK)
        code = belief_check_words(b, words, count);
    if (code != DIBS_OK)
        return code;
    b->waits = count > 2 && strcmp(words[0], "LOCK") == 0 && strcmp(words[count - 2], "WAIT") == 0;
    if (b->waits) /* a lock of a token */
        wait_ms = strtoull(words[count - 1], NULL, 10);
    belief_doubt(b, now_ms);
    belief_say(b, words, count);
    return belief_begin(b, BELIEF_ASK, wait_ms + BELIEF_ANSWER_MS, now_ms);
}

int belief_watch(struct belief *b, const char *pattern, uint64_t now_ms)
{
    const char *words[] = {"PSUBSCRIBE", pattern};
    int code = b->keep_ms ? belief_fail(b, DIBS_MISUSE, "a connection with keep_ms cannot watch; use another one")
                          : belief_ask(b, words, 2, now_ms);

    if (code == DIBS_WAITING) {
        b->call = BELIEF_WATCH;
        b->subscribed = 0;
    }
    return code;
}

/* A daemon accepts requests of 16,384 bytes: these are the bytes for each lock beside its texts, and the most for all locks. */
enum { BELIEF_PART_HEAD = 64, BELIEF_REQUEST_MAX = 16384 - 128 };

static int belief_check_part(struct belief *b, const struct dibs_part *part)
{
    const struct conn_lock *held = part->name ? held_find(&b->held, part->name) : NULL;

    if (held && !held->lost)
        return belief_fail(b, DIBS_MISUSE, "this connection holds \"%s\" already", part->name);
    if (!part->name || !*part->name || strlen(part->name) > 255)
        return belief_fail(b, DIBS_MISUSE, "the name of a lock has 1 to 255 bytes");
    if (part->mode > DIBS_SLOTS)
        return belief_fail(b, DIBS_MISUSE, "a mode is one of enum dibs_mode");
    if (part->mode == DIBS_GROUP && (!part->group || !*part->group || strlen(part->group) > 255))
        return belief_fail(b, DIBS_MISUSE, "a group has a name of 1 to 255 bytes");
    if (part->mode == DIBS_SLOTS && (part->slots < 1 || part->slots > 256))
        return belief_fail(b, DIBS_MISUSE, "a lock has 1 to 256 slots");
    if (part->value_len > DIBS_VALUE_MAX || (part->value_len && !part->value))
        return belief_fail(b, DIBS_MISUSE, "a value has at most %d bytes", DIBS_VALUE_MAX);
    return DIBS_OK;
}

static int belief_check_parts(struct belief *b, const struct dibs_part *parts, size_t count)
{
    int code = DIBS_OK;
    size_t bytes = 0;

    if (count < 1 || count > DIBS_PARTS_MAX)
        return belief_fail(b, DIBS_MISUSE, "one to %d locks can be requested at once", DIBS_PARTS_MAX);
    for (size_t k = 0; k < count && code == DIBS_OK; k++) {
        code = belief_check_part(b, &parts[k]);
        for (size_t j = 0; j < k && code == DIBS_OK; j++)
            if (strcmp(parts[j].name, parts[k].name) == 0)
                code = belief_fail(b, DIBS_MISUSE, "\"%s\" is requested twice", parts[k].name);
        if (code == DIBS_OK)
            bytes += BELIEF_PART_HEAD + strlen(parts[k].name) + parts[k].value_len +
                     (parts[k].mode == DIBS_GROUP ? strlen(parts[k].group) : 0);
    }
    if (code == DIBS_OK && bytes > BELIEF_REQUEST_MAX)
        code = belief_fail(b, DIBS_MISUSE, "the names, groups and values are too long for one request");
    return code;
}

/* Copies what is wanted. Returns false if there is no memory. */
static bool belief_want(struct belief *b, const struct dibs_part *parts, size_t count)
{
    bool fine;

    assert(!b->wanted && !b->granted && count && count <= DIBS_PARTS_MAX);
    fine = (b->wanted = calloc(count, sizeof *b->wanted));
    b->wants = fine ? count : 0;
    for (size_t k = 0; k < b->wants; k++) {
        struct belief_part *part = &b->wanted[k];

        part->mode = parts[k].mode;
        part->slots = parts[k].slots;
        part->name = strdup(parts[k].name);
        part->group = part->mode == DIBS_GROUP ? strdup(parts[k].group) : NULL;
        part->value_len = parts[k].value_len;
        part->value = part->value_len ? malloc(part->value_len) : NULL;
        if (part->value)
            memcpy(part->value, parts[k].value, part->value_len);
        fine = fine && part->name && (part->group || part->mode != DIBS_GROUP) && (part->value || !part->value_len);
    }
    if (!fine)
        belief_free_wanted(b);
    return fine;
}

/* The daemon grants a lost lock to no other client until it knows that the program knows of the loss. */
static void belief_forget_losses(struct belief *b)
{
    for (size_t k = 0; k < b->wants; k++) {
        const struct conn_lock *lost = held_find(&b->held, b->wanted[k].name);

        if (lost && b->phase == BELIEF_UP)
            belief_say_about(b, BELIEF_UNLOCK, lost->name, lost->fence, 0, true);
        belief_forget(b, lost);
    }
}

/* A lock that the program knows to be held or lost, or null. */
static struct conn_lock *belief_known(const struct belief *b, const char *name)
{
    return !name || (b->granted && belief_is_wanted(b, name)) ? NULL : held_find(&b->held, name);
}

bool belief_is_stale(const struct belief *b, const char *name, uint64_t now_ms)
{
    const struct conn_lock *lock = belief_known(b, name);

    return lock && !lock->lost && now_ms >= b->vouched_ms;
}

/* The program holds the lock, and requests it once more. The daemon need not know of that. */
static int belief_lock_again(struct belief *b, struct conn_lock *lock, const struct dibs_part *part, bool blocks,
                             uint64_t now_ms)
{
    bool same = (int)part->mode == lock->mode && belief_sort(part->mode, part->group, part->slots) == lock->sort;

    if (!same && !(lock->mode == DIBS_EXCLUSIVE && part->mode == DIBS_SHARED))
        return belief_fail(b, DIBS_MISUSE, "this connection holds \"%s\" in another mode", lock->name);
    if (belief_is_stale(b, lock->name, now_ms))
        return belief_fail(b, DIBS_IN_DOUBT, "the daemon has not vouched for \"%s\" lately", lock->name);
    if (!blocks && !belief_want(b, part, 1)) /* for belief_lock_result */
        return belief_fail(b, DIBS_NO_MEMORY, "out of memory");
    lock->again++;
    b->fence = lock->fence;
    b->result = DIBS_OK;
    return DIBS_OK;
}

/* How long to wait for the answer to a request with this wait_ms, as in struct dibs_wish. */
static uint64_t belief_patience_ms(uint64_t wait_ms)
{
    return wait_ms && wait_ms < UINT64_MAX - BELIEF_ANSWER_MS ? wait_ms + BELIEF_ANSWER_MS : UINT64_MAX;
}

int belief_lock_many(struct belief *b, const struct dibs_part *parts, size_t count, const struct dibs_wish *wish,
                     bool blocks, uint64_t now_ms)
{
    int code = belief_may_ask(b);
    struct conn_lock *again = wish->reentrant && count == 1 && parts->name ? belief_known(b, parts->name) : NULL;

    if (again && !again->lost)
        return code == DIBS_OK ? belief_lock_again(b, again, parts, blocks, now_ms) : code;
    if (code == DIBS_OK || code == DIBS_IN_DOUBT)
        code = belief_check_parts(b, parts, count);
    if (code == DIBS_OK && wish->priority > 9)
        code = belief_fail(b, DIBS_MISUSE, "a priority is 0 to 9");
    if (code != DIBS_OK)
        return code;
    if (!belief_want(b, parts, count))
        return belief_fail(b, DIBS_NO_MEMORY, "out of memory");
    belief_keep_wish(b, wish, now_ms);
    belief_forget_losses(b);
    b->result = DIBS_WAITING;
    b->said = b->cancelled = false;
    b->late_ms = 0;
    if (b->phase == BELIEF_UP) { /* else it is asked for when the session has been resumed */
        if (now_ms >= b->confirm_ms)
            belief_ask_confirm(b, now_ms);
        belief_say_lock(b);
        b->await = AWAIT_LOCK;
    }
    if (!blocks)
        return DIBS_OK;
    if (b->phase == BELIEF_UP)
        belief_doubt(b, now_ms);
    return belief_begin(b, BELIEF_LOCK, belief_patience_ms(wish->wait_ms), now_ms);
}

int belief_lock(struct belief *b, const char *name, const struct dibs_wish *wish, bool blocks, uint64_t now_ms)
{
    const struct dibs_part part = {.name = name,
                                   .mode = wish->mode,
                                   .slots = wish->slots,
                                   .group = wish->group,
                                   .value = wish->value,
                                   .value_len = wish->value_len};

    return belief_lock_many(b, &part, 1, wish, blocks, now_ms);
}

static int belief_take_result(struct belief *b)
{
    assert(b->wanted);
    if (b->result == DIBS_WAITING)
        return DIBS_WAITING;
    b->granted = false;
    belief_free_wanted(b);
    if (b->result != DIBS_GONE && *b->result_message)
        memcpy(b->message, b->result_message, sizeof b->message);
    *b->result_message = '\0';
    return b->result;
}

int belief_cancel(struct belief *b)
{
    static const char *const words[] = {"CANCEL"};

    if (!b->wanted)
        return belief_fail(b, DIBS_MISUSE, "this connection has not asked for a lock");
    if (b->gone)
        return DIBS_GONE;
    if (b->result != DIBS_WAITING || b->granted)
        return DIBS_OK;
    b->cancelled = true;
    if (b->phase == BELIEF_UP)
        belief_say_aside(b, ASIDE_UNLOCK, words, 1);
    else
        belief_end_cancelled(b);
    return DIBS_OK;
}

int belief_lock_result(struct belief *b, uint64_t now_ms)
{
    if (!b->wanted)
        return belief_fail(b, DIBS_MISUSE, "this connection has not asked for a lock");
    belief_weigh_grant(b, now_ms);
    return belief_take_result(b);
}

/* Returns the lock if the program holds it; else null, and the code says why not. */
static struct conn_lock *belief_held(struct belief *b, const char *name, int *code)
{
    struct conn_lock *lock = belief_known(b, name);

    *code = b->gone      ? DIBS_GONE
            : !name      ? belief_fail(b, DIBS_MISUSE, "the name of a lock is null")
            : !lock      ? belief_fail(b, DIBS_NOT_HELD, "this connection does not hold \"%s\"", name)
            : lock->lost ? belief_fail(b, DIBS_LOST, "\"%s\" has been lost", name)
                         : DIBS_OK;
    return *code == DIBS_OK ? lock : NULL;
}

static int belief_ask_about(struct belief *b, enum belief_call call, struct conn_lock *lock, uint64_t ms,
                            uint64_t now_ms)
{
    int code = belief_may_ask(b);

    if (code != DIBS_OK)
        return code;
    belief_doubt(b, now_ms);
    belief_say_about(b, call, lock->name, lock->fence, ms, false);
    b->about = lock;
    return belief_begin(b, call, call == BELIEF_UPGRADE ? belief_patience_ms(ms) : BELIEF_ANSWER_MS, now_ms);
}

int belief_unlock(struct belief *b, const char *name, uint64_t now_ms)
{
    int code;
    struct conn_lock *lock = belief_held(b, name, &code);

    return lock && !lock->again && b->phase == BELIEF_UP ? belief_ask_about(b, BELIEF_UNLOCK, lock, 0, now_ms)
                                                         : belief_start_unlock(b, name);
}

int belief_start_unlock(struct belief *b, const char *name)
{
    struct conn_lock *lock = belief_known(b, name);
    int code;

    if (lock && lock->again && belief_held(b, name, &code)) {
        lock->again--;
        return DIBS_OK;
    }
    /* Without a connection, the daemon is told when the session is resumed: it then lists a lock that the program does not hold. */
    if ((belief_held(b, name, &code) || code == DIBS_LOST) && b->phase == BELIEF_UP)
        belief_say_about(b, BELIEF_UNLOCK, lock->name, lock->fence, 0, true);
    belief_forget(b, lock);
    if (code == DIBS_OK && b->phase != BELIEF_UP)
        code = belief_fail(b, DIBS_IN_DOUBT, "it is released when the session has been resumed: %s", b->end_reason);
    return code;
}

/* The daemon refuses any other, and a renewal that is refused is a loss. */
static bool belief_is_ttl(struct belief *b, uint64_t ttl_ms, int *code)
{
    enum { TTL_MS_MAX = 1000000000 };

    if (ttl_ms < 1 || ttl_ms > TTL_MS_MAX)
        *code = belief_fail(b, DIBS_MISUSE, "a TTL is renewed with 1 to %d ms", TTL_MS_MAX);
    return *code == DIBS_OK;
}

int belief_renew(struct belief *b, const char *name, uint64_t ttl_ms, uint64_t now_ms)
{
    int code;
    struct conn_lock *lock = belief_held(b, name, &code);

    return lock && belief_is_ttl(b, ttl_ms, &code) ? belief_ask_about(b, BELIEF_RENEW, lock, ttl_ms, now_ms) : code;
}

int belief_start_renew(struct belief *b, const char *name, uint64_t ttl_ms)
{
    int code;
    const struct conn_lock *lock = belief_held(b, name, &code);

    if (lock && !belief_is_ttl(b, ttl_ms, &code))
        return code;
    if (lock && b->phase != BELIEF_UP)
        return belief_fail(b, DIBS_IN_DOUBT, "%s", b->end_reason);
    if (lock)
        belief_say_about(b, BELIEF_RENEW, lock->name, lock->fence, ttl_ms, true);
    return code;
}

int belief_upgrade(struct belief *b, const char *name, uint64_t wait_ms, uint64_t now_ms)
{
    int code;
    struct conn_lock *lock = belief_held(b, name, &code);

    if (lock && (code = belief_ask_about(b, BELIEF_UPGRADE, lock, wait_ms, now_ms)) == DIBS_WAITING)
        lock->upgrades = true;
    return code;
}

int belief_downgrade(struct belief *b, const char *name, uint64_t now_ms)
{
    int code;
    struct conn_lock *lock = belief_held(b, name, &code);

    return lock ? belief_ask_about(b, BELIEF_DOWNGRADE, lock, 0, now_ms) : code;
}

int belief_confirm(struct belief *b, const char *name, uint64_t now_ms)
{
    int code;
    struct conn_lock *lock = belief_held(b, name, &code);

    if (!lock)
        return code;
    if (b->phase != BELIEF_UP)
        return belief_fail(b, DIBS_IN_DOUBT, "%s", b->end_reason);
    b->about = lock;
    b->fresh = false;
    b->ask_again = b->asked_ms; /* the answer to a question from before this call does not count */
    belief_doubt(b, now_ms);
    belief_ask_confirm(b, now_ms);
    return belief_begin(b, BELIEF_CONFIRM, BELIEF_ANSWER_MS, now_ms);
}

uint64_t belief_fence(const struct belief *b, const char *name, uint64_t now_ms)
{
    const struct conn_lock *lock = belief_known(b, name);

    return lock && !lock->lost && now_ms < b->vouched_ms ? lock->fence : 0;
}

uint64_t belief_safe_ms(const struct belief *b, uint64_t now_ms)
{
    uint64_t until_ms = b->vouched_ms;

    if (b->gone || !belief_holds(b))
        return 0;
    if (*b->session && b->kept_ms > until_ms)
        until_ms = b->kept_ms;
    return until_ms > now_ms ? until_ms - now_ms : 0;
}

/* ----------------------------------------------------------------------------------------------------------- answers */

/* The code for an answer that may be an error. */
static int belief_judge(struct belief *b, int code)
{
    return b->answer && b->answer->type == DIBS_ERROR ? belief_refused(b, b->answer) : code;
}

/* The daemon has answered UNLOCK, RENEW, UPGRADE or DOWNGRADE, or has gone. If it does not know the lock, the lock was lost. */
static int belief_judge_about(struct belief *b, int code)
{
    code = belief_judge(b, code);
    if (code == DIBS_NOT_HELD)
        code = belief_fail(b, DIBS_LOST, "\"%s\" has been lost", b->about->name);
    if (code == DIBS_OK && b->call == BELIEF_UPGRADE && b->about->lost)
        code = belief_fail(b, DIBS_LOST, "\"%s\" has been lost", b->about->name);
    if (code == DIBS_OK && b->call == BELIEF_UPGRADE && b->answer->type == DIBS_NULL)
        code = belief_fail(b, DIBS_TIMEOUT, "\"%s\" was shared by others for too long", b->about->name);
    if (b->call == BELIEF_DOWNGRADE && (code == DIBS_OK || code == DIBS_IN_DOUBT))
        b->about->mode = DIBS_SHARED; /* the program cannot rely on anything else any more */
    b->about->upgrades = b->about->upgrades && code == DIBS_IN_DOUBT;
    if (code == DIBS_LOST)
        held_lose(&b->held, b->about);
    if (b->call == BELIEF_UNLOCK)
        belief_forget(b, b->about);
    return code;
}

int belief_answer(struct belief *b)
{
    int code = belief_is_answered(b) ? DIBS_OK : b->gone ? DIBS_GONE : b->call_broke ? DIBS_IN_DOUBT : DIBS_WAITING;
    bool keeps = b->call == BELIEF_ASK && code == DIBS_OK && b->answer->type != DIBS_ERROR;

    if (code == DIBS_WAITING)
        return code;
    switch (b->call) {
    case BELIEF_IDLE:
    case BELIEF_HELLO: /* a daemon that has refused may have ended the connection as well */
    case BELIEF_ASK:
        code = belief_judge(b, code);
        break;
    case BELIEF_LOCK:
        code = belief_take_result(b);
        break;
    case BELIEF_UNLOCK:
    case BELIEF_RENEW:
    case BELIEF_UPGRADE:
    case BELIEF_DOWNGRADE:
        code = belief_judge_about(b, code);
        break;
    case BELIEF_CONFIRM:
        if (code != DIBS_IN_DOUBT)
            belief_held(b, b->about->name, &code);
        if (code == DIBS_OK && b->doubt)
            code = belief_fail(b, DIBS_IN_DOUBT, "this member cannot vouch for locks just now");
        break;
    case BELIEF_WATCH:
        if (b->answer)
            code = belief_judge(b, DIBS_REFUSED);
    }
    if (b->await == AWAIT_ANSWER)
        b->await = AWAIT_NOTHING;
    b->call = BELIEF_IDLE;
    b->about = NULL;
    b->ask_again = b->in_doubt = b->call_broke = b->waits = false;
    if (!keeps) {
        dibs_free(b->answer);
        b->answer = NULL;
    }
    return code;
}
