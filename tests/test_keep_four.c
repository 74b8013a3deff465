/* Four members, and a kept session that moves. A member that has not passed the barrier is lost when it has reported to some of the others
 * what the session holds: with three members, too few are left that could differ.
 * Invariants: I33. */
#define MEMBERS 4
#include "keep_cluster.h"

#include "step/invariants.h"

enum { ANT, BEE, CAT, DOG };

/* What the only session holds, as this member knows it: as a text. */
static const char *known_at(unsigned i)
{
    static char text[MEMBERS][512];
    const struct keep_session *e = RING_OF(node[i].keep.all.next, struct keep_session, in_all);
    size_t len = 0;

    text[i][0] = '\0';
    for (const char *name = "xy"; !ring_empty(&node[i].keep.all) && *name; name++) {
        const struct ring *all = e->session ? &e->session->claims : &e->records;

        for (const struct ring *r = all->next; r != all; r = r->next) {
            const struct claim *c = e->session ? RING_OF((struct ring *)r, struct claim, in_session) : NULL;
            const struct keep_record *x = c ? NULL : RING_OF((struct ring *)r, struct keep_record, in_session);
            const struct lock_value *value = c ? keep_claim_value(e, c) : x->value;

            if ((c ? c->name[0] : x->name[0]) == *name && !(c && !keep_is_recorded(c)))
                len += (size_t)snprintf(text[i] + len, sizeof text[i] - len, "%c %llu mode %u TTL %llu value %.*s; ",
                                        *name, (unsigned long long)(c ? c->fence : x->fence),
                                        c ? keep_mode(c) : x->mode, (unsigned long long)(c ? c->ttl_ms : x->ttl_ms),
                                        value ? (int)value->len : 0, value ? value->text : "");
        }
    }
    return text[i];
}

/* All that is under way among these members arrives, and what they answer. */
static void carry_among(const unsigned *who, unsigned count)
{
    size_t some;

    do {
        some = 0;
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; k < count; k++)
                some += i != k ? carry(who[i], who[k]) : 0;
    } while (some);
}

/* A session of ant holds x and y. bee and dog hear what ant does to y then, and cat does not. The session moves to bee: all but cat pass the barrier of
 * that view. ant is lost, and cat reports the session as one without an owner. bee hears `bee` bytes of that, and dog `dog` bytes, and cat is
 * lost, too. Returns false if there were fewer bytes. */
static bool lose_a_reporter(const char *first, const char *then, uint64_t chance, size_t bee, size_t dog)
{
    static const unsigned heard[] = {ANT, BEE, DOG};
    bool all;

    options = (struct node_conf){.algorithm = alg_find("ricart-agrawala")};
    start();
    dice += chance;
    keep(ANT, "SESSION KEEP 10000");
    say(ANT, "LOCK x");
    settle();
    say(ANT, first);
    settle();
    say(ANT, then);
    resume(BEE);
    carry_among(heard, 3);
    assert_true(keep_wants_view(&node[ANT]));
    install();
    carry(CAT, ANT), carry(CAT, BEE), carry(CAT, DOG);
    carry_among(heard, 3);
    assert_int_equal(node[BEE].keep.passed, now_view.number);
    assert_int_equal(node[DOG].keep.passed, now_view.number);
    assert_true(node[CAT].keep.passed < now_view.number);
    kill_member(ANT);
    install();
    all = bytes_len(&three.pipe[CAT][BEE]) >= bee && bytes_len(&three.pipe[CAT][DOG]) >= dog;
    cluster_carry(&three, CAT, BEE, bee);
    cluster_carry(&three, CAT, DOG, dog);
    kill_member(CAT);
    install();
    settle();
    assert_true(node_is_open(&node[BEE]) && node_is_open(&node[DOG]));
    assert_true(strlen(known_at(BEE)) > 0);
    assert_string_equal(known_at(DOG), known_at(BEE));
    assert_true(!node_check(&node[BEE]) && !node_check(&node[DOG]));
    stop();
    return all;
}

static void a_report_that_some_have_heard_counts_for_no_member_or_for_all(void **state)
{
    enum { STEP = 24 };                                             /* a third of a report */
    static const char *const row[][2] = {{"LOCK y", "DOWNGRADE y"}, /* the mode of a record is that of before */
                                         {"LOCK y TTL 60000", "RENEW y TTL 5000"}, /* .. and its TTL */
                                         {"LOCK y", "UNLOCK y"}};

    (void)state;
    for (unsigned k = 0; k < 2 * sizeof row / sizeof row[0]; k++)
        for (size_t bee = 0; lose_a_reporter(row[k / 2][0], row[k / 2][1], k % 2, bee, 0); bee += STEP)
            for (size_t dog = STEP; lose_a_reporter(row[k / 2][0], row[k / 2][1], k % 2, bee, dog); dog += STEP)
                ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_that_some_have_heard_counts_for_no_member_or_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
