/* sweep_axes.h - the options of a sweep of which every value is another run.
 *
 * An option may be given several times, and each of its values is a run. A value of numbers only may be a list: "1,2,5", or
 * "0.001..1/10", ten values from 0.001 to 1 in equal ratios. The values are words as dibs sim takes them. */
#ifndef DIBS_CLI_SWEEP_AXES_H
#define DIBS_CLI_SWEEP_AXES_H

#include "cli.h"

enum { SWEEP_VALUES_MAX = 1000 };

struct sweep_axis {
    const char *option;
    bool whole;            /* its numbers are counts */
    bool pair;             /* a comma is part of its value */
    struct cli_list given; /* as the user wrote it */
    char **value;          /* one word each */
    unsigned count;
    unsigned at; /* the value of the present point */
};

/* The last ones change first from row to row. */
enum sweep_axis_id {
    SWEEP_DELAY,
    SWEEP_HOLD,
    SWEEP_THINK,
    SWEEP_ORDER,
    SWEEP_BOUND,
    SWEEP_RULE,
    SWEEP_READERS,
    SWEEP_POPULARITY,
    SWEEP_ZIPF,
    SWEEP_HOT,
    SWEEP_BURST,
    SWEEP_FAULTS,
    SWEEP_CRASH_RATE,
    SWEEP_CUT_RATE,
    SWEEP_LEAVE_RATE,
    SWEEP_ABSENCE,
    SWEEP_GAP,
    SWEEP_DETECT,
    SWEEP_ENTRIES,
    SWEEP_WARMUP,
    SWEEP_PRECISION,
    SWEEP_SITES,
    SWEEP_RATES,
    SWEEP_RATE,
    SWEEP_REQUESTERS,
    SWEEP_AXES
};
extern struct sweep_axis sweep_axes[SWEEP_AXES];

/* Makes values of what was given, or cli_die. */
void sweep_axes_expand(void);
/* The value of an axis at the present point; null if it was not given. */
const char *sweep_axis_value(enum sweep_axis_id id);
/* Goes to the next point; false, and back at the first, behind the last one. */
bool sweep_axes_next(void);
void sweep_axes_free(void);

#endif
