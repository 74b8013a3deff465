/* diagram.c - see diagram.h. */
#include "diagram.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------- what there is to draw */

struct diagram_arrow {
    uint64_t number; /* of the message, see struct world_flight */
    dme_id from, to;
    uint32_t sent, received; /* by which move; received is UINT32_MAX while it is in flight */
    bool lost;               /* by that move, rather than received */
    char label[96];
};

enum { DIAGRAM_DOWN = DME_INSIDE + 1 }; /* a phase of a site, here */

struct diagram {
    const struct moves *run;
    uint32_t n;
    uint8_t *phase;  /* of site i after move k: phase[k * n + i] */
    uint8_t *broken; /* does the rule hold after move k? */
    struct diagram_arrow *arrow;
    size_t arrows;
};

static void diagram_note_sends(struct diagram *d, const struct lab_world *w, uint64_t before, uint32_t k)
{
    for (size_t f = 0; f < w->flights; f++) {
        struct diagram_arrow *a;
        struct dme_text text;

        if (w->flight[f].sent < before)
            continue;
        d->arrow = mem_grow(d->arrow, (d->arrows + 1) * sizeof *d->arrow);
        a = &d->arrow[d->arrows++];
        *a = (struct diagram_arrow){.number = w->flight[f].sent,
                                    .from = w->flight[f].msg->from,
                                    .to = w->flight[f].msg->to,
                                    .sent = k,
                                    .received = UINT32_MAX};
        dme_text_init(&text, a->label, sizeof a->label);
        dme_print_msg(&d->run->conf, w->flight[f].msg, &text);
    }
}

/* The move is about a message: it arrives, is lost, or is copied. */
static void diagram_note_message(struct diagram *d, const struct lab_world *w, uint32_t k)
{
    const struct world_flight *f = &w->flight[world_find(w, &d->run->move[k])];
    uint32_t type = d->run->move[k].type;
    size_t a = 0;

    while (d->arrow[a].number != f->sent || d->arrow[a].to != f->msg->to || d->arrow[a].received != UINT32_MAX)
        a++;
    if (type == WORLD_DUPLICATE) {
        d->arrow = mem_grow(d->arrow, (d->arrows + 1) * sizeof *d->arrow);
        d->arrow[d->arrows++] = d->arrow[a];
    } else {
        d->arrow[a].received = k;
        d->arrow[a].lost = type == WORLD_LOSE;
    }
}

static void diagram_read(struct diagram *d, const struct moves *run)
{
    struct lab_world *w = world_new(&run->conf);

    *d = (struct diagram){.run = run, .n = run->conf.n};
    d->phase = mem_new((size_t)run->count * d->n);
    d->broken = mem_new(run->count);
    diagram_note_sends(d, w, 0, 0); /* what is in flight from the start */
    for (uint32_t k = 0; k < run->count; k++) {
        uint64_t before = w->sent;

        if (run->move[k].type == DME_RECEIVE || world_is_mishap(run->move[k].type))
            diagram_note_message(d, w, k);
        if (world_move(w, &run->move[k]))
            assert(!"a run can be made");
        diagram_note_sends(d, w, before, k);
        for (dme_id i = 0; i < d->n; i++)
            d->phase[k * d->n + i] = w->node[i]->down ? DIAGRAM_DOWN : w->node[i]->phase;
        d->broken[k] = !world_safe(w);
    }
    world_free(w);
}

static void diagram_free(struct diagram *d)
{
    free(d->phase);
    free(d->broken);
    free(d->arrow);
}

static unsigned diagram_phase(const struct diagram *d, uint32_t k, dme_id i)
{
    return d->phase[(size_t)k * d->n + i];
}

