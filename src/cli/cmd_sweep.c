/* cmd_sweep.c - dibs sweep: a grid of simulations on all cores, as CSV.
 *
 * Every run is a function of its own specification, so it does not matter who makes it, and when: the table is the same
 * for any number of workers. The first columns of a row are that specification (spec_columns), version and seed included.
 * With --out the rows are written down as they come, in the order in which the runs happen to end; a sweep that is begun
 * again takes the rows of the same specifications, refuses the file if there are others, and does the rest. In the end the
 * table is put in order. */
#include "alg/list.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli.h"
#include "processes.h"
#include "progress.h"
#include "report.h"
#include "spec.h"
#include "sweep_axes.h"
#include "table.h"

#include <errno.h>
#include <limits.h>
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
    FILE *journal;      /* or null */
    char *left_out;     /* lines: what "all" leaves out, and why */
    char failure[1024]; /* of the first run that broke a promise */
    pthread_mutex_t lock;
};

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

/* Can this algorithm run with this number of sites and this rule? Only for "all": an algorithm that the user names must be
 * able to run. */
static bool sweep_suits(const struct dme_alg *alg, struct dme_text *why)
{
    const char *rule_word = sweep_axis_value(SWEEP_RULE), *sites = sweep_axis_value(SWEEP_SITES);
    struct dme_conf conf;
    enum dme_rule rule;
    uint32_t limit;

    cli_rule(alg, rule_word ? rule_word : "exclusive", &rule, &limit);
    dme_conf_init(&conf, alg, sites ? (uint32_t)atol(sites) : 10, rule, limit);
    return dme_conf_check(&conf, why);
}

/* What the options of a sweep say besides its axes. */
struct sweep_words {
    bool closed, with_memory;
    struct cli_list sets;
    uint64_t seed, seeds;
};

/* The present point of the axes as words for dibs sim. */
static struct sim_spec sweep_spec(const char *name, const struct sweep_words *w, uint64_t seed)
{
    const char *argv[2 * (SWEEP_AXES + 40)];
    char number[32];
    int argc = 0;

    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    argv[argc++] = "sim";
    argv[argc++] = name;
    argv[argc++] = "--seed";
    argv[argc++] = number;
    for (unsigned a = 0; a < SWEEP_AXES; a++)
        if (sweep_axes[a].count) {
            argv[argc++] = sweep_axes[a].option;
            argv[argc++] = sweep_axis_value((enum sweep_axis_id)a);
        }
    for (unsigned k = 0; k < w->sets.count; k++) {
        argv[argc++] = "--set";
        argv[argc++] = w->sets.item[k];
    }
    if (w->closed)
        argv[argc++] = "--closed";
    if (w->with_memory)
        argv[argc++] = "--with-memory";
    return spec_parse_words(argc, (char **)argv); /* words are only read */
}

/* One algorithm at every point, with every seed. Returns the number of runs that are left out: none of an algorithm that
 * the user names. */
static size_t sweep_points(struct sweep *s, const char *name, const struct sweep_words *w, bool named,
                           struct dme_text *why)
{
    size_t left_out = 0;

    do {
        dme_text_init(why, why->buf, why->size);
        if (!named && !sweep_suits(cli_algorithm(name), why)) {
            left_out += w->seeds;
            continue;
        }
        for (uint64_t seed = w->seed; seed < w->seed + w->seeds; seed++) {
            struct sim_spec spec = sweep_spec(name, w, seed);

            if (sim_can_run(&spec, why)) {
                sweep_add(s, &spec);
            } else if (named) {
                cli_die("%s", why->buf);
            } else {
                left_out++;
                spec_free(&spec);
            }
        }
    } while (sweep_axes_next());
    return left_out;
}

/* An algorithm with options, as in "raymond,tree=star". */
static void sweep_algorithm(struct sweep *s, const char *word, struct sweep_words w)
{
    char words[256], *save, *option, line[512];
    const char *name;
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    snprintf(words, sizeof words, "%s", word);
    name = strtok_r(words, ",", &save);
    while ((option = strtok_r(NULL, ",", &save))) {
        if (w.sets.count == sizeof w.sets.item / sizeof w.sets.item[0])
            cli_die("%s: too many options", word);
        w.sets.item[w.sets.count++] = option;
    }
    sweep_points(s, name, &w, true, &wrong);
}

