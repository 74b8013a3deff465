/* settings.h - settings on which the members agree: the lease, and how it changes while locks are held (README.md, "How the
 * lease changes"; I18); policies ("How policies change"; I16); and the rights of clients ("How rights change"; I34).
 * Functions without state.
 *
 * At first the configuration of each member says how long a lease is, and members whose configurations differ refuse each
 * other. When an operator sets the lease, it becomes part of the view, and stays in all later views. From then on the members'
 * configurations do not matter for it.
 *
 * Members do not install a view at the same time. So a view has two numbers: how long leases are, and for how long a lease
 * promises are given. A promise has to be given for the longest lease that any member counts. A change takes two views: the first
 * makes promises longer, or leases shorter; the second, which the leader proposes when all members have installed the
 * first and the time of one of the longer promises has passed, makes the other number follow. */
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
    uint32_t lease_ms;   /* how long leases are; 0: the members' configurations say that, and the rest is 0, too */
    uint32_t promise_ms; /* the lease for which promises are given; at least lease_ms */
    bool grows;          /* if they differ: lease_ms becomes promise_ms; else promise_ms becomes lease_ms */
    bool file;           /* the operator has set it to what the members' configurations say */
    uint64_t step;       /* the number of the view in which one of the two last changed */
    uint64_t set;        /* the number of the first view with what the operator has set */
    char by[SETTINGS_BY_MAX + 1]; /* the operator */
};

/* An operator's request. */
struct settings_wish {
    uint32_t lease_ms;
    bool file;     /* it is what the members' configurations say */
    uint64_t base; /* it is to change this `set`, and nothing that was agreed later */
    char by[SETTINGS_BY_MAX + 1];
};

/* A setting that is a text of lines. Policies: which algorithm and kind locks have, by name, as lock/policy.h reads and has written them. Rights:
 * which client may do what, as rights/rights.h reads and has written it. */
struct settings_text {
    uint64_t
        set; /* the number of the first view with them; 0: the members' configurations say that, and the rest is 0, too */
    /* The operator has set them to what the members' configurations say. Policies: the text is that of all of them. Rights: there is no
     * text, and each member uses those of its own. */
    bool file;
    char by[SETTINGS_BY_MAX + 1];     /* the operator */
    uint16_t len;                     /* of the text; 0: there are none */
    char text[SETTINGS_TEXT_MAX + 1]; /* each line with a line feed at its end */
};

/* An operator's request: `set` is the number of the view that it is to change, as in settings_wish. It is granted once. */
bool settings_suits_text(const struct settings_text *wish, const struct settings_text *now);
/* Rights have lines, unless the configurations of the members have them. */
bool settings_is_rights(const struct settings_text *rights);
/* The text consists of lines that can be shown to people. */
bool settings_is_text(const char *text, size_t len);

/* Is a change of the lease under way? Then no other one can begin. */
bool settings_is_under_way(const struct settings_lease *s);
/* What the lease is, or will be when the change has ended. `file_ms` is the lease of the members' configurations. */
uint32_t settings_target_ms(const struct settings_lease *s, uint32_t file_ms);
/* Can the request be granted in a view with these settings? Otherwise it has been, or another one has. */
bool settings_suits(const struct settings_wish *wish, const struct settings_lease *s);
/* The first view of a change, which has the number `view`. */
void settings_begin(struct settings_lease *s, const struct settings_wish *wish, uint32_t file_ms, uint64_t view);
/* The second one. */
void settings_finish(struct settings_lease *s, uint64_t view);

/* At the end of a view. A setting that was never set takes no byte: so an earlier build can read such views. */
void settings_encode(const struct settings_lease *s, const struct settings_text *policies,
                     const struct settings_text *rights, struct bytes *to);
/* Reads the rest of a view with the number `view`. Returns false if the bytes are no settings. */
bool settings_decode(struct settings_lease *s, struct settings_text *policies, struct settings_text *rights,
                     struct unpack *u, uint64_t view);

#endif
