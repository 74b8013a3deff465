/* place.c - see place.h. */
#include "place.h"

#include "dibs.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_MS = 5000, CROWD_MS = 10, MEMORY_MS = 1 };

/* The choice does not depend on which daemon runs. Otherwise a client would take locks at another daemon than all others while the right one is
 * being restarted. The directory of the system's socket stays while its daemon is away. */
const char *dibs_socket_path(void)
{
    static const char of_system[] = "/run/dibs";
    static _Thread_local char path[128];
    const char *chosen = secure_getenv("DIBS_SOCKET"), *runtime = secure_getenv("XDG_RUNTIME_DIR");

    if (chosen && *chosen)
        return chosen;
    if (!runtime || !*runtime || access(of_system, F_OK) == 0)
        runtime = of_system;
    snprintf(path, sizeof path, "%s/dibs.sock", runtime);
    return path;
}

int place_result(int fd)
{
    int error = 0;
    socklen_t len = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? errno : error;
}

static uint64_t place_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits until the connection is made. Returns 0, or an error of the system. Signals of the program, such as those of a timer, make the wait neither
 * longer nor shorter. */
static int place_wait(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    const uint64_t until_ms = place_now_ms() + CONNECT_MS;
    uint64_t now_ms;
    int ready;

    do {
        now_ms = place_now_ms();
        ready = poll(&polled, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);
    } while (ready < 0 && errno == EINTR);
    return ready == 0 ? ETIMEDOUT : ready < 0 ? errno : place_result(fd);
}

/* Returns 0, or an error of the system. A Unix socket lets a number of clients wait to be accepted, and the system does not tell when there is
 * room for another one: EAGAIN. It lasts for a moment, unless the daemon is stopped. */
static int place_join(int fd, const struct sockaddr *address, socklen_t len, int patience_ms)
{
    uint64_t until_ms = 0;

    while (connect(fd, address, len) < 0) {
        if (errno != EAGAIN || patience_ms <= 0 || (until_ms && place_now_ms() >= until_ms))
            return errno;
        if (!until_ms)
            until_ms = place_now_ms() + (uint64_t)patience_ms;
        poll(NULL, 0, CROWD_MS);
    }
    return 0;
}

/* The socket counts as writable meanwhile, so a caller that polls would not wait. */
ssize_t place_send(int fd, const void *bytes, size_t len)
{
    ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

    if (sent < 0 && (errno == ENOBUFS || errno == ENOMEM)) {
        poll(NULL, 0, MEMORY_MS);
        errno = EAGAIN;
    }
    return sent;
}

/* Returns a socket connected to this address, or -1 with errno set. If `pending` is not null, the connection may still be under way. */
static int place_try(const struct sockaddr *address, socklen_t len, bool *pending)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error, on = 1;

    if (fd < 0)
        return -1;
    error = place_join(fd, address, len, pending ? 0 : CONNECT_MS);
    if (pending)
        *pending = error == EINPROGRESS;
    if (error == EINPROGRESS)
        error = pending ? 0 : place_wait(fd);
    if (address->sa_family !=
        AF_UNIX) { /* TCP notices at last that a machine has vanished, also if this side only waits */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

static int place_unix(const char *path, bool *pending, char *why, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = -1;

    if (!*path) {
        snprintf(why, size, "the path of the daemon's socket is empty");
        return DIBS_MISUSE;
    }
    errno = ENAMETOOLONG;
    if (strlen(path) < sizeof address.sun_path) {
        strcpy(address.sun_path, path);
        fd = place_try((struct sockaddr *)&address, sizeof address, pending);
    }
    if (fd < 0 && errno == EACCES)
        snprintf(
            why, size,
            "this user may not use %s (Permission denied); ask to be added to its group (dibs serve --socket-group)",
            path);
    else if (fd < 0)
        snprintf(why, size, "no daemon at %s: %s", path, strerror(errno));
    return fd < 0 ? DIBS_GONE : fd;
}

static bool place_is_port(const char *text)
{
    char *end;
    long port = strtol(text, &end, 10);

    return *text >= '0' && *text <= '9' && !*end && port >= 1 && port <= 65535;
}

/* Of the addresses that were found, the one of this turn. */
static const struct addrinfo *place_turn(const struct addrinfo *found, unsigned turn)
{
    const struct addrinfo *a = found;

    for (turn = a ? turn : 0; turn; turn--)
        a = a->ai_next ? a->ai_next : found;
    return a;
}

/* A path has a slash or begins with "unix:", and has no NAME=. */
bool place_is_unix(const char *where)
{
    return strncmp(where, "unix:", 5) == 0 || strchr(where, '/');
}

bool place_has_name(const char *where)
{
    return !place_is_unix(where) && strchr(where, '=');
}

static const char *place_address(const char *where)
{
    return place_has_name(where) ? strchr(where, '=') + 1 : where;
}

/* Copies HOST of HOST:PORT or [HOST]:PORT. Returns false if there is none, or `host` has no room for it. */
static bool place_host(const char *address, char *host, size_t size)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;

    if (len == 0 || len >= size)
        return false;
    if (*address == '[' && address[len - 1] == ']') /* [::1]:7400 */
        snprintf(host, size, "%.*s", (int)len - 2, address + 1);
    else
        snprintf(host, size, "%.*s", (int)len, address);
    return true;
}

