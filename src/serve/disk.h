/* disk.h - the journal of a member, as a file: DIR/NAME.journal. Whoever holds DIR/NAME.lock is the only one to write. */
#ifndef DIBS_SERVE_DISK_H
#define DIBS_SERVE_DISK_H

#include "core/text.h"
#include "member/journal.h"

struct disk_file {
    struct disk disk;
    struct bytes content; /* of the journal, when it was opened */
    void *user;
    void (*on_write)(void *user, uint64_t took_ms, int error); /* something was written; or not: an errno */
    int lock, file, dir;
    char name[96], next[96]; /* of the journal, and of the one that is about to replace it, in the directory */
};

/* All zeroes but on_write. False, and a line in why. The directory is made if it is missing; only its owner may use it. */
bool disk_open(struct disk_file *d, const char *dir, const char *name, struct dme_text *why);
void disk_close(struct disk_file *d);

#endif
