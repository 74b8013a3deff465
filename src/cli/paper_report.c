/* paper_report.c - see paper_report.h. */
#include "paper_report.h"

#include "progress.h"

#include <math.h>
#include <string.h>

static const char *const paper_signs[] = {"", "<= ", ">= "};

static enum paper_verdict paper_worse(enum paper_verdict a, enum paper_verdict b)
{
    return a > b ? a : b;
}

/* The rows of a claim are those behind it, up to the next one. */
static const struct paper_row *claim_end(const struct paper_row *claim)
{
    const struct paper_row *row = claim + 1;

    while (row->what && !row->where)
        row++;
    return row;
}

static enum paper_verdict claim_verdict(const struct paper_row *claim, const struct paper_source *from)
{
    enum paper_verdict worst = PAPER_UNTESTED;

    for (const struct paper_row *row = claim + 1; row < claim_end(claim); row++)
        worst = paper_worse(worst, from->row(from->user, row).verdict);
    return worst;
}

/* Why rows of the claim are in error: each reason once, behind these words. */
static void claim_reasons(FILE *to, const struct paper_row *claim, const struct paper_source *from, const char *first,
                          const char *next)
{
    const char *last = NULL;

    for (const struct paper_row *row = claim + 1; row < claim_end(claim); row++)
        if (row->because && row->because != last && from->row(from->user, row).verdict >= PAPER_IN_ERROR) {
            fprintf(to, "%s%s", last ? next : first, row->because);
            last = row->because;
        }
}

/* A figure as text: a number, or what the checker says. */
static const char *paper_figure_text(const struct paper_row *row, double x, char *buf, size_t size)
{
    if (isnan(x))
        buf[0] = 0;
    else if (row->check && row->figure == PAPER_CHECK_VERDICT)
        snprintf(buf, size, "%s", check_verdicts[(unsigned)x]);
    else
        snprintf(buf, size, "%.5g", x);
    return buf;
}

/* ------------------------------------------------------------------------------------------------------------- text */

static const char *paper_colour(enum paper_verdict verdict)
{
    return colour_of(verdict == PAPER_DIFFERS ? VERDICT_BAD : verdict == PAPER_AGREES ? VERDICT_GOOD : VERDICT_OPEN);
}

static void text_row(const struct paper_row *row, struct paper_outcome o)
{
    char published[40] = "", measured[32], half[32] = "", number[32];

    if (!row->argued && row->published == row->published && !isnan(o.measured))
        snprintf(published, sizeof published, "%s%s", paper_signs[row->relation],
                 paper_figure_text(row, row->published, number, sizeof number));
    if (o.half > 0)
        snprintf(half, sizeof half, "+- %.2g", o.half);
    printf("    %-56s %11s %11s %-11s", row->what, published,
           paper_figure_text(row, o.measured, measured, sizeof measured), half);
    if (row->relation == PAPER_EQUALS && published[0] && row->published > 0 && row->figure != PAPER_CHECK_VERDICT)
        printf(" %+7.2f%%  ", 100 * (o.measured / row->published - 1));
    else
        printf(" %8s  ", "");
    printf("%s%s%s\n", paper_colour(o.verdict), paper_verdicts[o.verdict], colour_end());
}

/* After the table: each claim that is refuted, its place, and why. */
static void text_reasons(const struct paper *paper, const struct paper_source *from)
{
    for (const struct paper_row *claim = paper->rows; claim->what; claim = claim_end(claim)) {
        enum paper_verdict verdict = claim_verdict(claim, from);

        if (verdict >= PAPER_IN_ERROR) {
            printf("  %s: %s: %s.", verdict == PAPER_IN_ERROR ? "In error" : "Differs", claim->where, claim->what);
            claim_reasons(stdout, claim, from, " But ", ". And ");
            printf(".\n");
        }
    }
}

static void text_cells(const struct paper_tabled *t, unsigned c, unsigned load)
{
    double sd, mean = scatter_mean(&t->scatter, c * PAPER_LOADS + load, &sd);
    double published = t->scatter.published[c * PAPER_LOADS + load];
    int digits = t->scatter.digit[c * PAPER_LOADS + load] < 0.005 ? 3 : 2;
    char z[16] = "";

    if (sd > 1e-9)
        snprintf(z, sizeof z, "%+.1f", (published - mean) / sd);
    printf(" %9.*f %8.3f +- %-6.3f %5s %8.3f %8.3f  ", digits, published, mean, sd, z, t->steady[c][load],
           t->other[c][load]);
}

/* What the other figures say of the odd one; and of the other figure under this load, which may be the odd one as well.
 */
