/* world.h - the simulated world of a soak: machines, the network between them, clients, faults. Only files of this folder include
 * it; it has the functions by which they call each other.
 *
 * Times that end in _us are microseconds of the true time, from the beginning of the run; times that end in _ms are milliseconds, and
 * of a machine's clock where the comment says so. In the prototypes i, j and k are numbers of machines or, where the comment says
 * "client", of clients; x is a connection between a client and a daemon, c a client. `name` is the place of a lock's name in
 * clients_names. The world owns all that is in it. */
#ifndef DIBS_SOAK_WORLD_H
#define DIBS_SOAK_WORLD_H

#include "soak.h"
#include "step/step.h"

#include <string.h>

#define SOAK_CALENDAR_US 1700000000000000 /* the time of day at time 0, since 1970 */
enum { SOAK_MEMBERS_MAX = 7, SOAK_CLIENTS_MAX = 32, SOAK_NAMES = 5, SOAK_LEASE_MS = 1000, SOAK_DEADLOCK_MS = 300 };
enum { SOAK_HOARD_MAX = 100, SOAK_HOARD_FEW = 40 }; /* names of which clients hold many at once, see hoards.c */
enum { SOAK_CONNS_MAX = 4 * SOAK_CLIENTS_MAX, SOAK_AWAITED_MAX = 16, SOAK_WORDS_MAX = 32 };

enum soak_type {
    SOAK_TIMER,     /* a: machine, whose timer is due */
    SOAK_BYTES,     /* from machine a to machine b: bytes arrive */
    SOAK_DIAL,      /* machine a tries to connect to machine b */
    SOAK_CONNECTED, /* machine a learns that it is connected to machine b */
    SOAK_BROKEN,    /* machine a learns that its connection to machine b is broken */
    SOAK_CLIENT,    /* a: client, which does something */
    SOAK_CONFIRM,   /* a: client, which asks whether it still holds its lock; or calls its library */
    SOAK_SAY,       /* a: connection of a client; bytes arrive at the daemon */
    SOAK_HEAR,      /* a: connection of a client; bytes arrive at the client */
    SOAK_HANGUP,    /* a: connection of a client; the daemon notices that it has ended; b: with a goodbye */
    SOAK_CLOSED,    /* a: connection of a client; the client notices that it has ended */
    SOAK_WRITTEN,   /* a: machine's disk has finished its oldest write */
    SOAK_FLUSH,     /* a: machine's letters that wait for company go out (node_let_wait) */
    SOAK_START,     /* a: machine's process starts */
    SOAK_LOOK,      /* a: machine is asked for the holders of lock b */
    SOAK_HOARD,     /* a: machine, whose client that holds many locks does something */
    SOAK_FAULT,     /* a fault; a = 0: it is drawn; else machine a - 1 crashes */
    SOAK_HEAL,      /* all partitions end */
    SOAK_FOUND,     /* a new cluster is founded in place of the one before */
    SOAK_AGENT,     /* a: agent, whose timer is due, or (generation 0) which starts */
    SOAK_UP,        /* a: connection of an agent; bytes arrive at the member */
    SOAK_DOWN,      /* a: connection of an agent; bytes arrive at the agent */
    SOAK_UP_END,    /* a: connection of an agent; the member notices that it has ended */
    SOAK_DOWN_END,  /* a: connection of an agent; the agent notices that it has ended */
};

struct soak_event {
    uint64_t at_us, order;
    enum soak_type type;
    uint32_t a, b;
    /* Of the connection, process or client that the event is about. If that has another one by then, the event has no effect. */
    uint64_t generation;
    size_t len;     /* of `bytes`; SOAK_CONNECTED: the number of the process at machine a */
    uint8_t *bytes; /* the event owns them */
};

struct soak_machine {
    struct node node;
    bool runs;          /* its daemon runs */
    bool joins;         /* its daemon joins a cluster that others have founded */
    bool absent;        /* an operator has added it, and its daemon is not started */
    bool doomed;        /* its disk has failed during the present event: the daemon crashes at the end of the event */
    uint64_t process;   /* the number of its daemon's process; no other process of the run has it */
    bool opens;         /* the next write is the one with which a journal is opened */
    struct ring writes; /* writes that its disk has not finished, oldest first */
    /* When its disk will have finished the writes in progress, and those that wait; or 0. */
    uint64_t busy_us, waiting_us;
    uint64_t thaws_us;    /* its daemon is stopped until then */
    uint64_t added_us;    /* when an operator last asked for its addition to the roster */
    uint64_t turn_us;     /* until then its daemon is busy with a piece of work, and handles no event */
    uint64_t lease_us;    /* the end of the longest lease that its daemon has had */
    uint64_t timer_us;    /* for when the next SOAK_TIMER is planned, or 0 */
    bool flushes;         /* a SOAK_FLUSH is planned for its process */
    uint64_t leave_by_ms; /* by its clock: its daemon shuts down in order, and ends by then; or 0 */
    int64_t drift_ppm;    /* by how much its clock is too fast, in millionths; negative: too slow */
    uint64_t boot_us;     /* what its clock showed at time 0 */
    uint64_t stood_us;    /* for how long its clock has stood still so far */
    uint64_t stands_us;   /* when its clock last began to stand still */
    uint64_t stills; /* node.stills must reach this: its daemon must find out that the clock has stood still; or 0 */
    uint64_t random;
    uint64_t led_ms, drops; /* of its node, as last written to the trace */
    uint64_t view;          /* the number of its view, as last looked at */
    struct view before;     /* its view, as last looked at by kept.c, and its incarnation */
    uint64_t incarnation;
    uint64_t opened;  /* the last view that has opened there, as last looked at */
    uint64_t changed; /* the last letter about a lock that has changed its mode, as last looked at by changes.c */
    uint64_t marked;  /* the last view in which it has sent its reports, as last looked at by barriers.c */
    /* The daemon's ends of four connections; each is null before the first use. */
    struct client *operates; /* of an operator */
    struct client *twin;     /* of a process that has the token of another client (tokens.c) */
    struct client *looks;    /* of a client that asks for holders (values.c) */
    struct client *steals;   /* of a client that wants to take locks away (allowed.c) */
    struct bytes disk;       /* the content of its disk */
    struct bytes handover;   /* what the last process has left for the next one (node/handover.h) */
    struct disk disk_calls;  /* by which its node writes to the disk */
    struct world *world;
    char name[16], address[32];
};

