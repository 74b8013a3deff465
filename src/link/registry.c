/* registry.c - see registry.h. */
#include "registry.h"

#include "base/pack.h"

#include <assert.h>

#define REGISTRY_ENTRY(name_, number, since_, sort_, part_, from_, to_, says_, ...)                                    \
    [name_] = {.name = #name_,                                                                                         \
               .since = since_,                                                                                        \
               .sort = LINK_##sort_,                                                                                   \
               .part = PART_##part_,                                                                                   \
               .from = from_,                                                                                          \
               .to = to_,                                                                                              \
               .says = says_,                                                                                          \
               .field = (const struct registry_field[]){__VA_ARGS__, {NULL, 0}}},
const struct registry_entry registry[REGISTRY_SIZE] = {REGISTRY(REGISTRY_ENTRY)};

const struct registry_entry *registry_check(enum link_sort sort, const uint8_t *bytes, size_t len, const char **wrong)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    const struct registry_entry *entry = &registry[unpack_number(&u, 1)];

    assert(sort == LINK_LETTER || sort == LINK_NOTE);
    if (!entry->name || entry->sort != sort) {
        *wrong = sort == LINK_LETTER ? "a letter of no known type" : "a note of no known type";
        return NULL;
    }
    for (const struct registry_field *field = entry->field; field->name && !u.wrong; field++) {
        size_t size = field->size == REGISTRY_REST   ? (size_t)(u.end - u.at)
                      : field->size == REGISTRY_TEXT ? unpack_number(&u, 1)
                      : field->size == REGISTRY_LONG ? unpack_number(&u, 2)
                                                     : field->size;

        if ((size_t)(u.end - u.at) < size)
            u.wrong = true;
        else
            u.at += size;
    }
    *wrong = u.wrong || u.at != u.end ? "a message that is cut short or too long" : NULL;
    return *wrong ? NULL : entry;
}
