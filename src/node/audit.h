/* audit.h - what an operator wants to find out later: which client was refused what, who changed what, which locks were lost;
 * and, if the configuration says so, which client has held which lock. The driver keeps the trail. */
#ifndef DIBS_NODE_AUDIT_H
#define DIBS_NODE_AUDIT_H

#include "session.h"
#include "watch.h"

enum audit_what {
    AUDIT_DENIED,        /* a right was refused; `text` is the explanation */
    AUDIT_LOGIN,         /* a name has logged in */
    AUDIT_LOGIN_REFUSED, /* .. or has not */
    AUDIT_FORCE_UNLOCK,  /* an operator takes a lock away */
    AUDIT_MEMBER,        /* an operator changes the members */
    AUDIT_CONFIG,        /* an operator changes a setting on which the members agree */
    AUDIT_DRAIN,         /* an operator begins to drain this member */
    AUDIT_LOST,          /* a client has lost a lock; `text` is the reason */
    AUDIT_DEADLOCK,      /* the wait of a client has ended, since it was the youngest of a cycle */
    AUDIT_GRANTED,       /* if conf.audit_locks: a client holds a lock */
    AUDIT_RELEASED,      /* .. and has released it */
    AUDIT_WHATS
};
extern const char *const audit_name[]; /* AUDIT_WHATS of them */

struct audit {
    enum audit_what what;
    const struct session *session; /* of the client that has done it, or to which it has happened */
    const char *name;              /* of the lock; or "" */
    size_t name_len;
    uint64_t fence;   /* of the lock; or 0 */
    const char *text; /* more, for people; or "" */
};

void audit_tell(const struct audit *a);
/* A claim of a client of this member was lost; or, if conf.audit_locks, was granted or released. */
void audit_claim(enum watch_event event, const struct claim *c);

#endif
