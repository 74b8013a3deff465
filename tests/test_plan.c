/* Which members take part in the next view: the leader's decision (member/plan.h), case by case.
 * Invariants: I18, I27. */
#include "test.h"

#include "member/plan.h"

#include <string.h>

enum { N = 5 };

/* A case. The members are a, b, c, d, e; a leads. Each row of `hears` is one member and those that it hears; a member without
 * a row has said nothing in this view. */
struct plan_case {
    const char *what;
    const char *hears[N];
    const char *outside;   /* these members do not take part */
    const char *renewed;   /* of these a later incarnation is heard */
    const char *unwilling; /* these want to leave */
    const char *dropped;   /* these a member has been told to drop */
    bool early, impatient;
    const char *stay, *leave, *come;
    bool whole;
};

static const struct plan_case cases[] = {
    {"all is well", {"abcde", "babcde", "cabcde", "dabcde", "eabcde"}, .stay = "abcde", .whole = true},
    {"one is silent", {"abcd", "babcd", "cabcd", "dabcd"}, .stay = "abcd", .leave = "e", .whole = true},
    {"one is silent, but a member hears it", {"abcd", "babcde", "cabcd", "dabcd"}, .stay = "abcd", .leave = "e"},
    {"one is heard by one member, early: not judged yet",
     {"abcd", "babcde", "cabcd", "dabcd"},
     .early = true,
     .stay = "abcde",
     .whole = true},
    {"a minority speaks: no member is blamed", {"ab", "bab"}, .stay = "abcde", .whole = true},
    {"a minority speaks, and one wants to leave",
     {"ab", "bab"},
     .unwilling = "b",
     .stay = "acde",
     .leave = "b",
     .whole = true},
    {"two do not hear each other: they have time", {"abcde", "babcd", "cabcde", "dabcde", "eacd"}, .stay = "abcde"},
    {"two do not hear each other for too long: the later one leaves",
     {"abcde", "babcd", "cabcde", "dabcde", "eacd"},
     .impatient = true,
     .stay = "abcd",
     .leave = "e"},
    {"the leader and another one: the other one leaves",
     {"abcd", "babcde", "cabcde", "dabcde", "ebcd"},
     .impatient = true,
     .stay = "abcd",
     .leave = "e"},
    {"most others miss a member: it leaves at once",
     {"abcde", "babcd", "cabcd", "dabcd", "ea"},
     .stay = "abcd",
     .leave = "e"},
    {"one direction is enough", {"abcde", "bacde", "cabde", "dabce", "e"}, .stay = "abcd", .leave = "e"},
    {"a member was told to drop another one: it leaves, though all hear it",
     {"abcde", "babcde", "cabcde", "dabcde", "eabcde"},
     .dropped = "c",
     .stay = "abde",
     .leave = "c",
     .whole = true},
    {"a later incarnation comes in the same step",
     {"abcde", "babcde", "cabcde", "dabcde", "eabcde"},
     .renewed = "d",
     .stay = "abce",
     .leave = "d",
     .come = "d",
     .whole = true},
    {"a member from outside comes",
     {"abcde", "babcde", "cabcde", "dabcde", "eabcde"},
     .outside = "e",
     .renewed = "e",
     .stay = "abcd",
     .come = "e",
     .whole = true},
    {"a member from outside that not all hear does not come",
     {"abcde", "babcd", "cabcde", "dabcde", "eabcd"},
     .outside = "e",
     .renewed = "e",
     .stay = "abcd",
     .whole = true},
    {"two come together only if they hear each other",
     {"abcde", "babcde", "cabcde", "dabc", "eabc"},
     .outside = "de",
     .renewed = "de",
     .stay = "abc",
     .come = "e",
     .whole = true},
    {"a member that wants to leave does not come",
     {"abcde", "babcde", "cabcde", "dabcde", "eabcde"},
     .outside = "e",
     .renewed = "e",
     .unwilling = "e",
     .stay = "abcd",
     .whole = true},
};

static uint64_t places(const char *names)
{
    uint64_t set = 0;

    for (; names && *names; names++)
        set |= plan_bit((uint32_t)(*names - 'a'));
    return set;
}

static void make_view(struct view *view)
{
    static const char *const names[N] = {"a", "b", "c", "d", "e"};
    static const char *const addresses[N] = {"h:1", "h:2", "h:3", "h:4", "h:5"};

    view_begin(view);
    for (unsigned k = 0; k < N; k++) {
        assert_null(view_add(view, names[k], addresses[k], VIEW_MEMBER));
        view->member[k].incarnation = 1;
    }
}

