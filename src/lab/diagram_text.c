/* diagram_text.c - see diagram.h: the diagram for a terminal, and those that are texts for other tools.
 *
 * Up to three sites the columns are wide, labels stand on their arrows and words beside the lines. With more sites, or if a
 * label is longer than its arrow, columns are narrow and everything is said in a margin on the right, which continues on
 * rows of its own if need be. */
#include "base/memory.h"
#include "diagram_inner.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_WIDTH = 80, TEXT_WIDE = 26, TEXT_WIDE_LEFT = 15, TEXT_LEFT = 8, TEXT_MARGIN = 30 };

struct text_layout {
    bool wide;
    uint32_t left, column, margin; /* margin: where the notes begin */
};

static const char text_lines[] = {
    [DME_IDLE] = '|', [DME_WAITING] = ':', [DME_INSIDE] = '#', [DIAGRAM_DOWN] = ' ', [DIAGRAM_READS] = '='};

static struct text_layout text_layout(const struct diagram *d)
{
    struct text_layout l = {d->n <= 3, TEXT_WIDE_LEFT, TEXT_WIDE, 0};
    uint32_t room = TEXT_WIDTH - TEXT_LEFT - TEXT_MARGIN;

    for (size_t a = 0; a < d->arrows; a++) {
        uint32_t span =
            d->arrow[a].from < d->arrow[a].to ? d->arrow[a].to - d->arrow[a].from : d->arrow[a].from - d->arrow[a].to;

        l.wide &= strlen(d->arrow[a].label) + 5 <= span * TEXT_WIDE;
    }
    if (l.wide)
        return l;
    l.left = TEXT_LEFT;
    l.column = room / d->n < 5 ? 5 : room / d->n > 12 ? 12 : room / d->n;
    l.margin = l.left + d->n * l.column - l.column + 3;
    return l;
}

static uint32_t text_at(const struct text_layout *l, dme_id i)
{
    return l->left + i * l->column;
}

/* An arrow across the row, from the sender's column to the receiver's; in wide columns with its label in the middle. */
static void text_arrow(char *row, const struct text_layout *l, const struct diagram_arrow *a)
{
    size_t from = text_at(l, a->from), to = text_at(l, a->to);
    size_t low = from < to ? from : to, high = from < to ? to : from, len = strlen(a->label);

    memset(row + low + 1, '-', high - low - 1);
    row[from] = '+';
    row[to + (from < to ? -1 : 1)] = a->lost ? 'x' : from < to ? '>' : '<';
    if (l->wide)
        memcpy(row + low + 3 + (high - low - 5 - len) / 2, a->label, len);
}

/* The lines of the sites after move k. */
static void text_lanes(char *row, const struct diagram *d, const struct text_layout *l, uint32_t k, size_t width)
{
    memset(row, ' ', width);
    row[width] = 0;
    for (dme_id i = 0; i < d->n; i++)
        row[text_at(l, i)] = text_lines[diagram_phase(d, k, i)];
}

static void text_trim(char *row)
{
    size_t len = strlen(row);

    while (len && row[len - 1] == ' ')
        row[--len] = 0;
}

/* Words beside the lines, in wide columns. */
static void text_words(char *row, const struct diagram *d, const struct text_layout *l, uint32_t k)
{
    const struct world_move *move = &d->run->move[k];
    const struct diagram_arrow *a = diagram_received(d, k);
    const char *word = diagram_word(move->type);
    bool left = a && a->from > a->to; /* what is to say has its place on the other side */
    size_t at = text_at(l, move->site);

    for (dme_id i = 0; i < d->n && move->type == WORLD_CUT; i++)
        if (i < 32 && move->arg >> i & 1)
            memcpy(row + text_at(l, i) + 2, word, strlen(word));
    if (move->type != WORLD_CUT)
        memcpy(row + at + (left ? -1 - (int)strlen(word) : 2), word, strlen(word));
    if (diagram_enters(d, k))
        memcpy(row + at + (left ? -7 : 2), "ENTERS", 6);
}

/* The sites that are cut off: "0 1 ". */
static void text_cut_off(struct dme_text *text, const struct diagram *d, const struct world_move *move)
{
    for (dme_id i = 0; i < d->n && i < 32; i++)
        if (move->arg >> i & 1)
            dme_print(text, "%u ", i);
}

