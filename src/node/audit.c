/* audit.c - see audit.h. */
#include "audit.h"

const char *const audit_name[AUDIT_WHATS] = {
    "denied", "login", "login_refused", "force_unlock", "member", "drain",
};

_Static_assert((int)AUDIT_WHATS <= (int)STATS_AUDITS, "each sort is counted");

void audit_tell(const struct audit *a)
{
    struct node *node = a->session->node;

    node->stats.audits[a->what]++;
    if (node->conf.audit)
        node->conf.audit(node->conf.user, a);
}
