/* The figures of the simulator against a naive count of what a watcher sees; and intervals that cover the truth as often
 * as they say. */
#include "test.h"

#include "cli/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sim_result run(const struct sim_spec *spec)
{
    struct sim_result result;
    char line[512];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    if (!sim_run(spec, &result, &wrong) || result.failure[0])
        fail_msg("%s%s", line, result.failure);
    return result;
}

/* ---------------------------------------------------------------------------------------------------- a naive count */

enum { CLAIMS_MAX = 4096, SITES_MAX = 16 };

struct watcher {
    struct claim {
        double asked, entered, left;
        uint64_t asking, entry, exit; /* which step: several may happen at one time */
    } claim[CLAIMS_MAX];              /* in the order of asking */
    uint32_t claims, open[SITES_MAX];
    uint64_t messages, steps;
};

static void watch(void *user, const struct sim_event *e)
{
    struct watcher *w = user;
    struct claim *c;

    if (e->event->type == DME_REQUEST)
        w->open[e->site] = w->claims++;
    c = &w->claim[w->open[e->site]];
    w->steps++;
    if (e->event->type == DME_REQUEST)
        c->asked = e->at, c->asking = w->steps;
    if (e->out->entered)
        c->entered = e->at, c->entry = w->steps;
    if (e->event->type == DME_RELEASE)
        c->left = e->at, c->exit = w->steps;
    for (const struct dme_msg *m = NULL; (m = dme_next(e->out, e->site, m));)
        w->messages++;
}

static unsigned count_overtaking(const struct watcher *w, uint32_t k)
{
    unsigned count = 0;

    for (uint32_t j = k + 1; j < w->claims; j++)
        count += w->claim[j].entry < w->claim[k].entry;
    return count;
}

static unsigned count_inside(const struct watcher *w, uint64_t step)
{
    unsigned count = 0;

    for (uint32_t j = 0; j < w->claims; j++)
        count += w->claim[j].entry <= step && w->claim[j].exit > step;
    return count;
}

/* The time from this exit to the next entry; negative if no site waited then, or another exit came before. */
static double sync_delay(const struct watcher *w, const struct claim *left)
{
    const struct claim *next = NULL;
    bool awaited = false;

    for (const struct claim *c = w->claim; c < w->claim + w->claims; c++) {
        awaited |= c->asking < left->exit && c->entry > left->exit;
        if (c->entry > left->exit && (!next || c->entry < next->entry))
            next = c;
    }
    for (const struct claim *c = w->claim; next && c < w->claim + w->claims; c++)
        if (c->exit > left->exit && c->exit < next->entry)
            return -1;
    return awaited ? next->entered - left->left : -1;
}

static void check_figures(const char *line)
{
    static struct watcher w;
    struct sim_spec spec = spec_parse(line);
    struct sim_result r;
    double wait = 0, response = 0, overtakes = 0, sync = 0, busy = 0, end = 0;
    unsigned syncs = 0, most = 0, together = 0;

    memset(&w, 0, sizeof w);
    spec.observe = watch;
    spec.user = &w;
    r = run(&spec);
    assert_int_equal(w.claims, r.entries);
    for (uint32_t k = 0; k < w.claims; k++) {
        const struct claim *c = &w.claim[k];
        unsigned passed = count_overtaking(&w, k), inside = count_inside(&w, c->entry);
        double delay = sync_delay(&w, c);

        wait += c->entered - c->asked;
        response += c->left - c->asked;
        overtakes += passed;
        most = most < passed ? passed : most;
        together = together < inside ? inside : together;
        busy += c->left - c->entered;
        end = end < c->left ? c->left : end;
        sync += delay >= 0 ? delay : 0;
        syncs += delay >= 0;
    }
    assert_int_equal(w.messages, r.messages);
    assert_true(fabs(r.value[FIG_WAIT] - wait / w.claims) < 1e-9);
    assert_true(fabs(r.value[FIG_RESPONSE] - response / w.claims) < 1e-9);
    assert_true(fabs(r.value[FIG_OVERTAKES] - overtakes / w.claims) < 1e-9);
    assert_int_equal(r.overtakes_max, most);
    assert_int_equal(r.inside_max, together);
    assert_true(fabs(r.value[FIG_THROUGHPUT] - w.claims / end) < 1e-9);
    assert_true(fabs(r.value[FIG_UTILISATION] * r.value[FIG_CONCURRENCY] - busy / end) < 1e-9);
    assert_true(fabs(r.value[FIG_SYNC] - sync / syncs) < 1e-9);
    spec_free(&spec);
}

