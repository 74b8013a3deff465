/* The connections of agents at a member (serve/relays.h): what the daemon decides about channels and their clients. The agent is the test itself, at the other end
 * of a pair of sockets. tests/test_relay.c has the frames, and tests/agents.sh whole agents.
 * Invariants: I17, I19, I31. */
#include "served.h"

#include "alg/list.h"
#include "base/plain.h"
#include "command/permit.h"
#include "relay/mux.h"
#include "serve/relays.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { CHANNELS = 8 };

static struct client *client; /* the connection of the agent, as a client */
static struct stream *stream;
static struct relay *relay; /* null: its connection has ended */
static int other;           /* the agent's end of it */
static struct mux agent;
static struct {
    struct mux_channel *mux; /* or null: there is none */
    char said[1 << 19];      /* what its client was told */
    size_t len;
    bool parts;  /* its client has left, and may still read */
    bool closed; /* by the member */
} channel[CHANNELS];
static unsigned pongs;
static enum mux_state state_of_member;
static const char *wrong; /* why the daemon closes the connection */
static bool takes;        /* the agent passes on at once what it hears */

static uint64_t chance(void *user)
{
    static uint64_t dice;

    (void)user;
    return test_random(&dice);
}

static void hear(struct stream *s, const uint8_t *bytes, size_t len)
{
    (void)s;
    relay_read(relay, bytes, len, &wrong);
}

static void room(struct stream *s)
{
    (void)s;
    if (relay)
        relay_room(relay);
}

static void end(struct stream *s)
{
    relay_end(relay);
    relay = NULL;
    stream_close(s);
}

static int setup(void **state)
{
    struct rights_who *who;
    struct view view;
    int pair[2];

    (void)state;
    served_init("ant");
    served_log();
    served_conf.lease_ms = 10000;
    served.descriptors = 1000;
    assert_int_equal(uv_loop_init(&served.loop), 0);
    turn_init(&served.turn);
    ring_init(&served.peers);
    ring_init(&served.clients);
    serve_relays_init(&served);
    uv_timer_init(&served.loop, &served.due);
    uv_timer_init(&served.loop, &served.patience);
    uv_idle_init(&served.loop, &served.again);
    served.due.data = served.patience.data = served.again.data = &served;
    node_init(&served.node, &(struct node_conf){.name = "ant",
                                                .summary = "same",
                                                .algorithm = alg_find("ricart-agrawala"),
                                                .slots_algorithm = alg_find("central"),
                                                .incarnation = 1,
                                                .fence = 100,
                                                .user = &served,
                                                .is_short = serve_is_short,
                                                .random = chance});
    view_begin(&view);
    view_add(&view, "ant", "-", VIEW_MEMBER);
    view.number = view.member[0].incarnation = 1;
    node_install(&served.node, &view);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    other = pair[1];
    fcntl(other, F_SETFL, O_NONBLOCK);
    stream = stream_new(&served.loop, &served.turn, false);
    assert_int_equal(uv_pipe_open(&stream->uv.pipe, pair[0]), 0);
    stream->on_read = hear;
    stream->on_room = room;
    stream->on_end = end;
    stream_read(stream, true);
    client = client_open(&served.node, NULL);
    served.node.stats.connections[1]++;
    who = rights_copy(NULL);
    who->operates = true; /* it has the cluster key */
    assert_true(permit_meet(client, who));
    strcpy(client->session->from, "10.0.0.5:999");
    strcpy(client->session->who, "farm");
    relay = relay_begin(&served, stream, client);
    mux_init(&agent, true);
    memset(channel, 0, sizeof channel);
    pongs = 0;
    wrong = NULL;
    takes = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (relay)
        end(stream);
    serve_relays_stop(&served);
    served.stopping = true;
    uv_close((uv_handle_t *)&served.due, NULL);
    uv_close((uv_handle_t *)&served.patience, NULL);
    uv_close((uv_handle_t *)&served.again, NULL);
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&served.loop), 0);
    node_free(&served.node);
    mux_free(&agent);
    close(other);
    return 0;
}

