/* processes.h - several processes that share one sweep, started by mpirun, on one machine or many.
 *
 * Open MPI tells a process by its environment that it is one of several. Only then is its library loaded: dibs neither
 * needs it to be built nor to run alone. */
#ifndef DIBS_CLI_PROCESSES_H
#define DIBS_CLI_PROCESSES_H

#include <stddef.h>

struct crew {
    unsigned rank, size;  /* alone: 0 of 1 */
    unsigned local_size;  /* of those on this machine */
    struct crew_mpi *mpi; /* or null: alone */
};

/* cli_die if mpirun started us but the library cannot be used. */
struct crew crew_join(void);
/* Copies the bytes of the first process to all others. */
void crew_share(struct crew *crew, void *bytes, size_t size);
/* Returns the texts of all processes, one after the other in the order of ranks, to the first process, which frees it;
 * null to the others. */
char *crew_gather(struct crew *crew, const char *text, size_t len);
void crew_leave(struct crew *crew);

#endif