/* One direction of the network between two machines. */
struct soak_pipe {
    uint64_t connection; /* the connection that the receiver takes for alive; 0: none */
    uint64_t last_us;    /* when the last bytes that were sent arrive: later ones do not arrive before them */
    bool blocked;        /* bytes that arrive wait until the pipe is healed */
    bool dialing;        /* a SOAK_DIAL is planned */
    bool unheard;        /* the last attempt to connect got lost */
    uint64_t torn;       /* this connection has broken after a part of what was sent: nothing more arrives by it */
};

/* A client's connection to a daemon. */
struct soak_conn {
    uint64_t id; /* 0: this place is free */
    uint32_t client, machine;
    struct client *end; /* the daemon's end; null: the daemon has closed it */
    bool open;          /* the client's end is open */
    bool local;         /* the connection cannot break, and its end proves that the client has released its locks */
    bool instant;       /* the client hears at once what the daemon says */
    bool severed;  /* the connection has broken: nothing arrives any more, and each side finds out in its own time */
    bool nonsense; /* the client has sent bytes that are no request */
    struct soak_uplink *uplink; /* the agent's connection over which this one goes (relays.c); or null */
    /* Its channel in the uplink, at the agent and at the member; null: closed there. */
    struct mux_channel *here, *there;
    bool coming;                  /* the member has not heard of the channel yet */
    bool hangs_up;                /* the client has ended the connection, and `rest` is yet to be sent */
    struct bytes rest;            /* at the agent: what the client has said and the agent has not sent yet */
    uint64_t delay_us, jitter_us; /* bytes take delay_us, and up to jitter_us more */
    uint64_t there_us, back_us;   /* when the last bytes arrive that were sent to the daemon, and to the client */
    struct bytes in;              /* the part of a reply that has arrived at the client so far */
    /* What the daemon knows of the lock that the client has requested last. */
    int name;
    uint32_t mode, slots;
    bool holds; /* the daemon has granted the lock, and has not taken it away */
    bool tries; /* the request is one that does not wait for a holder */
    uint8_t priority;
    bool rivalled; /* if it tries: another client has wanted the lock since, or may seem to hold it still */
    bool dazed;    /* the daemon was alone, or did not know yet that its clock had stood still, when it answered */
    /* When the daemon began to deal with the request; when it granted the lock, or last changed its mode. */
    uint64_t asked_us, held_us;
    uint64_t operation; /* the number of the client's last operation with a token */
};

enum soak_break { SOAK_BREAK_DAEMON, SOAK_BREAK_CLIENT, SOAK_BREAK_BOTH }; /* which side notices soon */

/* The commands to which a client awaits the answer. */
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
    /* Of the lock that the client held, or had held last, when it asked. UNLOCK: of the lock to release, or 0 if the client knew that
     * the lock was lost. */
    uint64_t fence;
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
    bool dazed; /* a daemon that promises less has granted it: see soak_conn */
    uint32_t mode, slots;
    uint64_t fence, since_us;
    uint64_t lapses_us;    /* library.c: its TTL ends then or later; UINT64_MAX: it has none */
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
    /* Its use of libdibs (library.c), or null. Then of the fields below only conn, generation, slow and thaws_us are used. */
    struct soak_library *library;
    struct soak_kept *kept;   /* its kept session (kept.c); or null */
    struct soak_agent *agent; /* its use of tokens (tokens.c); or null. No agent of relays.c is meant */
    uint64_t generation;      /* a new number when the events planned for the client are to have no effect */
    int conn;                 /* its connection, or -1 */
    unsigned protocol;        /* 2 or 3: the version of the protocol of Redis */
    bool waits, holds;        /* it waits for its lock; it was told that it holds it */
    bool confirms;            /* it believes in a lock only as long as its daemon vouches for it */
    bool greedy;              /* it holds a lock for long, or never releases it by itself */
    bool aims;                /* its request is aimed (kinds.c) */
    uint32_t refused;         /* the kind that the last refusal has named, 1 + the slots; or 0 */
    bool changing;            /* it has yet to hear whether the mode of its lock has changed (changes.c) */
    bool upgrades;            /* it has yet to hear whether its lock is exclusive; perhaps by RESUMED */
    uint8_t changes;          /* how often it has asked for another mode since it was granted the lock */
    bool slow;                /* its clock is as slow as A1 allows (src/member) */
    bool dazed;               /* a daemon that promises less has granted its lock: see soak_conn */
    int name;                 /* the lock that it requests or holds */
    uint32_t mode, slots;
    uint64_t fence, lost_fence; /* of the lock that it holds, or held last; of the lock that it was told to have lost */
    int stale_name;             /* the lock that it has lost and has yet to unlock */
    uint64_t stale_fence;       /* of that lock; 0: there is none */
    uint64_t since_us;          /* since when it waits for the lock, or holds it */
    uint64_t confirm_us;        /* the time between two CONFIRM */
    uint64_t vouched_us;        /* until then its daemon vouches for its locks */
    uint64_t believes_to_us; /* if it holds a lock: it believes in it until then, unless it hears of the loss before */
    uint64_t thaws_us;       /* it is stopped until then */
    struct soak_awaited await[SOAK_AWAITED_MAX];
    size_t awaited;
    struct soak_awaited aside;  /* the CONFIRM that it has sent while UPGRADE waits; asked_us 0: none */
    uint32_t asked;             /* the number of its requests so far, with values or without */
    char value[SOAK_VALUE_MAX]; /* of the lock that it requests, or holds */
};

