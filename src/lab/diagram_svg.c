/* diagram_svg.c - see diagram.h: the diagram as a picture, for browsers (SVG) and for LaTeX (TikZ).
 *
 * Time goes to the right, or down: to scale if the run has times, else a step for each move. A label stands on its arrow, at the first
 * of several places where it covers no other label and does not leave the picture. If there is none, the lines of the sites
 * move apart; if that does not help either, the arrow has a number, and the label is listed below the picture. */
#include "base/memory.h"
#include "diagram_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 56,
    LEFT = 60,
    RIGHT = 40,
    TOP = 40,
    LINE = 16,
    LABEL_HEIGHT = 13,
    STRIP = 128,
    STRIPS_MAX = 12 /* of a label */
};
static const double svg_letter = 6.4; /* mean width of a letter of a label */

struct svg_box {
    double x1, y1, x2, y2;
};

struct svg_label {
    double x, y;     /* of the left end of its base line */
    unsigned number; /* 0; or it is listed below */
};

struct svg {
    struct diagram d;
    bool down;                         /* time goes down, and sites stand side by side */
    double lane, scale;                /* scale: pixels per time; 0: a step for each move */
    double top, width, height, bottom; /* bottom: of the lanes */
    struct svg_label *label;
    struct svg_box *box; /* of labels */
    size_t boxes;
    size_t *first,
        *next; /* strip of STRIP pixels: a list of those that reach into it, as numbers of boxes from 1; 0 ends it */
    unsigned listed;
    char **caption; /* its lines */
    unsigned captions;
};

/* Where a move is along the lines of the sites, and where the line of a site is across them. */
static double svg_along(const struct svg *s, uint32_t k)
{
    const struct moves *run = s->d.run;
    double begin = s->down ? s->top + 44 : LEFT + 12;

    if (s->scale > 0)
        return begin + s->scale * (k < run->count ? run->time[k] - run->time[0]
                                                  : run->time[run->count - 1] - run->time[0] + STEP / s->scale);
    return begin + (s->down ? STEP / 2.0 : STEP) * k;
}

static double svg_across(const struct svg *s, dme_id i)
{
    return (s->down ? 100 : s->top + 24) + i * s->lane;
}

/* The end of the lines. */
static double svg_far(const struct svg *s)
{
    return s->down ? s->bottom - 8 : s->width - 20;
}

/* A point of the picture, given along and across. */
static struct svg_box svg_turn(const struct svg *s, double along1, double across1, double along2, double across2)
{
    return s->down ? (struct svg_box){across1, along1, across2, along2}
                   : (struct svg_box){along1, across1, along2, across2};
}

/* The ends of an arrow. Of a message that is lost, or still in flight at the end, it does not reach the receiver. */
static struct svg_box svg_ends(const struct svg *s, const struct diagram_arrow *a)
{
    uint32_t end = a->received == UINT32_MAX ? s->d.run->count : a->received;
    double share = a->received == UINT32_MAX || a->lost ? 0.7 : 1, from = svg_across(s, a->from);
    double sent = svg_along(s, a->sent), received = svg_along(s, end);
    unsigned same = 0;

    for (const struct diagram_arrow *b = a; b > s->d.arrow && svg_along(s, b[-1].sent) == sent; b--)
        same += b[-1].from == a->from && b[-1].to == a->to &&
                svg_along(s, b[-1].received == UINT32_MAX ? s->d.run->count : b[-1].received) == received;
    /* Arrows of one time lie side by side. */
    return svg_turn(s, sent + 5 * same, from, sent + share * (received - sent) + 5 * same,
                    from + share * (svg_across(s, a->to) - from));
}

/* --------------------------------------------------------------------------------------------------------------- labels */

/* Only boxes that begin, end or go on in the same strips of the picture can be in the way. */
static bool svg_is_free(const struct svg *s, const struct svg_box *b)
{
    if (b->x1 < 40 || b->x2 > s->width - 2 || b->y1 < s->top || b->y2 > s->bottom)
        return false;
    for (dme_id i = 0; i < s->d.n; i++) /* the lines of the sites have their bands */
        if ((s->down ? b->x1 : b->y1) < svg_across(s, i) + 8 && svg_across(s, i) - 8 < (s->down ? b->x2 : b->y2))
            return false;
    for (size_t strip = (size_t)b->x1 / STRIP; strip <= (size_t)b->x2 / STRIP; strip++)
        for (size_t at = s->first[strip]; at; at = s->next[at]) {
            const struct svg_box *o = &s->box[at / STRIPS_MAX];

            if (b->x1 < o->x2 && o->x1 < b->x2 && b->y1 < o->y2 && o->y1 < b->y2)
                return false;
        }
    return true;
}

