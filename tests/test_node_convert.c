/* Three members, and clients of them that change the mode in which they hold a lock (lock/convert.h): what they are told; and random
 * runs, in which messages come late and views change.
 * Invariants: I4, I5, I24, I36, I37. */
#include "three.h"

#include "lock/convert.h"
#include "rights/rights.h"
#include "step/invariants.h"

enum { AFTER_MS = 1000 };

static const char *const algorithms[] = {"ricart-agrawala", "joung-ra2", "swaroop-singh", "thiare-gueroui-naimi",
                                         "central"};
enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

static void begin(const char *algorithm)
{
    options = (struct node_conf){.algorithm = alg_find(algorithm), .deadlock_ms = AFTER_MS};
    start();
}

/* What the client is told, at once or when all messages have come. */
static const char *ask(unsigned k, const char *words)
{
    say(k, words);
    settle();
    return said(k);
}

static uint64_t grants(const char *reply)
{
    const char *at = strrchr(reply, ':');

    assert_int_equal(*reply, '*');
    assert_non_null(at);
    return strtoull(at + 1, NULL, 10);
}

static bool is_error(const char *reply, const char *code)
{
    return *reply == '-' && strncmp(reply + 1, code, strlen(code)) == 0;
}

static void with_every_algorithm(void (*test)(void))
{
    for (unsigned k = 0; k < ALGORITHMS; k++) {
        begin(algorithms[k]);
        test();
        stop();
    }
}

/* ---------------------------------------------------------------------------------------------------------- upgrades */

static void upgrade_alone(void)
{
    uint64_t first = grants(ask(0, "LOCK x SHARED")), second = grants(ask(0, "UPGRADE x"));

    assert_true(second > first);
    assert_string_equal(ask(1, "LOCK x SHARED WAIT 0"), "*-1 ");
    assert_string_equal(ask(3, "LOCK x SHARED WAIT 0"), "*-1 ");
    assert_int_equal(grants(ask(0, "UPGRADE x")), second); /* it is exclusive already */
    assert_true(is_error(ask(0, "UPGRADE x 1"), "NOTHELD"));
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    assert_true(grants(ask(1, "LOCK x SHARED")) > second);
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    assert_true(grants(ask(2, "LOCK x")) > second);
}

static void a_client_that_shares_a_lock_alone_upgrades_it_at_once(void **state)
{
    (void)state;
    with_every_algorithm(upgrade_alone);
}

static void upgrade_among(void)
{
    uint64_t fence = 0, mine, other;
    unsigned first;

    for (unsigned k = 0; k < 4; k++) {
        other = grants(ask(k, "LOCK x SHARED"));
        fence = fence < other ? other : fence;
    }
    assert_string_equal(ask(4, "LOCK x"), "");        /* a writer at another member, which waits */
    assert_string_equal(ask(0, "UPGRADE x"), "");     /* before it */
    assert_string_equal(ask(5, "LOCK x SHARED"), ""); /* no reader joins meanwhile */
    for (unsigned k = 1; k < 4; k++) {
        assert_string_equal(said(0), "");
        assert_string_equal(ask(k, "UNLOCK x"), "+OK ");
    }
    mine = grants(said(0));
    assert_true(mine > fence);
    assert_string_equal(said(4), "");
    assert_string_equal(said(5), "");
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    first = bytes_len(&client[4].heard) ? 4 : 5; /* either may come first */
    assert_true(grants(said(first)) > mine);
    assert_string_equal(ask(first, "UNLOCK x"), "+OK ");
    assert_true(grants(said(9 - first)) > mine);
}

static void an_upgrade_waits_for_all_that_share_and_no_writer_comes_in_between(void **state)
{
    (void)state;
    with_every_algorithm(upgrade_among);
}

static void upgrade_ends(void)
{
    uint64_t fence = grants(ask(0, "LOCK x SHARED"));
    char words[64];

    grants(ask(1, "LOCK x SHARED"));
    assert_string_equal(ask(0, "UPGRADE x WAIT 0"), "*-1 ");
    assert_string_equal(ask(0, "UPGRADE x WAIT 50"), "");
    pass(100);
    assert_string_equal(said(0), "*-1 ");
    snprintf(words, sizeof words, "CONFIRM x %llu", (unsigned long long)fence);
    assert_int_equal(*ask(0, words), ':'); /* it is held as before, */
    grants(ask(2, "LOCK x SHARED"));       /* and shared */
    assert_int_equal(*ask(0, "HELLO 3"), '%');
    assert_string_equal(ask(0, "UPGRADE x"), "");
    assert_string_equal(ask(0, "MEANWHILE CANCEL"), ">2 $9 meanwhile :1 _ ");
    assert_int_equal(*ask(0, words), ':');
    assert_string_equal(ask(0, "UPGRADE x"), "");
    assert_non_null(strstr(ask(0, "MEANWHILE UNLOCK x"), "-NOTHELD \"x\" was released while"));
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    grants(ask(2, "UPGRADE x"));
}