/* The same as a note: "REPLY, 2 ENTERS", "0 1 CUT OFF". */
static void text_note(struct dme_text *text, const struct diagram *d, uint32_t k)
{
    const struct world_move *move = &d->run->move[k];
    const struct diagram_arrow *a = diagram_received(d, k);
    const char *word = diagram_word(move->type);

    if (a)
        dme_print(text, "%s%s", a->label, a->lost ? " lost" : "");
    else if (move->type == WORLD_CUT)
        text_cut_off(text, d, move);
    else if (*word)
        dme_print(text, "%u ", move->site);
    if (!a)
        dme_print(text, "%s", word);
    if (diagram_enters(d, k))
        dme_print(text, "%s%u ENTERS", text->len ? ", " : "", move->site);
}

/* The note beside its row, broken at spaces into as many rows as it needs. */
static void text_print_noted(FILE *to, const struct diagram *d, const struct text_layout *l, uint32_t k,
                             const char *row, const char *note)
{
    size_t room = TEXT_WIDTH - l->margin > 20 ? TEXT_WIDTH - l->margin : 20, width = l->margin;
    char *lanes = mem_new(width + 1);
    bool first = true;

    do {
        size_t len = strlen(note), cut = len;

        if (len > room)
            for (cut = room; cut > 1 && note[cut] != ' '; cut--)
                ;
        if (len > room && cut <= 1)
            cut = room;
        text_lanes(lanes, d, l, k, width);
        if (first)
            fprintf(to, "%5u%-*s%.*s", k + 1, (int)(width - 5), row + 5, (int)cut, note);
        else
            fprintf(to, "%s%.*s", lanes, (int)cut, note);
        note += cut + (note[cut] == ' ');
        first = false;
        fprintf(to, "%s", *note ? "\n" : "");
    } while (*note);
    free(lanes);
}

static void text_print_row(FILE *to, const struct diagram *d, const struct text_layout *l, uint32_t k)
{
    size_t width = text_at(l, d->n) + TEXT_WIDE;
    char *row = mem_new(width + 1), line[512];
    const struct world_move *move = &d->run->move[k];
    const struct diagram_arrow *a = diagram_received(d, k);
    struct dme_text note;

    dme_text_init(&note, line, sizeof line);
    text_lanes(row, d, l, k, width);
    if (a && a->from != a->to)
        text_arrow(row, l, a);
    if (l->wide)
        text_words(row, d, l, k);
    text_trim(row);
    if (d->broken[k] && !l->wide)
        dme_print(&note, "RULE BROKEN: ");
    if (!l->wide)
        text_note(&note, d, k);
    if (move->type == WORLD_HEAL)
        dme_print(&note, "%sthe network is whole again", l->wide ? "   " : "");
    if (l->wide)
        fprintf(to, "%5u%s%s", k + 1, row + 5, line);
    else
        text_print_noted(to, d, l, k, row, line);
    fprintf(to, d->broken[k] && l->wide ? "\n      ^ the rule is broken\n" : "\n");
    free(row);
}

static void text_legend(FILE *to, const struct diagram *d)
{
    static const char *const names[] = {[DME_IDLE] = "| idle",
                                        [DME_WAITING] = ": waits",
                                        [DME_INSIDE] = "# inside",
                                        [DIAGRAM_DOWN] = "(no line) down",
                                        [DIAGRAM_READS] = "= inside, reading"};

    const char *between = "     ";

    for (unsigned k = 0; k < DIAGRAM_PHASES; k++)
        if (d->has[k])
            fprintf(to, "%s %s", between, names[k]), between = "  ";
    fprintf(to, "\n");
}

/* A text in lines of at most 80 columns. */
static void text_print_wrapped(FILE *to, const char *text)
{
    while (*text) {
        size_t room = TEXT_WIDTH - TEXT_LEFT, cut = strlen(text);

        if (cut > room)
            for (cut = room; cut > 1 && text[cut] != ' '; cut--)
                ;
        fprintf(to, "%*s%.*s\n", TEXT_LEFT, "", (int)cut, text);
        text += cut + (text[cut] == ' ');
    }
}

/* What the scenario says before move k. */
static void text_remarks(FILE *to, const struct moves *run, uint32_t k)
{
    for (uint32_t r = 0; r < run->remarks; r++)
        if (run->remark[r].before == k)
            text_print_wrapped(to, run->remark[r].text);
}

