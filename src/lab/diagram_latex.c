/* diagram_latex.c - see diagram.h: the diagram for LaTeX. A pixel is 0.02 cm, and y goes down. */
#include "diagram_picture.h"

#include <string.h>

/* Each class of diagram_picture.h is a style, so that a document can change how it looks. */
static void latex_begin(FILE *to, double width, double height)
{
    (void)width;
    (void)height;
    fprintf(to,
            "%% needs: \\usepackage{tikz}\n"
            "\\begin{tikzpicture}[x=0.02cm, y=-0.02cm, >=latex, font=\\scriptsize, inner sep=0pt,\n"
            "  waits/.style={fill=yellow!40!orange!40, draw=gray}, inside/.style={fill=green!50!black!60, draw=gray},\n"
            "  down/.style={fill=gray!25, draw=gray}, reads/.style={fill=cyan!30, draw=gray},\n"
            "  lane/.style={gray}, message/.style={}, flies/.style={dashed}, news/.style={dotted, gray},\n"
            "  axis/.style={}, loop/.style={dashed, gray},\n"
            "  site/.style={font=\\small\\bfseries}, caption/.style={}, label/.style={}, paper/.style={fill=white, "
            "fill opacity=0.85}, note/.style={}, tick/.style={},\n"
            "  legend/.style={}, remark/.style={}, mark/.style={font=\\scriptsize\\bfseries\\itshape, violet},\n"
            "  broken/.style={font=\\scriptsize\\bfseries, red}]\n");
}

static void latex_end(FILE *to)
{
    fprintf(to, "\\end{tikzpicture}\n");
}

static void latex_band(FILE *to, const char *class, const struct diagram_box *b)
{
    fprintf(to, "\\path[%s] (%.1f,%.1f) rectangle (%.1f,%.1f);\n", class, b->x1, b->y1, b->x2, b->y2);
}

static void latex_line(FILE *to, const char *class, const struct diagram_box *b, enum diagram_end end)
{
    static const char *const ends[] = {"", ", ->", ", -|"};

    fprintf(to, "\\draw[%s%s] (%.1f,%.1f) -- (%.1f,%.1f);\n", class, ends[end], b->x1, b->y1, b->x2, b->y2);
}

/* Characters that TeX reserves, or that its usual fonts lack, are written by name. */
static void latex_text(FILE *to, const char *class, enum diagram_anchor anchor, double x, double y, const char *text)
{
    static const char *const anchors[] = {"base west", "base", "base east"};
    static const char reserved[] = "\\~^<>|";
    static const char *const names[] = {
        "\\textbackslash{}", "\\textasciitilde{}", "\\textasciicircum{}", "$<$", "$>$", "$|$"};

    fprintf(to, "\\node[%s, anchor=%s] at (%.1f,%.1f) {", class, anchors[anchor], x, y);
    for (; *text; text++) {
        const char *at = strchr(reserved, *text);

        if (at)
            fprintf(to, "%s", names[at - reserved]);
        else
            fprintf(to, "%s%c", strchr("{}$&#_%", *text) ? "\\" : "", *text);
    }
    fprintf(to, "};\n");
}

static const struct diagram_canvas tikz_canvas = {latex_begin, latex_band, latex_line, latex_text, latex_end};

void diagram_tikz(FILE *to, const struct moves *run)
{
    diagram_draw(to, &tikz_canvas, run, false);
}

void diagram_tikz_down(FILE *to, const struct moves *run)
{
    diagram_draw(to, &tikz_canvas, run, true);
}
