/* command_redis.c - the commands by which Redis lock libraries acquire, extend and release locks. See token.h.
 *
 * A key is the name of a lock, its value is the token that owns the lock, and its expiry is the lock's TTL. No other values can
 * be stored. A lock that other commands have made (LOCK) is not a key for these commands. There is no Lua interpreter: a script is known
 * by its digest or its text, and stands for one of a few operations (protocol/redis_scripts.h). */
#include "command.h"
#include "permit.h"
#include "protocol/redis_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How an operation is answered: struct token_wish.style. */
enum {
    REDIS_OK,        /* OK, or nothing */
    REDIS_TRUE,      /* 1, or nothing */
    REDIS_COUNT,     /* for how many keys it was done */
    REDIS_COUNT_OR,  /* the same; -1 if there is no such key */
    REDIS_VALUE,     /* the token, or nothing */
    REDIS_FENCE,     /* the fence, or nothing */
    REDIS_LEFT,      /* the time left in milliseconds; -1: for ever; -2: there is no such key */
    REDIS_LEFT_IN_S, /* the same in seconds */
};

enum { EXPIRY_MAX = COMMAND_MS_MAX };

static const char redis_no_expiry[] =
    "without an expiry (PX or EX) the lock of a client that has crashed would stay for ever; give the lock a timeout, "
    "or start the daemon with --expiry optional";

bool command_are_names(struct client *c, const struct resp_word *names, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!command_is_name(c, names[k]))
            return false;
    if (count > TOKEN_KEYS_MAX)
        resp_error(&c->out, "ERR", "at most 100 names are possible");
    return count <= TOKEN_KEYS_MAX;
}

static bool redis_token_is_right(struct client *c, struct resp_word token)
{
    if (token.len < 1 || token.len > TOKEN_MAX)
        resp_error(&c->out, "ERR", "the value is the token of a lock, which has 1 to 254 bytes");
    return token.len >= 1 && token.len <= TOKEN_MAX;
}

static void redis_ask(struct client *c, struct token_wish wish, const struct resp_word *names, size_t count)
{
    wish.sort = TOKEN_OF_REDIS;
    if (!wish.token)
        wish.token = "";
    if (command_are_names(c, names, count))
        permit_token(c, &wish, names, count, wish.style == REDIS_VALUE);
}

/* ------------------------------------------------------------------------------------------------------------- keys */

/* The words behind SET name token. Returns null, or what is wrong with them. */
static const char *redis_set_words(const struct resp_request *r, bool optional, struct token_wish *wish, bool *keeps)
{
    static const char usage[] = "SET makes locks only: SET name token NX PX ms, or XX to extend the lock that there is";
    bool nx = false, xx = false, expires = false;

    for (size_t k = 3; k < r->count; k++) {
        bool ms = resp_is(r->word[k], "PX");

        if (resp_is(r->word[k], "NX")) {
            nx = true;
        } else if (resp_is(r->word[k], "XX")) {
            xx = true;
        } else if (resp_is(r->word[k], "KEEPTTL")) {
            *keeps = true;
        } else if ((ms || resp_is(r->word[k], "EX")) && k + 1 < r->count) {
            if (!command_number(r->word[++k], ms ? EXPIRY_MAX : EXPIRY_MAX / 1000, &wish->ttl_ms) || !wish->ttl_ms)
                return "an expiry is from 1 ms to 1000000 s";
            wish->ttl_ms *= ms ? 1 : 1000;
            expires = true;
        } else {
            return usage;
        }
    }
    if (nx == xx || (*keeps && (nx || expires)))
        return usage;
    wish->what = nx ? TOKEN_ACQUIRE : TOKEN_EXTEND;
    return expires || *keeps || optional ? NULL : redis_no_expiry;
}

