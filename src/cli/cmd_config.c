/* dibs config - settings on which the members of a cluster agree: show, set, unset. */
#include "ask.h"
#include "config.h"

#include "serve/conf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct dibs_reply *config_ask(struct dibs *d)
{
    const char *const words[] = {"CONFIG", "SHOW"};

    return ask_daemon(d, words, 2);
}

static const char *config_text(const struct dibs_reply *map, const char *key)
{
    const char *text = ask_field(map, key)->text;

    return text ? text : "";
}

/* The members whose configurations have this value. */
static void config_print_files(const struct dibs_reply *files, const char *value)
{
    const char *before = "";

    for (size_t k = 0; k < files->count; k++)
        if (strcmp(config_text(files->item[k], "value"), value) == 0) {
            printf("%s%s", before, ask_clean(config_text(files->item[k], "member")));
            before = ", ";
        }
}

/* One line for each value, with the members whose configurations have it. */
static void config_print_differences(const struct dibs_reply *files)
{
    for (size_t k = 0; k < files->count; k++) {
        const char *value = config_text(files->item[k], "value");
        size_t first = 0;

        while (strcmp(config_text(files->item[first], "value"), value) != 0)
            first++;
        if (first < k) /* it was printed before */
            continue;
        printf("    %s in the configuration of ", *value ? ask_clean(value) : "not known");
        config_print_files(files, value);
        printf("\n");
    }
}

static bool config_has_key(const struct dibs_reply *s, const char *key)
{
    return strcmp(config_text(s, "key"), key) == 0;
}

/* Is the value a text of several lines, which has a listing of its own? */
static bool config_is_text(const struct dibs_reply *s)
{
    return config_has_key(s, "policies") || config_has_key(s, "rights");
}

static size_t config_count_lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void config_print(const struct dibs_reply *settings)
{
    for (size_t k = 0; k < settings->count; k++) {
        const struct dibs_reply *s = settings->item[k];
        uint64_t view = ask_field(s, "view")->number;

        if (config_has_key(s, "rights"))
            printf("rights, %s, ", ask_clean(config_text(s, "value")));
        else if (config_is_text(s))
            printf("policies, %zu of them, ", config_count_lines(config_text(s, "value")));
        else
            printf("%s %s, ", ask_clean(config_text(s, "key")), ask_clean(config_text(s, "value")));
        if (view)
            printf("%s in view %llu by %s", config_text(s, "source"), (unsigned long long)view,
                   ask_clean(config_text(s, "by")));
        else
            printf("from the members' configurations");
        printf("%s\n", ask_field(s, "under_way")->number ? "; a change is under way" : "");
        config_print_differences(ask_field(s, "files"));
    }
}

static const struct dibs_reply *config_find(const struct dibs_reply *settings, const char *key)
{
    for (size_t k = 0; k < settings->count; k++)
        if (strcasecmp(config_text(settings->item[k], "key"), key) == 0)
            return settings->item[k];
    cli_die("there is no setting \"%s\"; \"dibs config show\" lists all", key);
}

/* The value alone. Each of its lines is one that can be shown: members accept no others. */
static void config_print_value(const struct dibs_reply *s)
{
    const char *text = config_text(s, "value");

    while (*text) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);

        printf("%s\n", ask_clean(line));
        free(line);
        text += len + (text[len] == '\n');
    }
}

/* The setting with this key, as the only one. Rights are shown whole then, to clients with the right admin. */
static struct dibs_reply *config_ask_one(struct dibs *d, const char *key, bool must)
{
    const char *const words[] = {"CONFIG", "SHOW", key};
    struct dibs_reply *r = NULL;

    if (must)
        return ask_daemon(d, words, 3);
    return dibs_ask(d, words, 3, &r) == DIBS_OK ? r : NULL;
}

/* Has the member these rights? If the command has taken the right to see them from its own client, nothing is known to the contrary. */
static bool config_are_rights(struct dibs *d, const char *value)
{
    struct dibs_reply *all = config_ask_one(d, "rights", false);
    bool same = !all || all->type != DIBS_LIST || strcmp(config_text(config_find(all, "rights"), "value"), value) == 0;

    if (all)
        dibs_free(all);
    return same;
}

/* Is the setting what was asked for? `value` is null if that was the value of the configurations. */
static bool config_is(struct dibs *d, const struct dibs_reply *s, const char *value)
{
    if (!value)
        return strcmp(config_text(s, "source"), "agreed as in the files") == 0;
    if (config_has_key(s, "rights"))
        return config_are_rights(d, value);
    if (config_is_text(s))
        return config_is_policies(config_text(s, "value"), value);
    return strtoull(config_text(s, "value"), NULL, 10) == strtoull(value, NULL, 10);
}

