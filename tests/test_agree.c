/* Agreement alone, with a network and disks that the test holds in its hands: a cluster of one grows to two, and its leader
 * dies on the way, at any moment. Each server that is needed for a majority votes, so the cluster goes on. And no server votes twice.
 * Invariant: I26. */
#include "agreement.h"

enum { MOMENTS = 60 };

/* bee is a server as ant is, and one of them leads. */
static bool both_agree(void)
{
    for (unsigned k = 0; k < 2; k++)
        if (agree_leads(server[k].agree) && agree_has_caught_up(server[k].agree, 2))
            return true;
    return false;
}

static void found_and_grow(void)
{
    struct view view;
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:7400", VIEW_MEMBER));
    agreement_new(1);
    assert_true(agree_found(server[0].agree, &view, 1, &why) && agree_begin(server[0].agree, now_ms, &why));
    for (unsigned k = 0; k < 100 && !agree_leads(server[0].agree); k++)
        agreement_step();
    view.number++;
    assert_null(view_add(&view, "bee", "10.0.0.2:7400", VIEW_ADDED));
    agree_propose(server[0].agree, &view);
    agreement_step();
    assert_int_equal(agree_view(server[0].agree)->count, 2);
    agreement_new(2);
    assert_true(agree_join(server[1].agree, &view, 2, &why) && agree_begin(server[1].agree, now_ms, &why));
}

/* So many letters arrive, then none; ant dies and comes back, and perhaps bee, too; then all letters arrive. */
static void grow(unsigned moment, bool bee_dies_too)
{
    unsigned steps = 0;

    agreement_clear(1 + moment);
    carries = moment;
    found_and_grow();
    for (unsigned k = 0; k < 100; k++)
        agreement_step();
    agreement_forget_letters();
    agreement_restart(1);
    if (bee_dies_too)
        agreement_restart(2);
    carries = UINT32_MAX;
    while (!both_agree() && steps++ < PATIENCE_STEPS)
        agreement_step();
    assert_true(both_agree());
    agreement_end();
}

static void one_grows_to_two_whenever_the_leader_dies(void **state)
{
    (void)state;
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        grow(moment, false);
}

static void one_grows_to_two_whenever_both_die(void **state)
{
    (void)state;
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        grow(moment, true);
}

/* Member 1 is asked for its vote by one whose log is so long. Does it give it; and what term is it in, by what it says? */
static bool votes(uint64_t candidate, raft_term term, raft_index log, raft_term *answered)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};

    m.request_vote =
        (struct raft_request_vote){.term = term, .candidate_id = candidate, .last_log_index = log, .last_log_term = 1};
    agreement_forget_letters();
    agreement_say(1, candidate, &m);
    assert_true(agreement_read(candidate, RAFT_IO_REQUEST_VOTE_RESULT, &m));
    *answered = m.request_vote_result.term;
    return m.request_vote_result.vote_granted;
}

static void a_vote_outlives_a_restart(void **state)
{
    raft_term term;

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 3, false);
    assert_true(votes(2, 5, 1, &term));
    server[0].replaced = 0;
    agreement_restart(1);
    assert_int_equal(server[0].replaced, 1); /* what it has read may never have reached the disk */
    assert_false(votes(3, 5, 1, &term));
    assert_int_equal(term, 5);
    assert_false(votes(3, 4, 1, &term));
    assert_int_equal(term, 5);
    assert_true(votes(2, 5, 1, &term));
    agreement_restart(1);
    assert_false(votes(3, 7, 0, &term)); /* the log is too short, but the term is what it is */
    agreement_restart(1);
    assert_false(votes(2, 6, 1, &term));
    assert_int_equal(term, 7);
    assert_true(votes(3, 7, 1, &term));
    agreement_end();
}

static void a_journal_does_not_grow_without_end(void **state)
{
    struct server *s = &server[0];
    struct journal j;
    size_t most = 0;

    (void)state;
    *s = (struct server){0};
    s->disk = (struct disk){s, agreement_append, agreement_replace};
    assert_null(journal_open(&j, &s->disk, NULL, 0));
    journal_identify(&j, 7, 1, (const uint8_t *)"view", 4);
    assert_true(journal_found(&j, "servers", 7) && journal_begin_incarnation(&j, 9, 1000));
    for (raft_term term = 2; term < 40000; term++) {
        assert_true(journal_vote(&j, term, 3));
        most = most < bytes_len(&s->journal) ? bytes_len(&s->journal) : most;
    }
    assert_in_range(most, 1, 1 << 19);
    journal_close(&j);
    assert_null(journal_open(&j, &s->disk, s->journal.at + s->journal.start, bytes_len(&s->journal)));
    assert_true(j.term == 39999 && j.vote == 3 && j.incarnation == 9 && j.disk_id == 7 && j.member == 1 &&
                j.count == 1);
    assert_int_equal(j.lease_ms, 1000);
    assert_true(journal_set_lease(&j, 250));
    journal_close(&j);
    assert_null(journal_open(&j, &s->disk, s->journal.at + s->journal.start, bytes_len(&s->journal)));
    assert_true(j.lease_ms == 250 && j.incarnation == 9);
    journal_close(&j);
    bytes_free(&s->journal);
}

static enum disk_status write_later(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return DISK_WRITING;
}

