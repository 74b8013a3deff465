/* The rules at the heads of src/alg, as "dibs explain" prints them, are in step with the code: whatever a site does in
 * random runs, its rule says so, and whatever a rule says happens in some run. What counts is the kinds of messages that a
 * rule sends and whether the site enters; a message to oneself is received within the same step, so its rule counts too. */
#include "test.h"

#include "alg/list.h"
#include "core/text.h"
#include "lab/explained.h"
#include "lab/world.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST = 32, RELEASE, TIMER, LABELS, ENTERS = 31, MOVES = 4000 };

/* By label (a kind, or one of those above): bit k says that kind k is sent, bit ENTERS that the site enters. */
struct deeds {
    uint32_t does[LABELS];
    bool has[LABELS];
    uint32_t to_itself; /* kinds */
};

/* ----------------------------------------------------------------------------------------------------- what is said */

static uint32_t kind_named(const struct dme_alg *a, const char *word, size_t len)
{
    for (unsigned k = 0; k < dme_kinds(a); k++)
        if (strlen(a->kinds[k].name) == len && memcmp(a->kinds[k].name, word, len) == 0)
            return k;
    return UINT32_MAX;
}

static uint32_t words_say(const struct dme_alg *a, const char *text, size_t len)
{
    uint32_t does = 0;

    for (size_t at = 0; at < len;) {
        size_t size = 0;
        uint32_t kind;

        while (at + size < len && (isalpha((unsigned char)text[at + size]) || text[at + size] == '_'))
            size++;
        kind = kind_named(a, text + at, size);
        if (kind == UINT32_MAX && size > 2 && text[at + size - 1] == 's')
            kind = kind_named(a, text + at, size - 1); /* REQUESTs: those received, by a rule that reads them again */
        else if (kind != UINT32_MAX)
            does |= 1u << kind;
        if (size == 5 && memcmp(text + at, "enter", 5) == 0)
            does |= 1u << ENTERS;
        at += size ? size : 1;
    }
    return does;
}

static uint32_t label_of(const struct dme_alg *a, const char *label)
{
    uint32_t kind;

    if (strncmp(label, "request\t", 8) == 0)
        return REQUEST;
    if (strncmp(label, "release\t", 8) == 0)
        return RELEASE;
    if (strncmp(label, "timer\t", 6) == 0)
        return TIMER;
    if (strncmp(label, "on ", 3) != 0)
        fail_msg("%s: no rule begins with \"%.20s\"", a->name, label);
    kind = kind_named(a, label + 3, strcspn(label + 3, "( \t"));
    if (kind == UINT32_MAX && strstr(label, " or ")) /* "on REPLY or REPLIES(list)": of two algorithms in one file */
        kind = kind_named(a, strstr(label, " or ") + 4, strcspn(strstr(label, " or ") + 4, "( \t"));
    if (kind == UINT32_MAX)
        fail_msg("%s: \"%.20s\" names no kind of message", a->name, label);
    return kind;
}

static struct deeds rules_of(const struct dme_alg *a, const char *rules)
{
    struct deeds said = {0};

    for (; *rules; rules += strcspn(rules, "\n") + 1) {
        uint32_t label = label_of(a, rules);
        const char *text = rules + strcspn(rules, "\t") + 1;

        said.has[label] = true;
        said.does[label] = words_say(a, text, strcspn(text, "\n"));
    }
    return said;
}

/* --------------------------------------------------------------------------------------------------- what is done */

static void note(const struct lab_world *w, const struct world_move *m, struct deeds *done)
{
    uint32_t label = m->type == DME_REQUEST   ? REQUEST
                     : m->type == DME_RELEASE ? RELEASE
                     : m->type == DME_TIMER   ? TIMER
                                              : m->kind;

    done->has[label] = true;
    if (w->out->entered)
        done->does[label] |= 1u << ENTERS;
    for (size_t at = 0; at < w->out->used;) {
        const struct dme_msg *sent = (const struct dme_msg *)(w->out->bytes + at);

        if (sent->to == m->site)
            done->to_itself |= 1u << sent->kind;
        else
            done->does[label] |= 1u << sent->kind;
        at += dme_msg_bytes(sent);
    }
}

/* A move that is possible: a message arrives, a user asks or leaves; a timer fires when nothing is in flight, as if delays
 * were bounded. */
