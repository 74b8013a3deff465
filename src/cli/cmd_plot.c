/* cmd_plot.c - dibs plot: the tables of dibs sweep as pictures: SVG, PNG and PDF drawn by gnuplot, and TikZ. See plot.h. */
#include "base/memory.h"
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const plot_formats[] = {"svg", "png", "pdf", "tex", NULL};

/* The format that the name of the file says; NULL if it says none. */
static const char *plot_format_of(const char *out)
{
    const char *dot = strrchr(out, '.');

    for (unsigned k = 0; dot && plot_formats[k]; k++)
        if (strcmp(dot + 1, plot_formats[k]) == 0)
            return plot_formats[k];
    return NULL;
}

/* "0.1:10"; either may be missing. */
static struct plot_range plot_range(const char *option, const char *text)
{
    struct plot_range r = {NAN, NAN};
    const char *at = text;
    char *end;

    if (!text)
        return r;
    if (*at != ':') {
        r.from = strtod(at, &end);
        at = end;
    }
    if (*at == ':' && at[1]) {
        r.to = strtod(at + 1, &end);
        at = end;
    } else if (*at == ':') {
        at++;
    }
    if (*at || !strchr(text, ':') || (isnan(r.from) && isnan(r.to)) || r.from >= r.to || isinf(r.from) || isinf(r.to))
        cli_die("%s %s is not possible; it takes FROM:TO, as in 0.1:10, and either may be missing", option, text);
    return r;
}

static void plot_size(struct plot *p, const char *text)
{
    int end = 0;

    if (sscanf(text, "%lfx%lf%n", &p->width, &p->height, &end) != 2 || text[end] ||
        !(p->width >= 50 && p->width <= 4000) || !(p->height >= 50 && p->height <= 4000))
        cli_die("--size %s is not possible; it takes WIDTHxHEIGHT of a panel in pixels, from 50 to 4000, as in 300x230",
                text);
}

static double plot_least(const struct plot *p)
{
    double least = INFINITY;

    for (size_t row = 0; row < p->table.rows; row++)
        least = fmin(least, p->xs[row]);
    return least;
}

/* Which axes are logarithmic: as the user says, or as suits. */
static void plot_scale(struct plot *p, const char *log)
{
    static const char *const counts[] = {"requesters", "readers", "with_memory", NULL};
    unsigned k = 0;

    while (counts[k] && strcmp(counts[k], p->x) != 0)
        k++;
    p->log_x = log ? strchr(log, 'x') != NULL : !counts[k] && plot_least(p) > 0;
    for (unsigned f = 0; f < p->figures; f++) {
        p->figure[f].log = log ? strchr(log, 'y') != NULL : p->figure[f].log && !counts[k];
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++)
                for (size_t d = 0; d < p->dots[f][c][l]; d++) {
                    if (p->log_x && p->dot[f][c][l][d].x <= 0)
                        cli_die("a logarithmic axis has no place for x = %g; take --logscale none or --logscale y",
                                p->dot[f][c][l][d].x);
                    p->figure[f].log &= p->dot[f][c][l][d].y > 0 || log;
                }
    }
    if ((p->log_x && p->range_x.from <= 0) || (p->figures && p->figure[0].log && p->range_y.from <= 0))
        cli_die("a logarithmic axis begins above 0; take another range, or --logscale none");
}

/* gnuplot writes into a file of its own, and from there the picture goes wherever it should. */
static void plot_draw(const struct plot *p, const char *format, const char *out)
{
    char temporary[] = "/tmp/dibs-plot.XXXXXX", *picture = NULL;
    int fd = mkstemp(temporary), status;
    FILE *gnuplot, *from;
    size_t len = 0, got;

    if (fd < 0)
        cli_die("%s: %s", temporary, strerror(errno));
    gnuplot = popen("LC_ALL=C.UTF-8 gnuplot", "w"); /* in another locale it may warn of letters that it does not use */
    if (!gnuplot)
        cli_die("cannot start gnuplot: %s", strerror(errno));
    plot_gnuplot(gnuplot, p, format, temporary);
    status = pclose(gnuplot);
    from = fdopen(fd, "r");
    do {
        picture = mem_grow(picture, len + 65536);
        got = from ? fread(picture + len, 1, 65536, from) : 0;
        len += got;
    } while (got);
    if (from)
        fclose(from);
    unlink(temporary);
    if (status != 0 || !len)
        cli_die("gnuplot could not draw %s", out);
    cli_write_bytes(out, picture, len);
    free(picture);
}

static void plot_write_tikz(const struct plot *p, const char *out)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        cli_die("out of memory");
    plot_tikz(to, p);
    fclose(to);
    cli_write_bytes(out, text, size);
    free(text);
}

