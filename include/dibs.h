/* dibs.h - libdibs, a client of the lock service dibs.
 *
 *     struct dibs *d;
 *     uint64_t fence;
 *
 *     if (dibs_connect(&d, NULL, NULL) == DIBS_OK && dibs_lock(d, "backup", NULL, &fence) == DIBS_OK) {
 *         ...                            (write, and let the resource check the fence)
 *         dibs_unlock(d, "backup");
 *     } else {
 *         fprintf(stderr, "%s\n", dibs_message(d));
 *     }
 *     dibs_close(d);
 *
 * Connections. A connection is a session with the daemon of a machine. It holds up to 65,536 locks, each once, and
 * waits for one lock at a time. When the connection ends, by dibs_close or because the process dies, the daemon
 * releases its locks. When the daemon ends, all locks of the connection are lost, and every function returns DIBS_GONE
 * from then on: close the connection, open another one, and request the locks again. Other clients may have held them
 * meanwhile; the new fences are larger than theirs.
 *
 * Kept sessions. With keep_ms, the members of the cluster keep the session, and what it holds, for that time when its
 * connection breaks: the daemon was restarted or has crashed, its machine or the network has failed. The library then
 * connects again, at each of the places in turn, and resumes the session, with the same locks and the same fences.
 * Until then the locks are in doubt. No other client is granted them within keep_ms, unless the TTL of a lock runs out
 * or an operator takes it away. But the library cannot say whether the members still have the session. So dibs_fence
 * returns 0, functions that need an answer return DIBS_IN_DOUBT, and a request that waits goes on waiting. If the
 * session is not resumed within keep_ms, the locks are lost. The descriptor is -1 while there is no connection;
 * dibs_timeout_ms says when to call dibs_process. A connection with keep_ms cannot have subscriptions (dibs_watch). Each
 * grant costs an exchange of messages between the members. If a place has the name of a host, the library looks it up
 * whenever it connects again, and dibs_process waits for the name server: a program that must not wait gives addresses.
 *
 * How long a lock is held. A client holds a lock until it unlocks or loses it. It loses the lock when its TTL (ttl_ms)
 * runs out, when an operator uses force-unlock, when the daemon ends (unless the session is kept), or when the
 * validity of the lock runs out. The validity is the time for which the daemon vouches that no other client is granted
 * the lock. The library asks for it at intervals, for all locks of the connection. The time counts from the question,
 * on CLOCK_BOOTTIME. If it runs out before a newer answer has come, the locks are lost: the daemon may be stopped or
 * cut off, and the other members may then grant the locks to other clients.
 *
 * The library does all this only while the program calls it. So call dibs_process when dibs_fd is readable and when
 * dibs_timeout_ms has passed. Over a Unix socket it is enough to call dibs_confirm before each action that needs the
 * lock. Over TCP that is not enough: a daemon cannot distinguish a program that does not call the library from a
 * machine that has vanished. It takes the locks of both away when it has received no question for 1.1 leases (about 11
 * seconds if the daemon is not in a cluster). A process can be stopped between any check and the action that follows.
 * So the resource should check fences: dibs_fence returns the fencing token, and a resource that has seen a larger
 * token must refuse the action.
 *
 * Two ways to wait. dibs_lock returns when the lock is granted or the request has failed. A program with its own event
 * loop calls dibs_start_lock, waits with poll for dibs_events on dibs_fd for at most dibs_timeout_ms, calls
 * dibs_process, and calls dibs_lock_result. It may cancel the request (dibs_cancel).
 *
 * Threads and processes. A connection is used by one thread at a time; different connections are independent. The
 * library starts no threads, handles no signals, and has no state outside its connections. Its descriptors are closed
 * by exec.
 *
 * A connection belongs to the process that opened it, as do its locks. In any other process, after fork, functions
 * return DIBS_MISUSE and send nothing, dibs_fence returns 0, dibs_timeout_ms -1, and dibs_close frees the memory and
 * closes the descriptor of that process only. A child that needs locks opens a connection of its own; a program that
 * becomes a daemon (daemon) connects afterwards. If the process that opened the connection calls dibs_close, the
 * session ends at once. If it ends without that call, the session lasts until each child that has inherited the
 * descriptor has called dibs_close or exec, or has ended.
 *
 * The name of a lock is UTF-8, 1 to 255 bytes, without control characters and without marks that change the direction
 * of text. Structs that a program passes to the library must be initialized to zero: later versions may add fields, and
 * zero will keep its meaning. docs/glossary.md defines the terms. */
