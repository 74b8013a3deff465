/* diagram_picture.c - see diagram_picture.h: where everything of a picture is, and drawing it on a canvas.
 *
 * Time goes to the right, or down: to scale if the run has times, else a step for each move. A label stands on its arrow,
 * at the first of several places where it covers no other label and does not leave the picture. If there is none, the lines of the sites
 * move apart; if that does not help either, the arrow has a number, and the label is listed below the picture. Comments of
 * the scenario are listed there, too; letters mark their places in the picture. */
#include "diagram_picture.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 56,
    LEFT = 60,
    RIGHT = 40,
    TOP = 40,
    LINE = 16,
    LIST = 4, /* above the lists */
    LABEL_HEIGHT = 13,
    STRIP = 128,
    STRIPS_MAX = 12 /* of a label */
};
static const double pic_letter = 6.4; /* mean width of a letter of a label */

struct pic_label {
    double x, y;     /* of the left end of its base line */
    unsigned number; /* 0; or it is listed below */
};

struct pic_lines {
    char **line;
    unsigned count;
};

struct pic {
    struct diagram d;
    bool down;                         /* time goes down, and sites stand side by side */
    double lane, scale;                /* scale: pixels per time; 0: a step for each move */
    double top, width, height, bottom; /* bottom: of the lanes */
    struct pic_label *label;
    struct diagram_box *box; /* of labels */
    size_t boxes;
    size_t *first,
        *next; /* strip of STRIP pixels: a list of those that reach into it, as numbers of boxes from 1; 0 ends it */
    unsigned listed;
    struct pic_lines caption, remarks; /* remarks: of the scenario, each after the letter that marks its place */
    const struct diagram_canvas *canvas;
    FILE *to;
};

/* Where a move is along the lines of the sites, and where the line of a site is across them. */
static double pic_along(const struct pic *s, uint32_t k)
{
    const struct moves *run = s->d.run;
    double begin = s->down ? s->top + 44 : LEFT + 12;

    if (s->scale > 0)
        return begin + s->scale * (k < run->count ? run->time[k] - run->time[0]
                                                  : run->time[run->count - 1] - run->time[0] + STEP / s->scale);
    return begin + (s->down ? STEP / 2.0 : STEP) * k;
}

static double pic_across(const struct pic *s, dme_id i)
{
    return (s->down ? 100 : s->top + 24) + i * s->lane;
}

/* The end of the lines. */
static double pic_far(const struct pic *s)
{
    return s->down ? s->bottom - 8 : s->width - 20;
}

/* A point of the picture, given along and across. */
static struct diagram_box pic_turn(const struct pic *s, double along1, double across1, double along2, double across2)
{
    return s->down ? (struct diagram_box){across1, along1, across2, along2}
                   : (struct diagram_box){along1, across1, along2, across2};
}

/* Do two arrows from one point lie on one line? */
static bool pic_is_hidden(const struct pic *s, const struct diagram_arrow *a, const struct diagram_arrow *b)
{
    double from = pic_across(s, a->from), sent = pic_along(s, a->sent);
    double a_across = pic_across(s, a->to) - from, b_across = pic_across(s, b->to) - from;
    double a_along = pic_along(s, a->received == UINT32_MAX ? s->d.run->count : a->received) - sent;
    double b_along = pic_along(s, b->received == UINT32_MAX ? s->d.run->count : b->received) - sent;

    return a->from == b->from && a_across * b_across > 0 && fabs(a_across * b_along - b_across * a_along) < 1;
}

/* The ends of an arrow. Of a message that is lost, or still in flight at the end, it does not reach the receiver. */
static struct diagram_box pic_ends(const struct pic *s, const struct diagram_arrow *a)
{
    uint32_t end = a->received == UINT32_MAX ? s->d.run->count : a->received;
    double share = a->received == UINT32_MAX || a->lost ? 0.7 : 1, from = pic_across(s, a->from);
    double sent = pic_along(s, a->sent), received = pic_along(s, end);
    unsigned begin_later = 0, end_later = 0;

