/* What members record of a lock, played again: random runs of three members, with every algorithm that can run locks, from the
 * beginning and from the midst, are what the algorithm does, move by move; and a record that was tampered with is not.
 * Invariants: I15, I16, I31. */
#include "test.h"

#include "alg/list.h"
#include "base/random.h"
#include "cluster.h"
#include "lab/replay.h"
#include "lab/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, CLIENTS = 6, STEPS = 20000, SLOTS = 2 };

static struct node node[MEMBERS];
static struct cluster all = {.n = MEMBERS, .node = node};
static struct cluster_client user[CLIENTS];
static bool asks[CLIENTS]; /* it has asked for the lock, and not released it */
static struct bytes trace[MEMBERS];
static uint64_t seed;

static const char *const names[] = {"ant", "bee", "cat"};

static uint32_t below(uint32_t n)
{
    return (uint32_t)(random_splitmix(&seed) % n);
}

static void start(const struct dme_alg *alg, const struct dme_alg *slots_alg)
{
    for (uint32_t k = 0; k < MEMBERS; k++)
        members_start(&node[k], (struct node_conf){.summary = "", .algorithm = alg, .slots_algorithm = slots_alg},
                      names, MEMBERS, k);
    for (uint32_t k = 0; k < CLIENTS; k++) {
        cluster_come(&all, &user[k], k % MEMBERS);
        asks[k] = false;
    }
    cluster_connect_all(&all);
    while (cluster_carry_all(&all))
        ;
}

static void stop(void)
{
    cluster_end(&all);
    for (unsigned k = 0; k < CLIENTS; k++)
        bytes_free(&user[k].heard);
    for (unsigned k = 0; k < MEMBERS; k++)
        bytes_free(&trace[k]);
}

/* A client asks or releases, or some bytes arrive, or time passes. */
static void happen(bool slots)
{
    uint32_t k = below(CLIENTS);
    char line[64];

    switch (below(8)) {
    case 0:
        snprintf(line, sizeof line,
                 asks[k] ? "UNLOCK x\n"
                 : slots ? "LOCK x SLOTS 2\n"
                         : "LOCK x%s\n",
                 below(3) == 0 && node[0].conf.algorithm->rules & 1u << DME_SHARED ? " SHARED" : "");
        asks[k] = !asks[k];
        cluster_say(&all, &user[k], line);
        break;
    case 1:
        if (below(20) == 0)
            cluster_pass(&all, node[0].now_ms + 1 + below(5));
        break;
    default:
        cluster_carry(&all, below(MEMBERS), below(MEMBERS), 1 + below(200));
    }
}

static void record(unsigned k)
{
    const struct lock *lock = locks_find(&node[k].locks, "x", 1);

    bytes_free(&trace[k]);
    trace_print(&node[k].locks, lock, "x", 1, 1, &trace[k]);
    *bytes_add(&trace[k], 1) = '\0';
}

/* The members answer one after the other, while more happens. */
static char *ask_all(bool slots, char why[REPLAY_WHY_MAX])
{
    struct replay_trace traces[MEMBERS];

    for (unsigned k = 0; k < MEMBERS; k++) {
        record(k);
        for (unsigned i = 0; i < 20; i++)
            happen(slots);
    }
    for (unsigned k = 0; k < MEMBERS; k++)
        traces[k] = (struct replay_trace){names[k], (const char *)trace[k].at + trace[k].start};
    return replay_merge("x", traces, MEMBERS, why);
}

/* The text of a request, read again, is in the same mode. */
static void check_text(const struct lab_world *w, const struct world_move *move)
{
    uint32_t first, last, site, mode;
    struct dme_text text;
    char line[64];

    if (move->type != DME_REQUEST)
        return;
    dme_text_init(&text, line, sizeof line);
    world_print_move(w, move, &text);
    dme_modes(&w->conf, &first, &last);
    if (sscanf(line, "request %u %u", &site, &mode) < 2)
        mode = first;
    assert_int_equal(mode, move->arg);
}

/* Plays it with the invariants of the algorithm; how many verdicts there are. */
static uint32_t judge(const char *text, uint32_t *moves, bool *midst)
{
    struct scenario_error error;
    struct moves run;
    struct lab_world *w;
    uint32_t verdicts;

    if (!scenario_replay("replay", text, &run, &error))
        fail_msg("line %u: %s\n%s", error.line, error.text, text);
    *midst = run.begin;
    w = run.begin ? world_clone(run.begin) : world_new(&run.conf);
    verdicts = run.verdicts;
    for (uint32_t k = 0; k < run.count && !verdicts; k++) {
        check_text(w, &run.move[k]);
        assert_null(world_move(w, &run.move[k]));
        if (!world_safe(w) || world_broken(w) || w->out->fault)
            fail_msg("move %u: %s\n%s", k + 1, world_broken(w) ? world_broken(w) : "two are inside", text);
    }
    *moves = run.count;
    world_free(w);
    scenario_run_free(&run);
    return verdicts;
}

