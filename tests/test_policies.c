/* Policies on which the members agree (lock/policy.h, member/settings.h, node/policies.h): their text, their bytes, and what happens to
 * locks in use when a view has others.
 * Invariants: I16, I23, I24. */
#include "agreed.h"

#include "lock/policy.h"
#include "node/policies.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------------- text */

static const char *read_list(const char *text, struct bytes *printed)
{
    static char line[400];
    static struct lock_policy p[LOCK_POLICIES_MAX];
    struct policy_frame frame = {alg_find, alg_find("raymond"), alg_find("central"), 3};
    struct dme_text why;
    char *copy = strdup(text);
    uint32_t count;

    dme_text_init(&why, line, sizeof line);
    count = policies_parse(p, copy, &frame, &why);
    if (count != UINT32_MAX)
        policies_print(p, count, printed);
    free(copy);
    return count == UINT32_MAX ? line : NULL;
}

static void a_list_is_printed_in_one_form(void **state)
{
    static const char full[] = "policy b* algorithm=raymond slots-algorithm=central slots=4\n"
                               "policy *.db algorithm=lamport slots-algorithm=central slots=none\n"
                               "policy * algorithm=raymond slots-algorithm=raymond-k\n";
    struct bytes once = {0}, again = {0};

    (void)state;
    assert_null(read_list("policy b*   slots=4\npolicy *.db slots=none\talgorithm=lamport\n"
                          "policy * slots-algorithm=raymond-k\n",
                          &once));
    *bytes_add(&once, 1) = '\0';
    assert_string_equal((char *)once.at + once.start, full);
    assert_null(read_list(full, &again));
    *bytes_add(&again, 1) = '\0';
    assert_string_equal((char *)again.at + again.start, full);
    assert_true(settings_is_text(full, strlen(full)));
    bytes_free(&once);
    bytes_free(&again);
}

static void a_mistake_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *wrong;
    } all[] = {
        {"policy x slots=4\npolicy y algorithm=raimond\n", "line 2: unknown algorithm \"raimond\""},
        {"policy x slotz=4\n", "line 1: unknown part of a policy \"slotz\""},
        {"policy x slots=0\n", "line 1: slots=0 is not possible; it takes a number from 1 to 256, or none"},
        {"policy x slots=nine\n", "line 1: slots=nine is not possible; it takes a number from 1 to 256, or none"},
        {"policy x 4\n", "line 1: \"4\" is not KEY=VALUE; a pattern has no blanks (? stands for any character)"},
        {"policy x slots=4 slots=5\n", "line 1: \"slots\" is there twice; keep one of them"},
        {"policy x algorithm=raymond slots=2 algorithm=raymond\n",
         "line 1: \"algorithm\" is there twice; keep one of them"},
        {"policy x slots-algorithm=central slots-algorithm=raymond-k\n",
         "line 1: \"slots-algorithm\" is there twice; keep one of them"},
        {"policy x\n", "line 1: a policy is a pattern and what it is for: policy PATTERN algorithm=NAME slots=K"},
        {"allow any all *\n", "line 1: this is no line \"policy PATTERN ..\""},
        {"policy * slots=4\npolicy x slots=3\n",
         "line 2: this policy applies to no name: line 1 matches all of them; put this one before it"},
        {"policy x slots=4", "line 1 has no line feed at its end"},
        {"\n", "line 1: this is no line \"policy PATTERN ..\""},
    };
    struct bytes none = {0};

    (void)state;
    for (unsigned k = 0; k < sizeof all / sizeof all[0]; k++)
        assert_string_equal(read_list(all[k].text, &none), all[k].wrong);
    assert_non_null(strstr(read_list("policy x algorithm=banta-efficient\n", &none), "choose another one"));
    bytes_free(&none);
}

static void only_lines_that_can_be_shown_are_policies(void **state)
{
    (void)state;
    assert_true(settings_is_text("", 0) && settings_is_text("x\n", 2));
    assert_false(settings_is_text("x", 1) || settings_is_text("\n", 1) || settings_is_text("x\n\n", 3) ||
                 settings_is_text("x\033\n", 3));
}

/* -------------------------------------------------------------------------------------------------------------- views */

static struct view members_view(uint32_t n, uint64_t number, const char *policies, uint64_t set)
{
    struct view v = view_of(n, number);

