/* Agrawal and El Abbadi, "An Efficient and Fault-Tolerant Solution for Distributed Mutual Exclusion", ACM TOCS 9(1),
 * 1991.
 *
 * Idea. The sites form a rooted tree. A quorum is a path from the root to a leaf: any two share at least the root. A
 * site that is down is replaced by paths through *all* of its children, which then meet every path through one of them;
 * so sites need not even agree on who is down. The arbitration is that of quorum.c, Maekawa's.
 *
 * Messages. 3 for each member of the quorum but oneself at light load, 4 at full load; a quorum has log n members, or
 * up to (n+1)/2 if the wrong sites are down. The root arbitrates every claim.
 *
 * Invariant AE1. Any two quorums meet, whichever sites were taken to be down when they were formed.
 *
 * Departures from the paper. The paper's trees are complete. In others a site may have one child only; a path may not
 * end there, or it would not meet the path that replaces this site by its child. In agrawal-el-abbadi no site crashes
 * during a run: `--set down=3` makes site 3 one that has crashed before, which all sites know. In
 * agrawal-el-abbadi-robust sites may crash at any moment, for good: a claim whose quorum loses a member goes on with
 * another quorum. If no quorum is left, claims wait for ever; the paper reports that. Clocks move on GRANT too;
 * otherwise the leaves, which hear of few claims, would stay behind, and win four times as often as others. */
#include "quorum.h"

#include "core/topology.h"

enum { OPTION_ARITY = QUORUM_OPTION_YIELD + 1, OPTION_DOWN };
enum { DOWN_NOBODY };

static const char *const ae_down[] = {
    "none", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", NULL,
};
#define AE_ARITY                                                                                                       \
    {                                                                                                                  \
        .key = "arity", .help = "children of a site of the tree", .initial = 2, .min = 2, .max = 64                    \
    }
static const struct dme_option ae_options[] = {
    QUORUM_YIELD,
    AE_ARITY,
    {.key = "down", .help = "who has stopped, as all know, and is not asked", .choices = ae_down},
    {0},
};
/* If sites may crash at any moment, no site needs to have crashed before. */
static const struct dme_option ae_robust_options[] = {QUORUM_YIELD, AE_ARITY, {0}};

static void ae_init(struct dme *d, void *state)
{
    struct quorum *s = state;
    uint64_t down = dme_option(d, OPTION_DOWN);

    if (down != DOWN_NOBODY)
        s->peer[down - 1].down = 1;
    topo_tree_quorum(d->n, (uint32_t)dme_option(d, OPTION_ARITY), d->self, &s->peer[0].down, &s->peer[0].member,
                     sizeof s->peer[0]);
}

/* Only a leaf without siblings, cousins and so on cannot be replaced: the last of one or two sites. */
static const char *ae_check(const struct dme_conf *conf)
{
    if (conf->option[OPTION_DOWN] > conf->n)
        return "down must be one of the sites, which are numbered from 0";
    if (conf->n <= 2 && conf->option[OPTION_DOWN] == conf->n)
        return "with this site down no quorum is left; take more sites";
    return NULL;
}

/* ------------------------------------------------------------------------------------------- where sites may stop */

/* Forms a quorum of the sites that are up; the empty set, if there is none. */
static bool ae_form(struct dme *d, struct quorum *s)
{
    return topo_tree_quorum(d->n, (uint32_t)dme_option(d, OPTION_ARITY), d->self, &s->peer[0].down, &s->peer[0].member,
                            sizeof s->peer[0]);
}

static void ae_request(struct dme *d, void *state)
{
    ae_form(d, state);
    quorum_request(d, state);
}

static void ae_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    struct quorum *s = state;

    if (what != DME_DOWN || !quorum_lost(d, s, of) || !ae_form(d, s))
        return;
    quorum_ask(d, s);
    if (s->missing == 0)
        dme_enter(d);
}

const struct dme_alg agrawal_el_abbadi = {
    .name = "agrawal-el-abbadi",
    .paper = "D. Agrawal, A. El Abbadi, An efficient and fault-tolerant solution for distributed mutual exclusion, ACM "
             "TOCS 9(1), 1991",
    .cost = "3 log n to 7 log n messages, delay 2T",
    .options = ae_options,
    .check = ae_check,
    .init = ae_init,
    QUORUM_COMMON,
};

const struct dme_alg agrawal_el_abbadi_robust = {
    .name = "agrawal-el-abbadi-robust",
    .paper = "D. Agrawal, A. El Abbadi, An efficient and fault-tolerant solution for distributed mutual exclusion, ACM "
             "TOCS 9(1), 1991",
    .cost = "3 log n to 7 log n messages, delay 2T; up to 3(n+1)/2 and more if the wrong sites are down",
    .options = ae_robust_options,
    .needs = DME_RELIABLE | DME_DETECTION,
    .init = ae_init,
    .request = ae_request,
    .news = ae_news,
    QUORUM_SHARED,
};
