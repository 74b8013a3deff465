/* watch.h - what happens to locks, told to clients that want to know.
 *
 * A client subscribes to names or to patterns of names. Events of all members' clients are told: a member with
 * subscribers says so to the others, again and again (INTEREST), and they tell it the events that match. They forget it
 * when they have not heard it for a while.
 *
 * Subscriptions are found by name: those to a name by the name itself, those to a pattern by the bytes that all its names
 * begin with. So an event costs what it concerns, and subscriptions to other names cost it nothing. Events wait in line
 * until all who want to know have been told; what that costs in one turn of the driver is bounded (credit).
 *
 * Nobody waits for a subscriber. What it does not read in time is its loss (see client.h), and events that come faster
 * than a connection between members takes them are left out. */
#ifndef DIBS_NODE_WATCH_H
#define DIBS_NODE_WATCH_H

#include "base/bytes.h"
#include "lock/lock.h"

enum watch_event { WATCH_WAITING, WATCH_GRANTED, WATCH_RELEASED, WATCH_LOST, WATCH_EVENTS };
extern const char *const watch_event_name[];

enum {
    WATCH_PER_SESSION_MAX = 256, /* subscriptions */
    WATCH_MAX = 1 << 18,         /* subscriptions of all sessions */
    WATCH_NOTES_MAX = 1 << 14,   /* events that are not told yet */
    WATCH_TURN = 1 << 17,        /* steps to find those who want to know: about a millisecond */
};

struct node;
struct node_event;
struct session;
struct unpack;

/* What has happened. Texts end with a zero byte. */
struct watch_note {
    struct ring in_watch;
    enum watch_event event;
    uint64_t client, fence; /* fence 0: none yet */
    uint8_t mode;           /* see lock_mode_name */
    uint8_t name_len;
    char member[64], who[96], name[LOCK_NAME_MAX + 1];
};

struct subscription {
    struct ring in_watch, in_session, in_all;
    struct session *session;
    bool pattern;
    uint8_t prefix;   /* pattern: the length of what all its names begin with */
    uint8_t text_len; /* and a zero byte behind it */
    char text[];
};

struct watch {
    struct ring
        *table;      /* WATCH_TABLE rings of subscriptions, by the hash of name or prefix; null: there were none yet */
    struct ring all; /* subscriptions */
    uint32_t prefixes[256]; /* how many patterns have a prefix of this length */
    struct ring notes;
    /* How far the first note has been told: to those of its name, or to patterns with a prefix of a length; and among
     * them, the subscription to look at next; null: the first. */
    unsigned stage;
    struct ring *next;
    uint64_t credit; /* steps that may still be made in this turn (step.h) */
    uint32_t count, note_count;
    bool changed;     /* since the others were told */
    uint64_t tell_ms; /* when the others are told again, at the latest */
    uint64_t heed_ms; /* until then somebody else has subscribers */
};

void watch_init(struct watch *w);
void watch_free(struct watch *w);

/* This has happened to a claim of a client of this member. */
void watch_tell(struct node *node, enum watch_event event, const struct claim *c);

/* Null; or why not. To subscribe twice is to subscribe once. */
const char *watch_subscribe(struct session *s, bool pattern, const char *text, size_t len);
/* The first of this sort, or null; and it is no more. */
struct subscription *watch_first(const struct session *s, bool pattern);
void watch_unsubscribe(struct session *s, bool pattern, const char *text, size_t len);
void watch_end(struct session *s); /* all of them */

/* For talk.c. */
const char *watch_hear_interest(struct node *node, uint32_t from, struct unpack *u);
const char *watch_hear_event(struct node *node, uint32_t from, struct unpack *u);
void watch_advance(struct node *node);
uint64_t watch_due_ms(const struct node *node);
bool watch_next(struct node *node, struct node_event *event);
/* There are events that have not been told to all, for want of credit. */
bool watch_has_more(const struct node *node);

#endif