static void svg_occupy(struct svg *s, const struct svg_box *b)
{
    size_t at = ++s->boxes * STRIPS_MAX;

    s->box[s->boxes] = *b;
    for (size_t strip = (size_t)b->x1 / STRIP; strip <= (size_t)b->x2 / STRIP && at < (s->boxes + 1) * STRIPS_MAX;
         strip++, at++) {
        s->next[at] = s->first[strip];
        s->first[strip] = at;
    }
}

static struct svg_box svg_box(double x, double y, size_t letters)
{
    return (struct svg_box){x - 1, y - LABEL_HEIGHT + 3, x + svg_letter * (double)letters + 1, y + 3};
}

/* A place for a text of this length on the arrow. */
static bool svg_place(struct svg *s, const struct svg_box *e, size_t letters, struct svg_label *label)
{
    for (unsigned k = 0; k < 34; k++) {
        double share = 0.5 + (k % 2 ? -1 : 1) * 0.025 * (k / 2 + 1), x = e->x1 + share * (e->x2 - e->x1) + 4;
        double y = e->y1 + share * (e->y2 - e->y1) - 3;
        struct svg_box left = svg_box(x - 8 - svg_letter * (double)letters, y, letters), right = svg_box(x, y, letters);
        const struct svg_box *b = svg_is_free(s, &right) ? &right : svg_is_free(s, &left) ? &left : NULL;

        if (!b)
            continue;
        svg_occupy(s, b);
        label->x = b->x1 + 1;
        label->y = y;
        return true;
    }
    return false;
}

