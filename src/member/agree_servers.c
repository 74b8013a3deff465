/* agree_servers.c - see agree_servers.h. */
#include "agree_servers.h"

#include "agree_wire.h"

raft_index agree_servers_below(const struct journal *j, raft_index index)
{
    for (size_t k = j->count; k > 0; k--)
        if (j->entry[k - 1].type == RAFT_CHANGE && j->start + k - 1 < index)
            return j->start + k - 1;
    return j->snapshot.index && j->snapshot.conf_index < index ? j->snapshot.conf_index : 0;
}

bool agree_servers_read(const struct journal *j, raft_index index, struct raft_configuration *servers)
{
    const struct bytes *b = &j->snapshot.conf;

    raft_configuration_init(servers);
    if (index == 0)
        return true;
    if (index >= j->start && index - j->start < j->count && j->entry[index - j->start].type == RAFT_CHANGE) {
        b = &j->entry[index - j->start].data;
        return agree_decode_change(servers, b->at + b->start, bytes_len(b));
    }
    return j->snapshot.index && index == j->snapshot.conf_index &&
           agree_decode_servers(servers, b->at + b->start, bytes_len(b));
}

void agree_servers_remind(struct raft *r, const struct journal *j)
{
    raft_index newest = agree_servers_below(j, UINT64_MAX);

    if (newest > r->last_applied) {
        r->configuration_index = agree_servers_below(j, newest);
        r->configuration_uncommitted_index = newest;
    } else {
        r->configuration_index = newest;
        r->configuration_uncommitted_index = 0;
    }
}

void agree_servers_take_back(struct raft *r, const struct journal *j, raft_index index)
{
    raft_index newest = agree_servers_below(j, index);
    struct raft_configuration servers;

    if (r->configuration_uncommitted_index < index || !agree_servers_read(j, newest, &servers))
        return;
    raft_configuration_close(&r->configuration);
    r->configuration = servers;
    r->configuration_index = newest;
    r->configuration_uncommitted_index = newest > r->last_applied ? newest : 0;
}