    if (policies) {
        struct bytes text = {0};

        assert_null(read_list(policies, &text));
        v.policies.set = set;
        v.policies.len = (uint16_t)bytes_len(&text);
        if (v.policies.len)
            memcpy(v.policies.text, text.at + text.start, v.policies.len);
        memcpy(v.policies.by, "an operator", 12);
        bytes_free(&text);
    }
    return v;
}

static void a_view_with_policies_is_read_as_it_was_written(void **state)
{
    struct view v = members_view(2, 9, "policy x slots=4\npolicy y slots=none\n", 7), read;
    struct bytes b = {0};
    size_t bare;

    (void)state;
    for (unsigned lease = 0; lease < 2; lease++) {
        struct view without = v;

        if (lease)
            v.lease = without.lease = (struct settings_lease){.lease_ms = 500, .promise_ms = 500, .step = 3, .set = 3};
        memset(&without.policies, 0, sizeof without.policies);
        view_encode(&without, &b);
        bare = bytes_len(&b);
        bytes_free(&b);
        view_encode(&v, &b);
        assert_true(view_decode(&read, b.at + b.start, bytes_len(&b)));
        assert_memory_equal(&read.policies, &v.policies, sizeof v.policies);
        assert_memory_equal(&read.lease, &v.lease, sizeof v.lease);
        for (size_t len = bytes_len(&b) - 1; len > bare; len--)
            assert_false(view_decode(&read, b.at + b.start, len));
        assert_true(view_decode(&read, b.at + b.start, bare)); /* .. and it has none */
        assert_int_equal(read.policies.set, 0);
        bytes_free(&b);
    }
    v.policies.set = 10; /* of a later view */
    view_encode(&v, &b);
    assert_false(view_decode(&read, b.at + b.start, bytes_len(&b)));
    bytes_free(&b);
    v.policies.set = 9;
    v.policies.text[2] = '\n'; /* still lines; but a control character is none */
    v.policies.text[3] = '\033';
    view_encode(&v, &b);
    assert_false(view_decode(&read, b.at + b.start, bytes_len(&b)));
    bytes_free(&b);
}

/* ------------------------------------------------------------------------------------------------ locks that are in use */

static void install(uint64_t number, const char *policies)
{
    struct view v = members_view(MEMBERS, number, policies, number);

    install_everywhere(&v);
}

/* Client k asks at member k % 3. What it hears, if anything, when all has arrived. */
static const char *ask(unsigned k, const char *name, const char *words)
{
    if (!client[k].end)
        cluster_come(&cluster, &client[k], k % MEMBERS);
    bytes_free(&client[k].heard);
    client[k].events = 0;
    cluster_lock(&cluster, &client[k], name, words);
    cluster_settle(&cluster);
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_null(node_check(&node[i]));
    return cluster_heard(&client[k]);
}

static bool holds(unsigned k)
{
    return cluster_is_told(&client[k], CLAIM_HELD);
}

static void leave(unsigned k)
{
    cluster_go(&cluster, &client[k], true);
    cluster_settle(&cluster);
}

static uint32_t slots_at(uint32_t k, const char *name)
{
    const struct lock *lock = locks_find(&node[k].locks, name, strlen(name));

    return lock && lock->known ? lock->slots : UINT32_MAX;
}

static void a_view_changes_the_algorithm_of_a_lock_that_is_held_and_waited_for(void **state)
{
    unsigned next;

    (void)state;
    ask(0, "x", "");
    ask(1, "x", "");
    assert_true(holds(0) && !client[1].events);
    install(2, "policy x algorithm=raymond\n");
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_string_equal(locks_algorithm(&node[k].locks, "x", 1, 0)->name, "raymond");
    ask(2, "x", "");
    assert_true(holds(0) && !client[1].events && !client[2].events);
    leave(0);
    next = holds(1) ? 1 : 2;
    assert_true(holds(next) && !holds(3 - next));
    leave(next);
    assert_true(holds(3 - next));
    install(3, "policy x algorithm=lamport slots=none\n");
    ask(3, "x", "SLOTS 2");
    assert_false(holds(3));
    ask(4, "x", "");
    assert_false(client[4].events);
    leave(3 - next);
    assert_true(holds(4));
}