void command_set(struct client *c, const struct resp_request *r)
{
    struct token_wish wish = {.style = REDIS_OK, .token = r->word[2].at, .token_len = r->word[2].len};
    bool keeps = false;
    const char *wrong = redis_set_words(r, c->session->node->conf.expiry_optional, &wish, &keeps);

    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return;
    }
    wish.any = wish.renames = wish.what == TOKEN_EXTEND;
    wish.adds = keeps; /* nothing is added to the time that is left */
    if (redis_token_is_right(c, r->word[2]))
        redis_ask(c, wish, &r->word[1], 1);
}

void command_setnx(struct client *c, const struct resp_request *r)
{
    struct token_wish wish = {
        .what = TOKEN_ACQUIRE, .style = REDIS_COUNT, .token = r->word[2].at, .token_len = r->word[2].len};

    if (!c->session->node->conf.expiry_optional)
        resp_error(&c->out, "ERR", redis_no_expiry);
    else if (redis_token_is_right(c, r->word[2]))
        redis_ask(c, wish, &r->word[1], 1);
}

/* GET name:fence is the fence of the lock called name, unless there is a lock called name:fence. */
void command_get(struct client *c, const struct resp_request *r)
{
    static const char suffix[] = ":fence";
    struct resp_word name = r->word[1];
    size_t len = sizeof suffix - 1;
    bool fence = name.len > len && memcmp(name.at + name.len - len, suffix, len) == 0 &&
                 !token_is_key(c->session->node, name.at, name.len);

    if (fence)
        name.len -= len;
    redis_ask(
        c,
        (struct token_wish){.what = TOKEN_LOOK, .any = true, .here = true, .style = fence ? REDIS_FENCE : REDIS_VALUE},
        &name, 1);
}

void command_del(struct client *c, const struct resp_request *r)
{
    redis_ask(c, (struct token_wish){.what = TOKEN_RELEASE, .any = true, .style = REDIS_COUNT}, &r->word[1],
              r->count - 1);
}

void command_exists(struct client *c, const struct resp_request *r)
{
    redis_ask(c, (struct token_wish){.what = TOKEN_LOOK, .any = true, .here = true, .style = REDIS_COUNT}, &r->word[1],
              r->count - 1);
}

void command_ttl(struct client *c, const struct resp_request *r)
{
    redis_ask(c,
              (struct token_wish){
                  .what = TOKEN_LOOK, .any = true, .style = resp_is(r->word[0], "TTL") ? REDIS_LEFT_IN_S : REDIS_LEFT},
              &r->word[1], 1);
}

void command_expire(struct client *c, const struct resp_request *r)
{
    uint64_t unit = resp_is(r->word[0], "EXPIRE") ? 1000 : 1;
    struct token_wish wish = {.what = TOKEN_EXTEND, .any = true, .style = REDIS_COUNT};

    if (!command_number(r->word[2], EXPIRY_MAX / unit, &wish.ttl_ms)) {
        resp_error(&c->out, "ERR", "an expiry is from 0 ms to 1000000 s");
        return;
    }
    wish.ttl_ms *= unit;
    if (wish.ttl_ms == 0) /* it is over */
        wish.what = TOKEN_RELEASE;
    redis_ask(c, wish, &r->word[1], 1);
}

/* ---------------------------------------------------------------------------------------------------------- scripts */

/* Scripts that differ from those of the table in white space only are known by their digests when their texts were sent. */
static void redis_remember(struct node *node, const char sha1[SHA1_HEX], enum script_means means)
{
    struct tokens *t = &node->tokens;
    struct token_script *s = &t->script[t->scripts % TOKEN_SCRIPTS_MAX];

    for (uint32_t k = 0; k < TOKEN_SCRIPTS_MAX; k++)
        if (t->script[k].means && memcmp(t->script[k].sha1, sha1, SHA1_HEX) == 0)
            return;
    t->scripts++;
    memcpy(s->sha1, sha1, SHA1_HEX);
    s->means = means;
}

