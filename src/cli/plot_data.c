/* plot_data.c - see plot.h: which rows are which point of which line in which panel. */
#include "base/memory.h"
#include "plot.h"
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct plot_figure plot_figures[] = {
    {"messages", "messages_per_entry", "messages per entry", true},
    {"bytes", "bytes_per_entry", "bytes per entry", true},
    {"wait", "wait_mean", "waiting time / T", true},
    {"response", "response_mean", "response time / T", true},
    {"sync", "sync_delay_mean", "synchronization delay / T", false},
    {"throughput", "throughput", "entries per T", true},
    {"utilisation", "utilisation", "utilisation", false},
    {"concurrency", "concurrency_mean", "inside together", false},
    {"overtakes", "overtakes_mean", "overtakes per entry", false},
    {"switches", "switches_per_entry", "mode switches per entry", false},
    {"fairness", "jain", "fairness (Jain)", false},
    {"p50", "wait_p50", "waiting time, median / T", true},
    {"p95", "wait_p95", "waiting time, 95th percentile / T", true},
    {"p99", "wait_p99", "waiting time, 99th percentile / T", true},
    {0},
};

static const char *const plot_labels[][2] = {
    {"load", "requests of all sites per T"},
    {"rate", "requests of a site per T"},
    {"sites", "number of sites"},
    {"requesters", "number of sites that make requests"},
    {"hold", "time inside / T"},
    {"delay", "delay of a message"},
    {"think", "time between leaving and the next request / T"},
    {"readers", "share of requests that read"},
    {"crash_rate", "crashes per T"},
};

const char *plot_x_label(const struct plot *p)
{
    for (unsigned k = 0; k < sizeof plot_labels / sizeof plot_labels[0]; k++)
        if (strcmp(plot_labels[k][0], p->x) == 0)
            return plot_labels[k][1];
    return p->x;
}

/* A number, or the number of a constant time: "const:0.1". */
static double plot_number(const struct plot *p, size_t row, size_t column)
{
    const char *text = table_text(&p->table, row, column);
    char *end;
    double x;

    if (strncmp(text, "const:", 6) == 0)
        text += 6;
    x = strtod(text, &end);
    return end == text || *end ? NAN : x;
}

static double plot_x(const struct plot *p, size_t row)
{
    if (strcmp(p->x, "load") != 0)
        return plot_number(p, row, table_column(&p->table, p->x));
    return plot_number(p, row, table_column(&p->table, "sites")) * plot_number(p, row, table_column(&p->table, "rate"));
}

/* ---------------------------------------------------------------------------------------------------------- the words */

static void plot_choose_figures(struct plot *p, const char *list)
{
    char words[512], *save;

    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        const struct plot_figure *f = plot_figures;

        if (p->figures == PLOT_PANELS_MAX)
            cli_die("--y: more than %d figures are too many for one picture", PLOT_PANELS_MAX);
        while (f->name && strcmp(f->name, word) != 0)
            f++;
        if (f->name) {
            p->figure[p->figures++] = *f;
        } else if (table_has(&p->table, word)) {
            const char *column = p->table.name[table_column(&p->table, word)];

            p->figure[p->figures++] = (struct plot_figure){column, column, column, false};
        } else {
            const char *names[32] = {0};

            for (unsigned k = 0; plot_figures[k].name; k++)
                names[k] = plot_figures[k].name;
            cli_unknown("figure", word, names, "--y takes messages, wait, p95, ..., or a column of the table");
        }
    }
}

