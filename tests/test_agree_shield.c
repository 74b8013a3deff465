/* What keeps libraft 0.15 from harm: each test is one defect of the library, or one thing that a peer must not be able to do,
 * and the way around it in src/member/agree*.c (docs/dependencies.md has the list). tests/shields.sh takes every way around
 * away, and one of these tests must fail.
 *
 * Member 1 is real, one of three; what 2 and 3 say to it is made up here, unless a test starts them.
 * Invariant: I19. */
#include "agreement.h"

#include <malloc.h>

enum { VIEWS = 70 /* more than are kept as entries when a snapshot is taken */, BATCH = 10 };

static raft_term term_of_2 = 5, term_of_3 = 6; /* in which they lead */

/* ------------------------------------------------------------------------------------------------- what others say */

static void set_entry(struct raft_entry *e, raft_term term, unsigned short type, const struct raft_buffer *buf)
{
    *e = (struct raft_entry){.term = term, .type = type, .buf = *buf};
}

/* View number n, of three members. */
static struct raft_buffer a_view(uint64_t n)
{
    struct bytes b = {0};
    struct view view;
    struct raft_buffer buf;

    agreement_roster(&view, 3);
    view.number = n;
    view_encode(&view, &b);
    buf = (struct raft_buffer){malloc(bytes_len(&b)), bytes_len(&b)};
    memcpy(buf.base, b.at + b.start, buf.len);
    bytes_free(&b);
    return buf;
}

/* A list of n servers, all with a vote. */
static void some_servers(struct raft_configuration *servers, unsigned n)
{
    char address[8];

    raft_configuration_init(servers);
    for (unsigned k = 1; k <= n; k++) {
        snprintf(address, sizeof address, "%u", k);
        assert_int_equal(raft_configuration_add(servers, k, address, RAFT_VOTER), 0);
    }
}

static struct raft_buffer a_list(unsigned n)
{
    struct raft_configuration servers;
    struct raft_buffer buf;

    some_servers(&servers, n);
    assert_int_equal(raft_configuration_encode(&servers, &buf), 0);
    raft_configuration_close(&servers);
    return buf;
}

struct entries {
    unsigned n;
    struct raft_entry at[VIEWS + 2];
};

static void add_view(struct entries *e, raft_term term, uint64_t n)
{
    struct raft_buffer buf = a_view(n);

    set_entry(&e->at[e->n++], term, RAFT_COMMAND, &buf);
}

static void add_list(struct entries *e, raft_term term, unsigned n)
{
    struct raft_buffer buf = a_list(n);

    set_entry(&e->at[e->n++], term, RAFT_CHANGE, &buf);
}

static void free_entries(struct entries *e)
{
    for (unsigned k = 0; k < e->n; k++)
        free(e->at[k].buf.base);
    e->n = 0;
}

static struct raft_message appending(raft_term term, raft_index prev, raft_term prev_term, raft_index commit)
{
    struct raft_message m = {.type = RAFT_IO_APPEND_ENTRIES};

    m.append_entries = (struct raft_append_entries){
        .term = term, .prev_log_index = prev, .prev_log_term = prev_term, .leader_commit = commit};
    return m;
}

/* A leader appends these, or nothing, to the log of member `to`. */
static void append(uint64_t to, uint64_t leader, raft_term term, raft_index prev, raft_term prev_term,
                   raft_index commit, struct entries *e)
{
    struct raft_message m = appending(term, prev, prev_term, commit);

    m.append_entries.entries = e ? e->at : NULL;
    m.append_entries.n_entries = e ? e->n : 0;
    agreement_say(to, leader, &m);
    if (e)
        free_entries(e);
}

static void send_snapshot(uint64_t to, uint64_t leader, raft_term term, raft_index last, raft_term last_term)
{
    struct raft_message m = {.type = RAFT_IO_INSTALL_SNAPSHOT};

    m.install_snapshot = (struct raft_install_snapshot){
        .term = term, .last_index = last, .last_term = last_term, .conf_index = 1, .data = a_view(last)};
    some_servers(&m.install_snapshot.conf, 3);
    agreement_say(to, leader, &m);
    raft_configuration_close(&m.install_snapshot.conf);
    free(m.install_snapshot.data.base);
}

