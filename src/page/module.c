/* module.c - the functions that the page calls: the laboratory of dibs as one WebAssembly module.
 *
 * There are two ways in. page_command runs a command of dibs (check, sim, list, explain) with the words of its command
 * line, so the page's figures are those of the command line by construction, and so are its error messages. What it
 * prints goes to standard output and standard error, which the page supplies. A command may end the program: then the
 * page throws the instance away and makes a new one.
 *
 * The other functions work on one run, the stage (stage.h). Each leaves its answer, as JSON, where page_answer points. */
#include "base/memory.h"
#include "cli/check_report.h"
#include "cli/check_spec.h"
#include "cli/cli.h"
#include "core/text.h"
#include "lab/replay.h"
#include "layout.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#ifdef __wasm__
#define PAGE_EXPORT(name) __attribute__((export_name(#name)))
#else
#define PAGE_EXPORT(name)
#endif

/* WebAssembly has one address space of at most 4 GB; the checker ends before it is full. */
#define PAGE_MEMORY ((size_t)3 << 30)

enum { PAGE_FLIGHTS = 150, PAGE_STEPS = 50000 };

static struct stage *page_stage;
static char *page_text;
static size_t page_len;

PAGE_EXPORT(page_alloc) char *page_alloc(size_t size);
PAGE_EXPORT(page_free) void page_free(char *block);
PAGE_EXPORT(page_answer) const char *page_answer(void);
PAGE_EXPORT(page_answer_len) size_t page_answer_len(void);
PAGE_EXPORT(page_open) bool page_open(const char *path, const char *text);
PAGE_EXPORT(page_replay) bool page_replay(char *words, size_t len);
PAGE_EXPORT(page_act) bool page_act(uint32_t action);
PAGE_EXPORT(page_cut) bool page_cut(uint32_t side);
PAGE_EXPORT(page_message) bool page_message(uint32_t k);
PAGE_EXPORT(page_seek) void page_seek(uint32_t place);
PAGE_EXPORT(page_keep) void page_keep(uint32_t keeps);
PAGE_EXPORT(page_steps) void page_steps(uint32_t from);
PAGE_EXPORT(page_scenario) void page_scenario(void);
PAGE_EXPORT(page_command) int page_command(char *words, size_t len);

char *page_alloc(size_t size)
{
    return mem_new(size);
}

void page_free(char *block)
{
    free(block);
}

const char *page_answer(void)
{
    return page_text;
}

size_t page_answer_len(void)
{
    return page_len;
}

static struct cli_json page_begin(void)
{
    free(page_text);
    page_text = NULL;
    return (struct cli_json){.to = open_memstream(&page_text, &page_len), .line = true};
}

/* --------------------------------------------------------------------------------------------------------- the state */

static void page_json_text(struct cli_json *j, const char *key, const char *value)
{
    json_key(j, key), json_text(j, value);
}

static void page_json_count(struct cli_json *j, const char *key, uint64_t value)
{
    json_key(j, key), json_count(j, value);
}

static void page_json_site(struct cli_json *j, const char *key, dme_id site)
{
    json_key(j, key);
    if (site == DME_NONE)
        json_number(j, "null");
    else
        json_count(j, site);
}

static void page_json_action(struct cli_json *j, uint32_t k)
{
    const struct stage *s = page_stage;
    char line[128];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    world_print_move(s->world, &s->action[k].move, &text);
    json_object(j);
    page_json_count(j, "id", k);
    page_json_text(j, "move", line);
    page_json_text(j, "why", s->action[k].why);
    json_end(j, '}');
}

