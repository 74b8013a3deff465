/* dibs demo - a short tour: a lock of three daemons, one algorithm drawn step by step, then all of them checked and measured, a plot, and
 * where the page is. See demo.h. */
#include "alg/list.h"
#include "check/check.h"
#include "demo.h"
#include "lab/world.h"
#include "serve/page.h"
#include "sim/sim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "make lab" builds the laboratory alone: its tour begins with the second part. */
#ifdef DIBS_LAB_ONLY
enum { DEMO_HAS_SERVICE = false };
#define demo_service() true
#define DEMO_ABOUT_SERVICE
#else
enum { DEMO_HAS_SERVICE = true };
#define DEMO_ABOUT_SERVICE                                                                                             \
    "a cluster of three daemons on this machine, whose lock two commands want (the daemons listen on loopback only, "  \
    "on "                                                                                                              \
    "ports that are free, and end with the tour; their files are removed); "
#endif

static void demo_title(const char *text)
{
    static unsigned number = DEMO_HAS_SERVICE;

    printf("%u. %s\n\n", ++number, text);
    fflush(stdout);
}

/* What it takes to run on three and on ten sites, under the first rule that the algorithm knows; false if it cannot. */
static bool demo_conf(struct dme_conf *conf, const struct dme_alg *alg, uint32_t n)
{
    enum dme_rule rule;
    uint32_t limit;
    char line[256];
    struct dme_text text;

    cli_rule(alg, NULL, &rule, &limit);
    dme_conf_init(conf, alg, n, rule, rule == DME_SLOTS ? 2 : limit);
    dme_text_init(&text, line, sizeof line);
    return !alg->flaw && dme_conf_check(conf, &text);
}

/* ---------------------------------------------------------------------------------------------------------- a story */

enum { DEMO_SITES = 3, DEMO_COLUMN = 18, DEMO_WIDTH = DEMO_COLUMN * (DEMO_SITES - 1) + 1 };

/* Time runs down, a site is a column. A message is drawn where it arrives. */
static void demo_row(const struct lab_world *w, const struct world_move *move, const char *label, const char *remark)
{
    static const char marks[] = {[DME_IDLE] = '.', [DME_WAITING] = '|', [DME_INSIDE] = '#'};
    char row[DEMO_WIDTH + 1];

    memset(row, ' ', DEMO_WIDTH);
    row[DEMO_WIDTH] = 0;
    for (dme_id i = 0; i < DEMO_SITES; i++)
        row[i * DEMO_COLUMN] = marks[w->node[i]->phase];
    if (move->type == DME_RECEIVE) {
        uint32_t from = move->from * DEMO_COLUMN, to = move->site * DEMO_COLUMN;
        uint32_t left = (from < to ? from : to) + 1, right = (from < to ? to : from) - 1;
        uint32_t in_column = from < to ? left : right + 1 - DEMO_COLUMN + 1;

        for (uint32_t k = left; k <= right; k++)
            row[k] = row[k] == ' ' ? '-' : row[k];
        row[from < to ? right : left] = from < to ? '>' : '<';
        memcpy(row + in_column + (DEMO_COLUMN - 1 - strlen(label)) / 2, label, strlen(label));
    }
    printf("    %s   %s\n", row, remark);
}

