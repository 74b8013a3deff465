/* agreed.h - three members without agreement, and their clients: for tests of what members agree on, as views that are installed by hand
 * have it. */
#ifndef DIBS_TESTS_AGREED_H
#define DIBS_TESTS_AGREED_H

#include "test.h"

#include "alg/list.h"
#include "cluster.h"
#include "step/invariants.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS = 3, CLIENTS = 6 };

static const char *const member_names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster cluster;
static struct cluster_client client[CLIENTS]; /* client k is at member k % MEMBERS */

/* The first n of them take part. */
static inline struct view view_of(uint32_t n, uint64_t number)
{
    struct view v;
    char address[24];

    view_begin(&v);
    for (uint32_t k = 0; k < n; k++) {
        snprintf(address, sizeof address, "10.0.0.%u:1", k);
        view_add(&v, member_names[k], address, VIEW_MEMBER);
        v.member[k].incarnation = k + 1;
    }
    v.number = number;
    return v;
}

static inline void install_everywhere(const struct view *v)
{
    for (uint32_t k = 0; k < MEMBERS; k++) {
        node_install(&node[k], v);
        cluster_tell(&cluster, k, (struct node_input){.type = NODE_TIME});
    }
    cluster_settle(&cluster);
    for (uint32_t k = 0; k < MEMBERS; k++) {
        assert_true(node_is_open(&node[k]));
        assert_null(node_check(&node[k]));
    }
}

static inline uint64_t random_number(void *user)
{
    static uint64_t dice;

    (void)user;
    return test_random(&dice);
}

static inline int start(void **state)
{
    struct node_conf conf = {.summary = "same",
                             .algorithm = alg_find("central"), /* it knows groups and sharing */
                             .slots_algorithm = alg_find("central"),
                             .find_algorithm = alg_find,
                             .algorithms = alg_digest(),
                             .random = random_number,
                             .told = cluster_told};

    (void)state;
    cluster = (struct cluster){.n = MEMBERS, .node = node};
    memset(client, 0, sizeof client);
    for (uint32_t k = 0; k < MEMBERS; k++)
        members_start(&node[k], conf, member_names, MEMBERS, k);
    cluster_connect_all(&cluster);
    cluster_settle(&cluster);
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    for (unsigned k = 0; k < CLIENTS; k++)
        bytes_free(&client[k].heard);
    cluster_end(&cluster);
    return 0;
}

#endif
