/* The door at which strangers wait: which of them has to go when there is no room.
 * Invariant: I31. */
#include "test.h"

#include "serve/door.h"

#include <arpa/inet.h>
#include <string.h>

enum { ROOM = 4 };

static struct door door;
static struct caller caller[16], *away;
static struct stream stream[16];

static void send_away(struct caller *c)
{
    away = c;
}

static int setup(void **state)
{
    (void)state;
    door_init(&door, ROOM, send_away);
    memset(caller, 0, sizeof caller);
    memset(stream, 0, sizeof stream);
    for (unsigned k = 0; k < 16; k++)
        ring_init(&caller[k].in_door);
    away = NULL;
    return 0;
}

/* Caller k comes at this time. The one that is sent away for it; or null. */
static struct caller *comes(unsigned k, const char *from, uint64_t now_ms)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    bool six = strchr(from, ':');

    assert_int_equal(inet_pton(six ? AF_INET6 : AF_INET, from, six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr), 1);
    caller[k].stream = &stream[k];
    away = NULL;
    door_enter(&door, &caller[k], six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4, now_ms);
    return away;
}

static void there_is_room_for_some(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ROOM; k++)
        assert_null(comes(k, "10.0.0.1", k));
    assert_int_equal(door.count, ROOM);
    assert_ptr_equal(comes(ROOM, "10.0.0.1", 9), &caller[0]); /* all alike: the oldest */
    assert_int_equal(door.count, ROOM);
    assert_true(ring_empty(&caller[0].in_door)); /* it has left by then */
}

static void a_silent_one_goes_before_one_that_speaks(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ROOM; k++)
        comes(k, "10.0.0.1", k);
    stream[0].heard = stream[1].heard = stream[3].heard = true;
    assert_ptr_equal(comes(4, "10.0.0.2", 9), &caller[2]);
    stream[4].heard = true;
    assert_ptr_equal(comes(5, "10.0.0.3", 9), &caller[0]); /* all of them speak: the oldest of the largest crowd */
}

static void one_of_a_crowd_goes_before_one_from_elsewhere(void **state)
{
    (void)state;
    comes(0, "10.0.0.7", 0);
    for (unsigned k = 1; k < ROOM; k++)
        comes(k, "10.0.0.1", k);
    for (unsigned k = ROOM; k < 12; k++) /* a crowd does not send away the one from elsewhere, however many come */
        assert_ptr_equal(comes(k, "10.0.0.1", k), &caller[k - ROOM + 1]);
}

static void a_network_of_ipv6_is_one_crowd(void **state)
{
    (void)state;
    comes(0, "2001:db8:1::1", 0);
    comes(1, "2001:db8:2::1", 1);
    comes(2, "2001:db8:2::2", 2);
    comes(3, "2001:db8:2:0:ffff::3", 3);
    assert_ptr_equal(comes(4, "2001:db8:3::1", 4), &caller[1]);
    setup(NULL);
    comes(0, "::ffff:10.0.0.1", 0); /* addresses of version 4 are not all one network */
    comes(1, "::ffff:10.0.0.2", 1);
    comes(2, "::ffff:10.0.0.2", 2);
    comes(3, "::ffff:10.0.0.3", 3);
    assert_ptr_equal(comes(4, "::ffff:10.0.0.4", 4), &caller[1]);
}

static void one_that_has_left_is_not_sent_away(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ROOM; k++)
        comes(k, "10.0.0.1", k);
    door_leave(&door, &caller[0]);
    door_leave(&door, &caller[0]); /* once more does nothing */
    assert_int_equal(door.count, ROOM - 1);
    assert_null(comes(4, "10.0.0.1", 4));
    assert_ptr_equal(comes(5, "10.0.0.1", 5), &caller[1]);
}

static void who_takes_too_long_is_overdue(void **state)
{
    (void)state;
    assert_null(door_overdue(&door, 100, 5));
    comes(0, "10.0.0.1", 10);
    comes(1, "10.0.0.1", 12);
    assert_null(door_overdue(&door, 14, 5));
    assert_ptr_equal(door_overdue(&door, 15, 5), &caller[0]);
    assert_null(door_overdue(&door, 16, 5)); /* it has left, and the next one has time */
    assert_ptr_equal(door_overdue(&door, 17, 5), &caller[1]);
    assert_int_equal(door.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(there_is_room_for_some, setup),
        cmocka_unit_test_setup(a_silent_one_goes_before_one_that_speaks, setup),
        cmocka_unit_test_setup(one_of_a_crowd_goes_before_one_from_elsewhere, setup),
        cmocka_unit_test_setup(a_network_of_ipv6_is_one_crowd, setup),
        cmocka_unit_test_setup(one_that_has_left_is_not_sent_away, setup),
        cmocka_unit_test_setup(who_takes_too_long_is_overdue, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
