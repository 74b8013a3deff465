/* cmd_lab.c - dibs lab: serves the page of the laboratory on a port of this machine.
 *
 * The page needs no server: it is one file, and all of the laboratory runs in it. But a browser on another machine may reach
 * a forwarded port more easily than a file. The server knows one file, takes one connection at a time, on loopback only,
 * and gives each a bounded time. */
#include "cli.h"
#include "serve/page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LAB_HEAD_MAX = 8192, LAB_PATIENCE_MS = 2000 };
enum { LAB_BUFFER = 65536, LAB_PAUSE_MS = 5000, LAB_SLOWEST_MS = 60000 }; /* of an answer */

struct lab_page {
    const char *text;
    size_t len;
};

static int lab_listen(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        cli_die("cannot listen on 127.0.0.1:%u: %s; choose another --port", *port, strerror(errno));
    *port = ntohs(at.sin_port);
    return fd;
}

static int64_t lab_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the connection is ready for these events; false if the time is over. */
static bool lab_wait(int fd, short events, int64_t until)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = until - lab_now_ms();

    return left > 0 && poll(&p, 1, (int)left) == 1;
}

/* Reads the head of a request. Returns false if it does not come in time, or is too long. */
static bool lab_read_head(int fd, char head[LAB_HEAD_MAX], int64_t until)
{
    size_t len = 0;

    while (len < LAB_HEAD_MAX - 1 && lab_wait(fd, POLLIN, until)) {
        ssize_t got = recv(fd, head + len, LAB_HEAD_MAX - 1 - len, 0);

        if (got <= 0)
            return false;
        len += (size_t)got;
        head[len] = 0;
        if (strlen(head) != len)
            return false; /* zero bytes */
        if (strstr(head, "\r\n\r\n"))
            return true;
    }
    return false;
}

/* Sends a text to a reader that goes on reading; one that pauses for longer than LAB_PAUSE_MS is given up. The
 * buffer is small, since the kernel tells of a pause's end only when a third of it is free. */
static bool lab_send(int fd, const char *text, size_t len)
{
    int64_t end = lab_now_ms() + LAB_SLOWEST_MS;
    int buffer = LAB_BUFFER;

    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    while (len && lab_now_ms() < end && lab_wait(fd, POLLOUT, lab_now_ms() + LAB_PAUSE_MS)) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent <= 0)
            return false;
        text += sent;
        len -= (size_t)sent;
    }
    return len == 0;
}

/* "GET / HTTP/1.1": the page; anything else gets an error. */
static void lab_answer(int fd, const char *head, const struct lab_page *page)
{
    bool get = strncmp(head, "GET ", 4) == 0, look = strncmp(head, "HEAD ", 5) == 0;
    const char *path = head + (get ? 4 : 5), *body = "";
    const char *status = !get && !look ? "405 Method Not Allowed" : "404 Not Found";
    char line[1024];
    size_t len = 0, used;

    if ((get || look) && (strncmp(path, "/ ", 2) == 0 || strncmp(path, "/?", 2) == 0)) {
        status = "200 OK";
        body = page->text;
        len = page->len;
    }
    used =
        (size_t)snprintf(line, sizeof line, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n", status, len);
    for (unsigned k = 0; page_headers[k][0]; k++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s: %s\r\n", page_headers[k][0], page_headers[k][1]);
    used += (size_t)snprintf(line + used, sizeof line - used, "\r\n");
    if (lab_send(fd, line, used) && get)
        lab_send(fd, body, len);
}

static void lab_serve(int listener, const struct lab_page *page)
{
    for (;;) {
        static char head[LAB_HEAD_MAX];
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        int64_t until = lab_now_ms() + LAB_PATIENCE_MS;

        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            cli_die("cannot accept connections: %s", strerror(errno));
        if (fd < 0)
            continue;
        if (lab_read_head(fd, head, until))
            lab_answer(fd, head, page);
        shutdown(fd, SHUT_WR);
        until = lab_now_ms() + LAB_PATIENCE_MS;
        while (lab_wait(fd, POLLIN, until) && recv(fd, head, sizeof head, 0) > 0)
            ; /* a reset would take away what the browser has not read yet */
        close(fd);
    }
}

int cmd_lab(int argc, char **argv)
{
    static uint64_t port;
    static const char *path;
    static bool open;
    static const struct cli_option options[] = {
        {"--port", CLI_COUNT, &port, "P", "serve on port P of 127.0.0.1 (default: a free one)", 1, 65535, NULL},
        {"--page", CLI_TEXT, &path, "FILE",
         "serve FILE (default: dibs-lab.html beside the program or in ../share/dibs)", 0, 0, NULL},
        {"--open", CLI_FLAG, &open, NULL, "open the page in a browser, by xdg-open", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs lab [--port P] [--open]",
        .about = "Serves the laboratory as a web page, on this machine only, and prints its address. In the page the "
                 "algorithms run step by step, are checked exhaustively and are measured, all in the browser. The page "
                 "is one file, which a browser can also open from disk.",
        .options = options,
        .examples = {{"Serve the page, and open it:", "dibs lab --open"},
                     {"Serve it on a port of your choice:", "dibs lab --port 7490"}},
    };
    struct lab_page page;
    uint16_t chosen;
    char wrong[512];
    int listener;

    cli_parse(argc, argv, &usage, NULL, 0);
    page.text = page_read(path, &page.len, wrong, sizeof wrong);
    if (!page.text)
        cli_die("%s", wrong);
    chosen = (uint16_t)port;
    listener = lab_listen(&chosen);
    printf("the laboratory is at http://127.0.0.1:%u/ until you press Ctrl-C\n", chosen);
    fflush(stdout);
    if (open) {
        char command[96];

        snprintf(command, sizeof command, "xdg-open http://127.0.0.1:%u/ >/dev/null 2>&1 &", chosen);
        if (system(command) != 0)
            fprintf(stderr, "dibs: xdg-open cannot open a browser; go to the address yourself\n");
    }
    lab_serve(listener, &page);
    return CLI_OK;
}