    /* Arrows that would cover each other begin side by side. They also end so if they go to the same site. */
    for (const struct diagram_arrow *b = a; b > s->d.arrow && pic_along(s, b[-1].sent) == sent; b--)
        if (pic_is_hidden(s, a, &b[-1])) {
            begin_later += 6;
            end_later += b[-1].to == a->to ? 6 : 0;
        }
    return pic_turn(s, sent + begin_later, from, sent + share * (received - sent) + end_later,
                    from + share * (pic_across(s, a->to) - from));
}

/* --------------------------------------------------------------------------------------------------------------- labels */

/* Only boxes that begin, end or go on in the same strips of the picture can be in the way. */
static bool pic_is_free(const struct pic *s, const struct diagram_box *b)
{
    if (b->x1 < 40 || b->x2 > s->width - 2 || b->y1 < s->top || b->y2 > s->bottom)
        return false;
    for (dme_id i = 0; i < s->d.n; i++) /* the lines of the sites have their bands */
        if ((s->down ? b->x1 : b->y1) < pic_across(s, i) + 8 && pic_across(s, i) - 8 < (s->down ? b->x2 : b->y2))
            return false;
    for (size_t strip = (size_t)b->x1 / STRIP; strip <= (size_t)b->x2 / STRIP; strip++)
        for (size_t at = s->first[strip]; at; at = s->next[at]) {
            const struct diagram_box *o = &s->box[at / STRIPS_MAX];

            if (b->x1 < o->x2 && o->x1 < b->x2 && b->y1 < o->y2 && o->y1 < b->y2)
                return false;
        }
    return true;
}

static void pic_occupy(struct pic *s, const struct diagram_box *b)
{
    size_t at = ++s->boxes * STRIPS_MAX;

    s->box[s->boxes] = *b;
    for (size_t strip = (size_t)b->x1 / STRIP; strip <= (size_t)b->x2 / STRIP && at < (s->boxes + 1) * STRIPS_MAX;
         strip++, at++) {
        s->next[at] = s->first[strip];
        s->first[strip] = at;
    }
}

static struct diagram_box pic_box(double x, double y, size_t letters)
{
    return (struct diagram_box){x - 1, y - LABEL_HEIGHT + 3, x + pic_letter * (double)letters + 1, y + 3};
}

/* A place for a text of this length on the arrow. */
static bool pic_place(struct pic *s, const struct diagram_box *e, size_t letters, struct pic_label *label)
{
    for (unsigned k = 0; k < 34; k++) {
        double share = 0.5 + (k % 2 ? -1 : 1) * 0.025 * (k / 2 + 1), x = e->x1 + share * (e->x2 - e->x1) + 4;
        double y = e->y1 + share * (e->y2 - e->y1) - 3;
        struct diagram_box left = pic_box(x - 8 - pic_letter * (double)letters, y, letters),
                           right = pic_box(x, y, letters);
        const struct diagram_box *b = pic_is_free(s, &right) ? &right : pic_is_free(s, &left) ? &left : NULL;

        if (!b)
            continue;
        pic_occupy(s, b);
        label->x = b->x1 + 1;
        label->y = y;
        return true;
    }
    return false;
}

