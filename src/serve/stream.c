/* stream.c - see stream.h. */
#include "stream.h"

#include "lab/memory.h"

#include <stdlib.h>
#include <string.h>

struct stream_rest {
    uv_write_t request;
    struct stream *stream;
    uint8_t bytes[];
};

struct stream *stream_new(uv_loop_t *loop, bool tcp)
{
    struct stream *s = mem_new(sizeof *s);

    if (tcp)
        uv_tcp_init(loop, &s->uv.tcp);
    else
        uv_pipe_init(loop, &s->uv.pipe, 0);
    s->uv.any.data = s;
    return s;
}

static void stream_gone(uv_handle_t *handle)
{
    free(handle->data);
}

void stream_close(struct stream *s)
{
    if (!s->closing) {
        s->closing = true;
        uv_close((uv_handle_t *)&s->uv.any, stream_gone);
    }
}

static void stream_ended(struct stream *s)
{
    if (!s->closing)
        s->on_end(s);
}

static void stream_written(uv_write_t *request, int status)
{
    struct stream_rest *rest = request->data;
    struct stream *s = rest->stream;

    free(rest);
    s->writing = false;
    if (status < 0)
        stream_ended(s);
    else if (!s->closing)
        s->on_room(s);
}

void stream_write(struct stream *s, const uint8_t *bytes, size_t len)
{
    uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned)len);
    int sent = uv_try_write(&s->uv.any, &buf, 1);
    struct stream_rest *rest;

    if (sent < 0 && sent != UV_EAGAIN)
        sent = 0; /* uv_write will say so, too, and in its own time */
    if (sent == (int)len)
        return;
    sent = sent > 0 ? sent : 0;
    rest = mem_new(sizeof *rest + len - (size_t)sent);
    memcpy(rest->bytes, bytes + sent, len - (size_t)sent);
    rest->stream = s;
    rest->request.data = rest;
    s->writing = true;
    buf = uv_buf_init((char *)rest->bytes, (unsigned)(len - (size_t)sent));
    if (uv_write(&rest->request, &s->uv.any, &buf, 1, stream_written) < 0) {
        free(rest); /* the reading side will notice that it is broken */
        s->writing = false;
    }
}

static void stream_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    static char space[1 << 16]; /* one read at a time, and it is copied at once */

    (void)handle;
    (void)suggested;
    *buf = uv_buf_init(space, sizeof space);
}

static void stream_got(uv_stream_t *any, ssize_t len, const uv_buf_t *buf)
{
    struct stream *s = any->data;

    if (len < 0)
        stream_ended(s);
    else if (len > 0 && !s->closing)
        s->on_read(s, (const uint8_t *)buf->base, (size_t)len);
}

void stream_read(struct stream *s, bool read)
{
    if (s->closing || s->reading == read)
        return;
    s->reading = read;
    if (read)
        uv_read_start(&s->uv.any, stream_alloc, stream_got);
    else
        uv_read_stop(&s->uv.any);
}
