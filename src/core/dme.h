/* dme.h - a distributed mutual exclusion algorithm as a pure state machine.
 *
 * The model. n sites, numbered from 0, send each other messages. A site is idle, waits, or is inside; the user of a
 * site may ask when it is idle (DME_REQUEST) and must leave when it is inside (DME_RELEASE). An algorithm is a handful
 * of handlers. A step feeds one node one event; what the node wants done (messages, timers, "entered") is left in an
 * out-struct, and the driver does it: a simulator, a model checker or a lock daemon.
 *
 * Purity (I1, I2). A step depends on nothing but the configuration, the node's bytes and the event, and changes nothing
 * but the node and the out-struct: no I/O, no clock, no randomness, no allocation, no callbacks, no globals. Nodes and
 * messages hold no pointers and no padding, so memcpy clones them, memcmp compares them, and their bytes can be hashed.
 *
 * Ownership. The driver owns conf, node and out. A message in out lives until the next step on that out. The core keeps
 * no pointer.
 *
 * Errors. What the driver does wrong (a request at a site that already waits) is an assertion. What a message does
 * wrong (a grant without a request) is a *fault* (I8), told in out->fault: the node is then not to be used any further.
 * A published algorithm with a mistake shows it in this way, and a daemon closes the link to a peer that sent nonsense.
 *
 * Failures. A driver may stop a site (dme_crash) and let it begin again (DME_RESTART), and may cut the network in two.
 * What there is to know of other sites comes to a node as *news*: messages of kinds that no site sends, from a failure
 * detector that belongs to the driver. An algorithm that has no handler for such things is never told of them.
 *
 * This header is for drivers and algorithms; alg.h adds the functions that only the handlers of an algorithm may
 * call. */
#ifndef DIBS_CORE_DME_H
#define DIBS_CORE_DME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t dme_id; /* sites are 0 .. n-1 */

#define DME_NONE UINT32_MAX      /* no site */
#define DME_ALL (UINT32_MAX - 1) /* as an address: one transmission on a broadcast medium */
#define DME_SITES_MAX (1u << 22)
#define DME_TIMERS 4  /* timers of a node */
#define DME_OPTIONS 7 /* options of an algorithm */

/* ------------------------------------------------------------------------------------------------ the specification */

/* Which sites may be in the critical section together. One definition serves all rules: a claim has a mode; a claim of
 * mode 0 shares with no other claim, a claim of any other mode shares with claims of the same mode. The rules differ in
 * the modes that a site may request. The rule slots:K counts the sites inside instead. */
enum dme_rule {
    DME_EXCLUSIVE, /* mode 0 */
    DME_SHARED,    /* mode 0 writes, mode 1 reads */
    DME_SLOTS,     /* mode 0, but up to conf->limit sites together */
    DME_GROUP,     /* modes 1 .. conf->limit are the groups; mode 0, allowed too, is alone */
    DME_RULES
};

/* May a holder in mode a and one in mode b be inside together (any rule but slots)? */
static inline bool dme_compatible(uint32_t a, uint32_t b)
{
    return a == b && a != 0;
}

/* What an algorithm relies on. Drivers break every promise that is not listed. */
enum dme_need {
    DME_FIFO = 1,          /* two messages from a to b arrive in the order they were sent */
    DME_RELIABLE = 2,      /* every message arrives, exactly once */
    DME_ALIVE = 4,         /* no site stops */
    DME_BOUNDED_DELAY = 8, /* a message is handled within T of being sent; timers count in T */
    DME_BROADCAST = 16,    /* a medium on which one transmission reaches all other sites */
    DME_SEQUENCED = 32,    /* that medium shows all transmissions to all sites, the sender too, in one order */
    DME_DETECTION =
        64,       /* a crash is reported to all sites, after the last message of the crashed site; no false reports */
    DME_NEEDS = 7 /* how many */
};

enum dme_phase { DME_IDLE, DME_WAITING, DME_INSIDE };

/* -------------------------------------------------------------------------------------------------- nodes, messages */

