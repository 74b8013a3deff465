/* serve.h - the daemon: a node of src/node on libuv. All I/O, the clock and the signals are in this directory.
 *
 * The node is told of every event (bytes from a peer or a client, a timer). Then its outputs are carried out: bytes are
 * written, connections closed, lines logged, and the next timer is set (serve_tell, step/step.h). */
#ifndef DIBS_SERVE_SERVE_H
#define DIBS_SERVE_SERVE_H

#include "company.h"
#include "conf.h"
#include "disk.h"
#include "door.h"
#include "node/audit.h"
#include "passwords.h"
#include "step/step.h"
#include "stream.h"

enum { SERVE_PATIENCE_MS = 5000, SERVE_LOOK_MS = 20, SERVE_BATCH = 32 };

/* Another member, and the connection to it. */
struct serve_peer {
    struct ring in_serve;
    struct serve *serve;
    struct member *member;
    struct stream *stream; /* or null: there is no connection */
    uv_timer_t retry;
    struct resolve *asked;         /* the lookup of its name that is in progress, or null */
    unsigned calls;                /* how often this daemon has tried to connect to it */
    struct sockaddr_storage found; /* its last known address, in case its name cannot be looked up any more */
    uint64_t called_ms;            /* when the last attempt to connect began */
    uint64_t pause_ms;             /* before the next attempt; 0: the shortest */
    bool is_kin;                   /* the peer has authenticated: by kin.h, or by TLS */
    char told[LINK_REASON_MAX];    /* the reason that was logged last, or was left out */
    uint64_t quiet_ms, untold;     /* log lines: until when the allowance is used up; how many were left out */
};

/* The last log line about refused connections. Their number is limited, since any process can cause refusals. */
struct serve_refusals {
    char told[LINK_REASON_MAX];
    uint64_t told_ms; /* when it was logged; 0: never */
    uint64_t untold;  /* refusals since then */
};

/* Lines of the audit trail. Any client can cause them, so their number is limited. */
struct serve_audits {
    uint64_t began_ms; /* the beginning of the second in which lines are counted */
    uint32_t lines[AUDIT_WHATS];
    uint64_t untold[AUDIT_WHATS]; /* lines that were left out since the last line of the sort */
    uint64_t dropped, dropped_ms; /* lines that the file has not taken, as the log has said last; when it said so */
};

struct serve {
    struct serve_conf *conf;
    struct conf_draft *draft; /* the draft of conf */
    uv_loop_t loop;
    struct node node;
    struct disk_file disk;
    bool is_short;           /* the daemon is out of memory */
    bool is_full;            /* --memory-max is reached */
    uint64_t memory_look_ns; /* when the memory is measured again */
    struct ring peers;
    uv_tcp_t peers_door; /* where peers connect */
    uv_pipe_t clients_door;
    uv_tcp_t clients_tcp_door;
    uv_timer_t due, patience;
    uint64_t due_ms; /* when `due` fires, if it is active */
    bool was_due;    /* it has fired in this turn */
    uv_signal_t term, interrupt, hangup;
    struct log *log, *trail; /* trail: null if --audit is not given */
    struct serve_audits audits;
    struct door strangers, kin; /* unauthenticated peers: from other addresses; from the addresses of members */
    struct ring clients;
    struct ring relays; /* connections of agents (relays.h) */
    /* Connections of agents that have ended, and whose channels have not: the node is told in the next turns. */
    struct ring orphans;
    bool relays_more;     /* some channel has bytes to send, and did not get its turn */
    uv_idle_t again;      /* active: there is something to do in the next turn */
    uv_stream_t *kept[3]; /* listening sockets at which a caller waits for the next turn, or null */
    uv_prepare_t before_poll;
    struct turn turn;
    size_t buffered;      /* bytes in the buffers of all clients */
    uint64_t memory_most; /* the most that `buffered` was since memory was given back */
    uint64_t slow_ms;     /* when a long turn was logged last */
    struct {
        uint64_t ns;
        enum node_input_type type;
    } longest;            /* the event of this turn that took the node longest */
    struct ring ended;    /* clients whose connections have ended, and whose processes may not have: see clients_end */
    struct door unknown;  /* clients that have not authenticated yet */
    uint64_t descriptors; /* file descriptors for clients have smaller numbers than this */
    struct serve_refusals refusals;
    struct http *http;  /* or null */
    unsigned resolving; /* lookups of names in progress */
    bool looking;       /* a lookup of users and groups is in progress (lookup.c) */
    bool look_again;    /* when it has ended, all are to be looked up */
    uint64_t looked;    /* rules.version when users and groups were looked up last */
    struct passwords passwords;
    bool renewing; /* keys and certificates are being read (renew.c) */
    struct {
        uv_work_t work;
        struct secrets fresh;    /* what was read */
        bool good;               /* all of it could be read */
        struct rights *rights;   /* the rules of clients, if they could be read */
        struct conf_draft rules; /* the draft of these */
        bool again;              /* SIGHUP has come meanwhile: read once more */
    } renewal;
    int64_t began_s;        /* when the daemon began, since 1970 */
    uint64_t events;        /* number of events that the node was told of */
    struct company company; /* of letters to members that wait */
    unsigned undone;        /* events of this turn whose outputs have not all been carried out */
    uint64_t leave_by_ms;   /* the daemon was told to end, and ends at this time at the latest; 0: it was not told */
    int status;             /* the exit status */
    bool stopping;
};

