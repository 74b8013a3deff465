/* idle_client SOCKET: a client that does not call the library for a while and then waits without a limit for another
 * lock. It prints "held", waits for a line of input, and requests the second lock. Then it prints "lost NAME" for each
 * loss, and how the wait ended. */
#include <dibs.h>
#include <stdio.h>

static void lost(void *user, const char *name, uint64_t fence, const char *why)
{
    (void)user, (void)fence;
    printf("lost %s: %s\n", name, why);
}

int main(int argc, char **argv)
{
    struct dibs *d;
    int code;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || dibs_connect(&d, argv[1], NULL) != DIBS_OK)
        return 2;
    dibs_on_lost(d, lost, NULL);
    if (dibs_lock(d, "quiet", NULL, NULL) != DIBS_OK)
        return 2;
    printf("held\n");
    getchar();
    code = dibs_lock(d, "other", NULL, NULL);
    printf("%s\n", code == DIBS_GONE ? "gone" : "not gone");
    dibs_close(d);
    return 0;
}
