/* settings.c - see settings.h. */
#include "settings.h"

#include "base/plain.h"

#include <assert.h>
#include <string.h>

enum { LEASE = 1 /* the only setting so far */, GROWS = 1, FILES = 2 };

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

void settings_encode(const struct settings_lease *s, struct bytes *to)
{
    size_t by = strlen(s->by);
    uint8_t *at;

    if (!s->lease_ms)
        return;
    at = bytes_add(to, 1 + 1 + 4 + 4 + 8 + 8 + 1 + by);
    at = pack_number(pack_number(at, LEASE, 1), (s->grows ? GROWS : 0) | (s->file ? FILES : 0), 1);
    at = pack_number(pack_number(at, s->lease_ms, 4), s->promise_ms, 4);
    at = pack_number(pack_number(at, s->step, 8), s->set, 8);
    pack_text(at, s->by, by);
}

bool settings_decode(struct settings_lease *s, struct unpack *u, uint64_t view)
{
    uint64_t flags;
    const char *by;
    size_t len;

    *s = (struct settings_lease){0};
    if (u->at == u->end)
        return true;
    if (unpack_number(u, 1) != LEASE)
        return false;
    flags = unpack_number(u, 1);
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
