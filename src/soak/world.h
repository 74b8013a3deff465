/* world.h - the simulated world of a soak: machines, the network between them, clients, faults. Used by its parts. */
#ifndef DIBS_SOAK_WORLD_H
#define DIBS_SOAK_WORLD_H

#include "soak.h"
#include "step/step.h"

#include <string.h>

#define SOAK_CALENDAR_US 1700000000000000 /* at time 0 */
enum { SOAK_MEMBERS_MAX = 7, SOAK_CLIENTS_MAX = 32, SOAK_NAMES = 5, SOAK_LEASE_MS = 1000, SOAK_DEADLOCK_MS = 300 };
enum { SOAK_HOARD_MAX = 100, SOAK_HOARD_FEW = 40 }; /* names of which clients hold many at once, see hoards.c */
enum { SOAK_CONNS_MAX = 4 * SOAK_CLIENTS_MAX, SOAK_AWAITED_MAX = 16, SOAK_WORDS_MAX = 32 };

enum soak_type {
    SOAK_TIMER,     /* a: machine */
    SOAK_BYTES,     /* from a to b: bytes arrive */
    SOAK_DIAL,      /* a tries to connect to b */
    SOAK_CONNECTED, /* a gets to know that it is connected to b */
    SOAK_BROKEN,    /* a gets to know that its connection to b is broken */
    SOAK_CLIENT,    /* a: client does something */
    SOAK_CONFIRM,   /* a: client asks whether it still holds its lock; or calls its library */
    SOAK_SAY,       /* a: connection of a client; bytes arrive at the daemon */
    SOAK_HEAR,      /* a: connection of a client; bytes arrive at the client */
    SOAK_HANGUP,    /* a: connection of a client; the daemon notices that it has ended; b: with a goodbye */
    SOAK_CLOSED,    /* a: connection of a client; the client notices that it has ended */
    SOAK_WRITTEN,   /* a: machine's disk has finished its oldest write */
    SOAK_FLUSH,     /* a: machine's letters that wait for company go out (node_let_wait) */
    SOAK_START,     /* a: machine's process starts */
    SOAK_LOOK,      /* a: machine is asked for the holders of lock b */
    SOAK_HOARD,     /* a: machine; its client that holds many locks does something */
    SOAK_FAULT,     /* something bad happens; a: to machine a - 1 */
    SOAK_HEAL,      /* all partitions end */
    SOAK_FOUND,     /* a new cluster is founded in place of the one before */
    SOAK_AGENT,     /* a: agent; its time has come, or (generation 0) it starts */
    SOAK_UP,        /* a: connection of an agent; bytes arrive at the member */
    SOAK_DOWN,      /* a: connection of an agent; bytes arrive at the agent */
    SOAK_UP_END,    /* a: connection of an agent; the member notices that it has ended */
    SOAK_DOWN_END,  /* a: connection of an agent; the agent notices that it has ended */
};

struct soak_event {
    uint64_t at_us, order;
    enum soak_type type;
    uint32_t a, b;
    uint64_t generation; /* of the connection, process or client that it is about: else it has no effect any more */
    size_t len;
    uint8_t *bytes;
};

struct soak_machine {
    struct node node;
    bool runs;
    bool joins;                   /* a cluster that others have founded */
    bool absent;                  /* it has been added, and its daemon is not started */
    bool doomed;                  /* its disk fails within this very event: it crashes after it */
    uint64_t process;             /* a number for every process */
    bool opens;                   /* the next write is that of a journal that is opened */
    struct ring writes;           /* that its disk has not finished, oldest first */
    uint64_t busy_us, waiting_us; /* when it has finished those that it writes now, and those that wait; or 0 */
    uint64_t thaws_us;            /* it is stopped until then */
    uint64_t added_us;            /* when it was last asked for that it be added */
    uint64_t turn_us;             /* it is busy with a piece of work until then, and takes notice of nothing */
    uint64_t lease_us;            /* the end of the longest lease that it has had */
    uint64_t timer_us;            /* when the next timer is set for, or 0 */
    bool flushes;                 /* a SOAK_FLUSH is planned for its process */
    uint64_t leave_by_ms;         /* by its clock: it ends in an orderly way, at the latest then; or 0 */
    int64_t drift_ppm;
    uint64_t boot_us;   /* what its clock showed at time 0 */
    uint64_t stood_us;  /* for how long its clock has stood still so far */
    uint64_t stands_us; /* when it last began to stand still */
    uint64_t stills;    /* its node's, at that time, and one: it must find out; or 0 */
    uint64_t random;
    uint64_t led_ms, drops; /* of the node, as last told in the trace */
    uint64_t view;          /* its number, as last looked at */
    struct view before;     /* as last looked at by kept.c, and the incarnation */
    uint64_t incarnation;
    uint64_t opened;  /* the last view that has opened there, as last looked at */
    uint64_t changed; /* the last letter about a lock that has changed its mode, as last looked at by changes.c */
    uint64_t marked;  /* the last view in which it has sent its reports, as last looked at by barriers.c */
    struct client *operates; /* the daemon's end of an operator's connection, once there was one; or null */
    struct client *twin;     /* that of a process that has the token of another client (tokens.c); or null */
    struct client *looks;    /* and of one that asks for holders (values.c) */
    struct client *steals;   /* and of one that wants to take locks away (allowed.c) */
    struct bytes disk;
    struct bytes handover; /* what the last process has left for the next one (node/handover.h) */
    struct disk disk_calls;
    struct world *world;
    char name[16], address[32];
};

