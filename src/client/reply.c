/* reply.c - see reply.h. An incomplete reply is read again from its beginning when more bytes have come. */
#include "reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

struct reply_cursor {
    const char *at, *end;
    int wrong; /* a code, or 0 */
};

static struct dibs_reply *reply_next(struct reply_cursor *c, unsigned depth);

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

/* The line after the type, up to \r\n; null if it has not come yet. */
static const char *reply_line(struct reply_cursor *c, size_t *len)
{
    const char *line = c->at, *end = memmem(c->at, (size_t)(c->end - c->at), "\r\n", 2);

    if (!end)
        return NULL;
    c->at = end + 2;
    *len = (size_t)(end - line);
    return line;
}

static bool reply_items(struct reply_cursor *c, struct dibs_reply *r, size_t count, unsigned depth)
{
    if (count > (size_t)(c->end - c->at)) /* every item has at least a byte: it is not all there */
        return false;
    r->item = calloc(count ? count : 1, sizeof *r->item);
    if (!r->item) {
        c->wrong = DIBS_NO_MEMORY;
        return false;
    }
    while (r->count < count) {
        struct dibs_reply *item = reply_next(c, depth + 1);

        if (!item)
            return false;
        r->item[r->count++] = item;
    }
    return true;
}

static bool reply_text(struct reply_cursor *c, struct dibs_reply *r, const char *text, size_t len)
{
    r->text = calloc(1, len + 1);
    if (!r->text) {
        c->wrong = DIBS_NO_MEMORY;
        return false;
    }
    memcpy(r->text, text, len);
    r->len = len;
    return true;
}

/* Parses the bytes after the type. Returns false if they are incomplete or wrong. */
static bool reply_body(struct reply_cursor *c, struct dibs_reply *r, char type, unsigned depth)
{
    size_t len;
    const char *line = reply_line(c, &len);

    if (!line)
        return false;
    r->number = strtoull(line, NULL, 10);
    if (strchr("$*>%", type) && r->number > REPLY_MAX)
        type = '?';
    switch (type) {
    case '+':
    case '-':
        r->type = type == '-' ? DIBS_ERROR : DIBS_TEXT;
        return reply_text(c, r, line, len);
    case ':':
        r->type = DIBS_NUMBER;
        return true;
    case '#':
        r->type = DIBS_BOOLEAN;
        r->number = *line == 't';
        return true;
    case '_':
        r->type = DIBS_NULL;
        return true;
    case '$':
        if ((size_t)(c->end - c->at) < r->number + 2)
            return false;
        c->at += r->number + 2;
        return reply_text(c, r, c->at - r->number - 2, r->number);
    case '*':
    case '>':
    case '%':
        r->type = type == '%' ? DIBS_MAP : DIBS_LIST;
        return reply_items(c, r, type == '%' ? 2 * r->number : r->number, depth);
    default:
        c->wrong = DIBS_REFUSED;
        return false;
    }
}

static struct dibs_reply *reply_next(struct reply_cursor *c, unsigned depth)
{
    struct dibs_reply *r;

    if (depth > DEPTH_MAX)
        c->wrong = DIBS_REFUSED;
    if (c->at == c->end || c->wrong)
        return NULL;
    r = calloc(1, sizeof *r);
    if (!r)
        c->wrong = DIBS_NO_MEMORY;
    else if (reply_body(c, r, *c->at++, depth))
        return r;
    dibs_free(r);
    return NULL;
}

long reply_parse(const char *bytes, size_t len, struct dibs_reply **reply, bool *news)
{
    struct reply_cursor c = {.at = bytes, .end = bytes + len};

    *news = len && *bytes == '>';
    *reply = reply_next(&c, 0);
    assert(c.at <= c.end);
    if (*reply)
        return c.at - bytes;
    return c.wrong ? c.wrong : len > REPLY_MAX ? DIBS_REFUSED : 0;
}