static void an_upgrade_that_ends_leaves_the_lock_shared(void **state)
{
    (void)state;
    with_every_algorithm(upgrade_ends);
}

static void upgrade_twice(void)
{
    grants(ask(0, "LOCK x SHARED"));
    grants(ask(1, "LOCK x SHARED"));
    grants(ask(3, "LOCK x SHARED")); /* at the same member as the first */
    assert_string_equal(ask(0, "UPGRADE x"), "");
    assert_true(is_error(ask(3, "UPGRADE x"), "DEADLOCK"));
    assert_true(is_error(ask(1, "UPGRADE x WAIT 0"), "DEADLOCK"));
    assert_string_equal(ask(3, "UNLOCK x"), "+OK ");
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    grants(said(0));
}

static void the_second_upgrade_of_a_lock_is_refused_at_once(void **state)
{
    (void)state;
    with_every_algorithm(upgrade_twice);
}

static void upgrade_crossing(void)
{
    for (unsigned k = 0; k < 3; k++)
        grants(ask(k, "LOCK x SHARED"));
    for (unsigned k = 0; k < 3; k++)
        say(2 - k, "UPGRADE x"); /* none has heard of another */
    settle();
    assert_string_equal(said(0), "");
    assert_true(is_error(said(1), "DEADLOCK"));
    assert_true(is_error(said(2), "DEADLOCK"));
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    assert_string_equal(ask(2, "UNLOCK x"), "+OK ");
    grants(said(0));
}

static void of_upgrades_that_cross_one_is_granted(void **state)
{
    (void)state;
    with_every_algorithm(upgrade_crossing);
}

static void a_circle_of_waits_with_an_upgrade_ends(void **state)
{
    (void)state;
    begin("ricart-agrawala");
    grants(ask(0, "LOCK x SHARED"));
    grants(ask(0, "LOCK y"));
    grants(ask(1, "LOCK x SHARED"));
    assert_string_equal(ask(0, "UPGRADE x"), "");
    pass(2 * AFTER_MS);
    assert_string_equal(said(0), ""); /* it does not wait for itself */
    assert_string_equal(ask(1, "LOCK y"), "");
    pass(2 * AFTER_MS);
    assert_true(is_error(said(1), "DEADLOCK"));
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    grants(said(0));
    stop();
}

static void a_lock_that_is_lost_is_not_upgraded(void **state)
{
    (void)state;
    begin("ricart-agrawala");
    grants(ask(0, "LOCK x SHARED TTL 1000"));
    grants(ask(1, "LOCK x SHARED"));
    assert_string_equal(ask(0, "UPGRADE x"), "");
    pass(2000);
    assert_true(is_error(said(0), "LOST"));
    grants(ask(1, "UPGRADE x"));
    stop();
}

static void what_cannot_be_upgraded_or_downgraded_is_refused(void **state)
{
    (void)state;
    begin("ricart-agrawala");
    assert_true(is_error(ask(0, "UPGRADE x"), "NOTHELD"));
    assert_true(is_error(ask(0, "DOWNGRADE x"), "NOTHELD"));
    grants(ask(0, "LOCK s SLOTS 2"));
    assert_true(is_error(ask(0, "UPGRADE s"), "ERR \"s\": a lock with slots"));
    assert_true(is_error(ask(0, "UPGRADE s WAIT"), "ERR"));
    assert_true(is_error(ask(0, "UPGRADE s WAIT 1 2"), "ERR usage"));
    assert_true(is_error(ask(0, "UPGRADE s WAIT"), "ERR usage"));
    stop();
    begin("joung-ra2");
    grants(ask(0, "LOCK g GROUP red"));
    assert_true(is_error(ask(0, "UPGRADE g"), "ERR \"g\": it is held by a group"));
    assert_true(is_error(ask(0, "DOWNGRADE g"), "ERR \"g\": it is held by a group"));
    stop();
    begin("suzuki-kasami");
    grants(ask(0, "LOCK x"));
    assert_true(is_error(ask(0, "DOWNGRADE x"), "WRONGKIND"));
    stop();
}

