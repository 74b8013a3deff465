/* dibs scenario - play scenario files, and compare what happens with what they expect. */
#include "base/memory.h"
#include "cli.h"
#include "lab/scenario.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- the difference */

struct lines {
    unsigned count;
    const char **line; /* each ends at a newline or at the end of the text */
};

static struct lines scenario_lines(const char *text)
{
    struct lines l = {0};

    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        l.line = mem_grow(l.line, (l.count + 1) * sizeof *l.line);
        l.line[l.count++] = text;
    }
    return l;
}

static bool scenario_same(const char *a, const char *b)
{
    size_t len = strcspn(a, "\n");

    return len == strcspn(b, "\n") && memcmp(a, b, len) == 0;
}

static void scenario_print(char mark, const struct lines *l, unsigned from, unsigned to)
{
    for (unsigned k = from; k < to && k < l->count; k++)
        printf("%s%c%.*s%s\n", mark == ' ' ? "" : colour_of(mark == '-' ? VERDICT_BAD : VERDICT_GOOD), mark,
               (int)strcspn(l->line[k], "\n"), l->line[k], mark == ' ' ? "" : colour_end());
}

/* From the first to the last line that differs, with three lines around. */
static void scenario_difference(const char *path, const char *expected, const char *played)
{
    enum { AROUND = 3 };
    struct lines a = scenario_lines(expected), b = scenario_lines(played);
    unsigned head = 0, tail = 0;

    while (head < a.count && head < b.count && scenario_same(a.line[head], b.line[head]))
        head++;
    while (tail < a.count - head && tail < b.count - head &&
           scenario_same(a.line[a.count - 1 - tail], b.line[b.count - 1 - tail]))
        tail++;
    printf("--- %s, as expected\n+++ %s, as played\n@@ line %u @@\n", path, path, head + 1);
    scenario_print(' ', &a, head < AROUND ? 0 : head - AROUND, head);
    scenario_print('-', &a, head, a.count - tail);
    scenario_print('+', &b, head, b.count - tail);
    scenario_print(' ', &a, a.count - tail, a.count - tail + AROUND);
    free(a.line);
    free(b.line);
}

static int scenario_one(const char *path, bool rewrite, bool print)
{
    struct scenario_error error;
    char *text = cli_read_file(path), *played;
    int status = CLI_OK;

    if (!scenario_play(path, text, &played, &error))
        cli_die("%s:%u: %s", path, error.line, error.text);
    if (print) {
        fputs(played, stdout);
    } else if (strcmp(text, played) == 0) {
        printf("%s: %sas expected%s\n", path, colour_of(VERDICT_GOOD), colour_end());
    } else if (rewrite) {
        cli_write_file(path, played);
        printf("%s: rewritten\n", path);
    } else {
        scenario_difference(path, text, played);
        status = CLI_FAILED;
    }
    free(text);
    free(played);
    return status;
}

int cmd_scenario(int argc, char **argv)
{
    static bool rewrite, print;
    static const struct cli_option options[] = {
        {.name = "--rewrite",
         .type = CLI_FLAG,
         .value = &rewrite,
         .help = "replace the expected output in the file by what happens"},
        {.name = "--print",
         .type = CLI_FLAG,
         .value = &print,
         .help = "print the scenario with what happens, and compare nothing"},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs scenario FILE... [--rewrite | --print]",
        .about =
            "Plays scenario files and compares what happens with the output that they expect. The file \"-\" is the "
            "standard input.\n"
            "\n"
            "Exit status: 0 everything is as expected, 1 something differs, 2 a file or the command line is wrong.",
        .options = options,
        .examples = {{"Play a scenario and print each step:",
                      "dibs scenario --print tests/scenario/ricart-agrawala.txt"},
                     {"Fill in the expected output of a scenario that you have changed:",
                      "dibs scenario --rewrite my.txt"}},
    };
    const char **files = mem_new((size_t)argc * sizeof *files);
    int count = cli_parse(argc, argv, &usage, files, argc), status = CLI_OK;

    if (count == 0)
        cli_die("no scenario is named (usage: %s)", usage.line);
    for (int k = 0; k < count; k++) {
        if (strcmp(files[k], "-") == 0 && !print)
            cli_die("the standard input can only be printed: dibs scenario --print -");
        if (scenario_one(files[k], rewrite, print) != CLI_OK)
            status = CLI_FAILED;
    }
    free(files);
    return status;
}
