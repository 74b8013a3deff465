/* rights.c - the decision by the rules, and its explanation. See rights.h. */
#include "rights.h"

#include "base/glob.h"
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void *rights_duplicate(const void *bytes, size_t len)
{
    return bytes ? memcpy(mem_new(len + !len), bytes, len) : NULL;
}

struct rights_who *rights_copy(const struct rights_who *who)
{
    struct rights_who *copy = mem_new(sizeof *copy);
    size_t certs = 0;

    if (!who)
        return copy;
    *copy = *who;
    while (who->certs && who->certs[certs])
        certs += strlen(who->certs + certs) + 1;
    copy->group = rights_duplicate(who->group, who->groups * sizeof *who->group);
    copy->key = rights_duplicate(who->key, who->key ? strlen(who->key) + 1 : 0);
    copy->certs = rights_duplicate(who->certs, certs + 1);
    return copy;
}

void rights_free(struct rights_who *who)
{
    if (!who)
        return;
    free(who->group);
    free(who->key);
    free(who->certs);
    free(who);
}

static bool rights_has_group(const struct rights_who *who, uint32_t group)
{
    for (uint32_t k = 0; k < who->groups; k++)
        if (who->group[k] == group)
            return true;
    return false;
}

/* Names of machines are the same in capital and small letters. */
static bool rights_has_cert(const struct rights_who *who, const char *name)
{
    for (const char *at = who->certs; at && *at; at += strlen(at) + 1)
        if (strcasecmp(at, name) == 0)
            return true;
    return false;
}

static bool rights_is(const struct rights_subject *s, const struct rights_who *who)
{
    if (s->kind == RIGHTS_ANY)
        return true;
    if (!who)
        return false;
    switch (s->kind) {
    case RIGHTS_USER:
        return s->known && who->has_user && who->user == s->number;
    case RIGHTS_GROUP:
        return s->known && rights_has_group(who, s->number);
    case RIGHTS_KEY:
        return who->key && strcmp(who->key, s->name) == 0;
    case RIGHTS_CERT:
        return rights_has_cert(who, s->name);
    default:
        assert(s->kind == RIGHTS_AUTH);
        return who->auth[0] && strcmp(who->auth, s->name) == 0;
    }
}

/* Might the client be this subject, of which the table is unsure? */
static bool rights_may_be(const struct rights_subject *s, const struct rights_who *who)
{
    return s->unsure && who && (s->kind == RIGHTS_USER ? who->has_user : who->groups > 0);
}

bool rights_operates(const struct rights *t, const struct rights_who *who)
{
    return who && (who->operates || (who->certified && !(t && t->rules)));
}

struct rights_verdict rights_decide(const struct rights *t, const struct rights_who *who, unsigned any_of,
                                    const char *name, size_t name_len)
{
    static const unsigned without_rules = RIGHT_LOCK | RIGHT_SHARED | RIGHT_WATCH;
    uint64_t cost = 0;

    assert(any_of && (!t || t->rules <= RIGHTS_RULES_MAX));
    if (rights_operates(t, who))
        return (struct rights_verdict){.allowed = true, .by_default = true};
    if (!t || !t->rules)
        return (struct rights_verdict){.allowed = (any_of & without_rules) != 0, .by_default = true};
    for (unsigned k = 0; k < t->rules; k++) {
        const struct rights_rule *r = &t->rule[k];
        bool unsure = rights_may_be(&r->who, who);

        if ((unsure || rights_is(&r->who, who)) && glob_matches(r->pattern, strlen(r->pattern), name, name_len, &cost))
            return (struct rights_verdict){
                .allowed = !unsure && (any_of & r->rights) != 0, .unsure = unsure, .rule = r, .steps = cost};
    }
    return (struct rights_verdict){.allowed = false, .steps = cost};
}

/* See glob.h: the part behind a star, if it has a ? or a set, is compared again at every byte of the name. */
uint32_t rights_steps_max(const struct rights_rule *r)
{
    enum { NAME_MAX_BYTES = 255 };
    uint32_t len = (uint32_t)strlen(r->pattern);
    const char *star = strchr(r->pattern, '*');

    return len + NAME_MAX_BYTES + (star && star[strcspn(star, "?[\\")] ? (uint32_t)strlen(star) * NAME_MAX_BYTES : 0);
}

const struct rights_limit *rights_limit(const struct rights *t, const struct rights_who *who)
{
    for (unsigned k = 0; t && k < t->limits; k++)
        if (rights_is(&t->limit[k].who, who))
            return &t->limit[k];
    return NULL;
}

const struct rights_login *rights_login(const struct rights *t, const char *name, size_t len)
{
    for (unsigned k = 0; t && k < t->logins; k++)
        if (strlen(t->login[k].name) == len && memcmp(t->login[k].name, name, len) == 0)
            return &t->login[k];
    return NULL;
}

void rights_label(const struct rights_who *who, char text[RIGHTS_LABEL_MAX])
{
    if (who && who->auth[0])
        snprintf(text, RIGHTS_LABEL_MAX, "auth:%s", who->auth);
    else if (who && who->key)
        snprintf(text, RIGHTS_LABEL_MAX, "key:%s", who->key);
    else if (who && who->certs && *who->certs)
        snprintf(text, RIGHTS_LABEL_MAX, "cert:%s", who->certs);
    else if (who && who->has_user)
        snprintf(text, RIGHTS_LABEL_MAX, "user:%u", (unsigned)who->user);
    else
        snprintf(text, RIGHTS_LABEL_MAX, "any");
}

void rights_place(const struct rights *t, unsigned line, char text[RIGHTS_PLACE_MAX])
{
    snprintf(text, RIGHTS_PLACE_MAX, t->agreed ? "%s, line %u" : "%s:%u", t->file, line);
}

void rights_explain(const struct rights *t, const struct rights_who *who, unsigned any_of, const char *name,
                    size_t name_len, struct rights_verdict v, char text[RIGHTS_WHY_MAX])
{
    char label[RIGHTS_LABEL_MAX], needs[64], rule[RIGHTS_WHY_MAX] = "", about[300] = "", place[RIGHTS_PLACE_MAX];

    rights_label(who, label);
    rights_print_rights(any_of, needs);
    if (name_len)
        snprintf(about, sizeof about, " for \"%.*s\"", (int)name_len, name);
    if (v.rule) {
        rights_print_rule(v.rule, rule);
        rights_place(t, v.rule->line, place);
    }
    if (v.by_default && rights_operates(t, who))
        snprintf(text, RIGHTS_WHY_MAX, "%s is an operator, who has all rights", label);
    else if (v.by_default)
        snprintf(text, RIGHTS_WHY_MAX,
                 "%s %s the right %s%s: without rules, every client may lock and watch, and only "
                 "operators may do more",
                 label, v.allowed ? "has" : "does not have", needs, about);
    else if (v.unsure)
        snprintf(text, RIGHTS_WHY_MAX,
                 "%s does not have the right %s%s for now: the daemon does not know yet which one the rule in %s is "
                 "about on "
                 "this machine: allow %.500s",
                 label, needs, about, place, rule);
    else if (v.rule)
        snprintf(text, RIGHTS_WHY_MAX, "%s %s the right %s%s, by the rule in %s: allow %.500s", label,
                 v.allowed ? "has" : "does not have", needs, about, place, rule);
    else
        snprintf(text, RIGHTS_WHY_MAX, "%s does not have the right %s%s, as no rule in %s is about both", label, needs,
                 about, t->file);
}
