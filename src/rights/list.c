/* list.c - whole tables of rights: what must be true of a line beside the others, and tables as text. See rights.h. */
#include "rights.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- a line beside the others */

/* Two users, or groups, are the same if their numbers are equal; if these are not known, if their names are. */
static bool rights_is_same(const struct rights_subject *a, const struct rights_subject *b)
{
    bool numbers = (a->kind == RIGHTS_USER || a->kind == RIGHTS_GROUP) && a->known && b->known;

    return a->kind == b->kind && (numbers ? a->number == b->number : strcmp(a->name, b->name) == 0);
}

static bool rights_can_log_in(const struct rights *t, const struct rights_subject *s, char why[RIGHTS_WHY_MAX])
{
    bool can = s->kind != RIGHTS_AUTH || rights_login(t, s->name, strlen(s->name));

    if (!can)
        snprintf(why, RIGHTS_WHY_MAX, "\"%s\" cannot log in: there is no line login %s HASH (dibs passwd %s prints it)",
                 s->name, s->name, s->name);
    return can;
}

/* Does an earlier rule decide everything that the last one is about? */
static bool rights_is_reached(const struct rights *t, char why[RIGHTS_WHY_MAX])
{
    const struct rights_rule *r = &t->rule[t->rules - 1];

    for (const struct rights_rule *before = t->rule; before < r; before++)
        if ((before->who.kind == RIGHTS_ANY || rights_is_same(&before->who, &r->who)) &&
            (strcmp(before->pattern, "*") == 0 || strcmp(before->pattern, r->pattern) == 0)) {
            snprintf(why, RIGHTS_WHY_MAX,
                     "this rule decides nothing: line %u comes first; put this one before it, or delete it",
                     before->line);
            return false;
        }
    return true;
}

/* Every name that a client says is compared with the patterns of all rules. */
static bool rights_is_cheap(const struct rights *t, char why[RIGHTS_WHY_MAX])
{
    uint32_t steps = 0, last = 0;

    for (unsigned k = 0; k < t->rules; k++)
        steps += last = rights_steps_max(&t->rule[k]);
    if (steps <= RIGHTS_STEPS_MAX || steps - last > RIGHTS_STEPS_MAX) /* else it was told of an earlier rule */
        return true;
    snprintf(
        why, RIGHTS_WHY_MAX,
        "with this rule a decision may take %u steps, and %d is the bound; use fewer ? and [] behind a *, or fewer "
        "rules",
        (unsigned)steps, RIGHTS_STEPS_MAX);
    return false;
}

bool rights_check_rule(const struct rights *t, char why[RIGHTS_WHY_MAX])
{
    assert(t->rules && t->rules <= RIGHTS_RULES_MAX);
    return rights_can_log_in(t, &t->rule[t->rules - 1].who, why) && rights_is_reached(t, why) &&
           rights_is_cheap(t, why);
}

bool rights_check_limit(const struct rights *t, char why[RIGHTS_WHY_MAX])
{
    const struct rights_limit *l = &t->limit[t->limits - 1];

    for (const struct rights_limit *before = t->limit; before < l; before++)
        if (before->who.kind == RIGHTS_ANY || rights_is_same(&before->who, &l->who)) {
            snprintf(why, RIGHTS_WHY_MAX,
                     "this limit is for no client: that in line %u comes first; put this one before it, or delete it",
                     before->line);
            return false;
        }
    return rights_can_log_in(t, &l->who, why);
}

bool rights_check_login(const struct rights *t, char why[RIGHTS_WHY_MAX])
{
    const struct rights_login *l = &t->login[t->logins - 1], *first = rights_login(t, l->name, strlen(l->name));

    if (first != l)
        snprintf(why, RIGHTS_WHY_MAX, "\"%s\" has a password in line %u already; keep one of them", l->name,
                 first->line);
    return first == l;
}

/* --------------------------------------------------------------------------------------------------------------- text */

static void rights_doubt(struct rights_subject *s)
{
    s->unsure = (s->kind == RIGHTS_USER || s->kind == RIGHTS_GROUP) && !s->known;
}

static bool rights_read_rule(struct rights *t, const char *text, unsigned line, char why[RIGHTS_WHY_MAX])
{
    struct rights_rule *r = &t->rule[t->rules];

    if (!rights_parse_rule(r, text, why))
        return false;
    r->line = line;
    rights_doubt(&r->who);
    t->rules++;
    return rights_check_rule(t, why);
}

static bool rights_read_limit(struct rights *t, const char *text, unsigned line, char why[RIGHTS_WHY_MAX])
{
    struct rights_limit *l = &t->limit[t->limits];

    if (!rights_parse_limit(l, text, why))
        return false;
    l->line = line;
    rights_doubt(&l->who);
    t->limits++;
    return rights_check_limit(t, why);
}

static bool rights_read_login(struct rights *t, const char *text, unsigned line, char why[RIGHTS_WHY_MAX])
{
    struct rights_login *l = &t->login[t->logins];

    if (!rights_parse_login(l, text, why))
        return false;
    l->line = line;
    t->logins++;
    return rights_check_login(t, why);
}

