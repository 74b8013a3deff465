/* The simulator: reference scenarios to the millisecond, costs beside theory, repeatability.
 * Invariant: I10. */
#include "test.h"

#include "alg/list.h"
#include "cli/cli.h"
#include "sim/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "maekawa,quorum=grid" and so on. */
static struct dme_conf conf_of(char *words, uint32_t sites, const char *rule)
{
    struct cli_list sets = {0};
    char *save, *name = strtok_r(words, ",", &save);

    while ((sets.item[sets.count] = strtok_r(NULL, ",", &save)))
        sets.count++;
    return cli_conf(name, sites, rule, &sets);
}

static struct sim_result run(const struct sim_spec *spec)
{
    struct sim_result result;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (!sim_run(spec, &result, &wrong))
        fail_msg("%s: %s", spec->conf.alg->name, line);
    if (result.failure[0])
        fail_msg("%s", result.failure);
    return result;
}

static struct dist dist_of(const char *words)
{
    struct dist dist;
    char line[256];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    assert_true(dist_parse(&dist, words, &wrong));
    return dist;
}

static unsigned kind_of(const struct dme_alg *alg, const char *name)
{
    for (unsigned k = 0; alg->kinds[k].name; k++)
        if (strcmp(alg->kinds[k].name, name) == 0)
            return k;
    fail_msg("%s has no message %s", alg->name, name);
    return 0;
}

/* Calls fn for every line of a table that is no comment, and counts them. */
static unsigned each_line(const char *path, void (*fn)(char *line))
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    unsigned count = 0;

    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line && *line != '#') {
            fn(line);
            count++;
        }
    }
    free(line);
    fclose(file);
    return count;
}

/* -------------------------------------------------------------------------------------------------------- scenarios */

static void check_counts(const struct sim_spec *spec, const struct sim_result *r, char *words)
{
    char *save;

    for (char *kind = strtok_r(words, " ", &save); kind; kind = strtok_r(NULL, " ", &save)) {
        uint64_t expected = strtoull(strtok_r(NULL, " ", &save), NULL, 10);

        if (r->by_kind[kind_of(spec->conf.alg, kind)] != expected)
            fail_msg("%s: %llu messages %s, not %llu", spec->conf.alg->name,
                     (unsigned long long)r->by_kind[kind_of(spec->conf.alg, kind)], kind, (unsigned long long)expected);
    }
}

static void check_entries(const struct sim_spec *spec, const struct sim_result *r, const char *expected)
{
    char seen[1024];
    struct dme_text text;

    dme_text_init(&text, seen, sizeof seen);
    for (size_t k = 0; k < r->logged; k++)
        dme_print(&text, "%s%u@%.3f", k ? " " : "", r->log[k].site, r->log[k].at);
    if (strcmp(seen, expected) != 0)
        fail_msg("%s:\n  seen     %s\n  expected %s", spec->conf.alg->name, seen, expected);
}

static void reference_line(char *line)
{
    char *save, *head = strtok_r(line, "|", &save), *counts = strtok_r(NULL, "|", &save);
    char *entries = strtok_r(NULL, "|", &save), *alg = strtok_r(head, " ", &save);
    const char *rule = strtok_r(NULL, " ", &save), *scenario = strtok_r(NULL, " ", &save);
    struct sim_spec spec = {.hold = {.a = 0.37}, .seed = 1, .log_entries = true, .load.type = LOAD_SCRIPT};
    struct sim_result r;
    char path[64], why[256];
    struct dme_text wrong;

    dme_text_init(&wrong, why, sizeof why);
    spec.conf = conf_of(alg, (uint32_t)atoi(scenario + 1), rule);
    snprintf(path, sizeof path, "matrix:tests/golden/%.2s.matrix", scenario); /* s7-without-0 has the delays of s7 */
    assert_true(delay_parse(&spec.delay, path, spec.conf.n, &wrong));
    snprintf(path, sizeof path, "tests/golden/%s.script", scenario);
    assert_true(load_read_script(&spec.load, path, &spec.conf, &wrong));
    spec.entries = spec.load.lines;
    r = run(&spec);
    check_counts(&spec, &r, counts);
    check_entries(&spec, &r, entries + 1);
    sim_result_free(&r);
    load_spec_free(&spec.load);
    delay_free(&spec.delay);
}

static void reference_scenarios_happen_to_the_millisecond(void **state)
{
    (void)state;
    assert_true(each_line("tests/golden/reference.txt", reference_line) >= 10);
}

/* ------------------------------------------------------------------------------------------------------------ costs */

static struct load_spec load_of(const char *words)
{
    if (strncmp(words, "rate:", 5) == 0)
        return (struct load_spec){.type = LOAD_OPEN, .rate = atof(words + 5)};
    assert_string_equal(words, "closed");
    return (struct load_spec){.type = LOAD_CLOSED};
}

