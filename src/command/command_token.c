/* command_token.c - LOCK, RENEW and UNLOCK with a token. See token.h. */
#include "command.h"
#include "permit.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)COMMAND_MS_MAX <= (int)TOKEN_TTL_MS_MAX, "every TTL of a command is possible");

/* The words that follow the name. Returns null, or what is wrong with them. */
static const char *command_token_words(const struct resp_request *r, struct token_wish *wish)
{
    for (size_t k = 2; k < r->count; k += 2) {
        struct resp_word word = r->word[k], value = k + 1 < r->count ? r->word[k + 1] : (struct resp_word){"", 0};

        if (resp_is(word, "TOKEN")) {
            if (value.len < 1 || value.len > TOKEN_MAX)
                return "a token has 1 to 254 bytes";
            wish->token = value.at;
            wish->token_len = value.len;
        } else if (resp_is(word, "TTL") && wish->what != TOKEN_RELEASE) {
            if (!command_number(value, COMMAND_MS_MAX, &wish->ttl_ms) || wish->ttl_ms == 0)
                return "TTL takes milliseconds, from 1 to 1000000000";
        } else if (resp_is(word, "WAIT") && wish->what == TOKEN_ACQUIRE) {
            if (!command_number(value, COMMAND_MS_MAX, &wish->wait_ms))
                return "WAIT takes milliseconds, at most 1000000000";
        } else {
            return "usage: LOCK name TOKEN t TTL ms [WAIT ms] | RENEW name TOKEN t TTL ms | UNLOCK name TOKEN t";
        }
    }
    if (wish->what != TOKEN_RELEASE && !wish->ttl_ms)
        return "a lock that a token owns needs a TTL: the end of a connection does not release it";
    return NULL;
}

bool command_with_token(struct client *c, const struct resp_request *r)
{
    struct token_wish wish = {
        .wait_ms = SESSION_FOREVER, .sort = TOKEN_OF_LOCK, .again = true, .style = COMMAND_TOKEN_LOCK};
    const char *wrong;
    bool has = false;

    /* The group or the value in a LOCK may be this word as well. */
    for (size_t k = 2; k < r->count; k += !resp_is(r->word[0], "LOCK") || resp_is(r->word[k], "SHARED") ? 1 : 2)
        has |= resp_is(r->word[k], "TOKEN");
    if (!has)
        return false;
    if (resp_is(r->word[0], "UNLOCK")) {
        wish.what = TOKEN_RELEASE;
        wish.style = COMMAND_TOKEN_UNLOCK;
    } else if (resp_is(r->word[0], "RENEW")) {
        wish.what = TOKEN_EXTEND;
        wish.style = COMMAND_TOKEN_UNLOCK;
    }
    wrong = session_is_busy(c->session) ? "a token cannot be used while a command waits; use another connection"
                                        : command_objects_to(r->word[1]);
    if (!wrong)
        wrong = command_token_words(r, &wish);
    if (wrong)
        resp_error(&c->out, "ERR", wrong);
    else
        permit_token(c, &wish, &r->word[1], 1, false);
    return true;
}

void command_answer_token(struct client *c, const struct token_op *op)
{
    const struct token_key *key = &op->key[0];
    char line[LOCK_NAME_MAX + 64];

    for (size_t k = 0; op->code && strcmp(op->code, "NOPERM") == 0 && k < op->count; k++)
        if (!permit(c, RIGHT_LOCK,
                    (struct resp_word){op->key[k].name, op->key[k].name_len})) /* it is told by which rule */
            return;
    if (op->code) {
        resp_error(&c->out, op->code, op->why);
    } else if (op->wish.style >= COMMAND_REDISSON) {
        command_answer_redisson(c, op);
    } else if (op->wish.sort == TOKEN_OF_REDIS) {
        command_answer_redis(c, op);
    } else if (op->wish.style == COMMAND_TOKEN_LOCK && op->good) {
        resp_array(&c->out, 2);
        resp_string(&c->out, key->name, key->name_len);
        resp_integer(&c->out, op->fence);
    } else if (op->wish.style == COMMAND_TOKEN_LOCK) {
        resp_null(&c->out, c->protocol);
    } else if (op->good) {
        resp_simple(&c->out, "OK");
    } else {
        snprintf(line, sizeof line, "this token does not own \"%.*s\"", key->name_len, key->name);
        resp_error(&c->out, "NOTHELD", line);
    }
}
