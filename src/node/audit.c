/* audit.c - see audit.h. */
#include "audit.h"

#include <stdio.h>

const char *const audit_name[] = {
    "denied", "login", "login_refused", "force_unlock", "member",   "config",
    "drain",  "lost",  "deadlock",      "granted",      "released",
};
_Static_assert(sizeof audit_name / sizeof audit_name[0] == AUDIT_WHATS, "a sort of entries has a name");
_Static_assert((int)AUDIT_WHATS <= (int)STATS_AUDITS, "each sort is counted");

void audit_tell(const struct audit *a)
{
    struct node *node = a->session->node;

    node->stats.audits[a->what]++;
    if (node->conf.audit)
        node->conf.audit(node->conf.user, a);
}

void audit_claim(enum watch_event event, const struct claim *c)
{
    static const enum audit_what what[WATCH_EVENTS] = {
        [WATCH_GRANTED] = AUDIT_GRANTED, [WATCH_RELEASED] = AUDIT_RELEASED, [WATCH_LOST] = AUDIT_LOST};
    char text[LOSS_BY_MAX + 96] = "";

    if (event == WATCH_LOST)
        snprintf(text, sizeof text, "%s%s%s%s", loss_text[c->loss], c->by ? " (" : "", c->by ? c->by : "",
                 c->by ? ")" : "");
    audit_tell(&(struct audit){.what = what[event],
                               .session = c->session,
                               .name = c->name,
                               .name_len = c->name_len,
                               .fence = c->fence,
                               .text = text});
}
