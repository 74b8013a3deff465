/* command_watch.c - SUBSCRIBE, PSUBSCRIBE, UNSUBSCRIBE and PUNSUBSCRIBE, in the forms that clients of Redis expect.
 *
 * The channel is the name of a lock. A message is a line of words: event, member, client, fence, mode, and the
 * description of the client up to the end: "granted ant 3 1794783362105714 exclusive web1:812 backup.sh". A fence of 0
 * means none. If the claim has a value, a tab and the value follow, as text (lock/value.h). */
#include "command.h"
#include "permit.h"

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

/* A pattern, the name of a lock, or a channel on which Redisson waits for one. */
static struct watch_topic command_topic(bool pattern, struct resp_word word)
{
    struct resp_word name;

    if (!pattern && command_redisson_channel(word, &name))
        return (struct watch_topic){.text = name.at, .len = name.len, .channel = word.at, .channel_len = word.len};
    return (struct watch_topic){.pattern = pattern, .text = word.at, .len = word.len};
}

void command_subscribe(struct client *c, const struct resp_request *r)
{
    bool pattern = resp_is(r->word[0], "PSUBSCRIBE");

    for (size_t k = 1; k < r->count; k++) {
        struct watch_topic topic = command_topic(pattern, r->word[k]);
        unsigned any_of =
            topic.channel ? RIGHT_WATCH | RIGHT_LOCK : RIGHT_WATCH; /* a channel tells only that it is free */
        const char *wrong;

        if (!command_is_name(c, r->word[k]) ||
            (!pattern && !permit(c, any_of, (struct resp_word){topic.text, topic.len})))
            continue;
        if ((wrong = watch_subscribe(c->session, &topic)))
            resp_error(&c->out, "BUSY", wrong);
        else
            command_tell_subscription(c, pattern ? "psubscribe" : "subscribe", r->word[k].at, r->word[k].len);
    }
}

void command_unsubscribe(struct client *c, const struct resp_request *r)
{
    bool pattern = resp_is(r->word[0], "PUNSUBSCRIBE");
    const char *what = pattern ? "punsubscribe" : "unsubscribe";
    const struct subscription *s;

    for (size_t k = 1; k < r->count; k++) {
        struct watch_topic topic = command_topic(pattern, r->word[k]);

        watch_unsubscribe(c->session, &topic);
        command_tell_subscription(c, what, r->word[k].at, r->word[k].len);
    }
    if (r->count > 1)
        return;
    if (!watch_first(c->session, pattern))
        command_tell_subscription(c, what, NULL, 0);
    while ((s = watch_first(c->session, pattern))) {
        char text[LOCK_NAME_MAX + 1];
        const char *channel = watch_channel(s);
        size_t len = channel ? s->channel_len : s->text_len;
        struct watch_topic topic;

        memcpy(text, channel ? channel : s->text, len);
        topic = command_topic(pattern, (struct resp_word){text, len});
        watch_unsubscribe(c->session, &topic);
        command_tell_subscription(c, what, text, len);
    }
}

/* May the client be told of the event? The rules may have changed since it subscribed. What the decision costs is taken from the
 * credit of all events in this turn (I31): a step of a rule takes an eighth of one of the search for subscribers. */
static bool command_may_hear(struct client *c, const struct subscription *s, const struct watch_note *note)
{
    struct watch *w = &c->session->node->admin.watch;
    uint32_t before = c->session->steps;
    bool sees = permit_sees(c, note->name, note->name_len, watch_channel(s));
    uint64_t cost = (uint64_t)(c->session->steps - before) * PERMIT_STEPS / 8;

    w->credit -= cost < w->credit ? cost : w->credit;
    return sees;
}

void command_event(struct client *c, const struct subscription *s, const struct watch_note *note)
{
    char line[512 + VALUE_TEXT_MAX + 1];
    int len;

    if (!command_may_hear(c, s, note))
        return;
    if (watch_channel(s)) { /* Redisson is told only that the lock is free */
        if (note->event != WATCH_RELEASED && note->event != WATCH_LOST)
            return;
        command_news(c, 3);
        resp_text(&c->out, "message");
        resp_string(&c->out, watch_channel(s), s->channel_len);
        resp_text(&c->out, "0");
        return;
    }
    len = snprintf(line, 512, "%s %s %" PRIu64 " %" PRIu64 " %s %s", watch_event_name[note->event], note->member,
                   note->client, note->fence, lock_mode_name[note->mode], note->who);
    if (note->value_len) {
        line[len] = '\t';
        value_show(note->value, note->value_len, line + len + 1);
    }
    command_news(c, s->pattern ? 4 : 3);
    resp_text(&c->out, s->pattern ? "pmessage" : "message");
    if (s->pattern)
        resp_string(&c->out, s->text, s->text_len);
    resp_string(&c->out, note->name, note->name_len);
    resp_text(&c->out, line);
}