static void text_odd(const struct paper_table *table, const struct paper_tabled *t)
{
    size_t load = t->fit.oddest % PAPER_LOADS;

    printf("  One figure does not fit the others (%.1f%% of the points have a figure as odd). Without it %.0f%% are as "
           "far out.\n  It is one of those at load %s, where the other figures predict:\n",
           100 * t->fit.odd, 100 * t->fit.all_but, table->load[load]);
    for (unsigned c = 0; c < PAPER_COLUMNS; c++) {
        double sd, expected = scatter_predict(&t->scatter, c * PAPER_LOADS + load, &sd);

        printf("    %s %.3f +- %.3f; printed is %.3f.\n", table->column[c], expected, sd, table->published[c][load]);
    }
}

static void text_table(const struct paper_table *table, const struct paper_tabled *t)
{
    printf("  %s: %s.\n\n  %-7s", table->where, table->claim, "load");
    for (unsigned c = 0; c < PAPER_COLUMNS; c++)
        printf(" %9s %8s %-9s %5s %8s %8s  ", table->column[c], "runs", "", "z", "steady", table->other_name);
    printf("\n");
    for (unsigned k = 0; k < PAPER_LOADS; k++) {
        printf("  %-7s", table->load[k]);
        for (unsigned c = 0; c < PAPER_COLUMNS; c++)
            text_cells(t, c, k);
        printf("\n");
    }
    printf("\n%s\n", table->text);
    printf("  The table beside %zu runs. As far out as the published figures, or farther, lie:\n", t->scatter.runs);
    for (unsigned c = 0; c < PAPER_COLUMNS; c++)
        printf("    in all %d figures %s: %.0f%% of the points.\n", PAPER_LOADS, table->column[c],
               100 * t->fit.column[c]);
    printf("    in all figures together: %.1f%%.\n", 100 * t->fit.all);
    if (t->fit.verdict != PAPER_AGREES)
        text_odd(table, t);
}

enum paper_verdict paper_text(const struct paper *paper, const struct paper_source *from)
{
    enum paper_verdict worst = PAPER_UNTESTED;

    printf("%s: %s\n%s\n\n", paper->name, paper->title, paper->citation);
    if (paper->table) {
        const struct paper_tabled *t = from->table(from->user, paper->table);

        text_table(paper->table, t);
        worst = t->fit.verdict;
    } else {
        printf("%-60s %11s %11s\n", "", "published", "measured");
        for (const struct paper_row *row = paper->rows; row->what; row++) {
            if (row->where) {
                printf("  %s: %s\n", row->where, row->what);
            } else {
                struct paper_outcome o = from->row(from->user, row);

                worst = paper_worse(worst, o.verdict);
                text_row(row, o);
            }
        }
        printf("\n");
        text_reasons(paper, from);
    }
    printf("  Verdict: %s%s%s.\n\n", paper_colour(worst),
           worst == PAPER_IN_ERROR ? "the publication is in error, in what is told above" : paper_verdicts[worst],
           colour_end());
    return worst;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

/* The name of what a run or a check finds, in the JSON of "dibs sim" and "dibs check". Returns null if it is no figure
 * of theirs. */
static const char *paper_figure_name(const struct paper_row *row)
{
    static const char *const names[] = {
        [PAPER_OVERTAKES_MAX - FIGURES] = "overtakes_max",
        [PAPER_SWITCHES_MAX - FIGURES] = "switches_max",
        [PAPER_INSIDE_MAX - FIGURES] = "concurrency_max",
        [PAPER_SYNC_MAX - FIGURES] = "sync_delay_max",
        [PAPER_WAIT_MAX - FIGURES] = "wait_max",
        [PAPER_JAIN - FIGURES] = "jain",
        [PAPER_MESSAGE_BYTES - FIGURES] = "bytes_per_message",
        [PAPER_CHECK_VERDICT - FIGURES] = "verdict",
        [PAPER_CHECK_MESSAGES - FIGURES] = "messages_max",
    };

    if (!row->run && !row->check)
        return NULL;
    return row->figure < FIGURES ? metrics_figures[row->figure].name : names[row->figure - FIGURES];
}

static void json_row(struct cli_json *j, const struct paper_row *claim, const struct paper_row *row,
                     struct paper_outcome o)
{
    static const char *const relations[] = {"equals", "at most", "at least"};
    bool compared = !row->argued && !isnan(o.measured) && !isnan(row->published);

