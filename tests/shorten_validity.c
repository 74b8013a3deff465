/* A proxy between clients and their daemon that shortens validities: an answer of an hour becomes MS milliseconds. If
 * this process is stopped, its clients see a daemon that has stopped.
 *
 *   shorten_validity PATH DAEMON MS    until it is killed */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS = 8 };

static int validity_socket(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

/* Passes on what has come at one end. Returns false if that has ended. */
static int validity_pass(int from, int to, const char *ms)
{
    static const char hour[] = ":3600000\r\n";
    char bytes[1 << 16], *at;
    ssize_t len = read(from, bytes, sizeof bytes - 64);

    if (len <= 0)
        return 0;
    if (ms && (at = memmem(bytes, (size_t)len, hour, strlen(hour)))) {
        size_t before = (size_t)(at - bytes), behind = (size_t)len - before - strlen(hour);

        if (write(to, bytes, before) < 0 || dprintf(to, ":%s\r\n", ms) < 0)
            return 0;
        return write(to, at + strlen(hour), behind) >= 0;
    }
    return write(to, bytes, (size_t)len) == len;
}

int main(int argc, char **argv)
{
    struct pollfd polled[1 + 2 * PAIRS];
    struct sockaddr_un here, there;

    if (argc != 4)
        return 2;
    memset(polled, 0xff, sizeof polled); /* descriptor -1: none */
    for (unsigned k = 0; k < 1 + 2 * PAIRS; k++)
        polled[k].events = POLLIN;
    polled[0].fd = validity_socket(argv[1], &here);
    if (bind(polled[0].fd, (struct sockaddr *)&here, sizeof here) < 0 || listen(polled[0].fd, PAIRS) < 0)
        return 1;
    while (poll(polled, 1 + 2 * PAIRS, -1) > 0) {
        for (unsigned k = 1; k < 1 + 2 * PAIRS; k += 2) {
            struct pollfd *client = &polled[k], *daemon = &polled[k + 1];

            if (client->fd < 0 && polled[0].revents) {
                polled[0].revents = 0;
                client->fd = accept(polled[0].fd, NULL, NULL);
                daemon->fd = validity_socket(argv[2], &there);
                if (connect(daemon->fd, (struct sockaddr *)&there, sizeof there) < 0)
                    return 1;
            } else if (client->fd >= 0 && ((client->revents && !validity_pass(client->fd, daemon->fd, NULL)) ||
                                           (daemon->revents && !validity_pass(daemon->fd, client->fd, argv[3])))) {
                close(client->fd);
                close(daemon->fd);
                client->fd = daemon->fd = -1;
            }
        }
    }
    return 0;
}
