/* cmd_quiz.c - dibs quiz: exercises. Each is an algorithm with one mistake in it, which is not named. A student finds
 * it by a scenario in which the algorithm fails, or names it; the exit status is the mark. */
#include "alg/list.h"
#include "base/memory.h"
#include "cli.h"
#include "lab/scenario.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* The exercises, the easier ones first. Of each, tests/scenario/ALGORITHM-MISTAKE.txt is a solution. */
static const struct quiz {
    const char *algorithm, *mistake;
    const char *hint;
} quizzes[] = {
    {"naimi-trehel-as-retold", "holder-forwards", "Two sites and two moves are enough."},
    {"carvalho-roucairol-as-retold", "empty-array", "Two sites are enough."},
    {"lamport-as-retold", "clock-not-past", "Two sites are enough; only one of them has to ask."},
    {"maekawa-as-retold", "never-inquires", "Three sites are enough, and all of them ask."},
    {"raymond-tempting", "forgets-to-ask", "Three sites are enough."},
    {"raymond-tempting", "asks-every-time", "Three sites are enough."},
    {"naimi-trehel-tempting", "overwrites-next", "Three sites are enough."},
    {"suzuki-kasami-tempting", "queues-twice", "Three sites are enough."},
    {"suzuki-kasami-tempting", "gives-uncompared", "Three sites are enough; one message is slow."},
    {"suzuki-kasami-as-retold", "numbers-wrap", "Two sites are enough, if one of them asks often."},
    {"ricart-agrawala-as-published", "records-late",
     "Two sites are enough. The timer stands for a process that goes on later."},
    {"ricart-agrawala-broadcast-tempting", "ignores-list", "Three sites are enough, and one of them asks twice."},
    {"carvalho-roucairol-as-retold", "keeps-permission", "Two sites are enough."},
    {"carvalho-roucairol-tempting", "forgets-to-ask", "Two sites are enough."},
    {"maekawa-as-retold", "overtaken-not-told", "Three sites ask, and the claims arrive in different orders."},
    {"maekawa-tempting", "ignores-early-inquiry", "One message overtakes another."},
    {"singhal-dynamic-as-retold", "compares-clock", "Clocks and claims are not the same."},
    {"singhal-heuristic-as-published", "discards-old-requests", "Three sites are enough; one message is slow."},
    {"swaroop-singh-as-published", "forgets-early-requests", "Three sites are enough; one message is slow."},
    {"swaroop-singh-as-published", "keeps-old-session", "The rule is group:2."},
    {"ricart-agrawala-tempting", "small-modulus", "Bounded numbers: set modulus=2 for two sites, or 2n-2 for n."},
};
enum { QUIZZES = sizeof quizzes / sizeof quizzes[0] };

/* "suzuki-kasami" of "suzuki-kasami-tempting" */
static int quiz_base(const struct quiz *q)
{
    static const char *const tails[] = {"-as-published", "-tempting", "-as-retold"};

    for (unsigned k = 0; k < 3; k++) {
        const char *tail = strstr(q->algorithm, tails[k]);

        if (tail)
            return (int)(tail - q->algorithm);
    }
    return (int)strlen(q->algorithm);
}

/* The student's scenario with the hidden algorithm in place of the one it names. Two lines come in front of it. */
static char *quiz_scenario(const struct quiz *q, const char *path)
{
    char *text = cli_read_file(path), *hidden = NULL;
    size_t size;
    FILE *to = open_memstream(&hidden, &size);

    if (!to)
        cli_die("not enough memory");
    fprintf(to, "algorithm %s\nset mistake=%s\n", q->algorithm, q->mistake);
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        bool drop = strncmp(line, "algorithm ", 10) == 0 || strncmp(line, "set mistake=", 12) == 0;

        fprintf(to, "%.*s\n", drop ? 1 : (int)len, drop ? "#" : line);
        line += len + (line[len] == '\n');
    }
    fclose(to);
    free(text);
    return hidden;
}

/* Returns the promise of the network that a move breaks although the algorithm relies on it; null if there is none. */
static const char *quiz_unfair(const struct moves *run)
{
    uint32_t needs = run->conf.alg->needs;

    if (needs & DME_FIFO && !run->fifo)
        return "the algorithm relies on FIFO channels; say \"order fifo\"";
    for (uint32_t k = 0; k < run->count; k++) {
        if (world_is_mishap(run->move[k].type) && needs & DME_RELIABLE)
            return "the algorithm relies on a network that neither loses nor duplicates messages";
        if (run->move[k].type == WORLD_CRASH && needs & DME_ALIVE)
            return "the algorithm relies on sites that do not stop";
        if (run->move[k].type == WORLD_SUSPECT)
            return "the algorithm relies on true reports of crashes";
    }
    return NULL;
}

/* Returns what the algorithm does wrong in this run; null if nothing. */
static const char *quiz_failure(const struct moves *run, uint32_t *at)
{
    struct lab_world *w = world_new(&run->conf);
    const char *wrong = NULL;

    for (*at = 0; !wrong && *at < run->count; ++*at) {
        world_move(w, &run->move[*at]);
        wrong = w->out->fault    ? "a step contradicts the protocol"
                : !world_safe(w) ? "mutual exclusion is violated"
                : world_stuck(w) ? "deadlock: a site waits, and nothing is under way"
                                 : world_broken(w);
    }
    world_free(w);
    return wrong;
}

