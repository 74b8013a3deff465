/* serve.h - the daemon: a node of src/node on libuv. All I/O, the clock and the signals are in this directory.
 *
 * Whatever happens (bytes from a peer or a client, a timer) is fed to the node, and then serve_work() does what is to be
 * done: messages are handled, events go to clients, bytes go out, the next timer is set. */
#ifndef DIBS_SERVE_SERVE_H
#define DIBS_SERVE_SERVE_H

#include "conf.h"
#include "disk.h"
#include "door.h"
#include "node/client.h"
#include "stream.h"

enum { SERVE_PATIENCE_MS = 5000 };

/* Another member, and the connection to it. */
struct serve_peer {
    struct ring in_serve;
    struct serve *serve;
    struct member *member;
    struct stream *stream; /* or null */
    uv_timer_t retry;
    struct resolve *asked;         /* where it is, if it has a name; or null */
    unsigned calls;                /* how often it was called */
    struct sockaddr_storage found; /* where it was the last time; should nobody know it any more */
    uint64_t heard_ms;             /* when the connection was begun, or something came over it last */
    bool is_kin;                   /* see kin.h: that is known, or there is TLS */
    char told[LINK_REASON_MAX];    /* the reason that was logged last, or would have been */
    uint64_t quiet_ms, untold;     /* lines in the log: the time up to which they are used up; how many were left out */
};

/* Connections that were refused: what was logged of them, as it may be done as often as somebody likes. */
struct serve_refusals {
    char told[LINK_REASON_MAX];
    uint64_t told_ms; /* when; 0: never */
    uint64_t untold;  /* how many since */
};

struct serve {
    struct serve_conf *conf;
    struct conf_draft *draft; /* from which it was understood */
    uv_loop_t loop;
    struct node node;
    struct disk_file disk;
    bool is_short;           /* of memory */
    bool is_full;            /* as much memory is allocated as may be */
    uint64_t memory_look_ns; /* when that is looked at again */
    struct ring peers;
    uint64_t roster_version; /* that the peers follow */
    uv_tcp_t peers_door;     /* where peers come in */
    uv_pipe_t clients_door;
    uv_tcp_t clients_tcp_door;
    uv_timer_t due, patience;
    uv_signal_t term, interrupt, hangup;
    struct door strangers, kin; /* connections that have not said who they are; those from the addresses of members */
    struct ring clients, news;  /* all of them; those for whom there is something to do */
    struct ring hungry;         /* clients whose credit was used up: they go on in the next turn */
    uv_idle_t again;            /* there is something to do in the next turn, whatever happens */
    uv_stream_t *kept[3];       /* doors at which somebody waits for the next turn to be let in, or null */
    uv_prepare_t before_poll;
    struct turn turn;
    size_t buffered;      /* bytes in the buffers of all clients */
    uint64_t memory_most; /* that was in use since memory was given back, as estimated */
    uint64_t slow_ms;     /* when a long turn was logged last */
    struct door unknown;  /* clients that have not proved who they are */
    uint64_t descriptors; /* clients get those with smaller numbers */
    struct serve_refusals refusals;
    struct http *http;     /* or null */
    unsigned resolving;    /* names that are being looked up */
    uint64_t works;        /* how often there was something to do */
    uint64_t view;         /* that was logged last */
    enum node_state state; /* likewise */
    uint64_t stills;       /* likewise */
    uint64_t leave_by_ms;  /* it has been told to end, and does so then at the latest; 0: it has not */
    int status;            /* with which it will end */
    bool stopping;
};

/* Runs until SIGTERM or SIGINT; at SIGHUP, the files with keys and certificates are read again. 0, or 1 after a line on
 * stderr if it cannot. */
int serve_run(struct serve_conf *conf, struct conf_draft *draft);

/* Between the files of this directory. */
/* Memory is kept in reserve, and there may be a bound for it: reserve.c. Why clients are refused what would have to be kept
 * (struct node_conf), or null; and this is looked at again. */
void serve_keep_memory(void);
const char *serve_is_short(void *user);
void serve_mind_memory(struct serve *s);
/* The time is told to the node. It comes before anything else that is done for a client: see node.h. */
void serve_wake(struct serve *s);
void serve_work(struct serve *s);
/* Listens there, as this option says. False, and a line, if it cannot be. The handle is to be closed. */
bool serve_listen(struct serve *s, uv_tcp_t *door, const struct serve_member *at, const char *option,
                  uv_connection_cb come);
/* False: that is no address in numbers. */
bool serve_address(const struct serve_member *m, struct sockaddr_storage *address);
/* Where a machine of this name is: it is looked up, and found() is called with one of its addresses, another one each
 * turn; or with null, and why not. Null: it cannot be looked up. */
struct resolve;
typedef void resolve_found(void *user, const struct sockaddr_storage *address, const char *why);
struct resolve *resolve_start(struct serve *s, const struct serve_member *at, unsigned turn, resolve_found *found,
                              void *user);
void resolve_forget(struct resolve *r); /* or null: found() will not be called */
/* A connection that is nobody's is ended, because it ... */
void serve_log_refusal(struct serve *s, const struct stream *stream, const char *reason);
/* Somebody has begun to talk, and has SERVE_PATIENCE_MS to say who it is. */
void serve_be_patient(struct serve *s);
void serve_log(const struct serve *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void serve_peers_init(struct serve *s);
void serve_clients_init(struct serve *s);
bool serve_peers_start(struct serve *s);
void serve_peers_flush(struct serve *s);
void serve_peers_stop(struct serve *s);
bool serve_peers_patience(struct serve *s); /* whoever took too long is gone; is anybody left? */
bool serve_clients_patience(struct serve *s);
/* The address at the other end; false: it is gone. */
bool serve_peer_address(const struct stream *stream, struct sockaddr_storage *address);
bool serve_clients_start(struct serve *s);
void serve_clients_work(struct serve *s);
/* Those that are hungry, as far as this turn goes. */
void serve_clients_feed(struct serve *s);
/* There is more to do than fits into this turn. */
void serve_go_on(struct serve *s);
/* Somebody is at this door. False: no more are let in in this turn, and the door's function will be called again. */
bool serve_lets_in(struct serve *s, uv_stream_t *door);
void serve_clients_stop(struct serve *s);

/* ---- notify.c: a message to the service manager that has started the daemon, if it wants one */
void notify_manager(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