/* It was exclusive, and its policy gives it two slots now. */
static void a_lock_in_use_keeps_its_kind_until_no_client_uses_it(void **state)
{
    (void)state;
    ask(0, "x", "");
    install(2, "policy x slots=2\n");
    assert_non_null(strstr(ask(1, "x", "SLOTS 2"),
                           "WRONGKIND \"x\" is still in use as it was before its policy changed, "
                           "without slots; ask for it again later"));
    assert_non_null(strstr(ask(1, "x", "SHARED"), "is a lock with 2 slots"));
    ask(2, "x", ""); /* it gets the lock as it is */
    ask(3, "x", "");
    assert_true(!client[2].events && !client[3].events && slots_at(0, "x") == 0 && slots_at(2, "x") == 0);
    leave(0);
    assert_true(holds(2) + holds(3) == 1);
    leave(holds(2) ? 2 : 3);
    leave(2);
    leave(3);
    ask(0, "x", "");
    ask(1, "x", "");
    ask(2, "x", "SLOTS 2");
    assert_true(holds(0) && holds(1) && !client[2].events);
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_int_equal(slots_at(k, "x"), 2);
}

static void a_lock_whose_slots_are_taken_away_is_exclusive_when_it_is_free(void **state)
{
    (void)state;
    ask(0, "x", "SLOTS 3");
    ask(1, "x", "SLOTS 3");
    assert_true(holds(0) && holds(1));
    install(2, "policy x slots=none\n");
    assert_non_null(strstr(ask(2, "x", "SLOTS 3"), "ask for it without SLOTS"));
    assert_non_null(strstr(ask(2, "x", ""), "with another number of slots"));
    leave(0);
    assert_false(holds(2));
    leave(1);
    ask(2, "x", "");
    ask(3, "x", "");
    assert_true(holds(2) && !client[3].events && slots_at(0, "x") == 0);
}

/* No member has seen the lock but the one at which it is held; and then nothing of it is left. */
static void a_lock_that_was_released_unseen_gets_the_kind_of_its_policy(void **state)
{
    (void)state;
    for (unsigned k = 0; k < MEMBERS; k++) {
        install(2 * k + 2, "policy y slots=2\n");
        ask(k, "x", "SLOTS 3");
        assert_true(holds(k));
        install(2 * k + 3, "policy x slots=2\n");
        leave(k);
        ask(3 + k % 3, "x", "");
        ask(3 + (k + 1) % 3, "x", "");
        assert_true(holds(3 + k % 3) && holds(3 + (k + 1) % 3) && slots_at(k % 3, "x") == 2);
        leave(3 + k % 3);
        leave(3 + (k + 1) % 3);
    }
}

/* They have waited since before the policy. */
static void clients_that_wait_follow_the_policy_if_they_have_said_nothing(void **state)
{
    (void)state;
    ask(0, "x", "");
    ask(1, "x", "");
    ask(2, "x", "");
    cluster_go(&cluster, &client[0], true); /* nothing arrives before the view */
    install(2, "policy x slots=2\n");
    assert_true(holds(1) && (slots_at(1, "x") == 0 || holds(2)));
    leave(1);
    assert_true(holds(2));
}

static void clients_that_wait_for_what_the_algorithm_does_not_know_are_refused(void **state)
{
    (void)state;
    ask(0, "x", "");
    ask(1, "x", "SHARED");
    ask(2, "x", "SLOTS 2");
    assert_true(!client[1].events && !holds(2));
    install(2, "policy x algorithm=raymond\n");
    ask(3, "x", "");
    assert_true(cluster_is_told(&client[1], CLAIM_REFUSED) && !client[3].events);
    leave(0);
    assert_true(holds(3));
}

/* Its holders share it, and its algorithm does not support sharing now. */
static void a_lock_that_is_shared_is_waited_for_until_it_is_released(void **state)
{
    unsigned next;

    (void)state;
    ask(0, "x", "SHARED");
    ask(1, "x", "SHARED");
    ask(3, "x", "SHARED"); /* at the same member as 0 */
    assert_true(holds(0) && holds(1) && holds(3));
    install(2, "policy x algorithm=raymond\n");
    assert_non_null(strstr(ask(2, "x", "SHARED"), "is run by raymond, which does not support sharing"));
    bytes_free(&client[0].heard);
    cluster_say(&cluster, &client[0], "UPGRADE x\n");
    cluster_settle(&cluster);
    assert_non_null(strstr(cluster_heard(&client[0]), "does not support sharing"));
    ask(2, "x", "");
    ask(4, "x", ""); /* at the same member as 1 */
    assert_true(!client[2].events && !client[4].events);
    leave(1);
    leave(0);
    assert_true(!client[2].events && !client[4].events);
    leave(3);
    next = holds(2) ? 2 : 4;
    assert_true(holds(next) && !holds(6 - next));
    leave(next);
    assert_true(holds(6 - next));
}

