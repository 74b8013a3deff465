/* belief_hear.c - see belief.h: what the daemon says, and what follows from it. */
#include "belief.h"

#include "reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char belief_stranger[] = "this is not a daemon of dibs, or not one of this version";

/* How long after this question to ask the next one, if the daemon vouches for `ms`: a third of that or, of a kept session, of the keep time if that is
 * shorter. The keep time counts from the question, too: else a connection that breaks could end the session at once. A validity that is about to end is
 * asked for once in a millisecond. */
static uint64_t belief_confirm_after_ms(const struct belief *b, uint64_t ms)
{
    uint64_t good_ms = *b->session && b->keep_ms < ms ? b->keep_ms : ms;

    return good_ms < 3 ? 1 : good_ms / 3;
}

static void belief_hear_confirm(struct belief *b, const struct dibs_reply *r, uint64_t now_ms)
{
    bool vouches = r->type == DIBS_NUMBER && r->number;
    bool again = vouches && b->ask_again; /* this answers a question from before the call of belief_confirm */

    if (vouches || !*b->session) /* an earlier validity of a kept session stays true */
        b->vouched_ms = vouches ? b->asked_ms + r->number : 0;
    b->confirm_ms = b->asked_ms + (vouches ? belief_confirm_after_ms(b, r->number) : BELIEF_AGAIN_MS);
    if (vouches) {
        b->kept_ms = b->asked_ms + b->keep_ms;
        /* The program may have been stopped meanwhile; or it waits for the next answer, and no timer ends what this one says. */
        b->doubt = b->doubt && (again || now_ms >= b->vouched_ms);
    }
    if (!vouches && b->late_ms)
        b->late_ms = now_ms; /* the answer is in time, and a later one may vouch */
    b->asked_ms = 0;
    b->confirmed = true;
    b->fresh = !again;
    b->in_doubt = b->in_doubt && again;
    b->ask_again = false;
    if (r->type == DIBS_ERROR && *b->session && strncmp(r->text, "NOQUORUM ", 9) == 0) {
        return; /* the members keep the session */
    } else if (r->type == DIBS_ERROR && strncmp(r->text, "ERR ", 4) != 0) {
        belief_lose_all(b, r->text);
    } else if (r->type != DIBS_NUMBER) {
        belief_end(b, belief_stranger);
    } else if (again) {
        b->patience_ms = now_ms + BELIEF_ANSWER_MS;
        belief_ask_confirm(b, now_ms);
    }
}

static void belief_hear_aside(struct belief *b, const struct dibs_reply *r, uint64_t now_ms)
{
    struct belief_aside aside;
    struct conn_lock *lock;

    if (b->asides == 0) {
        belief_end(b, belief_stranger);
        return;
    }
    aside = b->aside[0];
    memmove(b->aside, b->aside + 1, --b->asides * sizeof *b->aside);
    if (aside.type == ASIDE_CONFIRM)
        belief_hear_confirm(b, r, now_ms);
    if (aside.type == ASIDE_RENEW && r->type == DIBS_ERROR && (lock = held_find(&b->held, aside.name)))
        belief_lose(b, lock, r->text);
    free(aside.name);
}

/* "granted ant 3 17 exclusive web1:812 backup.sh", of this lock; and perhaps a tab and a value. */
static bool belief_hear_event(const char *lock, char *line, struct belief_news *news)
{
    char *word[5] = {NULL}, *rest = line, *who;

    for (unsigned k = 0; k < 5 && rest; k++)
        word[k] = strsep(&rest, " ");
    if (!rest)
        return false;
    who = strsep(&rest, "\t");
    *news = (struct belief_news){.type = BELIEF_EVENT,
                                 .event = {.event = word[0],
                                           .lock = lock,
                                           .member = word[1],
                                           .client = strtoull(word[2], NULL, 10),
                                           .fence = strtoull(word[3], NULL, 10),
                                           .mode = word[4],
                                           .who = who,
                                           .value = rest ? rest : ""}};
    return true;
}

/* Handles a push message. Returns true if it is news for the program. */
static bool belief_hear_push(struct belief *b, const struct dibs_reply *r, struct belief_news *news, uint64_t now_ms)
{
    const char *what = r->count ? r->item[0]->text : NULL;
    struct conn_lock *lock;

    if (!what)
        return false;
    if (strcmp(what, "meanwhile") == 0 && r->count == 2)
        belief_hear_aside(b, r->item[1], now_ms);
    else if (strcmp(what, "psubscribe") == 0)
        b->subscribed++;
    else if (strcmp(what, "pmessage") == 0 && r->count == 4 && r->item[2]->text && r->item[3]->text)
        return belief_hear_event(r->item[2]->text, r->item[3]->text, news);
    else if (strcmp(what, "session") == 0)
        belief_part(b, r->count > 1 && r->item[1]->text ? r->item[1]->text : "cut off", now_ms);
    else if (strcmp(what, "lost") == 0 && r->count >= 3 && r->item[1]->text &&
             (lock = held_find(&b->held, r->item[1]->text)) && lock->fence == r->item[2]->number)
        belief_lose(b, lock, r->count > 3 && r->item[3]->text ? r->item[3]->text : "it was taken away");
    return false;
}

