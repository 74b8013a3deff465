/* moves.c - see moves.h. */
#include "moves.h"

#include "scenario.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void moves_print(FILE *to, const struct moves *run)
{
    struct lab_world *w = world_new(&run->conf);

    for (uint32_t k = 0; k < run->count; k++) {
        char move[128], effect[8192];
        struct dme_text text;

        dme_text_init(&text, move, sizeof move);
        world_print_move(w, &run->move[k], &text);
        dme_text_init(&text, effect, sizeof effect);
        world_play(w, &run->move[k], &text);
        if (k == run->loop)
            fprintf(to, "      and from here round and round:\n");
        fprintf(to, "%4u  %-28s %s\n", k + 1, move, effect);
    }
    world_free(w);
}

/* The commands that set the scene. */
static void moves_scene(FILE *to, const struct moves *run)
{
    const struct dme_conf *c = &run->conf;

    fprintf(to, "algorithm %s\nsites %u\nrule %s", c->alg->name, c->n, dme_rule_name(c->rule));
    if (c->limit)
        fprintf(to, ":%u", c->limit);
    fprintf(to, "\n");
    if (c->alg->mistakes)
        fprintf(to, "set mistake=%s\n", c->alg->mistakes[c->mistake].name);
    for (unsigned k = 0; c->alg->options && c->alg->options[k].key; k++) {
        const struct dme_option *o = &c->alg->options[k];

        if (o->choices)
            fprintf(to, "set %s=%s\n", o->key, o->choices[c->option[k]]);
        else
            fprintf(to, "set %s=%llu\n", o->key, (unsigned long long)c->option[k]);
    }
    fprintf(to, "order %s\n\n", run->fifo ? "fifo" : "any");
}

char *moves_scenario(const struct moves *run, const char *title)
{
    struct lab_world *w = world_new(&run->conf);
    char *bare = NULL, *played = NULL;
    size_t size;
    FILE *to = open_memstream(&bare, &size);
    struct scenario_error error;

    assert(to);
    fprintf(to, "# %s\n", title);
    moves_scene(to, run);
    for (uint32_t k = 0; k < run->count; k++) {
        char move[128];
        struct dme_text text;

        if (k == run->loop)
            fprintf(to, "----\n\n# And from here round and round.\n");
        dme_text_init(&text, move, sizeof move);
        world_print_move(w, &run->move[k], &text);
        fprintf(to, "%s\n", move);
    }
    fprintf(to, "----\n");
    fclose(to);
    if (!scenario_play("counterexample", bare, &played, &error)) {
        fprintf(stderr, "%s\nline %u: %s\n", bare, error.line, error.text);
        assert(!"a run is a scenario");
    }
    free(bare);
    world_free(w);
    return played;
}
