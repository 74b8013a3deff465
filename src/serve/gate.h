/* gate.h - which requests of browsers are answered with more than members and numbers.
 *
 * A browser sends requests for whatever page it shows. Three headers, which no page can forge, tell whether the
 * daemon's own page has sent it:
 * - Host is what the user has typed. If it is not a name or number of loopback, some other name has been made to point
 *   here (DNS rebinding), and the page that asks is not ours.
 * - Origin, where there is one, is the page that asks: it must be this host and this port.
 * - Sec-Fetch-Site, where there is one, must say that both are the same origin.
 *
 * What is told without a login (numbers, the names and addresses of members) needs only the check of Host, and only at a daemon whose HTTP is
 * on loopback: otherwise any page of the web could read it through a browser of this machine. A program that sends no Host is
 * not a browser. A daemon whose HTTP is open to a network tells all that to every caller there, by any name.
 *
 * The functions depend on their arguments only. */
#ifndef DIBS_SERVE_GATE_H
#define DIBS_SERVE_GATE_H

#include <stdbool.h>

struct gate_head {
    const char *host, *origin, *site; /* the headers Host, Origin and Sec-Fetch-Site, or null */
};

/* Returns null if the request may be answered, else why not, as a line for people. */
const char *gate_objects(const struct gate_head *head);
const char *gate_objects_to_host(const char *host);

#endif
