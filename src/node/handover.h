/* handover.h - the kept sessions of a member that is alone, from a process that ends in order to the next one.
 *
 * In a cluster, other members have records of what kept sessions hold, and a member that is started again learns it from
 * them. A member that is the only one of its roster has no such others. When its process is told to end (NODE_LEAVE), the
 * sessions first lose their clients (keep_leave). Then the driver asks for the *handover*, a sequence of bytes, and keeps it for
 * the next process, which reads it before it begins its first view. After a crash there is none, and the sessions are lost.
 *
 * The sessions come in as records of an owner that does not take part (keep.h), so the first view takes them over as any
 * view takes over the sessions of a lost member: before a lock is granted. What they hold keeps its fences, and all new
 * fences are larger. Keep times go on: a session ends at the moment that the previous process has set. No new connection is
 * attached to a session before the validity that its former client was told is over. A TTL begins anew, also that of a
 * lock that a token owns (token.h).
 *
 * Both processes must have the same clock (NODE_TIME), so the handover carries a name for the time since the machine was
 * booted. A handover of another boot or of another member is not used, and a session whose time is over is left out: its
 * locks are free. The driver must see to it that a handover is read once: a lock that was released since must not be held again.
 *
 * Bytes. Numbers and texts are as in pack.h.
 *   text    "dibs handover 2"
 *   text    name of the member
 *   text    name of the boot
 *   number  8: the time at which the handover was written, in milliseconds
 *   number  8: all fences of the previous process are at most this
 *   number  4: how many sessions follow; each is
 *     number 8, 8: id   4: keep time, or 0   text: the token that owns its lock, or ""
 *     number 8: end of its time   8: end of its validity   4: how many locks follow; each is
 *       number 8: fence   4: TTL   2: slots   4: mode   text: name   text: value, after a length of 2 bytes
 *   number  8: XXH3 of all bytes before */
#ifndef DIBS_NODE_HANDOVER_H
#define DIBS_NODE_HANDOVER_H

#include "node.h"

/* The largest size of a handover, in bytes. */
enum { HANDOVER_MAX = 1 << 27, HANDOVER_BOOT_MAX = 63 };

/* Is this member alone, and are its sessions lost without a handover? */
bool handover_is_needed(const struct node *node);
/* Adds the handover to `to`. The node has been told to leave, and is told of no event afterwards. It need not have left (node_has_left):
 * sessions may have clients. Returns the number of sessions; if it is 0, nothing is added. */
uint32_t handover_write(const struct node *node, const char *boot, struct bytes *to);
/* To be called between node_init and the installation of the first view. Returns the number of sessions that were taken
 * over. *wrong becomes null, or what is wrong with the bytes; then no session was taken over. */
uint32_t handover_read(struct node *node, const char *boot, uint64_t now_ms, const uint8_t *bytes, size_t len,
                       const char **wrong);

#endif