/* Runs until SIGTERM or SIGINT. At SIGHUP, the files with keys and certificates are read again. Returns 0, or 1 after a
 * line on stderr if the daemon cannot run. */
int serve_run(struct serve_conf *conf, struct conf_draft *draft);

/* Between the files of this directory. */
/* The struct to which client_user() points begins with this. carry_out carries out an output for the client, and calls node_did(). */
struct serve_user {
    void (*carry_out)(struct serve *s, struct node_output *out);
};
/* reserve.c: allocates a reserve of memory. serve_is_short returns why clients are refused requests that need memory
 * (see struct node_conf), or null. serve_mind_memory measures the memory again. */
void serve_keep_memory(void);
/* renew.c: what SIGHUP does; and at an agent: its key or certificate is read again, for connections to come. */
void serve_renew(uv_signal_t *signal, int number);
void serve_renew_agent(uv_signal_t *signal, int number);
/* lookup.c: looks up the users and groups that the agreed rights name. serve_look_up_now: those that are not known, before the loop begins. serve_look_up_again:
 * all, in a thread. serve_mind_lookups: the same, if some are not known. */
void serve_look_up_now(struct serve *s);
void serve_look_up_again(struct serve *s);
void serve_mind_lookups(struct serve *s);
const char *serve_is_short(void *user);
void serve_mind_memory(struct serve *s);
/* The lease in use. */
uint64_t serve_lease_ms(const struct serve *s);
/* Tells the node of an event, with the time, and carries out the node's outputs. The daemon may end meanwhile: then all
 * connections are closed, and what belonged to them is freed. */
void serve_tell(struct serve *s, struct node_input in);
/* The same for an event that is one of many in this turn: losses and grants are told to clients at once, and all other outputs
 * wait for the end of the turn, or for SERVE_BATCH such events. */
void serve_tell_in_turn(struct serve *s, struct node_input in);
/* The two halves of serve_tell, for several events in a row. */
void serve_step(struct serve *s, struct node_input in);
void serve_do(struct serve *s);
/* Listens at this address, which the option `option` has set. Returns false after a line in the log if that fails. In
 * both cases the caller closes the handle. */
bool serve_listen(struct serve *s, uv_tcp_t *door, const struct serve_member *at, const char *option,
                  uv_connection_cb come);
/* Returns false if the host is a name, not an IP address. */
bool serve_address(const struct serve_member *m, struct sockaddr_storage *address);
/* Looks up the name of a machine. found() is called with one of its addresses, chosen by `turn`; or with null and a
 * reason. Returns null if the lookup cannot begin. */
