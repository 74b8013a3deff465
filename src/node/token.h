/* token.h - locks that are owned by a token, not by a connection.
 *
 * A *token* is a text of a client's choice. A lock with a token and a TTL belongs to every client that shows the token, on
 * any connection to any member, until it is released or its TTL is over. The end of a connection does not release it.
 *
 * Such a lock is a kept session without a client (keep.h). Its id is a hash of the lock's name, and its value is the token:
 * the lock is exclusive, so there is one such session for each name at most (I33). Its owner is the member at which it was
 * acquired, or the one that was chosen when that member had gone. Every member of the view has a record, with the fence,
 * the TTL and the token, before the client is told of the grant. So every member can compare a token, and knows the owner.
 *
 * TTL. The owner counts the TTL from the grant or the last extension, stretched by the drift of clocks
 * (promise_stretch_ms). So it is over on the client's clock first, if the client counts it from the moment at which it
 * sent the request. A client that counts from the answer may believe for too long. A request without an answer may be carried out
 * after later ones, and set a shorter TTL: the client counts the shortest TTL of such requests, from the request that was answered. A new owner counts the TTL of
 * its record from the moment at which the view opened: at least the time that was left. An extension beyond the TTL that
 * the records have is sent to all members, and its client is told when all of them have acknowledged that.
 *
 * An *operation* is what a client asks for: to acquire, release or extend locks, or to look at one. It may be about several
 * names. To acquire is tried in the order of the names, and all or none are acquired. The member of the client compares the
 * token with its record, and does the operation itself if it is the owner. Otherwise it asks the owner, by letters of this
 * view (messages.h). If the view ends before the answer has come, it asks again. The fence is part of the question, so an
 * operation that is done twice has the effect of one that is done once. A record that is gone when the member would ask to
 * release it again has been released, or its TTL is over. The letters are those of PART_TOKEN in link/registry.h.
 *
 * Counts. The member asks for the new count, which it makes of the count in its record. Another member, or another client, may have asked meanwhile,
 * with the same token: then the owner's count is another one by now, and the owner refuses. The letter with that count comes before
 * the answer, so the member asks anew. If the member asks again in a later view, the owner cannot tell whether it has done that before, or
 * another member's request: it accepts a count that the lock has already. */
#ifndef DIBS_NODE_TOKEN_H
#define DIBS_NODE_TOKEN_H

#include "keep.h"
#include "protocol/redis_scripts.h"

enum {
    TOKEN_MAX = 254,         /* bytes of a token */
    TOKEN_COUNTED_MAX = 240, /* of one with a count */
    TOKEN_COUNT_MAX = 1000000,
    TOKEN_TTL_MS_MAX = 1000000000, /* also if time is added to what is left: a record has 32 bits for it */
    TOKEN_KEYS_MAX = 100,          /* names in one operation */
    TOKEN_SCRIPTS_MAX = 32,
    TOKEN_PLACES = 1 << 10, /* of the table of operations, of which each client has one */
};

enum token_what { TOKEN_ACQUIRE, TOKEN_RELEASE, TOKEN_EXTEND, TOKEN_LOOK, TOKEN_WHATS };

/* The first byte of a session's value, before the token: which commands have made the lock. Commands of Redis find only locks
 * that they have made themselves: they show tokens, and release locks without one. A lock with a *count* can be acquired again by its token, and is
 * released when it has been released as often. The count stands after the token in the value: "h" token " " count. */
enum token_sort { TOKEN_OF_LOCK = 'l', TOKEN_OF_REDIS = 'r', TOKEN_WITH_COUNT = 'h' };

struct token_key {
    struct keep_id id;
    uint64_t fence; /* of the lock; 0: not known yet */
    uint8_t name_len;
    const char *name, *token; /* the token begins with its sort */
    size_t token_len;
    uint8_t place;   /* the index of the name in the command; the keys themselves are sorted */
    uint8_t ordered; /* 1 + enum token_what: what the owner of the lock was asked to do; 0: nothing */
    bool asked;      /* the owner was asked to do that */
    bool good;       /* the operation has been done for it */
    uint32_t count;  /* of the lock, when that was decided */
};

/* What a client asks for. The first part is filled in by the command. */
struct token_wish {
    enum token_what what;
    enum token_sort sort;
    bool any;                 /* the token of the lock is not compared */
    bool again;               /* ACQUIRE: a lock that has this token already is extended, and counted */
    bool each;                /* EXTEND: each name by itself, not all or none */
    bool adds;                /* EXTEND: the TTL is added to the time that is left */
    bool here;                /* LOOK: the time that is left is not asked for */
    bool renames;             /* EXTEND: the lock gets this token; only with `any` */
    uint64_t ttl_ms, wait_ms; /* as in struct session_wish; but a TTL of 0 lasts for ever */
    const char *token;
    size_t token_len;
    const struct resp_word *tokens; /* one for each name, instead of `token`; or null */
    unsigned style;                 /* for the command: how it is answered */
};

