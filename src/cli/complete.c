/* complete.c - see complete.h.
 *
 * What a word may be follows from the usage of its command: "dibs check ALGORITHM|all|mistakes" is an algorithm or one of
 * the two words, and "--out FILE" has a file behind it. Names of locks and members come from the daemon that the words so far
 * name, if it answers within two seconds. */
#include "complete.h"

#include "alg/list.h"
#include "cli.h"
#include "paper/paper.h"

#include <ctype.h>
#include <string.h>

void complete_offer(struct complete *c, const char *word, size_t len, const char *text)
{
    if (strncmp(word, c->typed, strlen(c->typed)) != 0 || len < strlen(c->typed))
        return;
    printf("%s%.*s\t%s\n", c->prefix, (int)len, word, text);
    c->offered++;
}

static void complete_offer_word(struct complete *c, const char *word, const char *text)
{
    complete_offer(c, word, strlen(word), text);
}

/* --------------------------------------------------------------------------------------------------- kinds of words */

/* Algorithms that are kept for their mistakes are completed only if nothing else begins as typed. */
static void complete_algorithms(struct complete *c)
{
    for (const struct dme_alg *const *alg = alg_list; *alg; alg++)
        if (!(*alg)->flaw)
            complete_offer_word(c, (*alg)->name, (*alg)->cost);
    if (c->offered)
        return;
    for (const struct dme_alg *const *alg = alg_list; *alg; alg++)
        complete_offer_word(c, (*alg)->name, "has a mistake in it");
}

static void complete_experiments(struct complete *c)
{
    for (const struct paper *const *p = papers; *p; p++)
        complete_offer_word(c, (*p)->name, (*p)->title);
}

static void complete_commands(struct complete *c)
{
    for (const struct cli_command *command = cli_commands; command->name; command++)
        complete_offer_word(c, command->name, command->summary);
}

static void complete_rights(struct complete *c)
{
    static const char *const rights[] = {"lock", "shared", "watch", "force-unlock", "admin", NULL};

    for (unsigned k = 0; rights[k]; k++)
        complete_offer_word(c, rights[k], "");
}

static void complete_clients(struct complete *c)
{
    static const char *const clients[] = {"me", "any", "user:", "group:", "key:", "cert:", "auth:", NULL};

    for (unsigned k = 0; clients[k]; k++)
        complete_offer_word(c, clients[k], "");
}

/* What the words in capitals of a usage stand for. All others are anything. */
static const struct {
    const char *metavar;
    void (*offer)(struct complete *c); /* null: a file */
} complete_kinds[] = {
#ifndef DIBS_LAB_ONLY /* no client, no daemon */
    {"NAME", complete_locks},
    {"PATTERN", complete_locks},
    {"MEMBER", complete_members},
#endif
    {"ALGORITHM", complete_algorithms},
    {"SUBCOMMAND", complete_commands},
    {"EXPERIMENT", complete_experiments},
    {"WHO", complete_clients},
    {"RIGHT", complete_rights},
    {"FILE", NULL},
    {"PATH", NULL},
    {"DIR", NULL},
    {"TABLE", NULL},
    {"SCENARIO.txt", NULL},
};
enum { COMPLETE_KINDS = sizeof complete_kinds / sizeof complete_kinds[0] };

/* Prints what a word in capitals, of `len` bytes, may be. Returns true if it is a file. */
static bool complete_kind(struct complete *c, const char *metavar, size_t len)
{
    for (unsigned k = 0; k < COMPLETE_KINDS; k++)
        if (strlen(complete_kinds[k].metavar) == len && memcmp(complete_kinds[k].metavar, metavar, len) == 0) {
            if (complete_kinds[k].offer)
                complete_kinds[k].offer(c);
            return !complete_kinds[k].offer;
        }
    return false;
}

/* ------------------------------------------------------------------------------------------------- words of a usage */

/* The alternatives for word `n` of a usage, "list | add NAME=.. | remove MEMBER" or "ALGORITHM|all". An alternative of several
 * words is chosen by its first one, `before`. Returns true if one of them is a file. */
