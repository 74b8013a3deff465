/* cmd_paper.c - dibs paper: published claims beside what is measured. */
#include "base/memory.h"
#include "base/pool.h"
#include "check_spec.h"
#include "paper/paper.h"
#include "paper_report.h"
#include "progress.h"
#include "spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAPER_LONG = 10000, PAPER_QUICK = 20, PAPER_QUICK_SEEDS = 44, PAPER_CHECK_STATES = 3000000 };

/* A run that rows wait for; rows with the same words share it. Those of tables have no words. */
struct paper_run {
    const char *sim, *check;
    struct sim_spec spec;
    struct sim_result result;
    struct check_task task;
    struct check_result checked;
};

/* The runs of a table: of each seed all loads; then the steady ones; then the other experiment. */
struct paper_tabling {
    const struct paper_table *table;
    size_t first;
    unsigned seeds;
    struct paper_tabled done;
};

struct paper_runs {
    struct paper_run *run;
    size_t count, room;
    struct paper_tabling tabling;
    bool quick;
};

static const struct paper *paper_find(const char *name)
{
    const char *names[64] = {"all", "list"};
    unsigned count = 2;

    for (unsigned k = 0; papers[k]; k++) {
        if (strcmp(papers[k]->name, name) == 0)
            return papers[k];
        names[count++] = papers[k]->name;
    }
    cli_unknown("experiment", name, names, "dibs paper list shows all");
}

/* ------------------------------------------------------------------------------------------------------------- runs */

static struct paper_run *paper_run_of(struct paper_runs *runs, const struct paper_row *row)
{
    for (size_t k = 0; k < runs->count; k++) {
        struct paper_run *run = &runs->run[k];

        if ((row->run && run->sim && strcmp(run->sim, row->run) == 0) ||
            (row->check && run->check && strcmp(run->check, row->check) == 0))
            return run;
    }
    return NULL;
}

static struct paper_run *paper_add(struct paper_runs *runs)
{
    struct paper_run *run;

    if (runs->count == runs->room) {
        runs->room = runs->room ? 2 * runs->room : 64;
        runs->run = mem_grow(runs->run, runs->room * sizeof *runs->run);
    }
    run = &runs->run[runs->count++];
    memset(run, 0, sizeof *run);
    return run;
}

static void paper_plan_rows(struct paper_runs *runs, const struct paper *paper)
{
    for (const struct paper_row *row = paper->rows; row->what; row++) {
        struct paper_run *run;

        if ((!row->run && !row->check) || paper_run_of(runs, row))
            continue;
        run = paper_add(runs);
        if (row->run) {
            run->sim = row->run;
            run->spec = spec_parse(row->run);
            if (runs->quick && run->spec.entries >= PAPER_LONG)
                run->spec.entries /= PAPER_QUICK;
        } else {
            run->check = row->check;
            run->task = check_parse(row->check);
            run->task.limit = PAPER_CHECK_STATES;
        }
    }
}

static void paper_add_load(struct paper_runs *runs, const struct paper_table *t, unsigned load, const char *more,
                           uint64_t seed, uint64_t entries)
{
    char words[512];
    struct paper_run *run = paper_add(runs);

    snprintf(words, sizeof words, "%s %s %s %s", t->before, t->load[load], t->after, more);
    run->spec = spec_parse(words);
    run->spec.seed = seed;
    run->spec.entries = entries ? entries : run->spec.entries / (runs->quick ? PAPER_QUICK : 1);
    if (entries)
        run->spec.warmup = 0;
}

static void paper_plan_table(struct paper_runs *runs, const struct paper_table *t)
{
    struct paper_tabling *tabling = &runs->tabling;

    tabling->table = t;
    tabling->first = runs->count;
    tabling->seeds = runs->quick ? PAPER_QUICK_SEEDS : t->seeds;
    for (unsigned s = 0; s < tabling->seeds; s++)
        for (unsigned k = 0; k < PAPER_LOADS; k++)
            paper_add_load(runs, t, k, "", s + 1, runs->quick ? t->entries / 2 : t->entries);
    for (unsigned k = 0; k < PAPER_LOADS; k++)
        paper_add_load(runs, t, k, t->steady, 1, 0);
    for (unsigned k = 0; k < PAPER_LOADS; k++)
        paper_add_load(runs, t, k, t->other, 1, 0);
}

