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

static struct dibs_reply *member_ask(struct dibs *d, const char *const *words, size_t count)
{
    struct dibs_reply *r;

    if (dibs_ask(d, words, count, &r) != DIBS_OK)
        cli_die("%s", dibs_message(d));
    return r;
}

static struct dibs_reply *member_list(struct dibs *d)
{
    const char *const words[] = {"MEMBER", "LIST"};

    return member_ask(d, words, 2);
}

/* Is there a member of this name? One that is being removed, and takes part no more, is none. */
static bool member_is_there(struct dibs *d, const char *name)
{
    struct dibs_reply *list = member_list(d);
    bool found = false;

    for (size_t k = 0; k < list->count; k++) {
        const char *who = member_field(list->item[k], "name"), *standing = member_field(list->item[k], "standing"),
                   *part = member_field(list->item[k], "takes_part");

        found |= who && standing && part && strcmp(who, name) == 0 &&
                 (strcmp(standing, "being removed") != 0 || strcmp(part, "no") != 0);
    }
    dibs_free(list);
    return found;
}

/* The change has been agreed upon by a majority, or it has not within ten seconds. */
static int member_await(struct dibs *d, const char *name, bool add)
{
    enum { TRIES = 120 };

    for (unsigned k = 0; k < TRIES; k++) {
        if (member_is_there(d, name) == add) {
            printf(add ? "%s is added; it counts as soon as it has caught up: start it with \"dibs serve --join\"\n"
                       : "%s is removed\n",
                   name);
            return CLI_OK;
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    fprintf(stderr, "dibs: no majority has agreed to it in time; \"dibs member list\" and \"dibs status\" tell more\n");
    return CLI_FAILED;
}

static int member_change(struct dibs *d, bool add, char *what)
{
    char *equals = strchr(what, '=');
    const char *words[4] = {"MEMBER", add ? "ADD" : "REMOVE", what, equals ? equals + 1 : ""};

    if (add != (equals != NULL))
        cli_die(add ? "whom? say it as NAME=ADDRESS:PORT" : "a name is enough to remove a member");
    if (equals)
        *equals = '\0';
    dibs_free(member_ask(d, words, add ? 4 : 3));
    return member_await(d, what, add);
}

int cmd_member(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    const char *words[2] = {NULL, NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "of the list: text or json", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs member list | add NAME=ADDRESS:PORT | remove NAME [OPTION...]",
        "Who belongs to the cluster. A change is made at any member, one at a time, and needs a majority. It takes an\n"
        "operator: the owner of the daemon's socket, root, or the cluster key. A new member is\n"
        "added first, then started with \"dibs serve --join\" and a list of members in which it and some others are. "
        "A\n"
        "member that is removed loses its clients' locks; one whose machine is gone is removed, and added under its "
        "name\n"
        "or another one.",
        options,
    };
    int count = cli_parse(argc, argv, &usage, words, 2), status = CLI_OK;
    struct dibs *d;

    if (count == 0 ||
        (strcmp(words[0], "list") != 0 && strcmp(words[0], "add") != 0 && strcmp(words[0], "remove") != 0))
        cli_die("list, add or remove? (usage: %s)", usage.line);
    if ((strcmp(words[0], "list") == 0) != (count == 1))
        cli_die(count == 1 ? "which member? (usage: %s)" : "list takes no name (usage: %s)", usage.line);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (count == 1) {
        struct dibs_reply *r = member_list(d);

        ask_show(r, format);
        dibs_free(r);
    } else {
        char *what = strdup(words[1]);

        status = member_change(d, strcmp(words[0], "add") == 0, what);
        free(what);
    }
    dibs_close(d);
    return status;
}
