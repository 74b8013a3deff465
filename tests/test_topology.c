/* Trees are trees, quorums meet: the facts that the algorithms on them rely on, for every size that is offered. */
#include "test.h"

#include "core/topology.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 60 };

/* ------------------------------------------------------------------------------------------------------------ trees */

static void every_site_of_a_tree_leads_to_the_root(void **state)
{
    (void)state;
    for (unsigned tree = 0; topo_tree_names[tree]; tree++)
        for (uint32_t n = 1; n <= SIZES; n++) {
            assert_int_equal(topo_parent(tree, n, 0), DME_NONE);
            for (dme_id i = 1; i < n; i++) {
                uint32_t steps = 0;

                for (dme_id at = i; at != 0; at = topo_parent(tree, n, at)) {
                    assert_true(at < n);
                    assert_true(++steps < n);
                }
            }
        }
}

/* The degree is computed by a formula; here it is counted. */
static void degrees_are_those_of_the_tree(void **state)
{
    (void)state;
    for (unsigned tree = 0; topo_tree_names[tree]; tree++)
        for (uint32_t n = 1; n <= SIZES; n++) {
            uint32_t sum = 0;

            for (dme_id i = 0; i < n; i++) {
                uint32_t degree = i != 0;

                for (dme_id j = 1; j < n; j++)
                    degree += topo_parent(tree, n, j) == i;
                assert_int_equal(topo_degree(tree, n, i), degree);
                sum += degree;
            }
            assert_int_equal(sum, 2 * (n - 1));
        }
}

static void trees_have_the_shape_of_their_name(void **state)
{
    static const struct {
        enum topo_tree tree;
        dme_id parents[7];
    } expected[] = {
        {TOPO_BINARY, {DME_NONE, 0, 0, 1, 1, 2, 2}},    {TOPO_TERNARY, {DME_NONE, 0, 0, 0, 1, 1, 1}},
        {TOPO_LINE, {DME_NONE, 0, 1, 2, 3, 4, 5}},      {TOPO_STAR, {DME_NONE, 0, 0, 0, 0, 0, 0}},
        {TOPO_RADIATING, {DME_NONE, 0, 0, 0, 1, 2, 3}},
    };

    (void)state;
    for (unsigned k = 0; k < sizeof expected / sizeof expected[0]; k++)
        for (dme_id i = 0; i < 7; i++)
            assert_int_equal(topo_parent(expected[k].tree, 7, i), expected[k].parents[i]);
}

/* ---------------------------------------------------------------------------------------------------------- quorums */

/* The quorum as one byte per site; returns its size. */
static uint32_t quorum_set(enum topo_quorum quorum, uint32_t n, dme_id site, uint8_t *member)
{
    uint32_t k = 0;
    dme_id j;

    memset(member, 0, n);
    for (; (j = topo_quorum_member(quorum, n, site, k)) != DME_NONE; k++) {
        assert_true(j < n);
        assert_false(member[j]); /* without repetition */
        member[j] = 1;
    }
    assert_int_equal(topo_quorum_member(quorum, n, site, k + 1), DME_NONE);
    return k;
}

static uint32_t common(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    uint32_t count = 0;

    for (dme_id j = 0; j < n; j++)
        count += a[j] && b[j];
    return count;
}

static void check_quorums(enum topo_quorum quorum, uint32_t n)
{
    uint8_t(*member)[91] = malloc(n * sizeof *member);

    for (dme_id i = 0; i < n; i++) {
        quorum_set(quorum, n, i, member[i]);
        assert_true(member[i][i]);
    }
    for (dme_id i = 0; i < n; i++)
        for (dme_id j = 0; j < i; j++)
            assert_true(common(member[i], member[j], n) > 0);
    free(member);
}

static void quorums_contain_their_owner_and_any_two_meet(void **state)
{
    unsigned planes = 0;

    (void)state;
    for (uint32_t n = 1; n <= 91; n++) {
        if (n <= SIZES) {
            check_quorums(TOPO_GRID, n);
            check_quorums(TOPO_FULL, n);
        }
        if (topo_quorum_exists(TOPO_PLANE, n)) {
            check_quorums(TOPO_PLANE, n);
            planes++;
        }
    }
    assert_int_equal(planes, 8);
}

