/* conn.c - see conn.h. */
#include "conn.h"

#include "reply.h"
#include "secure.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* As the daemon's, it goes on while the machine sleeps: what was vouched for before may be over. */
uint64_t conn_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int conn_fail(struct dibs *d, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(d->message, sizeof d->message, format, args);
    va_end(args);
    return code;
}

int conn_refused(struct dibs *d, const struct dibs_reply *error)
{
    static const struct {
        const char *word;
        int code;
    } known[] = {{"NOTHELD ", DIBS_NOT_HELD},
                 {"WRONGKIND ", DIBS_WRONG_KIND},
                 {"NOQUORUM ", DIBS_NO_QUORUM},
                 {"LOST ", DIBS_LOST}};
    const char *space = strchr(error->text, ' ');

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strncmp(error->text, known[k].word, strlen(known[k].word)) == 0)
            return conn_fail(d, known[k].code, "%s", space + 1);
    return conn_fail(d, DIBS_REFUSED, "%s", space ? space + 1 : error->text);
}

/* ------------------------------------------------------------------------------------------------------------- locks */

static void conn_lose(struct dibs *d, struct conn_lock *lock, const char *why)
{
    if (lock->lost)
        return;
    held_lose(&d->held, lock);
    if (d->granted && d->wanted && strcmp(d->wanted, lock->name) == 0) { /* it was never said to be held */
        d->granted = false;
        d->result = conn_fail(d, DIBS_LOST, "\"%s\" was lost at once: %s", lock->name, why);
    } else if (d->on_lost) {
        d->on_lost(d->user, lock->name, lock->fence, why);
    }
}

static void conn_lose_all(struct dibs *d, const char *why)
{
    for (struct conn_lock *lock = held_next(&d->held, NULL); lock; lock = held_next(&d->held, lock))
        conn_lose(d, lock, why);
}

static bool conn_holds(const struct dibs *d)
{
    return d->held.count > d->held.lost;
}

void conn_end(struct dibs *d, const char *why)
{
    if (d->fd < 0)
        return;
    close(d->fd);
    d->fd = -1;
    conn_fail(d, DIBS_GONE, "%s", why);
    conn_lose_all(d, why);
    if (d->result == DIBS_WAITING)
        d->result = DIBS_GONE;
    d->granted = false;
}

/* ----------------------------------------------------------------------------------------------------------- sending */

static char *conn_room(struct conn_bytes *b, size_t len)
{
    if (b->room - b->end < len && b->start) {
        memmove(b->at, b->at + b->start, b->end - b->start);
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < len) {
        size_t room = 2 * b->room + len;
        char *more = realloc(b->at, room);

        if (!more)
            return NULL;
        b->at = more;
        b->room = room;
    }
    return b->at + b->end;
}

static void conn_put(struct dibs *d, const char *text, size_t len)
{
    char *at = conn_room(&d->out, len);

    if (at)
        memcpy(at, text, len);
    else
        d->short_of_memory = true;
    d->out.end += at ? len : 0;
}

static void conn_put_head(struct dibs *d, char type, size_t count)
{
    char line[32];

    conn_put(d, line, (size_t)snprintf(line, sizeof line, "%c%zu\r\n", type, count));
}

static void conn_put_word(struct dibs *d, const char *word)
{
    conn_put_head(d, '$', strlen(word));
    conn_put(d, word, strlen(word));
    conn_put(d, "\r\n", 2);
}

void conn_say(struct dibs *d, const char *const *words, size_t count)
{
    conn_put_head(d, '*', count);
    for (size_t k = 0; k < count; k++)
        conn_put_word(d, words[k]);
}

void conn_say_aside(struct dibs *d, int type, const char *const *words, size_t count)
{
    if (d->asides == d->aside_room) {
        size_t room = 2 * d->aside_room + 8;
        struct conn_aside *more = realloc(d->aside, room * sizeof *more);

        if (!more) {
            d->short_of_memory = true;
            return;
        }
        d->aside = more;
        d->aside_room = room;
    }
    d->aside[d->asides].type = type;
    d->aside[d->asides].name = type == ASIDE_RENEW ? strdup(words[1]) : NULL;
    d->short_of_memory |= type == ASIDE_RENEW && !d->aside[d->asides].name;
    d->asides++;
    conn_put_head(d, '*', count + 1);
    conn_put_word(d, "MEANWHILE");
    for (size_t k = 0; k < count; k++)
        conn_put_word(d, words[k]);
}

void conn_ask_confirm(struct dibs *d)
{
    const char *words[] = {"CONFIRM"};

    if (d->asked_ms)
        return;
    d->asked_ms = conn_now_ms();
    conn_say_aside(d, ASIDE_CONFIRM, words, 1);
}

static ssize_t conn_send(struct dibs *d)
{
    const char *bytes = d->out.at + d->out.start;
    size_t len = d->out.end - d->out.start;

    return d->secure ? secure_send(d->secure, d->fd, bytes, len) : send(d->fd, bytes, len, MSG_NOSIGNAL);
}