/* False if a label has no place and may not be listed. */
static bool pic_place_all(struct pic *s, bool may_list)
{
    s->boxes = s->listed = 0;
    memset(s->first, 0, ((size_t)s->width / STRIP + 2) * sizeof *s->first);
    for (size_t k = 0; k < s->d.arrows; k++) {
        const struct diagram_arrow *a = &s->d.arrow[k];
        struct diagram_box e = pic_ends(s, a);

        s->label[k] = (struct pic_label){0};
        if (a->from == a->to || pic_place(s, &e, strlen(a->label), &s->label[k]))
            continue;
        if (!may_list)
            return false;
        s->label[k].number = ++s->listed;
        if (!pic_place(s, &e, 4, &s->label[k])) {
            s->label[k].x = (e.x1 + e.x2) / 2;
            s->label[k].y = (e.y1 + e.y2) / 2;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- layout */

/* The text in lines that the picture is wide enough for. The second and later ones begin with `indent` spaces. */
static void pic_wrap(const struct pic *s, struct pic_lines *lines, const char *text, unsigned indent)
{
    size_t room = (size_t)((s->width - 40) / 6.6) - indent;

    for (bool first = true; text && *text; first = false) {
        size_t cut = strlen(text), before = first ? 0 : indent;
        char *line;

        if (cut > room)
            for (cut = room; cut > 1 && text[cut] != ' '; cut--)
                ;
        line = mem_new(before + cut + 1);
        memset(line, ' ', before);
        memcpy(line + before, text, cut);
        lines->line = mem_grow(lines->line, (lines->count + 1) * sizeof *lines->line);
        lines->line[lines->count++] = line;
        text += cut + (text[cut] == ' ');
    }
}

static void pic_free_lines(struct pic_lines *lines)
{
    for (unsigned k = 0; k < lines->count; k++)
        free(lines->line[k]);
    free(lines->line);
}

/* a, b, ... z, aa, ab, ...: marks the place of remark k. */
static const char *pic_mark(uint32_t k, char mark[4])
{
    char *at = mark;

    if (k >= 26)
        *at++ = (char)('a' + (k / 26 - 1) % 26);
    *at++ = (char)('a' + k % 26);
    *at = 0;
    return mark;
}

static void pic_wrap_remarks(struct pic *s)
{
    const struct moves *run = s->d.run;

    for (uint32_t k = 0; k < run->remarks; k++) {
        size_t size = strlen(run->remark[k].text) + 8;
        char *text = mem_new(size), mark[4];

        snprintf(text, size, "%s: %s", pic_mark(k, mark), run->remark[k].text);
        pic_wrap(s, &s->remarks, text, 3);
        free(text);
    }
}

/* The size of the picture, for lines of the sites that are this far apart. */
static void pic_measure(struct pic *s, double lane)
{
    s->lane = s->down ? 1.6 * lane : lane;
    if (s->down) {
        s->width = fmax(480, pic_across(s, s->d.n - 1) + 90);
        s->bottom = pic_along(s, s->d.run->count) + 20;
    } else {
        s->width = fmax(480, pic_along(s, s->d.run->count) + RIGHT);
        s->bottom = pic_across(s, s->d.n - 1) + 24;
    }
    s->first = mem_grow(s->first, ((size_t)s->width / STRIP + 2) * sizeof *s->first);
}

static void pic_begin(struct pic *s, const struct moves *run, bool down)
{
    static const double lanes[] = {80, 110, 150, 210, 290};
    enum { LANES = sizeof lanes / sizeof lanes[0] };

    memset(s, 0, sizeof *s);
    s->down = down;
    diagram_read(&s->d, run);
    if (run->time && run->count > 1 && run->time[run->count - 1] > run->time[0])
        s->scale = (down ? STEP / 2.0 : STEP) * run->count / (run->time[run->count - 1] - run->time[0]);
    pic_measure(s, lanes[0]);
    pic_wrap(s, &s->caption, run->caption, 0);
    pic_wrap_remarks(s);
    s->top = TOP + LINE * s->caption.count;
    s->label = mem_new((s->d.arrows + 1) * sizeof *s->label);
    s->box = mem_new((s->d.arrows + 2) * sizeof *s->box);
    s->next = mem_new((s->d.arrows + 2) * STRIPS_MAX * sizeof *s->next);
    for (unsigned k = 0; k < LANES; k++) {
        pic_measure(s, lanes[k]);
        if (pic_place_all(s, k + 1 == LANES))
            break;
    }
    s->height = s->bottom + (s->scale > 0 && !down ? 34 : 6) + 34 + LIST + LINE * (s->remarks.count + s->listed);
}

static void pic_end(struct pic *s)
{
    pic_free_lines(&s->caption);
    pic_free_lines(&s->remarks);
    free(s->label);
    free(s->box);
    free(s->next);
    free(s->first);
    diagram_free(&s->d);
}

/* The phases from move k on: the first move that ends it. */
static uint32_t pic_until(const struct diagram *d, uint32_t k, dme_id i)
{
    uint32_t end = k + 1;

    while (end < d->run->count && diagram_phase(d, end, i) == diagram_phase(d, k, i))
        end++;
    return end;
}

/* The band of the phase that begins with move k. */
static struct diagram_box pic_band(const struct pic *s, uint32_t k, dme_id i)
{
    uint32_t until = pic_until(&s->d, k, i);
    double begin = pic_along(s, k), end = until < s->d.run->count ? pic_along(s, until) : pic_far(s);

    return pic_turn(s, begin, pic_across(s, i) - 7, fmax(end, begin + 1), pic_across(s, i) + 7);
}

/* A round number of time units for the marks of the axis, about 100 pixels apart. */
static double pic_tick(const struct pic *s)
{
    double raw = 100 / s->scale, power = pow(10, floor(log10(raw))), share = raw / power;

    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* --------------------------------------------------------------------------------------------------------------- drawing */

static const char *const pic_phases[] = {NULL, "waits", "inside", "down", "reads"};
static const char *const pic_meanings[] = {NULL, "waits", "inside", "down", "inside, reading"};

static void pic_text(const struct pic *s, const char *class, enum diagram_anchor anchor, double x, double y,
                     const char *text)
{
    s->canvas->text(s->to, class, anchor, x, y, text);
}

/* The site's line, with a band for each time it waits or is inside. */
static void pic_lane(const struct pic *s, dme_id i)
{
    double across = pic_across(s, i);
    struct diagram_box name = pic_turn(s, s->down ? s->top + 16 : 20, across + (s->down ? -5 : 5), 0, 0);
    struct diagram_box line = pic_turn(s, s->down ? s->top + 26 : LEFT, across, pic_far(s), across);
    char number[16];

    snprintf(number, sizeof number, "%u", i);
    pic_text(s, "site", DIAGRAM_LEFT, name.x1, name.y1, number);
    s->canvas->line(s->to, "lane", &line, DIAGRAM_PLAIN);
    for (uint32_t k = 0; k < s->d.run->count; k = pic_until(&s->d, k, i)) {
        const char *class = pic_phases[diagram_phase(&s->d, k, i)];
        struct diagram_box b = pic_band(s, k, i);

        if (class)
            s->canvas->band(s->to, class, &b);
    }
}

static const char *pic_class(const struct diagram_arrow *a)
{
    return a->news ? "news" : a->received == UINT32_MAX || a->lost ? "flies" : "message";
}

static void pic_arrow(const struct pic *s, size_t k)
{
    const struct diagram_arrow *a = &s->d.arrow[k];
    struct diagram_box e = pic_ends(s, a);

    if (a->from != a->to)
        s->canvas->line(s->to, pic_class(a), &e, a->lost ? DIAGRAM_LOST : DIAGRAM_HEAD);
}

/* Labels come last, so that no line is drawn over them, and hide the lines below them. */
static void pic_label(const struct pic *s, size_t k)
{
    const char *text = s->d.arrow[k].label;
    struct diagram_box paper;
    char number[16];

    if (s->d.arrow[k].from == s->d.arrow[k].to)
        return;
    snprintf(number, sizeof number, "(%u)", s->label[k].number);
    if (s->label[k].number)
        text = number;
    paper = pic_box(s->label[k].x, s->label[k].y, strlen(text));
    s->canvas->band(s->to, "paper", &paper);
    pic_text(s, "label", DIAGRAM_LEFT, s->label[k].x, s->label[k].y, text);
}

/* Where the rule is first broken, where a run begins to go round, and a deadlock at the end. */
static void pic_verdict(const struct pic *s)
{
    uint32_t loop = s->d.run->loop, k = 0;

    while (k < s->d.run->count && !s->d.broken[k])
        k++;
    if (k < s->d.run->count)
        pic_text(s, "broken", DIAGRAM_RIGHT, s->down ? s->width - 4 : fmin(pic_along(s, k) + STEP, s->width - 4),
                 s->down ? pic_along(s, k) + 16 : s->top - 2, "the rule is broken");
    else if (s->d.stuck)
        pic_text(s, "broken", DIAGRAM_RIGHT, s->width - 4, s->down ? pic_far(s) : s->top - 2, "deadlock");
    if (loop < s->d.run->count) {
        double at = pic_along(s, loop) - (s->scale > 0 ? 0 : STEP / 4.0);
        struct diagram_box b = pic_turn(s, at, s->down ? 60 : s->top, at, s->down ? s->width - 4 : s->bottom);

        s->canvas->line(s->to, "loop", &b, DIAGRAM_PLAIN);
        pic_text(s, "note", DIAGRAM_LEFT, s->down ? 4 : fmin(at, s->width - 160), s->down ? at - 4 : s->top - 2,
                 "from here round and round");
    }
}

/* A line across all sites, at a move that concerns all of them, with a text where no label can be. */
static void pic_across_all(const struct pic *s, double at, const char *text)
{
    struct diagram_box b = pic_turn(s, at, s->down ? 60 : s->top + 16, at, s->down ? s->width - 4 : s->bottom);

    s->canvas->line(s->to, "loop", &b, DIAGRAM_PLAIN);
    if (s->down)
        pic_text(s, "note", DIAGRAM_RIGHT, s->width - 4, at - 3, text);
    else
        pic_text(s, "note", DIAGRAM_LEFT, at + 3, s->bottom, text);
}

/* Where the network is cut in two, and where it is whole again. */
static void pic_cuts(const struct pic *s)
{
    for (uint32_t k = 0; k < s->d.run->count; k++) {
        const struct world_move *move = &s->d.run->move[k];
        char line[160];
        struct dme_text text;

        dme_text_init(&text, line, sizeof line);
        if (move->type == WORLD_CUT) {
            for (dme_id i = 0; i < s->d.n && i < 32; i++)
                if (move->arg & 1u << i)
                    dme_print(&text, "%u ", i);
            dme_print(&text, "cut off");
        } else if (move->type == WORLD_HEAL) {
            dme_print(&text, "healed");
        } else {
            continue;
        }
        pic_across_all(s, pic_along(s, k), line);
    }
}

/* Letters beside the moves that the comments of the scenario are about. */
static void pic_marks(const struct pic *s)
{
    const struct moves *run = s->d.run;

    for (uint32_t k = 0; k < run->remarks; k++) {
        double along = pic_along(s, run->remark[k].before);
        char mark[4];

        pic_text(s, "mark", DIAGRAM_MIDDLE, s->down ? 70 : along, s->down ? along + 4 : s->top + 12, pic_mark(k, mark));
    }
}

static void pic_axis(const struct pic *s)
{
    double across = s->down ? 48 : s->bottom + 6, tick = pic_tick(s), from = s->d.run->time[0], begin = pic_along(s, 0);
    struct diagram_box line = pic_turn(s, begin - 12, across, pic_far(s), across);

    s->canvas->line(s->to, "axis", &line, DIAGRAM_PLAIN);
    for (double t = ceil(from / tick) * tick; begin + s->scale * (t - from) < pic_far(s) - 10; t += tick) {
        double along = begin + s->scale * (t - from);
        struct diagram_box mark = pic_turn(s, along, across, along, across + (s->down ? -5 : 5));
        char number[32];

        snprintf(number, sizeof number, "%.6g", fabs(t) < tick / 1e6 ? 0 : t);
        s->canvas->line(s->to, "axis", &mark, DIAGRAM_PLAIN);
        pic_text(s, "tick", s->down ? DIAGRAM_RIGHT : DIAGRAM_MIDDLE, s->down ? across - 8 : along,
                 s->down ? along + 4 : across + 18, number);
    }
    pic_text(s, "tick", DIAGRAM_LEFT, 16, s->down ? s->top + 16 : across + 18, "time");
}

/* A sample of a line with its meaning; returns where the next one begins. */
static double pic_sample(const struct pic *s, double x, double y, const char *class, enum diagram_end end,
                         const char *meaning)
{
    struct diagram_box line = {x, y - 4, x + 26, y - 4};

    s->canvas->line(s->to, class, &line, end);
    pic_text(s, "legend", DIAGRAM_LEFT, x + 34, y, meaning);
    return x + 50 + 6.6 * (double)strlen(meaning);
}

/* A sample of every shape that occurs, with its meaning. */
static void pic_legend(const struct pic *s, double y)
{
    bool lost = false, flies = false, news = false;
    double x = 20;

    for (unsigned k = 1; k < DIAGRAM_PHASES; k++)
        if (s->d.has[k]) {
            struct diagram_box b = {x, y - 10, x + 24, y + 2};

            s->canvas->band(s->to, pic_phases[k], &b);
            pic_text(s, "legend", DIAGRAM_LEFT, x + 29, y, pic_meanings[k]);
            x += 45 + 6.6 * (double)strlen(pic_meanings[k]);
        }
    for (size_t k = 0; k < s->d.arrows; k++) {
        const struct diagram_arrow *a = &s->d.arrow[k];

        lost |= a->lost;
        flies |= a->received == UINT32_MAX && !a->news;
        news |= a->news;
    }
    if (flies)
        x = pic_sample(s, x, y, "flies", DIAGRAM_HEAD, "in flight");
    if (lost)
        x = pic_sample(s, x, y, "flies", DIAGRAM_LOST, "lost");
    if (news)
        pic_sample(s, x, y, "news", DIAGRAM_HEAD, "is reported");
}

/* Below the legend: the remarks, and the labels that had no place. */
static void pic_lists(const struct pic *s, double y)
{
    y += LIST;
    for (unsigned k = 0; k < s->remarks.count; k++)
        pic_text(s, "remark", DIAGRAM_LEFT, 20, y += LINE, s->remarks.line[k]);
    for (size_t k = 0; k < s->d.arrows; k++)
        if (s->label[k].number) {
            char line[200];

            snprintf(line, sizeof line, "(%u) %u to %u: %s", s->label[k].number, s->d.arrow[k].from, s->d.arrow[k].to,
                     s->d.arrow[k].label);
            pic_text(s, "legend", DIAGRAM_LEFT, 20, y += LINE, line);
        }
}

void diagram_draw(FILE *to, const struct diagram_canvas *canvas, const struct moves *run, bool down)
{
    struct pic s;
    char title[128];
    double y;

    pic_begin(&s, run, down);
    s.to = to;
    s.canvas = canvas;
    canvas->begin(to, s.width, s.height);
    snprintf(title, sizeof title, "%s, %u sites", run->conf.alg->name, run->conf.n);
    pic_text(&s, "site", DIAGRAM_LEFT, 20, 22, title);
    for (unsigned k = 0; k < s.caption.count; k++)
        pic_text(&s, "caption", DIAGRAM_LEFT, 20, 22 + LINE * (k + 1), s.caption.line[k]);
    for (dme_id i = 0; i < s.d.n; i++)
        pic_lane(&s, i);
    for (size_t a = 0; a < s.d.arrows; a++)
        pic_arrow(&s, a);
    for (size_t a = 0; a < s.d.arrows; a++)
        pic_label(&s, a);
    pic_verdict(&s);
    pic_cuts(&s);
    pic_marks(&s);
    if (s.scale > 0)
        pic_axis(&s);
    y = s.bottom + (s.scale > 0 && !s.down ? 34 : 6) + 18;
    pic_legend(&s, y);
    pic_lists(&s, y);
    canvas->end(to);
    pic_end(&s);
}