#ifndef DIBS_H
#define DIBS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DIBS_API __attribute__((visibility("default")))
#else
#define DIBS_API
#endif

struct dibs;

/* Return values of the functions. Errors are negative. */
enum dibs_code {
    DIBS_OK = 0,
    DIBS_WAITING = 1,     /* the request has not been answered yet */
    DIBS_TIMEOUT = -1,    /* the lock was not granted in time */
    DIBS_LOST = -2,       /* the lock was held and has been lost */
    DIBS_GONE = -3,       /* no daemon was reached, or the connection has ended */
    DIBS_NOT_HELD = -4,   /* this connection does not hold the lock */
    DIBS_WRONG_KIND = -5, /* other clients use the lock with slots and this request has none, or the reverse */
    DIBS_NO_QUORUM = -6,  /* the daemon does not reach a majority of the members */
    DIBS_REFUSED = -7,    /* the daemon has refused the request for another reason */
    DIBS_MISUSE = -8,     /* an argument is wrong, or the call is not allowed in this state */
    DIBS_NO_MEMORY = -9,
    DIBS_IN_DOUBT = -10, /* a kept session has no connection just now */
    DIBS_DEADLOCK = -11  /* this client and others wait for each other in a circle, and this wait was the youngest */
};

/* Describes one of these codes in a few words. */
DIBS_API const char *dibs_text(int code);
/* Describes the last error that a function returned for this connection, in a sentence. `d` may be null, as
 * dibs_connect leaves it if there was no memory. */
DIBS_API const char *dibs_message(const struct dibs *d);

/* ----------------------------------------------------------------------------------------------------- connections */

struct dibs_options {
    const char *name;     /* the client's name, which dibs holders shows; null: host:process */
    const char *key;      /* over TCP: a file with the cluster key or the client key; null: $DIBS_KEY */
    uint64_t keep_ms;     /* keep the session for this time when its connection breaks, 1000 to 3600000; 0: do not */
    const char *cert;     /* over TCP, instead of a key: a file with the client's certificate, PEM; null: $DIBS_CERT */
    const char *cert_key; /* .. with its private key, PEM; null: $DIBS_CERT_KEY */
    const char *ca;       /* .. with the authorities of daemons, PEM; null: $DIBS_CA */
    void *reserved[2];
};

/* Connects to a daemon. `where` is a path if it contains a slash or begins with "unix:", otherwise HOST:PORT. If it is
 * null, $DIBS_CONNECT is used if it is set, otherwise dibs_socket_path(). Several places are separated by commas; the
 * library connects to the first of them that answers.
 *
 * A TCP connection with a key or certificates uses TLS 1.3, and both sides prove that they have them. With certificates,
 * that of the daemon must be for HOST, or for NAME if the place is NAME=HOST:PORT: write the name of the member if its
 * certificate has no other. A TCP connection with neither is not encrypted; a daemon accepts it from its own machine
 * only. If the program has chosen a key, the environment's variables for certificates are ignored, and the reverse.
 *
 * A program that has more rights than its caller (set-user-ID, set-group-ID, capabilities) gets no variable of the
 * environment: its caller would choose the daemon that grants the locks.
 *
 * The caller must close the connection also if this function fails. */
DIBS_API int dibs_connect(struct dibs **d, const char *where, const struct dibs_options *options);
/* Releases all locks of the connection and frees it. `d` may be null. */
DIBS_API void dibs_close(struct dibs *d);

/* The path of the socket of this machine's daemon: $DIBS_SOCKET if it is set; else /run/dibs/dibs.sock if its directory
 * exists or $XDG_RUNTIME_DIR is not set; else $XDG_RUNTIME_DIR/dibs.sock. The text is valid until the environment
 * changes or the same thread calls this function again. */
