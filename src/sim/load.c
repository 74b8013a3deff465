/* load.c - see load.h. */
#include "load.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- scripts */

/* One line of a script. Null if it is fine, else what it should be; an empty line has site DME_NONE. */
static const char *load_parse_line(struct load_line *l, char *text, const struct dme_conf *conf)
{
    uint32_t first, last;
    char *end;
    unsigned long site, mode;

    dme_modes(conf, &first, &last);
    *l = (struct load_line){.site = DME_NONE, .mode = first};
    text[strcspn(text, "#")] = 0;
    if (!text[strspn(text, " \t\r\n")])
        return NULL;
    l->at = strtod(text, &end);
    if (end == text || !isfinite(l->at) || l->at < 0)
        return "a line is TIME SITE [MODE], and a time is a number, 0 or more";
    text = end + strspn(end, " \t");
    site = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || site >= conf->n)
        return "there is no such site; sites are numbered from 0";
    l->site = (dme_id)site;
    text = end + strspn(end, " \t\r\n");
    if (!*text)
        return NULL;
    mode = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || mode > last)
        return "the rule has no such mode";
    l->mode = (uint32_t)mode;
    return end[strspn(end, " \t\r\n")] ? "too many words; a line is TIME SITE [MODE]" : NULL;
}

static int load_by_time(const void *a, const void *b)
{
    const struct load_line *x = a, *y = b;

    /* `next` is the number of the line here: equal times keep the order of the file. */
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->next > y->next) - (x->next < y->next);
}

static void load_chain(struct load_spec *spec, uint32_t n)
{
    size_t *last = mem_new(n * sizeof *last);

    qsort(spec->line, spec->lines, sizeof *spec->line, load_by_time);
    for (size_t k = 0; k < spec->lines; k++) {
        struct load_line *l = &spec->line[k];

        l->next = SIZE_MAX;
        if (last[l->site])
            spec->line[last[l->site] - 1].next = k;
        last[l->site] = k + 1;
    }
    free(last);
}

bool load_read_script(struct load_spec *spec, const char *path, const struct dme_conf *conf, struct dme_text *wrong)
{
    FILE *file = fopen(path, "r");
    const char *objection = NULL;
    size_t room = 0, text_room = 0;
    unsigned number = 0;
    char *text = NULL;

    if (!file) {
        dme_print(wrong, "%s: %s", path, strerror(errno));
        return false;
    }
    while (!objection && getline(&text, &text_room, file) >= 0) {
        number++;
        if (spec->lines == room) {
            room = room ? 2 * room : 64;
            spec->line = mem_grow(spec->line, room * sizeof *spec->line);
        }
        objection = load_parse_line(&spec->line[spec->lines], text, conf);
        spec->line[spec->lines].next = spec->lines;
        spec->lines += spec->line[spec->lines].site != DME_NONE;
    }
    free(text);
    fclose(file);
    if (objection)
        dme_print(wrong, "%s:%u: %s", path, number, objection);
    else if (!spec->lines)
        dme_print(wrong, "%s: no demand in it; a line is TIME SITE [MODE]", path);
    if (objection || !spec->lines)
        return false;
    load_chain(spec, conf->n);
    return true;
}

void load_spec_free(struct load_spec *spec)
{
    free(spec->line);
    free(spec->weight);
    spec->line = NULL;
    spec->weight = NULL;
}

/* ------------------------------------------------------------------------------------------------------------ rates */

bool load_read_rates(struct load_spec *spec, const char *path, uint32_t n, struct dme_text *wrong)
{
    FILE *file = fopen(path, "r");
    double sum = 0, x;
    uint32_t count = 0;
    int read = 0;

    if (!file) {
        dme_print(wrong, "%s: %s", path, strerror(errno));
        return false;
    }
    spec->weight = mem_new(n * sizeof *spec->weight);
    while (count <= n && (read = fscanf(file, "%lf", &x)) == 1 && isfinite(x) && x >= 0) {
        if (count < n)
            spec->weight[count] = x;
        sum += x;
        count++;
    }
    fclose(file);
    if (read != EOF || count != n || sum <= 0) {
        dme_print(wrong, "%s: it takes %u numbers, 0 or more, one for each site; number %u is wrong or missing", path,
                  n, count > n ? n + 1 : count + 1);
        return false;
    }
    spec->rate = sum / n;
    return true;
}

void load_hot_spot(struct load_spec *spec, uint32_t n, double share, uint32_t hot)
{
    spec->weight = mem_new(n * sizeof *spec->weight);
    for (uint32_t k = 0; k < n; k++)
        spec->weight[k] = k < hot ? share / hot : (1 - share) / (n - hot);
}

/* ------------------------------------------------------------------------------------------------------------- runs */

void load_begin(struct load *load, const struct load_spec *spec, const struct dme_conf *conf, uint64_t seed)
{
    *load = (struct load){.spec = spec, .conf = conf};
    random_seed(&load->random, seed, 1);
    random_seed(&load->modes, seed, 2);
    dme_modes(conf, &load->mode_first, &load->mode_last);
    pick_init(&load->site, conf->n, spec->weight);
    if (conf->rule == DME_GROUP && spec->popularity > 0) {
        double *weight = pick_zipf(conf->limit, spec->popularity);

        pick_init(&load->group, conf->limit, weight);
        free(weight);
    } else {
        pick_init(&load->group, load->mode_last - load->mode_first + 1, NULL);
    }
    if (spec->type != LOAD_SCRIPT)
        return;
    load->mine = mem_new(conf->n * sizeof *load->mine);
    for (size_t k = spec->lines; k-- > 0;)
        load->mine[spec->line[k].site] = k;
}

void load_end(struct load *load)
{
    free(load->mine);
    pick_destroy(&load->site);
    pick_destroy(&load->group);
}

/* The end of a stretch of burst time that begins now: pauses lie between. */
static double load_through_bursts(struct load *load, double now, double stretch)
{
    const struct load_spec *spec = load->spec;

    while (stretch > load->burst_left) {
        stretch -= load->burst_left;
        now += load->burst_left + random_exp(&load->random, spec->burst_length * (spec->burst - 1));
        load->burst_left = random_exp(&load->random, spec->burst_length);
    }
    load->burst_left -= stretch;
    return now + stretch;
}

bool load_next(struct load *load, double now, double *at, dme_id *site)
{
    const struct load_spec *spec = load->spec;
    double gap;

    if (spec->type == LOAD_SCRIPT) {
        if (load->line == spec->lines)
            return false;
        *at = spec->line[load->line].at;
        *site = spec->line[load->line++].site;
        return true;
    }
    gap = random_exp(&load->random, 1 / (spec->rate * load->conf->n));
    *at = spec->burst > 1 ? load_through_bursts(load, now, gap / spec->burst) : now + gap;
    *site = pick_draw(&load->site, &load->random);
    return true;
}

double load_think(struct load *load, double now)
{
    return now + dist_draw(&load->spec->think, &load->random);
}

uint32_t load_mode(struct load *load, dme_id site)
{
    if (load->spec->type == LOAD_SCRIPT) {
        const struct load_line *l = &load->spec->line[load->mine[site]];

        load->mine[site] = l->next;
        return l->mode;
    }
    if (load->mode_first == load->mode_last)
        return load->mode_first;
    if (load->conf->rule == DME_SHARED)
        return random_unit(&load->modes) <= load->spec->readers;
    return load->mode_first + pick_draw(&load->group, &load->modes);
}