static void page_json_sites(struct cli_json *j)
{
    const struct stage *s = page_stage;
    uint32_t action = 0;

    json_key(j, "sites"), json_array(j);
    for (dme_id i = 0; i < s->conf.n; i++) {
        const struct dme_node *node = s->world->node[i];

        json_object(j);
        page_json_text(j, "phase", node->down ? "down" : dme_phase_name(node->phase));
        page_json_count(j, "mode", node->mode);
        page_json_count(j, "fence", node->fence);
        page_json_text(j, "state", s->state[i]);
        page_json_text(j, "before", s->before[i]);
        page_json_site(j, "next", layout_next(&s->conf, i));
        json_key(j, "quorum"), json_array(j);
        for (uint32_t k = 0; layout_quorum(&s->conf, i, k) != DME_NONE; k++)
            json_count(j, layout_quorum(&s->conf, i, k));
        json_end(j, ']');
        json_key(j, "actions"), json_array(j);
        for (; action < s->actions && s->action[action].move.site == i; action++)
            page_json_action(j, action);
        json_end(j, ']');
        json_end(j, '}');
    }
    json_end(j, ']');
}

/* The number of messages in flight, and the oldest of them: more than PAGE_FLIGHTS cannot be told apart in a picture. */
static void page_json_flights(struct cli_json *j)
{
    const struct stage *s = page_stage;

    page_json_count(j, "inFlight", s->world->flights);
    json_key(j, "flights"), json_array(j);
    for (size_t k = 0; k < s->world->flights && k < PAGE_FLIGHTS; k++) {
        const struct world_flight *f = &s->world->flight[k];
        char line[8192];
        struct dme_text text;

        dme_text_init(&text, line, sizeof line);
        dme_print_msg(&s->conf, f->msg, &text);
        json_object(j);
        page_json_count(j, "number", f->sent);
        page_json_count(j, "from", f->msg->from);
        page_json_count(j, "to", f->msg->to);
        page_json_text(j, "kind", dme_kind_name(s->conf.alg, f->msg->kind));
        page_json_text(j, "text", line);
        json_key(j, "news"), json_bool(j, f->msg->kind >= DME_NEWS);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void page_json_lamps(struct cli_json *j)
{
    static const char *const names[STAGE_LAMPS] = {"exclusion", "deadlock", "invariants", "protocol", "record"};

    json_key(j, "lamps"), json_object(j);
    for (unsigned k = 0; k < STAGE_LAMPS; k++)
        page_json_text(j, names[k], page_stage->step[page_stage->place].lamp[k]);
    json_end(j, '}');
}

static void page_json_conf(struct cli_json *j)
{
    const struct stage *s = page_stage;
    const struct dme_option *o = s->conf.alg->options;

    page_json_text(j, "algorithm", s->conf.alg->name);
    page_json_text(j, "rule", cli_rule_text(&s->conf));
    page_json_text(j, "layout", layout_names[layout_of(&s->conf)]);
    page_json_text(j, "mistake", s->conf.alg->mistakes ? s->conf.alg->mistakes[s->conf.mistake].name : NULL);
    json_key(j, "options"), json_object(j);
    for (unsigned k = 0; o && o[k].key; k++) {
        json_key(j, o[k].key);
        if (o[k].choices)
            json_text(j, o[k].choices[s->conf.option[k]]);
        else
            json_count(j, s->conf.option[k]);
    }
    json_end(j, '}');
    page_json_count(j, "needs", s->conf.alg->needs);
    page_json_count(j, "keeps", s->keeps);
    json_key(j, "hasInvariants"), json_bool(j, s->conf.alg->broken);
}

static void page_answer_state(void)
{
    const struct stage *s = page_stage;
    struct cli_json j = page_begin();

    json_object(&j);
    page_json_conf(&j);
    page_json_count(&j, "place", s->place);
    page_json_count(&j, "count", s->count);
    page_json_count(&j, "side", s->world->side);
    page_json_text(&j, "cutWhy", stage_objects(s, &(struct world_move){.type = WORLD_CUT, .arg = 1}));
    page_json_count(&j, "messages", s->world->sent - s->world->reports);
    page_json_count(&j, "entries", s->world->entries);
    page_json_sites(&j);
    page_json_flights(&j);
    page_json_lamps(&j);
    json_key(&j, "recorded"), json_bool(&j, s->recorded);
    json_end(&j, '}');
    fclose(j.to);
}

static bool page_answer_error(unsigned line, const char *text)
{
    struct cli_json j = page_begin();

    json_object(&j);
    page_json_count(&j, "line", line);
    page_json_text(&j, "error", text);
    json_end(&j, '}');
    fclose(j.to);
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- the run */

bool page_open(const char *path, const char *text)
{
    struct scenario_error error;
    struct stage *s = stage_open(path, text, &error);

    if (!s)
        return page_answer_error(error.line, error.text);
    if (page_stage)
        stage_free(page_stage);
    page_stage = s;
    page_answer_state();
    return true;
}

/* Merges what members have recorded into a scenario. The words, which end with a zero byte each, are the name of the lock and, for
 * each member, its name and its trace; an empty one was not heard. Answers with {text}, or {error}. */
bool page_replay(char *words, size_t len)
{
    struct replay_trace trace[REPLAY_MEMBERS_MAX];
    char *word[2] = {words, words}, *end = words + len, why[REPLAY_WHY_MAX], *text;
    unsigned count = 0;
    struct cli_json j;

    for (char *at = words + strlen(words) + 1; at < end && count < REPLAY_MEMBERS_MAX;
         at = word[1] + strlen(word[1]) + 1) {
        word[0] = at;
        word[1] = at + strlen(at) + 1;
        if (word[1] >= end)
            break;
        trace[count++] = (struct replay_trace){word[0], *word[1] ? word[1] : NULL};
    }
    text = replay_merge(words, trace, count, why);
    if (!text)
        return page_answer_error(0, why);
    j = page_begin();
    json_object(&j);
    page_json_text(&j, "text", text);
    json_end(&j, '}');
    fclose(j.to);
    free(text);
    return true;
}

static bool page_move(const struct world_move *move)
{
    const char *why = stage_move(page_stage, move);

    if (why)
        return page_answer_error(0, why);
    page_answer_state();
    return true;
}

bool page_act(uint32_t action)
{
    struct world_move move;

    if (action >= page_stage->actions)
        return page_answer_error(0, "there is no such action");
    move = page_stage->action[action].move;
    return page_move(&move);
}

/* Cuts these sites off, a bit for each; 0 heals the cut. */
bool page_cut(uint32_t side)
{
    return page_move(&(struct world_move){.type = side ? WORLD_CUT : WORLD_HEAL, .arg = side});
}

/* Answers with the three actions on message k of the flights: deliver, lose, duplicate. */
bool page_message(uint32_t k)
{
    struct cli_json j;
    uint32_t first;

    if (k >= page_stage->world->flights)
        return page_answer_error(0, "there is no such message");
    first = stage_offer_message(page_stage, k);
    j = page_begin();
    json_object(&j);
    json_key(&j, "actions"), json_array(&j);
    for (uint32_t action = first; action < page_stage->actions; action++)
        page_json_action(&j, action);
    json_end(&j, ']');
    json_end(&j, '}');
    fclose(j.to);
    return true;
}

void page_seek(uint32_t place)
{
    stage_seek(page_stage, place);
    page_answer_state();
}

void page_keep(uint32_t keeps)
{
    stage_keep(page_stage, keeps);
    page_answer_state();
}

static void page_json_step(struct cli_json *j, const struct stage_step *step)
{
    static const char *const verbs[] = {
        [DME_RECEIVE] = "deliver", [WORLD_LOSE] = "lose", [WORLD_DUPLICATE] = "duplicate"};

    json_object(j);
    page_json_text(j, "move", step->text);
    page_json_text(j, "effect", step->effect);
    page_json_count(j, "site", step->move.site);
    page_json_text(j, "phases", step->phases);
    page_json_text(j, "wrong", stage_wrong(step));
    json_key(j, "entered"), json_bool(j, step->entered);
    if (page_stage->recorded)
        page_json_count(j, "age", step->age_ms);
    if (step->received != UINT64_MAX) {
        page_json_count(j, "received", step->received);
        page_json_text(j, "with", verbs[step->move.type]);
    }
    json_key(j, "sends"), json_array(j);
    for (uint32_t k = 0; k < step->sends; k++) {
        json_array(j);
        json_count(j, step->send[k].number);
        json_count(j, step->send[k].from);
        json_count(j, step->send[k].to);
        json_text(j, step->send[k].label);
        json_bool(j, step->send[k].kind >= DME_NEWS);
        json_end(j, ']');
    }
    json_end(j, ']');
    json_end(j, '}');
}

/* The steps of the run from this one on (0 is the beginning), at most PAGE_STEPS of them, and all remarks. */
void page_steps(uint32_t from)
{
    const struct stage *s = page_stage;
    struct cli_json j = page_begin();
    uint32_t end = s->count - from < PAGE_STEPS ? s->count + 1 : from + PAGE_STEPS;

    json_object(&j);
    json_key(&j, "steps"), json_array(&j);
    for (uint32_t k = from; k < end; k++)
        page_json_step(&j, &s->step[k]);
    json_end(&j, ']');
    json_key(&j, "remarks"), json_array(&j);
    for (uint32_t k = 0; k < s->remarks; k++) {
        json_object(&j);
        page_json_count(&j, "before", s->remark[k].before);
        page_json_text(&j, "text", s->remark[k].text);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    json_end(&j, '}');
    fclose(j.to);
}

void page_scenario(void)
{
    free(page_text);
    page_text = stage_scenario(page_stage);
    page_len = strlen(page_text);
}

/* ---------------------------------------------------------------------------------------------------------- commands */

static void page_progress(uint64_t states, uint64_t waiting, double seconds)
{
    fprintf(stderr, "{\"states\": %llu, \"waiting\": %llu, \"seconds\": %.3f}\n", (unsigned long long)states,
            (unsigned long long)waiting, seconds);
}

/* As cmd_check, but without signals and threads. Prints three parts with a form feed between them: the result as JSON,
 * as text, and the counterexample as a scenario. Progress goes to stderr. */
static int page_check(int argc, char **argv)
{
    static const struct cli_usage usage = {
        .line = "dibs check ALGORITHM [OPTION...]", .about = "", .options = check_options};
    const char *name;
    struct check_task task;
    struct check_result result;

    if (cli_parse(argc, argv, &usage, &name, 1) != 1)
        cli_die("check needs an algorithm, as in \"dibs check ricart-agrawala\" (dibs list shows all)");
    if (check_words.fingerprints || check_words.threads > 1)
        cli_die("the page has one thread and no --fingerprints; leave them out, or use the command line");
    if (!check_words.memory || check_words.memory > PAGE_MEMORY)
        check_words.memory = PAGE_MEMORY;
    task = check_task_of(name);
    task.progress = page_progress;
    if (check_words.runs)
        check_random(&task, check_words.runs, check_words.seed, &result);
    else
        check_run(&task, &result);
    check_print_json(&task, &result);
    printf("\f");
    check_print_text(&task, &result);
    printf("\f");
    if (result.trace)
        check_save(&task, &result, "-");
    return CLI_OK;
}

const struct cli_command cli_commands[] = {
    {"check", "check every interleaving of a small system", page_check, NULL},
    {"sim", "run an algorithm in simulated time and measure what it costs", cmd_sim, NULL},
    {"list", "list the algorithms", cmd_list, NULL},
    {"explain", "explain an algorithm", cmd_explain, NULL},
    {0},
};

/* Runs a command of dibs. The words, which end with a zero byte each, begin with its name. Returns its exit status. */
int page_command(char *words, size_t len)
{
    enum { WORDS_MAX = 64 };
    char *argv[WORDS_MAX + 1] = {0};
    int argc = 0, status = CLI_USAGE;

    for (char *word = words; word < words + len && argc < WORDS_MAX; word += strlen(word) + 1)
        argv[argc++] = word;
    for (const struct cli_command *c = cli_commands; argc && c->name; c++)
        if (strcmp(argv[0], c->name) == 0)
            status = c->run(argc, argv);
    fflush(stdout);
    fflush(stderr);
    return status;
}
