/* command.h - what the files of commands (command*.c) share. */
#ifndef DIBS_COMMAND_COMMAND_H
#define DIBS_COMMAND_COMMAND_H

#include "client.h"

enum { COMMAND_MS_MAX = 1000000000 /* eleven days */ };

/* Reads a word as a number, at most `max`. Returns false if it is not such a number. */
bool command_number(struct resp_word word, uint64_t max, uint64_t *x);
/* Returns null, or why the word cannot be the name of a lock or a group, or a pattern of names. */
const char *command_objects_to(struct resp_word name);
/* Sends the client an error and returns false if the word cannot be a name. */
bool command_is_name(struct client *c, struct resp_word name);
/* Sends the error LOST, with the reason. */
void command_tell_loss(struct client *c, const struct client_loss *loss);

/* Parses the optional fence after the name, if the request has `words` words. Without it the fence is 0, which means any fence. Sends the client an
 * error and returns false if the word is not a fence. */
bool command_fence(struct client *c, const struct resp_request *r, size_t words, uint64_t *fence);
/* Sends the error for a lock that the client does not hold: it has lost the lock, if that is known, or has never held
 * it. */
void command_not_held(struct client *c, struct resp_word name, uint64_t fence);

/* command_convert.c */
void command_upgrade(struct client *c, const struct resp_request *r);
void command_downgrade(struct client *c, const struct resp_request *r);

/* command_lock.c */
void command_lock(struct client *c, const struct resp_request *r);
void command_cancel(struct client *c, const struct resp_request *r);
/* The client requests several locks (c->many), and its session does not wait: requests the next one, or tells the client the result. */
void many_go_on(struct client *c);
/* For each event of a claim while c->many is not null. Returns true if the client is not to be told of the event. */
bool many_hear(struct client *c, const struct node_event *event);
void many_forget(struct client *c);
/* The client gives a lock up, or ends its session, while it waits for several locks. */
void many_disturb(struct client *c);

/* command_query.c */
void command_holders(struct client *c, const struct resp_request *r);
void command_waiters(struct client *c, const struct resp_request *r);
void command_replay(struct client *c, const struct resp_request *r);
void command_locks(struct client *c, const struct resp_request *r);
void command_force_unlock(struct client *c, const struct resp_request *r);
/* Sends the client the answer to one of these commands. */
void command_answer(struct client *c, const struct query *q);

/* command_config.c */
void command_config(struct client *c, const struct resp_request *r);

/* command_session.c */
void command_session(struct client *c, const struct resp_request *r);
/* Tells the client about its kept session. */
void command_hear_session(struct client *c, const struct node_event *event);

/* command_token.c: how an operation with a token is answered */
enum { COMMAND_TOKEN_LOCK, COMMAND_TOKEN_UNLOCK };
/* If this LOCK, UNLOCK or RENEW is about a token, executes it and returns true. */
bool command_with_token(struct client *c, const struct resp_request *r);
/* Sends the client the answer to an operation with a token. */
void command_answer_token(struct client *c, const struct token_op *op);

/* command_redis.c: what Redis lock libraries say */
void command_set(struct client *c, const struct resp_request *r);
void command_setnx(struct client *c, const struct resp_request *r);
void command_get(struct client *c, const struct resp_request *r);
void command_del(struct client *c, const struct resp_request *r);
void command_exists(struct client *c, const struct resp_request *r);
void command_ttl(struct client *c, const struct resp_request *r);
void command_expire(struct client *c, const struct resp_request *r);
void command_eval(struct client *c, const struct resp_request *r);
void command_script(struct client *c, const struct resp_request *r);
void command_select(struct client *c, const struct resp_request *r);
void command_echo(struct client *c, const struct resp_request *r);
void command_auth(struct client *c, const struct resp_request *r);
void command_wait(struct client *c, const struct resp_request *r);
void command_answer_redis(struct client *c, const struct token_op *op);
/* Sends the client an error and returns false if these are not names, or too many. */
bool command_are_names(struct client *c, const struct resp_word *names, size_t count);

/* command_redisson.c. Styles of answers (struct token_wish) from COMMAND_REDISSON on are those of its scripts and commands. */
enum { COMMAND_REDISSON = 100, COMMAND_REDISSON_HGET = 200, COMMAND_REDISSON_HEXISTS };
struct redis_script { /* the words of EVAL behind the script */
    const struct resp_word *key, *arg;
    size_t keys, args;
};
void command_redisson(struct client *c, enum script_means means, const struct redis_script *r);
void command_hash(struct client *c, const struct resp_request *r);
void command_answer_redisson(struct client *c, const struct token_op *op);
/* Is this a channel on which Redisson waits for a lock? Then *name becomes the lock's name. */
bool command_redisson_channel(struct resp_word channel, struct resp_word *name);

/* command_watch.c */
void command_subscribe(struct client *c, const struct resp_request *r);
void command_unsubscribe(struct client *c, const struct resp_request *r);
/* Sends the client an event of a lock that it has subscribed to. */
void command_event(struct client *c, const struct subscription *s, const struct watch_note *note);

#endif
