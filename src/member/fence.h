/* fence.h - how fencing tokens grow from view to view (I29).
 *
 * Within a view the core makes the tokens of a lock grow (core/step.c): every entry adds one to a number that messages
 * carry. A view has a base (view.h), and its tokens are larger than the base. Two things remain to be shown: the tokens
 * of a view are larger than all tokens that were granted in earlier views, and bases grow slowly. A token is a 64-bit
 * number, but JavaScript and jq read it as a double, which is exact only up to 2^53.
 *
 * A member that also takes part in the next view announces the highest token that it knows of when the view begins, and
 * no member grants anything in it before it has all announcements (lock.h). So the tokens of such a member may be above the
 * base, for instance if the view is agreed long after it was proposed. The problem is a member that is excluded because it has crashed: the
 * others cannot ask it how high its tokens were, since a member can grant locks without sending a message. Its tokens have to
 * be below the base. It grants none after its lease has run out, which is before the view is proposed (I18).
 *
 * Therefore a member grants at a limited rate. In a view with base b its tokens are below
 *
 *     b + FENCE_BURST + FENCE_RATE * (milliseconds since it opened the view)
 *
 * (F1). FENCE_RATE is 860 tokens per millisecond, more than a member can grant. So another member can compute from the
 * time how high the tokens of any member can be, the *ceiling* (F2): a member opens a view only when all others have
 * installed it, so the time since another member installed the view is longer than the time in F1. FENCE_PACE is
 * FENCE_RATE times 21/19, because clocks differ (README.md). The leader proposes the next view with a base above the
 * ceiling. It knows a ceiling if it has taken part, without interruption, since a view that it has opened.
 *
 * A leader without a ceiling, for instance after a restart of all members at once, adds FENCE_LEAP to the base of the
 * last view. In a view with base b no member grants a token above b + FENCE_LEAP (F3). When a member has granted a
 * token above b + FENCE_LEAP / 2, after about 33 million locks, it asks for a new view.
 *
 * The first base of a cluster is the calendar time in microseconds since 1970. So is the base of a daemon that runs
 * alone. FENCE_PACE is below 1000 tokens per millisecond, even on a clock that is too fast by a twentieth. So the
 * tokens of a cluster stay below the calendar time, given that the calendar is right, that there are at most two views
 * per second on average, and that all members are restarted at once at most every 67 seconds. Then tokens also grow
 * from a daemon alone to a cluster, and from a cluster to another one that is founded in its place. They stay below
 * 2^53 until the year 2255. */
#ifndef DIBS_MEMBER_FENCE_H
#define DIBS_MEMBER_FENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { FENCE_BURST = 1 << 10, FENCE_RATE = 860, FENCE_PACE = 951 };
#define FENCE_LEAP ((uint64_t)1 << 26)

struct fence {
    uint64_t leap;      /* FENCE_LEAP, or less in a simulation */
    uint64_t opened_ms; /* when this process opened the view */
    bool known;         /* the ceiling is known */
    uint64_t ceiling;   /* at ceiling_ms all tokens of all members were below it; it rises from then on */
    uint64_t ceiling_ms;
};

/* This process, which takes part, has installed a view with this base. */
void fence_install(struct fence *f, uint64_t base, uint64_t now_ms);
/* This process has opened the view that it installed at `installed_ms`. `highest` is the highest token that any member
 * has announced. */
void fence_open(struct fence *f, uint64_t base, uint64_t highest, uint64_t installed_ms, uint64_t now_ms);
/* This process has been excluded: it cannot know which tokens the others grant from now on. */
void fence_forget(struct fence *f);

/* The bound below which this process grants tokens now. */
uint64_t fence_limit(const struct fence *f, uint64_t base, uint64_t now_ms);
/* The base of the view that follows a view with base `base`. */
uint64_t fence_next_base(const struct fence *f, uint64_t base, uint64_t now_ms);
/* `highest` is the highest token that this process has granted. Is a new view due, so that the leap is never used
 * up? */
bool fence_is_due(const struct fence *f, uint64_t base, uint64_t highest);

#endif
