/* failure.h - the failure model: which failures can happen, which messages they lose, and what the failure detector reports to
 * which site. A world without time (world.c), the checker (check/fail.c) and the simulator (sim/fail.c) share it. They differ
 * only in where they keep messages and reports, and in when those arrive.
 *
 * A report of the failure detector is called *news* (enum dme_news). Only an algorithm with a handler for news gets any. News
 * go to sites that are up, and never to the site that they are about. A driver that keeps the promise DME_DETECTION delivers
 * news about a site after all messages that this site has sent to the receiver.
 *
 *     event            which sites are told                                     what they are told
 *     crash i          the sites on i's side of the cut, or all without a cut   DOWN i
 *     suspect i        all sites (i has not crashed)                            DOWN i
 *     restart i        i                                                        DOWN j for each site j that is down,
 *                                                                               CUT j for each other site across the cut
 *     cut              each site, about each site on the other side             DOWN j if j is down, else CUT j
 *     heal             each site, about each site that was on the other side    DOWN j if j is down, else HEALED j
 *
 * Losses. A cut loses the messages that are in flight across it, and every message that is sent across it later. News cross a
 * cut. A site that crashes loses the news that are in flight to it: when it restarts, it is told the present state. A message
 * to a site that is down is lost when it arrives, so it can outlast a short absence.
 *
 * When a failure can happen. A site that is down can restart, once no site that is up has still to be told that it is down.
 * A site that is up can crash, and be suspected. It can join or leave if the algorithm has members, and leave only while it is
 * idle. There is at most one cut. */
#ifndef DIBS_LAB_FAILURE_H
#define DIBS_LAB_FAILURE_H

#include "world.h"

/* A driver, as the failure model sees it. */
struct failure_driver {
    const struct dme_conf *conf;
    void *user; /* the first argument of both functions */
    bool (*is_down)(void *user, dme_id site);
    /* The failure detector has to tell site `to` that `what` has happened to site `of`. */
    void (*tell)(void *user, enum dme_news what, dme_id of, dme_id to);
};

/* Calls tell() for every report that a failure causes. `type` is WORLD_CRASH, WORLD_SUSPECT, DME_RESTART, WORLD_CUT or WORLD_HEAL,
 * `site` the site that fails, `side` the cut (for WORLD_HEAL: the cut that there was). To be called after the event. */
void failure_report(const struct failure_driver *d, uint32_t type, dme_id site, uint32_t side);

/* Returns null if the event can happen to a site in this state, else why not. Whether a restart has to wait for news is for
 * failure_is_awaited to say. */
const char *failure_site_objects(const struct dme_alg *alg, const struct dme_node *node, uint32_t type);
/* The same for WORLD_CUT and WORLD_HEAL, given the cut that there is. */
const char *failure_net_objects(uint32_t side, uint32_t type);

/* Is the message or report `kind` of site `from`, in flight to `to`, lost in a crash of `to` or by the cut `side`? */
static inline bool failure_loses(uint32_t kind, dme_id from, dme_id to, uint32_t side, bool to_is_down)
{
    return kind < DME_NEWS ? world_apart(side, from, to) : to_is_down;
}

/* Does a report in flight keep `site` from restarting: the news that it is down, to a site that is up? */
static inline bool failure_is_awaited(uint32_t kind, dme_id of, bool to_is_down, dme_id site)
{
    return kind == DME_DOWN && of == site && !to_is_down;
}

#endif
