/* The invariants of a node as code (step/invariants.h): they hold of a cluster at work, and each of them notices when what it
 * is about is broken by hand. */
#include "test.h"

#include "alg/list.h"
#include "cluster.h"
#include "step/invariants.h"

#include <string.h>

enum { MEMBERS = 3 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster three = {.n = MEMBERS, .node = node};
static struct cluster_client user[MEMBERS];

static int start(void **state)
{
    const struct dme_alg *alg = alg_find("central");

    (void)state;
    for (uint32_t k = 0; k < MEMBERS; k++) {
        members_start(&node[k], (struct node_conf){.summary = "", .algorithm = alg, .slots_algorithm = alg}, names,
                      MEMBERS, k);
        cluster_come(&three, &user[k], k);
    }
    cluster_connect_all(&three);
    cluster_settle(&three);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cluster_end(&three);
    for (unsigned k = 0; k < MEMBERS; k++)
        bytes_free(&user[k].heard);
    return 0;
}

static void say(unsigned k, const char *text)
{
    cluster_say(&three, &user[k], text);
    cluster_settle(&three);
    for (unsigned j = 0; j < MEMBERS; j++)
        assert_null(node_check(&node[j]));
}

static void expect(unsigned k, const char *number)
{
    const char *wrong = node_check(&node[k]);

    assert_non_null(wrong);
    assert_memory_equal(wrong, number, strlen(number));
}

static void they_hold_of_a_cluster_at_work(void **state)
{
    (void)state;
    say(0, "LOCK x\nLOCK y SHARED\nLOCK s SLOTS 3 TTL 50\n");
    say(1, "LOCK y SHARED\nLOCK s SLOTS 3\nLOCK x WAIT 100\n");
    say(2, "LOCK x WAIT 0\nSUBSCRIBE x\n");
    cluster_pass(&three, 60);
    say(0, "CONFIRM\nUNLOCK x\n");
    cluster_go(&three, &user[0], false);
    cluster_settle(&three);
    cluster_pass(&three, 200);
    say(1, "UNLOCK y\n");
}

static void counts_that_are_wrong_are_noticed(void **state)
{
    struct lock *lock;

    (void)state;
    say(0, "LOCK x\n");
    say(1, "LOCK x\n");
    lock = locks_find(&node[0].locks, "x", 1);
    lock->claims++;
    expect(0, "I3: a lock has miscounted its claims");
    lock->claims--;
    node[0].locks.used++;
    expect(0, "I19");
    node[0].locks.used--;
    node[0].locks.lingering++;
    expect(0, "I24: a member has miscounted");
    node[0].locks.lingering--;
    locks_find(&node[1].locks, "x", 1)->waiters++;
    expect(1, "I3: a lock has miscounted its waiters");
    locks_find(&node[1].locks, "x", 1)->waiters--;
    user[1].end->session->held++;
    expect(1, "I3: a session has miscounted");
    user[1].end->session->held--;
    node[0].stats.holders++;
    expect(0, "I3: a member has miscounted");
    node[0].stats.holders--;
    node[0].keep.moving++;
    expect(0, "I33: a member has miscounted the kept sessions that are to move");
    node[0].keep.moving--;
    node[0].keep.records++;
    expect(0, "I33: a member has miscounted kept sessions");
    node[0].keep.records--;
    node[0].turn.hungry_count++;
    expect(0, "I31");
    node[0].turn.hungry_count--;
    assert_null(node_check(&node[0]));
    assert_null(node_check(&node[1]));
}

static void a_holder_that_is_not_inside_is_noticed(void **state)
{
    struct lock *lock;
    struct claim *c;

    (void)state;
    say(0, "LOCK x\n");
    lock = locks_find(&node[0].locks, "x", 1);
    c = lock_next_holder(lock, NULL);
    lock->site[0].node->phase = DME_IDLE;
    expect(0, "I3: a client holds a lock, and its site is not inside");
    lock->site[0].node->phase = DME_INSIDE;
    c->slots = 2;
    expect(0, "I16");
    c->slots = 0;
    c->mode = LOCK_SHARED; /* and no other member has been told */
    expect(0, "I37");
    c->mode = LOCK_SHARED + 1;
    expect(0, "I4");
    c->mode = LOCK_ALONE;
    c->held_at++;
    expect(0, "I24: a holder is not among those");
    c->held_at--;
    c->state = CLAIM_LOST;
    expect(0, "I3: a claim is among the holders");
    c->state = CLAIM_HELD;
    assert_null(node_check(&node[0]));
}

static void a_member_that_may_not_grant_is_noticed(void **state)
{
    (void)state;
    say(0, "LOCK x\n");
    node[0].locks.grants = false;
    expect(0, "I18: a client holds a lock");
    node[0].locks.grants = true;
    node[0].leaves = true;
    expect(0, "I18: a member grants locks");
    node[0].leaves = false;
    node[0].member[1]->announced = false;
    expect(0, "I24: locks are open");
    node[0].member[1]->announced = true;
    node[0].announced = false;
    expect(0, "I24: locks are open");
    node[0].announced = true;
    assert_null(node_check(&node[0]));
}

static void deadlines_that_are_wrong_are_noticed(void **state)
{
    struct claim *c;

    (void)state;
    say(0, "LOCK x TTL 100\nLOCK y TTL 50\n");
    c = lock_next_holder(locks_find(&node[0].locks, "y", 1), NULL);
    c->due_ms += 100;
    expect(0, "I20: deadlines are not in order");
    c->due_ms -= 100;
    c->due_slot++;
    expect(0, "I20: a claim has a deadline");
    c->due_slot--;
    assert_null(node_check(&node[0]));
}

static void work_that_is_not_done_is_noticed(void **state)
{
    struct lock *lock;
    struct claim *c;

    (void)state;
    say(0, "LOCK x\n");
    say(1, "LOCK x\n");
    lock = locks_find(&node[1].locks, "x", 1);
    lock->site[0].node->phase = DME_IDLE;
    expect(1, "I5: a client waits, and its member has not requested the lock");
    lock->site[0].node->phase = DME_WAITING;
    c = RING_OF(lock->waiting.next, struct claim, in_lock);
    c->arrival++;
    expect(1, "I5: a claim waits at another place than its turn");
    c->arrival--;
    user[1].end->urgency = CLIENT_GRANTED;
    expect(1, "I17: a client has lost or gained a lock, and is not told");
    user[1].end->urgency = CLIENT_ANSWERED;
    assert_null(node_check(&node[1]));
}

static void settings_of_another_view_are_noticed(void **state)
{
    (void)state;
    node[0].policies_set++;
    expect(0, "I16: a member uses other policies");
    node[0].policies_set--;
    node[0].rules.set++;
    expect(0, "I34");
    node[0].rules.set--;
    assert_null(node_check(&node[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_hold_of_a_cluster_at_work, start, stop),
        cmocka_unit_test_setup_teardown(counts_that_are_wrong_are_noticed, start, stop),
        cmocka_unit_test_setup_teardown(a_holder_that_is_not_inside_is_noticed, start, stop),
        cmocka_unit_test_setup_teardown(a_member_that_may_not_grant_is_noticed, start, stop),
        cmocka_unit_test_setup_teardown(deadlines_that_are_wrong_are_noticed, start, stop),
        cmocka_unit_test_setup_teardown(work_that_is_not_done_is_noticed, start, stop),
        cmocka_unit_test_setup_teardown(settings_of_another_view_are_noticed, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