static void paper_job(void *context, size_t k)
{
    struct paper_run *run = &((struct paper_runs *)context)->run[k];
    struct dme_text wrong;

    if (run->check) {
        check_run(&run->task, &run->checked);
        return;
    }
    dme_text_init(&wrong, run->result.failure, sizeof run->result.failure);
    sim_run(&run->spec, &run->result, &wrong);
}

/* --------------------------------------------------------------------------------------------------------- outcomes */

static double paper_checked(const struct paper_row *row, const struct check_result *result)
{
    if (result->verdict == CHECK_UNFINISHED)
        cli_die("dibs check %s: unfinished after %" PRIu64 " states", row->check, result->states);
    return row->figure == PAPER_CHECK_MESSAGES ? (double)result->messages : (double)result->verdict;
}

static struct paper_outcome paper_outcome(void *user, const struct paper_row *row)
{
    struct paper_outcome o = {.measured = NAN};

    if (row->run) {
        const struct sim_result *result = &paper_run_of(user, row)->result;

        if (result->failure[0] && !result->unserved) /* starvation may be the claim; its figures are measured */
            cli_die("dibs sim %s: %s", row->run, result->failure);
        o.measured = paper_measured(row, result, &o.half);
    } else if (row->check) {
        o.measured = paper_checked(row, &paper_run_of(user, row)->checked);
    } else if (row->schedule) {
        o.measured = row->schedule(row->sites);
    } else if (!row->argued) {
        o.verdict = row->scenario ? PAPER_SHOWN : PAPER_UNTESTED;
        return o;
    }
    o.verdict = paper_judge(row, o.measured, o.half);
    return o;
}

static double paper_tabled_figure(const struct paper_runs *runs, size_t run, unsigned column)
{
    const struct paper_run *r = &runs->run[runs->tabling.first + run];

    if (r->result.failure[0])
        cli_die("%s", r->result.failure);
    return r->result.value[runs->tabling.table->figure[column]];
}

static const struct paper_tabled *paper_tabled(void *user, const struct paper_table *table)
{
    struct paper_runs *runs = user;
    struct paper_tabled *t = &runs->tabling.done;
    size_t figures = PAPER_COLUMNS * PAPER_LOADS, seeds = runs->tabling.seeds;

    if (t->scatter.runs)
        return t;
    t->scatter = (struct scatter){
        .runs = seeds,
        .figures = figures,
        .published = table->published[0],
        .digit = table->digit[0],
        .value = mem_new(seeds * figures * sizeof(double)),
    };
    for (unsigned c = 0; c < PAPER_COLUMNS; c++)
        for (unsigned k = 0; k < PAPER_LOADS; k++) {
            for (size_t s = 0; s < seeds; s++)
                t->scatter.value[s * figures + c * PAPER_LOADS + k] = paper_tabled_figure(runs, s * PAPER_LOADS + k, c);
            t->steady[c][k] = paper_tabled_figure(runs, seeds * PAPER_LOADS + k, c);
            t->other[c][k] = paper_tabled_figure(runs, (seeds + 1) * PAPER_LOADS + k, c);
        }
    scatter_round(&t->scatter);
    t->fit = paper_judge_table(&t->scatter);
    return t;
}

static void paper_free(struct paper_runs *runs)
{
    for (size_t k = 0; k < runs->count; k++) {
        if (!runs->run[k].check)
            spec_free(&runs->run[k].spec);
        free(runs->run[k].checked.trace);
    }
    free(runs->tabling.done.scatter.value);
    free(runs->run);
}

/* ---------------------------------------------------------------------------------------------------------- command */

static int paper_list(enum cli_format format)
{
    struct cli_json j = {.to = stdout};

    if (format == CLI_AS_JSON)
        json_array(&j);
    for (unsigned k = 0; papers[k]; k++) {
        if (format == CLI_AS_JSON) {
            json_object(&j);
            json_key(&j, "name"), json_text(&j, papers[k]->name);
            json_key(&j, "title"), json_text(&j, papers[k]->title);
            json_key(&j, "citation"), json_text(&j, papers[k]->citation);
            json_end(&j, '}');
        } else {
            printf("%-24s %s\n", papers[k]->name, papers[k]->title);
        }
    }
    if (format == CLI_AS_JSON)
        json_end(&j, ']');
    return CLI_OK;
}

