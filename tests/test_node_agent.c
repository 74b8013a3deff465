/* Agents, and their clients, as a member knows them (conversation.h). Invariants: I20. */
#include "conversation.h"

/* The agent notices the end of its client, and the member that of the agent. But the connection may break, so the member does not vouch for
 * longer than it does to remote clients. */
static void a_client_of_an_agent_need_not_go_on_confirming(void **state)
{
    (void)state;
    user[0].end->session->remote = user[0].end->session->relayed = true;
    assert_string_equal(say('a', "LOCK x\nCONFIRM\n"), "a: *2 $1 x :100 :10000");
    assert_string_equal(say('b', "LOCK x\n"), "");
    cluster_pass(&solo, 100000);
    assert_string_equal(settle(), "");
    assert_string_equal(say('a', "CONFIRM x\n"), "a: :10000");
    sever('a'); /* what was vouched for lingers */
    assert_string_equal(settle(), "");
    cluster_pass(&solo, node.now_ms + 11054);
    assert_string_equal(settle(), "b: *2 $1 x :102");
}

static void an_agent_says_so_first(void **state)
{
    (void)state;
    assert_string_equal(say('a', "AGENT 1 web\n"), "a: -ERR an agent connects to a member over TCP (--clients), not "
                                                   "through a socket or an agent");
    for (unsigned k = 0; k < 3; k++)
        user[k].end->may_relay = true;
    assert_string_equal(say('a', "AGENT 2 web\n"),
                        "a: -NOPROTO this server speaks version 1 of the protocol of agents");
    say('a', "LOCK x\n");
    assert_string_equal(say('a', "AGENT 1 web\n"),
                        "a: -ERR AGENT comes before the first lock, subscription or kept session");
    assert_false(user[0].end->relays);
    assert_string_equal(say('b', "AGENT 1 web\n"), "b: +OK");
    assert_true(user[1].end->relays);
    assert_string_equal(say('c', "AGENT 1 web\nLOCK x\n"), "c: +OK");
    assert_null(user[2].end); /* these are not frames */
}

/* STATUS says that the question came through an agent. */
static void a_client_of_an_agent_is_told_so(void **state)
{
    (void)state;
    assert_null(strstr(say('a', "STATUS\n"), "agent"));
    user[0].end->agent = strdup("web");
    user[0].end->agent_ms = node.now_ms;
    cluster_pass(&solo, node.now_ms + 7);
    assert_non_null(strstr(say('a', "STATUS\n"), "$5 agent $3 web $8 agent_ms :7 $6 member"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_client_of_an_agent_need_not_go_on_confirming, start, stop),
        cmocka_unit_test_setup_teardown(an_agent_says_so_first, start, stop),
        cmocka_unit_test_setup_teardown(a_client_of_an_agent_is_told_so, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
