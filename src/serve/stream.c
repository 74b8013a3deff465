/* stream.c - see stream.h. */
#include "stream.h"

#include "base/memory.h"
#include "base/slab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURN_MS = 1000000 }; /* nanoseconds */

struct stream_rest {
    uv_write_t request;
    struct stream *stream;
    uint8_t bytes[];
};

struct stream *stream_new(uv_loop_t *loop, struct turn *turn, bool tcp)
{
    struct stream *s = slab_new(sizeof *s);

    assert(loop && turn);
    if (tcp)
        uv_tcp_init(loop, &s->uv.tcp);
    else
        uv_pipe_init(loop, &s->uv.pipe, 0);
    s->uv.any.data = s;
    s->turn = turn;
    s->turn_number = s->woken = UINT64_MAX;
    s->greedy = true;
    ring_init(&s->in_parked);
    s->turn_round = turn->contended ? turn->round : UINT64_MAX; /* else new callers would prolong a round */
    return s;
}

static void stream_gone(uv_handle_t *handle)
{
    struct stream *s = handle->data;

    tls_free(s->tls);
    slab_free(s);
}

/* The other process ends a connection over a Unix socket, or the kernel does when that process ends: this side reads the end,
 * or gets a reset or a broken pipe. Any other error is one of this side, for instance if the system has no memory, and proves nothing. Over
 * TCP with TLS only close_notify proves that the other side has ended the connection: an attacker on the path can forge a FIN or a reset. Over plain
 * TCP, which is on loopback, an orderly end (UV_EOF) counts as one of the other side, and a reset does not. */
static bool stream_is_goodbye(const struct stream *s, int error)
{
    if (s->tls)
        return tls_is_over(s->tls) && !*tls_why(s->tls);
    return error == UV_EOF || (s->uv.any.type != UV_TCP && (error == UV_ECONNRESET || error == UV_EPIPE));
}

static void stream_ended(struct stream *s, int error)
{
    if (s->closing)
        return;
    s->goodbye = stream_is_goodbye(s, error);
    s->on_end(s);
}

bool stream_is_known(const struct stream *s)
{
    return !s->tls || tls_is_up(s->tls);
}

const char *stream_why(const struct stream *s)
{
    return s->tls ? tls_why(s->tls) : "";
}

/* --------------------------------------------------------------------------------------------------------- going out */

static void stream_written(uv_write_t *request, int status);

/* Sends as many bytes as it can at once, and the rest later. Not to be called while s->sending. */
static void stream_send(struct stream *s, const uint8_t *bytes, size_t len)
{
    uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned)len);
    int sent = uv_try_write(&s->uv.any, &buf, 1);
    struct stream_rest *rest;

    assert(!s->sending && s->backlog == 0 && sent <= (int)len);
    assert(len && len <= INT32_MAX); /* libuv counts with int */
    if (sent < 0 && sent != UV_EAGAIN)
        sent = 0; /* uv_write will report the error later */
    if (sent == (int)len)
        return;
    sent = sent > 0 ? sent : 0;
    rest = mem_new(sizeof *rest + len - (size_t)sent);
    memcpy(rest->bytes, bytes + sent, len - (size_t)sent);
    rest->stream = s;
    rest->request.data = rest;
    s->sending = true;
    s->backlog = len - (size_t)sent;
    buf = uv_buf_init((char *)rest->bytes, (unsigned)(len - (size_t)sent));
    if (uv_write(&rest->request, &s->uv.any, &buf, 1, stream_written) < 0) {
        free(rest); /* reading will report that the connection is broken */
        s->sending = false;
        s->backlog = 0;
    }
}

/* Sends the records that TLS has made. */
static void stream_flush(struct stream *s)
{
    static uint8_t bytes[1 << 16];
    size_t len;

    while (s->tls && !s->sending && !s->closing && (len = tls_output(s->tls, bytes, sizeof bytes)))
        stream_send(s, bytes, len);
    s->writing = s->sending || !stream_is_known(s);
}

static void stream_written(uv_write_t *request, int status)
{
    struct stream_rest *rest = request->data;
    struct stream *s = rest->stream;

    assert(s->sending && s->backlog);
    free(rest);
    s->sending = false;
    s->backlog = 0;
    stream_flush(s);
    if (status < 0)
        stream_ended(s, status);
    else if (!s->closing && !s->writing)
        s->on_room(s);
}

void stream_write(struct stream *s, const uint8_t *bytes, size_t len)
{
    assert(!s->writing && len);
    if (!s->tls)
        stream_send(s, bytes, len);
    else
        tls_write(s->tls, bytes, len); /* if TLS has failed, reading will report it */
    stream_flush(s);
}

size_t stream_backlog(const struct stream *s)
{
    return s->backlog;
}

/* --------------------------------------------------------------------------------------------------------- coming in */

void turn_init(struct turn *t)
{
    *t = (struct turn){0};
    ring_init(&t->parked);
    ring_init(&t->modest);
    ring_init(&t->later);
}

uint64_t turn_touch(struct turn *t)
{
    uint64_t now = uv_hrtime();

    if (!t->began_ns)
        t->began_ns = now;
    return now - t->began_ns;
}

/* The processor time that this thread has used since the system was last asked. */
static uint64_t turn_cpu_since(struct turn *t)
{
    struct timespec used;
    uint64_t before = t->cpu_ns;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    t->cpu_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
    t->unasked_ns = 0;
    return t->cpu_ns - before;
}

