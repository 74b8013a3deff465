/* names.h - locks by name. Used by lock.c alone. */
#ifndef DIBS_LOCK_NAMES_H
#define DIBS_LOCK_NAMES_H

#include "lock.h"

/* The index in locks.policy of the policy that applies to the name. */
uint8_t names_policy(const struct locks *l, const char *name, size_t name_len);
/* Adds a name that is not in the table. */
struct lock *names_add(struct locks *l, const char *name, size_t name_len);
/* Finds the home of the name in this view. */
void names_find_home(const struct locks *l, struct lock *lock);
/* Removes a lock on which no client of this member has a claim, with all its state. */
void names_remove(struct locks *l, struct lock *lock);
void names_free(struct locks *l);

#endif
