/* knock PORT: sends its input to a port of this machine, without an end; prints what comes back, until the other side ends
 * the connection. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct pollfd polled[2] = {{.events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char bytes[4096];
    ssize_t len;

    address.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        perror("knock");
        return 2;
    }
    polled[0].fd = fd;
    alarm(60); /* against waiting for ever only */
    for (;;) {
        poll(polled, 2, -1);
        if (polled[0].revents) {
            len = recv(fd, bytes, sizeof bytes, 0);
            if (len <= 0)
                return 0;
            fwrite(bytes, 1, (size_t)len, stdout);
        }
        if (polled[1].revents) {
            len = read(STDIN_FILENO, bytes, sizeof bytes);
            if (len <= 0)
                polled[1].fd = -1;
            else if (send(fd, bytes, (size_t)len, MSG_NOSIGNAL) < 0)
                return 0;
        }
    }
}