/* A machine's client that holds many locks (hoards.c). */
struct soak_hoard {
    struct client *end;                   /* the daemon's end of its connection */
    bool confirms;                        /* it believes in a lock only as long as its daemon vouches for it */
    uint32_t acts;                        /* the number of its actions so far */
    uint64_t since_us[SOAK_HOARD_MAX];    /* since when it holds the lock; 0: it does not, or was told of the loss */
    uint64_t believes_us[SOAK_HOARD_MAX]; /* if it confirms: it believes until then that it holds the lock */
    bool dazed[SOAK_HOARD_MAX];           /* see soak_conn */
};

/* A wait for a lock, or the possession of one, with its beginning and its end; `number` identifies it. */
struct soak_span {
    uint64_t number, from_us, to_us; /* UINT64_MAX: it still is */
    int name;
};

/* What the session of a connection waits for and holds, at its daemon: the present span and the one before it (several.c). */
enum { SOAK_SEVERAL_MAX = 512 };
struct soak_several {
    uint64_t id; /* of the connection */
    struct soak_span wait[2], hold[SOAK_NAMES][2];
};

/* A kept session, and the key of the client that has begun it. `bound`: rights applied then, so only this key may resume it (allowed.c). */
enum { SOAK_OWNED_MAX = 512 };
struct soak_owned {
    struct keep_id id;
    uint32_t key;
    bool bound;
};

/* Past events of a lock. */
struct soak_history {
    uint64_t highest, highest_alone; /* the highest fence of a grant, and of an exclusive one */
    /* When an operator last asked to take it from all clients, a client last lost it by that, or the operator was last answered. */
    uint64_t evicted_us;
    uint64_t abandoned_us; /* when a client last went without releasing it: it may stay held for a while */
};

/* What a seed draws. A set of machines has one bit for each. */
struct soak_mix {
    /* Faults for each simulated minute. Two are different: one of `torn` writes is torn, and one of `slow` writes is slow; 0: none. */
    uint32_t crash, leave, pause, cut, breaks, kill_client, disturb_client, evict, roster, torn, slow;
    /* Messages between members take delay_us, and up to jitter_us more. Clocks are too fast or too slow by drift_ppm millionths. */
    uint32_t delay_us, jitter_us, drift_ppm;
    uint32_t think_ms, hold_ms; /* for how long clients pause between two locks, and hold a lock, on average */
    uint32_t patient;           /* the set of machines whose members hurry for no other one (node_conf.patient) */
    bool reborn, sharing, slots, one_name; /* see soak_focus; clients want one lock only */
    bool wild_clocks;                      /* clocks are faster or slower than A1 allows (src/member) */
    bool forgetful; /* members have hardly room for all names, and so ask for new views, in which names are forgotten */
    bool lonely;    /* each cut separates one machine from all others */
    bool no_calendar;    /* no machine knows the time of day */
    bool short_leap;     /* views run out of fences within seconds */
    bool standstill;     /* the only fault: machines stop together with their clocks */
    bool absent;         /* some members are added and never started */
    bool squeeze;        /* the only fault: see faults_squeeze */
    bool comes_and_goes; /* one member is added and removed: see faults_come_and_go */
    bool moves;          /* kept sessions move: see faults_move */
    bool outage;         /* no member reaches another one: see faults_outage */
    bool kept;           /* some clients have kept sessions */
    bool tokens;         /* some clients use tokens */
    bool urgent;         /* requests have priorities, and some clients request again what they hold */
    bool changes;        /* clients change the mode in which they hold a lock (changes.c) */
    bool redis;          /* half of the clients with tokens use the commands of Redis lock libraries */
    bool hasty;          /* some clients with kept sessions send CONFIRM too early, and their locks have TTLs */
    bool several;        /* all other clients use libdibs, and request several locks at once */
    bool disorder;       /* if several: they also request more, in any order, and so may wait in a circle */
    bool values;         /* requests have values (values.c) */
    bool agents;         /* most clients connect through agents (relays.c) */
    bool resume;         /* all other clients use libdibs, and have kept sessions, too */
    bool hoard;          /* each machine has a client that holds many locks */
    bool crowd; /* if hoard: that of a slow machine holds very many locks; the others take and release them quickly */
    uint32_t turn_us; /* the longest time that a daemon needs for one piece of work */
    bool waits;       /* daemons let letters wait for company (node_let_wait), some for longer than real ones */
    bool config;      /* operators set the lease (operators.c) */
    uint32_t without_settings; /* the set of machines whose build does not know of an agreed lease */
    bool policies;             /* operators set policies */
    bool kinds;                /* clients dispute the kinds of locks (kinds.c) */
    uint32_t without_policies; /* the set of machines whose build does not know of agreed policies */
    bool rights;               /* operators set the rights of clients (allowed.c) */
    uint32_t without_rights;   /* the set of machines whose build does not know of agreed rights */
    bool barriers;             /* connections break, and members crash, during the barriers of views (barriers.c) */
    bool bursts;               /* after some faults, faults come ten times as often for up to two leases */
    bool amnesia;              /* machines crash while their disks are writing, and no unfinished write is kept */
    /* Members change views in pieces of this size, their digests match many other names, and few idle locks are not dormant; 0: as usual. */
    uint32_t piece;
    uint32_t focus; /* the set of machines that most faults hit; 0: all alike */
};