/* Up to where member 1 says that its log is as the leader's; 0: it rejects, or says nothing. */
static raft_index answer_to(uint64_t leader)
{
    struct raft_message m;

    if (!agreement_read(leader, RAFT_IO_APPEND_ENTRIES_RESULT, &m) || m.append_entries_result.rejected)
        return 0;
    return m.append_entries_result.last_log_index;
}

static struct agree *begin(void)
{
    agreement_clear(1);
    agreement_begin(1, 3, false);
    return server[0].agree;
}

/* Member 1 leads, elected by 2. */
static void become_leader(void)
{
    struct raft_message m;

    for (unsigned k = 0; k < PATIENCE_STEPS && !agree_leads(server[0].agree); k++) {
        agreement_advance();
        if (agreement_read(2, RAFT_IO_REQUEST_VOTE, &m)) {
            raft_term term = m.request_vote.term;

            m = (struct raft_message){.type = RAFT_IO_REQUEST_VOTE_RESULT};
            m.request_vote_result = (struct raft_request_vote_result){term, true, raft_tribool_false};
            agreement_say(1, 2, &m);
        }
    }
    assert_true(agree_leads(server[0].agree));
}

static raft_term term_of_1(void)
{
    return agree_journal(server[0].agree)->term;
}

/* Entries 2 to VIEWS + 1 are views 1 to VIEWS, of member 2 as the leader; member 1 has made a snapshot of them, and its log
 * does not have the first list of servers any more. */
static void fill_the_log(void)
{
    struct entries e = {0};

    for (uint64_t n = 1; n <= VIEWS; n++)
        add_view(&e, term_of_2, n);
    append(1, 2, term_of_2, 1, 1, VIEWS + 1, &e);
    assert_int_equal(agree_view(server[0].agree)->number, VIEWS);
    assert_true(agree_journal(server[0].agree)->start > 1);
}

/* Whom member 1 asks for votes: that is its list of servers. */
static bool asks(uint64_t id)
{
    struct raft_message m;

    for (unsigned k = 0; k < 100; k++) {
        agreement_advance();
        if (agreement_read(id, RAFT_IO_REQUEST_VOTE, &m))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ a peer's messages */

static void a_leader_is_not_told_that_another_leads_in_its_term(void **state)
{
    (void)state;
    begin();
    become_leader();
    append(1, 2, term_of_1(), 1, 1, 1, NULL);
    send_snapshot(1, 3, term_of_1(), 90, 1);
    assert_true(agree_leads(server[0].agree));
    for (unsigned k = 0; k < 100; k++)
        agreement_advance();
    assert_false(agree_is_broken(server[0].agree));
    agreement_end();
}

static void a_term_has_one_leader(void **state)
{
    struct entries e = {0};

    (void)state;
    begin();
    append(1, 2, term_of_2, 1, 1, 1, NULL);
    assert_int_equal(answer_to(2), 1);
    add_view(&e, term_of_2, 1);
    append(1, 3, term_of_2, 1, 1, 1, &e);
    assert_int_equal(agree_leader(server[0].agree), 2);
    assert_int_equal(answer_to(3), 0);
    agreement_end();
}

static void what_is_agreed_upon_is_not_contradicted(void **state)
{
    struct entries e = {0};

    (void)state;
    begin();
    add_view(&e, term_of_2, 1);
    append(1, 2, term_of_2, 1, 1, 2, &e);
    append(1, 3, term_of_3, 2, 3, 2, NULL); /* the entry before is of another term than it says */
    assert_false(agree_is_broken(server[0].agree));
    add_view(&e, term_of_3, 1);
    append(1, 3, term_of_3, 1, 1, 2, &e); /* the entry itself is */
    assert_false(agree_is_broken(server[0].agree));
    send_snapshot(1, 3, term_of_3, 2, term_of_3);
    assert_false(agree_is_broken(server[0].agree));
    assert_int_equal(journal_term(agree_journal(server[0].agree), 2), term_of_2);
    agreement_end();
}

static void nonsense_is_dropped(void **state)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};
    struct entries e = {0};
    struct raft_buffer buf = a_list(3);

    (void)state;
    begin();
    ((char *)buf.base)[1] = 100; /* so many servers are not in it */
    set_entry(&e.at[e.n++], term_of_2, RAFT_CHANGE, &buf);
    append(1, 2, term_of_2, 1, 1, 1, &e);
    add_view(&e, term_of_2 + 1, 1); /* of a term that has not begun */
    append(1, 2, term_of_2, 1, 1, 1, &e);
    add_view(&e, term_of_2, 1);
    e.at[0].type = 77;
    append(1, 2, term_of_2, 1, 1, 1, &e);
    append(1, 2, UINT64_MAX, 1, 1, 1, NULL);
    m.request_vote = (struct raft_request_vote){.term = 9, .candidate_id = 3, .last_log_index = 9, .last_log_term = 9};
    agreement_say(1, 2, &m); /* on behalf of another server */
    assert_null(first_letter);
    assert_int_equal(agree_journal(server[0].agree)->count, 1);
    assert_int_equal(term_of_1(), 1);
    agreement_end();
}

