/* Which place a kept session whose connection has broken is resumed at next, and when: three places, whose attempts end as a story says. */
#include "test.h"

#include "client/redial.h"

#include <stdio.h>
#include <string.h>

enum { PLACES = 3 };

/* A story is a row of attempts: f fails at once, s gets no answer, c reaches a daemon that accepts and then ends the connection at once, r
 * resumes the session, whose connection breaks again 5000 ms later. `begins` has the time of each attempt in ms and its place, "10a":
 * in capital letters from the second address of the place on. */
static const struct story {
    const char *what;
    bool tcp;
    const char *attempts;
    const char *begins;
} stories[] = {
    {"each place in turn, without a pause in the first round", true, "fff", "0a 0b 0c"},
    {"then a pause, which doubles from round to round", true, "fffffffffffff",
     "0a 0b 0c 10A 10B 10C 30A 30B 30C 70A 70B 70C 150A"},
    {"a pause on this machine is 50 ms at most", false, "ffffffffffffffff",
     "0a 0b 0c 10A 10B 10C 30A 30B 30C 70A 70B 70C 120A 120B 120C 170A"},
    {"one over TCP is a second at most", true, "fffffffffffffffffffffffffffff",
     "0a 0b 0c 10A 10B 10C 30A 30B 30C 70A 70B 70C 150A 150B 150C 310A 310B 310C 630A 630B 630C 1270A 1270B 1270C "
     "2270A 2270B 2270C 3270A 3270B"},
    {"a place that does not answer is given up", true, "sf", "0a 2000b"},
    {"a daemon that accepts and does not resume has had its turn", true, "cff", "0a 10b 10c"},
    {"and each one that accepts costs a pause", true, "cccc", "0a 10b 30c 70A"},
    {"after a success the same place comes first, and pauses begin anew", true, "fffrfff",
     "0a 0b 0c 10A 5010A 5010B 5010C"},
};

static void places_are_tried_in_turn(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        const struct story *s = &stories[k];
        struct redial r = {.tcp = s->tcp};
        uint64_t now_ms = 0;
        char begins[400] = "";
        size_t len = 0;

        for (const char *a = s->attempts; *a; a++) {
            unsigned turn;

            if (!redial_is_due(&r, now_ms))
                now_ms = r.due_ms;
            turn = redial_begin(&r);
            len += (size_t)snprintf(begins + len, sizeof begins - len, "%s%llu%c", len ? " " : "",
                                    (unsigned long long)now_ms, (turn < PLACES ? 'a' : 'A') + (int)(turn % PLACES));
            if (*a == 's') {
                redial_wait(&r, now_ms);
                assert_true(r.under_way && !redial_is_due(&r, now_ms));
                now_ms = r.due_ms;
                assert_true(redial_is_due(&r, now_ms));
            }
            if (*a == 'f' || *a == 's') {
                redial_fail(&r, PLACES, now_ms);
            } else {
                redial_connect(&r, now_ms);
                if (*a == 'r') {
                    redial_rest(&r);
                    now_ms += 5000;
                }
            }
            assert_false(r.under_way);
        }
        if (strcmp(begins, s->begins) != 0)
            fail_msg("%s: %s, and not %s", s->what, begins, s->begins);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_tried_in_turn)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
