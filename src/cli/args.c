/* args.c - options, and error messages. See cli.h. */
#include "cli.h"
#include "lab/meant.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noreturn)) args_end(int status, const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, "dibs: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    exit(status);
}

void cli_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    args_end(CLI_USAGE, format, args);
}

void cli_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    args_end(CLI_FAILED, format, args);
}

void cli_unknown(const char *what, const char *word, const char *const *names, const char *remedy)
{
    const char *close = meant(word, names);

    if (close)
        cli_die("unknown %s \"%s\"; did you mean \"%s\"? (%s)", what, word, close, remedy);
    cli_die("unknown %s \"%s\" (%s)", what, word, remedy);
}

static uint64_t args_count(const struct cli_option *o, const char *text)
{
    char *end;
    uint64_t x, unit = 1;

    errno = 0;
    x = strtoull(text, &end, 10);
    if (*end && !end[1])
        unit = *end == 'k' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 0;
    else if (*end)
        unit = 0;
    if (*text < '0' || *text > '9' || errno || !unit || x > UINT64_MAX / unit || (double)(x * unit) < o->min ||
        (double)(x * unit) > o->max)
        cli_die("%s %s is not possible; it takes a whole number from %.0f to %.0f", o->name, text, o->min, o->max);
    return x * unit;
}

static double args_real(const struct cli_option *o, const char *text)
{
    char *end;
    double x = strtod(text, &end);

    if (end == text || *end || !isfinite(x) || x < o->min || x > o->max)
        cli_die("%s %s is not possible; it takes a number from %g to %g", o->name, text, o->min, o->max);
    return x;
}

static double args_span(const struct cli_option *o, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
    char *end;
    double x = strtod(text, &end), unit = NAN;

    for (unsigned k = 0; k < sizeof units / sizeof units[0] && end != text; k++)
        if (strcmp(end, units[k].name) == 0)
            unit = units[k].seconds;
    if (!isfinite(x * unit) || x * unit < o->min || x * unit > o->max)
        cli_die("%s %s is not possible; it takes seconds, from %.7g to %.7g, or a time with a unit: 250ms, 10s, 5m, 2h",
                o->name, text, o->min, o->max);
    return x * unit;
}

static unsigned args_choice(const struct cli_option *o, const char *text)
{
    char remedy[256] = "one of";

    for (unsigned c = 0; o->choices[c]; c++) {
        if (strcmp(o->choices[c], text) == 0)
            return c;
        snprintf(remedy + strlen(remedy), sizeof remedy - strlen(remedy), " %s", o->choices[c]);
    }
    cli_unknown(o->name, text, o->choices, remedy);
}

static bool args_is_flag(const struct cli_option *o)
{
    return o->type == CLI_FLAG || o->type == CLI_FLAGS;
}

static void args_mark(const struct cli_option *o, const char *text, int words)
{
    struct cli_marks *marks = o->value;

    if (marks->count == sizeof marks->item / sizeof marks->item[0])
        cli_die("%s may be given at most %zu times", o->name, sizeof marks->item / sizeof marks->item[0]);
    marks->item[marks->count++] =
        (struct cli_mark){.words = words, .text = text, .number = o->type == CLI_COUNTS ? args_count(o, text) : 0};
}

/* `words`: how many came before. */
static void args_store(const struct cli_option *o, const char *text, int words)
{
    struct cli_list *list = o->value;

    switch (o->type) {
    case CLI_FLAG:
        *(bool *)o->value = true;
        break;
    case CLI_COUNT:
        *(uint64_t *)o->value = args_count(o, text);
        break;
    case CLI_REAL:
        *(double *)o->value = args_real(o, text);
        break;
    case CLI_SPAN:
        *(double *)o->value = args_span(o, text);
        break;
    case CLI_TEXT:
        *(const char **)o->value = text;
        break;
    case CLI_CHOICE:
        *(unsigned *)o->value = args_choice(o, text);
        break;
    case CLI_SOME:
        *(unsigned *)o->value |= 1u << args_choice(o, text);
        break;
    case CLI_LIST:
        if (list->count == sizeof list->item / sizeof list->item[0])
            cli_die("%s may be given at most %zu times", o->name, sizeof list->item / sizeof list->item[0]);
        list->item[list->count++] = text;
        break;
    case CLI_FLAGS:
    case CLI_COUNTS:
    case CLI_TEXTS:
        args_mark(o, text, words);
        break;
    }
}

/* The option of this name; "--name=value" is cut behind the name. */
static const struct cli_option *args_find(const struct cli_usage *usage, const char *word)
{
    const char *names[64] = {0};
    size_t len = strcspn(word, "=");
    char name[64];
    unsigned count = 0;

    for (const struct cli_option *o = usage->options; o->name; o++) {
        if (strlen(o->name) == len && strncmp(o->name, word, len) == 0)
            return o;
        names[count++] = o->name;
    }
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    cli_unknown("option", name, names,
                strstr(usage->line, " -- ") ? "--help shows all; write -- before the command and its own options"
                                            : "--help shows all");
}

void (*cli_instead)(const struct cli_usage *usage, int argc, char **argv);

int cli_parse_before(int argc, char **argv, const struct cli_usage *usage, const char **words, int max, int *before)
{
    int count = 0;
    bool options = true;

    if (cli_instead) {
        cli_instead(usage, argc, argv);
        exit(fflush(stdout) == 0 ? CLI_OK : CLI_USAGE);
    }
    for (int k = 1; k < argc; k++) {
        if (options && strcmp(argv[k], "--") == 0) {
            options = false;
            *before = count;
        } else if (options && (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0)) {
            cli_help(stdout, usage);
            exit(CLI_OK);
        } else if (options && argv[k][0] == '-' && argv[k][1]) {
            const struct cli_option *o = args_find(usage, argv[k]);
            const char *value = strchr(argv[k], '=');

            if (value && args_is_flag(o))
                cli_die("%s takes no value", o->name);
            if (value)
                value++;
            else if (!args_is_flag(o) && ++k < argc && strcmp(argv[k], "--") != 0)
                value = argv[k];
            if (!value && !args_is_flag(o))
                cli_die("%s needs a value: %s %s", o->name, o->name, o->metavar);
            args_store(o, value, count);
        } else if (count == max) {
            cli_die("\"%s\" is one word too many (usage: %s)", argv[k], usage->line);
        } else {
            words[count++] = argv[k];
        }
    }
    return count;
}

int cli_parse(int argc, char **argv, const struct cli_usage *usage, const char **words, int max)
{
    int before;

    return cli_parse_before(argc, argv, usage, words, max, &before);
}
