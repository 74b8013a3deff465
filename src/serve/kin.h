/* kin.h - authentication of members without a key: they are processes of the same user, on loopback.
 *
 * Any process of a machine can connect to a port on loopback. Without keys, the daemon therefore asks the kernel,
 * through the netlink interface that ss uses, which user has the other end of the connection. It must be open in a
 * process of the daemon's own user or of root. Both sides ask when the first bytes of the other side have arrived, and
 * use none of them before. */
#ifndef DIBS_SERVE_KIN_H
#define DIBS_SERVE_KIN_H

#include "stream.h"

/* Returns null if the other end is such a process, else why not, as a phrase that continues "it". */
const char *kin_objects(const struct stream *s);

#endif
