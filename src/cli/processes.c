/* processes.c - see processes.h. The handful of calls that are needed are looked up by name, as Open MPI 4 and 5 have them: a
 * communicator or a type is the address of an object of the library. */
#include "processes.h"

#include "base/memory.h"
#include "cli.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct crew_mpi {
    void *world, *byte, *integer;
    int (*bcast)(void *, int, void *, int, void *);
    int (*gather)(const void *, int, void *, void *, int, void *, int, void *);
    int (*gatherv)(const void *, int, void *, void *, const int *, const int *, void *, int, void *);
    int (*finalize)(void);
};

static unsigned crew_variable(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    int x = text ? atoi(text) : 0;

    return text && x >= 0 ? (unsigned)x : otherwise;
}

static void *crew_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    if (!symbol)
        cli_die("started by mpirun, but the MPI library has no %s; is it Open MPI?", name);
    return symbol;
}

/* A function's address out of a data pointer, as POSIX has it. */
static void crew_function(void *library, const char *name, void *function)
{
    void *symbol = crew_symbol(library, name);

    memcpy(function, &symbol, sizeof symbol);
}

static struct crew_mpi *crew_load(void)
{
    struct crew_mpi *mpi = mem_new(sizeof *mpi);
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(int *, char ***);

    if (!library)
        library = dlopen("libmpi.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        cli_die("started by mpirun, but Open MPI's library is not there: %s", dlerror());
    mpi->world = crew_symbol(library, "ompi_mpi_comm_world");
    mpi->byte = crew_symbol(library, "ompi_mpi_byte");
    mpi->integer = crew_symbol(library, "ompi_mpi_int");
    crew_function(library, "MPI_Init", &init);
    crew_function(library, "MPI_Bcast", &mpi->bcast);
    crew_function(library, "MPI_Gather", &mpi->gather);
    crew_function(library, "MPI_Gatherv", &mpi->gatherv);
    crew_function(library, "MPI_Finalize", &mpi->finalize);
    if (init(NULL, NULL) != 0)
        cli_die("started by mpirun, but MPI cannot be initialised");
    return mpi;
}

struct crew crew_join(void)
{
    struct crew crew = {.rank = crew_variable("OMPI_COMM_WORLD_RANK", 0),
                        .size = crew_variable("OMPI_COMM_WORLD_SIZE", 1),
                        .local_size = crew_variable("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};

    if (crew.size > 1)
        crew.mpi = crew_load();
    return crew;
}

void crew_share(struct crew *crew, void *bytes, size_t size)
{
    if (crew->mpi && crew->mpi->bcast(bytes, (int)size, crew->mpi->byte, 0, crew->mpi->world) != 0)
        cli_die("MPI: a broadcast failed");
}

char *crew_gather(struct crew *crew, const char *text, size_t len)
{
    int mine = (int)len, *lens = mem_new(crew->size * sizeof *lens), *places = mem_new(crew->size * sizeof *places);
    struct crew_mpi *mpi = crew->mpi;
    size_t all = 0;
    char *gathered = NULL;

    if (len > INT_MAX / 2)
        cli_die("MPI: a table of more than 1 GB");
    lens[0] = mine;
    if (mpi && mpi->gather(&mine, 1, mpi->integer, lens, 1, mpi->integer, 0, mpi->world) != 0)
        cli_die("MPI: gathering failed");
    for (unsigned r = 0; r < crew->size; r++) {
        places[r] = (int)all;
        all += (size_t)lens[r];
    }
    if (crew->rank == 0)
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

void crew_leave(struct crew *crew)
{
    if (crew->mpi)
        crew->mpi->finalize();
    free(crew->mpi);
}
