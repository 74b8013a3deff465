/* cmd_paper.c - dibs paper: published figures beside measured ones. */
#include "alg/list.h"
#include "cli.h"
#include "lab/memory.h"
#include "lab/pool.h"
#include "paper/paper.h"
#include "spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAPER_ROWS_MAX = 1024, PAPER_LONG = 10000, PAPER_QUICK = 20 };

/* A run that rows wait for; rows with the same words share it. */
struct paper_run {
    const char *words;
    struct sim_spec spec;
    struct sim_result result;
};

struct paper_runs {
    struct paper_run run[PAPER_ROWS_MAX];
    size_t count;
};

/* Is the algorithm of this row in the catalogue? */
static bool paper_known(const struct paper_row *row)
{
    char name[64];

    if (!row->run)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->run, " "), row->run);
    return alg_find(name) != NULL;
}

static bool paper_present(const struct paper *paper)
{
    for (const struct paper_row *row = paper->rows; row->what; row++)
        if (paper_known(row) && row->run)
            return true;
    return false;
}

static const struct paper *paper_find(const char *name)
{
    const char *names[64] = {"all", "list"};
    unsigned count = 2;

    for (unsigned k = 0; papers[k]; k++) {
        if (strcmp(papers[k]->name, name) == 0 && paper_present(papers[k]))
            return papers[k];
        if (paper_present(papers[k]))
            names[count++] = papers[k]->name;
    }
    cli_unknown("experiment", name, names, "dibs paper list shows all");
}

static struct paper_run *paper_run_of(struct paper_runs *runs, const char *words)
{
    for (size_t k = 0; k < runs->count; k++)
        if (strcmp(runs->run[k].words, words) == 0)
            return &runs->run[k];
    if (runs->count == PAPER_ROWS_MAX)
        cli_die("more than %d runs in one go", PAPER_ROWS_MAX);
    return NULL;
}

static void paper_plan(struct paper_runs *runs, const struct paper *paper, bool quick)
{
    for (const struct paper_row *row = paper->rows; row->what; row++) {
        struct paper_run *run;

        if (!row->run || !paper_known(row) || paper_run_of(runs, row->run))
            continue;
        run = &runs->run[runs->count++];
        run->words = row->run;
        run->spec = spec_parse(row->run);
        if (quick && run->spec.entries >= PAPER_LONG)
            run->spec.entries /= PAPER_QUICK;
    }
}

static void paper_job(void *context, size_t k)
{
    struct paper_run *run = &((struct paper_runs *)context)->run[k];
    struct dme_text wrong;

    dme_text_init(&wrong, run->result.failure, sizeof run->result.failure);
    sim_run(&run->spec, &run->result, &wrong);
}

/* ----------------------------------------------------------------------------------------------------------- output */

struct paper_outcome {
    double measured, half;
    enum paper_verdict verdict;
};

static struct paper_outcome paper_outcome(struct paper_runs *runs, const struct paper_row *row)
{
    struct paper_outcome o = {0};

    if (row->run) {
        const struct sim_result *result = &paper_run_of(runs, row->run)->result;

        if (result->failure[0])
            cli_die("dibs sim %s: %s", row->run, result->failure);
        o.measured = paper_measured(row, result, &o.half);
    } else {
        o.measured = row->schedule(row->sites);
    }
    o.verdict = paper_judge(row, o.measured, o.half);
    return o;
}

static const char *const paper_signs[] = {"", "<= ", ">= "};

static void paper_text_row(const struct paper_row *row, struct paper_outcome o)
{
    char published[32], half[32] = "";

    snprintf(published, sizeof published, "%s%.5g", paper_signs[row->relation], row->published);
    if (o.half > 0)
        snprintf(half, sizeof half, "+- %.2g", o.half);
    printf("  %-52s %11s %11.5g %-11s", row->what, published, o.measured, half);
    if (row->relation == PAPER_EQUALS)
        printf(" %+7.2f%%  ", 100 * (o.measured / row->published - 1));
    else
        printf(" %8s  ", "");
    printf("%s\n", o.verdict == PAPER_IN_ERROR ? "in error" : paper_verdicts[o.verdict]);
}

/* Each reason once, behind the table. */
static void paper_text_reasons(const struct paper *paper, struct paper_runs *runs)
{
    const char *last = NULL;

    for (const struct paper_row *row = paper->rows; row->what; row++) {
        if (!paper_known(row) || !row->because || row->because == last)
            continue;
        if (paper_outcome(runs, row).verdict != PAPER_AGREES) {
            printf("  %s: %s.\n", row->truth > 0 ? "In error" : "Differs", row->because);
            last = row->because;
        }
    }
}

static enum paper_verdict paper_text(const struct paper *paper, struct paper_runs *runs)
{
    enum paper_verdict worst = PAPER_AGREES;