DIBS_API const char *dibs_socket_path(void);

/* ------------------------------------------------------------------------------------------------------------ locks */

enum dibs_mode {
    DIBS_EXCLUSIVE = 0, /* no other client holds the lock */
    DIBS_SHARED = 1,    /* together with other clients that request it as shared */
    DIBS_GROUP = 2,     /* together with other clients of the same group */
    DIBS_SLOTS = 3      /* one of `slots` slots; if no client uses the lock, the next request sets their number */
};

struct dibs_wish {
    enum dibs_mode mode;
    unsigned slots;    /* DIBS_SLOTS: 1 to 256 */
    const char *group; /* DIBS_GROUP: the name of the group, 1 to 255 bytes */
    uint64_t wait_ms;  /* give up after this time; 0: never; or DIBS_NO_WAIT */
    uint64_t ttl_ms;   /* the lock is lost after this time unless it is renewed; 0: no TTL */
    const char *value; /* bytes for others to see while this client holds the lock, such as the address of a leader */
    size_t value_len;  /* at most DIBS_VALUE_MAX; 0: there is no value */
    unsigned priority; /* 0 to 9: passes requests with smaller numbers that wait at the same daemon, 64 for each step */
    unsigned reentrant; /* not 0: if this connection holds the lock, it is granted at once, see dibs_lock */
    uint64_t reserved[3 - 2 * sizeof(void *) / sizeof(uint64_t)];
};
#define DIBS_VALUE_MAX 4096

/* Deadlocks. A program that requests a lock while it holds others may wait in a circle with other clients. The members
 * notice that after a second, and end the youngest of these waits with DIBS_DEADLOCK; dibs_message names the locks and
 * clients. The program still holds what it held: it should release that, and begin again. Locks under which the program
 * runs (dibs lock -- PROGRAM) count as held: the library tells the daemon of those in $DIBS_LOCKS. Programs that hold no
 * lock when they call dibs_lock_many never wait in a circle. */

/* A value of wait_ms: do not wait for a holder. The result is DIBS_OK, or DIBS_TIMEOUT if another client holds the lock
 * or is granted it first. In a cluster, the answer takes one exchange of messages with other members. */
#define DIBS_NO_WAIT UINT64_MAX

/* Waits until the lock is granted. If `wish` is null, the lock is exclusive and the wait has no limit. `fence` may be
 * null.
 *
 * If the connection holds the lock already, the result is DIBS_MISUSE. With `reentrant` it is DIBS_OK at once, with the
 * same fence: the library counts the requests, and the last dibs_unlock releases the lock. The mode stays that of the
 * first request; a program that holds the lock exclusively may request it as shared. If the lock is lost, the count is
 * 0. dibs_lock_many ignores `reentrant`. */
DIBS_API int dibs_lock(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence);
/* Like dibs_lock, with DIBS_NO_WAIT. Returns DIBS_TIMEOUT if another client holds the lock. */
DIBS_API int dibs_try(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence);

/* Several locks at once: all are granted, or none is. Programs that request their locks in this way never wait for each
 * other in a circle: the daemon requests them in the order of the bytes of their names, whatever their order here. */
#define DIBS_PARTS_MAX 32
struct dibs_part {
    const char *name;
    enum dibs_mode mode;
    unsigned slots;    /* DIBS_SLOTS */
    const char *group; /* DIBS_GROUP */
    uint64_t fence;    /* dibs_lock_many writes the fencing token here */
    const char *value; /* as in struct dibs_wish */
    size_t value_len;
    uint64_t reserved[3 - 2 * sizeof(void *) / sizeof(uint64_t)];
};
/* Waits until all `count` locks are granted. Their names, groups and values have at most about 16,000 bytes together. Of
 * `wish`, which may be null, only wait_ms, ttl_ms and priority count: the time limit for all together, the TTL of each,
 * which begins when all are held, and the priority of each. Each is then a lock of its own. If this fails, the connection
 * holds none of them. */
