/* policy.c - policies: a pattern of names, and how locks with such names are run. See conf.h.
 *
 *     policy build-* slots=4 slots-algorithm=raymond-k
 *     policy *.db    slots=none algorithm=naimi-trehel */
#include "conf.h"

#include "alg/list.h"

#include <stdlib.h>
#include <string.h>

static void policy_kind(struct conf_draft *d, const struct conf_setting *at, struct lock_policy *p, const char *value)
{
    char *end;
    long slots = strtol(value, &end, 10);

    if (strcmp(value, "none") == 0)
        p->kind = 0;
    else if (*value < '0' || *value > '9' || *end || slots < 1 || slots > LOCK_SLOTS_MAX)
        conf_mistake(d, at, "slots=%.40s is not possible; it takes a number from 1 to %d, or none", value,
                     LOCK_SLOTS_MAX);
    else
        p->kind = (int)slots;
}

/* "algorithm=raymond" */
static void policy_word(struct conf_draft *d, const struct conf_setting *at, struct lock_policy *p, char *word,
                        uint32_t n)
{
    static const char *const names[] = {"algorithm", "slots-algorithm", "slots", NULL};
    char *equals = strchr(word, '=');

    if (equals)
        *equals = '\0';
    if (strcmp(word, "algorithm") == 0 && equals)
        p->algorithm = conf_algorithm(d, at, equals + 1, false, n);
    else if (strcmp(word, "slots-algorithm") == 0 && equals)
        p->slots_algorithm = conf_algorithm(d, at, equals + 1, true, n);
    else if (strcmp(word, "slots") == 0 && equals)
        policy_kind(d, at, p, equals + 1);
    else if (!equals)
        conf_mistake(d, at, "\"%.80s\" is not KEY=VALUE; a pattern has no blanks (? stands for any character)", word);
    else
        conf_unknown(d, at, "part of a policy", word, names,
                     "algorithm=NAME, slots-algorithm=NAME, slots=K or slots=none");
}

static void policy_read(struct conf_draft *d, const struct conf_setting *at, struct lock_policy *p,
                        const struct serve_conf *conf)
{
    char *rest = (char *)at->text, *word = strtok_r(rest, " \t", &rest);

    *p = (struct lock_policy){
        .pattern = word, .algorithm = conf->algorithm, .slots_algorithm = conf->slots_algorithm, .kind = LOCK_ANY_KIND};
    if (!word || !*rest) {
        conf_mistake(d, at, "a policy is a pattern and what it is for: policy PATTERN algorithm=NAME slots=K");
        return;
    }
    while ((word = strtok_r(NULL, " \t", &rest)))
        policy_word(d, at, p, word, conf->n);
}

void conf_policies(struct conf_draft *d, struct serve_conf *conf)
{
    conf->policies = d->policies;
    for (uint32_t k = 0; k < d->policies; k++) {
        struct lock_policy *p = &conf->policy[k];

        policy_read(d, &d->policy[k], p, conf);
        for (uint32_t i = 0; p->pattern && i < k; i++)
            if (conf->policy[i].pattern &&
                (strcmp(conf->policy[i].pattern, p->pattern) == 0 || strcmp(conf->policy[i].pattern, "*") == 0)) {
                conf_mistake(d, &d->policy[k], "no name gets here: line %u has all of them; put this one before it",
                             d->policy[i].line);
                break;
            }
    }
}
