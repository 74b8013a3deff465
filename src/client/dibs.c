/* dibs.c - see dibs.h. */
#include "dibs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEPTH_MAX = 8, REPLY_MAX = 1 << 26 };

const char *dibs_socket_path(void)
{
    static char path[128];
    const char *chosen = getenv("DIBS_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");

    if (chosen && *chosen)
        return chosen;
    snprintf(path, sizeof path, "%s/dibs.sock", runtime && *runtime ? runtime : "/run");
    return path;
}

bool dibs_connect(struct dibs *d, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error;

    *d = (struct dibs){.fd = -1};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(address.sun_path, path);
    d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (d->fd >= 0 && connect(d->fd, (struct sockaddr *)&address, sizeof address) == 0)
        return true;
    error = errno;
    dibs_close(d);
    errno = error;
    return false;
}

void dibs_close(struct dibs *d)
{
    if (d->fd >= 0)
        close(d->fd);
    free(d->buf);
    *d = (struct dibs){.fd = -1};
}

static bool dibs_write(struct dibs *d, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = send(d->fd, bytes, len, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        }
    }
    return true;
}

bool dibs_send(struct dibs *d, const char *const *words, size_t count)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    bool sent;

    if (!to)
        return false;
    fprintf(to, "*%zu\r\n", count);
    for (size_t k = 0; k < count; k++)
        fprintf(to, "$%zu\r\n%s\r\n", strlen(words[k]), words[k]);
    fclose(to);
    sent = dibs_write(d, text, len);
    free(text);
    return sent;
}

bool dibs_fill(struct dibs *d)
{
    ssize_t got;

    if (d->room - d->end < 4096 && d->start) {
        memmove(d->buf, d->buf + d->start, d->end - d->start);
        d->end -= d->start;
        d->start = 0;
    }
    if (d->room - d->end < 4096) {
        char *more = d->room < REPLY_MAX ? realloc(d->buf, 2 * d->room + 8192) : NULL;

        if (!more)
            return false;
        d->buf = more;
        d->room = 2 * d->room + 8192;
    }
    do
        got = read(d->fd, d->buf + d->end, d->room - d->end);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    d->end += (size_t)got;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- replies */

void dibs_free(struct dibs_reply *r)
{
    if (!r)
        return;
    for (size_t k = 0; k < r->count; k++)
        dibs_free(r->item[k]);
    free(r->item);
    free(r->text);
    free(r);
}

struct dibs_cursor {
    const char *at, *end;
    bool wrong; /* no reply, or no memory */
};

/* The line behind the type, up to \r\n; null if it is not there yet. */
static const char *dibs_line(struct dibs_cursor *c, size_t *len)
{
    const char *line = c->at, *end = memmem(c->at, (size_t)(c->end - c->at), "\r\n", 2);

    if (!end)
        return NULL;
    c->at = end + 2;
    *len = (size_t)(end - line);
    return line;
}

static struct dibs_reply *dibs_parse(struct dibs_cursor *c, unsigned depth);

static bool dibs_parse_items(struct dibs_cursor *c, struct dibs_reply *r, size_t count, unsigned depth)
{
    if (count > (size_t)(c->end - c->at)) /* every item has at least a byte: it is not all there */
        return false;
    r->item = calloc(count ? count : 1, sizeof *r->item);
    c->wrong |= !r->item;
    while (!c->wrong && r->count < count) {
        struct dibs_reply *item = dibs_parse(c, depth + 1);

        if (!item)
            return false;
        r->item[r->count++] = item;
    }
    return !c->wrong;
}

static bool dibs_parse_text(struct dibs_cursor *c, struct dibs_reply *r, const char *text, size_t len)
{
    r->text = calloc(1, len + 1);
    if (!r->text) {
        c->wrong = true;
        return false;
    }
    memcpy(r->text, text, len);
    r->len = len;
    return true;
}

/* What follows the type. False: not all of it is there, or it is wrong. */
static bool dibs_parse_body(struct dibs_cursor *c, struct dibs_reply *r, char type, unsigned depth)
{
    size_t len;
    const char *line = dibs_line(c, &len);
    unsigned long long number = line ? strtoull(line, NULL, 10) : 0;

    if (!line)
        return false;
    r->number = number;
    switch (type) {
    case '+':
    case '-':
        r->type = type == '-' ? DIBS_ERROR : DIBS_TEXT;
        return dibs_parse_text(c, r, line, len);
    case ':':
        r->type = DIBS_NUMBER;
        return true;
    case '_':
        r->type = DIBS_NULL;
        return true;
    case '$':
        if (number > REPLY_MAX || (size_t)(c->end - c->at) < number + 2) {
            c->wrong |= number > REPLY_MAX;
            return false;
        }
        c->at += number + 2;
        return dibs_parse_text(c, r, c->at - number - 2, number);
    case '*':
    case '>':
    case '%':
        r->type = type == '*' ? DIBS_LIST : type == '>' ? DIBS_NEWS : DIBS_MAP;
        c->wrong |= number > REPLY_MAX;
        return !c->wrong && dibs_parse_items(c, r, type == '%' ? 2 * number : number, depth);
    default:
        c->wrong = true;
        return false;
    }
}

static struct dibs_reply *dibs_parse(struct dibs_cursor *c, unsigned depth)
{
    struct dibs_reply *r;

    if (c->at == c->end || depth > DEPTH_MAX) {
        c->wrong |= depth > DEPTH_MAX;
        return NULL;
    }
    r = calloc(1, sizeof *r);
    c->wrong |= !r;
    if (r && dibs_parse_body(c, r, *c->at++, depth))
        return r;
    dibs_free(r);
    return NULL;
}

static struct dibs_reply *dibs_take(struct dibs *d, bool *wrong)
{
    struct dibs_cursor c = {.at = d->buf + d->start, .end = d->buf + d->end};
    struct dibs_reply *r = dibs_parse(&c, 0);

    if (r)
        d->start = (size_t)(c.at - d->buf);
    *wrong = c.wrong;
    return r;
}

struct dibs_reply *dibs_read(struct dibs *d)
{
    struct dibs_reply *r;
    bool wrong;

    while (!(r = dibs_take(d, &wrong)))
        if (wrong || !dibs_fill(d))
            return NULL;
    return r;
}

bool dibs_has_reply(struct dibs *d)
{
    size_t start = d->start;
    bool wrong;
    struct dibs_reply *r = dibs_take(d, &wrong);

    d->start = start;
    dibs_free(r);
    return r;
}

struct dibs_reply *dibs_ask(struct dibs *d, const char *const *words, size_t count)
{
    return dibs_send(d, words, count) ? dibs_read(d) : NULL;
}