static void set_up(const struct plan_case *c, struct view *view, struct beat *beats, struct plan_in *in)
{
    make_view(view);
    *in = (struct plan_in){.view = view,
                           .unwilling = places(c->unwilling),
                           .renewed = places(c->renewed),
                           .present = (plan_bit(N) - 1) & ~places(c->renewed) & ~places(c->outside),
                           .looks = !c->early,
                           .patient = !c->impatient};
    for (unsigned k = 0; k < N; k++) {
        beats[k] = (struct beat){0};
        if (places(c->outside) & plan_bit(k))
            view->member[k].incarnation = 0;
    }
    for (unsigned k = 0; k < N && c->hears[k]; k++) {
        unsigned who = (unsigned)(c->hears[k][0] - 'a');

        beats[who].hears = places(c->hears[k]);
        in->said[who] = &beats[who];
    }
    beats[1].dropped = places(c->dropped);
}

static void the_leader_decides(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct plan_case *c = &cases[k];
        struct view view;
        struct beat beats[N];
        struct plan_in in;
        struct plan plan;

        set_up(c, &view, beats, &in);
        plan_make(&in, &plan);
        if (plan.stay != places(c->stay) || plan.leave != places(c->leave) || plan.come != places(c->come) ||
            plan.whole != c->whole)
            fail_msg("%s: stay %llx, leave %llx, come %llx, whole %d", c->what, (unsigned long long)plan.stay,
                     (unsigned long long)plan.leave, (unsigned long long)plan.come, plan.whole);
    }
}

/* e leaves. It may be excluded when a majority of the counted members owes it nothing, or when it says that it has given up. */
static void a_member_is_excluded_when_its_lease_has_run_out(void **state)
{
    static const struct plan_case gone = {.hears = {"abcd", "babcd", "cabcd", "dabcd"}};
    struct view view;
    struct beat beats[N];
    struct plan_in in;
    struct plan plan;

    (void)state;
    set_up(&gone, &view, beats, &in);
    plan_make(&in, &plan);
    assert_int_equal(plan.leave, places("e"));
    assert_false(plan_is_due(&in, &plan));
    beats[0].owes_nothing = beats[1].owes_nothing = places("e");
    assert_false(plan_is_due(&in, &plan));
    beats[2].owes_nothing = places("e");
    assert_true(plan_is_due(&in, &plan));
    view.member[2].standing = VIEW_ADDED; /* it is not counted, and three of the other four are a majority */
    assert_false(plan_is_due(&in, &plan));
    in.said[4] = &beats[4];
    beats[4].leaves = true;
    assert_true(plan_is_due(&in, &plan));
    in.present &= ~places("e"); /* it is a later incarnation that has given up, not the one that takes part */
    assert_false(plan_is_due(&in, &plan));
}

/* Whatever is reported: no member both stays and leaves, a leader that is connected to all stays, and the members of the next
 * view have said that they hear each other if the leader has judged without patience. */
static void any_reports_make_a_sound_plan(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (unsigned run = 0; run < 200000; run++) {
        struct view view;
        struct beat beats[N];
        struct plan_in in = {.view = &view, .looks = test_below(&seed, 4) > 0, .patient = test_below(&seed, 2)};
        struct plan plan;
        unsigned speak = 0, connected = 0;

        make_view(&view);
        for (unsigned k = 0; k < N; k++) {
            beats[k] = (struct beat){.hears = test_below(&seed, 1 << N) | plan_bit(k)};
            if (k == 0 || test_below(&seed, 4))
                in.said[k] = &beats[k], speak++;
            if (k && test_below(&seed, 8) == 0)
                view.member[k].incarnation = 0;
            if (k && (!view.member[k].incarnation || test_below(&seed, 8) == 0))
                in.renewed |= plan_bit(k);
        }
        plan_make(&in, &plan);
        for (unsigned k = 1; k < N; k++)
            connected += in.said[k] && beats[k].hears & 1 && beats[0].hears & plan_bit(k);
        assert_true(plan.stay & 1 || connected < N - 1);
        assert_int_equal(plan.stay & plan.leave, 0);
        assert_int_equal(plan.stay & plan.come, 0);
        for (unsigned i = 0; i < N; i++)
            for (unsigned k = 0; k < N; k++) {
                uint64_t both = plan_bit(i) | plan_bit(k), next = plan.stay | plan.come;
                bool judged = in.looks && !in.patient && 2 * speak > N;

                if (i != k && (next & both) == both && (plan.come & both || (judged && in.said[i])))
                    assert_true(in.said[i] && beats[i].hears & plan_bit(k));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leader_decides),
        cmocka_unit_test(a_member_is_excluded_when_its_lease_has_run_out),
        cmocka_unit_test(any_reports_make_a_sound_plan),
    };

    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
