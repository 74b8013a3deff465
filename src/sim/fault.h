/* fault.h - what goes wrong in a simulated run, and when.
 *
 * Scripted: a file of lines "TIME VERB SITE.." with the verbs of scenarios: crash, restart, resume, join, leave, cut, heal.
 * Random: crashes, cuts and leaves each come as a Poisson process of the whole system, one at a time: the next can only
 * come when the site is back, or the cut has healed, and some time has passed in which all can recover. What fails is drawn, all equally likely; for how long, from a
 * distribution.
 *
 * A failure is reported, to sites whose algorithm has a handler for it, after a fixed time and not before the last message
 * of the failed site has arrived. A request that is lost in a crash is made again when the site is back, except one of a
 * script. */
#ifndef DIBS_SIM_FAULT_H
#define DIBS_SIM_FAULT_H

#include "core/text.h"
#include "dist.h"

struct fault_line {
    double at;
    uint32_t type; /* an event of dme.h or lab/world.h */
    dme_id site;
    uint32_t arg; /* as in struct world_move */
};

struct fault_spec {
    struct fault_line *line; /* script, sorted by time */
    size_t lines;
    double crash_rate, cut_rate, leave_rate;
    struct dist absence; /* how long a site is down or no member, or the network is cut */
    double gap;          /* least time until the next failure; 0: fifty times the bound on delays */
    bool resumes;        /* with its memory */
    double detect;       /* time to a report; 0: the bound on delays, if there is one, else 1 */
};

/* False and a line that names file and line, if something is wrong. */
bool fault_read_script(struct fault_spec *spec, const char *path, uint32_t n, struct dme_text *wrong);
void fault_spec_free(struct fault_spec *spec);

static inline bool fault_happens(const struct fault_spec *spec)
{
    return spec->lines || spec->crash_rate > 0 || spec->cut_rate > 0 || spec->leave_rate > 0;
}

/* What the failures caused. */
struct fault_result {
    uint64_t crashes, returns, cuts, leaves;
    uint64_t lost;                 /* requests that were waiting or inside when their site stopped */
    uint64_t outages;              /* failures after which a site waited */
    double outage_sum, outage_max; /* how long, until the next entry */
};

#endif
