/* scenario.c - see scenario.h. */
#include "scenario.h"

#include "alg/list.h"
#include "base/memory.h"
#include "scenario_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LEN = 1 << 16, SETTLE_MAX = 100000 };

/* Records what is wrong with the line. Always returns false. */
bool play_wrong(struct play *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(p->error->text, sizeof p->error->text, format, args);
    va_end(args);
    return false;
}

bool play_number(struct play *p, const char *word, const char *what, uint32_t below, uint32_t *number)
{
    char *end;
    unsigned long x = strtoul(word, &end, 10);

    *number = (uint32_t)x;
    if (*word >= '0' && *word <= '9' && !*end && x < below)
        return true;
    return play_wrong(p, "\"%s\" is not a %s; it is a number from 0 to %u", word, what, below - 1);
}

/* ------------------------------------------------------------------------------------------------ setting the scene */

static void play_use(struct play *p, const struct dme_alg *alg)
{
    unsigned rule = 0;

    while (!(alg->rules & 1u << rule))
        rule++;
    dme_conf_init(&p->conf, alg, 0, rule, rule == DME_SLOTS ? 1 : rule == DME_GROUP ? 2 : 0);
    p->promises = alg->needs;
}

/* The algorithm that the file is named after: the longest name that its own begins with. */
static void play_use_name_of(struct play *p, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t longest = 0;

    for (unsigned k = 0; alg_list[k]; k++) {
        size_t len = strlen(alg_list[k]->name);

        if (len > longest && strncmp(base, alg_list[k]->name, len) == 0 && strchr(".-_", base[len])) {
            longest = len;
            play_use(p, alg_list[k]);
        }
    }
}

static bool play_algorithm(struct play *p)
{
    const struct dme_alg *alg = alg_find(p->word[1]);

    if (!alg)
        return play_wrong(p, "unknown algorithm \"%s\"; dibs list shows all", p->word[1]);
    play_use(p, alg);
    return true;
}

static bool play_sites(struct play *p)
{
    return play_number(p, p->word[1], "number of sites", DME_SITES_MAX + 1, &p->conf.n);
}

static bool play_rule(struct play *p)
{
    const char *colon = strchr(p->word[1], ':');
    size_t len = colon ? (size_t)(colon - p->word[1]) : strlen(p->word[1]);

    for (unsigned r = 0; r < DME_RULES; r++) {
        bool counts = r == DME_SLOTS || r == DME_GROUP;

        if (strlen(dme_rule_name(r)) != len || strncmp(dme_rule_name(r), p->word[1], len) != 0 || counts != !!colon)
            continue;
        p->conf.rule = r;
        p->conf.limit = 0;
        return !colon || play_number(p, colon + 1, "limit", UINT32_MAX, &p->conf.limit);
    }
    return play_wrong(p, "unknown rule \"%s\"; it is one of exclusive, shared, slots:K, group:M", p->word[1]);
}

static bool play_set(struct play *p)
{
    char *equals = strchr(p->word[1], '=');
    struct dme_text text;

    if (!equals)
        return play_wrong(p, "set takes KEY=VALUE, not \"%s\"", p->word[1]);
    *equals = 0;
    dme_text_init(&text, p->error->text, sizeof p->error->text);
    return dme_conf_set(&p->conf, p->word[1], equals + 1, &text);
}

static bool play_order(struct play *p)
{
    if (strcmp(p->word[1], "fifo") == 0)
        p->promises |= DME_FIFO;
    else if (strcmp(p->word[1], "any") == 0)
        p->promises &= ~(uint32_t)DME_FIFO;
    else
        return play_wrong(p, "unknown order \"%s\"; it is fifo or any", p->word[1]);
    return true;
}

