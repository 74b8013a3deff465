/* digest.h - the names that a member's clients hold when a view begins: a Bloom filter (Bloom, "Space/Time Trade-offs
 * in Hash Coding with Allowable Errors", CACM 13(7), 1970) that each member sends to all others. Used by lock.c and
 * carried.c alone.
 *
 * The digest of a member has every name that a client of the member holds (I24). It may also match other names: about
 * one in a hundred, with DIGEST_BITS bits for each holder. A lock whose name is in no digest is free. About a name that
 * is in a digest, the other members ask the member that sent the digest (carried.h).
 *
 * locks.held is an array of all held claims, each with the hash of its name, so that the digest of 200,000 holders is
 * made in a few milliseconds. A grant or a release updates nothing but that array. The digest is made in pieces, from
 * the end of the array to its beginning. A claim may be released meanwhile. The last claim of the array then moves to
 * the place of the released one. Either it is in the digest already, or its new place is still to be visited. No claim
 * is added meanwhile, since a member grants nothing before it has sent its digest. */
#ifndef DIBS_LOCK_DIGEST_H
#define DIBS_LOCK_DIGEST_H

#include "lock.h"

enum {
    DIGEST_BITS = 10,     /* bits for each holder, unless the configuration sets another number */
    DIGEST_PROBES = 4,    /* bits that a name sets */
    DIGEST_SEND = 1 << 16 /* bytes of the filter in one letter */
};
#define DIGEST_BITS_MAX ((uint32_t)1 << 26)

/* Claim `c` is held from now on; it is no longer held. */
void digest_gain(struct locks *l, struct claim *c);
void digest_lose(struct locks *l, struct claim *c);

/* Begins a view: frees the digests of the previous view. */
void digest_forget(struct locks *l);
/* Begins this member's digest: all its holders are there. */
void digest_begin(struct locks *l);
/* Adds at most `count` more holders to this member's digest. After the last holder, sends the digest. */
void digest_go_on(struct locks *l, size_t count);
/* Is the name with this hash in the digest of `member`? */
bool digest_has(const struct locks *l, uint32_t member, uint64_t hash);

#endif