/* ------------------------------------------------------------------------------------------------- defects of libraft */

static void entries_behind_a_snapshot_may_come_twice(void **state)
{
    struct entries e = {0};

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 3, true);
    for (unsigned k = 0; k < 2; k++) {
        add_list(&e, 1, 3);
        add_view(&e, 1, 1);
        add_view(&e, 1, 2);
        append(1, 2, term_of_2, 0, 0, 1, &e);
        send_snapshot(1, 2, term_of_2, 90, 4);
        agreement_forget_letters();
    }
    assert_false(agree_is_broken(server[0].agree));
    add_view(&e, 1, 1); /* a part of it is new */
    while (e.n < BATCH)
        add_view(&e, term_of_2, 86 + e.n);
    append(1, 2, term_of_2, 85, 1, 85, &e);
    assert_int_equal(answer_to(2), 85 + BATCH);
    assert_int_equal(agree_journal(server[0].agree)->count, 5);
    append(1, 2, term_of_2, 85 + BATCH, term_of_2, 85 + BATCH, NULL);
    assert_int_equal(agree_view(server[0].agree)->number, 90 + 5);
    agreement_end();
}

/* Member 2 wanted to add 4, and only member 1 has heard it; 3 leads, and does without. */
static void take_back(bool restarts)
{
    struct entries e = {0};

    begin();
    fill_the_log();
    add_list(&e, term_of_2, 4);
    append(1, 2, term_of_2, VIEWS + 1, term_of_2, VIEWS + 1, &e);
    if (restarts)
        agreement_restart(1);
    add_view(&e, term_of_3, VIEWS + 1);
    append(1, 3, term_of_3, VIEWS + 1, term_of_2, VIEWS + 1, &e);
    assert_false(agree_is_broken(server[0].agree));
    agreement_forget_letters();
    assert_false(asks(4));
    assert_true(asks(2));
    agreement_end();
}

static void a_list_of_servers_is_taken_back_behind_a_snapshot(void **state)
{
    (void)state;
    take_back(false);
}

static void a_list_of_servers_is_taken_back_after_a_restart(void **state)
{
    (void)state;
    take_back(true);
}

static void the_first_list_of_servers_is_taken_back(void **state)
{
    struct entries e = {0};

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 3, true);
    add_list(&e, 4, 4);
    append(1, 2, term_of_2, 0, 0, 0, &e);
    add_list(&e, 1, 3);
    append(1, 3, term_of_3, 0, 0, 0, &e);
    assert_false(agree_is_broken(server[0].agree));
    agreement_forget_letters();
    assert_false(asks(4));
    assert_true(asks(2));
    agreement_end();
}

