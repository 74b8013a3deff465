/* names.h - locks by name. Used by lock.c alone. */
#ifndef DIBS_LOCK_NAMES_H
#define DIBS_LOCK_NAMES_H

#include "lock.h"

/* Which policy is for this name. */
uint8_t names_policy(const struct locks *l, const char *name, size_t name_len);
/* A name that is not there yet. */
struct lock *names_add(struct locks *l, const char *name, size_t name_len);
/* The name, of which no client of this member has a claim, and all that belongs to it. */
void names_remove(struct locks *l, struct lock *lock);
void names_free(struct locks *l);

#endif
