/* contend MAKER SECONDS CLIENTS one|own PLACE...: CLIENTS clients, spread over the servers at these places, take and
 * release a lock as fast as they can, all the same one or each its own. Prints how often all of them together did so per
 * second; how much more often the most than the least served; and how many microseconds the first of them took, mostly:
 * the median of its last thousands. */
#include "contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MAX = 500, SAMPLES = 1 << 14 };

static struct shared {
    volatile int ready, go;
    double entries[CLIENTS_MAX], took[SAMPLES];
} * shared;

static void client(const struct maker *maker, char **place, int places, int k, const char *name, double seconds)
{
    void *c = maker->connect(place, places, k);
    double from, to, end;

    __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
    while (!shared->go)
        usleep(1000);
    from = now_s();
    for (end = from + seconds; from < end; from = to) {
        maker->lock(c, name);
        maker->unlock(c, name);
        to = now_s();
        if (k == 0)
            shared->took[(size_t)shared->entries[0] % SAMPLES] = to - from;
        shared->entries[k] += 1;
    }
    _exit(0);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double seconds = argc > 5 ? atof(argv[2]) : 0, all = 0, most = 0, least = 1e18;
    int clients = argc > 5 ? atoi(argv[3]) : 0, status, failed = 0;
    size_t samples;

    if (clients < 1 || clients > CLIENTS_MAX) {
        fprintf(stderr, "usage: contend MAKER SECONDS CLIENTS one|own PLACE...\n");
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int k = 0; k < clients; k++) {
        char name[32] = "x";

        if (strcmp(argv[4], "own") == 0)
            snprintf(name, sizeof name, "x%d", k);
        if (fork() == 0)
            client(maker_find(argv[1]), argv + 5, argc - 5, k, name, seconds);
    }
    while (shared->ready < clients && waitpid(-1, &status, WNOHANG) == 0)
        usleep(1000);
    shared->go = 1;
    while (wait(&status) > 0)
        failed |= status;
    if (failed || shared->ready < clients)
        return 1;
    for (int k = 0; k < clients; k++) {
        all += shared->entries[k];
        most = shared->entries[k] > most ? shared->entries[k] : most;
        least = shared->entries[k] < least ? shared->entries[k] : least;
    }
    samples = shared->entries[0] < SAMPLES ? (size_t)shared->entries[0] : SAMPLES;
    qsort(shared->took, samples, sizeof *shared->took, by_size);
    printf("%.0f %.2f %.1f\n", all / seconds, most / least, shared->took[samples / 2] * 1e6);
    return 0;
}