static const char paper_claims_head[] =
    "# What was published, and what dibs finds\n"
    "\n"
    "Made by `dibs paper all --claims docs/papers.md`. Every theorem, table, figure and number of five documents that "
    "speaks\n"
    "of cost or behaviour has a row here: where it stands, what it says (in our words), a command that tests it, and "
    "the\n"
    "verdict. `dibs paper NAME` shows all figures.\n"
    "\n"
    "- *agrees*: measured and published are equal, within the confidence interval and a tolerance.\n"
    "- *in error*: they are not, the reason is known, and measured is what the reason says it should be.\n"
    "- *shown*: a scenario of the project plays it step by step.\n"
    "- *ours*: nothing is claimed; the figure stands beside the claim.\n"
    "- *not tested*: an argument that no run can test.\n";

/* One experiment, or all of them (null). */
static int paper_do(const struct paper *one, enum cli_format format, bool quick, unsigned threads, const char *claims)
{
    struct paper_runs runs = {.quick = quick};
    const struct paper_source from = {.user = &runs, .row = paper_outcome, .table = paper_tabled};
    enum paper_verdict worst = PAPER_UNTESTED;
    struct cli_json j = {.to = stdout};
    FILE *list = claims ? fopen(claims, "w") : NULL;

    if (claims && !list)
        cli_die("--claims %s: the file cannot be written", claims);
    for (unsigned k = 0; papers[k]; k++)
        if (!one || papers[k] == one) {
            if (papers[k]->table)
                paper_plan_table(&runs, papers[k]->table);
            else
                paper_plan_rows(&runs, papers[k]);
        }
    progress_pool(threads, runs.count, paper_job, &runs, "runs");
    if (format == CLI_AS_JSON && !one)
        json_array(&j);
    if (list)
        fputs(paper_claims_head, list);
    for (unsigned k = 0; papers[k]; k++) {
        enum paper_verdict verdict;

        if (one && papers[k] != one)
            continue;
        verdict = format == CLI_AS_JSON ? paper_json(&j, papers[k], &from) : paper_text(papers[k], &from);
        worst = verdict > worst ? verdict : worst;
        if (list)
            paper_markdown(list, papers[k], &from);
    }
    if (format == CLI_AS_JSON && !one)
        json_end(&j, ']');
    if (list && fclose(list))
        cli_die("--claims %s: the file cannot be written", claims);
    paper_free(&runs);
    return worst == PAPER_DIFFERS ? CLI_FAILED : CLI_OK;
}

int cmd_paper(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    static uint64_t workers;
    static unsigned format;
    static const char *claims;
    static bool quick;
    static const struct cli_option options[] = {
        {"--quick", CLI_FLAG, &quick, NULL, "simulate a twentieth of the usual number of entries", 0, 0, NULL},
        {"--workers", CLI_COUNT, &workers, "N",
         "run N simulations at a time (default: one for each core); results do not depend on it", 1, 1024, NULL},
        {"--claims", CLI_TEXT, &claims, "FILE",
         "also write the list of claims with their verdicts into FILE, as Markdown (default: do not)", 0, 0, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs paper (list | EXPERIMENT | all) [--quick] [--format text|json]",
        .about =
            "Repeats what a publication claims and tells whether it holds. \"dibs paper list\" names the experiments, "
            "\"dibs paper all\" runs all of them.\n"
            "\n"
            "Exit status: 0 the result agrees, or the publication is in error and the reason is known; 1 the result "
            "differs; 2 the command line is wrong.",
        .options = options,
        .examples = {{"List the experiments:", "dibs paper list"},
                     {"Repeat a theorem on the number of messages, quickly:", "dibs paper banta-theorem-6.1 --quick"}},
    };
    const char *word = NULL;
    const struct paper *one = NULL;

    if (!cli_parse(argc, argv, &usage, &word, 1))
        cli_die("no experiment is named (usage: %s)", usage.line);
    if (strcmp(word, "list") == 0)
        return paper_list((enum cli_format)format);
    if (strcmp(word, "all") != 0)
        one = paper_find(word);
    return paper_do(one, (enum cli_format)format, quick, workers ? (unsigned)workers : pool_cores(), claims);
}
