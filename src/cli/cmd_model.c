/* dibs model - every run of a model of what lies below the locks: views and leases. See src/model/model.h. */
#include "cli.h"
#include "interrupt.h"
#include "model/model.h"
#include "progress.h"

#include <inttypes.h>
#include <string.h>

enum {
    MODEL_SMALL = 5000, /* states of a system that is searched once more for each mistake */
};

static const char *const model_changes[] = {"none", "follow", "upgrade", "downgrade", NULL}; /* enum model_change */
_Static_assert(sizeof model_changes / sizeof model_changes[0] == MODEL_DOWNGRADE + 2, "a change has a name");

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

static void model_print_json(const struct model_task *t, const struct model_result *r, const uint32_t *seen)
{
    static const char *const verdicts[] = {"holds", "violated", "unfinished"};
    _Static_assert(sizeof verdicts / sizeof verdicts[0] == MODEL_UNFINISHED + 1, "a verdict has a name");
    struct cli_json j = {.to = stdout};

    json_object(&j);
    json_key(&j, "model"), json_text(&j, t->model->name);
    json_key(&j, "mistake"), json_text(&j, t->mistake < 0 ? NULL : t->model->mistakes[t->mistake].name);
    json_key(&j, "members"), json_count(&j, t->members);
    json_key(&j, "founders"), json_count(&j, t->founders);
    json_key(&j, "observed"), json_count(&j, t->observed);
    json_key(&j, "lease"), json_count(&j, t->lease);
    json_key(&j, "promise"), json_count(&j, t->promise);
    json_key(&j, "views"), json_count(&j, t->views);
    json_key(&j, "held"), json_bool(&j, t->held);
    json_key(&j, "change"), json_text(&j, model_changes[t->change]);
    json_key(&j, "lost"), json_text(&j, t->lost);
    json_key(&j, "roster"), json_bool(&j, t->roster);
    json_key(&j, "calm"), json_bool(&j, t->calm);
    json_key(&j, "prompt"), json_bool(&j, t->prompt);
    json_key(&j, "clocks"), json_bool(&j, t->clocks);
    json_key(&j, "verdict"), json_text(&j, seen && !*seen ? "vacuous" : verdicts[r->verdict]);
    json_key(&j, "fault"), json_text(&j, r->broken);
    json_key(&j, "states"), json_count(&j, r->states);
    json_key(&j, "transitions"), json_count(&j, r->transitions);
    json_key(&j, "depth"), json_count(&j, r->depth);
    json_key(&j, "seconds"), json_real(&j, r->seconds);
    json_key(&j, "bytes"), json_count(&j, r->memory);
    if (seen) {
        json_key(&j, "seen"), json_array(&j);
        for (int k = 0; t->model->mistakes[k].name; k++)
            if (*seen >> k & 1)
                json_text(&j, t->model->mistakes[k].name);
        json_end(&j, ']');
    }
    json_end(&j, '}');
    putchar('\n');
}

static void model_print_text(const struct model_task *t, const struct model_result *r, const uint32_t *seen)
{
    if (seen && !*seen)
        printf("%svacuous%s: no mistake would be seen within these bounds; allow more members, founders or faults (",
               colour_of(VERDICT_OPEN), colour_end());
    else if (r->verdict == MODEL_HOLDS)
        printf("%sholds%s: %s (", colour_of(VERDICT_GOOD), colour_end(), t->model->property);
    else if (r->verdict == MODEL_VIOLATED)
        printf("%sVIOLATED%s: %s (", colour_of(VERDICT_BAD), colour_end(), r->broken);
    else
        printf("%sunfinished%s (", colour_of(VERDICT_OPEN), colour_end());
    t->model->print_bounds(t, stdout);
    if (t->mistake >= 0)
        printf("; mistake: %s", t->model->mistakes[t->mistake].what);
    printf("): %" PRIu64 " states, %" PRIu64 " moves, %.1f s\n", r->states, r->transitions, r->seconds);
    if (seen && *seen) {
        printf("mistakes that would be seen within these bounds:");
        for (int k = 0; t->model->mistakes[k].name; k++)
            if (*seen >> k & 1)
                printf(" %s", t->model->mistakes[k].name);
        printf("\nmistakes that would not be seen:");
        for (int k = 0; t->model->mistakes[k].name; k++)
            if (!(*seen >> k & 1))
                printf(" %s", t->model->mistakes[k].name);
        putchar('\n');
    }
}

static int model_run(struct model_task *t, bool json)
{
    struct model_result r;
    const uint32_t *seen = NULL;
    uint32_t set;
    const char *wrong = t->model->set(t);

    if (wrong)
        cli_die("model %s: %s", t->model->name, wrong);
    t->stop = interrupt_catch();
    t->progress = model_progress;
    progress_begin("states", 0);
    model_search(t, &r, json ? NULL : stdout);
    progress_end();
    if (r.verdict == MODEL_HOLDS && t->mistake < 0 && r.states <= MODEL_SMALL) {
        set = model_sees(t);
        seen = &set;
    }
    if (json)
        model_print_json(t, &r, seen);
    else
        model_print_text(t, &r, seen);
    return seen && !set                  ? CLI_UNFINISHED
           : r.verdict == MODEL_HOLDS    ? CLI_OK
           : r.verdict == MODEL_VIOLATED ? CLI_FAILED
                                         : CLI_UNFINISHED;
}

