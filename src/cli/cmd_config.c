/* dibs config - settings on which the members of a cluster agree: show, set, unset. */
#include "ask.h"
#include "config.h"

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

/* Is the value a text of several lines, which has a listing of its own? */
static bool config_is_text(const struct dibs_reply *s)
{
    return strcmp(config_text(s, "key"), "policies") == 0;
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

        if (config_is_text(s))
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

/* Is the setting what was asked for? `value` is null if that was the value of the configurations. */
static bool config_is(const struct dibs_reply *s, const char *value)
{
    if (!value)
        return strcmp(config_text(s, "source"), "agreed as in the files") == 0;
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

        if (k == QUIET && begun)
            fprintf(stderr, "dibs: waiting: what members have promised for the longer lease has to run out\n");
        else if (k == QUIET)
            fprintf(stderr, "dibs: waiting: a majority has to agree to it\n");
        if (begun && !wished) {
            if (!config_is(s, value))
                cli_die("%s has set it to %s meanwhile; ask again if that is not right",
                        ask_clean(config_text(s, "by")),
                        config_is_text(s) ? "others" : ask_clean(config_text(s, "value")));
            config_print(all);
            dibs_free(all);
            return CLI_OK;
        }
        dibs_free(all);
        if (k == TRIES || (!begun && (!wished || k == LONGEST)))
            cli_die(begun ? "the change has begun and not ended; see \"dibs config show\""
                          : "the members have not agreed to it; see \"dibs status\"");
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

static int config_change(struct dibs *d, const char *const *given, int count)
{
    bool set = strcmp(given[0], "set") == 0;
    struct dibs_reply *before = config_ask(d);
    const struct dibs_reply *setting = config_find(before, given[1]);
    uint64_t view = ask_field(setting, "view")->number;
    char *text = set && config_is_text(setting) ? config_read_policies(given[2]) : NULL;
    const char *value = !set ? NULL : text ? text : given[2];
    const char *const words[] = {"CONFIG", set ? "SET" : "UNSET", given[1], set ? value : ""};
    int status;

    dibs_free(before);
    dibs_free(ask_daemon(d, words, (size_t)count + 1));
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
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "print the settings in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs config show [SETTING] | set lease MILLISECONDS | set policies FILE | unset SETTING [OPTION...]",
        "Shows and changes settings on which the members of a cluster agree, while the service runs: the lease, and "
        "the "
        "policies, which choose algorithms and kinds of locks by name. Before a setting is set, each member uses what "
        "its own configuration says, which must be the same on all. From then on all members use what was set, and "
        "their configurations do not matter for it.\n"
        "\n"
        "Any member accepts a change, which needs a majority of the members. No lock is lost or granted twice by it. "
        "The command ends when the change is complete: a lease about 1.1 of the longer of both leases later, policies "
        "at once. Only an operator may make changes: the owner of the daemon's socket, root, a holder of the cluster "
        "key, or a client with the right \"admin\". A change is refused while a member of an earlier build takes "
        "part.\n"
        "\n"
        "set policies takes the lines \"policy ...\" of FILE, as in the configuration of a daemon, in the place of all "
        "policies; \"-\" is standard input. They apply to all members from the same view on. A lock that is in use "
        "then "
        "keeps its kind until no client uses it. show policies prints them in the form of such a file.\n"
        "\n"
        "unset sets what the configurations of all members that take part have.",
        options,
        {{"Show the settings, where they come from, and what the members' configurations say:", "dibs config show"},
         {"Use a lease of two seconds from now on:", "dibs config set lease 2000"},
         {"Use the policies of a file from now on:", "dibs config set policies new.conf"}},
    };
    int count = cli_parse(argc, argv, &usage, words, 3), status = CLI_OK, needed;
    struct dibs *d;

    needed = count == 0                       ? 0
             : strcmp(words[0], "show") == 0  ? (words[1] ? 2 : 1)
             : strcmp(words[0], "set") == 0   ? 3
             : strcmp(words[0], "unset") == 0 ? 2
                                              : 0;
    if (!needed)
        cli_die("show, set or unset? (usage: %s)", usage.line);
    if (count != needed)
        cli_die("%s takes %s (usage: %s)", words[0], needed == 3 ? "a setting and its value" : "a setting", usage.line);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (strcmp(words[0], "show") == 0) {
        struct dibs_reply *r = config_ask(d);
        const struct dibs_reply *one = words[1] ? config_find(r, words[1]) : NULL;

        if (format)
            ask_show(one ? one : r, true);
        else if (one)
            config_print_value(one);
        else
            config_print(r);
        dibs_free(r);
    } else {
        status = config_change(d, words, needed);
    }
    dibs_close(d);
    return status;
}
