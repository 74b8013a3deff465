/* layout.h - on which figure an algorithm's sites stand, and which of them are neighbours in it. */
#ifndef DIBS_PAGE_LAYOUT_H
#define DIBS_PAGE_LAYOUT_H

#include "core/dme.h"

enum layout_figure { LAYOUT_CIRCLE, LAYOUT_RING, LAYOUT_TREE, LAYOUT_GRID, LAYOUT_PLANE, LAYOUT_STAR };
extern const char *const layout_names[]; /* "circle", "ring", .. */

/* The figure: a circle where each site talks to all others; a ring, a tree, a grid or a projective plane of quorums, or
 * a star where the algorithm has that. */
enum layout_figure layout_of(const struct dme_conf *conf);
/* The parent of a site in a tree or a star, its successor on a ring; else DME_NONE. */
dme_id layout_next(const struct dme_conf *conf, dme_id site);
/* Member k of the quorum of a site, or DME_NONE behind the last; DME_NONE where there are no fixed quorums. */
dme_id layout_quorum(const struct dme_conf *conf, dme_id site, uint32_t k);

#endif
