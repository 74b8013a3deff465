/* Records of the log as lines: whatever bytes a text has, a record is one line, and a line of JSON can be read again.
 * Invariant: I31. */
#include "test.h"

#include "serve/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[RECORD_LINE_MAX];

static const char *printed(const char *text, enum record_format format)
{
    struct log_record r = {.level = RECORD_WARNING,
                           .time_ms = 1763367300123,
                           .member = "ant",
                           .text = text,
                           .field = {{.key = "lock", .text = "a\"b"}, {.key = "fence", .number = 7}}};
    size_t len = record_print(&r, format, line);

    assert_int_equal(len, strlen(line));
    return line;
}

static void forms(void **state)
{
    (void)state;
    assert_string_equal(printed("is so", RECORD_TEXT), "2025-11-17T08:15:00.123Z warning dibs: ant: is so\n");
    assert_string_equal(printed("is so", RECORD_JOURNAL), "<4>ant: is so\n");
    assert_string_equal(
        printed("is so", RECORD_JSON),
        "{\"time\":\"2025-11-17T08:15:00.123Z\",\"level\":\"warning\",\"member\":\"ant\",\"lock\":\"a\\\"b\","
        "\"fence\":7,\"text\":\"is so\"}\n");
}

/* Cut texts, halves of characters and control characters leave a line of JSON valid. */
static void odd_texts(void **state)
{
    static const struct {
        const char *text, *as;
    } odd[] = {
        {"a\nb\x1b[2J", "a?b?[2J"},
        {"n\xc3\xa4me \xf0\x9f\x94\x92", "n\xc3\xa4me \xf0\x9f\x94\x92"},
        {"half \xc3", "half ?"},
        {"\xc2\x9b"
         "2J",
         "??2J"},
        {"\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xff", "?? ??? ???? ?"},
        {"\"\\", "\\\"\\\\"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
        char want[64];

        snprintf(want, sizeof want, "\"text\":\"%s\"}\n", odd[k].as);
        assert_string_equal(strstr(printed(odd[k].text, RECORD_JSON), "\"text\""), want);
        printed(odd[k].text, RECORD_TEXT);
        assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    }
}

static void long_texts(void **state)
{
    char text[2 * RECORD_LINE_MAX];

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        memset(text, "x\"\\\xc3"[k], sizeof text - 1);
        text[sizeof text - 1] = '\0';
        for (int format = 0; format < RECORD_FORMATS; format++) {
            printed(text, (enum record_format)format);
            assert_true(strlen(line) < sizeof line);
            assert_int_equal(line[strlen(line) - 1], '\n');
        }
        printed(text, RECORD_JSON);
        assert_string_equal(line + strlen(line) - 3, "\"}\n");
        assert_true(line[strlen(line) - 4] != '\\' || line[strlen(line) - 5] == '\\');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(odd_texts),
        cmocka_unit_test(long_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