void diagram_text(FILE *to, const struct moves *run)
{
    struct diagram d;
    struct text_layout l;

    diagram_read(&d, run);
    l = text_layout(&d);
    text_print_wrapped(to, run->caption ? run->caption : "");
    fprintf(to, "%*s", (int)l.left, "");
    for (dme_id i = 0; i < d.n; i++)
        fprintf(to, "%-*u", i + 1 < d.n ? (int)l.column : 0, i);
    fprintf(to, "\n");
    for (uint32_t k = 0; k < run->count; k++) {
        if (k == run->loop)
            fprintf(to, "      and from here round and round:\n");
        text_remarks(to, run, k);
        text_print_row(to, &d, &l, k);
    }
    text_remarks(to, run, run->count);
    for (size_t a = 0; a < d.arrows; a++)
        if (d.arrow[a].received == UINT32_MAX)
            fprintf(to, "      in flight: %u -> %u %s\n", d.arrow[a].from, d.arrow[a].to, d.arrow[a].label);
    if (d.stuck)
        fprintf(to, "      DEADLOCK: a site waits, no site is inside and no message is in flight\n");
    text_legend(to, &d);
    diagram_free(&d);
}

/* ---------------------------------------------------------------------------------------------------------- other tools */

/* Mermaid ends a statement at a semicolon or #, and does not know a way to escape them that its versions share. */
static void text_mermaid(FILE *to, const char *text)
{
    for (; *text; text++)
        putc(*text == ';' || *text == '#' ? ',' : *text, to);
}

void diagram_mermaid(FILE *to, const struct moves *run)
{
    struct diagram d;

    diagram_read(&d, run);
    fprintf(to, "sequenceDiagram\n");
    for (dme_id i = 0; i < d.n; i++)
        fprintf(to, "    participant S%u as %u\n", i, i);
    for (uint32_t k = 0; k < run->count; k++) {
        const struct world_move *move = &run->move[k];
        const struct diagram_arrow *a = diagram_received(&d, k);

        for (uint32_t r = 0; r < run->remarks; r++)
            if (run->remark[r].before == k) {
                fprintf(to, d.n > 1 ? "    Note over S0,S%u: " : "    Note over S%u: ", d.n - 1);
                text_mermaid(to, run->remark[r].text);
                fprintf(to, "\n");
            }
        if (k == run->loop)
            fprintf(to, "    Note over S0: from here round and round\n");
        if (a) {
            fprintf(to, "    S%u%sS%u: ", a->from, a->lost ? "-x" : a->news ? "-->>" : "->>", a->to);
            text_mermaid(to, a->label);
            fprintf(to, "\n");
        } else if (*diagram_word(move->type)) {
            fprintf(to, "    Note over S%u: %s\n", move->site, diagram_word(move->type));
        }
        if (diagram_enters(&d, k))
            fprintf(to, "    Note over S%u: ENTERS\n", move->site);
        if (d.broken[k])
            fprintf(to, "    Note over S%u: the rule is broken\n", move->site);
    }
    if (d.stuck)
        fprintf(to, "    Note over S0: DEADLOCK\n");
    diagram_free(&d);
}

/* One event of ShiViz: a line with host and vector clock, and a line that says what happened. */
static void text_shiviz_event(FILE *to, const struct diagram *d, uint32_t k, const uint32_t *clock)
{
    const struct world_move *move = &d->run->move[k];
    char line[512];
    struct dme_text note;
    const char *between = "";

    dme_text_init(&note, line, sizeof line);
    text_note(&note, d, k);
    fprintf(to, "site%u {", move->site);
    for (dme_id i = 0; i < d->n; i++)
        if (clock[i]) {
            fprintf(to, "%s\"site%u\":%u", between, i, clock[i]);
            between = ", ";
        }
    fprintf(to, "}\n%s%s\n", diagram_received(d, k) ? "receives " : "", line);
}

void diagram_shiviz(FILE *to, const struct moves *run)
{
    struct diagram d;
    uint32_t *clocks, *at_send, *mine;

    diagram_read(&d, run);
    clocks = mem_new((size_t)d.n * d.n * sizeof *clocks + 1);            /* of each site, now */
    at_send = mem_new((size_t)(run->count + 1) * d.n * sizeof *at_send); /* of the site of each move, after it */
    fprintf(to, "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n");
    for (uint32_t k = 0; k < run->count; k++) {
        const struct diagram_arrow *a = diagram_received(&d, k);
        dme_id self = run->move[k].site;

        if (run->move[k].type == WORLD_HEAL || world_is_mishap(run->move[k].type))
            continue; /* no event of a site */
        mine = clocks + (size_t)self * d.n;
        for (dme_id i = 0; a && !a->news && !a->initial && i < d.n; i++)
            if (mine[i] < at_send[(size_t)a->sent * d.n + i])
                mine[i] = at_send[(size_t)a->sent * d.n + i];
        mine[self]++;
        memcpy(at_send + (size_t)k * d.n, mine, d.n * sizeof *mine);
        text_shiviz_event(to, &d, k, mine);
    }
    free(clocks);
    free(at_send);
    diagram_free(&d);
}