bool turn_end(struct turn *t, uint64_t *took_ms, uint64_t *cpu_ms)
{
    uint64_t took_ns = t->began_ns ? turn_touch(t) : 0, cpu_ns = 0;

    if (!t->began_ns)
        return false;
    t->began_ns = 0;
    t->reads = t->callers = 0;
    t->unasked_ns += took_ns;
    if (t->unasked_ns >= TURN_MS)
        cpu_ns = turn_cpu_since(t);
    *took_ms = took_ns / TURN_MS;
    *cpu_ms = (cpu_ns < took_ns ? cpu_ns : took_ns) / TURN_MS;
    assert(*cpu_ms <= *took_ms);
    return true;
}

/* If libuv gets no buffer, it reads nothing and asks again in the next turn. */
static void stream_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf);
static void stream_got(uv_stream_t *any, ssize_t len, const uv_buf_t *buf);

/* The first streams in this ring can be read in the next turn. */
static void turn_wake(struct turn *t, struct ring *parked)
{
    for (unsigned left = TURN_WAKES; left && !ring_empty(parked); left--) {
        struct stream *s = RING_OF(parked->next, struct stream, in_parked);

        assert(s->turn == t && s->reading && !s->closing); /* else stream_read or stream_close has cut it */
        ring_cut(&s->in_parked);
        s->woken = t->number;
        uv_read_start(&s->uv.any, stream_alloc, stream_got);
    }
}

void turn_next(struct turn *t)
{
    t->number++;
    if (!t->missed && ring_empty(&t->parked)) {
        t->round++;
        t->contended = false;
        ring_move(&t->parked, &t->later);
    }
    t->missed = false;
    turn_wake(t, &t->modest);
    turn_wake(t, &t->parked);
}

/* The stream has bytes, and has to wait. A stream that was parked before goes before the others. */
static void stream_park(struct stream *s)
{
    struct ring *to = s->waits_in;

    assert(to && s->reading && ring_empty(&s->in_parked));
    s->waits_in = NULL;
    uv_read_stop(&s->uv.any);
    ring_push(to != &s->turn->later && s->woken == s->turn->number ? to->next : to, &s->in_parked);
}

/* May this stream be read now? If not, it is parked, unless it was read in this turn. */
static bool stream_has_turn(struct stream *s)
{
    struct turn *t = s->turn;
    bool modest = stream_is_known(s) && !s->greedy;
    uint64_t most_ns = modest ? TURN_NS : stream_is_known(s) ? TURN_GREEDY_NS : TURN_NS / 2;

    s->waits_in = NULL;
    if (s->turn_number == t->number)
        return false;
    if (!s->comes_first && !modest && t->contended && s->turn_round == t->round) {
        s->waits_in = &t->later;
        return false;
    }
    if (turn_touch(t) > most_ns && !s->comes_first) {
        t->missed |= !modest || s->turn_round != t->round; /* a round is not over before each was read once */
        t->contended = true;
        s->waits_in = modest ? &t->modest : &t->parked;
        return false;
    }
    s->turn_number = t->number;
    s->turn_round = t->round;
    t->reads++;
    return true;
}

static void stream_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    static char space[1 << 16]; /* one read at a time, and its bytes are copied at once */
    struct stream *s = handle->data;

    (void)suggested;
    *buf = uv_buf_init(space, !stream_has_turn(s) ? 0 : s->comes_first ? sizeof space : TURN_PIECE);
}

/* Decrypts bytes. The records that TLS itself has to send (the handshake, an alert) are sent first. */
static void stream_decrypt(struct stream *s, const uint8_t *bytes, size_t len)
{
    static uint8_t plain[1 << 14];
    bool was_known = stream_is_known(s), good = tls_input(s->tls, bytes, len);

    assert(len <= 1 << 16); /* one read */
    stream_flush(s);
    if (good && !was_known && stream_is_known(s) && !s->writing)
        s->on_room(s);
    while (good && !s->closing && (len = tls_read(s->tls, plain, sizeof plain)))
        s->on_read(s, plain, len);
    if (!s->closing)
        stream_flush(s);
    if (tls_is_over(s->tls))
        stream_ended(s, 0);
}

static void stream_got(uv_stream_t *any, ssize_t len, const uv_buf_t *buf)
{
    struct stream *s = any->data;

    if (len == UV_ENOBUFS && s->waits_in && !s->closing)
        stream_park(s);
    if (s->closing || len == UV_ENOBUFS)
        return;
    assert(s->on_read &&
           s->on_end); /* a connection that is being made has neither, and no byte comes before it is made */
    s->heard |= len > 0;
    s->greedy = len >= TURN_PIECE;
    if (len < 0)
        stream_ended(s, (int)len);
    else if (len > 0 && s->tls)
        stream_decrypt(s, (const uint8_t *)buf->base, (size_t)len);
    else if (len > 0)
        s->on_read(s, (const uint8_t *)buf->base, (size_t)len);
}

void stream_read(struct stream *s, bool read)
{
    if (s->closing || s->reading == read)
        return;
    s->reading = read;
    ring_cut(&s->in_parked);
    if (read)
        uv_read_start(&s->uv.any, stream_alloc, stream_got);
    else
        uv_read_stop(&s->uv.any);
}

/* ------------------------------------------------------------------------------------------------ begin and the end */

void stream_secure(struct stream *s, struct tls *tls)
{
    assert(tls && !s->tls && !s->heard && !s->sending); /* no byte of the connection was plain */
    s->tls = tls;
    stream_flush(s);
}

void stream_close(struct stream *s)
{
    if (s->closing)
        return;
    if (s->tls) {
        tls_end(s->tls);
        stream_flush(s);
    }
    s->closing = true;
    ring_cut(&s->in_parked);
    uv_close((uv_handle_t *)&s->uv.any, stream_gone);
}
