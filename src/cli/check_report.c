/* check_report.c - see check_report.h. */
#include "check_report.h"

#include "cli.h"
#include "core/text.h"
#include "lab/diagram.h"
#include "lab/moves.h"
#include "progress.h"

#include <stdlib.h>

static struct moves check_moves(const struct check_task *task, const struct check_result *r)
{
    return (struct moves){.conf = task->conf,
                          .fifo = task->needs & DME_FIFO,
                          .move = r->trace,
                          .count = r->trace_length,
                          .loop = r->verdict == CHECK_STARVATION ? r->loop : r->trace_length};
}

/* The counterexample as a file that "dibs scenario" plays. */
void check_save(const struct check_task *task, const struct check_result *r, const char *path)
{
    struct moves run = check_moves(task, r);
    char title[256], *scenario;

    snprintf(title, sizeof title, "%s, %u sites: %s, in %u moves.", task->conf.alg->name, task->conf.n,
             check_verdicts[r->verdict], r->trace_length);
    scenario = moves_scenario(&run, title);
    cli_write_file(path, scenario);
    free(scenario);
}

/* And as a picture. */
void check_draw(const struct check_task *task, const struct check_result *r, const char *path)
{
    struct moves run = check_moves(task, r);
    char *svg = diagram_make(diagram_svg, &run);

    cli_write_picture(path, svg, cli_picture_format(path));
    free(svg);
}

/* ", at most 1 crash, at most 2 restarts": the failures that the search allowed, and how many of each in a run. */
static void check_print_failures(const struct check_task *task)
{
    bool suspects = task->conf.alg->news && !(task->needs & DME_DETECTION);
    const struct {
        const char *noun, *plural;
        uint8_t times;
    } failures[] = {{"lost message", "lost messages", task->lose},
                    {"duplicated message", "duplicated messages", task->duplicate},
                    {"crash", "crashes", suspects ? 0 : task->crash},
                    {"crash or false suspicion", "crashes or false suspicions", suspects ? task->crash : 0},
                    {"restart", "restarts", task->restart},
                    {"resumption", "resumptions", task->resume},
                    {"network partition", "network partitions", task->cut},
                    {"join", "joins", task->join},
                    {"leave", "leaves", task->leave}};

    for (unsigned k = 0; k < sizeof failures / sizeof failures[0]; k++)
        if (failures[k].times)
            printf(", at most %u %s", failures[k].times,
                   failures[k].times == 1 ? failures[k].noun : failures[k].plural);
}

/* 45,401 */
static void check_print_grouped(uint64_t number)
{
    if (number >= 1000) {
        check_print_grouped(number / 1000);
        printf(",%03u", (unsigned)(number % 1000));
    } else {
        printf("%u", (unsigned)number);
    }
}

void check_print_options(const struct dme_conf *conf)
{
    const struct dme_option *o = conf->alg->options;

    for (unsigned k = 0; o && o[k].key; k++)
        if (conf->option[k] != o[k].initial && o[k].choices)
            printf(", %s=%s", o[k].key, o[k].choices[conf->option[k]]);
        else if (conf->option[k] != o[k].initial)
            printf(", %s=%llu", o[k].key, (unsigned long long)conf->option[k]);
    if (conf->alg->mistakes)
        printf(", mistake=%s", conf->alg->mistakes[conf->mistake].name);
}

/* Promises that the algorithm needs and the network does not keep. The order of channels is told by itself. */
static uint32_t check_missing_needs(const struct check_task *task)
{
    return task->conf.alg->needs & ~task->needs & (DME_BOUNDED_DELAY | DME_SEQUENCED | DME_DETECTION);
}

/* "exclusive, 3 sites, 2 requests each, unordered channels": what was tried, outside of which the verdict says nothing. */
static void check_print_bounds(const struct check_task *task)
{
    uint32_t withdrawn = check_missing_needs(task);
    bool same = true;

    for (uint32_t i = 1; i < task->conf.n; i++)
        same = same && task->requests[i] == task->requests[0];
    printf("%s", cli_rule_text(&task->conf));
    check_print_options(&task->conf);
    printf(", %u site%s, ", task->conf.n, task->conf.n == 1 ? "" : "s");
    if (!same)
        printf("requests ");
    for (uint32_t i = 0; i < (same ? 1 : task->conf.n); i++)
        if (task->requests[i] == CHECK_UNLIMITED)
            printf("%sunlimited", i ? "," : "");
        else
            printf("%s%u", i ? "," : "", task->requests[i]);
    if (same)
        printf(" request%s each", task->requests[0] == 1 ? "" : "s");
    printf(", %s channels", task->needs & DME_FIFO ? "FIFO" : "unordered");
    for (unsigned bit = 0; bit < DME_NEEDS; bit++)
        if (withdrawn & 1u << bit)
            printf(", without %s", dme_need_name(bit));
    check_print_failures(task);
    if (task->quiet)
        printf(", requests while fewer than %u messages are in flight", task->quiet);
    if (task->overtaking)
        printf(", at most %u overtakes", task->overtakes);
}

