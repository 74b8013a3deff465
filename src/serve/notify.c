/* notify.c - reports the daemon's state to the service manager that has started it (systemd, Type=notify).
 *
 * The protocol is one datagram for each message, to the socket that $NOTIFY_SOCKET names: lines "READY=1" (clients can
 * connect), "STOPPING=1", "STATUS=text". Without that variable nothing is sent. If a message cannot be sent, the daemon
 * goes on: the manager has its own limits for how long it waits. */
#include "serve.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *format, ...)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char text[512];
    va_list args;
    int fd;

    if (len < 2 || len >= sizeof to.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(to.sun_path, path, len);
    if (*path == '@')
        to.sun_path[0] = '\0'; /* a name that is no file */
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)); /* it may have no room, or be gone */
    close(fd);
}
