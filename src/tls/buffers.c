/* buffers.c - see buffers.h. */
#include "buffers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_SMALL = 4096 }; /* bytes: the memory of a larger buffer is freed when the buffer is empty */

bool buffer_add(struct tls_buffer *b, const uint8_t *bytes, size_t len)
{
    size_t room = b->room ? b->room : 512;
    uint8_t *at;

    assert(b->start <= b->end && b->end <= b->room && (bytes || !len));
    if (b->start && b->room - b->end < len) {
        memmove(b->at, b->at + b->start, buffer_len(b));
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < len) {
        while (room - b->end < len)
            room *= 2;
        at = realloc(b->at, room);
        if (!at)
            return false;
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->end, bytes, len);
    b->end += len;
    assert(b->end <= b->room);
    return true;
}

size_t buffer_take(struct tls_buffer *b, uint8_t *bytes, size_t room)
{
    size_t len = buffer_len(b) < room ? buffer_len(b) : room;

    assert(b->start <= b->end && b->end <= b->room);
    if (len == 0)
        return 0;
    memcpy(bytes, b->at + b->start, len);
    b->start += len;
    if (b->start < b->end)
        return len;
    b->start = b->end = 0;
    if (b->room > BUFFER_SMALL) {
        free(b->at);
        *b = (struct tls_buffer){0};
    }
    return len;
}

void buffers_free(struct tls_buffers *b)
{
    free(b->in.at);
    free(b->out.at);
    *b = (struct tls_buffers){0};
}

/* ------------------------------------------------------------------------------------------------- as OpenSSL sees them */

static int buffers_read(BIO *bio, char *bytes, int len)
{
    struct tls_buffers *b = BIO_get_data(bio);
    size_t got = len > 0 ? buffer_take(&b->in, (uint8_t *)bytes, (size_t)len) : 0;

    BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    if (got)
        return (int)got;
    BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    return -1;
}

static int buffers_write(BIO *bio, const char *bytes, int len)
{
    struct tls_buffers *b = BIO_get_data(bio);

    return len >= 0 && buffer_add(&b->out, (const uint8_t *)bytes, (size_t)len) ? len : -1;
}

/* OpenSSL's requests to a BIO. A flush succeeds at once, since nothing is held back; no other request is supported. */
static long buffers_control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

static BIO_METHOD *buffers_method;

static void buffers_make_method(void)
{
    buffers_method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "dibs");
    if (buffers_method) {
        BIO_meth_set_read(buffers_method, buffers_read);
        BIO_meth_set_write(buffers_method, buffers_write);
        BIO_meth_set_ctrl(buffers_method, buffers_control);
    }
}

BIO *buffers_bio(struct tls_buffers *b)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    BIO *bio;

    pthread_once(&once, buffers_make_method);
    bio = buffers_method ? BIO_new(buffers_method) : NULL;
    if (bio) {
        BIO_set_data(bio, b);
        BIO_set_init(bio, 1);
    }
    return bio;
}
