/* watch.h - events of locks, for the clients that have subscribed to them.
 *
 * A client subscribes to names or to patterns of names. It receives the events of all members' clients: a member with
 * subscribers announces their subscriptions to the other members, again and again (INTEREST), and these send it the
 * events that match. A member forgets an announcement that it has not received again for a while.
 *
 * Subscriptions to a name are found by the name, those to a pattern by the pattern's prefix: the bytes with which all
 * its names begin. So subscriptions to other names cost an event nothing. Events wait in a queue until all their
 * subscribers have been told. The work for that in one turn is bounded (`credit`).
 *
 * No lock waits for a subscriber. A subscriber that does not read its events in time is disconnected (command/client.h). Events
 * that come faster than a connection between members takes them are dropped. */
#ifndef DIBS_NODE_WATCH_H
#define DIBS_NODE_WATCH_H

#include "base/bytes.h"
#include "lock/lock.h"

enum watch_event { WATCH_WAITING, WATCH_GRANTED, WATCH_RELEASED, WATCH_LOST, WATCH_EVENTS };
extern const char *const watch_event_name[];

enum {
    WATCH_PER_SESSION_MAX = 256, /* subscriptions */
    WATCH_MAX = 1 << 18,         /* subscriptions of all sessions */
    WATCH_NOTES_MAX = 1 << 14,   /* events in the queue */
    WATCH_VALUES_MAX = 1 << 22,  /* bytes of the values of these */
    WATCH_TURN = 1 << 17,        /* steps of the search for subscribers in one turn: about a millisecond */
};

struct node;
struct node_event;
struct session;
struct unpack;

/* An event of a lock. Texts end with a zero byte. */
struct watch_note {
    struct ring in_watch;
    enum watch_event event;
    uint64_t client, fence; /* fence 0: none yet */
    uint8_t mode;           /* see lock_mode_name */
    uint8_t name_len;
    char member[64], who[96], name[LOCK_NAME_MAX + 1];
    uint16_t value_len;
    const char *value; /* of the claim (lock/value.h) */
};

struct subscription {
    struct ring in_watch, in_session, in_all;
    struct session *session;
    bool pattern;
    uint8_t prefix;   /* pattern: the length of its prefix */
    uint8_t text_len; /* without the zero byte after it */
    uint8_t channel_len;
    char text
        []; /* and behind its zero byte the channel on which the client is told, if that is not the name (channel_len) */
};

struct watch {
    /* WATCH_TABLE rings of subscriptions, by the hash of name or prefix; null: there were none yet. */
    struct ring *table;
    struct ring all;        /* subscriptions */
    uint32_t prefixes[256]; /* how many patterns have a prefix of this length */
    struct ring notes;
    /* How far the search for the subscribers of the first note has come. Stage 0: subscriptions to its name; stage k +
     * 1: patterns with a prefix of length k. `next` is the subscription to look at next; null: the first. */
    unsigned stage;
    struct ring *next;
    uint64_t credit; /* steps that may still be made in this turn (step/step.h) */
    uint32_t count, note_count;
    size_t values;    /* bytes of the values of the notes */
    bool changed;     /* subscriptions have changed since the last announcement */
    uint64_t tell_ms; /* when the subscriptions are announced again, at the latest */
    uint64_t heed_ms; /* until then the subscriptions of some other member count */
};

void watch_init(struct watch *w);
void watch_free(struct watch *w);

/* Adds an event of claim `c`, of a client of this member. */
void watch_tell(struct node *node, enum watch_event event, const struct claim *c);

/* What a client subscribes to: a name or a pattern, and the channel on which it is told, if that is another text. */
struct watch_topic {
    bool pattern;
    const char *text, *channel; /* channel: or null */
    size_t len, channel_len;
};

/* Subscribes. Returns null, or why not. A second subscription to the same topic has no effect. */
const char *watch_subscribe(struct session *s, const struct watch_topic *topic);
/* The session's first subscription to a pattern, or to a name; or null. */
struct subscription *watch_first(const struct session *s, bool pattern);
void watch_unsubscribe(struct session *s, const struct watch_topic *topic);
/* The channel of the subscription, or null if it has none but its text. */
static inline const char *watch_channel(const struct subscription *s)
{
    return s->channel_len ? s->text + s->text_len + 1 : NULL;
}
void watch_end(struct session *s); /* all of them */

/* For admin.c. */
const char *watch_hear_interest(struct node *node, uint32_t from, struct unpack *u);
const char *watch_hear_event(struct node *node, uint32_t from, struct unpack *u);
void watch_advance(struct node *node);
uint64_t watch_due_ms(const struct node *node);
bool watch_next(struct node *node, struct node_event *event);

#endif