/* Of all records, how many were played from the beginning, from the midst, and not at all; and their moves. */
static unsigned whole, cut, none;
static uint64_t moves_played;

static void play_random_runs(const struct dme_alg *alg, bool slots)
{
    start(slots ? alg_find("central") : alg, slots ? alg : alg_find("central"));
    for (unsigned k = 0; k < STEPS; k++) {
        happen(slots);
        if (k % (STEPS / 6) == STEPS / 6 - 1) {
            char why[REPLAY_WHY_MAX], *text = ask_all(slots, why);
            uint32_t moves;
            bool midst;

            if (!text) {
                none++;
                continue;
            }
            if (judge(text, &moves, &midst))
                fail_msg("%s%s, seed %llu: not as recorded\n%s", alg->name, slots ? " (slots)" : "",
                         (unsigned long long)seed, text);
            whole += !midst;
            cut += midst;
            moves_played += moves;
            free(text);
        }
    }
    stop();
}

static void every_algorithm_of_locks_can_be_replayed(void **state)
{
    unsigned algorithms = 0;

    (void)state;
    seed = 19;
    for (unsigned k = 0; alg_list[k]; k++)
        for (unsigned slots = 0; slots < 2; slots++) {
            char why[256];
            struct dme_text text;

            dme_text_init(&text, why, sizeof why);
            if (!(alg_list[k]->rules & 1u << (slots ? DME_SLOTS : DME_EXCLUSIVE)) ||
                !locks_can_run(alg_list[k], slots, MEMBERS, &text))
                continue;
            algorithms++;
            play_random_runs(alg_list[k], slots);
        }
    printf(
        "# %u algorithms and kinds: %u runs from the beginning, %u from the midst, %u without a replay; %llu moves\n",
        algorithms, whole, cut, none, (unsigned long long)moves_played);
    assert_true(algorithms > 10 && whole > 10 && cut > 10 && none < whole + cut);
}

/* One line of the replay is left out, repeated, or changed: it is noticed, or what is left is another possible run. */
static void a_record_that_was_tampered_with_is_noticed(void **state)
{
    unsigned noticed = 0, lines = 0;
    char why[REPLAY_WHY_MAX], *text;
    uint32_t moves;
    bool midst;

    (void)state;
    seed = 7;
    start(alg_find("swaroop-singh"), alg_find("central"));
    for (unsigned k = 0; k < 300; k++)
        happen(false);
    text = ask_all(false, why);
    assert_non_null(text);
    assert_int_equal(judge(text, &moves, &midst), 0);
    for (char *at = text; (at = strstr(at, "\nrecorded ")); at++) {
        char *copy = strdup(text), *flag = copy + (strchr(at + 10, ' ') - text) + 1;
        bool enters = *flag == 'e';

        lines++;
        if (enters) /* "enters" becomes "-" */
            memmove(flag + 1, flag + 6, strlen(flag + 6) + 1);
        *flag = '-';
        if (!enters) { /* and the other way round */
            char *longer = malloc(strlen(copy) + 6);

            sprintf(longer, "%.*senters%s", (int)(flag - copy), copy, flag + 1);
            free(copy);
            copy = longer;
        }
        noticed += judge(copy, &moves, &midst) > 0;
        free(copy);
    }
    assert_true(lines > 20);
    assert_int_equal(noticed, lines);
    free(text);
    stop();
}

static void what_is_no_record_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "lock",
                                        "lock 1",
                                        "untraced\n",
                                        "lock 1 0 0 1 0 0 central group 9\n",
                                        "lock 1 0 0 1 0 0 central group 9\nend\n",
                                        "lock 1 0 0 1 1 0 central group 9\nmark 0 -\nend\n",
                                        "lock 1 0 0 65 1 0 central group 9\nmark 0 -\nend\n",
                                        "lock 1 0 0 1 0 0 nothing group 9\nmark 0 -\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nmark 0 x\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nrequest 0 0 0 -\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nmark 0 -\nget 0 0 1 0 1 00 -\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nmark 0 -\nget 0 0 0 0 1 00 - 1:1\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nmark 0 -\nrequest 0 0 0 maybe\nend\n",
                                        "lock 1 0 0 1 0 0 central group 9\nmark 0 -\nletters 1 0 0\nend\n",
                                        "lock 99999999999999999999999 0 0 1 0 0 central group 9\nmark 0 -\nend\n"};

    (void)state;
    for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char why[REPLAY_WHY_MAX];

        assert_null(replay_merge("x", &(struct replay_trace){"ant", wrong[k]}, 1, why));
        assert_true(strlen(why) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_of_locks_can_be_replayed),
        cmocka_unit_test(a_record_that_was_tampered_with_is_noticed),
        cmocka_unit_test(what_is_no_record_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
