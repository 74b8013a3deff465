/* conn.h - a connection of libdibs: a socket, TLS, and the clock, around the decisions of belief.h. */
#ifndef DIBS_CLIENT_CONN_H
#define DIBS_CLIENT_CONN_H

#include "base/spin.h"
#include "belief.h"

struct secure;

struct dibs {
    int fd;                /* -1: gone */
    struct secure *secure; /* TLS, or null */
    struct belief belief;
    struct spin spin[AWAIT_KINDS]; /* while that is awaited */
    dibs_lost_fn *on_lost;
    void *user;
    dibs_event_fn *on_event;
    void *event_user;
};

uint64_t conn_now_ms(void);
/* Sends, reads, and tells the program what there is to tell. Does not wait. DIBS_OK or DIBS_GONE. */
int conn_process(struct dibs *d);
int conn_timeout_ms(const struct dibs *d);
/* The result of a call: the code itself, or, if that is DIBS_WAITING, the answer when it has come. */
int conn_wait(struct dibs *d, int code);

#endif
