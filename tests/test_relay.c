/* Many clients over one connection: frames, credit, ends; and which member an agent talks to. */
#include "test.h"

#include "relay/agent.h"
#include "relay/mux.h"

#include <string.h>

static struct mux agent, member;

static int setup(void **state)
{
    (void)state;
    mux_init(&agent, true);
    mux_init(&member, false);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mux_free(&agent);
    mux_free(&member);
    return 0;
}

/* What one end has to send arrives at the other one. */
static void carry(struct mux *from, struct mux *to)
{
    mux_input(to, from->out.at + from->out.start, bytes_len(&from->out));
    bytes_consume(&from->out, bytes_len(&from->out));
}

static struct mux_event next(struct mux *m)
{
    struct mux_event e;

    mux_next(m, &e);
    return e;
}

/* A channel, as both ends know it. */
static struct mux_channel *opened(struct mux_channel **here)
{
    struct mux_event e;

    *here = mux_open(&agent, "user 7", 6, &agent);
    assert_non_null(*here);
    carry(&agent, &member);
    e = next(&member);
    assert_int_equal(e.type, MUX_OPENED);
    assert_int_equal(e.len, 6);
    assert_memory_equal(e.bytes, "user 7", 6);
    e.channel->user = &member;
    return e.channel;
}

static void what_is_sent_arrives_at_its_channel(void **state)
{
    struct mux_channel *a, *b, *there_a = opened(&a), *there_b = opened(&b);
    struct mux_event e;

    (void)state;
    assert_ptr_not_equal(there_a, there_b);
    assert_int_equal(mux_send(&agent, b, (const uint8_t *)"for b", 5), 5);
    assert_int_equal(mux_send(&agent, a, (const uint8_t *)"a", 1), 1);
    carry(&agent, &member);
    e = next(&member);
    assert_int_equal(e.type, MUX_BYTES);
    assert_ptr_equal(e.channel, there_b);
    assert_memory_equal(e.bytes, "for b", 5);
    e = next(&member);
    assert_ptr_equal(e.channel, there_a);
    assert_int_equal(e.len, 1);
    assert_int_equal(next(&member).type, MUX_NOTHING);
}

static void a_frame_may_arrive_byte_by_byte(void **state)
{
    struct mux_channel *a, *there = opened(&a);
    unsigned events = 0;

    (void)state;
    mux_send(&agent, a, (const uint8_t *)"piece by piece", 14);
    for (; bytes_len(&agent.out); bytes_consume(&agent.out, 1)) {
        struct mux_event e;

        mux_input(&member, agent.out.at + agent.out.start, 1);
        e = next(&member);
        if (e.type != MUX_NOTHING) {
            events++;
            assert_ptr_equal(e.channel, there);
            assert_int_equal(e.len, 14);
            assert_int_equal(bytes_len(&agent.out), 1); /* it was the last byte */
        }
    }
    assert_int_equal(events, 1);
}

/* Fills the channel, whose reader takes nothing. */
static void fill(struct mux *from, struct mux *to, struct mux_channel *c)
{
    static const uint8_t much[MUX_WINDOW + 1];
    size_t sent = 0, more;

    while ((more = mux_send(from, c, much, sizeof much - sent)) && sent < MUX_WINDOW) {
        sent += more;
        carry(from, to);
        while (next(to).type == MUX_BYTES)
            ;
    }
    assert_int_equal(sent, MUX_WINDOW);
}

static void one_that_does_not_read_stops_only_its_own_channel(void **state)
{
    struct mux_channel *a, *b, *there_a = opened(&a), *there_b = opened(&b);
    struct mux_event e;

    (void)state;
    fill(&agent, &member, a);
    assert_int_equal(mux_send(&agent, a, (const uint8_t *)"x", 1), 0);
    assert_null(mux_ready(&agent));
    assert_int_equal(mux_send(&agent, b, (const uint8_t *)"y", 1), 1);
    carry(&agent, &member);
    e = next(&member);
    assert_ptr_equal(e.channel, there_b);
    /* It reads again: as much can be sent as it has taken. */
    mux_took(&member, there_a, MUX_WINDOW / 4);
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING);
    assert_ptr_equal(mux_ready(&agent), a);
    assert_null(mux_ready(&agent));
    assert_int_equal(a->credit, MUX_WINDOW / 4);
}

