/* settings.h - settings on which the members agree: the lease, and how it changes while locks are held (README.md, "How the
 * lease changes"; I18); policies ("How policies change"; I16); and the rights of clients ("How rights change"; I34).
 * Functions without state.
 *
 * At first the configuration of each member says how long a lease is, and members whose configurations differ refuse each
 * other. When an operator sets the lease, it becomes part of the view, and stays in all later views. From then on the members'
 * configurations do not matter for it.
 *
 * Members do not install a view at the same time. So a view has two numbers: how long leases are (lease_ms), and for how long a lease
 * promises are given (promise_ms). Promises have to be given for the longest lease that any member counts. A change takes two views. The first
 * makes promises longer, if the lease grows, or leases shorter. The leader proposes the second one when all members have installed the
 * first and the time of a promise for the longer lease has passed. The second view gives the other number the same value. */
#ifndef DIBS_MEMBER_SETTINGS_H
#define DIBS_MEMBER_SETTINGS_H

#include "base/bytes.h"
#include "base/pack.h"

#include <stdbool.h>

enum {
    SETTINGS_TEXT_MAX =
        12288 /* bytes: one fits into a request of a client, and both through everything that carries a view */
};
enum { SETTINGS_BY_MAX = 255, SETTINGS_LEASE_MS_MIN = 100, SETTINGS_LEASE_MS_MAX = 60000 };

struct settings_lease {
    /* How long leases are; 0: as long as the members' configurations say, and the other fields are 0, too. */
    uint32_t lease_ms;
    uint32_t promise_ms;          /* the lease for which promises are given; at least lease_ms */
    bool grows;                   /* if they differ: lease_ms becomes promise_ms; else promise_ms becomes lease_ms */
    bool file;                    /* the operator has set the lease to that of the members' configurations */
    uint64_t step;                /* the number of the view in which one of the two last changed */
    uint64_t set;                 /* the number of the first view with what the operator has set */
    char by[SETTINGS_BY_MAX + 1]; /* the operator */
};

/* An operator's request. */
struct settings_wish {
    uint32_t lease_ms;
    bool file;     /* lease_ms is that of the members' configurations */
    uint64_t base; /* the request is to change the lease with this `set`, and no later one */
    char by[SETTINGS_BY_MAX + 1];
};

/* A setting that is a text of lines. Policies say which algorithm and kind locks have, by name (lock/policy.h reads and writes them). Rights
 * say which client may do what (rights/rights.h). */
struct settings_text {
    /* The number of the first view with this text; 0: the members' configurations apply, and the other fields are 0, too. */
    uint64_t set;
    /* The operator has gone back to the members' configurations. Policies: the text is what all of them have. Rights: there is no
     * text, and each member uses those of its own configuration. */
    bool file;
    char by[SETTINGS_BY_MAX + 1];     /* the operator */
    uint16_t len;                     /* of the text; 0: there are none */
    char text[SETTINGS_TEXT_MAX + 1]; /* each line with a line feed at its end */
};

/* Does an operator's request fit the present setting? `wish->set` is the number of the view that it is to change, as `base` in
 * settings_wish; so it is granted once. */
bool settings_suits_text(const struct settings_text *wish, const struct settings_text *now);
/* Does it have a text, or does it say that the members' configurations apply? One of the two must be the case. */
bool settings_is_rights(const struct settings_text *rights);
/* Does the text consist of lines that can be shown to people? */
bool settings_is_text(const char *text, size_t len);

/* Is a change of the lease under way? Then no other one can begin. */
bool settings_is_under_way(const struct settings_lease *s);
/* What the lease is or, while it changes, what it will be. `file_ms` is the lease of the members' configurations. */
uint32_t settings_target_ms(const struct settings_lease *s, uint32_t file_ms);
/* Can the request be granted in a view with these settings? It cannot if it was granted already, or another request was. */
bool settings_suits(const struct settings_wish *wish, const struct settings_lease *s);
/* Makes the settings of the first view of a change; that view has the number `view`. */
void settings_begin(struct settings_lease *s, const struct settings_wish *wish, uint32_t file_ms, uint64_t view);
/* Makes those of the second view. */
void settings_finish(struct settings_lease *s, uint64_t view);

/* At the end of a view. A setting that was never set takes no byte: so an earlier build can read such views. */
void settings_encode(const struct settings_lease *s, const struct settings_text *policies,
                     const struct settings_text *rights, struct bytes *to);
/* Reads the rest of a view with the number `view`. Returns false if the bytes are no settings. */
bool settings_decode(struct settings_lease *s, struct settings_text *policies, struct settings_text *rights,
                     struct unpack *u, uint64_t view);

#endif
