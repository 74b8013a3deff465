/* dibs.c - the functions of the library. See include/dibs.h; how they work is in conn.h. */
#include "dibs.h"

#include "conn.h"
#include "place.h"
#include "secure.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *dibs_text(int code)
{
    switch (code) {
    case DIBS_OK:
        return "fine";
    case DIBS_WAITING:
        return "not yet";
    case DIBS_TIMEOUT:
        return "not to be had in time";
    case DIBS_LOST:
        return "lost";
    case DIBS_GONE:
        return "no daemon";
    case DIBS_NOT_HELD:
        return "not held";
    case DIBS_WRONG_KIND:
        return "a lock of another kind";
    case DIBS_NO_QUORUM:
        return "too few members";
    case DIBS_REFUSED:
        return "refused";
    case DIBS_MISUSE:
        return "a mistake of the program";
    case DIBS_NO_MEMORY:
        return "out of memory";
    default:
        return "unknown";
    }
}

const char *dibs_message(const struct dibs *d)
{
    return d ? d->message : dibs_text(DIBS_NO_MEMORY);
}

/* ------------------------------------------------------------------------------------------------------- connections */

static bool dibs_is_answered(const struct dibs *d)
{
    return d->answer;
}

static bool dibs_was_vouched_for(const struct dibs *d)
{
    return d->confirmed;
}

static void dibs_default_name(char *name, size_t size)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(name, size, "%s:%d", host, (int)getpid());
}

int dibs_connect(struct dibs **made, const char *where, const struct dibs_options *options)
{
    struct dibs *d = *made = calloc(1, sizeof *d);
    char name[96];
    const char *hello[] = {"HELLO", "3", "SETNAME", options && options->name ? options->name : name};
    const char *key = options && options->key ? options->key : getenv("DIBS_KEY");
    struct dibs_reply *answer = NULL;
    bool tcp;
    int code;

    if (!d)
        return DIBS_NO_MEMORY;
    dibs_default_name(name, sizeof name);
    d->fd = place_connect(where, &tcp, d->message, sizeof d->message);
    if (d->fd < 0) {
        code = d->fd;
        d->fd = -1;
        return code;
    }
    if (tcp && key && *key && !(d->secure = secure_new(key, d->message, sizeof d->message)))
        return DIBS_MISUSE;
    conn_say(d, hello, 4);
    conn_ask_confirm(d); /* the first lock does not have to wait for the answer */
    d->await = AWAIT_ANSWER;
    code = conn_wait(d, dibs_was_vouched_for, CONN_ANSWER_MS);
    answer = d->answer;
    d->answer = NULL;
    d->await = AWAIT_NOTHING;
    if (answer && answer->type == DIBS_ERROR) /* and perhaps it has ended the connection then */
        code = conn_refused(d, answer);
    if (code != DIBS_OK && d->secure && *secure_why(d->secure))
        code = DIBS_REFUSED;
    dibs_free(answer);
    return code;
}

void dibs_close(struct dibs *d)
{
    if (!d)
        return;
    secure_free(d->secure, d->fd);
    if (d->fd >= 0)
        close(d->fd);
    held_free(&d->held);
    for (size_t k = 0; k < d->asides; k++)
        free(d->aside[k].name);
    dibs_free(d->answer);
    free(d->aside);
    free(d->wanted);
    free(d->in.at);
    free(d->out.at);
    free(d);
}

int dibs_fd(const struct dibs *d)
{
    return d->fd;
}

short dibs_events(const struct dibs *d)
{
    bool out = d->out.start < d->out.end;

    if (d->secure)
        out = secure_has_more(d->secure) || (out && secure_is_up(d->secure));
    return (short)(POLLIN | (out ? POLLOUT : 0));
}

int dibs_timeout_ms(const struct dibs *d)
{
    return conn_timeout_ms(d);
}

int dibs_process(struct dibs *d)
{
    return conn_process(d);
}

