/* disk.h - the journal of a member, as a file: DIR/NAME.journal. Whoever holds DIR/NAME.lock is the only one to write.
 *
 * Until it has a loop, a write is durable when the call returns. From then on writes are handed to a thread, in their order,
 * and the loop goes on meanwhile: records that come while the thread is busy are written together. */
#ifndef DIBS_SERVE_DISK_H
#define DIBS_SERVE_DISK_H

#include "core/text.h"
#include "member/journal.h"

#include <uv.h>

struct disk_file {
    struct disk disk;
    struct bytes content; /* of the journal, when it was opened */
    void *user;
    /* The thread has finished these records, in this time; or it has not: an errno. 0 records: a write without a thread has
     * failed. */
    void (*on_written)(void *user, unsigned records, uint64_t took_ms, int error);
    int lock, file, dir;
    char name[96], next[96]; /* of the journal, and of the one that is about to replace it, in the directory */

    uv_loop_t *loop; /* null: there is none yet */
    uv_work_t work;
    bool busy;            /* the thread is; these are its: */
    struct bytes batch;   /* writes: whether the file is written anew, length, bytes */
    unsigned records;     /* how many */
    uint64_t took_ms;     /* all of them */
    int error;            /* an errno, or 0 */
    struct bytes waiting; /* writes for the next batch */
    unsigned waiting_records;
};

/* All zeroes but on_written and user. False, and a line in why. The directory is made if it is missing; only its owner may
 * use it. */
bool disk_open(struct disk_file *d, const char *dir, const char *name, struct dme_text *why);
/* From now on, writes are done by a thread, and this loop is told. */
void disk_use_loop(struct disk_file *d, uv_loop_t *loop);
/* Nothing may be under way. */
void disk_close(struct disk_file *d);

#endif
