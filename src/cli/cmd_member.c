/* dibs member - who belongs to the cluster: list, add, remove. */
#include "ask.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *member_field(const struct dibs_reply *map, const char *key)
{
    for (size_t k = 0; k + 1 < map->count; k += 2)
        if (map->item[k]->text && strcmp(map->item[k]->text, key) == 0)
            return map->item[k + 1]->type == DIBS_BOOLEAN ? map->item[k + 1]->number ? "yes" : "no"
                                                          : map->item[k + 1]->text;
    return NULL;
}

static struct dibs_reply *member_list(struct dibs *d)
{
    const char *const words[] = {"MEMBER", "LIST"};

    return ask_daemon(d, words, 2);
}

static bool member_is(const struct dibs_reply *m, const char *key, const char *value)
{
    const char *field = member_field(m, key);

    return field && strcmp(field, value) == 0;
}

/* Is there a member of this name? A member that is being removed, and no longer takes part, does not count. */
static bool member_is_there(const struct dibs_reply *list, const char *name)
{
    bool found = false;

    for (size_t k = 0; k < list->count; k++)
        found |= member_is(list->item[k], "name", name) && (!member_is(list->item[k], "standing", "being removed") ||
                                                            !member_is(list->item[k], "takes_part", "no"));
    return found;
}

/* What a change waits for: another one that has to be completed first, or a majority. */
static void member_explain(const struct dibs_reply *list, const char *name, const char *prefix)
{
    for (size_t k = 0; k < list->count; k++) {
        const struct dibs_reply *m = list->item[k];
        const char *other = member_field(m, "name");

        if (!other || member_is(m, "standing", "member") || strcmp(other, name) == 0)
            continue;
        if (member_is(m, "standing", "being removed"))
            fprintf(stderr, "dibs: %s: %s is being removed, and changes are made one at a time\n", prefix, other);
        else if (member_is(m, "takes_part", "yes"))
            fprintf(stderr, "dibs: %s: %s has been added, and has to catch up first\n", prefix, other);
        else
            fprintf(
                stderr,
                "dibs: %s: %s has been added and has not yet joined; start it with \"dibs serve --join\", or take it "
                "back with \"dibs member remove %s\"\n",
                prefix, other, other);
        return;
    }
    fprintf(stderr,
            "dibs: %s: a majority has to agree to it, one lease after the last change at the earliest; \"dibs member "
            "list\" and \"dibs status\" tell more\n",
            prefix);
}

/* The change has been agreed upon by a majority, or it has not within half a minute. */
static int member_await(struct dibs *d, const char *name, bool add)
{
    enum { TRIES = 300, QUIET = 20 };

    for (unsigned k = 0;; k++) {
        struct dibs_reply *list = member_list(d);
        bool done = member_is_there(list, name) == add;

        if (!done && (k == QUIET || k == TRIES))
            member_explain(list, name, k == QUIET ? "waiting" : "not done so far, and may still be");
        dibs_free(list);
        if (done) {
            printf(add ? "%s is added; start it with \"dibs serve --join\" within five minutes, and it counts as soon "
                         "as it has caught up\n"
                       : "%s is removed\n",
                   name);
            return CLI_OK;
        }
        if (k == TRIES)
            return CLI_FAILED;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* "dibs member remove" has ended when the member takes part no longer; it is in the list for a moment longer. */
static void member_await_removal(struct dibs *d, const char *name)
{
    enum { TRIES = 300 };
    bool leaves = true;

    for (unsigned k = 0; leaves && k < TRIES; k++) {
        struct dibs_reply *list = member_list(d);

        leaves = false;
        for (size_t j = 0; j < list->count; j++)
            leaves |= member_is(list->item[j], "name", name) && member_is(list->item[j], "standing", "being removed");
        dibs_free(list);
        if (leaves)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* Ends the program if that is no change. It is looked at before a daemon is asked for anything. */
static void member_check(const char *what, bool add, bool force)
{
    const char *equals = strchr(what, '=');

    if (add && (!equals || !equals[1]))
        cli_die("\"%s\" has no address; write NAME=ADDRESS:PORT", ask_clean(what));
    if (add && equals == what)
        cli_die("\"%s\" has no name; write NAME=ADDRESS:PORT", ask_clean(what));
    if (!add && equals)
        cli_die("\"%s\" has an address; to remove a member, write its NAME only", ask_clean(what));
    if (add && force)
        cli_die("--force is for removals");
}

static int member_change(struct dibs *d, bool add, bool force, char *what)
{
    char *equals = strchr(what, '=');
    const char *words[4] = {"MEMBER", add ? "ADD" : "REMOVE", what, force ? "FORCE" : equals ? equals + 1 : ""};

    if (equals)
        *equals = '\0';
    if (add)
        member_await_removal(d, what);
    dibs_free(ask_daemon(d, words, add || force ? 4 : 3));
    return member_await(d, what, add);
}

int cmd_member(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    const char *words[2] = {NULL, NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    bool force = false;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--force", CLI_FLAG, &force, NULL,
         "remove a member even if the members that take part would then be no majority", 0, 0, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs member list | add NAME=ADDRESS:PORT | remove MEMBER [OPTION...]",
        "Lists, adds or removes members of the cluster. Any member accepts a change. Changes are made one at a time, "
        "and each needs a majority of the members. Only an operator may make changes: the owner of the daemon's "
        "socket, root, or a holder of the cluster key.\n\n"
        "To add a member, run \"dibs member add\", then start the new daemon with \"dibs serve --join\" and a list of "
        "members that includes it and some of the others. If the new member does not join within five minutes, the "
        "addition is withdrawn; \"dibs member remove\" withdraws it at once.\n\n"
        "When a member is removed, its clients lose their locks. A member whose machine is gone is removed and added "
        "again, under its name or another one. A removal is refused if the members that take part would then be no "
        "majority.",
        options,
        {{"List the members and their states:", "dibs member list"},
         {"Add a member, then start its daemon:", "dibs member add dog=10.0.0.4:7400"}},
    };
    int count = cli_parse(argc, argv, &usage, words, 2), status = CLI_OK;
    struct dibs *d;

    if (count == 0 ||
        (strcmp(words[0], "list") != 0 && strcmp(words[0], "add") != 0 && strcmp(words[0], "remove") != 0))
        cli_die("member takes list, add or remove (usage: %s)", usage.line);
    if ((strcmp(words[0], "list") == 0) != (count == 1))
        cli_die(count == 1 ? "no member is named (usage: %s)" : "list takes no name (usage: %s)", usage.line);
    if (count == 2)
        member_check(words[1], strcmp(words[0], "add") == 0, force);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (count == 1) {
        struct dibs_reply *r = member_list(d);

        ask_show(r, format);
        dibs_free(r);
    } else {
        char *what = strdup(words[1]);

        status = member_change(d, strcmp(words[0], "add") == 0, force, what);
        free(what);
    }
    dibs_close(d);
    return status;
}