static unsigned plot_choose_columns(const struct plot *p, size_t *by, const char *list)
{
    char words[512], *save;
    unsigned count = 0;

    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (count == PLOT_BY_MAX)
            cli_die("%s: more than %d columns", list, PLOT_BY_MAX);
        by[count++] = table_column(&p->table, word);
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------------ what differs */

static bool plot_same(const struct plot *p, size_t a, size_t b, size_t column)
{
    return strcmp(table_text(&p->table, a, column), table_text(&p->table, b, column)) == 0;
}

static bool plot_varies(const struct plot *p, size_t column)
{
    for (size_t row = 1; row < p->table.rows; row++)
        if (!plot_same(p, 0, row, column))
            return true;
    return false;
}

static bool plot_all_same(const struct plot *p, size_t a, size_t b, const size_t *by, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (!plot_same(p, a, b, by[k]))
            return false;
    return true;
}

/* Would these rows become one point? */
static bool plot_meet(const struct plot *p, size_t a, size_t b)
{
    return p->xs[a] == p->xs[b] && plot_all_same(p, a, b, p->by_line, p->lines_by) &&
           plot_all_same(p, a, b, p->by_panel, p->panels_by);
}

/* A column in which two rows of one point differ, so that a mean of them means nothing; or SIZE_MAX. */
static size_t plot_conflict(const struct plot *p)
{
    size_t columns[64], count = 0;

    for (unsigned k = 0; spec_columns[k].name; k++)
        if (strcmp(spec_columns[k].name, "seed") != 0)
            columns[count++] = table_column(&p->table, spec_columns[k].name);
    for (size_t a = 0; a < p->table.rows; a++)
        for (size_t b = a + 1; b < p->table.rows; b++)
            for (size_t k = 0; k < count && plot_meet(p, a, b); k++)
                if (!plot_same(p, a, b, columns[k]))
                    return columns[k];
    return SIZE_MAX;
}

/* Panels: sizes, where they are not the axis. Lines: algorithms with their options, then all that differs. */
static void plot_choose_lines(struct plot *p, const char *line, const char *panel)
{
    size_t sites = table_column(&p->table, "sites"), conflict;

    if (panel)
        p->panels_by = plot_choose_columns(p, p->by_panel, panel);
    else if (strcmp(p->x, "sites") != 0 && plot_varies(p, sites))
        p->by_panel[p->panels_by++] = sites;
    if (line) {
        p->lines_by = plot_choose_columns(p, p->by_line, line);
    } else {
        p->by_line[p->lines_by++] = table_column(&p->table, "algorithm");
        p->by_line[p->lines_by++] = table_column(&p->table, "options");
    }
    while ((conflict = plot_conflict(p)) != SIZE_MAX) {
        if (line || p->lines_by == PLOT_BY_MAX)
            cli_die("rows of one point differ in \"%s\", and their mean means nothing; take --line %s,%s or --panel %s",
                    p->table.name[conflict], line ? line : "algorithm", p->table.name[conflict],
                    p->table.name[conflict]);
        p->by_line[p->lines_by++] = conflict;
    }
}

/* ------------------------------------------------------------------------------------------------------------- names */

/* "raymond tree=star", "10 sites", "hold const:5" */
static char *plot_name(const struct plot *p, size_t row, const size_t *by, unsigned count)
{
    char *name = mem_new(512);
    struct dme_text text;

    dme_text_init(&text, name, 512);
    for (unsigned k = 0; k < count; k++) {
        const char *column = p->table.name[by[k]], *value = table_text(&p->table, row, by[k]);

        if (!*value)
            continue;
        dme_print(&text, "%s", text.len ? " " : "");
        if (strcmp(column, "algorithm") == 0 || strcmp(column, "options") == 0)
            dme_print(&text, "%s", value);
        else if (strcmp(column, "sites") == 0)
            dme_print(&text, "%s sites", value);
        else
            dme_print(&text, "%s %s", column, strncmp(value, "const:", 6) == 0 ? value + 6 : value);
    }
    return name;
}

/* The place of a name in a list, where it is put if it is new. The name belongs to the list afterwards. */
static unsigned plot_index(char **list, unsigned *count, unsigned max, char *name, const char *what)
{
    for (unsigned k = 0; k < *count; k++)
        if (strcmp(list[k], name) == 0) {
            free(name);
            return k;
        }
    if (*count == max)
        cli_die("more than %u %s are too many for one picture", max, what);
    list[(*count)++] = name;
    return *count - 1;
}

/* -------------------------------------------------------------------------------------------------------------- dots */

static int plot_by_x(const void *a, const void *b)
{
    const struct plot_dot *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

/* t(0.975) for the spread of a few seeds. */
static double plot_t(unsigned freedom)
{
    static const double t[] = {NAN,   12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

    return freedom < sizeof t / sizeof t[0] ? t[freedom] : 1.96 + 2.6 / freedom;
}

/* The mean over seeds, and the half-width of its interval. */
static void plot_average(const struct plot *p, struct plot_dot *dot, const struct plot_figure *f)
{
    size_t column = table_column(&p->table, f->column), ci = SIZE_MAX;
    double sum = 0, squares = 0;
    char name[128];

    snprintf(name, sizeof name, "%s_ci95", f->column);
    if (table_has(&p->table, name))
        ci = table_column(&p->table, name);
    for (size_t row = dot->row; row < p->table.rows; row++) {
        double y = plot_number(p, row, column);

        if (row != dot->row && !plot_meet(p, dot->row, row))
            continue;
        if (isnan(y))
            continue;
        sum += y;
        squares += y * y;
        dot->count++;
    }
    dot->y = sum / dot->count;
    if (dot->count > 1)
        dot->half = plot_t(dot->count - 1) * sqrt(fmax(squares - sum * dot->y, 0) / (dot->count - 1) / dot->count);
    else
        dot->half = ci == SIZE_MAX ? NAN : plot_number(p, dot->row, ci);
}

static void plot_place(struct plot *p, unsigned figure, size_t row)
{
    unsigned panel = plot_index(p->panel, &p->panels, PLOT_PANELS_MAX, plot_name(p, row, p->by_panel, p->panels_by),
                                "panels in a row");
    unsigned line = plot_index(p->line, &p->lines, PLOT_LINES_MAX, plot_name(p, row, p->by_line, p->lines_by), "lines");
    struct plot_dot **dot = &p->dot[figure][panel][line];
    size_t *dots = &p->dots[figure][panel][line];
    struct plot_dot new = {.x = p->xs[row], .row = row};

    for (size_t k = 0; k < *dots; k++)
        if ((*dot)[k].x == new.x)
            return;
    plot_average(p, &new, &p->figure[figure]);
    if (!new.count)
        return;
    p->has_bars |= new.half > 1e-3 * fabs(new.y); /* else they are too short to be seen */
    *dot = mem_grow(*dot, (*dots + 1) * sizeof **dot);
    (*dot)[(*dots)++] = new;
}

static void plot_warn_of_short_runs(const struct plot *p)
{
    size_t bad = 0;

    for (size_t row = 0; row < p->table.rows; row++)
        bad += strcmp(table_text(&p->table, row, table_column(&p->table, "converged")), "yes") != 0;
    if (bad)
        fprintf(stderr,
                "dibs: %zu of %zu rows are of runs too short for their intervals; take more --entries or --precision\n",
                bad, p->table.rows);
}

void plot_arrange(struct plot *p, const char *x, const char *y, const char *line, const char *panel)
{
    size_t rate = table_column(&p->table, "rate");

    if (!p->table.rows)
        cli_die("the table has no rows");
    for (unsigned k = 0; spec_columns[k].name; k++)
        table_column(&p->table, spec_columns[k].name); /* or it is no table of this version */
    p->x = x ? x : *table_text(&p->table, 0, rate) ? "load" : "sites";
    p->xs = mem_new(p->table.rows * sizeof *p->xs);
    for (size_t row = 0; row < p->table.rows; row++)
        if (isnan(p->xs[row] = plot_x(p, row)))
            cli_die("--x %s: row %zu has no number there%s", p->x, row + 1,
                    strcmp(p->x, "load") == 0 || strcmp(p->x, "rate") == 0
                        ? " (a closed load has no rate; take --x sites)"
                        : "");
    plot_choose_figures(p, y);
    plot_choose_lines(p, line, panel);
    for (unsigned f = 0; f < p->figures; f++) {
        for (size_t row = 0; row < p->table.rows; row++)
            plot_place(p, f, row);
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++)
                if (p->dots[f][c][l])
                    qsort(p->dot[f][c][l], p->dots[f][c][l], sizeof **p->dot[f][c], plot_by_x);
    }
    plot_warn_of_short_runs(p);
}

struct plot_range plot_extent(const struct plot *p, unsigned figure)
{
    struct plot_range r = figure == p->figures ? p->range_x : p->range_y;
    bool log = figure == p->figures ? p->log_x : p->figure[figure].log;
    double least = INFINITY, most = -INFINITY;

    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++)
                for (size_t k = 0; k < p->dots[f][c][l] && (figure == p->figures || f == figure); k++) {
                    const struct plot_dot *d = &p->dot[f][c][l][k];
                    double v = figure == p->figures ? d->x : d->y;

                    if (log && v <= 0)
                        continue;
                    least = fmin(least, v);
                    most = fmax(most, v);
                }
    if (isinf(least))
        least = most = 1;
    if (isnan(r.from))
        r.from = log ? least / 1.15 : figure == p->figures ? least - 0.03 * (most - least) : fmin(0, least);
    if (isnan(r.to))
        r.to = log ? most * 1.15 : most + (figure == p->figures ? 0.03 : 0.05) * (most - fmin(r.from, least));
    if (!(r.to > r.from))
        r.to = r.from + 1;
    return r;
}

void plot_free(struct plot *p)
{
    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++)
                free(p->dot[f][c][l]);
    for (unsigned k = 0; k < p->lines; k++)
        free(p->line[k]);
    for (unsigned k = 0; k < p->panels; k++)
        free(p->panel[k]);
    free(p->xs);
    table_free(&p->table);
}
