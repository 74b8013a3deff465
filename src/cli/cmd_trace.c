/* dibs trace - draw a scenario as a space-time diagram; see src/lab/diagram.h. */
#include "cli.h"
#include "lab/diagram.h"
#include "lab/scenario.h"

#include <stdlib.h>

int cmd_trace(int argc, char **argv)
{
    static const char *svg;
    static const struct cli_option options[] = {
        {.name = "--svg",
         .type = CLI_TEXT,
         .value = &svg,
         .metavar = "FILE",
         .help = "write a picture into FILE (- is standard output) instead of printing text (default: text)"},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs trace FILE [--svg FILE]",
        .about = "Draws a scenario as a space-time diagram: a line for each site, which shows when the site waits and "
                 "when it "
                 "is in the critical section, and an arrow for each message. \"dibs check --save FILE\" writes "
                 "counterexamples as scenarios.",
        .options = options,
        .examples = {{"Draw a scenario at the terminal:", "dibs trace tests/scenario/ricart-agrawala.txt"},
                     {"Draw it as a picture:", "dibs trace tests/scenario/ricart-agrawala.txt --svg ra.svg"}},
    };
    const char *path;
    struct scenario_error error;
    struct moves run;
    char *text, *picture;

    if (cli_parse(argc, argv, &usage, &path, 1) != 1)
        cli_die("trace needs a scenario file, as in \"dibs trace tests/scenario/ricart-agrawala.txt\"");
    cli_check_output("--svg", svg);
    text = cli_read_file(path);
    if (!scenario_run(path, text, &run, &error))
        cli_die("%s:%u: %s", path, error.line, error.text);
    if (svg) {
        picture = diagram_svg(&run);
        cli_write_file(svg, picture);
        free(picture);
    } else {
        diagram_text(stdout, &run);
    }
    free((void *)run.move);
    free(text);
    return CLI_OK;
}