/* The kinds of lines, in the order in which they are read: logins come first, since a rule or a limit may be about a login. */
static const struct {
    const char *key;
    unsigned max;
    bool (*read)(struct rights *t, const char *text, unsigned line, char why[RIGHTS_WHY_MAX]);
} rights_lines[] = {
    {"login ", RIGHTS_LOGINS_MAX, rights_read_login},
    {"allow ", RIGHTS_RULES_MAX, rights_read_rule},
    {"limit ", RIGHTS_LIMITS_MAX, rights_read_limit},
};
enum { KEYS = sizeof rights_lines / sizeof rights_lines[0], KEY_LEN = 6 };

static unsigned rights_key(const char *line)
{
    unsigned key = 0;

    while (key < KEYS && strncmp(line, rights_lines[key].key, KEY_LEN) != 0)
        key++;
    return key;
}

/* Reads the lines with this key. The text has zero bytes in the place of its line feeds. */
static bool rights_read_lines(struct rights *t, const char *text, size_t len, unsigned key, char why[RIGHTS_WHY_MAX])
{
    unsigned number = 1, count = 0;

    for (const char *line = text; line < text + len; line += strlen(line) + 1, number++) {
        char wrong[RIGHTS_WHY_MAX] = "this is no line \"allow ..\", \"limit ..\" or \"login ..\"";
        unsigned is = rights_key(line);
        bool good = is != KEYS;

        if (is == key && count++ == rights_lines[key].max) {
            snprintf(wrong, sizeof wrong, "there are more than %u lines with \"%.5s\"", rights_lines[key].max, line);
            good = false;
        } else if (is == key) {
            good = rights_lines[key].read(t, line + KEY_LEN, number, wrong);
        }
        if (!good) {
            snprintf(why, RIGHTS_WHY_MAX, "line %u: %.1900s", number, wrong);
            return false;
        }
    }
    return true;
}

bool rights_read(struct rights *t, const char *text, size_t len, char why[RIGHTS_WHY_MAX])
{
    char *copy = mem_new(len + 1);
    bool good = true;

    memset(t, 0, sizeof *t);
    t->agreed = true;
    snprintf(t->file, sizeof t->file, "the agreed rights");
    if (len)
        memcpy(copy, text, len);
    if (len && (memchr(copy, '\0', len) || copy[len - 1] != '\n')) {
        snprintf(why, RIGHTS_WHY_MAX, "the last line has no line feed at its end, or there is a zero byte");
        good = false;
    }
    for (size_t k = 0; k < len; k++)
        if (copy[k] == '\n')
            copy[k] = '\0';
    for (unsigned key = 0; good && key < KEYS; key++)
        good = rights_read_lines(t, copy, len, key, why);
    free(copy);
    return good;
}

static void rights_add_line(struct bytes *to, const char *key, const char *text)
{
    char line[RIGHTS_WHY_MAX + 16];
    size_t len = (size_t)snprintf(line, sizeof line, "%s%s\n", key, text);

    memcpy(bytes_add(to, len), line, len);
}

void rights_print(const struct rights *t, struct bytes *to)
{
    char text[RIGHTS_WHY_MAX];

    for (unsigned k = 0; t && k < t->rules; k++) {
        rights_print_rule(&t->rule[k], text);
        rights_add_line(to, "allow ", text);
    }
    for (unsigned k = 0; t && k < t->limits; k++) {
        rights_print_limit(&t->limit[k], text);
        rights_add_line(to, "limit ", text);
    }
    for (unsigned k = 0; t && k < t->logins; k++) {
        snprintf(text, sizeof text, "%s %s", t->login[k].name, t->login[k].hash);
        rights_add_line(to, "login ", text);
    }
}

void rights_count(const struct rights *t, char text[RIGHTS_COUNTS_MAX])
{
    snprintf(text, RIGHTS_COUNTS_MAX, "%u rules, %u limits, %u logins", t ? t->rules : 0, t ? t->limits : 0,
             t ? t->logins : 0);
}

/* ---------------------------------------------------------------------------------------------------- users and groups */

/* The subjects of all rules, then those of all limits; null behind the last. */
static struct rights_subject *rights_subject_at(struct rights *t, unsigned k)
{
    return k < t->rules ? &t->rule[k].who : k - t->rules < t->limits ? &t->limit[k - t->rules].who : NULL;
}

const struct rights_subject *rights_unsure(const struct rights *t)
{
    for (unsigned k = 0; t && k < t->rules; k++)
        if (t->rule[k].who.unsure)
            return &t->rule[k].who;
    for (unsigned k = 0; t && k < t->limits; k++)
        if (t->limit[k].who.unsure)
            return &t->limit[k].who;
    return NULL;
}

bool rights_learn(struct rights *t, const struct rights_subject *learnt)
{
    struct rights_subject *s;
    bool news = false;

    for (unsigned k = 0; (s = rights_subject_at(t, k)); k++)
        if (s->kind == learnt->kind && strcmp(s->name, learnt->name) == 0) {
            news |= s->unsure || s->known != learnt->known || s->number != learnt->number;
            *s = *learnt;
        }
    return news;
}

void rights_learn_from(struct rights *t, const struct rights *before)
{
    for (unsigned k = 0; before && k < before->rules + before->limits; k++) {
        const struct rights_subject *s =
            k < before->rules ? &before->rule[k].who : &before->limit[k - before->rules].who;

        if ((s->kind == RIGHTS_USER || s->kind == RIGHTS_GROUP) && !s->unsure)
            rights_learn(t, s);
    }
}