/* A server whose disk hangs asks no other server for its vote, shows no view and lets no other server hear of its new incarnation. */
static void what_is_not_durable_is_not_seen(void **state)
{
    struct view view;
    struct server *s = server_of(1);

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 2, false);
    agreement_forget_letters();
    s->disk = (struct disk){s, write_later, write_later};
    for (unsigned k = 0; k < 100; k++)
        agreement_advance();
    assert_null(first_letter);
    assert_true(agree_journal(s->agree)->made > agree_journal(s->agree)->durable);
    agree_begin_incarnation(s->agree, 0, 1000);
    assert_false(agree_incarnation_is_durable(s->agree));
    while (agree_journal(s->agree)->made > agree_journal(s->agree)->durable)
        agree_written(s->agree, true);
    assert_non_null(first_letter);
    assert_true(agree_incarnation_is_durable(s->agree));
    agreement_end();

    agreement_clear(1); /* a leader, alone, shows what it has agreed on when its disk has it */
    agreement_begin(1, 1, false);
    agreement_elect();
    agreement_step();
    s->disk = (struct disk){s, write_later, write_later};
    view = *agree_view(s->agree);
    view.number++;
    agree_propose(s->agree, &view);
    for (unsigned k = 0; k < 10; k++)
        agreement_step();
    assert_true(agree_view(s->agree)->number < view.number && agree_is_proposing(s->agree));
    while (agree_journal(s->agree)->made > agree_journal(s->agree)->durable)
        agree_written(s->agree, true);
    assert_int_equal(agree_view(s->agree)->number, view.number);
    agreement_end();
}

/* An entry that no member accepts would stay in the log, and end all agreement. */
static void a_view_that_cannot_be_read_is_not_proposed(void **state)
{
    struct view view;
    uint64_t made;

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 1, false);
    agreement_elect();
    agreement_step();
    view = *agree_view(server[0].agree);
    view.number++;
    view.lease =
        (struct settings_lease){.lease_ms = 2000, .promise_ms = 2000, .step = 1, .set = 1, .by = "an op\xe4rator"};
    made = agree_journal(server[0].agree)->made;
    agree_propose(server[0].agree, &view);
    agreement_step();
    assert_int_equal(agree_journal(server[0].agree)->made, made); /* nothing is in its log */
    memcpy(view.lease.by, "an operator", sizeof "an operator");
    agree_propose(server[0].agree, &view);
    agreement_step();
    assert_int_equal(agree_view(server[0].agree)->number, view.number);
    agreement_end();
}

/* Views with many members and many policies. A server that was away gets all of them in messages that a link can carry. */
static void a_message_has_no_more_entries_than_fit(void **state)
{
    enum { VIEWS = 55, FULL = VIEW_MEMBERS_MAX };
    struct view view;
    uint64_t number;
    char name[LINK_NAME_MAX + 1], address[VIEW_ADDRESS_MAX + 1];
    unsigned leader, away;

    (void)state;
    agreement_clear(1);
    for (uint64_t id = 1; id <= 3; id++)
        agreement_begin(id, 3, false);
    agreement_elect();
    for (unsigned k = 0; k < 20; k++)
        agreement_step();
    for (leader = 0; !agree_leads(server[leader].agree); leader++)
        ;
    away = (leader + 1) % 3;
    agreement_stop(away + 1);
    view = *agree_view(server[leader].agree);
    while (view.count < FULL) { /* they are no servers any more */
        snprintf(name, sizeof name, "%063u", view.count);
        snprintf(address, sizeof address, "%071u", view.count);
        assert_null(view_add(&view, name, address, VIEW_REMOVED));
    }
    view.policies.len = SETTINGS_TEXT_MAX;
    memset(view.policies.text, 'x', SETTINGS_TEXT_MAX);
    view.policies.text[SETTINGS_TEXT_MAX - 1] = '\n';
    view.rights = view.policies;
    for (number = view.number + 1; view.number + 1 < number + VIEWS;) {
        view.number++;
        view.policies.set = view.rights.set = view.number;
        assert_true(agree_propose(server[leader].agree, &view));
        for (unsigned k = 0; k < 100 && agree_view(server[leader].agree)->number < view.number; k++)
            agreement_step();
        assert_int_equal(agree_view(server[leader].agree)->number, view.number);
    }
    longest_letter = 0;
    agreement_restart(away + 1);
    for (unsigned k = 0; k < 1000 && agree_view(server[away].agree)->number < view.number; k++)
        agreement_step();
    assert_int_equal(agree_view(server[away].agree)->number, view.number);
    assert_memory_equal(&agree_view(server[away].agree)->policies, &view.policies, sizeof view.policies);
    assert_memory_equal(&agree_view(server[away].agree)->rights, &view.rights, sizeof view.rights);
    assert_in_range(longest_letter, LINK_MESSAGE_MAX / 2, LINK_MESSAGE_MAX - 9);
    agreement_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_that_cannot_be_read_is_not_proposed),
        cmocka_unit_test(one_grows_to_two_whenever_the_leader_dies),
        cmocka_unit_test(one_grows_to_two_whenever_both_die),
        cmocka_unit_test(a_vote_outlives_a_restart),
        cmocka_unit_test(a_journal_does_not_grow_without_end),
        cmocka_unit_test(what_is_not_durable_is_not_seen),
        cmocka_unit_test(a_message_has_no_more_entries_than_fit),
    };

    return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
