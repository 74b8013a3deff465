/* replay.h - the run of one lock, from what the members of a cluster have recorded of it (lock/trace.h), as a scenario.
 *
 * A member's trace is text:
 *
 *     lock VIEW EPOCH SLOTS N PLACE HOME ALGORITHM RULE LIMIT
 *     mark AGE STATE                               the state of its sites (hex; -: as at first), AGE ms ago
 *     letters MEMBER SENT GOT                      numbers of letters by then, for each other member
 *     request AGE SITE MODE ENTERS [MEMBER:NUMBER]...
 *     release AGE SITE ENTERS [MEMBER:NUMBER]...
 *     local AGE SITE FROM ENTERS [MEMBER:NUMBER]...               a message of another site of the same member
 *     get AGE SITE MEMBER FROM NUMBER MESSAGE ENTERS [MEMBER:NUMBER]...
 *     end
 *     letters MEMBER SENT GOT
 *
 * or "untraced". ENTERS is "enters" or "-"; MEMBER:NUMBER is a letter that the event has sent.
 *
 * The beginning. What a member has recorded begins at its first mark. If another member had received a letter before its own mark that
 * this one sent behind its mark, then this one is behind: its events up to that letter happen *before* the run, at its sites alone,
 * with the messages that are recorded. So all members stand at a moment that fits together. A letter that was sent before it
 * and is received behind it is in flight at the beginning.
 *
 * The order. An event of a member comes behind those before it, and an arrival behind the event that has sent the letter. Among
 * the events that may come next, the oldest comes next; clocks of members need not agree, since ages are counted from the answers.
 * Members answer one after the other, so arrivals of letters that were sent after the sender's answer are left out, and all behind them.
 *
 * The scenario plays it again, by the same code, and `recorded` compares (lab/scenario.h). Its site numbers are those of the lock's algorithm. */
#ifndef DIBS_LAB_REPLAY_H
#define DIBS_LAB_REPLAY_H

#include <stddef.h>

enum { REPLAY_MEMBERS_MAX = 64, REPLAY_EVENTS_MAX = 1 << 17, REPLAY_WHY_MAX = 400 };

struct replay_trace {
    const char *member; /* its name */
    const char *text;   /* or null: it was not heard */
};

/* Returns the scenario, to be freed; or null, and why there is none. */
char *replay_merge(const char *lock, const struct replay_trace *trace, unsigned count, char why[REPLAY_WHY_MAX]);

#endif
