/* Spans of time and numbers that have to outlast each other, at the extremes of clocks: a member's promise outlasts what a
 * client believes because of it, and the base of a view is above what an excluded member can have granted.
 * Invariants: I18, I28, I29. */
#include "test.h"

#include "alg/list.h"
#include "base/bytes.h"
#include "node/lease.h"
#include "step/step.h"

#include <string.h>

/* A clock that counts whole milliseconds, `ppm` parts in a million too fast. */
struct clock {
    int64_t ppm;
    uint64_t phase_us;
};

static uint64_t clock_ms(const struct clock *c, uint64_t at_us)
{
    return (c->phase_us + at_us * (uint64_t)(1000000 + c->ppm) / 1000000) / 1000;
}

/* The first true time at which the clock shows this. */
static uint64_t clock_when_us(const struct clock *c, uint64_t ms)
{
    uint64_t at_us = (1000 * ms - c->phase_us) * 1000000 / (uint64_t)(1000000 + c->ppm);

    while (clock_ms(c, at_us) < ms)
        at_us++;
    return at_us;
}

/* A holder's member sends a heartbeat, another one acknowledges it, and a client asks for how long it may believe in its
 * lock. The clocks of the first and of the client are the slowest that may be, that of the other is the fastest. */
static void a_promise_outlasts_what_a_client_believes(void **state)
{
    enum { LEASE_MS = 1000 };
    uint64_t seed = 7;

    (void)state;
    for (unsigned run = 0; run < 200000; run++) {
        struct clock holder = {test_below(&seed, 2) ? -50000 : 50000, 1000000 + test_below(&seed, 1000)};
        struct clock other = {50000, 1000000 + test_below(&seed, 1000)};
        struct clock client = {-50000, 1000000 + test_below(&seed, 1000)};
        uint64_t sent_us = 1000000 + test_below(&seed, 1000000), asked_us = sent_us + test_below(&seed, 900000);
        struct node node = {.lease_end_ms = clock_ms(&holder, sent_us) + LEASE_MS,
                            .now_ms = clock_ms(&holder, asked_us)};
        uint64_t promised_us = clock_when_us(&other, clock_ms(&other, sent_us) + promise_stretch_ms(LEASE_MS));
        uint64_t vouched_ms;

        node.locks.grants = true;
        if (node.now_ms >= node.lease_end_ms)
            continue;
        vouched_ms = node_vouches_ms(&node);
        assert_true(vouched_ms <= LEASE_MS);
        if (vouched_ms)
            assert_true(clock_when_us(&client, clock_ms(&client, asked_us) + vouched_ms) <= promised_us);
    }
}

/* One member leads and proposes views; another one grants as fast as it may, and goes on until it has installed the next
 * view. At times it crashes then, before it has announced what it granted. So the next view is never opened. */
static void the_base_of_a_view_is_above_all_tokens_before(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (unsigned run = 0; run < 2000; run++) {
        struct clock leader = {-50000, 1000000 + test_below(&seed, 1000)};
        struct clock other = {50000, 1000000 + test_below(&seed, 1000)};
        struct fence a = {.leap = FENCE_LEAP}, b = {.leap = FENCE_LEAP};
        uint64_t at_us = 1000000, base = 5000, granted = 0;
        bool crashed = false;

        for (unsigned view = 0; view < 20; view++) {
            uint64_t installed_us = at_us + test_below(&seed, 300000), opened_us, ends_us;
            uint64_t installed_ms = clock_ms(&leader, installed_us), before = base;

            fence_install(&a, base, installed_ms);
            opened_us = installed_us + test_below(&seed, 100000);
            ends_us = opened_us + test_below(&seed, 3000000);
            if (!crashed) {
                fence_open(&a, base, granted, installed_ms, clock_ms(&leader, opened_us));
                fence_open(&b, base, granted, clock_ms(&other, opened_us), clock_ms(&other, opened_us));
                granted = fence_limit(&b, base, clock_ms(&other, ends_us)) - 1;
            }
            base = fence_next_base(&a, base, clock_ms(&leader, ends_us));
            assert_true(base > granted);
            at_us = ends_us + test_below(&seed, 100000);
            if (!crashed) /* while the next view is on its way */
                granted = fence_limit(&b, before, clock_ms(&other, at_us)) - 1;
            crashed = !crashed && test_below(&seed, 3) == 0;
        }
    }
}