static void conn_flush(struct dibs *d)
{
    while (d->fd >= 0 && (d->out.start < d->out.end || (d->secure && secure_has_more(d->secure)))) {
        ssize_t sent = conn_send(d);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) /* what it has said before it ended may still be read */
            d->out.start = d->out.end;
        else
            d->out.start += (size_t)sent;
    }
    if (d->out.start == d->out.end)
        d->out.start = d->out.end = 0;
}

/* ----------------------------------------------------------------------------------------------------------- hearing */

static const char conn_stranger[] = "this is not a daemon of dibs, or not one of this version";

static void conn_hear_confirm(struct dibs *d, const struct dibs_reply *r)
{
    bool vouches = r->type == DIBS_NUMBER && r->number;

    d->vouched_ms = vouches ? d->asked_ms + r->number : 0;
    d->confirm_ms = d->asked_ms + (vouches ? r->number / 3 : CONN_AGAIN_MS);
    d->asked_ms = 0;
    d->in_doubt = false;
    d->confirmed = true;
    if (r->type == DIBS_ERROR && strncmp(r->text, "ERR ", 4) != 0)
        conn_lose_all(d, r->text);
    else if (r->type != DIBS_NUMBER)
        conn_end(d, conn_stranger);
}

static void conn_hear_aside(struct dibs *d, const struct dibs_reply *r)
{
    struct conn_aside aside;
    struct conn_lock *lock;

    if (d->asides == 0) {
        conn_end(d, conn_stranger);
        return;
    }
    aside = d->aside[0];
    memmove(d->aside, d->aside + 1, --d->asides * sizeof *d->aside);
    if (aside.type == ASIDE_CONFIRM)
        conn_hear_confirm(d, r);
    if (aside.type == ASIDE_RENEW && r->type == DIBS_ERROR && (lock = held_find(&d->held, aside.name)))
        conn_lose(d, lock, r->text);
    free(aside.name);
}

/* "granted ant 3 17 exclusive web1:812 backup.sh", of this lock. */
static void conn_hear_event(struct dibs *d, const char *lock, char *line)
{
    char *word[5] = {NULL}, *rest = line;
    struct dibs_event e = {.lock = lock};

    for (unsigned k = 0; k < 5 && rest; k++)
        word[k] = strsep(&rest, " ");
    if (!rest || !d->on_event)
        return;
    e.event = word[0];
    e.member = word[1];
    e.client = strtoull(word[2], NULL, 10);
    e.fence = strtoull(word[3], NULL, 10);
    e.mode = word[4];
    e.who = rest;
    d->on_event(d->event_user, &e);
}

static void conn_hear_news(struct dibs *d, const struct dibs_reply *r)
{
    const char *what = r->count ? r->item[0]->text : NULL;
    struct conn_lock *lock;

    if (!what)
        return;
    if (strcmp(what, "meanwhile") == 0 && r->count == 2)
        conn_hear_aside(d, r->item[1]);
    else if (strcmp(what, "psubscribe") == 0)
        d->subscribed++;
    else if (strcmp(what, "pmessage") == 0 && r->count == 4 && r->item[2]->text && r->item[3]->text)
        conn_hear_event(d, r->item[2]->text, r->item[3]->text);
    else if (strcmp(what, "lost") == 0 && r->count >= 3 && r->item[1]->text &&
             (lock = held_find(&d->held, r->item[1]->text)) && lock->fence == r->item[2]->number)
        conn_lose(d, lock, r->count > 3 && r->item[3]->text ? r->item[3]->text : "it was taken away");
}

static void conn_hear_grant(struct dibs *d, uint64_t fence)
{
    if (!held_add(&d->held, d->wanted, fence)) {
        conn_end(d, "out of memory");
        d->result = DIBS_NO_MEMORY;
        return;
    }
    d->fence = fence;
    d->granted = true; /* as a result it will be told when it is vouched for */
    if (conn_now_ms() >= d->vouched_ms) {
        d->in_doubt = true;
        conn_ask_confirm(d);
    }
}

static void conn_hear_lock(struct dibs *d, const struct dibs_reply *r)
{
    d->await = AWAIT_NOTHING;
    if (r->type == DIBS_LIST && r->count == 2)
        conn_hear_grant(d, r->item[1]->number);
    else if (r->type == DIBS_NULL)
        d->result = conn_fail(d, DIBS_TIMEOUT, "\"%s\" was not to be had in time", d->wanted);
    else if (r->type == DIBS_ERROR)
        d->result = conn_refused(d, r);
    else
        conn_end(d, conn_stranger);
}

/* Takes over the reply. */
static void conn_hear(struct dibs *d, struct dibs_reply *r, bool news)
{
    if (news) {
        conn_hear_news(d, r);
    } else if (d->await == AWAIT_LOCK) {
        conn_hear_lock(d, r);
    } else if (d->await == AWAIT_ANSWER && !d->answer) {
        d->answer = r;
        return;
    } else {
        conn_end(d, conn_stranger);
    }
    dibs_free(r);
}