/* Before the first move. */
static bool play_begin(struct play *p)
{
    struct dme_text text;

    if (p->world)
        return true;
    if (p->conf.n == 0)
        return play_wrong(p, "how many sites are there? A line such as \"sites 3\" comes before the first move");
    dme_text_init(&text, p->error->text, sizeof p->error->text);
    if (!dme_conf_check(&p->conf, &text))
        return false;
    p->world = world_new(&p->conf);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ moves */

bool play_site(struct play *p, unsigned k, dme_id *site)
{
    return play_number(p, p->word[k], "site", p->conf.n, site);
}

/* The rule was kept until this entry: say by whom it is broken. */
static void play_tell_broken(struct play *p)
{
    const struct lab_world *w = p->world;
    const char *between = "EXCLUSION BROKEN: sites ";

    for (dme_id i = 0; i < w->conf.n; i++) {
        if (w->node[i]->phase != DME_INSIDE)
            continue;
        fprintf(p->output, "%s%u (mode %u)", between, i, w->node[i]->mode);
        between = " and ";
    }
    fprintf(p->output, " are inside together\n");
}

static void play_tell_stuck(struct play *p)
{
    const char *between = "STUCK: ";
    unsigned waiting = 0;

    for (dme_id i = 0; i < p->conf.n; i++)
        if (p->world->node[i]->phase == DME_WAITING) {
            fprintf(p->output, "%s%u", between, i);
            between = " and ";
            waiting++;
        }
    fprintf(p->output, " %s for ever\n", waiting == 1 ? "waits" : "wait");
}

static bool play_move(struct play *p, const struct world_move *move)
{
    static char line[LINE_MAX_LEN];
    struct lab_world *w = p->world;
    const char *objection;
    struct dme_text text;

    if (p->faulted)
        return play_wrong(p, "the algorithm has contradicted itself; nothing can happen after that");
    dme_text_init(&text, line, sizeof line);
    play_keep_message(p, move);
    objection = world_play(w, move, &text);
    if (objection) {
        snprintf(line, sizeof line, "%s %u is not possible: %s", p->word[0], move->site, objection);
        return play_impossible(p, line);
    }
    fprintf(p->output, "%s\n", line);
    p->moves = mem_grow(p->moves, (p->moved + 1) * sizeof *p->moves);
    p->moves[p->moved++] = *move;
    p->age_ms = mem_grow(p->age_ms, p->moved * sizeof *p->age_ms);
    p->age_ms[p->moved - 1] = 0;
    p->faulted = w->out->fault;
    if (w->out->entered && !world_safe(w))
        play_tell_broken(p);
    if (world_stuck(w))
        play_tell_stuck(p);
    return true;
}

static bool play_request(struct play *p)
{
    struct world_move move = {.type = DME_REQUEST};
    uint32_t last;

    dme_modes(&p->conf, &move.arg, &last);
    if (p->words > 2 && !play_number(p, p->word[2], "mode", last + 1, &move.arg))
        return false;
    return play_site(p, 1, &move.site) && play_move(p, &move);
}

static bool play_release(struct play *p)
{
    struct world_move move = {.type = DME_RELEASE};

    return play_site(p, 1, &move.site) && play_move(p, &move);
}

static bool play_timer(struct play *p)
{
    struct world_move move = {.type = DME_TIMER};

    return play_site(p, 1, &move.site) && play_number(p, p->word[2], "timer", DME_TIMERS, &move.arg) &&
           play_move(p, &move);
}

/* crash, restart, resume, join, leave and suspect: something happens to one site. */
static bool play_failure(struct play *p)
{
    static const struct {
        const char *verb;
        struct world_move move;
    } verbs[] = {
        {"crash", {.type = WORLD_CRASH}},
        {"restart", {.type = DME_RESTART}},
        {"resume", {.type = DME_RESTART, .arg = 1}},
        {"join", {.type = DME_JOIN}},
        {"leave", {.type = DME_LEAVE}},
        {"suspect", {.type = WORLD_SUSPECT}},
    };
    struct world_move move;
    unsigned k = 0;

    while (strcmp(verbs[k].verb, p->word[0]) != 0)
        k++;
    move = verbs[k].move;
    return play_site(p, 1, &move.site) && play_move(p, &move);
}

static bool play_cut(struct play *p)
{
    struct world_move move = {.type = WORLD_CUT};

    for (unsigned k = 1; k < p->words; k++) {
        if (!play_site(p, k, &move.site))
            return false;
        if (move.site >= 32)
            return play_wrong(p, "a cut names the side whose sites are all below 32");
        move.arg |= 1u << move.site;
    }
    return play_move(p, &move);
}

static bool play_heal(struct play *p)
{
    return play_move(p, &(struct world_move){.type = WORLD_HEAL});
}

/* Which message is meant? Its place in flight, or SIZE_MAX. */
static size_t play_find(const struct play *p, dme_id from, dme_id to, const char *kind, uint32_t nth)
{
    for (size_t k = 0; k < p->world->flights; k++) {
        const struct dme_msg *m = p->world->flight[k].msg;

        if (m->from == from && m->to == to && (!kind || strcmp(dme_kind_name(p->conf.alg, m->kind), kind) == 0) &&
            nth-- == 0)
            return k;
    }
    return SIZE_MAX;
}

/* deliver, lose, duplicate: what the move does with the message that the words name. */
static bool play_message(struct play *p, uint32_t type)
{
    const char *kind = p->words > 3 ? p->word[3] : NULL;
    uint32_t from, to, nth = 0;
    struct world_move move;
    size_t k;

    if (!play_site(p, 1, &from) || !play_site(p, 2, &to) ||
        (p->words > 4 && !play_number(p, p->word[4], "place in line", UINT32_MAX, &nth)))
        return false;
    k = play_find(p, from, to, kind, nth);
    if (k == SIZE_MAX)
        return p->recorded
                   ? play_impossible(p, "the algorithm has sent no such message")
                   : play_wrong(p, "no such message is in flight from %u to %u; a line \"flight\" shows what is", from,
                                to);
    if (type == DME_RECEIVE && !world_may_arrive(p->world, k, p->promises))
        return play_impossible(
            p, p->recorded ? "an older message of the same channel has not arrived"
                           : "an older message must arrive first on this network; deliver that, or say \"order any\"");
    move = world_delivery(p->world, k);
    move.type = type;
    return play_move(p, &move);
}

static bool play_deliver(struct play *p)
{
    return play_message(p, DME_RECEIVE);
}

static bool play_lose(struct play *p)
{
    return play_message(p, WORLD_LOSE);
}

static bool play_duplicate(struct play *p)
{
    return play_message(p, WORLD_DUPLICATE);
}

static bool play_settle(struct play *p)
{
    for (unsigned moves = 0; p->world->flights && !p->faulted; moves++) {
        struct world_move move = world_delivery(p->world, 0);

        if (moves == SETTLE_MAX)
            return play_wrong(p, "after %u deliveries there are still messages in flight", moves);
        if (!play_move(p, &move))
            return false;
    }
    return true;
}

static bool play_show(struct play *p)
{
    static char line[LINE_MAX_LEN];
    dme_id only = DME_NONE;

    if (p->words > 1 && !play_site(p, 1, &only))
        return false;
    for (dme_id i = 0; i < p->conf.n; i++) {
        struct dme_text text;

        if (only != DME_NONE && only != i)
            continue;
        dme_text_init(&text, line, sizeof line);
        if (!p->world->node[i]->down)
            dme_print_state(&p->conf, p->world->node[i], &text);
        fprintf(p->output, "%u %s%s%s\n", i,
                p->world->node[i]->down ? "down" : dme_phase_name(p->world->node[i]->phase), *line ? ": " : "", line);
    }
    return true;
}

static bool play_flight(struct play *p)
{
    static char line[LINE_MAX_LEN];

    for (size_t k = 0; k < p->world->flights; k++) {
        const struct dme_msg *m = p->world->flight[k].msg;
        struct dme_text text;

        dme_text_init(&text, line, sizeof line);
        dme_print_msg(&p->conf, m, &text);
        fprintf(p->output, "%u -> %u %s\n", m->from, m->to, line);
    }
    if (p->world->flights == 0)
        fprintf(p->output, "nothing is in flight\n");
    return true;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static const struct play_command {
    const char *name, *usage;
    unsigned words_min, words_max;
    bool scene; /* only before the first move */
    bool (*run)(struct play *p);
} play_commands[] = {
    {"algorithm", "algorithm NAME", 2, 2, true, play_algorithm},
    {"sites", "sites N", 2, 2, true, play_sites},
    {"rule", "rule exclusive|shared|slots:K|group:M", 2, 2, true, play_rule},
    {"set", "set KEY=VALUE", 2, 2, true, play_set},
    {"order", "order fifo|any", 2, 2, true, play_order},
    {"recorded", "recorded [AGE enters|- BYTES]", 1, 4, false, play_recorded},
    {"state", "state SITE COUNT BYTES", 4, 4, false, play_state},
    {"before", "before FIRST COUNT request SITE MODE | release SITE | get SITE FROM BYTES | local SITE FROM", 5, 7,
     false, play_before},
    {"inflight", "inflight FROM TO BYTES", 4, 4, false, play_inflight},
    {"request", "request SITE [MODE]", 2, 3, false, play_request},
    {"release", "release SITE", 2, 2, false, play_release},
    {"timer", "timer SITE TIMER", 3, 3, false, play_timer},
    {"deliver", "deliver FROM TO [KIND [NTH]]", 3, 5, false, play_deliver},
    {"lose", "lose FROM TO [KIND [NTH]]", 3, 5, false, play_lose},
    {"duplicate", "duplicate FROM TO [KIND [NTH]]", 3, 5, false, play_duplicate},
    {"settle", "settle", 1, 1, false, play_settle},
    {"crash", "crash SITE", 2, 2, false, play_failure},
    {"restart", "restart SITE", 2, 2, false, play_failure},
    {"resume", "resume SITE", 2, 2, false, play_failure},
    {"join", "join SITE", 2, 2, false, play_failure},
    {"leave", "leave SITE", 2, 2, false, play_failure},
    {"suspect", "suspect SITE", 2, 2, false, play_failure},
    {"cut", "cut SITE...", 2, PLAY_WORDS_MAX, false, play_cut},
    {"heal", "heal", 1, 1, false, play_heal},
    {"show", "show [SITE]", 1, 2, false, play_show},
    {"flight", "flight", 1, 1, false, play_flight},
    {0},
};

static bool play_command(struct play *p, char *line)
{
    const struct play_command *c = play_commands;
    char *rest = line, *word;

    for (p->words = 0; (word = strtok_r(rest, " \t\r", &rest)); p->word[p->words++] = word)
        if (p->words == PLAY_WORDS_MAX)
            return play_wrong(p, "too many words");
    while (c->name && strcmp(c->name, p->word[0]) != 0)
        c++;
    if (!c->name)
        return play_wrong(p,
                          "unknown command \"%s\"; it is one of algorithm, sites, rule, set, order, request, release, "
                          "timer, deliver, lose, duplicate, settle, crash, restart, resume, join, leave, suspect, cut, "
                          "heal, show, flight, recorded, state, before, inflight",
                          p->word[0]);
    if (p->words < c->words_min || p->words > c->words_max)
        return play_wrong(p, "the command is: %s", c->usage);
    if (c->scene && p->world)
        return play_wrong(p, "%s comes before the first move", c->name);
    if (!p->conf.alg && c->run != play_algorithm)
        return play_wrong(p, "which algorithm? Begin with a line \"algorithm NAME\", or name the file after one");
    if (!c->scene && !play_begin(p))
        return false;
    if (p->midst && !p->begin && c->run != play_state && c->run != play_before && c->run != play_inflight &&
        c->run != play_recorded)
        p->begin = world_clone(p->world);
    return p->stopped || c->run(p);
}

/* The end of a block: what it printed goes behind its dashes. A block without output needs none. */
static void play_end_block(struct play *p, bool dashes, FILE *to)
{
    fclose(p->output);
    if (dashes || p->len)
        fprintf(to, "----\n%s", p->block);
    free(p->block);
    p->output = open_memstream(&p->block, &p->len);
}

/* A comment between commands is a remark about what comes next. Lines of one comment become one line. */
static void play_remark(struct play *p, const char *line)
{
    struct moves_remark *last = p->remarks ? &p->remark[p->remarks - 1] : NULL;
    size_t len = last ? strlen(last->text) : 0;

    line += strspn(line, "# \t");
    if (!last || last->before != p->moved) {
        p->remark = mem_grow(p->remark, (p->remarks + 1) * sizeof *p->remark);
        p->remark[p->remarks++] = (struct moves_remark){p->moved, strdup(line)};
        return;
    }
    last->text = mem_grow(last->text, len + strlen(line) + 2);
    sprintf(last->text + len, " %s", line);
}

static void play_free_remarks(struct moves_remark *remark, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        free(remark[k].text);
    free(remark);
}

static bool play_line(struct play *p, const char *line, bool *expected, FILE *to)
{
    bool empty = line[strspn(line, " \t\r")] == 0, dashes = strcmp(line, "----") == 0, fine = true;

    if (*expected && !empty)
        return true;
    if (dashes || (empty && !*expected))
        play_end_block(p, dashes, to);
    *expected = dashes;
    if (dashes)
        return true;
    fprintf(to, "%s\n", line);
    if (*line == '#' && p->commanded)
        play_remark(p, line);
    if (!empty && *line != '#') {
        char *words = strdup(line);

        p->commanded = true;

        fine = play_command(p, words);
        free(words);
    }
    return fine;
}

static bool play_lines(struct play *p, const char *text, FILE *to)
{
    bool expected = false, fine = true;

    while (*text && fine) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);

        p->error->line++;
        fine = play_line(p, line, &expected, to);
        free(line);
        text += len + (text[len] != 0);
    }
    play_end_block(p, false, to);
    return fine;
}

