/* A network that does not last: passes connections on from one port of this machine to another, in small pieces, and cuts
 * each of them after some bytes, what is under way included.
 *
 *   cutter FROM TO SEED    until it is killed; the number of cuts so far is in the file that standard output is */
#include "test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS = 8, LIVES = 1000 };

struct pair {
    int end[2];
    long left; /* bytes until it is cut */
};

static struct sockaddr_in cutter_address(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int cutter_listen(const char *port)
{
    struct sockaddr_in address = cutter_address(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, PAIRS) < 0) {
        perror("cutter");
        exit(1);
    }
    return fd;
}

static void cutter_accept(int door, const char *to, struct pair *pair, uint64_t *seed)
{
    struct sockaddr_in address = cutter_address(to);

    pair->end[0] = accept(door, NULL, NULL);
    pair->end[1] = socket(AF_INET, SOCK_STREAM, 0);
    pair->left = 160 + test_below(seed, LIVES); /* enough to say HELLO */
    if (connect(pair->end[1], (struct sockaddr *)&address, sizeof address) < 0)
        pair->left = 0;
}

/* From one end to the other. Returns false if it is over. */
static bool cutter_pass(struct pair *pair, int from, uint64_t *seed)
{
    char bytes[256];
    ssize_t len = read(pair->end[from], bytes, 1 + test_below(seed, sizeof bytes));

    if (len <= 0 || len > pair->left)
        return false;
    pair->left -= len;
    return send(pair->end[1 - from], bytes, (size_t)len, MSG_NOSIGNAL) == len;
}

int main(int argc, char **argv)
{
    struct pair pair[PAIRS] = {{{0}, 0}};
    struct pollfd polled[1 + 2 * PAIRS];
    uint64_t seed = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    unsigned cuts = 0;
    int door;

    if (argc != 4)
        return 2;
    door = cutter_listen(argv[1]);
    for (;;) {
        polled[0] = (struct pollfd){.fd = door, .events = POLLIN};
        for (unsigned k = 0; k < 2 * PAIRS; k++)
            polled[1 + k] = (struct pollfd){.fd = pair[k / 2].end[0] ? pair[k / 2].end[k % 2] : -1, .events = POLLIN};
        poll(polled, 1 + 2 * PAIRS, -1);
        for (unsigned k = 0; k < 2 * PAIRS; k++)
            if (pair[k / 2].end[0] && polled[1 + k].revents && !cutter_pass(&pair[k / 2], k % 2, &seed)) {
                close(pair[k / 2].end[0]);
                close(pair[k / 2].end[1]);
                pair[k / 2].end[0] = 0;
                rewind(stdout);
                printf("%u\n", ++cuts);
                fflush(stdout);
            }
        for (unsigned k = 0; polled[0].revents && k < PAIRS; k++)
            if (!pair[k].end[0]) {
                cutter_accept(door, argv[2], &pair[k], &seed);
                break;
            }
    }
}