static void an_upgrade_takes_the_right_to_lock(void **state)
{
    static struct rights rules;
    char why[RIGHTS_WHY_MAX];

    (void)state;
    begin("ricart-agrawala");
    assert_true(rights_parse_rule(&rules.rule[0], "any shared *", why));
    rules.rules = 1;
    node[0].conf.rights = &rules;
    client[0].end->session->operates = false;
    grants(ask(0, "LOCK x SHARED"));
    assert_true(is_error(ask(0, "UPGRADE x"), "NOPERM"));
    client[0].end->session->operates = true;
    grants(ask(0, "UPGRADE x"));
    client[0].end->session->operates = false;
    assert_string_equal(ask(0, "DOWNGRADE x"), "+OK ");
    node[0].conf.rights = NULL;
    stop();
}

/* --------------------------------------------------------------------------------------------------------- downgrades */

static void downgrade(void)
{
    uint64_t fence = grants(ask(0, "LOCK x"));

    assert_string_equal(ask(1, "LOCK x"), "");        /* a writer that waits */
    assert_string_equal(ask(2, "LOCK x SHARED"), ""); /* readers, at another member and at the same */
    assert_string_equal(ask(3, "LOCK x SHARED"), "");
    assert_string_equal(ask(0, "DOWNGRADE x"), "+OK ");
    assert_true(grants(said(2)) > fence);
    assert_true(grants(said(3)) > fence);
    assert_string_equal(said(1), "");
    assert_string_equal(ask(0, "DOWNGRADE x"), "+OK "); /* it is shared already */
    assert_string_equal(ask(2, "UNLOCK x"), "+OK ");
    assert_string_equal(ask(3, "UNLOCK x"), "+OK ");
    assert_string_equal(said(1), "");
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    assert_true(grants(said(1)) > fence);
}

static void a_downgraded_lock_is_shared_and_no_writer_comes_in_between(void **state)
{
    (void)state;
    with_every_algorithm(downgrade);
}

/* The site of the client that downgrades leaves, and requests again behind the writer. When it is inside again, it has not just been granted the
 * lock. */
static void downgrade_before_a_writer(void)
{
    uint64_t fence = grants(ask(0, "LOCK x"));

    assert_string_equal(ask(1, "LOCK x SHARED"), "");
    assert_string_equal(ask(2, "LOCK x"), ""); /* a writer that waits */
    assert_string_equal(ask(0, "DOWNGRADE x"), "+OK ");
    assert_true(grants(said(1)) > fence);
    assert_string_equal(ask(3, "LOCK x SHARED"), ""); /* a reader that comes later */
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    assert_string_equal(said(3), "");
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    assert_true(grants(said(2)) > fence);
    assert_string_equal(ask(2, "UNLOCK x"), "+OK ");
    assert_true(grants(said(3)) > fence);
}

static void behind_a_downgrade_no_reader_passes_a_writer(void **state)
{
    (void)state;
    with_every_algorithm(downgrade_before_a_writer);
}

static void up_and_down(void)
{
    uint64_t fence = grants(ask(0, "LOCK x SHARED"));

    for (unsigned k = 0; k < 3; k++) {
        uint64_t next = grants(ask(0, "UPGRADE x"));

        assert_true(next > fence);
        fence = next;
        assert_string_equal(ask(4, "LOCK x SHARED"), "");
        assert_string_equal(ask(0, "DOWNGRADE x"), "+OK ");
        assert_true(grants(said(4)) > fence);
        assert_string_equal(ask(4, "UNLOCK x"), "+OK ");
    }
    grants(ask(0, "UPGRADE x"));
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    grants(ask(4, "LOCK x"));
}

static void a_lock_is_upgraded_and_downgraded_again_and_again(void **state)
{
    (void)state;
    with_every_algorithm(up_and_down);
}

/* -------------------------------------------------------------------------------------------------------------- views */

static void change_with_views(void)
{
    uint64_t fence;

    grants(ask(0, "LOCK x SHARED"));
    grants(ask(1, "LOCK x SHARED"));
    assert_string_equal(ask(0, "UPGRADE x"), "");
    install();
    settle();
    assert_string_equal(said(0), ""); /* it waits in the next view, too */
    assert_string_equal(ask(1, "UNLOCK x"), "+OK ");
    fence = grants(said(0));
    install();
    settle();
    assert_string_equal(ask(2, "LOCK x SHARED WAIT 0"), "*-1 "); /* it is exclusive in the next one */
    assert_string_equal(ask(2, "LOCK x SHARED"), "");
    assert_string_equal(ask(1, "LOCK x"), "");
    assert_string_equal(ask(0, "DOWNGRADE x"), "+OK ");
    assert_true(grants(said(2)) > fence);
    install();
    settle();
    assert_string_equal(ask(2, "UNLOCK x"), "+OK ");
    assert_string_equal(said(1), "");
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    grants(said(1));
}

static void modes_are_carried_over_to_the_next_view(void **state)
{
    (void)state;
    with_every_algorithm(change_with_views);
}