/* False if a label has no place and may not be listed. */
static bool svg_place_all(struct svg *s, bool may_list)
{
    s->boxes = s->listed = 0;
    memset(s->first, 0, ((size_t)s->width / STRIP + 2) * sizeof *s->first);
    for (size_t k = 0; k < s->d.arrows; k++) {
        const struct diagram_arrow *a = &s->d.arrow[k];
        struct svg_box e = svg_ends(s, a);

        s->label[k] = (struct svg_label){0};
        if (a->from == a->to || svg_place(s, &e, strlen(a->label), &s->label[k]))
            continue;
        if (!may_list)
            return false;
        s->label[k].number = ++s->listed;
        if (!svg_place(s, &e, 4, &s->label[k])) {
            s->label[k].x = (e.x1 + e.x2) / 2;
            s->label[k].y = (e.y1 + e.y2) / 2;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- layout */

/* The caption in lines that the picture is wide enough for. */
static void svg_wrap(struct svg *s, const char *text)
{
    size_t room = (size_t)((s->width - 40) / 6.6);

    while (text && *text) {
        size_t cut = strlen(text);

        if (cut > room)
            for (cut = room; cut > 1 && text[cut] != ' '; cut--)
                ;
        s->caption = mem_grow(s->caption, (s->captions + 1) * sizeof *s->caption);
        s->caption[s->captions++] = strndup(text, cut);
        text += cut + (text[cut] == ' ');
    }
}

/* The size of the picture, for lines of the sites that are this far apart. */
static void svg_measure(struct svg *s, double lane)
{
    s->lane = s->down ? 1.6 * lane : lane;
    if (s->down) {
        s->width = fmax(480, svg_across(s, s->d.n - 1) + 90);
        s->bottom = svg_along(s, s->d.run->count) + 20;
    } else {
        s->width = fmax(480, svg_along(s, s->d.run->count) + RIGHT);
        s->bottom = svg_across(s, s->d.n - 1) + 24;
    }
    s->first = mem_grow(s->first, ((size_t)s->width / STRIP + 2) * sizeof *s->first);
}

static void svg_begin(struct svg *s, const struct moves *run, bool down)
{
    static const double lanes[] = {80, 110, 150, 210, 290};
    enum { LANES = sizeof lanes / sizeof lanes[0] };

    memset(s, 0, sizeof *s);
    s->down = down;
    diagram_read(&s->d, run);
    if (run->time && run->count > 1 && run->time[run->count - 1] > run->time[0])
        s->scale = (down ? STEP / 2.0 : STEP) * run->count / (run->time[run->count - 1] - run->time[0]);
    svg_measure(s, lanes[0]);
    svg_wrap(s, run->caption);
    s->top = TOP + LINE * s->captions;
    s->label = mem_new((s->d.arrows + 1) * sizeof *s->label);
    s->box = mem_new((s->d.arrows + 2) * sizeof *s->box);
    s->next = mem_new((s->d.arrows + 2) * STRIPS_MAX * sizeof *s->next);
    for (unsigned k = 0; k < LANES; k++) {
        svg_measure(s, lanes[k]);
        if (svg_place_all(s, k + 1 == LANES))
            break;
    }
    s->height = s->bottom + (s->scale > 0 && !down ? 34 : 6) + 34 + LINE * s->listed;
}

static void svg_end(struct svg *s)
{
    for (unsigned k = 0; k < s->captions; k++)
        free(s->caption[k]);
    free(s->caption);
    free(s->label);
    free(s->box);
    free(s->next);
    free(s->first);
    diagram_free(&s->d);
}

/* The phases from move k on: the first move that ends it. */
static uint32_t svg_until(const struct diagram *d, uint32_t k, dme_id i)
{
    uint32_t end = k + 1;

    while (end < d->run->count && diagram_phase(d, end, i) == diagram_phase(d, k, i))
        end++;
    return end;
}

/* The band of the phase that begins with move k. */
static struct svg_box svg_band(const struct svg *s, uint32_t k, dme_id i)
{
    uint32_t until = svg_until(&s->d, k, i);
    double begin = svg_along(s, k), end = until < s->d.run->count ? svg_along(s, until) : svg_far(s);

    return svg_turn(s, begin, svg_across(s, i) - 7, fmax(end, begin + 1), svg_across(s, i) + 7);
}

/* A round number of time units for the marks of the axis, about 100 pixels apart. */
static double svg_tick(const struct svg *s)
{
    double raw = 100 / s->scale, power = pow(10, floor(log10(raw))), share = raw / power;

    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* ------------------------------------------------------------------------------------------------------------------- SVG */

static const char *const svg_classes[] = {NULL, "waits", "inside", "down", "reads"};
static const char *const svg_meanings[] = {NULL, "waits", "inside", "down", "inside, reading"};

/* Writes a text with the characters that SVG reserves escaped. */
static void svg_escape(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(to, "&#%d;", *text);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

static void svg_text(FILE *to, const char *class, double x, double y, const char *text)
{
    fprintf(to, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">", class, x, y);
    svg_escape(to, text);
    fprintf(to, "</text>\n");
}

static void svg_head(FILE *to, const struct svg *s)
{
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>text{font:12px sans-serif;fill:#222}.site{font-weight:bold;font-size:15px}.lane{stroke:#888}"
            ".waits{fill:#f6d98f;stroke:#c79a2a}.inside{fill:#5a9e6f;stroke:#2f6b43}.reads{fill:#a9d3e8;stroke:#3b7ea1}"
            ".down{fill:#ddd;stroke:#aaa}.message{stroke:#345}.flies{stroke:#345;stroke-dasharray:5 4}"
            ".label{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px}.axis{stroke:#444}"
            ".broken{fill:#c0392b;font-weight:bold}.loop{stroke:#999;stroke-dasharray:3 3}</style>\n"
            "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
            "orient=\"auto\"><path d=\"M0,0L8,4L0,8z\" fill=\"#345\"/></marker>"
            "<marker id=\"lost\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"10\" markerHeight=\"10\">"
            "<path d=\"M1,1L7,7M7,1L1,7\" stroke=\"#c0392b\"/></marker></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            s->width, s->height, s->width, s->height);
}

/* The site's line, with a band for each time it waits or is inside. */
static void svg_lane(FILE *to, const struct svg *s, dme_id i)
{
    double across = svg_across(s, i);
    struct svg_box name = svg_turn(s, s->down ? s->top + 16 : 20, across + (s->down ? -5 : 5), 0, 0);
    struct svg_box line = svg_turn(s, s->down ? s->top + 26 : LEFT, across, svg_far(s), across);
    char number[16];

    snprintf(number, sizeof number, "%u", i);
    svg_text(to, "site", name.x1, name.y1, number);
    fprintf(to, "<line class=\"lane\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", line.x1, line.y1, line.x2,
            line.y2);
    for (uint32_t k = 0; k < s->d.run->count; k = svg_until(&s->d, k, i)) {
        const char *class = svg_classes[diagram_phase(&s->d, k, i)];
        struct svg_box b = svg_band(s, k, i);

        if (class)
            fprintf(to, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"/>\n", class,
                    b.x1, b.y1, b.x2 - b.x1, b.y2 - b.y1);
    }
}

static void svg_arrow(FILE *to, const struct svg *s, size_t k)
{
    const struct diagram_arrow *a = &s->d.arrow[k];
    bool flies = a->received == UINT32_MAX || a->lost;
    struct svg_box e = svg_ends(s, a);

    if (a->from != a->to)
        fprintf(to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" marker-end=\"url(#%s)\"/>\n",
                flies ? "flies" : "message", e.x1, e.y1, e.x2, e.y2, a->lost ? "lost" : "head");
}

/* Labels come last, so that no line is drawn over them. */
static void svg_label(FILE *to, const struct svg *s, size_t k)
{
    char number[16];

    if (s->d.arrow[k].from == s->d.arrow[k].to)
        return;
    snprintf(number, sizeof number, "(%u)", s->label[k].number);
    svg_text(to, "label", s->label[k].x, s->label[k].y, s->label[k].number ? number : s->d.arrow[k].label);
}

/* Where the rule is first broken, where a run begins to go round, and a deadlock at the end. */
static void svg_remarks(FILE *to, const struct svg *s)
{
    uint32_t loop = s->d.run->loop, k = 0;

    while (k < s->d.run->count && !s->d.broken[k])
        k++;
    if (k < s->d.run->count)
        svg_text(to, "broken\" text-anchor=\"end", s->down ? s->width - 4 : fmin(svg_along(s, k) + STEP, s->width - 4),
                 s->down ? svg_along(s, k) + 16 : s->top - 2, "the rule is broken");
    else if (s->d.stuck)
        svg_text(to, "broken\" text-anchor=\"end", s->width - 4, s->down ? svg_far(s) : s->top - 2, "deadlock");
    if (loop < s->d.run->count) {
        double at = svg_along(s, loop) - (s->scale > 0 ? 0 : STEP / 4.0);
        struct svg_box b = svg_turn(s, at, s->down ? 60 : s->top, at, s->down ? s->width - 4 : s->bottom);

        fprintf(to, "<line class=\"loop\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", b.x1, b.y1, b.x2, b.y2);
        svg_text(to, "note", s->down ? 4 : fmin(at, s->width - 160), s->down ? at - 4 : s->top - 2,
                 "from here round and round");
    }
}

static void svg_axis(FILE *to, const struct svg *s)
{
    double across = s->down ? 48 : s->bottom + 6, tick = svg_tick(s), from = s->d.run->time[0], begin = svg_along(s, 0);
    struct svg_box line = svg_turn(s, begin - 12, across, svg_far(s), across);

    fprintf(to, "<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", line.x1, line.y1, line.x2,
            line.y2);
    for (double t = ceil(from / tick) * tick; begin + s->scale * (t - from) < svg_far(s) - 10; t += tick) {
        double along = begin + s->scale * (t - from);
        struct svg_box mark = svg_turn(s, along, across, along, across + (s->down ? -5 : 5));
        char number[32];

        snprintf(number, sizeof number, "%.6g", fabs(t) < tick / 1e6 ? 0 : t);
        fprintf(to, "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", mark.x1, mark.y1,
                mark.x2, mark.y2);
        svg_text(to, s->down ? "tick\" text-anchor=\"end" : "tick\" text-anchor=\"middle", s->down ? across - 8 : along,
                 s->down ? along + 4 : across + 18, number);
    }
    svg_text(to, "tick", 16, s->down ? s->top + 16 : across + 18, "time");
}

/* A sample of every shape that occurs, with its meaning. */
static void svg_legend(FILE *to, const struct svg *s)
{
    double x = 20, y = s->bottom + (s->scale > 0 && !s->down ? 34 : 6) + 18;
    bool lost = false, flies = false;

    for (unsigned k = 1; k < DIAGRAM_PHASES; k++)
        if (s->d.has[k]) {
            fprintf(to, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"24\" height=\"12\" rx=\"3\"/>\n",
                    svg_classes[k], x, y - 10);
            svg_text(to, "legend", x + 29, y, svg_meanings[k]);
            x += 45 + 6.6 * (double)strlen(svg_meanings[k]);
        }
    for (size_t k = 0; k < s->d.arrows; k++) {
        lost |= s->d.arrow[k].lost;
        flies |= s->d.arrow[k].received == UINT32_MAX;
    }
    if (flies) {
        fprintf(to,
                "<line class=\"flies\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" marker-end=\"url(#head)\"/>\n",
                x, y - 4, x + 26, y - 4);
        svg_text(to, "legend", x + 31, y, "in flight");
        x += 98;
    }
    if (lost) {
        fprintf(to,
                "<line class=\"flies\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" marker-end=\"url(#lost)\"/>\n",
                x, y - 4, x + 26, y - 4);
        svg_text(to, "legend", x + 34, y, "lost");
    }
    for (size_t k = 0; k < s->d.arrows; k++)
        if (s->label[k].number) {
            char line[200];

            snprintf(line, sizeof line, "(%u) %u to %u: %s", s->label[k].number, s->d.arrow[k].from, s->d.arrow[k].to,
                     s->d.arrow[k].label);
            svg_text(to, "legend", 20, y + LINE * s->label[k].number, line);
        }
}

static void svg_draw(FILE *to, const struct moves *run, bool down)
{
    struct svg s;
    char title[128];

    svg_begin(&s, run, down);
    svg_head(to, &s);
    snprintf(title, sizeof title, "%s, %u sites", run->conf.alg->name, run->conf.n);
    svg_text(to, "site", 20, 22, title);
    for (unsigned k = 0; k < s.captions; k++)
        svg_text(to, "caption", 20, 22 + LINE * (k + 1), s.caption[k]);
    for (dme_id i = 0; i < s.d.n; i++)
        svg_lane(to, &s, i);
    for (size_t a = 0; a < s.d.arrows; a++)
        svg_arrow(to, &s, a);
    for (size_t a = 0; a < s.d.arrows; a++)
        svg_label(to, &s, a);
    svg_remarks(to, &s);
    if (s.scale > 0)
        svg_axis(to, &s);
    svg_legend(to, &s);
    fprintf(to, "</svg>\n");
    svg_end(&s);
}

void diagram_svg(FILE *to, const struct moves *run)
{
    svg_draw(to, run, false);
}

void diagram_svg_down(FILE *to, const struct moves *run)
{
    svg_draw(to, run, true);
}

/* ------------------------------------------------------------------------------------------------------------------ TikZ */

static void svg_tikz_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("{}$&#_%", *text))
            putc('\\', to);
        putc(*text, to);
    }
}

/* The same layout; a pixel is 0.02 cm, and y goes down. */
void diagram_tikz(FILE *to, const struct moves *run)
{
    static const char *const fills[] = {NULL, "yellow!40!orange!40", "green!50!black!60", "gray!25", "cyan!30"};
    struct svg s;

    svg_begin(&s, run, false);
    fprintf(to,
            "%% needs: \\usepackage{tikz}\n\\begin{tikzpicture}[x=0.02cm, y=-0.02cm, >=latex, font=\\scriptsize]\n");
    for (dme_id i = 0; i < s.d.n; i++) {
        fprintf(to, "\\node at (20,%.0f) {\\textbf{%u}};\n\\draw[gray] (%d,%.0f) -- (%.0f,%.0f);\n", svg_across(&s, i),
                i, LEFT, svg_across(&s, i), s.width - 20, svg_across(&s, i));
        for (uint32_t k = 0; k < run->count; k = svg_until(&s.d, k, i)) {
            unsigned phase = diagram_phase(&s.d, k, i);
            struct svg_box b = svg_band(&s, k, i);

            if (fills[phase])
                fprintf(to, "\\filldraw[fill=%s, draw=gray] (%.1f,%.0f) rectangle (%.1f,%.0f);\n", fills[phase], b.x1,
                        b.y1, b.x2, b.y2);
        }
    }
    for (size_t k = 0; k < s.d.arrows; k++) {
        const struct diagram_arrow *a = &s.d.arrow[k];
        struct svg_box e = svg_ends(&s, a);

        if (a->from == a->to)
            continue;
        fprintf(to, "\\draw[%s] (%.1f,%.1f) -- (%.1f,%.1f);\n",
                a->lost                     ? "dashed, -|"
                : a->received == UINT32_MAX ? "dashed, ->"
                                            : "->",
                e.x1, e.y1, e.x2, e.y2);
        fprintf(to, "\\node[anchor=base west, inner sep=0pt] at (%.1f,%.1f) {", s.label[k].x, s.label[k].y);
        svg_tikz_text(to, a->label);
        fprintf(to, "};\n");
    }
    for (unsigned k = 1, x = 20; k < DIAGRAM_PHASES; k++)
        if (s.d.has[k]) {
            fprintf(to, "\\filldraw[fill=%s, draw=gray] (%u,%.0f) rectangle (%u,%.0f) node[right, yshift=1mm] {%s};\n",
                    fills[k], x, s.bottom + 8, x + 24, s.bottom + 20, svg_meanings[k]);
            x += 140;
        }
    fprintf(to, "\\end{tikzpicture}\n");
    svg_end(&s);
}