/* What the algorithm relies on and this task takes away: then a violation is no fault of the algorithm's. */
static void check_print_broken_promises(const struct check_task *task)
{
    uint32_t needs = task->conf.alg->needs, broken = needs & ~task->needs;
    const char *between = " relies on what this run takes away: ";

    broken |= task->lose || task->duplicate ? needs & DME_RELIABLE : 0;
    broken |= task->crash ? needs & DME_ALIVE : 0;
    for (unsigned bit = 0; bit < DME_NEEDS; bit++)
        if (broken & 1u << bit) {
            printf("%s%s%s", *between == ' ' ? task->conf.alg->name : "", between, dme_need_name(bit));
            between = ", ";
        }
    if (broken)
        printf("\n");
}

/* The properties that were looked at. Returns their number. */
enum { CHECK_PROPERTIES = 6 };
static size_t check_properties(const struct check_task *task, const char *all[CHECK_PROPERTIES])
{
    bool invariants = !task->plain && task->conf.alg->broken && !task->conf.alg->flaw;
    const char **next = all;

    *next++ = "mutual exclusion";
    if (!task->deadlocks_too)
        *next++ = "deadlock freedom";
    if (task->starvation)
        *next++ = "starvation freedom";
    if (task->concurrency)
        *next++ = "concurrent entering";
    if (task->overtaking)
        *next++ = "the bound on overtaking";
    if (invariants)
        *next++ = "the algorithm's invariants";
    return (size_t)(next - all);
}

/* "mutual exclusion, deadlock freedom and starvation freedom hold" */
static void check_print_properties(const struct check_task *task)
{
    const char *all[CHECK_PROPERTIES];
    size_t count = check_properties(task, all);

    for (size_t k = 0; k < count; k++)
        printf("%s%s", k == 0 ? "" : k + 1 == count ? " and " : ", ", all[k]);
    printf("%s", count > 1 ? " hold" : " holds");
}

/* Has the search come to nothing because canonical forms are wrong? */
static bool check_misfits(const struct check_result *r)
{
    return r->verdict == CHECK_UNFINISHED && r->fault;
}

static enum verdict_colour check_colour(const struct check_result *r)
{
    if (check_status(r) == CLI_UNFINISHED || (r->verdict == CHECK_HOLDS && !r->states))
        return VERDICT_OPEN;
    return r->verdict == CHECK_HOLDS ? VERDICT_GOOD : VERDICT_BAD;
}

/* The result in one line, with its bounds. A search that was complete proves the properties within them; random runs
 * and searches that are not complete prove nothing. */
static void check_print_verdict(const struct check_task *task, const struct check_result *r)
{
    static const char *const says[] = {
        [CHECK_EXCLUSION] = "EXCLUSION BROKEN: sites that the rule does not admit together are in the critical section",
        [CHECK_DEADLOCK] =
            "DEADLOCK: a site waits for ever: no site is in the critical section, and no message or timer "
            "is pending",
        [CHECK_ERROR] = "ERROR: a site met a situation that the protocol rules out",
        [CHECK_STARVATION] =
            "STARVATION: a site can wait for ever although every message arrives and every site leaves "
            "the critical section",
        [CHECK_OVERTAKING] = "OVERTAKING: while a site waited, others entered more often than --overtakes allows",
        [CHECK_BLOCKING] = "BLOCKING: a site waits for another one to leave although the rule would admit both",
        [CHECK_INVARIANT] = "INVARIANT BROKEN: an invariant that the algorithm states does not hold",
        [CHECK_UNFINISHED] = "UNFINISHED: the search reached the limit of --states or --memory; it has found no "
                             "violation so far",
    };
    bool random = !r->states;

    printf("%s", colour_of(check_colour(r)));
    if (r->vacuous)
        printf("VACUOUS: no site ever makes a request, since --in-flight %u messages are always in flight; raise it",
               task->quiet);
    else if (check_misfits(r))
        printf("UNFINISHED: the canonical form of states, which unlimited requests need, does not fit this algorithm");
    else if (r->interrupted)
        printf("INTERRUPTED: the search has found no violation so far");
    else if (r->verdict != CHECK_HOLDS)
        printf("%s", says[r->verdict]);
    else if (random)
        printf("NO VIOLATION FOUND, which proves nothing: not every interleaving was tried");
    else
        check_print_properties(task);
    printf("%s (", colour_end());
    check_print_bounds(task);
    printf(": ");
    if (random)
        printf("%llu random runs, ", (unsigned long long)r->runs);
    check_print_grouped(random ? r->transitions : r->states);
    printf(" %s)\n", random ? "moves" : "states");
    if (r->verdict != CHECK_HOLDS && r->verdict != CHECK_UNFINISHED)
        check_print_broken_promises(task);
}

