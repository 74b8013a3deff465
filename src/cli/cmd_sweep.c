/* cmd_sweep.c - dibs sweep: a grid of simulations on all cores, as CSV.
 *
 * Every run is a function of its own specification, so it does not matter who makes it, and when: the table is the same
 * for any number of workers. With --out the rows are written down as they come, in the order in which the runs happen
 * to end; a sweep that is begun again takes what is there and does the rest. In the end the table is put in order. */
#include "alg/list.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli.h"
#include "processes.h"
#include "report.h"
#include "spec.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sweep_point {
    struct sim_spec spec;
    char key[REPORT_KEY_SIZE]; /* the first columns of its row */
    char *row;                 /* with its end of line; or null: not run yet */
};

struct sweep {
    struct sweep_point *point;
    size_t count, room, done;
    size_t *todo; /* points without a row */
    size_t todos;
    FILE *journal; /* or null */
    bool progress;
    char failure[1024]; /* of the first run that broke a promise */
    pthread_mutex_t lock;
};

/* ------------------------------------------------------------------------------------------------------------ lists */

enum { SWEEP_LIST_MAX = 1000 };
struct sweep_list {
    double value[SWEEP_LIST_MAX];
    unsigned count;
};

static void sweep_add_value(struct sweep_list *list, const char *option, double x, double min, double max)
{
    if (!(x >= min && x <= max))
        cli_die("%s: %g is not possible; it takes numbers from %g to %g", option, x, min, max);
    if (list->count == SWEEP_LIST_MAX)
        cli_die("%s: more than %d values", option, SWEEP_LIST_MAX);
    list->value[list->count++] = x;
}

/* "1,2,5" or "0.001..1/10": ten values from 0.001 to 1 in equal ratios. */
static struct sweep_list sweep_list(const char *option, const char *text, double min, double max)
{
    struct sweep_list list = {.count = 0};
    double from, to;
    unsigned steps;
    int end = 0;

    if (sscanf(text, "%lf..%lf/%u%n", &from, &to, &steps, &end) == 3 && !text[end] && from > 0 && to > from &&
        steps > 1) {
        /* Six digits: easy to read, and what the table shows is then exactly what was run. */
        for (unsigned k = 0; k < steps; k++) {
            char digits[32];

            snprintf(digits, sizeof digits, "%.6g", from * pow(to / from, (double)k / (steps - 1)));
            sweep_add_value(&list, option, atof(digits), min, max);
        }
        return list;
    }
    for (const char *at = text; *at; at += *at == ',') {
        char *stop;
        double x = strtod(at, &stop);

        if (stop == at || (*stop && *stop != ','))
            cli_die("%s %s is not possible; it takes A,B,C or FROM..TO/STEPS, as in 0.001..1/10", option, text);
        sweep_add_value(&list, option, x, min, max);
        at = stop;
    }
    if (!list.count)
        cli_die("%s needs at least one value", option);
    return list;
}

/* ------------------------------------------------------------------------------------------------------------- grid */

static void sweep_add(struct sweep *s, const struct sim_spec *spec)
{
    struct sweep_point *p;
    struct dme_text text;

    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->point = mem_grow(s->point, s->room * sizeof *s->point);
    }
    p = &s->point[s->count++];
    *p = (struct sweep_point){.spec = *spec};
    dme_text_init(&text, p->key, sizeof p->key);
    report_csv_key(spec, &text);
}

/* Can this algorithm run with these options? Only for "all": an algorithm that the user names must be able to run. */
static bool sweep_suits(const struct dme_alg *alg, const struct spec_words *w)
{
    struct dme_conf conf;
    enum dme_rule rule;
    uint32_t limit;
    char line[256];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    cli_rule(alg, w->rule ? w->rule : "exclusive", &rule, &limit);
    dme_conf_init(&conf, alg, (uint32_t)w->sites, rule, limit);
    return !alg->flaw && dme_conf_check(&conf, &wrong);
}

/* One algorithm ("raymond,tree=star"), for all sizes, loads and seeds. A load is a rate or, closed, a number of
 * requesters; 0: all sites. */