static void grid_quorums_are_a_row_and_a_column(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= SIZES; n++) {
        uint32_t c = 1;
        uint8_t member[SIZES];

        while (c * c < n)
            c++;
        for (dme_id i = 0; i < n; i++) {
            quorum_set(TOPO_GRID, n, i, member);
            for (dme_id j = 0; j < n; j++)
                assert_int_equal(member[j], i / c == j / c || i % c == j % c);
        }
    }
}

/* On a plane of order q there are q+1 sites in a quorum and any two quorums share exactly one: its difference set is
 * perfect. */
static void planes_are_perfect(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 91; n++) {
        uint8_t seen[91] = {0}, member[91];
        uint32_t size;

        if (!topo_quorum_exists(TOPO_PLANE, n))
            continue;
        size = quorum_set(TOPO_PLANE, n, 0, member);
        assert_int_equal(n, size * (size - 1) + 1);
        for (dme_id a = 0; a < n; a++)
            for (dme_id b = 0; b < n; b++)
                if (a != b && member[a] && member[b])
                    seen[(a + n - b) % n]++;
        for (dme_id difference = 1; difference < n; difference++)
            assert_int_equal(seen[difference], 1);
    }
}

/* ----------------------------------------------------------------------------------------------------- tree quorums */

/* The quorum as a bit set, 0 if there is none. */
static uint32_t tree_quorum(uint32_t n, uint32_t arity, dme_id site, uint32_t down_set)
{
    uint8_t down[32] = {0}, member[32];
    uint32_t set = 0;

    for (dme_id j = 0; j < n; j++)
        down[j] = down_set >> j & 1;
    if (!topo_tree_quorum(n, arity, site, down, member, 1))
        return 0;
    for (dme_id j = 0; j < n; j++)
        set |= (uint32_t)member[j] << j;
    assert_int_equal(set & down_set, 0); /* no site that is down is asked */
    assert_int_not_equal(set, 0);
    return set;
}

/* Sites need not agree on who is down: every quorum meets every other. */
static uint32_t check_tree_quorums(uint32_t n, uint32_t arity)
{
    uint8_t *is_quorum = calloc(1, 1u << n);
    uint32_t count = 0;

    for (uint32_t down = 0; down < 1u << n; down++)
        for (dme_id i = 0; i < n; i++)
            is_quorum[tree_quorum(n, arity, i, down)] = 1;
    for (uint32_t a = 1; a < 1u << n; a++) {
        count += is_quorum[a];
        for (uint32_t b = 1; is_quorum[a] && b < a; b++)
            if (is_quorum[b])
                assert_int_not_equal(a & b, 0);
    }
    free(is_quorum);
    return count;
}

static void any_two_tree_quorums_meet_whoever_is_down(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 15; n++)
        check_tree_quorums(n, 2);
    assert_int_equal(check_tree_quorums(15, 2), 255);
    for (uint32_t n = 1; n <= 13; n++)
        check_tree_quorums(n, 3);
}

/* Printed versions take a missing child for one that agrees. A path could then end above the only child of a site, {0}
 * of two sites, and would not meet the path that replaces that site by its child, {1}. */
static void a_path_goes_on_below_a_site_with_one_child(void **state)
{
    (void)state;
    assert_int_equal(tree_quorum(2, 2, 0, 0), 1 << 0 | 1 << 1);
    assert_int_equal(tree_quorum(2, 2, 1, 1 << 0), 1 << 1);
    assert_int_equal(tree_quorum(2, 2, 0, 1 << 1), 0);
    for (uint32_t n = 1; n <= 31; n++)
        for (dme_id i = 0; i < n; i++) {
            uint32_t set = tree_quorum(n, 2, i, 0);

            for (dme_id j = 0; 2 * j + 1 < n; j++)
                if (set >> j & 1)
                    assert_int_not_equal(set & (1u << (2 * j + 1) | (2 * j + 2 < n ? 1u << (2 * j + 2) : 0)), 0);
        }
}

