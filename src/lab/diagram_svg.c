/* diagram_svg.c - see diagram.h: the diagram for browsers, and for what makes PDF and PNG of it. */
#include "diagram_picture.h"

static void svg_begin(FILE *to, double width, double height)
{
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>text{font:12px sans-serif;fill:#222;white-space:pre}.site{font-weight:bold;font-size:15px}"
            ".lane{stroke:#888}"
            ".waits{fill:#f6d98f;stroke:#c79a2a}.inside{fill:#5a9e6f;stroke:#2f6b43}.reads{fill:#a9d3e8;stroke:#3b7ea1}"
            ".down{fill:#ddd;stroke:#aaa}.message{stroke:#345}.flies{stroke:#345;stroke-dasharray:5 4}"
            ".news{stroke:#888;stroke-dasharray:1 3}"
            ".label{font-size:11px}.paper{fill:#fff;fill-opacity:.85}.axis{stroke:#444}"
            ".mark{font-style:italic;font-weight:bold;fill:#7a3b8f}"
            ".broken{fill:#c0392b;font-weight:bold}.loop{stroke:#999;stroke-dasharray:3 3}</style>\n"
            "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
            "orient=\"auto\"><path d=\"M0,0L8,4L0,8z\" fill=\"#345\"/></marker>"
            "<marker id=\"lost\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"10\" markerHeight=\"10\">"
            "<path d=\"M1,1L7,7M7,1L1,7\" stroke=\"#c0392b\"/></marker></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
}

static void svg_end(FILE *to)
{
    fprintf(to, "</svg>\n");
}

static void svg_band(FILE *to, const char *class, const struct diagram_box *b)
{
    fprintf(to, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"/>\n", class, b->x1,
            b->y1, b->x2 - b->x1, b->y2 - b->y1);
}

static void svg_line(FILE *to, const char *class, const struct diagram_box *b, enum diagram_end end)
{
    static const char *const ends[] = {"", " marker-end=\"url(#head)\"", " marker-end=\"url(#lost)\""};

    fprintf(to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"%s/>\n", class, b->x1, b->y1, b->x2,
            b->y2, ends[end]);
}

/* Characters that SVG reserves are escaped. */
static void svg_text(FILE *to, const char *class, enum diagram_anchor anchor, double x, double y, const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};

    fprintf(to, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\"%s>", class, x, y, anchors[anchor]);
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(to, "&#%d;", *text);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    fprintf(to, "</text>\n");
}

static const struct diagram_canvas svg_canvas = {svg_begin, svg_band, svg_line, svg_text, svg_end};

void diagram_svg(FILE *to, const struct moves *run)
{
    diagram_draw(to, &svg_canvas, run, false);
}

void diagram_svg_down(FILE *to, const struct moves *run)
{
    diagram_draw(to, &svg_canvas, run, true);
}
