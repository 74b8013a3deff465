/* redial.h - which place is tried next, and when, if the connection of a kept session is made again. Decisions without I/O: conn.c owns
 * the socket and the clock.
 *
 * The library tries one place after the other, each with one of its addresses. A daemon that accepts the connection but does not resume
 * the session has had its turn as well: it may be stopped, reach no majority, or have been removed from the cluster. After a round
 * without success the library pauses, and the pause doubles from round to round. */
#ifndef DIBS_CLIENT_REDIAL_H
#define DIBS_CLIENT_REDIAL_H

#include <stdbool.h>
#include <stdint.h>

enum { REDIAL_CONNECT_MS = 2000, REDIAL_PAUSE_MS = 10, REDIAL_PAUSE_LOCAL_MS_MAX = 50, REDIAL_PAUSE_MS_MAX = 1000 };

struct redial {
    unsigned turn;     /* the place of the list with the number turn % places, with its address turn / places */
    uint64_t due_ms;   /* when to try next; under_way: when to give up */
    unsigned pause_ms; /* between two rounds; 0: the first */
    bool under_way;    /* the socket is not connected yet */
    bool returns;      /* the daemon to which it has connected has not resumed the session yet */
    bool tcp;          /* some place is reached over TCP */
};

/* The session has a connection, and is resumed. */
void redial_rest(struct redial *r);
/* There is no connection. Is it time to try a place? Then redial_begin says which turn it is. */
bool redial_is_due(const struct redial *r, uint64_t now_ms);
unsigned redial_begin(struct redial *r);
/* The attempt takes time; it is given up when it is due. */
void redial_wait(struct redial *r, uint64_t now_ms);
/* The attempt has failed, or was given up: the next place is tried, after a pause if all of them have been tried. */
void redial_fail(struct redial *r, unsigned places, uint64_t now_ms);
/* There is a connection. A daemon that is about to end may accept it and end it at once: then the next attempt comes after a pause. */
void redial_connect(struct redial *r, uint64_t now_ms);

#endif
