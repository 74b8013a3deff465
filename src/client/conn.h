/* conn.h - a connection of libdibs: a socket, TLS, and the clock, around the decisions of belief.h. */
#ifndef DIBS_CLIENT_CONN_H
#define DIBS_CLIENT_CONN_H

#include "base/spin.h"
#include "belief.h"
#include "redial.h"
#include "secure.h"

#include <sys/types.h>

enum { CONN_UNDER_MAX = 15872 }; /* bytes of $DIBS_LOCKS that are passed on: a request has at most 16,384 */

struct dibs {
    int fd;        /* -1: gone, or there is no connection just now */
    pid_t process; /* the process that opened it: no other one may use it */
    char *opener;  /* points to 1 there, and to 0 in each process that was forked; null: no such page could be made */
    struct secure *secure; /* TLS, or null */
    struct belief belief;
    struct spin spin[AWAIT_KINDS]; /* by what is awaited */
    dibs_lost_fn *on_lost;
    void *user;
    dibs_event_fn *on_event;
    void *event_user;
    dibs_doubt_fn *on_doubt;
    void *doubt_user;

    /* How to make the connection again, for a kept session; all null for any other. */
    char **place; /* with null at the end */
    unsigned places;
    struct redial redial;
    struct secure_files files;
    char *name;
    char *under; /* the locks under which the program runs, as $DIBS_LOCKS has them; or null */
};

uint64_t conn_now_ms(void);
/* Sends as much of what is to be sent as the socket takes. */
void conn_flush(struct dibs *d);
/* Closes the socket. */
void conn_hang_up(struct dibs *d);
/* ---- dial.c: the connection of a kept session is made again. */
/* Without a connection: begins to make one, or goes on. */
void conn_dial(struct dibs *d);
uint64_t conn_dial_ms(const struct dibs *d);
/* Sends, reads, and tells the program the news. Does not wait. Returns DIBS_OK or DIBS_GONE. */
int conn_process(struct dibs *d);
int conn_timeout_ms(const struct dibs *d);
/* The result of a call: `code` itself or, if that is DIBS_WAITING, the answer, for which this function waits. */
int conn_wait(struct dibs *d, int code);

#endif