/* One direction. */
struct soak_pipe {
    uint64_t connection; /* that the receiver takes for alive; 0: none */
    uint64_t last_us;    /* nothing arrives before what was sent before */
    bool blocked;
    bool dialing;
    bool unheard;  /* the last call */
    uint64_t torn; /* a connection that has broken in the midst of what was sent: nothing more arrives */
};

/* A client's connection to the daemon of its machine. */
struct soak_conn {
    uint64_t id; /* 0: there is none */
    uint32_t client, machine;
    struct client *end;         /* the daemon's; null: it has closed it */
    bool open;                  /* the client's end is */
    bool local;                 /* it cannot break, and its end proves that the client has let go */
    bool instant;               /* what the daemon says is heard at once */
    bool severed;               /* it has broken: nothing arrives any more, and each side finds out in its own time */
    bool nonsense;              /* the client has sent what is no request */
    struct soak_uplink *uplink; /* it goes through an agent, over this connection (relays.c); or null */
    struct mux_channel *here, *there; /* its channel, at the agent and at the member; null: closed there */
    bool coming;                      /* the member has not heard of it yet */
    bool hangs_up;                    /* its client has ended it, and `rest` is yet to be sent */
    struct bytes rest;                /* at the agent: what the client has said, and is not sent yet */
    uint64_t delay_us, jitter_us;
    uint64_t there_us, back_us; /* nothing arrives before what was sent before */
    struct bytes in;            /* what the client has not understood yet */
    /* What the daemon knows: the lock that was asked for last, and that it has granted and not taken away, if it
     * holds. */
    int name;
    uint32_t mode, slots;
    bool holds;
    bool tries; /* it waits for no holder */
    uint8_t priority;
    bool rivalled; /* tries: another client has wanted the lock meanwhile, or may seem to hold it still */
    bool dazed;    /* the daemon was alone, or did not know yet that its clock had stood still, when it answered */
    uint64_t asked_us, held_us;
    uint64_t operation; /* the number of its last one with a token */
};

enum soak_break { SOAK_BREAK_DAEMON, SOAK_BREAK_CLIENT, SOAK_BREAK_BOTH }; /* who notices soon */

/* What a client awaits the answer to. */
enum soak_answer {
    SOAK_TO_HELLO,
    SOAK_TO_LOCK,
    SOAK_TO_CONFIRM,
    SOAK_TO_UNLOCK,
    SOAK_TO_AGAIN,
    SOAK_TO_UPGRADE,
    SOAK_TO_DOWNGRADE,
    SOAK_TO_KEEP,
    SOAK_TO_RESUME,
    SOAK_TO_END,
    SOAK_TO_TOKEN_LOCK,
    SOAK_TO_TOKEN /* RENEW or UNLOCK */
};
struct soak_awaited {
    enum soak_answer to;
    uint64_t asked_us;
    uint64_t
        fence; /* of the lock that it held, or had held last; UNLOCK: of the lock, or 0 if it knew that it was lost */
};

/* A reply of a daemon: its type, and all strings, numbers and errors in it. */
struct soak_reply {
    char kind;
    size_t count;
    struct soak_word {
        const char *at;
        size_t len;
        uint64_t number;
    } word[SOAK_WORDS_MAX];
};

/* A lock as a client was told to hold it. */
struct soak_use {
    bool holds;
    bool dazed; /* it is of a daemon that promises less: see soak_conn */
    uint32_t mode, slots;
    uint64_t fence, since_us;
    uint64_t lapses_us;    /* library.c: its TTL is not over before; UINT64_MAX: it has none */
    uint64_t forgotten_us; /* library.c: when it was last possible that no member knew it any more; 0: never */
};

/* The value of the holder of a lock with this fence, and which member has shown it first (values.c). */
enum { SOAK_VALUE_MAX = 24, SOAK_WHOSE_MAX = 160, SOAK_VALUES_KEPT = 64 };
struct soak_value {
    uint64_t fence;
    char text[SOAK_VALUE_MAX], whose[SOAK_WHOSE_MAX];
};