/* -------------------------------------------------------------------------------------------------------- random runs */

/* What the clients hold, as their members know it: alone, or shared. */
static void check_modes(void)
{
    const struct claim *alone = NULL, *any = NULL;

    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = locks_find(&node[i].locks, "x", 1);

        assert_null(node_check(&node[i]));
        for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c)) {
            if (c->state != CLAIM_HELD)
                continue;
            assert_true(!alone && (c->mode != LOCK_ALONE || !any)); /* I4 */
            alone = c->mode == LOCK_ALONE ? c : alone;
            any = c;
        }
    }
}

static bool is_idle(unsigned k)
{
    return !client[k].end->session->waiting;
}

static void act(unsigned k)
{
    static const char *const words[] = {"LOCK x",           "LOCK x SHARED",     "LOCK x SHARED", "UPGRADE x",
                                        "UPGRADE x WAIT 0", "UPGRADE x WAIT 20", "DOWNGRADE x",   "UNLOCK x"};

    if (is_idle(k))
        say(k, words[test_random(&dice) % (sizeof words / sizeof words[0])]);
}

/* The fences of exclusive claims grow beyond all before; those of shared ones beyond all exclusive ones before (I6). */
static void check_fences(uint64_t *highest, uint64_t *highest_alone, uint64_t known[CLIENTS])
{
    for (unsigned k = 0; k < CLIENTS; k++) {
        struct session *s = client[k].end->session;
        const struct lock *lock = locks_find(&node[client[k].member].locks, "x", 1);

        for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c)) {
            if (c->session != s || c->fence == known[k])
                continue;
            known[k] = c->fence;
            assert_true(c->fence > (c->mode == LOCK_ALONE ? *highest : *highest_alone));
            *highest = *highest < c->fence ? c->fence : *highest;
            *highest_alone = c->mode == LOCK_ALONE ? c->fence : *highest_alone;
        }
    }
}

static void run_at_random(uint64_t seed)
{
    uint64_t highest = 0, highest_alone = 0, known[CLIENTS] = {0};

    begin(algorithms[seed % ALGORITHMS]);
    dice = 7 * seed + 1;
    for (unsigned step = 0; step < 400; step++) {
        uint64_t what = test_random(&dice) % 16;
        unsigned a = (unsigned)(test_random(&dice) % MEMBERS), b = (unsigned)(test_random(&dice) % MEMBERS);

        if (what < 5)
            act((unsigned)(test_random(&dice) % CLIENTS));
        else if (what < 15 && a != b)
            carry(a, b);
        else if (what == 15 && test_random(&dice) % 8 == 0)
            install();
        else if (what == 15)
            pass(1);
        check_modes();
        check_fences(&highest, &highest_alone, known);
    }
    /* Clients release what they hold, until none waits. */
    for (unsigned round = 0; round < 3 * CLIENTS; round++) {
        settle();
        for (unsigned k = 0; k < CLIENTS; k++)
            if (is_idle(k))
                say(k, "UNLOCK x");
        check_modes();
        check_fences(&highest, &highest_alone, known);
    }
    settle();
    pass(100);
    for (unsigned k = 0; k < CLIENTS; k++)
        assert_true(is_idle(k)); /* I5 */
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(!locks_find(&node[i].locks, "x", 1) || !locks_find(&node[i].locks, "x", 1)->convert);
    stop();
}

static void in_random_runs_an_exclusive_client_is_alone_and_all_are_served(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++)
        run_at_random(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_shares_a_lock_alone_upgrades_it_at_once),
        cmocka_unit_test(an_upgrade_waits_for_all_that_share_and_no_writer_comes_in_between),
        cmocka_unit_test(an_upgrade_that_ends_leaves_the_lock_shared),
        cmocka_unit_test(the_second_upgrade_of_a_lock_is_refused_at_once),
        cmocka_unit_test(of_upgrades_that_cross_one_is_granted),
        cmocka_unit_test(a_circle_of_waits_with_an_upgrade_ends),
        cmocka_unit_test(a_lock_that_is_lost_is_not_upgraded),
        cmocka_unit_test(what_cannot_be_upgraded_or_downgraded_is_refused),
        cmocka_unit_test(an_upgrade_takes_the_right_to_lock),
        cmocka_unit_test(a_downgraded_lock_is_shared_and_no_writer_comes_in_between),
        cmocka_unit_test(behind_a_downgrade_no_reader_passes_a_writer),
        cmocka_unit_test(a_lock_is_upgraded_and_downgraded_again_and_again),
        cmocka_unit_test(modes_are_carried_over_to_the_next_view),
        cmocka_unit_test(in_random_runs_an_exclusive_client_is_alone_and_all_are_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
