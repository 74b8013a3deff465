/* dibs check - every interleaving of a small system; see src/check/check.h. */
#include "check_all.h"
#include "check_any.h"
#include "check_report.h"
#include "check_spec.h"
#include "interrupt.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum { CHECK_STATES_ALL = 3000000 };

/* How many states there will be is not known before the search is past its middle. From then on fewer and fewer states
 * are waiting to be looked at, and how fast that number falls gives a time. */
static void check_progress(uint64_t states, uint64_t waiting, double seconds)
{
    static uint64_t most;
    static double most_at;
    char left[40] = "the search still grows";

    if (waiting >= most)
        most = waiting, most_at = seconds;
    else
        snprintf(left, sizeof left, "about %.0f s left",
                 (double)waiting * (seconds - most_at) / (double)(most - waiting));
    progress_say("%llu states, %llu to look at, %.0f s, %s", (unsigned long long)states, (unsigned long long)waiting,
                 seconds, left);
}

static void check_random_progress(uint64_t runs, uint64_t left, double seconds)
{
    (void)seconds;
    progress_set(runs, runs + left);
}

/* Is it clear which mistake is meant: there is at most one, or the user has chosen? */
static bool check_chooses_mistake(const struct dme_conf *conf)
{
    unsigned count = 0;

    for (unsigned m = 0; conf->alg->mistakes && conf->alg->mistakes[m].name; m++)
        count += dme_makes(conf->alg, m);
    for (unsigned k = 0; k < check_words.sets.count; k++)
        if (strncmp(check_words.sets.item[k], "mistake=", 8) == 0)
            return true;
    return count < 2;
}

/* A search that cannot end says so before it begins, and has a limit. */
static void check_tell_endless(struct check_task *task)
{
    if (task->canonical || !memchr(task->requests, CHECK_UNLIMITED, task->conf.n) || !check_grows(task))
        return;
    if (task->limit >= CHECK_STATES_MAX)
        task->limit = CHECK_STATES_ALL;
    fprintf(stderr,
            "dibs: with unlimited requests the states of %s do not end: its numbers or channels grow, and it has no "
            "canonical form for these options; the search stops after %llu states (--states)\n",
            task->conf.alg->name, (unsigned long long)task->limit);
}

/* For tables: all sites make the same number of requests. */
static uint8_t check_same(const char *text)
{
    uint8_t requests[2];

    check_requests(text, 2, requests);
    if (!requests[0])
        cli_die("--requests 0: no site requests the critical section, so nothing would be checked");
    return requests[0];
}

static uint64_t states_all(uint64_t states)
{
    return states < CHECK_STATES_MAX ? states : CHECK_STATES_ALL;
}

/* The search, and what it has found. */
static void check_one(struct check_task *task, struct check_result *result)
{
    const struct check_words *w = &check_words;

    check_tell_endless(task);
    task->progress = w->runs ? check_random_progress : check_progress;
    progress_begin("random runs", w->runs);
    if (!w->runs)
        progress_say("the search has begun");
    if (w->runs)
        check_random(task, w->runs, w->seed, result);
    else
        check_run(task, result);
    progress_end();
    if (w->format == CLI_AS_JSON)
        check_print_json(task, result);
    else
        check_print_text(task, result);
    if (w->coverage && !w->runs && w->format == CLI_AS_TEXT)
        check_print_coverage(result);
}

int cmd_check(int argc, char **argv)
{
    static const struct cli_usage usage = {
        .line = "dibs check ALGORITHM|all|mistakes [--sites N] [--requests K] [OPTION...]",
        .about =
            "Checks every interleaving of requests, message arrivals and exits of a small system for mutual exclusion "
            "and deadlock freedom. If a property is violated, prints a shortest schedule that violates it.\n\n"
            "\"dibs check all\" prints a table of all that was verified, also with --requests unlimited. \"dibs check "
            "mistakes\" prints a table of the known mistakes (published, tempting and retold) with the smallest "
            "system that shows each of them.\n\n"
            "Exit status: 0 the properties hold, 1 one is violated, 2 the command line is wrong, 3 the search is "
            "unfinished.",
        .options = check_options,
        .examples = {{"Check all interleavings of three sites that request twice each:",
                      "dibs check ricart-agrawala --sites 3 --requests 2"},
                     {"Show why Lamport's algorithm needs FIFO channels, and save the counterexample:",
                      "dibs check lamport --sites 2 --without fifo --save counterexample.txt"}},
    };
    const struct check_words *w = &check_words;
    const char *name;
    struct check_task task;
    struct check_result result;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("check needs an algorithm, as in \"dibs check ricart-agrawala\" (dibs list shows all)");
    if (strcmp(name, "all") == 0)
        return check_all((uint32_t)(w->sites > CHECK_SITES ? CHECK_SITES : w->sites), check_same(w->requests),
                         states_all(w->states));
    if (strcmp(name, "mistakes") == 0)
        return check_all_mistakes(states_all(w->states));
    cli_check_output("--save", w->save);
    cli_check_picture("--svg", w->svg, cli_picture_format(w->svg));
    task = check_task_of(name);
    if (!check_chooses_mistake(&task.conf))
        return check_mistakes_of(task.conf.alg);
    task.stop = interrupt_catch();
    if (w->any_sites)
        check_any(&task, &result);
    else
        check_one(&task, &result);
    if (w->save && result.trace)
        check_save(&task, &result, w->save);
    if (w->svg && result.trace)
        check_draw(&task, &result, w->svg);
    free(result.trace);
    return check_status(&result);
}