struct soak_client {
    uint32_t machine;
    struct soak_library
        *library;           /* it uses libdibs (library.c), and of what follows only conn, generation, slow, thaws_us */
    struct soak_kept *kept; /* its session is kept (kept.c); or null */
    struct soak_agent *agent; /* its locks are owned by tokens (tokens.c); or null */
    uint64_t generation;
    int conn; /* its connection, or -1 */
    unsigned protocol;
    bool waits, holds;
    bool confirms;    /* it believes in a lock only as long as its daemon vouches for it */
    bool greedy;      /* it holds for long, or does not let go by itself */
    bool aims;        /* its request is aimed (kinds.c) */
    uint32_t refused; /* the kind that the last refusal has named, 1 + the slots; or 0 */
    bool changing;    /* it has yet to hear whether the mode of its lock has changed (changes.c) */
    bool upgrades;    /* it has yet to hear whether its lock is exclusive; perhaps by RESUMED */
    uint8_t changes;  /* how often it has wanted that, since it holds the lock */
    bool slow;        /* its clock is the slowest that may be */
    bool dazed;       /* its lock is of a daemon that promises less: see soak_conn */
    int name;
    uint32_t mode, slots;
    uint64_t fence, lost_fence; /* of the lock that it holds, or held last; of the one that it was told to have lost */
    int stale_name;             /* what it has lost, and has yet to unlock; */
    uint64_t stale_fence;       /* 0: nothing */
    uint64_t since_us;          /* it waits or holds */
    uint64_t confirm_us;        /* so often it confirms */
    uint64_t vouched_us;        /* until then its daemon vouches for its locks */
    uint64_t believes_to_us;    /* when it has a lock: until then it thinks so, unless it is told otherwise */
    uint64_t thaws_us;          /* it is stopped until then */
    struct soak_awaited await[SOAK_AWAITED_MAX];
    size_t awaited;
    struct soak_awaited aside;  /* what it has asked meanwhile, while UPGRADE waits; asked_us 0: nothing */
    uint32_t asked;             /* requests so far, with values or without */
    char value[SOAK_VALUE_MAX]; /* of the lock that it requests, or holds */
};

struct soak_hoard {
    struct client *end;                   /* the daemon's */
    bool confirms;                        /* it believes in a lock only as long as its daemon vouches for it */
    uint32_t acts;                        /* what it has done so far */
    uint64_t since_us[SOAK_HOARD_MAX];    /* it holds the lock; 0: it does not, or was told of the loss */
    uint64_t believes_us[SOAK_HOARD_MAX]; /* if it confirms: it believes until then that it holds the lock */
    bool dazed[SOAK_HOARD_MAX];           /* see soak_conn */
};

/* From when to when something was so; `number` tells it from others of its sort. */
struct soak_span {
    uint64_t number, from_us, to_us; /* UINT64_MAX: it still is */
    int name;
};

/* What the session of a connection waits for and holds, at its daemon; and before that (several.c). */
enum { SOAK_SEVERAL_MAX = 512 };
struct soak_several {
    uint64_t id; /* of the connection */
    struct soak_span wait[2], hold[SOAK_NAMES][2];
};

/* A kept session, and the key of the client that has begun it; `bound`: there were rights (allowed.c). */
enum { SOAK_OWNED_MAX = 512 };
struct soak_owned {
    struct keep_id id;
    uint32_t key;
    bool bound;
};

struct soak_history {
    uint64_t highest, highest_alone;
    uint64_t
        evicted_us; /* when an operator last asked to take it from all clients, it was taken, or that was answered */
    uint64_t abandoned_us; /* when it was last not released in the usual way: it may stay held for a while */
};

/* What a seed draws. Rates are events per simulated minute. */
struct soak_mix {
    uint32_t crash, leave, pause, cut, breaks, kill_client, disturb_client, evict, roster, torn, slow;
    uint32_t delay_us, jitter_us, drift_ppm;
    uint32_t think_ms, hold_ms;
    uint32_t patient; /* the set of machines whose members hurry for no other one (struct node_conf) */
    bool reborn, sharing, slots, one_name; /* see soak_focus */
    bool wild_clocks;                      /* beyond the bound */
    bool forgetful;      /* there is hardly room for all names: now and then they are forgotten in a new view */
    bool lonely;         /* cuts take one machine from all others */
    bool no_calendar;    /* no machine knows the time of day */
    bool short_leap;     /* views run out of fences within seconds */
    bool standstill;     /* nothing but machines that stop together with their clocks */
    bool absent;         /* some members are added and never started */
    bool squeeze;        /* nothing but that: see faults_squeeze */
    bool comes_and_goes; /* one member does: see faults_come_and_go */
    bool moves;          /* kept sessions do: see faults_move */
    bool outage;         /* no member reaches another one: see faults_outage */
    bool kept;           /* some clients have kept sessions */
    bool tokens;         /* some clients use tokens */
    bool urgent;         /* requests have priorities, and some clients request again what they hold */
    bool changes;        /* clients change the mode in which they hold a lock (changes.c) */
    bool redis;          /* and half of them say so as Redis lock libraries do */
    bool hasty;          /* some with kept sessions ask CONFIRM too early, and their locks have TTLs */
    bool several;        /* all others use libdibs, and request several locks at once */
    bool disorder;       /* .. and some more, one after the other in any order, in which they may wait in a circle */
    bool values;         /* requests have values (values.c) */
    bool agents;         /* most clients connect through agents (relays.c) */
    bool resume;         /* all others use libdibs, and have kept sessions, too */
    bool hoard;          /* each machine has a client that holds many locks */
    bool crowd;          /* it holds very many of them, and takes and releases them quickly */
    uint32_t turn_us;    /* a daemon with work in pieces needs up to so long for a piece */
    bool waits;          /* daemons let letters wait for company (node_let_wait), some for longer than real ones */
    bool config;         /* operators set the lease (operators.c) */
    uint32_t unsettled;  /* .. and these machines have an earlier build, which does not know of that */
    bool policies;       /* they set policies, too */
    bool kinds;          /* clients dispute the kinds of locks (kinds.c) */
    uint32_t unpoliced;  /* .. of which these machines' build does not know */
    bool rights;         /* and rights of clients (allowed.c) */
    uint32_t unruled;    /* .. of which these machines' build does not know */
    bool barriers;       /* connections break, and members crash, amid the barriers of views (barriers.c) */
    bool bursts;         /* one fault brings others, within a lease or two */
    bool amnesia;        /* machines crash while their disks are writing, and nothing of that is kept */
    uint32_t
        piece; /* a view changes in pieces of this size, digests affirm many names in vain, and few idle locks are not
                       * dormant; 0: as usual */
    uint32_t focus; /* most faults hit these machines; 0: all alike */
};

