/* topology.c - see topology.h. */
#include "topology.h"

const char *const topo_tree_names[] = {"binary", "ternary", "line", "star", "radiating", "random", NULL};
const char *const topo_quorum_names[] = {"grid", "plane", "full", NULL};

/* ------------------------------------------------------------------------------------------------------------ trees */

enum { TOPO_ARMS = 3 };

/* A number below `below` that looks random but is always the same for a site (a mixer after SplitMix64). */
static uint32_t topo_scatter(uint32_t site, uint32_t below)
{
    uint64_t x = (site + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) % below);
}

dme_id topo_parent(enum topo_tree tree, uint32_t n, dme_id site)
{
    (void)n;
    if (site == 0)
        return DME_NONE;
    switch (tree) {
    case TOPO_BINARY:
        return (site - 1) / 2;
    case TOPO_TERNARY:
        return (site - 1) / 3;
    case TOPO_LINE:
        return site - 1;
    case TOPO_STAR:
        return 0;
    case TOPO_RADIATING:
        return site > TOPO_ARMS ? site - TOPO_ARMS : 0;
    case TOPO_RANDOM:
        return topo_scatter(site, site);
    }
    return DME_NONE;
}

/* Children of a site in a tree in heap order. */
static uint32_t topo_heap_children(uint32_t n, uint32_t arity, dme_id site)
{
    uint64_t first = (uint64_t)arity * site + 1;

    return first >= n ? 0 : n - first < arity ? (uint32_t)(n - first) : arity;
}

static uint32_t topo_children(enum topo_tree tree, uint32_t n, dme_id site)
{
    uint32_t count = 0;

    switch (tree) {
    case TOPO_BINARY:
        return topo_heap_children(n, 2, site);
    case TOPO_TERNARY:
        return topo_heap_children(n, 3, site);
    case TOPO_LINE:
        return topo_heap_children(n, 1, site);
    case TOPO_STAR:
        return site == 0 ? n - 1 : 0;
    case TOPO_RADIATING:
        return site == 0 ? (n - 1 < TOPO_ARMS ? n - 1 : TOPO_ARMS) : site + TOPO_ARMS < n;
    case TOPO_RANDOM:
        for (dme_id j = site + 1; j < n; j++)
            count += topo_scatter(j, j) == site;
        return count;
    }
    return 0;
}

uint32_t topo_degree(enum topo_tree tree, uint32_t n, dme_id site)
{
    return topo_children(tree, n, site) + (site != 0);
}

/* ---------------------------------------------------------------------------------------------------------- quorums */

/* Perfect difference sets: every number 1 .. n-1 is exactly one difference of two members modulo n, so any two of the n
 * translates of the set share exactly one site. Each line: n, then the set. */
enum { TOPO_PLANES = 8, TOPO_PLANE_SIZE = 11 };
static const uint8_t topo_planes[TOPO_PLANES][TOPO_PLANE_SIZE] = {
    {3, 0, 1},
    {7, 0, 1, 3},
    {13, 0, 1, 3, 9},
    {21, 0, 1, 4, 14, 16},
    {31, 0, 1, 3, 8, 12, 18},
    {57, 0, 1, 3, 13, 32, 36, 43, 52},
    {73, 0, 1, 3, 7, 15, 31, 36, 54, 63},
    {91, 0, 1, 3, 9, 27, 49, 56, 61, 77, 81},
};

static const uint8_t *topo_plane(uint32_t n)
{
    for (unsigned p = 0; p < TOPO_PLANES; p++)
        if (topo_planes[p][0] == n)
            return topo_planes[p] + 1;
    return NULL;
}

static dme_id topo_plane_member(uint32_t n, dme_id site, uint32_t k)
{
    const uint8_t *plane = topo_plane(n);

    /* The sets begin with 0; a later 0 is the end of the line in the table. */
    if (!plane || k >= TOPO_PLANE_SIZE - 1 || (k > 0 && plane[k] == 0))
        return DME_NONE;
    return (site + plane[k]) % n;
}

