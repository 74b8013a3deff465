/* Options as the user writes them. What ends the program is tested from outside, in cli.sh. */
#include "test.h"

#include "cli/cli.h"
#include "lab/meant.h"

static const char *const fruits[] = {"apple", "banana", "cherry", NULL};

static void a_slip_of_the_finger_is_understood(void **state)
{
    (void)state;
    assert_string_equal(meant("aple", fruits), "apple");
    assert_string_equal(meant("bannana", fruits), "banana");
    assert_string_equal(meant("chrery", fruits), "cherry");
}

static void a_beginning_is_understood(void **state)
{
    (void)state;
    assert_string_equal(meant("ban", fruits), "banana");
    assert_string_equal(meant("c", fruits), "cherry");
}

static void what_looks_like_nothing_is_not_guessed(void **state)
{
    (void)state;
    assert_null(meant("zzz", fruits));
    assert_null(
        meant("--wait", (const char *const[]){"--cert", "--key", NULL})); /* that both begin with -- means nothing */
    assert_null(meant("", fruits));
    assert_null(meant("a word that is much longer than any name could ever be, and then some", fruits));
}

static bool flag;
static uint64_t count;
static double real;
static const char *text;
static unsigned choice;
static struct cli_list list;

static const struct cli_option options[] = {
    {.name = "--flag", .type = CLI_FLAG, .value = &flag},
    {.name = "--count", .type = CLI_COUNT, .value = &count, .metavar = "N", .min = 0, .max = 1e10},
    {.name = "--real", .type = CLI_REAL, .value = &real, .metavar = "X", .min = -1, .max = 1},
    {.name = "--text", .type = CLI_TEXT, .value = &text, .metavar = "T"},
    {.name = "--fruit", .type = CLI_CHOICE, .value = &choice, .metavar = "F", .choices = fruits},
    {.name = "--list", .type = CLI_LIST, .value = &list, .metavar = "L"},
    {0},
};
static const struct cli_usage usage = {.line = "test", .about = "", .options = options};

/* As if the user had written these words behind the command. */
static int parse(const char *const *argv, const char **words)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    return cli_parse(argc, (char **)argv, &usage, words, 2);
}

static void options_of_every_type_are_read(void **state)
{
    const char *const argv[] = {"test",    "--flag", "one",    "--count", "12",       "--real=-0.5", "--text", "x=y",
                                "--fruit", "cherry", "--list", "a",       "--list=b", "two",         NULL};
    const char *words[2];

    (void)state;
    assert_int_equal(parse(argv, words), 2);
    assert_string_equal(words[0], "one");
    assert_string_equal(words[1], "two");
    assert_true(flag);
    assert_int_equal(count, 12);
    assert_true(real == -0.5);
    assert_string_equal(text, "x=y");
    assert_int_equal(choice, 2);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.item[0], "a");
    assert_string_equal(list.item[1], "b");
}

static void counts_may_have_a_unit(void **state)
{
    static const struct {
        const char *word;
        uint64_t value;
    } expected[] = {{"0", 0}, {"10k", 10000}, {"2M", 2000000}, {"3G", 3000000000}};

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        const char *const argv[] = {"test", "--count", expected[k].word, NULL};

        parse(argv, NULL);
        assert_int_equal(count, expected[k].value);
    }
}

static void behind_two_dashes_everything_is_a_word(void **state)
{
    const char *const argv[] = {"test", "--", "--flag", "--", NULL};
    const char *words[2];

    (void)state;
    flag = false;
    assert_int_equal(parse(argv, words), 2);
    assert_false(flag);
    assert_string_equal(words[0], "--flag");
    assert_string_equal(words[1], "--");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_understood),
        cmocka_unit_test(a_beginning_is_understood),
        cmocka_unit_test(what_looks_like_nothing_is_not_guessed),
        cmocka_unit_test(options_of_every_type_are_read),
        cmocka_unit_test(counts_may_have_a_unit),
        cmocka_unit_test(behind_two_dashes_everything_is_a_word),
    };

    return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