void check_print_text(const struct check_task *task, const struct check_result *r)
{
    printf("%s, %u sites, %s, %s", task->conf.alg->name, task->conf.n, cli_rule_text(&task->conf),
           task->needs & DME_FIFO ? "fifo" : "any order");
    check_print_failures(task);
    printf("\n");
    if (r->states)
        printf("%llu states, %llu transitions, depth %u, %.2f s, %.0f k states/s, %.0f bytes per state\n",
               (unsigned long long)r->states, (unsigned long long)r->transitions, r->depth, r->seconds,
               (double)r->states / r->seconds / 1e3, (double)r->memory / (double)r->states);
    else
        printf("%llu moves in %llu random runs, the longest of %u, %.2f s\n", (unsigned long long)r->transitions,
               (unsigned long long)r->runs, r->depth, r->seconds);
    if (task->canonical)
        printf("in canonical form: %llu moves of small systems were compared with it%s\n",
               (unsigned long long)r->compared, r->compared_first ? ", those of the states that were found first" : "");
    if (task->fingerprints)
        printf("by fingerprints: that a state was taken for another and left out has a probability below %.1e\n",
               check_omission(r));
    if (task->reduce)
        printf("reduced: other interleavings lead to the same; invariants were not looked at\n");
    check_print_verdict(task, r);
    if (task->overtaking)
        printf("a site that waits is overtaken at most %u times%s\n", r->overtaken,
               r->verdict == CHECK_HOLDS ? "" : ", as far as was looked");
    if (task->messages && r->verdict == CHECK_HOLDS) {
        if (r->messages == UINT64_MAX)
            printf("there are runs without end\n");
        else
            printf("no run sends more than %llu messages, and one run sends that number\n",
                   (unsigned long long)r->messages);
    }
    if ((task->fingerprints || task->reduce) && r->verdict != CHECK_HOLDS && r->verdict != CHECK_UNFINISHED &&
        !r->trace)
        printf("there is not enough memory for the exact search that would show a counterexample\n");
    if (r->fault)
        printf("the fact that does not hold: %s\n", r->fault);
    if (r->verdict == CHECK_STARVATION)
        printf("site %u waits for ever; a run that leads there, and the loop that it can repeat:\n", r->victim);
    else if (r->trace)
        printf("%s there, in %u moves:\n", r->states ? "the shortest way" : "a way", r->trace_length);
    if (r->trace) {
        struct moves run = check_moves(task, r);

        moves_print(stdout, &run);
    }
}

void check_print_coverage(const struct check_result *r)
{
    printf("happened, in different states of a site:\n%16s %10s %10s %10s\n", "", "idle", "waiting", "inside");
    for (unsigned e = 0; r->coverage.event[e]; e++) {
        printf("%16s", r->coverage.event[e]);
        for (unsigned phase = 0; phase < 3; phase++)
            if (r->coverage.count[e][phase])
                printf(" %10llu", (unsigned long long)r->coverage.count[e][phase]);
            else
                printf(" %10s", "never");
        printf("\n");
    }
}

static void check_json_coverage(struct cli_json *j, const struct check_result *r)
{
    json_key(j, "coverage"), json_object(j);
    for (unsigned e = 0; r->coverage.event[e]; e++) {
        json_key(j, r->coverage.event[e]), json_array(j);
        for (unsigned phase = 0; phase < 3; phase++)
            json_count(j, r->coverage.count[e][phase]);
        json_end(j, ']');
    }
    json_end(j, '}');
}

/* Random runs in which nothing was found do not show that anything holds. */
static const char *check_verdict_name(const struct check_result *r)
{
    return r->interrupted                            ? "interrupted"
           : r->vacuous                              ? "vacuous"
           : r->verdict == CHECK_HOLDS && !r->states ? "none found"
                                                     : check_verdicts[r->verdict];
}

void check_json_options(struct cli_json *j, const struct dme_conf *conf)
{
    json_key(j, "options"), json_object(j);
    for (const struct dme_option *o = conf->alg->options; o && o->key; o++) {
        uint64_t value = conf->option[o - conf->alg->options];

        json_key(j, o->key);
        if (o->choices)
            json_text(j, o->choices[value]);
        else
            json_count(j, value);
    }
    if (conf->alg->mistakes)
        json_key(j, "mistake"), json_text(j, conf->alg->mistakes[conf->mistake].name);
    json_end(j, '}');
}

