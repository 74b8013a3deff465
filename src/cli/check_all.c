/* check_all.c - see check_all.h. Rows are checked on all cores and printed in the order of the catalogue. */
#include "check_all.h"

#include "alg/list.h"
#include "base/memory.h"
#include "base/pool.h"
#include "check/check.h"
#include "cli.h"
#include "core/text.h"
#include "interrupt.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

struct row {
    struct check_task task;
    struct check_result result;
    bool endless; /* its states do not end, so there was no search */
};

struct rows {
    struct row *row;
    size_t count;
    const volatile sig_atomic_t *stop; /* Ctrl-C: rows that have not ended then are not decided */
};

static struct row *rows_add(struct rows *rows, const struct dme_conf *conf, bool fifo, uint8_t requests,
                            uint64_t states)
{
    struct row *r;

    rows->row = mem_grow(rows->row, (rows->count + 1) * sizeof *rows->row);
    r = &rows->row[rows->count++];
    memset(r, 0, sizeof *r);
    r->task.conf = *conf;
    r->task.needs = check_needs(conf->alg, fifo);
    r->task.limit = states;
    r->task.stop = rows->stop;
    memset(r->task.requests, requests, conf->n);
    return r;
}

/* The configuration, unless it is impossible. */
static bool all_conf(struct dme_conf *conf, const struct dme_alg *alg, uint32_t sites, enum dme_rule rule)
{
    char line[512];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    dme_conf_init(conf, alg, sites, rule, rule == DME_SLOTS || rule == DME_GROUP ? 2 : 0);
    return dme_conf_check(conf, &text);
}

static const char *all_order(const struct check_task *task)
{
    return task->needs & DME_FIFO ? "fifo" : "any";
}

/* ------------------------------------------------------------------------------------------------------- what holds */

static void all_check(void *context, size_t k)
{
    struct rows *rows = context;
    struct row *r = &rows->row[k];

    if (check_stopped(&r->task)) {
        r->result = (struct check_result){.verdict = CHECK_UNFINISHED, .interrupted = true};
        return;
    }
    if (r->task.requests[0] == CHECK_UNLIMITED) {
        r->task.starvation = true;
        r->task.canonical = check_may_be_canonical(&r->task);
        r->endless = !r->task.canonical && check_grows(&r->task);
    }
    if (!r->endless)
        check_run(&r->task, &r->result);
}

static enum verdict_colour all_colour(const struct row *r)
{
    if (r->endless || r->result.verdict == CHECK_UNFINISHED)
        return VERDICT_OPEN;
    return r->result.verdict == CHECK_HOLDS ? VERDICT_GOOD : VERDICT_BAD;
}

static void all_print(const struct row *r)
{
    const char *verdict = r->endless              ? "endless"
                          : r->result.interrupted ? "interrupted"
                                                  : check_verdicts[r->result.verdict];
    char requests[16] = "unlimited";

    if (r->task.requests[0] != CHECK_UNLIMITED)
        snprintf(requests, sizeof requests, "%u", r->task.requests[0]);
    printf("| %s | %s | %s | %u | %s | %llu | %s%s%s |\n", r->task.conf.alg->name, cli_rule_text(&r->task.conf),
           all_order(&r->task), r->task.conf.n, requests, (unsigned long long)r->result.states,
           colour_of(all_colour(r)), verdict, colour_end());
}

int check_all(uint32_t sites, uint8_t requests, uint64_t states)
{
    struct rows rows = {.stop = interrupt_catch()};
    int status = CLI_OK;

    for (unsigned a = 0; alg_list[a]; a++)
        for (unsigned rule = 0; rule < DME_RULES; rule++) {
            struct dme_conf conf;
            bool needs_fifo = alg_list[a]->needs & DME_FIFO;

            if (alg_list[a]->flaw || !all_conf(&conf, alg_list[a], sites, rule))
                continue;
            if (!needs_fifo)
                rows_add(&rows, &conf, false, requests, states);
            rows_add(&rows, &conf, true, requests, states);
        }
    progress_pool(pool_cores(), rows.count, all_check, &rows, "systems");
    printf("| algorithm | rule | order | sites | requests each | states | verdict |\n|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < rows.count; k++) {
        const struct row *r = &rows.row[k];

        all_print(r);
        if (r->result.verdict != CHECK_HOLDS && r->result.verdict != CHECK_UNFINISHED)
            status = CLI_FAILED;
        free(r->result.trace);
    }
    free(rows.row);
    return status == CLI_OK && *rows.stop ? CLI_UNFINISHED : status;
}

/* ------------------------------------------------------------------------------------------------- what is mistaken */

/* A system, and what may fail in it. */
struct rung {
    uint8_t sites, requests;
    uint8_t crash, restart, cut;
};

/* Does such a system show the mistake, under some rule and order? */
static bool all_shows(struct row *r, struct rung rung)
{
    const struct dme_alg *alg = r->task.conf.alg;
    uint32_t mistake = r->task.conf.mistake;

    for (unsigned rule = 0; rule < DME_RULES; rule++)
        for (int fifo = 1; fifo >= (alg->needs & DME_FIFO ? 1 : 0); fifo--) {
            if (!all_conf(&r->task.conf, alg, rung.sites, rule))
                continue;
            r->task.conf.mistake = mistake;
            r->task.crash = rung.crash;
            r->task.restart = rung.restart;
            r->task.cut = rung.cut;
            r->task.needs = check_needs(alg, fifo);
            memset(r->task.requests, rung.requests, sizeof r->task.requests);
            check_run(&r->task, &r->result);
            if (r->result.trace)
                return true;
        }
    r->task.conf.mistake = mistake;
    return false;
}

