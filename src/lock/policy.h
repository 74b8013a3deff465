/* policy.h - policies as text: which algorithm and which kind the locks with some names have. Pure: no I/O.
 *
 *     build-* slots=4 slots-algorithm=raymond-k
 *     *.db    slots=none algorithm=naimi-trehel
 *
 * A policy is a pattern (base/glob.h) without blanks, and settings for the locks whose names match. Settings that it does not name are those
 * of `struct policy_frame`. A list of policies is a text of lines "policy PATTERN ..", as in a configuration, each with a line feed at its end.
 * policies_print writes a list in its only canonical form: with both algorithms, and one blank between two words. So equal lists are equal bytes. */
#ifndef DIBS_LOCK_POLICY_H
#define DIBS_LOCK_POLICY_H

#include "base/bytes.h"
#include "lock.h"

/* The context in which policies are read. */
struct policy_frame {
    const struct dme_alg *(*find)(const char *name);
    const struct dme_alg *algorithm, *slots_algorithm; /* for policies that do not name one */
    uint32_t n; /* the algorithms must be able to run locks among 1 to n members */
};

/* Why a text is not a policy. */
struct policy_mistake {
    const char *unknown; /* `word` is not a known "algorithm" or "part of a policy"; or null: see text */
    char word[81];
    char text[320]; /* a sentence for people */
};

/* Can the algorithm run locks among `n` members, and among those that are left when some do not take part? */
bool policy_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why);
/* Reads what follows the word "policy". The text is cut into pieces, to which `p` points. Returns false after a mistake. */
bool policy_parse(struct lock_policy *p, char *text, const struct policy_frame *frame, struct policy_mistake *m);
/* The index of an earlier policy with the pattern *, or with the same pattern as the last one, which then has no effect; or `count` - 1: there is none. */
uint32_t policy_before(const struct lock_policy *p, uint32_t count);

/* Reads a list. The text is cut into pieces, as above; it ends with a zero byte. Returns the number of policies; or UINT32_MAX, and
 * `why` gets a line for people. */
uint32_t policies_parse(struct lock_policy p[LOCK_POLICIES_MAX], char *text, const struct policy_frame *frame,
                        struct dme_text *why);
/* policies_print writes a list as policies_parse reads it; policy_print writes one policy, without the word "policy" and the line feed. */
void policy_print(const struct lock_policy *p, struct bytes *to);
void policies_print(const struct lock_policy *p, uint32_t count, struct bytes *to);

#endif