static void check_json_bounds(struct cli_json *j, const struct check_task *task)
{
    const struct dme_conf *conf = &task->conf;
    const char *all[CHECK_PROPERTIES];
    size_t count = check_properties(task, all);

    json_key(j, "requests"), json_array(j);
    for (uint32_t i = 0; i < conf->n; i++)
        if (task->requests[i] == CHECK_UNLIMITED)
            json_text(j, "unlimited");
        else
            json_count(j, task->requests[i]);
    json_end(j, ']');
    check_json_options(j, conf);
    json_key(j, "without"), json_array(j);
    for (unsigned bit = 0; bit < DME_NEEDS; bit++)
        if (check_missing_needs(task) & 1u << bit)
            json_text(j, dme_need_name(bit));
    json_end(j, ']');
    if (task->quiet)
        json_key(j, "in_flight"), json_count(j, task->quiet);
    if (task->overtaking)
        json_key(j, "overtakes"), json_count(j, task->overtakes);
    json_key(j, "properties"), json_array(j);
    for (size_t k = 0; k < count; k++)
        json_text(j, all[k]);
    json_end(j, ']');
}

void check_print_json(const struct check_task *task, const struct check_result *r)
{
    struct cli_json j = {.to = stdout};
    struct lab_world *w = world_new(&task->conf);

    json_object(&j);
    json_key(&j, "algorithm"), json_text(&j, task->conf.alg->name);
    json_key(&j, "sites"), json_count(&j, task->conf.n);
    json_key(&j, "rule"), json_text(&j, cli_rule_text(&task->conf));
    json_key(&j, "order"), json_text(&j, task->needs & DME_FIFO ? "fifo" : "any");
    json_key(&j, "lose"), json_count(&j, task->lose);
    json_key(&j, "duplicate"), json_count(&j, task->duplicate);
    json_key(&j, "crash"), json_count(&j, task->crash);
    json_key(&j, "restart"), json_count(&j, task->restart);
    json_key(&j, "resume"), json_count(&j, task->resume);
    json_key(&j, "cut"), json_count(&j, task->cut);
    json_key(&j, "join"), json_count(&j, task->join);
    json_key(&j, "leave"), json_count(&j, task->leave);
    json_key(&j, "ignored"), json_text(&j, task->deadlocks_too ? "deadlock" : "nothing");
    check_json_bounds(&j, task);
    json_key(&j, "mode"), json_text(&j, !r->states ? "random" : task->fingerprints ? "fingerprints" : "exact");
    json_key(&j, "reduced"), json_bool(&j, task->reduce);
    if (task->fingerprints)
        json_key(&j, "omission"), json_real(&j, check_omission(r));
    json_key(&j, "verdict"), json_text(&j, check_verdict_name(r));
    json_key(&j, "states"), json_count(&j, r->states);
    if (!r->states)
        json_key(&j, "runs"), json_count(&j, r->runs);
    json_key(&j, "transitions"), json_count(&j, r->transitions);
    json_key(&j, "steps"), json_count(&j, r->steps);
    json_key(&j, "canonical"), json_bool(&j, task->canonical);
    json_key(&j, "compared"), json_count(&j, r->compared);
    json_key(&j, "compared_all"), json_bool(&j, !r->compared_first);
    json_key(&j, "depth"), json_count(&j, r->depth);
    json_key(&j, "seconds"), json_real(&j, r->seconds);
    json_key(&j, "memory"), json_count(&j, r->memory);
    json_key(&j, "fault"), json_text(&j, r->fault);
    if (task->overtaking)
        json_key(&j, "overtaken"), json_count(&j, r->overtaken);
    if (task->messages && r->verdict == CHECK_HOLDS && r->messages != UINT64_MAX)
        json_key(&j, "messages_max"), json_count(&j, r->messages);
    if (r->verdict == CHECK_STARVATION) {
        json_key(&j, "victim"), json_count(&j, r->victim);
        json_key(&j, "loop"), json_count(&j, r->loop);
    }
    check_json_coverage(&j, r);
    json_key(&j, "trace"), json_array(&j);
    for (uint32_t k = 0; k < r->trace_length; k++) {
        char move[128];
        struct dme_text text;

        dme_text_init(&text, move, sizeof move);
        world_print_move(w, &r->trace[k], &text);
        json_text(&j, move);
    }
    json_end(&j, ']');
    json_end(&j, '}');
    world_free(w);
}

int check_status(const struct check_result *r)
{
    if (r->interrupted || r->vacuous || r->verdict == CHECK_UNFINISHED)
        return CLI_UNFINISHED;
    return r->verdict == CHECK_HOLDS ? CLI_OK : CLI_FAILED;
}