/* Systems from small to larger, until one shows the mistake; then, where the algorithm claims to outlive them, failures:
 * crashes, and cuts if there is news of them. */
static void all_seek(void *context, size_t k)
{
    static const struct rung ladder[] = {
        {2, 1, 0, 0, 0}, {2, 2, 0, 0, 0}, {2, 3, 0, 0, 0}, {3, 1, 0, 0, 0}, {3, 2, 0, 0, 0}, {4, 1, 0, 0, 0},
        {4, 2, 0, 0, 0}, {2, 1, 1, 0, 0}, {2, 2, 1, 1, 0}, {3, 1, 1, 0, 0}, {2, 1, 0, 0, 1},
    };
    struct rows *rows = context;
    const struct dme_alg *alg = rows->row[k].task.conf.alg;

    for (unsigned step = 0; step < sizeof ladder / sizeof ladder[0]; step++) {
        if ((ladder[step].crash && !alg->restart) || (ladder[step].cut && !alg->news))
            continue;
        if (all_shows(&rows->row[k], ladder[step]))
            return;
    }
}

/* "2, 1 crash, 1 restart": the requests of each site, and what may fail. */
static void all_print_rung(const struct check_task *task)
{
    printf("%u%s%s%s", task->requests[0], task->crash ? ", 1 crash" : "", task->restart ? ", 1 restart" : "",
           task->cut ? ", 1 cut" : "");
}

static void all_print_mistake(const struct row *r)
{
    const struct dme_conf *conf = &r->task.conf;
    const char *name = conf->alg->mistakes[conf->mistake].name;

    if (r->result.trace) {
        printf("| %s | %s | %s | %s | %u | ", conf->alg->name, name, cli_rule_text(conf), all_order(&r->task), conf->n);
        all_print_rung(&r->task);
        printf(" | %s | %u |\n", check_verdicts[r->result.verdict], r->result.trace_length);
    } else {
        printf("| %s | %s | | | | | %s | |\n", conf->alg->name, name,
               check_stopped(&r->task) ? "interrupted" : "not in systems so small with the usual options");
    }
}

/* One table for each kind of mistake. */
int check_all_mistakes(uint64_t states)
{
    static const char *const heads[DME_MISTAKE_KINDS] = {"Published mistakes", "Tempting mistakes",
                                                         "As commonly retold"};
    struct rows rows = {.stop = interrupt_catch()};

    for (unsigned a = 0; alg_list[a]; a++)
        for (unsigned m = 0; alg_list[a]->mistakes && alg_list[a]->mistakes[m].name; m++)
            if (dme_makes(alg_list[a], m)) {
                struct dme_conf conf = {.alg = alg_list[a], .mistake = m};

                rows_add(&rows, &conf, true, 1, states);
            }
    progress_pool(pool_cores(), rows.count, all_seek, &rows, "mistakes");
    for (unsigned kind = 0; kind < DME_MISTAKE_KINDS; kind++) {
        printf("%s### %s\n\n| algorithm | mistake | rule | order | sites | requests each | verdict | moves |\n"
               "|---|---|---|---|---|---|---|---|\n",
               kind ? "\n" : "", heads[kind]);
        for (size_t k = 0; k < rows.count; k++)
            if (rows.row[k].task.conf.alg->mistaken == kind)
                all_print_mistake(&rows.row[k]);
    }
    for (size_t k = 0; k < rows.count; k++)
        free(rows.row[k].result.trace);
    free(rows.row);
    return *rows.stop ? CLI_UNFINISHED : CLI_OK;
}

int check_mistakes_of(const struct dme_alg *alg)
{
    enum { STATES = 300000 };
    struct rows rows = {.stop = interrupt_catch()};

    for (unsigned m = 0; alg->mistakes[m].name; m++)
        if (dme_makes(alg, m))
            rows_add(&rows, &(struct dme_conf){.alg = alg, .mistake = m}, true, 1, STATES);
    progress_pool(pool_cores(), rows.count, all_seek, &rows, "mistakes");
    fprintf(stderr, "dibs: %s makes one of several mistakes; choose it with --set mistake=NAME:\n", alg->name);
    for (size_t k = 0; k < rows.count; k++) {
        const struct row *r = &rows.row[k];
        const struct dme_conf *conf = &r->task.conf;
        const char *name = alg->mistakes[conf->mistake].name;

        if (r->result.trace)
            printf("dibs check %s --set mistake=%s --rule %s --sites %u --requests %u --order %s   # %s, %u moves\n",
                   alg->name, name, cli_rule_text(conf), conf->n, r->task.requests[0], all_order(&r->task),
                   check_verdicts[r->result.verdict], r->result.trace_length);
        else if (check_stopped(&r->task))
            printf("dibs check %s --set mistake=%s   # interrupted\n", alg->name, name);
        else
            printf("dibs check %s --set mistake=%s   # not in small systems with the usual options: see "
                   "tests/scenario/%s-%s.txt\n",
                   alg->name, name, alg->name, name);
        free(r->result.trace);
    }
    free(rows.row);
    return CLI_USAGE;
}
