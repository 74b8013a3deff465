/* session.h - a client's connection: the locks it holds, and the one it waits for.
 *
 * A session waits for one lock at a time, as its client reads one answer after the other. It holds as many as it likes,
 * each in its own name and once. When it ends, however it ends, all are released and the wait is withdrawn. A lock may
 * be held on a lease (TTL): it is lost when that runs out, unless it is renewed before. What happens to its claims is told
 * to whoever watches (watch.h). */
#ifndef DIBS_NODE_SESSION_H
#define DIBS_NODE_SESSION_H

#include "node.h"

enum { SESSION_HELD_MAX = 1 << 16, SESSION_WHO_MAX = 95 };

struct session {
    struct node *node;
    struct ring in_node;
    struct ring claims; /* held; and the one it waits for */
    struct claim *waiting;
    struct question *question; /* to which it awaits the answer, or null */
    struct ring subscriptions;
    uint32_t subscribed; /* how many */
    uint64_t id;
    uint32_t held;
    void *user;                    /* the driver's */
    char who[SESSION_WHO_MAX + 1]; /* what the client calls itself, or "" */
};

#define SESSION_FOREVER UINT64_MAX

/* What a client asks for. */
struct session_wish {
    const char *name;
    size_t name_len;
    uint32_t slots, mode;
    uint64_t wait_ms; /* SESSION_FOREVER; 0: now or not at all */
    uint64_t ttl_ms;  /* 0: as long as the session */
};

struct session *session_open(struct node *node, void *user);
void session_close(struct session *s);
/* Does it await an answer, of a lock or of a question? */
static inline bool session_is_busy(const struct session *s)
{
    return s->waiting || s->question;
}

/* Null: the answer comes as an event (node_next), also if it is given at once. Else no event comes: an error code (ERR,
 * WRONGKIND, BUSY, NOQUORUM) for programs, and a line in why for people. */
const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why);
/* False: this session does not hold it. */
bool session_unlock(struct session *s, const char *name, size_t name_len);
bool session_renew(struct session *s, const char *name, size_t name_len, uint64_t ttl_ms);
/* Takes the lock away from all clients of this member that hold it with this fence or a smaller one; they get an event.
 * How many there were. */
uint32_t session_evict(struct node *node, const char *name, size_t name_len, uint64_t fence);

/* For node.c: the client is about to be told of this claim. */
void session_settle(struct claim *c);

#endif
