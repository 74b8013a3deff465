/* visit.h - a client of the node without a connection of its own: a browser that has logged in. What the browser asks over HTTP becomes
 * commands of the clients' protocol.
 *
 * So the page can do exactly what the client that has requested the login can do (command/permit.h). A visit is bounded as a client is, by the credit of
 * a turn, one question at a time, and the bound for subscriptions whose reader is slow (command/client.h). The replies are taken at once;
 * the bytes of all visits together are bounded by VISIT_REPLIES_MAX. */
#ifndef DIBS_SERVE_VISIT_H
#define DIBS_SERVE_VISIT_H

#include "serve.h"

enum { VISIT_REPLIES_MAX = 1 << 24, VISIT_WORDS_MAX = 4 };

struct visit {
    struct serve_user user;
    struct client *client; /* or null: the node has ended it */
    struct bytes reply;    /* whole replies, in version 3 of the protocol */
    size_t *total;         /* bytes in the replies of all visits */
    bool overflows;        /* a reply did not fit, and is not there */
    void (*heard)(void *owner);
    void *owner;
};

/* Each of these is to be followed by serve_do, except visit_forget. heard() is called when there is news in `reply`, or
 * the visit has ended. */
struct visit *visit_open(struct serve *s, const struct rights_who *who, const char *from, size_t *total,
                         void (*heard)(void *owner), void *owner);
void visit_say(struct serve *s, struct visit *v, const struct bytes *words);
void visit_close(struct serve *s, struct visit *v);
/* The daemon ends: the node is not told. */
void visit_forget(struct visit *v);
/* Have all commands of the visit been answered? */
bool visit_is_done(const struct visit *v);
/* The replies have been read. */
void visit_read(struct visit *v);

/* Appends a command to `words`. A null word ends it early. */
void visit_command(struct bytes *words, const char *const word[VISIT_WORDS_MAX]);

#endif
