/* fence.h - how fencing tokens grow from view to view.
 *
 * Within a view the core makes the tokens of a lock grow (core/step.c): every entry adds one to a number that messages
 * carry. A view has a base (view.h), and its tokens begin above it. What remains to be shown is that a base is above all
 * tokens that were granted in earlier views, and that bases grow slowly: a token is a 64-bit number, but programs in
 * JavaScript, and jq, read it as a double, which is exact up to 2^53 only.
 *
 * Tokens of members that are in the next view, too, are no problem. When a view begins, each member announces the highest
 * token that it knows of, and no member grants anything before it has all announcements (lock.h). The problem is a member
 * that crashes: nobody can ask it how many locks it has granted by itself, without a message to any other member.
 *
 * So a member grants at a limited rate: in a view with base b its tokens are below
 *
 *     b + FENCE_BURST + FENCE_RATE * (milliseconds since it opened the view)
 *
 * (F1). The rate is 860 tokens a millisecond, more than a member can grant. The other members can hence tell from the
 * time how high the tokens of any member may be (F2): a member opens a view only when all others have installed it, so
 * the time since another member installed the view is longer. FENCE_PACE is FENCE_RATE times 21/19, for clocks that
 * differ (README.md). The leader proposes the next view with a base above that *ceiling*. It knows a ceiling if it has been in
 * the view, or in views, without interruption since one that it saw open.
 *
 * A leader without a ceiling, as when all members were restarted at once, adds FENCE_LEAP to the base of the last view. No
 * member grants a token above b + FENCE_LEAP in a view with base b (F3). When a member has granted one above half of that,
 * some 33 million locks later, it asks for a new view.
 *
 * The first base of a cluster is the time of the calendar, in microseconds since 1970, and so is the base of a daemon that
 * runs alone. FENCE_PACE is below 1000 tokens a millisecond, also on a clock that is too fast by a twentieth. So the tokens
 * of a cluster stay below the time of day, if the calendar is right, if on average there are at most two views a second,
 * and if all members are restarted at once at most every 67 seconds. Then tokens grow also from a daemon alone to a
 * cluster, and from a cluster to another one that is founded in its place; and they stay below 2^53 until the year 2255. */
#ifndef DIBS_MEMBER_FENCE_H
#define DIBS_MEMBER_FENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { FENCE_BURST = 1 << 10, FENCE_RATE = 860, FENCE_PACE = 951 };
#define FENCE_LEAP ((uint64_t)1 << 26)

struct fence {
    uint64_t leap;      /* FENCE_LEAP, or less in a simulation */
    uint64_t opened_ms; /* when this process opened the view */
    bool known;         /* it has a ceiling */
    uint64_t ceiling;   /* at ceiling_ms all tokens of all members were below; from then on it rises */
    uint64_t ceiling_ms;
};

/* This process, which takes part, has installed a view with this base. */
void fence_install(struct fence *f, uint64_t base, uint64_t now_ms);
/* It has opened the view, which it installed then; the highest token that any member has announced. */
void fence_open(struct fence *f, uint64_t base, uint64_t highest, uint64_t installed_ms, uint64_t now_ms);
/* It has been excluded: what the others grant from now on it does not know. */
void fence_forget(struct fence *f);

/* The tokens that this process grants now are smaller. */
uint64_t fence_limit(const struct fence *f, uint64_t base, uint64_t now_ms);
/* A base for the next view, after one with this base. */
uint64_t fence_next_base(const struct fence *f, uint64_t base, uint64_t now_ms);
/* The highest token that this process has granted: is it time for a new view, so that the leap is never used up? */
bool fence_is_due(const struct fence *f, uint64_t base, uint64_t highest);

#endif
