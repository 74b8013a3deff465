/* prove.h - what is proved: one row is a claim, the command that proves it, the figure that it must reach, and a mutant of
 * which the same command must not say so.
 *
 * A row's command is one of dibs that understands --format json: it exits with status 0 if the claim holds, and prints
 * "states", the size of the proof. What dibs cannot run itself (another program's proof) begins with "./". Its figure is not
 * checked here. */
#ifndef DIBS_CLI_PROVE_H
#define DIBS_CLI_PROVE_H

#include <stdbool.h>
#include <stdint.h>

enum prove_part { PROVE_REQUESTS, PROVE_SITES, PROVE_SERVICE, PROVE_MEMORY, PROVE_PARTS };

struct prove_row {
    enum prove_part part;
    const char *subject; /* an algorithm, or a part of the service */
    const char *claim;   /* "exclusion, no deadlock, no starvation" */
    const char *bounds;  /* sites, requests and what else the claim is limited to */
    const char *how;     /* the method, in few words */
    const char *command; /* without "dibs"; or "./..." */
    uint64_t states;     /* that it must have; 0: any number */
    bool takes_long;     /* more than a few seconds: only with --all */
    /* What makes the command fail: the arguments of a command that must exit with status 1; or "mutant: NAME", where NAME is
     * the comment above it in tests/mutants.txt: tests/mutants.sh builds it and runs this row's command with it. */
    const char *mutant;
};
extern const struct prove_row prove_rows[]; /* ends with a null subject */

#endif
