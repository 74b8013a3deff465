/* question.h - what a client asks about locks is asked of all members: who holds a lock, who waits for it, which locks are
 * there; and that all who hold one be evicted.
 *
 * To evict takes two questions: who holds it, and then, to each member that has holders, to evict those with fences up to
 * the largest that it has named. Otherwise who is next at one member, because another one has evicted already, would be
 * evicted, too.
 *
 * A question is put to every member that is connected. It is settled when all have answered, or after QUESTION_MS; who has
 * not been heard by then is named in the answer. A session has one question at a time, as its client reads one answer
 * after the other.
 *
 * A question outlives views: it names members by their ids, never by their places in a roster. A member that is removed
 * from the roster meanwhile is one that has not been heard.
 *
 * Answers are rows of bytes, checked when they come and read when the client is told. */
#ifndef DIBS_NODE_QUESTION_H
#define DIBS_NODE_QUESTION_H

#include "base/bytes.h"
#include "link/link.h"
#include "lock/lock.h"

enum {
    QUESTION_MS = 1000,
    QUESTION_ROWS_MAX = 1000,    /* of one member; if there are more, the answer says so */
    QUESTION_PAGE = 200,         /* locks in one answer */
    QUESTION_COST_MAX = 1 << 16, /* steps to find them: a fraction of a millisecond */
};

enum question_about { ASK_HOLDERS, ASK_WAITERS, ASK_EVICT, ASK_LOCKS, ASK_ABOUTS };

struct node;
struct node_event;
struct session;
struct unpack;

struct answer {
    uint64_t member; /* its id */
    char name[LINK_NAME_MAX + 1];
    enum { ANSWER_NONE, ANSWER_AWAITED, ANSWER_HEARD } state;
    uint64_t more; /* there are more rows than these; ASK_LOCKS: where they go on */
    struct bytes rows;
};

struct question {
    struct ring in_node;
    struct session *session;
    enum question_about about;
    bool evicts; /* ASK_HOLDERS: and then it becomes ASK_EVICT */
    uint64_t id, due_ms;
    size_t text_len; /* a name, or a pattern */
    char text[LOCK_NAME_MAX + 1];
    uint32_t count; /* of members that are asked */
    struct answer answer[];
};

/* The rows of an answer, one after the other. */
struct claim_row {
    uint64_t client, fence;
    uint64_t age_ms; /* for how long it has held the lock, or waited for it */
    uint8_t mode;
    uint8_t lingers; /* it is lost, but its client may not know yet, so nobody else gets it */
    const char *who;
    size_t who_len;
};
struct lock_row {
    const char *name;
    size_t name_len;
    uint32_t slots, holders, waiters;
};
/* False: that cannot be read. */
bool question_claim_row(struct unpack *u, struct claim_row *row);
bool question_lock_row(struct unpack *u, struct lock_row *row);

struct questions {
    struct ring open, settled; /* oldest first */
    uint64_t last_id;
    uint64_t roster_version; /* for which the open ones have been looked at */
};

void questions_init(struct questions *q);
/* Of all members; ASK_LOCKS: of the one at this place of the roster, from there on. The answer comes as an event (node_next), and the client frees it
 * by question_end. */
void question_ask(struct session *s, enum question_about about, const char *text, size_t len, uint32_t member,
                  uint64_t cursor);
void question_end(struct session *s); /* if there is one */

/* For talk.c. */
const char *question_hear_ask(struct node *node, uint32_t from, struct unpack *u);
const char *question_hear_answer(struct node *node, uint32_t from, struct unpack *u);
void questions_advance(struct node *node);
uint64_t questions_due_ms(const struct node *node);
bool questions_next(struct node *node, struct node_event *event);

#endif
