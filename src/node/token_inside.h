/* token_inside.h - what the files about locks of tokens share: token.c (operations) and token_owner.c (what the owner does). */
#ifndef DIBS_NODE_TOKEN_INSIDE_H
#define DIBS_NODE_TOKEN_INSIDE_H

#include "base/pack.h"
#include "token.h"

/* In the number of a TOKEN_ASK: it was asked before, in an earlier view; it is to count down, not up. TOKEN_ANSWER repeats the number. */
#define TOKEN_AGAIN ((uint64_t)1 << 63)
#define TOKEN_DOWN ((uint64_t)1 << 62)

/* An operation on one key, as its owner sees it. */
struct token_order {
    enum token_what what;
    struct keep_id id;
    uint64_t fence, ttl_ms;
    bool adds;
    bool again; /* it was asked for before, in an earlier view */
    bool down;  /* a token with a count: the lock is released once */
    /* The new token, or "". A token with a count has the count that is to be; it is released with the count 0. */
    const char *value;
    size_t value_len;
};

/* An answer that is to be given when all members have acknowledged a letter of this member's stream. */
struct token_promise {
    struct ring in_node;
    uint64_t letter;
    uint64_t member; /* the id of the member that has asked, and in which view; or 0: a client of this member */
    uint64_t view, number;
    uint64_t left_ms;
    struct keep_id id; /* of the lock, which may be released or taken away meanwhile */
    uint64_t fence;
    size_t at; /* of a client of this member: which key of its operation */
};

/* ---- token.c */
/* As node_state; but a member that is being drained, and grants no lock, still serves the locks that tokens own. */
enum node_state token_state(const struct node *node);
/* The operation with this number, if it waits for an answer; or null. */
struct token_op *token_of(const struct node *node, uint64_t number);
/* The operation is done for its present key, or failed for it: goes on with the next one. */
void token_next(struct token_op *op, bool good);

/* ---- token_owner.c */
/* Does what the order says. Returns false if the lock is not held with that fence, or would get too long a TTL. *letter becomes the number of the letter
 * that all members have to acknowledge before the client is told, or 0. */
bool token_obey(struct node *node, const struct token_order *o, uint64_t *left_ms, uint64_t *letter);
void token_promise(struct node *node, struct token_promise terms);
/* Gives a piece of the answers for which all members have acknowledged the letter. */
void tokens_keep_promises(struct node *node);
bool tokens_have_promises(const struct node *node); /* that can be kept now */
void tokens_free_promises(struct node *node);
/* A letter of the member at place k, behind its type. Returns null, or what is wrong with it. */
const char *token_hear_ask(struct node *node, uint32_t k, struct unpack *u);

#endif
