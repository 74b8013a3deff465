/* command_session.c - kept sessions, as a client asks for them. See keep.h. */
#include "command.h"
#include "permit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ID_DIGITS = 32 };

static bool command_id(struct resp_word word, struct keep_id *id)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t half[2] = {0, 0};

    for (size_t k = 0; k < ID_DIGITS; k++) {
        const char *at = k < word.len ? memchr(digits, word.at[k], sizeof digits - 1) : NULL;

        if (!at)
            return false;
        half[k / 16] = half[k / 16] << 4 | (uint64_t)(at - digits);
    }
    *id = (struct keep_id){.high = half[0], .low = half[1]};
    return word.len == ID_DIGITS;
}

static void command_keep(struct client *c, struct resp_word word)
{
    const char *code, *why = "KEEP takes milliseconds, from 1000 to 3600000";
    char text[ID_DIGITS + 1];
    struct keep_id shown = permit_secret(c);
    uint64_t ms;

    code = command_number(word, KEEP_MS_MAX, &ms) && ms >= KEEP_MS_MIN
               ? keep_begin(c->session, permit_bind(c, shown), (uint32_t)ms, &why)
               : "ERR";
    if (code) {
        resp_error(&c->out, code, why);
        return;
    }
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, shown.high, shown.low);
    resp_text(&c->out, text);
}

static void command_resume(struct client *c, struct resp_word word)
{
    const char *code, *why = "the id of a session has 32 hexadecimal digits, as SESSION KEEP has told it";
    struct keep_id id;

    code = command_id(word, &id) ? keep_resume(c->session, permit_bind(c, id), permit_bind_else(c, id), &why) : "ERR";
    if (code)
        resp_error(&c->out, code, why);
}

/* SESSION END. A request for a lock that waits is answered, too: behind MEANWHILE the client awaits both answers. */
static void command_end_session(struct client *c)
{
    const struct claim *waiting = c->session->waiting;
    bool waits = waiting || c->many, changes = waiting && waiting->other;

    many_forget(c);
    party_promise(c->session, 0);
    keep_end(c->session);
    resp_simple(&c->out, "OK");
    if (changes)
        resp_error(&c->out, "NOTHELD", "the session has ended, and the lock was released");
    else if (waits)
        resp_null(&c->out, c->protocol);
}

void command_session(struct client *c, const struct resp_request *r)
{
    bool end = resp_is(r->word[1], "END"), detach = resp_is(r->word[1], "DETACH");

    if (session_is_busy(c->session) && !end) {
        resp_error(&c->out, "ERR", "of SESSION, only END may be said while a command waits");
    } else if (resp_is(r->word[1], "KEEP") && r->count == 3) {
        command_keep(c, r->word[2]);
    } else if (resp_is(r->word[1], "RESUME") && r->count == 3) {
        command_resume(c, r->word[2]);
    } else if ((end || detach) && r->count == 2 && !c->session->kept) {
        resp_error(&c->out, "NOSESSION", "this connection has no kept session");
    } else if (end && r->count == 2) {
        command_end_session(c);
    } else if (detach && r->count == 2) {
        resp_simple(&c->out, "OK");
        c->closing = c->goodbye = c->detaches = true;
    } else {
        resp_error(&c->out, "ERR", "usage: SESSION KEEP ms | RESUME id | DETACH | END");
    }
}

/* The next lock, behind `r`, that the session holds, or null. */
static const struct claim *command_next_held(const struct session *s, const struct ring **r)
{
    for (*r = (*r)->next; *r != &s->claims; *r = (*r)->next) {
        const struct claim *claim = RING_OF(*r, struct claim, in_session);

        if (claim->state == CLAIM_HELD && claim != s->waiting)
            return claim;
    }
    return NULL;
}

/* RESUMED, the name and the fence of each lock that the session holds, and an array of their modes: another process may have resumed the
 * session meanwhile, and have changed a mode. A lock that is being downgraded is told as shared: a client has asked for that, and
 * some members may have recorded it. */
static void command_tell_resumed(struct client *c)
{
    const struct session *s = c->session;
    const struct claim *claim;
    size_t count = 0;

    for (const struct ring *r = &s->claims; command_next_held(s, &r);)
        count++;
    resp_array(&c->out, 2 + 2 * count);
    resp_text(&c->out, "RESUMED");
    for (const struct ring *r = &s->claims; (claim = command_next_held(s, &r));) {
        resp_string(&c->out, claim->name, claim->name_len);
        resp_integer(&c->out, claim->fence);
    }
    resp_array(&c->out, count);
    for (const struct ring *r = &s->claims; (claim = command_next_held(s, &r));)
        resp_text(&c->out, lock_mode_name[claim->shares ? LOCK_MODE_SHARED : claim_mode(claim)]);
}

void command_hear_session(struct client *c, const struct node_event *event)
{
    switch (event->keep) {
    case KEEP_RESUMED:
        command_tell_resumed(c);
        break;
    case KEEP_UNKNOWN:
        resp_error(&c->out, "NOSESSION", "no member knows this session: it has ended, or its keep time is over");
        break;
    case KEEP_NO_QUORUM:
        resp_error(&c->out, "NOQUORUM", event->why);
        break;
    default:
        if (c->protocol == 3 && !c->parts) {
            resp_push(&c->out, 2);
            resp_text(&c->out, "session");
            resp_text(&c->out, "cut off: it was resumed by another connection, or has to be resumed at another member");
        }
        c->parts = true;
        /* Version 2 of the protocol has no news: the end of the connection tells it. */
        c->closing |= event->keep == KEEP_CUT || c->protocol == 2;
    }
}