static enum script_means redis_by_sha1(const struct node *node, struct resp_word word)
{
    const struct tokens *t = &node->tokens;
    enum script_means means = word.len == SHA1_HEX ? script_by_sha1(word.at) : SCRIPT_UNKNOWN;

    for (uint32_t k = 0; !means && word.len == SHA1_HEX && k < TOKEN_SCRIPTS_MAX; k++)
        if (t->script[k].means && memcmp(t->script[k].sha1, word.at, SHA1_HEX) == 0)
            means = t->script[k].means;
    return means;
}

/* What the text means; its digest is in `hex`. If it is not known, the client is sent an error. */
static enum script_means redis_by_text(struct client *c, struct resp_word text, char hex[SHA1_HEX + 1])
{
    enum script_means means = script_by_text(text.at, text.len);
    char line[400];

    if (means) {
        sha1_hex(text.at, text.len, hex);
        redis_remember(c->session->node, hex, means);
        return means;
    }
    snprintf(line, sizeof line,
             "this script is not known, and there is no Lua interpreter. The scripts of these libraries are known: %s",
             script_libraries);
    resp_error(&c->out, "ERR", line);
    return SCRIPT_UNKNOWN;
}

/* The operation that a script means. */
static void redis_script_wish(enum script_means means, struct token_wish *wish)
{
    static const struct {
        enum token_what what;
        unsigned style;
    } table[] = {
        [SCRIPT_ACQUIRE] = {TOKEN_ACQUIRE, REDIS_COUNT},  [SCRIPT_ACQUIRE_SET] = {TOKEN_ACQUIRE, REDIS_OK},
        [SCRIPT_RELEASE] = {TOKEN_RELEASE, REDIS_COUNT},  [SCRIPT_RELEASE_OR] = {TOKEN_RELEASE, REDIS_COUNT_OR},
        [SCRIPT_EXTEND] = {TOKEN_EXTEND, REDIS_COUNT},    [SCRIPT_EXTEND_BY] = {TOKEN_EXTEND, REDIS_COUNT},
        [SCRIPT_OBTAIN] = {TOKEN_ACQUIRE, REDIS_TRUE},    [SCRIPT_RENEW] = {TOKEN_EXTEND, REDIS_TRUE},
        [SCRIPT_GIVE_BACK] = {TOKEN_RELEASE, REDIS_TRUE},
    };

    wish->what = table[means].what;
    wish->style = table[means].style;
    wish->again = means == SCRIPT_OBTAIN;
}

void command_eval(struct client *c, const struct resp_request *r)
{
    char hex[SHA1_HEX + 1];
    bool by_sha1 = resp_is(r->word[0], "EVALSHA");
    enum script_means means = by_sha1 ? redis_by_sha1(c->session->node, r->word[1]) : redis_by_text(c, r->word[1], hex);
    struct token_wish wish = {0};
    const struct resp_word *arg;
    uint64_t keys;
    size_t args;

    if (!means) {
        if (by_sha1)
            resp_error(&c->out, "NOSCRIPT", "No matching script. Please use EVAL.");
        return;
    }
    if (!command_number(r->word[2], r->count - 3, &keys) || keys == 0) {
        resp_error(&c->out, "ERR", "the number of keys is from 1 to the number of words that follow");
        return;
    }
    arg = &r->word[3 + keys];
    args = r->count - 3 - keys;
    if (means >= SCRIPT_COUNT_UP) {
        command_redisson(c, means, &(struct redis_script){.key = &r->word[3], .keys = keys, .arg = arg, .args = args});
        return;
    }
    redis_script_wish(means, &wish);
    if (args < (means == SCRIPT_EXTEND_BY    ? 3u
                : wish.what == TOKEN_RELEASE ? 1u
                                             : 2u) ||
        (wish.what != TOKEN_RELEASE && (!command_number(arg[1], EXPIRY_MAX, &wish.ttl_ms) || !wish.ttl_ms))) {
        resp_error(&c->out, "ERR", "the arguments of this script are a token and, unless it releases, milliseconds");
        return;
    }
    wish.token = arg[0].at;
    wish.token_len = arg[0].len;
    wish.adds = means == SCRIPT_EXTEND_BY && resp_is(arg[2], "0");
    if (redis_token_is_right(c, arg[0]))
        redis_ask(c, wish, &r->word[3], keys);
}

