/* The checker beside a second one, naive.h: the same verdicts, the same states and the same moves, for every algorithm, every mistake and every
 * option. */
#include "naive.h"

#include "alg/list.h"
#include "core/text.h"

/* Compared are systems of this many sites and requests, with fewer states than `limit`. */
struct range {
    uint32_t sites, requests, limit, overtakes;
    uint8_t lose;
    bool starvation, overtaking, concurrency, failures, forms;
};

static struct {
    uint32_t systems, violated, starved, walked;
} seen;

static void differs(const struct check_task *t, const char *what, const struct check_result *r, const struct naive *v)
{
    const struct dme_alg *alg = t->conf.alg;
    char line[1024];
    struct dme_text text;

    dme_text_init(&text, line, sizeof line);
    dme_print(&text, "%s: %s, rule %u, %u sites, %u requests, promises %u", what, alg->name, t->conf.rule, t->conf.n,
              t->requests[0], t->needs);
    if (alg->mistakes)
        dme_print(&text, ", %s", alg->mistakes[t->conf.mistake].name);
    for (unsigned k = 0; alg->options && alg->options[k].key; k++)
        dme_print(&text, ", %s=%llu", alg->options[k].key, (unsigned long long)t->conf.option[k]);
    dme_print(&text, ", failures %u %u %u %u %u %u %u %u", t->lose, t->duplicate, t->crash, t->restart, t->resume,
              t->cut, t->join, t->leave);
    dme_print(&text,
              "; checker: %s, %llu states, %llu moves, trace of %u; here: %u states, %llu moves, violated at %d:",
              check_verdicts[r->verdict], (unsigned long long)r->states, (unsigned long long)r->transitions,
              r->trace_length, v->count, (unsigned long long)v->transitions, (int)v->found_at);
    for (unsigned k = 0; k < CHECK_UNFINISHED; k++)
        if (v->found[k])
            dme_print(&text, " %s", check_verdicts[k]);
    fail_msg("%s", line);
}

static void compare(struct naive *v, const struct check_task *task, uint32_t limit)
{
    struct check_result r = {.verdict = CHECK_UNFINISHED};
    bool starved = false;

    search(v, task, limit);
    if (!v->over)
        check_run(task, &r);
    seen.systems += !v->over;
    if (!v->over && v->found_at != UINT32_MAX) {
        seen.violated++;
        if (r.verdict >= CHECK_UNFINISHED || !v->found[r.verdict] || r.trace_length != v->found_at)
            differs(task, "another violation", &r, v);
    } else if (!v->over) {
        for (uint32_t i = 0; i < task->conf.n && task->starvation && !starved; i++)
            starved = starves(v, i);
        seen.starved += starved;
        if (r.verdict != (starved ? CHECK_STARVATION : CHECK_HOLDS))
            differs(task, starved ? "a site starves" : "all holds", &r, v);
        if (!starved && (r.states != v->count || r.transitions != v->transitions))
            differs(task, "other states", &r, v);
    }
    free(r.trace);
    forget(v);
}

static void compare_failures(struct naive *v, const struct check_task *task, uint32_t limit)
{
    static const uint8_t failures[][FAILURES] = {
        {[LOSE] = 1},
        {[DUPLICATE] = 1},
        {[CRASH] = 1},
        {[CRASH] = 1, [RESTART] = 1},
        {[CRASH] = 1, [RESUME] = 1},
        {[CUT] = 1},
        {[JOIN] = 1, [LEAVE] = 1},
        {[CRASH] = 1, [RESTART] = 1, [CUT] = 1},
        {[LOSE] = 1, [CRASH] = 1},
        {[CRASH] = 2, [RESTART] = 1, [RESUME] = 1},
        {[CRASH] = 1, [RESTART] = 1, [JOIN] = 1, [LEAVE] = 1},
    };

    for (unsigned k = 0; k < sizeof failures / sizeof failures[0]; k++)
        for (int detection = 0; detection < 2; detection++) {
            const uint8_t *f = failures[k];
            struct check_task t = *task;

            if ((f[JOIN] && !(t.conf.alg->join && t.conf.alg->leave)) ||
                (detection && !(t.needs & DME_DETECTION && f[CRASH])))
                continue;
            t.lose = f[LOSE], t.duplicate = f[DUPLICATE], t.crash = f[CRASH], t.restart = f[RESTART];
            t.resume = f[RESUME], t.cut = f[CUT], t.join = f[JOIN], t.leave = f[LEAVE];
            t.plain = true;
            t.needs &= detection ? ~(uint32_t)DME_DETECTION : UINT32_MAX;
            compare(v, &t, limit);
        }
}

/* A random run of the algorithm, with many requests: the form of each of its states is one that the search has. */
static void walk(struct naive *v, const struct check_task *task, uint64_t seed, uint32_t requests)
{
    struct check_task real = *task;
    struct naive *run = mem_new(sizeof *run);
    uint32_t next = 0, states = v->count;

    real.canonical = false;
    memset(real.requests, (int)requests, sizeof real.requests);
    search(run, &real, 64);
    do {
        memmove(run->bytes, run->bytes + run->at[next], run->at[next + 1] - run->at[next]);
        run->used = run->at[1] = run->at[next + 1] - run->at[next];
        run->count = 1;
        memset(run->slot, 0, run->slots * sizeof *run->slot);
        unpack(v, run->bytes, &v->after);
        if (add(v, &v->after, 0) == UINT32_MAX || v->count != states)
            differs(task, "a form that the search has not", &(struct check_result){0}, v);
        run->over = false;
        expand(run, 0);
        assert_false(run->over);
        next = run->count == 1 ? 0 : 1 + test_below(&seed, run->count - 1);
        seen.walked++;
    } while (next);
    forget(run);
    free(run);
}

