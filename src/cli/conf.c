/* conf.c - a configuration as the user spells it. See cli.h. */
#include "alg/list.h"
#include "cli.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

const char *const cli_formats[] = {"text", "json", "csv", NULL};

const struct dme_alg *cli_algorithm(const char *name)
{
    const char *names[256] = {0};
    const struct dme_alg *alg = alg_find(name);
    unsigned count = 0;

    if (alg)
        return alg;
    for (unsigned k = 0; alg_list[k]; k++)
        names[count++] = alg_list[k]->name;
    cli_unknown("algorithm", name, names, "dibs list shows all");
}

static bool conf_limit(const char *text, uint32_t *limit)
{
    char *end;
    unsigned long x = strtoul(text, &end, 10);

    *limit = (uint32_t)x;
    return *text >= '1' && *text <= '9' && !*end && x <= UINT32_MAX;
}

void cli_rule(const struct dme_alg *alg, const char *text, enum dme_rule *rule, uint32_t *limit)
{
    static const char *const names[] = {"exclusive", "shared", "slots", "group", NULL};
    static const char *const remedy = "one of exclusive, shared, slots:K, group:M";
    char name[32];
    size_t len;
    unsigned r = 0;

    *limit = 0;
    if (!text) {
        while (!(alg->rules & 1u << r))
            r++;
        *rule = (enum dme_rule)r;
        *limit = r == DME_SLOTS ? 1 : r == DME_GROUP ? 2 : 0;
        return;
    }
    len = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    while (names[r] && strcmp(names[r], name) != 0)
        r++;
    if (!names[r])
        cli_unknown("rule", name, names, remedy);
    if ((r == DME_SLOTS || r == DME_GROUP) && (!text[len] || !conf_limit(text + len + 1, limit)))
        cli_die("rule \"%s\": %s needs a number from 1, as in %s:2", text, names[r], names[r]);
    if ((r == DME_EXCLUSIVE || r == DME_SHARED) && text[len])
        cli_die("rule \"%s\": %s takes no number", text, names[r]);
    *rule = (enum dme_rule)r;
}

static void cli_conf_set(struct dme_conf *conf, const char *word)
{
    const char *equals = strchr(word, '=');
    char key[64], line[512];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    if (!equals)
        cli_die("--set %s: it takes KEY=VALUE", word);
    snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
    if (!dme_conf_set(conf, key, equals + 1, &text))
        cli_die("--set %s: %s", word, line);
}

struct dme_conf cli_conf(const char *algorithm, uint64_t sites, const char *rule, const struct cli_list *sets)
{
    const struct dme_alg *alg = cli_algorithm(algorithm);
    struct dme_conf conf;
    enum dme_rule r;
    uint32_t limit;
    char line[512];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    cli_rule(alg, rule, &r, &limit);
    dme_conf_init(&conf, alg, (uint32_t)sites, r, limit);
    for (unsigned k = 0; k < sets->count; k++)
        cli_conf_set(&conf, sets->item[k]);
    if (!dme_conf_check(&conf, &text))
        cli_die("%s", line);
    return conf;
}

const char *cli_rule_text(const struct dme_conf *conf)
{
    static char text[48];

    if (conf->limit)
        snprintf(text, sizeof text, "%s:%u", dme_rule_name(conf->rule), conf->limit);
    else
        snprintf(text, sizeof text, "%s", dme_rule_name(conf->rule));
    return text;
}