/* What the member says, frame by frame. */
static void agent_hears(void)
{
    struct mux_event e;

    while (mux_next(&agent, &e) != MUX_NOTHING) {
        unsigned k = 0;

        assert_int_not_equal(e.type, MUX_WRONG);
        pongs += e.type == MUX_PONGED;
        state_of_member = e.state;
        while (e.channel && channel[k].mux != e.channel)
            assert_true(++k < CHANNELS);
        if (e.type == MUX_BYTES) {
            assert_true(channel[k].len + e.len < sizeof channel[k].said);
            memcpy(channel[k].said + channel[k].len, e.bytes, e.len);
            channel[k].len += e.len;
            if (takes && !channel[k].parts)
                mux_took(&agent, e.channel, e.len);
        } else if (e.type == MUX_CLOSED) {
            channel[k].closed = true;
            channel[k].mux = NULL;
            if (!channel[k].parts)
                mux_close(&agent, e.channel, MUX_BROKEN);
        }
    }
}

/* The agent sends what it has to send, and the loop goes around until the member has nothing more to say. */
static void go_around(void)
{
    uint8_t bytes[1 << 14];
    unsigned quiet = 0;

    while (quiet < 3) {
        size_t len = bytes_len(&agent.out);
        ssize_t some = len ? write(other, agent.out.at + agent.out.start, len) : 0;

        if (some > 0)
            bytes_consume(&agent.out, (size_t)some);
        uv_run(&served.loop, UV_RUN_NOWAIT);
        serve_do(&served);
        turn_next(&served.turn);
        served.turn.began_ns = 0;
        quiet = some > 0 ? 0 : quiet + 1;
        while ((some = read(other, bytes, sizeof bytes)) > 0) {
            mux_input(&agent, bytes, (size_t)some);
            agent_hears();
            quiet = 0;
        }
    }
}

static void open_channel(unsigned k, const char *who)
{
    memset(&channel[k], 0, sizeof channel[k]);
    channel[k].mux = mux_open(&agent, who, strlen(who), &channel[k]);
    go_around();
}

/* The client of this channel says this. Returns what it is told. */
static const char *say(unsigned k, const char *line)
{
    channel[k].len = 0;
    memset(channel[k].said, 0, 512);
    assert_int_equal(mux_send(&agent, channel[k].mux, (const uint8_t *)line, strlen(line)), strlen(line));
    go_around();
    return channel[k].said;
}

/* The client that came last, as the member knows it. */
static struct client *newest(void)
{
    return RING_OF(served.node.turn.clients.prev, struct client, in_node);
}

static const char refused[] = "*-1\r\n";

static void a_client_that_leaves_gives_up_its_locks_and_one_whose_channel_breaks_does_not(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++)
        open_channel(k, "");
    say(0, "LOCK left\nCONFIRM\n");
    say(1, "LOCK broken\nCONFIRM\n");
    assert_string_equal(say(2, "LOCK left WAIT 0\n"), refused);
    mux_close(&agent, channel[0].mux, MUX_LEFT);
    mux_close(&agent, channel[1].mux, MUX_BROKEN);
    go_around();
    assert_string_not_equal(say(2, "LOCK left WAIT 0\n"), refused);
    assert_string_equal(say(2, "LOCK broken WAIT 0\n"), refused); /* its client may believe in it */
}

/* The answer may end the channel, too. */
static void what_a_client_has_said_before_it_left_is_answered(void **state)
{
    static const char *const said[] = {"ECHO last\n", "ECHO last\nQUIT\n"};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        open_channel(k, "");
        mux_send(&agent, channel[k].mux, (const uint8_t *)said[k], strlen(said[k]));
        channel[k].parts = true;
        mux_finish(&agent, channel[k].mux, MUX_LEFT);
        go_around();
        assert_int_equal(strncmp(channel[k].said, "$4\r\nlast\r\n", 10), 0);
        assert_true(channel[k].closed);
    }
    assert_int_equal(served.node.stats.connections[1], 1);
}

/* The end of the connection says nothing about the clients of the agent. */
static void when_the_connection_ends_its_clients_may_believe_in_their_locks(void **state)
{
    struct client *here;
    struct node_output out;

    (void)state;
    open_channel(0, "");
    say(0, "LOCK x\nCONFIRM\n");
    open_channel(1, "");
    assert_int_equal(served.node.stats.connections[1], 3);
    shutdown(other, SHUT_RDWR);
    go_around();
    assert_null(relay);
    assert_true(ring_empty(&served.orphans)); /* all of that has been done */
    assert_int_equal(served.node.stats.connections[1], 1);
    assert_int_equal(served.buffered, 0);
    here = client_open(&served.node, NULL);
    node_step(&served.node, &(struct node_input){.type = NODE_CLIENT_BYTES,
                                                 .client = here,
                                                 .bytes = (const uint8_t *)"LOCK x WAIT 0\n",
                                                 .len = 14,
                                                 .now_ms = served.node.now_ms});
    assert_true(node_next_output(&served.node, &out));
    assert_int_equal(out.len, strlen(refused));
    assert_memory_equal(out.bytes, refused, out.len);
    out.taken = out.len;
    node_did(&served.node, &out);
}

