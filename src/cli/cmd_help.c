/* cmd_help.c - dibs help: the commands, the help of one of them, and manual pages, all from the same tables. */
#include "cli.h"
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
    const char *const formats[] = {"text", "man", NULL};
    const char *name = NULL;
    unsigned format = 0;
    const struct cli_option options[] = {
        {"--format", CLI_CHOICE, &format, "F", "print the help, or the source of the manual page (default text)", 0, 0,
         formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs help [SUBCOMMAND | dibs.conf] [--format text|man]",
        "Prints the help of a command; without one, the list of all commands. \"dibs help dibs.conf\" is the manual of "
        "the configuration file.",
        options,
        {{"Print the help of \"dibs lock\":", "dibs help lock"},
         {"Read the manual of the configuration:", "dibs help dibs.conf --format man | man -l -"}},
    };
    static char ask[] = "--help";
    char *words[] = {NULL, ask, NULL};

    if (!cli_parse(argc, argv, &usage, &name, 1)) {
        if (format)
            man_program(stdout);
        else
            cli_help_all(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "dibs.conf") == 0) {
        help_of = help_find("serve");
        if (format)
            cli_instead = help_write_conf;
    } else {
        help_of = help_find(name);
        if (format)
            cli_instead = help_write_page;
    }
    words[0] = (char *)help_of->name;
    return help_of->run(2, words);
}
