/* dibs may - tells whether a client has a right, and by which rule: from a configuration file, or by asking a daemon. */
#include "ask.h"
#include "cli.h"
#include "serve/conf.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum { MAY_GROUPS_MAX = 60, MAY_WHO_MAX = 3500 };

/* What the word WHO stands for. */
struct may {
    struct rights_subject subject;
    gid_t group[MAY_GROUPS_MAX];
    int groups;
};

/* A user of this machine is in its groups. */
static void may_groups(struct may *m)
{
    const struct passwd *user = m->subject.kind == RIGHTS_USER ? getpwuid(m->subject.number) : NULL;

    m->groups = 0;
    if (m->subject.kind == RIGHTS_GROUP)
        m->group[m->groups++] = m->subject.number;
    if (!user)
        return;
    m->groups = MAY_GROUPS_MAX;
    if (getgrouplist(user->pw_name, user->pw_gid, m->group, &m->groups) < 0)
        cli_die("\"%s\" is in more than %d groups", user->pw_name, MAY_GROUPS_MAX);
}

static void may_read_who(struct may *m, const char *text)
{
    char why[RIGHTS_WHY_MAX];
    int error;

    if (!rights_parse_subject(&m->subject, text, strlen(text), why))
        cli_die("%s", why);
    error = conf_ask_subject(&m->subject);
    if (error)
        cli_die("cannot look up %s: %s; try again, or write its number", text, strerror(error));
    if (!m->subject.known && (m->subject.kind == RIGHTS_USER || m->subject.kind == RIGHTS_GROUP))
        cli_die("there is no %s on this machine; write its number", text);
    may_groups(m);
}

/* Offline: by the rules in a file. */
static int may_by_file(const char *file, struct may *m, unsigned right, const char *name)
{
    static struct conf_draft draft;
    struct rights *t = conf_read_rights(&draft, file);
    struct rights_subject *s = &m->subject;
    struct rights_who who = {.has_user = s->kind == RIGHTS_USER, .user = s->number, .group = m->group};
    char text[RIGHTS_WHY_MAX], certs[RIGHTS_NAME_MAX + 2] = "";
    struct rights_verdict v;

    if (!t) {
        conf_tell(&draft, stderr);
        return CLI_USAGE;
    }
    who.groups = (uint32_t)m->groups;
    who.operates = who.has_user && who.user == 0;
    if (s->kind == RIGHTS_KEY)
        who.key = s->name;
    if (s->kind == RIGHTS_CERT)
        memcpy(who.certs = certs, s->name, strlen(s->name));
    if (s->kind == RIGHTS_AUTH)
        memcpy(who.auth, s->name, sizeof s->name);
    v = rights_decide(t, &who, right, name, strlen(name));
    rights_explain(t, &who, right, name, strlen(name), v, text);
    printf("%s: %s\n", v.allowed ? "yes" : "no", text);
    free(t);
    return v.allowed ? CLI_OK : CLI_FAILED;
}

/* The subjects of WHO, with numbers, as the daemon knows them. */
static void may_print_who(const struct may *m, char *text, size_t size)
{
    const struct rights_subject *s = &m->subject;
    char label[RIGHTS_LABEL_MAX];
    size_t len;

    rights_print_subject(s, label);
    if (s->kind == RIGHTS_USER || s->kind == RIGHTS_GROUP)
        snprintf(label, sizeof label, "%s:%u", s->kind == RIGHTS_USER ? "user" : "group", (unsigned)s->number);
    len = (size_t)snprintf(text, size, "%s", label);
    for (int k = 0; s->kind == RIGHTS_USER && k < m->groups && len < size; k++)
        len += (size_t)snprintf(text + len, size - len, ",group:%u", (unsigned)m->group[k]);
}

/* By the rules that a daemon has. */
static int may_ask(const struct ask_place *place, const char *who, const char *right, const char *name)
{
    const char *words[] = {"MAY", who, right, name};
    struct dibs *d = ask_connect(place, NULL, CLI_USAGE);
    struct dibs_reply *r = NULL;
    bool allowed;

    if (dibs_ask(d, words, *name ? 4 : 3, &r) != DIBS_OK || r->type != DIBS_LIST || r->count != 2)
        cli_die("%s", dibs_message(d));
    allowed = r->item[0]->number;
    printf("%s: %s\n", allowed ? "yes" : "no", ask_clean(r->item[1]->text));
    dibs_free(r);
    dibs_close(d);
    return allowed ? CLI_OK : CLI_FAILED;
}

int cmd_may(int argc, char **argv)
{
    struct ask_place place = {0};
    const char *file = NULL, *words[3];
    bool me;
    char who[MAY_WHO_MAX] = "me";
    const struct cli_option options[] = {
        {"--config", CLI_TEXT, &file, "FILE",
         "decide by the rules in FILE, a configuration of dibs serve (default: ask the daemon)", 0, 0, NULL},
        ASK_PLACE_OPTIONS(place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs may WHO RIGHT [NAME] [OPTION...]",
        "Tells whether a client has a right, and by which rule of the configuration.\n\n"
        "WHO is me, any, user:NAME, group:NAME, key:NAME, cert:NAME or auth:NAME; a user is in its groups. RIGHT is "
        "lock, shared, watch, force-unlock or admin, which has no NAME. \"dibs serve --help\" describes the rules.\n\n"
        "The owner of the daemon's socket, root and holders of the cluster key have all rights, whatever the rules "
        "are. A file does not tell who the owner is.\n\n"
        "Exit status: 0 yes, 1 no, 2 the command line or the file is wrong.",
        options,
        {{"May the user alice take the lock \"backup\"?",
          "dibs may user:alice lock backup --config /etc/dibs/dibs.conf"},
         {"May holders of the key \"ci\" see who holds build-1?", "dibs may key:ci watch build-1 --config dibs.conf"}},
    };
    struct may m;
    char why[RIGHTS_WHY_MAX];
    unsigned right;
    int count = cli_parse(argc, argv, &usage, words, 3);

    if (count < 2)
        cli_die("a client or a right is missing (usage: %s)", usage.line);
    me = strcmp(words[0], "me") == 0;
    if (!me)
        may_read_who(&m, words[0]);
    if (me && file)
        cli_die("a file does not tell who you are; leave out --config, or write user:NAME");
    if (!rights_parse_rights(&right, words[1], strlen(words[1]), why) || !right || right == RIGHTS_ALL)
        cli_die("\"%s\" is not one right; there are lock, shared, watch, force-unlock and admin", words[1]);
    if (right == (RIGHT_LOCK | RIGHT_SHARED))
        right = RIGHT_LOCK;
    if ((right == RIGHT_ADMIN) == (count == 3))
        cli_die(count == 3 ? "admin is about no lock: dibs may %s admin"
                           : "this right is about a lock, and none is named: dibs may %s %s NAME",
                words[0], words[1]);
    if (!file && !me)
        may_print_who(&m, who, sizeof who);
    if (!file)
        return may_ask(&place, who, words[1], count == 3 ? words[2] : "");
    return may_by_file(file, &m, right, count == 3 ? words[2] : "");
}
