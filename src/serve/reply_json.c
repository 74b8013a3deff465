/* reply_json.c - see reply_json.h. */
#include "reply_json.h"

#include <stdlib.h>
#include <string.h>

void reply_text_to_json(const char *text, size_t len, FILE *to)
{
    size_t k = 0;

    putc('"', to);
    while (k < len) {
        size_t plain = k;

        while (plain < len && text[plain] != '"' && text[plain] != '\\' && (unsigned char)text[plain] >= ' ')
            plain++;
        fwrite(text + k, 1, plain - k, to);
        if (plain < len && (unsigned char)text[plain] < ' ')
            fprintf(to, "\\u%04x", text[plain]);
        else if (plain < len)
            fprintf(to, "\\%c", text[plain]);
        k = plain + 1;
    }
    putc('"', to);
}

const char *reply_to_json(const char *at, FILE *to)
{
    const char *end = strstr(at, "\r\n"), *rest = end ? end + 2 : at + strlen(at);
    unsigned long number = end ? strtoul(at + 1, NULL, 10) : 0;

    if (!end || (*at == '$' && strlen(rest) < number + 2)) { /* the node was cut off within its reply */
        fputs("null", to);
        return at + strlen(at);
    }
    switch (*at) {
    case ':':
        fprintf(to, "%lu", number);
        return rest;
    case '#':
        fputs(at[1] == 't' ? "true" : "false", to);
        return rest;
    case '_':
        fputs("null", to);
        return rest;
    case '+':
        reply_text_to_json(at + 1, (size_t)(end - at - 1), to);
        return rest;
    case '-':
        fputs("{\"error\": ", to);
        reply_text_to_json(at + 1, (size_t)(end - at - 1), to);
        putc('}', to);
        return rest;
    case '$':
        reply_text_to_json(rest, number, to);
        return rest + number + 2;
    default: /* a map %, an array *, or news > */
        putc(*at == '%' ? '{' : '[', to);
        for (unsigned long k = 0; k < number; k++) {
            fprintf(to, k ? ", " : "");
            if (*at == '%') {
                rest = reply_to_json(rest, to);
                fprintf(to, ": ");
            }
            rest = reply_to_json(rest, to);
        }
        putc(*at == '%' ? '}' : ']', to);
        return rest;
    }
}
