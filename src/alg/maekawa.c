/* Maekawa, "A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems", ACM TOCS 3(2), 1985.
 *
 * Idea. Quorums of about sqrt(n) sites, of which any two meet and in which all sites stand equally often: the lines of
 * a finite projective plane, which exist for few n, or a row and a column of a square grid. The arbitration among them,
 * its invariants and its departures from the paper are in quorum.c.
 *
 * Messages. 3(K-1) at light load, 4(K-1) at full load. On a plane n = K(K-1)+1; on a grid K = 2 sqrt(n) - 1.
 *
 * The mistakes of maekawa-as-retold and maekawa-tempting are told in quorum.c. */
#include "quorum.h"

#include "core/topology.h"

enum { OPTION_QUORUM = QUORUM_OPTION_YIELD + 1 };

static const struct dme_option mk_options[] = {
    QUORUM_YIELD,
    {.key = "quorum", .help = "whom a site asks", .choices = topo_quorum_names},
    {0},
};

static void mk_init(struct dme *d, void *state)
{
    struct quorum *s = state;
    dme_id j;

    for (uint32_t k = 0;; k++) {
        j = topo_quorum_member((enum topo_quorum)dme_option(d, OPTION_QUORUM), d->n, d->self, k);
        if (j == DME_NONE)
            return;
        s->peer[j].member = 1;
    }
}

static const char *mk_check(const struct dme_conf *conf)
{
    if (!topo_quorum_exists((enum topo_quorum)conf->option[OPTION_QUORUM], conf->n))
        return "quorum=plane needs 3, 7, 13, 21, 31, 57, 73 or 91 sites; quorum=grid works for any number";
    return NULL;
}

#define MK_COMMON                                                                                                      \
    .cost = "3(K-1) to 7(K-1) messages for quorums of K sites, delay 2T", .options = mk_options, .check = mk_check,    \
    .init = mk_init, QUORUM_COMMON

const struct dme_alg maekawa = {
    .name = "maekawa",
    .paper = "M. Maekawa, A sqrt(N) algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985; "
             "B. Sanders, ACM TOCS 5(3), 1987",
    MK_COMMON,
};

const struct dme_alg maekawa_tempting = {
    .name = "maekawa-tempting",
    .paper = "M. Maekawa, A sqrt(N) algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985",
    .flaw = "an INQUIRE or a YIELD is not remembered: deadlock",
    .mistakes = quorum_mistakes,
    .mistaken = DME_TEMPTING,
    MK_COMMON,
};

const struct dme_alg maekawa_as_retold = {
    .name = "maekawa-as-retold",
    .paper = "M. Maekawa, A sqrt(N) algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985",
    .flaw = "claims that hold each other's grants are not always told to give them back: deadlock",
    .mistakes = quorum_mistakes,
    .mistaken = DME_RETOLD,
    MK_COMMON,
};
