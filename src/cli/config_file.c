/* config_file.c - policies and rights as dibs config reads them from a file. The daemon's own code does that, so mistakes have the same words in
 * both places. */
#include "config.h"

#include "base/memory.h"
#include "cli.h"
#include "serve/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

static char *config_read_file(const char *file)
{
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    char *text = mem_new(FILE_MAX + 1);
    size_t len = from ? fread(text, 1, FILE_MAX, from) : 0;

    if (!from || ferror(from) || len == FILE_MAX)
        cli_die("%s: cannot read it: %s", file, len == FILE_MAX ? "it is too long" : strerror(errno));
    if (memchr(text, '\0', len))
        cli_die("%s: this is no text", file);
    if (from != stdin)
        fclose(from);
    return text;
}

/* The lines with policies, as they are written. */
static char *config_join(const struct conf_draft *d)
{
    size_t len = 1;
    char *text, *at;

    for (uint32_t k = 0; k < d->policies; k++)
        len += strlen("policy ") + strlen(d->policy[k].text) + 1;
    at = text = mem_new(len);
    for (uint32_t k = 0; k < d->policies; k++)
        at += sprintf(at, "policy %s\n", d->policy[k].text);
    return text;
}

static const char *config_file_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

/* Ends the command if there are mistakes. */
static void config_tell(const struct conf_draft *d)
{
    if (d->mistakes) {
        conf_tell(d, stderr);
        exit(CLI_USAGE);
    }
}

/* Reads the policies of the text, which is cut into pieces. Algorithms that it does not name are null. */
static void config_parse(struct conf_draft *d, struct serve_conf *conf, const char *file, char *text)
{
    conf_begin(d);
    conf_read(d, file, text);
    conf->n = 1;
    conf->algorithm = conf->slots_algorithm = NULL;
}

char *config_read_policies(const char *file, bool may_be_none)
{
    struct conf_draft *d = mem_new(sizeof *d);
    struct serve_conf *conf = mem_new(sizeof *conf);
    char *text = config_read_file(file), *lines;

    config_parse(d, conf, config_file_name(file), text);
    lines = config_join(d);
    conf_policies(d, conf);
    config_tell(d);
    if (!*lines && !may_be_none)
        cli_die("%s: there is no line \"policy\" in it; --force takes all policies away, and \"dibs config unset "
                "policies\" sets those of the members' configurations",
                config_file_name(file));
    free(text);
    free(conf);
    free(d);
    return lines;
}

char *config_read_rights(const char *file)
{
    struct conf_draft *d = mem_new(sizeof *d);
    char *text = config_read_file(file);
    struct rights *rights;
    struct bytes lines = {0};

    conf_begin(d);
    conf_read(d, config_file_name(file), text);
    rights = conf_rights(d, false);
    config_tell(d);
    rights_print(rights, &lines);
    if (bytes_len(&lines) == 0)
        cli_die("%s: there is no line \"allow\", \"limit\" or \"login\" in it; \"dibs config unset rights\" lets each "
                "daemon use those of its configuration",
                config_file_name(file));
    if (bytes_len(&lines) > SETTINGS_TEXT_MAX)
        cli_die("%s: written in full, the rights take %zu bytes, and at most %d are possible; use fewer",
                config_file_name(file), bytes_len(&lines), SETTINGS_TEXT_MAX);
    *bytes_add(&lines, 1) = '\0';
    free(rights);
    free(text);
    free(d);
    return (char *)lines.at; /* nothing has been consumed of it */
}

bool config_is_policies(const char *agreed, const char *wanted)
{
    struct conf_draft *d = mem_new(2 * sizeof *d);
    struct serve_conf *conf = mem_new(2 * sizeof *conf);
    char *text[2] = {strdup(agreed), strdup(wanted)};
    bool same = true;

    for (unsigned k = 0; k < 2; k++) {
        config_parse(&d[k], &conf[k], "", text[k]);
        conf_policies(&d[k], &conf[k]);
    }
    for (uint32_t k = 0; same && k < conf[1].policies; k++) {
        const struct lock_policy *is = &conf[0].policy[k], *was = &conf[1].policy[k];

        same = k < conf[0].policies && strcmp(is->pattern, was->pattern) == 0 && is->kind == was->kind &&
               (!was->algorithm || was->algorithm == is->algorithm) &&
               (!was->slots_algorithm || was->slots_algorithm == is->slots_algorithm);
    }
    same = same && conf[0].policies == conf[1].policies;
    for (unsigned k = 0; k < 2; k++)
        free(text[k]);
    free(conf);
    free(d);
    return same;
}
