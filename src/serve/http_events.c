/* http_events.c - what happens to locks, as it happens: server-sent events for browsers that have logged in.
 *
 * A reader has a visit that has subscribed (node/watch.h). Each event becomes a line of JSON, [kind, pattern, name, what],
 * in a queue. The library takes bytes from the queue as fast as the browser reads; the system buffers HTTP_PIECE of them.
 * When there are more than HTTP_EVENTS_MAX bytes, the reader is dropped, with a note at the end of the queue. A reader that does not read at all is closed by the
 * library (HTTP_IDLE_S). Something is said every HTTP_SILENCE_MS, so that the end of a browser is noticed. */
#include "http_inside.h"

#include "reply_json.h"

#include <stdlib.h>
#include <string.h>

static void http_add_event(struct http_request *r, const char *text, size_t len)
{
    memcpy(bytes_add(&r->events, len), text, len);
    r->due_ms = http_now_ms(r->http) + HTTP_SILENCE_MS;
}

static void http_end_stream(struct http_request *r, const char *note)
{
    http_add_event(r, note, strlen(note));
    r->ended = true;
}

/* Moves what the visit has heard to the queue. */
static void http_take_news(struct http_request *r)
{
    struct visit *v = r->ask[0].visit;
    const char *at;
    char *text = NULL;
    size_t len = 0;
    FILE *to;

    if (!bytes_len(&v->reply) || !(to = open_memstream(&text, &len)))
        return;
    *bytes_add(&v->reply, 1) = '\0';
    v->reply.end--;
    for (at = (const char *)v->reply.at + v->reply.start; at < (const char *)v->reply.at + v->reply.end;) {
        fputs("data: ", to);
        at = reply_to_json(at, to);
        fputs("\n\n", to);
    }
    visit_read(v);
    if (fclose(to) == 0)
        http_add_event(r, text, len);
    free(text);
}

void http_mind_reader(struct http_request *r)
{
    const struct visit *v = r->ask[0].visit;
    struct http *h = r->http;

    if (v && !r->ended) {
        bool full = bytes_len(&r->events) + bytes_len(&v->reply) > HTTP_EVENTS_MAX;

        if (!full)
            http_take_news(r);
        if (full || v->overflows || !v->client)
            http_end_stream(r, "event: dropped\ndata: {}\n\n");
        else if (!logins_lasts(&h->logins, r->login.number, http_now_ms(h)))
            http_end_stream(r, "event: over\ndata: {}\n\n");
        else if (http_now_ms(h) >= r->due_ms)
            http_add_event(r, ":\n\n", 3);
    }
    if (r->suspended && (bytes_len(&r->events) || r->ended)) {
        r->suspended = false;
        mhd.resume_connection(r->connection);
    }
}

/* The library can send more. */
static ssize_t http_read_events(void *user, uint64_t place, char *to, size_t room)
{
    struct http_request *r = user;
    size_t len = bytes_len(&r->events) < room ? bytes_len(&r->events) : room;

    (void)place;
    if (len) {
        memcpy(to, r->events.at + r->events.start, len);
        bytes_consume(&r->events, len);
        if (!bytes_len(&r->events))
            bytes_free(&r->events);
        return (ssize_t)len;
    }
    if (r->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    http_suspend(r);
    return 0;
}

http_result http_follow(struct http_request *r)
{
    const char *pattern = mhd.lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "pattern");
    struct http *h = r->http;
    struct http_caller *c;
    struct MHD_Response *response;
    http_result result;

    if (h->reader_count == HTTP_READERS_MAX)
        return http_line(r->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "too many pages follow the events of this daemon: close some\n");
    response = mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, http_read_events, r, NULL);
    if (!response)
        return MHD_NO;
    http_headers(response, "text/event-stream; charset=utf-8");
    visit_command(&r->ask[0].commands, (const char *const[]){"PSUBSCRIBE", pattern ? pattern : "*", NULL, NULL});
    r->count = 1;
    result = mhd.queue_response(r->connection, MHD_HTTP_OK, response);
    mhd.destroy_response(response);
    if (result != MHD_YES)
        return result;
    c = mhd.get_connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    door_leave(&h->door, &c->caller);
    h->reader_count++;
    r->follows = true;
    http_add_event(r, ":\n\n", 3);
    http_put(r);
    return result;
}
