/* dibs.h - libdibs, a client of the lock service dibs.
 *
 *     struct dibs *d;
 *     uint64_t fence;
 *
 *     if (dibs_connect(&d, NULL, NULL) == DIBS_OK && dibs_lock(d, "backup", NULL, &fence) == DIBS_OK) {
 *         ...                            (write, and have the fence checked by whatever is written to)
 *         dibs_unlock(d, "backup");
 *     } else {
 *         fprintf(stderr, "%s\n", dibs_message(d));
 *     }
 *     dibs_close(d);
 *
 * Connections. A connection is a session with the daemon of a machine: it holds up to 65,536 locks, each once, and waits
 * for one at a time. When it ends, by dibs_close or because the process dies, its locks are released. When the daemon
 * has gone, all locks of the connection are lost, and every function says DIBS_GONE from then on. A connection does not
 * come back by itself: close it, open another one, and ask for the locks anew. Others may have held them meanwhile, and
 * the new fences are larger than theirs.
 *
 * How long a lock is held. Until it is unlocked, or lost: its lease (ttl_ms) has run out, an operator used force-unlock, or
 * the daemon has gone, or can no longer vouch for it. The library asks the daemon at intervals for how long it vouches
 * for the locks of this connection, and when that time is over and no newer answer has come, they are lost: other
 * members may give them away, even though the daemon, stopped or cut off, cannot say so. The time counts from the
 * question, on CLOCK_BOOTTIME. All this happens while the library is called, and only then. So call it when it wants to be
 * called (dibs_fd, dibs_timeout_ms, dibs_process). Over a Unix socket it is enough to ask with dibs_confirm, before each
 * thing that needs the lock, whether it is still held. Over TCP it is not: a daemon cannot tell a program that does not
 * call from a machine that has vanished, and takes the locks of both away when it has not been asked for a lease and a
 * tenth (ten seconds and a tenth if the daemon is alone). And since a process can be stopped just behind any such question, what matters most
 * should check fences: dibs_fence tells the token, and a resource that has seen a larger one must refuse.
 *
 * Two ways to wait. dibs_lock returns when the lock is held or cannot be had. A program with a loop of its own calls
 * dibs_start_lock, waits with poll for dibs_events on dibs_fd for at most dibs_timeout_ms, calls dibs_process, and asks
 * dibs_lock_result. There is no cancelling: close the connection, or let it be granted and unlock it. A program whose
 * waits may be withdrawn uses a connection for each.
 *
 * Threads and processes. A connection is used by one thread at a time; different connections are independent. The
 * library starts no threads, handles no signals, and has no state outside its connections. Descriptors are closed by
 * exec; after a fork one of the two processes must leave the connection alone, and the session lasts until both have
 * closed it or ended.
 *
 * A name is UTF-8, 1 to 255 bytes, without control characters and marks that change the direction of text. Structs that are given to the library
 * begin as all zeroes: fields may be added, and zero will always mean what it does now. */
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

/* What functions return. Errors are negative. */
enum dibs_code {
    DIBS_OK = 0,
    DIBS_WAITING = 1,     /* not yet */
    DIBS_TIMEOUT = -1,    /* the lock was not to be had in time */
    DIBS_LOST = -2,       /* the lock was held, and is no longer */
    DIBS_GONE = -3,       /* no daemon is there, or the connection has ended */
    DIBS_NOT_HELD = -4,   /* this connection does not hold such a lock */
    DIBS_WRONG_KIND = -5, /* the lock is used by others with slots, and was asked for without; or the other way round */
    DIBS_NO_QUORUM = -6,  /* the daemon cannot reach enough of the other members */
    DIBS_REFUSED = -7,    /* the daemon says no, for another reason */
    DIBS_MISUSE = -8,     /* the program has made a mistake */
    DIBS_NO_MEMORY = -9
};

/* One of these codes in a few words. */
DIBS_API const char *dibs_text(int code);
/* What was wrong when a function returned an error on this connection the last time, in a sentence. The connection may
 * be null: there was no memory for it. */
DIBS_API const char *dibs_message(const struct dibs *d);

/* ----------------------------------------------------------------------------------------------------- connections */

struct dibs_options {
    const char *name; /* who this is, for those who ask who holds a lock; null: host:process */
    const char *key;  /* over TCP: a file with the key of the cluster, or of its clients; null: $DIBS_KEY */
    void *reserved[6];
};

/* Connects to a daemon: at a path if `where` has a slash in it or begins with "unix:", else at HOST:PORT. Null: at
 * $DIBS_CONNECT if that is set, else at dibs_socket_path(). Over TCP with a key it is TLS 1.3, and both sides must have
 * the key; without one it is plain, as a daemon allows it on its own machine only. The connection is to be closed also
 * if this fails. */
DIBS_API int dibs_connect(struct dibs **d, const char *where, const struct dibs_options *options);
/* Releases all its locks and forgets the connection, which may be null. */
DIBS_API void dibs_close(struct dibs *d);

/* Where the daemon of this machine is found: $DIBS_SOCKET, $XDG_RUNTIME_DIR/dibs.sock or /run/dibs/dibs.sock. The text is
 * valid until the environment changes, or the next call of the same thread. */
DIBS_API const char *dibs_socket_path(void);

/* ------------------------------------------------------------------------------------------------------------ locks */

enum dibs_mode {
    DIBS_EXCLUSIVE = 0, /* alone */
    DIBS_SHARED = 1,    /* with all others who share it */
    DIBS_GROUP = 2,     /* with all others of the same group */
    DIBS_SLOTS = 3      /* one of `slots` slots; a lock that nobody uses takes the number from the next client */
};