static void figures_are_those_of_a_naive_count(void **state)
{
    (void)state;
    check_figures("suzuki-kasami --sites 6 --rate 0.1 --delay exp:1 --hold exp:0.3 --entries 2000 --warmup 0");
    check_figures(
        "naimi-trehel --sites 9 --closed --think exp:4 --delay uniform:0.5,2 --entries 2000 --warmup 0 --seed 4");
    check_figures("ricart-agrawala --sites 7 --rule shared --readers 0.7 --rate 0.1 --delay exp:1 --hold exp:2 "
                  "--entries 2000 --warmup 0");
    check_figures("raymond-k --rule slots:3 --sites 8 --rate 0.2 --delay exp:1 --hold exp:2 --entries 2000 --warmup 0");
}

/* -------------------------------------------------------------------------------------------------------- intervals */

static void intervals_cover_the_truth_as_often_as_they_say(void **state)
{
    struct sim_spec spec = spec_parse("suzuki-kasami --sites 5 --rate 0.0001 --entries 2000 --warmup 50");
    unsigned covered = 0;

    (void)state;
    /* One request in five finds the token at home: 4 messages on the average. */
    for (spec.seed = 1; spec.seed <= 200; spec.seed++) {
        struct sim_result r = run(&spec);

        covered += fabs(r.value[FIG_MESSAGES] - 4) <= r.half[FIG_MESSAGES];
    }
    assert_true(covered >= 180 && covered <= 198); /* 190 on the average, with a standard deviation of 3 */
    spec_free(&spec);
}

/* A server in the middle, messages that take no time and 2,000 sites that rarely ask: a queue with one server, whose mean
 * waiting time is known. Runs of 2,000 entries are long enough at half load and far too short near saturation. Intervals
 * are then wide enough all the same, and the run says that it is too short. */
static void known_waits_are_covered_near_saturation_too(void **state)
{
    static const struct {
        const char *line;
        double wait;
        unsigned warned_least, warned_most;
    } cases[] = {
        {"central --sites 2000 --rate 0.00025 --delay 0 --hold exp:1 --entries 2000 --warmup 200", 1, 0, 30},
        {"central --sites 2000 --rate 0.0003 --delay 0 --hold const:1 --entries 2000 --warmup 200", 0.75, 0, 30},
        {"central --sites 2000 --rate 0.0004 --delay 0 --hold exp:1 --entries 2000 --warmup 200", 4, 80, 180},
        {"central --sites 2000 --rate 0.00045 --delay 0 --hold const:1 --entries 2000 --warmup 200", 4.5, 120, 200},
        {"central --sites 2000 --rate 0.00045 --delay 0 --hold exp:1 --entries 2000 --warmup 200", 9, 150, 200},
    };

    (void)state;
    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct sim_spec spec = spec_parse(cases[c].line);
        unsigned covered = 0, warned = 0;

        for (spec.seed = 1; spec.seed <= 200; spec.seed++) {
            struct sim_result r = run(&spec);

            covered += fabs(r.value[FIG_WAIT] - cases[c].wait) <= r.half[FIG_WAIT];
            warned += !r.steady || r.correlated;
        }
        if (covered < 180 || warned < cases[c].warned_least || warned > cases[c].warned_most)
            fail_msg("%s: covered %u, warned %u", cases[c].line, covered, warned);
        spec_free(&spec);
    }
}

static void a_run_with_a_precision_goes_on_until_it_is_reached(void **state)
{
    struct sim_spec spec =
        spec_parse("central --sites 2000 --rate 0.00045 --delay 0 --hold exp:1 --entries 2000 --warmup 200");
    struct sim_result r = run(&spec);

    (void)state;
    assert_true(r.correlated && r.half[FIG_WAIT] > 0.05 * r.value[FIG_WAIT]);
    spec.precision = 0.05;
    r = run(&spec);
    assert_true(r.precise && r.steady && !r.correlated);
    assert_true(r.entries > 20000);
    assert_true(r.half[FIG_WAIT] <= 0.05 * r.value[FIG_WAIT] && fabs(r.value[FIG_WAIT] - 9) < 1);
    spec_free(&spec);
}

static void a_run_that_is_not_steady_says_so(void **state)
{
    /* All sites of a large system ask at once, and their waits grow from the first to the last. */
    struct sim_spec spec = spec_parse("raymond --sites 2000 --closed --entries 1000 --warmup 1");
    struct sim_spec calm = spec_parse("raymond --sites 20 --closed --entries 10000");

    (void)state;
    assert_false(run(&spec).steady);
    assert_true(run(&calm).steady);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_a_naive_count),
        cmocka_unit_test(intervals_cover_the_truth_as_often_as_they_say),
        cmocka_unit_test(known_waits_are_covered_near_saturation_too),
        cmocka_unit_test(a_run_with_a_precision_goes_on_until_it_is_reached),
        cmocka_unit_test(a_run_that_is_not_steady_says_so),
    };

    return cmocka_run_group_tests_name("sim_metrics", tests, NULL, NULL);
}
