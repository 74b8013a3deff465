/* cmd_help.c - dibs help: the commands, the help of one of them, and manual pages, all from the same tables. */
#include "cli.h"
#include "lock.h"
#include "man.h"

#include <string.h>

static const struct cli_command *help_of; /* the command whose page is written */

void cli_help_all(FILE *to)
{
    cli_help_text(to, CLI_ABOUT);
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        char left[32];

        if (c->section)
            fprintf(to, "\n%s\n", c->section);
        snprintf(left, sizeof left, "dibs %s", c->name);
        cli_help_item(to, left, c->summary);
    }
    cli_help_text(
        to, "\n\"dibs COMMAND --help\" describes the options of a command and shows examples. docs/glossary.md defines "
            "the terms.\n\nExit status: " CLI_EXIT_STATUSES " Some commands have more.");
}

static void help_write_page(const struct cli_usage *usage, int argc, char **argv)
{
    (void)argc, (void)argv;
    man_command(stdout, help_of, usage);
}

static void help_write_conf(const struct cli_usage *usage, int argc, char **argv)
{
    (void)argc, (void)argv;
    man_conf(stdout, usage);
}

/* The tables themselves, for programs. tests/options.py compares the options of all commands by them. */
static void help_write_statuses(struct cli_json *j)
{
    json_key(j, "exit_statuses"), json_array(j);
#define HELP_STATUS(name, number, text)                                                                                \
    json_object(j);                                                                                                    \
    json_key(j, "status"), json_count(j, number);                                                                      \
    json_key(j, "meaning"), json_text(j, text);                                                                        \
    json_end(j, '}');
    CLI_STATUSES(HELP_STATUS)
#ifndef DIBS_LAB_ONLY
    LOCK_STATUSES(HELP_STATUS)
#endif
#undef HELP_STATUS
    json_end(j, ']');
}

static void help_write_all(FILE *to)
{
    struct cli_json j = {.to = to};

    json_object(&j);
    json_key(&j, "version"), json_text(&j, cli_build);
    json_key(&j, "commands"), json_array(&j);
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        json_object(&j);
        json_key(&j, "name"), json_text(&j, c->name);
        json_key(&j, "summary"), json_text(&j, c->summary);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    help_write_statuses(&j);
    json_end(&j, '}');
}

static void help_write_option(struct cli_json *j, const struct cli_option *o)
{
    static const struct {
        const char *name;
        bool repeated;
    } types[] = {
        [CLI_FLAG] = {"flag", false},   [CLI_COUNT] = {"count", false}, [CLI_REAL] = {"number", false},
        [CLI_SPAN] = {"time", false},   [CLI_TEXT] = {"text", false},   [CLI_CHOICE] = {"choice", false},
        [CLI_SOME] = {"choice", true},  [CLI_LIST] = {"text", true},    [CLI_FLAGS] = {"flag", true},
        [CLI_COUNTS] = {"count", true}, [CLI_TEXTS] = {"text", true},
    };
    bool ranged = o->max > o->min;

    json_object(j);
    json_key(j, "name"), json_text(j, o->name);
    json_key(j, "parameter"), json_text(j, o->metavar);
    json_key(j, "type"), json_text(j, types[o->type].name);
    json_key(j, "repeated"), json_bool(j, types[o->type].repeated);
    json_key(j, "min"), ranged ? json_real(j, o->min) : json_text(j, NULL);
    json_key(j, "max"), ranged ? json_real(j, o->max) : json_text(j, NULL);
    json_key(j, "choices"), json_array(j);
    for (unsigned c = 0; o->choices && o->choices[c]; c++)
        json_text(j, o->choices[c]);
    json_end(j, ']');
    json_key(j, "help"), json_text(j, o->help);
    json_end(j, '}');
}

static void help_write_json(const struct cli_usage *usage, int argc, char **argv)
{
    struct cli_json j = {.to = stdout};

    (void)argc, (void)argv;
    json_object(&j);
    json_key(&j, "command"), json_text(&j, help_of->name);
    json_key(&j, "usage"), json_text(&j, usage->line);
    json_key(&j, "about"), json_text(&j, usage->about);
    json_key(&j, "options"), json_array(&j);
    for (const struct cli_option *o = usage->options; o->name; o++)
        help_write_option(&j, o);
    json_end(&j, ']');
    json_end(&j, '}');
}

static const struct cli_command *help_find(const char *name)
{
    const char *names[64] = {"dibs.conf"};
    unsigned count = 1;

    for (const struct cli_command *c = cli_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
        names[count++] = c->name;
    }
    cli_unknown("command", name, names, "dibs --help shows all");
}

int cmd_help(int argc, char **argv)
{
    enum { HELP_TEXT, HELP_MAN, HELP_JSON };
    const char *const formats[] = {"text", "man", "json", NULL};
    const char *name = NULL;
    unsigned format = HELP_TEXT;
    const struct cli_option options[] = {
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs help [SUBCOMMAND | dibs.conf] [--format text|man|json]",
        "Prints the help of a command; without one, the list of all commands. \"dibs help dibs.conf\" is the manual of "
        "the configuration file. The format man is the source of the manual page. The format json is the table of the "
        "command's options, or of all commands and exit statuses, for programs.",
        options,
        {{"Print the help of \"dibs lock\":", "dibs help lock"},
         {"Read the manual of the configuration:", "dibs help dibs.conf --format man | man -l -"}},
    };
    void (*const instead[])(const struct cli_usage *, int, char **) = {NULL, help_write_page, help_write_json};
    static char ask[] = "--help";
    char *words[] = {NULL, ask, NULL};

    if (!cli_parse(argc, argv, &usage, &name, 1)) {
        if (format == HELP_JSON)
            help_write_all(stdout);
        else if (format == HELP_MAN)
            man_program(stdout);
        else
            cli_help_all(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "dibs.conf") == 0) {
        if (format == HELP_JSON)
            cli_die("dibs.conf is not a command; its settings are options of it: dibs help serve --format json");
        help_of = help_find("serve");
        cli_instead = format == HELP_MAN ? help_write_conf : NULL;
    } else {
        help_of = help_find(name);
        cli_instead = instead[format];
    }
    words[0] = (char *)help_of->name;
    return help_of->run(2, words);
}
