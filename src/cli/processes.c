/* processes.c - see processes.h. The handful of calls that are needed are looked up by name, as Open MPI 4 and 5 have them: a
 * communicator or a type is the address of an object of the library. */
#include "processes.h"

#include "base/memory.h"
#include "cli.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct processes_mpi {
    void *world, *byte, *integer;
    int (*bcast)(void *, int, void *, int, void *);
    int (*gather)(const void *, int, void *, void *, int, void *, int, void *);
    int (*gatherv)(const void *, int, void *, void *, const int *, const int *, void *, int, void *);
    int (*finalize)(void);
};

static unsigned processes_variable(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    int x = text ? atoi(text) : 0;

    return text && x >= 0 ? (unsigned)x : otherwise;
}

static void *processes_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    if (!symbol)
        cli_die("started by mpirun, but the MPI library has no %s; is it Open MPI?", name);
    return symbol;
}

/* A function's address out of a data pointer, as POSIX has it. */
static void processes_function(void *library, const char *name, void *function)
{
    void *symbol = processes_symbol(library, name);

    memcpy(function, &symbol, sizeof symbol);
}

static struct processes_mpi *processes_load(void)
{
    struct processes_mpi *mpi = mem_new(sizeof *mpi);
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(int *, char ***);

    if (!library)
        library = dlopen("libmpi.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        cli_die("started by mpirun, but Open MPI's library is not there: %s", dlerror());
    mpi->world = processes_symbol(library, "ompi_mpi_comm_world");
    mpi->byte = processes_symbol(library, "ompi_mpi_byte");
    mpi->integer = processes_symbol(library, "ompi_mpi_int");
    processes_function(library, "MPI_Init", &init);
    processes_function(library, "MPI_Bcast", &mpi->bcast);
    processes_function(library, "MPI_Gather", &mpi->gather);
    processes_function(library, "MPI_Gatherv", &mpi->gatherv);
    processes_function(library, "MPI_Finalize", &mpi->finalize);
    if (init(NULL, NULL) != 0)
        cli_die("started by mpirun, but MPI cannot be initialised");
    return mpi;
}

struct processes processes_join(void)
{
    struct processes processes = {.rank = processes_variable("OMPI_COMM_WORLD_RANK", 0),
                                  .size = processes_variable("OMPI_COMM_WORLD_SIZE", 1),
                                  .local_size = processes_variable("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};

    if (processes.size > 1)
        processes.mpi = processes_load();
    return processes;
}

void processes_share(struct processes *processes, void *bytes, size_t size)
{
    if (processes->mpi && processes->mpi->bcast(bytes, (int)size, processes->mpi->byte, 0, processes->mpi->world) != 0)
        cli_die("MPI: a broadcast failed");
}

char *processes_gather(struct processes *processes, const char *text, size_t len)
{
    int mine = (int)len, *lens = mem_new(processes->size * sizeof *lens),
        *places = mem_new(processes->size * sizeof *places);
    struct processes_mpi *mpi = processes->mpi;
    size_t all = 0;
    char *gathered = NULL;

    if (len > INT_MAX / 2)
        cli_die("MPI: a table of more than 1 GB");
    lens[0] = mine;
    if (mpi && mpi->gather(&mine, 1, mpi->integer, lens, 1, mpi->integer, 0, mpi->world) != 0)
        cli_die("MPI: gathering failed");
    for (unsigned r = 0; r < processes->size; r++) {
        places[r] = (int)all;
        all += (size_t)lens[r];
    }
    if (processes->rank == 0)
        gathered = mem_new(all + 1);
    if (mpi) {
        if (mpi->gatherv(text, mine, mpi->byte, gathered, lens, places, mpi->byte, 0, mpi->world) != 0)
            cli_die("MPI: gathering failed");
    } else {
        memcpy(gathered, text, len);
    }
    free(lens);
    free(places);
    return gathered;
}

void processes_leave(struct processes *processes)
{
    if (processes->mpi)
        processes->mpi->finalize();
    free(processes->mpi);
}
