/* command_watch.c - SUBSCRIBE, PSUBSCRIBE, UNSUBSCRIBE and PUNSUBSCRIBE, in the forms that clients of Redis expect.
 *
 * The channel is the name of a lock. A message is a line of words: event, member, client, fence, mode, and the
 * description of the client up to the end: "granted ant 3 1794783362105714 exclusive web1:812 backup.sh". A fence of 0
 * means none. */
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Begins a push message. Version 2 of the protocol has none: there it is an array, which a subscribed client
 * expects. */
static void command_news(struct client *c, size_t count)
{
    if (c->protocol == 3)
        resp_push(&c->out, count);
    else
        resp_array(&c->out, count);
}

static void command_tell_subscription(struct client *c, const char *what, const char *text, size_t len)
{
    command_news(c, 3);
    resp_text(&c->out, what);
    if (text)
        resp_string(&c->out, text, len);
    else
        resp_null(&c->out, c->protocol);
    resp_integer(&c->out, c->session->subscribed);
}

void command_subscribe(struct client *c, const struct resp_request *r)
{
    bool pattern = resp_is(r->word[0], "PSUBSCRIBE");
    const char *wrong;

    for (size_t k = 1; k < r->count; k++)
        if (!command_is_name(c, r->word[k]))
            continue;
        else if ((wrong = watch_subscribe(c->session, pattern, r->word[k].at, r->word[k].len)))
            resp_error(&c->out, "BUSY", wrong);
        else
            command_tell_subscription(c, pattern ? "psubscribe" : "subscribe", r->word[k].at, r->word[k].len);
}

void command_unsubscribe(struct client *c, const struct resp_request *r)
{
    bool pattern = resp_is(r->word[0], "PUNSUBSCRIBE");
    const char *what = pattern ? "punsubscribe" : "unsubscribe";
    const struct subscription *s;

    for (size_t k = 1; k < r->count; k++) {
        watch_unsubscribe(c->session, pattern, r->word[k].at, r->word[k].len);
        command_tell_subscription(c, what, r->word[k].at, r->word[k].len);
    }
    if (r->count > 1)
        return;
    if (!watch_first(c->session, pattern))
        command_tell_subscription(c, what, NULL, 0);
    while ((s = watch_first(c->session, pattern))) {
        char text[LOCK_NAME_MAX + 1];
        size_t len = s->text_len;

        memcpy(text, s->text, len);
        watch_unsubscribe(c->session, pattern, text, len);
        command_tell_subscription(c, what, text, len);
    }
}

void command_event(struct client *c, const struct subscription *s, const struct watch_note *note)
{
    char line[512];

    snprintf(line, sizeof line, "%s %s %" PRIu64 " %" PRIu64 " %s %s", watch_event_name[note->event], note->member,
             note->client, note->fence, lock_mode_name[note->mode], note->who);
    command_news(c, s->pattern ? 4 : 3);
    resp_text(&c->out, s->pattern ? "pmessage" : "message");
    if (s->pattern)
        resp_string(&c->out, s->text, s->text_len);
    resp_string(&c->out, note->name, note->name_len);
    resp_text(&c->out, line);
}