static double figure_of(const struct sim_result *r, const char *name)
{
    static const struct {
        const char *name;
        enum metrics_figure_id id;
    } figures[] = {{"messages", FIG_MESSAGES}, {"sync", FIG_SYNC}, {"throughput", FIG_THROUGHPUT}};
    unsigned k = 0;

    if (strcmp(name, "fairness") == 0)
        return r->jain;
    while (strcmp(figures[k].name, name) != 0)
        k++;
    return r->value[figures[k].id];
}

/* As load_of; or busy:B, where the first B sites always want in and the others never do. */
static struct load_spec cost_load(const char *words, uint32_t sites)
{
    struct load_spec load = load_of(strncmp(words, "busy:", 5) == 0 ? "rate:1" : words);

    if (strncmp(words, "busy:", 5) == 0)
        load_hot_spot(&load, sites, 1, (uint32_t)atoi(words + 5));
    return load;
}

static void cost_line(char *line)
{
    char *save, *head = strtok_r(line, "|", &save), *costs = strtok_r(NULL, "|", &save);
    char *alg = strtok_r(head, " ", &save), *rule = strtok_r(NULL, " ", &save);
    struct sim_spec spec = {.delay.dist.a = 1, .hold.a = 0.1, .entries = 20000, .warmup = 2000, .seed = 7};
    struct sim_result r;

    spec.conf = conf_of(alg, (uint32_t)atoi(strtok_r(NULL, " ", &save)), rule);
    spec.load = cost_load(strtok_r(NULL, " ", &save), spec.conf.n);
    r = run(&spec);
    for (char *figure = strtok_r(costs, " ", &save); figure; figure = strtok_r(NULL, " ", &save)) {
        double expected = atof(strtok_r(NULL, " ", &save)), tolerance = atof(strtok_r(NULL, " ", &save));
        double got = figure_of(&r, figure);

        if (!(fabs(got / expected - 1) <= tolerance))
            fail_msg("%s, %u sites: %s %.9g, not %.9g", alg, spec.conf.n, figure, got, expected);
    }
    load_spec_free(&spec.load);
}

static void costs_are_those_of_theory(void **state)
{
    (void)state;
    assert_true(each_line("tests/golden/costs.txt", cost_line) >= 20);
}

/* Of five sites, two have all the entries. That is a broken promise, and no figure. */
static void starvation_is_a_violation(void **state)
{
    struct sim_spec spec = {.delay.dist.a = 1, .hold.a = 0.1, .entries = 20000, .warmup = 2000, .seed = 7};
    struct sim_result result;
    char words[] = "ricart-agrawala-token-as-retold", line[512];
    struct dme_text wrong;

    (void)state;
    dme_text_init(&wrong, line, sizeof line);
    spec.conf = conf_of(words, 5, "exclusive");
    spec.load = load_of("closed");
    assert_true(sim_run(&spec, &result, &wrong));
    assert_non_null(strstr(result.failure, "3 of 5 sites wait for ever"));
    sim_result_free(&result);
    load_spec_free(&spec.load);
}

/* All of a run counted, to the last message, whatever delays and load. */
static struct sim_result whole_run(const char *name, uint32_t n, const char *rule, const char *delay, uint64_t seed)
{
    struct sim_spec spec = {.entries = 500, .seed = seed, .hold = dist_of("exp:0.5")};
    char words[64];

    snprintf(words, sizeof words, "%s", name);
    spec.conf = conf_of(words, n, rule);
    spec.delay.dist = dist_of(delay);
    spec.load = seed % 2 ? load_of("closed") : load_of("rate:0.05");
    spec.load.readers = 0.5;
    return run(&spec);
}

static void counts_are_exact_whatever_the_delays(void **state)
{
    static const char *const delays[] = {"const:1", "uniform:0.1,3", "exp:1", "lognormal:1,2"};

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const char *delay = delays[seed / 2 % 4];
        uint32_t n = 2 + (uint32_t)seed % 7;
        struct sim_result r = whole_run("ricart-agrawala", n, "exclusive", delay, seed);

        assert_int_equal(r.entries, 500);
        assert_int_equal(r.messages, 500 * 2 * (n - 1));
        r = whole_run("carvalho-roucairol", n, "exclusive", delay, seed);
        assert_true(r.messages <= 500 * 2 * (n - 1));
        assert_int_equal(r.by_kind[0], r.by_kind[1]); /* REQUEST, REPLY */
        r = whole_run("lamport", n, "exclusive", delay, seed);
        assert_int_equal(r.messages, 500 * 3 * (n - 1));
        r = whole_run("suzuki-kasami", n, "exclusive", delay, seed);
        assert_int_equal(r.by_kind[0], r.by_kind[1] * (n - 1)); /* REQUEST, TOKEN */
        r = whole_run("raymond-k", n, "slots:2", delay, seed);
        assert_true(r.messages <= 500 * 2 * (n - 1) && r.messages >= 500 * (2 * n - 3));
        assert_true(r.inside_max <= 2);
    }
}

