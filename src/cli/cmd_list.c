/* dibs list - the algorithms: a line each, or everything about one. */
#include "alg/list.h"
#include "cli.h"
#include "core/text.h"

#include <stdarg.h>
#include <string.h>

/* The names of the bits that are set, one after the other. */
static const char *list_bits(uint32_t bits, const char *(*name)(unsigned), const char *between, char *buf, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, buf, size);
    for (unsigned b = 0; bits >> b; b++)
        if (bits & 1u << b)
            dme_print(&text, "%s%s", text.len ? between : "", name(b));
    return buf;
}

/* A text below the name, wrapped. */
static void list_below(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void list_below(const char *format, ...)
{
    char line[2048] = "\t";
    va_list args;

    va_start(args, format);
    vsnprintf(line + 1, sizeof line - 1, format, args);
    va_end(args);
    cli_help_text(stdout, line);
}

/* Name, family and rules; messages and cost; needs; source. The needs that all algorithms share (messages arrive, sites
 * do not crash) are left out. No line is wider than the terminal. */
static void list_lines(const struct dme_alg *a)
{
    uint32_t special = a->needs & ~(uint32_t)(DME_RELIABLE | DME_ALIVE);
    char buf[256];
    struct dme_text kinds;

    printf("%-41s%-11s%s\n", a->name, dme_family_name(a->family),
           list_bits(a->rules, dme_rule_name, " ", buf, sizeof buf));
    dme_text_init(&kinds, buf, sizeof buf);
    for (const struct dme_kind *k = a->kinds; k->name; k++)
        dme_print(&kinds, "%s%s", kinds.len ? " " : "", k->name);
    list_below("%s; %s", buf, a->cost);
    if (special)
        list_below("needs %s", list_bits(special, dme_need_name, " ", buf, sizeof buf));
    list_below("%s", a->paper);
    if (a->flaw)
        list_below("%s: %s", dme_mistake_kind_name(a->mistaken), a->flaw);
    for (unsigned m = 0; a->mistakes && a->mistakes[m].name; m++)
        if (dme_makes(a, m))
            list_below("- %s (%s): %s", a->mistakes[m].name, a->mistakes[m].where, a->mistakes[m].what);
}

/* The first one is made unless told otherwise. */
static void list_mistakes(const struct dme_alg *a)
{
    char left[128], right[1024];

    for (unsigned m = 0; a->mistakes && a->mistakes[m].name; m++)
        if (dme_makes(a, m)) {
            snprintf(left, sizeof left, "--set mistake=%s", a->mistakes[m].name);
            snprintf(right, sizeof right, "%s: %s", a->mistakes[m].where, a->mistakes[m].what);
            cli_help_item(stdout, left, right);
        }
}

static void list_options(const struct dme_alg *a)
{
    for (const struct dme_option *o = a->options; o && o->key; o++) {
        char left[256], right[512];
        struct dme_text text;

        dme_text_init(&text, left, sizeof left);
        dme_print(&text, "--set %s=", o->key);
        if (o->choices)
            for (unsigned c = 0; o->choices[c]; c++)
                dme_print(&text, "%s%s", c ? "|" : "", o->choices[c]);
        else
            dme_print(&text, "%llu..%llu", (unsigned long long)o->min, (unsigned long long)o->max);
        if (o->choices)
            snprintf(right, sizeof right, "%s (default %s)", o->help, o->choices[o->initial]);
        else
            snprintf(right, sizeof right, "%s (default %llu)", o->help, (unsigned long long)o->initial);
        cli_help_item(stdout, left, right);
    }
}

static void list_page(const struct dme_alg *a)
{
    char buf[1024];
    struct dme_text kinds;

    printf("%s (%s)\n", a->name, dme_family_name(a->family));
    cli_help_item(stdout, "paper", a->paper);
    if (a->flaw) {
        snprintf(buf, sizeof buf, "%s: %s", dme_mistake_kind_name(a->mistaken), a->flaw);
        cli_help_item(stdout, "flaw", buf);
    }
    cli_help_item(stdout, "cost", a->cost);
    cli_help_item(stdout, "rules", list_bits(a->rules, dme_rule_name, ", ", buf, sizeof buf));
    cli_help_item(stdout, "needs", list_bits(a->needs, dme_need_name, ", ", buf, sizeof buf));
    dme_text_init(&kinds, buf, sizeof buf);
    for (const struct dme_kind *k = a->kinds; k->name; k++) {
        dme_print(&kinds, "%s", k->name);
        if (k->fixed && k->per_site)
            dme_print(&kinds, "[%u + %u per site] ", k->fixed, k->per_site);
        else if (k->per_site)
            dme_print(&kinds, "[%u per site] ", k->per_site);
        else if (k->fixed)
            dme_print(&kinds, "[%u] ", k->fixed);
        else
            dme_print(&kinds, " ");
    }
    dme_print(&kinds, "(in brackets the number of tickets)");
    cli_help_item(stdout, "messages", buf);
    list_mistakes(a);
    list_options(a);
}

static void list_json_mistakes(struct cli_json *j, const struct dme_alg *a)
{
    json_key(j, "mistaken"), json_text(j, a->mistakes ? dme_mistake_kind_name(a->mistaken) : NULL);
    json_key(j, "mistakes");
    json_array(j);
    for (unsigned m = 0; a->mistakes && a->mistakes[m].name; m++)
        if (dme_makes(a, m)) {
            json_object(j);
            json_key(j, "name"), json_text(j, a->mistakes[m].name);
            json_key(j, "where"), json_text(j, a->mistakes[m].where);
            json_key(j, "what"), json_text(j, a->mistakes[m].what);
            json_end(j, '}');
        }
    json_end(j, ']');
}

static void list_json_bits(struct cli_json *j, const char *key, uint32_t bits, const char *(*name)(unsigned))
{
    json_key(j, key);
    json_array(j);
    for (unsigned b = 0; bits >> b; b++)
        if (bits & 1u << b)
            json_text(j, name(b));
    json_end(j, ']');
}

static void list_json_options(struct cli_json *j, const struct dme_option *o)
{
    json_key(j, "options");
    json_array(j);
    for (; o && o->key; o++) {
        json_object(j);
        json_key(j, "key"), json_text(j, o->key);
        json_key(j, "help"), json_text(j, o->help);
        json_key(j, "initial");
        if (o->choices) {
            json_text(j, o->choices[o->initial]);
            json_key(j, "choices");
            json_array(j);
            for (unsigned c = 0; o->choices[c]; c++)
                json_text(j, o->choices[c]);
            json_end(j, ']');
        } else {
            json_count(j, o->initial);
            json_key(j, "min"), json_count(j, o->min);
            json_key(j, "max"), json_count(j, o->max);
        }
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void list_json(struct cli_json *j, const struct dme_alg *a)
{
    json_object(j);
    json_key(j, "name"), json_text(j, a->name);
    json_key(j, "family"), json_text(j, dme_family_name(a->family));
    list_json_bits(j, "rules", a->rules, dme_rule_name);
    list_json_bits(j, "needs", a->needs, dme_need_name);
    json_key(j, "kinds");
    json_array(j);
    for (const struct dme_kind *k = a->kinds; k->name; k++)
        json_text(j, k->name);
    json_end(j, ']');
    json_key(j, "paper"), json_text(j, a->paper);
    json_key(j, "cost"), json_text(j, a->cost);
    json_key(j, "flaw"), json_text(j, a->flaw);
    list_json_mistakes(j, a);
    list_json_options(j, a->options);
    json_end(j, '}');
}

int cmd_list(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    static unsigned format;
    static bool all;
    static const struct cli_option options[] = {
        {.name = "--format",
         .type = CLI_CHOICE,
         .value = &format,
         .metavar = "F",
         .help = "print in format F (default text)",
         .choices = formats},
        {.name = "--all",
         .type = CLI_FLAG,
         .value = &all,
         .help =
             "list all versions, also those that are kept because they are wrong (NAME-as-published, NAME-tempting, "
             "NAME-as-retold)"},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs list [ALGORITHM] [--all] [--format text|json]",
        .about = "Lists the algorithms, or describes one of them: rules, needs, messages, costs, options, paper.",
        .options = options,
        .examples = {{"List all algorithms:", "dibs list"},
                     {"Describe Maekawa's algorithm and its options:", "dibs list maekawa"}},
    };
    const char *word = NULL;
    const struct dme_alg *one;
    struct cli_json j = {.to = stdout};

    one = cli_parse(argc, argv, &usage, &word, 1) ? cli_algorithm(word) : NULL;
    if (one && format == CLI_AS_TEXT) {
        list_page(one);
        return CLI_OK;
    }
    if (format == CLI_AS_JSON)
        json_array(&j);
    for (unsigned k = 0; alg_list[k]; k++) {
        if (one ? alg_list[k] != one : alg_list[k]->flaw && !all)
            continue;
        if (format == CLI_AS_JSON)
            list_json(&j, alg_list[k]);
        else
            list_lines(alg_list[k]);
    }
    if (format == CLI_AS_JSON)
        json_end(&j, ']');
    return CLI_OK;
}
