/* soak.h - a whole cluster in one process, from one seed: the real node logic of n daemons, with simulated links,
 * clocks, disks and clients, and with faults of all kinds.
 *
 * Real are the code of the members (src/base to src/node), the protocol of clients included, libraft, and what libdibs
 * decides for the programs that use it (client/belief.h). Simulated are connections that carry bytes with delays and
 * break, also for one side only; clocks that run at different speeds, disks that keep what was written, processes that
 * crash, stop and start again, machines that freeze, partitions, and clients that speak either version of the protocol,
 * request, hold and release locks, die, hang, hear late and send malformed bytes. Some clients are programs that use
 * libdibs (library.c); the others stand for clients of Redis (clients.c).
 *
 * The checkers see all machines at once, and know the true time. They check
 *   - that two clients never believe in a lock in conflicting modes. A client believes in a lock from its grant until it
 *     releases the lock, is told of the loss, or its validity, for which the daemon vouched, has run out;
 *   - that libdibs tells a program of the loss of a lock when the connection ends, and at the latest when the validity
 *     of the lock has run out;
 *   - that fences grow;
 *   - that a client that loses a lock is told before another client is granted it, unless its daemon was stopped;
 *   - that after the faults have ended every client that waits is served, and all members take part;
 *   - that no daemon refuses a message of another one as malformed or contradictory;
 *   - that a client whose session is kept (kept.c) loses a lock only when its keep time is over, an operator has taken the lock away, or
 *     every process that had a record of the lock has ended; and that all members know of such a lock before the client does;
 *   - that no other client holds a lock, in a mode that excludes the client, while libdibs tells a client in doubt that the lock is
 *     safe (dibs_safe_ms), with the same exceptions, and until the TTL of the lock is over;
 *   - that no other client holds a lock that a token owns (tokens.c) before the lock's TTL is over on the clock of the token's client,
 *     with the same exceptions;
 *   - that clients that wait for each other in a circle do not wait for ever, and that no wait ends for that reason if there was no
 *     circle (several.c);
 *   - and, if members are in trouble one after the other only (rolling.c), that clients of the other members lose no lock.
 *
 * In some seeds each machine also has a client that holds many locks at once (hoards.c), and a member does the work of a change of the view
 * in pieces of one to three locks. In some hard cases a daemon needs some time for each piece, and handles no event meanwhile.
 *
 * Before the cluster begins, every seed also runs `dibs lock` over simulated processes (wrapper.c).
 *
 * Swarm: every seed draws its own mix of faults. The same seed gives the same run, to the byte. */
#ifndef DIBS_SOAK_SOAK_H
#define DIBS_SOAK_SOAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct dme_alg;

/* A hard case that is repeated for the whole run, with no other faults unless its line says so. */
enum soak_focus {
    SOAK_ALL,     /* drawn */
    SOAK_SQUEEZE, /* a lease rests on members that are removed one after the other */
    SOAK_REBORN,  /* all members but one crash at once and come back at once, and the one is cut off */
    SOAK_SHARING, /* no faults: many clients that may share a lock for long, and some that may not */
    SOAK_SLOTS,   /* a lock with slots, which clients lose */
    SOAK_DISKS,   /* machines crash while their disks are writing */
    SOAK_ALONE,   /* a daemon alone is ended in order, and started again; most clients have kept sessions */
    SOAK_KEPT,    /* kept sessions, and views that end before they have opened */
    SOAK_RESUME,  /* all faults; the clients that are not of kept.c use libdibs and have kept sessions */
    SOAK_HOARDS,  /* clients that hold very many locks, at slow members that lose their leases or give their locks up */
    SOAK_ROSTER,  /* a member comes and goes, while members are cut off, and clients move their kept sessions */
    SOAK_MOVES,   /* kept sessions are to move to members that end at that moment */
    SOAK_REDIS, /* all faults; some clients use tokens, by the scripts of Redis lock libraries or by the commands of dibs */
    SOAK_SEVERAL, /* all faults; the clients use libdibs, and request several locks, at once or, in every other seed, in any order */
    SOAK_OUTAGE, /* no member reaches another one for as long as sessions are kept, and then all do again, in the same view */
    SOAK_HASTY, /* as SOAK_KEPT; some clients ask CONFIRM before they have a session, and locks of kept sessions have TTLs */
    SOAK_LEASE, /* as SOAK_REBORN, and the members come back with another lease: all are restarted with it, the one that was cut off last */
    SOAK_LEADERS, /* all faults; requests have values, which HOLDERS shows; some sessions are kept */
    SOAK_CONFIG,  /* operators set the lease on which the members agree, while members crash and are cut off */
    SOAK_EXILES,  /* as SOAK_HASTY; members with many kept sessions are excluded, and slow to forget them */
    SOAK_AGENTS,  /* all faults, and those of agents, through which most clients connect; some sessions are kept */
    SOAK_UPGRADE, /* all faults; clients change the mode in which they hold a lock; some sessions are kept */
    SOAK_VERSIONS, /* all faults; members speak two versions of the protocol, and a restart may change that of a member */
    SOAK_KINDS,    /* all faults; clients dispute the kinds of a few names, with priorities */
    SOAK_RIGHTS, /* all faults; operators set the rights of clients, of which some have kept sessions, tokens or agents */
    SOAK_BARRIERS, /* kept sessions with several locks; connections break, and members crash, when a view has just begun */
};

struct soak_conf {
    uint64_t seed;
    uint32_t members; /* 0: drawn */
    uint32_t clients; /* 0: drawn */
    uint32_t agents;  /* SOAK_AGENTS; 0: drawn */
    uint32_t chaos_s; /* for how many simulated seconds faults happen */
    enum soak_focus focus;
    bool roster;  /* members are added and removed, too */
    bool calm;    /* no faults at all */
    bool patient; /* no member hurries for another one (node_conf.patient); else that is drawn */
    bool rolling; /* one trouble at a time, and a client of a member that is not in trouble loses no lock (rolling.c) */
    const struct dme_alg *algorithm, *slots_algorithm; /* null: drawn */
    FILE *trace; /* each event is written to it as a line; or null. The caller owns it */
};

struct soak_report {
    char failure[256]; /* the first check that failed, and when; or "" */
    char mix[256];     /* the faults and loads that were drawn */
    uint64_t simulated_ms;
    uint64_t events, grants, losses, views;
    uint64_t crashes, pauses, cuts, breaks, excluded, deadlocks;
};

/* Runs a soak, and fills in `report`. Returns false if a check failed. */
bool soak_run(const struct soak_conf *conf, struct soak_report *report);

#endif
