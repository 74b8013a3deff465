/* view.c - see view.h. */
#include "view.h"

#include "base/pack.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdio.h>
#include <xxhash.h>

void view_begin(struct view *v)
{
    v->number = v->cluster = v->last_id = v->counted_since = v->fence = 0;
    v->lease = (struct settings_lease){0};
    memset(&v->policies, 0, sizeof v->policies);
    memset(&v->rights, 0, sizeof v->rights);
    v->count = 0;
}

const char *view_add(struct view *v, const char *name, const char *address, enum view_standing standing)
{
    struct view_member *m = &v->member[v->count];
    size_t name_len = strlen(name), address_len = strlen(address);

    if (v->count == VIEW_MEMBERS_MAX)
        return "there are 64 members already, and more are not possible";
    if (name_len < 1 || name_len > LINK_NAME_MAX || address_len < 1 || address_len > VIEW_ADDRESS_MAX)
        return "a name has 1 to 63 bytes, an address 1 to 71";
    for (uint32_t k = 0; k < v->count; k++) {
        if (strcmp(v->member[k].name, name) == 0)
            return "there is a member of this name already";
        if (strcmp(v->member[k].address, address) == 0)
            return "there is a member at this address already";
    }
    *m = (struct view_member){.id = ++v->last_id, .standing = standing};
    memcpy(m->name, name, name_len);
    memcpy(m->address, address, address_len);
    if (v->number == 0) /* the cluster's number is a hash of its first roster */
        v->cluster = XXH3_64bits_withSeed(name, name_len, XXH3_64bits_withSeed(address, address_len, v->cluster)) | 1;
    v->count++;
    return NULL;
}

void view_remove(struct view *v, uint32_t k)
{
    assert(k < v->count);
    v->count--;
    memmove(&v->member[k], &v->member[k + 1], (v->count - k) * sizeof v->member[0]);
}

uint32_t view_find(const struct view *v, uint64_t id)
{
    for (uint32_t k = 0; k < v->count; k++)
        if (v->member[k].id == id)
            return k;
    return VIEW_MEMBERS_MAX;
}

uint32_t view_find_name(const struct view *v, const char *name, size_t len)
{
    for (uint32_t k = 0; k < v->count; k++)
        if (strlen(v->member[k].name) == len && memcmp(v->member[k].name, name, len) == 0)
            return k;
    return VIEW_MEMBERS_MAX;
}

bool view_counts(const struct view *v, uint32_t k)
{
    return v->member[k].standing == VIEW_MEMBER || (v->member[k].standing == VIEW_REMOVED && v->member[k].incarnation);
}

uint32_t view_majority(const struct view *v)
{
    uint32_t counted = 0;

    for (uint32_t k = 0; k < v->count; k++)
        counted += view_counts(v, k);
    return counted / 2 + 1;
}

static uint32_t view_counted_only_in(const struct view *v, const struct view *w)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < v->count; k++) {
        uint32_t other = view_find(w, v->member[k].id);

        count += view_counts(v, k) && (other == VIEW_MEMBERS_MAX || !view_counts(w, other));
    }
    return count;
}

uint32_t view_counted_changes(const struct view *v, const struct view *w)
{
    return view_counted_only_in(v, w) + view_counted_only_in(w, v);
}

uint32_t view_taking_part(const struct view *v)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < v->count; k++)
        count += v->member[k].incarnation != 0;
    return count;
}

uint32_t view_staying(const struct view *v)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < v->count; k++)
        count += v->member[k].standing == VIEW_MEMBER;
    return count;
}

void view_encode(const struct view *v, struct bytes *to)
{
    uint8_t *at = bytes_add(to, 5 * 8 + 1);

    at = pack_number(pack_number(pack_number(at, v->number, 8), v->cluster, 8), v->last_id, 8);
    at = pack_number(pack_number(at, v->counted_since, 8), v->fence, 8);
    pack_number(at, v->count, 1);
    for (uint32_t k = 0; k < v->count; k++) {
        const struct view_member *m = &v->member[k];
        size_t name = strlen(m->name), address = strlen(m->address);

        at = bytes_add(to, 4 * 8 + 1 + 2 + name + address);
        at = pack_number(pack_number(pack_number(at, m->id, 8), m->incarnation, 8), m->since, 8);
        at = pack_number(pack_number(at, m->disk, 8), m->standing, 1);
        pack_text(pack_text(at, m->name, name), m->address, address);
    }
    settings_encode(&v->lease, &v->policies, &v->rights, to);
}

static bool view_decode_text(struct unpack *u, char *text, size_t max)
{
    size_t len;
    const char *at = unpack_text(u, &len);

    if (u->wrong || len < 1 || len > max || memchr(at, '\0', len))
        return false;
    memcpy(text, at, len);
    text[len] = '\0';
    return true;
}

bool view_decode(struct view *v, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};

    v->number = unpack_number(&u, 8);
    v->cluster = unpack_number(&u, 8);
    v->last_id = unpack_number(&u, 8);
    v->counted_since = unpack_number(&u, 8);
    v->fence = unpack_number(&u, 8);
    v->count = (uint32_t)unpack_number(&u, 1);
    if (u.wrong || v->count > VIEW_MEMBERS_MAX || v->counted_since > v->number)
        return false;
    for (uint32_t k = 0; k < v->count; k++) {
        struct view_member *m = &v->member[k];
        uint64_t standing;

        m->id = unpack_number(&u, 8);
        m->incarnation = unpack_number(&u, 8);
        m->since = unpack_number(&u, 8);
        m->disk = unpack_number(&u, 8);
        standing = unpack_number(&u, 1);
        m->standing = (enum view_standing)standing;
        if (!view_decode_text(&u, m->name, LINK_NAME_MAX) || !view_decode_text(&u, m->address, VIEW_ADDRESS_MAX) ||
            standing > VIEW_REMOVED || m->id == 0 || m->id > v->last_id || m->since > v->number ||
            (k && m->id <= v->member[k - 1].id))
            return false;
        for (uint32_t i = 0; i < k; i++)
            if (strcmp(v->member[i].name, m->name) == 0)
                return false;
    }
    return settings_decode(&v->lease, &v->policies, &v->rights, &u, v->number) && u.at == u.end && !u.wrong;
}
