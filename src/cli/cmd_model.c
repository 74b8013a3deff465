/* dibs model - every run of a model of what lies below the locks: views and leases. See src/model/model.h. */
#include "cli.h"
#include "model/model.h"
#include "progress.h"

#include <inttypes.h>
#include <string.h>

enum { MODEL_EXIT_UNFINISHED = 3 };

static volatile sig_atomic_t model_stop;

static void model_on_signal(int signal)
{
    (void)signal;
    model_stop = 1;
}

static void model_progress(uint64_t states, uint64_t waiting)
{
    progress_say("%" PRIu64 " states, %" PRIu64 " to look at", states, waiting);
}

static const struct model *model_find(const char *name)
{
    const char *names[8];
    unsigned count = 0;

    for (const struct model *const *m = model_all; *m; m++) {
        if (strcmp((*m)->name, name) == 0)
            return *m;
        names[count++] = (*m)->name;
    }
    names[count] = NULL;
    cli_unknown("model", name, names, "dibs model --help lists them");
}

static int model_find_mistake(const struct model *model, const char *name)
{
    const char *names[32];
    int count = 0;

    for (; model->mistakes[count].name; count++) {
        if (strcmp(model->mistakes[count].name, name) == 0)
            return count;
        names[count] = model->mistakes[count].name;
    }
    names[count] = NULL;
    cli_unknown("mistake", name, names, "dibs model mistakes lists them");
}

static void model_print_bounds(const struct model_task *t)
{
    printf("%u members", t->members);
    if (t->founders < t->members)
        printf(", %u in the first roster", t->founders);
    printf(", a lease of %u round%s%s%s", t->lease, t->lease == 1 ? "" : "s",
           t->roster ? ", members are added and removed" : "", t->calm ? ", only the observed member is cut off" : "");
}

static void model_print_json(const struct model_task *t, const struct model_result *r)
{
    static const char *const verdicts[] = {"holds", "violated", "unfinished"};
    struct cli_json j = {.to = stdout};

    json_object(&j);
    json_key(&j, "model"), json_text(&j, t->model->name);
    json_key(&j, "mistake"), json_text(&j, t->mistake < 0 ? NULL : t->model->mistakes[t->mistake].name);
    json_key(&j, "members"), json_count(&j, t->members);
    json_key(&j, "founders"), json_count(&j, t->founders);
    json_key(&j, "observed"), json_count(&j, t->observed);
    json_key(&j, "lease"), json_count(&j, t->lease);
    json_key(&j, "promise"), json_count(&j, t->promise);
    json_key(&j, "roster"), json_bool(&j, t->roster);
    json_key(&j, "calm"), json_bool(&j, t->calm);
    json_key(&j, "verdict"), json_text(&j, verdicts[r->verdict]);
    json_key(&j, "fault"), json_text(&j, r->broken);
    json_key(&j, "states"), json_count(&j, r->states);
    json_key(&j, "transitions"), json_count(&j, r->transitions);
    json_key(&j, "depth"), json_count(&j, r->depth);
    json_key(&j, "seconds"), json_real(&j, r->seconds);
    json_key(&j, "bytes"), json_count(&j, r->memory);
    json_end(&j, '}');
    putchar('\n');
}

static void model_print_text(const struct model_task *t, const struct model_result *r)
{
    if (r->verdict == MODEL_HOLDS)
        printf("%sholds%s: no two clients believe in an exclusive lock at the same time (", colour_of(VERDICT_GOOD),
               colour_end());
    else if (r->verdict == MODEL_VIOLATED)
        printf("%sVIOLATED%s: %s (", colour_of(VERDICT_BAD), colour_end(), r->broken);
    else
        printf("%sunfinished%s (", colour_of(VERDICT_OPEN), colour_end());
    model_print_bounds(t);
    if (t->mistake >= 0)
        printf("; mistake: %s", t->model->mistakes[t->mistake].what);
    printf("): %" PRIu64 " states, %" PRIu64 " moves, %.1f s\n", r->states, r->transitions, r->seconds);
}

static int model_run(struct model_task *t, bool json)
{
    struct model_result r;
    const char *wrong = t->model->set(t);

    if (wrong)
        cli_die("model %s: %s", t->model->name, wrong);
    t->stop = &model_stop;
    t->progress = model_progress;
    progress_begin("states", 0);
    model_search(t, &r, json ? NULL : stdout);
    progress_end();
    if (json)
        model_print_json(t, &r);
    else
        model_print_text(t, &r);
    return r.verdict == MODEL_HOLDS ? CLI_OK : r.verdict == MODEL_VIOLATED ? CLI_FAILED : MODEL_EXIT_UNFINISHED;
}