/* The one currency of all algorithms: a numbered claim of a site in a mode. */
struct dme_ticket {
    uint64_t clock; /* Lamport time, sequence number, or a count */
    uint32_t mode;
    dme_id site; /* whose claim, or DME_NONE */
};

struct dme_msg {
    uint64_t fence; /* the sender's; kept by the core */
    dme_id from, to;
    uint32_t count; /* tickets that follow: kind.fixed + n * kind.per_site */
    uint8_t kind, zero[3];
    struct dme_ticket ticket[];
};

/* News of the sender, as kinds of messages that no site sends: it has stopped; it cannot be reached, for the network is
 * in two; it can be reached again. */
enum dme_news { DME_DOWN = 253, DME_CUT, DME_HEALED, DME_NEWS = DME_DOWN /* the first */ };

/* A node's header; alg->state_size bytes follow, then dme_records() records of alg->peer_size bytes. */
struct dme_node {
    uint64_t fence; /* highest heard of, plus one on entry: a fencing token */
    uint32_t mode;  /* of the claim while waiting or inside, else 0 */
    dme_id self;
    uint8_t phase, armed /* bit t: timer t runs */, down /* the site has stopped */, zero;
    uint32_t incarnation; /* how often the site has restarted: all that it never forgets */
};

/* ------------------------------------------------------------------------------------------------------- algorithms */

/* All of a system at one moment: what an invariant speaks of. */
struct dme_moment {
    const struct dme_conf *conf;
    const struct dme_node *const *node; /* of every site */
    const struct dme_msg *const *msg;   /* in flight */
    const dme_id *to;                   /* who will receive it, also where it is one copy of a broadcast */
    size_t msgs;
};

/* The same, to be rewritten. */
struct dme_draft {
    const struct dme_conf *conf;
    struct dme_node *const *node;
    struct dme_msg *const *msg; /* those to one site in an order in which they may arrive */
    const dme_id *to;           /* as in a moment */
    bool *gone;                 /* of each message: it is taken out */
    size_t msgs;
};

/* For a proof for any number of sites: what two sites see of all others. In a system of three sites, the third one stands for the
 * others and has no node: see src/check/crowd.c, which tests these handlers. */
struct dme_crowd {
    /* The node of site pair[self] as site `self` of the system of three; the other one of the pair becomes site 1 - self. What
     * the node knows of the others becomes what it knows of site 2, or is left out. Into comes with a header, and zeroed. */
    void (*merge)(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                  struct dme_node *into);
    /* The k-th message that the others may send to this node in this state: its kind and all its tickets. False behind the last. */
    bool (*send)(const struct dme_node *node, unsigned k, struct dme_msg *m);
    bool (*canon)(const struct dme_draft *draft); /* a form that keeps the order of numbers only */
    uint64_t *(*clock)(void *state);              /* which the others may raise at any time */
};

struct dme;      /* what a handler works with: alg.h */
struct dme_conf; /* below */
struct dme_text; /* text.h */

struct dme_kind {
    const char *name;
    uint32_t fixed, per_site; /* number of tickets: fixed + n * per_site */
};

/* Something a user may choose: a number in min .. max, or one of the names in choices (then the value is its index). */
struct dme_option {
    const char *key, *help;
    const char *const *choices; /* ends with a null; or null: a number */
    uint64_t initial, min, max;
};

/* A mistake that an algorithm can be made to make, to be watched.
 *   published   the publication says so: `where` it stands, and `what` it says, in our own words
 *   tempting    a rule that looks superfluous is left out; the publication has it, or says nothing: see `where`
 *   retold      it is commonly retold so; `where`: by whom; the publication itself was not at hand */
enum dme_mistake_kind { DME_PUBLISHED, DME_TEMPTING, DME_RETOLD, DME_MISTAKE_KINDS };
struct dme_mistake {
    const char *name, *where, *what;
    uint32_t kind, zero;
};

enum dme_family { DME_PERMISSION, DME_QUORUM, DME_TOKEN, DME_CENTRAL };

