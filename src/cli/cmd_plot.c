/* cmd_plot.c - dibs plot: the tables of dibs sweep as pictures, drawn by gnuplot.
 *
 * A picture has a row of panels for every figure (messages, waiting time, ...) and a column for every number of sites.
 * A line is an algorithm with its options, and looks the same in every picture. Bars are 95% confidence intervals. */
#include "alg/list.h"
#include "base/memory.h"
#include "cli.h"
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct plot_figure {
    const char *name, *column, *label;
    bool log;
};

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
    {"fairness", "jain", "fairness (Jain)", false},
    {0},
};

static const char *const plot_axes[] = {"load", "rate", "sites", "requesters", NULL};
enum plot_axis { PLOT_LOAD, PLOT_RATE, PLOT_SITES, PLOT_REQUESTERS };
static const char *const plot_axis_labels[] = {"demands of all sites per T", "demands of a site per T",
                                               "number of sites", "number of sites that make requests"};

enum { PLOT_LINES_MAX = 64, PLOT_PANELS_MAX = 8 };

struct plot {
    struct table table;
    const struct plot_figure *figure[PLOT_PANELS_MAX];
    unsigned figures;
    char *panel[PLOT_PANELS_MAX]; /* "10 sites": what the rows of a column of panels have in common */
    unsigned panels;
    char *line[PLOT_LINES_MAX]; /* "raymond tree=star" */
    unsigned lines;
    enum plot_axis axis;
    size_t c_algorithm, c_options, c_sites, c_load, c_rate;
};

/* --------------------------------------------------------------------------------------------- what is in the table */

static char *plot_line_name(const struct plot *p, size_t row)
{
    char *name = mem_new(256);

    snprintf(name, 256, "%s%s%s", table_text(&p->table, row, p->c_algorithm),
             *table_text(&p->table, row, p->c_options) ? " " : "", table_text(&p->table, row, p->c_options));
    return name;
}

static char *plot_panel_name(const struct plot *p, size_t row)
{
    char *name = mem_new(256);

    if (p->axis == PLOT_SITES && strcmp(table_text(&p->table, row, p->c_load), "closed:const:0") == 0)
        snprintf(name, 256, "full load");
    else if (p->axis == PLOT_SITES)
        snprintf(name, 256, "%s", table_text(&p->table, row, p->c_load));
    else
        snprintf(name, 256, "%s sites", table_text(&p->table, row, p->c_sites));
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

static unsigned plot_line(struct plot *p, size_t row)
{
    return plot_index(p->line, &p->lines, PLOT_LINES_MAX, plot_line_name(p, row), "lines");
}

static unsigned plot_panel(struct plot *p, size_t row)
{
    return plot_index(p->panel, &p->panels, PLOT_PANELS_MAX, plot_panel_name(p, row), "panels in a row");
}

/* Of a row "closed:const:0 requesters:3"; without that word, all sites. */
static double plot_requesters(const struct plot *p, size_t row, double sites)
{
    const char *load = table_text(&p->table, row, p->c_load), *word = strstr(load, "requesters:");

    if (strncmp(load, "closed", 6) != 0)
        cli_die("a row of an open load has no requesters; take --x rate");
    return word ? atof(word + strlen("requesters:")) : sites;
}

static double plot_x(const struct plot *p, size_t row)
{
    double sites = table_number(&p->table, row, p->c_sites), rate = table_number(&p->table, row, p->c_rate);

    switch (p->axis) {
    case PLOT_SITES:
        return sites;
    case PLOT_RATE:
        return rate;
    case PLOT_REQUESTERS:
        return plot_requesters(p, row, sites);
    default:
        return sites * rate;
    }
}

/* ------------------------------------------------------------------------------------------------------- the script */

/* Colours that most people can tell apart (eight of them are Okabe and Ito's); dashes tell lines of one colour apart.
 */
static void plot_styles(FILE *to)
{
    static const char *const colours[] = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2",
                                          "#d55e00", "#8c8c8c", "#7f6b00", "#6a3d9a", "#66c21e", "#b22222"};
    enum { COLOURS = sizeof colours / sizeof colours[0] };
    static const char *const dashes[] = {"1", "(8,3)", "(2,2)", "(9,2,2,2)"};
    static const unsigned points[] = {7, 5, 9, 13, 6, 4, 8, 12};

    for (unsigned k = 0; k < PLOT_LINES_MAX; k++)
        fprintf(to, "set style line %u lc rgb '%s' dt %s lw 1.6 pt %u ps 0.45\n", k + 1, colours[k % COLOURS],
                dashes[k / COLOURS % 4], points[(k + k / COLOURS) % 8]);
}

