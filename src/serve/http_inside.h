/* http_inside.h - what the files of the HTTP server share: http.c (connections and the loop), http_answer.c (what is
 * answered) and http_events.c (events as they happen). */
#ifndef DIBS_SERVE_HTTP_INSIDE_H
#define DIBS_SERVE_HTTP_INSIDE_H

#include "door.h"
#include "http.h"
#include "logins.h"
#include "visit.h"

#include <microhttpd.h>

#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result http_result;
#else
typedef int http_result;
#endif

enum {
    HTTP_CALLERS_MAX = 32,
    HTTP_READERS_MAX = 16,     /* browsers that follow events */
    HTTP_CONNECTIONS_MAX = 64, /* including those that have been sent away and are not closed yet */
    HTTP_PATIENCE_MS = 5000,
    HTTP_ANSWER_MS = 2500, /* after this time, a question is answered with an error: that it takes too long */
    HTTP_IDLE_S = 10,
    HTTP_MEMORY = 16384,
    HTTP_PIECE =
        1 << 16, /* bytes of an answer that the system takes at once: the page is long, and all callers may want it */
    HTTP_BODY_MAX = 1024,
    HTTP_ASKS_MAX = 16,         /* locks in one request */
    HTTP_REPLIES_MAX = 1 << 20, /* bytes of the node's replies to one request */
    HTTP_EVENTS_MAX = 1 << 16,  /* bytes of events that a reader has not read */
    HTTP_SILENCE_MS = 5000      /* a stream of events says something at least this often */
};

/* The functions of libmicrohttpd that are used, by their names. */
#define HTTP_FUNCTIONS(F)                                                                                              \
    F(start_daemon)                                                                                                    \
    F(stop_daemon)                                                                                                     \
    F(get_daemon_info)                                                                                                 \
    F(get_connection_info)                                                                                             \
    F(get_connection_values)                                                                                           \
    F(lookup_connection_value)                                                                                         \
    F(get_timeout)                                                                                                     \
    F(run)                                                                                                             \
    F(suspend_connection)                                                                                              \
    F(resume_connection)                                                                                               \
    F(queue_response)                                                                                                  \
    F(create_response_from_buffer) F(create_response_from_callback) F(add_response_header) F(destroy_response)

extern struct http_library {
#define HTTP_POINTER(name) __typeof__(MHD_##name) *name;
    HTTP_FUNCTIONS(HTTP_POINTER)
} mhd;

struct http {
    struct serve *serve;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t again; /* active: there is more to do in the next turn */
    bool stirred;    /* likewise: the node has answered something */
    struct door door;
    struct logins logins;
    char cookie[16];      /* the name of its cookies: a browser sends the cookies of a host to all ports of it */
    struct ring asking;   /* requests that are to be put to the node */
    struct ring asked;    /* requests that wait for its answer */
    struct ring readers;  /* requests that follow events */
    struct ring finished; /* requests whose connection is over, with visits that are still open */
    unsigned reader_count;
    size_t replies; /* bytes in the replies of all visits */
    char *page;     /* or null: it is not installed */
    size_t page_len;
    int open; /* handles of libuv */
};

/* A connection. */
struct http_caller {
    struct caller caller;
    int fd;
};

/* A request. It is allocated when its head has arrived, and freed when its connection is over. */
struct http_request {
    struct ring in_http; /* one of the rings of struct http, or none */
    struct http *http;
    struct MHD_Connection *connection;
    const struct http_route *route; /* or null: there is none */
    struct bytes body;
    bool too_long;          /* the body is too long, and is not kept */
    bool suspended;         /* its connection is suspended */
    bool is_asked;          /* the node has answered all that it was asked, or has taken too long */
    bool late;              /* it is asked, but the node has taken too long */
    bool follows;           /* it is a stream of events */
    bool ended;             /* a stream of events ends when what is left has been read */
    uint64_t due_ms;        /* when it is late; a stream: when it says something again */
    struct login login;     /* its secrets and its client are not kept */
    struct rights_who *who; /* its client, or null: there is no login */
    unsigned count;         /* of asks */
    struct http_ask {
        struct bytes commands;
        struct visit *visit; /* or null */
        char name[LOCK_NAME_MAX + 1];
    } ask[HTTP_ASKS_MAX];
    struct bytes events;
};

/* http.c */
void http_suspend(struct http_request *r);
/* The request is put to the node as soon as the library has returned. */
void http_put(struct http_request *r);
/* There is something to do in the next turn. */
void http_stir(struct http *h);
uint64_t http_now_ms(const struct http *h);
bool http_random(uint8_t *bytes, size_t len);

/* http_answer.c */
const struct http_route *http_find_route(const struct http *h, const char *url, const char *method, bool *known);
http_result http_answer_request(struct http_request *r, bool known);
http_result http_line(struct MHD_Connection *to, unsigned status, const char *line);
void http_headers(struct MHD_Response *r, const char *type);

/* http_events.c */
http_result http_follow(struct http_request *r);
/* There may be something to say to the reader. */
void http_mind_reader(struct http_request *r);

#endif
