/* plot.h - a picture of tables of dibs sweep: what is drawn where. plot_data.c decides that, plot_gnuplot.c and plot_tikz.c
 * write it down.
 *
 * A picture has a row of panels for every figure (messages, waiting time, ...) and a column of panels for every value of the
 * panel columns. A point stands for rows that agree in everything that determines a result but the seed: rows that differ
 * become lines of their own, or the picture is refused. Bars are 95% confidence intervals: of the spread between the seeds
 * if there are several, else of the one run. */
#ifndef DIBS_CLI_PLOT_H
#define DIBS_CLI_PLOT_H

#include "cli.h"
#include "table.h"

enum { PLOT_LINES_MAX = 64, PLOT_PANELS_MAX = 12, PLOT_BY_MAX = 16 };

struct plot_figure {
    const char *name, *column, *label;
    bool log;
};

struct plot_dot {
    double x, y, half; /* half: of the interval; NAN: unknown */
    unsigned count;    /* seeds */
    size_t row;        /* the first of them */
};

struct plot_range {
    double from, to; /* NAN: as the data have it */
};

struct plot {
    struct table table;
    struct plot_figure figure[PLOT_PANELS_MAX];
    unsigned figures;
    const char *x; /* a column, or "load", the rate of all sites */
    double *xs;    /* of each row */
    size_t by_line[PLOT_BY_MAX], by_panel[PLOT_BY_MAX];
    unsigned lines_by, panels_by;
    char *panel[PLOT_PANELS_MAX], *line[PLOT_LINES_MAX];
    unsigned panels, lines;
    struct plot_dot *dot[PLOT_PANELS_MAX][PLOT_PANELS_MAX][PLOT_LINES_MAX]; /* figure, panel, line: by growing x */
    size_t dots[PLOT_PANELS_MAX][PLOT_PANELS_MAX][PLOT_LINES_MAX];
    bool log_x, has_bars, direct; /* direct: names at the lines instead of a legend */
    struct plot_range range_x, range_y;
    double width, height; /* of a panel, in pixels */
    const char *title;
};

/* --x, --y, --line and --panel; a null list is chosen by what differs. The tables have been read. */
void plot_arrange(struct plot *p, const char *x, const char *y, const char *line, const char *panel);
void plot_free(struct plot *p);
/* The label of the x axis. */
const char *plot_x_label(const struct plot *p);
/* The range of a figure, or of x if the figure is p->figures, as given or as the data have it. */
struct plot_range plot_extent(const struct plot *p, unsigned figure);

/* out: the file that gnuplot writes; terminal: svg, png or pdf. */
void plot_gnuplot(FILE *to, const struct plot *p, const char *terminal, const char *out);
void plot_tikz(FILE *to, const struct plot *p);

/* Colours that most people can tell apart (eight of them are Okabe and Ito's), for lines in their order; then dashes. */
extern const char *const plot_colours[12];

#endif
