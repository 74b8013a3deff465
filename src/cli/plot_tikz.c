/* plot_tikz.c - see plot.h: the picture for LaTeX, as a tikzpicture of pgfplots' groupplots. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text in which LaTeX sees no commands. */
static void tikz_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\textbackslash{}", to);
        else if (*text == '~' || *text == '^')
            fprintf(to, "\\%c{}", *text);
        else if (strchr("{}$&#_%", *text))
            fprintf(to, "\\%c", *text);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

static void tikz_head(FILE *to, const struct plot *p)
{
    fprintf(to, "%% needs: \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \\pgfplotsset{compat=1.16}\n");
    for (unsigned k = 0; k < sizeof plot_colours / sizeof plot_colours[0]; k++)
        fprintf(to, "\\definecolor{dibs%u}{HTML}{%06lX}\n", k, strtoul(plot_colours[k] + 1, NULL, 16));
    fprintf(to,
            "\\begin{tikzpicture}\n\\begin{groupplot}[group style={group size=%u by %u, horizontal sep=1.4cm, vertical "
            "sep=1.4cm},\n  width=%.1fcm, height=%.1fcm, grid=major, grid style={gray!30}, axis lines=left,\n  legend "
            "style={draw=none, font=\\footnotesize, cells={anchor=west}}, legend pos=outer north east]\n",
            p->panels, p->figures, p->width / 40, p->height / 40);
}

static void tikz_panel(FILE *to, const struct plot *p, unsigned f, unsigned c)
{
    static const char *const marks[] = {"*", "square*", "triangle*", "diamond*", "o", "square", "triangle", "diamond"};
    static const char *const dashes[] = {"solid", "dashed", "dotted", "dashdotted"};
    struct plot_range x = plot_extent(p, p->figures), y = plot_extent(p, f);

    fprintf(to, "\\nextgroupplot[xmode=%s, ymode=%s, xmin=%.10g, xmax=%.10g, ymin=%.10g, ymax=%.10g",
            p->log_x ? "log" : "linear", p->figure[f].log ? "log" : "linear", x.from, x.to, y.from, y.to);
    fprintf(to, ", title={");
    tikz_text(to, f == 0 ? p->panel[c] : "");
    fprintf(to, "}, xlabel={");
    tikz_text(to, f + 1 == p->figures ? plot_x_label(p) : "");
    fprintf(to, "}, ylabel={");
    tikz_text(to, c == 0 ? p->figure[f].label : "");
    fprintf(to, "}]\n");
    for (unsigned l = 0; l < p->lines; l++) {
        fprintf(to,
                "\\addplot+[dibs%u, %s, mark=%s, mark size=1pt, mark options={solid}, error bars/.cd, y dir=both, y "
                "explicit] coordinates {",
                l % 12, dashes[l / 12 % 4], marks[(l + l / 12) % 8]);
        for (size_t k = 0; k < p->dots[f][c][l]; k++) {
            const struct plot_dot *d = &p->dot[f][c][l][k];

            fprintf(to, " (%.10g,%.10g) +- (0,%.6g)", d->x, d->y, isnan(d->half) ? 0 : d->half);
        }
        fprintf(to, " };\n");
        if (f == 0 && c + 1 == p->panels && p->lines > 1) {
            fprintf(to, "\\addlegendentry{");
            tikz_text(to, p->line[l]);
            fprintf(to, "}\n");
        }
    }
}

void plot_tikz(FILE *to, const struct plot *p)
{
    tikz_head(to, p);
    for (unsigned f = 0; f < p->figures; f++)
        for (unsigned c = 0; c < p->panels; c++)
            tikz_panel(to, p, f, c);
    fprintf(to, "\\end{groupplot}\n");
    if (p->title) {
        fprintf(to, "\\node[above=9mm, anchor=south west] at (group c1r1.north west) {");
        tikz_text(to, p->title);
        fprintf(to, "};\n");
    }
    if (p->has_bars)
        fprintf(to,
                "\\node[below=14mm, anchor=north west, font=\\footnotesize, gray] at (group c1r%u.south west) {bars: "
                "95\\%% confidence intervals};\n",
                p->figures);
    fprintf(to, "\\end{tikzpicture}\n");
}
