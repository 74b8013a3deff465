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

enum { ALLOW_FILE_MAX = 1 << 20, ALLOW_ROOM = 1 << 14, ALLOW_ROOM_MAX = 1 << 24 };

/* Asks once, with this room for the answer: a group takes room for the names of all its members. */
static int allow_ask(struct rights_subject *s, char *room, size_t size)
{
    struct passwd user, *found = NULL;
    struct group group, *found_group = NULL;
    int error;

    if (s->kind == RIGHTS_USER)
        error = getpwnam_r(s->name, &user, room, size, &found);
    else
        error = getgrnam_r(s->name, &group, room, size, &found_group);
    /* These errors also mean that there is no such name: systems differ in what they return then. */
    if (error && error != ENOENT && error != ESRCH && error != EBADF && error != EPERM)
        return error;
    s->unsure = false;
    s->known = found || found_group;
    s->number = found ? found->pw_uid : found_group ? found_group->gr_gid : 0;
    return 0;
}

int conf_ask_subject(struct rights_subject *s)
{
    int error = ERANGE;

    if (s->known || (s->kind != RIGHTS_USER && s->kind != RIGHTS_GROUP))
        return 0;
    for (size_t size = ALLOW_ROOM; error == ERANGE && size <= ALLOW_ROOM_MAX; size *= 4) {
        char *room = malloc(size); /* without it, the daemon goes on: no reserve is used */

        error = room ? allow_ask(s, room, size) : ENOMEM;
        free(room);
    }
    return error;
}

/* The machine has to know a user or a group. Returns false after a mistake. */
static bool allow_subject(struct conf_draft *d, const struct conf_setting *at, struct rights_subject *s)
{
    const char *what = s->kind == RIGHTS_USER ? "user" : "group";
    int error = conf_ask_subject(s);
    bool known = s->known || (s->kind != RIGHTS_USER && s->kind != RIGHTS_GROUP);

    if (error)
        conf_mistake(d, at, "cannot look up the %s \"%s\": %s; try again, or write its number: %s:1234", what, s->name,
                     strerror(error), what);
    else if (!known)
        conf_mistake(d, at, "there is no %s \"%s\" on this machine; make it, or write its number: %s:1234", what,
                     s->name, what);
    return known;
}

static void allow_logins(struct conf_draft *d, struct rights *t)
{
    for (uint32_t k = 0; k < d->logins; k++) {
        struct rights_login *l = &t->login[t->logins];
        const struct conf_setting *at = &d->login[k];
        char why[RIGHTS_WHY_MAX];

        if (!rights_parse_login(l, at->text, why)) {
            conf_mistake(d, at, "%s", why);
            continue;
        }
        l->line = at->line;
        t->logins++;
        if (!password_is_hash(l->hash))
            conf_mistake(d, at, "this is no hash of a password; dibs passwd %s prints the whole line", l->name);
        else if (!rights_check_login(t, why))
            conf_mistake(d, at, "%s", why);
    }
}

struct rights *conf_rights(struct conf_draft *d, bool here)
{
    struct rights *t = mem_new(sizeof *t);
    char why[RIGHTS_WHY_MAX];

    strncpy(t->file, d->file ? d->file : "the configuration", RIGHTS_FILE_MAX);
    allow_logins(d, t);
    for (uint32_t k = 0; k < d->allows; k++) {
        struct rights_rule *r = &t->rule[t->rules];
        bool good = rights_parse_rule(r, d->allow[k].text, why);

        r->line = d->allow[k].line;
        t->rules += good;
        if (!good || ((!here || allow_subject(d, &d->allow[k], &r->who)) && !rights_check_rule(t, why)))
            conf_mistake(d, &d->allow[k], "%s", why);
    }
    for (uint32_t k = 0; k < d->limits; k++) {
        struct rights_limit *l = &t->limit[t->limits];
        bool good = rights_parse_limit(l, d->limit[k].text, why);

        l->line = d->limit[k].line;
        t->limits += good;
        if (!good || ((!here || allow_subject(d, &d->limit[k], &l->who)) && !rights_check_limit(t, why)))
            conf_mistake(d, &d->limit[k], "%s", why);
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
    if (text && memchr(text, '\0', len)) { /* what follows would be left out, perhaps all rules */
        conf_mistake(d, NULL, "this is no text: it has zero bytes");
        free(text);
        text = NULL;
    }
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
        t = conf_rights(d, true);
    }
    if (d->mistakes) {
        free(t);
        t = NULL;
    }
    free(text);
    return t;
}