struct soak_squeeze {
    bool active, stopped, comes;
    uint32_t victim, order[SOAK_MEMBERS_MAX], next, count; /* the members from next on are to be removed */
    uint64_t began_us, due_us, stop_us;
};

/* Observations of the whole cluster, see checks.c. */
enum { SOAK_VIEWS_KEPT = 256, SOAK_TERMS_KEPT = 256 };
struct soak_seen {
    struct {
        uint64_t number, digest;
    } view[SOAK_VIEWS_KEPT];
    struct {
        uint64_t term;
        uint32_t leader;
    } term[SOAK_TERMS_KEPT];
    struct {
        uint64_t incarnation, process; /* the highest that was ever told, and by which process */
        uint64_t disk; /* the identity of the data directory that was told last; 0: none, or it was wiped */
    } told[SOAK_MEMBERS_MAX];
    struct soak_changes {
        int64_t adds, removals; /* of this machine */
    } asked[SOAK_MEMBERS_MAX], done[SOAK_MEMBERS_MAX];
};

struct world {
    struct soak_seen seen;
    const struct soak_conf *conf;
    struct soak_report *report;
    struct soak_mix mix;
    uint64_t still; /* events since time has moved */
    uint64_t now_us, order, random, connections, processes;
    struct soak_event *heap;
    size_t count, room;
    uint32_t n, clients;
    uint32_t founders;  /* the first of the machines */
    struct view newest; /* that any process has installed */
    uint64_t opened;    /* the number of the last view that has opened at any process */
    struct soak_machine machine[SOAK_MEMBERS_MAX];
    struct soak_pipe pipe[SOAK_MEMBERS_MAX][SOAK_MEMBERS_MAX]; /* from, to */
    struct soak_client client[SOAK_CLIENTS_MAX];
    struct soak_conn conn[SOAK_CONNS_MAX];
    struct soak_history history[SOAK_NAMES];
    struct soak_value value[SOAK_NAMES][SOAK_VALUES_KEPT]; /* the largest fences */
    struct soak_several several[SOAK_SEVERAL_MAX];         /* of the connections that were made last, by their ids */
    struct soak_hoard hoard[SOAK_MEMBERS_MAX];
    uint64_t hoard_fence[SOAK_HOARD_MAX];
    const struct dme_alg *algorithm, *slots_algorithm;
    struct soak_relay *relay;   /* the agents (relays.c) */
    struct soak_uplink *uplink; /* their connections */
    uint32_t relays, uplinks;
    uint32_t window; /* of their channels */
    bool calm;
    struct soak_squeeze squeeze;
    struct soak_hush {
        uint32_t machine; /* the home of the name, which does not hear from another member until then (kinds.c) */
        int name;
        uint64_t until_us;
    } hush;
    struct soak_strikes {
        uint64_t ends_us, rests_us; /* until then members are hit, and then they are not until then (barriers.c) */
        uint64_t scatter_us;        /* then clients leave the speaker; or 0 */
        uint64_t struck;            /* the view in which the speaker was hit; or 0 */
        bool aimed;                 /* at these two */
        uint32_t speaker, deaf;
    } strikes;
    uint64_t lease_ms; /* of the processes that start now */
    uint64_t again_us; /* then all members but `spared` crash once more; or 0 */
    uint64_t cut_us;   /* then `spared` is cut off, or (`stops`) stopped; or 0 */
    struct soak_owned owned[SOAK_OWNED_MAX];
    uint64_t owners;         /* how many of these there were */
    uint64_t settled_rights; /* all members have the rights of this view, or later ones: an operator was told so */
    bool stops;
    uint32_t spared;
    bool alone;                     /* the first machine runs a daemon alone, and no other runs */
    uint64_t founding_us;           /* no daemon starts before then */
    uint64_t burst_us;              /* until then faults come much faster */
    uint32_t touched;               /* rolling: the machines that are in trouble; 0: none */
    uint64_t peace_ms, peaceful_ms; /* rolling: for how long all have to be together before the next trouble, and are */
};