static uint32_t topo_ceil_sqrt(uint32_t n)
{
    uint32_t root = 0;

    while ((uint64_t)root * root < n)
        root++;
    return root;
}

/* Rows of c = ceil(sqrt n) sites, the last one possibly short: first the row of the site, then the rest of its column.
 */
static dme_id topo_grid_member(uint32_t n, dme_id site, uint32_t k)
{
    uint32_t c = topo_ceil_sqrt(n), row = site / c, column = site % c;
    uint32_t width = n - row * c < c ? n - row * c : c;
    uint32_t other;

    if (k < width)
        return row * c + k;
    other = k - width;
    other += other >= row;
    return (uint64_t)other * c + column < n ? other * c + column : DME_NONE;
}

bool topo_quorum_exists(enum topo_quorum quorum, uint32_t n)
{
    return quorum != TOPO_PLANE || topo_plane(n);
}

dme_id topo_quorum_member(enum topo_quorum quorum, uint32_t n, dme_id site, uint32_t k)
{
    switch (quorum) {
    case TOPO_GRID:
        return topo_grid_member(n, site, k);
    case TOPO_PLANE:
        return topo_plane_member(n, site, k);
    case TOPO_FULL:
        return k < n ? k : DME_NONE;
    }
    return DME_NONE;
}

struct topo_path {
    const uint8_t *down;
    uint8_t *member;
    size_t stride;
    uint32_t n, arity;
    dme_id site;
    uint32_t zero;
};

/* Is `below` equal to v or under it? */
static bool topo_under(const struct topo_path *p, dme_id v, dme_id below)
{
    while (below > v)
        below = (below - 1) / p->arity;
    return below == v;
}

static bool topo_is_down(const struct topo_path *p, dme_id v)
{
    return p->down && p->down[v * p->stride];
}

/* Which child is tried r-th: those that are up before those that are down, among them first the one on the way to the
 * site itself, then by number. */
static dme_id topo_child(const struct topo_path *p, dme_id v, uint32_t r)
{
    dme_id first = p->arity * v + 1;
    uint32_t count = topo_heap_children(p->n, p->arity, v);

    for (int down = 0; down < 2; down++)
        for (int elsewhere = 0; elsewhere < 2; elsewhere++)
            for (dme_id c = first; c < first + count; c++)
                if (topo_is_down(p, c) == down && topo_under(p, c, p->site) == !elsewhere && r-- == 0)
                    return c;
    return DME_NONE;
}

/* Has the subtree of v a quorum? A path always goes on to a leaf: if it could end at a site with one child, it would
 * not meet the path that replaces this site by that child. */
static bool topo_possible(const struct topo_path *p, dme_id v)
{
    uint32_t count = topo_heap_children(p->n, p->arity, v), possible = 0;

    if (count == 0)
        return !topo_is_down(p, v);
    for (uint32_t r = 0; r < count; r++)
        possible += topo_possible(p, p->arity * v + 1 + r);
    return topo_is_down(p, v) ? possible == count : possible > 0;
}

/* Adds the quorum of the subtree of v, which has one. */
static void topo_add(const struct topo_path *p, dme_id v)
{
    uint32_t count = topo_heap_children(p->n, p->arity, v), r = 0;

    if (topo_is_down(p, v)) {
        for (; r < count; r++)
            topo_add(p, p->arity * v + 1 + r);
        return;
    }
    p->member[v * p->stride] = 1;
    if (count == 0)
        return;
    for (; r < count; r++) {
        dme_id child = topo_child(p, v, r);

        if (child != DME_NONE && topo_possible(p, child)) {
            topo_add(p, child);
            return;
        }
    }
}

bool topo_tree_quorum(uint32_t n, uint32_t arity, dme_id site, const uint8_t *down, uint8_t *member, size_t stride)
{
    struct topo_path p = {.n = n, .arity = arity, .site = site, .down = down, .member = member, .stride = stride};

    for (dme_id j = 0; j < n; j++)
        member[j * stride] = 0;
    if (!topo_possible(&p, 0))
        return false;
    topo_add(&p, 0);
    return true;
}