/* The case SOAK_SQUEEZE, in progress: see faults_squeeze. */
struct soak_squeeze {
    bool active, stopped, comes;
    uint32_t victim, order[SOAK_MEMBERS_MAX], next, count; /* order[next] and those after it are to be removed */
    uint64_t began_us, due_us, stop_us;
};

/* What checks.c has observed of the whole cluster. */
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
        uint64_t incarnation, process; /* the highest one that the machine has sent to others, and by which process */
        uint64_t disk; /* the identity of its data directory that the machine has sent last; 0: none, or it was wiped */
    } told[SOAK_MEMBERS_MAX];
    struct soak_changes {
        int64_t adds, removals; /* how often this machine was to be added and removed; and how often it was */
    } asked[SOAK_MEMBERS_MAX], done[SOAK_MEMBERS_MAX];
};

struct world {
    struct soak_seen seen;
    const struct soak_conf *conf;
    struct soak_report *report;
    struct soak_mix mix;
    uint64_t still; /* events since time has last moved */
    /* The true time; the number of events so far; the state of the random numbers; the numbers of connections and processes so far. */
    uint64_t now_us, order, random, connections, processes;
    struct soak_event *heap; /* events to come, the next one at heap[1] */
    size_t count, room;      /* of events in the heap */
    uint32_t n, clients;     /* the numbers of machines and of clients */
    uint32_t founders;       /* the members of the first roster are the first `founders` machines */
    struct view newest;      /* the newest view that any process has installed */
    uint64_t opened;         /* the number of the last view that has opened at any process */
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
    uint32_t relays, uplinks;   /* the numbers of both */
    uint32_t window;            /* of their channels, in bytes (relay/mux.h) */
    bool calm;                  /* the faults have ended */
    struct soak_squeeze squeeze;
    struct soak_hush {
        uint32_t machine; /* the home of the name (kinds.c) */
        int name;
        uint64_t until_us; /* until then the home receives nothing from another member */
    } hush;
    struct soak_strikes {
        uint64_t ends_us, rests_us; /* members are hit until ends_us, and then no member until rests_us (barriers.c) */
        uint64_t scatter_us;        /* when clients leave the speaker; or 0 */
        uint64_t struck;            /* the view in which the speaker was hit; or 0 */
        bool aimed;                 /* only the speaker and the deaf one are to be hit */
        uint32_t speaker, deaf;     /* machines */
    } strikes;
    uint64_t lease_ms; /* in the configuration of processes that start now */
    uint64_t again_us; /* when all members but `spared` crash once more; or 0 */
    uint64_t cut_us;   /* when `spared` is cut off, or (`stops`) stopped; or 0 */
    struct soak_owned owned[SOAK_OWNED_MAX];
    uint64_t owners;      /* the number of kept sessions that were put into `owned` so far */
    uint64_t told_rights; /* an operator was told that all members have the rights of this view, or later ones */
    bool stops;
    uint32_t spared;
    bool alone;           /* the first machine runs a daemon alone, and no other runs */
    uint64_t founding_us; /* no daemon starts before then */
    uint64_t burst_us;    /* until then faults come ten times as often */
    uint32_t touched;     /* rolling: the set of machines that are in trouble */
    uint64_t peace_ms,
        peaceful_ms; /* rolling: for how long all members must be together before the next trouble; and are so far */
};

