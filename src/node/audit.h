/* audit.h - what an operator wants to find out later: which client was refused what, and who changed what. The driver keeps
 * the trail. Grants, releases and losses are for clients that subscribe (watch.h). */
#ifndef DIBS_NODE_AUDIT_H
#define DIBS_NODE_AUDIT_H

#include "session.h"

enum audit_what {
    AUDIT_DENIED,        /* a right was refused; `text` is the explanation */
    AUDIT_LOGIN,         /* a name has logged in */
    AUDIT_LOGIN_REFUSED, /* .. or has not */
    AUDIT_FORCE_UNLOCK,  /* an operator takes a lock away */
    AUDIT_MEMBER,        /* an operator changes the members */
    AUDIT_DRAIN,         /* an operator begins to drain this member */
    AUDIT_WHATS
};
extern const char *const audit_name[AUDIT_WHATS];

struct audit {
    enum audit_what what;
    const struct session *session; /* of the client that did it, or that it happened to */
    const char *name;              /* of the lock; or "" */
    size_t name_len;
    const char *text; /* more, for people; or "" */
};

void audit_tell(const struct audit *a);

#endif
