/* client.h - a client's connection without I/O: bytes in, commands executed on a session, bytes out.
 *
 * Commands are answered in order. A command that waits (LOCK) delays the commands after it, whose bytes stay in the
 * buffer. The exception is MEANWHILE, which is executed at once and answered by a push message (version 3 of the
 * protocol only). The driver goes on reading meanwhile, since it would not notice the end of the client otherwise. A
 * client that sends more than CLIENT_INPUT_MAX bytes after a command that waits is disconnected. While a client does
 * not read its answers, the driver reads nothing from it (client_is_full). A client that has subscribed to events and
 * leaves more than CLIENT_NEWS_MAX bytes of them unread is disconnected.
 *
 * Clients are served in turn, and each of them has a credit for its turn (step/step.h). Every command costs some of it, and when it
 * is used up the rest waits for the client's next turn (client_has_more).
 *
 * Losses. In version 3 of the protocol a push message tells a client at once that it has lost a lock. Version 2 has no
 * push messages: the loss is kept until the client asks. Until the client sends UNLOCK for that lock, or requests the
 * lock again, a CONFIRM of all its locks is refused, with an error that names the lock. LOCK REENTRANT does not show that the client
 * knows of the loss: it is answered with that error, once. */
#ifndef DIBS_COMMAND_CLIENT_H
#define DIBS_COMMAND_CLIENT_H

#include "node/session.h"
#include "protocol/resp.h"
#include "rights/rights.h"

enum { CLIENT_INPUT_MAX = 1 << 20, CLIENT_OUTPUT_MAX = 1 << 18, CLIENT_NEWS_MAX = 1 << 20, CLIENT_LOSSES_MAX = 256 };
/* The credit of a client for one turn, in commands. A command with COMMAND_LOOKS counts as 16, and one with many words for more
 * than one. CLIENTS_TURN is the credit of all clients together for one event, since an event may let many clients go on. */
enum { CLIENT_TURN = 256, CLIENTS_TURN = 4 * CLIENT_TURN };
enum {
    CLIENT_FEW = 32,
    CLIENT_LEAST = 8
};                          /* up to CLIENT_FEW hungry clients get all of it; each of more gets CLIENT_LEAST at least */
enum { CLIENT_STEPS = 64 }; /* looking at this many claims costs a command one credit more */
enum { CLIENT_MUCH = 16 };  /* a client that uses this much credit is greedy */

enum { PERMIT_STEPS = 16 };      /* this many steps of a decision by the rules count as looking at one claim */
enum { PERMIT_LOGIN_COST = 64 }; /* the credit that a login costs: a password takes about a millisecond */

enum { CLIENT_WHY_MAX = LOSS_BY_MAX + 96 };
enum { CLIENT_MANY_MAX = 32 }; /* locks that one command may request */

/* A loss of which a client without push messages has not been told. */
struct client_loss {
    struct ring in_client;
    uint64_t fence;
    enum loss why;
    char by[LOSS_BY_MAX + 1]; /* LOSS_FORCED: the operator, or "" */
    uint8_t name_len;
    char name[];
};

struct client {
    struct session *session;
    struct ring in_node;         /* all clients of the node */
    struct ring in_news;         /* there may be an output for it (step/step.h) */
    struct ring in_hungry;       /* its credit was used up, and it has more commands: it goes on in a later turn */
    enum client_urgency urgency; /* of what it is to be told, while it is among in_news; else CLIENT_ANSWERED */
    bool blocked;                /* its connection takes no more bytes for now */
    struct bytes in, out;
    unsigned protocol;        /* 2 or 3 */
    unsigned credit;          /* for what it may still do in this turn */
    unsigned given;           /* its credit when it last sent something */
    bool greedy;              /* it has used CLIENT_MUCH of that since, or commands of it have to wait */
    struct client_many *many; /* several locks that it requests at once (command_lock.c); or null */
    struct ring losses;
    unsigned loss_count;
    bool losses_forgotten; /* there were more losses than are kept here */
    bool closing;          /* the connection ends when the bytes in `out` have been sent */
    bool goodbye;          /* closing at the client's request: it has sent QUIT */
    bool detaches;         /* goodbye, but its kept session stays */
    bool parts;            /* its session has been taken from it: its commands are ignored, and only its end counts */
    bool cut;              /* the client does not read: close at once, whatever is in `out` */
    bool may_relay;        /* set by the driver, if it can relay: AGENT is allowed */
    bool relays;           /* it is an agent: from now on frames come, which the driver handles (relay/mux.h) */
    char *agent;           /* the name of the agent through which the client comes; or null */
    uint64_t agent_ms;     /* since when this agent has been connected */
};

enum command_when {
    COMMAND_MEANWHILE = 1,  /* allowed after MEANWHILE, while a LOCK waits */
    COMMAND_SUBSCRIBED = 2, /* allowed from a client that has subscribed, in version 2 of the protocol */
    COMMAND_COSTS = 4,      /* needs memory that is kept; refused when memory is short */
    COMMAND_LOOKS = 8       /* looks at more than one lock, and counts as 16 commands */
};

/* A command of clients. The table ends with a null name. */
struct command {
    const char *name;
    size_t least, most; /* words, its name included */
    void (*run)(struct client *c, const struct resp_request *r);
    const char *usage;
    unsigned when; /* enum command_when, together */
};
extern const struct command commands[];

/* There is a connection. The driver then sets what it knows of the client: session->remote, session->from, session->operates. */
struct client *client_open(struct node *node, void *user);
/* For src/step, as session_close and session_break: the client has said goodbye, or it may not know that the
 * connection is gone. */
void client_close(struct client *c);
void client_break(struct client *c);
/* The `user` that was given to client_open. */
static inline void *client_user(const struct client *c)
{
    return c->session->user;
}

/* The command of this name, or the entry that ends the table. */
const struct command *command_find(struct resp_word name);
/* Executes a command, or answers with an error. */
void client_execute(struct client *c, const struct resp_request *r);

void client_input(struct client *c, const uint8_t *bytes, size_t len);
static inline bool client_is_full(const struct client *c)
{
    return bytes_len(&c->out) >= CLIENT_OUTPUT_MAX;
}
/* Are there commands that only wait for credit? */
bool client_has_more(const struct client *c);
/* The number of bytes in its buffers. Frees large buffers that are empty. */
size_t client_memory(struct client *c);
/* Executes the commands that have arrived, as far as possible. To be called after input, after output, and after
 * events. */
void client_run(struct client *c);
/* The loss of this lock that is kept here, if `fence` is 0 or its fence; or null. */
struct client_loss *client_loss(const struct client *c, const char *name, size_t name_len, uint64_t fence);
/* Writes why a lock was lost, for people. */
void client_tell_why(enum loss why, const char *by, char text[CLIENT_WHY_MAX]);
/* The client knows of the loss now. `loss` may be null. */
void client_forget_loss(struct client *c, struct client_loss *loss);
/* Sends the client an event of its session, in the client's version of the protocol. */
void client_hear(struct client *c, const struct node_event *event);

#endif