/* A program that has not called us for long, and now waits for an answer, hears whether its locks are still held before it
 * hears anything else. It does not lose them for having been silent. */
static void dibs_doubt(struct dibs *d)
{
    if (conn_now_ms() < d->vouched_ms)
        return;
    d->in_doubt = true;
    conn_ask_confirm(d);
}

/* May this program wait for an answer now? */
static int dibs_may_ask(struct dibs *d)
{
    if (d->fd < 0)
        return DIBS_GONE;
    if (d->wanted)
        return conn_fail(d, DIBS_MISUSE, "this connection asks for \"%s\"; fetch the result first", d->wanted);
    return DIBS_OK;
}

static int dibs_ask_any(struct dibs *d, const char *const *words, size_t count, struct dibs_reply **reply)
{
    int code = dibs_may_ask(d);

    *reply = NULL;
    if (code != DIBS_OK)
        return code;
    dibs_doubt(d);
    conn_say(d, words, count);
    d->await = AWAIT_ANSWER;
    code = conn_wait(d, dibs_is_answered, CONN_ANSWER_MS);
    d->await = AWAIT_NOTHING;
    *reply = d->answer;
    d->answer = NULL;
    return code;
}

int dibs_ask(struct dibs *d, const char *const *words, size_t count, struct dibs_reply **reply)
{
    int code = dibs_ask_any(d, words, count, reply);

    if (code == DIBS_OK && (*reply)->type == DIBS_ERROR) {
        code = conn_refused(d, *reply);
        dibs_free(*reply);
        *reply = NULL;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------- locks */

static int dibs_check_wish(struct dibs *d, const char *name, const struct dibs_wish *wish)
{
    const struct conn_lock *held = held_find(&d->held, name);

    if (held && !held->lost)
        return conn_fail(d, DIBS_MISUSE, "this connection holds \"%s\" already", name);
    if (!*name || strlen(name) > 255)
        return conn_fail(d, DIBS_MISUSE, "the name of a lock has 1 to 255 bytes");
    if (wish->mode == DIBS_GROUP && (!wish->group || !*wish->group || strlen(wish->group) > 255))
        return conn_fail(d, DIBS_MISUSE, "a group has a name of 1 to 255 bytes");
    if (wish->mode == DIBS_SLOTS && (wish->slots < 1 || wish->slots > 256))
        return conn_fail(d, DIBS_MISUSE, "a lock has 1 to 256 slots");
    return DIBS_OK;
}

static void dibs_say_lock(struct dibs *d, const char *name, const struct dibs_wish *wish)
{
    const char *words[9] = {"LOCK", name};
    char slots[24], wait[24], ttl[24];
    size_t count = 2;

    if (wish->mode == DIBS_SHARED)
        words[count++] = "SHARED";
    if (wish->mode == DIBS_GROUP) {
        words[count++] = "GROUP";
        words[count++] = wish->group;
    }
    if (wish->mode == DIBS_SLOTS) {
        snprintf(slots, sizeof slots, "%u", wish->slots);
        words[count++] = "SLOTS";
        words[count++] = slots;
    }
    if (wish->wait_ms) {
        snprintf(wait, sizeof wait, "%" PRIu64, wish->wait_ms == DIBS_NO_WAIT ? 0 : wish->wait_ms);
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    if (wish->ttl_ms) {
        snprintf(ttl, sizeof ttl, "%" PRIu64, wish->ttl_ms);
        words[count++] = "TTL";
        words[count++] = ttl;
    }
    conn_say(d, words, count);
}

/* UNLOCK or RENEW of a lock of this name: with its fence, so that it is about no other one. */
struct dibs_words {
    char fence[24], ttl[24];
    const char *word[5];
};

static const char *const *dibs_words(struct dibs_words *w, const char *command, const struct conn_lock *lock,
                                     uint64_t ttl_ms)
{
    snprintf(w->fence, sizeof w->fence, "%" PRIu64, lock->fence);
    snprintf(w->ttl, sizeof w->ttl, "%" PRIu64, ttl_ms);
    memcpy(w->word, (const char *[]){command, lock->name, w->fence, "TTL", w->ttl}, sizeof w->word);
    return w->word;
}

/* The daemon keeps what was lost from others until it knows that we know. */
static void dibs_give_up(struct dibs *d, const struct conn_lock *lock)
{
    struct dibs_words w;

    conn_say_aside(d, ASIDE_UNLOCK, dibs_words(&w, "UNLOCK", lock, 0), 3);
}

static int dibs_begin_lock(struct dibs *d, const char *name, const struct dibs_wish *wish)
{
    struct conn_lock *lost = held_find(&d->held, name);
    int code = dibs_may_ask(d);

    if (code == DIBS_OK)
        code = dibs_check_wish(d, name, wish);
    if (code != DIBS_OK)
        return code;
    d->wanted = strdup(name);
    if (!d->wanted)
        return conn_fail(d, DIBS_NO_MEMORY, "out of memory");
    if (lost)
        dibs_give_up(d, lost);
    held_remove(&d->held, lost);
    d->result = DIBS_WAITING;
    if (conn_now_ms() >= d->confirm_ms)
        conn_ask_confirm(d);
    dibs_say_lock(d, name, wish);
    d->await = AWAIT_LOCK;
    return DIBS_OK;
}

int dibs_start_lock(struct dibs *d, const char *name, const struct dibs_wish *wish)
{
    int code = dibs_begin_lock(d, name, wish ? wish : &(struct dibs_wish){0});

    if (code == DIBS_OK)
        conn_process(d); /* what has become of it, dibs_lock_result will tell */
    return code;
}

int dibs_lock_result(struct dibs *d, uint64_t *fence)
{
    int result = d->result;

    if (!d->wanted)
        return conn_fail(d, DIBS_MISUSE, "this connection has not asked for a lock");
    if (result == DIBS_WAITING)
        return result;
    if (result == DIBS_OK && fence)
        *fence = d->fence;
    free(d->wanted);
    d->wanted = NULL;
    return result;
}

static bool dibs_has_result(const struct dibs *d)
{
    return d->result != DIBS_WAITING;
}

int dibs_lock(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence)
{
    int code = dibs_begin_lock(d, name, wish ? wish : &(struct dibs_wish){0});

    if (code != DIBS_OK)
        return code;
    dibs_doubt(d);
    conn_wait(d, dibs_has_result,
              wish && wish->wait_ms && wish->wait_ms != DIBS_NO_WAIT ? wish->wait_ms + CONN_ANSWER_MS : UINT64_MAX);
    return dibs_lock_result(d, fence);
}

int dibs_try(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence)
{
    struct dibs_wish brief = wish ? *wish : (struct dibs_wish){0};

    brief.wait_ms = DIBS_NO_WAIT;
    return dibs_lock(d, name, &brief, fence);
}

/* A lock that the program knows to be held or lost, or null. */
static struct conn_lock *dibs_known(const struct dibs *d, const char *name)
{
    return d->granted && strcmp(d->wanted, name) == 0 ? NULL : held_find(&d->held, name);
}

/* The lock, if there is something to be done with it; else the code says why not. */
static struct conn_lock *dibs_held(struct dibs *d, const char *name, int *code)
{
    struct conn_lock *lock = dibs_known(d, name);

    *code = d->fd < 0    ? DIBS_GONE
            : !lock      ? conn_fail(d, DIBS_NOT_HELD, "this connection does not hold \"%s\"", name)
            : lock->lost ? conn_fail(d, DIBS_LOST, "\"%s\" has been lost", name)
                         : DIBS_OK;
    return *code == DIBS_OK ? lock : NULL;
}

/* Asks something about a lock that is held, and waits. If the daemon does not know it, it was lost. */
static int dibs_ask_about(struct dibs *d, const char *command, const struct conn_lock *lock, uint64_t ttl_ms,
                          size_t count)
{
    struct dibs_words w;
    struct dibs_reply *reply = NULL;
    int code = dibs_ask(d, dibs_words(&w, command, lock, ttl_ms), count, &reply);

    if (code == DIBS_NOT_HELD)
        code = conn_fail(d, DIBS_LOST, "\"%s\" has been lost", lock->name);
    dibs_free(reply);
    return code;
}

int dibs_unlock(struct dibs *d, const char *name)
{
    const struct conn_lock *lock;
    int code;

    if ((lock = dibs_held(d, name, &code))) {
        code = dibs_ask_about(d, "UNLOCK", lock, 0, 3);
    } else if (code == DIBS_LOST) {
        dibs_give_up(d, dibs_known(d, name));
        conn_process(d);
    }
    if (code != DIBS_MISUSE)
        held_remove(&d->held, dibs_known(d, name));
    return code;
}

int dibs_start_unlock(struct dibs *d, const char *name)
{
    int code;

    if (dibs_held(d, name, &code) || code == DIBS_LOST)
        dibs_give_up(d, dibs_known(d, name));
    held_remove(&d->held, dibs_known(d, name));
    conn_process(d);
    return code;
}

int dibs_renew(struct dibs *d, const char *name, uint64_t ttl_ms)
{
    int code;
    const struct conn_lock *lock = dibs_held(d, name, &code);

    return lock ? dibs_ask_about(d, "RENEW", lock, ttl_ms, 5) : code;
}

int dibs_start_renew(struct dibs *d, const char *name, uint64_t ttl_ms)
{
    struct dibs_words w;
    int code;
    const struct conn_lock *lock = dibs_held(d, name, &code);

    if (lock) {
        conn_say_aside(d, ASIDE_RENEW, dibs_words(&w, "RENEW", lock, ttl_ms), 5);
        conn_process(d);
    }
    return code;
}

static bool dibs_is_confirmed(const struct dibs *d)
{
    return !d->asked_ms;
}

int dibs_confirm(struct dibs *d, const char *name)
{
    int code;

    if (!dibs_held(d, name, &code))
        return code;
    /* Twice, if need be: the answer to a question of long ago says nothing about now. */
    for (bool old = d->asked_ms; d->fd >= 0; old = false) {
        d->in_doubt = true;
        conn_ask_confirm(d);
        conn_wait(d, dibs_is_confirmed, CONN_ANSWER_MS);
        if (!old)
            break;
    }
    dibs_held(d, name, &code);
    return code;
}

uint64_t dibs_fence(const struct dibs *d, const char *name)
{
    const struct conn_lock *lock = dibs_known(d, name);

    return lock && !lock->lost && conn_now_ms() < d->vouched_ms ? lock->fence : 0;
}

void dibs_on_lost(struct dibs *d, dibs_lost_fn *lost, void *user)
{
    d->on_lost = lost;
    d->user = user;
}

static bool dibs_has_subscribed(const struct dibs *d)
{
    return d->subscribed || d->answer;
}

int dibs_watch(struct dibs *d, const char *pattern, dibs_event_fn *fn, void *user)
{
    const char *words[] = {"PSUBSCRIBE", pattern};
    int code = dibs_may_ask(d);

    if (code != DIBS_OK)
        return code;
    dibs_doubt(d);
    d->on_event = fn;
    d->event_user = user;
    d->subscribed = 0;
    conn_say(d, words, 2);
    d->await = AWAIT_ANSWER; /* if it is refused */
    code = conn_wait(d, dibs_has_subscribed, CONN_ANSWER_MS);
    d->await = AWAIT_NOTHING;
    if (code == DIBS_OK && d->answer)
        code = d->answer->type == DIBS_ERROR ? conn_refused(d, d->answer) : DIBS_REFUSED;
    dibs_free(d->answer);
    d->answer = NULL;
    return code;
}