/* ---- world.c */
void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_trace(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t world_random(uint64_t *state);
uint64_t world_below(struct world *w, uint64_t n); /* 0 .. n-1 */
struct soak_event *world_plan(struct world *w, uint64_t in_us, enum soak_type type, uint32_t a, uint32_t b);
/* Plans the event once more, in_us from now. It comes before all events for that time that were first planned after it. The world then
 * owns the event's bytes. */
void world_repeat(struct world *w, const struct soak_event *e, uint64_t in_us);
/* What the clock of machine i shows at a true time; and the true time at which it shows clock_ms. */
uint64_t world_clock_ms(const struct world *w, uint32_t i, uint64_t at_us);
uint64_t world_when_us(const struct world *w, uint32_t i, uint64_t clock_ms);
bool world_is_stopped(const struct world *w, uint32_t i);
/* Gives an event to the node of machine i, and carries out what the node wants done. The process may crash meanwhile. */
void world_deliver(struct world *w, uint32_t i, struct node_input in);
/* The same in two steps, for callers that look at the node in between. */
void world_step_node(struct world *w, uint32_t i, struct node_input in);
void world_finish_step(struct world *w, uint32_t i);

/* The newest view that any process has ever installed; or null. The simulated operators know it: a member that was removed long ago
 * could only tell them of a cluster that does not exist any more. */
const struct view *world_view(const struct world *w);
bool world_is_member(const struct world *w, uint32_t i);
/* Do all members take part and grant locks, and is no member about to join or leave? */
bool world_is_whole(const struct world *w);

/* ---- machine.c */
void machine_start(struct world *w, uint32_t i);
void machine_crash(struct world *w, uint32_t i);
/* The disk of machine i has finished its oldest write. */
void machine_written(struct world *w, uint32_t i);
void machines_found(struct world *w);
/* Is machine i one of those that work in small pieces, and slowly (soak_mix.piece, turn_us)? */
bool machine_is_slow(const struct world *w, uint32_t i);
/* May clients of machine i that do not use CONFIRM hear late of the loss of their locks, because its lease has run out and it takes many
 * locks away? */
bool machine_tells_late(const struct world *w, uint32_t i);
/* The daemon of machine i begins to shut down in order; and has done so. */
void machine_leave(struct world *w, uint32_t i);
bool machine_has_left(const struct world *w, uint32_t i);

/* ---- checks.c: what must be true of all machines together */
void checks_look(struct world *w, uint32_t i);
/* An operator asks that machine i be added to the roster, or removed: times = 1. The operator was refused: times = -1. */
void checks_asked(struct world *w, uint32_t i, bool add, int64_t times);
/* Some process installs a view that is newer than w->newest. */
void checks_roster(struct world *w, const struct view *next);
/* Machine i sends something to another machine, which so learns of its incarnation. */
void checks_tell(struct world *w, uint32_t i);
/* An operator has wiped the disk of machine i. */
void checks_wipe(struct world *w, uint32_t i);
/* Another cluster begins. */
void checks_begin(struct world *w);

/* ---- wires.c: connections between members */
void wires_arrive(struct world *w, struct soak_event *e);
void wires_dial(struct world *w, uint32_t i, uint32_t k);
void wires_connected(struct world *w, const struct soak_event *e);
void wires_broken(struct world *w, const struct soak_event *e);
void wires_break(struct world *w, uint32_t i, uint32_t k);
/* The connection breaks. Of the bytes that are under way from machine i to machine k, none, a part or all still arrive. */
void wires_tear(struct world *w, uint32_t i, uint32_t k);
void wires_drop_process(struct world *w, uint32_t i);
/* Carries out an output of the node of machine i: it sends bytes to another machine, or ends a connection to it. */
void wires_do(struct world *w, uint32_t i, const struct node_output *out);
/* Writes to the trace which members are not connected, as each of them knows it. */
void wires_tell(struct world *w);

/* ---- relays.c: agents */
void relays_begin(struct world *w);
void relays_finish(struct world *w);
/* Does this client connect through an agent? The other two are about its agent. Until when is it stopped? And is it connected to a
 * member? If so, the client's machine is from now on that of the member. */
bool relays_serve(const struct world *w, uint32_t client);
uint64_t relays_thaw_us(const struct world *w, uint32_t client);
bool relays_can_connect(struct world *w, uint32_t client);
/* At the agent: a client connects; sends bytes; has ended its connection. */
void relays_open(struct world *w, struct soak_conn *x);
void relays_say(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len);
void relays_hang_up(struct world *w, struct soak_conn *x);
/* At the member: it sends bytes to a client, and relays_tell returns how many were sent; or it ends the client's connection. */
size_t relays_tell(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len);
void relays_hang_up_on(struct world *w, struct soak_conn *x);
/* Events: SOAK_AGENT, SOAK_UP, SOAK_DOWN, SOAK_UP_END, SOAK_DOWN_END; and until when an event must wait for a stopped process. */
void relays_act(struct world *w, const struct soak_event *e);
void relays_arrive(struct world *w, const struct soak_event *e);
void relays_hear(struct world *w, const struct soak_event *e);
void relays_noticed(struct world *w, const struct soak_event *e);
void relays_lost(struct world *w, const struct soak_event *e);
uint64_t relays_waits_us(const struct world *w, const struct soak_event *e);
void relays_drop_process(struct world *w, uint32_t i);
/* An agent ends, is stopped, or its connection breaks. */
void relays_trouble(struct world *w);

/* ---- conns.c: connections between clients and daemons */
/* Connects a client to the daemon of its machine. Returns the place of the connection in world.conn, or -1: there are too many. */
int conns_open(struct world *w, uint32_t client);
/* The client sends a command: `count` words. */
void conns_say(struct world *w, struct soak_conn *x, const char *const *words, size_t count);
/* The daemon has executed commands that have arrived over this connection; `asked` is the request that the client now waits for, or null. */
void conns_ran(struct world *w, struct soak_conn *x, const struct claim *asked);
void conns_say_bytes(struct world *w, struct soak_conn *x, const char *bytes, size_t len);
void conns_say_nonsense(struct world *w, struct soak_conn *x);
/* The client ends the connection. If it is remote, only a goodbye tells the daemon that the client no longer uses its locks. */
void conns_close(struct world *w, struct soak_conn *x, bool goodbye);
void conns_break(struct world *w, struct soak_conn *x, enum soak_break how);
void conns_drop_process(struct world *w, uint32_t i);
/* Frees the place of the connection if both ends are closed. */
void conns_forget(struct soak_conn *x);
/* An agent passes the member's bytes on to its client; or ends the client's connection. */
void conns_pass_back(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len);
void conns_end_local(struct world *w, struct soak_conn *x);
void conns_end(struct world *w);
void conns_arrive(struct world *w, const struct soak_event *e);
void conns_hear(struct world *w, const struct soak_event *e);
void conns_hang_up(struct world *w, const struct soak_event *e);
void conns_closed(struct world *w, const struct soak_event *e);
/* Carries out an output of a node: bytes for a client, or the end of its connection. */
void conns_do(struct world *w, struct node_output *out);
/* An operator sends a line to the daemon of machine i. Returns null, or the error in the answer, valid until the
 * next call. */
const char *conns_operate(struct world *w, uint32_t i, const char *line);

/* ---- changes.c: clients that change the mode of a lock */
/* Client k holds a lock. Makes it request another mode, in some cases. Returns false if the client is to do what others do. */
bool changes_act(struct world *w, uint32_t k);
/* The daemon has executed a command of this connection. */
void changes_ran(struct world *w, struct soak_conn *x);
void changes_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r);
/* The daemon has begun to change the mode of a lock that a client holds by this connection. */
void changes_asked(struct world *w, struct soak_conn *x, const struct claim *request);
/* RESUMED says that the session of client k holds its lock with another fence. Returns false if the client has not asked to upgrade the lock. */
bool changes_resumed(struct world *w, uint32_t k, uint64_t fence);
/* Machine i has handled an event. If other members have yet to hear of a changed mode, it may crash. */
void changes_look(struct world *w, uint32_t i);

