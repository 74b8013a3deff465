/* Whatever bytes a disk gives back, or a peer says of views and of agreement: they are understood or refused. A journal that
 * is refused changes nothing; one that is not can be written anew, and reads the same.
 * Invariant: I26. */
#include "fuzz.h"

#include "member/agree_wire.h"
#include "member/journal.h"
#include "member/view.h"

#include <string.h>

static enum disk_status fuzz_keep(void *user, const uint8_t *bytes, size_t len)
{
    struct bytes *to = user;

    if (len)
        memcpy(bytes_add(to, len), bytes, len);
    return DISK_WRITTEN;
}

static enum disk_status fuzz_replace(void *user, const uint8_t *bytes, size_t len)
{
    struct bytes next = {0};

    fuzz_keep(&next, bytes, len);
    bytes_free(user);
    *(struct bytes *)user = next;
    return DISK_WRITTEN;
}

static void fuzz_journal(const uint8_t *data, size_t size)
{
    struct bytes file = {0};
    struct disk disk = {&file, fuzz_keep, fuzz_replace};
    struct journal j, again;
    struct journal_snapshot snapshot = {.index = 3, .term = 2, .conf_index = 1};

    if (!journal_open(&j, &disk, data, size)) {
        fuzz_keep(&snapshot.conf, data, size < 8 ? size : 8);
        fuzz_keep(&snapshot.data, data, size < 9 ? size : 9);
        journal_snapshot(&j, &snapshot, 1);
        journal_vote(&j, j.term + 1, 7);
        journal_append(&j, j.term, RAFT_COMMAND, data, size);
        FUZZ_EXPECT(!journal_open(&again, &disk, file.at + file.start, bytes_len(&file)), "it does not read again");
        FUZZ_EXPECT(again.term == j.term && again.vote == 7 && again.count == j.count && again.start == j.start &&
                        again.incarnation == j.incarnation && again.snapshot.index == 3,
                    "it reads otherwise");
        journal_close(&again);
        bytes_free(&snapshot.conf);
        bytes_free(&snapshot.data);
    }
    journal_close(&j);
    bytes_free(&file);
}

static void fuzz_view(const uint8_t *data, size_t size)
{
    struct view view;
    struct bytes b = {0};

    if (!view_decode(&view, data, size))
        return;
    view_encode(&view, &b);
    FUZZ_EXPECT(bytes_len(&b) == size && memcmp(b.at + b.start, data, size) == 0, "another view than it was");
    bytes_free(&b);
}

static void fuzz_agreement(const uint8_t *data, size_t size)
{
    struct raft_message m = {0};

    if (!agree_decode(&m, data, size))
        return;
    if (m.type == RAFT_IO_APPEND_ENTRIES && m.append_entries.n_entries) {
        raft_free(m.append_entries.entries[0].batch);
        raft_free(m.append_entries.entries);
    }
    if (m.type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m.install_snapshot.conf);
        raft_free(m.install_snapshot.data.base);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 0)
        fuzz_journal(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        fuzz_view(data + 1, size - 1);
    else
        fuzz_agreement(data + 1, size - 1);
    return 0;
}
