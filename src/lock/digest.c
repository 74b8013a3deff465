/* digest.c - see digest.h. */
#include "digest.h"

#include "base/memory.h"
#include "base/pack.h"
#include "link/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ holders */

void digest_gain(struct locks *l, struct claim *c)
{
    if (l->held_count == l->held_room) {
        l->held_room = l->held_room ? 2 * l->held_room : 64;
        l->held = mem_grow(l->held, l->held_room * sizeof *l->held);
    }
    c->held_at = (uint32_t)l->held_count;
    l->held[l->held_count++] = (struct lock_held){.claim = c, .hash = c->lock->hash};
    ring_push(&l->ages, &c->in_ages);
}

void digest_lose(struct locks *l, struct claim *c)
{
    struct lock_held *last = &l->held[--l->held_count];

    assert(l->held[c->held_at].claim == c);
    last->claim->held_at = c->held_at;
    l->held[c->held_at] = *last;
    ring_cut(&c->in_ages);
}

/* -------------------------------------------------------------------------------------------------------------- filters */

static uint32_t digest_bit(const struct lock_digest *d, uint64_t hash, uint32_t probe)
{
    uint32_t mixed = (uint32_t)hash + probe * ((uint32_t)(hash >> 32) | 1);

    return (uint32_t)((uint64_t)mixed * d->bits >> 32);
}

static void digest_add(struct lock_digest *d, uint64_t hash)
{
    for (uint32_t k = 0; k < DIGEST_PROBES; k++) {
        uint32_t bit = digest_bit(d, hash, k);

        d->at[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

bool digest_has(const struct locks *l, uint32_t member, uint64_t hash)
{
    const struct lock_digest *d = &l->digest[member];

    for (uint32_t k = 0; d->bits && k < DIGEST_PROBES; k++) {
        uint32_t bit = digest_bit(d, hash, k);

        if (!(d->at[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return d->bits > 0;
}

static void digest_init(struct lock_digest *d, uint32_t bits)
{
    *d = (struct lock_digest){.bits = bits, .at = bits ? mem_new(bits / 8) : NULL};
}

/* ---------------------------------------------------------------------------------------------------------- this member's */

void digest_forget(struct locks *l)
{
    for (uint32_t j = 0; j < LOCK_MEMBERS_MAX; j++) {
        free(l->digest[j].at);
        l->digest[j] = (struct lock_digest){0};
    }
}

void digest_begin(struct locks *l)
{
    uint64_t bits = l->held_count * (uint64_t)(l->conf.digest_bits ? l->conf.digest_bits : DIGEST_BITS);

    l->undigested = l->view.n > 1 ? l->held_count : 0;
    l->told = l->undigested == 0;
    if (!l->told)
        digest_init(&l->digest[l->view.self],
                    (uint32_t)(bits < DIGEST_BITS_MAX ? (bits + 7) / 8 * 8 : DIGEST_BITS_MAX));
}

static void digest_send(struct locks *l)
{
    struct lock_digest *own = &l->digest[l->view.self];

    for (uint32_t to = 0; to < l->view.n; to++)
        for (uint32_t done = 0, len; to != l->view.self && done < own->bits / 8; done += len) {
            uint8_t *at;

            len = own->bits / 8 - done < DIGEST_SEND ? own->bits / 8 - done : DIGEST_SEND;
            at = link_send(l->view.link[to], 1 + 4 + len);
            memcpy(pack_number(pack_number(at, LETTER_DIGEST, 1), own->bits, 4), own->at + done, len);
        }
    free(own->at);
    *own = (struct lock_digest){0};
}

void digest_go_on(struct locks *l, size_t count)
{
    if (l->told)
        return;
    if (l->undigested > l->held_count) /* some were released */
        l->undigested = l->held_count;
    for (; l->undigested && count; count--)
        digest_add(&l->digest[l->view.self], l->held[--l->undigested].hash);
    if (l->undigested)
        return;
    digest_send(l);
    l->told = true;
}

/* ------------------------------------------------------------------------------------------------------------- others' */

const char *locks_hear_digest(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    uint32_t type = (uint32_t)unpack_number(&u, 1), bits = (uint32_t)unpack_number(&u, 4);
    struct lock_digest *d = &l->digest[from];

    len = (size_t)(u.end - u.at);
    if (u.wrong || type != LETTER_DIGEST || len == 0 || bits == 0 || bits % 8 || bits > DIGEST_BITS_MAX ||
        (d->bits && d->bits != bits) || len > bits / 8 - d->heard)
        return "an invalid digest";
    if (!d->bits)
        digest_init(d, bits);
    memcpy(d->at + d->heard, u.at, len);
    d->heard += (uint32_t)len;
    return NULL;
}

bool locks_has_digest(const struct locks *l, uint32_t from)
{
    return l->digest[from].heard == l->digest[from].bits / 8;
}
