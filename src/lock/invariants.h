/* invariants.h - what is always true of a member's locks between two events, as code (see step/invariants.h). */
#ifndef DIBS_LOCK_INVARIANTS_H
#define DIBS_LOCK_INVARIANTS_H

#include "lock.h"

/* Returns null, or which invariant of ARCHITECTURE.md does not hold, and how. */
const char *locks_check(const struct locks *l);

#endif