static void a_snapshot_has_the_servers_that_are_agreed_upon(void **state)
{
    struct raft_configuration servers;
    const struct bytes *b;
    struct entries e = {0};

    (void)state;
    begin();
    for (uint64_t n = 1; n <= VIEWS; n++)
        add_view(&e, term_of_2, n);
    add_list(&e, term_of_2, 4);
    append(1, 2, term_of_2, 1, 1, VIEWS + 1, &e);
    b = &agree_journal(server[0].agree)->snapshot.conf;
    assert_true(agree_journal(server[0].agree)->snapshot.index == VIEWS + 1);
    assert_true(agree_decode_servers(&servers, b->at + b->start, bytes_len(b)));
    assert_int_equal(servers.n, 3);
    raft_configuration_close(&servers);
    agreement_end();
}

/* A list that was not agreed upon does not come back when a snapshot has replaced it. */
static void a_snapshot_replaces_what_was_not_agreed_upon(void **state)
{
    const struct journal *j;
    struct entries e = {0};

    (void)state;
    begin();
    for (uint64_t n = 1; n <= 3; n++)
        add_view(&e, term_of_2, n);
    add_list(&e, term_of_2, 4);
    append(1, 2, term_of_2, 1, 1, 1, &e);
    send_snapshot(1, 3, term_of_3 + 1, 3, term_of_3);
    j = agree_journal(server[0].agree);
    assert_true(j->start == 4 && j->count == 0);
    assert_true(agree_has_forgotten(server[0].agree, 4));
    add_view(&e, term_of_3 + 1, 4);
    append(1, 3, term_of_3 + 1, 3, term_of_3, 4, &e);
    assert_int_equal(agree_view(server[0].agree)->number, 4);
    agreement_restart(1);
    j = agree_journal(server[0].agree);
    assert_true(j->count == 1 && journal_term(j, 4) == term_of_3 + 1);
    append(1, 3, term_of_3 + 1, 4, term_of_3 + 1, 4, NULL);
    add_view(&e, term_of_3 + 2, 4);
    append(1, 2, term_of_3 + 2, 4, term_of_3 + 1, 4, &e);
    assert_false(agree_is_broken(server[0].agree));
    agreement_forget_letters();
    assert_false(asks(4));
    agreement_end();
}

static void an_answer_goes_no_further_than_what_was_asked(void **state)
{
    struct entries e = {0};

    (void)state;
    begin();
    add_view(&e, term_of_2, 1);
    add_view(&e, term_of_2, 2);
    append(1, 2, term_of_2, 1, 1, 1, &e);
    assert_int_equal(answer_to(2), 3);
    append(1, 3, term_of_3, 1, 1, 1, NULL);
    assert_int_equal(answer_to(3), 1);
    agreement_end();
}

static void a_snapshot_of_other_entries_is_not_said_to_be_known(void **state)
{
    struct entries e = {0};

    (void)state;
    begin();
    add_view(&e, term_of_2, 1);
    append(1, 2, term_of_2, 1, 1, 1, &e);
    agreement_forget_letters();
    send_snapshot(1, 3, term_of_3, 2, term_of_2 - 1);
    assert_int_equal(answer_to(3), 0);
    agreement_end();
}

static void nothing_beyond_what_was_asked_counts_as_agreed_upon(void **state)
{
    struct entries e = {0};

    (void)state;
    begin();
    add_view(&e, term_of_2, 1);
    append(1, 2, term_of_2, 1, 1, 1, &e);
    append(1, 3, term_of_3, 1, 1, 2, NULL);
    assert_int_equal(agree_view(server[0].agree)->number, 0);
    agreement_end();
}

static bool votes_for(uint64_t candidate, raft_term term)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};

    m.request_vote = (struct raft_request_vote){.term = term,
                                                .candidate_id = candidate,
                                                .last_log_index = 99,
                                                .last_log_term = term - 1,
                                                .disrupt_leader = true};
    agreement_forget_letters();
    agreement_say(1, candidate, &m);
    return agreement_read(candidate, RAFT_IO_REQUEST_VOTE_RESULT, &m) && m.request_vote_result.vote_granted;
}

