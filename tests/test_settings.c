/* Settings on which the members agree (member/settings.h, node/agreed.h): the two views of a change, their bytes, and what a member
 * does that has skipped one of them.
 * Invariants: I18, I23, I26, I28. */
#include "test.h"

#include "alg/list.h"
#include "node/agreed.h"
#include "node/lease.h"
#include "step/step.h"

#include <string.h>

static struct view two_members(uint64_t number)
{
    struct view v;

    view_begin(&v);
    view_add(&v, "ant", "10.0.0.1:1", VIEW_MEMBER);
    view_add(&v, "bee", "10.0.0.2:1", VIEW_MEMBER);
    v.number = number;
    return v;
}

static struct settings_wish wish_for(uint32_t lease_ms, uint64_t base)
{
    return (struct settings_wish){.lease_ms = lease_ms, .base = base, .by = "an operator"};
}

static void promises_grow_before_leases_do(void **state)
{
    struct settings_lease s = {0};
    struct settings_wish wish = wish_for(2000, 0);

    (void)state;
    settings_begin(&s, &wish, 1000, 7);
    assert_true(s.lease_ms == 1000 && s.promise_ms == 2000 && settings_is_under_way(&s));
    assert_int_equal(settings_target_ms(&s, 1000), 2000);
    assert_true(s.set == 7 && s.step == 7);
    settings_finish(&s, 9);
    assert_true(s.lease_ms == 2000 && s.promise_ms == 2000 && !settings_is_under_way(&s));
    assert_true(s.set == 7 && s.step == 9);
    assert_string_equal(s.by, "an operator");
}

static void leases_shrink_before_promises_do(void **state)
{
    struct settings_lease s = {.lease_ms = 2000, .promise_ms = 2000, .set = 7, .step = 9, .by = "an earlier operator"};
    struct settings_wish wish = wish_for(250, 7);

    (void)state;
    settings_begin(&s, &wish, 1000, 12);
    assert_true(s.lease_ms == 250 && s.promise_ms == 2000);
    assert_int_equal(settings_target_ms(&s, 1000), 250);
    settings_finish(&s, 13);
    assert_true(s.lease_ms == 250 && s.promise_ms == 250);
}

static void a_request_is_granted_once(void **state)
{
    struct settings_lease s = {0};
    struct settings_wish wish = wish_for(2000, 0), later = wish_for(500, 7), low = wish_for(99, 7),
                         high = wish_for(60001, 7);

    (void)state;
    assert_true(settings_suits(&wish, &s));
    settings_begin(&s, &wish, 1000, 7);
    assert_false(settings_suits(&wish, &s));
    assert_false(settings_suits(&later, &s)); /* not yet */
    settings_finish(&s, 8);
    assert_false(settings_suits(&wish, &s));
    assert_true(settings_suits(&later, &s));
    assert_false(settings_suits(&low, &s) || settings_suits(&high, &s));
}

/* Members of earlier builds read views in which no lease was ever set. */
static void a_view_without_settings_has_the_bytes_that_it_always_had(void **state)
{
    struct view v = two_members(3);
    struct bytes b = {0};

    (void)state;
    view_encode(&v, &b);
    assert_int_equal(bytes_len(&b), 5 * 8 + 1 + 2 * (4 * 8 + 1 + 1 + 3 + 1 + 10));
    bytes_free(&b);
}

static void settings_are_read_as_they_were_written(void **state)
{
    struct view v = two_members(9), read;
    struct settings_wish wish = wish_for(2000, 0);
    struct bytes b = {0};

    (void)state;
    settings_begin(&v.lease, &wish, 1000, 9);
    view_encode(&v, &b);
    assert_true(view_decode(&read, b.at + b.start, bytes_len(&b)));
    assert_memory_equal(&read.lease, &v.lease, sizeof v.lease);
    for (size_t len = bytes_len(&b) - 1; len > bytes_len(&b) - 30; len--)
        assert_false(view_decode(&read, b.at + b.start, len));
    v.lease.step = 10; /* of a later view */
    bytes_free(&b);
    view_encode(&v, &b);
    assert_false(view_decode(&read, b.at + b.start, bytes_len(&b)));
    v.lease = (struct settings_lease){.lease_ms = 2000, .promise_ms = 1000, .step = 9, .set = 9};
    bytes_free(&b);
    view_encode(&v, &b);
    assert_false(view_decode(&read, b.at + b.start, bytes_len(&b)));
    bytes_free(&b);
}

