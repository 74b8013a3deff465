/* ask.h - what the commands that talk to the daemon share. */
#ifndef DIBS_CLI_ASK_H
#define DIBS_CLI_ASK_H

#include "cli.h"
#include "dibs.h"

/* Where the daemon is, as options say it. */
struct ask_place {
    const char *socket, *address, *key;
};

/* clang-format off */
#define ASK_PLACE_OPTIONS(place) \
    {"--socket", CLI_TEXT, &(place).socket, "PATH", "of the daemon ($DIBS_SOCKET, ...)", 0, 0, NULL}, \
    {"--connect", CLI_TEXT, &(place).address, "HOST:PORT", "of the daemon, over TCP ($DIBS_CONNECT)", 0, 0, NULL}, \
    {"--key", CLI_TEXT, &(place).key, "FILE", "that opens its door over TCP ($DIBS_KEY)", 0, 0, NULL}
/* clang-format on */

/* Text that others have chosen (a name of a lock, of a client), as it may go to a terminal: without control characters. Valid
 * until the second call after this. */
const char *ask_clean(const char *text);

/* An answer, as text or as JSON. */
void ask_show(const struct dibs_reply *r, bool json);

/* Where else a daemon may be than at this socket: that of the system, or that of the user; or null. */
const char *ask_other_socket(const char *path);

/* The value of a key in a map; if there is none, a reply without text and with number 0. */
const struct dibs_reply *ask_field(const struct dibs_reply *map, const char *key);

/* A connection to that daemon, under this name; or an error of the library. It is to be closed in any case. */
int ask_try_connect(const struct ask_place *place, const char *name, struct dibs **d);
/* Why that failed, as a line on stderr, and what to do about it. */
void ask_complain(const struct ask_place *place, const struct dibs *d);
/* A connection to that daemon, under this name (null: host:process). If there is none, a line, and exit with this
 * status. */
struct dibs *ask_connect(const struct ask_place *place, const char *name, int status);

#endif
