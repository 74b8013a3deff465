/* dibs trace - draw a scenario as a space-time diagram; see src/lab/diagram.h. */
#include "base/memory.h"
#include "cli.h"
#include "lab/diagram.h"
#include "lab/scenario.h"

#include <stdlib.h>
#include <string.h>

static const char *const trace_formats[] = {"text", "svg", "tikz", "mermaid", "shiviz", NULL};
static void (*const trace_forms[])(FILE *, const struct moves *) = {diagram_text, diagram_svg, diagram_tikz,
                                                                    diagram_mermaid, diagram_shiviz};

/* The comment at the beginning of the scenario, as one line; null if there is none. To be freed. */
static char *trace_caption(const char *text)
{
    char *caption = mem_new(strlen(text) + 2);
    size_t len = 0;

    while (*text == '#') {
        size_t line = strcspn(text, "\n");

        text += 1;
        line -= 1;
        while (line && *text == ' ') {
            text++;
            line--;
        }
        if (len && line)
            caption[len++] = ' ';
        memcpy(caption + len, text, line);
        len += line;
        text += line + (text[line] != 0);
    }
    caption[len] = 0;
    return caption;
}

int cmd_trace(int argc, char **argv)
{
    static const char *svg, *out;
    static bool vertical;
    static unsigned format;
    static const struct cli_option options[] = {
        {"--format", CLI_CHOICE, &format, "F",
         "draw in this format: text for a terminal, svg, tikz for LaTeX, mermaid, or a log for ShiViz (default text)",
         0, 0, trace_formats},
        {"--out", CLI_TEXT, &out, "FILE", "write into FILE (default: standard output)", 0, 0, NULL},
        {"--vertical", CLI_FLAG, &vertical, NULL, "svg: time goes down (default: to the right)", 0, 0, NULL},
        {"--svg", CLI_TEXT, &svg, "FILE", "the same as --format svg --out FILE (default: text)", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs trace FILE [--format F] [--out FILE]",
        .about = "Draws a scenario as a space-time diagram: a line for each site, which shows when the site waits and "
                 "when it is in the critical section, and an arrow for each message. \"dibs check --save FILE\" writes "
                 "counterexamples as scenarios.",
        .options = options,
        .examples = {{"Draw a scenario at the terminal:", "dibs trace tests/scenario/ricart-agrawala.txt"},
                     {"Draw it as a picture:", "dibs trace tests/scenario/ricart-agrawala.txt --svg ra.svg"}},
    };
    const char *path;
    struct scenario_error error;
    struct moves run;
    char *text, *picture, *caption;

    if (cli_parse(argc, argv, &usage, &path, 1) != 1)
        cli_die("trace needs a scenario file, as in \"dibs trace tests/scenario/ricart-agrawala.txt\"");
    if (svg && (out || format))
        cli_die("--svg FILE is --format svg --out FILE; leave out the others");
    if (svg) {
        format = 1;
        out = svg;
    }
    if (vertical && format != 1)
        cli_die("--vertical goes with --format svg; text and Mermaid are vertical, TikZ is not");
    cli_check_output(svg ? "--svg" : "--out", out);
    text = cli_read_file(path);
    if (!scenario_run(path, text, &run, &error))
        cli_die("%s:%u: %s", path, error.line, error.text);
    caption = trace_caption(text);
    run.caption = caption;
    picture = diagram_make(vertical ? diagram_svg_down : trace_forms[format], &run);
    cli_write_file(out ? out : "-", picture);
    free(picture);
    free(caption);
    scenario_run_free(&run);
    free(text);
    return CLI_OK;
}
