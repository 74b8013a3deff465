/* scenario.h - tests as stories: a file of commands, each block followed by what it makes happen.
 *
 *     # Two sites claim at once with equal clocks: the lower number goes first, the other waits.
 *     sites 3
 *     request 0
 *     request 2
 *     ----
 *     0 waits  -> 1 REQUEST[1.0]  -> 2 REQUEST[1.0]
 *     2 waits  -> 0 REQUEST[1.2]  -> 1 REQUEST[1.2]
 *
 * A block is its commands, a line of four dashes, the output, an empty line. Lines that begin with # are comments. The
 * commands that set the scene come before the first move:
 *
 *     algorithm NAME           else the file is named after it: maekawa-deadlock.txt
 *     sites N
 *     rule slots:2             else the first that the algorithm knows
 *     set KEY=VALUE            an option of the algorithm
 *     order fifo|any           else what the algorithm needs
 *     recorded                 the run was recorded (replay.h)
 *
 * and those that make something happen, or show what has:
 *
 *     request SITE [MODE]      release SITE      timer SITE TIMER
 *     deliver FROM TO [KIND [NTH]]   the oldest message between them (of that kind; NTH 1 is the second oldest)
 *     lose FROM TO [KIND [NTH]]      duplicate FROM TO [KIND [NTH]]      for networks that are not reliable
 *     settle                   deliver everything, oldest first, until nothing is in flight; no site leaves
 *     crash SITE        restart SITE (it has forgotten everything)        resume SITE (it has not)
 *     join SITE         leave SITE            where the algorithm knows of members
 *     cut SITE...       these are cut off from all others                 heal
 *     suspect SITE      the others are told that it is down, and it is not
 *     show [SITE]              the state of a site, or of all
 *     flight                   the messages in flight, oldest first
 *
 * and those of runs that were recorded, and may begin in the midst:
 *
 *     state SITE COUNT BYTES   the states of COUNT sites from SITE on (lock/dormant.h); before the first move
 *     before FIRST COUNT EVENT   an event of one of these sites by itself: request SITE MODE, release SITE, get SITE FROM BYTES or
 *                              local SITE FROM; before the first move
 *     inflight FROM TO BYTES   a message that is in flight (core/wire.h); before the first move
 *     recorded AGE enters|- BYTES   of the last move: ms before the record was read; did the site enter; which message arrived, or -
 *
 * The bytes of a state are believed: they could make an algorithm do anything. So `state` is possible only where that can do no harm, in
 * the sandbox of a browser (scenario_replay). */
#ifndef DIBS_LAB_SCENARIO_H
#define DIBS_LAB_SCENARIO_H

#include "moves.h"

struct scenario_error {
    unsigned line;
    char text[400];
};

/* Plays the scenario in text; path only gives a name. *played is then the same text with the output that really came,
 * to be freed: if the two are equal, all is as expected. False if a line makes no sense: see error. */
bool scenario_play(const char *path, const char *text, char **played, struct scenario_error *error);

/* The same, for the run: its moves, and its remarks, which are the comments behind the first command. */
bool scenario_run(const char *path, const char *text, struct moves *run, struct scenario_error *error);
void scenario_run_free(struct moves *run);
/* The same, also for recorded runs that begin in the midst. A move of a recorded run that is impossible ends it, and is a verdict. */
bool scenario_replay(const char *path, const char *text, struct moves *run, struct scenario_error *error);

#endif