static void demo_story(void)
{
    enum { REQUEST, REPLY };
    static const struct {
        struct world_move move;
        const char *remark;
    } story[] = {
        {{.type = DME_REQUEST, .site = 0}, "0 asks the others, with claim 1.0"},
        {{.type = DME_REQUEST, .site = 2}, "so does 2 at the same time, with 1.2"},
        {{.type = DME_RECEIVE, .site = 1, .from = 0, .kind = REQUEST}, "1 has no interest and answers"},
        {{.type = DME_RECEIVE, .site = 1, .from = 2, .kind = REQUEST}, "it answers 2 as well"},
        {{.type = DME_RECEIVE, .site = 0, .from = 2, .kind = REQUEST}, "1.0 < 1.2: 0 answers when it leaves"},
        {{.type = DME_RECEIVE, .site = 2, .from = 0, .kind = REQUEST}, "2 sees that 0 is first, and answers"},
        {{.type = DME_RECEIVE, .site = 0, .from = 1, .kind = REPLY}, "0 lacks one answer"},
        {{.type = DME_RECEIVE, .site = 2, .from = 1, .kind = REPLY}, "2 lacks one answer"},
        {{.type = DME_RECEIVE, .site = 0, .from = 2, .kind = REPLY}, "0 has all answers: it is inside"},
        {{.type = DME_RELEASE, .site = 0}, "0 leaves, and answers 2 now"},
        {{.type = DME_RECEIVE, .site = 2, .from = 0, .kind = REPLY}, "2 is inside"},
        {{.type = DME_RELEASE, .site = 2}, "2 leaves"},
    };
    struct dme_conf conf;
    struct lab_world *w;

    dme_conf_init(&conf, cli_algorithm("ricart-agrawala"), DEMO_SITES, DME_EXCLUSIVE, 0);
    w = world_new(&conf);
    demo_title("How members agree: three sites, no server (Ricart and Agrawala, 1981)");
    printf("    %-*s%-*s%s\n", DEMO_COLUMN, "site 0", DEMO_COLUMN, "site 1", "site 2");
    for (unsigned k = 0; k < sizeof story / sizeof story[0]; k++) {
        char label[64] = "";
        struct dme_text text;
        size_t flight = story[k].move.type == DME_RECEIVE ? world_find(w, &story[k].move) : SIZE_MAX;

        dme_text_init(&text, label, sizeof label);
        if (flight != SIZE_MAX)
            dme_print_msg(&conf, w->flight[flight].msg, &text);
        world_move(w, &story[k].move);
        demo_row(w, &story[k].move, label, story[k].remark);
    }
    printf("\n    . idle   | waits   # inside\n    %llu messages for %llu entries: 2(n-1) each, always.\n\n",
           (unsigned long long)w->sent, (unsigned long long)w->entries);
    world_free(w);
}

/* ----------------------------------------------------------------------------------------------- every interleaving */

enum { DEMO_STATES = 500000 };

static struct check_result demo_check(const struct dme_conf *conf, bool fifo)
{
    struct check_task task = {.conf = *conf, .needs = check_needs(conf->alg, fifo), .limit = DEMO_STATES};
    struct check_result result;

    memset(task.requests, 1, conf->n);
    check_run(&task, &result);
    return result;
}

/* False if one of them breaks. */
static bool demo_check_all(void)
{
    bool fine = true;

    demo_title("Every interleaving of three sites that ask once each");
    printf("    %-35s %-10s %-6s %9s\n", "", "rule", "order", "states");
    for (unsigned k = 0; alg_list[k]; k++) {
        struct dme_conf conf;
        struct check_result r;
        bool fifo = alg_list[k]->needs & DME_FIFO;

        if (!demo_conf(&conf, alg_list[k], DEMO_SITES))
            continue;
        r = demo_check(&conf, fifo);
        printf("    %-35s %-10s %-6s %9llu   %s\n", conf.alg->name, cli_rule_text(&conf), fifo ? "fifo" : "any",
               (unsigned long long)r.states, check_verdicts[r.verdict]);
        fflush(stdout);
        fine &= r.verdict == CHECK_HOLDS || r.verdict == CHECK_UNFINISHED;
        free(r.trace);
    }
    return fine;
}

/* A promise broken on purpose: the checker finds the shortest way to go wrong. */
static void demo_counterexample(void)
{
    struct dme_conf conf;
    struct check_result r;
    struct lab_world *w;

    dme_conf_init(&conf, cli_algorithm("lamport"), 2, DME_EXCLUSIVE, 0);
    r = demo_check(&conf, false);
    w = world_new(&conf);
    printf("\n    Lamport's algorithm needs a network that keeps the order.\n"
           "    On one that does not, the verdict is \"%s\" after %u moves:\n\n",
           check_verdicts[r.verdict], r.trace_length);
    for (uint32_t k = 0; k < r.trace_length; k++) {
        char line[256];
        struct dme_text text;

        dme_text_init(&text, line, sizeof line);
        world_play(w, &r.trace[k], &text);
        printf("    %u  %s\n", k + 1, line);
    }
    printf("\n");
    world_free(w);
    free(r.trace);
}

/* ---------------------------------------------------------------------------------------------------- what it costs */

enum { DEMO_MEASURED = 10, DEMO_PHRASE = 24 };

