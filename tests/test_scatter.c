/* test_scatter.c - the joint tests that published tables are judged by. */
#include "test.h"

#include "base/random.h"
#include "paper/scatter.h"

#include <math.h>

enum { RUNS = 60, FIGURES_HERE = 6 };

static double value[RUNS * FIGURES_HERE], published[FIGURES_HERE], digit[FIGURES_HERE];
static struct scatter table = {
    .runs = RUNS, .figures = FIGURES_HERE, .published = published, .digit = digit, .value = value};

/* Figures that share most of their randomness, as those of neighbouring loads do. */
static void draw(struct random *random, double *figures)
{
    double common = random_unit(random) + random_unit(random);

    for (unsigned f = 0; f < FIGURES_HERE; f++)
        figures[f] = 10 + common * (f + 1) + 0.02 * random_unit(random);
}

static void fill(uint64_t seed)
{
    struct random random;

    random_seed(&random, seed, 1);
    for (unsigned f = 0; f < FIGURES_HERE; f++)
        digit[f] = 0.001;
    for (unsigned r = 0; r < RUNS; r++)
        draw(&random, value + r * FIGURES_HERE);
    draw(&random, published);
    scatter_round(&table);
}

static void a_table_of_the_same_experiment_fits(void **state)
{
    static const bool all[FIGURES_HERE] = {1, 1, 1, 1, 1, 1};
    unsigned rare = 0, odd = 0;

    (void)state;
    for (unsigned seed = 0; seed < 400; seed++) {
        size_t figure;

        fill(seed);
        rare += scatter_share(&table, all) < 0.05;
        odd += scatter_odd(&table, all, &figure) < 0.05;
    }
    /* One in twenty is that rare; 20 expected, and four standard deviations are 17. */
    assert_in_range(rare, 3, 37);
    assert_in_range(odd, 3, 37);
}

static void a_misprint_is_found(void **state)
{
    static const bool all[FIGURES_HERE] = {1, 1, 1, 1, 1, 1};

    (void)state;
    for (unsigned seed = 0; seed < 50; seed++) {
        unsigned wrong = seed % FIGURES_HERE;
        double right, sd;
        size_t figure;

        fill(seed);
        right = published[wrong];
        published[wrong] += 0.1; /* far less than the scatter of a single figure */
        assert_true(scatter_odd(&table, all, &figure) < 0.05);
        assert_int_equal(figure, wrong);
        assert_true(fabs(scatter_predict(&table, wrong, &sd) - right) < 0.05);
        assert_true(sd < 0.02);
    }
}

static void means_and_deviations(void **state)
{
    double sd;

    (void)state;
    for (unsigned r = 0; r < RUNS; r++)
        value[r * FIGURES_HERE] = r % 2 ? 3 : 1;
    assert_true(fabs(scatter_mean(&table, 0, &sd) - 2) < 1e-12);
    assert_true(fabs(sd - sqrt(RUNS / (RUNS - 1.0))) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_of_the_same_experiment_fits),
        cmocka_unit_test(a_misprint_is_found),
        cmocka_unit_test(means_and_deviations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
