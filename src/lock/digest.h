/* digest.h - which names may be held since before this view: a Bloom filter (Bloom, "Space/Time Trade-offs in Hash Coding
 * with Allowable Errors", CACM 13(7), 1970) that each member sends to all others when a view begins. Used by lock.c and
 * carried.c alone.
 *
 * A digest never denies a name that a client of its member holds. It may affirm others: some one in a hundred of them, with
 * DIGEST_BITS bits for each holder. A name that is in no digest is free. For one that is in a digest, its member is
 * asked (carried.h).
 *
 * The holders of a member stand in an array, each with the hash of its name, so that the digest of 200,000 holders is made
 * in a few milliseconds, and only that array is kept up to date with each grant. The digest is made in pieces, from the end
 * of the array to its beginning. Holders may leave meanwhile: the last holder then takes the place of the one that leaves,
 * and either it was in the digest before, or its new place has yet to be reached. No holder comes meanwhile, as nothing is
 * granted before the digest is sent. */
#ifndef DIBS_LOCK_DIGEST_H
#define DIBS_LOCK_DIGEST_H

#include "lock.h"

enum {
    DIGEST_LETTER = 18,   /* the type of the letter, among those of node/mail.c: number of bits (4), some of the bits */
    DIGEST_BITS = 10,     /* for each holder, unless the configuration says otherwise */
    DIGEST_PROBES = 4,    /* bits that a name sets */
    DIGEST_SEND = 1 << 16 /* bytes in one letter */
};
#define DIGEST_BITS_MAX ((uint32_t)1 << 26)

/* A claim is held from now on, or no longer. */
void digest_gain(struct locks *l, struct claim *c);
void digest_lose(struct locks *l, struct claim *c);

/* A view begins: those of the former one are forgotten. */
void digest_begin(struct locks *l);
/* Some more holders get into this member's digest; with the last of them it is sent. */
void digest_go_on(struct locks *l, size_t count);
/* May a client of that member hold it since before this view? */
bool digest_has(const struct locks *l, uint32_t member, uint64_t hash);

#endif
