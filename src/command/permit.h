/* permit.h - may this client do that? Every command that does something to a lock, or tells of one, asks here first (I34).
 *
 * A refusal is an error NOPERM, which names the right and the rule. It is counted, and told to the audit trail. */
#ifndef DIBS_COMMAND_PERMIT_H
#define DIBS_COMMAND_PERMIT_H

#include "client.h"

/* Has the client one of these rights for this name? If not, it is sent an error. */
bool permit(struct client *c, unsigned any_of, struct resp_word name);
/* The same for `admin`. The error names `what` if there are no rules. */
bool permit_admin(struct client *c, const char *what);
/* The same, but nothing is sent. */
bool permit_allows(const struct client *c, unsigned any_of, const char *name, size_t len);
/* May the client know of this lock; or, with `free`, know that the lock is free? Nothing is sent. */
bool permit_sees(const struct client *c, const char *name, size_t len, bool free);
/* Would requests for `count` more locks exceed a limit of the client? Then it is sent an error. */
bool permit_more(struct client *c, size_t count);
/* Begins an operation with a token on these names (token.h), if the client may. If there are rules, an operation that releases or changes a lock without its
 * token, or that shows the token, needs the right to take locks away from other clients. */
void permit_token(struct client *c, const struct token_wish *wish, const struct resp_word *names, size_t count,
                  bool shows);

/* Is the client an operator? */
bool permit_operates(const struct client *c);

/* The id under which members know a kept session, computed from the id that its client shows. If there are rules, it depends on what the client
 * has proved to be: in the hands of another client, the same secret leads to no session. */
struct keep_id permit_bind(const struct client *c, struct keep_id shown);
/* The id under which members know the session if it began when there were no rules and now there are rules, or the reverse; 0: there is none. A secret
 * of permit_secret ends with zeros (PERMIT_PLAIN). A client that knows the secret of another client's session could compute the id that
 * depends on that other client, and show it as a secret of its own; that fails, since this id does not end with zeros. */
enum { PERMIT_PLAIN = 0xffff };
struct keep_id permit_bind_else(const struct client *c, struct keep_id shown);
/* A new secret to show. */
struct keep_id permit_secret(const struct client *c);

/* AUTH name password; and whether there are logins at all. Returns false after an error. */
bool permit_login(struct client *c, struct resp_word name, struct resp_word password);
bool permit_has_logins(const struct client *c);

/* MAY who right [name]. */
void command_may(struct client *c, const struct resp_request *r);

/* The channel of this client was opened by an agent that has proved `agent`, or (null) nothing. The client gets the rights of the agent, but is never an
 * operator, nor a user of the member's machine. Returns as permit_meet. */
bool permit_relay(struct client *c, const struct rights_who *agent);
/* The driver has learned more about the client: `who`, which belongs to the client from now on. Returns false, and sends the client an error, if the client has too
 * many connections. */
bool permit_meet(struct client *c, struct rights_who *who);
/* The same for a client that has no connection of its own and is not counted as one: a browser has the rights of this client. */
void permit_visit(struct client *c, struct rights_who *who);

#endif