struct dibs_wish {
    enum dibs_mode mode;
    unsigned slots;    /* DIBS_SLOTS: 1 to 256 */
    const char *group; /* DIBS_GROUP: its name, 1 to 255 bytes */
    uint64_t wait_ms;  /* how long to wait; 0: as long as it takes; or DIBS_NO_WAIT */
    uint64_t ttl_ms;   /* lost after so long unless renewed; 0: as long as the connection */
    uint64_t reserved[4];
};

/* As wait_ms: wait for no holder. The answer comes as soon as it is known: DIBS_OK, or DIBS_TIMEOUT because another client
 * holds the lock, or is granted it first. To find that out in a cluster takes a message to other members and back. */
#define DIBS_NO_WAIT UINT64_MAX

/* Waits until the lock is held. A null wish: exclusive, for as long as it takes. The fence may be null. */
DIBS_API int dibs_lock(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence);
/* The same with DIBS_NO_WAIT: DIBS_TIMEOUT if another client holds it. */
DIBS_API int dibs_try(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence);
/* DIBS_LOST, DIBS_GONE: it was lost before. Either way it is not held any more. To unlock what was lost tells the daemon that
 * this program has stopped using it: others need not wait until the time is over for which it was vouched for. */
DIBS_API int dibs_unlock(struct dibs *d, const char *name);
/* The lease begins anew, with this length. */
DIBS_API int dibs_renew(struct dibs *d, const char *name, uint64_t ttl_ms);
/* Asks the daemon, whatever is known: DIBS_OK if this lock was held all the while and is held now. */
DIBS_API int dibs_confirm(struct dibs *d, const char *name);
/* The fencing token of a lock that is surely held at this moment, as far as can be known without asking; else 0. */
DIBS_API uint64_t dibs_fence(const struct dibs *d, const char *name);

/* Called for each lock that is lost, from within a function of the library; the lock is not held any more when it is.
 * It may call nothing on this connection but dibs_fence and dibs_message. */
typedef void dibs_lost_fn(void *user, const char *name, uint64_t fence, const char *why);
DIBS_API void dibs_on_lost(struct dibs *d, dibs_lost_fn *lost, void *user);

/* ---------------------------------------------------------------------------------------------- without being blocked */

/* To be watched with poll or its like, for these events: POLLIN, and POLLOUT if something could not be sent. They
 * change with every call of the library. -1: the connection is gone. */
DIBS_API int dibs_fd(const struct dibs *d);
DIBS_API short dibs_events(const struct dibs *d);
/* In so many milliseconds at the latest dibs_process has to be called; -1: not for the sake of time. */
DIBS_API int dibs_timeout_ms(const struct dibs *d);
/* Does what there is to do, and never waits: sends, reads, confirms, tells what is lost. DIBS_OK, or DIBS_GONE. */
DIBS_API int dibs_process(struct dibs *d);

/* Begins to ask. DIBS_OK: the answer will be told by dibs_lock_result. */
DIBS_API int dibs_start_lock(struct dibs *d, const char *name, const struct dibs_wish *wish);
/* DIBS_WAITING; else, once, what dibs_lock would have returned. */
DIBS_API int dibs_lock_result(struct dibs *d, uint64_t *fence);
/* Unlocked from this moment on; the daemon will hear of it. */
DIBS_API int dibs_start_unlock(struct dibs *d, const char *name);
/* If it cannot be renewed it is lost, and told so. */
DIBS_API int dibs_start_renew(struct dibs *d, const char *name, uint64_t ttl_ms);

/* ----------------------------------------------------------------------------------------------------------- events */

/* Something that has happened to a lock. The texts are valid during the call. */
struct dibs_event {
    const char *event; /* "waiting", "granted", "released", "lost"; there may be others some day */
    const char *lock;
    const char *member; /* whose client it is */
    uint64_t client;    /* its number there */
    const char *who;    /* what it calls itself, or "" */
    const char *mode;   /* "exclusive", "shared", "group", "slot" */
    uint64_t fence;     /* 0: none yet */
};

/* Called from within functions of the library, with the same restrictions as dibs_lost_fn. */
typedef void dibs_event_fn(void *user, const struct dibs_event *event);
/* From now on, what happens to locks whose names match the pattern (*, ? and [..], as of a shell), on all members. Call it
 * again for more patterns; there is one function for all. Events are news, not a record: a program that does not read
 * them is disconnected, and a member that cannot keep up with them leaves some out. */
DIBS_API int dibs_watch(struct dibs *d, const char *pattern, dibs_event_fn *fn, void *user);

/* -------------------------------------------------------------------------------------------------- other questions */

enum dibs_type {
    DIBS_TEXT,
    DIBS_NUMBER,
    DIBS_NULL,
    DIBS_ERROR, /* its text begins with a word for programs */
    DIBS_LIST,
    DIBS_MAP,    /* keys and values in turn */
    DIBS_BOOLEAN /* its number is 1 or 0 */
};

/* What the daemon answers. */
struct dibs_reply {
    enum dibs_type type;
    uint64_t number;
    char *text; /* ends with a zero byte, which len does not count; null unless it is a text or an error */
    size_t len;
    struct dibs_reply **item;
    size_t count;
};

/* Any command of the daemon that has one answer and does not lock: HOLDERS, WAITERS, LOCKS, STATUS, FORCE-UNLOCK, PING, ..
 * DIBS_OK: the answer is to be freed. If it is an error, dibs_message has its text, and it may be null. */
DIBS_API int dibs_ask(struct dibs *d, const char *const *words, size_t count, struct dibs_reply **reply);
DIBS_API void dibs_free(struct dibs_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
