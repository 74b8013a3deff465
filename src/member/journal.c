/* journal.c - see journal.h. */
#include "journal.h"

#include "base/memory.h"
#include "base/pack.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

enum { IDENTITY = 1, INCARNATION, VOTE, ENTRY, TRUNCATE, SNAPSHOT };
enum { HEAD = 4 + 4 + 4 /* the length, its complement, the checksum */, ADDED_MAX = 1 << 18, SECTOR = 512 };

/* ------------------------------------------------------------------------------------------------ what is remembered */

static void journal_set_bytes(struct bytes *b, const uint8_t *at, size_t len)
{
    bytes_free(b);
    if (len)
        memcpy(bytes_add(b, len), at, len);
}

static void journal_copy_bytes(struct bytes *b, const struct bytes *from)
{
    journal_set_bytes(b, from->at ? from->at + from->start : NULL, bytes_len(from));
}

static void journal_drop_last(struct journal *j)
{
    bytes_free(&j->entry[--j->count].data);
}

static void journal_drop_first(struct journal *j, size_t count)
{
    for (size_t k = 0; k < count; k++)
        bytes_free(&j->entry[k].data);
    j->count -= count;
    j->start += count;
    if (j->count)
        memmove(j->entry, j->entry + count, j->count * sizeof *j->entry);
}

static void journal_add(struct journal *j, raft_term term, unsigned short type, const void *data, size_t len)
{
    if (j->count == j->room) {
        j->room = j->room ? 2 * j->room : 16;
        j->entry = mem_grow(j->entry, j->room * sizeof *j->entry);
    }
    j->entry[j->count] = (struct journal_entry){.term = term, .type = type};
    journal_set_bytes(&j->entry[j->count++].data, data, len);
}

static void journal_cut(struct journal *j, raft_index index)
{
    while (j->count && j->start + j->count > index)
        journal_drop_last(j);
}

raft_term journal_term(const struct journal *j, raft_index index)
{
    if (j->snapshot.index && index == j->snapshot.index)
        return j->snapshot.term;
    return index >= j->start && index - j->start < j->count ? j->entry[index - j->start].term : 0;
}

static void journal_take_snapshot(struct journal *j, const struct journal_snapshot *s, unsigned trailing)
{
    raft_index last = j->start + j->count - 1, keep = s->index > trailing ? s->index - trailing : 0;

    if (last < s->index || trailing == 0) { /* the snapshot is ahead of all entries, or replaces them */
        journal_drop_first(j, j->count);
        j->start = s->index + 1;
    } else if (keep >= j->start) {
        journal_drop_first(j, (size_t)(keep - j->start + 1));
    }
    j->snapshot.index = s->index;
    j->snapshot.term = s->term;
    j->snapshot.conf_index = s->conf_index;
    journal_copy_bytes(&j->snapshot.conf, &s->conf);
    journal_copy_bytes(&j->snapshot.data, &s->data);
}

/* ---------------------------------------------------------------------------------------------------------- records */

/* Begins a record. journal_seal fills in its head. */
static uint8_t *journal_record(struct bytes *b, size_t *head, unsigned type, size_t body)
{
    uint8_t *at;

    *head = b->end - b->start;
    at = bytes_add(b, HEAD + 1 + body);
    return pack_number(at + HEAD, type, 1);
}

static void journal_seal(struct bytes *b, size_t head)
{
    uint8_t *at = b->at + b->start + head;
    size_t len = bytes_len(b) - head - HEAD;

    at = pack_number(pack_number(at, len, 4), ~(uint32_t)len, 4);
    pack_number(at, (uint32_t)XXH3_64bits(at + 4, len), 4);
}

static void journal_write_identity(const struct journal *j, struct bytes *b)
{
    size_t head, len = bytes_len(&j->view);
    uint8_t *at = journal_record(b, &head, IDENTITY, 8 + 8 + len);

    at = pack_number(pack_number(at, j->disk_id, 8), j->member, 8);
    if (len)
        memcpy(at, j->view.at + j->view.start, len);
    journal_seal(b, head);
}

static void journal_write_incarnation(const struct journal *j, struct bytes *b)
{
    size_t head;

    pack_number(pack_number(journal_record(b, &head, INCARNATION, 8 + 8), j->incarnation, 8), j->lease_ms, 8);
    journal_seal(b, head);
}

static void journal_write_vote(const struct journal *j, struct bytes *b)
{
    size_t head;

    pack_number(pack_number(journal_record(b, &head, VOTE, 8 + 8), j->term, 8), j->vote, 8);
    journal_seal(b, head);
}

static void journal_write_entry(const struct journal *j, size_t k, struct bytes *b)
{
    const struct journal_entry *e = &j->entry[k];
    size_t head, len = bytes_len(&e->data);
    uint8_t *at = journal_record(b, &head, ENTRY, 8 + 8 + 2 + len);

    at = pack_number(pack_number(pack_number(at, j->start + k, 8), e->term, 8), e->type, 2);
    if (len)
        memcpy(at, e->data.at + e->data.start, len);
    journal_seal(b, head);
}