static bool complete_alternatives(struct complete *c, const char *line, int n, const char *before)
{
    int at = 0; /* the place of the next word */
    bool files = false;
    size_t before_len = strlen(before);
    bool chosen = true; /* by the first word of this alternative */

    while (*line && *line != '-' && !(line[0] == '[' && line[1] == '-') && strncmp(line, "(--", 3) != 0) {
        bool repeats;
        size_t len;

        line += strspn(line, "([ ");
        len = strcspn(line, " |)]");
        if (strncmp(line, "OPTION", 6) == 0)
            break;
        repeats = len > 3 && memcmp(line + len - 3, "...", 3) == 0;
        if (chosen && len && (at == n || (repeats && n > at))) {
            size_t word = repeats ? len - 3 : len;

            if (islower((unsigned char)*line))
                complete_offer(c, line, word, "");
            else
                files |= complete_kind(c, line, word);
        }
        if (at == 0 && n > 0 && islower((unsigned char)*line))
            chosen = len == before_len && memcmp(line, before, len) == 0;
        line += len;
        line += strspn(line, ")] ");
        if (*line == '|') {
            line++;
            at = 0;
            chosen = true;
        } else {
            at++;
        }
    }
    return files;
}

static bool complete_value(struct complete *c, const struct cli_option *o)
{
    for (unsigned k = 0; o->choices && o->choices[k]; k++)
        complete_offer_word(c, o->choices[k], "");
    return !o->choices && o->metavar && strcmp(o->metavar, "NAME") != 0 &&
           complete_kind(c, o->metavar, strlen(o->metavar));
}

static const struct cli_option *complete_find(const struct cli_usage *usage, const char *word)
{
    size_t len = strcspn(word, "=");

    for (const struct cli_option *o = usage->options; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, word, len) == 0)
            return o;
    return NULL;
}

static void complete_options(struct complete *c, const struct cli_usage *usage)
{
    char text[CLI_HELP_MAX];

    for (const struct cli_option *o = usage->options; o->name; o++)
        complete_offer_word(c, o->name, cli_help_option(o, text));
    complete_offer_word(c, "--help", "print the help");
}

/* Which daemon is meant? */
static void complete_place(struct complete *c, const char *option, const char *value)
{
    const struct {
        const char *option, **value;
    } parts[] = {{"--socket", &c->socket}, {"--connect", &c->address},   {"--key", &c->key},
                 {"--cert", &c->cert},     {"--cert-key", &c->cert_key}, {"--ca", &c->ca}};

    for (unsigned k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (strcmp(option, parts[k].option) == 0)
            *parts[k].value = value;
}

/* The last word of `argv` is being typed; argv[0] is the command. */
static void complete_command(const struct cli_usage *usage, int argc, char **argv)
{
    const struct cli_option *open = NULL; /* an option whose value comes next */
    const char *usual = strchr(usage->line + strlen("dibs "), ' '), *typed = argv[argc - 1], *first = "";
    struct complete c = {.prefix = "", .typed = typed};
    char prefix[64];
    bool files = false, ended = false;
    int n = 0;

    for (int k = 1; k < argc - 1; k++) {
        if (open) {
            complete_place(&c, open->name, argv[k]);
            open = NULL;
        } else if (!ended && strcmp(argv[k], "--") == 0) {
            if (strstr(usage->line, " -- COMMAND")) {
                printf("command %d\n", k + 2);
                return;
            }
            ended = true;
        } else if (!ended && argv[k][0] == '-' && argv[k][1]) {
            open = complete_find(usage, argv[k]);
            if (open && strchr(argv[k], '='))
                complete_place(&c, open->name, strchr(argv[k], '=') + 1);
            if (open && (open->type == CLI_FLAG || strchr(argv[k], '=')))
                open = NULL;
        } else {
            if (n++ == 0)
                first = argv[k];
        }
    }
    if (!open && !ended && strncmp(typed, "--", 2) == 0 && strchr(typed, '=')) {
        open = complete_find(usage, typed);
        c.typed = strchr(typed, '=') + 1;
        snprintf(prefix, sizeof prefix, "%.*s", (int)(c.typed - typed), typed);
        c.prefix = prefix;
        if (!open)
            return;
    }
    /* Files are the shell's own to complete: what else the word may be is left out then. */
    printf("words\n");
    if (open)
        files = complete_value(&c, open);
    else if (typed[0] == '-' && !ended)
        complete_options(&c, usage);
    else
        files = complete_alternatives(&c, usual ? usual + 1 : "", n, first);
    if (files)
        printf("files\n");
    else if (!c.offered && !open && !*typed)
        complete_options(&c, usage);
}

void complete_words(int count, char **words)
{
    struct complete c = {.prefix = "", .typed = count ? words[count - 1] : ""};

    if (count < 2) {
        printf("words\n");
        complete_commands(&c);
        complete_offer_word(&c, "--help", "list all commands");
        complete_offer_word(&c, "--version", "print the version, the commit and the libraries");
        return;
    }
    for (const struct cli_command *command = cli_commands; command->name; command++)
        if (strcmp(command->name, words[0]) == 0) {
            cli_instead = complete_command;
            command->run(count, words);
        }
}
