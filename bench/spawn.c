/* spawn TIMES COMMAND...: runs a command TIMES times, one after the other, and prints how many milliseconds it takes, as the median. */
#include "contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[1]) : 0, status;
    double *took;

    if (times < 1) {
        fprintf(stderr, "usage: spawn TIMES COMMAND...\n");
        return 2;
    }
    took = calloc((size_t)times, sizeof *took);
    for (int k = 0; k < times; k++) {
        double from = now_s();
        pid_t pid = vfork();

        if (pid == 0) {
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        if (waitpid(pid, &status, 0) != pid || status)
            die("%s does not end well", argv[2]);
        took[k] = (now_s() - from) * 1e3;
    }
    qsort(took, (size_t)times, sizeof *took, by_size);
    printf("%.3f\n", took[times / 2]);
    return 0;
}