/* An algorithm of the catalogue has the style of its place there; one with options that of a place behind. */
static unsigned plot_style(const struct plot *p, unsigned line)
{
    unsigned place = 0;

    for (unsigned k = 0; alg_list[k]; k++) {
        if (alg_list[k]->flaw)
            continue;
        if (strcmp(alg_list[k]->name, p->line[line]) == 0)
            return place % PLOT_LINES_MAX + 1;
        place++;
    }
    return (place + line) % PLOT_LINES_MAX + 1;
}

/* The rows of one line in one panel, by growing x; rows with the same x (seeds) become one, with their mean. */
struct plot_dot {
    double x, y, half;
    unsigned count;
};

static int plot_by_x(const void *a, const void *b)
{
    const struct plot_dot *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

static size_t plot_dots(struct plot *p, unsigned figure, unsigned panel, unsigned line, struct plot_dot *dot)
{
    const struct plot_figure *f = p->figure[figure];
    size_t c_y = table_column(&p->table, f->column), count = 0;
    char ci[64];

    snprintf(ci, sizeof ci, "%s_ci95", f->column);
    for (size_t row = 0; row < p->table.rows; row++) {
        double x = plot_x(p, row), y = table_number(&p->table, row, c_y), half = NAN;
        size_t k = 0;

        if (plot_line(p, row) != line || plot_panel(p, row) != panel || isnan(x) || isnan(y))
            continue;
        if (strcmp(f->name, "fairness") != 0)
            half = table_number(&p->table, row, table_column(&p->table, ci));
        while (k < count && dot[k].x != x)
            k++;
        if (k == count)
            dot[count++] = (struct plot_dot){.x = x};
        dot[k].y += y;
        dot[k].half += isnan(half) ? 0 : half * half;
        dot[k].count++;
    }
    for (size_t k = 0; k < count; k++) {
        dot[k].y /= dot[k].count;
        dot[k].half = sqrt(dot[k].half) / dot[k].count;
    }
    qsort(dot, count, sizeof *dot, plot_by_x);
    return count;
}

static void plot_data(FILE *to, struct plot *p)
{
    struct plot_dot *dot = mem_new((p->table.rows + 1) * sizeof *dot);

    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++) {
                size_t count = plot_dots(p, f, c, l, dot);

                fprintf(to, "$d_%u_%u_%u << END\n", f, c, l);
                for (size_t k = 0; k < count; k++)
                    fprintf(to, "%.10g %.10g %.10g\n", dot[k].x, dot[k].y, dot[k].half);
                fprintf(to, "%sEND\n", count ? "" : "NaN NaN NaN\n");
            }
    free(dot);
}

/* Places in pixels, from the lower left. */
enum { PANEL_WIDTH = 300, PANEL_HEIGHT = 230, GAP = 55, LEFT = 75, RIGHT = 290, BELOW = 60, ABOVE = 40, TITLE = 25 };

struct plot_page {
    double width, height, top; /* top: of the panels */
};

static struct plot_page plot_page(const struct plot *p, const char *title)
{
    double width = LEFT + p->panels * (PANEL_WIDTH + GAP) - GAP + RIGHT;
    double top = BELOW + p->figures * (PANEL_HEIGHT + GAP) - GAP;

    return (struct plot_page){width, top + ABOVE + (title ? TITLE : 0), top};
}

static void plot_frame(FILE *to, const struct plot_page *page, double left, double bottom, double width, double height)
{
    fprintf(to, "set lmargin at screen %g\nset rmargin at screen %g\n", left / page->width,
            (left + width) / page->width);
    fprintf(to, "set bmargin at screen %g\nset tmargin at screen %g\n", bottom / page->height,
            (bottom + height) / page->height);
}