/* ---- world.c */
void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_trace(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t world_random(uint64_t *state);
uint64_t world_below(struct world *w, uint64_t n); /* 0 .. n-1 */
struct soak_event *world_plan(struct world *w, uint64_t in_us, enum soak_type type, uint32_t a, uint32_t b);
/* It happens again, later, before all that were planned after it for the same time. */
void world_repeat(struct world *w, const struct soak_event *e, uint64_t in_us);
uint64_t world_clock_ms(const struct world *w, uint32_t i, uint64_t at_us);
uint64_t world_when_us(const struct world *w, uint32_t i, uint64_t clock_ms);
bool world_is_stopped(const struct world *w, uint32_t i);
/* The process of this machine is told of an event, and does what comes of it. It may crash meanwhile. */
void world_deliver(struct world *w, uint32_t i, struct node_input in);
/* The same in two steps, for those that look at the node in between. */
void world_step_node(struct world *w, uint32_t i, struct node_input in);
void world_finish_step(struct world *w, uint32_t i);

/* The newest view that any process has ever installed; or null. It is what an operator goes by: one who asks a member
 * that was removed long ago, while all others are down, is told of a cluster that does not exist any more. */
const struct view *world_view(const struct world *w);
bool world_is_member(const struct world *w, uint32_t i);
/* All members take part and grant locks, and no member is about to join or leave. */
bool world_is_whole(const struct world *w);

/* ---- machine.c */
void machine_start(struct world *w, uint32_t i);
void machine_crash(struct world *w, uint32_t i);
/* Its disk has finished its oldest write. */
void machine_written(struct world *w, uint32_t i);
void machines_found(struct world *w);
/* Does it work in small pieces, and slowly, if any machine does? */
bool machine_is_slow(const struct world *w, uint32_t i);
/* May clients that are not vouched for hear late of the loss of their locks? Its lease has run out, and it takes many locks away. */
bool machine_tells_late(const struct world *w, uint32_t i);
/* It ends as the daemon does when it is told to. */
void machine_leave(struct world *w, uint32_t i);
bool machine_has_left(const struct world *w, uint32_t i);

/* ---- checks.c: what must be true of all machines together */
void checks_look(struct world *w, uint32_t i);
/* An operator asks for the machine to be added to the roster, or removed; or was refused, times = -1. */
void checks_asked(struct world *w, uint32_t i, bool add, int64_t times);
/* Some process installs a view that is newer than w->newest. */
void checks_roster(struct world *w, const struct view *next);
/* Something goes out to another machine, and so does its incarnation. */
void checks_tell(struct world *w, uint32_t i);
/* An operator has wiped the disk of this machine. */
void checks_wipe(struct world *w, uint32_t i);
/* Another cluster begins. */
void checks_begin(struct world *w);

/* ---- wires.c */
void wires_arrive(struct world *w, struct soak_event *e);
void wires_dial(struct world *w, uint32_t i, uint32_t k);
void wires_connected(struct world *w, const struct soak_event *e);
void wires_broken(struct world *w, const struct soak_event *e);
void wires_break(struct world *w, uint32_t i, uint32_t k);
/* The connection breaks, and of what is under way from i to k the beginning still arrives: none of it, a part, or all. */
void wires_tear(struct world *w, uint32_t i, uint32_t k);
void wires_drop_process(struct world *w, uint32_t i);
/* Bytes for another machine, or the end of a connection to it. */
void wires_do(struct world *w, uint32_t i, const struct node_output *out);
/* Writes to the trace which members are not connected, as each of them knows it. */
void wires_tell(struct world *w);

/* ---- relays.c: agents */
void relays_begin(struct world *w);
void relays_finish(struct world *w);
/* Does this client connect through an agent? Then: until when that is stopped; and whether it has a member, which is that of the client
 * from now on. */
bool relays_serve(const struct world *w, uint32_t client);
uint64_t relays_thaw_us(const struct world *w, uint32_t client);
bool relays_can_connect(struct world *w, uint32_t client);
/* At the agent: a client connects; says something; has ended its connection. */
void relays_open(struct world *w, struct soak_conn *x);
void relays_say(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len);
void relays_hang_up(struct world *w, struct soak_conn *x);
/* At the member: it says something to a client, or ends its connection. */
size_t relays_tell(struct world *w, struct soak_conn *x, const uint8_t *bytes,
                   size_t len); /* returns how many were sent */
void relays_hang_up_on(struct world *w, struct soak_conn *x);
/* Events: see enum soak_type. */
void relays_act(struct world *w, const struct soak_event *e);
void relays_arrive(struct world *w, const struct soak_event *e);
void relays_hear(struct world *w, const struct soak_event *e);
void relays_noticed(struct world *w, const struct soak_event *e);
void relays_lost(struct world *w, const struct soak_event *e);
uint64_t relays_waits_us(const struct world *w, const struct soak_event *e);
void relays_drop_process(struct world *w, uint32_t i);
/* An agent ends, is stopped, or its connection breaks. */
void relays_trouble(struct world *w);

/* ---- conns.c */
int conns_open(struct world *w, uint32_t client); /* -1: there are too many */
void conns_say(struct world *w, struct soak_conn *x, const char *const *words, size_t count);
/* The daemon has executed commands that have arrived over this connection. */
void conns_ran(struct world *w, struct soak_conn *x, const struct claim *asked);
void conns_say_bytes(struct world *w, struct soak_conn *x, const char *bytes, size_t len);
void conns_say_nonsense(struct world *w, struct soak_conn *x);
/* By the client; of a remote one the daemon knows only by a goodbye that the client has let go. */
void conns_close(struct world *w, struct soak_conn *x, bool goodbye);
void conns_break(struct world *w, struct soak_conn *x, enum soak_break how);
void conns_drop_process(struct world *w, uint32_t i);
/* It is forgotten if neither end knows it any more. */
void conns_forget(struct soak_conn *x);
/* An agent passes this on to its client; or ends the client's connection. */
void conns_pass_back(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len);
void conns_end_local(struct world *w, struct soak_conn *x);
void conns_end(struct world *w);
void conns_arrive(struct world *w, const struct soak_event *e);
void conns_hear(struct world *w, const struct soak_event *e);
void conns_hang_up(struct world *w, const struct soak_event *e);
void conns_closed(struct world *w, const struct soak_event *e);
/* What a daemon says to a client, or the end of its connection. */
void conns_do(struct world *w, struct node_output *out);
/* An operator sends a line to the daemon of this machine. Returns null, or the error in the answer, valid until the
 * next call. */
const char *conns_operate(struct world *w, uint32_t i, const char *line);

/* ---- changes.c */
/* The client, which holds a lock, does something else than to release it. */
bool changes_act(struct world *w, uint32_t k);
/* The daemon has executed a command of this connection. */
void changes_ran(struct world *w, struct soak_conn *x);
void changes_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r);
/* The daemon has begun to change the mode of a lock that a client holds by this connection. */
void changes_asked(struct world *w, struct soak_conn *x, const struct claim *request);
/* RESUMED says that the session of this client holds its lock with another fence. Returns false if it was not upgraded. */
bool changes_resumed(struct world *w, uint32_t k, uint64_t fence);
/* A machine has done something: if members have yet to hear of a changed mode, it may crash. */
void changes_look(struct world *w, uint32_t i);

