/* The specification against a second, naive reading of it; and what a configuration accepts. */
#include "test.h"

#include "alg/list.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* The rules as a person would say them, one by one, over all pairs. */
static bool naive_safe(const struct dme_conf *conf, const uint32_t *modes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            if (i == j)
                continue;
            switch (conf->rule) {
            case DME_EXCLUSIVE: /* never two */
                return false;
            case DME_SHARED: /* two readers, but no writer beside any other site */
                if (modes[i] == 0 || modes[j] == 0)
                    return false;
                break;
            case DME_GROUP: /* members of one group, and 0 is the group of no site */
                if (modes[i] != modes[j] || modes[i] == 0)
                    return false;
                break;
            }
        }
    return conf->rule != DME_SLOTS || count <= conf->limit;
}

static const struct dme_alg *knows(enum dme_rule rule)
{
    for (unsigned k = 0; alg_list[k]; k++)
        if (alg_list[k]->rules & 1u << rule)
            return alg_list[k];
    fail_msg("no algorithm knows rule %u", rule);
    return NULL;
}

/* Every list of up to five holders, in every mode that the rule allows. */
static void safe_agrees_with_a_naive_reading_of_the_rules(void **state)
{
    (void)state;
    for (unsigned rule = 0; rule < DME_RULES; rule++)
        for (uint32_t limit = 1; limit <= 3; limit++) {
            struct dme_conf conf;
            uint32_t first, last, modes[5];

            dme_conf_init(&conf, knows(rule), 5, rule, limit);
            dme_modes(&conf, &first, &last);
            for (uint32_t count = 0; count <= 5; count++)
                for (uint32_t code = 0; code < 1024; code++) {
                    bool possible = true;

                    for (uint32_t k = 0; k < 5; k++) {
                        modes[k] = code >> 2 * k & 3;
                        possible &= modes[k] <= last;
                    }
                    if (possible)
                        assert_int_equal(dme_safe(&conf, modes, count), naive_safe(&conf, modes, count));
                }
        }
}

static void modes_are_those_of_the_rule(void **state)
{
    static const struct {
        enum dme_rule rule;
        uint32_t limit, first, last;
    } expected[] = {{DME_EXCLUSIVE, 0, 0, 0}, {DME_SHARED, 0, 0, 1}, {DME_SLOTS, 3, 0, 0}, {DME_GROUP, 4, 1, 4}};

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct dme_conf conf;
        uint32_t first, last;

        dme_conf_init(&conf, knows(expected[k].rule), 3, expected[k].rule, expected[k].limit);
        dme_modes(&conf, &first, &last);
        assert_int_equal(first, expected[k].first);
        assert_int_equal(last, expected[k].last);
    }
}

/* A rejected configuration says why, in one line. */
static void rejects(const char *algorithm, uint32_t n, enum dme_rule rule, uint32_t limit, const char *why)
{
    struct dme_conf conf;
    struct dme_text text;
    char line[256];

    dme_text_init(&text, line, sizeof line);
    dme_conf_init(&conf, alg_find(algorithm), n, rule, limit);
    assert_false(dme_conf_check(&conf, &text));
    if (!strstr(line, why))
        fail_msg("\"%s\" does not say \"%s\"", line, why);
}

static void check_rejects_what_cannot_run_and_says_why(void **state)
{
    (void)state;
    rejects("lamport", 0, DME_EXCLUSIVE, 0, "0 sites: 1 to");
    rejects("lamport", DME_SITES_MAX + 1, DME_EXCLUSIVE, 0, "sites: 1 to");
    rejects("lamport", 3, DME_SHARED, 0, "lamport does not know the rule \"shared\"; it knows exclusive");
    rejects("raymond-k", 3, DME_SLOTS, 0, "slots:1 is the least");
}

static void options_are_set_by_key_and_rejected_with_a_remedy(void **state)
{
    struct dme_conf conf;
    struct dme_text text;
    char line[256];

    (void)state;
    dme_conf_init(&conf, alg_find("maekawa"), 7, DME_EXCLUSIVE, 0);
    dme_text_init(&text, line, sizeof line);
    assert_true(dme_conf_set(&conf, "quorum", "plane", &text));
    assert_true(dme_conf_check(&conf, &text));
    assert_string_equal(line, "");
    assert_false(dme_conf_set(&conf, "quorum", "plain", &text));
    assert_string_equal(line, "quorum=plain is not possible; it is one of grid, plane, full");
    dme_text_init(&text, line, sizeof line);
    assert_false(dme_conf_set(&conf, "colour", "red", &text));
    assert_string_equal(line, "maekawa has no option \"colour\"; it has yield, quorum");
    dme_text_init(&text, line, sizeof line);
    conf.n = 8;
    assert_false(dme_conf_check(&conf, &text));
    assert_non_null(strstr(line, "quorum=plane needs"));
}

static void a_site_that_is_down_exists_and_leaves_a_quorum(void **state)
{
    struct dme_conf conf;
    struct dme_text text;
    char line[256];

    (void)state;
    dme_conf_init(&conf, alg_find("agrawal-el-abbadi"), 1, DME_EXCLUSIVE, 0);
    dme_text_init(&text, line, sizeof line);
    assert_true(dme_conf_set(&conf, "down", "1", &text));
    assert_false(dme_conf_check(&conf, &text));
    assert_non_null(strstr(line, "down must be one of the sites"));
    conf.n = 2;
    assert_false(dme_conf_check(&conf, &text));
    assert_non_null(strstr(line, "no quorum is left"));
    conf.n = 3;
    assert_true(dme_conf_check(&conf, &text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safe_agrees_with_a_naive_reading_of_the_rules),
        cmocka_unit_test(modes_are_those_of_the_rule),
        cmocka_unit_test(check_rejects_what_cannot_run_and_says_why),
        cmocka_unit_test(options_are_set_by_key_and_rejected_with_a_remedy),
        cmocka_unit_test(a_site_that_is_down_exists_and_leaves_a_quorum),
    };

    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
