/* load.h - who wants in, and when.
 *
 * Open: demands come from outside, whatever the system does; each site is a Poisson process. The sites together are
 * one Poisson process of the summed rate in which each demand picks its site by weight, and that is how it is drawn:
 * one random number for the time, one for the site, whatever the number of sites. A demand that finds its site busy
 * queues there. In bursts, demands come `burst` times as fast for a while, and then not at all for a
 * while; the mean rate stays the same.
 * Closed: each site asks again when it has left and thought for a while.
 * Script: the demands are written in a file. */
#ifndef DIBS_SIM_LOAD_H
#define DIBS_SIM_LOAD_H

#include "dist.h"
#include "pick.h"

enum load_type { LOAD_OPEN, LOAD_CLOSED, LOAD_SCRIPT };

struct load_line {
    double at;
    dme_id site;
    uint32_t mode;
    size_t next; /* line of the same site, or SIZE_MAX */
};

/* The specification of a load; runs only read it. */
struct load_spec {
    enum load_type type;
    double rate;            /* open: demands of a site per time, on the average over sites */
    double *weight;         /* open: what part of them each site has; null: all the same */
    char spread[64];        /* how the user said that; or empty */
    double burst;           /* open: how many times faster demands come in a burst; 0: no bursts */
    double burst_length;    /* mean */
    struct dist think;      /* closed */
    uint32_t requesters;    /* closed: only the first `requesters` sites make requests; 0: all */
    struct load_line *line; /* script, sorted by time */
    size_t lines;
    double readers;    /* rule shared: share of demands that read */
    double popularity; /* rule group: exponent of Zipf's law; 0: all groups are equally popular */
};

/* Open: a file of n rates. False and a line if something is wrong. */
bool load_read_rates(struct load_spec *spec, const char *path, uint32_t n, struct dme_text *wrong);
/* Open: this share of all demands comes from the first `hot` sites. */
void load_hot_spot(struct load_spec *spec, uint32_t n, double share, uint32_t hot);

/* Lines "TIME SITE [MODE]"; # begins a comment. False and a line with file and line number if something is wrong. */
bool load_read_script(struct load_spec *spec, const char *path, const struct dme_conf *conf, struct dme_text *wrong);
void load_spec_free(struct load_spec *spec);

/* The load of one run. */
struct load {
    const struct load_spec *spec;
    const struct dme_conf *conf;
    struct random random, modes; /* modes have a stream of their own: they are drawn when the algorithm is invoked */
    struct pick site, group;
    uint32_t mode_first, mode_last;
    double burst_left; /* time */
    size_t line;       /* script: of the next demand */
    size_t *mine;      /* script: of each site, the line of the demand that it makes next */
};

void load_begin(struct load *load, const struct load_spec *spec, const struct dme_conf *conf, uint64_t seed);
void load_end(struct load *load);

/* Open and script: the next demand after `now`. False if there is none. */
bool load_next(struct load *load, double now, double *at, dme_id *site);
/* Closed: when a site that left now asks again. */
double load_think(struct load *load, double now);
/* The mode in which this site asks now. */
uint32_t load_mode(struct load *load, dme_id site);

#endif