/* Does the daemon say that all wanted locks are granted: the name and the fence of each, in the order of the request? */
static bool belief_is_grant(const struct belief *b, const struct dibs_reply *r)
{
    if (r->type != DIBS_LIST || r->count != 2 * b->wants)
        return false;
    for (size_t k = 0; k < b->wants; k++) {
        const struct dibs_reply *name = r->item[2 * k], *fence = r->item[2 * k + 1];

        if (fence->type != DIBS_NUMBER || !fence->number ||
            (b->wants > 1 && (!name->text || strcmp(name->text, b->wanted[k].name) != 0)))
            return false;
    }
    return true;
}

static void belief_hear_lock(struct belief *b, const struct dibs_reply *r)
{
    assert(b->wanted && !b->granted);
    b->await = AWAIT_NOTHING;
    if (belief_is_grant(b, r)) {
        bool fine = true;

        b->fence = r->item[1]->number;
        b->granted = true; /* belief_clock decides when the program is told */
        for (size_t k = 0; k < b->wants && fine; k++) {
            uint64_t fence = r->item[2 * k + 1]->number;

            b->fence_max = fence > b->fence_max ? fence : b->fence_max;
            fine = belief_add(b, &b->wanted[k], fence);
        }
        if (!fine) {
            belief_end(b, "out of memory");
            b->granted = false;
            b->result = DIBS_NO_MEMORY;
        }
    } else if (r->type == DIBS_NULL) {
        belief_conclude(b, belief_fail(b, DIBS_TIMEOUT, "\"%s\"%s not granted in time", b->wanted[0].name,
                                       b->wants > 1 ? " and others were" : " was"));
    } else if (r->type == DIBS_ERROR) {
        belief_conclude(b, belief_refused(b, r));
    } else {
        belief_end(b, belief_stranger);
    }
}

/* A lock that is upgraded gets its new fence at once: the next message may say that it is lost. */
static void belief_hear_upgrade(struct belief *b, const struct dibs_reply *r)
{
    if (b->call != BELIEF_UPGRADE || r->type != DIBS_LIST || r->count != 2 || r->item[1]->type != DIBS_NUMBER)
        return;
    b->fence = b->about->fence = r->item[1]->number;
    b->fence_max = b->fence > b->fence_max ? b->fence : b->fence_max;
    b->about->mode = DIBS_EXCLUSIVE;
}

/* A reply that is not a push message. */
static void belief_hear_reply(struct belief *b, uint64_t now_ms)
{
    if (b->await == AWAIT_GREETING) {
        belief_hear_greeting(b, b->reply, now_ms);
    } else if (b->await == AWAIT_SESSION) {
        belief_hear_session(b, b->reply, now_ms);
    } else if (b->await == AWAIT_LOCK) {
        belief_hear_lock(b, b->reply);
    } else if (b->await == AWAIT_ANSWER && !b->answer) {
        belief_hear_upgrade(b, b->reply);
        b->answer = b->reply;
        b->reply = NULL;
    } else {
        belief_end(b, belief_stranger);
    }
}

/* Parses the next complete reply into b->reply. Returns false if there is none. */
static bool belief_parse(struct belief *b, bool *push)
{
    long len;

    dibs_free(b->reply);
    b->reply = NULL;
    if (b->gone || b->in.start == b->in.end)
        return false;
    len = reply_parse(b->in.at + b->in.start, b->in.end - b->in.start, &b->reply, push);
    if (len < 0)
        belief_end(b, len == DIBS_NO_MEMORY ? "out of memory" : belief_stranger);
    if (len <= 0)
        return false;
    assert((size_t)len <= b->in.end - b->in.start);
    b->in.start += (size_t)len;
    if (b->in.start == b->in.end)
        b->in.start = b->in.end = 0;
    return true;
}

/* Tells the program of the next lost lock of which it has not been told. */
static bool belief_tell_loss(struct belief *b, struct belief_news *news)
{
    struct conn_lock *lock;

    while ((lock = b->untold)) {
        b->untold = b->untold_all ? held_next(&b->held, lock) : NULL;
        if (!lock->untold)
            continue;
        lock->untold = false;
        *news = (struct belief_news){.type = BELIEF_LOST, .name = lock->name, .fence = lock->fence, .why = b->lost_why};
        return true;
    }
    return false;
}

/* Tells the program that locks are in doubt from now on, or no longer. */
static bool belief_tell_doubt(struct belief *b, struct belief_news *news)
{
    if (b->doubt == b->doubt_told)
        return false;
    b->doubt_told = b->doubt;
    /* While there is a connection, the reason why the last one has ended is an old one, or none. */
    *news = (struct belief_news){.type = BELIEF_DOUBT,
                                 .in_doubt = b->doubt,
                                 .why = b->phase == BELIEF_UP ? "the daemon has not vouched for it in time"
                                                              : b->end_reason};
    return true;
}

bool belief_next(struct belief *b, struct belief_news *news, uint64_t now_ms)
{
    bool push = false;

    for (;;) {
        if (belief_tell_loss(b, news))
            return true;
        if (!belief_parse(b, &push))
            return belief_tell_loss(b, news) || belief_tell_doubt(b, news); /* of a reply that is none */
        if (!push)
            belief_hear_reply(b, now_ms);
        else if (belief_hear_push(b, b->reply, news, now_ms))
            return true;
    }
}