static void bytes_without_credit_are_an_error(void **state)
{
    struct mux_channel *a;
    uint8_t frame[MUX_HEAD + 1] = {2, 0, 0, 1, 0, 0, 0, 0, 'x'};
    struct mux_event e;

    (void)state;
    opened(&a);
    fill(&agent, &member, a);
    mux_input(&member, frame, sizeof frame);
    e = next(&member);
    assert_int_equal(e.type, MUX_WRONG);
    assert_string_equal(member.wrong, "more bytes than the channel has credit for");
    assert_int_equal(next(&member).type, MUX_WRONG);
}

static void when_much_waits_channels_take_turns(void **state)
{
    static const uint8_t much[MUX_WINDOW];
    struct mux_channel *a, *b;

    (void)state;
    opened(&a);
    opened(&b);
    assert_int_equal(mux_send(&agent, a, much, sizeof much), sizeof much);
    assert_int_equal(mux_send(&agent, b, much, sizeof much), 0);
    assert_null(mux_ready(&agent)); /* what waits has to go first */
    carry(&agent, &member);
    assert_ptr_equal(mux_ready(&agent), b);
}

/* A channel that waits for its turn, or for credit, is closed: it has no turn any more. */
static void a_channel_that_is_closed_has_no_turn(void **state)
{
    static const uint8_t much[MUX_WINDOW];
    struct mux_channel *a, *b, *c, *there_a = opened(&a);

    (void)state;
    opened(&b);
    opened(&c);
    fill(&agent, &member, a);
    assert_int_equal(mux_send(&agent, a, much, 1), 0);
    mux_close(&agent, a, MUX_LEFT);
    mux_took(&member, there_a, MUX_WINDOW / 4); /* the member has not heard of that yet */
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING);
    assert_null(mux_ready(&agent));
    assert_int_equal(mux_send(&agent, b, much, sizeof much), sizeof much);
    assert_int_equal(mux_send(&agent, c, much, 1), 0);
    mux_close(&agent, c, MUX_LEFT);
    carry(&agent, &member);
    assert_null(mux_ready(&agent));
}

static void what_comes_behind_the_end_of_a_channel_is_an_error(void **state)
{
    static const uint8_t end[] = {3, 0, 0, 1, 0, 0, 0, 0, MUX_LEFT}, bytes[] = {2, 0, 0, 1, 0, 0, 0, 0, 'x'};
    struct mux_channel *a;

    (void)state;
    opened(&a);
    mux_input(&member, end, sizeof end);
    assert_int_equal(next(&member).type, MUX_CLOSED);
    mux_input(&member, bytes, sizeof bytes);
    assert_int_equal(next(&member).type, MUX_WRONG);
    assert_string_equal(member.wrong, "a frame for a channel that is not open");
}

static void a_number_is_used_again_when_both_have_closed_it(void **state)
{
    struct mux_channel *a, *b, *there = opened(&a), *c;

    (void)state;
    mux_send(&member, there, (const uint8_t *)"late", 4); /* is on its way */
    mux_close(&agent, a, MUX_LEFT);
    carry(&agent, &member);
    assert_int_equal(next(&member).type, MUX_CLOSED);
    opened(&b);
    assert_int_equal(b->number, 1);
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING); /* a late answer belongs to no place */
    assert_true(a->used);
    mux_close(&member, there, MUX_BROKEN);
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING);
    assert_false(a->used);
    opened(&c);
    assert_int_equal(c->number, 0);
}

static void the_end_of_a_channel_says_how(void **state)
{
    static const enum mux_how hows[] = {MUX_BROKEN, MUX_LEFT, MUX_DEAD};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct mux_channel *a, *there = opened(&a);
        struct mux_event e;

        mux_close(&agent, a, hows[k]);
        carry(&agent, &member);
        e = next(&member);
        assert_int_equal(e.type, MUX_CLOSED);
        assert_ptr_equal(e.channel, there);
        assert_int_equal(e.how, hows[k]);
        mux_close(&member, there, MUX_BROKEN);
        carry(&member, &agent);
        assert_int_equal(next(&agent).type, MUX_NOTHING);
        assert_int_equal(agent.count + member.count, 0);
    }
}

static void both_may_close_at_once(void **state)
{
    struct mux_channel *a, *there = opened(&a);

    (void)state;
    mux_close(&agent, a, MUX_LEFT);
    mux_close(&member, there, MUX_BROKEN);
    carry(&agent, &member);
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING);
    assert_int_equal(next(&member).type, MUX_NOTHING);
    assert_int_equal(agent.count + member.count, 0);
}