/* Waits until the change has ended: a view newer than `before` has it, and no step of it is left. */
static int config_await(struct dibs *d, const char *key, const char *value, uint64_t before)
{
    enum { TRIES = 3000, QUIET = 20, LONGEST = 600 };

    for (unsigned k = 0;; k++) {
        struct dibs_reply *all = config_ask(d);
        const struct dibs_reply *s = config_find(all, key);
        bool begun = ask_field(s, "view")->number > before, wished = ask_field(s, "under_way")->number;

        if (k == QUIET && begun && config_has_key(s, "rights"))
            fprintf(stderr, "dibs: waiting: a member still uses the earlier rights\n");
        else if (k == QUIET && begun)
            fprintf(stderr, "dibs: waiting: promises that members have given for the longer lease have to run out\n");
        else if (k == QUIET)
            fprintf(stderr, "dibs: waiting: a majority has to agree to it\n");
        if (begun && !wished) {
            if (!config_is(d, s, value))
                cli_fail("%s has set it to %s meanwhile; ask again if that is not right",
                         ask_clean(config_text(s, "by")),
                         config_is_text(s) ? "others" : ask_clean(config_text(s, "value")));
            config_print(all);
            dibs_free(all);
            return CLI_OK;
        }
        dibs_free(all);
        if (k == TRIES || (!begun && (!wished || k == LONGEST)))
            cli_fail(
                begun ? "the change has begun and not ended; see \"dibs config show\""
                      : "the members have not agreed to it, and may still do so: look at \"dibs status\", and then at "
                        "\"dibs config show\"");
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* The lease in milliseconds, as the daemon wants it. The daemon refuses what is no time. */
static const char *config_lease(const char *text, char *lease)
{
    uint64_t ms;

    if (!conf_time(text, &ms))
        return text;
    sprintf(lease, "%" PRIu64, ms);
    return lease;
}

static int config_change(struct dibs *d, const char *const *given, int count, bool force)
{
    bool set = strcmp(given[0], "set") == 0;
    char lease[24];
    struct dibs_reply *before = config_ask(d);
    const struct dibs_reply *setting = config_find(before, given[1]);
    uint64_t view = ask_field(setting, "view")->number;
    char *text = !set || !config_is_text(setting)      ? NULL
                 : config_has_key(setting, "policies") ? config_read_policies(given[2], force)
                                                       : config_read_rights(given[2]);
    const char *value = !set ? NULL : text ? text : config_lease(given[2], lease);
    const char *words[] = {"CONFIG", set ? "SET" : "UNSET", given[1], set ? value : "FORCE", "FORCE"};
    int status;

    bool rights = config_has_key(setting, "rights");

    if (force && !rights && !text)
        cli_die("--force is for rights, and for policies that are taken away");
    dibs_free(before);
    dibs_free(ask_daemon(d, words, (size_t)count + 1 + (force && rights)));
    status = config_await(d, given[1], value, view);
    free(text);
    return status;
}

int cmd_config(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    const char *words[3] = {NULL, NULL, NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    bool force = false;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--force", CLI_FLAG, &force, NULL,
         "set or unset rights even if the right admin is taken from the caller by it; set policies from a file that "
         "has none, which takes all away",
         0, 0, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs config show [SETTING] | set lease TIME | set policies FILE | set rights FILE | unset SETTING "
        "[OPTION...]",
        "Shows and changes settings on which the members of a cluster agree, while the service runs: the lease; the "
        "policies, which choose algorithms and kinds of locks by name; and the rights of clients. Before a setting is "
        "set, each member uses what its own configuration says; lease and policies must be the same on all members. "
        "From then on all members use what was set, and their configurations do not matter for it.\n\n"
        "Any member accepts a change, which needs a majority of the members. No lock is lost or granted twice by it. "
        "The command ends when the change is complete: for policies at once; for rights when every member that takes "
        "part uses them; for a lease after about 1.1 times the longer of both leases. A lease is written as \"2s\" or "
        "in milliseconds. Only an operator may make changes: the owner of the daemon's socket, root, a holder of the "
        "cluster key, or a client with the right \"admin\". A change is refused while a member of an earlier build "
        "takes part.\n\n"
        "set policies takes the lines \"policy ...\" of FILE, as in the configuration of a daemon, in the place of "
        "all policies; \"-\" is standard input. A file without such a line is refused, unless --force says that all "
        "policies are to be taken away. They apply to all members from the same view on. A lock that is in use then "
        "keeps its kind until no client uses it. show policies prints them in the form of such a file.\n\n"
        "set rights takes the lines \"allow\", \"limit\" and \"login\" of FILE in the place of all rights. They apply "
        "to the next command of every client, at all members. What a client holds stays; a client that waits is "
        "refused when its turn comes, if the new rights do not allow the lock. Users and groups may be written by "
        "name: each member looks them up on its own machine. show rights prints them, with the hashes of passwords, "
        "and takes the right \"admin\". The owner of the daemon's socket, root and holders of the cluster key have "
        "all rights, whatever is set; a change that takes the right \"admin\" from the client that asks for it needs "
        "--force.\n\n"
        "unset sets the lease, or the policies, that the configurations of all members that take part have. unset "
        "rights makes each member use those of its own configuration.",
        options,
        {{"Show the settings, where they come from, and what the members' configurations say:", "dibs config show"},
         {"Use the policies of a file from now on:", "dibs config set policies new.conf"},
         {"Change the rights of clients:",
          "dibs config show rights >rights.conf; edit rights.conf; dibs config set rights rights.conf"}},
    };
    int count = cli_parse(argc, argv, &usage, words, 3), status = CLI_OK, needed;
    struct dibs *d;

    needed = count == 0                       ? 0
             : strcmp(words[0], "show") == 0  ? (words[1] ? 2 : 1)
             : strcmp(words[0], "set") == 0   ? 3
             : strcmp(words[0], "unset") == 0 ? 2
                                              : 0;
    if (!needed)
        cli_die("config takes show, set or unset (usage: %s)", usage.line);
    if (count != needed)
        cli_die("%s takes %s (usage: %s)", words[0], needed == 3 ? "a setting and its value" : "a setting", usage.line);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (strcmp(words[0], "show") == 0) {
        bool rights = words[1] && strcasecmp(words[1], "rights") == 0;
        struct dibs_reply *r = rights ? config_ask_one(d, "rights", true) : config_ask(d);
        const struct dibs_reply *one = words[1] ? config_find(r, words[1]) : NULL;

        if (format)
            ask_show(one ? one : r, true);
        else if (one)
            config_print_value(one);
        else
            config_print(r);
        dibs_free(r);
    } else {
        status = config_change(d, words, needed, force);
    }
    dibs_close(d);
    return status;
}
