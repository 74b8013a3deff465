/* contend SECONDS CLIENTS one|own PLACE...: so many clients, spread over the daemons at these places, take and release a
 * lock as fast as they can, all the same one or each its own. Prints how often all of them together did so per second,
 * and how much more often the most than the least served.
 *
 *   cc contend.c $(pkg-config --cflags --libs dibs) -o contend */
#include <dibs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void client(const char *place, const char *name, double seconds, volatile double *entries)
{
    struct dibs *d;
    double end;

    if (dibs_connect(&d, place, NULL) != DIBS_OK) {
        fprintf(stderr, "contend: %s\n", dibs_message(d));
        _exit(1);
    }
    for (end = now_s() + seconds; now_s() < end; *entries += 1)
        if (dibs_lock(d, name, NULL, NULL) != DIBS_OK || dibs_unlock(d, name) != DIBS_OK) {
            fprintf(stderr, "contend: %s\n", dibs_message(d));
            _exit(1);
        }
    dibs_close(d);
    _exit(0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 4 ? atof(argv[1]) : 0, all = 0, most = 0, least = 1e18;
    int clients = argc > 4 ? atoi(argv[2]) : 0, status, failed = 0;
    double *entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (clients < 1 || clients > 500) {
        fprintf(stderr, "usage: contend SECONDS CLIENTS one|own PLACE...\n");
        return 2;
    }
    for (int k = 0; k < clients; k++) {
        char name[32] = "x";

        if (strcmp(argv[3], "own") == 0)
            snprintf(name, sizeof name, "x%d", k);
        if (fork() == 0)
            client(argv[4 + k % (argc - 4)], name, seconds, &entries[k]);
    }
    while (wait(&status) > 0)
        failed |= status;
    for (int k = 0; k < clients; k++) {
        all += entries[k];
        most = entries[k] > most ? entries[k] : most;
        least = entries[k] < least ? entries[k] : least;
    }
    printf("%.0f %.2f\n", all / seconds, most / least);
    return failed != 0;
}
