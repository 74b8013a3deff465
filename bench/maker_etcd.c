/* maker_etcd.c - locks of etcd: its own lock service, through the HTTP gateway that every server has, over a connection
 * that stays open. A client has one lease, of a minute, for all that it takes. */
#include "contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct etcd {
    int fd;
    char lease[32], key[256], answer[4096];
};

static void etcd_ask(struct etcd *e, const char *path, const char *body)
{
    char bytes[1024], *end = NULL, *length;
    size_t len = 0, wanted = 0;
    long got;

    write_all(e->fd, bytes,
              (unsigned long)snprintf(bytes, sizeof bytes,
                                      "POST %s HTTP/1.1\r\nHost: etcd\r\nContent-Type: application/json\r\n"
                                      "Content-Length: %zu\r\n\r\n%s",
                                      path, strlen(body), body));
    while (!end || len < wanted) {
        got = read(e->fd, e->answer + len, sizeof e->answer - 1 - len);
        if (got <= 0)
            die("etcd has gone");
        len += (size_t)got;
        e->answer[len] = '\0';
        end = strstr(e->answer, "\r\n\r\n");
        length = strstr(e->answer, "Content-Length: ");
        if (end && !length)
            die("etcd: %s", e->answer);
        if (end)
            wanted = (size_t)(end + 4 - e->answer) + strtoul(length + 16, NULL, 10);
    }
    if (strncmp(e->answer, "HTTP/1.1 200", 12) != 0)
        die("etcd: %s", e->answer);
}

/* The text with this key in the answer. */
static void etcd_text(const struct etcd *e, const char *key, char *text, size_t size)
{
    const char *at = strstr(e->answer, key);
    size_t len = at ? strcspn(at + strlen(key), "\"") : size;

    if (len >= size)
        die("etcd: %s", e->answer);
    memcpy(text, at + strlen(key), len);
    text[len] = '\0';
}

static void *etcd_begin(char **place, int places, int k)
{
    struct etcd *e = calloc(1, sizeof *e);

    e->fd = reach(place[k % places]);
    etcd_ask(e, "/v3/lease/grant", "{\"TTL\":60}");
    etcd_text(e, "\"ID\":\"", e->lease, sizeof e->lease);
    return e;
}

static void etcd_take(void *client, const char *name)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct etcd *e = client;
    char body[128], base64[64] = "";
    size_t len = strlen(name);

    for (size_t k = 0, at = 0; k < len; k += 3) { /* names are short */
        unsigned b = (unsigned)(unsigned char)name[k] << 16;

        b |= k + 1 < len ? (unsigned)(unsigned char)name[k + 1] << 8 : 0;
        b |= k + 2 < len ? (unsigned)(unsigned char)name[k + 2] : 0;
        base64[at++] = digit[b >> 18];
        base64[at++] = digit[b >> 12 & 63];
        base64[at++] = k + 1 < len ? digit[b >> 6 & 63] : '=';
        base64[at++] = k + 2 < len ? digit[b & 63] : '=';
    }
    snprintf(body, sizeof body, "{\"name\":\"%s\",\"lease\":\"%s\"}", base64, e->lease);
    etcd_ask(e, "/v3/lock/lock", body);
    etcd_text(e, "\"key\":\"", e->key, sizeof e->key);
}

static void etcd_let_go(void *client, const char *name)
{
    struct etcd *e = client;
    char body[300];

    (void)name;
    snprintf(body, sizeof body, "{\"key\":\"%s\"}", e->key);
    etcd_ask(e, "/v3/lock/unlock", body);
}

const struct maker maker_etcd = {"etcd", etcd_begin, etcd_take, etcd_let_go};
