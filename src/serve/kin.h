/* kin.h - members without a key are processes of one user, on loopback; the kernel knows whose socket is at the other end.
 *
 * Any process of a machine can reach a port of it. So, where there is no key to prove, the daemon asks the kernel (by the
 * netlink interface that ss uses) for the other end of a connection of loopback: it must be open in some process, and that
 * one of the daemon's own user, or of root, who can do everything anyway. Both sides ask when they have heard the other
 * one's first bytes, and believe nothing before. */
#ifndef DIBS_SERVE_KIN_H
#define DIBS_SERVE_KIN_H

#include "stream.h"

/* Null, or why it is none, in words that go on from "it". */
const char *kin_objects(const struct stream *s);

#endif
