/* pipeline SECONDS PLACE: commands per second, if a client sends many before it reads an answer: LOCK x, UNLOCK x, and so
 * on, two batches under way at any time. */
#include "contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS = 64, PAIR_LINES = 5 /* of the answers: an array of two, and OK */ };

static void hear(int fd)
{
    static long left; /* lines of the next batch that came with the last one */
    char bytes[1 << 14];
    long len, lines = left;

    while (lines < PAIRS * PAIR_LINES) {
        len = read(fd, bytes, sizeof bytes);
        if (len <= 0)
            die("the daemon has gone");
        for (long k = 0; k < len; k++) {
            lines += bytes[k] == '\n';
            if (bytes[k] == '-')
                die("the daemon says %.*s", (int)(len - k), bytes + k);
        }
    }
    left = lines - PAIRS * PAIR_LINES;
}

int main(int argc, char **argv)
{
    static const char pair[] = "*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n*2\r\n$6\r\nUNLOCK\r\n$1\r\nx\r\n";
    char batch[PAIRS * sizeof pair];
    double from, seconds = argc == 3 ? atof(argv[1]) : 0, commands = 0;
    size_t len = sizeof pair - 1;
    int fd;

    if (seconds <= 0) {
        fprintf(stderr, "usage: pipeline SECONDS PLACE\n");
        return 2;
    }
    for (int k = 0; k < PAIRS; k++)
        memcpy(batch + (size_t)k * len, pair, len);
    fd = reach(argv[2]);
    write_all(fd, batch, PAIRS * len);
    for (from = now_s(); now_s() < from + seconds; commands += 2 * PAIRS) {
        write_all(fd, batch, PAIRS * len);
        hear(fd);
    }
    printf("%.0f\n", commands / (now_s() - from));
    return 0;
}
