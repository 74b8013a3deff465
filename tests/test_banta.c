/* What the thesis claims of its algorithm for k entries, and what is true: in all schedules of small systems. */
#include "test.h"

#include "alg/list.h"
#include "check/space.h"

#include <string.h>

static uint32_t inside(const struct space *s, const uint32_t *state)
{
    uint32_t count = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        count += s->part[state[i]].flags & SPACE_INSIDE ? 1 : 0;
    return count;
}

/* The most sites that are inside together in any state that can be reached, where each site asks so often. */
static uint32_t most_inside(const char *name, uint32_t n, uint32_t k, uint8_t requests)
{
    uint32_t most = 0, state[SPACE_SITES], next[SPACE_SITES];
    uint8_t left[SPACE_SITES];
    struct intern states;
    struct dme_conf conf;
    struct space s;

    dme_conf_init(&conf, alg_find(name), n, DME_SLOTS, k);
    memset(left, requests, sizeof left);
    intern_init(&states);
    space_init(&s, &conf, conf.alg->needs);
    space_start(&s, left, state);
    intern_put(&states, state, n * sizeof state[0]);
    for (uint32_t id = 0; id < states.count; id++) { /* there are more as we go */
        memcpy(state, intern_get(&states, id), n * sizeof state[0]);
        if (most < inside(&s, state))
            most = inside(&s, state);
        for (dme_id i = 0; i < n; i++) {
            uint32_t first, count = space_expand(&s, state[i], &first);

            for (uint32_t t = first; t < first + count; t++) {
                space_apply(&s, state, i, t, next);
                intern_put(&states, next, n * sizeof next[0]);
            }
        }
    }
    space_free(&s);
    intern_free(&states);
    return most;
}

static void who_starts_a_cycle_and_who_ends_it_share_with_nobody(void **state)
{
    (void)state;
    assert_int_equal(most_inside("banta-k", 2, 2, 3), 1);
    assert_int_equal(most_inside("banta-k", 3, 2, 2), 1);
    assert_int_equal(most_inside("banta-k", 4, 1, 1), 1);
    assert_int_equal(most_inside("banta-k", 4, 2, 1), 2);
    assert_int_equal(most_inside("banta-k", 4, 3, 2), 2);
    assert_int_equal(most_inside("banta-k", 5, 2, 1), 2);
    assert_int_equal(most_inside("banta-k", 5, 3, 1), 3);
    assert_int_equal(most_inside("banta-k", 5, 5, 1), 3);
    assert_int_equal(most_inside("raymond-k", 3, 2, 1), 2); /* others do better */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_starts_a_cycle_and_who_ends_it_share_with_nobody),
    };

    return cmocka_run_group_tests_name("banta", tests, NULL, NULL);
}
