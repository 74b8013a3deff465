/* dibs list - the algorithms: a line each, or everything about one. */
#include "alg/list.h"
#include "cli.h"
#include "core/text.h"

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

/* Three lines: name and needs; messages and cost; source. The needs that all algorithms share (messages arrive, sites
 * do not crash) are left out. */
static void list_lines(const struct dme_alg *a)
{
    uint32_t special = a->needs & ~(uint32_t)(DME_RELIABLE | DME_ALIVE);
    char rules[64], needs[64];

    printf("%-40s %-10s  %-28s %s%s\n   ", a->name, dme_family_name(a->family),
           list_bits(a->rules, dme_rule_name, " ", rules, sizeof rules), special ? "needs " : "",
           list_bits(special, dme_need_name, " ", needs, sizeof needs));
    for (const struct dme_kind *k = a->kinds; k->name; k++)
        printf(" %s", k->name);
    printf("; %s\n    %s\n", a->cost, a->paper);
    if (a->flaw)
        printf("    %s: %s\n", dme_mistake_kind_name(a->mistaken), a->flaw);
    for (unsigned m = 0; a->mistakes && a->mistakes[m].name; m++)
        if (dme_makes(a, m))
            printf("      %s (%s): %s\n", a->mistakes[m].name, a->mistakes[m].where, a->mistakes[m].what);
}

/* The first one is made unless told otherwise. */
static void list_mistakes(const struct dme_alg *a)
{
    for (unsigned m = 0; a->mistakes && a->mistakes[m].name; m++)
        if (dme_makes(a, m))
            printf("  --set     mistake=%s\n            %s: %s\n", a->mistakes[m].name, a->mistakes[m].where,
                   a->mistakes[m].what);
}

static void list_page(const struct dme_alg *a)
{
    char buf[128];

    printf("%s (%s)\n", a->name, dme_family_name(a->family));
    printf("  paper     %s\n", a->paper);
    if (a->flaw)
        printf("  flaw      %s: %s\n", dme_mistake_kind_name(a->mistaken), a->flaw);
    printf("  cost      %s\n", a->cost);
    printf("  rules     %s\n", list_bits(a->rules, dme_rule_name, ", ", buf, sizeof buf));
    printf("  needs     %s\n", list_bits(a->needs, dme_need_name, ", ", buf, sizeof buf));
    printf("  messages ");
    for (const struct dme_kind *k = a->kinds; k->name; k++) {
        printf(" %s", k->name);
        if (k->fixed && k->per_site)
            printf("[%u + %u per site]", k->fixed, k->per_site);
        else if (k->per_site)
            printf("[%u per site]", k->per_site);
        else if (k->fixed)
            printf("[%u]", k->fixed);
    }
    printf(" (in brackets the number of tickets)\n");
    list_mistakes(a);
    for (const struct dme_option *o = a->options; o && o->key; o++) {
        printf("  --set     %s=", o->key);
        if (o->choices)
            for (unsigned c = 0; o->choices[c]; c++)
                printf("%s%s", c ? "|" : "", o->choices[c]);
        else
            printf("%llu..%llu", (unsigned long long)o->min, (unsigned long long)o->max);
        if (o->choices)
            printf("  %s (%s)\n", o->help, o->choices[o->initial]);
        else
            printf("  %s (%llu)\n", o->help, (unsigned long long)o->initial);
    }
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
         .help = "list also the versions that are kept because they are wrong (NAME-as-published, NAME-tempting, "
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