struct token_op {
    struct ring in_node;   /* see struct tokens */
    struct token_op *next; /* with the same place in the table */
    struct session *session;
    struct token_wish wish;
    uint64_t number;
    uint64_t ruled;           /* the rights that have allowed it: rules.version at that time */
    uint64_t asked_view;      /* the view in which the owner was asked about the key; or 0 */
    struct session *claimant; /* the session that waits for the lock; or null */
    size_t count, at;         /* number of keys; index of the present key */
    uint32_t good;            /* number of keys for which the operation has been done */
    bool missing;             /* some key belongs to no token of this sort */
    uint64_t fence, left_ms;  /* of the last key for which it was done; UINT64_MAX: for ever */
    uint8_t found_len;        /* LOOK: the value of the last key, with its sort */
    char found[TOKEN_MAX + 1];
    uint8_t value_len; /* the new value of the key that the owner is asked about; 0: it stays as it is */
    char value[TOKEN_MAX + 1];
    const char *code; /* an error, or null; and the reason */
    char why[256];
    struct token_key key[];
};

struct tokens {
    struct ring open;     /* operations that wait until this member can act (token_state) */
    struct ring asked;    /* operations that wait for an answer of the owner, or for acknowledgements */
    struct ring claiming; /* operations that wait for a lock */
    struct ring done;     /* operations of which the client has to be told */
    struct ring promises; /* answers that wait until all members have acknowledged a letter, oldest first */
    struct ring polls;    /* clients that repeat a request: token_polls.c */
    uint32_t poll_count;
    uint64_t poll_due_ms; /* when one of them may have given up */
    uint64_t last_number;
    struct token_op *table[TOKEN_PLACES]; /* all operations, by their numbers */
    bool more;                            /* some can go on in the next turn */
    struct token_script {
        char sha1[SHA1_HEX];
        enum script_means means;
    } script[TOKEN_SCRIPTS_MAX]; /* that clients have sent, and whose digests are not in the table (redis_scripts.h) */
    uint32_t scripts;            /* so far; the oldest are forgotten */
    uint64_t view;               /* for which `asked` was last looked at */
};

/* True if tokens_go_on has nothing to do. */
static inline bool tokens_are_idle(const struct tokens *t, uint64_t now_ms)
{
    return !t->more && t->poll_due_ms > now_ms && ring_empty(&t->promises) && ring_empty(&t->open) &&
           ring_empty(&t->asked);
}

struct claim;
struct node;
struct node_event;
struct session;
struct member;
struct resp_word;

/* The id of the session to which a lock of this name belongs. */
struct keep_id token_id(const char *name, size_t len);
/* The count in this value; or 1, if it has none. */
uint32_t token_count(const char *value, size_t len);

/* ---- For commands. */
/* Is there a lock of this name that commands of Redis have made, as far as this member knows? */
bool token_is_key(const struct node *node, const char *name, size_t len);
/* Begins an operation on these names, for a client that waits for nothing. The answer comes as an event (node_next). The
 * token is copied. */
void token_ask(struct session *s, const struct token_wish *wish, const struct resp_word *names, size_t count);
void token_end(struct session *s); /* if there is one */

/* Does this member wait for the lock already in the place of this client, which polls for it? Then its repeated request is for no further
 * lock. */
bool polls_wait(const struct session *s, const struct token_wish *wish, const struct resp_word *names, size_t count);

/* ---- token_polls.c, for token.c and node.c. */
/* The operation has failed: its client may ask again. */
void polls_note(struct token_op *op);
/* The session that waits in the client's place, if it was granted the lock; else null, and *waits says whether there is one. */
struct session *polls_take(struct token_op *op, bool *waits);
/* A claim has an outcome (lock.h). Returns true if it is held, and reserved for a client that polls. */
bool poll_hear_outcome(struct claim *c);
void polls_go_on(struct node *node);
void polls_free(struct node *node);

/* ---- For session.c, node.c and messages.c. */
void tokens_init(struct node *node);
void tokens_free(struct node *node);
/* The session, which had no client, is about to be freed. */
void token_gone(struct session *s);
/* A claim of a session without a client has an outcome (lock.h). Returns false if nothing is to be done about it here. */
bool token_hear_outcome(struct claim *c);
/* All members know that this claim is held. */
void token_granted(struct claim *c);
void tokens_go_on(struct node *node);
bool tokens_next(struct node *node, struct node_event *event);
/* A letter of the member at place k. Returns null, or what is wrong with it. */
const char *token_hear(struct node *node, uint32_t k, const uint8_t *bytes, size_t len);

#endif
