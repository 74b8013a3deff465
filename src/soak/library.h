/* library.h - a program of a soak that uses libdibs (library.c, nested.c). */
#ifndef DIBS_SOAK_LIBRARY_H
#define DIBS_SOAK_LIBRARY_H

#include "world.h"

#include "client/belief.h"

struct soak_library {
    struct belief belief;
    bool silent;
    bool turning;      /* the program is in the midst of something */
    bool listening;    /* the library has something to tell, and the program is about to hear it */
    bool was_away;     /* when the program called, something that the library had to do was overdue */
    bool keeps;        /* its session is kept */
    bool doubts;       /* it was told that its locks are in doubt */
    bool yields;       /* it was the victim of a deadlock, and releases all that it holds */
    char id[33];       /* of its session, as the daemon has told it; or "" */
    bool lost_before;  /* when the program asked for a confirmation, its daemon no longer held the lock for it */
    bool unlocks;      /* the program waits for the end of an unlock, and was not told that the lock is lost */
    char name[24];     /* the name by which its daemon knows it */
    int wanted, about; /* the lock that the program requests; the one that it unlocks, renews or confirms; or -1 */
    unsigned wants;    /* if it requests a lock: the set of all locks that it requests at once */
    struct soak_use asks[SOAK_NAMES]; /* how it requests them */
    char value[SOAK_NAMES][SOAK_VALUE_MAX];
    struct soak_use use[SOAK_NAMES]; /* what the program was told to hold */
    unsigned again[SOAK_NAMES];      /* how often it holds the lock besides (nested.c) */
    uint64_t timer_us;               /* when the next timer is set for, or 0 */
    uint64_t second, sends;          /* how often libdibs has sent something in this second */
};

uint64_t library_now_ms(const struct world *w, uint32_t k);

#endif
