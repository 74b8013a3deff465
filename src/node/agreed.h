/* agreed.h - settings on which the members agree, at this member (member/settings.h): the lease, and what settings have in common.
 * Policies are in policies.h, the rights of clients in rules.h.
 *
 * An operator can ask any member. The member keeps the request for a while and sends it to the leader with its heartbeats, as it
 * does with changes of the roster (roster.h). A request is granted once: it names the setting that it is to change.
 *
 * All members that take part must know of agreed settings. A member says that it does, and which lease its own configuration
 * has, when a connection comes up: by a NOTE_WISH with a flag of its own, which members of earlier builds ignore. From the
 * first view on with a setting, an earlier build cannot be connected: HELLO then has another digest of the configuration.
 *
 * The digest in HELLO. While nothing is agreed, members compare their whole configurations, as a text. When a lease is agreed, a fixed phrase takes
 * the place of the lease in this text; likewise for policies. Configurations may have different rights for clients, so these are not compared. But
 * the text says whether there are agreed rights, so that an earlier build, which could not read the view, refuses. A member that was away has not
 * heard of the agreement. So a member with an agreed setting also accepts, in that place, the value of its own configuration or the agreed value;
 * and a member without an agreed setting also accepts the phrase. It takes part only in a view that has the setting, since its new incarnation is
 * admitted by such a view. */
#ifndef DIBS_NODE_AGREED_H
#define DIBS_NODE_AGREED_H

#include "member/plan.h"
#include "node.h"

/* The node begins: the lease is that of its configuration. */
void agreed_init(struct node *node);
/* The journal has been read, and with it the last view of the earlier process. */
void agreed_begin(struct node *node);
void agreed_free(struct node *node);
/* The node is about to install this view: uses its lease from now on. */
void agreed_install(struct node *node, const struct view *view);

/* Does the process at place `k` of the roster know of agreed settings, as far as this one knows? */
bool agreed_is_able(const struct node *node, uint32_t k);
/* The lease in the configuration of the member at place `k`; 0: not known. */
uint64_t agreed_file_ms(const struct node *node, uint32_t k);

/* An operator requests another lease; or, if `wish->file`, the one that all members' configurations have. Returns null, or why
 * that is not possible. The change takes some time: the view shows when it has begun and ended. */
const char *agreed_change(struct node *node, const struct settings_wish *wish);
/* Sends the request to the leader again. Forgets it when it has been kept for too long. */
void agreed_mind_wish(struct node *node);
/* Another member has an operator's request. */
void agreed_hear_wish(struct node *node, const struct settings_wish *wish);
/* At the leader: begins a change in the view `next`, or ends one. Returns false if nothing is to be changed now. */
bool agreed_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next);

#endif
