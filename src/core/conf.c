/* conf.c - a configuration, its options, and the specification of the four rules. */
#include "alg.h"

#include <string.h>

void dme_conf_init(struct dme_conf *conf, const struct dme_alg *alg, uint32_t n, enum dme_rule rule, uint32_t limit)
{
    memset(conf, 0, sizeof *conf);
    conf->alg = alg;
    conf->n = n;
    conf->rule = rule;
    conf->limit = limit;
    for (unsigned k = 0; alg->options && alg->options[k].key; k++)
        conf->option[k] = alg->options[k].initial;
    while (alg->mistakes && !dme_makes(alg, conf->mistake))
        conf->mistake++;
}

const char *dme_mistake_kind_name(unsigned kind)
{
    static const char *const names[DME_MISTAKE_KINDS] = {"published mistake", "tempting mistake", "as commonly retold"};

    return kind < DME_MISTAKE_KINDS ? names[kind] : NULL;
}

bool dme_conf_check(const struct dme_conf *conf, struct dme_text *text)
{
    const char *wrong;

    if (conf->n < 1 || conf->n > DME_SITES_MAX) {
        dme_print(text, "%u sites: 1 to %u are possible", conf->n, DME_SITES_MAX);
        return false;
    }
    if (!(conf->alg->rules & 1u << conf->rule)) {
        dme_print(text, "%s does not know the rule \"%s\"; it knows", conf->alg->name, dme_rule_name(conf->rule));
        for (unsigned r = 0; r < DME_RULES; r++)
            if (conf->alg->rules & 1u << r)
                dme_print(text, " %s", dme_rule_name(r));
        return false;
    }
    if ((conf->rule == DME_SLOTS || conf->rule == DME_GROUP) && conf->limit < 1) {
        dme_print(text, "%s:0 is not possible; %s:1 is the least", dme_rule_name(conf->rule),
                  dme_rule_name(conf->rule));
        return false;
    }
    wrong = conf->alg->check ? conf->alg->check(conf) : NULL;
    if (wrong)
        dme_print(text, "%s: %s", conf->alg->name, wrong);
    return !wrong;
}

static bool conf_number(const char *value, uint64_t *number)
{
    uint64_t x = 0;

    if (!*value)
        return false;
    for (; *value; value++) {
        if (*value < '0' || *value > '9' || x > (UINT64_MAX - 9) / 10)
            return false;
        x = x * 10 + (uint64_t)(*value - '0');
    }
    *number = x;
    return true;
}

static bool conf_choice(const char *const *choices, const char *value, uint64_t *number)
{
    for (unsigned c = 0; choices[c]; c++)
        if (strcmp(choices[c], value) == 0) {
            *number = c;
            return true;
        }
    return false;
}

static void conf_print_choices(const char *const *choices, struct dme_text *text)
{
    for (unsigned c = 0; choices[c]; c++)
        dme_print(text, "%s%s", c ? ", " : "it is one of ", choices[c]);
}

static bool conf_set_mistake(struct dme_conf *conf, const char *value, struct dme_text *text)
{
    const struct dme_alg *alg = conf->alg;
    const char *between = "it is one of ";

    for (unsigned m = 0; alg->mistakes[m].name; m++)
        if (dme_makes(alg, m) && strcmp(alg->mistakes[m].name, value) == 0) {
            conf->mistake = m;
            return true;
        }
    dme_print(text, "mistake=%s is not possible; ", value);
    for (unsigned m = 0; alg->mistakes[m].name; m++)
        if (dme_makes(alg, m)) {
            dme_print(text, "%s%s", between, alg->mistakes[m].name);
            between = ", ";
        }
    return false;
}

bool dme_conf_set(struct dme_conf *conf, const char *key, const char *value, struct dme_text *text)
{
    const struct dme_option *o = conf->alg->options;
    uint64_t x = 0;

    if (conf->alg->mistakes && strcmp(key, "mistake") == 0)
        return conf_set_mistake(conf, value, text);
    while (o && o->key && strcmp(o->key, key) != 0)
        o++;
    if (!o || !o->key) {
        dme_print(text, "%s has no option \"%s\"", conf->alg->name, key);
        for (o = conf->alg->options; o && o->key; o++)
            dme_print(text, "%s %s", o == conf->alg->options ? "; it has" : ",", o->key);
        return false;
    }
    if (o->choices ? !conf_choice(o->choices, value, &x) : !conf_number(value, &x) || x < o->min || x > o->max) {
        dme_print(text, "%s=%s is not possible; ", key, value);
        if (!o->choices)
            dme_print(text, "%s is a number from %llu to %llu", key, (unsigned long long)o->min,
                      (unsigned long long)o->max);
        else
            conf_print_choices(o->choices, text);
        return false;
    }
    conf->option[o - conf->alg->options] = x;
    return true;
}

void dme_modes(const struct dme_conf *conf, uint32_t *first, uint32_t *last)
{
    *first = conf->rule == DME_GROUP;
    *last = conf->rule == DME_GROUP ? conf->limit : conf->rule == DME_SHARED;
}

bool dme_safe(const struct dme_conf *conf, const uint32_t *modes, uint32_t count)
{
    if (conf->rule == DME_SLOTS)
        return count <= conf->limit;
    for (uint32_t k = 1; k < count; k++)
        if (!dme_compatible(modes[0], modes[k]))
            return false;
    return true;
}
