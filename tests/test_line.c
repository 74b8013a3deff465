/* Waiting lines inside nodes, against a plain array.
 * Invariant: I2. */
#include "test.h"

#include "core/line.h"

#include <string.h>

enum { SLOTS = 6 };

/* As in a node: the slots are one column of the peer records. */
struct fixture {
    uint32_t len;
    uint32_t zero;
    struct {
        uint64_t other;
        dme_id slot;
        uint32_t zero;
    } peer[SLOTS];
};

static struct dme_line line_of(struct fixture *f)
{
    return (struct dme_line){&f->len, &f->peer[0].slot, sizeof f->peer[0], SLOTS};
}

/* The line that holds these sites and was never anything else. */
static struct fixture fresh(const dme_id *sites, uint32_t count)
{
    struct fixture f;

    memset(&f, 0, sizeof f);
    for (uint32_t k = 0; k < count; k++)
        f.peer[k].slot = sites[k];
    f.len = count;
    return f;
}

static void lines_with_the_same_content_have_the_same_bytes(void **state)
{
    struct fixture f = fresh(NULL, 0), same;
    dme_id sites[SLOTS];
    uint32_t count = 0;
    uint64_t seed = 1;

    (void)state;
    for (unsigned step = 0; step < 10000; step++) {
        dme_id site = test_below(&seed, 50);

        if (test_below(&seed, 2)) {
            bool room = count < SLOTS;

            assert_int_equal(dme_line_push(line_of(&f), site), room);
            if (room)
                sites[count++] = site;
        } else if (count) {
            assert_int_equal(dme_line_pop(line_of(&f)), sites[0]);
            memmove(sites, sites + 1, --count * sizeof sites[0]);
        }
        same = fresh(sites, count);
        assert_memory_equal(&f, &same, sizeof f);
        for (dme_id j = 0; j < 50; j++) {
            bool stands = false;

            for (uint32_t k = 0; k < count; k++)
                stands |= sites[k] == j;
            assert_int_equal(dme_line_has(line_of(&f), j), stands);
        }
    }
}

static void a_full_line_takes_nobody_and_stays_as_it_is(void **state)
{
    static const dme_id sites[SLOTS] = {5, 4, 3, 2, 1, 0};
    struct fixture f = fresh(sites, SLOTS), same = f;

    (void)state;
    assert_false(dme_line_push(line_of(&f), 9));
    assert_memory_equal(&f, &same, sizeof f);
}

static void who_leaves_the_middle_of_a_line_lets_those_behind_move_up(void **state)
{
    static const dme_id sites[] = {3, 0, 5}, without[] = {3, 5};
    struct fixture f = fresh(sites, 3), same = fresh(without, 2);

    (void)state;
    assert_int_equal(dme_line_last(line_of(&f)), 5);
    dme_line_remove(line_of(&f), 0);
    assert_memory_equal(&f, &same, sizeof f);
    dme_line_remove(line_of(&f), 4); /* who does not stand in it */
    assert_memory_equal(&f, &same, sizeof f);
    dme_line_remove(line_of(&f), 5);
    assert_int_equal(dme_line_last(line_of(&f)), 3);
}

static void a_line_goes_into_a_message_and_out_of_it(void **state)
{
    static const dme_id sites[] = {3, 0, 5};
    struct fixture f = fresh(sites, 3), same = f, empty = fresh(NULL, 0);
    struct dme_ticket ticket[SLOTS];

    (void)state;
    for (unsigned k = 0; k < SLOTS; k++)
        ticket[k] = (struct dme_ticket){.clock = k, .site = DME_NONE};
    dme_line_pack(line_of(&f), ticket);
    assert_memory_equal(&f, &empty, sizeof f);
    assert_int_equal(ticket[1].site, 0);
    assert_int_equal(ticket[3].site, DME_NONE);
    assert_true(dme_line_unpack(line_of(&f), ticket));
    assert_memory_equal(&f, &same, sizeof f);

    f = empty;
    ticket[1].site = DME_NONE;
    assert_false(dme_line_unpack(line_of(&f), ticket)); /* a gap */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_the_same_content_have_the_same_bytes),
        cmocka_unit_test(a_full_line_takes_nobody_and_stays_as_it_is),
        cmocka_unit_test(who_leaves_the_middle_of_a_line_lets_those_behind_move_up),
        cmocka_unit_test(a_line_goes_into_a_message_and_out_of_it),
    };

    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
