/* admin.c - see admin.h. */
#include "admin.h"

#include "base/pack.h"
#include "link/registry.h"
#include "node.h"

void admin_init(struct admin *t)
{
    watch_init(&t->watch);
    queries_init(&t->queries);
}

void admin_free(struct admin *t)
{
    watch_free(&t->watch);
}

uint32_t admin_members(const struct node *node)
{
    return node->view.count;
}

uint32_t admin_self(const struct node *node)
{
    return node->place;
}

const char *admin_name(const struct node *node, uint32_t member)
{
    return node->view.member[member].name;
}

const struct link *admin_link(const struct node *node, uint32_t member)
{
    return member == node->place ? NULL : &node->member[member]->link;
}

bool admin_reaches(const struct node *node, uint32_t member)
{
    return member != node->place && node->member[member]->link.state == LINK_UP;
}

void admin_say(struct node *node, uint32_t member, const uint8_t *bytes, size_t len)
{
    struct link *link = &node->member[member]->link;

    if (bytes_len(&link->notes) + len <= ADMIN_MAX)
        link_note(link, bytes, len);
}

const char *admin_receive(struct node *node, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes + 1, .end = bytes + len};

    switch (bytes[0]) {
    case ADMIN_INTEREST:
        return watch_hear_interest(node, from, &u);
    case ADMIN_EVENT:
        return watch_hear_event(node, from, &u);
    case ADMIN_ASK:
        return query_hear_ask(node, from, &u);
    case ADMIN_ANSWER:
        return query_hear_answer(node, from, &u);
    default:
        return "a note that is neither a query nor an event";
    }
}

void admin_advance(struct node *node)
{
    watch_advance(node);
    queries_advance(node);
}

uint64_t admin_due_ms(const struct node *node)
{
    uint64_t watch = watch_due_ms(node), queries = queries_due_ms(node);

    return watch < queries ? watch : queries;
}

bool admin_next(struct node *node, struct node_event *event)
{
    return queries_next(node, event) || watch_next(node, event);
}
