/* Whether dibs lock asks again, where and when (src/wrap/again.h): attempts that end as a story says. */
#include "test.h"

#include "wrap/again.h"

#include <stdio.h>
#include <string.h>

enum { TOOK_MS = 10 };

/* A story is a row of attempts, each of which takes 10 ms: g no daemon is there, d the user may not connect, q no majority, l the locks
 * are lost at once, r the daemon refuses. `then` has what follows each of them: a pause in ms; "next", the next place at once; a pause
 * with "+next"; or "end". */
static const struct story {
    const char *what;
    bool forever;
    uint64_t wait_ms; /* 0: no limit */
    unsigned places;
    const char *attempts, *then;
} stories[] = {
    {"without a limit, the first failure is the last", false, 0, 1, "g", "end"},
    {"and so it is if no majority is reached", false, 0, 1, "q", "end"},
    {"but all places are asked once", false, 0, 3, "qqq", "next next end"},
    {"a list of one place is no other place", false, 0, 0, "q", "end"},
    {"pauses double up to a second", false, 60000, 1, "ggggggg", "50 100 200 400 800 1000 1000"},
    {"and end with the limit", false, 100, 1, "ggg", "50 30 end"},
    {"an attempt may end after the limit", false, 5, 1, "g", "end"},
    {"a user whom the daemon does not admit is not admitted later", false, 60000, 1, "d", "end"},
    {"nor does dibs lead ask again then", true, 0, 1, "d", "end"},
    {"a request that is refused is refused again", false, 60000, 3, "r", "end"},
    {"a lock that is lost at once is a failure", false, 60000, 1, "l", "end"},
    {"dibs lead asks again", true, 0, 1, "lgq", "50 100 200"},
    {"each place is asked at once in the first round, then after a pause", false, 60000, 3, "qqqqqq",
     "next next 50+next 100+next 200+next 400+next"},
    {"no majority and then no daemon: the place stays first", false, 60000, 3, "qgq", "next 50 next"},
};

static enum again_why why(char c)
{
    return c == 'g'   ? AGAIN_GONE
           : c == 'd' ? AGAIN_DENIED
           : c == 'q' ? AGAIN_NO_QUORUM
           : c == 'l' ? AGAIN_LOST
                      : AGAIN_REFUSED;
}

static void attempts_follow_the_rules(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        const struct story *s = &stories[k];
        uint64_t now_ms = 1000;
        struct again a = {
            .forever = s->forever, .deadline_ms = s->wait_ms ? now_ms + s->wait_ms : 0, .places = s->places};
        char then[200] = "";
        size_t len = 0;

        for (const char *c = s->attempts; *c; c++) {
            struct again_next next = again_step(&a, why(*c), now_ms += TOOK_MS);

            len += (size_t)snprintf(then + len, sizeof then - len, "%s", len ? " " : "");
            if (next.ends)
                len += (size_t)snprintf(then + len, sizeof then - len, "end");
            else if (next.pause_ms)
                len += (size_t)snprintf(then + len, sizeof then - len, "%llu%s", (unsigned long long)next.pause_ms,
                                        next.elsewhere ? "+next" : "");
            else if (next.elsewhere)
                len += (size_t)snprintf(then + len, sizeof then - len, "next");
            now_ms += next.pause_ms;
        }
        if (strcmp(then, s->then) != 0)
            fail_msg("%s: %s, and not %s", s->what, then, s->then);
    }
}

static void a_limit_has_a_rest(void **state)
{
    (void)state;
    assert_int_equal(again_left_ms(&(struct again){.deadline_ms = 100}, 40), 60);
    assert_int_equal(again_left_ms(&(struct again){.deadline_ms = 100}, 100), 0);
    assert_int_equal(again_left_ms(&(struct again){.deadline_ms = 100}, 140), 0);
    assert_int_equal(again_left_ms(&(struct again){0}, 40), 0);
    assert_true(again_left_ms(&(struct again){.forever = true}, 40) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_follow_the_rules),
        cmocka_unit_test(a_limit_has_a_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
