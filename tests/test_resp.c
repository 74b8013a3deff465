/* The protocol of clients as bytes (src/protocol): what is a request and what is not, replies in both versions, and the scripts of Redis lock
 * libraries.
 * Invariant: I19. */
#include "test.h"

#include "protocol/redis_scripts.h"
#include "protocol/resp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `means` has the words of the request in brackets, behind them the number of bytes that are left; ".." if more bytes are needed; or what is
 * wrong. */
static const struct {
    const char *bytes, *means;
} requests[] = {
    {"*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n", "[LOCK] [x] 0"},
    {"*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n*1\r\n", "[LOCK] [x] 4"},
    {"*1\r\n$3\r\na\nb\r\n", "[a\nb] 0"},
    {"*1\r\n$0\r\n\r\n", "[] 0"},
    {"*0\r\n", "0"},
    {"LOCK x\r\n", "[LOCK] [x] 0"},
    {" LOCK\t x \nUNLOCK x\n", "[LOCK] [x] 9"},
    {"\r\n", "0"},
    {"", ".."},
    {"LOCK x", ".."},
    {"*2\r\n$4\r\nLOCK\r\n$1\r\nx\r", ".."},
    {"*2\r\n$4\r\nLOCK\r\n$1\r\n", ".."},
    {"*2\r\n$4\r\nLOCK\r\n", ".."},
    {"*2\r\n$4", ".."},
    {"*\r\n", "a request has at most 256 words"},
    {"*257\r\n", "a request has at most 256 words"},
    {"*4294967297\r\n", "a request has at most 256 words"}, /* 2^32 + 1 */
    {"*99999999999999999999\r\n", "a request has at most 256 words"},
    {"*-1\r\n", "a request has at most 256 words"},
    {"*1x\r\n", "a request has at most 256 words"},
    {"*1\r\n:4\r\n", "a request is an array of strings"},
    {"*1\r\nx", "a request is an array of strings"},
    {"*1\r\n$\r\n\r\n", "a request is an array of strings"},
    {"*1\r\n$-1\r\n", "a request is an array of strings"},
    {"*1\r\n$16385\r\n", "a request is an array of strings"},
    {"*1\r\n$4294967297\r\nx\r\n", "a request is an array of strings"},
    {"*1\r\n$4\r\nLOCKx\r\n", "a request is an array of strings"}, /* it is longer than it says */
    {"*1\r\n$4\r\nLOCK\rx", "a request is an array of strings"},
};

static void say_parsed(char *said, size_t size, const char *bytes, size_t len)
{
    static struct resp_request r;
    const char *wrong = "";
    char *copy = malloc(len + 1); /* exactly as many bytes: a sanitizer sees a parser that reads on */
    size_t end = 0;
    int used;

    memcpy(copy, bytes, len);
    used = resp_parse(copy, len, &r, &wrong);
    if (used <= 0)
        snprintf(said, size, "%s", used ? wrong : "..");
    for (size_t k = 0; used > 0 && k < r.count; k++)
        end += (size_t)snprintf(said + end, size - end, "[%.*s] ", (int)r.word[k].len, r.word[k].at);
    if (used > 0)
        snprintf(said + end, size - end, "%zu", len - (size_t)used);
    free(copy);
}

static void requests_are_as_in_the_table(void **state)
{
    char said[256];

    (void)state;
    for (unsigned k = 0; k < sizeof requests / sizeof requests[0]; k++) {
        say_parsed(said, sizeof said, requests[k].bytes, strlen(requests[k].bytes));
        if (strcmp(said, requests[k].means) != 0)
            fail_msg("%s: \"%s\", and not \"%s\"", requests[k].bytes, said, requests[k].means);
    }
}

static void a_line_has_a_bounded_number_of_words(void **state)
{
    static struct resp_request r;
    char line[2 * (RESP_ARGS_MAX + 1) + 1];
    const char *wrong = NULL;

    (void)state;
    for (size_t k = 0; k < sizeof line; k++)
        line[k] = k % 2 ? ' ' : 'x';
    line[2 * RESP_ARGS_MAX] = '\n';
    assert_int_equal(resp_parse(line, 2 * RESP_ARGS_MAX + 1, &r, &wrong), 2 * RESP_ARGS_MAX + 1);
    assert_int_equal(r.count, RESP_ARGS_MAX);
    line[2 * RESP_ARGS_MAX] = 'x';
    line[2 * RESP_ARGS_MAX + 1] = '\n';
    assert_int_equal(resp_parse(line, 2 * RESP_ARGS_MAX + 2, &r, &wrong), -1);
    assert_string_equal(wrong, "a request has at most 256 words");
}

