/* bare MEMBERS DIRECTORY: a token that is passed from process to process, and nothing else: no leases, no views, no names, no
 * fences, no parser. How many hand-overs would there be if a lock service had nothing to do?
 *
 * MEMBERS processes serve clients at the Unix sockets DIRECTORY/0, DIRECTORY/1, .. A client writes 'L' to wait for the lock and
 * is written 'G' when it has it; it writes 'U' to release it and is written 'O'. The member that has the token serves its clients
 * that wait, as a stay of dibs does (src/lock/lock.h), and then passes the token to the next member over TCP. It sleeps in epoll
 * when there is nothing to read. With one member it is what a list in Redis is: one process that wakes the next client. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMBERS_MAX = 8, CLIENTS_MAX = 512 };

static int queue[CLIENTS_MAX], first, waiting; /* clients that wait */
static int left;                               /* how many more this stay serves */
static int members;
static bool here, held, asked;  /* the token is here; a client has the lock; the token was asked for */
static int door, before, after; /* sockets: for clients, from the member before, to the one after */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void put(int fd, char byte)
{
    if (write(fd, &byte, 1) != 1 && fd == after)
        die("bare: the next member");
}

static void watch(int loop, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e))
        die("bare: epoll");
}

/* The token goes on: the byte counts the members that it has passed since it served a client. */
static void pass(int hops)
{
    here = false;
    put(after, (char)hops);
}

static void serve(void)
{
    if (!here && waiting && !asked) {
        asked = true;
        put(after, (char)-1);
    }
    if (!here || held || !waiting)
        return;
    left--;
    waiting--;
    held = true;
    put(queue[first], 'G');
    first = (first + 1) % CLIENTS_MAX;
}

/* From the member before: the token, or (negative) a request for it. Both go round once at most. */
static void hear_member(int hops)
{
    if (hops < 0) {
        if (!here && hops > -members)
            put(after, (char)(hops - 1));
        else if (here && !held && !waiting)
            pass(1);
        return;
    }
    here = true;
    asked = false;
    left = waiting;
    if (!waiting && hops < members)
        pass(hops + 1);
}

static void hear(int fd, char byte)
{
    if (fd == before) {
        hear_member((signed char)byte);
    } else if (byte == 'L') {
        queue[(first + waiting++) % CLIENTS_MAX] = fd;
    } else {
        held = false;
        if (left <= 0 && members > 1)
            pass(1);
        serve(); /* the next client comes before the answer */
        put(fd, 'O');
    }
    serve();
}

static void run(void)
{
    struct epoll_event events[64];
    int loop = epoll_create1(0), count;
    char bytes[64];

    watch(loop, door);
    if (before >= 0)
        watch(loop, before);
    while ((count = epoll_wait(loop, events, 64, -1)) > 0)
        for (int k = 0; k < count; k++) {
            int fd = events[k].data.fd;
            long got;

            if (fd == door) {
                watch(loop, accept(door, NULL, NULL));
                continue;
            }
            got = read(fd, bytes, sizeof bytes);
            if (got <= 0 && fd == before)
                exit(0);
            if (got <= 0)
                close(fd);
            for (long i = 0; i < got; i++)
                hear(fd, bytes[i]);
        }
}

/* A connection over TCP with itself: end[0] is read, end[1] is written. */
static void pair(int end[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    end[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &len) || connect(end[1], (struct sockaddr *)&at, sizeof at) ||
        (end[0] = accept(listener, NULL, NULL)) < 0)
        die("bare: TCP");
    setsockopt(end[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

int main(int argc, char **argv)
{
    int link[MEMBERS_MAX][2];

    members = argc == 3 ? atoi(argv[1]) : 0;
    if (members < 1 || members > MEMBERS_MAX) {
        fprintf(stderr, "usage: bare MEMBERS DIRECTORY\n");
        return 2;
    }
    for (int k = 0; k < members && members > 1; k++)
        pair(link[k]);
    for (int k = 0; k < members; k++) {
        struct sockaddr_un path = {.sun_family = AF_UNIX};

        snprintf(path.sun_path, sizeof path.sun_path, "%s/%d", argv[2], k);
        door = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(door, (struct sockaddr *)&path, sizeof path) || listen(door, 128))
            die("bare: its socket");
        if (k < members - 1 && fork())
            continue; /* the last one is this process; when it ends, so does the next, and so on */
        before = after = -1;
        if (members > 1) {
            before = link[k][0];
            after = link[(k + 1) % members][1];
            for (int j = 0; j < members; j++) {
                if (j != k)
                    close(link[j][0]);
                if (j != (k + 1) % members)
                    close(link[j][1]);
            }
        }
        here = k == 0;
        run();
        return 0;
    }
    return 0;
}
