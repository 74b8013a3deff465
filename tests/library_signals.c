/* library_signals PLACE: a program whose timer interrupts the calls of the system that libdibs makes. Prints nothing, or which fact does not hold. */
#include <dibs.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HOLDS(fact)                                                                                                    \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            printf("line %d: %s\n", __LINE__, #fact);                                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static void interrupt(int number)
{
    (void)number;
}

static int interrupt_every(suseconds_t us)
{
    const struct sigaction action = {.sa_handler = interrupt}; /* without SA_RESTART */
    const struct itimerval often = {{0, us}, {0, us}};

    return sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0;
}

static int locks_and_unlocks(const char *place)
{
    struct dibs *one = NULL, *two = NULL;

    HOLDS(dibs_connect(&one, place, NULL) == DIBS_OK && dibs_connect(&two, place, NULL) == DIBS_OK);
    HOLDS(dibs_lock(two, "x", NULL, NULL) == DIBS_OK);
    HOLDS(dibs_lock(one, "x", &(struct dibs_wish){.wait_ms = 300}, NULL) == DIBS_TIMEOUT);
    for (unsigned k = 0; k < 300; k++) {
        HOLDS(dibs_lock(one, "y", NULL, NULL) == DIBS_OK && dibs_confirm(one, "y") == DIBS_OK);
        HOLDS(dibs_unlock(one, "y") == DIBS_OK);
    }
    dibs_close(one);
    dibs_close(two);
    return 0;
}

/* A server that accepts no connection, and whose queue is full: the system does not answer another caller. */
static int gives_up_silence(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct dibs *d = NULL;
    char place[32];

    HOLDS(bind(server, (struct sockaddr *)&address, len) == 0 && listen(server, 0) == 0);
    HOLDS(getsockname(server, (struct sockaddr *)&address, &len) == 0);
    for (unsigned k = 0; k < 8; k++) {
        int caller = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

        HOLDS(connect(caller, (struct sockaddr *)&address, len) == 0 || errno == EINPROGRESS);
    }
    snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(address.sin_port));
    HOLDS(dibs_connect(&d, place, NULL) == DIBS_GONE);
    dibs_close(d);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || !interrupt_every(1000) || locks_and_unlocks(argv[1]) != 0)
        return 1;
    return interrupt_every(100000) ? gives_up_silence() : 1;
}
