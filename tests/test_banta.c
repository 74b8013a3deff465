/* Banta's algorithms: how many are really inside together, and whether a request can run after the token for ever. */
#include "test.h"

#include "alg/list.h"
#include "check/space.h"
#include "lab/world.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------- k, or fewer, entries
 */

static uint32_t inside(const struct space *s, const uint32_t *state)
{
    uint32_t count = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        count += s->part[state[i]].flags & SPACE_INSIDE ? 1 : 0;
    return count;
}

/* The most sites that are inside together in any state that can be reached, where each site makes `requests` requests. */
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

/* --------------------------------------------------------------------------------------------- running after the token
 */

enum { VICTIM = 3, REQUEST_KIND = 0, UPDATE_KIND, TOKEN_KIND };

static void move(struct lab_world *w, uint32_t type, dme_id site)
{
    assert_null(world_move(w, &(struct world_move){.type = type, .site = site}));
}

static bool deliver(struct lab_world *w, dme_id from, dme_id to, uint32_t kind)
{
    return !world_move(w, &(struct world_move){.type = DME_RECEIVE, .site = to, .from = from, .kind = kind});
}

/* Four sites. Before each round the victim's request is under way from `behind` to `inside`, which is inside; there it
 * comes too late, because that of `next` is faster. So it goes on for ever, or until the victim gets the token. Returns the number of
 * rounds before that, at most `most`. */
static unsigned rounds_of_chase(const char *name, unsigned rounds)
{
    dme_id behind = 0, inside = 1, next = 2;
    struct dme_conf conf;
    struct lab_world *w;
    unsigned round = 0;

    dme_conf_init(&conf, alg_find(name), 4, DME_EXCLUSIVE, 0);
    w = world_new(&conf);
    move(w, DME_REQUEST, inside);
    move(w, DME_REQUEST, VICTIM);
    assert_true(deliver(w, inside, behind, REQUEST_KIND) && deliver(w, behind, inside, TOKEN_KIND));
    assert_true(deliver(w, VICTIM, behind, REQUEST_KIND) && deliver(w, behind, next, UPDATE_KIND));
    for (; round < rounds; round++) {
        dme_id served = inside;

        move(w, DME_REQUEST, next);
        assert_true(deliver(w, next, inside, REQUEST_KIND));
        move(w, DME_RELEASE, inside);
        if (!deliver(w, inside, next, TOKEN_KIND))
            break;
        assert_true(deliver(w, inside, behind, UPDATE_KIND) && deliver(w, inside, VICTIM, UPDATE_KIND));
        assert_true(deliver(w, behind, inside, REQUEST_KIND));
        inside = next;
        next = behind;
        behind = served;
    }
    if (round < rounds)
        assert_true(deliver(w, inside, VICTIM, TOKEN_KIND));
    assert_int_equal(w->node[VICTIM]->phase, round < rounds ? DME_INSIDE : DME_WAITING);
    world_free(w);
    return round;
}

static void a_request_of_which_copies_are_kept_is_served_in_the_third_round(void **state)
{
    (void)state;
    assert_int_equal(rounds_of_chase("banta-simple", 1000), 2);
}

static void without_copies_it_runs_after_the_token_for_ever(void **state)
{
    (void)state;
    assert_int_equal(rounds_of_chase("banta-preliminary", 1000), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_starts_a_cycle_and_who_ends_it_share_with_nobody),
        cmocka_unit_test(a_request_of_which_copies_are_kept_is_served_in_the_third_round),
        cmocka_unit_test(without_copies_it_runs_after_the_token_for_ever),
    };

    return cmocka_run_group_tests_name("banta", tests, NULL, NULL);
}
