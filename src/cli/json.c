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

static void json_string(struct cli_json *j, const char *text)
{
    putc('"', j->to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(j->to, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(j->to, "\\u%04x", *text);
        else
            putc(*text, j->to);
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