static void beyond_the_number_of_clients_a_channel_is_told_so_and_closed(void **state)
{
    (void)state;
    served.descriptors = 3;
    open_channel(0, "");
    open_channel(1, ""); /* with the connection of the agent, these are three */
    assert_false(channel[1].closed);
    open_channel(2, "");
    assert_true(channel[2].closed);
    assert_string_equal(channel[2].said, "-BUSY this daemon has no room for more clients\r\n");
    assert_int_equal(served.node.stats.connections[1], 3);
    mux_close(&agent, channel[0].mux, MUX_LEFT);
    open_channel(3, "");
    assert_false(channel[3].closed);
}

static void without_memory_a_channel_is_told_so_and_the_others_go_on(void **state)
{
    (void)state;
    open_channel(0, "");
    served.is_full = true;
    served.memory_look_ns = UINT64_MAX; /* it is not measured again */
    open_channel(1, "");
    assert_true(channel[1].closed);
    assert_non_null(strstr(channel[1].said, "-BUSY this daemon has allocated as much memory as it may"));
    assert_string_equal(say(0, "ECHO still\n"), "$5\r\nstill\r\n");
}

/* Its words reach the log and the terminals of operators. */
static void what_an_agent_says_of_its_client_is_shown_if_it_is_text(void **state)
{
    char longest[MUX_WHO_MAX + 1] = "";

    (void)state;
    open_channel(0, "user ann");
    assert_string_equal(newest()->session->from, "10.0.0.5:999, agent farm: user ann");
    open_channel(1, "\x1b[2Jann");
    assert_string_equal(newest()->session->from, "10.0.0.5:999, agent farm");
    open_channel(2, "ann\nWARNING");
    assert_string_equal(newest()->session->from, "10.0.0.5:999, agent farm");
    for (unsigned k = 0; k + 2 <= MUX_WHO_MAX; k += 2)
        memcpy(longest + k, "\xc3\xa4", 2);
    open_channel(3, longest);
    assert_true(strlen(newest()->session->from) >= SESSION_FROM_MAX - 2);
    assert_true(plain_text(newest()->session->from, strlen(newest()->session->from))); /* no half of a character */
}

/* The rights of the agent do not make its clients operators. */
static void a_client_of_an_operators_agent_is_no_operator(void **state)
{
    (void)state;
    assert_true(client->session->operates);
    open_channel(0, "");
    assert_false(newest()->session->operates);
    assert_non_null(strstr(say(0, "FORCE-UNLOCK x\n"), "-NOPERM"));
}

static void an_agent_that_breaks_the_rules_of_frames_is_sent_away_with_the_reason(void **state)
{
    static const uint8_t frame[MUX_HEAD + 1] = {2, 0, 0, 1, 0, 0, 0, 5, 'x'};

    (void)state;
    open_channel(0, "");
    assert_false(relay_read(relay, frame, sizeof frame, &wrong));
    assert_string_equal(wrong, "a frame for a channel that is not open");
}

static void an_agent_is_silent_when_it_was_so_at_two_looks(void **state)
{
    uint64_t begun = uv_now(&served.loop);

    (void)state;
    served.loop.time = begun + RELAY_SILENCE_MS - 1;
    assert_null(relays_silent(&served));
    served.loop.time++;
    assert_null(relays_silent(&served)); /* this process may have been stopped, and its bytes are to be read now */
    assert_null(relays_silent(&served)); /* the same look */
    served.loop.time++;
    assert_ptr_equal(relays_silent(&served), stream);
}

static void an_agent_that_speaks_between_two_looks_is_not_silent(void **state)
{
    uint64_t now = uv_now(&served.loop) + RELAY_SILENCE_MS;

    (void)state;
    served.loop.time = now;
    assert_null(relays_silent(&served));
    mux_ping(&agent);
    relay_read(relay, agent.out.at + agent.out.start, bytes_len(&agent.out), &wrong);
    served.loop.time = now + 1;
    assert_null(relays_silent(&served));
    served.loop.time = now + RELAY_SILENCE_MS;
    assert_null(relays_silent(&served)); /* the first of two looks */
    served.loop.time++;
    assert_ptr_equal(relays_silent(&served), stream);
}

