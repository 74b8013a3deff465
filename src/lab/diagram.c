/* diagram.c - see diagram.h and diagram_inner.h: what there is to draw. */
#include "base/memory.h"
#include "diagram_inner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void diagram_note_sends(struct diagram *d, const struct lab_world *w, uint64_t before, uint32_t k, bool initial)
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
                                    .news = w->flight[f].msg->kind >= DME_NEWS,
                                    .initial = initial,
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

static unsigned diagram_phase_of(const struct diagram *d, const struct dme_node *node)
{
    if (node->down)
        return DIAGRAM_DOWN;
    return node->phase == DME_INSIDE && d->run->conf.rule == DME_SHARED && node->mode == 1 ? DIAGRAM_READS
                                                                                           : node->phase;
}

void diagram_read(struct diagram *d, const struct moves *run)
{
    struct lab_world *w = world_new(&run->conf);

    *d = (struct diagram){.run = run, .n = run->conf.n};
    d->phase = mem_new((size_t)run->count * d->n + 1);
    d->broken = mem_new(run->count + 1);
    diagram_note_sends(d, w, 0, 0, true); /* what is in flight from the start */
    for (uint32_t k = 0; k < run->count; k++) {
        uint64_t before = w->sent;

        if (run->move[k].type == DME_RECEIVE || world_is_mishap(run->move[k].type))
            diagram_note_message(d, w, k);
        if (world_move(w, &run->move[k]))
            assert(!"a run can be made");
        diagram_note_sends(d, w, before, k, false);
        for (dme_id i = 0; i < d->n; i++) {
            unsigned phase = diagram_phase_of(d, w->node[i]);

            d->phase[(size_t)k * d->n + i] = (uint8_t)phase;
            d->has[phase] = true;
        }
        d->broken[k] = !world_safe(w);
    }
    d->stuck = world_stuck(w);
    world_free(w);
}

void diagram_free(struct diagram *d)
{
    free(d->phase);
    free(d->broken);
    free(d->arrow);
}

const struct diagram_arrow *diagram_received(const struct diagram *d, uint32_t k)
{
    for (size_t a = 0; a < d->arrows; a++)
        if (d->arrow[a].received == k)
            return &d->arrow[a];
    return NULL;
}

const char *diagram_word(uint32_t type)
{
    static const char *const words[] = {
        [DME_REQUEST] = "asks",        [DME_RELEASE] = "leaves", [DME_RECEIVE] = "",      [DME_TIMER] = "timer",
        [DME_RESTART] = "RESTARTS",    [DME_JOIN] = "joins",     [DME_LEAVE] = "resigns", [WORLD_CRASH] = "CRASHES",
        [WORLD_SUSPECT] = "SUSPECTED", [WORLD_CUT] = "CUT OFF",  [WORLD_HEAL] = "",       [WORLD_LOSE] = "lost",
        [WORLD_DUPLICATE] = "copied",
    };

    return words[type];
}

static bool diagram_is_inside(const struct diagram *d, uint32_t k, dme_id i)
{
    unsigned phase = diagram_phase(d, k, i);

    return phase == DME_INSIDE || phase == DIAGRAM_READS;
}

bool diagram_enters(const struct diagram *d, uint32_t k)
{
    dme_id site = d->run->move[k].site;

    return diagram_is_inside(d, k, site) && (k == 0 || !diagram_is_inside(d, k - 1, site));
}

char *diagram_make(void (*form)(FILE *to, const struct moves *run), const struct moves *run)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    assert(to);
    form(to, run);
    fclose(to);
    return text;
}