/* ---- barriers.c: faults during the barriers of views */
void barriers_draw(struct world *w);
void barriers_happen(struct world *w);
/* Machine i has handled an event. If it has just sent its reports, some of them may not arrive, and it may crash. */
void barriers_look(struct world *w, uint32_t i);

/* ---- kinds.c: which lock a client requests, and as what kind */
void kinds_draw(struct world *w);
/* A view has opened at machine i. If that is the home of a lock with slots, another member may be cut off from it. */
void kinds_hush(struct world *w, uint32_t i);
/* Draws what the client requests, and writes it to `words`: the name and what follows it in the command. Returns their number. */
size_t kinds_choose(struct world *w, struct soak_client *c, const char **words);
/* The daemon is about to tell a client that a lock is granted; then the client hears that, or that it is refused. */
void kinds_told(struct soak_conn *x, const struct node_event *e);
void kinds_granted(struct world *w, struct soak_client *c);
void kinds_refused(struct world *w, struct soak_client *c, const struct soak_reply *r);

/* ---- clients.c: clients that speak the protocol themselves */
extern const char *const clients_names[SOAK_NAMES];
void clients_begin(struct world *w);
/* Plans the next action of a client, in this time. */
void clients_plan(struct world *w, uint32_t c, uint64_t in_ms);
/* A daemon grants a lock to the client of this connection. Checks that the fence is larger than all earlier ones that must be smaller. */
void clients_check_fence(struct world *w, const struct soak_conn *x, uint64_t fence);
/* A client ends its connection; a client has no connection any more. */
void clients_leave(struct world *w, uint32_t c, bool goodbye);
void clients_be_gone(struct world *w, uint32_t c);
void clients_act(struct world *w, uint32_t c);
void clients_confirm(struct world *w, uint32_t c);
/* A client hears that the lock that it holds is lost. */
void clients_lose(struct world *w, uint32_t c);
/* The daemon of machine i is about to tell a client of an event. */
void clients_told(struct world *w, uint32_t i, struct soak_conn *x, const struct node_event *e);
/* A daemon has begun to deal with a request for a lock. */
void clients_asked(struct world *w, struct soak_conn *x, const struct claim *c);
/* A daemon's end of a connection is about to be closed. */
void clients_abandon(struct world *w, const struct soak_conn *x);
void clients_take_replies(struct world *w, struct soak_conn *x);
void clients_disconnected(struct world *w, const struct soak_conn *x);
void clients_die(struct world *w, uint32_t c);
/* A client is stopped, or sends malformed bytes, or its connection breaks. */
void clients_disturb(struct world *w, uint32_t c);
/* An operator takes one of the locks away from all clients of machine i. */
void clients_evict(struct world *w, uint32_t i);
/* May an operator have taken the lock from all clients since this moment? A member may get the order late. The client of an orphaned
 * session, or of a token, does not hear of it at that time. */
bool clients_may_be_evicted(const struct world *w, int name, uint64_t since_us);
/* An operator gets an answer. */
void clients_tell_operator(struct world *w, const struct node_event *e);
bool clients_at_rest(struct world *w);

/* The client sends a command, and awaits the answer. */
void clients_say(struct world *w, struct soak_client *c, enum soak_answer to, const char *const *words, size_t count);
void clients_lose(struct world *w, uint32_t k);
void clients_ask_confirm(struct world *w, struct soak_client *c);
void clients_say_unlock(struct world *w, struct soak_client *c, int name, uint64_t fence, bool lost);
/* The place of the lock's name in clients_names. */
int clients_find_name(const char *text, size_t len);
/* ---- beliefs.c: do two clients believe in a lock that they may not share? */
/* Does the client hold a lock, and believe in it? */
bool beliefs_holds(const struct world *w, const struct soak_client *c);
/* Client `k` holds a lock, and believes in it for as long as its daemon has vouched. */
void beliefs_renew(struct world *w, uint32_t k);
/* A client begins to believe in a lock. Checks that it may share the lock with all other clients that believe in it. */
void beliefs_check(struct world *w, uint32_t c, int name);

