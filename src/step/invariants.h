/* invariants.h - the invariants of ARCHITECTURE.md that can be seen in one node, as code.
 *
 * They hold between two events. `dibs soak` looks at them after every step, and so does every node of a debug or asan build
 * (with very many locks, after a share of the steps: step_check); the daemon of a release build does not. Invariants of several members, or of what clients believe, are checked from outside
 * (src/soak). */
#ifndef DIBS_STEP_INVARIANTS_H
#define DIBS_STEP_INVARIANTS_H

#include "node/node.h"

/* Returns null, or which invariant does not hold, and how. */
const char *node_check(const struct node *node);

#endif