/* A table of all mistakes: each is to be found. */
static int model_run_mistakes(uint64_t limit)
{
    const volatile sig_atomic_t *stop = interrupt_catch();
    int status = CLI_OK;

    for (const struct model *const *m = model_all; *m; m++)
        for (int k = 0; (*m)->mistakes[k].name; k++) {
            struct model_task t = {.model = *m, .mistake = k, .limit = limit, .stop = stop};
            struct model_result r;

            t.model->set(&t);
            model_search(&t, &r, NULL);
            printf("%-9s %-16s %-10s %8" PRIu64 " states %6.1f s  %s\n", (*m)->name, (*m)->mistakes[k].name,
                   r.verdict == MODEL_VIOLATED ? "found"
                   : *stop                     ? "unfinished"
                                               : "NOT FOUND",
                   r.states, r.seconds, (*m)->mistakes[k].what);
            fflush(stdout);
            if (*stop)
                return status == CLI_OK ? CLI_UNFINISHED : status;
            if (r.verdict != MODEL_VIOLATED)
                status = CLI_FAILED;
        }
    return status;
}

int cmd_model(int argc, char **argv)
{
    static uint64_t members, founders, observed, lease, views, states = 100000000;
    static bool roster, calm, prompt, clocks, held;
    static const char *mistake, *lost;
    static unsigned format, change;
    static const char *const formats[] = {"text", "json", NULL};
    static const struct cli_option options[] = {
        {"--members", CLI_COUNT, &members, "N", "number of members (default 3; another one with some mistakes)", 1,
         MODEL_MEMBERS_MAX, NULL},
        {"--founders", CLI_COUNT, &founders, "N", "number of members in the first roster (default all)", 1,
         MODEL_MEMBERS_MAX, NULL},
        {"--observed", CLI_COUNT, &observed, "K", "number of the member whose clients are watched (default 0)", 0,
         MODEL_MEMBERS_MAX - 1, NULL},
        {"--lease", CLI_COUNT, &lease, "N",
         "rounds of the longest lease and the shortest promise (default 1; 2 with --mistake)", 1, 100, NULL},
        {"--views", CLI_COUNT, &views, "N", "sessions: how often the view may change (default 1; 2 with --mistake)", 1,
         100, NULL},
        {"--begin-held", CLI_FLAG, &held, NULL, "sessions: begin with a lock that is held", 0, 0, NULL},
        {"--lost", CLI_TEXT, &lost, "LIST",
         "sessions: have these further views, and no others: a word for each, and in it a letter for each member, "
         "which stays as it is (s), is out (o) or is a new process (n); as in sss,nss,sso (default: any views)",
         0, 0, NULL},
        {"--change", CLI_CHOICE, &change, "C",
         "sessions: let the lock be passed on to another session (follow), or its mode change (default none)", 0, 0,
         model_changes},
        {"--roster", CLI_FLAG, &roster, NULL, "let an operator add and remove members", 0, 0, NULL},
        {"--calm", CLI_FLAG, &calm, NULL,
         "cut only the observed member off, and let no process crash; sessions: let views differ by one member", 0, 0,
         NULL},
        {"--prompt", CLI_FLAG, &prompt, NULL, "let all members install a view as soon as it is agreed", 0, 0, NULL},
        {"--clocks", CLI_FLAG, &clocks, NULL,
         "let --lease be milliseconds (default 19) of clocks that are wrong by a twentieth", 0, 0, NULL},
        {"--mistake", CLI_TEXT, &mistake, "NAME", "leave a part of the protocol out (default none)", 0, 0, NULL},
        {"--states", CLI_COUNT, &states, "N", "stop the search after N states (default 100M)", 1, 4e9, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs model leases|sessions|mistakes [OPTION...]",
        .about =
            "Searches all runs of a model of what makes the service safe below its locks. If a run violates the "
            "property, prints a shortest one as a story. \"leases\" has views, promises, leases and changes of the "
            "roster: no two clients believe in an exclusive lock at the same time. \"sessions\" has kept sessions: a "
            "lock of which the client was told is not lost, and no other client is granted it. Both call the daemon's "
            "own decision functions. \"mistakes\" leaves out one part of each protocol after the other, and prints a "
            "table: each must be found.\n\n"
            "Leases: time passes in rounds; crashes, pauses and cuts have no bound. Sessions: the number of views is "
            "bounded.\n\n"
            "Exit status: 0 the property holds, 1 it is violated, 2 the command line is wrong, 3 the search is "
            "unfinished, or vacuous. Within small bounds (5,000 states) it also says which mistakes would be seen "
            "there: if there is none, that the property holds says nothing, and the verdict is \"vacuous\".",
        .options = options,
        .examples = {{"Search all runs of three members:", "dibs model leases"},
                     {"Show what happens if the roster changes twice within a lease:",
                      "dibs model leases --mistake early-change"}},
    };
    struct model_task task = {.mistake = -1};
    const char *name;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("model needs the name of a model, as in \"dibs model leases\"");
    if (strcmp(name, "mistakes") == 0)
        return model_run_mistakes(states);
    task.model = model_find(name);
    if (mistake)
        task.mistake = model_find_mistake(task.model, mistake);
    task.members = (uint32_t)members;
    task.founders = (uint32_t)founders;
    task.observed = (uint32_t)observed;
    task.lease = (uint32_t)lease;
    task.views = (uint32_t)views;
    task.roster = roster;
    task.calm = calm;
    task.prompt = prompt;
    task.clocks = clocks;
    task.held = held;
    task.change = change;
    task.lost = lost;
    task.limit = states;
    return model_run(&task, format == CLI_AS_JSON);
}