DIBS_API int dibs_lock_many(struct dibs *d, struct dibs_part *parts, size_t count, const struct dibs_wish *wish);

/* Releases the lock. DIBS_LOST and DIBS_GONE mean that it was lost before. In each case the lock is no longer held.
 * Unlocking a lost lock lets the daemon grant it to others without waiting for the rest of its validity. */
DIBS_API int dibs_unlock(struct dibs *d, const char *name);
/* Begins the TTL of the lock anew, with `ttl_ms` milliseconds, 1 to 1000000000. */
DIBS_API int dibs_renew(struct dibs *d, const char *name, uint64_t ttl_ms);
/* Makes a shared lock exclusive, without releasing it: waits until no other client shares it. No other client has held
 * it exclusively meanwhile. The fence is a new one, larger than all before; `fence` may be null. `wait_ms` is as in
 * struct dibs_wish.
 *
 * DIBS_TIMEOUT, DIBS_DEADLOCK (another client that shares the lock waits for the same), DIBS_NO_QUORUM and
 * DIBS_REFUSED leave the lock shared. DIBS_LOST: the lock is lost. DIBS_IN_DOUBT, in a kept session: the connection
 * broke. When the locks are no longer in doubt, dibs_fence returns a new fence if the lock was upgraded, and the
 * previous one otherwise. Or call this function again: it returns DIBS_OK at once if the lock is exclusive. */
DIBS_API int dibs_upgrade(struct dibs *d, const char *name, uint64_t wait_ms, uint64_t *fence);
/* Makes an exclusive lock shared, without waiting for other clients. The fence stays the same. The program must have
 * ended its writing before this call, whatever the call returns. In a kept session the call takes an exchange of
 * messages with all members. After DIBS_IN_DOUBT the lock may be shared or not; call this function again. */
DIBS_API int dibs_downgrade(struct dibs *d, const char *name);
/* Asks the daemon. Returns DIBS_OK if the lock has been held without interruption since it was granted and is held
 * now. */
DIBS_API int dibs_confirm(struct dibs *d, const char *name);
/* Returns the fencing token of a lock whose validity has not run out, without asking the daemon; 0 if the program does
 * not hold the lock. */
DIBS_API uint64_t dibs_fence(const struct dibs *d, const char *name);

/* Called for each lock that is lost, from within a function of the library. The lock is no longer held at that time.
 * The callback may call only dibs_fence and dibs_message on this connection. */
typedef void dibs_lost_fn(void *user, const char *name, uint64_t fence, const char *why);
DIBS_API void dibs_on_lost(struct dibs *d, dibs_lost_fn *lost, void *user);
/* Returns for how many milliseconds from now no other client is granted the locks that the program holds, even if the
 * program does not call the library again and the connection ends: the rest of their validity or, in a kept session, the
 * rest of the keep time, whichever is longer. Returns 0 if the program holds none. A TTL that runs out, and an operator,
 * can take a lock away earlier. Does not block. */
DIBS_API uint64_t dibs_safe_ms(const struct dibs *d);
/* Called when the locks of a kept session are in doubt (in_doubt is 1), and when they no longer are (0): they are held
 * again, unless dibs_lost_fn is called for them. The restrictions of dibs_lost_fn apply. */
typedef void dibs_doubt_fn(void *user, int in_doubt, const char *why);
DIBS_API void dibs_on_doubt(struct dibs *d, dibs_doubt_fn *doubt, void *user);

/* ------------------------------------------------------------------------------------------------- without blocking */

/* The descriptor to watch with poll, and the events to watch for: POLLIN, and POLLOUT while output is pending. Both may
 * change with every call of the library. The descriptor is -1 if the connection has ended. */
DIBS_API int dibs_fd(const struct dibs *d);
DIBS_API short dibs_events(const struct dibs *d);
/* Milliseconds until dibs_process must be called, or -1 if there is no deadline. */
DIBS_API int dibs_timeout_ms(const struct dibs *d);
/* Sends, reads, confirms and reports lost locks, without waiting for a daemon. Returns DIBS_OK or DIBS_GONE. */
DIBS_API int dibs_process(struct dibs *d);

