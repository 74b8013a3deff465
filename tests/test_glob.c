/* Patterns of names: what they match, beside fnmatch, and what they cost.
 * Invariant: I31. */
#include "test.h"

#include "base/glob.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
    uint64_t cost = 0;

    return glob_matches(pattern, strlen(pattern), name, strlen(name), &cost);
}

static void patterns_match_as_in_a_shell(void **state)
{
    (void)state;
    assert_true(matches("*", "") && matches("*", "x") && matches("a*c", "abc") && matches("a*c", "ac"));
    assert_false(matches("a*c", "ab") || matches("", "x") || matches("?", "") || matches("a", "ab"));
    assert_true(matches("[a-c]x", "bx") && matches("[!a-c]x", "dx") && matches("[]]", "]") && matches("[a-]", "-"));
    assert_false(matches("[a-c]x", "dx") || matches("[!a-c]x", "bx"));
    assert_true(matches("\\*", "*") && !matches("\\*", "x") && matches("[x", "[x"));
    assert_true(glob_matches("p*", 2, "prod\0x", 6, &(uint64_t){0}));
    assert_false(glob_matches("prod", 4, "prod\0x", 6, &(uint64_t){0}));
}

/* fnmatch is the other implementation, on all short patterns of these bytes. */
static void patterns_match_as_fnmatch_does(void **state)
{
    static const char alphabet[] = "ab*?[]!-";
    static const char *const names[] = {"",      "a", "b", "ab", "ba", "aab", "abab", "baabba",
                                        "aaaab", "-", "!", "]",  "[",  "[a",  "a]"};
    char pattern[6];

    (void)state;
    for (unsigned code = 0; code < 8 * 8 * 8 * 8 * 8; code++) {
        unsigned rest = code, len = 0;

        for (; len < 5; len++, rest /= 8)
            pattern[len] = alphabet[rest % 8];
        pattern[len] = '\0';
        for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++)
            if (matches(pattern, names[k]) != (fnmatch(pattern, names[k], 0) == 0))
                fail_msg("\"%s\" and \"%s\"", pattern, names[k]);
    }
}

/* What a match costs; the name is 255 times a. */
static uint64_t cost_of(const char *pattern, size_t len)
{
    char name[255];
    uint64_t cost = 0;

    memset(name, 'a', sizeof name);
    assert_false(glob_matches(pattern, len, name, sizeof name, &cost));
    return cost;
}

static void a_pattern_of_stars_and_bytes_costs_the_sum_of_the_lengths(void **state)
{
    char pattern[256];

    (void)state;
    for (unsigned k = 0; k < 127; k++)
        memcpy(pattern + 2 * k, "*a", 2);
    pattern[254] = 'b';
    assert_in_range(cost_of(pattern, 255), 1, 2 * (255 + 255));
    memset(pattern, 'a', 128);
    pattern[0] = '*';
    pattern[127] = 'b';
    assert_in_range(cost_of(pattern, 128), 1, 2 * (128 + 255));
    pattern[128] = '*';
    assert_in_range(cost_of(pattern, 129), 1, 2 * (129 + 255));
    for (unsigned k = 0; k < 31; k++) /* aaaaaaa*aaaaaaa*..., of which the last is not there */
        pattern[8 * k] = '*';
    assert_in_range(cost_of(pattern, 250), 1, 2 * (250 + 255));
}

static void no_pattern_costs_more_than_the_product_of_the_lengths(void **state)
{
    char pattern[256];

    (void)state;
    memset(pattern, '?', 128);
    pattern[0] = '*';
    pattern[127] = 'b';
    assert_in_range(cost_of(pattern, 128), 255, 128 * 255);
    for (unsigned k = 0; k < 80; k++)
        memcpy(pattern + 1 + 3 * k, "[a]", 3);
    pattern[241] = 'b';
    assert_in_range(cost_of(pattern, 242), 255, 242 * 255);
}

static void every_match_begins_with_the_prefix(void **state)
{
    (void)state;
    assert_int_equal(glob_prefix("build-*", 7), 6);
    assert_int_equal(glob_prefix("*", 1), 0);
    assert_int_equal(glob_prefix("a[bc]", 5), 1);
    assert_int_equal(glob_prefix("plain", 5), 5);
    assert_int_equal(glob_prefix("a\\*", 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_a_shell),
        cmocka_unit_test(patterns_match_as_fnmatch_does),
        cmocka_unit_test(a_pattern_of_stars_and_bytes_costs_the_sum_of_the_lengths),
        cmocka_unit_test(no_pattern_costs_more_than_the_product_of_the_lengths),
        cmocka_unit_test(every_match_begins_with_the_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
