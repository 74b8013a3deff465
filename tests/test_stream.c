/* A connection of the daemon (serve/stream.h): what comes in is read in turns, what does not go out at once goes out later, and the
 * end of the other side is told. The other side is the test itself, through a pair of sockets.
 * Invariants: I20, I31. */
#include "test.h"

#include "serve/stream.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uv_loop_t loop;
static struct turn turn;
static struct stream *stream;
static int other; /* the other side */
static size_t got, reads;
static unsigned rooms, ends;
static bool goodbye;
static bool another_waits; /* another stream has bytes to read, and no time is left in this turn */

static void on_read(struct stream *s, const uint8_t *bytes, size_t len)
{
    assert_ptr_equal(s, stream);
    for (size_t k = 0; k < len; k++)
        assert_int_equal(bytes[k], (uint8_t)(got + k));
    got += len;
    reads++;
}

static void on_end(struct stream *s)
{
    ends++;
    goodbye = s->goodbye;
    stream_close(s);
}

static void on_room(struct stream *s)
{
    assert_false(s->writing);
    rooms++;
}

static int setup(void **state)
{
    int pair[2];

    (void)state;
    turn_init(&turn);
    got = reads = rooms = ends = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    other = pair[1];
    fcntl(other, F_SETFL, O_NONBLOCK);
    stream = stream_new(&loop, &turn, false);
    assert_int_equal(uv_pipe_open(&stream->uv.pipe, pair[0]), 0);
    stream->on_read = on_read;
    stream->on_end = on_end;
    stream->on_room = on_room;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (!ends)
        stream_close(stream);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    close(other);
    return 0;
}

/* The loop goes around once, which is a turn. */
static void go_around(void)
{
    uint64_t took_ms, cpu_ms;

    uv_run(&loop, UV_RUN_NOWAIT);
    turn.missed |= another_waits;
    turn.contended |= another_waits;
    turn_end(&turn, &took_ms, &cpu_ms);
    turn_next(&turn);
}

/* The other side says this many bytes, which count up. */
static void hear_bytes(size_t len)
{
    static uint8_t bytes[1 << 16];

    for (size_t k = 0; k < len; k++)
        bytes[k] = (uint8_t)k;
    assert_int_equal(write(other, bytes, len), len);
}

/* So many more of them, where the last ones ended. */
static void hear_more(size_t len)
{
    uint8_t bytes[256];

    for (size_t k = 0; k < len; k++)
        bytes[k] = (uint8_t)(got + k);
    assert_int_equal(write(other, bytes, len), len);
}

static void a_stream_is_read_once_in_a_turn(void **state)
{
    enum { LEN = 3 * TURN_PIECE };

    (void)state;
    stream_read(stream, true);
    hear_bytes(LEN);
    for (size_t k = 1; k <= 3; k++) {
        go_around();
        assert_int_equal(reads, k);
        assert_int_equal(got, k * TURN_PIECE);
    }
    go_around();
    assert_int_equal(got, LEN);
}

/* After a long turn, streams that were read wait until all others have been read. */
static void a_stream_that_missed_a_turn_comes_before_one_that_did_not(void **state)
{
    (void)state;
    stream_read(stream, true);
    hear_bytes(2 * TURN_PIECE);
    another_waits = true;
    go_around();
    assert_int_equal(reads, 1);
    go_around();
    assert_int_equal(reads, 1); /* it was read in this round */
    another_waits = false;
    go_around(); /* no stream had to wait: the round is over */
    go_around();
    assert_int_equal(reads, 2);
}

/* A stream whose bytes are few is not kept waiting by those that have much to say. */
static void a_stream_that_is_not_greedy_does_not_wait_for_a_round(void **state)
{
    (void)state;
    stream_read(stream, true);
    assert_true(stream->greedy); /* nothing is known of it */
    another_waits = true;
    for (unsigned k = 1; k <= 5; k++) {
        hear_bytes(256);
        go_around();
        assert_int_equal(reads, k);
        assert_false(stream->greedy);
    }
    hear_bytes(TURN_PIECE);
    go_around();
    assert_int_equal(reads, 6);
    assert_true(stream->greedy);
    hear_bytes(256);
    go_around();
    assert_int_equal(reads, 6); /* now it waits for the round to be over */
    another_waits = false;
    go_around();
    go_around();
    assert_int_equal(reads, 7);
}

