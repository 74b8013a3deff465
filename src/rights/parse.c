/* parse.c - rules, limits and logins as text. See rights.h.
 *
 *     allow user:alice lock,watch build-*
 *     limit key:ci locks=100 waiters=50 connections=20
 *     login web pbkdf2-sha256:4096:..:.. */
#include "rights.h"

#include "base/plain.h"

#include <stdio.h>
#include <string.h>

static const char *const rights_names[] = {"lock", "shared", "watch", "force-unlock", "admin"};
static const char *const rights_kinds[] = {"any", "user", "group", "key", "cert", "auth"};
_Static_assert(sizeof rights_names / sizeof rights_names[0] == RIGHTS_BITS, "a right has a name");
_Static_assert(sizeof rights_kinds / sizeof rights_kinds[0] == RIGHTS_KINDS, "a kind of subjects has a name");

/* The next word of a line. */
struct rights_word {
    const char *at;
    size_t len;
};

static struct rights_word rights_next(const char **line)
{
    struct rights_word w = {.at = *line + strspn(*line, " \t")};

    w.len = strcspn(w.at, " \t");
    *line = w.at + w.len;
    return w;
}

static bool rights_equals(struct rights_word w, const char *text)
{
    return w.len == strlen(text) && memcmp(w.at, text, w.len) == 0;
}

/* A number that fits into 32 bits. */
static bool rights_number(const char *at, size_t len, uint32_t *number)
{
    uint64_t x = 0;

    for (size_t k = 0; k < len && x <= UINT32_MAX; k++) {
        if (at[k] < '0' || at[k] > '9')
            return false;
        x = 10 * x + (uint64_t)(at[k] - '0');
    }
    *number = (uint32_t)x;
    return len > 0 && x <= UINT32_MAX;
}

bool rights_is_name(const char *text, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if (!(text[k] >= 'a' && text[k] <= 'z') && !(text[k] >= 'A' && text[k] <= 'Z') &&
            !(text[k] >= '0' && text[k] <= '9') && !(text[k] && strchr("._-", text[k])))
            return false;
    return len > 0 && len <= RIGHTS_NAME_MAX;
}

bool rights_parse_subject(struct rights_subject *s, const char *text, size_t len, char why[RIGHTS_WHY_MAX])
{
    const char *colon = memchr(text, ':', len);
    size_t kind_len = colon ? (size_t)(colon - text) : len, name_len = colon ? len - kind_len - 1 : 0;
    const char *name = colon ? colon + 1 : text + len;
    unsigned kind = 0;

    *s = (struct rights_subject){.known = false};
    while (kind < RIGHTS_KINDS && !rights_equals((struct rights_word){text, kind_len}, rights_kinds[kind]))
        kind++;
    if (kind == RIGHTS_KINDS || (kind == RIGHTS_ANY) == (colon != NULL)) {
        snprintf(why, RIGHTS_WHY_MAX,
                 "\"%.*s\" is no client; write any, user:NAME, group:NAME, key:NAME, cert:NAME or auth:NAME",
                 (int)(len < 80 ? len : 80), text);
        return false;
    }
    s->kind = (enum rights_kind)kind;
    if (kind == RIGHTS_ANY)
        return true;
    if (!rights_is_name(name, name_len)) {
        snprintf(why, RIGHTS_WHY_MAX,
                 "\"%.*s\" needs a name of letters, digits, dots, dashes and underscores behind the colon",
                 (int)(len < 80 ? len : 80), text);
        return false;
    }
    memcpy(s->name, name, name_len);
    if (kind == RIGHTS_USER || kind == RIGHTS_GROUP)
        s->known = rights_number(name, name_len, &s->number);
    return true;
}

/* Reads one word of the rights; returns 0 if it is none. `none` is RIGHTS_ALL + 1. */
static unsigned rights_one(struct rights_word w)
{
    for (unsigned k = 0; k < RIGHTS_BITS; k++)
        if (rights_equals(w, rights_names[k]))
            return k == 0 ? RIGHT_LOCK | RIGHT_SHARED : 1u << k;
    return rights_equals(w, "all") ? RIGHTS_ALL : rights_equals(w, "none") ? RIGHTS_ALL + 1 : 0;
}

bool rights_parse_rights(unsigned *rights, const char *text, size_t len, char why[RIGHTS_WHY_MAX])
{
    const char *end = text + len;
    unsigned all = 0;

    for (;;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        struct rights_word w = {text, (size_t)((comma ? comma : end) - text)};
        unsigned one = rights_one(w);

        if (!one) {
            snprintf(why, RIGHTS_WHY_MAX,
                     "\"%.*s\" is no right; there are lock, shared, watch, force-unlock, admin, all and none, with "
                     "commas between them",
                     (int)(w.len < 80 ? w.len : 80), w.at);
            return false;
        }
        all |= one;
        if (!comma)
            break;
        text = comma + 1;
    }
    if (all > RIGHTS_ALL + 1) {
        snprintf(why, RIGHTS_WHY_MAX, "\"none\" stands alone: it refuses every right");
        return false;
    }
    *rights = all & RIGHTS_ALL;
    return true;
}

