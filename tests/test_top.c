/* Texts on the screen of dibs top: nothing that a terminal would obey, and no more columns than there are. */
#include "test.h"

#include "cli/top.h"

#include <string.h>

static void texts_are_shown_without_what_a_terminal_would_obey(void **state)
{
    char to[TOP_TEXT];

    (void)state;
    assert_int_equal(top_text(to, "db-1", 80), 4);
    assert_string_equal(to, "db-1");
    assert_int_equal(top_text(to, "a\033[31mb\n\177", 80), 18);
    assert_string_equal(to, "a\\x1b[31mb\\x0a\\x7f");
    assert_int_equal(top_text(to,
                              "\xc2\x9b"
                              "1", /* U+009B begins a sequence, too */
                              80),
                     9);
    assert_string_equal(to, "\\xc2\\x9b1");
    top_text(to, "\xe2\x80\xae", 80); /* U+202E turns the direction of text */
    assert_string_equal(to, "\\xe2\\x80\\xae");
    top_text(to, "\xff\xc3", 80);
    assert_string_equal(to, "\\xff\\xc3");
}

static void texts_are_cut_at_the_width_of_their_column(void **state)
{
    char to[TOP_TEXT], longer[4 * TOP_TEXT];

    (void)state;
    assert_int_equal(top_text(to, "backup", 3), 3);
    assert_string_equal(to, "bac");
    assert_int_equal(top_text(to, "\xc3\xa9t\xc3\xa9", 2), 2);
    assert_string_equal(to, "\xc3\xa9t");
    assert_int_equal(top_text(to, "\xe6\x97\xa5\xe6\x9c\xac", 3), 2); /* two columns each */
    assert_string_equal(to, "\xe6\x97\xa5");
    assert_int_equal(top_text(to, "ab\n", 5), 2);
    assert_string_equal(to, "ab");
    memset(longer, '\n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_true(top_text(to, longer, 100000) < TOP_TEXT);
}

static void ages_take_six_columns(void **state)
{
    static const uint64_t ages[] = {0, 999, 59999, 60000, 3599999, 3600000, 86399999, 86400000, 99 * 86400000ull};
    char to[24];

    (void)state;
    for (unsigned k = 0; k < sizeof ages / sizeof ages[0]; k++)
        assert_in_range(strlen(top_age(ages[k], to)), 4, 6);
    assert_string_equal(top_age(12340, to), "12.3s");
    assert_string_equal(top_age(302000, to), "5m02s");
    assert_string_equal(top_age(11220000, to), "3h07m");
    assert_string_equal(top_age(1051200000, to), "12d04h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_shown_without_what_a_terminal_would_obey),
        cmocka_unit_test(texts_are_cut_at_the_width_of_their_column),
        cmocka_unit_test(ages_take_six_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