/* It has time of its own in a turn; and if that is over, too, it comes first in the next one. It prolongs a round only until it was
 * read in it. */
static void a_stream_that_is_not_greedy_has_time_of_its_own(void **state)
{
    (void)state;
    stream_read(stream, true);
    stream->greedy = false;
    hear_bytes(10);
    turn.began_ns = 1; /* no time is left in this turn */
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(got, 0);
    assert_false(ring_empty(&turn.modest));
    assert_true(turn.missed); /* it was not read in this round: those that were wait for it */
    go_around();
    go_around();
    assert_int_equal(got, 10);
    assert_true(ring_empty(&turn.modest));
    hear_more(10);
    stream->turn_round = turn.round;
    turn.began_ns = 1;
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(got, 10);
    assert_false(turn.missed); /* else many like it would keep the others waiting for ever */
    go_around();
    go_around();
    assert_int_equal(got, 20);
}

/* The system is not asked again and again whether there are bytes for a stream that has to wait. */
static void a_stream_that_has_to_wait_is_parked(void **state)
{
    (void)state;
    stream_read(stream, true);
    hear_bytes(10);
    turn.began_ns = 1; /* no time is left in this turn */
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(got, 0);
    assert_false(uv_is_active((uv_handle_t *)&stream->uv.pipe));
    go_around();
    go_around();
    assert_int_equal(got, 10);
    assert_true(ring_empty(&turn.parked));
}

static void a_stream_that_is_parked_may_be_closed(void **state)
{
    (void)state;
    stream_read(stream, true);
    hear_bytes(10);
    turn.began_ns = 1;
    uv_run(&loop, UV_RUN_NOWAIT);
    stream_read(stream, false);
    assert_true(ring_empty(&turn.parked));
    stream_read(stream, true);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_false(ring_empty(&turn.parked));
    on_end(stream);
    assert_true(ring_empty(&turn.parked));
    go_around();
    assert_int_equal(got, 0);
}

static void a_stream_that_is_not_read_keeps_its_bytes(void **state)
{
    (void)state;
    hear_bytes(10);
    go_around();
    assert_int_equal(got, 0);
    stream_read(stream, true);
    go_around();
    assert_int_equal(got, 10);
    stream_read(stream, false);
    hear_bytes(1);
    go_around();
    assert_int_equal(got, 10);
}

/* How many bytes the other side hears until there are no more. */
static size_t take_all(void)
{
    static uint8_t bytes[1 << 16];
    size_t all = 0;
    ssize_t len;

    do {
        go_around();
        len = read(other, bytes, sizeof bytes);
        all += len > 0 ? (size_t)len : 0;
    } while (len > 0);
    return all;
}

static void what_does_not_go_out_at_once_goes_out_later(void **state)
{
    enum { LEN = 4 << 20 };
    static uint8_t bytes[LEN];

    (void)state;
    stream_write(stream, bytes, LEN);
    assert_true(stream->writing);
    assert_in_range(stream_backlog(stream), 1, LEN);
    assert_int_equal(rooms, 0);
    assert_int_equal(take_all(), LEN);
    assert_int_equal(rooms, 1);
    assert_false(stream->writing);
    assert_int_equal(stream_backlog(stream), 0);
    stream_write(stream, bytes, 1); /* there is room: no further event */
    assert_false(stream->writing);
    assert_int_equal(take_all(), 1);
    assert_int_equal(rooms, 1);
}

static void the_end_of_the_other_side_is_told_once_and_is_a_goodbye(void **state)
{
    (void)state;
    stream_read(stream, true);
    hear_bytes(5);
    shutdown(other, SHUT_RDWR);
    for (unsigned k = 0; k < 4 && !ends; k++)
        go_around();
    assert_int_equal(got, 5); /* what it said last is heard first */
    assert_int_equal(ends, 1);
    assert_true(goodbye);
    go_around();
    assert_int_equal(ends, 1);
}

