/* resp.c - see resp.h. */
#include "resp.h"

#include "base/plain.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* --------------------------------------------------------------------------------------------------------- requests */

/* The end of the line that begins at `at`, before its \r\n or \n; null if it has not come yet. `*next`: behind the line. */
static const char *resp_line(const char *at, const char *end, const char **next)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    if (!newline)
        return NULL;
    *next = newline + 1;
    return newline > at && newline[-1] == '\r' ? newline - 1 : newline;
}

/* The number in a line that has only digits behind its first character; -1 if it has others, or the number is above `max`. */
static int resp_count(const char *at, const char *end, int max)
{
    int x = 0;

    if (++at >= end)
        return -1;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || x > max)
            return -1;
        x = 10 * x + (*at - '0');
    }
    return x <= max ? x : -1;
}

static int resp_words_of_line(const char *at, const char *end, struct resp_request *r)
{
    while (at < end) {
        const char *word;

        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        for (word = at; at < end && *at != ' ' && *at != '\t'; at++)
            ;
        if (at > word) {
            if (r->count == RESP_ARGS_MAX)
                return -1;
            r->word[r->count++] = (struct resp_word){word, (size_t)(at - word)};
        }
    }
    return 0;
}

/* The strings of an array. 1: all have come, and r->next is behind them; 0: not all have come; -1: something is wrong. */
static int resp_strings(const char *at, const char *end, int count, struct resp_request *r, const char **next)
{
    for (int k = 0; k < count; k++) {
        const char *line = resp_line(at, end, next);
        int len;

        if (at < end && *at != '$')
            return -1;
        if (!line)
            return 0;
        len = resp_count(at, line, RESP_REQUEST_MAX);
        if (len < 0)
            return -1;
        at = *next;
        if (end - at < len + 2)
            return 0;
        if (at[len] != '\r' || at[len + 1] != '\n')
            return -1;
        r->word[r->count++] = (struct resp_word){at, (size_t)len};
        at += len + 2;
    }
    *next = at;
    return 1;
}

int resp_parse(const char *bytes, size_t len, struct resp_request *r, const char **wrong)
{
    const char *end = bytes + (len < RESP_REQUEST_MAX ? len : RESP_REQUEST_MAX), *next = bytes;
    const char *line = len ? resp_line(bytes, end, &next) : NULL;
    int count, whole = 0;

    r->count = 0;
    if (line && *bytes == '*') {
        count = resp_count(bytes, line, RESP_ARGS_MAX);
        *wrong = count < 0 ? "a request has at most 256 words" : "a request is an array of strings";
        whole = count < 0 ? -1 : resp_strings(next, end, count, r, &next);
    } else if (line) {
        *wrong = "a request has at most 256 words";
        whole = resp_words_of_line(bytes, line, r) < 0 ? -1 : 1;
    }
    if (whole == 0 && len >= RESP_REQUEST_MAX) {
        *wrong = "a request has at most 16384 bytes";
        whole = -1;
    }
    assert(r->count <= RESP_ARGS_MAX && next >= bytes && next <= end);
    return whole <= 0 ? whole : (int)(next - bytes);
}

bool resp_is(struct resp_word word, const char *text)
{
    return strlen(text) == word.len && strncasecmp(word.at, text, word.len) == 0;
}

/* ---------------------------------------------------------------------------------------------------------- replies */

static void resp_put(struct bytes *to, const char *text, size_t len)
{
    if (len)
        memcpy(bytes_add(to, len), text, len);
}

/* Every answer has numbers, so the digits are made here, from the last to the first: that is cheaper than snprintf. */
static void resp_number(struct bytes *to, char type, uint64_t x)
{
    char line[1 + 20 + 2], *end = line + sizeof line, *at = end;

    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    *--at = type;
    memcpy(bytes_add(to, (size_t)(end - at)), at, (size_t)(end - at));
}

void resp_simple(struct bytes *to, const char *text)
{
    assert(!text[strcspn(text, "\r\n")]); /* else the client would read two replies */
    resp_put(to, "+", 1);
    resp_put(to, text, strlen(text));
    resp_put(to, "\r\n", 2);
}

void resp_error(struct bytes *to, const char *code, const char *text)
{
    bool plain = plain_text(text, strlen(text));

    assert(*code && !code[strcspn(code, " \r\n")]);
    resp_put(to, "-", 1);
    resp_put(to, code, strlen(code));
    resp_put(to, " ", 1);
    for (; *text; text++)
        resp_put(to, (unsigned char)*text < ' ' || (!plain && (unsigned char)*text >= 0x7f) ? "?" : text, 1);
    resp_put(to, "\r\n", 2);
}

void resp_integer(struct bytes *to, uint64_t x)
{
    resp_number(to, ':', x);
}

void resp_signed(struct bytes *to, int64_t x)
{
    if (x >= 0) {
        resp_number(to, ':', (uint64_t)x);
        return;
    }
    resp_put(to, ":", 1);
    resp_number(to, '-', -(uint64_t)x);
}

void resp_boolean(struct bytes *to, unsigned protocol, bool x)
{
    resp_put(to, protocol == 3 ? (x ? "#t\r\n" : "#f\r\n") : x ? ":1\r\n" : ":0\r\n", 4);
}

void resp_string(struct bytes *to, const char *text, size_t len)
{
    uint8_t *at;

    resp_number(to, '$', len);
    at = bytes_add(to, len + 2);
    if (len)
        memcpy(at, text, len);
    memcpy(at + len, "\r\n", 2);
}

void resp_text(struct bytes *to, const char *text)
{
    resp_string(to, text, strlen(text));
}

void resp_null(struct bytes *to, unsigned protocol)
{
    resp_put(to, protocol == 3 ? "_\r\n" : "*-1\r\n", protocol == 3 ? 3 : 5);
}

void resp_nil(struct bytes *to, unsigned protocol)
{
    resp_put(to, protocol == 3 ? "_\r\n" : "$-1\r\n", protocol == 3 ? 3 : 5);
}

void resp_array(struct bytes *to, size_t count)
{
    resp_number(to, '*', count);
}

void resp_map(struct bytes *to, unsigned protocol, size_t pairs)
{
    resp_number(to, protocol == 3 ? '%' : '*', protocol == 3 ? pairs : 2 * pairs);
}

void resp_push(struct bytes *to, size_t count)
{
    resp_number(to, '>', count);
}