static void without_failures_a_site_is_in_its_own_tree_quorum(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 31; n++)
        for (dme_id i = 0; i < n; i++)
            for (uint32_t arity = 2; arity <= 4; arity++)
                assert_int_equal(tree_quorum(n, arity, i, 0) >> i & 1, 1);
}

/* On a complete binary tree half of all failures leave a quorum, whichever site looks for it. */
static void half_of_all_failures_leave_a_complete_tree_a_quorum(void **state)
{
    (void)state;
    for (uint32_t n = 3; n <= 15; n = 2 * n + 1) {
        uint32_t left = 0;

        for (uint32_t down = 0; down < 1u << n; down++) {
            for (dme_id i = 1; i < n; i++)
                assert_int_equal(tree_quorum(n, 2, i, down) != 0, tree_quorum(n, 2, 0, down) != 0);
            left += tree_quorum(n, 2, 0, down) != 0;
        }
        assert_int_equal(left, (1u << n) / 2);
    }
}

#define SET3(a, b, c) (1u << (a) | 1u << (b) | 1u << (c))
#define SET4(a, b, c, d) (SET3(a, b, c) | 1u << (d))

static void tree_quorums_of_seven_sites(void **state)
{
    static const struct {
        uint32_t down, quorum[7];
    } expected[] = {
        {0, {SET3(0, 1, 3), SET3(0, 1, 3), SET3(0, 2, 5), SET3(0, 1, 3), SET3(0, 1, 4), SET3(0, 2, 5), SET3(0, 2, 6)}},
        {1 << 0,
         {SET4(1, 2, 3, 5), SET4(1, 2, 3, 5), SET4(1, 2, 3, 5), SET4(1, 2, 3, 5), SET4(1, 2, 4, 5), SET4(1, 2, 3, 5),
          SET4(1, 2, 3, 6)}},
        {1 << 1,
         {SET3(0, 2, 5), SET3(0, 2, 5), SET3(0, 2, 5), SET3(0, 2, 5), SET3(0, 2, 5), SET3(0, 2, 5), SET3(0, 2, 6)}},
    };

    (void)state;
    for (unsigned k = 0; k < sizeof expected / sizeof expected[0]; k++)
        for (dme_id i = 0; i < 7; i++)
            assert_int_equal(tree_quorum(7, 2, i, expected[k].down), expected[k].quorum[i]);
    for (dme_id i = 0; i < 7; i++) {
        if (i == 0 || i == 1 || i == 4)
            assert_int_equal(tree_quorum(7, 2, i, 1 << 3), SET3(0, 1, 4));
        if (i == 0 || i == 3 || i == 4)
            assert_int_equal(tree_quorum(7, 2, i, 1 << 1 | 1 << 2), SET3(0, 3, 4));
        if (i == 5 || i == 6)
            assert_int_equal(tree_quorum(7, 2, i, 1 << 1 | 1 << 2), SET3(0, 5, 6));
        assert_int_equal(tree_quorum(7, 2, i, 1 << 0 | 1 << 3 | 1 << 4), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_site_of_a_tree_leads_to_the_root),
        cmocka_unit_test(degrees_are_those_of_the_tree),
        cmocka_unit_test(trees_have_the_shape_of_their_name),
        cmocka_unit_test(quorums_contain_their_owner_and_any_two_meet),
        cmocka_unit_test(grid_quorums_are_a_row_and_a_column),
        cmocka_unit_test(planes_are_perfect),
        cmocka_unit_test(any_two_tree_quorums_meet_whoever_is_down),
        cmocka_unit_test(a_path_goes_on_below_a_site_with_one_child),
        cmocka_unit_test(without_failures_a_site_is_in_its_own_tree_quorum),
        cmocka_unit_test(half_of_all_failures_leave_a_complete_tree_a_quorum),
        cmocka_unit_test(tree_quorums_of_seven_sites),
    };

    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