static void an_agent_learns_whether_its_member_grants_locks(void **state)
{
    (void)state;
    mux_ping(&agent);
    go_around();
    assert_int_equal(pongs, 1);
    assert_int_equal(state_of_member, MUX_GRANTS);
    node_step(&served.node, &(struct node_input){.type = NODE_LEAVE, .now_ms = served.node.now_ms});
    mux_ping(&agent);
    go_around();
    assert_int_equal(state_of_member, MUX_IDLE);
}

/* Else the answers to its PINGs would pile up. */
static void an_agent_that_does_not_read_is_not_read(void **state)
{
    enum { MANY = 1 << 16 };

    (void)state;
    for (unsigned k = 0; k < MANY; k++)
        mux_ping(&agent);
    for (unsigned k = 0; k < 2000 && bytes_len(&agent.out); k++) {
        ssize_t some = write(other, agent.out.at + agent.out.start, bytes_len(&agent.out));

        if (some > 0)
            bytes_consume(&agent.out, (size_t)some);
        uv_run(&served.loop, UV_RUN_NOWAIT);
        turn_next(&served.turn);
        served.turn.began_ns = 0;
    }
    assert_false(stream->reading);
    assert_true(bytes_len(&agent.out) > 0);
    assert_true(stream_backlog(stream) < 4 * MUX_OUT_MAX);
    go_around(); /* now it reads */
    assert_int_equal(bytes_len(&agent.out), 0);
    assert_int_equal(pongs, MANY);
}

/* A client that does not read its answers: its channel has no credit, and the buffers of all clients are full. */
static void a_client_whose_buffers_do_not_fit_is_cut_off_and_the_others_go_on(void **state)
{
    static char line[3000] = "ECHO ";

    (void)state;
    served_conf.memory_max = 4 * 100000; /* a quarter is for the buffers of clients */
    served.memory_look_ns = UINT64_MAX;
    memset(line + 5, 'x', sizeof line - 7);
    line[sizeof line - 2] = '\n';
    open_channel(0, "");
    open_channel(1, "");
    takes = false;
    for (unsigned k = 0; k < MUX_WINDOW / (sizeof line - 1); k++)
        say(0, line);
    assert_false(channel[0].closed);
    assert_int_equal(served.node.stats.connections[1], 3);
    for (unsigned k = 0; k < 60 && !channel[0].closed; k++)
        say(0, line);
    assert_true(channel[0].closed);
    assert_true(served_logged("is the agent of a client whose buffers do not fit"));
    assert_int_equal(served.node.stats.connections[1], 2);
    takes = true;
    assert_string_equal(say(1, "ECHO still\n"), "$5\r\nstill\r\n");
}

/* The credit of a channel comes back when the node has taken its bytes, however many they are. */
static void a_client_can_say_more_than_a_window(void **state)
{
    static char line[3000] = "ECHO ";

    (void)state;
    memset(line + 5, 'x', sizeof line - 7);
    line[sizeof line - 2] = '\n';
    open_channel(0, "");
    for (unsigned k = 0; k < MUX_WINDOW / (sizeof line - 1); k++) {
        channel[0].len = 0;
        for (unsigned part = 0; part < 3; part++) /* the daemon reads the three together */
            assert_int_equal(mux_send(&agent, channel[0].mux, (uint8_t *)line, sizeof line - 1), sizeof line - 1);
        go_around();
        assert_in_range(channel[0].len, 3 * (sizeof line - 6), 3 * (sizeof line + 6));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_client_that_leaves_gives_up_its_locks_and_one_whose_channel_breaks_does_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_client_has_said_before_it_left_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(when_the_connection_ends_its_clients_may_believe_in_their_locks, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(beyond_the_number_of_clients_a_channel_is_told_so_and_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_a_channel_is_told_so_and_the_others_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(what_an_agent_says_of_its_client_is_shown_if_it_is_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_of_an_operators_agent_is_no_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_that_breaks_the_rules_of_frames_is_sent_away_with_the_reason, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_agent_is_silent_when_it_was_so_at_two_looks, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_that_speaks_between_two_looks_is_not_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_learns_whether_its_member_grants_locks, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_that_does_not_read_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_whose_buffers_do_not_fit_is_cut_off_and_the_others_go_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_client_can_say_more_than_a_window, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
