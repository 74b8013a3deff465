/* dibs.h - a client of the lock service: one blocking connection to the daemon of this machine.
 *
 * A connection is a session: when it ends, by dibs_close or because the process dies, its locks are released. The
 * daemon tells what happens to locks by news that may come at any time; dibs_read returns them among the answers. */
#ifndef DIBS_CLIENT_DIBS_H
#define DIBS_CLIENT_DIBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dibs_type {
    DIBS_TEXT,
    DIBS_NUMBER,
    DIBS_NULL,
    DIBS_ERROR,
    DIBS_LIST,
    DIBS_MAP /* keys and values in turn */,
    DIBS_NEWS
};

/* What the daemon says. */
struct dibs_reply {
    enum dibs_type type;
    uint64_t number;
    char *text; /* ends with a zero byte, which len does not count */
    size_t len;
    struct dibs_reply **item;
    size_t count;
};

struct dibs {
    int fd;
    char *buf;
    size_t start, end, room;
};

/* Where the daemon of this machine is to be found: $DIBS_SOCKET, $XDG_RUNTIME_DIR/dibs.sock or /run/dibs.sock. */
const char *dibs_socket_path(void);

/* False: errno says why. */
bool dibs_connect(struct dibs *d, const char *path);
void dibs_close(struct dibs *d);
bool dibs_send(struct dibs *d, const char *const *words, size_t count);
/* The next thing the daemon says, to be freed; null if the connection has ended, or what comes is no reply. */
struct dibs_reply *dibs_read(struct dibs *d);
/* Is there a whole reply that can be read without waiting? */
bool dibs_has_reply(struct dibs *d);
/* Takes what the socket has, waiting if it has nothing. False: the connection has ended. */
bool dibs_fill(struct dibs *d);
void dibs_free(struct dibs_reply *r);

/* Sends a command and reads its answer. */
struct dibs_reply *dibs_ask(struct dibs *d, const char *const *words, size_t count);

#endif