static bool choose(const struct lab_world *w, uint64_t *seed, struct world_move *m)
{
    dme_id site = test_below(seed, w->conf.n);
    uint32_t first, last;

    if (w->flights && test_below(seed, 3)) {
        size_t k = test_below(seed, (uint32_t)w->flights);

        *m = world_delivery(w, k);
        return world_may_arrive(w, k, w->conf.alg->needs);
    }
    *m = (struct world_move){.site = site};
    for (unsigned t = 0; t < DME_TIMERS && !w->flights; t++)
        if (w->node[site]->armed >> t & 1) {
            m->type = DME_TIMER;
            m->arg = t;
            return true;
        }
    dme_modes(&w->conf, &first, &last);
    m->type = w->node[site]->phase == DME_IDLE ? DME_REQUEST : DME_RELEASE;
    m->arg = m->type == DME_REQUEST ? first + test_below(seed, last - first + 1) : 0;
    return w->node[site]->phase != DME_WAITING;
}

static void run(const struct dme_alg *a, enum dme_rule rule, uint32_t n, uint64_t seed, struct deeds *done)
{
    struct dme_conf conf;
    struct lab_world *w;
    char line[256];
    struct dme_text text;

    dme_conf_init(&conf, a, n, rule, rule == DME_SLOTS || rule == DME_GROUP ? 2 : 0);
    dme_text_init(&text, line, sizeof line);
    if (!dme_conf_check(&conf, &text))
        return;
    w = world_new(&conf);
    for (unsigned k = 0; k < MOVES; k++) {
        struct world_move m;

        if (!choose(w, &seed, &m))
            continue;
        if (world_move(w, &m))
            fail_msg("%s: a move cannot be made", a->name);
        if (w->out->fault)
            fail_msg("%s: %s", a->name, w->out->fault);
        note(w, &m, done);
    }
    world_free(w);
}

/* -------------------------------------------------------------------------------------------------------- the test */

static void say(const struct dme_alg *a, uint32_t label, uint32_t does, char *line, size_t size)
{
    struct dme_text text;

    dme_text_init(&text, line, size);
    dme_print(&text, "%s:",
              label == REQUEST   ? "request"
              : label == RELEASE ? "release"
              : label == TIMER   ? "timer"
                                 : a->kinds[label].name);
    for (unsigned k = 0; k < dme_kinds(a); k++)
        if (does & 1u << k)
            dme_print(&text, " sends %s", a->kinds[k].name);
    if (does & 1u << ENTERS)
        dme_print(&text, " enters");
}

/* What the rule says, and the rules of the messages that it sends to the site itself. */
static uint32_t with_own(const struct deeds *said, const struct deeds *done, uint32_t label)
{
    uint32_t all = said->does[label];

    for (unsigned round = 0; round < 3; round++)
        for (uint32_t k = 0; k < ENTERS; k++)
            if (all & done->to_itself & 1u << k)
                all |= said->does[k];
    return all;
}

static void is_in_step(const struct dme_alg *a, const char *rules)
{
    struct deeds said = rules_of(a, rules), done = {0};
    char line[256];

    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint32_t n = 1; n <= 7; n += n == 5 ? 2 : 1)
            for (unsigned rule = 0; rule < DME_RULES; rule++)
                if (a->rules & 1u << rule)
                    run(a, rule, n, seed, &done);
    for (uint32_t label = 0; label < LABELS; label++) {
        uint32_t unsaid = done.does[label] & ~with_own(&said, &done, label);
        uint32_t undone = said.does[label] & ~(done.does[label] | done.to_itself);

        if (!said.has[label] && !done.has[label])
            continue;
        say(a, label, unsaid ? unsaid : undone, line, sizeof line);
        if (unsaid)
            fail_msg("%s: it is done, and the rules do not say so: %s", a->name, line);
        if (undone)
            fail_msg("%s: the rules say so, and it is never done: %s", a->name, line);
        if (said.has[label] && !done.has[label])
            fail_msg("%s: there is a rule for what never happens: %s", a->name, line);
    }
}

static void the_rules_of_every_algorithm_are_in_step_with_its_code(void **state)
{
    (void)state;
    for (const struct explained *e = explained; e->name; e++)
        if (e->algorithm && strncmp(e->name, "agrawal-el-abbadi-robust", 24) != 0)
            is_in_step(alg_find(e->name), e->algorithm);
}

static void every_sound_algorithm_is_explained(void **state)
{
    (void)state;
    for (unsigned k = 0; alg_list[k]; k++) {
        const struct explained *e = explained;

        while (e->name && strcmp(e->name, alg_list[k]->name) != 0)
            e++;
        if (alg_list[k]->flaw)
            continue;
        if (!e->name || !e->idea || !e->messages)
            fail_msg("%s has no idea or no messages at the head of its file; run docs/make-explain", alg_list[k]->name);
        if (!e->algorithm && !alg_list[k]->news && !alg_list[k]->upkeep)
            fail_msg("%s has no \"Algorithm.\" at the head of its file; run docs/make-explain", alg_list[k]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sound_algorithm_is_explained),
        cmocka_unit_test(the_rules_of_every_algorithm_are_in_step_with_its_code),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