const char *place_name(const char *where, char name[PLACE_NAME_MAX + 1])
{
    *name = '\0';
    if (place_has_name(where))
        snprintf(name, PLACE_NAME_MAX + 1, "%.*s", (int)strcspn(where, "="), where);
    else
        place_host(where, name, PLACE_NAME_MAX + 1);
    return name;
}

/* Tries one address after the other; or, if `pending` is not null, only begins to connect, to the address of this turn. */
static int place_tcp(const char *where, unsigned turn, bool *pending, char *why, size_t size)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *address = place_address(where), *colon = strrchr(address, ':');
    char host[PLACE_NAME_MAX + 1];
    int fd = -1, error;

    if (!place_host(address, host, sizeof host) || !place_is_port(colon + 1) || *where == '=') {
        snprintf(why, size, "\"%s\" is neither a path nor an address; write a path with a slash in it, or HOST:PORT",
                 where);
        return DIBS_MISUSE;
    }
    error = getaddrinfo(host, colon + 1, &hints, &found);
    for (const struct addrinfo *a = place_turn(found, turn); a && fd < 0; a = pending ? NULL : a->ai_next)
        fd = place_try(a->ai_addr, a->ai_addrlen, pending);
    if (fd < 0)
        snprintf(why, size, "no daemon at %s: %s", where, error ? gai_strerror(error) : strerror(errno));
    if (found)
        freeaddrinfo(found);
    return fd < 0 ? DIBS_GONE : fd;
}

static int place_begin(const char *where, unsigned turn, bool *tcp, bool *pending, char *why, size_t size)
{
    *tcp = !place_is_unix(where);
    if (*tcp)
        return place_tcp(where, turn, pending, why, size);
    return place_unix(strncmp(where, "unix:", 5) == 0 ? where + 5 : where, pending, why, size);
}

int place_connect(const char *where, bool *tcp, char *why, size_t size)
{
    return place_begin(where, 0, tcp, NULL, why, size);
}

int place_dial(const char *where, unsigned turn, bool *tcp, bool *pending, char *why, size_t size)
{
    return place_begin(where, turn, tcp, pending, why, size);
}

/* ---------------------------------------------------------------------------------------------------------- several */

static const char *place_list(const char *list)
{
    const char *chosen = secure_getenv("DIBS_CONNECT");

    return list ? list : chosen && *chosen ? chosen : NULL;
}

unsigned place_count(const char *list)
{
    unsigned count = 1;

    for (list = place_list(list); list && (list = strchr(list, ',')); list++)
        count++;
    return count;
}

char *place_of(const char *list, unsigned number)
{
    const char *at = place_list(list);
    char *path;

    if (!at)
        return asprintf(&path, "unix:%s", dibs_socket_path()) < 0 ? NULL : path;
    for (; number; number--)
        at = strchr(at, ',') + 1;
    return strndup(at, strcspn(at, ","));
}