static struct node node;

static void install(uint64_t number, uint32_t lease_ms, uint32_t promise_ms)
{
    struct view v = two_members(number);

    v.member[0].incarnation = v.member[1].incarnation = 1;
    v.lease = (struct settings_lease){.lease_ms = lease_ms,
                                      .promise_ms = promise_ms,
                                      .grows = promise_ms > lease_ms && promise_ms > 1000,
                                      .step = number,
                                      .set = number};
    node_install(&node, &v);
}

static int start(void **state)
{
    (void)state;
    node_init(&node, &(struct node_conf){.name = "ant",
                                         .summary = "algorithm x, lease 1000 ms, policy y",
                                         .algorithm = alg_find("central"),
                                         .slots_algorithm = alg_find("central"),
                                         .lease_ms = 1000,
                                         .incarnation = 1});
    node.now_ms = 5000;
    install(1, 0, 0);
    node.member[1]->acked_ms = 4900;
    lease_count_acks(&node);
    lease_refresh(&node);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    node_free(&node);
    return 0;
}

static void a_lease_becomes_longer_in_two_steps(void **state)
{
    (void)state;
    assert_int_equal(node.lease_end_ms, 5900);
    install(2, 1000, 2000);
    assert_true(node.lease_end_ms == 5900 && node.promise_ms == promise_stretch_ms(2000) && node.beat_every_ms == 125);
    install(3, 2000, 2000);
    assert_true(node.lease_end_ms == 6900 && node.beat_every_ms == 250);
}

/* Its heartbeats may have been acknowledged by promises for the shorter lease. */
static void who_skips_the_first_step_counts_no_earlier_acknowledgement(void **state)
{
    (void)state;
    install(3, 2000, 2000);
    assert_true(node.lease_end_ms == 0 && node.conf.lease_ms == 2000);
}

static void what_was_promised_for_the_longer_lease_is_remembered(void **state)
{
    (void)state;
    install(2, 250, 1000);
    assert_true(node.lease_end_ms == 5150 && node_longest_lease_ms(&node) == 1000);
    install(3, 250, 250);
    assert_true(node.promise_ms == promise_stretch_ms(250) && node_longest_lease_ms(&node) == 1000);
    node.now_ms += promise_stretch_ms(1000) - 1;
    assert_int_equal(node_longest_lease_ms(&node), 1000);
    node.now_ms++;
    assert_int_equal(node_longest_lease_ms(&node), 250);
}

/* The second view of a change, as the leader decides it. */
static bool finishes(uint64_t at_ms, bool bee_reports)
{
    struct beat beat = {.view = node.view.number};
    struct plan_in look = {.view = &node.view, .said = {&beat, bee_reports ? &beat : NULL}};
    struct plan plan = {.stay = 3, .whole = true};
    struct view next = node.view;

    next.number++;
    node.now_ms = at_ms;
    return agreed_next(&node, &look, &plan, &next) && next.lease.lease_ms == next.lease.promise_ms;
}

/* Without the wait, a member could count the longer lease by promises for the shorter one (I18), or the set of counted members could
 * change while a longer lease that rests on the set before is valid (I28). */
static void the_second_step_waits_for_one_promise_for_the_longer_lease(void **state)
{
    (void)state;
    install(2, 1000, 2000);
    assert_false(finishes(6000, false));
    assert_false(finishes(9000, true)); /* from here on all are known to have it */
    assert_false(finishes(9000 + promise_stretch_ms(2000) - 1, true));
    assert_false(finishes(9000 + promise_stretch_ms(2000), false));
    assert_true(finishes(9000 + promise_stretch_ms(2000), true));
    install(4, 250, 2000);
    assert_false(finishes(20000, true)); /* another step: the wait begins anew */
    assert_true(finishes(20000 + promise_stretch_ms(2000), true));
}

static bool fits(uint64_t digest)
{
    for (unsigned k = 0; k < LINK_FITS; k++)
        if (node.self.fits[k] == digest)
            return true;
    return false;
}

static unsigned count_fits(void)
{
    unsigned count = 0;

    for (unsigned k = 0; k < LINK_FITS; k++)
        count += node.self.fits[k] != 0;
    return count;
}

