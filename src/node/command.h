/* command.h - what the files with commands share. */
#ifndef DIBS_NODE_COMMAND_H
#define DIBS_NODE_COMMAND_H

#include "client.h"

/* A word as a number, at most max. False: it is none. */
bool command_number(struct resp_word word, uint64_t max, uint64_t *x);
/* Null; or why it cannot be the name of a lock or a group, or a pattern of names. */
const char *command_objects_to(struct resp_word name);
/* The same; if it cannot be, the client is told so. */
bool command_is_name(struct client *c, struct resp_word name);

/* False, and the client is told: this takes an operator, and it is none. */
bool command_may(struct client *c, const char *what);

/* command_query.c */
void command_holders(struct client *c, const struct resp_request *r);
void command_waiters(struct client *c, const struct resp_request *r);
void command_locks(struct client *c, const struct resp_request *r);
void command_force_unlock(struct client *c, const struct resp_request *r);
/* The answer to one of these has come. */
void command_answer(struct client *c, const struct question *q);

/* command_watch.c */
void command_subscribe(struct client *c, const struct resp_request *r);
void command_unsubscribe(struct client *c, const struct resp_request *r);
/* Something has happened to a lock that the client watches. */
void command_event(struct client *c, const struct subscription *s, const struct watch_note *note);

#endif
