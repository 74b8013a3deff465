/* fenced - a write that cannot do harm, even if its lock was lost a moment ago.
 *
 *   fenced STORE NAME TEXT [SECONDS]
 *
 * No lock service can prevent that a process is stopped for a minute right after it has asked "do I still hold it?".
 * When the process goes on, another client may hold the lock. So every grant has a fencing token that is larger than
 * the tokens of all earlier grants. The resource that the lock protects remembers the largest token that it has seen
 * and refuses smaller ones. Here the resource is a file: its first line is the token, its second line the text.
 *
 * With SECONDS, the program sleeps so long between the lock and the write, as if it had been stopped. */
#include <dibs.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* What a database, a queue or a device does that knows of fences: compare and write in one step. 0; 1: refused. */
static int store_write(const char *path, uint64_t fence, const char *text)
{
    uint64_t seen = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), refused;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r+");

    if (!file || flock(fd, LOCK_EX) < 0) {
        perror(path);
        exit(1);
    }
    if (fscanf(file, "%" SCNu64, &seen) != 1)
        seen = 0;
    refused = fence < seen;
    if (!refused) {
        rewind(file);
        fprintf(file, "%" PRIu64 "\n%s\n", fence, text);
        fflush(file);
        if (ftruncate(fd, ftell(file)) < 0)
            perror(path);
    }
    fclose(file);
    return refused;
}

int main(int argc, char **argv)
{
    struct dibs *d;
    uint64_t fence;
    int code;

    if (argc < 4) {
        fprintf(stderr, "usage: fenced STORE NAME TEXT [SECONDS]\n");
        return 2;
    }
    code = dibs_connect(&d, NULL, NULL);
    if (code == DIBS_OK)
        code = dibs_lock(d, argv[2], NULL, &fence);
    if (code != DIBS_OK) {
        fprintf(stderr, "fenced: %s\n", dibs_message(d));
        dibs_close(d);
        return 1;
    }
    if (argc > 4)
        sleep((unsigned)atoi(argv[4]));
    code = store_write(argv[1], fence, argv[3]);
    printf(code ? "refused: token %" PRIu64 " is too old\n" : "written with token %" PRIu64 "\n", fence);
    dibs_close(d);
    return code;
}
