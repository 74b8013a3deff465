/* rules.h - the rights of clients on which the members agree, at this member (member/settings.h, rights/rights.h; I34).
 *
 * At first the configuration of each member has the rights, and members do not compare them. When an operator sets them, they become part of the
 * view. A member uses those of the view that it has installed, from the moment on at which it installs the view, for the next command of
 * every client, and no others. src/member/README.md, "How rights change", has the argument. A client keeps the locks that it holds. A request that waits was
 * allowed by the rights of its time: when its turn comes, those in use decide again, and it is refused if they do not allow it.
 *
 * A request to change them travels as one for policies does (policies.h). It is granted only when every member that takes part knows of agreed rights.
 * A member says so when a connection comes up, and when its own configuration has other ones.
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
/* The same as text, and its digest. */
const char *rules_text(const struct node *node, size_t *len);
uint64_t rules_digest(const char *text, size_t len);
/* Has the session's client one of these rights for this name now? */
bool rules_allow(const struct session *s, unsigned any_of, const char *name, size_t len);
/* The claim, for which its client has waited, is granted, and the rights have changed since it was requested. May it be, still? */
bool rules_allow_outcome(const struct claim *c);

/* For the driver: the configuration of this member has these rights from now on. */
void rules_renew(struct node *node, const struct rights *rights);
/* For the driver, while node->rules.unsure: a user or a group of the rights in use has this number on this machine, or none. */
void rules_learn(struct node *node, const struct rights_subject *learnt);

/* Does the process at place `k` of the roster know of agreed rights? */
bool rules_is_able(const struct node *node, uint32_t k);
/* The digest of the rights in the configuration of the member at place `k`; 0: not known. */
uint64_t rules_file(const struct node *node, uint32_t k);

/* Reads a text as rights, in memory that the caller frees. The numbers of users and groups that are known for the rights in use are known for these. Returns null, with
 * a sentence in `why`, after a mistake. */
struct rights *rules_read(const struct node *node, const char *text, size_t len, char why[RIGHTS_WHY_MAX]);
/* An operator wants these rights; or, if `rights` is null, that each member uses those of its configuration. Returns null, or why that
 * cannot be. The view shows when it has begun. */
const char *rules_change(struct node *node, const struct rights *rights, const char *by);
/* Is a change under way: one that is asked for; or one whose view some member that takes part has not installed yet, as far as this one has
 * heard? When none is, no client is granted a lock by earlier rights at any member. */
bool rules_are_changing(const struct node *node);
/* Sends the request to the leader again. Forgets it when it has been kept for too long. */
void rules_mind_wish(struct node *node);
/* Another member has an operator's request. */
void rules_hear_wish(struct node *node, const struct settings_text *wish);
/* At the leader: begins a change in the view `next`. Returns false if nothing is to be changed now. */
bool rules_next(struct node *node, const struct plan_in *look, const struct plan *plan, struct view *next);

/* I34, as far as this member can see it: null, or that it uses other rights than its view has. */
const char *rules_check(const struct node *node);

#endif