    json_object(j);
    json_key(j, "where"), json_text(j, claim->where);
    json_key(j, "claim"), json_text(j, claim->what);
    json_key(j, "what"), json_text(j, row->what);
    json_key(j, "run"), json_text(j, row->run);
    json_key(j, "check"), json_text(j, row->check);
    json_key(j, "scenario"), json_text(j, row->scenario);
    json_key(j, "figure"), json_text(j, paper_figure_name(row));
    json_key(j, "found"),
        json_text(j, row->figure == PAPER_CHECK_VERDICT ? check_verdicts[(unsigned)o.measured] : NULL);
    json_key(j, "own_messages"), json_real(j, row->uncounted);
    json_key(j, "relation"), json_text(j, relations[row->relation]);
    json_key(j, "published"), json_real(j, compared ? row->published : NAN);
    json_key(j, "measured"), json_real(j, o.measured);
    json_key(j, "measured_ci95"), json_real(j, o.half);
    json_key(j, "difference"), json_real(j, compared ? o.measured - row->published : NAN);
    json_key(j, "verdict"), json_text(j, paper_verdicts[o.verdict]);
    json_key(j, "because"), json_text(j, o.verdict < PAPER_IN_ERROR ? NULL : row->because);
    json_end(j, '}');
}

static void json_table(struct cli_json *j, const struct paper_table *table, const struct paper_tabled *t)
{
    for (unsigned k = 0; k < PAPER_LOADS; k++)
        for (unsigned c = 0; c < PAPER_COLUMNS; c++) {
            double sd, mean = scatter_mean(&t->scatter, c * PAPER_LOADS + k, &sd);

            json_object(j);
            json_key(j, "where"), json_text(j, table->where);
            json_key(j, "load"), json_text(j, table->load[k]);
            json_key(j, "what"), json_text(j, table->column[c]);
            json_key(j, "published"), json_real(j, table->published[c][k]);
            json_key(j, "mean"), json_real(j, mean);
            json_key(j, "sd"), json_real(j, sd);
            json_key(j, "steady"), json_real(j, t->steady[c][k]);
            json_key(j, table->other_name), json_real(j, t->other[c][k]);
            json_end(j, '}');
        }
}

enum paper_verdict paper_json(struct cli_json *j, const struct paper *paper, const struct paper_source *from)
{
    enum paper_verdict worst = PAPER_UNTESTED;
    const struct paper_row *claim = NULL;

    json_object(j);
    json_key(j, "name"), json_text(j, paper->name);
    json_key(j, "title"), json_text(j, paper->title);
    json_key(j, "citation"), json_text(j, paper->citation);
    json_key(j, "rows");
    json_array(j);
    if (paper->table) {
        const struct paper_tabled *t = from->table(from->user, paper->table);

        json_table(j, paper->table, t);
        worst = t->fit.verdict;
    }
    for (const struct paper_row *row = paper->rows; row && row->what; row++) {
        struct paper_outcome o;

        if (row->where) {
            claim = row;
            continue;
        }
        o = from->row(from->user, row);
        worst = paper_worse(worst, o.verdict);
        json_row(j, claim, row, o);
    }
    json_end(j, ']');
    json_key(j, "verdict"), json_text(j, paper_verdicts[worst]);
    json_end(j, '}');
    return worst;
}

/* --------------------------------------------------------------------------------------------------------- Markdown */

/* The command that repeats the first piece of evidence, and how many there are more. */
static void markdown_evidence(FILE *to, const struct paper *paper, const struct paper_row *claim)
{
    const struct paper_row *first = claim + 1;
    int more = (int)(claim_end(claim) - first) - 1;

    if (first->run)
        fprintf(to, "`dibs sim %s`", first->run);
    else if (first->check)
        fprintf(to, "`dibs check %s`", first->check);
    else if (first->scenario)
        fprintf(to, "`dibs scenario tests/scenario/%s.txt`", first->scenario);
    else if (first->schedule)
        fprintf(to, "a schedule: `dibs paper %s`", paper->name);
    else
        fprintf(to, "%s", first->what);
    if (more > 0)
        fprintf(to, " and %d more", more);
}

void paper_markdown(FILE *to, const struct paper *paper, const struct paper_source *from)
{
    fprintf(to, "\n## %s\n\n%s. All of it: `dibs paper %s`.\n\n", paper->title, paper->citation, paper->name);
    fprintf(to, "| where | claim | evidence | verdict |\n|---|---|---|---|\n");
    if (paper->table)
        fprintf(to, "| %s | %s | `dibs paper %s` | %s |\n", paper->table->where, paper->table->claim, paper->name,
                paper_verdicts[from->table(from->user, paper->table)->fit.verdict]);
    for (const struct paper_row *claim = paper->rows; claim && claim->what; claim = claim_end(claim)) {
        fprintf(to, "| %s | %s | ", claim->where, claim->what);
        markdown_evidence(to, paper, claim);
        fprintf(to, " | %s", paper_verdicts[claim_verdict(claim, from)]);
        claim_reasons(to, claim, from, ": ", "; ");
        fprintf(to, " |\n");
    }
}
