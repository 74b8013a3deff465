/* send_port PORT [COUNT]: sends its standard input to a port of this machine, over COUNT connections (default 1), and
 * leaves them open at the end of the input. Prints what comes back, until the other side has closed all connections. */
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 900 };

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct pollfd polled[MOST + 1];
    int count = argc > 2 ? atoi(argv[2]) : 1, open = 0;
    char bytes[4096];
    ssize_t len;

    address.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));
    for (; open < count && open < MOST; open++) {
        polled[open] = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN};
        if (connect(polled[open].fd, (struct sockaddr *)&address, sizeof address) < 0) {
            perror("send_port");
            return 2;
        }
    }
    count = open;
    polled[count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    alarm(60); /* against waiting for ever only */
    while (open) {
        poll(polled, (nfds_t)count + 1, -1);
        for (int k = 0; k < count; k++)
            if (polled[k].fd >= 0 && polled[k].revents) {
                len = recv(polled[k].fd, bytes, sizeof bytes, 0);
                if (len > 0)
                    fwrite(bytes, 1, (size_t)len, stdout);
                else
                    close(polled[k].fd), polled[k].fd = -1, open--;
            }
        if (polled[count].fd < 0 || !polled[count].revents)
            continue;
        len = read(STDIN_FILENO, bytes, sizeof bytes);
        if (len <= 0)
            polled[count].fd = -1;
        for (int k = 0; k < count; k++)
            if (polled[k].fd >= 0 && len > 0 && send(polled[k].fd, bytes, (size_t)len, MSG_NOSIGNAL) < 0)
                close(polled[k].fd), polled[k].fd = -1, open--;
    }
    return 0;
}
