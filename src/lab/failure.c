/* failure.c - see failure.h. */
#include "failure.h"

static void failure_tell(const struct failure_driver *d, enum dme_news what, dme_id of, dme_id to)
{
    if (d->conf->alg->news && of != to && !d->is_down(d->user, to))
        d->tell(d->user, what, of, to);
}

/* Each side is told of the other. Of a site that is down, sites are only ever told that it is down. */
static void failure_tell_across(const struct failure_driver *d, uint32_t side, enum dme_news what)
{
    for (dme_id i = 0; i < d->conf->n; i++)
        for (dme_id j = 0; j < d->conf->n; j++)
            if (world_apart(side, i, j))
                failure_tell(d, d->is_down(d->user, j) ? DME_DOWN : what, j, i);
}

/* A site that has restarted is told which sites are down or across the cut. */
static void failure_tell_absences(const struct failure_driver *d, uint32_t side, dme_id to)
{
    for (dme_id j = 0; j < d->conf->n; j++) {
        if (d->is_down(d->user, j))
            failure_tell(d, DME_DOWN, j, to);
        else if (world_apart(side, j, to))
            failure_tell(d, DME_CUT, j, to);
    }
}

void failure_report(const struct failure_driver *d, uint32_t type, dme_id site, uint32_t side)
{
    switch (type) {
    case WORLD_CRASH:
        for (dme_id j = 0; j < d->conf->n; j++)
            if (!world_apart(side, site, j))
                failure_tell(d, DME_DOWN, site, j);
        break;
    case WORLD_SUSPECT:
        for (dme_id j = 0; j < d->conf->n; j++)
            failure_tell(d, DME_DOWN, site, j);
        break;
    case DME_RESTART:
        failure_tell_absences(d, side, site);
        break;
    case WORLD_CUT:
        failure_tell_across(d, side, DME_CUT);
        break;
    case WORLD_HEAL:
        failure_tell_across(d, side, DME_HEALED);
        break;
    }
}

const char *failure_site_objects(const struct dme_alg *alg, const struct dme_node *node, uint32_t type)
{
    static const char no_members[] = "the algorithm knows of no members";

    if (type == DME_RESTART)
        return node->down ? NULL : "the site is not down";
    if (node->down)
        return "the site is down";
    if (type == DME_JOIN)
        return alg->join ? NULL : no_members;
    if (type == DME_LEAVE)
        return !alg->leave ? no_members : node->phase != DME_IDLE ? "the site is not idle" : NULL;
    return NULL; /* a crash, or the suspicion of one */
}

const char *failure_net_objects(uint32_t side, uint32_t type)
{
    if (type == WORLD_CUT)
        return side ? "the network is cut already" : NULL;
    return side ? NULL : "the network is whole";
}
