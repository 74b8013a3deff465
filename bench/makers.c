/* makers.c - what all makers need; and some of them: dibs, nothing at all, and a bare token. */
#include "contend.h"

#include <arpa/inet.h>
#include <dibs.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

const struct maker *maker_find(const char *name)
{
    static const struct maker *const all[] = {&maker_dibs,  &maker_kept,       &maker_token,   &maker_ping,
                                              &maker_redis, &maker_redis_list, &maker_redlock, &maker_postgres,
                                              &maker_etcd,  &maker_bare};

    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->name, name) == 0)
            return all[k];
    die("no maker of locks is called %s", name);
}

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    _exit(1);
}

int reach(const char *place)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *colon = strrchr(place, ':');
    int fd, wrong, on = 1;

    if (strchr(place, '/')) {
        snprintf(path.sun_path, sizeof path.sun_path, "%s", place);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        wrong = connect(fd, (struct sockaddr *)&path, sizeof path);
    } else {
        address.sin_port = htons((uint16_t)atoi(colon ? colon + 1 : "0"));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        wrong = connect(fd, (struct sockaddr *)&address, sizeof address);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (wrong)
        die("no server is at %s", place);
    return fd;
}

void write_all(int fd, const void *bytes, unsigned long len)
{
    if (write(fd, bytes, len) != (long)len)
        die("a server does not take what is written");
}

/* ------------------------------------------------------------------------------------------------------------- dibs */

static void *dibs_begin_with(const char *place, uint64_t keep_ms)
{
    const struct dibs_options options = {.keep_ms = keep_ms};
    struct dibs *d;

    if (dibs_connect(&d, place, &options) != DIBS_OK)
        die("%s", dibs_message(d));
    return d;
}

static void *dibs_begin(char **place, int places, int k)
{
    return dibs_begin_with(place[k % places], 0);
}

static void *kept_begin(char **place, int places, int k)
{
    return dibs_begin_with(place[k % places], 60000);
}

static void dibs_take(void *client, const char *name)
{
    if (dibs_lock(client, name, NULL, NULL) != DIBS_OK)
        die("%s", dibs_message(client));
}

static void dibs_let_go(void *client, const char *name)
{
    if (dibs_unlock(client, name) != DIBS_OK)
        die("%s", dibs_message(client));
}

/* The same by a token, as scripts and Redis lock libraries have it. */
static void token_say(struct dibs *d, const char *const *words, unsigned long count)
{
    struct dibs_reply *r;

    if (dibs_ask(d, words, count, &r) != DIBS_OK)
        die("%s", dibs_message(d));
    if (r->type == DIBS_NULL)
        die("the lock of a token was not granted");
    dibs_free(r);
}

static const char *token_of(const struct dibs *d)
{
    static char token[32];

    snprintf(token, sizeof token, "%d-%p", (int)getpid(), (const void *)d);
    return token;
}

static void token_take(void *client, const char *name)
{
    const char *words[] = {"LOCK", name, "TOKEN", token_of(client), "TTL", "60000"};

    token_say(client, words, 6);
}

static void token_let_go(void *client, const char *name)
{
    const char *words[] = {"UNLOCK", name, "TOKEN", token_of(client)};

    token_say(client, words, 4);
}

const struct maker maker_token = {"dibs-token", dibs_begin, token_take, token_let_go};
const struct maker maker_dibs = {"dibs", dibs_begin, dibs_take, dibs_let_go};
const struct maker maker_kept = {"dibs-kept", kept_begin, dibs_take, dibs_let_go};

/* ---------------------------------------------------------------- a process that answers, and does nothing else: the floor */

static int ping_fd;

static void *ping_begin(char **place, int places, int k)
{
    int pair[2];
    char bytes[64];
    long len;

    (void)place, (void)places, (void)k;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        die("no sockets");
    if (fork() == 0) {
        close(pair[0]);
        while ((len = read(pair[1], bytes, sizeof bytes)) > 0)
            write_all(pair[1], bytes, (unsigned long)len);
        _exit(0);
    }
    close(pair[1]);
    ping_fd = pair[0];
    return NULL;
}

static void ping(void *client, const char *name)
{
    char bytes[32] = "";

    (void)client, (void)name;
    write_all(ping_fd, bytes, sizeof bytes);
    if (read(ping_fd, bytes, sizeof bytes) != sizeof bytes)
        die("no echo");
}

const struct maker maker_ping = {"ping", ping_begin, ping, ping};

/* ------------------------------------------------------------------------------------- bare.c: a token, and nothing else */

static int bare_fd;

static void *bare_begin(char **place, int places, int k)
{
    bare_fd = reach(place[k % places]);
    return NULL;
}

static void bare_say(char byte)
{
    write_all(bare_fd, &byte, 1);
    if (read(bare_fd, &byte, 1) != 1)
        die("the member has gone");
}

static void bare_take(void *client, const char *name)
{
    (void)client, (void)name;
    bare_say('L');
}

static void bare_let_go(void *client, const char *name)
{
    (void)client, (void)name;
    bare_say('U');
}

const struct maker maker_bare = {"bare", bare_begin, bare_take, bare_let_go};
