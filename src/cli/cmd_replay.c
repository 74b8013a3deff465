/* dibs replay - what the algorithm of a lock did lately, at all members, as a scenario that is checked while it is played again;
 * see src/lab/replay.h. */
#include "ask.h"
#include "base/memory.h"
#include "lab/diagram.h"
#include "lab/replay.h"
#include "lab/scenario.h"

#include <stdlib.h>
#include <string.h>

/* Asks all members, and merges what they have recorded. The result is to be freed. */
static char *replay_ask(const struct ask_place *place, const char *name)
{
    const char *words[] = {"REPLAY", name};
    struct dibs *d = ask_connect(place, NULL, CLI_FAILED);
    struct replay_trace *trace;
    char why[REPLAY_WHY_MAX], *text;
    struct dibs_reply *r;

    r = ask_daemon(d, words, 2);
    if (r->type != DIBS_LIST)
        cli_die("the daemon's answer to REPLAY is not understood: it may be of another version (dibs status, dibs "
                "--version)");
    trace = mem_new((r->count + 1) * sizeof *trace);
    for (size_t k = 0; k < r->count; k++)
        trace[k] = (struct replay_trace){ask_field(r->item[k], "member")->text, ask_field(r->item[k], "trace")->text};
    text = replay_merge(ask_clean(name), trace, (unsigned)r->count, why);
    if (!text) {
        fprintf(stderr, "dibs: there is no replay of \"%s\": %s\n", ask_clean(name), why);
        exit(CLI_FAILED);
    }
    free(trace);
    dibs_free(r);
    dibs_close(d);
    return text;
}

/* Plays it again, unless it begins in the midst. Returns whether all is as it was recorded. */
static bool replay_check(const char *text, const char *svg)
{
    struct scenario_error error;
    struct moves run;
    uint32_t entries = 0;
    bool fine;
    char *picture;

    if (strstr(text, "\nstate ") || strstr(text, "\ninflight ")) {
        if (svg)
            cli_die("the run begins in the midst, so that only the page can play and draw it (dibs page-token)");
        fprintf(stderr, "dibs: the run begins in the midst; the page plays and checks it (dibs page-token)\n");
        return true;
    }
    if (!scenario_run("replay", text, &run, &error))
        cli_die("line %u of the replay: %s", error.line, error.text);
    for (const char *at = text; (at = strstr(at, " enters ")); at++)
        entries++;
    fine = run.verdicts == 0;
    if (fine)
        fprintf(stderr, "dibs: %u events and %u entries, as the algorithm has it\n", run.count, entries);
    else
        fprintf(stderr, "dibs: event %u is not as the algorithm has it: %s\n", run.verdict[0].move,
                run.verdict[0].text);
    if (svg) {
        picture = diagram_make(diagram_svg, &run);
        cli_write_picture(svg, picture, cli_picture_format(svg));
        free(picture);
    }
    scenario_run_free(&run);
    return fine;
}

int cmd_replay(int argc, char **argv)
{
    struct ask_place place = {0};
    const char *name, *svg = NULL;
    const struct cli_option options[] = {
        {"--svg", CLI_TEXT, &svg, "FILE",
         "draw the run into FILE as a space-time diagram, as SVG, or PDF or PNG if the name ends so; - is standard "
         "output (default: print it as a scenario)",
         0, 0, NULL},
        ASK_PLACE_OPTIONS(place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs replay NAME [OPTION...]",
        "Prints what the algorithm of the lock NAME did lately: requests, releases and messages of all members, in a "
        "possible order, as a scenario (docs/scenarios.md). The run is played again and compared with the algorithm.\n"
        "\n"
        "Each member records the locks that were used last. The run begins with the view, if not too much has happened "
        "since. Otherwise it begins in the middle; the operations room of the daemon's web page can play such a run.\n"
        "\n"
        "Exit status: 0 the run agrees with the algorithm, 1 it does not, or there is no record.",
        options,
        {{"Print what happened to the lock \"backup\":", "dibs replay backup"},
         {"Draw it:", "dibs replay backup --svg backup.svg"}},
    };
    char *text;
    bool fine;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("no lock is named (usage: %s)", usage.line);
    if (svg)
        cli_check_picture("--svg", svg, cli_picture_format(svg));
    text = replay_ask(&place, name);
    if (!svg)
        printf("%s", text);
    fine = replay_check(text, svg);
    free(text);
    return fine ? CLI_OK : CLI_FAILED;
}