/* ---- values.c: what members show of the values of holders */
/* The value of the next request of client k; "" if it has none. */
const char *values_draw(struct world *w, uint32_t k, char text[SOAK_VALUE_MAX]);
/* Client k hears that it holds the lock, which it has requested with this value. */
void values_granted(struct world *w, uint32_t k, int name, const struct soak_use *u, const char *text);
/* Asks machine i for the holders of the lock; and checks its answer. */
void values_look(struct world *w, uint32_t i, int name);
void values_hear(struct world *w, uint32_t i, const struct query *q);

/* A client ends its connection, and connects anew. */
void clients_hang_up(struct world *w, uint32_t c);

/* ---- kept.c: clients with kept sessions */
void kept_begin(struct world *w, uint32_t c);
/* Finds a session that is to move to a member that runs: writes the machine of its owner, and that of the member. Returns false if there
 * is none. */
bool kept_find_move(const struct world *w, uint32_t *owner, uint32_t *next);
void kept_end(struct soak_client *c);
void kept_connect(struct world *w, uint32_t c);
void kept_be_gone(struct world *w, uint32_t c);
void kept_die(struct soak_client *c);
bool kept_act(struct world *w, uint32_t c);
bool kept_is_detached(const struct soak_client *c);
void kept_attached(struct soak_client *c, const struct soak_awaited *a);
void kept_hear(struct world *w, uint32_t c, const struct soak_awaited *a, const struct soak_reply *r);
/* When a lock that is requested now with this TTL ends, at the earliest: the daemon's clock may be faster, and it counts whole milliseconds. 0: never. */
uint64_t kept_lapses_us(const struct world *w, uint64_t ttl_ms);
void kept_note_ttl(const struct world *w, struct soak_client *c, uint64_t ttl_ms);
void kept_check_loss(struct world *w, uint32_t c);
void kept_check_grant(struct world *w, const struct soak_conn *x);
/* A daemon is about to tell a client that the mode of its lock has changed. */
void kept_check_change(struct world *w, const struct soak_conn *x, const struct node_event *e);
/* Does the process of machine i take part in the view? */
bool kept_is_in_view(const struct world *w, uint32_t i, const struct view *view);
/* The process of machine i is about to end: some kept sessions may be lost with it. */
void kept_forgotten(struct world *w, uint32_t i);
/* Machine i has handled an event. Checks the records of kept sessions there. */
void kept_look(struct world *w, uint32_t i);
/* The view `next` follows the newest one. If none of its processes has taken part without a break since the last view that opened, all
 * kept sessions may be lost. */
void kept_follow(struct world *w, const struct view *next);
/* The daemon of machine i begins to shut down. */
void kept_leave(struct world *w, uint32_t i);
/* A daemon alone has crashed: the kept sessions are lost. */
void kept_lose_all(struct world *w);
/* From now on each kept session may be lost. */
void kept_excuse_all(struct world *w);
/* Do the records of all members agree with what kept sessions hold? */
bool kept_agree(const struct world *w);
/* Does a session without a client hold the lock, or have some members not heard of its release, or does a member have a record of it? */
bool kept_encumbers(const struct world *w, const char *name);
/* Does the session of client `k` with this id hold the lock, at a member that takes part? */
bool kept_holds(const struct world *w, uint32_t k, const char *id, const char *name, uint64_t fence);

/* ---- nested.c: clients that request again what they hold */
void nested_ask(struct world *w, struct soak_client *c);
/* Does the client still await the answer to that request? Until then it does not know whether it was granted a lock that it does not want. */
bool nested_is_open(const struct soak_client *c);
void nested_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r);
/* Programs that use libdibs do so, too, in this seed. The others: has the program held the lock, or released it, once more? */
bool nested_is_chosen(const struct world *w);
bool nested_library_ask(struct world *w, uint32_t k, int name);
bool nested_library_release(struct world *w, uint32_t k, int name);

/* ---- tokens.c: clients whose locks are owned by tokens */
void tokens_begin(struct world *w, uint32_t c);
void tokens_end(struct soak_client *c);
void tokens_act(struct world *w, uint32_t c);
void tokens_be_gone(struct world *w, uint32_t c);
void tokens_die(struct soak_client *c);
void tokens_hear(struct world *w, uint32_t c, const struct soak_awaited *a, const struct soak_reply *r);
/* A daemon answers the other process that has the token (soak_machine.twin). */
void tokens_told_twin(struct world *w, uint32_t i, const struct token_op *op);
void tokens_told(struct world *w, uint32_t i, struct soak_conn *x, const struct token_op *op);
bool tokens_believes(const struct world *w, uint32_t c, int name);
struct soak_use tokens_use(const struct world *w, const struct soak_client *c);
/* Does the process of machine i take part in the newest view, and know the lock that the token of client c owns? */
bool tokens_knows(const struct world *w, uint32_t c, uint32_t i);
/* From now on the lock of the token may be lost: tokens_excuse, if no process but that of machine i knows it; tokens_excuse_all, in any
 * case. */
void tokens_excuse(struct world *w, uint32_t c, uint32_t i);
void tokens_excuse_all(struct soak_client *c);

/* ---- hoards.c: each daemon has one client that holds many locks, while it runs */
void hoards_open(struct world *w, uint32_t i);
void hoards_close(struct world *w, uint32_t i);
void hoards_act(struct world *w, const struct soak_event *e);
void hoards_hear(struct world *w, uint32_t i, const struct node_event *e);

