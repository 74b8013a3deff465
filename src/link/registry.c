/* registry.c - see registry.h. */
#include "registry.h"

#include "base/pack.h"

#include <assert.h>

#define REGISTRY_ENTRY(name_, number, sort_, part_, from_, to_, says_, ...)                                            \
    [name_] = {.name = #name_,                                                                                         \
               .sort = LINK_##sort_,                                                                                   \
               .part = PART_##part_,                                                                                   \
               .from = from_,                                                                                          \
               .to = to_,                                                                                              \
               .says = says_,                                                                                          \
               .field = (const struct registry_field[]){__VA_ARGS__, {NULL, 0}}},
const struct registry_entry registry[REGISTRY_SIZE] = {REGISTRY(REGISTRY_ENTRY)};

static void registry_skip(struct unpack *u, const struct registry_field *field)
{
    size_t len = field->size;

    if (field->size == REGISTRY_REST)
        len = (size_t)(u->end - u->at);
    else if (field->size == REGISTRY_TEXT)
        len = unpack_number(u, 1);
    if ((size_t)(u->end - u->at) < len)
        u->wrong = true;
    else
        u->at += len;
}

const struct registry_entry *registry_check(enum link_sort sort, const uint8_t *bytes, size_t len, const char **wrong)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    const struct registry_entry *entry = &registry[unpack_number(&u, 1)];

    assert(sort == LINK_LETTER || sort == LINK_NOTE);
    if (!entry->name || entry->sort != sort) {
        *wrong = sort == LINK_LETTER ? "a letter of no known type" : "a note of no known type";
        return NULL;
    }
    for (const struct registry_field *field = entry->field; field->name && !u.wrong; field++)
        registry_skip(&u, field);
    *wrong = u.wrong || u.at != u.end ? "a message that is cut short or too long" : NULL;
    return *wrong ? NULL : entry;
}