static void compare_forms(struct naive *v, struct check_task *task, uint32_t limit)
{
    struct check_result r;

    task->canonical = check_may_be_canonical(task);
    if (!task->canonical || task->conf.alg->flaw)
        return;
    search(v, task, limit);
    if (!v->over) {
        check_run(task, &r);
        seen.systems++;
        if (r.verdict == CHECK_UNFINISHED ? v->found_at == UINT32_MAX
                                          : (r.verdict == CHECK_HOLDS) != (v->found_at == UINT32_MAX))
            differs(task, "another verdict", &r, v);
        if (r.verdict == CHECK_HOLDS && r.states != v->count)
            differs(task, "other forms", &r, v);
        for (uint64_t seed = 1; seed <= 3 && r.verdict == CHECK_HOLDS; seed++)
            walk(v, task, seed, 20);
        free(r.trace);
    }
    forget(v);
}

static void compare_orders(struct naive *v, const struct range *range, struct check_task *t)
{
    for (int fifo = 0; fifo < 2; fifo++) {
        t->needs = check_needs(t->conf.alg, fifo);
        t->canonical = false;
        if (range->failures)
            compare_failures(v, t, range->limit);
        else if (range->forms)
            compare_forms(v, t, range->limit);
        else
            compare(v, t, range->limit);
    }
}

/* Each option by itself. */
static void compare_options(struct naive *v, const struct range *range, struct check_task *t)
{
    const struct dme_option *o = t->conf.alg->options;
    char line[512];
    struct dme_text text;

    compare_orders(v, range, t);
    for (unsigned k = 0; o && o[k].key && !(range->failures && t->conf.alg->flaw); k++) {
        for (uint64_t x = o[k].min; o[k].choices ? o[k].choices[x] != NULL : x <= o[k].max && x <= o[k].min + 5; x++) {
            t->conf.option[k] = x;
            dme_text_init(&text, line, sizeof line);
            if (x != o[k].initial && dme_conf_check(&t->conf, &text))
                compare_orders(v, range, t);
        }
        t->conf.option[k] = o[k].initial;
    }
}

static void compare_all(const struct range *range)
{
    struct naive *v = mem_new(sizeof *v);

    memset(&seen, 0, sizeof seen);
    for (unsigned a = 0; alg_list[a]; a++)
        for (unsigned m = 0; m == 0 || (alg_list[a]->mistakes && alg_list[a]->mistakes[m].name); m++)
            for (unsigned rule = 0; rule < DME_RULES; rule++) {
                struct check_task t = {.limit = 1000000,
                                       .starvation = range->starvation,
                                       .overtaking = range->overtaking,
                                       .overtakes = range->overtakes,
                                       .concurrency = range->concurrency,
                                       .lose = range->lose,
                                       .plain = range->lose,
                                       .deadlocks_too = range->lose};
                char line[512];
                struct dme_text text;

                if (alg_list[a]->mistakes && !dme_makes(alg_list[a], m))
                    continue;
                dme_text_init(&text, line, sizeof line);
                dme_conf_init(&t.conf, alg_list[a], range->sites, rule, rule >= DME_SLOTS ? 2 : 0);
                t.conf.mistake = m;
                memset(t.requests, (int)range->requests, range->sites);
                if (dme_conf_check(&t.conf, &text))
                    compare_options(v, range, &t);
            }
    free(v);
}

static void all_runs_of_two_sites_are_found(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 2, .requests = 1, .limit = 1000});
    assert_true(seen.systems > 1000 && seen.violated > 200);
    compare_all(&(struct range){.sites = 2, .requests = 2, .limit = 400});
    assert_true(seen.systems > 800 && seen.violated > 200);
}

static void all_runs_of_three_sites_are_found(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 3, .requests = 1, .limit = 300});
    assert_true(seen.systems > 100 && seen.violated > 50);
}

static void all_runs_in_which_something_fails_are_found(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 2, .requests = 1, .limit = 150, .failures = true});
    assert_true(seen.systems > 5000 && seen.violated > 5000);
}

/* Where a message is lost, a site may wait for ever while the other one enters. */
static void each_site_that_starves_is_found(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 2, .requests = CHECK_UNLIMITED, .limit = 100, .starvation = true, .lose = 1});
    assert_true(seen.systems > 100 && seen.starved > 50 && seen.starved < seen.systems);
    compare_all(&(struct range){.sites = 2, .requests = CHECK_UNLIMITED, .limit = 100, .starvation = true});
    assert_true(seen.systems > 100 && seen.starved == 0);
}

static void each_site_that_is_overtaken_or_kept_out_is_found(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 2, .requests = 2, .limit = 300, .overtaking = true, .concurrency = true});
    assert_true(seen.systems > 500 && seen.violated > 300);
}

static void a_long_run_has_the_forms_of_the_search(void **state)
{
    (void)state;
    compare_all(&(struct range){.sites = 2, .requests = CHECK_UNLIMITED, .limit = 1000, .forms = true});
    assert_true(seen.systems > 20 && seen.walked > 5000);
}

int main(void)
{

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_runs_of_two_sites_are_found),
        cmocka_unit_test(all_runs_of_three_sites_are_found),
        cmocka_unit_test(all_runs_in_which_something_fails_are_found),
        cmocka_unit_test(each_site_that_starves_is_found),
        cmocka_unit_test(each_site_that_is_overtaken_or_kept_out_is_found),
        cmocka_unit_test(a_long_run_has_the_forms_of_the_search),
    };

    return cmocka_run_group_tests_name("naive", tests, NULL, NULL);
}