/* ---------------------------------------------------------------------------------------------------- repeatability */

static void equal_seeds_give_equal_bytes_and_others_do_not(void **state)
{
    struct sim_result a = whole_run("maekawa", 9, "exclusive", "exp:1", 5);
    struct sim_result b = whole_run("maekawa", 9, "exclusive", "exp:1", 5);
    struct sim_result c = whole_run("maekawa", 9, "exclusive", "exp:1", 7);

    (void)state;
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&a, &c, sizeof a);
}

static void demands_do_not_depend_on_the_algorithm(void **state)
{
    /* Light load: every site enters in the order of the demands, at the same sites. */
    static const char *const names[] = {"ricart-agrawala", "raymond", "naimi-trehel"};
    struct sim_result first = {0};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct sim_spec spec = {.entries = 300, .seed = 9, .delay.dist.a = 0.001, .log_entries = true};
        struct sim_result r;
        char words[64];

        snprintf(words, sizeof words, "%s", names[k]);
        spec.conf = conf_of(words, 8, NULL);
        spec.load = load_of("rate:0.0001");
        r = run(&spec);
        for (size_t e = 0; k && e < r.logged; e++)
            assert_int_equal(r.log[e].site, first.log[e].site);
        if (k)
            sim_result_free(&r);
        else
            first = r;
    }
    sim_result_free(&first);
}

/* The record makes every step in a world without time, and compares; what it noted makes the same run again. */
static void a_run_can_be_played_again_without_time(void **state)
{
    static const char *const names[] = {"maekawa", "ricart-agrawala-sequenced", "ricart-agrawala-broadcast"};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct sim_spec spec = {.entries = 40, .seed = 11, .hold = dist_of("0.2"), .load = load_of("closed")};
        struct lab_world *world;
        struct record record;
        struct sim_result r;
        char words[64];

        snprintf(words, sizeof words, "%s", names[k]);
        spec.conf = conf_of(words, 5, NULL);
        spec.delay.dist = dist_of("exp:1");
        spec.observe = record_observe;
        spec.user = &record;
        record_begin(&record, &spec.conf);
        r = run(&spec);
        assert_int_equal(r.steps, record.count);
        world = world_new(&spec.conf);
        for (uint32_t m = 0; m < record.count; m++)
            assert_null(world_move(world, &record.move[m]));
        assert_int_equal(world->entries, 40);
        assert_int_equal(world->sent, r.messages);
        assert_int_equal(world->flights, 0);
        world_free(world);
        record_end(&record);
    }
}

/* -------------------------------------------------------------------------------------------------- every algorithm */

/* A new algorithm is tested here before its author writes a line: every rule it knows, small and larger systems, open
 * and closed load, constant and wildly varying delays. The simulator checks the rules after every step. */
static void every_algorithm_keeps_its_promises(void **state)
{
    static const char *const rules[] = {"exclusive", "shared", "slots:2", "group:3"};
    static const char *const delays[] = {"const:1", "uniform:0,1", "exp:1", "lognormal:1,3"};
    unsigned runs = 0;

    (void)state;
    for (unsigned a = 0; alg_list[a]; a++)
        for (unsigned rule = 0; rule < DME_RULES; rule++)
            for (unsigned d = 0; d < 4; d++) {
                bool bounded = alg_list[a]->needs & DME_BOUNDED_DELAY;

                if (alg_list[a]->flaw || !(alg_list[a]->rules & 1u << rule) || (bounded && d > 1))
                    continue;
                for (uint64_t seed = 0; seed < 4; seed++) {
                    struct sim_result r = whole_run(alg_list[a]->name, seed < 2 ? 4 : 13, rules[rule], delays[d], seed);

                    assert_int_equal(r.entries, 500);
                    runs++;
                }
            }
    assert_true(runs >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_scenarios_happen_to_the_millisecond),
        cmocka_unit_test(costs_are_those_of_theory),
        cmocka_unit_test(starvation_is_a_violation),
        cmocka_unit_test(counts_are_exact_whatever_the_delays),
        cmocka_unit_test(equal_seeds_give_equal_bytes_and_others_do_not),
        cmocka_unit_test(demands_do_not_depend_on_the_algorithm),
        cmocka_unit_test(a_run_can_be_played_again_without_time),
        cmocka_unit_test(every_algorithm_keeps_its_promises),
    };

    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