/* A table of all mistakes: each is to be found. */
static int model_run_mistakes(uint64_t limit)
{
    int status = CLI_OK;

    for (const struct model *const *m = model_all; *m; m++)
        for (int k = 0; (*m)->mistakes[k].name; k++) {
            struct model_task t = {.model = *m, .mistake = k, .limit = limit, .stop = &model_stop};
            struct model_result r;

            t.model->set(&t);
            model_search(&t, &r, NULL);
            printf("%-9s %-16s %-10s %8" PRIu64 " states %6.1f s  %s\n", (*m)->name, (*m)->mistakes[k].name,
                   r.verdict == MODEL_VIOLATED ? "found" : "NOT FOUND", r.states, r.seconds, (*m)->mistakes[k].what);
            fflush(stdout);
            if (r.verdict != MODEL_VIOLATED)
                status = CLI_FAILED;
        }
    return status;
}

int cmd_model(int argc, char **argv)
{
    static uint64_t members, founders, observed, lease, states = 100000000;
    static bool roster, calm;
    static const char *mistake;
    static unsigned format;
    static const char *const formats[] = {"text", "json", NULL};
    static const struct cli_option options[] = {
        {"--members", CLI_COUNT, &members, "N", "number of members (default 3)", 1, MODEL_MEMBERS_MAX, NULL},
        {"--founders", CLI_COUNT, &founders, "N", "number of members in the first roster (default all)", 1,
         MODEL_MEMBERS_MAX, NULL},
        {"--observed", CLI_COUNT, &observed, "K", "number of the member whose clients are watched (default 0)", 0,
         MODEL_MEMBERS_MAX - 1, NULL},
        {"--lease", CLI_COUNT, &lease, "N",
         "rounds of the longest lease and the shortest promise (default 1; 2 with --mistake)", 1, 100, NULL},
        {"--roster", CLI_FLAG, &roster, NULL, "let an operator add and remove members", 0, 0, NULL},
        {"--calm", CLI_FLAG, &calm, NULL, "let no process crash, and cut only the observed member off", 0, 0, NULL},
        {"--mistake", CLI_TEXT, &mistake, "NAME", "leave a part of the protocol out (default none)", 0, 0, NULL},
        {"--states", CLI_COUNT, &states, "N", "stop after this number of states (default 100M)", 1, 4e9, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print the result in format F (default text)", 0, 0, formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs model leases|mistakes [OPTION...]",
        .about =
            "Searches all runs of a model of what makes the service safe below its locks, for two clients that believe "
            "in an exclusive lock at the same time. If there are such runs, prints a shortest one as a story. "
            "\"leases\" has views, promises, leases and changes of the roster, and calls the daemon's own decision "
            "functions. \"mistakes\" leaves out one part of the protocol after the other, and "
            "prints a table: each must be found.\n"
            "\n"
            "Time passes in rounds. Crashes, pauses and cuts have no bound.\n"
            "\n"
            "Exit status: 0 the property holds, 1 it is violated, 2 the command line is wrong, 3 the search is "
            "unfinished.",
        .options = options,
        .examples = {{"Search all runs of three members:", "dibs model leases"},
                     {"Show what happens if the roster changes twice within a lease:",
                      "dibs model leases --mistake unsettled"}},
    };
    struct sigaction action = {.sa_handler = model_on_signal, .sa_flags = (int)SA_RESETHAND};
    struct model_task task = {.mistake = -1};
    const char *name;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("model needs the name of a model, as in \"dibs model leases\"");
    sigaction(SIGINT, &action, NULL);
    if (strcmp(name, "mistakes") == 0)
        return model_run_mistakes(states);
    task.model = model_find(name);
    if (mistake)
        task.mistake = model_find_mistake(task.model, mistake);
    task.members = (uint32_t)members;
    task.founders = (uint32_t)founders;
    task.observed = (uint32_t)observed;
    task.lease = (uint32_t)lease;
    task.roster = roster;
    task.calm = calm;
    task.limit = states;
    return model_run(&task, format == CLI_AS_JSON);
}
