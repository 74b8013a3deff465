/* plot_gnuplot.c - see plot.h: the picture as a script of gnuplot. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const plot_colours[12] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000",
                                      "#56b4e9", "#8c8c8c", "#7f6b00", "#6a3d9a", "#66c21e", "#b22222"};

/* Places in pixels, from the lower left. */
enum { GAP = 55, LEFT = 75, RIGHT = 290, BELOW = 78, ABOVE = 40, TITLE = 25, LABEL = 14 };

struct gnuplot_page {
    double width, height, top; /* top: of the panels */
};

/* A text in quotes, whatever is in it: gnuplot doubles apostrophes, and a control character becomes a space. */
static void gnuplot_text(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', to);
        putc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    putc('\'', to);
}

static void gnuplot_styles(FILE *to, const struct plot *p)
{
    enum { COLOURS = sizeof plot_colours / sizeof plot_colours[0] };
    static const char *const dashes[] = {"1", "(8,3)", "(2,2)", "(9,2,2,2)"};
    static const unsigned points[] = {7, 5, 9, 13, 6, 4, 8, 12};

    /* Later lines are thinner: where two are the same, both are seen. */
    for (unsigned k = 0; k < p->lines; k++)
        fprintf(to, "set style line %u lc rgb '%s' dt %s lw %.2g pt %u ps 0.45\n", k + 1, plot_colours[k % COLOURS],
                dashes[k / COLOURS % 4], 1.4 + 2.0 * (p->lines - 1 - k) / p->lines, points[(k + k / COLOURS) % 8]);
}

static void gnuplot_data(FILE *to, const struct plot *p)
{
    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            for (unsigned l = 0; l < p->lines; l++) {
                fprintf(to, "$d_%u_%u_%u << END\n", f, c, l);
                for (size_t k = 0; k < p->dots[f][c][l]; k++) {
                    const struct plot_dot *d = &p->dot[f][c][l][k];

                    fprintf(to, "%.10g %.10g %.10g\n", d->x, d->y, isnan(d->half) ? 0 : d->half);
                }
                fprintf(to, "%sEND\n", p->dots[f][c][l] ? "" : "NaN NaN NaN\n");
            }
}

static struct gnuplot_page gnuplot_page(const struct plot *p)
{
    double width = LEFT + p->panels * (p->width + GAP) - GAP + (p->lines > 1 ? RIGHT : 30);
    double top = BELOW + p->figures * (p->height + GAP) - GAP;

    if (p->title && width < LEFT + 9.4 * (double)strlen(p->title)) /* a letter of the title is some 9 wide */
        width = LEFT + 9.4 * (double)strlen(p->title);

    return (struct gnuplot_page){width, top + ABOVE + (p->title ? TITLE : 0), top};
}

static void gnuplot_frame(FILE *to, const struct gnuplot_page *page, double left, double bottom, double width,
                          double height)
{
    fprintf(to, "set lmargin at screen %g\nset rmargin at screen %g\n", left / page->width,
            (left + width) / page->width);
    fprintf(to, "set bmargin at screen %g\nset tmargin at screen %g\n", bottom / page->height,
            (bottom + height) / page->height);
}

/* Where a value is in its range, from 0 to 1. */
static double gnuplot_share(struct plot_range r, double v, bool log)
{
    double share = log ? (log10(v) - log10(r.from)) / (log10(r.to) - log10(r.from)) : (v - r.from) / (r.to - r.from);

    return isfinite(share) ? fmin(fmax(share, 0), 1) : 0;
}

/* Marks at 1, 2 and 5 times powers of ten; over more than three decades, at the powers alone. A range too short for two
 * marks is left to gnuplot. */
static void gnuplot_tics(FILE *to, char axis, struct plot_range r, bool log)
{
    static const int steps[] = {1, 2, 5};
    bool few = log && log10(r.to / r.from) < 3;
    double mark[128];
    unsigned count = 0;

    for (int e = log ? (int)floor(log10(r.from)) : 1; log && e <= (int)ceil(log10(r.to)); e++)
        for (unsigned k = 0; k < (few ? 3 : 1) && count < 128; k++) {
            double v = steps[k] * pow(10, e);

            if (v >= 0.999 * r.from && v <= 1.001 * r.to)
                mark[count++] = v;
        }
    if (count < 2) {
        fprintf(to, "set %ctics autofreq\n", axis);
        return;
    }
    fprintf(to, "set %ctics (", axis);
    for (unsigned k = 0; k < count; k++)
        fprintf(to, "%s%.10g", k ? "," : "", mark[k]);
    fprintf(to, ")\n");
}

struct gnuplot_name {
    unsigned line;
    double y; /* pixels */
};

static int gnuplot_by_y(const void *a, const void *b)
{
    const struct gnuplot_name *p = a, *q = b;

    return (p->y > q->y) - (p->y < q->y);
}