/* A client that sends no more has its answers, and is not confused with the next one. */
static void a_side_that_sends_no_more_may_take_the_rest(void **state)
{
    struct mux_channel *a, *b, *there = opened(&a);
    struct mux_event e;

    (void)state;
    mux_finish(&agent, a, MUX_LEFT);
    mux_send(&member, there, (const uint8_t *)"answer", 6);
    carry(&agent, &member);
    e = next(&member);
    assert_true(e.type == MUX_CLOSED && e.how == MUX_LEFT);
    mux_close(&member, there, MUX_BROKEN);
    carry(&member, &agent);
    e = next(&agent);
    assert_int_equal(e.type, MUX_BYTES);
    assert_ptr_equal(e.channel->user, &agent);
    assert_memory_equal(e.bytes, "answer", 6);
    assert_int_equal(agent.count, 1);
    e = next(&agent);
    assert_int_equal(e.type, MUX_CLOSED);
    assert_ptr_equal(e.channel->user, &agent);
    assert_int_equal(agent.count + member.count, 0);
    assert_int_equal(bytes_len(&agent.out), 0); /* there is nothing to be answered */
    opened(&b);
    assert_ptr_equal(a, b);
}

static void a_side_that_wants_the_rest_no_more_is_not_told(void **state)
{
    struct mux_channel *a, *there = opened(&a);

    (void)state;
    mux_finish(&agent, a, MUX_DEAD);
    a->user = NULL;
    mux_send(&member, there, (const uint8_t *)"answer", 6);
    carry(&agent, &member);
    assert_int_equal(next(&member).type, MUX_CLOSED);
    mux_close(&member, there, MUX_BROKEN);
    carry(&member, &agent);
    assert_int_equal(next(&agent).type, MUX_NOTHING);
    assert_int_equal(agent.count, 0);
}

static void there_are_so_many_channels_and_no_more(void **state)
{
    struct mux_channel *c = NULL;

    (void)state;
    for (unsigned k = 0; k < MUX_CHANNELS_MAX; k++)
        assert_non_null(c = mux_open(&agent, "", 0, &agent));
    assert_null(mux_open(&agent, "", 0, &agent));
    carry(&agent, &member);
    for (unsigned k = 0; k < MUX_CHANNELS_MAX; k++)
        assert_int_equal(next(&member).type, MUX_OPENED);
    assert_int_equal(next(&member).type, MUX_NOTHING);
    assert_int_equal(c->number, MUX_CHANNELS_MAX - 1);
}

static void what_contradicts_the_protocol_is_an_error(void **state)
{
    static const struct {
        uint8_t bytes[MUX_HEAD + 4];
        size_t len;
        const char *wrong;
    } cases[] = {
        {{0}, MUX_HEAD, "a frame of no known type"},
        {{7}, MUX_HEAD, "a frame of no known type"},
        {{6, 0, 0, 1, 0, 0, 0, 0, 1}, MUX_HEAD + 1, "a frame that the other side may not send"},
        {{2, 0, 0, 0, 0, 0, 0, 0}, MUX_HEAD, "a frame of a wrong length"},
        {{2, 0, 0x40, 1, 0, 0, 0, 0}, MUX_HEAD, "a frame of a wrong length"},
        {{1, 0, 0, 97, 0, 0, 0, 1}, MUX_HEAD, "a frame of a wrong length"},
        {{1, 0, 0, 0, 0, 0, 0, 2}, MUX_HEAD, "a channel with too large a number"}, /* 1 is the next */
        {{1, 0, 0, 0, 0, 0, 0x10, 0}, MUX_HEAD, "a channel with too large a number"},
        {{1, 0, 0, 0, 0, 0, 0, 0}, MUX_HEAD, "a channel that is opened twice"},
        {{2, 0, 0, 1, 0, 0, 0, 9, 'x'}, MUX_HEAD + 1, "a frame for a channel that is not open"},
        {{3, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1}, MUX_HEAD + 1, "a frame for a channel that is not open"},
        {{3, 0, 0, 1, 0, 0, 0, 0, 3}, MUX_HEAD + 1, "an end of no known sort"},
        {{4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1}, MUX_HEAD + 4, "more credit than a channel can have"},
        {{4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0}, MUX_HEAD + 4, "more credit than a channel can have"},
    };
    struct mux_channel *a;

    for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        setup(state);
        opened(&a);
        mux_input(&member, cases[k].bytes, cases[k].len);
        assert_int_equal(next(&member).type, MUX_WRONG);
        assert_string_equal(member.wrong, cases[k].wrong);
        teardown(state);
    }
}