static void without_a_ceiling_the_base_leaps(void **state)
{
    struct fence f = {.leap = 1000};

    (void)state;
    assert_int_equal(fence_next_base(&f, 5000, 1), 6000);
    assert_int_equal(fence_limit(&f, 5000, 1000000), 6000); /* so no token of the view is above */
    assert_false(fence_is_due(&f, 5000, 5500));
    assert_true(fence_is_due(&f, 5000, 5501));
    fence_open(&f, 5000, 5000, 1, 1);
    assert_true(f.known);
    fence_forget(&f);
    assert_int_equal(fence_next_base(&f, 5000, 1), 6000);
}

/* A view with a member for each letter, of which those whose letter is large are counted. */
static struct view view_of(const char *letters)
{
    struct view v;

    view_begin(&v);
    for (const char *c = letters; *c; c++) {
        char name[] = {(char)(*c | 0x20), '\0'}, address[] = {*c, '\0'};

        assert_null(view_add(&v, name, address, *c & 0x20 ? VIEW_ADDED : VIEW_MEMBER));
    }
    return v;
}

static void changes_of_the_counted_set_are_counted(void **state)
{
    struct view v = view_of("ABC"), w = view_of("ABCd"), x;

    (void)state;
    assert_int_equal(view_counted_changes(&v, &v), 0);
    assert_int_equal(view_counted_changes(&v, &w), 0); /* one that has only been added does not count */
    x = w;
    x.member[3].standing = VIEW_MEMBER;
    assert_int_equal(view_counted_changes(&w, &x), 1);
    x.member[0].standing = VIEW_REMOVED; /* and takes no part */
    assert_int_equal(view_counted_changes(&w, &x), 2);
    x.member[0].incarnation = 1; /* counted as long as it does */
    assert_int_equal(view_counted_changes(&w, &x), 1);
    view_remove(&x, 0);
    assert_int_equal(view_counted_changes(&v, &x), 2);
}

static enum disk_status append(void *user, const uint8_t *bytes, size_t len)
{
    memcpy(bytes_add(user, len), bytes, len);
    return DISK_WRITTEN;
}

static enum disk_status replace(void *user, const uint8_t *bytes, size_t len)
{
    struct bytes before = *(struct bytes *)user;

    *(struct bytes *)user = (struct bytes){0};
    append(user, bytes, len); /* they may be those from before */
    bytes_free(&before);
    return DISK_WRITTEN;
}

static uint64_t chance(void *user)
{
    (void)user;
    return 4;
}

/* A process of member ant of ant, bee and cat, with the journal that the process before has left, if any. */
static void start(struct node *node, const struct disk *disk, uint64_t lease_ms, uint64_t now_ms)
{
    const struct bytes *journal = disk->user;
    struct view roster = view_of("ABC");
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    node_init(node, &(struct node_conf){.name = "a",
                                        .summary = "",
                                        .algorithm = alg_find("central"),
                                        .slots_algorithm = alg_find("central"),
                                        .lease_ms = lease_ms,
                                        .random = chance});
    assert_true(node_agree(node, disk, bytes_len(journal) ? journal->at + journal->start : NULL, bytes_len(journal),
                           &roster, false, now_ms, &why));
}

/* Does the member tell at this time that no promise keeps the incarnation before it in the view? */
static bool frees_itself(struct node *node, uint64_t now_ms)
{
    node->now_ms = now_ms;
    return lease_beat(node).owes_nothing & 1;
}

/* The lease of the first process may be valid for a client of another machine after the process has ended. The second
 * process has a shorter lease, and so has the third, which begins while the promises of the first are not over. */
static void a_process_waits_for_the_longer_lease_of_an_earlier_one(void **state)
{
    struct bytes journal = {0};
    const struct disk disk = {&journal, append, replace};
    uint64_t longest_ms = promise_stretch_ms(4000);
    struct node node;

    (void)state;
    start(&node, &disk, 4000, 1000);
    node_free(&node);
    start(&node, &disk, 500, 10000);
    assert_false(frees_itself(&node, 10000 + longest_ms - 1));
    assert_true(frees_itself(&node, 10000 + longest_ms));
    node_free(&node);
    start(&node, &disk, 500, 10100);
    assert_false(frees_itself(&node, 10100 + longest_ms - 1));
    assert_true(frees_itself(&node, 10100 + longest_ms));
    node_free(&node);
    bytes_free(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_promise_outlasts_what_a_client_believes),
        cmocka_unit_test(the_base_of_a_view_is_above_all_tokens_before),
        cmocka_unit_test(without_a_ceiling_the_base_leaps),
        cmocka_unit_test(changes_of_the_counted_set_are_counted),
        cmocka_unit_test(a_process_waits_for_the_longer_lease_of_an_earlier_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
