/* logins.c - see logins.h. */
#include "logins.h"

#include <stdio.h>
#include <string.h>

/* Is `text` this secret? The time does not depend on how many of its characters are right. */
static bool logins_is(const char secret[LOGINS_SECRET], const char *text)
{
    unsigned wrong = !secret[0] || !text || strlen(text) != LOGINS_SECRET - 1;

    if (wrong)
        return false;
    for (unsigned k = 0; k < LOGINS_SECRET - 1; k++)
        wrong |= (unsigned)(secret[k] ^ text[k]);
    return !wrong;
}

static void logins_write(const uint8_t random[LOGINS_RANDOM], char secret[LOGINS_SECRET])
{
    for (unsigned k = 0; k < LOGINS_RANDOM; k++)
        snprintf(secret + 2 * k, 3, "%02x", random[k]);
}

const char *logins_invite(struct logins *l, const struct rights_who *who, const char *from,
                          const uint8_t random[LOGINS_RANDOM], uint64_t now_ms)
{
    bool operates = who && who->operates;
    struct login_token *at = l->token[operates];

    for (struct login_token *t = at; t < l->token[operates] + LOGINS_TOKENS_MAX; t++)
        if (at->secret[0] && (!t->secret[0] || t->since_ms < at->since_ms))
            at = t;
    logins_write(random, at->secret);
    rights_free(at->who);
    at->who = rights_copy(who);
    snprintf(at->from, sizeof at->from, "%s", from);
    at->since_ms = now_ms;
    return at->secret;
}

/* Opens a login that has the client of the token from now on. */
static struct login *logins_begin(struct logins *l, bool operates, struct login_token *t,
                                  const uint8_t random[2 * LOGINS_RANDOM], uint64_t now_ms)
{
    struct login *at = l->login[operates];

    for (struct login *x = at; x < l->login[operates] + LOGINS_MAX; x++)
        if (at->cookie[0] && (!x->cookie[0] || x->number < at->number))
            at = x;
    logins_write(random, at->cookie);
    logins_write(random + LOGINS_RANDOM, at->pass);
    memcpy(at->from, t->from, sizeof at->from);
    rights_free(at->who);
    at->who = t->who;
    t->who = NULL;
    at->since_ms = now_ms;
    at->number = ++l->count;
    return at;
}

const struct login *logins_open(struct logins *l, const char *token, const uint8_t random[2 * LOGINS_RANDOM],
                                uint64_t now_ms)
{
    struct login *opened = NULL;

    for (unsigned operates = 0; operates < 2; operates++)
        for (unsigned k = 0; k < LOGINS_TOKENS_MAX; k++) {
            struct login_token *t = &l->token[operates][k];

            if (!logins_is(t->secret, token))
                continue;
            t->secret[0] = '\0';
            if (now_ms - t->since_ms < LOGINS_TOKEN_MS)
                opened = logins_begin(l, operates, t, random, now_ms);
        }
    return opened;
}

const struct login *logins_find(const struct logins *l, const char *cookie, const char *pass, uint64_t now_ms)
{
    const struct login *found = NULL;

    for (unsigned k = 0; k < 2 * LOGINS_MAX; k++) {
        const struct login *x = &l->login[k / LOGINS_MAX][k % LOGINS_MAX];
        bool is_cookie = logins_is(x->cookie, cookie), is_pass = logins_is(x->pass, pass); /* both take the same time */

        if (is_cookie && is_pass && now_ms - x->since_ms < LOGINS_MS)
            found = x;
    }
    return found;
}

bool logins_lasts(const struct logins *l, uint64_t number, uint64_t now_ms)
{
    for (unsigned k = 0; k < 2 * LOGINS_MAX; k++) {
        const struct login *x = &l->login[k / LOGINS_MAX][k % LOGINS_MAX];

        if (x->cookie[0] && x->number == number)
            return now_ms - x->since_ms < LOGINS_MS;
    }
    return false;
}

void logins_close(struct logins *l, uint64_t number)
{
    for (unsigned k = 0; k < 2 * LOGINS_MAX; k++) {
        struct login *x = &l->login[k / LOGINS_MAX][k % LOGINS_MAX];

        if (x->number == number) {
            rights_free(x->who);
            *x = (struct login){.number = 0};
        }
    }
}

void logins_free(struct logins *l)
{
    for (unsigned k = 0; k < 2 * LOGINS_TOKENS_MAX; k++)
        rights_free(l->token[k / LOGINS_TOKENS_MAX][k % LOGINS_TOKENS_MAX].who);
    for (unsigned k = 0; k < 2 * LOGINS_MAX; k++)
        rights_free(l->login[k / LOGINS_MAX][k % LOGINS_MAX].who);
    *l = (struct logins){.count = l->count};
}
