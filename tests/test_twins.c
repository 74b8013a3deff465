/* Algorithms that are one and the same under certain options, though they were published, and are written here, apart:
 * each checks the other. Both run side by side under one random schedule, and after every move the same messages are in
 * flight and the same sites are inside. */
#include "test.h"

#include "alg/list.h"
#include "lab/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 60, MOVES = 2000 };

struct twin {
    const char *name;
    enum dme_rule rule;
    uint32_t limit;
    const char *key, *value; /* an option, or null */
};

static struct lab_world *twin_world(const struct twin *t, uint32_t n)
{
    struct dme_conf conf;
    char line[200];
    struct dme_text wrong;

    dme_text_init(&wrong, line, sizeof line);
    assert_non_null(alg_find(t->name));
    dme_conf_init(&conf, alg_find(t->name), n, t->rule, t->limit);
    if ((t->key && !dme_conf_set(&conf, t->key, t->value, &wrong)) || !dme_conf_check(&conf, &wrong))
        fail_msg("%s", line);
    return world_new(&conf);
}

/* Something that can happen: a message arrives, or a site asks or leaves. */
static struct world_move random_move(const struct lab_world *w, uint64_t *seed)
{
    dme_id i = test_below(seed, w->conf.n);

    if (w->flights && (test_below(seed, 4) || w->node[i]->phase == DME_WAITING))
        return world_delivery(w, test_below(seed, (uint32_t)w->flights));
    assert_false(world_stuck(w));
    while (w->node[i]->phase == DME_WAITING)
        i = (i + 1) % w->conf.n;
    return (struct world_move){.type = w->node[i]->phase == DME_IDLE ? DME_REQUEST : DME_RELEASE, .site = i};
}

static void assert_same_message(const struct lab_world *a, const struct dme_msg *x, const struct lab_world *b,
                                const struct dme_msg *y)
{
    assert_string_equal(a->conf.alg->kinds[x->kind].name, b->conf.alg->kinds[y->kind].name);
    assert_int_equal(x->from, y->from);
    assert_int_equal(x->to, y->to);
    if (x->count && y->count)
        assert_memory_equal(&x->ticket[0], &y->ticket[0], sizeof x->ticket[0]);
}

static void assert_same(const struct lab_world *a, const struct lab_world *b)
{
    assert_int_equal(a->flights, b->flights);
    for (size_t k = 0; k < a->flights; k++)
        assert_same_message(a, a->flight[k].msg, b, b->flight[k].msg);
    for (dme_id i = 0; i < a->conf.n; i++)
        assert_int_equal(a->node[i]->phase, b->node[i]->phase);
}

static void check_twins(const struct twin *one, const struct twin *other)
{
    uint64_t entries = 0;

    for (uint64_t run = 0; run < RUNS; run++) {
        uint64_t seed = run;
        uint32_t n = 2 + (uint32_t)run % 6;
        struct lab_world *a = twin_world(one, n), *b = twin_world(other, n);

        for (unsigned k = 0; k < MOVES; k++) {
            struct world_move move = random_move(a, &seed);

            assert_null(world_move(a, &move));
            assert_null(world_move(b, &move));
            assert_null(a->out->fault);
            assert_same(a, b);
        }
        entries += a->entries;
        world_free(a);
        world_free(b);
    }
    assert_true(entries > RUNS * MOVES / 50);
}

/* Whom Singhal's site need not ask is whose permission Carvalho and Roucairol's site holds. */
static void singhal_dynamic_is_carvalho_roucairol_from_the_staircase(void **state)
{
    static const struct twin singhal = {"singhal-dynamic", DME_EXCLUSIVE, 0, NULL, NULL};
    static const struct twin carvalho = {"carvalho-roucairol", DME_EXCLUSIVE, 0, "start", "staircase"};

    (void)state;
    check_twins(&singhal, &carvalho);
}

static void raymond_k_with_one_slot_is_ricart_agrawala(void **state)
{
    static const struct twin raymond = {"raymond-k", DME_SLOTS, 1, NULL, NULL};
    static const struct twin ricart = {"ricart-agrawala", DME_EXCLUSIVE, 0, NULL, NULL};

    (void)state;
    check_twins(&raymond, &ricart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singhal_dynamic_is_carvalho_roucairol_from_the_staircase),
        cmocka_unit_test(raymond_k_with_one_slot_is_ricart_agrawala),
    };

    return cmocka_run_group_tests_name("twins", tests, NULL, NULL);
}
