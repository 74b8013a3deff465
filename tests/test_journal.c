/* The journal after a crash (member/journal.h): whatever the disk has of the last record, the records before it are read; and damage
 * elsewhere is refused.
 * Invariant: I26. */
#include "test.h"

#include "member/journal.h"

#include <string.h>

enum { SECTOR = 512, VOTES = 3 };

static enum disk_status keep_added(void *user, const uint8_t *bytes, size_t len)
{
    memcpy(bytes_add(user, len), bytes, len);
    return DISK_WRITTEN;
}

static enum disk_status keep_anew(void *user, const uint8_t *bytes, size_t len)
{
    bytes_free(user);
    return len ? keep_added(user, bytes, len) : DISK_WRITTEN;
}

/* A journal with an entry of this size, some votes, and a last entry. Returns the length without the last one. */
static size_t make(struct bytes *file, size_t first, size_t last)
{
    static uint8_t data[2 * SECTOR];
    struct disk disk = {file, keep_added, keep_anew};
    struct journal j;
    size_t before;

    memset(data, 0xa5, sizeof data);
    assert_null(journal_open(&j, &disk, NULL, 0));
    journal_identify(&j, 7, 1, (const uint8_t *)"view", 4);
    assert_true(journal_found(&j, "servers", 7) && journal_append(&j, 1, RAFT_COMMAND, data, first));
    for (raft_term term = 2; term < 2 + VOTES; term++)
        assert_true(journal_vote(&j, term, 3));
    before = bytes_len(file);
    assert_true(journal_append(&j, 1 + VOTES, RAFT_COMMAND, data, last));
    journal_close(&j);
    return before;
}

/* Returns whether the bytes can be read, and how many entries they have. */
static bool reads(const struct bytes *file, size_t *entries)
{
    struct bytes anew = {0};
    struct disk disk = {&anew, keep_added, keep_anew};
    struct journal j;
    bool good = !journal_open(&j, &disk, file->at + file->start, bytes_len(file));

    *entries = j.count;
    if (good)
        assert_true(j.disk_id == 7 && j.term == 1 + VOTES && j.vote == 3);
    journal_close(&j);
    bytes_free(&anew);
    return good;
}

/* The file up to this length, and without some sectors of what was added last: bit k of `lost` is the k-th of them. */
static struct bytes crashed(const struct bytes *file, size_t before, size_t len, unsigned lost)
{
    struct bytes copy = {0};
    uint8_t *at = bytes_add(&copy, len);

    memcpy(at, file->at + file->start, len);
    for (size_t k = before; k < len; k++)
        if (lost >> (k / SECTOR - before / SECTOR) & 1)
            at[k] = 0;
    return copy;
}

static void whatever_is_there_of_the_last_record_the_others_are_read(void **state)
{
    static const size_t lasts[] = {0, 200, SECTOR, 2 * SECTOR};

    (void)state;
    for (size_t first = 0; first < SECTOR; first++) /* the last record begins everywhere in a sector */
        for (unsigned k = 0; k < sizeof lasts / sizeof lasts[0]; k++) {
            struct bytes file = {0};
            size_t before = make(&file, first, lasts[k]), whole = bytes_len(&file), entries;
            unsigned sectors = (unsigned)((whole - 1) / SECTOR - before / SECTOR + 1);

            for (unsigned lost = 0; lost < 1u << sectors; lost++)
                for (size_t len = before; len <= whole; len += len + 40 < whole ? 40 : 1) {
                    struct bytes copy = crashed(&file, before, len, lost);
                    bool all = len == whole && memcmp(copy.at + copy.start, file.at + file.start, len) == 0;

                    if (!reads(&copy, &entries) || entries != (all ? 3 : 2))
                        fail_msg("a record at %zu of which %zu bytes are there, without the sectors %x: %zu entries",
                                 before, len - before, lost, entries);
                    bytes_free(&copy);
                }
            bytes_free(&file);
        }
}

static void a_sector_that_is_missing_elsewhere_is_damage(void **state)
{
    (void)state;
    for (size_t first = SECTOR; first < 2 * SECTOR; first += 7) {
        struct bytes file = {0};
        size_t before = make(&file, first, 200), entries;

        for (size_t k = 0; (k + 1) * SECTOR <= before; k++) { /* the sector does not reach the last record */
            struct bytes copy = crashed(&file, 0, bytes_len(&file), 1u << k);

            assert_false(reads(&copy, &entries));
            bytes_free(&copy);
        }
        bytes_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_there_of_the_last_record_the_others_are_read),
        cmocka_unit_test(a_sector_that_is_missing_elsewhere_is_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