/* ---- library.c: clients that use libdibs */
void library_begin(struct world *w, uint32_t c);
void library_forget(struct soak_client *c);
/* Does the client have a kept session, and no connection? */
bool library_is_away(const struct soak_client *c);
void library_stay_away(struct world *w, uint32_t c);
/* The client has a connection again. */
void library_return(struct world *w, uint32_t c);
void library_act(struct world *w, uint32_t c);
/* Has the program done something without a connection? */
bool library_acts_away(struct world *w, uint32_t c);
/* Bytes have arrived; the library's timer is due; the connection has ended. */
void library_hear(struct world *w, uint32_t c);
void library_timer(struct world *w, uint32_t c);
void library_disconnected(struct world *w, uint32_t c);
/* The library of every client does what is due by now, so that no client believes in a lock for longer than its library allows. */
void library_catch_up(struct world *w);
bool library_believes(const struct world *w, uint32_t c, int name);
/* Does the library say that no other client is granted the lock at this moment (belief_safe_ms), also if the lock is in doubt; and do the
 * documents promise that? */
bool library_is_safe(const struct world *w, uint32_t c, int name);
/* The id of the client's kept session, as its daemon has told it; or "". */
const char *library_session(const struct soak_client *c);
/* From now on all members may have forgotten what the client's session holds. */
void library_excuse(const struct world *w, struct soak_client *c);
const struct soak_use *library_use(const struct soak_client *c, int name);
/* The daemon that may have granted the locks for which the library waits promises less: see soak_conn.dazed. */
void library_daze(struct soak_client *c);
bool library_is_at_rest(const struct soak_client *c);

/* ---- several.c: did each reported deadlock exist? */
/* Notes what the session of this connection waits for and holds, since it may have changed. `ends`: the session ends. */
void several_look(struct world *w, const struct soak_conn *x, bool ends);
/* The daemon tells the client of this connection that its wait has ended as the youngest of a cycle. Checks that there was one. */
void several_told(struct world *w, const struct soak_conn *x, const struct deadlock_cycle *cycle);

/* ---- mix.c: the mix of a seed */
void mix_draw(struct world *w);

/* ---- faults.c: what goes wrong */
/* Every 10 ms: draws whether each kind of fault happens now. */
void faults_happen(struct world *w);
/* A view has opened at machine i. */
void faults_opened(struct world *w, uint32_t i);
void faults_heal(struct world *w);
void faults_end(struct world *w);
void faults_stop(struct world *w, uint32_t i, uint64_t span_ms);
void faults_cut_off(struct world *w, uint32_t set, uint64_t span_ms);
/* All members crash, except that of the machine `spared`. */
void faults_crash_others(struct world *w, uint32_t spared);

/* ---- operators.c: operators that set the lease and the policies */
void operators_draw(struct world *w);
void operators_happen(struct world *w);
/* When the faults have ended: is the lease the usual one again? If not, an operator asks for it. */
bool operators_restore_lease(struct world *w);
/* A setting is to change: soon a member is cut off or stopped. */
void operators_harm_by_shorter(struct world *w);
/* An operator at machine i sets this key to the value, or (null) unsets it. Returns false if the daemon refuses that. */
bool operators_say(struct world *w, uint32_t i, const char *key, const char *value);
/* Compares the locks of machine `i` with those of others in the same view. */
void operators_look(struct world *w, uint32_t i);
/* Draws an algorithm that can run locks, with slots or without, among any number of members. */
const struct dme_alg *world_draw_algorithm(struct world *w, bool slots);
/* Machine `i` has installed a view. */
void operators_check(struct world *w, uint32_t i);

/* ---- allowed.c: the rights of clients */
/* Adds to the mix what SOAK_RIGHTS has beside all faults. */
void allowed_draw_mix(struct world *w);
/* The number of the client's key. */
uint32_t allowed_key(const struct world *w, uint32_t client);
/* The daemon's end of this connection learns which key its client has. */
void allowed_meet(struct world *w, struct soak_conn *x);
/* The id by which members know the kept session that a client with this key has begun; the client was told the id `shown`. */
struct keep_id allowed_session(const struct world *w, uint32_t key, struct keep_id shown);
/* Must the client be refused that session, since it has another key? */
bool allowed_is_foreign(const struct world *w, uint32_t client, uint32_t key, struct keep_id shown);
/* An operator sets rights. */
void allowed_set(struct world *w);
/* Returns the daemon's end of a client of machine i that is about to ask that the lock be taken away. */
struct client *allowed_steal(struct world *w, uint32_t i, int name);
/* The daemon grants the lock in this mode. Checks that rights allow it. */
void allowed_check_grant(struct world *w, uint32_t i, const struct soak_conn *x, int name, uint32_t mode);
/* The daemon has executed a command, and the client waits for a lock because of it, or (null) does not. */
void allowed_ran(struct world *w, struct soak_conn *x, const struct claim *asked);
/* The client is told that it has its kept session again. */
void allowed_resumed(struct world *w, const struct soak_conn *x);
/* Machine `i` adds something to its audit trail. */
void allowed_audit(struct world *w, uint32_t i, const struct audit *a);
/* Machine i has handled an event; some machine has installed a view. */
void allowed_look(struct world *w, uint32_t i);
void allowed_check(struct world *w, const struct view *view);

/* ---- wrapper.c: `dibs lock` and the processes of its commands, apart from the cluster and before it */
void wrapper_run(struct world *w);

/* ---- rolling.c: one trouble at a time */
void rolling_draw(struct world *w);
void rolling_happen(struct world *w);
/* A client of machine i has lost a lock. Checks that this was allowed. */
void rolling_check_loss(struct world *w, uint32_t i, const char *name);

#endif