/* Messages per entry; negative if that could not be measured. */
static double demo_cost(const struct dme_conf *conf, enum load_type load)
{
    struct sim_spec spec = {.conf = *conf,
                            .load = {.type = load, .rate = 0.001, .readers = 0.5},
                            .delay = {.dist = {.a = 1}},
                            .hold = {.a = 0.1},
                            .entries = 5000,
                            .warmup = 1000,
                            .seed = 1};
    struct sim_result result;
    char line[256];
    struct dme_text text;
    double cost = -1;

    dme_text_init(&text, line, sizeof line);
    if (!sim_run(&spec, &result, &text))
        return cost;
    if (!result.failure[0])
        cost = result.value[FIG_MESSAGES];
    sim_result_free(&result);
    return cost;
}

/* Prints the first phrase of a text; if that is too long, as many of its words as fit. */
static void demo_print_phrase(const char *text)
{
    int len = (int)strcspn(text, ",;"), cut = DEMO_PHRASE - 3;

    if (len > DEMO_PHRASE) {
        while (text[cut] != ' ')
            cut--;
        printf("%.*s ..\n", cut, text);
    } else {
        printf("%.*s\n", len, text);
    }
}

static void demo_measure_all(void)
{
    char title[96];

    snprintf(title, sizeof title, "Messages per entry, simulated: %d sites, messages take 1, a stay inside 0.1",
             DEMO_MEASURED);
    demo_title(title);
    printf("    %-35s %6s %6s   %s\n", "", "light", "full", "the papers say");
    for (unsigned k = 0; alg_list[k]; k++) {
        struct dme_conf conf;

        if (!demo_conf(&conf, alg_list[k], DEMO_MEASURED))
            continue;
        printf("    %-35s %6.2f %6.2f   ", conf.alg->name, demo_cost(&conf, LOAD_OPEN), demo_cost(&conf, LOAD_CLOSED));
        demo_print_phrase(conf.alg->cost);
        fflush(stdout);
    }
    printf("\n    Light: each site asks once in 1000 on average. Full: each asks again as soon\n"
           "    as it has left. \"dibs list\" prints all that the papers say.\n\n");
}

/* ------------------------------------------------------------------------------------------------------- the page */

static void demo_page(void)
{
    char path[PATH_MAX];

    demo_title("The page: all of the laboratory in a browser");
    if (!page_path(path, sizeof path))
        printf("    It is not built: \"./run page\" builds it, and prints its address.\n");
    else
        printf("    Open this file: %s\n    or let \"dibs lab\" serve it, and print its address.\n", path);
    if (DEMO_HAS_SERVICE)
        printf("    A daemon shows its locks and members there:\n"
               "    \"dibs serve --http 127.0.0.1:7480\", then \"dibs page-token\".\n");
    printf("\n");
}

/* What to type next; and before that, if the shell does not find dibs, the line that lets it. */
static void demo_go_on(void)
{
    char path[CLI_PATH_MAX], here[CLI_PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    size_t prefix;

    printf("Go on with\n");
    if (len > 0 && system("command -v dibs >/dev/null 2>&1") != 0) {
        path[len] = '\0';
        *strrchr(path, '/') = '\0';
        prefix = getcwd(here, sizeof here) ? strlen(here) : 0;
        if (prefix && strncmp(path, here, prefix) == 0 && path[prefix] == '/')
            printf("    export PATH=\"$PWD%s:$PATH\"\n", path + prefix);
        else
            printf("    export PATH=\"%s:$PATH\"\n", path);
    }
    printf("    dibs list\n"
           "    dibs check maekawa --sites 4\n"
           "    dibs sim naimi-trehel --sites 100 --closed\n");
}

int cmd_demo(int argc, char **argv)
{
    static const char *plot;
    static const struct cli_option options[] = {
        {"--plot", CLI_TEXT, &plot, "FILE", "draw what some algorithms cost into FILE, by gnuplot (default: none)", 0,
         0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs demo [--plot FILE]",
        .about = "Shows a short tour: " DEMO_ABOUT_SERVICE
                 "one algorithm drawn step by step; all of them checked and measured. It takes less than a minute.\n"
                 "\n"
                 "Exit status: 0 all is as it should be, 1 something is not, 2 the command line is wrong.",
        .options = options,
        .examples = {{"Show the tour:", "dibs demo"},
                     {"Page through it, with a plot:", "dibs demo --plot load.svg | less"}},
    };
    bool fine;

    cli_parse(argc, argv, &usage, NULL, 0);
    cli_check_output("--plot", plot);
    fine = demo_service();
    demo_story();
    fine &= demo_check_all();
    demo_counterexample();
    demo_measure_all();
    fine &= demo_plot(plot);
    demo_page();
    demo_go_on();
    return fine ? CLI_OK : CLI_FAILED;
}