struct dme_alg {
    const char *name;  /* "ricart-agrawala": file, option, scenario and doc share the name */
    const char *paper; /* who, what, where, when */
    const char *cost;  /* messages per entry and synchronization delay, as a formula for people */
    const char *flaw; /* null; or what is wrong with it: such an algorithm is kept to be watched, and hidden in lists */
    const struct dme_kind *kinds;     /* ends with a null name */
    const char *const *fields;        /* null; or of each kind the names of its tickets' columns: dme_print_msg */
    const struct dme_option *options; /* ends with a null key; or null */
    /* With a flaw: a table that ends with a null name; else null. The algorithm makes those of one kind, `mistaken`,
     * and conf->mistake is the one made. */
    const struct dme_mistake *mistakes;
    uint32_t family, rules /* bit r: dme_rule r */, needs /* dme_need, or-ed */;
    uint32_t variant; /* one file may hold several algorithms that differ in few rules */
    uint32_t state_size, peer_size;
    uint32_t mistaken; /* enum dme_mistake_kind */
    uint32_t upkeep;   /* kinds from this one on serve members and their recovery, not requests; 0: none does */
    uint32_t restless; /* messages are in flight also while no site asks: the system never comes to rest */
    uint32_t wide;     /* any number of the messages of a step may have tickets for every site, not only two */

    /* How many peer records a node has, where that is not n. */
    uint32_t (*records)(const struct dme_conf *conf, dme_id self);
    /* Null if the configuration will do, else what is wrong with it. */
    const char *(*check)(const struct dme_conf *conf);

    /* The handlers. State comes zeroed to init. They do what alg.h offers, and nothing else. */
    void (*init)(struct dme *d, void *state);
    void (*request)(struct dme *d, void *state); /* in d->node->mode */
    void (*receive)(struct dme *d, void *state, const struct dme_msg *m);
    void (*release)(struct dme *d, void *state);
    void (*timer)(struct dme *d, void *state, unsigned timer);

    /* Handlers of an algorithm that tolerates failures; null in all others. A site that restarts has its old state, or
     * a zeroed state and the number of its incarnation. It is idle, and no timer runs. */
    void (*restart)(struct dme *d, void *state, bool remembers);
    void (*news)(struct dme *d, void *state, enum dme_news what, dme_id of);
    void (*join)(struct dme *d, void *state);  /* the user wants this site to be a member */
    void (*leave)(struct dme *d, void *state); /* or not to be one any more; it is idle */

    /* Null if the algorithm's invariants hold at this moment, else the one that does not: "SK1: there is one token". */
    const char *(*broken)(const struct dme_moment *moment);
    /* Null if the state of one node is well-formed, else the fact that does not hold: "s->holder < d->n". In a well-formed
     * state no event can make a handler touch foreign memory or fail an assertion (I8), and unless it reports a fault it
     * leaves a well-formed state: `./run prove` proves that, and the checker looks at every state that can be reached. Null in
     * algorithms whose handlers are safe in any state. It changes nothing. */
    const char *(*malformed)(const struct dme *d, void *state);

    /* Replaces a state of the system by its canonical form: one that behaves in the same way, with numbers that do
     * not grow for ever. Returns whether it has changed anything. It is for options that are numbers as they are at first, and
     * for all choices. Null in algorithms that do without. A checker of unlimited requests needs it where the
     * algorithm numbers requests, and tests it: see src/check/canon.c. */
    bool (*canon)(const struct dme_draft *draft);
    /* With canon: the clock of a site, if canonical forms keep of all numbers nothing but their order. The checker then lets
     * it tick before any event: see src/check/canon.c. */
    uint64_t *(*clock)(void *state);
    const struct dme_crowd *crowd; /* or null: there is no proof for any number of sites */

    /* The state as "key=value key=value", for scenarios and people. */
    void (*show)(const struct dme *d, const void *state, struct dme_text *text);
};

struct dme_conf {
    const struct dme_alg *alg;
    uint32_t n, rule;
    uint32_t limit;               /* slots: how many at once; group: how many groups */
    uint32_t mistake;             /* index into alg->mistakes */
    uint64_t option[DME_OPTIONS]; /* in the order of alg->options */
};