static void journal_write_snapshot(const struct journal *j, struct bytes *b)
{
    const struct journal_snapshot *s = &j->snapshot;
    size_t head, conf = bytes_len(&s->conf), data = bytes_len(&s->data);
    uint8_t *at = journal_record(b, &head, SNAPSHOT, 4 * 8 + 4 + conf + data);

    at = pack_number(pack_number(pack_number(at, s->index, 8), s->term, 8), s->conf_index, 8);
    at = pack_number(pack_number(at, j->start, 8), conf, 4);
    if (conf)
        memcpy(at, s->conf.at + s->conf.start, conf);
    if (data)
        memcpy(at + conf, s->data.at + s->data.start, data);
    journal_seal(b, head);
}

/* Applies one record. Returns false if it is not valid. */
static bool journal_replay(struct journal *j, struct unpack *u)
{
    uint64_t type = unpack_number(u, 1);

    if (type == IDENTITY) {
        j->disk_id = unpack_number(u, 8);
        j->member = unpack_number(u, 8);
        journal_set_bytes(&j->view, u->at, (size_t)(u->end - u->at));
    } else if (type == INCARNATION) {
        j->incarnation = unpack_number(u, 8);
        j->lease_ms = u->at < u->end ? unpack_number(u, 8) : 0; /* the record of an earlier build ends here */
    } else if (type == VOTE) {
        j->term = unpack_number(u, 8);
        j->vote = unpack_number(u, 8);
    } else if (type == ENTRY) {
        raft_index index = unpack_number(u, 8);
        raft_term term = unpack_number(u, 8);
        unsigned short kind = (unsigned short)unpack_number(u, 2);

        if (u->wrong || index != j->start + j->count)
            return false;
        journal_add(j, term, kind, u->at, (size_t)(u->end - u->at));
    } else if (type == TRUNCATE) {
        journal_cut(j, unpack_number(u, 8));
    } else if (type == SNAPSHOT) {
        struct journal_snapshot s = {.index = unpack_number(u, 8)};
        raft_index start;
        size_t conf;

        s.term = unpack_number(u, 8);
        s.conf_index = unpack_number(u, 8);
        start = unpack_number(u, 8);
        conf = unpack_number(u, 4);
        if (u->wrong || conf > (size_t)(u->end - u->at) || j->count)
            return false;
        s.conf = (struct bytes){.at = (uint8_t *)u->at, .end = conf};
        s.data = (struct bytes){.at = (uint8_t *)u->at + conf, .end = (size_t)(u->end - u->at) - conf};
        journal_take_snapshot(j, &s, 0);
        j->start = start;
    } else {
        return false;
    }
    return !u->wrong;
}

/* Is the head of a record, at this place of the file, in a sector that a crash has kept from the disk? Then there are zeros up to the end of
 * the sector. */
static bool journal_has_lost_head(const uint8_t *bytes, size_t at, size_t len)
{
    for (size_t end = at; end < at + HEAD && end < len;) {
        size_t from = end;

        end = from - from % SECTOR + SECTOR < len ? from - from % SECTOR + SECTOR : len;
        while (from < end && bytes[from] == 0)
            from++;
        if (from == end)
            return true;
    }
    return false;
}

/* Is there a whole record behind this place? */
static bool journal_goes_on(const uint8_t *bytes, size_t at, size_t len)
{
    while (++at + HEAD < len) {
        struct unpack u = {.at = bytes + at, .end = bytes + len};
        uint64_t size = unpack_number(&u, 4), not_size = unpack_number(&u, 4), sum = unpack_number(&u, 4);

        if (not_size == (uint32_t)~size && size && size <= (size_t)(u.end - u.at) &&
            (uint32_t)XXH3_64bits(u.at, size) == sum)
            return true;
    }
    return false;
}

/* Is this an incomplete record, as a crash leaves it: the beginning of a record, or zeros in the place of sectors of it? The disk gets the
 * sectors of a record in any order. */
static bool journal_is_torn(const uint8_t *bytes, size_t at, size_t len)
{
    struct unpack u = {.at = bytes + at, .end = bytes + len};
    uint64_t size = unpack_number(&u, 4), not_size = unpack_number(&u, 4), sum = unpack_number(&u, 4);
    size_t left = (size_t)(u.end - u.at);

    if (u.wrong)
        return true;
    if (not_size == (uint32_t)~size)
        return left < size || (left == size && (uint32_t)XXH3_64bits(u.at, size) != sum);
    return journal_has_lost_head(bytes, at, len) && !journal_goes_on(bytes, at, len);
}

