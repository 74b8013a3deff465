/* policies.h - policies on which the members agree, at this member (member/settings.h, lock/policy.h; I16).
 *
 * At first the configuration of each member has the policies, and members whose policies differ refuse each other (agreed.h). When an
 * operator sets them, they become part of the view. A member uses the policies of a view from the moment on at which it
 * installs the view, for all locks at once, and no others: an instance of an algorithm belongs to one view, too. src/member/README.md, "How
 * policies change", has the argument.
 *
 * A request travels as one for the lease does (agreed.h). It is granted only when every member that takes part knows of agreed policies, and
 * has the same algorithms as this one. A member says so, and what its own configuration has, when a connection comes up. */
#ifndef DIBS_NODE_POLICIES_H
#define DIBS_NODE_POLICIES_H

#include "member/plan.h"
#include "node.h"

void policies_init(struct node *node);
/* Can this member use the policies of the view? If not, it must end: node->unfit says why. */
bool policies_fit(struct node *node, const struct view *view);
/* The node is about to install this view: forgets a request that has been granted, or was overtaken by another one. */
void policies_install(struct node *node, const struct view *view);
/* The installed view begins: uses its policies. */
void policies_begin_view(struct node *node);
void policies_free(struct node *node);

/* Does the process at place `k` of the roster know of agreed policies, and which algorithms there are? */
bool policies_is_able(const struct node *node, uint32_t k);
/* The digest of the policies in the configuration of the member at place `k`; 0: not known. */
uint64_t policies_file(const struct node *node, uint32_t k);
/* The policies that this member uses, as text, and their digest. */
const char *policies_text(const struct node *node, size_t *len);
uint64_t policies_digest(const char *text, size_t len);

/* An operator requests these policies; or, if `text` is null, those that all members' configurations have. Returns null, or why that
 * is not possible. The view shows when the change is done. */
const char *policies_change(struct node *node, const char *text, size_t len, const char *by);
/* Sends the request to the leader again. Forgets it when it has been kept for too long. */
void policies_mind_wish(struct node *node);
/* Another member has an operator's request. */
void policies_hear_wish(struct node *node, const struct settings_text *wish);
/* At the leader: begins a change in the view `next`. Returns false if nothing is to be changed now. */
bool policies_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next);

/* Checks I16 as far as this member can see it. Returns null, or that it uses other policies than its view has. */
const char *policies_check(const struct node *node);

#endif