static void sweep_algorithm(struct sweep *s, const char *word, struct spec_words w, const struct sweep_list *sites,
                            const struct sweep_list *loads, uint64_t seeds, bool picky)
{
    char words[256], *save, *option, line[512];
    const char *name;
    uint64_t first = w.seed;
    struct dme_text wrong;

    snprintf(words, sizeof words, "%s", word);
    name = strtok_r(words, ",", &save);
    while ((option = strtok_r(NULL, ",", &save))) {
        if (w.sets.count == sizeof w.sets.item / sizeof w.sets.item[0])
            cli_die("%s: too many options", word);
        w.sets.item[w.sets.count++] = option;
    }
    for (unsigned n = 0; n < sites->count; n++)
        for (unsigned r = 0; r < loads->count; r++)
            for (w.seed = first; w.seed < first + seeds; w.seed++) {
                struct sim_spec spec;

                w.sites = (uint64_t)sites->value[n];
                w.rate = w.closed ? 0 : loads->value[r];
                w.requesters = w.closed ? (uint64_t)loads->value[r] : 0;
                if (!picky && !sweep_suits(cli_algorithm(name), &w))
                    continue;
                spec = spec_of(name, &w);
                dme_text_init(&wrong, line, sizeof line);
                if (sim_can_run(&spec, &wrong))
                    sweep_add(s, &spec);
                else if (picky)
                    cli_die("%s", line);
                else
                    spec_free(&spec);
            }
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static bool sweep_is_row_of(const struct sweep_point *p, const char *line)
{
    size_t len = strlen(p->key);

    return strncmp(line, p->key, len) == 0 && line[len] == ',';
}

/* The file's rows go to the points they belong to; what belongs nowhere is an error, for it would be lost. */
static void sweep_take_rows(struct sweep *s, FILE *file, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    for (unsigned number = 1; (len = getline(&line, &room, file)) > 0; number++) {
        size_t k = 0;

        if (strncmp(line, "algorithm,", 10) == 0 || line[len - 1] != '\n')
            continue; /* the head, or a row that was cut off when the sweep was stopped */
        while (k < s->count && !sweep_is_row_of(&s->point[k], line))
            k++;
        if (k == s->count)
            cli_die("%s:%u: this row is of another sweep; name another file, or remove this one", path, number);
        free(s->point[k].row);
        s->point[k].row = line;
        line = NULL;
        room = 0;
    }
    free(line);
}

static char *sweep_row(const struct sweep_point *p, const struct sim_result *result)
{
    char *row = NULL;
    size_t size;
    FILE *to = open_memstream(&row, &size);

    if (!to)
        cli_die("out of memory");
    fprintf(to, "%s", p->key);
    report_csv_values(to, result);
    fclose(to);
    return row;
}

static void sweep_job(void *context, size_t k)
{
    struct sweep *s = context;
    struct sweep_point *p = &s->point[s->todo[k]];
    struct sim_result result;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    sim_run(&p->spec, &result, &wrong);
    pthread_mutex_lock(&s->lock);
    if (result.failure[0]) {
        if (!s->failure[0])
            snprintf(s->failure, sizeof s->failure, "%s", result.failure);
    } else {
        p->row = sweep_row(p, &result);
        if (s->journal) {
            fputs(p->row, s->journal);
            fflush(s->journal);
        }
    }
    s->done++;
    if (s->progress)
        fprintf(stderr, "\r%zu of %zu runs%s", s->done, s->todos, s->done == s->todos ? "\r\033[K" : "");
    pthread_mutex_unlock(&s->lock);
}

static void sweep_write(const struct sweep *s, FILE *to)
{
    report_csv_head(to);
    for (size_t k = 0; k < s->count; k++)
        if (s->point[k].row)
            fputs(s->point[k].row, to);
}

/* The table in its final order takes the place of the journal at once, or not at all. */
static void sweep_replace(const struct sweep *s, const char *path)
{
    char part[4096];
    FILE *file;

    snprintf(part, sizeof part, "%s.part", path);
    file = fopen(part, "w");
    if (!file)
        cli_die("%s: %s", part, strerror(errno));
    sweep_write(s, file);
    if (fclose(file) != 0 || rename(part, path) != 0)
        cli_die("%s: %s", path, strerror(errno));
}

static void sweep_open_journal(struct sweep *s, const char *path)
{
    FILE *old = fopen(path, "r");

    if (old) {
        sweep_take_rows(s, old, path);
        fclose(old);
    }
    /* Whole rows only, so that what follows begins on a line of its own. */
    sweep_replace(s, path);
    s->journal = fopen(path, "a");
    if (!s->journal)
        cli_die("%s: %s", path, strerror(errno));
}

/* Shares the missing runs evenly among the processes. Only the first process knows the rows that exist already. */
static void sweep_divide(struct sweep *s, struct processes *processes)
{
    unsigned char *there = mem_new(s->count);
    size_t missing = 0;

    for (size_t k = 0; k < s->count; k++)
        there[k] = s->point[k].row != NULL;
    processes_share(processes, there, s->count);
    s->todo = mem_new(s->count * sizeof *s->todo);
    for (size_t k = 0; k < s->count; k++)
        if (!there[k] && missing++ % processes->size == processes->rank)
            s->todo[s->todos++] = k;
    free(there);
}

/* The first one gets the rows of all. */
static void sweep_unite(struct sweep *s, struct processes *processes)
{
    char *mine = NULL, *all;
    size_t size;
    FILE *file = open_memstream(&mine, &size);

    for (size_t k = 0; file && k < s->todos; k++)
        if (s->point[s->todo[k]].row)
            fputs(s->point[s->todo[k]].row, file);
    if (!file || fclose(file) != 0)
        cli_die("out of memory");
    all = processes_gather(processes, mine, size);
    if (all && *all) {
        file = fmemopen(all, strlen(all), "r");
        sweep_take_rows(s, file, "MPI");
        fclose(file);
    }
    free(all);
    free(mine);
}

static int sweep_do(struct sweep *s, const char *out, uint64_t workers)
{
    struct processes processes = processes_join();

    if (processes.rank == 0 && out)
        sweep_open_journal(s, out);
    sweep_divide(s, &processes);
    s->progress = processes.rank == 0 && isatty(STDERR_FILENO);
    pthread_mutex_init(&s->lock, NULL);
    pool_run(workers ? (unsigned)workers : (pool_cores() + processes.local_size - 1) / processes.local_size, s->todos,
             sweep_job, s);
    if (s->journal && fclose(s->journal) != 0)
        cli_die("%s: %s", out, strerror(errno));
    if (processes.size > 1)
        sweep_unite(s, &processes);
    if (processes.rank == 0 && out)
        sweep_replace(s, out);
    else if (processes.rank == 0)
        sweep_write(s, stdout);
    if (s->failure[0])
        fprintf(stderr, "dibs: %s\n", s->failure);
    processes_leave(&processes);
    return s->failure[0] ? CLI_FAILED : CLI_OK;
}

static void sweep_free(struct sweep *s)
{
    for (size_t k = 0; k < s->count; k++) {
        free(s->point[k].row);
        spec_free(&s->point[k].spec);
    }
    free(s->point);
    free(s->todo);
}

int cmd_sweep(int argc, char **argv)
{
    static struct spec_words w = SPEC_DEFAULTS;
    static const char *sites = "10", *rates, *requesters, *out;
    static uint64_t workers, seeds = 1;
    static const struct cli_option options[] = {
        {"--sites", CLI_TEXT, &sites, "LIST", "simulate each number of sites of this list, as in 10,100 (default 10)",
         0, 0, NULL},
        {"--rate", CLI_TEXT, &rates, "LIST",
         "open load: requests of a site per unit of time, one run for each number of this list; 0.001..1/10 means ten "
         "numbers from 0.001 to 1 (no default)",
         0, 0, NULL},
        SPEC_OPTIONS_LOAD(w),
        {"--requesters", CLI_TEXT, &requesters, "LIST",
         "closed load: only the first R sites make requests, one run for each R of this list (default: all sites)", 0,
         0, NULL},
        SPEC_OPTIONS(w),
        {"--seed", CLI_COUNT, &w.seed, "S", "draw random numbers from seed S (default 1)", 0, 1e19, NULL},
        {"--seeds", CLI_COUNT, &seeds, "K", "repeat each run K times, with seeds S, S+1, ... (default 1)", 1, 1000,
         NULL},
        {"--workers", CLI_COUNT, &workers, "N",
         "run N simulations at a time (default: one for each core); the table does not depend on it", 1, 1024, NULL},
        {"--out", CLI_TEXT, &out, "FILE",
         "write the table into FILE; if FILE exists, only missing rows are run (default: print the table)", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs sweep ALGORITHM... (--rate LIST | --closed) [--sites LIST] [OPTION...]",
        .about = "Simulates every algorithm with every number of sites and every rate, on all cores, and makes a CSV "
                 "table. An algorithm may have options, as in raymond,tree=star; \"all\" stands for all algorithms "
                 "that can run. Under mpirun several processes share the work.",
        .options = options,
        .examples = {{"Compare two algorithms from light to full load, for 10 and 100 sites:",
                      "dibs sweep lamport raymond --sites 10,100 --rate 0.001..1/10 --out table.csv"},
                     {"Let two to ten sites of ten make requests:",
                      "dibs sweep banta-efficient --closed --requesters 2,4,6,8,10 --out requesters.csv"},
                     {"Compare all algorithms under full load:", "dibs sweep all --closed --sites 25 --out full.csv"}},
    };
    const char *words[64];
    int count = cli_parse(argc, argv, &usage, words, 64), status;
    struct sweep s = {.count = 0};
    struct sweep_list n, r = {.count = 0};

    if (!count)
        cli_die("which algorithms? (usage: %s)", usage.line);
    if (!rates == !w.closed)
        cli_die("what is the load? One of --rate LIST and --closed");
    n = sweep_list("--sites", sites, 1, DME_SITES_MAX);
    for (unsigned k = 0; k < n.count; k++)
        n.value[k] = round(n.value[k]);
    if (rates && requesters)
        cli_die("--requesters goes with --closed");
    if (rates)
        r = sweep_list("--rate", rates, 1e-12, 1e12);
    else
        r = sweep_list("--requesters", requesters ? requesters : "0", 0, DME_SITES_MAX);
    for (unsigned k = 0; w.closed && k < r.count; k++)
        r.value[k] = round(r.value[k]);
    for (int k = 0; k < count; k++)
        if (strcmp(words[k], "all") == 0)
            for (unsigned a = 0; alg_list[a]; a++)
                sweep_algorithm(&s, alg_list[a]->name, w, &n, &r, seeds, false);
        else
            sweep_algorithm(&s, words[k], w, &n, &r, seeds, true);
    status = sweep_do(&s, out, workers);
    sweep_free(&s);
    return status;
}