static struct moves quiz_run(const struct quiz *q, const char *path)
{
    char *text = quiz_scenario(q, path);
    struct scenario_error error;
    struct moves run;

    if (!scenario_run(path, text, &run, &error))
        cli_die("%s:%u: %s", path, error.line > 2 ? error.line - 2 : 1, error.text);
    free(text);
    return run;
}

static int quiz_grade(const struct quiz *q, const char *path)
{
    struct moves run = quiz_run(q, path);
    const char *unfair = quiz_unfair(&run), *wrong;
    uint32_t at;

    if (unfair)
        cli_die("%s: %s", path, unfair);
    wrong = quiz_failure(&run, &at);
    scenario_run_free(&run);
    if (wrong) {
        printf("%ssolved%s: after move %u, %s\n", colour_of(VERDICT_GOOD), colour_end(), at, wrong);
        return CLI_OK;
    }
    printf("%snot solved%s: the algorithm does nothing wrong in this run\n", colour_of(VERDICT_BAD), colour_end());
    return CLI_FAILED;
}

static int quiz_try(const struct quiz *q, const char *path)
{
    struct moves run = quiz_run(q, path);

    moves_print(stdout, &run);
    scenario_run_free(&run);
    return CLI_OK;
}

static int quiz_name(const struct quiz *q, const char *name)
{
    bool right = strcmp(q->mistake, name) == 0;

    printf("%s%s%s: %s%s\n", colour_of(right ? VERDICT_GOOD : VERDICT_BAD), right ? "solved" : "not solved",
           colour_end(), name, right ? "" : " is not the mistake of this exercise");
    return right ? CLI_OK : CLI_FAILED;
}

static void quiz_list(void)
{
    for (unsigned k = 0; k < QUIZZES; k++)
        printf("%3u  %.*s\n", k + 1, quiz_base(&quizzes[k]), quizzes[k].algorithm);
    cli_help_text(stdout, "\n\"dibs quiz N\" shows exercise N.");
}

static void quiz_task(unsigned number)
{
    const struct quiz *q = &quizzes[number - 1];
    char text[2048];
    int base = quiz_base(q);

    snprintf(
        text, sizeof text,
        "Exercise %u: %.*s has a mistake\n\n"
        "In this version of the algorithm one rule is wrong or missing. Find a run in which it fails: two sites are "
        "inside that may not be there together, a site waits for ever, a site receives what it cannot expect, or an "
        "invariant does not hold. %s\n\n"
        "1.\tRead what is right: dibs explain %.*s\n"
        "2.\tWrite the moves into a file, as in tests/scenario/%.*s.txt; the line \"algorithm\" may be left out.\n"
        "3.\tSee what happens: dibs quiz %u --try FILE\n"
        "4.\tHand it in: dibs quiz %u --answer FILE. The exit status is 0 if the run shows the mistake, and 1 if "
        "not.\n\n"
        "Or name it: dibs list --all has the mistakes of each algorithm, dibs check finds runs that show them, and "
        "dibs quiz %u --guess NAME tells whether it is this one.",
        number, base, q->algorithm, q->hint, base, q->algorithm, base, q->algorithm, number, number, number);
    cli_help_text(stdout, text);
}

int cmd_quiz(int argc, char **argv)
{
    static const char *answer, *attempt, *name;
    static const struct cli_option options[] = {
        {"--try", CLI_TEXT, &attempt, "FILE",
         "play the scenario FILE with the wrong algorithm and print each move (default: do not)", 0, 0, NULL},
        {"--answer", CLI_TEXT, &answer, "FILE", "grade the scenario FILE: does it show the mistake? (default: do not)",
         0, 0, NULL},
        {"--guess", CLI_TEXT, &name, "NAME",
         "grade the name of a mistake, as \"dibs list --all\" has it (default: do not)", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs quiz [N] [--try FILE | --answer FILE | --guess NAME]",
        .about = "Exercises: each is an algorithm with a mistake in it, to be found. Without N it lists the "
                 "exercises; with N it shows exercise N, or grades an answer.\n\n"
                 "Exit status: 0 solved, or nothing was to be graded; 1 not solved; 2 the file or the command line is "
                 "wrong.",
        .options = options,
        .examples = {{"List the exercises:", "dibs quiz"},
                     {"Show exercise 1, and hand in a scenario:", "dibs quiz 1 --answer mine.txt"}},
    };
    const char *word = NULL;
    unsigned long number;
    char *end;

    if (!cli_parse(argc, argv, &usage, &word, 1)) {
        if (answer || attempt || name)
            cli_die("no exercise is named (usage: %s)", usage.line);
        quiz_list();
        return CLI_OK;
    }
    number = strtoul(word, &end, 10);
    if (*end || number < 1 || number > QUIZZES)
        cli_die("there is no exercise \"%s\"; they are 1 to %d (dibs quiz lists them)", word, QUIZZES);
    if ((answer != NULL) + (attempt != NULL) + (name != NULL) > 1)
        cli_die("one of --try, --answer and --guess at a time");
    if (answer)
        return quiz_grade(&quizzes[number - 1], answer);
    if (attempt)
        return quiz_try(&quizzes[number - 1], attempt);
    if (name)
        return quiz_name(&quizzes[number - 1], name);
    quiz_task((unsigned)number);
    return CLI_OK;
}