static const struct diagram_arrow *diagram_received(const struct diagram *d, uint32_t k)
{
    for (size_t a = 0; a < d->arrows; a++)
        if (d->arrow[a].received == k)
            return &d->arrow[a];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- text */

enum { TEXT_COLUMN = 26, TEXT_LEFT = 15 };

/* An arrow across the row, from the sender's column to the receiver's, with its label in the middle. */
static void diagram_text_arrow(char *row, const struct diagram_arrow *a)
{
    size_t from = TEXT_LEFT + a->from * (size_t)TEXT_COLUMN, to = TEXT_LEFT + a->to * (size_t)TEXT_COLUMN;
    size_t low = from < to ? from : to, high = from < to ? to : from, room = high - low - 5, len = strlen(a->label);

    memset(row + low + 1, '-', high - low - 1);
    row[from] = '+';
    row[to + (from < to ? -1 : 1)] = a->lost ? 'x' : from < to ? '>' : '<';
    if (len > room)
        len = room;
    memcpy(row + low + 3 + (room - len) / 2, a->label, len);
}

static const char diagram_lines[] = {[DME_IDLE] = '|', [DME_WAITING] = ':', [DME_INSIDE] = '#', [DIAGRAM_DOWN] = ' '};

/* The move in a word, where no arrow shows it. */
static const char *diagram_word(uint32_t type)
{
    static const char *const words[] = {
        [DME_REQUEST] = "asks",        [DME_RELEASE] = "leaves", [DME_RECEIVE] = "",      [DME_TIMER] = "timer",
        [DME_RESTART] = "RESTARTS",    [DME_JOIN] = "joins",     [DME_LEAVE] = "resigns", [WORLD_CRASH] = "CRASHES",
        [WORLD_SUSPECT] = "SUSPECTED", [WORLD_CUT] = "CUT OFF",  [WORLD_HEAL] = "",       [WORLD_LOSE] = "lost",
        [WORLD_DUPLICATE] = "copied",
    };

    return words[type];
}

static void diagram_text_row(FILE *to, const struct diagram *d, uint32_t k)
{
    size_t width = TEXT_LEFT + d->n * (size_t)TEXT_COLUMN;
    char *row = mem_new(width + 1);
    const struct world_move *move = &d->run->move[k];
    size_t at = TEXT_LEFT + move->site * (size_t)TEXT_COLUMN;
    const struct diagram_arrow *a = diagram_received(d, k);
    const char *word = diagram_word(move->type);
    bool left = a && a->from > a->to; /* what is to say has its place on the other side */

    memset(row, ' ', width);
    for (dme_id i = 0; i < d->n; i++)
        row[TEXT_LEFT + i * (size_t)TEXT_COLUMN] = diagram_lines[diagram_phase(d, k, i)];
    if (a && a->from != a->to)
        diagram_text_arrow(row, a);
    for (dme_id i = 0; i < d->n && move->type == WORLD_CUT; i++)
        if (i < 32 && move->arg >> i & 1)
            memcpy(row + TEXT_LEFT + i * (size_t)TEXT_COLUMN + 2, word, strlen(word));
    if (move->type != WORLD_CUT)
        memcpy(row + at + (left ? -1 - (int)strlen(word) : 2), word, strlen(word));
    if (diagram_phase(d, k, move->site) == DME_INSIDE && (k == 0 || diagram_phase(d, k - 1, move->site) != DME_INSIDE))
        memcpy(row + at + (left ? -7 : 2), "ENTERS", 6);
    while (width && row[width - 1] == ' ')
        row[--width] = 0;
    fprintf(to, "%5u%s%s\n", k + 1, row + 5,
            d->broken[k]               ? "   <- the rule is broken"
            : move->type == WORLD_HEAL ? "   the network is whole again"
                                       : "");
    free(row);
}

void diagram_text(FILE *to, const struct moves *run)
{
    struct diagram d;

    diagram_read(&d, run);
    fprintf(to, "%*s", TEXT_LEFT, "");
    for (dme_id i = 0; i < d.n; i++)
        fprintf(to, "%-*u", i + 1 < d.n ? TEXT_COLUMN : 0, i);
    fprintf(to, "\n");
    for (uint32_t k = 0; k < run->count; k++) {
        if (k == run->loop)
            fprintf(to, "      and from here round and round:\n");
        diagram_text_row(to, &d, k);
    }
    for (size_t a = 0; a < d.arrows; a++)
        if (d.arrow[a].received == UINT32_MAX)
            fprintf(to, "      in flight: %u -> %u %s\n", d.arrow[a].from, d.arrow[a].to, d.arrow[a].label);
    fprintf(to, "      | idle   : waits   # inside\n");
    diagram_free(&d);
}

/* -------------------------------------------------------------------------------------------------------------- SVG */

enum { SVG_STEP = 56, SVG_LANE = 96, SVG_LEFT = 60, SVG_TOP = 56 };

static uint32_t svg_x(uint32_t k)
{
    return SVG_LEFT + SVG_STEP / 2 + k * SVG_STEP;
}

static uint32_t svg_y(dme_id i)
{
    return SVG_TOP + i * SVG_LANE;
}

/* Writes a text with the characters that SVG reserves escaped. */
static void svg_escape(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(to, "&#%d;", *text);
        else
            putc(*text, to);
    }
}