/* Sends a request. If it returns DIBS_OK, dibs_lock_result will return the result. */
DIBS_API int dibs_start_lock(struct dibs *d, const char *name, const struct dibs_wish *wish);
/* Sends a request for several locks. The result is that of dibs_lock_many; dibs_fence has the fence of each. */
DIBS_API int dibs_start_lock_many(struct dibs *d, const struct dibs_part *parts, size_t count,
                                  const struct dibs_wish *wish);
/* Returns DIBS_WAITING until the request is answered; then, once, the value that dibs_lock would have returned. Until
 * then the program does not hold the lock: dibs_fence returns 0, and a loss is the result. */
DIBS_API int dibs_lock_result(struct dibs *d, uint64_t *fence);
/* Cancels the request of dibs_start_lock, without closing the connection. dibs_lock_result returns DIBS_TIMEOUT soon, or
 * the result that came first. If that is DIBS_OK, the lock was granted, and the program must unlock it. */
DIBS_API int dibs_cancel(struct dibs *d);
/* Releases the lock without waiting for the daemon's answer. */
DIBS_API int dibs_start_unlock(struct dibs *d, const char *name);
/* Renews the TTL without waiting for the answer. If the daemon cannot renew it, the lock is reported as lost. */
DIBS_API int dibs_start_renew(struct dibs *d, const char *name, uint64_t ttl_ms);

/* ----------------------------------------------------------------------------------------------------------- events */

/* An event of a lock. The texts are valid during the call. */
struct dibs_event {
    const char *event; /* "waiting", "granted", "released", "lost"; later versions may add others */
    const char *lock;
    const char *member; /* the member at which the client is connected */
    uint64_t client;    /* the number of the client at that member */
    const char *who;    /* the name of the client, or "" */
    const char *mode;   /* "exclusive", "shared", "group", "slot" */
    uint64_t fence;     /* 0 while the client waits */
    const char *value;  /* the client's value as text, or "": a backslash is \\, a byte that cannot be shown is \xNN */
};

/* Called from within functions of the library. The restrictions of dibs_lost_fn apply. */
typedef void dibs_event_fn(void *user, const struct dibs_event *event);
/* Calls `fn` for each event, at any member, of a lock whose name matches the pattern (*, ? and [..] as in a shell).
 * Call dibs_watch again for more patterns; the last `fn` is used for all. Events are not a complete record: the daemon
 * disconnects a program that does not read them, and a member that is overloaded leaves some out. */
DIBS_API int dibs_watch(struct dibs *d, const char *pattern, dibs_event_fn *fn, void *user);

/* -------------------------------------------------------------------------------------------------- other questions */

enum dibs_type {
    DIBS_TEXT,
    DIBS_NUMBER,
    DIBS_NULL,
    DIBS_ERROR, /* the text begins with a code in capitals */
    DIBS_LIST,
    DIBS_MAP,    /* keys and values in turn */
    DIBS_BOOLEAN /* its number is 1 or 0 */
};

/* The daemon's answer to a command. */
struct dibs_reply {
    enum dibs_type type;
    uint64_t number;
    char *text; /* ends with a zero byte, which len does not count; null unless it is a text or an error */
    size_t len;
    struct dibs_reply **item;
    size_t count;
};

/* Sends a command of 1 to 256 words that has one answer and does not lock: HOLDERS, WAITERS, LOCKS, STATUS,
 * FORCE-UNLOCK, PING, .. It returns DIBS_MISUSE for a command that would change, behind the library's back, what the
 * connection holds or how it is used: UNLOCK, SESSION, SUBSCRIBE, HELLO, .. If it returns DIBS_OK, the caller frees
 * *reply with dibs_free. If it returns an error, dibs_message has the text, and *reply may be null. The lock of a token can be requested in this way, as it does not
 * belong to the connection: LOCK name TOKEN t TTL ms WAIT ms, with WAIT at the end, and in capitals. */
DIBS_API int dibs_ask(struct dibs *d, const char *const *words, size_t count, struct dibs_reply **reply);
DIBS_API void dibs_free(struct dibs_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
