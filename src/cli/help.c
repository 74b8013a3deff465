/* help.c - help texts, wrapped to the width of the terminal. See cli.h. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELP_WIDTH = 80, HELP_WIDTH_MIN = 40, HELP_WIDTH_MAX = 120 };
enum { HELP_INDENT = 2, HELP_COLUMN = 28, HELP_TAB = 8 };

/* The terminal's width; $COLUMNS if the output is no terminal; 80 if neither is known. */
static unsigned help_width(void)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;

#ifdef TIOCGWINSZ /* a page has no terminal */
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        width = size.ws_col;
#endif
    if (!width)
        width = HELP_WIDTH;
    return (unsigned)(width < HELP_WIDTH_MIN ? HELP_WIDTH_MIN : width > HELP_WIDTH_MAX ? HELP_WIDTH_MAX : width);
}

/* Moves from column `at` to column `indent`, which is on the next line if `at` is not before it. */
static void help_move(FILE *to, unsigned at, unsigned indent)
{
    if (at >= indent) {
        fprintf(to, "\n");
        at = 0;
    }
    fprintf(to, "%*s", (int)(indent - at), "");
}

/* The words of the line, up to `len` bytes, from column `indent` on; each following line begins there, too, and a line
 * that goes on ends with `joint` (" \" in commands). */
static void help_wrap(FILE *to, const char *line, size_t len, unsigned indent, const char *joint)
{
    unsigned width = help_width() - (unsigned)strlen(joint), at = indent;

    for (const char *word = line, *end = line + len; word < end;) {
        size_t size = strcspn(word, " \n");

        if (at > indent && at + 1 + size > width) {
            fprintf(to, "%s", joint);
            help_move(to, at, indent);
            at = indent;
        } else if (at > indent) {
            fprintf(to, " ");
            at++;
        }
        fprintf(to, "%.*s", (int)size, word);
        at += (unsigned)size;
        word += size;
        word += strspn(word, " ");
    }
    fprintf(to, "\n");
}

/* A paragraph is a line of the text. One with a tab is an item of a list: what is before the tab is its label. */
void cli_help_text(FILE *to, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n"), label = strcspn(text, "\t\n");
        const char *begin = text;

        if (label < len) {
            fprintf(to, "%*s%.*s", HELP_INDENT, "", (int)label, text);
            help_move(to, HELP_INDENT + (unsigned)label, HELP_TAB);
            begin = text + label + 1;
        }
        help_wrap(to, begin, len - (size_t)(begin - text), label < len ? HELP_TAB : 0, "");
        text += len + (text[len] == '\n');
    }
}

void cli_help_item(FILE *to, const char *left, const char *right)
{
    /* On a narrow terminal two columns would leave too little room for the second one. */
    unsigned column = help_width() >= HELP_WIDTH - 10 ? HELP_COLUMN : HELP_TAB;

    fprintf(to, "%*s%s", HELP_INDENT, "", left);
    help_move(to, HELP_INDENT + (unsigned)strlen(left), column);
    help_wrap(to, right, strlen(right), column, "");
}

/* "needed, fifo or any" */
static void help_choices(char *text, size_t size, const struct cli_option *o)
{
    for (unsigned c = 0; o->choices[c]; c++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s",
                 c == 0              ? ""
                 : o->choices[c + 1] ? ", "
                                     : " or ",
                 o->choices[c]);
}

const char *cli_help_option(const struct cli_option *o, char text[CLI_HELP_MAX])
{
    snprintf(text, CLI_HELP_MAX, "%s", o->help);
    if (o->choices) {
        snprintf(text + strlen(text), CLI_HELP_MAX - strlen(text), "; %s is ", o->metavar);
        help_choices(text, CLI_HELP_MAX, o);
    }
    return text;
}

void cli_help(FILE *to, const struct cli_usage *usage)
{
    fprintf(to, "usage: ");
    help_wrap(to, usage->line, strlen(usage->line), sizeof "usage: " - 1, "");
    fprintf(to, "\n");
    cli_help_text(to, usage->about);
    if (usage->options->name)
        fprintf(to, "\noptions:\n");
    for (const struct cli_option *o = usage->options; o->name; o++) {
        char left[64], right[CLI_HELP_MAX];

        snprintf(left, sizeof left, "%s%s%s", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
        cli_help_item(to, left, cli_help_option(o, right));
    }
    fprintf(to, "\nexamples:\n");
    for (const struct cli_example *e = usage->examples; e->command; e++) {
        fprintf(to, "%*s", HELP_INDENT, "");
        help_wrap(to, e->purpose, strlen(e->purpose), HELP_INDENT, "");
        fprintf(to, "%*s", 2 * HELP_INDENT, "");
        help_wrap(to, e->command, strlen(e->command), 2 * HELP_INDENT, " \\");
    }
}