/* The names of the lines at their ends, right of the last panel, moved apart where they would collide. */
static void gnuplot_names(FILE *to, const struct plot *p, const struct gnuplot_page *page, unsigned f, double bottom)
{
    unsigned c = p->panels - 1, count = 0;
    struct gnuplot_name name[PLOT_LINES_MAX];
    struct plot_range r = plot_extent(p, f);
    double left = LEFT + p->panels * (p->width + GAP) - GAP + 8, over;

    for (unsigned l = 0; l < p->lines; l++)
        if (p->dots[f][c][l]) {
            double y = p->dot[f][c][l][p->dots[f][c][l] - 1].y;

            name[count++] = (struct gnuplot_name){l, bottom + p->height * gnuplot_share(r, y, p->figure[f].log)};
        }
    qsort(name, count, sizeof *name, gnuplot_by_y);
    for (unsigned k = 1; k < count; k++)
        name[k].y = fmax(name[k].y, name[k - 1].y + LABEL);
    over = count ? name[count - 1].y - (bottom + p->height) : 0;
    for (unsigned k = count; k-- > 0 && over > 0;) {
        double most = k + 1 < count ? name[k + 1].y - LABEL : bottom + p->height;

        name[k].y = fmin(name[k].y, most);
    }
    for (unsigned k = 0; k < count; k++) {
        fprintf(to, "set label %u ", 100 + k);
        gnuplot_text(to, p->line[name[k].line]);
        fprintf(to, " at screen %g, screen %g left tc ls %u\n", left / page->width, name[k].y / page->height,
                name[k].line + 1);
    }
}

static void gnuplot_panel(FILE *to, const struct plot *p, const struct gnuplot_page *page, unsigned f, unsigned c)
{
    double bottom = page->top - (f + 1) * (p->height + GAP) + GAP;
    struct plot_range r = plot_extent(p, f);

    gnuplot_frame(to, page, LEFT + c * (p->width + GAP), bottom, p->width, p->height);
    fprintf(to, "set title ");
    gnuplot_text(to, f == 0 ? p->panel[c] : "");
    fprintf(to, "\nset xlabel ");
    gnuplot_text(to, f + 1 == p->figures ? plot_x_label(p) : "");
    fprintf(to, "\nset ylabel ");
    gnuplot_text(to, c == 0 ? p->figure[f].label : "");
    fprintf(to, "\n%sset logscale y\nset yrange [%.10g:%.10g]\n", p->figure[f].log ? "" : "un", r.from, r.to);
    gnuplot_tics(to, 'y', r, p->figure[f].log);
    if (p->direct && c + 1 == p->panels)
        gnuplot_names(to, p, page, f, bottom);
    fprintf(to, "plot ");
    for (unsigned l = 0; l < p->lines; l++)
        fprintf(to, "%s$d_%u_%u_%u with yerrorlines ls %u notitle", l ? ", " : "", f, c, l, l + 1);
    fprintf(to, "\nunset label\n"); /* title and note are drawn once */
}

/* The names of the lines, in a panel of their own on the right. */
static void gnuplot_legend(FILE *to, const struct plot *p, const struct gnuplot_page *page)
{
    gnuplot_frame(to, page, LEFT + p->panels * (p->width + GAP) - GAP + 15, BELOW, RIGHT - 20, page->top - BELOW);
    fprintf(to, "unset logscale\nunset title\nunset xlabel\nunset ylabel\nunset border\n"
                "unset grid\nunset tics\nset key at graph 0, graph 1 left top Left reverse spacing 1.1 samplen 2.5\n"
                "set xrange [0:1]\nset yrange [0:1]\nplot ");
    for (unsigned l = 0; l < p->lines; l++) {
        fprintf(to, "%sNaN with linespoints ls %u title ", l ? ", " : "", l + 1);
        gnuplot_text(to, p->line[l]);
    }
    fprintf(to, "\n");
}

void plot_gnuplot(FILE *to, const struct plot *p, const char *terminal, const char *out)
{
    struct gnuplot_page page = gnuplot_page(p);
    struct plot_range x = plot_extent(p, p->figures);

    if (strcmp(terminal, "pdf") == 0) /* inches; 96 pixels are one */
        fprintf(
            to,
            "set terminal pdfcairo noenhanced size %gin,%gin font 'Helvetica,8' fontscale 1 background rgb 'white'\n",
            page.width / 96, page.height / 96);
    else
        fprintf(to, "set terminal %s noenhanced size %g,%g font 'Helvetica,11' background rgb 'white'%s\n",
                strcmp(terminal, "png") == 0 ? "pngcairo" : "svg", page.width, page.height,
                strcmp(terminal, "png") == 0 ? "" : " dynamic");
    fprintf(to, "set encoding utf8\nset output ");
    gnuplot_text(to, out);
    fprintf(to, "\n");
    gnuplot_styles(to, p);
    gnuplot_data(to, p);
    fprintf(to, "set multiplot\n");
    if (p->title) {
        fprintf(to, "set label 1 ");
        gnuplot_text(to, p->title);
        fprintf(to, " at screen %g, screen %g font 'Helvetica,13'\n", LEFT / page.width, 1 - 18 / page.height);
    }
    if (p->has_bars)
        fprintf(to,
                "set label 2 'bars: 95%% confidence intervals' at screen %g, screen %g font ',9' tc rgb '#666666'\n",
                LEFT / page.width, 14 / page.height);
    fprintf(
        to,
        "set grid back lc rgb '#cccccc' lw 1 dt 1\nset border 3 lc rgb '#444444'\nset tics nomirror scale 0.5\n"
        "unset mxtics\nunset mytics\n%sset xrange [%.10g:%.10g]\nset format x '%%g'\nset format y '%%g'\nunset key\n"
        "set bars 0.4\n",
        p->log_x ? "set logscale x\n" : "", x.from, x.to);
    gnuplot_tics(to, 'x', x, p->log_x);
    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            gnuplot_panel(to, p, &page, f, c);
    if (!p->direct && p->lines > 1)
        gnuplot_legend(to, p, &page);
    fprintf(to, "unset multiplot\n");
}