bool rights_parse_rule(struct rights_rule *r, const char *text, char why[RIGHTS_WHY_MAX])
{
    struct rights_word who = rights_next(&text), rights = rights_next(&text), pattern = rights_next(&text),
                       more = rights_next(&text);

    *r = (struct rights_rule){.line = 0};
    if (!pattern.len || more.len) {
        snprintf(why, RIGHTS_WHY_MAX,
                 "a rule is three words: allow WHO RIGHTS PATTERN, as in allow user:alice lock,watch build-*");
        return false;
    }
    if (!rights_parse_subject(&r->who, who.at, who.len, why) ||
        !rights_parse_rights(&r->rights, rights.at, rights.len, why))
        return false;
    if (pattern.len > RIGHTS_PATTERN_MAX || !plain_text(pattern.at, pattern.len)) {
        snprintf(why, RIGHTS_WHY_MAX, "a pattern is UTF-8 of at most %d bytes, without control characters",
                 RIGHTS_PATTERN_MAX);
        return false;
    }
    memcpy(r->pattern, pattern.at, pattern.len);
    if (r->rights != RIGHTS_ALL && r->rights & RIGHT_ADMIN && strcmp(r->pattern, "*") != 0) {
        snprintf(why, RIGHTS_WHY_MAX, "admin is about the whole member, so the pattern of its rule is *");
        return false;
    }
    return true;
}

bool rights_parse_limit(struct rights_limit *l, const char *text, char why[RIGHTS_WHY_MAX])
{
    static const char *const keys[] = {"locks=", "waiters=", "connections="};
    struct rights_word who = rights_next(&text), w;
    uint32_t *const values[] = {&l->locks, &l->waiters, &l->connections};
    unsigned seen = 0;

    *l = (struct rights_limit){.line = 0};
    if (who.len && !rights_parse_subject(&l->who, who.at, who.len, why))
        return false;
    while ((w = rights_next(&text)).len) {
        unsigned k = 0;

        while (k < 3 && (w.len < strlen(keys[k]) || memcmp(w.at, keys[k], strlen(keys[k])) != 0))
            k++;
        if (k == 3 || seen & 1u << k || !rights_number(w.at + strlen(keys[k]), w.len - strlen(keys[k]), values[k]) ||
            !*values[k]) {
            snprintf(
                why, RIGHTS_WHY_MAX,
                "\"%.*s\" is no limit; there are locks=N, waiters=N and connections=N, each once, with N from 1 on",
                (int)(w.len < 80 ? w.len : 80), w.at);
            return false;
        }
        seen |= 1u << k;
    }
    if (!seen)
        snprintf(why, RIGHTS_WHY_MAX,
                 "a limit is a client and what it may use: limit WHO locks=N waiters=N connections=N");
    return seen;
}

bool rights_parse_login(struct rights_login *l, const char *text, char why[RIGHTS_WHY_MAX])
{
    struct rights_word name = rights_next(&text), hash = rights_next(&text), more = rights_next(&text);

    *l = (struct rights_login){.line = 0};
    if (!rights_is_name(name.at, name.len) || !hash.len || hash.len > RIGHTS_HASH_MAX || more.len) {
        snprintf(why, RIGHTS_WHY_MAX,
                 "a login is a name and the hash of its password, as \"dibs passwd NAME\" prints it");
        return false;
    }
    memcpy(l->name, name.at, name.len);
    memcpy(l->hash, hash.at, hash.len);
    return true;
}

void rights_print_rights(unsigned rights, char text[64])
{
    size_t len = 0;

    if (rights == RIGHTS_ALL || !rights) {
        snprintf(text, 64, "%s", rights ? "all" : "none");
        return;
    }
    for (unsigned k = 0; k < RIGHTS_BITS; k++)
        if (rights & 1u << k && !(k == 1 && rights & RIGHT_LOCK)) /* lock includes shared */
            len += (size_t)snprintf(text + len, 64 - len, "%s%s", len ? "," : "", rights_names[k]);
}

void rights_print_subject(const struct rights_subject *s, char text[RIGHTS_LABEL_MAX])
{
    snprintf(text, RIGHTS_LABEL_MAX, "%s%s%s", rights_kinds[s->kind], s->kind == RIGHTS_ANY ? "" : ":", s->name);
}

void rights_print_limit(const struct rights_limit *l, char text[RIGHTS_WHY_MAX])
{
    char who[RIGHTS_LABEL_MAX];
    size_t len;

    rights_print_subject(&l->who, who);
    len = (size_t)snprintf(text, RIGHTS_WHY_MAX, "%s", who);
    if (l->locks)
        len += (size_t)snprintf(text + len, RIGHTS_WHY_MAX - len, " locks=%u", (unsigned)l->locks);
    if (l->waiters)
        len += (size_t)snprintf(text + len, RIGHTS_WHY_MAX - len, " waiters=%u", (unsigned)l->waiters);
    if (l->connections)
        snprintf(text + len, RIGHTS_WHY_MAX - len, " connections=%u", (unsigned)l->connections);
}

void rights_print_rule(const struct rights_rule *r, char text[RIGHTS_WHY_MAX])
{
    char who[RIGHTS_LABEL_MAX], rights[64];

    rights_print_subject(&r->who, who);
    rights_print_rights(r->rights, rights);
    snprintf(text, RIGHTS_WHY_MAX, "%s %s %s", who, rights, r->pattern);
}
