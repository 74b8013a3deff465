/* agent_inside.h - what the files of an agent share: agent.c (its member, the loop) and agent_clients.c (its clients). */
#ifndef DIBS_SERVE_AGENT_INSIDE_H
#define DIBS_SERVE_AGENT_INSIDE_H

#include "agent.h"

#include "relay/agent.h"
#include "relay/mux.h"

enum { HOLD_MS = 3000, TICK_MS = 100, END_MS = 1000, ANSWER_MAX = 512 };

/* A connection to a member. */
struct agent_uplink {
    struct ring in_agent;
    struct agent_daemon *agent;
    struct serve_member at;
    struct stream *stream;
    struct mux mux;
    bool greeted;        /* AGENT has been sent */
    bool up;             /* .. and accepted */
    struct bytes answer; /* to AGENT, as far as it has come */
    uint64_t heard_ms;   /* when bytes came last */
};

struct agent_daemon {
    /* An agent uses these fields: conf, draft, loop, turn, log, clients_door, due, signals, resolving, descriptors, stopping. */
    struct serve *serve;
    struct agent plan;
    struct agent_uplink *now; /* the connection for new clients; or null */
    struct ring uplinks;      /* `now`, and connections to members that are drained, until their clients have gone */
    struct resolve *asked;    /* the lookup of a member's name; or null */
    struct ring locals;       /* all clients */
    struct ring held;         /* clients that wait for a member, oldest first */
    struct ring ended;        /* clients whose sockets have ended; their processes may have ended, too */
    uint64_t look_ms;         /* when to look at these again */
    uint64_t asked_ms;        /* when the members that it has left were last asked whether they are there */
    bool callers;             /* more clients wait at the door than fit into this turn */
    char why[ANSWER_MAX];     /* why there is no member */
    unsigned failures;        /* calls in vain since it had a member, as far as they were logged */
    uint64_t told_ms;         /* when one was logged last */
    struct {
        uint64_t clients;  /* clients that have connected */
        uint64_t refused;  /* of these: there was no member, no room or no memory */
        uint64_t calls;    /* attempts to connect to a member */
        uint64_t accepted; /* .. that have succeeded */
        uint64_t lost;     /* connections to members that were lost */
        uint64_t left;     /* members that were left, as they were being drained */
    } count;
};

struct agent_local {
    struct ring in_agent, in_held, in_ended;
    struct agent_daemon *agent;
    struct stream *stream;
    struct agent_uplink *uplink; /* or null: there is no member yet */
    struct mux_channel *channel; /* or null: there is no member, or one of the two sides has ended the channel */
    /* The channel, if the client has ended it, and the member's last answers may still come; or null. */
    struct mux_channel *last;
    pid_t process;
    char who[MUX_WHO_MAX + 1];
    struct bytes rest; /* of the client, not sent yet */
    struct bytes out;  /* for the client, not written yet */
    size_t sent;       /* bytes that are being written, and not credited yet */
    size_t buffered;   /* its share of serve.buffered */
    bool closing;      /* the member has ended the channel */
    bool keeps;        /* it has said SESSION, so its session may be a kept one */
    uint8_t spelled;   /* how many letters of that word its last bytes are */
    uint64_t since_ms;
    uint64_t ended_ms; /* when its socket ended */
};

/* agent.c */
uint64_t agent_now_ms(void);
/* Sends what there is, as much as the connection takes. */
void agent_flush(struct agent_uplink *u);
/* Does what is due, and sets the timer for what comes next. */
void agent_mind(struct agent_daemon *a);

/* agent_clients.c */
/* A caller waits at the Unix socket. */
void agent_come(uv_stream_t *door, int status);
/* There is a member: opens a channel for the client. */
void agent_open(struct agent_local *c);
/* Sends on what the client has said. It is read again when all of it could be sent. */
void agent_pass_up(struct agent_local *c);
/* The member says something to a client: bytes, or the end of the channel. */
void agent_hear_client(struct agent_uplink *u, const struct mux_event *e);
/* The client has gone, or its connection has broken. A client that has only ended its sending side may still read: it is told what the member
 * answers until the member has ended the channel, too. */
void agent_part(struct agent_local *c);
/* Tells the client why, and closes its connection. */
void agent_refuse(struct agent_local *c, const char *code, const char *text);
/* Closes the connection of the client, which has no channel any more. */
void agent_forget(struct agent_local *c);

#endif
