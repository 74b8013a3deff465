/* Parts of locks and links by themselves: the table of names, digests that members send, letters that fill a buffer. Invariants:
 * I19, I31. */
#include "link/registry.h"
#include "lock/names.h"
#include "three.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The table grows by a place with each name, and all of them are found. */
static void a_table_that_grows_finds_all_names(void **state)
{
    struct locks l;

    (void)state;
    locks_init(&l,
               &(struct locks_conf){.algorithm = alg_find("suzuki-kasami"), .slots_algorithm = alg_find("central")});
    for (unsigned j = 0; j < 3000; j++) {
        char name[24];

        snprintf(name, sizeof name, "n-%u", j);
        names_add(&l, name, strlen(name));
        snprintf(name, sizeof name, "n-%u", j / 2);
        assert_non_null(locks_find(&l, name, strlen(name)));
        assert_int_equal(l.room, l.count);
        assert_int_equal(l.swept, l.room);
    }
    for (unsigned j = 0; j < 3000; j++) {
        char name[24];
        struct lock *lock;

        snprintf(name, sizeof name, "n-%u", j);
        lock = locks_find(&l, name, strlen(name));
        assert_non_null(lock);
        names_remove(&l, lock);
        assert_null(locks_find(&l, name, strlen(name)));
    }
    locks_free(&l);
}

/* A message that is all there is in a large buffer stays valid until the next one is taken. */
static void a_long_letter_is_read_before_its_buffer_is_given_back(void **state)
{
    enum { LONG = 1 << 19 };
    struct link *out, *in;
    const uint8_t *bytes;
    uint8_t *written;
    size_t len, count = 0;

    (void)state;
    start();
    settle();
    out = &node[0].member[1]->link;
    in = &node[1].member[0]->link;
    memset(link_send(out, LONG), 7, LONG);
    written = malloc(2 * LONG);
    for (bytes = link_output(out, &len); len; bytes = link_output(out, &len)) {
        memcpy(written + count, bytes, len);
        link_wrote(out, len);
        count += len;
    }
    link_input(in, written, count);
    assert_int_equal(link_take(in, &bytes, &len), LINK_LETTER);
    assert_int_equal(len, LONG);
    assert_true(in->in.at && bytes > in->in.at && bytes + len <= in->in.at + in->in.room);
    assert_int_equal(bytes[0] + bytes[LONG - 1], 14);
    assert_int_equal(link_take(in, &bytes, &len), LINK_NOTHING);
    free(written);
    stop();
}

static void a_digest_that_cannot_be_is_refused(void **state)
{
    const uint8_t bad[][9] = {{LETTER_DIGEST, 0, 0, 0, 0, 1}, {LETTER_DIGEST, 12, 0, 0, 0, 1, 1},
                              {LETTER_DIGEST, 8, 0, 0, 0},    {LETTER_DIGEST, 8, 0, 0, 0, 1, 1},
                              {LETTER_DIGEST, 8, 0, 0},       {LETTER_DIGEST, 0, 0, 0, 255, 1}};
    const size_t len[] = {6, 7, 5, 7, 4, 6};
    const uint8_t half[] = {LETTER_DIGEST, 16, 0, 0, 0, 1}, other[] = {LETTER_DIGEST, 24, 0, 0, 0, 1};
    struct locks *l = &node[0].locks;

    (void)state;
    start();
    for (unsigned k = 0; k < sizeof len / sizeof len[0]; k++)
        assert_non_null(locks_hear_digest(l, 1, bad[k], len[k]));
    assert_true(locks_has_digest(l, 1));
    assert_null(locks_hear_digest(l, 1, half, sizeof half));
    assert_false(locks_has_digest(l, 1));
    assert_non_null(locks_hear_digest(l, 1, other, sizeof other));
    assert_null(locks_hear_digest(l, 1, half, sizeof half));
    assert_true(locks_has_digest(l, 1));
    assert_non_null(locks_hear_digest(l, 1, half, sizeof half));
    stop();
}

/* A client that knows the hash chooses names with the same low bits. A secret spreads them (I31). */
static void names_that_a_client_has_chosen_do_not_share_a_place(void **state)
{
    enum { CHOSEN = 1000, BITS = 1023, FEW = 16 };
    struct locks *l = &node[0].locks;

    (void)state;
    start_with((struct node_conf){.secret = 0x9e3779b97f4a7c15});
    for (unsigned n = 0, found = 0; found < CHOSEN; n++) {
        static char name[LOCK_NAME_MAX + 1];
        size_t len = (size_t)snprintf(name, sizeof name, "n%u", n);

        if ((XXH3_64bits(name, len) & BITS) == 7) {
            names_add(l, name, len);
            found++;
        }
    }
    for (size_t k = 0; k < l->room; k++) {
        unsigned length = 0;

        for (const struct lock *lock = l->table[k]; lock; lock = lock->next)
            length++;
        assert_true(length <= FEW);
    }
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_that_grows_finds_all_names),
        cmocka_unit_test(names_that_a_client_has_chosen_do_not_share_a_place),
        cmocka_unit_test(a_digest_that_cannot_be_is_refused),
        cmocka_unit_test(a_long_letter_is_read_before_its_buffer_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
