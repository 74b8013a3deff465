/* ask.h - what the commands that talk to the daemon share. */
#ifndef DIBS_CLI_ASK_H
#define DIBS_CLI_ASK_H

#include "cli.h"
#include "dibs.h"

/* Where the daemon is, according to the options. */
struct ask_place {
    const char *socket, *address, *key, *cert, *cert_key, *ca;
    uint64_t keep_ms; /* of the session, see dibs.h */
};

/* clang-format off */
#define ASK_PLACE_OPTIONS(place) \
    {"--socket", CLI_TEXT, &(place).socket, "PATH", \
     "connect to the daemon at this Unix socket (default: $DIBS_SOCKET; that of the system, /run/dibs/dibs.sock, if the " \
     "directory is there; or $XDG_RUNTIME_DIR/dibs.sock)", 0, 0, NULL}, \
    {"--connect", CLI_TEXT, &(place).address, "HOST:PORT", \
     "connect to the daemon at this address over TCP; of several, separated by commas, to the first that answers. A place " \
     "with a slash is the path of a Unix socket. With certificates, NAME=HOST:PORT is the daemon whose certificate is for NAME " \
     "(default: $DIBS_CONNECT; if unset, the Unix socket)", 0, 0, NULL}, \
    {"--key", CLI_TEXT, &(place).key, "FILE", \
     "authenticate over TCP with the cluster key or client key in FILE (default: $DIBS_KEY)", 0, 0, NULL}, \
    {"--cert", CLI_TEXT, &(place).cert, "FILE", \
     "authenticate over TCP with the certificate in FILE, a PEM file, instead of a key (default: $DIBS_CERT)", 0, 0, NULL}, \
    {"--cert-key", CLI_TEXT, &(place).cert_key, "FILE", \
     "read the private key of the certificate from FILE, a PEM file (default: $DIBS_CERT_KEY)", 0, 0, NULL}, \
    {"--ca", CLI_TEXT, &(place).ca, "FILE", \
     "with a certificate: trust a daemon if the authority in FILE, a PEM file, has issued its certificate (default: $DIBS_CA)", \
     0, 0, NULL}
/* clang-format on */

/* A text that other users have chosen (the name of a lock or of a client), made safe for a terminal: without control
 * characters. The result is valid until the second call after this one. */
const char *ask_clean(const char *text);

/* Prints a reply as text or as JSON. */
void ask_show(const struct dibs_reply *r, bool json);

/* The socket of another daemon of this machine than the one at `path`: the system's or the user's; or null. */
const char *ask_other_socket(const char *path);

/* The value of a key in a map; if the key is missing, a reply without text and with number 0. */
const struct dibs_reply *ask_field(const struct dibs_reply *map, const char *key);

/* Connects to the daemon under this client name. Returns a code of the library; the caller closes *d in any case. */
int ask_try_connect(const struct ask_place *place, const char *name, struct dibs **d);
/* Prints why the connection failed, and the remedy, as one line on stderr. */
void ask_complain(const struct ask_place *place, const struct dibs *d);
/* Connects to the daemon under this client name (null: host:process). If that fails, prints one line and exits with
 * `status`. */
struct dibs *ask_connect(const struct ask_place *place, const char *name, int status);

/* Sends a command and returns the answer. An error ends the program, with CLI_FAILED. */
struct dibs_reply *ask_daemon(struct dibs *d, const char *const *words, size_t count);

/* Does this member take part in the view, or is that not known? A member that does not take part grants nothing. Asks the daemon. */
bool ask_takes_part(struct dibs *d, const char *member);

/* A lock, as all members see it together (cmd_locks.c). */
struct ask_lock {
    char *name, *algorithm;
    uint64_t slots, holders, waiters;
};
/* All locks whose names match the pattern, or those that are held or waited for, sorted. A member that was not heard is named on stderr. */
struct ask_lock *ask_list_locks(struct dibs *d, const char *pattern, bool used, size_t *count);
void ask_free_locks(struct ask_lock *locks, size_t count);

#endif