static void plot_one_panel(FILE *to, const struct plot *p, const struct plot_page *page, unsigned f, unsigned c)
{
    plot_frame(to, page, LEFT + c * (PANEL_WIDTH + GAP), page->top - (f + 1) * (PANEL_HEIGHT + GAP) + GAP, PANEL_WIDTH,
               PANEL_HEIGHT);
    fprintf(to, "set title '%s'\n", f == 0 ? p->panel[c] : "");
    fprintf(to, "set xlabel '%s'\n", f + 1 == p->figures ? plot_axis_labels[p->axis] : "");
    fprintf(to, "set ylabel '%s'\n", c == 0 ? p->figure[f]->label : "");
    fprintf(to, p->figure[f]->log && p->axis != PLOT_REQUESTERS ? "set logscale y\n"
                                                                : "unset logscale y\nset yrange [0:*]\n");
    fprintf(to, "plot ");
    for (unsigned l = 0; l < p->lines; l++)
        fprintf(to, "%s$d_%u_%u_%u with yerrorlines ls %u notitle", l ? ", " : "", f, c, l, plot_style(p, l));
    fprintf(to, "\nset yrange [*:*]\nunset label 1\n"); /* the title is drawn once */
}

/* The names of the lines, in a panel of their own on the right. */
static void plot_legend(FILE *to, const struct plot *p, const struct plot_page *page)
{
    plot_frame(to, page, page->width - RIGHT + 15, BELOW, RIGHT - 20, page->top - BELOW);
    fprintf(to, "unset logscale\nunset title\nunset xlabel\nunset ylabel\nunset border\n"
                "unset grid\nunset tics\nset key at graph 0, graph 1 left top Left reverse spacing 1.1 samplen 2.5\n"
                "set xrange [0:1]\nset yrange [0:1]\nplot ");
    for (unsigned l = 0; l < p->lines; l++)
        fprintf(to, "%sNaN with linespoints ls %u title '%s'", l ? ", " : "", plot_style(p, l), p->line[l]);
    fprintf(to, "\n");
}

static void plot_script(FILE *to, struct plot *p, const char *out, const char *title)
{
    struct plot_page page = plot_page(p, title);
    bool png = strcmp(out + strlen(out) - 4, ".png") == 0;

    fprintf(to, "set terminal %s size %g,%g font 'Helvetica,11' background rgb 'white'%s\n", png ? "pngcairo" : "svg",
            page.width, page.height, png ? "" : " dynamic");
    fprintf(to, "set output '%s'\n", out);
    plot_styles(to);
    plot_data(to, p);
    fprintf(to, "set multiplot\n");
    if (title)
        fprintf(to, "set label 1 '%s' at screen %g, screen %g font 'Helvetica,13'\n", title, LEFT / page.width,
                1 - 18 / page.height);
    fprintf(to,
            "set grid back lc rgb '#cccccc' lw 1 dt 1\nset border 3 lc rgb '#444444'\nset tics nomirror scale 0.5\n"
            "unset mxtics\nunset mytics\n%sset format x '%%g'\nset format y '%%g'\nunset key\n"
            "set bars 0.4\n",
            p->axis == PLOT_REQUESTERS ? "" : "set logscale x\n");
    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            plot_one_panel(to, p, &page, f, c);
    plot_legend(to, p, &page);
    fprintf(to, "unset multiplot\n");
}

/* ---------------------------------------------------------------------------------------------------------- command */

static void plot_choose(struct plot *p, const char *list)
{
    const char *names[16] = {0};
    char words[256], *save;

    for (unsigned k = 0; plot_figures[k].name; k++)
        names[k] = plot_figures[k].name;
    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        unsigned k = 0;

        while (names[k] && strcmp(names[k], word) != 0)
            k++;
        if (!names[k])
            cli_unknown("figure", word, names, "--y takes messages, bytes, wait, response, sync, throughput, ...");
        if (p->figures == PLOT_PANELS_MAX)
            cli_die("--y: more than %d figures are too many for one picture", PLOT_PANELS_MAX);
        p->figure[p->figures++] = &plot_figures[k];
    }
}

