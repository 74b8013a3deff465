/* policy.c - policies: a pattern of names, and how locks with such names are run, as lines of a configuration. See conf.h and
 * lock/policy.h. */
#include "conf.h"

#include "alg/list.h"
#include "lock/policy.h"

#include <string.h>

static void policy_tell(struct conf_draft *d, const struct conf_setting *at, const struct policy_mistake *m)
{
    static const char *const parts[] = {"algorithm", "slots-algorithm", "slots", NULL};
    const char *names[256] = {0};

    for (unsigned k = 0; alg_list[k]; k++)
        names[k] = alg_list[k]->name;
    if (!m->unknown)
        conf_mistake(d, at, "%s", m->text);
    else if (strcmp(m->unknown, "algorithm") == 0)
        conf_unknown(d, at, m->unknown, m->word, names, "dibs list shows all");
    else
        conf_unknown(d, at, m->unknown, m->word, parts, "algorithm=NAME, slots-algorithm=NAME, slots=K or slots=none");
}

void conf_policies(struct conf_draft *d, struct serve_conf *conf)
{
    struct policy_frame frame = {alg_find, conf->algorithm, conf->slots_algorithm, conf->n};

    conf->policies = d->policies;
    for (uint32_t k = 0; k < d->policies; k++) {
        struct policy_mistake m;
        uint32_t before;

        if (!policy_parse(&conf->policy[k], (char *)d->policy[k].text, &frame, &m))
            policy_tell(d, &d->policy[k], &m);
        before = policy_before(conf->policy, k + 1);
        if (before < k)
            conf_mistake(d, &d->policy[k],
                         "this policy applies to no name: line %u matches all of them; put this one before it",
                         d->policy[before].line);
    }
}