/* Is mistake m of the table one that this algorithm makes? */
static inline bool dme_makes(const struct dme_alg *alg, unsigned m)
{
    return alg->mistakes[m].kind == alg->mistaken;
}
/* "published mistake", "tempting mistake", "as commonly retold" */
const char *dme_mistake_kind_name(unsigned kind);

/* A configuration with the algorithm's initial options. Limit is 0 where the rule has none. */
void dme_conf_init(struct dme_conf *conf, const struct dme_alg *alg, uint32_t n, enum dme_rule rule, uint32_t limit);
/* Is this configuration one that can run? If not, a line for a person goes to text and false is returned. */
bool dme_conf_check(const struct dme_conf *conf, struct dme_text *text);
/* Set option "key" to "value" as a person writes them; false and a line if that cannot be. */
bool dme_conf_set(struct dme_conf *conf, const char *key, const char *value, struct dme_text *text);

/* The modes that may be asked for under this configuration: first .. last. */
void dme_modes(const struct dme_conf *conf, uint32_t *first, uint32_t *last);
/* The specification: may holders in these modes be inside together? */
bool dme_safe(const struct dme_conf *conf, const uint32_t *modes, uint32_t count);

/* ------------------------------------------------------------------------------------------------------------ steps */

enum dme_event_type { DME_REQUEST, DME_RELEASE, DME_RECEIVE, DME_TIMER, DME_RESTART, DME_JOIN, DME_LEAVE, DME_EVENTS };

struct dme_event {
    uint32_t type;
    uint32_t arg;              /* DME_REQUEST: the mode; DME_TIMER: which; DME_RESTART: 1 with its memory, 0 without */
    const struct dme_msg *msg; /* DME_RECEIVE */
};

struct dme_out {
    size_t size, used;           /* of bytes[] */
    const char *fault;           /* null, or the fact that did not hold */
    uint32_t bounds[DME_TIMERS]; /* by timer: a started timer fires strictly later than bounds[t] * T */
    uint8_t started, stopped;    /* bit t: timer t was (re)started, was stopped */
    uint8_t entered, zero[5];
    unsigned char bytes[]; /* messages, one after the other */
};

uint32_t dme_records(const struct dme_conf *conf, dme_id self);
size_t dme_node_size(const struct dme_conf *conf, dme_id self);   /* a multiple of 8 */
uint32_t dme_tickets(const struct dme_conf *conf, unsigned kind); /* how many such a message has */
size_t dme_msg_size(const struct dme_conf *conf, unsigned kind);
size_t dme_msg_size_max(const struct dme_conf *conf);
unsigned dme_kinds(const struct dme_alg *alg); /* how many */

/* Bytes of an out-struct that is large enough for any step. A step sends at most 2n+2 messages, and at most two of them
 * are of kinds with tickets for every site, unless alg->wide. */
size_t dme_out_size(const struct dme_conf *conf);
void dme_out_init(struct dme_out *out, size_t size);

void dme_init(const struct dme_conf *conf, struct dme_node *node, dme_id self, struct dme_out *out);
void dme_step(const struct dme_conf *conf, struct dme_node *node, const struct dme_event *event, struct dme_out *out);
/* The site stops: it waits for nothing, is not inside, and nothing happens there until DME_RESTART. */
void dme_crash(struct dme_node *node);

/* Null if the node's state is well-formed, else the fact that does not hold: alg->malformed. */
const char *dme_malformed(const struct dme_conf *conf, const struct dme_node *node);

/* The messages that leave the site, in the order of sending: start with null, ends with null. */
const struct dme_msg *dme_next(const struct dme_out *out, dme_id self, const struct dme_msg *last);

/* The algorithm's own part of a node. */
static inline void *dme_state(const struct dme_node *node)
{
    return (void *)(node + 1);
}

static inline size_t dme_msg_bytes(const struct dme_msg *m)
{
    return sizeof *m + m->count * sizeof m->ticket[0];
}

#endif
