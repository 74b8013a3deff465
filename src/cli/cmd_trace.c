/* dibs trace - draw a scenario as a space-time diagram; see src/lab/diagram.h. */
#include "base/memory.h"
#include "cli.h"
#include "lab/diagram.h"
#include "lab/scenario.h"

#include <stdlib.h>
#include <string.h>

/* Formats, and what draws in them with time going to the right or down, if there is a choice. */
static const char *const trace_formats[] = {"text", "svg", "pdf", "png", "tikz", "mermaid", "shiviz", NULL};
enum { TRACE_SVG = 1, TRACE_PDF, TRACE_PNG };
static const struct {
    void (*form)(FILE *, const struct moves *), (*down)(FILE *, const struct moves *);
} trace_forms[] = {{diagram_text, NULL},
                   {diagram_svg, diagram_svg_down},
                   {diagram_svg, diagram_svg_down},
                   {diagram_svg, diagram_svg_down},
                   {diagram_tikz, diagram_tikz_down},
                   {diagram_mermaid, NULL},
                   {diagram_shiviz, NULL}};

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
         "draw in this format: text for a terminal, svg, pdf, png, tikz for LaTeX, mermaid, or a log for ShiViz "
         "(default text)",
         0, 0, trace_formats},
        {"--out", CLI_TEXT, &out, "FILE", "write the picture into FILE; - is standard output (default -)", 0, 0, NULL},
        {"--vertical", CLI_FLAG, &vertical, NULL, "svg, pdf, png and tikz: time goes down (default: to the right)", 0,
         0, NULL},
        {"--svg", CLI_TEXT, &svg, "FILE",
         "the same as --out FILE with the format SVG, or PDF or PNG if the name ends so; - is standard output "
         "(default: text)",
         0, 0, NULL},
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
    const char *path, *made;
    struct scenario_error error;
    struct moves run;
    char *text, *picture, *caption;

    if (cli_parse(argc, argv, &usage, &path, 1) != 1)
        cli_die("trace needs a scenario file, as in \"dibs trace tests/scenario/ricart-agrawala.txt\"");
    if (svg && (out || format))
        cli_die("--svg FILE is --format svg --out FILE; leave out the others");
    if (svg) {
        format = TRACE_SVG;
        out = svg;
    }
    made = format == TRACE_PDF ? "pdf" : format == TRACE_PNG ? "png" : svg ? cli_picture_format(svg) : NULL;
    if (vertical && !trace_forms[format].down)
        cli_die("--vertical goes with --format svg, pdf, png and tikz; text and Mermaid are vertical anyway");
    cli_check_picture(svg ? "--svg" : "--out", out ? out : "-", made);
    text = cli_read_file(path);
    if (!scenario_run(path, text, &run, &error))
        cli_die("%s:%u: %s", path, error.line, error.text);
    caption = trace_caption(text);
    run.caption = caption;
    picture = diagram_make(vertical ? trace_forms[format].down : trace_forms[format].form, &run);
    cli_write_picture(out ? out : "-", picture, made);
    free(picture);
    free(caption);
    scenario_run_free(&run);
    free(text);
    return CLI_OK;
}
