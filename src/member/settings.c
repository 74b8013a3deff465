/* settings.c - see settings.h. */
#include "settings.h"

#include "base/plain.h"

#include <assert.h>
#include <string.h>

enum { LEASE = 1, POLICIES = 2, RIGHTS = 3, /* which setting follows, in this order */ GROWS = 1, FILES = 2 };

bool settings_is_under_way(const struct settings_lease *s)
{
    return s->lease_ms != s->promise_ms;
}

uint32_t settings_target_ms(const struct settings_lease *s, uint32_t file_ms)
{
    return !s->lease_ms ? file_ms : s->grows ? s->promise_ms : s->lease_ms;
}

bool settings_suits(const struct settings_wish *wish, const struct settings_lease *s)
{
    return wish->base == s->set && !settings_is_under_way(s) && wish->lease_ms >= SETTINGS_LEASE_MS_MIN &&
           wish->lease_ms <= SETTINGS_LEASE_MS_MAX;
}

void settings_begin(struct settings_lease *s, const struct settings_wish *wish, uint32_t file_ms, uint64_t view)
{
    uint32_t before_ms = s->lease_ms ? s->lease_ms : file_ms;

    assert(settings_suits(wish, s));
    s->lease_ms = before_ms < wish->lease_ms ? before_ms : wish->lease_ms;
    s->promise_ms = before_ms < wish->lease_ms ? wish->lease_ms : before_ms;
    s->grows = before_ms < wish->lease_ms;
    s->file = wish->file;
    s->step = s->set = view;
    memset(s->by, 0, sizeof s->by); /* equal settings are equal bytes */
    memcpy(s->by, wish->by, strnlen(wish->by, SETTINGS_BY_MAX));
}

void settings_finish(struct settings_lease *s, uint64_t view)
{
    assert(settings_is_under_way(s));
    if (s->grows)
        s->lease_ms = s->promise_ms;
    else
        s->promise_ms = s->lease_ms;
    s->grows = false;
    s->step = view;
}

bool settings_suits_text(const struct settings_text *wish, const struct settings_text *now)
{
    return wish->set == now->set && settings_is_text(wish->text, wish->len);
}

bool settings_is_text(const char *text, size_t len)
{
    const char *end = text + len, *next;

    if (len > SETTINGS_TEXT_MAX)
        return false;
    for (; text < end; text = next + 1) {
        next = memchr(text, '\n', (size_t)(end - text));
        if (!next || next == text || !plain_text(text, (size_t)(next - text)))
            return false;
    }
    return true;
}

static void settings_encode_lease(const struct settings_lease *s, struct bytes *to)
{
    size_t by = strlen(s->by);
    uint8_t *at = bytes_add(to, 1 + 1 + 4 + 4 + 8 + 8 + 1 + by);

    at = pack_number(pack_number(at, LEASE, 1), (s->grows ? GROWS : 0) | (s->file ? FILES : 0), 1);
    at = pack_number(pack_number(at, s->lease_ms, 4), s->promise_ms, 4);
    at = pack_number(pack_number(at, s->step, 8), s->set, 8);
    pack_text(at, s->by, by);
}

static void settings_encode_text(unsigned which, const struct settings_text *p, struct bytes *to)
{
    size_t by = strlen(p->by);
    uint8_t *at = bytes_add(to, 1 + 1 + 8 + 1 + by + 2 + p->len);

    at = pack_number(pack_number(pack_number(at, which, 1), p->file ? FILES : 0, 1), p->set, 8);
    pack_long(pack_text(at, p->by, by), p->text, p->len);
}

void settings_encode(const struct settings_lease *s, const struct settings_text *policies,
                     const struct settings_text *rights, struct bytes *to)
{
    if (s->lease_ms)
        settings_encode_lease(s, to);
    if (policies->set)
        settings_encode_text(POLICIES, policies, to);
    if (rights->set)
        settings_encode_text(RIGHTS, rights, to);
}

static bool settings_decode_lease(struct settings_lease *s, struct unpack *u, uint64_t view)
{
    uint64_t flags = unpack_number(u, 1);
    const char *by;
    size_t len;

    s->grows = flags & GROWS;
    s->file = flags & FILES;
    s->lease_ms = (uint32_t)unpack_number(u, 4);
    s->promise_ms = (uint32_t)unpack_number(u, 4);
    s->step = unpack_number(u, 8);
    s->set = unpack_number(u, 8);
    by = unpack_text(u, &len);
    if (u->wrong || flags > (GROWS | FILES) || !plain_text(by, len) || s->lease_ms < SETTINGS_LEASE_MS_MIN ||
        s->promise_ms < s->lease_ms || s->promise_ms > SETTINGS_LEASE_MS_MAX || s->step > view || s->set > s->step ||
        s->set == 0 || (s->grows && !settings_is_under_way(s)))
        return false;
    memcpy(s->by, by, len);
    return true;
}

static bool settings_decode_text(struct settings_text *p, struct unpack *u, uint64_t view)
{
    uint64_t flags = unpack_number(u, 1);
    const char *by, *text;
    size_t by_len, len;

    p->file = flags & FILES;
    p->set = unpack_number(u, 8);
    by = unpack_text(u, &by_len);
    text = unpack_long(u, &len);
    if (u->wrong || (flags & ~(uint64_t)FILES) || p->set == 0 || p->set > view || !plain_text(by, by_len) ||
        !settings_is_text(text, len))
        return false;
    memcpy(p->by, by, by_len);
    memcpy(p->text, text, len);
    p->len = (uint16_t)len;
    return true;
}

bool settings_is_rights(const struct settings_text *rights)
{
    return settings_is_text(rights->text, rights->len) && rights->file == (rights->len == 0);
}

bool settings_decode(struct settings_lease *s, struct settings_text *policies, struct settings_text *rights,
                     struct unpack *u, uint64_t view)
{
    uint64_t before = 0, which;

    memset(s, 0, sizeof *s);
    memset(policies, 0, sizeof *policies); /* equal settings are equal bytes */
    memset(rights, 0, sizeof *rights);
    for (; u->at != u->end; before = which) {
        which = unpack_number(u, 1);
        if (which <= before || which > RIGHTS ||
            !(which == LEASE ? settings_decode_lease(s, u, view)
                             : settings_decode_text(which == POLICIES ? policies : rights, u, view)))
            return false;
    }
    return !rights->set || settings_is_rights(rights);
}