static void who_hands_over_votes_once(void **state)
{
    raft_term term;

    (void)state;
    begin();
    become_leader();
    term = term_of_1();
    assert_true(agree_hand_over(server[0].agree));
    assert_true(votes_for(3, term + 1));
    assert_false(votes_for(2, term + 1)); /* to whom it wanted to hand over */
    agreement_end();
}

static void one_who_leads_can_hand_over(void **state)
{
    uint64_t before, after = 0;

    (void)state;
    agreement_clear(7);
    for (uint64_t id = 1; id <= 3; id++)
        agreement_begin(id, 3, false);
    before = agreement_elect();
    for (unsigned k = 0; k < 20; k++)
        agreement_step();
    assert_true(before && agree_hand_over(server_of(before)->agree));
    for (unsigned k = 0; k < PATIENCE_STEPS && (!after || after == before); k++) {
        agreement_step();
        after = agreement_leader();
    }
    assert_true(after && after != before);
    agreement_end();
}

/* 1 has the longer log, 2 the later term, 3 is dead. */
static void a_leader_is_found_whatever_the_logs_and_terms(void **state)
{
    struct entries e = {0};
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 3, false);
    agreement_begin(2, 3, false);
    add_view(&e, term_of_2, 1);
    append(1, 3, term_of_2, 1, 1, 1, &e);
    m.request_vote = (struct raft_request_vote){.term = 900, .candidate_id = 3};
    agreement_say(2, 3, &m);
    agreement_forget_letters();
    assert_int_equal(agreement_elect(), 1);
    agreement_end();
}

/* The leader dies when a majority has the newest view, and before any server knows that it has. */
static void all_get_to_know_the_newest_view_from_a_new_leader(void **state)
{
    struct entries e = {0};

    (void)state;
    agreement_clear(1);
    for (uint64_t id = 1; id <= 2; id++) {
        agreement_begin(id, 3, false);
        add_view(&e, term_of_2, 1);
        append(id, 3, term_of_2, 1, 1, 1, &e);
    }
    agreement_forget_letters();
    assert_true(agreement_elect());
    for (unsigned k = 0; k < 100; k++)
        agreement_step();
    assert_true(agree_view(server[0].agree)->number == 1 && agree_view(server[1].agree)->number == 1);
    agreement_end();
}

/* No time passes: no heartbeat of Raft is due. */
static void all_get_to_know_a_view_at_once(void **state)
{
    struct view view;
    uint64_t leader;

    (void)state;
    agreement_clear(1);
    for (uint64_t id = 1; id <= 3; id++)
        agreement_begin(id, 3, false);
    leader = agreement_elect();
    for (unsigned k = 0; k < 100; k++)
        agreement_step();
    assert_true(leader && leader == agreement_leader());
    agreement_roster(&view, 3);
    view.number = 1;
    assert_true(agree_propose(server_of(leader)->agree, &view));
    agreement_carry();
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(agree_view(server_of(id)->agree)->number, 1);
    agreement_end();
}

static void a_snapshot_that_is_lost_is_sent_again(void **state)
{
    struct view view;
    uint64_t leader;
    unsigned lost = 0;

    (void)state;
    agreement_clear(1);
    agreement_begin(1, 3, false);
    agreement_begin(2, 3, false);
    leader = agreement_elect();
    agreement_roster(&view, 3);
    for (unsigned k = 0; k < PATIENCE_STEPS && view.number < 2 * VIEWS; k++) {
        view.number = agree_view(server_of(leader)->agree)->number + 1;
        agree_propose(server_of(leader)->agree, &view);
        agreement_step();
    }
    agreement_begin(3, 3, false);
    for (unsigned k = 0; k < PATIENCE_STEPS && agree_view(server[2].agree)->number < VIEWS; k++) {
        agreement_advance();
        for (struct letter *l = first_letter; l; l = l->next)
            if (l->bytes[0] == RAFT_IO_INSTALL_SNAPSHOT && lost++ == 0)
                l->to = AGREEMENT_MAX; /* where no server is */
        agreement_carry();
    }
    assert_true(lost > 1);
    assert_true(agree_view(server[2].agree)->number >= VIEWS);
    agreement_end();
}

