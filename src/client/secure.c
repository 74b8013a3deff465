/* secure.c - see secure.h. */
#include "secure.h"

#include "place.h"
#include "tls/tls.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct secure {
    struct tls_keys *keys;
    struct tls *tls;
    size_t start, end; /* of what is still to be sent */
    uint8_t rest[1 << 14];
};

/* A client key has all that is needed; with the cluster key we are an operator. */
static struct tls_keys *secure_keys(const struct key *key, char *why, size_t size)
{
    struct key daemon, proof = key->client ? *key : key_derive(key, KEY_OPERATORS);
    struct tls_conf conf = {.proof = &proof, .trusts = 1, .name = key->name};
    struct tls_keys *keys = NULL;

    daemon = key->client ? *key : key_derive(key, KEY_DAEMONS);
    memcpy(conf.trusted[0], key->daemon, KEY_LEN);
    if (key->client || key_public(&daemon, conf.trusted[0]))
        keys = tls_keys_new(&conf, why, size);
    explicit_bzero(&daemon, sizeof daemon);
    explicit_bzero(&proof, sizeof proof);
    return keys;
}

static struct tls_keys *secure_by_key(const char *path, char *why, size_t size)
{
    struct tls_keys *keys = NULL;
    struct key key;

    if (key_read(&key, path, why, size))
        keys = secure_keys(&key, why, size);
    explicit_bzero(&key, sizeof key);
    return keys;
}

static struct tls_keys *secure_by_cert(const struct secure_files *f, char *why, size_t size)
{
    const struct tls_conf conf = {.cert = f->cert, .cert_key = f->cert_key, .ca = f->ca};
    const char *missing = !*f->cert       ? "the certificate (--cert, $DIBS_CERT)"
                          : !*f->cert_key ? "its private key (--cert-key, $DIBS_CERT_KEY)"
                          : !*f->ca       ? "the authority of the daemons (--ca, $DIBS_CA)"
                                          : NULL;

    if (missing) {
        snprintf(why, size, "certificate, private key and authority belong together, and %s is missing", missing);
        return NULL;
    }
    return tls_cert_key_is_secret(f->cert_key, why, size) ? tls_keys_new(&conf, why, size) : NULL;
}

bool secure_is_wanted(const struct secure_files *f)
{
    return *f->key || *f->cert || *f->cert_key || *f->ca;
}

struct secure *secure_new(const struct secure_files *f, const char *name, char *why, size_t size)
{
    struct secure *s = calloc(1, sizeof *s);

    snprintf(why, size, "out of memory");
    if (s) {
        bool by_key = *f->key;

        s->keys = by_key ? secure_by_key(f->key, why, size) : secure_by_cert(f, why, size);
        s->tls = s->keys ? tls_call(s->keys, by_key ? NULL : name) : NULL;
    }
    if (s && s->tls)
        return s;
    secure_free(s, -1);
    return NULL;
}

/* Sends as much as the socket takes. */
static void secure_flush(struct secure *s, int fd)
{
    for (;;) {
        ssize_t sent;

        if (s->start == s->end) {
            s->start = 0;
            s->end = tls_output(s->tls, s->rest, sizeof s->rest);
        }
        if (s->start == s->end)
            return;
        assert(s->start < s->end && s->end <= sizeof s->rest);
        sent = place_send(fd, s->rest + s->start, s->end - s->start);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        s->start = sent < 0 ? s->end : s->start + (size_t)sent; /* broken: the reading side will notice */
    }
}

void secure_free(struct secure *s, int fd)
{
    if (!s)
        return;
    if (fd >= 0) {
        tls_end(s->tls);
        secure_flush(s, fd);
    }
    tls_free(s->tls);
    tls_keys_free(s->keys);
    free(s);
}

ssize_t secure_send(struct secure *s, int fd, const char *bytes, size_t len)
{
    secure_flush(s, fd);
    if (secure_has_more(s) || !tls_is_up(s->tls)) {
        errno = EAGAIN;
        return -1;
    }
    if (!tls_write(s->tls, (const uint8_t *)bytes, len)) {
        errno = EPROTO;
        return -1;
    }
    secure_flush(s, fd);
    return (ssize_t)len;
}

/* Takes decrypted bytes, as far as there is room. */
static size_t secure_take(struct secure *s, char *bytes, size_t room)
{
    size_t got = 0, len;

    while (got < room && (len = tls_read(s->tls, (uint8_t *)bytes + got, room - got)))
        got += len;
    assert(got <= room);
    return got;
}

ssize_t secure_recv(struct secure *s, int fd, char *bytes, size_t room)
{
    uint8_t raw[1 << 14];
    size_t got = secure_take(s, bytes, room);
    bool more = true;

    while (got < room && more && !tls_is_over(s->tls)) {
        ssize_t len = recv(fd, raw, sizeof raw, 0);

        if (len <= 0 && got == 0)
            return len;
        if (len <= 0)
            break;                /* it will be so the next time, too */
        more = len == sizeof raw; /* else the socket is empty, or was a moment ago */
        tls_input(s->tls, raw, (size_t)len);
        got += secure_take(s, bytes + got, room - got);
        secure_flush(s, fd);
    }
    if (got == 0 && !tls_is_over(s->tls)) {
        errno = EAGAIN;
        return -1;
    }
    if (got == 0 && *tls_why(s->tls)) {
        errno = EPROTO;
        return -1;
    }
    return (ssize_t)got; /* 0: it has ended */
}

bool secure_has_more(const struct secure *s)
{
    return s->start < s->end;
}

bool secure_is_up(const struct secure *s)
{
    return tls_is_up(s->tls);
}

const char *secure_why(const struct secure *s)
{
    return tls_why(s->tls);
}

const char *secure_remedy(const struct secure *s)
{
    return tls_is_misnamed(s->tls) ? "; if it is the right one, write its name before the address, as in NAME=HOST:PORT"
                                   : "";
}