/* Members with different leases in their configurations refuse each other, until a lease is agreed. */
static void configurations_are_compared_without_an_agreed_lease(void **state)
{
    uint64_t own = node.self.digest, but_lease;

    (void)state;
    assert_string_equal(node.self.summary, "algorithm x, lease 1000 ms, policy y");
    assert_true(own &&
                count_fits() == 7); /* with any agreed lease or not, any agreed policies or not, agreed rights or not */
    install(2, 1000, 2000);
    but_lease = node.self.digest;
    assert_true(but_lease != own && fits(own) && count_fits() == 11);
    stop(NULL);
    start(NULL);
    assert_true(node.self.digest == own && fits(but_lease));
    install(2, 1000, 2000);
    install(3, 2000, 2000);
    assert_string_equal(node.self.summary, "algorithm x, lease 2000 ms, policy y");
}

static struct bytes journal;
static enum disk_status disk_status;

static enum disk_status journal_add_bytes(void *user, const uint8_t *bytes, size_t len)
{
    (void)user;
    memcpy(bytes_add(&journal, len), bytes, len);
    return disk_status;
}

static enum disk_status journal_replace_bytes(void *user, const uint8_t *bytes, size_t len)
{
    bytes_free(&journal);
    return journal_add_bytes(user, bytes, len);
}

static uint64_t draw(void *user)
{
    static uint64_t seed = 9;

    (void)user;
    return test_random(&seed);
}

static void begin_with_journal(uint64_t now_ms)
{
    static const struct disk disk = {NULL, journal_add_bytes, journal_replace_bytes};
    struct view roster = two_members(0);
    struct bytes before = {0};
    char line[256];
    struct dme_text why;

    if (bytes_len(&journal))
        memcpy(bytes_add(&before, bytes_len(&journal)), journal.at + journal.start, bytes_len(&journal));
    disk_status = DISK_WRITTEN;
    dme_text_init(&why, line, sizeof line);
    node_init(&node, &(struct node_conf){.name = "ant",
                                         .summary = "lease 1000 ms",
                                         .algorithm = alg_find("central"),
                                         .slots_algorithm = alg_find("central"),
                                         .lease_ms = 1000,
                                         .random = draw});
    assert_true(node_agree(&node, &disk, before.at, bytes_len(&before), &roster, false, now_ms, &why));
    bytes_free(&before);
}

/* A member that crashes has promised for the longer lease only if its journal says so (I26). */
static void a_longer_promise_is_on_the_disk_before_another_member_hears_of_it(void **state)
{
    struct view v = two_members(5);

    (void)state;
    begin_with_journal(5000);
    assert_true(agree_journal(node.agree)->lease_ms == 1000 && !node.self.mute);
    disk_status = DISK_WRITING;
    v.lease = (struct settings_lease){.lease_ms = 1000, .promise_ms = 2000, .grows = true, .step = 5, .set = 5};
    agreed_install(&node, &v);
    assert_true(agree_journal(node.agree)->lease_ms == 2000 && node.self.mute);
    agree_written(node.agree, true);
    assert_true(agree_incarnation_is_durable(node.agree));
    node_free(&node);

    begin_with_journal(9000); /* its journal does not have the view */
    assert_true(node.conf.lease_ms == 1000 && node.earlier_ms == promise_stretch_ms(2000));
    assert_int_equal(node_longest_lease_ms(&node), 2000);
    assert_int_equal(agree_journal(node.agree)->lease_ms, 2000);
    node_free(&node);
    bytes_free(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_grow_before_leases_do),
        cmocka_unit_test(leases_shrink_before_promises_do),
        cmocka_unit_test(a_request_is_granted_once),
        cmocka_unit_test(a_view_without_settings_has_the_bytes_that_it_always_had),
        cmocka_unit_test(settings_are_read_as_they_were_written),
        cmocka_unit_test_setup_teardown(a_lease_becomes_longer_in_two_steps, start, stop),
        cmocka_unit_test_setup_teardown(who_skips_the_first_step_counts_no_earlier_acknowledgement, start, stop),
        cmocka_unit_test_setup_teardown(what_was_promised_for_the_longer_lease_is_remembered, start, stop),
        cmocka_unit_test_setup_teardown(the_second_step_waits_for_one_promise_for_the_longer_lease, start, stop),
        cmocka_unit_test(a_longer_promise_is_on_the_disk_before_another_member_hears_of_it),
        cmocka_unit_test_setup_teardown(configurations_are_compared_without_an_agreed_lease, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