/* ---- barriers.c */
void barriers_draw(struct world *w);
void barriers_happen(struct world *w);
/* A machine has done something: if it has just sent its reports, some do not arrive, and it may crash. */
void barriers_look(struct world *w, uint32_t i);

/* ---- kinds.c */
void kinds_draw(struct world *w);
/* A view has opened at this machine. */
void kinds_hush(struct world *w, uint32_t i);
/* Draws what the client requests. Returns how many words say that. */
size_t kinds_choose(struct world *w, struct soak_client *c, const char **words);
/* Its daemon is about to tell it that a lock is granted. Then the client hears that; or it is refused. */
void kinds_told(struct soak_conn *x, const struct node_event *e);
void kinds_granted(struct world *w, struct soak_client *c);
void kinds_refused(struct world *w, struct soak_client *c, const struct soak_reply *r);

/* ---- clients.c */
extern const char *const clients_names[SOAK_NAMES];
void clients_begin(struct world *w);
/* It does something next in this time. */
void clients_plan(struct world *w, uint32_t c, uint64_t in_ms);
/* A daemon grants a lock to the client of this connection: its fence is larger than all before. */
void clients_check_fence(struct world *w, const struct soak_conn *x, uint64_t fence);
/* A client begins to believe that it holds a lock: no other client believes that it must not. */
void clients_check_belief(struct world *w, uint32_t c, int name);
/* It ends its connection; it has none any more. */
void clients_leave(struct world *w, uint32_t c, bool goodbye);
void clients_be_gone(struct world *w, uint32_t c);
void clients_act(struct world *w, uint32_t c);
void clients_confirm(struct world *w, uint32_t c);
/* It hears that what it holds is lost. */
void clients_lose(struct world *w, uint32_t c);
/* A client of this machine is about to be told of something. */
void clients_told(struct world *w, uint32_t i, struct soak_conn *x, const struct node_event *e);
/* A daemon has begun to deal with a request for a lock. */
void clients_asked(struct world *w, struct soak_conn *x, const struct claim *c);
/* A daemon's end of a connection is about to be closed. */
void clients_abandon(struct world *w, const struct soak_conn *x);
void clients_take_replies(struct world *w, struct soak_conn *x);
void clients_disconnected(struct world *w, const struct soak_conn *x);
void clients_die(struct world *w, uint32_t c);
/* It is stopped, or talks nonsense, or its connection breaks. */
void clients_disturb(struct world *w, uint32_t c);
/* One of the locks is taken away from all clients of this machine. */
void clients_evict(struct world *w, uint32_t i);
/* May an operator have taken the lock from all clients since this moment? A member may get the order late, and the client of an orphaned
 * session, or of a token, is not told when it happens. */
bool clients_may_be_evicted(const struct world *w, int name, uint64_t since_us);
/* An operator gets an answer. */
void clients_tell_operator(struct world *w, const struct node_event *e);
bool clients_at_rest(struct world *w);

