/* talk.c - see talk.h. */
#include "talk.h"

#include "base/pack.h"
#include "node.h"

void talk_init(struct talk *t)
{
    watch_init(&t->watch);
    questions_init(&t->questions);
}

void talk_free(struct talk *t)
{
    watch_free(&t->watch);
}

uint32_t talk_members(const struct node *node)
{
    return node->view.count;
}

uint32_t talk_self(const struct node *node)
{
    return node->place;
}

const char *talk_name(const struct node *node, uint32_t member)
{
    return node->view.member[member].name;
}

const struct link *talk_link(const struct node *node, uint32_t member)
{
    return member == node->place ? NULL : &node->member[member]->link;
}

bool talk_reaches(const struct node *node, uint32_t member)
{
    return member != node->place && node->member[member]->link.state == LINK_UP;
}

void talk_say(struct node *node, uint32_t member, const uint8_t *bytes, size_t len)
{
    struct link *link = &node->member[member]->link;

    if (bytes_len(&link->notes) + len <= TALK_MAX)
        link_note(link, bytes, len);
}

bool talk_is(const uint8_t *bytes, size_t len)
{
    return len && bytes[0] >= TALK_INTEREST;
}

const char *talk_receive(struct node *node, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes + 1, .end = bytes + len};

    switch (bytes[0]) {
    case TALK_INTEREST:
        return watch_hear_interest(node, from, &u);
    case TALK_EVENT:
        return watch_hear_event(node, from, &u);
    case TALK_ASK:
        return question_hear_ask(node, from, &u);
    case TALK_ANSWER:
        return question_hear_answer(node, from, &u);
    default:
        return "a message of no known type";
    }
}

void talk_advance(struct node *node)
{
    watch_advance(node);
    questions_advance(node);
}

uint64_t talk_due_ms(const struct node *node)
{
    uint64_t watch = watch_due_ms(node), questions = questions_due_ms(node);

    return watch < questions ? watch : questions;
}

bool talk_next(struct node *node, struct node_event *event)
{
    return questions_next(node, event) || watch_next(node, event);
}