    printf("%s: %s\n%s\n\n  %-52s %11s %11s %-11s %8s\n", paper->name, paper->title, paper->citation, "", "published",
           "measured", "", "");
    for (const struct paper_row *row = paper->rows; row->what; row++) {
        struct paper_outcome o;

        if (!paper_known(row))
            continue;
        o = paper_outcome(runs, row);
        worst = o.verdict > worst ? o.verdict : worst;
        paper_text_row(row, o);
    }
    printf("\n");
    paper_text_reasons(paper, runs);
    printf("  Verdict: %s.\n\n", paper_verdicts[worst]);
    return worst;
}

static enum paper_verdict paper_json(struct cli_json *j, const struct paper *paper, struct paper_runs *runs)
{
    enum paper_verdict worst = PAPER_AGREES;

    json_object(j);
    json_key(j, "name"), json_text(j, paper->name);
    json_key(j, "title"), json_text(j, paper->title);
    json_key(j, "citation"), json_text(j, paper->citation);
    json_key(j, "rows");
    json_array(j);
    for (const struct paper_row *row = paper->rows; row->what; row++) {
        static const char *const relations[] = {"equals", "at most", "at least"};
        struct paper_outcome o;

        if (!paper_known(row))
            continue;
        o = paper_outcome(runs, row);
        worst = o.verdict > worst ? o.verdict : worst;
        json_object(j);
        json_key(j, "what"), json_text(j, row->what);
        json_key(j, "run"), json_text(j, row->run);
        json_key(j, "relation"), json_text(j, relations[row->relation]);
        json_key(j, "published"), json_real(j, row->published);
        json_key(j, "measured"), json_real(j, o.measured);
        json_key(j, "measured_ci95"), json_real(j, o.half);
        json_key(j, "difference"), json_real(j, o.measured - row->published);
        json_key(j, "verdict"), json_text(j, paper_verdicts[o.verdict]);
        json_key(j, "because"), json_text(j, o.verdict == PAPER_AGREES ? NULL : row->because);
        json_end(j, '}');
    }
    json_end(j, ']');
    json_key(j, "verdict"), json_text(j, paper_verdicts[worst]);
    json_end(j, '}');
    return worst;
}

static int paper_list(enum cli_format format)
{
    struct cli_json j = {.to = stdout};

    if (format == CLI_AS_JSON)
        json_array(&j);
    for (unsigned k = 0; papers[k]; k++) {
        if (!paper_present(papers[k]))
            continue;
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

/* One experiment, or all of them (null). */
static int paper_do(const struct paper *one, enum cli_format format, bool quick, unsigned threads)
{
    struct paper_runs *runs = mem_new(sizeof *runs);
    enum paper_verdict worst = PAPER_AGREES;
    struct cli_json j = {.to = stdout};

    for (unsigned k = 0; papers[k]; k++)
        if (one ? papers[k] == one : paper_present(papers[k]))
            paper_plan(runs, papers[k], quick);
    pool_run(threads, runs->count, paper_job, runs);
    if (format == CLI_AS_JSON && !one)
        json_array(&j);
    for (unsigned k = 0; papers[k]; k++) {
        enum paper_verdict verdict;

        if (one ? papers[k] != one : !paper_present(papers[k]))
            continue;
        verdict = format == CLI_AS_JSON ? paper_json(&j, papers[k], runs) : paper_text(papers[k], runs);
        worst = verdict > worst ? verdict : worst;
    }
    if (format == CLI_AS_JSON && !one)
        json_end(&j, ']');
    for (size_t k = 0; k < runs->count; k++)
        spec_free(&runs->run[k].spec);
    free(runs);
    return worst == PAPER_DIFFERS ? CLI_FAILED : CLI_OK;
}

int cmd_paper(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    static uint64_t workers;
    static unsigned format;
    static bool quick;
    static const struct cli_option options[] = {
        {"--quick", CLI_FLAG, &quick, NULL, "runs of a twentieth of the length", 0, 0, NULL},
        {"--workers", CLI_COUNT, &workers, "N", "threads (one for each core); results do not depend on it", 1, 1024,
         NULL},
        {"--format", CLI_CHOICE, &format, "F", "how to print", 0, 0, formats},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs paper (list | NAME | all) [--quick] [--format text|json]",
        .about = "Repeats a published table, figure or theorem and says whether it holds. Status 0: it agrees, or the\n"
                 "publication is in error and the reason is known; 1: it differs.",
        .options = options,
    };
    const char *word = NULL;
    const struct paper *one = NULL;

    if (!cli_parse(argc, argv, &usage, &word, 1))
        cli_die("which experiment? (usage: %s)", usage.line);
    if (strcmp(word, "list") == 0)
        return paper_list((enum cli_format)format);
    if (strcmp(word, "all") != 0)
        one = paper_find(word);
    return paper_do(one, (enum cli_format)format, quick, workers ? (unsigned)workers : pool_cores());
}
