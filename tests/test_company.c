/* When letters that have waited for company go out (src/serve/company.h). */
#include "test.h"

#include "serve/company.h"

enum { SPIN_NS = SPIN_US * 1000 };

static void before_the_daemon_sleeps_they_go_out(void **state)
{
    struct company c = {0};

    (void)state;
    assert_false(company_is_over(&c, false, false, 0));
    assert_true(company_is_over(&c, true, false, 1000));
    assert_false(company_is_over(&c, false, true, 0));
    assert_false(company_is_over(&c, true, true, 2000));
    assert_true(company_is_over(&c, true, false, 2001));
}

static void while_it_looks_for_events_they_wait_for_a_while(void **state)
{
    struct company c = {0};

    (void)state;
    assert_false(company_is_over(&c, true, true, 1000));
    assert_false(company_is_over(&c, true, true, 1000 + SPIN_NS - 1));
    assert_true(company_is_over(&c, true, true, 1000 + SPIN_NS));
    assert_false(company_is_over(&c, true, true, 1000 + SPIN_NS)); /* others, which begin to wait now */
    assert_true(company_is_over(&c, true, true, 1000 + 2 * SPIN_NS));
}

/* They have gone with one that could not wait: the next ones have all of their time. */
static void the_time_begins_anew_when_they_have_gone(void **state)
{
    struct company c = {0};

    (void)state;
    assert_false(company_is_over(&c, true, true, 1000));
    assert_false(company_is_over(&c, false, true, 0));
    assert_false(company_is_over(&c, true, true, 1000 + SPIN_NS));
    assert_true(company_is_over(&c, true, true, 1000 + 2 * SPIN_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_daemon_sleeps_they_go_out),
        cmocka_unit_test(while_it_looks_for_events_they_wait_for_a_while),
        cmocka_unit_test(the_time_begins_anew_when_they_have_gone),
    };

    return cmocka_run_group_tests_name("company", tests, NULL, NULL);
}