static void a_request_has_a_bounded_length(void **state)
{
    static struct resp_request r;
    static char bytes[RESP_REQUEST_MAX + 1];
    const char *wrong = NULL;

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(resp_parse(bytes, RESP_REQUEST_MAX - 1, &r, &wrong), 0);
    assert_int_equal(resp_parse(bytes, RESP_REQUEST_MAX, &r, &wrong), -1);
    assert_string_equal(wrong, "a request has at most 16384 bytes");
    bytes[RESP_REQUEST_MAX - 1] = '\n';
    assert_int_equal(resp_parse(bytes, sizeof bytes, &r, &wrong), RESP_REQUEST_MAX);
}

static void a_word_is_compared_as_a_whole(void **state)
{
    (void)state;
    assert_true(resp_is((struct resp_word){"LocKx", 4}, "LOCK"));
    assert_false(resp_is((struct resp_word){"LOCKS", 5}, "LOCK") || resp_is((struct resp_word){"LOC", 3}, "LOCK"));
}

static void replies_have_two_versions(void **state)
{
    struct bytes to = {0};

    (void)state;
    for (unsigned version = 2; version <= 3; version++) {
        resp_boolean(&to, version, true);
        resp_boolean(&to, version, false);
        resp_null(&to, version);
        resp_nil(&to, version);
        resp_map(&to, version, 2);
    }
    resp_array(&to, 0);
    resp_push(&to, 12);
    resp_integer(&to, UINT64_MAX);
    resp_integer(&to, 1794842258052961);
    resp_signed(&to, 0);
    resp_signed(&to, 7);
    resp_signed(&to, -2);
    resp_signed(&to, INT64_MIN);
    resp_string(&to, "a\r\nb", 4);
    resp_string(&to, NULL, 0);
    resp_simple(&to, "OK");
    memcpy(bytes_add(&to, 1), "", 1);
    assert_string_equal((const char *)to.at + to.start, ":1\r\n:0\r\n*-1\r\n$-1\r\n*4\r\n"
                                                        "#t\r\n#f\r\n_\r\n_\r\n%2\r\n"
                                                        "*0\r\n>12\r\n:18446744073709551615\r\n:1794842258052961\r\n"
                                                        ":0\r\n:7\r\n:-2\r\n:-9223372036854775808\r\n"
                                                        "$4\r\na\r\nb\r\n$0\r\n\r\n+OK\r\n");
    bytes_free(&to);
}

/* Else what a client has sent, and an error tells of, could be taken for another reply. */
static void an_error_is_one_line(void **state)
{
    struct bytes to = {0};

    (void)state;
    resp_error(&to, "ERR", "unknown \"x\r\n:1\r\n\t\x1b[2J\"");
    resp_error(&to, "ERR", "\xc3\xa4");      /* UTF-8 */
    resp_error(&to, "ERR", "\xc3 \xff\x7f"); /* none */
    memcpy(bytes_add(&to, 1), "", 1);
    assert_string_equal((const char *)to.at + to.start,
                        "-ERR unknown \"x??:1????[2J\"\r\n-ERR \xc3\xa4\r\n-ERR ? ??\r\n");
    bytes_free(&to);
}

static void a_script_is_known_by_its_text_or_its_digest(void **state)
{
    static const char release[] = "if redis.call(\"get\", KEYS[1]) == ARGV[1] then return redis.call(\"del\", KEYS[1]) "
                                  "else return 0 end",
                      other[] = "-- release --\nif redis.call('get',KEYS[1])==ARGV[1]\n  then return "
                                "redis.call('del',KEYS[1]) -- it's ours\n  else return 0\nend",
                      wrong[] = "if redis.call(\"get\", KEYS[1]) == ARGV[2] then return redis.call(\"del\", KEYS[1]) "
                                "else return 0 end";

    (void)state;
    assert_int_equal(script_by_text(release, strlen(release)), SCRIPT_RELEASE);
    assert_int_equal(script_by_text(other, strlen(other)), SCRIPT_RELEASE);
    assert_int_equal(script_by_text(wrong, strlen(wrong)), SCRIPT_UNKNOWN);
    assert_int_equal(script_by_text(release, strlen(release) - 1), SCRIPT_UNKNOWN);
    assert_int_equal(script_by_sha1("CF0E94B2E9FFC7E04395CF88F7583FC309985910"), SCRIPT_RELEASE);
    assert_int_equal(script_by_sha1("cf0e94b2e9ffc7e04395cf88f7583fc309985911"), SCRIPT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_as_in_the_table),
        cmocka_unit_test(a_line_has_a_bounded_number_of_words),
        cmocka_unit_test(a_request_has_a_bounded_length),
        cmocka_unit_test(a_word_is_compared_as_a_whole),
        cmocka_unit_test(replies_have_two_versions),
        cmocka_unit_test(an_error_is_one_line),
        cmocka_unit_test(a_script_is_known_by_its_text_or_its_digest),
    };

    return cmocka_run_group_tests_name("resp", tests, NULL, NULL);
}