struct resolve;
typedef void resolve_found(void *user, const struct sockaddr_storage *address, const char *why);
struct resolve *resolve_start(struct serve *s, const struct serve_member *at, unsigned turn, resolve_found *found,
                              void *user);
void resolve_forget(struct resolve *r); /* found() will not be called; r may be null */
/* Logs that a connection of an unauthenticated peer or client is refused. `reason` is a phrase that continues "it". */
void serve_log_refusal(struct serve *s, const struct stream *stream, const char *reason);
/* In audit.c: struct node_conf.audit. */
void serve_audit(void *user, const struct audit *a);
/* Tells the log if the file of the audit trail does not take lines. Returns how many were dropped so far. */
uint64_t serve_mind_trail(struct serve *s);
/* A caller has connected and has SERVE_PATIENCE_MS to authenticate: starts the timer. Or a client's socket has ended, and its process will end at any
 * moment (`soon`): looks again in SERVE_LOOK_MS. */
void serve_be_patient(struct serve *s, bool soon);
/* Logs a record of this level. serve_log, serve_warn and serve_fail do so at the level that their names say. */
void serve_say(const struct serve *s, enum record_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define serve_log(s, ...) serve_say(s, RECORD_INFO, __VA_ARGS__)
#define serve_warn(s, ...) serve_say(s, RECORD_WARNING, __VA_ARGS__)
#define serve_fail(s, ...) serve_say(s, RECORD_ERROR, __VA_ARGS__)
/* A record with the present time, and without a text. */
struct log_record serve_record(const struct serve *s, enum record_level level);
void serve_peers_init(struct serve *s);
void serve_clients_init(struct serve *s);
bool serve_peers_start(struct serve *s);
/* Carries out an output for a member; the caller calls node_did(). */
void serve_peers_do(struct serve *s, struct node_output *out);
/* After all outputs: logs new connections, gives up attempts to connect that take too long. */
void serve_peers_mind(struct serve *s);
void serve_peers_stop(struct serve *s);
bool serve_peers_patience(struct serve *s); /* closes callers that took too long; returns whether others are left */
bool serve_clients_patience(struct serve *s);
/* The address at the other end. Returns false if the connection has ended. */
bool serve_peer_address(const struct stream *stream, struct sockaddr_storage *address);
bool serve_clients_start(struct serve *s);
/* There is more to do than fits into this turn: asks for another turn. */
void serve_go_on(struct serve *s);
/* A caller waits at this listening socket. Returns false if no more are accepted in this turn; the socket's callback
 * will be called again. */
bool serve_lets_in(struct serve *s, uv_stream_t *door);
void serve_clients_stop(struct serve *s);
/* The bound for the buffers of all clients. */
size_t serve_clients_memory_max(const struct serve *s);
/* A client's buffers have `now` bytes, and had `*share` bytes when they were counted last. Returns false if those of all clients are beyond
 * the bound, and this client has more than SERVE_CLIENT_FAIR. */
enum { SERVE_CLIENT_FAIR = 1 << 15 };
bool serve_fits_memory(struct serve *s, size_t *share, size_t now);
/* Listens at the Unix socket. Returns false after a line in the log if that fails. */
bool serve_listen_unix(struct serve *s, uv_connection_cb come);
/* Has this process ended? A process for which its parent has not waited yet has ended, too. */
bool serve_is_dead(pid_t process);
/* identify.c: records where the client comes from and what it has proved. If the client is on this machine, *process becomes its process. Returns
 * false if the client has too many connections: it was told so, and is to be closed. */
bool serve_identify(struct client *c, const struct stream *stream, pid_t *process);

/* handover_file.c. serve_hand_over: a daemon alone that ends in order writes its kept sessions for its next process. serve_take_over: the next process reads them,
 * before its first view; if it is not alone, it removes the file. */
void serve_hand_over(struct serve *s);
void serve_take_over(struct serve *s, bool alone, uint64_t now_ms);

/* notify.c: sends a message to the service manager that has started the daemon, if it expects messages. */
void notify_manager(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
