/* check_any.c - see check_any.h. */
#include "check_any.h"

#include "check_report.h"
#include "check_spec.h"
#include "progress.h"

#include <stdlib.h>

static void check_any_json(const struct check_task *task, const struct check_result *r)
{
    struct cli_json j = {.to = stdout};

    json_object(&j);
    json_key(&j, "algorithm"), json_text(&j, task->conf.alg->name);
    json_key(&j, "sites"), json_text(&j, "any");
    json_key(&j, "rule"), json_text(&j, cli_rule_text(&task->conf));
    json_key(&j, "order"), json_text(&j, task->needs & DME_FIFO ? "fifo" : "any");
    json_key(&j, "requests"), json_text(&j, "unlimited");
    check_json_options(&j, &task->conf);
    json_key(&j, "verdict"), json_text(&j, r->interrupted ? "interrupted" : check_verdicts[r->verdict]);
    json_key(&j, "states"), json_count(&j, r->states);
    json_key(&j, "transitions"), json_count(&j, r->transitions);
    json_key(&j, "compared"), json_count(&j, r->compared);
    for (unsigned k = 0; k < 2; k++) {
        json_key(&j, k ? "compared_states_of_four" : "compared_states_of_three");
        json_count(&j, r->cover[k].states);
        json_key(&j, k ? "compared_all_of_four" : "compared_all_of_three");
        json_bool(&j, r->cover[k].all);
    }
    json_key(&j, "seconds"), json_real(&j, r->seconds);
    json_key(&j, "fault"), json_text(&j, r->fault);
    json_end(&j, '}');
}

/* A verdict states its bounds: the comparison may have been cut short. */
static void check_any_cover(const char *system, const struct check_cover *cover)
{
    printf("%s (%s%llu states)", system, cover->all ? "all " : "the first ", (unsigned long long)cover->states);
}

static void check_any_text(const struct check_task *task, const struct check_result *r)
{
    const char *order = task->needs & DME_FIFO ? "FIFO channels" : "unordered channels";
    bool holds = r->verdict == CHECK_HOLDS;

    printf("%s, any number of sites, %s, %s\n", task->conf.alg->name, cli_rule_text(&task->conf), order);
    printf("two sites and the others: %llu states, %llu transitions, %.2f s\n", (unsigned long long)r->states,
           (unsigned long long)r->transitions, r->seconds);
    printf("%llu moves were compared with it, as seen by each pair of sites: those of ",
           (unsigned long long)r->compared);
    check_any_cover("three sites with two requests each", &r->cover[0]);
    printf(", and of ");
    check_any_cover("four sites, three of which make a request", &r->cover[1]);
    printf("\n");
    printf("%s%s%s (%s", colour_of(holds ? VERDICT_GOOD : VERDICT_OPEN),
           holds            ? "mutual exclusion holds"
           : r->interrupted ? "INTERRUPTED: there is no proof so far"
                            : "UNFINISHED: there is no proof of this kind",
           colour_end(), cli_rule_text(&task->conf));
    check_print_options(&task->conf);
    printf(", any number of sites, unlimited requests each, %s)\n", order);
    if (r->fault)
        printf("the reason: %s\n", r->fault);
}

void check_any(struct check_task *task, struct check_result *r)
{
    bool json = check_words.format == CLI_AS_JSON;

    if (!check_may_be_any_number(task))
        cli_die("--any-sites: %s has no description of what other sites may send to two of them, or not for these "
                "options; docs/proofs.md lists the algorithms that have one",
                task->conf.alg->name);
    progress_begin("pairs", 0);
    progress_say("the search has begun");
    check_any_number(task, r);
    progress_end();
    if (r->trace)
        (json ? check_print_json : check_print_text)(task, r);
    else
        (json ? check_any_json : check_any_text)(task, r);
}