static void when_the_connection_ends_nothing_is_known_of_the_clients(void **state)
{
    struct mux_channel *a, *b, *c, *there_a = opened(&a), *there_b = opened(&b), *there_c = opened(&c);
    struct mux_event e;

    (void)state;
    mux_close(&agent, a, MUX_LEFT); /* this end is known */
    carry(&agent, &member);
    assert_int_equal(next(&member).type, MUX_CLOSED);
    mux_close(&member, there_a, MUX_BROKEN);
    assert_true(mux_lost(&member, &e));
    assert_int_equal(e.type, MUX_CLOSED);
    assert_ptr_equal(e.channel, there_b);
    assert_int_equal(e.how, MUX_BROKEN);
    mux_close(&member, there_b, MUX_BROKEN);
    assert_true(mux_lost(&member, &e));
    assert_ptr_equal(e.channel, there_c);
    assert_int_equal(e.how, MUX_BROKEN);
    mux_close(&member, there_c, MUX_BROKEN);
    assert_false(mux_lost(&member, &e));
    assert_int_equal(member.count, 0);
}

static void a_member_says_whether_it_grants_locks(void **state)
{
    struct mux_event e;

    (void)state;
    mux_ping(&agent);
    carry(&agent, &member);
    assert_int_equal(next(&member).type, MUX_PINGED);
    mux_pong(&member, MUX_DRAINS);
    carry(&member, &agent);
    e = next(&agent);
    assert_int_equal(e.type, MUX_PONGED);
    assert_int_equal(e.state, MUX_DRAINS);
}

/* ------------------------------------------------------------------------------------------------- which member */

static void an_agent_calls_one_place_after_the_other(void **state)
{
    struct agent a;

    (void)state;
    agent_init(&a, 3, 7, 100);
    assert_int_equal(a.turn % a.places, 1);
    assert_int_equal(agent_act(&a, 100), AGENT_DIALS);
    assert_int_equal(agent_act(&a, 100), AGENT_WAITS);
    agent_lost(&a, 101); /* refused: the next one, at once */
    assert_int_equal(a.turn % a.places, 2);
    assert_int_equal(agent_act(&a, 101), AGENT_DIALS);
    assert_int_equal(agent_act(&a, 101 + AGENT_CALL_MS), AGENT_PARTS); /* no answer */
    agent_lost(&a, 2101);
    assert_int_equal(agent_act(&a, 2101), AGENT_DIALS);
    agent_lost(&a, 2102); /* all were tried: a pause, which doubles */
    assert_int_equal(agent_act(&a, 2102), AGENT_WAITS);
    assert_int_equal(agent_due_ms(&a), 2102 + AGENT_PAUSE_MS);
    assert_int_equal(a.pause_ms, 2 * AGENT_PAUSE_MS);
    for (unsigned k = 0; k < 3; k++) { /* the next round */
        assert_int_equal(agent_act(&a, 3000), AGENT_DIALS);
        agent_lost(&a, 3000);
    }
    assert_int_equal(agent_due_ms(&a), 3000 + 2 * AGENT_PAUSE_MS);
}

/* It accepts the agent, and ends the connection at once. */
static void a_member_that_does_not_keep_an_agent_is_a_failure(void **state)
{
    struct agent a;

    (void)state;
    agent_init(&a, 1, 0, 0);
    assert_int_equal(agent_act(&a, 5000), AGENT_DIALS);
    agent_is_up(&a, 5000);
    assert_int_equal(agent_act(&a, 5001), AGENT_WAITS); /* it has heard the answer */
    agent_lost(&a, 5000 + AGENT_STAY_MS - 1);
    assert_int_equal(agent_due_ms(&a), 5000 + AGENT_STAY_MS - 1 + AGENT_PAUSE_MS);
}

static void a_member_that_is_lost_is_replaced_at_once(void **state)
{
    struct agent a;

    (void)state;
    agent_init(&a, 2, 0, 0);
    agent_act(&a, 0);
    agent_is_up(&a, 5);
    agent_lost(&a, 5 + AGENT_STAY_MS);
    assert_int_equal(agent_act(&a, 5 + AGENT_STAY_MS), AGENT_DIALS);
    assert_int_equal(a.turn % a.places, 1);
}

/* Time passes, and the agent does what is due. Returns its last act. */
static enum agent_act passes(struct agent *a, uint64_t from_ms, uint64_t to_ms)
{
    enum agent_act act = AGENT_WAITS;

    for (uint64_t now_ms = from_ms; now_ms <= to_ms && act != AGENT_PARTS; now_ms += 100)
        act = agent_act(a, now_ms);
    return act;
}

