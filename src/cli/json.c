/* json.c - JSON on a stream, two spaces deep, keys in the order they are written. See cli.h. */
#include "cli.h"

#include <math.h>

static void json_comma(struct cli_json *j)
{
    if (j->keyed) {
        j->keyed = false;
        return;
    }
    if (j->depth && j->line)
        fprintf(j->to, "%s", j->first ? "" : ", ");
    else if (j->depth)
        fprintf(j->to, "%s\n%*s", j->first ? "" : ",", (int)(2 * j->depth), "");
    j->first = false;
}

/* The length of the character of UTF-8 that begins here, as RFC 3629 allows it; 0: there is none. */
static unsigned json_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    unsigned len = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : 4;

    if (len == 4 && (c[0] < 0xf0 || c[0] > 0xf4))
        return 0;
    for (unsigned k = 1; k < len; k++)
        if ((c[k] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
        (c[0] == 0xf4 && c[1] > 0x8f)) /* written longer than it is, half of a pair, beyond the last one */
        return 0;
    return len;
}

/* Names may be any bytes, and JSON may not: what is no character is written as U+FFFD. */
static void json_string(struct cli_json *j, const char *text)
{
    putc('"', j->to);
    for (unsigned len; *text; text += len ? len : 1) {
        len = json_character(text);
        if (!len)
            fprintf(j->to, "\\ufffd");
        else if (*text == '"' || *text == '\\')
            fprintf(j->to, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(j->to, "\\u%04x", *text);
        else
            fprintf(j->to, "%.*s", (int)len, text);
    }
    putc('"', j->to);
}

static void json_open(struct cli_json *j, char bracket)
{
    json_comma(j);
    putc(bracket, j->to);
    j->depth++;
    j->first = true;
}

void json_object(struct cli_json *j)
{
    json_open(j, '{');
}

void json_array(struct cli_json *j)
{
    json_open(j, '[');
}

void json_end(struct cli_json *j, char bracket)
{
    j->depth--;
    if (!j->first && !j->line)
        fprintf(j->to, "\n%*s", (int)(2 * j->depth), "");
    putc(bracket, j->to);
    j->first = false;
    if (!j->depth)
        putc('\n', j->to);
}

void json_key(struct cli_json *j, const char *key)
{
    json_comma(j);
    json_string(j, key);
    fprintf(j->to, ": ");
    j->keyed = true;
}

void json_text(struct cli_json *j, const char *value)
{
    json_comma(j);
    if (value)
        json_string(j, value);
    else
        fprintf(j->to, "null");
}

void json_count(struct cli_json *j, uint64_t value)
{
    json_comma(j);
    fprintf(j->to, "%llu", (unsigned long long)value);
}

void json_number(struct cli_json *j, const char *digits)
{
    json_comma(j);
    fputs(digits, j->to);
}

void json_real(struct cli_json *j, double value)
{
    json_comma(j);
    if (isfinite(value))
        fprintf(j->to, "%.10g", value);
    else
        fprintf(j->to, "null");
}

void json_bool(struct cli_json *j, bool value)
{
    json_comma(j);
    fprintf(j->to, value ? "true" : "false");
}