/* From now on, system calls with the stream's descriptor meet this file instead. `spare`, if the caller wants it, becomes the former socket. */
static int take_socket_away(const char *path, int flags)
{
    int file = open(path, flags), fd, spare;

    assert_int_equal(uv_fileno((uv_handle_t *)&stream->uv.pipe, &fd), 0);
    spare = dup(fd);
    assert_true(file >= 0 && spare >= 0);
    assert_int_equal(dup2(file, fd), fd);
    close(file);
    return spare;
}

static void until_it_ends(void)
{
    for (unsigned k = 0; k < 4 && !ends; k++)
        go_around();
    assert_int_equal(ends, 1);
}

static void a_broken_pipe_is_a_goodbye(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    shutdown(other, SHUT_RDWR);
    stream_write(stream, (const uint8_t *)"x", 1);
    until_it_ends();
    assert_true(goodbye);
}

/* The other side has closed its end, and has not read all that it was told. */
static void a_reset_of_a_unix_socket_is_a_goodbye(void **state)
{
    (void)state;
    stream_read(stream, true);
    stream_write(stream, (const uint8_t *)"x", 1);
    close(other);
    until_it_ends();
    assert_true(goodbye);
    other = -1;
}

/* The other side goes on, and believes in its locks: I20. */
static void an_error_of_this_side_is_no_goodbye(void **state)
{
    int spare;

    (void)state;
    spare = take_socket_away("/dev/full", O_WRONLY);
    stream_write(stream, (const uint8_t *)"x", 1); /* ENOSPC */
    until_it_ends();
    assert_false(goodbye);
    close(spare);
}

static void an_error_of_reading_is_no_goodbye(void **state)
{
    int spare;

    (void)state;
    stream_read(stream, true);
    go_around();
    spare = take_socket_away("/", O_RDONLY);
    hear_bytes(1);
    until_it_ends(); /* EISDIR */
    assert_int_equal(got, 0);
    assert_false(goodbye);
    close(spare);
}

static void a_turn_without_events_is_none(void **state)
{
    uint64_t took_ms = 7, cpu_ms = 7;

    (void)state;
    assert_false(turn_end(&turn, &took_ms, &cpu_ms));
    turn.reads = turn.callers = 3;
    turn_touch(&turn);
    assert_true(turn_end(&turn, &took_ms, &cpu_ms));
    assert_true(cpu_ms <= took_ms);
    assert_int_equal(turn.reads + turn.callers, 0);
    assert_false(turn_end(&turn, &took_ms, &cpu_ms));
}

/* A turn in which the thread works is told from one in which it sleeps. */
static void processor_time_is_told_from_time(void **state)
{
    uint64_t took_ms = 0, cpu_ms = 0;

    (void)state;
    turn_touch(&turn);
    usleep(30000);
    assert_true(turn_end(&turn, &took_ms, &cpu_ms)); /* all that was used before, too */
    turn_touch(&turn);
    usleep(30000);
    assert_true(turn_end(&turn, &took_ms, &cpu_ms));
    assert_true(cpu_ms < took_ms);
    do { /* until it has worked for that time */
        turn_touch(&turn);
        for (volatile unsigned k = 0; k < 30000000; k++)
            ;
        assert_true(turn_end(&turn, &took_ms, &cpu_ms));
    } while (cpu_ms < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_is_read_once_in_a_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_missed_a_turn_comes_before_one_that_did_not, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_not_greedy_does_not_wait_for_a_round, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_not_greedy_has_time_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_has_to_wait_is_parked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_parked_may_be_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_not_read_keeps_its_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_go_out_at_once_goes_out_later, setup, teardown),
        cmocka_unit_test_setup_teardown(the_end_of_the_other_side_is_told_once_and_is_a_goodbye, setup, teardown),
        cmocka_unit_test_setup_teardown(a_broken_pipe_is_a_goodbye, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reset_of_a_unix_socket_is_a_goodbye, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_of_this_side_is_no_goodbye, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_of_reading_is_no_goodbye, setup, teardown),
        cmocka_unit_test_setup_teardown(a_turn_without_events_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(processor_time_is_told_from_time, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