/* The site's line, with a band for each time it waits or is inside. */
static void svg_lane(FILE *to, const struct diagram *d, dme_id i, uint32_t width)
{
    static const char *const classes[] = {NULL, "waits", "inside", "down"};
    uint32_t count = d->run->count;

    fprintf(to, "<text class=\"site\" x=\"20\" y=\"%u\">%u</text>\n", svg_y(i) + 5, i);
    fprintf(to, "<line class=\"lane\" x1=\"%d\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/>\n", SVG_LEFT, svg_y(i), width - 20,
            svg_y(i));
    for (uint32_t k = 0; k < count; k++) {
        unsigned phase = diagram_phase(d, k, i);
        uint32_t end = k + 1;

        while (end < count && diagram_phase(d, end, i) == phase)
            end++;
        if (classes[phase])
            fprintf(to, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"14\" rx=\"3\"/>\n", classes[phase],
                    svg_x(k), svg_y(i) - 7, end < count ? (end - k) * SVG_STEP : width - 20 - svg_x(k));
        k = end - 1;
    }
}

/* The arrow of a message that is lost, or still in flight at the end, does not reach its receiver. */
static void svg_arrow(FILE *to, const struct diagram *d, const struct diagram_arrow *a)
{
    bool flies = a->received == UINT32_MAX || a->lost;
    uint32_t end = a->received == UINT32_MAX ? d->run->count : a->received;
    double place = 0.3 + 0.17 * (double)(a->number % 3); /* of the label, not always the same so that fewer collide */
    double x1 = svg_x(a->sent), x2 = svg_x(end), y1 = svg_y(a->from), y2 = svg_y(a->to), share = flies ? 0.7 : 1;

    if (a->from == a->to)
        return;
    x2 = x1 + share * (x2 - x1);
    y2 = y1 + share * (y2 - y1);
    fprintf(to, "<line class=\"%s\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" marker-end=\"url(#%s)\"/>\n",
            flies ? "flies" : "message", x1, y1, x2, y2, a->lost ? "lost" : "head");
    fprintf(to, "<text class=\"label\" x=\"%.0f\" y=\"%.0f\">", x1 + place * (x2 - x1) + 4, y1 + place * (y2 - y1) - 3);
    svg_escape(to, a->label);
    fprintf(to, "</text>\n");
}

static void svg_head(FILE *to, uint32_t width, uint32_t height)
{
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
            "<style>text{font:12px sans-serif;fill:#222}.site{font-weight:bold;font-size:15px}.lane{stroke:#888}"
            ".waits{fill:#f6d98f;stroke:#c79a2a}.inside{fill:#5a9e6f;stroke:#2f6b43}.down{fill:#ddd;stroke:#aaa}."
            "message{stroke:#345}"
            ".flies{stroke:#345;stroke-dasharray:5 4}"
            ".label{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
            ".broken{fill:#c0392b;font-weight:bold}.loop{stroke:#999;stroke-dasharray:3 3}</style>\n"
            "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
            "orient=\"auto\"><path d=\"M0,0L8,4L0,8z\" fill=\"#345\"/></marker>"
            "<marker id=\"lost\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"10\" markerHeight=\"10\">"
            "<path d=\"M1,1L7,7M7,1L1,7\" stroke=\"#c0392b\"/></marker></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
}

/* Where the rule is first broken, and where a run begins to go round. */
static void svg_remarks(FILE *to, const struct diagram *d, uint32_t height)
{
    uint32_t loop = d->run->loop;

    for (uint32_t k = 0; k < d->run->count; k++)
        if (d->broken[k]) {
            fprintf(to, "<text class=\"broken\" x=\"%u\" y=\"24\" text-anchor=\"end\">the rule is broken</text>\n",
                    svg_x(k) + SVG_STEP);
            break;
        }
    if (loop < d->run->count)
        fprintf(to,
                "<line class=\"loop\" x1=\"%u\" y1=\"30\" x2=\"%u\" y2=\"%u\"/>\n"
                "<text x=\"%u\" y=\"24\">from here round and round</text>\n",
                svg_x(loop) - SVG_STEP / 2, svg_x(loop) - SVG_STEP / 2, height - 30, svg_x(loop) - SVG_STEP / 2);
}

char *diagram_svg(const struct moves *run)
{
    uint32_t width = svg_x(run->count) + 40, height = svg_y(run->conf.n) + 10;
    struct diagram d;
    char *svg;
    size_t len;
    FILE *to = open_memstream(&svg, &len);

    assert(to);
    diagram_read(&d, run);
    svg_head(to, width, height);
    for (dme_id i = 0; i < d.n; i++)
        svg_lane(to, &d, i, width);
    for (size_t a = 0; a < d.arrows; a++)
        svg_arrow(to, &d, &d.arrow[a]);
    svg_remarks(to, &d, height);
    fprintf(to, "<text x=\"%d\" y=\"%u\">%s, %u sites; yellow: waits, green: inside, grey: down</text>\n</svg>\n",
            SVG_LEFT, height - 16, run->conf.alg->name, d.n);
    diagram_free(&d);
    fclose(to);
    return svg;
}
