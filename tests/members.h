/* members.h - members of a cluster for tests, without agreement: they take part in a view that is installed by hand. */
#ifndef DIBS_TESTS_MEMBERS_H
#define DIBS_TESTS_MEMBERS_H

#include "node/node.h"

/* Member k of the view has incarnation k + 1. */
static inline void members_start(struct node *node, struct node_conf conf, const char *const *names, uint32_t n,
                                 uint32_t self)
{
    struct view view;
    char address[24];

    view_begin(&view);
    for (uint32_t k = 0; k < n; k++) {
        snprintf(address, sizeof address, "10.0.0.%u:1", k);
        view_add(&view, names[k], address, VIEW_MEMBER);
        view.member[k].incarnation = k + 1;
    }
    view.number = 1;
    conf.name = names[self];
    if (!conf.incarnation)
        conf.incarnation = self + 1;
    node_init(node, &conf);
    node_install(node, &view);
}

#endif