/* Says it, and awaits the answer. */
/* Does it hold a lock, and believe in it? */
bool clients_believes(const struct world *w, const struct soak_client *c);
/* Client `k` holds a lock, and believes in it for as long as its daemon has vouched. */
void clients_believe(struct world *w, uint32_t k);
void clients_say(struct world *w, struct soak_client *c, enum soak_answer to, const char *const *words, size_t count);
/* The client hears that it has lost the lock that it holds, if any. */
void clients_lose(struct world *w, uint32_t k);
void clients_ask_confirm(struct world *w, struct soak_client *c);
void clients_say_unlock(struct world *w, struct soak_client *c, int name, uint64_t fence, bool lost);
int clients_find_name(const char *text, size_t len);
/* ---- values.c */
/* The value of the next request of client k; "" if it has none. */
const char *values_draw(struct world *w, uint32_t k, char text[SOAK_VALUE_MAX]);
/* Client k hears that it holds the lock, which it has requested with this value. */
void values_granted(struct world *w, uint32_t k, int name, const struct soak_use *u, const char *text);
/* Asks machine i for the holders; and its answer. */
void values_look(struct world *w, uint32_t i, int name);
void values_hear(struct world *w, uint32_t i, const struct query *q);

/* It ends its connection, and connects anew. */
void clients_hang_up(struct world *w, uint32_t c);

/* ---- kept.c: clients with kept sessions */
void kept_begin(struct world *w, uint32_t c);
/* Some session is to move to a member that runs: the machines of its owner, and of that one. */
bool kept_find_move(const struct world *w, uint32_t *owner, uint32_t *next);
void kept_end(struct soak_client *c);
void kept_connect(struct world *w, uint32_t c);
void kept_be_gone(struct world *w, uint32_t c);
void kept_die(struct soak_client *c);
bool kept_act(struct world *w, uint32_t c);
bool kept_is_detached(const struct soak_client *c);
void kept_attached(struct soak_client *c, const struct soak_awaited *a);
void kept_hear(struct world *w, uint32_t c, const struct soak_awaited *a, const struct soak_reply *r);
void kept_note_ttl(const struct world *w, struct soak_client *c, uint64_t ttl_ms);
void kept_check_loss(struct world *w, uint32_t c);
void kept_check_grant(struct world *w, const struct soak_conn *x);
/* A daemon is about to tell a client that the mode of its lock has changed. */
void kept_check_change(struct world *w, const struct soak_conn *x, const struct node_event *e);
/* Does this process take part in the view? */
bool kept_is_in_view(const struct world *w, uint32_t i, const struct view *view);
/* The process of this machine is about to end; it may have begun to be another one. */
void kept_forgotten(struct world *w, uint32_t i);
void kept_look(struct world *w, uint32_t i);
/* A view follows the newest one: if no process has taken part since the last view that opened, all is lost. */
void kept_follow(struct world *w, const struct view *next);
/* All locks may be lost. */
void kept_leave(struct world *w, uint32_t i);
void kept_lose_all(struct world *w);
void kept_excuse_all(struct world *w);
bool kept_agree(const struct world *w);
/* Is the lock held by a session without a client, or is its release not known to all members, or does one have a record of it? */
bool kept_encumbers(const struct world *w, const char *name);
/* Does the session of client `k` with this id hold the lock, at a member that takes part? */
bool kept_holds(const struct world *w, uint32_t k, const char *id, const char *name, uint64_t fence);

/* ---- nested.c: clients that request again what they hold */
void nested_ask(struct world *w, struct soak_client *c);
/* Is the answer to that still awaited? Until then the client does not know whether it holds a lock that it does not want. */
bool nested_is_open(const struct soak_client *c);
void nested_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r);

/* ---- tokens.c: clients whose locks are owned by tokens */
void tokens_begin(struct world *w, uint32_t c);
void tokens_end(struct soak_client *c);
void tokens_act(struct world *w, uint32_t c);
void tokens_be_gone(struct world *w, uint32_t c);
void tokens_die(struct soak_client *c);
void tokens_hear(struct world *w, uint32_t c, const struct soak_awaited *a, const struct soak_reply *r);
/* The other process with a token is answered. */
void tokens_told_twin(struct world *w, uint32_t i, const struct token_op *op);
void tokens_told(struct world *w, uint32_t i, struct soak_conn *x, const struct token_op *op);
bool tokens_believes(const struct world *w, uint32_t c, int name);
struct soak_use tokens_use(const struct world *w, const struct soak_client *c);
/* Does this process, in the newest view, know the lock that client `c` has asked for? */
bool tokens_knows(const struct world *w, uint32_t c, uint32_t i);
/* The lock may be lost, if no other process than `i` knows it; or whatever is known. */
void tokens_excuse(struct world *w, uint32_t c, uint32_t i);
void tokens_excuse_all(struct soak_client *c);

/* ---- hoards.c: each process has one, while it runs */
void hoards_open(struct world *w, uint32_t i);
void hoards_close(struct world *w, uint32_t i);
void hoards_act(struct world *w, const struct soak_event *e);
void hoards_hear(struct world *w, uint32_t i, const struct node_event *e);

