/* rules.h - the rights of clients on which the members agree, at this member (member/settings.h, rights/rights.h; I34).
 *
 * At first the configuration of each member has the rights, and members do not compare them. When an operator sets them, they become part of the
 * view. A member uses the rights of the view that it has installed, from the moment at which it installs the view, for the next command of
 * every client, and no others. src/member/README.md, "How rights change", has the argument. A client keeps the locks that it holds. A request that waits was
 * allowed by the rights of its time. When it is to be granted, the rights in use decide again, and refuse it if they do not allow it.
 *
 * A request to change the rights travels as one for policies does (policies.h). It is granted only when every member that takes part knows of agreed
 * rights. When a connection comes up, a member says that it does; it says so again, with the digest, when the rights of its configuration change.
 *
 * Users and groups. The text has their names, and each machine may have other numbers for them. The driver looks them up, since
 * that may take the network (rules_learn). Until then a rule about a name that was not in the rights before refuses (rights/rights.h). */
#ifndef DIBS_NODE_RULES_H
#define DIBS_NODE_RULES_H

#include "member/plan.h"
#include "rights/rights.h"
#include "session.h"

void rules_init(struct node *node);
void rules_free(struct node *node);
/* Can this member use the rights of the view? If not, it must end: node->unfit says why. */
bool rules_fit(struct node *node, const struct view *view);
/* The node is about to install this view, and uses its rights from now on. */
void rules_install(struct node *node, const struct view *view);

/* The rights in use; null: there are none. They may change with every event. */
const struct rights *rules_in_use(const struct node *node);
/* The rights in use as text, and the digest of a text. */
const char *rules_text(const struct node *node, size_t *len);
uint64_t rules_digest(const char *text, size_t len);
/* Has the session's client one of these rights for this name now? */
bool rules_allow(const struct session *s, unsigned any_of, const char *name, size_t len);
/* The claim, for which its client has waited, is granted, and the rights have changed since it was requested. Do the rights in use allow that? */
bool rules_allow_outcome(const struct claim *c);

/* For the driver: the configuration of this member now has these rights. */
void rules_renew(struct node *node, const struct rights *rights);
/* For the driver, while node->rules.unsure: a user or a group of the rights in use has this number on this machine, or none. */
void rules_learn(struct node *node, const struct rights_subject *learnt);

/* Does the process at place `k` of the roster know of agreed rights? */
bool rules_is_able(const struct node *node, uint32_t k);
/* The digest of the rights in the configuration of the member at place `k`; 0: not known. */
uint64_t rules_file(const struct node *node, uint32_t k);

/* Reads a text as rights, in memory that the caller frees. They get the numbers of users and groups that are known for the rights in use. Returns null,
 * with a sentence in `why`, after a mistake. */
struct rights *rules_read(const struct node *node, const char *text, size_t len, char why[RIGHTS_WHY_MAX]);
/* An operator requests these rights; or, if `rights` is null, that each member uses those of its configuration. Returns null, or why that
 * is not possible. The view shows when the change has begun. */
const char *rules_change(struct node *node, const struct rights *rights, const char *by);
/* Is a change under way? It is if one is requested, or if some member that takes part has not installed its view yet, as far as this member has
 * heard. If none is under way, no client is granted a lock by earlier rights at any member (I34). */
bool rules_are_changing(const struct node *node);
/* Sends the request to the leader again. Forgets it when it has been kept for too long. */
void rules_mind_wish(struct node *node);
/* Another member has an operator's request. */
void rules_hear_wish(struct node *node, const struct settings_text *wish);
/* At the leader: begins a change in the view `next`. Returns false if nothing is to be changed now. */
bool rules_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next);

/* Checks I34 as far as this member can see it. Returns null, or that it uses other rights than its view has. */
const char *rules_check(const struct node *node);

#endif