static void a_silent_member_is_given_up(void **state)
{
    struct agent a;

    (void)state;
    agent_init(&a, 1, 0, 0);
    agent_act(&a, 0);
    agent_is_up(&a, 0);
    assert_int_equal(agent_act(&a, AGENT_PING_MS), AGENT_PINGS);
    agent_heard(&a, AGENT_PING_MS + 100);
    assert_int_not_equal(passes(&a, AGENT_PING_MS + 100, AGENT_PING_MS + AGENT_SILENCE_MS), AGENT_PARTS);
    assert_int_equal(agent_due_ms(&a), AGENT_PING_MS + 100 + AGENT_SILENCE_MS);
    assert_int_equal(agent_act(&a, AGENT_PING_MS + 100 + AGENT_SILENCE_MS), AGENT_PARTS);
}

static void an_agent_that_was_stopped_listens_first(void **state)
{
    struct agent a;
    uint64_t now_ms = 10 * AGENT_IDLE_MS;

    (void)state;
    agent_init(&a, 2, 0, 0);
    agent_act(&a, 0);
    agent_is_up(&a, 0);
    assert_int_equal(agent_act(&a, now_ms), AGENT_PINGS);
    assert_int_not_equal(passes(&a, now_ms, now_ms + AGENT_SILENCE_MS - 100), AGENT_PARTS);
    assert_int_equal(agent_act(&a, now_ms + AGENT_SILENCE_MS), AGENT_PARTS);
}

static void a_member_without_a_majority_is_left_for_another(void **state)
{
    struct agent a;

    (void)state;
    for (unsigned places = 1; places <= 2; places++) {
        uint64_t now_ms;

        agent_init(&a, places, 0, 0);
        agent_act(&a, 0);
        agent_is_up(&a, 0);
        for (now_ms = 0; now_ms < AGENT_IDLE_MS; now_ms += AGENT_PING_MS) {
            agent_heard(&a, now_ms);
            agent_ponged(&a, MUX_IDLE, now_ms);
            assert_int_not_equal(agent_act(&a, now_ms), AGENT_PARTS);
        }
        assert_int_equal(agent_act(&a, AGENT_IDLE_MS), places > 1 ? AGENT_PARTS : AGENT_PINGS);
    }
    agent_is_up(&a, 0);
    for (uint64_t now_ms = 0; now_ms < 2 * AGENT_IDLE_MS; now_ms += AGENT_PING_MS) {
        agent_heard(&a, now_ms);
        agent_ponged(&a, MUX_GRANTS, now_ms);
        assert_int_not_equal(agent_act(&a, now_ms), AGENT_PARTS);
    }
}

static void a_member_that_is_drained_is_left_gently(void **state)
{
    struct agent a;

    (void)state;
    for (unsigned places = 1; places <= 2; places++) {
        agent_init(&a, places, 0, 0);
        agent_act(&a, 0);
        agent_is_up(&a, 0);
        agent_ponged(&a, MUX_DRAINS, 1);
        assert_int_equal(agent_act(&a, 1), places > 1 ? AGENT_LEAVES : AGENT_WAITS);
        assert_int_equal(passes(&a, 100, AGENT_SILENCE_MS), AGENT_PARTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_sent_arrives_at_its_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(a_frame_may_arrive_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_does_not_read_stops_only_its_own_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_without_credit_are_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(when_much_waits_channels_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(a_channel_that_is_closed_has_no_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_behind_the_end_of_a_channel_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(a_number_is_used_again_when_both_have_closed_it, setup, teardown),
        cmocka_unit_test_setup_teardown(the_end_of_a_channel_says_how, setup, teardown),
        cmocka_unit_test_setup_teardown(both_may_close_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_side_that_sends_no_more_may_take_the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(a_side_that_wants_the_rest_no_more_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_so_many_channels_and_no_more, setup, teardown),
        cmocka_unit_test(what_contradicts_the_protocol_is_an_error),
        cmocka_unit_test_setup_teardown(when_the_connection_ends_nothing_is_known_of_the_clients, setup, teardown),
        cmocka_unit_test_setup_teardown(a_member_says_whether_it_grants_locks, setup, teardown),
        cmocka_unit_test(an_agent_calls_one_place_after_the_other),
        cmocka_unit_test(a_member_that_is_lost_is_replaced_at_once),
        cmocka_unit_test(a_member_that_does_not_keep_an_agent_is_a_failure),
        cmocka_unit_test(a_silent_member_is_given_up),
        cmocka_unit_test(an_agent_that_was_stopped_listens_first),
        cmocka_unit_test(a_member_without_a_majority_is_left_for_another),
        cmocka_unit_test(a_member_that_is_drained_is_left_gently),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