/* ---- library.c: clients that use libdibs */
void library_begin(struct world *w, uint32_t c);
void library_forget(struct soak_client *c);
/* Its session is kept, and it has no connection. */
bool library_is_away(const struct soak_client *c);
void library_stay_away(struct world *w, uint32_t c);
/* It has a connection again. */
void library_return(struct world *w, uint32_t c);
void library_act(struct world *w, uint32_t c);
/* Bytes have come; its time has come; its connection has ended. */
void library_hear(struct world *w, uint32_t c);
void library_timer(struct world *w, uint32_t c);
void library_disconnected(struct world *w, uint32_t c);
/* Every client does at this moment what its library has to do by now, so that it believes in nothing for longer. */
void library_catch_up(struct world *w);
bool library_believes(const struct world *w, uint32_t c, int name);
/* Does the library say that no other client is granted the lock just now (belief_safe_ms), also if it is in doubt; and do the documents
 * promise that? */
bool library_is_safe(const struct world *w, uint32_t c, int name);
/* The id of its kept session, as its daemon has told it; or "". */
const char *library_session(const struct soak_client *c);
/* All members may have forgotten what its session holds. */
void library_excuse(const struct world *w, struct soak_client *c);
const struct soak_use *library_use(const struct soak_client *c, int name);
/* The daemon that may have granted what the library waits for promises no more: see soak_conn. */
void library_daze(struct soak_client *c);
bool library_is_at_rest(const struct soak_client *c);

/* ---- several.c */
/* What the session of this connection waits for or holds may have changed; or all that ends. */
void several_look(struct world *w, const struct soak_conn *x, bool ends);
/* The wait of this connection ends as the youngest of a cycle. */
void several_told(struct world *w, const struct soak_conn *x, const struct deadlock_cycle *cycle);

/* ---- faults.c */
void faults_draw(struct world *w);
void faults_happen(struct world *w);
/* A view has opened at this machine. */
void faults_opened(struct world *w, uint32_t i);
void faults_heal(struct world *w);
void faults_end(struct world *w);
void faults_stop(struct world *w, uint32_t i, uint64_t span_ms);
void faults_cut_off(struct world *w, uint32_t set, uint64_t span_ms);
/* All members but this machine's crash. */
void faults_crash_others(struct world *w, uint32_t spared);

/* ---- operators.c */
void operators_draw(struct world *w);
void operators_happen(struct world *w);
/* When the faults have ended: is the lease as usual? If not, an operator asks for it. */
bool operators_settle(struct world *w);
/* A member is cut off or stopped, soon. */
void operators_harm_by_shorter(struct world *w);
/* An operator at machine `i` sets this key to the value, or (null) unsets it. Returns false if that cannot be. */
bool operators_say(struct world *w, uint32_t i, const char *key, const char *value);
/* Compares the locks of machine `i` with those of others in the same view. */
void operators_look(struct world *w, uint32_t i);
/* An algorithm that can run locks among any number of members. */
const struct dme_alg *world_draw_algorithm(struct world *w, bool slots);
/* Machine `i` has installed a view. */
void operators_check(struct world *w, uint32_t i);

/* ---- allowed.c. */
/* What SOAK_RIGHTS has beside all faults. */
void allowed_draw_mix(struct world *w);
/* The number of the client's key. */
uint32_t allowed_key(const struct world *w, uint32_t client);
/* The daemon's end of this connection gets to know which key its client has. */
void allowed_meet(struct world *w, struct soak_conn *x);
/* Under which id members know the kept session that a client with this key has begun, and of which it was told this id. */
struct keep_id allowed_session(const struct world *w, uint32_t key, struct keep_id shown);
/* Must the client be refused that session, since it has another key? */
bool allowed_is_foreign(const struct world *w, uint32_t client, uint32_t key, struct keep_id shown);
/* An operator sets rights. */
void allowed_set(struct world *w);
/* The daemon's end of a client of machine `i` that is about to ask that the lock be taken away. */
struct client *allowed_steal(struct world *w, uint32_t i, int name);
/* The client is granted the lock in this mode. */
void allowed_check_grant(struct world *w, uint32_t i, const struct soak_conn *x, int name, uint32_t mode);
/* The daemon has executed a command, and the client waits for a lock because of it, or (null) does not. */
void allowed_ran(struct world *w, struct soak_conn *x, const struct claim *asked);
/* The client is told that it has its kept session again. */
void allowed_resumed(struct world *w, const struct soak_conn *x);
/* Machine `i` adds something to its audit trail. */
void allowed_audit(struct world *w, uint32_t i, const struct audit *a);
/* Something has happened at machine `i`; and some machine has installed a view. */
void allowed_look(struct world *w, uint32_t i);
void allowed_check(struct world *w, const struct view *view);

/* ---- wrapper.c: `dibs lock` and the processes of its commands, apart from the cluster and before it */
void wrapper_run(struct world *w);

/* ---- rolling.c */
void rolling_draw(struct world *w);
void rolling_happen(struct world *w);
/* A client of this machine has lost a lock: is that allowed? */
void rolling_check_loss(struct world *w, uint32_t i, const char *name);

#endif
