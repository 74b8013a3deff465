/* layout.c - see layout.h. */
#include "layout.h"

#include "core/topology.h"

#include <string.h>

const char *const layout_names[] = {"circle", "ring", "tree", "grid", "plane", "star", NULL};

/* The value of an option; false if the algorithm does not have it. */
static bool layout_option(const struct dme_conf *conf, const char *key, uint64_t *value)
{
    const struct dme_option *o = conf->alg->options;

    for (unsigned k = 0; o && o[k].key; k++)
        if (strcmp(o[k].key, key) == 0) {
            *value = conf->option[k];
            return true;
        }
    return false;
}

enum layout_figure layout_of(const struct dme_conf *conf)
{
    uint64_t value;

    if (layout_option(conf, "tree", &value) || layout_option(conf, "arity", &value))
        return LAYOUT_TREE;
    if (layout_option(conf, "quorum", &value))
        return value == TOPO_GRID ? LAYOUT_GRID : value == TOPO_PLANE ? LAYOUT_PLANE : LAYOUT_CIRCLE;
    if (strcmp(conf->alg->name, "le-lann") == 0 || strstr(conf->alg->name, "-ring"))
        return LAYOUT_RING;
    return conf->alg->family == DME_CENTRAL ? LAYOUT_STAR : LAYOUT_CIRCLE;
}

dme_id layout_next(const struct dme_conf *conf, dme_id site)
{
    uint64_t value;

    switch (layout_of(conf)) {
    case LAYOUT_RING:
        return (site + 1) % conf->n;
    case LAYOUT_STAR:
        return site ? 0 : DME_NONE;
    case LAYOUT_TREE:
        if (layout_option(conf, "tree", &value))
            return topo_parent((enum topo_tree)value, conf->n, site);
        layout_option(conf, "arity", &value);
        return site ? (dme_id)((site - 1) / value) : DME_NONE;
    default:
        return DME_NONE;
    }
}

dme_id layout_quorum(const struct dme_conf *conf, dme_id site, uint32_t k)
{
    uint64_t value;

    return layout_option(conf, "quorum", &value) ? topo_quorum_member((enum topo_quorum)value, conf->n, site, k)
                                                 : DME_NONE;
}
