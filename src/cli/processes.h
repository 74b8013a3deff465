/* processes.h - several processes that share one sweep, started by mpirun, on one machine or many.
 *
 * Open MPI tells a process by its environment that it is one of several. Only then is its library loaded: dibs neither
 * needs it to be built nor to run alone. */
#ifndef DIBS_CLI_PROCESSES_H
#define DIBS_CLI_PROCESSES_H

#include <stddef.h>

struct processes {
    unsigned rank, size;       /* alone: 0 of 1 */
    unsigned local_size;       /* of those on this machine */
    struct processes_mpi *mpi; /* or null: alone */
};

/* cli_die if mpirun started us but the library cannot be used. */
struct processes processes_join(void);
/* Copies the bytes of the first process to all others. */
void processes_share(struct processes *processes, void *bytes, size_t size);
/* Returns the texts of all processes, one after the other in the order of ranks, to the first process, which frees it;
 * null to the others. */
char *processes_gather(struct processes *processes, const char *text, size_t len);
void processes_leave(struct processes *processes);

#endif
