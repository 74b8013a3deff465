/* wire.c - see wire.h. */
#include "wire.h"

#include <assert.h>

enum { WIRE_VARINT_MAX = 10 }; /* bytes of a 64-bit number */

static size_t wire_varint_size(uint64_t x)
{
    size_t len = 1;

    while (x >= 0x80) {
        x >>= 7;
        len++;
    }
    return len;
}

static uint8_t *wire_put(uint8_t *at, uint64_t x)
{
    while (x >= 0x80) {
        *at++ = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    *at++ = (uint8_t)x;
    return at;
}

/* Mode and site are mostly small, and many clocks are: one byte each. */
static uint8_t *wire_put_tickets(uint8_t *at, const struct dme_ticket *ticket, uint32_t count)
{
    for (const struct dme_ticket *end = ticket + count; ticket < end; ticket++) {
        uint32_t mode = ticket->mode, site = ticket->site + 1;

        if (ticket->clock < 0x80)
            *at++ = (uint8_t)ticket->clock;
        else
            at = wire_put(at, ticket->clock);
        if (mode >= 0x80 || site >= 0x80) {
            at = wire_put(wire_put(at, mode), site);
        } else {
            *at++ = (uint8_t)mode;
            *at++ = (uint8_t)site;
        }
    }
    return at;
}

struct wire_reader {
    const uint8_t *at, *end;
    const char *wrong;
};

static uint64_t wire_take(struct wire_reader *r)
{
    uint64_t x = 0;

    for (unsigned shift = 0; r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;

        if (shift == 63 && byte > 1) {
            r->wrong = "a number has more than 64 bits";
            return 0;
        }
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (byte == 0 && shift > 0)
                r->wrong = "a number is longer than it has to be";
            return x;
        }
    }
    r->wrong = "the message ends too early";
    return 0;
}

static struct dme_ticket wire_take_ticket(struct wire_reader *r, uint32_t n, uint32_t mode_max)
{
    uint64_t clock, mode, site;

    clock = r->at < r->end && *r->at < 0x80 ? *r->at++ : wire_take(r);
    if (r->end - r->at >= 2 && r->at[0] < 0x80 && r->at[1] < 0x80) { /* mostly */
        mode = *r->at++;
        site = *r->at++;
    } else {
        mode = wire_take(r);
        site = wire_take(r);
    }
    if (mode > mode_max)
        r->wrong = "a ticket has a mode that the rule does not allow";
    if (site > n)
        r->wrong = "a ticket names a site that does not exist";
    return (struct dme_ticket){.clock = clock, .mode = (uint32_t)mode, .site = (uint32_t)site - 1};
}

size_t dme_wire_max(const struct dme_conf *conf)
{
    size_t tickets = (dme_msg_size_max(conf) - sizeof(struct dme_msg)) / sizeof(struct dme_ticket);

    return 1 + WIRE_VARINT_MAX + tickets * (size_t)(WIRE_VARINT_MAX + 5 + 5);
}

size_t dme_wire_size(const struct dme_msg *m)
{
    size_t len = 1 + wire_varint_size(m->fence);

    for (uint32_t k = 0; k < m->count; k++)
        len += wire_varint_size(m->ticket[k].clock) + wire_varint_size(m->ticket[k].mode) +
               wire_varint_size((uint32_t)(m->ticket[k].site + 1));
    return len;
}

size_t dme_encode(const struct dme_msg *m, uint8_t *buf)
{
    uint8_t *at = buf;

    *at++ = m->kind;
    at = wire_put_tickets(wire_put(at, m->fence), m->ticket, m->count);
    return (size_t)(at - buf);
}

const char *dme_decode(const struct dme_conf *conf, dme_id from, dme_id to, const uint8_t *buf, size_t len,
                       struct dme_msg *m)
{
    struct wire_reader r = {.at = buf, .end = buf + len};
    uint32_t mode_min, mode_max;

    assert(from < conf->n && to < conf->n && from != to);
    dme_modes(conf, &mode_min, &mode_max);
    if (len == 0)
        return "the message is empty";
    *m = (struct dme_msg){.from = from, .to = to, .kind = *r.at++};
    if (m->kind >= dme_kinds(conf->alg))
        return "the algorithm has no such kind of message";
    m->fence = wire_take(&r);
    m->count = dme_tickets(conf, m->kind);
    for (uint32_t k = 0; k < m->count && !r.wrong; k++)
        m->ticket[k] = wire_take_ticket(&r, conf->n, mode_max);
    if (!r.wrong && r.at != r.end)
        r.wrong = "bytes follow the message";
    return r.wrong;
}
