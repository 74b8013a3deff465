/* The locks of a connection of libdibs, by name. */
#include "test.h"

#include "client/held.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 65536 };

static void name_of(char *name, size_t size, unsigned k)
{
    snprintf(name, size, "a/rather/long/prefix/%u", k);
}

static size_t longest_chain(const struct held *h)
{
    size_t longest = 0;

    for (size_t k = 0; k < h->room; k++) {
        size_t len = 0;

        for (const struct conn_lock *lock = h->chain[k]; lock; lock = lock->next)
            len++;
        longest = len > longest ? len : longest;
    }
    return longest;
}

/* No search looks at more than a few locks to find one, whatever the number. */
static void as_many_as_a_connection_may_hold_are_found_at_once(void **state)
{
    struct held h = {0};
    char name[64];
    size_t seen = 0;

    (void)state;
    assert_null(held_find(&h, "x"));
    assert_null(held_next(&h, NULL));
    for (unsigned k = 0; k < MANY; k++) {
        name_of(name, sizeof name, k);
        assert_null(held_find(&h, name));
        assert_non_null(held_add(&h, name, k));
    }
    assert_in_range(longest_chain(&h), 1, 16);
    for (const struct conn_lock *lock = held_next(&h, NULL); lock; lock = held_next(&h, lock))
        seen++;
    assert_int_equal(seen, MANY);
    for (unsigned k = 0; k < MANY; k += 2) {
        name_of(name, sizeof name, k);
        assert_int_equal(held_find(&h, name)->fence, k);
        held_lose(&h, held_find(&h, name));
        held_lose(&h, held_find(&h, name));
    }
    assert_int_equal(h.lost, MANY / 2);
    for (unsigned k = 0; k < MANY; k++) {
        name_of(name, sizeof name, k);
        if (k % 4 == 0)
            held_remove(&h, held_find(&h, name));
    }
    held_remove(&h, held_find(&h, "x"));
    assert_int_equal(h.lost, MANY / 4);
    assert_int_equal(h.count, MANY / 4 * 3);
    name_of(name, sizeof name, 4);
    assert_null(held_find(&h, name));
    held_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_a_connection_may_hold_are_found_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