int cmd_plot(int argc, char **argv)
{
    static const char *figures = "messages,wait", *out, *title, *x, *line, *panel, *log, *xrange, *yrange,
                      *size = "300x230";
    static bool script, direct;
    static unsigned chosen = 4; /* none of the formats */
    static const struct cli_option options[] = {
        {"--y", CLI_TEXT, &figures, "LIST",
         "draw these figures, one below the other: messages, bytes, wait, p50, p95, p99, response, sync, throughput, "
         "utilisation, concurrency, overtakes, switches, fairness, or columns of the table (default messages,wait)",
         0, 0, NULL},
        {"--x", CLI_TEXT, &x, "COLUMN",
         "draw them over this column of numbers; load is the rate of a site times the number of sites (default: load, "
         "or sites if the load is closed)",
         0, 0, NULL},
        {"--line", CLI_TEXT, &line, "LIST",
         "draw a line for each value of these columns (default: algorithm,options, and all in which rows of a point "
         "differ)",
         0, 0, NULL},
        {"--panel", CLI_TEXT, &panel, "LIST",
         "draw a panel for each value of these columns (default: sites, unless they are the axis)", 0, 0, NULL},
        {"--logscale", CLI_TEXT, &log, "AXES", "logarithmic axes: x, y, xy or none (default: as suits the figure)", 0,
         0, NULL},
        {"--xrange", CLI_TEXT, &xrange, "FROM:TO", "show this part of the x axis (default: all of it)", 0, 0, NULL},
        {"--yrange", CLI_TEXT, &yrange, "FROM:TO", "show this part of the y axes (default: all of them)", 0, 0, NULL},
        {"--size", CLI_TEXT, &size, "WxH", "width and height of a panel in pixels (default 300x230)", 0, 0, NULL},
        {"--direct", CLI_FLAG, &direct, NULL, "write the names beside the ends of the lines (default: a legend)", 0, 0,
         NULL},
        {"--title", CLI_TEXT, &title, "TEXT", "print TEXT above the picture (default: none)", 0, 0, NULL},
        {"--out", CLI_TEXT, &out, "FILE",
         "write the picture into FILE, which ends with .svg, .png, .pdf or .tex; - is standard output (no default)", 0,
         0, NULL},
        {"--format", CLI_CHOICE, &chosen, "F", "draw in this format (default: as the end of FILE says, or svg)", 0, 0,
         plot_formats},
        {"--print-script", CLI_FLAG, &script, NULL, "print the gnuplot script instead of running it", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs plot TABLE... --out FILE [--x COLUMN] [--y LIST] [OPTION...]",
        .about =
            "Draws tables of dibs sweep with gnuplot, or for LaTeX with pgfplots (.tex). A point stands for rows that "
            "differ in nothing but their seeds. Bars are 95% confidence intervals: of the spread between the seeds "
            "where there are several.",
        .options = options,
        .examples = {{"Draw messages per entry and waiting time over the load:", "dibs plot table.csv --out load.svg"},
                     {"Draw the synchronization delay over the number of sites:",
                      "dibs plot full.csv --x sites --y sync --out sites.png"},
                     {"Draw percentiles of the wait over the time inside, a panel for each delay:",
                      "dibs plot hold.csv --x hold --y p50,p99 --panel delay --out hold.pdf"}},
    };
    const char *tables[32], *format;
    int count = cli_parse(argc, argv, &usage, tables, 32);
    static struct plot p;

    if (!count)
        cli_die("no table is named (usage: %s)", usage.line);
    format = chosen < 4 ? plot_formats[chosen] : !out ? NULL : strcmp(out, "-") == 0 ? "svg" : plot_format_of(out);
    if (!out || !format)
        cli_die("--out FILE says where the picture goes, and ends with .svg, .png, .pdf or .tex");
    if (log && strcmp(log, "x") != 0 && strcmp(log, "y") != 0 && strcmp(log, "xy") != 0 && strcmp(log, "none") != 0)
        cli_die("--logscale %s is not possible; it takes x, y, xy or none", log);
    if (!script && strcmp(format, "tex") != 0 && system("command -v gnuplot >/dev/null 2>&1") != 0)
        cli_die("gnuplot is not installed; apt-get install gnuplot-nox, or take --out FILE.tex");
    cli_check_output("--out", out);
    p.title = title;
    p.direct = direct;
    p.range_x = plot_range("--xrange", xrange);
    p.range_y = plot_range("--yrange", yrange);
    plot_size(&p, size);
    for (int k = 0; k < count; k++)
        table_read(&p.table, tables[k]);
    plot_arrange(&p, x, figures, line, panel);
    plot_scale(&p, log);
    if (script)
        plot_gnuplot(stdout, &p, strcmp(format, "tex") == 0 ? "svg" : format, out);
    else if (strcmp(format, "tex") == 0)
        plot_write_tikz(&p, out);
    else
        plot_draw(&p, format, out);
    plot_free(&p);
    return CLI_OK;
}