/* All algorithms that can run, and a line for each one that cannot. */
static void sweep_all(struct sweep *s, const struct sweep_words *w)
{
    size_t size;
    unsigned flawed = 0;
    FILE *to = open_memstream(&s->left_out, &size);

    if (!to)
        cli_die("out of memory");
    for (unsigned a = 0; alg_list[a]; a++) {
        char line[512];
        struct dme_text why;
        size_t left_out;

        dme_text_init(&why, line, sizeof line);
        flawed += alg_list[a]->flaw != NULL;
        if (alg_list[a]->flaw)
            continue;
        left_out = sweep_points(s, alg_list[a]->name, w, false, &why);
        if (left_out)
            fprintf(to, "dibs: all leaves out %zu runs of %s: %s\n", left_out, alg_list[a]->name, line);
    }
    fprintf(
        to,
        "dibs: all leaves out %u algorithms with mistakes (as-published, as-retold, tempting); name them to run them\n",
        flawed);
    fclose(to);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static bool sweep_is_row_of(const struct sweep_point *p, const char *line)
{
    size_t len = strlen(p->key);

    return strncmp(line, p->key, len) == 0 && line[len] == ',';
}

/* Why a row belongs to none of the points: the columns in which it differs from the point that it resembles most. */
static void sweep_refuse(const struct sweep *s, const char *row, const char *path, unsigned number)
{
    char line[512];
    struct dme_text text, best;
    unsigned least = UINT_MAX;
    char kept[512] = "";

    dme_text_init(&best, kept, sizeof kept);
    for (size_t p = 0; p < s->count; p++) {
        char *theirs = strdup(row), *ours = strdup(s->point[p].key), *a = theirs, *b = ours;
        unsigned differ = 0;

        dme_text_init(&text, line, sizeof line);
        for (unsigned k = 0; spec_columns[k].name && a && b; k++) {
            const char *there = table_cut(&a), *here = table_cut(&b);

            if (strcmp(there, here) == 0)
                continue;
            dme_print(&text, "%s%s is \"%s\" there and \"%s\" here", differ++ ? ", " : "", spec_columns[k].name, there,
                      here);
        }
        if (differ < least) {
            least = differ;
            dme_text_init(&best, kept, sizeof kept);
            dme_print(&best, "%s", line);
        }
        free(theirs);
        free(ours);
    }
    cli_die("%s:%u: this row is of another sweep (%s); name another file, or remove this one", path, number, kept);
}

/* The file's rows go to the points they belong to; what belongs nowhere is an error, for it would be lost. */
static void sweep_take_rows(struct sweep *s, FILE *file, const char *path)
{
    char *line = NULL, *head = NULL;
    size_t room = 0, size;
    ssize_t len;
    FILE *to = open_memstream(&head, &size);

    if (!to)
        cli_die("out of memory");
    report_csv_head(to);
    fclose(to);
    for (unsigned number = 1; (len = getline(&line, &room, file)) > 0; number++) {
        size_t k = 0;

        if (line[len - 1] != '\n')
            continue; /* a row that was cut off when the sweep was stopped */
        if (strncmp(line, "algorithm,", 10) == 0) {
            if (strcmp(line, head) != 0)
                cli_die("%s:%u: its columns are not those of dibs %s; name another file, or remove this one", path,
                        number, DIBS_VERSION);
            continue;
        }
        while (k < s->count && !sweep_is_row_of(&s->point[k], line))
            k++;
        if (k == s->count)
            sweep_refuse(s, line, path, number);
        free(s->point[k].row);
        s->point[k].row = line;
        line = NULL;
        room = 0;
    }
    free(line);
    free(head);
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
    char line[256];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (!sim_run(&p->spec, &result, &wrong))
        snprintf(result.failure, sizeof result.failure, "%s: %s", p->spec.conf.alg->name, line);
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
    progress_set(++s->done, s->todos);
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
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        cli_die("out of memory");
    sweep_write(s, to);
    fclose(to);
    cli_write_bytes(path, text, size);
    free(text);
}

/* A file is a journal while the sweep runs; a device or a pipe gets the table in the end. */
static void sweep_open_journal(struct sweep *s, const char *path)
{
    char real[CLI_PATH_MAX];
    FILE *old;

    if (!cli_is_replaceable(path, real))
        return;
    old = fopen(path, "r");
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

    if (processes.rank == 0 && s->left_out)
        fputs(s->left_out, stderr);
    if (processes.rank == 0 && out)
        sweep_open_journal(s, out);
    sweep_divide(s, &processes);
    if (processes.rank == 0)
        progress_begin("runs", s->todos);
    pthread_mutex_init(&s->lock, NULL);
    pool_run(workers ? (unsigned)workers : (pool_cores() + processes.local_size - 1) / processes.local_size, s->todos,
             sweep_job, s);
    progress_end();
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
    free(s->left_out);
    sweep_axes_free();
}

/* The options of dibs sim, of which every value makes another run, and then our own. */
static void sweep_options(struct cli_option *to, const struct cli_option *own)
{
    for (const struct cli_option *o = spec_options(); o->name; o++)
        for (unsigned a = 0; a < SWEEP_AXES; a++)
            if (strcmp(o->name, sweep_axes[a].option) == 0)
                *to++ =
                    (struct cli_option){o->name, CLI_LIST, &sweep_axes[a].given, o->metavar, o->help, 0, 0, o->choices};
    while (own->name)
        *to++ = *own++;
}

int cmd_sweep(int argc, char **argv)
{
    static struct sweep_words w = {.seed = 1, .seeds = 1};
    static const char *out;
    static uint64_t workers;
    static const struct cli_option own[] = {
        {"--closed", CLI_FLAG, &w.closed, NULL,
         "closed load: each site makes its next request after it has left the critical section", 0, 0, NULL},
        {"--with-memory", CLI_FLAG, &w.with_memory, NULL,
         "crashed sites restart with their memory (default: without it)", 0, 0, NULL},
        {"--set", CLI_LIST, &w.sets, "KEY=VALUE",
         "set option KEY of the algorithm (default: as \"dibs list ALGORITHM\" shows); may be repeated", 0, 0, NULL},
        {"--seed", CLI_COUNT, &w.seed, "S", "draw random numbers from seed S (default 1)", 0, 1e19, NULL},
        {"--seeds", CLI_COUNT, &w.seeds, "N", "repeat each run with N seeds: S, S+1, ... (default 1)", 1, 1000, NULL},
        {"--workers", CLI_COUNT, &workers, "N",
         "run N simulations at a time (default: one for each core); results do not depend on it", 1, 1024, NULL},
        {"--out", CLI_TEXT, &out, "FILE",
         "write the table into FILE; - is standard output; if FILE exists, only missing rows are run (default -)", 0, 0,
         NULL},
        {0},
    };
    static struct cli_option options[SWEEP_AXES + sizeof own / sizeof own[0]];
    static const struct cli_usage usage = {
        .line = "dibs sweep ALGORITHM... (--rate LIST | --closed) [--sites LIST] [OPTION...]",
        .about =
            "Simulates every algorithm with every value of every option, on all cores, and makes a CSV table. An "
            "algorithm may have options, as in raymond,tree=star; \"all\" stands for all algorithms that can "
            "run. Under mpirun several processes share the work.\n"
            "\n"
            "Options that dibs sim has, too, may be given several times, as in --hold 0.1 --hold exp:5. Numbers may "
            "be lists: 1,2,5, or 0.001..1/10 for ten numbers from 0.001 to 1 in equal ratios. The first columns of "
            "the table say all that determines a row; a table of another sweep is not continued.",
        .options = options,
        .examples = {{"Compare two algorithms from light to full load, for 10 and 100 sites:",
                      "dibs sweep lamport raymond --sites 10,100 --rate 0.001..1/10 --out table.csv"},
                     {"Vary the time inside and the delays:",
                      "dibs sweep raymond --closed --hold 0.1,1,10 --delay const:1 --delay exp:1 --out hold.csv"},
                     {"Compare all algorithms under full load:", "dibs sweep all --closed --sites 25 --out full.csv"}},
    };
    const char *words[64];
    struct sweep s = {.count = 0};
    int count, status;

    sweep_options(options, own);
    count = cli_parse(argc, argv, &usage, words, 64);
    if (!count)
        cli_die("no algorithm is named (usage: %s)", usage.line);
    if ((sweep_axes[SWEEP_RATE].given.count > 0) + (sweep_axes[SWEEP_RATES].given.count > 0) + w.closed != 1)
        cli_die("no load is given: it takes one of --rate LIST, --rates FILE and --closed");
    cli_check_output("--out", out);
    sweep_axes_expand();
    for (int k = 0; k < count; k++)
        if (strcmp(words[k], "all") == 0)
            sweep_all(&s, &w);
        else
            sweep_algorithm(&s, words[k], w);
    status = sweep_do(&s, out, workers);
    sweep_free(&s);
    return status;
}