static void nothing_of_the_memory_is_written_down(void **state)
{
    const struct journal *j;
    bool found = false;

    (void)state;
    mallopt(M_PERTURB, 0xa5); /* what was not set is not zero */
    begin();
    become_leader();
    for (unsigned k = 0; k < 10; k++)
        agreement_advance();
    j = agree_journal(server[0].agree);
    for (size_t k = 0; k < j->count; k++)
        for (size_t i = 0; j->entry[k].type == RAFT_BARRIER && i < bytes_len(&j->entry[k].data); i++) {
            found = true;
            assert_int_equal(j->entry[k].data.at[j->entry[k].data.start + i], 0);
        }
    assert_true(found);
    mallopt(M_PERTURB, 0);
    agreement_end();
}

/* One grows to three, and shrinks; at this write of this member its disk fails. It says so, and can be freed. */
static bool break_disk(struct server *s, unsigned at)
{
    struct view view;
    bool broken = false;

    agreement_clear(1);
    agreement_begin(1, 1, false);
    agreement_begin(2, 3, true);
    agreement_begin(3, 3, true);
    s->fails_at = s->writes + at;
    for (unsigned k = 0; k < 400 && !broken; k++) {
        agreement_roster(&view, k < 200 ? 3 : 1);
        view.number = agree_view(server[0].agree)->number + 1;
        if (k % 4 == 0)
            agree_propose(server[0].agree, &view);
        agreement_step();
        broken = agree_is_broken(s->agree);
    }
    agree_has_caught_up(server[0].agree, 2);
    agreement_step();
    agreement_end();
    return broken;
}

static void a_disk_may_fail_at_any_write(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        unsigned at = 1;

        while (at < 400 && break_disk(&server[k], at))
            at += at < 30 ? 1 : 20;
        assert_true(at > 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leader_is_not_told_that_another_leads_in_its_term),
        cmocka_unit_test(a_term_has_one_leader),
        cmocka_unit_test(what_is_agreed_upon_is_not_contradicted),
        cmocka_unit_test(nonsense_is_dropped),
        cmocka_unit_test(entries_behind_a_snapshot_may_come_twice),
        cmocka_unit_test(a_list_of_servers_is_taken_back_behind_a_snapshot),
        cmocka_unit_test(a_list_of_servers_is_taken_back_after_a_restart),
        cmocka_unit_test(the_first_list_of_servers_is_taken_back),
        cmocka_unit_test(a_snapshot_has_the_servers_that_are_agreed_upon),
        cmocka_unit_test(a_snapshot_replaces_what_was_not_agreed_upon),
        cmocka_unit_test(an_answer_goes_no_further_than_what_was_asked),
        cmocka_unit_test(a_snapshot_of_other_entries_is_not_said_to_be_known),
        cmocka_unit_test(nothing_beyond_what_was_asked_counts_as_agreed_upon),
        cmocka_unit_test(who_hands_over_votes_once),
        cmocka_unit_test(one_who_leads_can_hand_over),
        cmocka_unit_test(a_leader_is_found_whatever_the_logs_and_terms),
        cmocka_unit_test(all_get_to_know_the_newest_view_from_a_new_leader),
        cmocka_unit_test(all_get_to_know_a_view_at_once),
        cmocka_unit_test(a_snapshot_that_is_lost_is_sent_again),
        cmocka_unit_test(nothing_of_the_memory_is_written_down),
        cmocka_unit_test(a_disk_may_fail_at_any_write),
    };

    return cmocka_run_group_tests_name("agree_shield", tests, NULL, NULL);
}