static void plot_look(struct plot *p)
{
    p->c_algorithm = table_column(&p->table, "algorithm");
    p->c_options = table_column(&p->table, "options");
    p->c_sites = table_column(&p->table, "sites");
    p->c_load = table_column(&p->table, "load");
    p->c_rate = table_column(&p->table, "rate");
    for (size_t row = 0; row < p->table.rows; row++) {
        plot_line(p, row);
        plot_panel(p, row);
        if (isnan(plot_x(p, row)))
            cli_die("a row of a closed load has no rate; take --x sites");
    }
    if (!p->table.rows)
        cli_die("the table has no rows");
}

static void plot_free(struct plot *p)
{
    for (unsigned k = 0; k < p->lines; k++)
        free(p->line[k]);
    for (unsigned k = 0; k < p->panels; k++)
        free(p->panel[k]);
    table_free(&p->table);
}

static void plot_draw(struct plot *p, const char *out, const char *title)
{
    FILE *gnuplot = popen("gnuplot", "w");
    int status;

    if (!gnuplot)
        cli_die("cannot start gnuplot: %s", strerror(errno));
    plot_script(gnuplot, p, out, title);
    status = pclose(gnuplot);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        cli_die("gnuplot is not installed; apt-get install gnuplot-nox");
    if (status != 0)
        cli_die("gnuplot could not draw %s", out);
}

int cmd_plot(int argc, char **argv)
{
    static const char *figures = "messages,wait", *out, *title;
    static unsigned axis = PLOT_LOAD;
    static bool script;
    static const struct cli_option options[] = {
        {"--y", CLI_TEXT, &figures, "LIST",
         "draw these figures, one below the other: messages, bytes, wait, response, sync, throughput, utilisation, "
         "concurrency, overtakes, fairness (default messages,wait)",
         0, 0, NULL},
        {"--x", CLI_CHOICE, &axis, "X", "draw them over X (default load, the rate of a site times the number of sites)",
         0, 0, plot_axes},
        {"--out", CLI_TEXT, &out, "FILE", "write the picture into FILE, which ends with .svg or .png (no default)", 0,
         0, NULL},
        {"--title", CLI_TEXT, &title, "TEXT", "print TEXT above the picture (default: none)", 0, 0, NULL},
        {"--script", CLI_FLAG, &script, NULL, "print the gnuplot script instead of running it", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs plot TABLE... --out FILE [--x load|rate|sites|requesters] [--y LIST]",
        .about = "Draws tables of dibs sweep with gnuplot.",
        .options = options,
        .examples = {{"Draw messages per entry and waiting time over the load:", "dibs plot table.csv --out load.svg"},
                     {"Draw the synchronization delay over the number of sites:",
                      "dibs plot full.csv --x sites --y sync --out sites.png"},
                     {"Draw messages per entry over the number of sites that make requests:",
                      "dibs plot requesters.csv --x requesters --y messages --out requesters.png"}},
    };
    const char *tables[32];
    int count = cli_parse(argc, argv, &usage, tables, 32);
    struct plot p = {.axis = (enum plot_axis)axis};
    size_t len;

    if (!count)
        cli_die("which table? (usage: %s)", usage.line);
    len = out ? strlen(out) : 0;
    if (len < 5 || (strcmp(out + len - 4, ".svg") != 0 && strcmp(out + len - 4, ".png") != 0))
        cli_die("--out FILE says where the picture goes, and ends with .svg or .png");
    if (strchr(out, '\'') || (title && strchr(title, '\'')))
        cli_die("file name and title may have no apostrophe");
    plot_choose(&p, figures);
    for (int k = 0; k < count; k++)
        table_read(&p.table, tables[k]);
    p.axis = (enum plot_axis)axis;
    plot_look(&p);
    if (script)
        plot_script(stdout, &p, out, title);
    else
        plot_draw(&p, out, title);
    plot_free(&p);
    return CLI_OK;
}
