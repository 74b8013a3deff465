/* topology.h - trees, rings, grids, projective planes and tree quorums, as pure functions of n and a site.
 *
 * Nothing is stored: a neighbour or a quorum member is computed when it is asked for. */
#ifndef DIBS_CORE_TOPOLOGY_H
#define DIBS_CORE_TOPOLOGY_H

#include "dme.h"

/* ------------------------------------------------------------------------------------------------------------ trees */

enum topo_tree {
    TOPO_BINARY,
    TOPO_TERNARY,
    TOPO_LINE,
    TOPO_STAR,
    TOPO_RADIATING, /* three arms from site 0: site i follows site i - 3 */
    TOPO_RANDOM     /* each site hangs below a random one of lower number; the same for every n and run */
};
extern const char *const topo_tree_names[]; /* in this order, then null */

/* The tree is rooted at site 0, whose parent is DME_NONE. */
dme_id topo_parent(enum topo_tree tree, uint32_t n, dme_id site);
/* The neighbours of a site: its parent, if it has one, and its children. */
uint32_t topo_degree(enum topo_tree tree, uint32_t n, dme_id site);

/* ---------------------------------------------------------------------------------------------------------- quorums */

enum topo_quorum { TOPO_GRID, TOPO_PLANE, TOPO_FULL };
extern const char *const topo_quorum_names[];

/* Does this family have quorums for n sites? Planes exist for n = 3, 7, 13, 21, 31, 57, 73, 91 only. */
bool topo_quorum_exists(enum topo_quorum quorum, uint32_t n);
/* Member k of the quorum of a site, in a fixed order without repetition, or DME_NONE behind the last. The site itself
 * is a member; any two quorums of a family share a site. */
dme_id topo_quorum_member(enum topo_quorum quorum, uint32_t n, dme_id site, uint32_t k);

/* Agrawal and El Abbadi: a path from the root of the tree to a leaf, in heap order with `arity` children; a site that
 * is down is replaced by paths through all of its children. down and member point to the byte of site 0, 0 or 1; those
 * of the others follow, stride bytes apart. down may be null. False if no quorum is left; otherwise member is the
 * quorum that a site prefers. Any two quorums that this function can return for the same n and arity intersect,
 * whatever was down. */
bool topo_tree_quorum(uint32_t n, uint32_t arity, dme_id site, const uint8_t *down, uint8_t *member, size_t stride);

#endif