static void conn_hear_all(struct dibs *d)
{
    while (d->fd >= 0 && d->in.start < d->in.end) {
        struct dibs_reply *r;
        bool news;
        long len = reply_parse(d->in.at + d->in.start, d->in.end - d->in.start, &r, &news);

        if (len == 0)
            return;
        if (len < 0) {
            conn_end(d, len == DIBS_NO_MEMORY ? "out of memory" : conn_stranger);
            return;
        }
        d->in.start += (size_t)len;
        if (d->in.start == d->in.end)
            d->in.start = d->in.end = 0;
        conn_hear(d, r, news);
    }
}

static ssize_t conn_recv(struct dibs *d, char *bytes, size_t room)
{
    return d->secure ? secure_recv(d->secure, d->fd, bytes, room) : recv(d->fd, bytes, room, 0);
}

static void conn_broke(struct dibs *d)
{
    char line[300];

    snprintf(line, sizeof line, "the connection to the daemon has broken: %s", strerror(errno));
    if (d->secure && *secure_why(d->secure))
        snprintf(line, sizeof line, "the daemon %s", secure_why(d->secure));
    conn_end(d, line);
}

static void conn_read(struct dibs *d)
{
    bool more = true;

    while (d->fd >= 0 && more) {
        char *at = conn_room(&d->in, 4096);
        size_t room = d->in.room - d->in.end;
        ssize_t got = at ? conn_recv(d, at, room) : -1;

        more = got == (ssize_t)room;

        if (!at)
            conn_end(d, "out of memory");
        else if (got == 0)
            conn_end(d, d->confirmed || d->secure
                            ? "the daemon has ended the connection"
                            : "the daemon has ended the connection at once, perhaps for want of a key");
        else if (got > 0)
            d->in.end += (size_t)got;
        else if (errno == EINTR)
            more = true;
        else if (errno != EAGAIN && errno != EWOULDBLOCK)
            conn_broke(d);
        conn_hear_all(d);
    }
}

/* -------------------------------------------------------------------------------------------------------------- time */

static bool conn_is_active(const struct dibs *d)
{
    return conn_holds(d) || (d->wanted && d->result == DIBS_WAITING);
}

/* Until then its locks are held, as far as is known; and a little longer if it has just been asked, as long as answers
 * may take. */
static uint64_t conn_believes_to_ms(const struct dibs *d)
{
    return d->in_doubt ? d->asked_ms + CONN_ANSWER_MS : d->vouched_ms;
}

/* What the clock makes true, now that all has been heard that there is to hear. */
static void conn_look_at_clock(struct dibs *d)
{
    uint64_t now = conn_now_ms();

    if (d->granted && now < d->vouched_ms) {
        d->granted = false;
        d->result = DIBS_OK;
    }
    if (conn_holds(d) && now >= conn_believes_to_ms(d))
        conn_end(d, "the daemon does not vouch for its locks any more");
    if (d->fd >= 0 && conn_is_active(d) && now >= d->confirm_ms)
        conn_ask_confirm(d);
}

int conn_process(struct dibs *d)
{
    conn_flush(d);
    conn_read(d);
    if (d->fd >= 0)
        conn_look_at_clock(d);
    if (d->short_of_memory)
        conn_end(d, "out of memory");
    conn_flush(d);
    return d->fd >= 0 ? DIBS_OK : DIBS_GONE;
}

int conn_timeout_ms(const struct dibs *d)
{
    uint64_t now = conn_now_ms(), due = UINT64_MAX;

    if (d->fd < 0)
        return -1;
    if (conn_is_active(d) && !d->asked_ms)
        due = d->confirm_ms;
    if (conn_holds(d) && due > conn_believes_to_ms(d))
        due = conn_believes_to_ms(d);
    return due == UINT64_MAX ? -1 : due <= now ? 0 : due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

int conn_wait(struct dibs *d, bool (*done)(const struct dibs *d), uint64_t patience_ms)
{
    struct spin *spin = &d->spin[d->await];
    uint64_t begin = conn_now_ms(), spent;

    spin_begin(spin);
    for (conn_flush(d); d->fd >= 0 && !done(d); conn_process(d)) {
        struct pollfd polled = {.fd = d->fd, .events = dibs_events(d)};
        int timeout;

        if (spin_on(spin))
            continue;
        timeout = conn_timeout_ms(d);
        spent = conn_now_ms() - begin;
        if (spent >= patience_ms) {
            conn_end(d, "the daemon does not answer");
            break;
        }
        if (timeout < 0 || (uint64_t)timeout > patience_ms - spent)
            timeout = patience_ms - spent > INT_MAX ? -1 : (int)(patience_ms - spent);
        poll(&polled, 1, timeout);
    }
    spin_end(spin);
    return done(d) ? DIBS_OK : DIBS_GONE;
}
