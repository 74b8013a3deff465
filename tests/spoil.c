/* spoil.c - loaded before a daemon (LD_PRELOAD), makes writes to a Unix socket fail, as if the system had no memory. After SIGUSR2, the
 * first connection over a Unix socket to which the daemon writes is spoiled: this write fails, and so do the next ones to it, SPOIL_WRITES
 * in all. Until then, and after that, everything is as usual. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SPOIL_WRITES = 2 }; /* libuv tries at once, and then again */

static atomic_int spoil_left, spoil_fd = -1;

static bool spoil_hits(int fd)
{
    int type = 0, domain = 0, none = -1;
    socklen_t len = sizeof type;

    if (!spoil_left || getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || type != SOCK_STREAM)
        return false;
    if (!atomic_compare_exchange_strong(&spoil_fd, &none, fd) && none != fd)
        return false;
    spoil_left--;
    errno = ENOMEM;
    return true;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    return spoil_hits(fd) ? -1 : syscall(SYS_write, fd, bytes, len);
}

ssize_t writev(int fd, const struct iovec *bytes, int count)
{
    return spoil_hits(fd) ? -1 : syscall(SYS_writev, fd, bytes, count);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return spoil_hits(fd) ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

static void spoil_begins(int signal_number)
{
    (void)signal_number;
    spoil_fd = -1;
    spoil_left = SPOIL_WRITES;
}

static void __attribute__((constructor)) spoil_start(void)
{
    signal(SIGUSR2, spoil_begins);
}