/* ------------------------------------------------------------------------------------------------------------- members */

static void a_build_that_cannot_use_them_does_not_install_the_view(void **state)
{
    struct view v = members_view(MEMBERS, 2, "policy x algorithm=raymond\n", 2);

    (void)state;
    memcpy(strstr(v.policies.text, "raymond"), "rayman2", 7);
    assert_null(node_broken(&node[0]));
    node_install(&node[0], &v);
    assert_non_null(strstr(node_broken(&node[0]), "line 1: unknown algorithm \"rayman2\""));
    assert_int_equal(node[0].view.number, 1);
}

static void install_alone(uint32_t k, const char *policies)
{
    struct view v = members_view(MEMBERS, 2, policies, 2);

    node_install(&node[k], &v);
}

static bool fits(uint64_t digest)
{
    for (unsigned k = 0; k < LINK_FITS; k++)
        if (node[0].self.fits[k] == digest)
            return true;
    return false;
}

/* What a member that was away says in HELLO is believed, if its configuration has the policies of the others, or the agreed ones. */
static void configurations_are_compared_without_agreed_policies(void **state)
{
    static struct lock_policy file[] = {{"a", NULL, NULL, 2}, {"x", NULL, NULL, 2}, {"z", NULL, NULL, 2}};
    static char summary[3][128];
    uint64_t own[3], agreed;

    (void)state;
    stop(NULL);
    for (uint32_t k = 0; k < 3; k++) {
        struct lock_policy *p = &file[k];

        p->algorithm = alg_find("raymond");
        p->slots_algorithm = alg_find("central");
        snprintf(summary[k], sizeof summary[k],
                 "lease 0 ms, policy %s algorithm=raymond slots-algorithm=central slots=2", p->pattern);
        members_start(&node[k],
                      (struct node_conf){.summary = summary[k],
                                         .algorithm = alg_find("raymond"),
                                         .slots_algorithm = alg_find("central"),
                                         .find_algorithm = alg_find,
                                         .policy = p,
                                         .policies = 1},
                      member_names, MEMBERS, k);
        own[k] = node[k].self.digest;
    }
    assert_true(own[0] != own[1] && own[0] != own[2] && !fits(own[1]) && !fits(own[2]));
    install_alone(0, "policy x slots=2\n");
    agreed = node[0].self.digest;
    assert_true(agreed != own[0] && fits(own[0]) && fits(own[1]) && !fits(own[2]));
    assert_string_equal(node[0].self.summary, summary[1]);
    install_alone(2, "policy x slots=2\n"); /* it has heard of them: what its file says does not matter */
    assert_true(node[2].self.digest == agreed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_printed_in_one_form),
        cmocka_unit_test(a_mistake_is_told_with_its_line),
        cmocka_unit_test(only_lines_that_can_be_shown_are_policies),
        cmocka_unit_test(a_view_with_policies_is_read_as_it_was_written),
        cmocka_unit_test_setup_teardown(a_view_changes_the_algorithm_of_a_lock_that_is_held_and_waited_for, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_lock_in_use_keeps_its_kind_until_no_client_uses_it, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_whose_slots_are_taken_away_is_exclusive_when_it_is_free, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_that_was_released_unseen_gets_the_kind_of_its_policy, start, stop),
        cmocka_unit_test_setup_teardown(clients_that_wait_follow_the_policy_if_they_have_said_nothing, start, stop),
        cmocka_unit_test_setup_teardown(clients_that_wait_for_what_the_algorithm_does_not_know_are_refused, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_lock_that_is_shared_is_waited_for_until_it_is_released, start, stop),
        cmocka_unit_test_setup_teardown(a_build_that_cannot_use_them_does_not_install_the_view, start, stop),
        cmocka_unit_test_setup_teardown(configurations_are_compared_without_agreed_policies, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