const char *journal_open(struct journal *j, const struct disk *disk, const uint8_t *bytes, size_t len)
{
    *j = (struct journal){.disk = disk, .start = 1};
    for (size_t at = 0; at < len;) {
        struct unpack u = {.at = bytes + at, .end = bytes + len};
        uint64_t size, not_size, sum;

        if (journal_is_torn(bytes, at, len))
            len = at;
        if (at == len)
            break;
        size = unpack_number(&u, 4);
        not_size = unpack_number(&u, 4);
        sum = unpack_number(&u, 4);
        u.end = u.at + size;
        if (not_size != (uint32_t)~size || (uint32_t)XXH3_64bits(u.at, size) != sum || !journal_replay(j, &u))
            return "is damaged; remove this member from the cluster and add it anew, with an empty directory";
        at += HEAD + size;
    }
    /* The journal is written again without the incomplete record. That also makes it durable: an earlier process may
     * have ended because a write failed, so the bytes that were read may be in the system's memory only. */
    if (bytes && disk->replace(disk->user, bytes, len) != DISK_WRITTEN)
        return "cannot be written to";
    return NULL;
}

void journal_close(struct journal *j)
{
    journal_drop_first(j, j->count);
    free(j->entry);
    bytes_free(&j->view);
    bytes_free(&j->snapshot.conf);
    bytes_free(&j->snapshot.data);
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static bool journal_rewrite(struct journal *j);

static bool journal_flush(struct journal *j, struct bytes *b, bool anew)
{
    enum disk_status (*write)(void *, const uint8_t *, size_t) = anew ? j->disk->replace : j->disk->append;
    enum disk_status status = j->broken ? DISK_FAILED : write(j->disk->user, b->at + b->start, bytes_len(b));

    j->added = anew ? 0 : j->added + bytes_len(b);
    j->broken = status == DISK_FAILED;
    j->made++;
    if (status == DISK_WRITTEN)
        j->durable = j->made;
    bytes_free(b);
    if (j->added > ADDED_MAX)
        journal_rewrite(j);
    return !j->broken;
}

void journal_written(struct journal *j, bool good)
{
    assert(j->durable < j->made);
    if (good)
        j->durable++;
    else
        j->broken = true;
}

void journal_identify(struct journal *j, uint64_t disk_id, uint64_t member, const uint8_t *view, size_t view_len)
{
    j->disk_id = disk_id;
    j->member = member;
    journal_set_bytes(&j->view, view, view_len);
}

bool journal_join(struct journal *j)
{
    struct bytes b = {0};

    journal_write_identity(j, &b);
    return journal_flush(j, &b, false);
}

bool journal_begin_incarnation(struct journal *j, uint64_t least, uint64_t lease_ms)
{
    struct bytes b = {0};

    j->incarnation = j->incarnation + 1 > least ? j->incarnation + 1 : least;
    j->lease_ms = lease_ms;
    journal_write_incarnation(j, &b);
    return journal_flush(j, &b, false);
}

bool journal_set_lease(struct journal *j, uint64_t lease_ms)
{
    struct bytes b = {0};

    j->lease_ms = lease_ms;
    journal_write_incarnation(j, &b);
    return journal_flush(j, &b, false);
}

bool journal_vote(struct journal *j, raft_term term, raft_id vote)
{
    struct bytes b = {0};

    j->term = term;
    j->vote = vote;
    journal_write_vote(j, &b);
    return journal_flush(j, &b, false);
}

bool journal_append(struct journal *j, raft_term term, unsigned short type, const void *data, size_t len)
{
    struct bytes b = {0};

    journal_add(j, term, type, data, len);
    journal_write_entry(j, j->count - 1, &b);
    return journal_flush(j, &b, false);
}

bool journal_truncate(struct journal *j, raft_index index)
{
    struct bytes b = {0};
    size_t head;

    journal_cut(j, index);
    pack_number(journal_record(&b, &head, TRUNCATE, 8), index, 8);
    journal_seal(&b, head);
    return journal_flush(j, &b, false);
}

/* Rewrites the whole journal. */
static bool journal_rewrite(struct journal *j)
{
    struct bytes b = {0};

    journal_write_identity(j, &b);
    journal_write_incarnation(j, &b);
    journal_write_vote(j, &b);
    if (j->snapshot.index)
        journal_write_snapshot(j, &b);
    for (size_t k = 0; k < j->count; k++)
        journal_write_entry(j, k, &b);
    return journal_flush(j, &b, true);
}

bool journal_found(struct journal *j, const void *servers, size_t len)
{
    journal_add(j, 1, RAFT_CHANGE, servers, len);
    j->term = 1;
    j->vote = 0;
    return journal_rewrite(j);
}

bool journal_snapshot(struct journal *j, const struct journal_snapshot *snapshot, unsigned trailing)
{
    journal_take_snapshot(j, snapshot, trailing);
    return journal_rewrite(j);
}
