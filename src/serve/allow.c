/* allow.c - the rights of clients, as the lines `allow`, `limit` and `login` of a configuration have them. See
 * rights/rights.h.
 *
 * Users and groups are looked up by name once, when the rules are read. That may take the network, so at SIGHUP a thread does it. */
#include "conf.h"

#include "base/memory.h"
#include "tls/password.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOW_FILE_MAX = 1 << 20 };

bool conf_know_subject(struct rights_subject *s)
{
    char room[16384];
    struct passwd user, *found = NULL;
    struct group group, *found_group = NULL;

    if (s->known || (s->kind != RIGHTS_USER && s->kind != RIGHTS_GROUP))
        return true;
    if (s->kind == RIGHTS_USER && getpwnam_r(s->name, &user, room, sizeof room, &found) == 0 && found)
        s->number = found->pw_uid;
    if (s->kind == RIGHTS_GROUP && getgrnam_r(s->name, &group, room, sizeof room, &found_group) == 0 && found_group)
        s->number = found_group->gr_gid;
    s->known = found || found_group;
    return s->known;
}

/* A subject of a rule or a limit: the machine, or the file, has to know it. */
static void allow_subject(struct conf_draft *d, const struct conf_setting *at, const struct rights *t,
                          struct rights_subject *s)
{
    bool user = s->kind == RIGHTS_USER;

    if (!conf_know_subject(s))
        conf_mistake(d, at, "there is no %s \"%s\" on this machine; make it, or write its number: %s:1234",
                     user ? "user" : "group", s->name, user ? "user" : "group");
    else if (s->kind == RIGHTS_AUTH && !rights_login(t, s->name, strlen(s->name)))
        conf_mistake(d, at, "\"%s\" cannot log in: there is no line login %s HASH (dibs passwd %s prints it)", s->name,
                     s->name, s->name);
}

static bool allow_is_same(const struct rights_subject *a, const struct rights_subject *b)
{
    return a->kind == b->kind &&
           (a->kind == RIGHTS_USER || a->kind == RIGHTS_GROUP ? a->number == b->number : strcmp(a->name, b->name) == 0);
}

/* Does an earlier rule decide everything that this one is about? */
static void allow_reach(struct conf_draft *d, const struct conf_setting *at, const struct rights *t, unsigned k)
{
    const struct rights_rule *r = &t->rule[k];

    for (unsigned i = 0; i < k; i++) {
        const struct rights_rule *before = &t->rule[i];

        if ((before->who.kind == RIGHTS_ANY || allow_is_same(&before->who, &r->who)) &&
            (strcmp(before->pattern, "*") == 0 || strcmp(before->pattern, r->pattern) == 0)) {
            conf_mistake(d, at, "this rule decides nothing: line %u comes first; put this one before it, or delete it",
                         before->line);
            return;
        }
    }
}

/* Every name that a client says is compared with the patterns of all rules. */
static void allow_cost(struct conf_draft *d, const struct conf_setting *at, const struct rights *t)
{
    uint32_t steps = 0, last = 0;

    for (unsigned k = 0; k < t->rules; k++)
        steps += last = rights_steps_max(&t->rule[k]);
    if (steps > RIGHTS_STEPS_MAX && steps - last <= RIGHTS_STEPS_MAX)
        conf_mistake(d, at,
                     "with this rule a decision may take %u steps, and %d is the bound; use fewer ? and [] behind a *, "
                     "or fewer rules",
                     (unsigned)steps, RIGHTS_STEPS_MAX);
}

struct rights *conf_rights(struct conf_draft *d)
{
    struct rights *t = mem_new(sizeof *t);
    char why[RIGHTS_WHY_MAX];

    strncpy(t->file, d->file ? d->file : "the configuration", RIGHTS_FILE_MAX);
    for (uint32_t k = 0; k < d->logins; k++) {
        struct rights_login l;

        if (!rights_parse_login(&l, d->login[k].text, why))
            conf_mistake(d, &d->login[k], "%s", why);
        else if (!password_is_hash(l.hash))
            conf_mistake(d, &d->login[k], "this is no hash of a password; dibs passwd %s prints the whole line",
                         l.name);
        else if (rights_login(t, l.name, strlen(l.name)))
            conf_mistake(d, &d->login[k], "\"%s\" has a password in line %u already; keep one of them", l.name,
                         rights_login(t, l.name, strlen(l.name))->line);
        else {
            l.line = d->login[k].line;
            t->login[t->logins++] = l;
        }
    }
    for (uint32_t k = 0; k < d->allows; k++) {
        struct rights_rule *r = &t->rule[t->rules];

        if (!rights_parse_rule(r, d->allow[k].text, why)) {
            conf_mistake(d, &d->allow[k], "%s", why);
            continue;
        }
        r->line = d->allow[k].line;
        allow_subject(d, &d->allow[k], t, &r->who);
        allow_reach(d, &d->allow[k], t, t->rules++);
        allow_cost(d, &d->allow[k], t);
    }
    for (uint32_t k = 0; k < d->limits; k++) {
        struct rights_limit *l = &t->limit[t->limits++];

        if (!rights_parse_limit(l, d->limit[k].text, why))
            conf_mistake(d, &d->limit[k], "%s", why);
        else
            allow_subject(d, &d->limit[k], t, &l->who);
        l->line = d->limit[k].line;
    }
    return t;
}

/* The text of the file, to be freed; or null after a mistake. */
static char *allow_read_file(struct conf_draft *d, const char *file)
{
    FILE *from = fopen(file, "re");
    char *text = from ? mem_new(ALLOW_FILE_MAX + 1) : NULL;
    size_t len = from ? fread(text, 1, ALLOW_FILE_MAX + 1, from) : 0;

    if (!from || ferror(from) || len > ALLOW_FILE_MAX) {
        conf_mistake(d, NULL, "cannot read it: %s", len > ALLOW_FILE_MAX ? "it is too long" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (from)
        fclose(from);
    if (text)
        text[len] = '\0';
    return text;
}

struct rights *conf_read_rights(struct conf_draft *d, const char *file)
{
    struct rights *t = NULL;
    char *text;

    conf_begin(d);
    d->file = file;
    text = allow_read_file(d, file);
    if (text) {
        conf_read(d, file, text);
        t = conf_rights(d);
    }
    if (d->mistakes) {
        free(t);
        t = NULL;
    }
    free(text);
    return t;
}
