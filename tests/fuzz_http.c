/* Whatever a caller sends over HTTP, whole or in pieces, with words of the protocol among the bytes, also those of a browser that
 * has logged in: the daemon's door goes on, and answers a caller that asks as it should afterwards. The door is a real one, on loopback, in a loop of libuv.
 * Invariant: I19. */
#include "fuzz.h"

#include "alg/list.h"
#include "members.h"
#include "serve/http_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The headers of a browser that has logged in, and whole requests of it. */
static char fuzz_login[256], fuzz_asks[7][512];
static const char *const fuzz_words[] = {"GET ",
                                         "HEAD ",
                                         "POST ",
                                         "/metrics",
                                         "/healthz",
                                         "/status.json",
                                         "/views.json",
                                         "/replay.json?name=a",
                                         "/",
                                         " HTTP/1.1\r\n",
                                         " HTTP/1.0\r\n",
                                         "\r\n",
                                         "Host: localhost\r\n",
                                         "Content-Length: 9\r\n",
                                         "Content-Length: 99999999999999999999\r\n",
                                         "Transfer-Encoding: chunked\r\n",
                                         "5\r\nabcde\r\n",
                                         "0\r\n\r\n",
                                         "Connection: keep-alive\r\n",
                                         "Expect: 100-continue\r\n",
                                         "?a=b&c",
                                         "%00",
                                         "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                         ": ",
                                         "\n",
                                         "/login",
                                         "/logout",
                                         "/login.json",
                                         "/locks.json",
                                         "/members.json",
                                         "/claims.json",
                                         "/events",
                                         "/force-unlock",
                                         "?pattern=*",
                                         "?name=a&name=b",
                                         "&cursor=0",
                                         "Host: 127.0.0.1:1\r\n",
                                         "Host: [::1]\r\n",
                                         "Origin: http://127.0.0.1:1\r\n",
                                         "Sec-Fetch-Site: same-origin\r\n",
                                         fuzz_login,
                                         "00000000000000000000000000000000",
                                         fuzz_asks[0],
                                         fuzz_asks[1],
                                         fuzz_asks[2],
                                         fuzz_asks[3],
                                         fuzz_asks[4],
                                         fuzz_asks[5],
                                         fuzz_asks[6]};
static struct serve fuzz_serve;

static void fuzz_log_in(struct http *h)
{
    static const char *const asks[] = {"GET /locks.json?pattern=a*",
                                       "GET /claims.json?name=a&name=b",
                                       "GET /events?pattern=*",
                                       "GET /members.json",
                                       "GET /login.json",
                                       "POST /force-unlock",
                                       "POST /login"};
    const uint8_t random[2 * LOGINS_RANDOM] = {1};
    const char *token = logins_invite(&h->logins, &(struct rights_who){.operates = true}, "fuzz", random, 0);
    const struct login *login = logins_open(&h->logins, token, random, 0);

    FUZZ_EXPECT(login, "no login");
    snprintf(fuzz_login, sizeof fuzz_login, "Host: 127.0.0.1:1\r\nCookie: %s=%s\r\nX-Dibs-Pass: %s\r\n", h->cookie,
             login->cookie, login->pass);
    for (unsigned k = 0; k < sizeof asks / sizeof asks[0]; k++)
        snprintf(fuzz_asks[k], sizeof fuzz_asks[k], "%s HTTP/1.1\r\n%s%s\r\n", asks[k], fuzz_login,
                 *asks[k] == 'P' ? "Content-Length: 32\r\n" : "");
}

/* The port is one that no process uses. */
static void fuzz_start(void)
{
    static const char *const names[] = {"ant"};
    static struct serve_conf conf = {.n = 1, .lease_ms = 1000, .http = {.host = "127.0.0.1"}};
    static bool started;

    if (started)
        return;
    started = true;
    memcpy(conf.member[0].name, "ant", 4);
    fuzz_serve.conf = &conf;
    uv_loop_init(&fuzz_serve.loop);
    uv_timer_init(&fuzz_serve.loop, &fuzz_serve.due);
    uv_idle_init(&fuzz_serve.loop, &fuzz_serve.again);
    fuzz_serve.due.data = fuzz_serve.again.data = &fuzz_serve;
    ring_init(&fuzz_serve.peers);
    ring_init(&fuzz_serve.clients);
    members_start(
        &fuzz_serve.node,
        (struct node_conf){.summary = "", .algorithm = alg_find("central"), .slots_algorithm = alg_find("central")},
        names, 1, 0);
    for (conf.http.port = 20000 + getpid() % 5000; !serve_http_start(&fuzz_serve); conf.http.port++)
        FUZZ_EXPECT(conf.http.port < 30000, "no port is free");
    fuzz_log_in(fuzz_serve.http);
}

static int fuzz_call(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fuzz_serve.conf->http.port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    FUZZ_EXPECT(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "%s", strerror(errno));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Some turns of the loop; what is answered is read. The number of bytes; -1: the connection has ended. */
static ssize_t fuzz_turns(int fd, unsigned count, char *answer, size_t room)
{
    size_t have = 0;

    while (count-- > 0) {
        ssize_t some;

        uv_run(&fuzz_serve.loop, UV_RUN_NOWAIT);
        some = read(fd, answer + have, room - have);
        if (some == 0 || (some < 0 && errno != EAGAIN))
            return have ? (ssize_t)have : -1;
        have += some > 0 ? (size_t)some : 0;
    }
    return (ssize_t)have;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char right[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static char answer[1 << 16];
    struct fuzz_input in = {data, data + size};
    int fd;

    fuzz_start();
    fd = fuzz_call();
    while (in.at < in.end) {
        uint8_t what = fuzz_take(&in), byte = fuzz_take(&in);
        const char *word = fuzz_words[what % (sizeof fuzz_words / sizeof fuzz_words[0])];

        if (send(fd, byte & 0x40 ? (const char *)&byte : word, byte & 0x40 ? 1 : strlen(word), MSG_NOSIGNAL) < 0)
            break;
        if (byte & 0x10 && fuzz_turns(fd, 1, answer, sizeof answer) < 0)
            break;
    }
    fuzz_turns(fd, 3, answer, sizeof answer);
    close(fd);
    fd = fuzz_call();
    FUZZ_EXPECT(send(fd, right, sizeof right - 1, MSG_NOSIGNAL) == (ssize_t)sizeof right - 1, "%s", strerror(errno));
    for (unsigned k = 0; k < 100000; k++)
        if (fuzz_turns(fd, 1, answer, sizeof answer) > 12)
            break;
    FUZZ_EXPECT(memcmp(answer, "HTTP/1.1 200", 12) == 0, "%.40s", answer);
    close(fd);
    uv_run(&fuzz_serve.loop, UV_RUN_NOWAIT);
    return 0;
}
