/* command_redisson.c - locks of Redisson, a library for Java: the RLock that getLock returns. See token.h.
 *
 * In Redis such a lock is a hash with one field: the id of its holder ("UUID:thread"), and how often that thread has acquired
 * the lock. Here it is a lock with a token, the holder's id, and a count. Redisson's scripts have their arguments in an order of their own
 * (redis_scripts.h).
 *
 * A thread that waits subscribes to a channel whose name is made of the lock's, and asks again when the message "0" comes, or
 * when the time that the last answer has told it is over. That time is not longer than ASK_AGAIN_MS: a thread that asks
 * again and again is served first come, first served (token_polls.c), and a message may be lost. Unlike Redis, the message comes also
 * when the lock's TTL is over. Redisson's other locks (fair, read-write, multi, spin locks with another script, semaphores) are refused, since their scripts are
 * not known.
 *
 * Redisson repeats an unlock that was not answered, and Redis remembers the first answer for that. This daemon does not: a thread that
 * asks again may be told that it does not hold the lock. */
#include "command.h"
#include "permit.h"
#include "protocol/redis_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ASK_AGAIN_MS = 200 };

/* --------------------------------------------------------------------------------------------------------------- scripts */

/* Returns null, or what is wrong with the arguments. */
static const char *redisson_wish(enum script_means means, const struct redis_script *r, struct token_wish *wish)
{
    size_t token = means == SCRIPT_COUNT_DOWN ? 2 : 1, tokens = means == SCRIPT_REFRESH_EACH ? r->keys : 1;

    if (r->args < token + tokens)
        return "the arguments of this script are milliseconds and the id of a thread";
    if (!command_number(r->arg[token - 1], COMMAND_MS_MAX, &wish->ttl_ms) || !wish->ttl_ms)
        return "the lease time of a lock is from 1 ms to 1000000 s";
    for (size_t k = 0; k < tokens; k++)
        if (r->arg[token + k].len < 1 || r->arg[token + k].len > TOKEN_COUNTED_MAX)
            return "the id of a thread has 1 to 240 bytes";
    wish->what = means == SCRIPT_COUNT_UP ? TOKEN_ACQUIRE : means == SCRIPT_COUNT_DOWN ? TOKEN_RELEASE : TOKEN_EXTEND;
    wish->again = means == SCRIPT_COUNT_UP;
    if (means == SCRIPT_REFRESH_EACH) {
        wish->each = true;
        wish->tokens = &r->arg[token];
    } else {
        wish->token = r->arg[token].at;
        wish->token_len = r->arg[token].len;
    }
    return NULL;
}

void command_redisson(struct client *c, enum script_means means, const struct redis_script *r)
{
    struct token_wish wish = {.sort = TOKEN_WITH_COUNT, .token = "", .style = COMMAND_REDISSON + means};
    const char *wrong = NULL;

    if (means == SCRIPT_REMOVE)
        wish = (struct token_wish){
            .what = TOKEN_RELEASE, .any = true, .sort = TOKEN_OF_REDIS, .token = "", .style = COMMAND_REDISSON + means};
    else
        wrong = redisson_wish(means, r, &wish);
    if (wrong)
        resp_error(&c->out, "ERR", wrong);
    else if (command_are_names(c, r->key,
                               means == SCRIPT_REFRESH_EACH ? r->keys : 1)) /* others are channels and latches */
        permit_token(c, &wish, r->key, means == SCRIPT_REFRESH_EACH ? r->keys : 1, false);
}

/* HEXISTS and HGET: how often this thread has acquired the lock. */
void command_hash(struct client *c, const struct resp_request *r)
{
    struct token_wish wish = {.what = TOKEN_LOOK,
                              .sort = TOKEN_WITH_COUNT,
                              .here = true,
                              .token = r->word[2].at,
                              .token_len = r->word[2].len,
                              .style = resp_is(r->word[0], "HGET") ? COMMAND_REDISSON_HGET : COMMAND_REDISSON_HEXISTS};

    if (wish.token_len < 1 || wish.token_len > TOKEN_COUNTED_MAX)
        resp_error(&c->out, "ERR", "the field is the id of a thread, which has 1 to 240 bytes");
    else if (command_are_names(c, &r->word[1], 1))
        permit_token(c, &wish, &r->word[1], 1, false);
}

/* Which of the op's keys was the k-th of the command. */
static const struct token_key *redisson_key(const struct token_op *op, size_t place)
{
    size_t k = 0;

    while (k + 1 < op->count && op->key[k].place != place)
        k++;
    return &op->key[k];
}

void command_answer_redisson(struct client *c, const struct token_op *op)
{
    struct bytes *out = &c->out;
    char count[24];

    switch (op->wish.style) {
    case COMMAND_REDISSON + SCRIPT_COUNT_UP:
        if (op->good)
            resp_nil(out, c->protocol);
        else
            resp_integer(out, ASK_AGAIN_MS);
        break;
    case COMMAND_REDISSON + SCRIPT_COUNT_DOWN:
        if (op->good)
            resp_integer(out, op->key[0].ordered == 1 + TOKEN_RELEASE);
        else
            resp_nil(out, c->protocol);
        break;
    case COMMAND_REDISSON + SCRIPT_REFRESH_EACH:
        resp_array(out, op->count);
        for (size_t k = 0; k < op->count; k++)
            resp_integer(out, redisson_key(op, k)->good);
        break;
    case COMMAND_REDISSON_HGET:
        snprintf(count, sizeof count, "%" PRIu32, token_count(op->found, op->found_len));
        if (op->good)
            resp_text(out, count);
        else
            resp_nil(out, c->protocol);
        break;
    default:
        resp_integer(out, op->good);
    }
}

/* --------------------------------------------------------------------------------------------------------------- channels */

bool command_redisson_channel(struct resp_word channel, struct resp_word *name)
{
    static const char *const prefix[] = {"redisson_lock__channel:", "redisson_lock__channel__"};

    for (unsigned k = 0; k < 2; k++) {
        size_t len = strlen(prefix[k]);

        if (channel.len <= len || memcmp(channel.at, prefix[k], len) != 0)
            continue;
        *name = (struct resp_word){channel.at + len, channel.len - len};
        /* In a channel, a name without braces is in braces; a name that has braces is unchanged. */
        if (name->len > 2 && name->at[0] == '{' && memchr(name->at, '}', name->len) == name->at + name->len - 1)
            *name = (struct resp_word){name->at + 1, name->len - 2};
        return true;
    }
    return false;
}