void command_script(struct client *c, const struct resp_request *r)
{
    char hex[SHA1_HEX + 1];

    if (resp_is(r->word[1], "LOAD") && r->count == 3) {
        if (redis_by_text(c, r->word[2], hex))
            resp_text(&c->out, hex);
    } else if (resp_is(r->word[1], "EXISTS")) {
        resp_array(&c->out, r->count - 2);
        for (size_t k = 2; k < r->count; k++)
            resp_integer(&c->out, redis_by_sha1(c->session->node, r->word[k]) != SCRIPT_UNKNOWN);
    } else if (resp_is(r->word[1], "FLUSH") && r->count <= 3) {
        resp_simple(&c->out, "OK"); /* the table stays */
    } else {
        resp_error(&c->out, "ERR", "usage: SCRIPT LOAD script | EXISTS sha1 ... | FLUSH");
    }
}

/* ---------------------------------------------------------------------------------------------------- the connection */

void command_select(struct client *c, const struct resp_request *r)
{
    if (resp_is(r->word[1], "0"))
        resp_simple(&c->out, "OK");
    else
        resp_error(&c->out, "ERR", "there is one database, 0; put its number into the names of locks instead");
}

void command_echo(struct client *c, const struct resp_request *r)
{
    resp_string(&c->out, r->word[1].at, r->word[1].len);
}

void command_auth(struct client *c, const struct resp_request *r)
{
    static const struct resp_word standard = {"default", 7}; /* as Redis calls the user without a name */

    if (permit_login(c, r->count == 3 ? r->word[1] : standard, r->word[r->count - 1]))
        resp_simple(&c->out, "OK");
}

/* All members that take part know every lock of which a client was told. */
void command_wait(struct client *c, const struct resp_request *r)
{
    uint32_t count = view_taking_part(&c->session->node->view);

    (void)r;
    resp_integer(&c->out, count ? count - 1 : 0);
}

void command_answer_redis(struct client *c, const struct token_op *op)
{
    struct bytes *out = &c->out;
    uint64_t unit = op->wish.style == REDIS_LEFT_IN_S ? 1000 : 1;
    char fence[24];

    switch (op->wish.style) {
    case REDIS_OK:
        if (op->good)
            resp_simple(out, "OK");
        else
            resp_nil(out, c->protocol);
        break;
    case REDIS_TRUE:
        if (op->good)
            resp_integer(out, 1);
        else
            resp_nil(out, c->protocol);
        break;
    case REDIS_COUNT_OR:
        resp_signed(out, op->missing ? -1 : (int64_t)op->good);
        break;
    case REDIS_VALUE:
        if (op->good && op->found[0] == TOKEN_WITH_COUNT)
            resp_error(out, "WRONGTYPE",
                       "this is a lock of Redisson, which has no value; HGET name id returns its count");
        else if (op->good)
            resp_string(out, op->found + 1, op->found_len - 1u);
        else
            resp_nil(out, c->protocol);
        break;
    case REDIS_FENCE:
        snprintf(fence, sizeof fence, "%" PRIu64, op->fence);
        if (op->good)
            resp_text(out, fence);
        else
            resp_nil(out, c->protocol);
        break;
    case REDIS_LEFT:
    case REDIS_LEFT_IN_S:
        resp_signed(out, !op->good ? -2 : op->left_ms == UINT64_MAX ? -1 : (int64_t)((op->left_ms + unit / 2) / unit));
        break;
    default:
        resp_integer(out, op->good);
    }
}
