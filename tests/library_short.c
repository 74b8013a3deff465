/* library_short PLACE: a program whose system has no memory for what libdibs sends, now and then. Prints nothing, or which fact does not hold. */
#include <dibs.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLDS(fact)                                                                                                    \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            printf("line %d: %s, errno %d\n", __LINE__, #fact, error);                                                 \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static unsigned fails; /* that many calls fail */
static int error;

/* libdibs calls this in place of that of the C library. */
ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    if (!fails)
        return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
    fails--;
    errno = error;
    return -1;
}

/* A lock is lost by no such failure. Above all, the daemon grants it to no other client while the program believes in it (I20). */
static int holds_on(struct dibs *one, struct dibs *two)
{
    uint64_t fence = 0;

    fails = 2;
    HOLDS(dibs_lock(one, "x", &(struct dibs_wish){.ttl_ms = 60000}, &fence) == DIBS_OK && !fails);
    fails = 1;
    HOLDS(dibs_start_renew(one, "x", 60000) == DIBS_OK && !fails);
    HOLDS(dibs_lock(two, "x", &(struct dibs_wish){.wait_ms = 200}, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_fence(one, "x") == fence && dibs_confirm(one, "x") == DIBS_OK);
    fails = 3;
    HOLDS(dibs_unlock(one, "x") == DIBS_OK && !fails);
    HOLDS(dibs_try(two, "x", NULL, NULL) == DIBS_OK && dibs_unlock(two, "x") == DIBS_OK);
    return 0;
}

int main(int argc, char **argv)
{
    static const int errors[] = {ENOBUFS, ENOMEM};
    struct dibs *one = NULL, *two = NULL;

    if (argc != 2)
        return 2;
    for (unsigned k = 0; k < 2; k++) {
        error = errors[k];
        fails = 1;
        HOLDS(dibs_connect(&one, argv[1], NULL) == DIBS_OK && !fails);
        HOLDS(dibs_connect(&two, argv[1], NULL) == DIBS_OK);
        if (holds_on(one, two) != 0)
            return 1;
        dibs_close(one);
        dibs_close(two);
    }
    return 0;
}
