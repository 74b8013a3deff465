/* What every algorithm must do: loops over algorithms, rules, options and networks. A new algorithm
 * is tested by these before its author writes a line of test.
 * Invariants: I4, I5. */
#include "test.h"

#include "alg/list.h"
#include "check/check.h"
#include "cli/cli.h"
#include "core/text.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

/* Calls fn for every configuration of n sites: every sound algorithm, every rule that it knows, and every choice of one
 * of its options, the others as they are at first. */
static void for_every(uint32_t n, void (*fn)(const struct dme_conf *conf))
{
    for (unsigned k = 0; alg_list[k]; k++)
        for (unsigned rule = 0; rule < DME_RULES; rule++) {
            const struct dme_option *o = alg_list[k]->options;
            struct dme_conf conf;
            char line[256];
            struct dme_text text;

            if (alg_list[k]->flaw || !(alg_list[k]->rules & 1u << rule))
                continue;
            dme_conf_init(&conf, alg_list[k], n, rule, rule == DME_SLOTS || rule == DME_GROUP ? 2 : 0);
            dme_text_init(&text, line, sizeof line);
            if (dme_conf_check(&conf, &text))
                fn(&conf);
            for (unsigned which = 0; o && o[which].key; which++)
                for (unsigned c = 0; o[which].choices && o[which].choices[c]; c++) {
                    struct dme_conf with = conf;

                    with.option[which] = c;
                    if (c != o[which].initial && dme_conf_check(&with, &text))
                        fn(&with);
                }
        }
}

/* "maekawa exclusive quorum=1 on 3 sites": for messages of failure. */
static const char *name_of(const struct dme_conf *conf)
{
    static char line[256];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    dme_print(&text, "%s %s", conf->alg->name, cli_rule_text(conf));
    for (unsigned k = 0; conf->alg->options && conf->alg->options[k].key; k++)
        dme_print(&text, " %s=%llu", conf->alg->options[k].key, (unsigned long long)conf->option[k]);
    dme_print(&text, " on %u sites", conf->n);
    return line;
}

/* ----------------------------------------------------------------------------------------------- every interleaving */

static void holds(const struct dme_conf *conf, uint8_t requests, uint32_t needs)
{
    struct check_task task = {.conf = *conf, .needs = needs, .limit = 300000};
    struct check_result r;

    memset(task.requests, requests, conf->n);
    check_run(&task, &r);
    free(r.trace);
    if (r.verdict != CHECK_HOLDS && r.verdict != CHECK_UNFINISHED)
        fail_msg("%s: %s%s%s", name_of(conf), check_verdicts[r.verdict], r.fault ? ": " : "", r.fault ? r.fault : "");
}

static void holds_once(const struct dme_conf *conf)
{
    holds(conf, 1, check_needs(conf->alg, conf->alg->needs & DME_FIFO));
}

static void holds_twice_in_both_orders(const struct dme_conf *conf)
{
    holds(conf, 2, check_needs(conf->alg, conf->alg->needs & DME_FIFO));
    holds(conf, 2, check_needs(conf->alg, true));
}

static void every_algorithm_holds_with_the_promises_it_needs_and_no_other(void **state)
{
    (void)state;
    for_every(1, holds_twice_in_both_orders);
    for_every(2, holds_twice_in_both_orders);
    for_every(3, holds_once);
}

/* -------------------------------------------------------------------------------------------------- simulated loads */

/* Every site that asks gets in and leaves, under the rule, at light and at full load and on channels good and bad. */
static void serves(const struct dme_conf *conf)
{
    static const struct dist delays[] = {{DIST_CONST, 1, 0}, {DIST_EXP, 1, 0}, {DIST_UNIFORM, 0, 3}};

    for (unsigned d = 0; d < sizeof delays / sizeof delays[0]; d++)
        for (enum load_type load = LOAD_OPEN; load <= LOAD_CLOSED; load++) {
            struct sim_spec spec = {.conf = *conf,
                                    .load = {.type = load, .rate = 0.02, .readers = 0.5},
                                    .delay = {.dist = delays[d]},
                                    .hold = {.a = 0.5},
                                    .entries = 400,
                                    .seed = 1 + d};
            struct sim_result r;
            char line[512];
            struct dme_text wrong;

            dme_text_init(&wrong, line, sizeof line);
            if (!sim_run(&spec, &r, &wrong))
                continue; /* such as a bound on delays that have none */
            if (r.failure[0])
                fail_msg("%s: %s", name_of(conf), r.failure);
            if (r.entries != spec.entries)
                fail_msg("%s: %llu of 400 entered", name_of(conf), (unsigned long long)r.entries);
            sim_result_free(&r);
        }
}

static void every_algorithm_serves_every_load_on_every_network(void **state)
{
    (void)state;
    for_every(1, serves);
    for_every(2, serves);
    for_every(7, serves);
    for_every(13, serves);
}

/* ----------------------------------------------------------------------------------------------------- what it says */

/* Where the columns of a kind have names, each ticket has a word of them. */
static void names_its_fields(const struct dme_alg *a, const struct dme_kind *kind, const char *words)
{
    unsigned count = *words != 0;

    for (const char *c = words; *c; c++)
        count += *c == ' ';
    if (count != kind->fixed + kind->per_site)
        fail_msg("%s: %s has %u tickets, and names for %u", a->name, kind->name, kind->fixed + kind->per_site, count);
}

/* Name, paper, cost and messages are there, and what a user may set is described. */
static void every_algorithm_introduces_itself(void **state)
{
    (void)state;
    for (unsigned k = 0; alg_list[k]; k++) {
        const struct dme_alg *a = alg_list[k];

        assert_non_null(a->name);
        assert_ptr_equal(alg_find(a->name), a); /* and no other algorithm has this name */
        assert_int_equal(strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(a->name));
        assert_non_null(a->paper);
        assert_non_null(a->cost);
        assert_true(dme_kinds(a) > 0);
        assert_int_not_equal(a->rules, 0);
        assert_non_null(a->show);
        for (unsigned kind = 0; a->fields && a->kinds[kind].name; kind++)
            if (a->fields[kind])
                names_its_fields(a, &a->kinds[kind], a->fields[kind]);
        for (const struct dme_option *o = a->options; o && o->key; o++)
            assert_non_null(o->help);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_introduces_itself),
        cmocka_unit_test(every_algorithm_holds_with_the_promises_it_needs_and_no_other),
        cmocka_unit_test(every_algorithm_serves_every_load_on_every_network),
    };

    return cmocka_run_group_tests_name("every", tests, NULL, NULL);
}
