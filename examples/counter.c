/* counter - many processes, on many machines, add to a number in a shared file, and no step is lost.
 *
 *   counter FILE TIMES
 *
 * The simplest use of the library: wait for a lock, do something, unlock. Build it with
 *   cc counter.c $(pkg-config --cflags --libs dibs) -o counter */
#include <dibs.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int add_one(const char *path)
{
    unsigned long n = 0;
    FILE *file = fopen(path, "r");

    if (file) {
        if (fscanf(file, "%lu", &n) != 1)
            n = 0;
        fclose(file);
    }
    file = fopen(path, "w");
    if (!file)
        return -1;
    fprintf(file, "%lu\n", n + 1);
    return fclose(file);
}

int main(int argc, char **argv)
{
    struct dibs *d;
    int code;

    if (argc != 3) {
        fprintf(stderr, "usage: counter FILE TIMES\n");
        return 2;
    }
    code = dibs_connect(&d, NULL, NULL);
    for (int k = atoi(argv[2]); k > 0 && code == DIBS_OK; k--) {
        const struct dibs_wish wish = {.wait_ms = 30000};
        uint64_t fence;

        code = dibs_lock(d, "counter", &wish, &fence);
        if (code != DIBS_OK)
            break;
        if (add_one(argv[1]) < 0)
            perror(argv[1]);
        code = dibs_unlock(d, "counter"); /* DIBS_LOST: another client may have changed it meanwhile */
    }
    if (code != DIBS_OK)
        fprintf(stderr, "counter: %s\n", dibs_message(d));
    dibs_close(d);
    return code == DIBS_OK ? 0 : 1;
}
