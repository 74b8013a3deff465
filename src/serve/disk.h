/* disk.h - the journal of a member, as a file: DIR/NAME.journal. Only the process that holds the lock on DIR/NAME.lock
 * writes it.
 *
 * Before disk_use_loop, a write is durable when the call returns. After it, a thread does the writes, in their order,
 * and the loop goes on meanwhile. Records that are added while the thread is busy are written together: a crash leaves all of them or none (I26). */
#ifndef DIBS_SERVE_DISK_H
#define DIBS_SERVE_DISK_H

#include "core/text.h"
#include "member/journal.h"

#include <uv.h>

struct disk_file {
    struct disk disk;
    struct bytes content; /* of the journal, when it was opened */
    void *user;
    /* The thread has finished `records` records in `took_ms`; or it has failed, with `error`, an errno. 0 records: a
     * write without a thread has failed. */
    void (*on_written)(void *user, unsigned records, uint64_t took_ms, int error);
    int lock, file, dir;
    char name[96], next[96]; /* file names of the journal, and of the file that will replace it */

    uv_loop_t *loop; /* null: there is none yet */
    uv_work_t work;
    bool busy;          /* the thread runs, and owns the next five fields */
    struct bytes batch; /* what the thread writes: a record; or, if batch_anew, the whole file */
    bool batch_anew;
    unsigned records;     /* number of records of the journal in the batch */
    uint64_t took_ms;     /* the time that it took */
    int error;            /* an errno, or 0 */
    struct bytes waiting; /* a record for the next batch, unless that is the whole file */
    bool waiting_anew;
    unsigned waiting_records;
    struct bytes whole; /* the content of the file, with all that waits to be written */
};

/* Opens the journal. The caller has set on_written and user, and all other fields to zero. Returns false, with a line
 * in `why`, if it fails. A missing directory is made; only its owner may use it. */
bool disk_open(struct disk_file *d, const char *dir, const char *name, struct dme_text *why);
/* From now on a thread does the writes, and tells this loop when they are done. */
void disk_use_loop(struct disk_file *d, uv_loop_t *loop);
/* Closes the journal. No write may be in progress. */
void disk_close(struct disk_file *d);

#endif