/* Plays all of it; the text with its output goes to *played. */
static bool play_all(struct play *p, const char *path, const char *text, char **played)
{
    size_t len;
    FILE *to = open_memstream(played, &len);
    bool fine;

    p->error->line = 0;
    p->output = open_memstream(&p->block, &p->len);
    play_use_name_of(p, path);
    fine = play_lines(p, text, to);
    fclose(p->output);
    free(p->block);
    fclose(to);
    if (p->world)
        world_free(p->world);
    return fine;
}

bool scenario_play(const char *path, const char *text, char **played, struct scenario_error *error)
{
    struct play p = {.error = error};
    bool fine = play_all(&p, path, text, played);

    free(p.moves);
    free(p.got);
    free(p.age_ms);
    play_free_remarks(p.remark, p.remarks);
    play_free_verdicts(p.verdict, p.verdicts);
    if (!fine) {
        free(*played);
        *played = NULL;
    }
    return fine;
}

static bool scenario_run_by(struct play *p, const char *path, const char *text, struct moves *run)
{
    char *played;
    bool fine = play_all(p, path, text, &played);

    free(played);
    free(p->got);
    *run = (struct moves){.conf = p->conf,
                          .fifo = p->promises & DME_FIFO,
                          .move = p->moves,
                          .count = p->moved,
                          .remark = p->remark,
                          .remarks = p->remarks,
                          .begin = p->begin,
                          .recorded = p->recorded,
                          .age_ms = p->age_ms,
                          .verdict = p->verdict,
                          .verdicts = p->verdicts,
                          .loop = p->moved};
    if (!fine)
        scenario_run_free(run);
    return fine;
}

bool scenario_run(const char *path, const char *text, struct moves *run, struct scenario_error *error)
{
    return scenario_run_by(&(struct play){.error = error}, path, text, run);
}

bool scenario_replay(const char *path, const char *text, struct moves *run, struct scenario_error *error)
{
    return scenario_run_by(&(struct play){.error = error, .believes = true}, path, text, run);
}

void scenario_run_free(struct moves *run)
{
    free((void *)run->move);
    free(run->age_ms);
    play_free_verdicts(run->verdict, run->verdicts);
    if (run->begin)
        world_free(run->begin);
    play_free_remarks((struct moves_remark *)run->remark, run->remarks);
    *run = (struct moves){0};
}
