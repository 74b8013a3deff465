/* agent.h - which member an agent talks to, and for how long. Pure: no I/O; the caller tells the time.
 *
 * An agent has a list of places and is connected to one of them. It sends the member PING often (mux.h). The agent gives up a member that
 * has sent nothing for AGENT_SILENCE_MS. If there are other places, it also gives up a member that has said for AGENT_IDLE_MS that it grants no locks:
 * the member may be cut off from the majority. Then the agent calls the next place. After a round without success it pauses, and the pause
 * doubles from round to round. From a member that is being drained it parts in order: its clients stay with that member, and new ones go to the next place. */
#ifndef DIBS_RELAY_AGENT_H
#define DIBS_RELAY_AGENT_H

#include "mux.h"

enum {
    AGENT_CALL_MS = 2000,    /* until a call is answered, AGENT included */
    AGENT_PING_MS = 500,     /* between two questions */
    AGENT_SILENCE_MS = 2500, /* without any byte of the member */
    AGENT_IDLE_MS = 5000,
    AGENT_PAUSE_MS = 10,
    AGENT_PAUSE_MS_MAX = 1000,
    AGENT_STAY_MS = 1000 /* a connection that has lasted for this time was a success */
};

enum agent_state { AGENT_AWAY, AGENT_CALLS, AGENT_UP };
enum agent_act { AGENT_WAITS, AGENT_DIALS, AGENT_PINGS, AGENT_PARTS, AGENT_LEAVES };

struct agent {
    enum agent_state state;
    unsigned places, turn; /* the place is turn % places */
    unsigned failed;       /* places that were tried in vain, one after the other */
    unsigned pause_ms;     /* after the next round */
    uint64_t due_ms;       /* AWAY: when to call; CALLS: when to give up; UP: when to ask */
    uint64_t since_ms;     /* UP */
    uint64_t heard_ms;     /* when the last byte of the member came */
    uint64_t granted_ms;   /* when the member last said that it grants locks, or the connection began */
    uint64_t acted_ms;     /* when agent_act was called last */
    bool drains;           /* the member is being drained */
};

void agent_init(struct agent *a, unsigned places, unsigned first, uint64_t now_ms);
/* When agent_act has something to say, at the latest. */
uint64_t agent_due_ms(const struct agent *a);
/* Returns the next act. It is to be called whenever it is due. If the call is very late, this process was stopped: bytes of the member may be waiting
 * already, so the silence says nothing about the member, and is counted anew. AGENT_DIALS: call the place `turn % places`. AGENT_PINGS: send PING. AGENT_PARTS: close
 * the connection, or give the attempt up, and call agent_lost. */
enum agent_act agent_act(struct agent *a, uint64_t now_ms);
/* The member has accepted the agent. */
void agent_is_up(struct agent *a, uint64_t now_ms);
/* Bytes of the member have come; and PONG. */
void agent_heard(struct agent *a, uint64_t now_ms);
void agent_ponged(struct agent *a, enum mux_state state, uint64_t now_ms);
/* The connection has ended, or the attempt has failed. */
void agent_lost(struct agent *a, uint64_t now_ms);

#endif
