/* death MAKER PLACE...: a client holds a lock, another one waits for it, the first is killed (-9). Prints how many
 * milliseconds pass until the second has the lock: the median of twenty-one deaths, and the longest. */
#include "contend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEATHS = 21 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A child of number k that takes the lock, says when it has it, and sleeps. */
static pid_t taker(const struct maker *maker, char **place, int places, int k, int fd)
{
    pid_t pid = fork();

    if (pid == 0) {
        void *c = maker->connect(place, places, k);
        double when;

        maker->lock(c, "mortal");
        when = now_s();
        write_all(fd, &when, sizeof when);
        pause();
        _exit(0);
    }
    return pid;
}

static double hear(int fd)
{
    double when;

    if (read(fd, &when, sizeof when) != sizeof when)
        die("no client was granted the lock");
    return when;
}

int main(int argc, char **argv)
{
    double took[DEATHS], killed;
    pid_t holder, waiter;
    int fd[2];

    if (argc < 3 || pipe(fd)) {
        fprintf(stderr, "usage: death MAKER PLACE...\n");
        return 2;
    }
    for (int k = 0; k < DEATHS; k++) {
        holder = taker(maker_find(argv[1]), argv + 2, argc - 2, k, fd[1]);
        hear(fd[0]);
        waiter = taker(maker_find(argv[1]), argv + 2, argc - 2, k + 1, fd[1]);
        usleep(100000); /* by now it waits */
        killed = now_s();
        kill(holder, SIGKILL);
        took[k] = (hear(fd[0]) - killed) * 1e3;
        kill(waiter, SIGKILL);
        while (wait(NULL) > 0)
            ;
    }
    qsort(took, DEATHS, sizeof *took, by_size);
    printf("%.2f %.2f\n", took[DEATHS / 2], took[DEATHS - 1]);
    return 0;
}
