/* client.h - a client's connection without I/O: bytes in, commands executed on a session, bytes out.
 *
 * Commands are answered in order. One that waits (LOCK) holds up those behind it, whose bytes stay in the buffer; but
 * for MEANWHILE, which is done at once, and answered by news that say so (version 3 of the protocol only). A
 * driver goes on reading meanwhile, or it would not notice that the client has died; a client that sends more than
 * CLIENT_INPUT_MAX behind a command that waits is cut off. One that does not read its answers is not read from, either
 * (client_is_full), until it does; and one that has subscribed to events and lets more than CLIENT_NEWS_MAX bytes pile up is
 * cut off.
 *
 * Clients are served in turn, and each of them has a credit for its turn (step.h). Every command costs some of it, and when it
 * is used up the rest waits for the client's next turn (client_has_more).
 *
 * Losses. In version 3 of the protocol a client is told at once, by news, that it has lost a lock. Version 2 has no news: the
 * loss is kept until the client asks. Until it has said UNLOCK for that lock, or asks for it anew, a CONFIRM for all its
 * locks is refused, with an error that names the lock. */
#ifndef DIBS_NODE_CLIENT_H
#define DIBS_NODE_CLIENT_H

#include "protocol/resp.h"
#include "session.h"

enum { CLIENT_INPUT_MAX = 1 << 20, CLIENT_OUTPUT_MAX = 1 << 18, CLIENT_NEWS_MAX = 1 << 20, CLIENT_LOSSES_MAX = 256 };
enum { CLIENT_TURN = 256 }; /* a fair credit: commands, of which those that look at much count more */

enum { CLIENT_WHY_MAX = LOSS_BY_MAX + 96 };

/* A loss of which a client that has no news has not been told. */
struct client_loss {
    struct ring in_client;
    uint64_t fence;
    enum loss why;
    char by[LOSS_BY_MAX + 1]; /* LOSS_FORCED: who has asked for it, or "" */
    uint8_t name_len;
    char name[];
};

struct client {
    struct session *session;
    struct ring in_node;   /* all clients of the node */
    struct ring in_news;   /* there may be an output for it (step.h) */
    struct ring in_hungry; /* its credit was used up, and it has more commands: it goes on in a later turn */
    bool lost;             /* among in_news: it has lost a lock, and is told before others are */
    bool blocked;          /* its connection takes no more bytes for now */
    struct bytes in, out;
    unsigned protocol; /* 2 or 3 */
    unsigned credit;   /* for what it may still do in this turn */
    bool operates;     /* it has proved that it may do what takes an operator; the driver knows */
    struct ring losses;
    unsigned loss_count;
    bool losses_forgotten; /* there were more of them than are kept */
    bool closing;          /* what is in out is the last */
    bool goodbye;          /* closing, as the client wants it: it has said QUIT */
    bool detaches;         /* goodbye, but its kept session stays */
    bool cut;              /* it does not read: close at once, whatever is in out */
};

enum command_when {
    COMMAND_MEANWHILE = 1,  /* it may be done while a LOCK waits */
    COMMAND_SUBSCRIBED = 2, /* it is understood from a client that has subscribed, in version 2 of the protocol */
    COMMAND_COSTS = 4,      /* the daemon keeps something for it, and refuses it when there is no memory */
    COMMAND_LOOKS = 8       /* it looks at more than one lock, and counts as 16 others */
};

/* What a client may say. The table ends with a null name. */
struct command {
    const char *name;
    size_t least, most; /* words, its name included */
    void (*run)(struct client *c, const struct resp_request *r);
    const char *usage;
    unsigned when; /* enum command_when, together */
};
extern const struct command commands[];

/* There is a connection. What the driver knows of its client, it writes down: session->remote, session->from, operates. */
struct client *client_open(struct node *node, void *user);
/* For step.c and node.c, as session_close and session_break: the client has said goodbye, or it may not know that the
 * connection is gone. */
void client_close(struct client *c);
void client_break(struct client *c);
/* The driver's, as given to client_open. */
static inline void *client_user(const struct client *c)
{
    return c->session->user;
}

/* The command of this name, or the one that ends the table. */
const struct command *command_find(struct resp_word name);
/* Does what is asked for, or tells how to ask. */
void client_execute(struct client *c, const struct resp_request *r);

void client_input(struct client *c, const uint8_t *bytes, size_t len);
bool client_is_full(const struct client *c);
/* There are commands that could be executed, had it credit. */
bool client_has_more(const struct client *c);
/* What it keeps, in bytes. Buffers that are empty, and large, are freed. */
size_t client_memory(struct client *c);
/* Executes what has come, as far as possible. To be called after input, after output, and after events. */
void client_run(struct client *c);
/* The loss of this lock, with this fence or (0) any, that is kept; or null. */
struct client_loss *client_loss(const struct client *c, const char *name, size_t name_len, uint64_t fence);
/* Why it was lost, for a person. */
void client_tell_why(enum loss why, const char *by, char text[CLIENT_WHY_MAX]);
/* The client knows of it now; or null. */
void client_forget_loss(struct client *c, struct client_loss *loss);
/* An event of its session goes to the client, in its words. */
void client_hear(struct client *c, const struct node_event *event);

#endif
